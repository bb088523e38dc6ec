//! Springs, point masses, loads, outputs and loaded displacements.

use super::super::fault::FaultKind;
use super::super::format::{self, Located, Vector};
use super::super::mechanism::{
    LoadedDof, LoadedKind, Origin, Output, PointLoad, PointMass, Spring, SpringKind,
};
use super::super::quantity::Dimension;
use super::bodies::Bodies;
use super::context::{Context, Scope};
use super::coordinates::two_points;
use super::expand::{Part, Placed};
use super::joints::Joints;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Full names of one kind of part, each used once.
struct Names {
    what: &'static str,
    used: BTreeSet<String>,
    counts: BTreeMap<String, usize>,
}

impl Names {
    fn new(what: &'static str) -> Self {
        Self {
            what,
            used: BTreeSet::new(),
            counts: BTreeMap::new(),
        }
    }

    /// The full name and its place; without a name, the kind and a number.
    fn take(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        name: Option<&Located<String>>,
        table: &Range<usize>,
    ) -> Option<(String, Origin)> {
        let count = self.counts.entry(scope.prefix.clone()).or_default();
        *count += 1;
        let (local, span) = match name {
            Some(name) => {
                if !context.name(scope, name) {
                    return None;
                }
                (name.value.clone(), &name.span)
            }
            None => (format!("{}{count}", self.what), table),
        };
        let name = scope.path(&local);
        if self.used.insert(name.clone()) {
            return Some((name, scope.origin(span)));
        }
        let what = self.what;
        context.fault(scope, span, FaultKind::DuplicateName { what, name });
        None
    }
}

