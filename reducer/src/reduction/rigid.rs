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
}

/// Force of a uniform field of accelerations on θ, and its gradient.
pub(super) struct RigidGravity {
    pub force: Vec<f64>,
    pub gradient: Vec<Vec<f64>>,
}

pub(super) fn rigid_coefficients(model: &FullModel, at: &Configuration) -> RigidCoefficients {
    let s = at.theta.len();
    let mut out = RigidCoefficients {
        mass: Mat::zeros(s, s),
        gradient: (0..s).map(|_| Mat::zeros(s, s)).collect(),
    };
    let mut momentum = vec![Vector6::zeros(); s];
    for (b, body) in model.bodies.iter().enumerate() {
        let motion = &at.motion;
        for (k, p) in momentum.iter_mut().enumerate() {
            *p = body.inertia * motion.velocity(b, k);
        }
        for k in 0..s {
            let v = motion.velocity(b, k);
            for (j, p) in momentum.iter().enumerate() {
                out.mass[(k, j)] += v.dot(p);
            }
            for l in 0..s {
                let dv = motion.derivative(b, k, l);
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

/// Of bodies in a tree whose joints are all actuated: for every θ the inertia of the bodies that it moves and no θ
/// behind it does. Whatever the θ behind it do, they cannot move these bodies, so that this is a lower bound of the
/// Schur complement of θ in the mass after all θ behind it are eliminated [M 9.5].
pub(super) fn own_inertia(model: &FullModel, at: &Configuration) -> Vec<f64> {
    let (s, n_bodies) = (at.theta.len(), model.bodies.len());
    let moves = |k: usize, b: usize| at.motion.velocity(b, k).amax() > 0.0;
    let moved = |k: usize| (0..n_bodies).filter(move |&b| moves(k, b));
    let is_behind = |j: usize, k: usize| j != k && moved(j).all(|b| moves(k, b));
    let own = |k: usize, b: usize| !(0..s).any(|j| is_behind(j, k) && moves(j, b));
    (0..s)
        .map(|k| {
            let bodies = moved(k).filter(|&b| own(k, b));
            let energy = |b: usize| {
                let v = at.motion.velocity(b, k);
                v.dot(&(model.bodies[b].inertia * v))
            };
            bodies.map(energy).sum()
        })
        .collect()
}

/// What a uniform field of accelerations, inertial axes, does to the rigid motion.
pub(super) fn rigid_gravity(
    model: &FullModel,
    at: &Configuration,
    field: &Vector3<f64>,
) -> RigidGravity {
    let s = at.theta.len();
    let mut out = RigidGravity {
        force: vec![0.0; s],
        gradient: vec![vec![0.0; s]; s],
    };
    for (b, body) in model.bodies.iter().enumerate() {
        let motion = &at.motion;
        let pull = at.frames[b].rotation.tr_mul(field);
        let weight = body.inertia * join(&pull, &Vector3::zeros());
        for l in 0..s {
            let turned = join(
                &pull.cross(&angular(motion.velocity(b, l))),
                &Vector3::zeros(),
            );
            let weight_rate = body.inertia * turned;
            out.force[l] += motion.velocity(b, l).dot(&weight);
            for k in 0..s {
                out.gradient[l][k] += motion.derivative(b, k, l).dot(&weight)
                    + motion.velocity(b, k).dot(&weight_rate);
            }
        }
    }
    out
}
