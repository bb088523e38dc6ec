//! Beams: node frames along a line or a circular arc.

use super::super::fault::FaultKind;
use super::super::format;
use super::super::mechanism::BeamChain;
use super::bodies::{Bodies, MAX_NODES};
use super::context::{Context, Scope};
use super::placement::{perpendicular_part, rotation};
use super::sections::Library;
use crate::lie::Frame;
use nalgebra::{Matrix3, Vector3};

/// The centre line of a beam in the drawing.
enum Line {
    Straight {
        from: Vector3<f64>,
        tangent: Vector3<f64>,
        length: f64,
    },
    Arc {
        from: Vector3<f64>,
        tangent: Vector3<f64>,
        center: Vector3<f64>,
        normal: Vector3<f64>,
        angle: f64,
    },
}

impl Line {
    fn tangent(&self) -> Vector3<f64> {
        match self {
            Self::Straight { tangent, .. } | Self::Arc { tangent, .. } => *tangent,
        }
    }

    /// Frame at the fraction `s` of the line, when its axes at the start are `axes`.
    fn at(&self, axes: &Matrix3<f64>, s: f64) -> Frame {
        match self {
            Self::Straight {
                from,
                tangent,
                length,
            } => Frame::new(*axes, from + tangent * (s * length)),
            Self::Arc {
                from,
                center,
                normal,
                angle,
                ..
            } => {
                let turn = rotation(*normal, s * angle);
                Frame::new(turn * axes, center + turn * (from - center))
            }
        }
    }

    fn length(&self) -> f64 {
        match self {
            Self::Straight { length, .. } => *length,
            Self::Arc {
                from,
                center,
                angle,
                ..
            } => (from - center).norm() * angle,
        }
    }
}

impl Bodies {
    /// A meshed beam and the frame of its first node in the inertial frame.
    pub(super) fn beam(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        beam: &format::Beam,
        library: &Library,
    ) -> Option<(Frame, BeamChain)> {
        let line = context.line(scope, beam);
        let section = context.beam_section(scope, beam, library);
        let elements = context.count(scope, &beam.elements, "the number of elements");
        let axes = line
            .as_ref()
            .and_then(|line| context.section_axes(scope, beam, line.tangent()));
        let (line, section, elements, axes) = (line?, section?, elements?, axes?);
        self.nodes = self.nodes.saturating_add(elements + 1);
        if self.nodes > MAX_NODES {
            let kind = FaultKind::Limit {
                what: "nodes of beams",
                limit: MAX_NODES,
            };
            context.fault(scope, &beam.elements.span, kind);
            return None;
        }
        let start = line.at(&axes, 0.0);
        let inverse = start.inverse();
        let nodes = (0..=elements)
            .map(|index| match (&line, index) {
                (_, 0) => Frame::identity(),
                (Line::Straight { length, .. }, index) => {
                    let along = length * index as f64 / elements as f64;
                    Frame::new(Matrix3::identity(), Vector3::new(along, 0.0, 0.0))
                }
                (arc, index) => inverse.compose(&arc.at(&axes, index as f64 / elements as f64)),
            })
            .collect();
        let chain = BeamChain {
            nodes,
            lengths: vec![line.length() / elements as f64; elements],
            section,
        };
        Some((scope.frame.compose(&start), chain))
    }
}

impl Context {
    /// A whole number of at least one.
    pub fn count(
        &mut self,
        scope: &Scope,
        written: &format::Located<i64>,
        what: &str,
    ) -> Option<usize> {
        match usize::try_from(written.value) {
            Ok(count) if (1..=MAX_NODES).contains(&count) => Some(count),
            _ => {
                let kind = FaultKind::OutOfRange {
                    what: what.to_owned(),
                    value: written.value as f64,
                    allowed: "between 1 and 20000",
                };
                self.fault(scope, &written.span, kind);
                None
            }
        }
    }

    fn line(&mut self, scope: &Scope, beam: &format::Beam) -> Option<Line> {
        let from = self.position(scope, &beam.from);
        let to = self.position(scope, &beam.to);
        let through = match &beam.through {
            Some(through) => Some(Some(self.position(scope, through)?)),
            None => Some(None),
        };
        let (from, to) = (from?, to?);
        let along = to - from;
        let length = along.norm();
        if length == 0.0 {
            let what = "the length of the beam";
            self.fault(scope, &beam.to.span, FaultKind::ZeroVector { what });
            return None;
        }
        let Some(through) = through? else {
            let tangent = along / length;
            return Some(Line::Straight {
                from,
                tangent,
                length,
            });
        };
        // Centre of the circle through three points.
        let (u, v) = (through - from, along);
        let w = u.cross(&v);
        if w.norm() <= 1e-9 * u.norm() * v.norm() {
            let span = beam.through.as_ref().map(|through| through.span.clone());
            let what = "the directions to `through` and `to`";
            self.fault(scope, &span.unwrap_or(0..0), FaultKind::Parallel { what });
            return None;
        }
        let offset = (w.cross(&u) * v.norm_squared() + v.cross(&w) * u.norm_squared())
            / (2.0 * w.norm_squared());
        let center = from + offset;
        let normal = w.normalize();
        let (first, last) = (from - center, to - center);
        let angle = normal.dot(&first.cross(&last)).atan2(first.dot(&last));
        Some(Line::Arc {
            from,
            tangent: normal.cross(&first).normalize(),
            center,
            normal,
            angle: angle.rem_euclid(std::f64::consts::TAU),
        })
    }

    /// Axes of the first node: x along the tangent, y and z from `side` or `up`.
    fn section_axes(
        &mut self,
        scope: &Scope,
        beam: &format::Beam,
        x: Vector3<f64>,
    ) -> Option<Matrix3<f64>> {
        let from_y = |y: Vector3<f64>| Matrix3::from_columns(&[x, y, x.cross(&y)]);
        let from_z = |z: Vector3<f64>| Matrix3::from_columns(&[x, z.cross(&x), z]);
        let (vector, part) = match (&beam.up, &beam.side) {
            (Some(_), Some(side)) => {
                let (first, second) = ("up", "side");
                self.fault(scope, &side.span, FaultKind::Conflict { first, second });
                return None;
            }
            (Some(up), None) => {
                let z = self.direction(scope, up, "`up`")?;
                (up, perpendicular_part(z, x).map(from_z))
            }
            (None, Some(side)) => {
                let y = self.direction(scope, side, "`side`")?;
                (side, perpendicular_part(y, x).map(from_y))
            }
            (None, None) => {
                let upright = x.z.abs() > 1.0 - 1e-6;
                let axes = if upright {
                    perpendicular_part(Vector3::y(), x).map(from_y)
                } else {
                    perpendicular_part(Vector3::z(), x).map(from_z)
                };
                return axes;
            }
        };
        if part.is_none() {
            let what = "the beam and the direction of its section";
            self.fault(scope, &vector.span, FaultKind::Parallel { what });
        }
        part
    }
}