/// Builds all springs.
pub fn springs(
    context: &mut Context,
    parts: &[Placed<'_>],
    bodies: &Bodies,
    joints: &Joints,
) -> Vec<Spring> {
    let mut names = Names::new("spring");
    let mut list = Vec::new();
    for placed in parts {
        if let Part::Spring(spring) = placed.part {
            let scope = &placed.scope;
            let named = names.take(context, scope, spring.name.as_ref(), &spring.span);
            list.extend(context.spring(scope, spring, bodies, joints, named));
        }
    }
    list
}

/// Builds all point masses.
pub fn point_masses(
    context: &mut Context,
    parts: &[Placed<'_>],
    bodies: &Bodies,
) -> Vec<PointMass> {
    let mut names = Names::new("mass");
    let mut list = Vec::new();
    for placed in parts {
        let Part::PointMass(mass) = placed.part else {
            continue;
        };
        let scope = &placed.scope;
        let named = names.take(context, scope, mass.name.as_ref(), &mass.span);
        let at = bodies.locate(context, scope, &mass.at, &mass.body);
        let value = context.runtime_number(scope, &mass.mass, Dimension::MASS);
        let (Some((name, origin)), Some(at), Some((value, at_runtime))) = (named, at, value) else {
            continue;
        };
        if value < 0.0 {
            let what = "the mass".to_owned();
            let kind = FaultKind::Negative { what, value };
            context.fault(scope, &mass.mass.span, kind);
            continue;
        }
        list.push(PointMass {
            name,
            origin,
            at,
            mass: value,
            at_runtime,
        });
    }
    list
}

/// Builds all loads.
pub fn loads(context: &mut Context, parts: &[Placed<'_>], bodies: &Bodies) -> Vec<PointLoad> {
    let mut names = Names::new("load");
    let mut list = Vec::new();
    for placed in parts {
        let Part::Load(load) = placed.part else {
            continue;
        };
        let scope = &placed.scope;
        let named = names.take(context, scope, load.name.as_ref(), &load.span);
        let at = bodies.locate(context, scope, &load.at, &load.body);
        let force = context.free_vector(scope, &load.force, Dimension::FORCE);
        let moment = context.free_vector(scope, &load.moment, Dimension::MOMENT);
        if load.force.is_none() && load.moment.is_none() {
            let kind = FaultKind::ExactlyOne {
                what: "a load".to_owned(),
                options: "`force`, `moment`",
                found: Vec::new(),
            };
            context.fault(scope, &load.span, kind);
        }
        let (Some((name, origin)), Some(at), Some(force), Some(moment)) =
            (named, at, force, moment)
        else {
            continue;
        };
        list.push(PointLoad {
            name,
            origin,
            at,
            force,
            moment,
        });
    }
    list
}

/// Builds all outputs.
pub fn outputs(context: &mut Context, parts: &[Placed<'_>], bodies: &Bodies) -> Vec<Output> {
    let mut names = Names::new("output");
    let mut list = Vec::new();
    for placed in parts {
        let Part::Output(output) = placed.part else {
            continue;
        };
        let scope = &placed.scope;
        let named = names.take(context, scope, Some(&output.name), &output.span);
        let at = bodies.locate(context, scope, &output.at, &output.body);
        if let (Some((name, origin)), Some(at)) = (named, at) {
            list.push(Output { name, origin, at });
        }
    }
    list
}

/// Builds all loaded displacements.
pub fn loaded(context: &mut Context, parts: &[Placed<'_>], bodies: &Bodies) -> Vec<LoadedDof> {
    let mut names = Names::new("loaded displacement");
    let mut list = Vec::new();
    for placed in parts {
        let Part::Loaded(loaded) = placed.part else {
            continue;
        };
        let scope = &placed.scope;
        let named = names.take(context, scope, Some(&loaded.name), &loaded.span);
        let at = bodies.locate(context, scope, &loaded.at, &loaded.body);
        let direction = context.direction(scope, &loaded.direction, "the direction");
        if let (Some((name, origin)), Some(at), Some(direction)) = (named, at, direction) {
            list.push(LoadedDof {
                name,
                origin,
                at,
                direction: scope.frame.rotation * direction,
                kind: match loaded.kind {
                    format::LoadedKind::Displacement => LoadedKind::Displacement,
                    format::LoadedKind::Attachment => LoadedKind::Attachment,
                },
            });
        }
    }
    list
}

impl Context {
    /// A vector that turns with the drawing, zero where absent.
    fn free_vector(
        &mut self,
        scope: &Scope,
        vector: &Option<Vector>,
        dimension: Dimension,
    ) -> Option<Vector3<f64>> {
        match vector {
            Some(vector) => {
                let local = self.triple(scope, &vector.value, dimension)?;
                Some(scope.frame.rotation * local)
            }
            None => Some(Vector3::zeros()),
        }
    }

    fn spring(
        &mut self,
        scope: &Scope,
        spring: &Located<format::Spring>,
        bodies: &Bodies,
        joints: &Joints,
        named: Option<(String, Origin)>,
    ) -> Option<Spring> {
        let (kind, rotary) = self.spring_kind(scope, spring, bodies, joints)?;
        let (stiff, damp) = if rotary {
            (Dimension::ROTARY_STIFFNESS, Dimension::ROTARY_DAMPING)
        } else {
            (Dimension::STIFFNESS, Dimension::DAMPING)
        };
        let stiffness = self.not_negative_or(scope, &spring.stiffness, stiff, "the stiffness", 0.0);
        let damping = self.not_negative_or(scope, &spring.damping, damp, "the damping", 0.0);
        let (name, origin) = named?;
        Some(Spring {
            name,
            origin,
            kind,
            stiffness: stiffness?,
            damping: damping?,
        })
    }

    fn spring_kind(
        &mut self,
        scope: &Scope,
        spring: &Located<format::Spring>,
        bodies: &Bodies,
        joints: &Joints,
    ) -> Option<(SpringKind, bool)> {
        let mut misplaced = |scalar: &Option<format::Scalar>, key, words| {
            if let Some(scalar) = scalar {
                let kind = FaultKind::Meaningless {
                    key,
                    context: words,
                };
                self.fault(scope, &scalar.span, kind);
            }
        };
        match (&spring.joint, &spring.between) {
            (Some(joint), None) => {
                misplaced(
                    &spring.length,
                    "length",
                    "for a spring across a joint: use `rest`",
                );
                let (joint, rotary) = joints.find_single(self, scope, joint)?;
                let own = if rotary {
                    Dimension::ANGLE
                } else {
                    Dimension::LENGTH
                };
                let rest = match &spring.rest {
                    Some(rest) => self.number(scope, rest, own)?,
                    None => 0.0,
                };
                Some((SpringKind::Joint { joint, rest }, rotary))
            }
            (None, Some(pair)) => {
                misplaced(&spring.rest, "rest", "between two points: use `length`");
                let (a, b, drawn) = two_points(self, scope, bodies, pair)?;
                let length = self.not_negative_or(
                    scope,
                    &spring.length,
                    Dimension::LENGTH,
                    "the relaxed length",
                    drawn,
                )?;
                Some((SpringKind::Points { a, b, length }, false))
            }
            (joint, _) => {
                let found = if joint.is_some() {
                    vec!["joint", "between"]
                } else {
                    Vec::new()
                };
                let kind = FaultKind::ExactlyOne {
                    what: "a spring".to_owned(),
                    options: "`joint`, `between`",
                    found,
                };
                self.fault(scope, &spring.span, kind);
                None
            }
        }
    }
}
