//! Joints: one frame on each body, both where the joint is drawn.

use super::super::fault::FaultKind;
use super::super::format::{self, FrameOrName, Located, Pair};
use super::super::mechanism::{Attachment, Body, BodyRef, Joint, JointId, JointKind, Origin};
use super::attachment::{Reference, Spot};
use super::bodies::Bodies;
use super::context::{Context, Scope};
use super::expand::{Part, Placed};
use super::free::{Chain, MOTIONS};
use super::placement::axes_about;
use crate::lie::Frame;
use nalgebra::{Matrix3, Vector3};
use std::collections::{BTreeMap, BTreeSet};

/// Largest deviation of a universal joint's axes from a right angle, as a cosine.
const PERPENDICULAR: f64 = 1e-6;

/// All joints, by index and by name; `None` for one at fault.
#[derive(Debug, Default)]
pub struct Joints {
    /// Joints without fault.
    pub list: Vec<Joint>,
    /// All names, those of the motions of free joints among them.
    pub named: BTreeMap<String, Option<JointId>>,
    /// Bodies within free joints, to follow those of the file.
    pub carriers: Vec<Body>,
    /// Names of free joints, which stand for six joints.
    free: BTreeSet<String>,
}

impl Joints {
    /// The joint that a name means.
    pub fn find(
        &self,
        context: &mut Context,
        scope: &Scope,
        written: &Located<String>,
    ) -> Option<JointId> {
        for path in scope.candidates(&written.value) {
            if let Some(joint) = self.named.get(&path) {
                return *joint;
            }
            if self.free.contains(&path) {
                let kind = FaultKind::SixCoordinates { joint: path };
                context.fault(scope, &written.span, kind);
                return None;
            }
        }
        let visible = |name: &String| name.strip_prefix(&scope.prefix).map(str::to_owned);
        let known = self.named.keys().filter_map(visible).collect();
        context.unknown(scope, &written.span, "joint", &written.value, known)
    }

    /// The joint that a name means, if it has a single coordinate; true for a hinge.
    pub fn find_single(
        &self,
        context: &mut Context,
        scope: &Scope,
        written: &Located<String>,
    ) -> Option<(JointId, bool)> {
        let id = self.find(context, scope, written)?;
        let joint = self.list.get(id.0)?;
        match joint.kind {
            JointKind::Hinge => Some((id, true)),
            JointKind::Prismatic => Some((id, false)),
            kind => {
                let kind = FaultKind::NotOneCoordinate {
                    joint: joint.name.clone(),
                    kind: kind_name(kind),
                };
                context.fault(scope, &written.span, kind);
                None
            }
        }
    }
}

impl Joints {
    fn add(&mut self, name: String, joint: Option<Joint>) {
        let id = joint.map(|joint| {
            self.list.push(joint);
            JointId(self.list.len() - 1)
        });
        self.named.insert(name, id);
    }

    /// Adds the joints of a free one, and the bodies between them; returns a name that another part has already.
    fn add_free(
        &mut self,
        name: &str,
        origin: &Origin,
        ends: Option<[Attachment; 2]>,
        bodies: &Bodies,
    ) -> Option<String> {
        self.free.insert(name.to_owned());
        let names = MOTIONS.map(|motion| format!("{name}.{motion}"));
        let is_taken =
            |name: &&String| self.named.contains_key(*name) || bodies.named.contains_key(*name);
        let taken = names.iter().find(is_taken).cloned();
        let Some(ends) = ends.filter(|_| taken.is_none()) else {
            // References to its motions need no second message.
            for name in names {
                self.named.entry(name).or_default();
            }
            return taken;
        };
        let home = bodies.drawn(&ends[0]);
        let next = bodies.list.len() + self.carriers.len();
        let chain = Chain::new(name, origin, ends, home, next);
        self.carriers.extend(chain.carriers);
        for joint in chain.joints {
            self.add(joint.name.clone(), Some(joint));
        }
        None
    }
}

fn kind_name(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Fixed => "fixed",
        JointKind::Hinge => "a hinge",
        JointKind::Prismatic => "prismatic",
        JointKind::Cylindrical => "cylindrical",
        JointKind::Universal => "universal",
        JointKind::Spherical => "spherical",
        JointKind::Planar => "planar",
        JointKind::Translation => "a translation",
    }
}

/// Angle of a rotation, also near zero, where the arc cosine of its trace is blind.
fn angle(rotation: &Matrix3<f64>) -> f64 {
    let skew = rotation - rotation.transpose();
    let sine = Vector3::new(skew.m32, skew.m13, skew.m21).norm() / 2.0;
    sine.atan2((rotation.trace() - 1.0) / 2.0)
}

