//! Bodies from finite-element programs: their files, units and interfaces.

use super::super::fault::{Fault, FaultKind};
use super::super::format::{
    self, BodyInterface, CouplingWord, Located, MeshUnits, NodesOrSet, Scalar,
};
use super::super::mechanism::{Body, BodyKind, Plane};
use super::super::quantity::Dimension;
use super::context::{Context, Scope};
use crate::finite_elements::{
    Content, Coupling, FeBody, FeError, Interface, Modes, Role, SourceFile, Superelement, Tie,
    Units, read,
};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file named in a source, by its path relative to that source.
pub(super) type Files<'a> = dyn Fn(usize, &Path) -> Result<Vec<u8>, FaultKind> + 'a;

/// Modes of the held body unless the file says otherwise.
const MODES: usize = 10;
const MAX_INTERFACES: usize = 20;

/// Modes of a mesh leave every plane.
pub(super) fn check_plane(context: &mut Context, bodies: &[Body], plane: Option<Plane>) {
    let solid = |body: &&Body| matches!(body.kind, BodyKind::Superelement(_));
    if let (Some(_), Some(body)) = (plane, bodies.iter().find(solid)) {
        let (first, second) = ("superelement", "plane");
        context.faults.push(Fault {
            origin: Some(body.origin.clone()),
            kind: FaultKind::Conflict { first, second },
        });
    }
}

impl Context {
    /// Reads and condenses a body.
    pub(super) fn superelement(
        &mut self,
        scope: &Scope,
        written: &format::Superelement,
        interfaces: &[Located<BodyInterface>],
        files: &Files<'_>,
    ) -> Option<Arc<Superelement>> {
        let span = &written.stiffness.span;
        let units = self.mesh_units(scope, &written.units);
        let modes = self.kept_modes(scope, &written.modes, &written.up_to);
        let contents = self.contents(scope, written, files);
        let rotations: Vec<(u64, u64)> = (interfaces.iter())
            .filter_map(|i| {
                let (reference, rotation) = (i.reference.as_ref()?, i.rotation.as_ref()?);
                Some((rotation.value.max(0) as u64, reference.value.max(0) as u64))
            })
            .collect();
        if interfaces.len() > MAX_INTERFACES {
            let (what, limit) = ("interfaces of a body", MAX_INTERFACES);
            self.fault(scope, span, FaultKind::Limit { what, limit });
            return None;
        }
        let (units, modes, contents) = (units?, modes?, contents?);
        let fault = |error: FeError| FaultKind::FiniteElements(Box::new(error));
        let body = match FeBody::new(contents, &rotations, units) {
            Ok(body) => body,
            Err(error) => {
                self.fault(scope, span, fault(error));
                return None;
            }
        };
        let interfaces = if interfaces.is_empty() {
            body.interfaces()
        } else {
            (interfaces.iter())
                .map(|interface| self.interface(scope, interface, &body))
                .collect::<Option<Vec<_>>>()?
        };
        if interfaces.is_empty() {
            let kind = FaultKind::MissingKey {
                key: "interface".to_owned(),
                table: "this body".to_owned(),
            };
            self.fault(scope, span, kind);
            return None;
        }
        match body.condense(&interfaces, modes) {
            Ok(condensed) => Some(Arc::new(Superelement::new(&body, &condensed))),
            Err(error) => {
                self.fault(scope, span, fault(error));
                None
            }
        }
    }

    /// What the files hold.
    fn contents(
        &mut self,
        scope: &Scope,
        written: &format::Superelement,
        files: &Files<'_>,
    ) -> Option<Vec<(Role, Content)>> {
        let wanted = [
            (Role::Stiffness, Some(&written.stiffness)),
            (Role::Mass, written.mass.as_ref()),
            (Role::Any, written.dofs.as_ref()),
            (Role::Any, written.nodes.as_ref()),
        ];
        let mut out = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        let mut complete = true;
        for (role, path) in wanted {
            let Some(path) = path else { continue };
            if seen.contains(&path.value.as_str()) {
                continue;
            }
            seen.push(&path.value);
            let found = files(scope.source, Path::new(&path.value)).and_then(|bytes| {
                let file = SourceFile {
                    name: &path.value,
                    bytes: &bytes,
                };
                read(file).map_err(|error| FaultKind::FiniteElements(Box::new(error)))
            });
            match found {
                Ok(content) => out.push((role, content)),
                Err(kind) => {
                    self.fault(scope, &path.span, kind);
                    complete = false;
                }
            }
        }
        complete.then_some(out)
    }

