//! Frames from positions and one of several ways to give an orientation.

use super::super::fault::FaultKind;
use super::super::format::{Placement, Rotate, Vector};
use super::super::quantity::Dimension;
use super::context::{Context, Scope};
use crate::lie::Frame;
use nalgebra::{Matrix3, Quaternion, Rotation3, Unit, UnitQuaternion, Vector3};
use std::ops::Range;

impl Context {
    /// The frame of a table; `span` is where to point when the table as a whole is at fault.
    pub fn placement(
        &mut self,
        scope: &Scope,
        placement: &Placement,
        span: &Range<usize>,
    ) -> Option<Frame> {
        let position = self.position_or_origin(scope, &placement.at);
        let rotation = self.orientation(scope, placement, span);
        Some(Frame::new(rotation?, position?))
    }

    /// The frame of `frame = { … }` or its short form `at = […]`.
    pub fn placement_or_at(
        &mut self,
        scope: &Scope,
        frame: &Option<Placement>,
        at: &Option<Vector>,
        span: &Range<usize>,
    ) -> Option<Frame> {
        match (frame, at) {
            (Some(_), Some(at)) => {
                let (first, second) = ("frame", "at");
                self.fault(scope, &at.span, FaultKind::Conflict { first, second });
                None
            }
            (Some(frame), None) => self.placement(scope, frame, span),
            (None, at) => {
                let position = self.position_or_origin(scope, at)?;
                Some(Frame::new(Matrix3::identity(), position))
            }
        }
    }

    fn orientation(
        &mut self,
        scope: &Scope,
        placement: &Placement,
        span: &Range<usize>,
    ) -> Option<Matrix3<f64>> {
        let given = [
            (placement.quaternion.is_some(), "quaternion"),
            (
                placement.axis.is_some() || placement.angle.is_some(),
                "axis and angle",
            ),
            (placement.rpy.is_some(), "rpy"),
            (has_axes(placement), "two of x, y, z"),
        ];
        let found: Vec<&'static str> = given
            .into_iter()
            .filter_map(|(is_given, name)| is_given.then_some(name))
            .collect();
        match found.as_slice() {
            [] => Some(Matrix3::identity()),
            ["quaternion"] => self.quaternion(scope, placement),
            ["axis and angle"] => self.axis_and_angle(scope, placement, span),
            ["rpy"] => {
                let angles =
                    self.triple(scope, &placement.rpy.as_ref()?.value, Dimension::ANGLE)?;
                Some(Rotation3::from_euler_angles(angles.x, angles.y, angles.z).into_inner())
            }
            ["two of x, y, z"] => self.two_axes(scope, placement, span),
            _ => {
                let kind = FaultKind::ExactlyOne {
                    what: "an orientation".to_owned(),
                    options: "`quaternion`, `axis` and `angle`, `rpy`, or two of `x`, `y`, `z`",
                    found,
                };
                self.fault(scope, span, kind);
                None
            }
        }
    }

    fn quaternion(&mut self, scope: &Scope, placement: &Placement) -> Option<Matrix3<f64>> {
        let written = placement.quaternion.as_ref()?;
        let values = self.numbers(scope, &written.value, Dimension::NONE)?;
        let [w, x, y, z] = values.try_into().ok()?;
        let quaternion = Quaternion::new(w, x, y, z);
        let norm = quaternion.norm();
        if norm == 0.0 || !norm.is_finite() {
            let what = "the quaternion";
            self.fault(scope, &written.span, FaultKind::ZeroVector { what });
            return None;
        }
        if (norm - 1.0).abs() > 1e-3 {
            let kind = FaultKind::OutOfRange {
                what: "the length of the quaternion".to_owned(),
                value: norm,
                allowed: "1 (the order is w, x, y, z)",
            };
            self.fault(scope, &written.span, kind);
            return None;
        }
        let unit = UnitQuaternion::from_quaternion(quaternion);
        Some(unit.to_rotation_matrix().into_inner())
    }

