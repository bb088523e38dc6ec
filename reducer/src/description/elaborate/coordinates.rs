//! Actuated coordinates.

use super::super::fault::FaultKind;
use super::super::format::{self, Located, Pair, Scalar};
use super::super::mechanism::{ActuatorAtRuntime, Attachment, Coordinate, Drive, JointId};
use super::super::quantity::Dimension;
use super::bodies::Bodies;
use super::context::{Context, Scope};
use super::expand::{Part, Placed};
use super::joints::Joints;
use crate::lie::Frame;
use std::collections::BTreeMap;

/// Builds all coordinates, in the order of θ.
pub fn coordinates(
    context: &mut Context,
    parts: &[Placed<'_>],
    bodies: &Bodies,
    joints: &Joints,
) -> Vec<Coordinate> {
    let mut list: Vec<Coordinate> = Vec::new();
    let mut names = BTreeMap::new();
    let mut driven: BTreeMap<usize, String> = BTreeMap::new();
    for placed in parts {
        let Part::Coordinate(written) = placed.part else {
            continue;
        };
        let scope = &placed.scope;
        if !context.name(scope, &written.name) {
            continue;
        }
        let name = scope.path(&written.name);
        if names.insert(name.clone(), ()).is_some() {
            let what = "coordinate";
            let kind = FaultKind::DuplicateName { what, name };
            context.fault(scope, &written.name.span, kind);
            continue;
        }
        let drive = drive(context, scope, written, bodies, joints);
        if let (Some((Drive::Joint(JointId(id)), ..)), Some(drives)) = (&drive, &written.drives) {
            if let Some(first) = driven.get(id) {
                let joint = joints.list.get(*id).map(|joint| joint.name.clone());
                let kind = FaultKind::DrivenTwice {
                    joint: joint.unwrap_or_default(),
                    first: first.clone(),
                };
                context.fault(scope, &drives.span, kind);
                continue;
            }
            driven.insert(*id, name.clone());
        }
        if let Some((drive, rotary, home)) = drive {
            list.extend(context.coordinate(scope, written, name, drive, rotary, home));
        }
    }
    list
}

/// What a coordinate drives, whether it is an angle, and its default at home.
fn drive(
    context: &mut Context,
    scope: &Scope,
    written: &Located<format::Coordinate>,
    bodies: &Bodies,
    joints: &Joints,
) -> Option<(Drive, bool, f64)> {
    match (&written.drives, &written.distance) {
        (Some(joint), None) => {
            let (id, rotary) = joints.find_single(context, scope, joint)?;
            Some((Drive::Joint(id), rotary, 0.0))
        }
        (None, Some(pair)) => {
            let (a, b, distance) = two_points(context, scope, bodies, pair)?;
            if distance == 0.0 {
                let what = "the drawn distance";
                context.fault(scope, &pair.span, FaultKind::ZeroVector { what });
                return None;
            }
            Some((Drive::Distance(Box::new(a), Box::new(b)), false, distance))
        }
        (drives, _) => {
            let found = if drives.is_some() {
                vec!["drives", "distance"]
            } else {
                Vec::new()
            };
            let kind = FaultKind::ExactlyOne {
                what: format!("coordinate `{}`", scope.path(&written.name)),
                options: "`drives`, `distance`",
                found,
            };
            context.fault(scope, &written.span, kind);
            None
        }
    }
}

/// Two points of different bodies and their drawn distance.
pub fn two_points(
    context: &mut Context,
    scope: &Scope,
    bodies: &Bodies,
    pair: &Pair,
) -> Option<(Attachment, Attachment, f64)> {
    let [first, second] = &pair.value;
    let a = bodies.find(context, scope, first);
    let b = bodies.find(context, scope, second);
    let (a, b) = (a?, b?);
    if a.body == b.body {
        context.fault(scope, &pair.span, FaultKind::SameBody);
        return None;
    }
    let attachment = |end: super::attachment::Reference| match end.spot {
        Some(spot) => spot.attachment,
        None => Attachment {
            body: end.body,
            node: 0,
            frame: Frame::identity(),
        },
    };
    let (a, b) = (attachment(a), attachment(b));
    let distance = (bodies.drawn(&a).position - bodies.drawn(&b).position).norm();
    Some((a, b, distance))
}

impl Context {
    fn coordinate(
        &mut self,
        scope: &Scope,
        written: &format::Coordinate,
        name: String,
        drive: Drive,
        rotary: bool,
        home: f64,
    ) -> Option<Coordinate> {
        let own = if rotary {
            Dimension::ANGLE
        } else {
            Dimension::LENGTH
        };
        let pick = |angular, linear| if rotary { angular } else { linear };
        let damping = pick(Dimension::ROTARY_DAMPING, Dimension::DAMPING);
        let stiff = pick(Dimension::ROTARY_STIFFNESS, Dimension::STIFFNESS);
        let force = pick(Dimension::MOMENT, Dimension::FORCE);

        let home = match &written.home {
            Some(home) => self.number(scope, home, own),
            None => Some(home),
        };
        let range = self.range(scope, written, own);
        let speed = pick(Dimension::ROTARY_RATE, Dimension::VELOCITY);
        let rate = self.positive_if_given(scope, &written.rate, speed, "`rate`");
        let gain = pick(Dimension::ROTARY_ACCELERATION, Dimension::ACCELERATION);
        let acceleration =
            self.positive_if_given(scope, &written.acceleration, gain, "`acceleration`");
        let rotor = self.rotor(scope, written, rotary);
        let viscous = self.free(scope, &written.viscous, damping, "`viscous`");
        let coulomb = self.free(scope, &written.coulomb, force, "`coulomb`");
        let stiffness = self.positive_if_given(scope, &written.stiffness, stiff, "`stiffness`");
        let stiffness_damping = self.not_negative_or(
            scope,
            &written.stiffness_damping,
            damping,
            "`stiffness_damping`",
            0.0,
        );
        if let (Some(scalar), None) = (&written.stiffness_damping, &written.stiffness) {
            let kind = FaultKind::Meaningless {
                key: "stiffness_damping",
                context: "without `stiffness`",
            };
            self.fault(scope, &scalar.span, kind);
        }
        let (home, (lower, upper)) = (home?, range?);
        if home < lower || home > upper {
            let span = written.home.as_ref().map(|home| &home.span);
            let kind = FaultKind::HomeOutside { home, lower, upper };
            self.fault(scope, span.unwrap_or(&written.name.span), kind);
            return None;
        }
        Some(Coordinate {
            name,
            origin: scope.origin(&written.name.span),
            drive,
            home,
            lower,
            upper,
            periodic: written.periodic,
            rate: rate?,
            acceleration: acceleration?,
            rotor_inertia: rotor?.0,
            viscous: viscous?.0,
            coulomb: coulomb?.0,
            stiffness: stiffness?,
            stiffness_damping: stiffness_damping?,
            at_runtime: ActuatorAtRuntime {
                rotor_inertia: rotor?.1,
                viscous: viscous?.1,
                coulomb: coulomb?.1,
            },
        })
    }

    /// A positive number where one is written.
    fn positive_if_given(
        &mut self,
        scope: &Scope,
        scalar: &Option<Scalar>,
        expected: Dimension,
        what: &str,
    ) -> Option<Option<f64>> {
        match scalar {
            Some(scalar) => self.positive(scope, scalar, expected, what).map(Some),
            None => Some(None),
        }
    }

    fn range(
        &mut self,
        scope: &Scope,
        written: &format::Coordinate,
        own: Dimension,
    ) -> Option<(f64, f64)> {
        let Some(range) = &written.range else {
            if written.periodic {
                let kind = FaultKind::MissingKey {
                    key: "range".to_owned(),
                    table: "a periodic coordinate".to_owned(),
                };
                self.fault(scope, &written.name.span, kind);
                return None;
            }
            return Some((f64::NEG_INFINITY, f64::INFINITY));
        };
        let values = self.numbers(scope, &range.value, own)?;
        let [lower, upper] = values.try_into().ok()?;
        if lower < upper {
            return Some((lower, upper));
        }
        self.fault(scope, &range.span, FaultKind::RangeOrder { lower, upper });
        None
    }

    /// Rotor inertia times ratio squared: kg m² on a hinge, kg on a straight motion.
    fn rotor(
        &mut self,
        scope: &Scope,
        written: &format::Coordinate,
        rotary: bool,
    ) -> Option<(f64, bool)> {
        let ratio = match &written.ratio {
            Some(ratio) => {
                let quantity = self.quantity(scope, ratio)?;
                if quantity.runtime {
                    self.fault(scope, &ratio.span, FaultKind::RuntimeParameter);
                    return None;
                }
                quantity.value
            }
            None => 1.0,
        };
        let Some(rotor) = &written.rotor_inertia else {
            if let Some(ratio) = &written.ratio {
                let kind = FaultKind::Meaningless {
                    key: "ratio",
                    context: "without `rotor_inertia`",
                };
                self.fault(scope, &ratio.span, kind);
            }
            return Some((0.0, false));
        };
        // A motor behind a spindle turns, and its ratio is in rad/m.
        let linear = !rotary && written.ratio.is_none();
        let dimension = if linear {
            Dimension::MASS
        } else {
            Dimension::INERTIA
        };
        let (inertia, runtime) =
            self.free(scope, &Some(rotor.clone()), dimension, "`rotor_inertia`")?;
        Some((inertia * ratio * ratio, runtime))
    }

    /// A number that must not be negative and may depend on a runtime parameter, and whether it
    /// does; default 0.
    fn free(
        &mut self,
        scope: &Scope,
        scalar: &Option<Scalar>,
        expected: Dimension,
        what: &str,
    ) -> Option<(f64, bool)> {
        let Some(scalar) = scalar else {
            return Some((0.0, false));
        };
        let (value, runtime) = self.runtime_number(scope, scalar, expected)?;
        if value >= 0.0 {
            return Some((value, runtime));
        }
        let what = what.to_owned();
        self.fault(scope, &scalar.span, FaultKind::Negative { what, value });
        None
    }
}
