//! Bodies from finite-element programs: their files, units and interfaces.

use super::super::fault::{Fault, FaultKind};
use super::super::format::{
    self, BodyInterface, CouplingWord, Located, MeshUnits, NodesOrSet, Scalar,
};
use super::super::mechanism::{Body, BodyKind, Plane};
use super::super::quantity::Dimension;
use super::context::{Context, Scope};
use crate::finite_elements::{
    BodyStore, Content, Coupling, FeBody, FeError, Interface, Modes, Role, SourceFile,
    Superelement, Tie, Units, read,
};
use nalgebra::Vector3;
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file named in a source, by its path relative to that source.
type Read<'a> = dyn Fn(usize, &Path) -> Result<Vec<u8>, FaultKind> + 'a;
/// Hash of everything that a condensed body depends on.
type Key = [u8; 32];

/// Where files of bodies come from, and condensed bodies that are there already.
pub(super) struct Files<'a> {
    read: &'a Read<'a>,
    store: Option<BodyStore>,
    made: RefCell<BTreeMap<Key, Arc<Superelement>>>,
}

impl<'a> Files<'a> {
    pub fn new(read: &'a Read<'a>, store: Option<BodyStore>) -> Self {
        Self {
            read,
            store,
            made: RefCell::default(),
        }
    }

    fn known(&self, key: &Key) -> Option<Arc<Superelement>> {
        let made = self.made.borrow().get(key).cloned();
        made.or_else(|| {
            let stored = Arc::new(self.store.as_ref()?.get(key)?);
            self.made.borrow_mut().insert(*key, stored.clone());
            Some(stored)
        })
    }

    fn keep(&self, key: Key, body: Superelement) -> Arc<Superelement> {
        if let Some(store) = &self.store {
            store.put(&key, &body);
        }
        let body = Arc::new(body);
        self.made.borrow_mut().insert(key, body.clone());
        body
    }
}

/// A file as it was named, what it was named for, and its bytes.
struct Named<'a> {
    role: Role,
    path: &'a Located<String>,
    bytes: Vec<u8>,
}

/// The key of a body: this version of the program, its files and what is asked of them.
fn key(
    files: &[Named<'_>],
    units: Units,
    modes: Modes,
    interfaces: &[(&Located<BodyInterface>, Option<Vector3<f64>>)],
) -> Key {
    let mut hasher = blake3::Hasher::new();
    let asked: Vec<_> = (interfaces.iter())
        .map(|(i, at)| {
            let nodes = i.nodes.as_ref().map(|n| match &n.value {
                NodesOrSet::Name(name) => (Some(name), None),
                NodesOrSet::List(list) => (None, Some(list)),
            });
            let number = |n: &Option<Located<i64>>| n.as_ref().map(|n| n.value);
            let numbers = [&i.reference, &i.rotation, &i.node].map(number);
            (&i.name.value, numbers, nodes, i.kind, at)
        })
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    hasher.update(format!("{version} {units:?} {modes:?} {asked:?}").as_bytes());
    for file in files {
        let head = format!("\n{:?} {} ", file.role, file.bytes.len());
        hasher.update(head.as_bytes());
        hasher.update(&file.bytes);
    }
    *hasher.finalize().as_bytes()
}

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
        let read = self.bytes(scope, written, files);
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
        let placed = (interfaces.iter())
            .map(|i| self.interface_place(scope, i).map(|at| (i, at)))
            .collect::<Option<Vec<_>>>();
        let (units, modes, read, interfaces) = (units?, modes?, read?, placed?);
        let key = key(&read, units, modes, &interfaces);
        if let Some(known) = files.known(&key) {
            return Some(known);
        }
        let contents = self.contents(scope, read)?;
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
                .map(|(interface, at)| self.interface(scope, interface, *at, &body))
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
            Ok(condensed) => Some(files.keep(key, Superelement::new(&body, &condensed))),
            Err(error) => {
                self.fault(scope, span, fault(error));
                None
            }
        }
    }

    /// The files of a body, each once.
    fn bytes<'b>(
        &mut self,
        scope: &Scope,
        written: &'b format::Superelement,
        files: &Files<'_>,
    ) -> Option<Vec<Named<'b>>> {
        let wanted = [
            (Role::Stiffness, Some(&written.stiffness)),
            (Role::Mass, written.mass.as_ref()),
            (Role::Any, written.dofs.as_ref()),
            (Role::Any, written.nodes.as_ref()),
        ];
        let mut out: Vec<Named<'b>> = Vec::new();
        let mut complete = true;
        for (role, path) in wanted {
            let Some(path) = path else { continue };
            if out.iter().any(|named| named.path.value == path.value) {
                continue;
            }
            match (files.read)(scope.source, Path::new(&path.value)) {
                Ok(bytes) => out.push(Named { role, path, bytes }),
                Err(kind) => {
                    self.fault(scope, &path.span, kind);
                    complete = false;
                }
            }
        }
        complete.then_some(out)
    }

    /// What the files hold, read side by side.
    fn contents(&mut self, scope: &Scope, files: Vec<Named<'_>>) -> Option<Vec<(Role, Content)>> {
        let found: Vec<Result<Content, FeError>> = files
            .par_iter()
            .map(|file| {
                read(SourceFile {
                    name: &file.path.value,
                    bytes: &file.bytes,
                })
            })
            .collect();
        let mut out = Vec::new();
        for (file, content) in files.iter().zip(found) {
            match content {
                Ok(content) => out.push((file.role, content)),
                Err(error) => {
                    let kind = FaultKind::FiniteElements(Box::new(error));
                    self.fault(scope, &file.path.span, kind);
                }
            }
        }
        (out.len() == files.len()).then_some(out)
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

    /// Where a frame on nodes is asked to be, if anywhere; `None` at a fault.
    fn interface_place(
        &mut self,
        scope: &Scope,
        written: &Located<BodyInterface>,
    ) -> Option<Option<Vector3<f64>>> {
        let Some(at) = &written.at else {
            return Some(None);
        };
        if written.nodes.is_none() {
            let context = "here: the frame is at its node";
            let kind = FaultKind::Meaningless { key: "at", context };
            self.fault(scope, &at.span, kind);
            return None;
        }
        self.position(scope, at).map(Some)
    }

    fn interface(
        &mut self,
        scope: &Scope,
        written: &Located<BodyInterface>,
        at: Option<Vector3<f64>>,
        body: &FeBody,
    ) -> Option<Interface> {
        if !self.name(scope, &written.name) {
            return None;
        }
        let node = |value: i64| value.max(0) as u64;
        let tie = match (&written.reference, &written.nodes, &written.node) {
            (Some(reference), None, None) => Tie::Reference {
                node: node(reference.value),
            },
            (None, None, Some(single)) => Tie::Node {
                node: node(single.value),
            },
            (None, Some(nodes), None) => Tie::Nodes {
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
                at,
            },
            (reference, nodes, single) => {
                let found: Vec<&'static str> = [
                    (reference.is_some(), "reference"),
                    (nodes.is_some(), "nodes"),
                    (single.is_some(), "node"),
                ]
                .into_iter()
                .filter_map(|(is_given, name)| is_given.then_some(name))
                .collect();
                let kind = FaultKind::ExactlyOne {
                    what: format!("interface `{}`", written.name.value),
                    options: "`reference`, `nodes`, `node`",
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
