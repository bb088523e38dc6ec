//! States at which implementations are compared.

use crate::support::Numbers;
use reducer::reduced_model::ReducedModel;

/// A state with accelerations, and what the caller adds to the nominal model.
pub struct Point {
    pub eta: Vec<f64>,
    pub rate: Vec<f64>,
    pub accel: Vec<f64>,
    pub parameters: Parameters,
}

/// Parameters in the order of the header's structure.
pub struct Parameters {
    pub payload: Vec<f64>,
    pub gravity: [f64; 3],
    pub rotor: Vec<f64>,
    pub viscous: Vec<f64>,
    pub coulomb: Vec<f64>,
    pub coulomb_rate: Vec<f64>,
}

impl Parameters {
    fn new(model: &ReducedModel, numbers: &mut Numbers) -> Self {
        let (s, outputs) = (model.layout.n_rigid, model.layout.outputs.len());
        let mut positive = |n: usize| numbers.vector(n, 1.0).iter().map(|x| x.abs()).collect();
        Self {
            payload: positive(outputs),
            gravity: [0.25, -0.5, -9.8125],
            rotor: positive(s),
            viscous: positive(s),
            coulomb: positive(s),
            // Rates are up to 1: friction is met on both sides of the corner.
            coulomb_rate: vec![0.5; s],
        }
    }

    /// As the structure in memory.
    pub fn flat(&self) -> Vec<f64> {
        let mut out = Vec::new();
        if !self.payload.is_empty() {
            out.extend(&self.payload);
            out.extend(self.gravity);
        }
        for part in [
            &self.rotor,
            &self.viscous,
            &self.coulomb,
            &self.coulomb_rate,
        ] {
            out.extend(part);
        }
        out
    }
}

/// Boxes of which points are taken, times the number of faces of a box.
const FACES: usize = 12;
/// Modal coordinates [m or rad].
const MODAL: f64 = 1e-3;

/// Points inside boxes, on their faces and corners, and outside the domain. Numbers are exact in
/// single precision. `faces`: also points that rounding may move to the next box.
pub fn points(model: &ReducedModel, faces: bool) -> Vec<Point> {
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let domain = &model.layout.domain;
    let mut numbers = Numbers::new(17);
    let mut thetas: Vec<Vec<f64>> = Vec::new();
    for b in model
        .boxes
        .iter()
        .step_by(model.boxes.len().div_ceil((FACES / s).max(1)))
    {
        let at = |part: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..s)
                .map(|k| b.lower[k] + part(k) * (b.upper[k] - b.lower[k]))
                .collect()
        };
        for _ in 0..2 {
            let parts = numbers.vector(s, 0.45);
            thetas.push(at(&|k| 0.5 + parts[k]));
        }
        if faces {
            thetas.extend([b.lower.clone(), b.upper.clone()]);
            thetas.push(
                (0..s)
                    .map(|k| if k % 2 == 0 { b.lower[k] } else { b.upper[k] })
                    .collect(),
            );
            for k in 0..s {
                let mut face = at(&|_| 0.375);
                face[k] = if k % 2 == 0 { b.upper[k] } else { b.lower[k] };
                thetas.push(face);
            }
        }
    }
    let beyond = |part: f64| -> Vec<f64> {
        let width = |k: usize| domain.upper[k] - domain.lower[k];
        (0..s).map(|k| domain.lower[k] + part * width(k)).collect()
    };
    thetas.extend([beyond(1.25), beyond(-0.5), beyond(40.0)]);
    let mut one_outside = beyond(0.4);
    one_outside[0] = domain.upper[0] + 0.3;
    thetas.push(one_outside);
    let single = |v: Vec<f64>| -> Vec<f64> { v.iter().map(|&x| f64::from(x as f32)).collect() };
    thetas
        .into_iter()
        .map(|theta| {
            let theta = if faces { theta } else { single(theta) };
            let modal = single(numbers.vector(n - s, MODAL));
            let mut parameters = Parameters::new(model, &mut numbers);
            for part in [
                &mut parameters.payload,
                &mut parameters.rotor,
                &mut parameters.viscous,
                &mut parameters.coulomb,
            ] {
                *part = single(part.clone());
            }
            Point {
                eta: [theta, modal].concat(),
                rate: single(numbers.vector(n, 1.0)),
                accel: single(numbers.vector(n, 2.0)),
                parameters,
            }
        })
        .collect()
}

/// θ as it is used: wrapped or put to the domain; and the box that holds it, if one does.
pub fn used(model: &ReducedModel, theta: &[f64]) -> (Vec<f64>, Option<usize>) {
    let domain = &model.layout.domain;
    let used: Vec<f64> = (0..theta.len())
        .map(|k| {
            let (lower, upper) = (domain.lower[k], domain.upper[k]);
            let inside = (lower..=upper).contains(&theta[k]);
            if domain.periodic[k] && !inside {
                lower + (theta[k] - lower).rem_euclid(upper - lower)
            } else {
                theta[k].clamp(lower, upper)
            }
        })
        .collect();
    let index = model.box_at(&used);
    (used, index)
}
