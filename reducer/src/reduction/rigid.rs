//! Coefficients of the rigid motion from whole bodies, without the mesh.
//!
//! A second route to what the full model gives, used where nothing but rigid modes is asked for.

use crate::kinematics::Configuration;
use crate::lie::{Vector6, angular, join};
use crate::model::FullModel;
use faer::Mat;
use nalgebra::Vector3;

/// Rigid part of the coefficients.
pub(super) struct RigidCoefficients {
    pub mass: Mat<f64>,
    pub gradient: Vec<Mat<f64>>,
    pub gravity: Vec<f64>,
    pub gravity_gradient: Vec<Vec<f64>>,
}

pub(super) fn rigid_coefficients(model: &FullModel, at: &Configuration) -> RigidCoefficients {
    let s = at.theta.len();
    let mut out = RigidCoefficients {
        mass: Mat::zeros(s, s),
        gradient: (0..s).map(|_| Mat::zeros(s, s)).collect(),
        gravity: vec![0.0; s],
        gravity_gradient: vec![vec![0.0; s]; s],
    };
    let mut momentum = vec![Vector6::zeros(); s];
    for (b, body) in model.bodies.iter().enumerate() {
        let motion = &at.motion;
        for (k, p) in momentum.iter_mut().enumerate() {
            *p = body.inertia * motion.velocity(b, k);
        }
        let pull = at.frames[b].rotation.tr_mul(&model.gravity);
        let weight = body.inertia * join(&pull, &Vector3::zeros());
        for k in 0..s {
            let v = motion.velocity(b, k);
            out.gravity[k] += v.dot(&weight);
            for (j, p) in momentum.iter().enumerate() {
                out.mass[(k, j)] += v.dot(p);
            }
            for l in 0..s {
                let dv = motion.derivative(b, k, l);
                let turned = join(
                    &pull.cross(&angular(motion.velocity(b, l))),
                    &Vector3::zeros(),
                );
                // The inertia is symmetric: it may act on either factor.
                out.gravity_gradient[l][k] += dv.dot(&weight) + momentum[k].dot(&turned);
                for (j, p) in momentum.iter().enumerate() {
                    let value = dv.dot(p);
                    out.gradient[l][(k, j)] += value;
                    out.gradient[l][(j, k)] += value;
                }
            }
        }
    }
    out
}
