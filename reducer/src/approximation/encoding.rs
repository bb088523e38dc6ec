//! Bytes of a sample: lengths as u32, numbers as f64, little endian.

use super::database::SampleResult;
use super::source::SampleFailure;
use crate::reduction::{Coefficients, GravityAxis, OutputCoefficients};
use std::sync::Arc;

/// Adds the bytes of one record.
pub(super) fn encode(theta: &[f64], result: &SampleResult, bytes: &mut Vec<u8>) {
    let mut out = Writer(bytes);
    out.numbers(theta);
    match result {
        Ok(c) => {
            out.0.push(0);
            for v in [
                &c.theta,
                &c.mass,
                &c.stiffness,
                &c.damping,
                &c.force,
                &c.gravity,
                &vec![c.potential, c.gauge_overlap, c.waypoints as f64],
            ] {
                out.numbers(v);
            }
            for list in [
                &c.mass_gradient,
                &c.stiffness_gradient,
                &c.force_gradient,
                &c.load_map,
            ] {
                out.length(list.len());
                list.iter().for_each(|v| out.numbers(v));
            }
            out.length(c.gravity_axes.len());
            for axis in &c.gravity_axes {
                out.numbers(&[axis.potential]);
                out.numbers(&axis.force);
                out.length(axis.force_gradient.len());
                axis.force_gradient.iter().for_each(|v| out.numbers(v));
            }
            out.length(c.outputs.len());
            for o in &c.outputs {
                out.numbers(&o.position);
                out.numbers(&o.rotation);
                out.numbers(&o.jacobian);
            }
        }
        Err(failure) => {
            let (kind, at) = match failure {
                SampleFailure::Singular { theta, .. } => (1, theta),
                SampleFailure::Inadmissible { theta, .. } => (2, theta),
            };
            out.0.push(kind);
            out.numbers(at);
            out.length(failure.reason().len());
            out.0.extend_from_slice(failure.reason().as_bytes());
        }
    }
}

/// The record in `bytes`; absent where they are not one.
pub(super) fn decode(bytes: &[u8]) -> Option<(Vec<f64>, SampleResult)> {
    let mut input = Reader(bytes);
    let theta = input.numbers()?;
    let result = match input.take(1)?[0] {
        0 => Ok(Arc::new(input.coefficients()?)),
        kind @ (1 | 2) => {
            let at = input.numbers()?;
            let length = input.length()?;
            let reason = String::from_utf8(input.take(length)?.to_vec()).ok()?;
            Err(if kind == 1 {
                SampleFailure::Singular { theta: at, reason }
            } else {
                SampleFailure::Inadmissible { theta: at, reason }
            })
        }
        _ => return None,
    };
    input.0.is_empty().then_some((theta, result))
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&(length as u32).to_le_bytes());
    }

    fn numbers(&mut self, values: &[f64]) {
        self.length(values.len());
        self.0.reserve(8 * values.len());
        for v in values {
            self.0.extend_from_slice(&v.to_le_bytes());
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn length(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn numbers(&mut self) -> Option<Vec<f64>> {
        let count = self.length()?;
        let bytes = self.take(count.checked_mul(8)?)?;
        Some(
            bytes
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap_or([0; 8])))
                .collect(),
        )
    }

    fn lists(&mut self) -> Option<Vec<Vec<f64>>> {
        let count = self.length()?;
        (0..count).map(|_| self.numbers()).collect()
    }

    fn coefficients(&mut self) -> Option<Coefficients> {
        let [theta, mass, stiffness, damping, force, gravity, scalars] =
            [(); 7].map(|()| self.numbers());
        let [mass_gradient, stiffness_gradient, force_gradient, load_map] =
            [(); 4].map(|()| self.lists());
        let scalars: [f64; 3] = scalars?.try_into().ok()?;
        let gravity_axes = (0..self.length()?)
            .map(|_| self.gravity_axis())
            .collect::<Option<Vec<_>>>()?;
        let outputs = (0..self.length()?)
            .map(|_| self.output())
            .collect::<Option<Vec<_>>>()?;
        Some(Coefficients {
            theta: theta?,
            mass: mass?,
            mass_gradient: mass_gradient?,
            stiffness: stiffness?,
            stiffness_gradient: stiffness_gradient?,
            damping: damping?,
            potential: scalars[0],
            force: force?,
            force_gradient: force_gradient?,
            gravity: gravity?,
            gravity_axes,
            outputs,
            load_map: load_map?,
            gauge_overlap: scalars[1],
            waypoints: scalars[2] as usize,
        })
    }

    fn gravity_axis(&mut self) -> Option<GravityAxis> {
        let [potential] = self.numbers()?.try_into().ok()?;
        Some(GravityAxis {
            potential,
            force: self.numbers()?,
            force_gradient: self.lists()?,
        })
    }

    fn output(&mut self) -> Option<OutputCoefficients> {
        Some(OutputCoefficients {
            position: self.numbers()?.try_into().ok()?,
            rotation: self.numbers()?.try_into().ok()?,
            jacobian: self.numbers()?,
        })
    }
}