/// Builds all joints.
pub fn joints(context: &mut Context, parts: &[Placed<'_>], bodies: &Bodies) -> Joints {
    let mut joints = Joints::default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for placed in parts {
        let Part::Joint(joint) = placed.part else {
            continue;
        };
        let scope = &placed.scope;
        let count = counts.entry(scope.prefix.clone()).or_default();
        *count += 1;
        let (local, span) = match &joint.name {
            Some(name) if context.name(scope, name) => (name.value.clone(), name.span.clone()),
            Some(name) => {
                // References to it need no second message.
                joints.named.entry(scope.path(name)).or_default();
                continue;
            }
            None => (format!("joint{count}"), joint.span.clone()),
        };
        let name = scope.path(&local);
        if joints.named.contains_key(&name) || joints.free.contains(&name) {
            let what = "joint";
            context.fault(scope, &span, FaultKind::DuplicateName { what, name });
            continue;
        }
        let drawing = Drawing {
            scope,
            written: joint,
            bodies,
            name: &name,
        };
        let drawn = drawing.joint(context);
        let origin = scope.origin(&span);
        if joint.free.is_some() {
            let ends = drawn.map(|(_, a, b)| [a, b]);
            if let Some(taken) = joints.add_free(&name, &origin, ends, bodies) {
                let (what, name) = ("part", taken);
                context.fault(scope, &span, FaultKind::DuplicateName { what, name });
            }
            continue;
        }
        let joint = drawn.map(|(kind, a, b)| Joint {
            name: name.clone(),
            origin,
            kind,
            a,
            b,
        });
        joints.add(name, joint);
    }
    joints
}

/// A joint as written, with what is needed to understand it.
struct Drawing<'a> {
    scope: &'a Scope,
    written: &'a Located<format::Joint>,
    bodies: &'a Bodies,
    name: &'a str,
}