    fn mesh_units(&mut self, scope: &Scope, units: &Option<MeshUnits>) -> Option<Units> {
        let mut out = Units::default();
        let Some(units) = units else { return Some(out) };
        let lengths = [("m", 1.0), ("mm", 1e-3), ("cm", 1e-2), ("in", 0.0254)];
        let masses = [("kg", 1.0), ("t", 1e3), ("g", 1e-3)];
        let mut choose = |written: &Option<Located<String>>,
                          known: &[(&str, f64)],
                          to: &mut f64| {
            let Some(written) = written else {
                return Some(());
            };
            match known.iter().find(|(name, _)| *name == written.value) {
                Some((_, factor)) => *to = *factor,
                None => {
                    let known = known.iter().map(|(name, _)| (*name).to_owned()).collect();
                    return self.unknown::<()>(scope, &written.span, "unit", &written.value, known);
                }
            }
            Some(())
        };
        let length = choose(&units.length, &lengths, &mut out.length);
        let mass = choose(&units.mass, &masses, &mut out.mass);
        length.and(mass).map(|()| out)
    }

    fn kept_modes(
        &mut self,
        scope: &Scope,
        count: &Option<Located<i64>>,
        up_to: &Option<Scalar>,
    ) -> Option<Modes> {
        match (count, up_to) {
            (Some(count), Some(_)) => {
                let (first, second) = ("modes", "up_to");
                self.fault(scope, &count.span, FaultKind::Conflict { first, second });
                None
            }
            (None, Some(limit)) => {
                let what = "the highest frequency";
                Some(Modes::UpTo(self.positive(
                    scope,
                    limit,
                    Dimension::RATE,
                    what,
                )?))
            }
            (Some(count), None) if (0..=200).contains(&count.value) => {
                Some(Modes::Count(count.value as usize))
            }
            (Some(count), None) => {
                let kind = FaultKind::OutOfRange {
                    what: "`modes`".to_owned(),
                    value: count.value as f64,
                    allowed: "between 0 and 200",
                };
                self.fault(scope, &count.span, kind);
                None
            }
            (None, None) => Some(Modes::Count(MODES)),
        }
    }

    fn interface(
        &mut self,
        scope: &Scope,
        written: &Located<BodyInterface>,
        body: &FeBody,
    ) -> Option<Interface> {
        if !self.name(scope, &written.name) {
            return None;
        }
        let node = |value: i64| value.max(0) as u64;
        let tie = match (&written.reference, &written.nodes) {
            (Some(reference), None) => Tie::Reference {
                node: node(reference.value),
            },
            (None, Some(nodes)) => Tie::Nodes {
                nodes: match &nodes.value {
                    NodesOrSet::List(list) => list.iter().map(|n| node(*n)).collect(),
                    NodesOrSet::Name(name) => {
                        match body.mesh.sets.get(&name.to_ascii_uppercase()) {
                            Some(nodes) => nodes.clone(),
                            None => {
                                let known = body.mesh.sets.keys().cloned().collect();
                                return self.unknown(scope, &nodes.span, "node set", name, known);
                            }
                        }
                    }
                },
                coupling: match written.kind {
                    Some(CouplingWord::Average) => Coupling::Average,
                    Some(CouplingWord::Rigid) | None => Coupling::Rigid,
                },
            },
            (reference, nodes) => {
                let found: Vec<&'static str> = [
                    (reference.is_some(), "reference"),
                    (nodes.is_some(), "nodes"),
                ]
                .into_iter()
                .filter_map(|(is_given, name)| is_given.then_some(name))
                .collect();
                let kind = FaultKind::ExactlyOne {
                    what: format!("interface `{}`", written.name.value),
                    options: "`reference`, `nodes`",
                    found,
                };
                self.fault(scope, &written.span, kind);
                return None;
            }
        };
        Some(Interface {
            name: written.name.value.clone(),
            tie,
        })
    }
}