    fn axis_and_angle(
        &mut self,
        scope: &Scope,
        placement: &Placement,
        span: &Range<usize>,
    ) -> Option<Matrix3<f64>> {
        let (Some(axis), Some(angle)) = (&placement.axis, &placement.angle) else {
            let key = if placement.axis.is_some() {
                "angle"
            } else {
                "axis"
            };
            let kind = FaultKind::MissingKey {
                key: key.to_owned(),
                table: "the frame".to_owned(),
            };
            self.fault(scope, span, kind);
            return None;
        };
        let axis = self.direction(scope, axis, "the axis");
        let angle = self.number(scope, angle, Dimension::ANGLE);
        Some(rotation(axis?, angle?))
    }

    fn two_axes(
        &mut self,
        scope: &Scope,
        placement: &Placement,
        span: &Range<usize>,
    ) -> Option<Matrix3<f64>> {
        let named = [&placement.x, &placement.y, &placement.z];
        let given: Vec<(usize, &Vector)> = named
            .iter()
            .enumerate()
            .filter_map(|(index, axis)| axis.as_ref().map(|axis| (index, axis)))
            .collect();
        let [(i, first), (j, second)] = given.as_slice() else {
            let kind = FaultKind::WrongCount {
                what: "the frame's axes x, y, z",
                expected: 2,
                found: given.len(),
            };
            self.fault(scope, span, kind);
            return None;
        };
        let a = self.direction(scope, first, "the axis");
        let b = self.direction(scope, second, "the axis");
        let (a, b) = (a?, b?);
        let Some(b) = perpendicular_part(b, a) else {
            let what = "the axes of the frame";
            self.fault(scope, &second.span, FaultKind::Parallel { what });
            return None;
        };
        let third = 3 - i - j;
        let cyclic = (i + 1) % 3 == *j;
        let c = if cyclic { a.cross(&b) } else { b.cross(&a) };
        let mut rotation = Matrix3::zeros();
        rotation.set_column(*i, &a);
        rotation.set_column(*j, &b);
        rotation.set_column(third, &c);
        Some(rotation)
    }

    /// The motion from one instance to the next, `count` times.
    pub fn rotation_step(
        &mut self,
        scope: &Scope,
        rotate: &Rotate,
    ) -> Option<impl Fn(usize) -> Frame + use<>> {
        let axis = self.direction(scope, &rotate.axis, "the axis");
        let step = self.number(scope, &rotate.step, Dimension::ANGLE);
        let about = self.position_or_origin(scope, &rotate.about);
        let (axis, step, about) = (axis?, step?, about?);
        Some(move |count: usize| {
            let turn = rotation(axis, step * count as f64);
            Frame::new(turn, about - turn * about)
        })
    }
}

fn has_axes(placement: &Placement) -> bool {
    placement.x.is_some() || placement.y.is_some() || placement.z.is_some()
}

/// Rotation about a unit vector.
pub fn rotation(axis: Vector3<f64>, angle: f64) -> Matrix3<f64> {
    Rotation3::from_axis_angle(&Unit::new_unchecked(axis), angle).into_inner()
}

/// Unit vector along the part of `vector` across the unit vector `axis`; `None` if they are parallel.
pub fn perpendicular_part(vector: Vector3<f64>, axis: Vector3<f64>) -> Option<Vector3<f64>> {
    let part = vector - axis * axis.dot(&vector);
    (part.norm() > 1e-6 * vector.norm()).then(|| {
        // The second projection removes what cancellation left in the first.
        let part = part.normalize();
        (part - axis * axis.dot(&part)).normalize()
    })
}

/// A frame's axes with the given z, and x the coordinate axis farthest from it, made perpendicular.
pub fn axes_about(z: Vector3<f64>) -> Matrix3<f64> {
    let coordinate = Vector3::ith(z.iamin(), 1.0);
    let x = perpendicular_part(coordinate, z).unwrap_or(coordinate);
    Matrix3::from_columns(&[x, z.cross(&x), z])
}