impl Drawing<'_> {
    fn joint(&self, context: &mut Context) -> Option<(JointKind, Attachment, Attachment)> {
        let (kind, pair) = self.kind(context)?;
        let rotation = self.rotation(context, kind);
        let at = match &self.written.at {
            Some(at) => Some(Some(self.scope.place(context.position(self.scope, at)?))),
            None => Some(None),
        };
        let [first, second] = &pair.value;
        let a = self.end(context, first, &self.written.frame_a);
        let b = self.end(context, second, &self.written.frame_b);
        let (rotation, at, a, b) = (rotation?, at?, a?, b?);
        if a.body == b.body {
            context.fault(self.scope, &pair.span, FaultKind::SameBody);
            return None;
        }
        let (frame_a, frame_b) = self.frames(context, kind, rotation, at, &a, &b)?;
        self.check(context, at, &frame_a, &frame_b)?;
        let a = self.attach(context, &a, &frame_a);
        let b = self.attach(context, &b, &frame_b);
        Some((kind, a?, b?))
    }

    fn kind(&self, context: &mut Context) -> Option<(JointKind, &Pair)> {
        let joint = &self.written.value;
        let kinds = [
            ("fixed", JointKind::Fixed, &joint.fixed),
            ("hinge", JointKind::Hinge, &joint.hinge),
            ("prismatic", JointKind::Prismatic, &joint.prismatic),
            ("cylindrical", JointKind::Cylindrical, &joint.cylindrical),
            ("universal", JointKind::Universal, &joint.universal),
            ("spherical", JointKind::Spherical, &joint.spherical),
            ("planar", JointKind::Planar, &joint.planar),
            ("translation", JointKind::Translation, &joint.translation),
            // Drawn like a translation: anywhere, along the axes of the drawing.
            ("free", JointKind::Translation, &joint.free),
        ];
        let given: Vec<_> = kinds
            .into_iter()
            .filter_map(|(name, kind, pair)| Some((name, kind, pair.as_ref()?)))
            .collect();
        if let [(_, kind, pair)] = given.as_slice() {
            return Some((*kind, pair));
        }
        let kind = FaultKind::ExactlyOne {
            what: format!("joint `{}`", self.name),
            options: "`fixed`, `hinge`, `prismatic`, `cylindrical`, `universal`, `spherical`, `planar`, `translation`, `free`",
            found: given.into_iter().map(|(name, ..)| name).collect(),
        };
        context.fault(self.scope, &self.written.span, kind);
        None
    }

    /// Axes of the joint in the inertial frame, where `axis` or `axes` gives them.
    fn rotation(&self, context: &mut Context, kind: JointKind) -> Option<Option<Matrix3<f64>>> {
        let joint = &self.written.value;
        let wants_axis = matches!(
            kind,
            JointKind::Hinge | JointKind::Prismatic | JointKind::Cylindrical | JointKind::Planar
        );
        let meaningless = [
            (
                joint.axis.as_ref().map(|axis| &axis.span),
                !wants_axis,
                "axis",
            ),
            (
                joint.axes.as_ref().map(|axes| &axes.span),
                kind != JointKind::Universal,
                "axes",
            ),
        ];
        for (span, wrong, key) in meaningless {
            if let (Some(span), true) = (span, wrong) {
                let words = "for a joint of this kind";
                let kind = FaultKind::Meaningless {
                    key,
                    context: words,
                };
                context.fault(self.scope, span, kind);
                return None;
            }
        }
        let local = if let Some(axis) = &joint.axis {
            Some(axes_about(context.direction(self.scope, axis, "the axis")?))
        } else if let Some(axes) = &joint.axes {
            let [first, second] = &axes.value;
            let first = context.direction(self.scope, first, "the first axis");
            let second = context.direction(self.scope, second, "the second axis");
            let (z, x) = (first?, second?);
            if z.dot(&x).abs() > PERPENDICULAR {
                let degrees = z.dot(&x).clamp(-1.0, 1.0).acos().to_degrees();
                let kind = FaultKind::NotPerpendicular { degrees };
                context.fault(self.scope, &axes.span, kind);
                return None;
            }
            let x = (x - z * z.dot(&x)).normalize();
            Some(Matrix3::from_columns(&[x, z.cross(&x), z]))
        } else {
            None
        };
        Some(local.map(|local| self.scope.frame.rotation * local))
    }

    /// A body and the point on it, from its name and the frame given apart.
    fn end(
        &self,
        context: &mut Context,
        written: &Located<String>,
        frame: &Option<FrameOrName>,
    ) -> Option<Reference> {
        let mut found = self.bodies.find(context, self.scope, written)?;
        match frame {
            None => {}
            Some(FrameOrName::Name(point)) => {
                let full = Located {
                    span: written.span.clone(),
                    value: format!("{}.{point}", found.name),
                };
                let outer = Scope {
                    prefix: String::new(),
                    ..self.scope.clone()
                };
                found = self.bodies.find(context, &outer, &full)?;
            }
            Some(FrameOrName::Table(table)) => {
                let local = context.placement(self.scope, table, &written.span)?;
                let drawn = self.bodies.home(found.body).compose(&local);
                let span = &written.span;
                let attachment = self
                    .bodies
                    .attach(context, self.scope, span, found.body, &drawn)?;
                found.spot = Some(Spot {
                    attachment,
                    oriented: true,
                });
            }
        }
        Some(found)
    }

    /// Both frames in the inertial frame.
    fn frames(
        &self,
        context: &mut Context,
        kind: JointKind,
        rotation: Option<Matrix3<f64>>,
        at: Option<Vector3<f64>>,
        a: &Reference,
        b: &Reference,
    ) -> Option<(Frame, Frame)> {
        let drawn = |end: &Reference| {
            end.spot
                .as_ref()
                .map(|spot| self.bodies.drawn(&spot.attachment))
        };
        let (drawn_a, drawn_b) = (drawn(a), drawn(b));
        let oriented = |end: &Reference, frame: Option<Frame>| match &end.spot {
            Some(spot) if spot.oriented => frame.map(|frame| frame.rotation),
            _ => None,
        };
        let (axes_a, axes_b) = (oriented(a, drawn_a), oriented(b, drawn_b));
        let needs_axis = !matches!(
            kind,
            JointKind::Fixed | JointKind::Spherical | JointKind::Translation
        );
        let default = (!needs_axis).then_some(self.scope.frame.rotation);
        let rotation_a = rotation.or(axes_a).or(axes_b).or(default);
        let rotation_b = match kind {
            JointKind::Spherical => rotation_a,
            _ => rotation.or(axes_b).or(axes_a).or(default),
        };
        let (Some(rotation_a), Some(rotation_b)) = (rotation_a, rotation_b) else {
            let key = match kind {
                JointKind::Universal => "axes = [[x, y, z], [x, y, z]]",
                _ => "axis = [x, y, z]",
            };
            let joint = self.name.to_owned();
            context.fault(
                self.scope,
                &self.written.span,
                FaultKind::NoAxis { joint, key },
            );
            return None;
        };
        let position = |own: Option<Frame>, other: Option<Frame>| {
            own.map(|frame| frame.position)
                .or(at)
                .or(other.map(|frame| frame.position))
        };
        let place_a = position(drawn_a, drawn_b);
        let place_b = position(drawn_b, drawn_a);
        let (Some(place_a), Some(place_b)) = (place_a, place_b) else {
            let Some(common) = self.common_point(kind, a, b) else {
                let joint = self.name.to_owned();
                context.fault(
                    self.scope,
                    &self.written.span,
                    FaultKind::NoPosition { joint },
                );
                return None;
            };
            return Some((
                Frame::new(rotation_a, common),
                Frame::new(rotation_b, common),
            ));
        };
        Some((
            Frame::new(rotation_a, place_a),
            Frame::new(rotation_b, place_b),
        ))
    }

    /// The only place where both bodies have a named point; for joints that work the same
    /// wherever they are, the origin of the second body's frame.
    fn common_point(&self, kind: JointKind, a: &Reference, b: &Reference) -> Option<Vector3<f64>> {
        let points = |end: &Reference| -> Vec<Vector3<f64>> {
            let named = self.bodies.named.get(&end.name);
            let spots = named.into_iter().flat_map(|named| named.points.values());
            spots
                .flatten()
                .map(|spot| self.bodies.drawn(&spot.attachment).position)
                .collect()
        };
        let near =
            |p: &Vector3<f64>, q: &Vector3<f64>| (p - q).norm() <= self.bodies.home_tolerance;
        let (points_a, points_b) = (points(a), points(b));
        let mut shared: Vec<Vector3<f64>> = Vec::new();
        for p in &points_a {
            if points_b.iter().any(|q| near(p, q)) && !shared.iter().any(|q| near(p, q)) {
                shared.push(*p);
            }
        }
        match shared.as_slice() {
            [only] => return Some(*only),
            [] => {}
            _ => return None,
        }
        let anywhere = matches!(
            kind,
            JointKind::Fixed | JointKind::Prismatic | JointKind::Translation
        );
        let moving = if b.body == BodyRef::Ground { a } else { b };
        let beams = [a, b]
            .iter()
            .any(|end| matches!(self.bodies.kind_of(end.body), Some(kind) if kind.flexible_nodes().is_some()));
        (anywhere && !beams).then(|| self.bodies.home(moving.body).position)
    }

    fn check(
        &self,
        context: &mut Context,
        at: Option<Vector3<f64>>,
        a: &Frame,
        b: &Frame,
    ) -> Option<()> {
        let tolerance = self.bodies.home_tolerance;
        let places = [Some(a.position), Some(b.position), at];
        let distance = places
            .iter()
            .flatten()
            .map(|place| (place - a.position).norm())
            .fold(0.0, f64::max);
        let turn = angle(&(a.rotation.transpose() * b.rotation));
        // An angle moves a point one metre away by as much.
        if distance <= tolerance && turn <= tolerance.max(1e-6) {
            return Some(());
        }
        let kind = FaultKind::FramesApart {
            joint: self.name.to_owned(),
            distance,
            degrees: turn.to_degrees(),
            tolerance,
            slides: at.is_none() && turn <= tolerance.max(1e-6) && self.slides(a, b),
        };
        context.fault(self.scope, &self.written.span, kind);
        None
    }

    /// The frames differ along the axis of a joint that slides along it.
    fn slides(&self, a: &Frame, b: &Frame) -> bool {
        let sliding = self.written.prismatic.is_some() || self.written.cylindrical.is_some();
        let axis: Vector3<f64> = a.rotation.column(2).into();
        let apart = b.position - a.position;
        sliding && apart.cross(&axis).norm() <= self.bodies.home_tolerance
    }

    fn attach(&self, context: &mut Context, end: &Reference, frame: &Frame) -> Option<Attachment> {
        let Some(spot) = &end.spot else {
            let span = self.written.at.as_ref().map(|at| &at.span);
            let span = span.unwrap_or(&self.written.span);
            return self
                .bodies
                .attach(context, self.scope, span, end.body, frame);
        };
        let node = self.bodies.node_home(end.body, spot.attachment.node);
        Some(Attachment {
            body: end.body,
            node: spot.attachment.node,
            // The point keeps its exact place on the body; assembly removes what is left.
            frame: Frame::new(
                node.rotation.transpose() * frame.rotation,
                spot.attachment.frame.position,
            ),
        })
    }
}
