//! The rigid Orthoglide in closed form: spheres of radius L around the sliders s_i = (θ_i − L) e_i
//! meet at the effector p; a slender rod has T = m/6 (v₁² + v₁·v₂ + v₂²).

use nalgebra::{Matrix3, Vector3};
use reducer::approximation::{LocalModel, SampleFailure};
use reducer::reduced_model::{
    CoordinateInfo, CoordinateKind, Domain, ModelLayout, NominalParameters, Stiffening,
};
use reducer::reduction::{Coefficients, OutputCoefficients};
use std::sync::atomic::{AtomicUsize, Ordering};

const L: f64 = 0.45;
const SLIDER: f64 = 0.5;
const ROD: f64 = 0.4;
const EFFECTOR: f64 = 0.8;
const GRAVITY: f64 = 9.81;

/// The exact model; counts its evaluations.
#[derive(Default)]
pub struct Orthoglide {
    pub evaluations: AtomicUsize,
}

impl Orthoglide {
    fn effector(theta: &[f64]) -> Option<Vector3<f64>> {
        let s = Vector3::new(theta[0] - L, theta[1] - L, theta[2] - L);
        let a = s.map(|v| v * v - L * L);
        let sum = |f: &dyn Fn(usize) -> f64| (0..3).map(f).sum::<f64>();
        let qa = sum(&|i| 0.25 / (s[i] * s[i]));
        let qb = sum(&|i| 0.5 * a[i] / (s[i] * s[i])) - 1.0;
        let qc = sum(&|i| 0.25 * a[i] * a[i] / (s[i] * s[i]));
        let discriminant = qb * qb - 4.0 * qa * qc;
        if discriminant < 0.0 {
            return None;
        }
        let q = 2.0 * qc / (-qb + discriminant.sqrt());
        Some(Vector3::from_fn(|i, _| (q + a[i]) / (2.0 * s[i])))
    }
}

impl LocalModel for Orthoglide {
    fn layout(&self) -> ModelLayout {
        let coordinate = |name: &str| CoordinateInfo {
            name: name.to_owned(),
            kind: CoordinateKind::Rigid,
            unit: "m".to_owned(),
        };
        ModelLayout {
            name: "orthoglide".to_owned(),
            coordinates: ["x", "y", "z"].map(coordinate).to_vec(),
            n_rigid: 3,
            outputs: vec!["effector".to_owned()],
            loaded: Vec::new(),
            domain: Domain {
                lower: vec![-0.08; 3],
                upper: vec![0.26; 3],
                periodic: vec![false; 3],
                inequalities: Vec::new(),
            },
            full_dofs: 27,
            parameters: NominalParameters::fixed(3, 1),
            stiffening: Stiffening::None,
            validity: None,
            derived: Vec::new(),
        }
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        let singular = |reason: &str| SampleFailure::Singular {
            theta: theta.to_vec(),
            reason: reason.to_owned(),
        };
        let p = Self::effector(theta).ok_or_else(|| singular("cannot be assembled"))?;
        let s = Vector3::new(theta[0] - L, theta[1] - L, theta[2] - L);
        let a = Matrix3::from_fn(|i, j| p[j] - if i == j { s[i] } else { 0.0 });
        let inverse = a.try_inverse().ok_or_else(|| singular("actuators"))?;
        let b = Matrix3::from_diagonal(&(p - s));
        let jacobian = inverse * b;
        let slope = |k: usize| {
            let dp: Vector3<f64> = jacobian.column(k).into();
            let da = Matrix3::from_fn(|i, j| dp[j] - if i == j && i == k { 1.0 } else { 0.0 });
            let db = Matrix3::from_diagonal(&Vector3::from_fn(|i, _| {
                dp[i] - if i == k { 1.0 } else { 0.0 }
            }));
            inverse * (db - da * jacobian)
        };
        let slopes = [slope(0), slope(1), slope(2)];
        let moving = EFFECTOR + ROD;
        let mass = Matrix3::identity() * (SLIDER + ROD / 3.0)
            + (jacobian + jacobian.transpose()) * (ROD / 6.0)
            + jacobian.transpose() * jacobian * moving;
        let mass_gradient = slopes.map(|d| {
            rows(
                &((d + d.transpose()) * (ROD / 6.0)
                    + (d.transpose() * jacobian + jacobian.transpose() * d) * moving),
            )
        });
        let (carried, own) = (
            GRAVITY * (EFFECTOR + 1.5 * ROD),
            GRAVITY * (SLIDER + 0.5 * ROD),
        );
        let force: Vec<f64> = (0..3)
            .map(|k| -carried * jacobian[(2, k)] - if k == 2 { own } else { 0.0 })
            .collect();
        let mut output_jacobian = rows(&jacobian);
        output_jacobian.extend([0.0; 9]);
        Ok(Coefficients {
            theta: theta.to_vec(),
            mass: rows(&mass),
            mass_gradient: mass_gradient.to_vec(),
            stiffness: vec![0.0; 9],
            stiffness_gradient: vec![vec![0.0; 9]; 3],
            damping: vec![0.0; 9],
            potential: carried * p.z + own * theta[2],
            gravity: force.clone(),
            gravity_axes: Vec::new(),
            mass_curvature: Vec::new(),
            force,
            force_gradient: slopes
                .iter()
                .map(|d| (0..3).map(|j| -carried * d[(2, j)]).collect())
                .collect(),
            outputs: vec![OutputCoefficients {
                position: p.into(),
                rotation: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
                jacobian: output_jacobian,
                curvature: Vec::new(),
            }],
            load_map: Vec::new(),
            gauge_overlap: 1.0,
            waypoints: 0,
            derived: Vec::new(),
        })
    }

    fn fingerprint(&self) -> [u8; 32] {
        [7; 32]
    }
}

fn rows(m: &Matrix3<f64>) -> Vec<f64> {
    (0..3)
        .flat_map(|i| (0..3).map(move |j| m[(i, j)]))
        .collect()
}

/// The oracle itself: a sample of the independent results (closed form differentiated by CasADi,
/// confirmed by Pinocchio) at θ = (−0.08, −0.08, −0.08) and home.
#[test]
fn closed_form_agrees_with_independent_results() {
    let corner = Orthoglide::default()
        .evaluate(&[-0.08; 3])
        .expect("regular");
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 2e-13 * b.abs().max(1.0), "{a} {b}");
    close(corner.mass[0], 2.8841755255533066);
    close(corner.mass[1], 1.3738810326628093);
    close(corner.outputs[0].position[1], -0.10540813891189353);
    close(corner.outputs[0].jacobian[1], 0.3950134113313761);
    let h = corner.gyroscopic();
    for (index, value) in [
        (0, -12.854835750486334),
        (1, -9.34501573303373),
        (4, -15.555312952859243),
        (5, -10.111197704910019),
    ] {
        close(h[index], value);
    }
    close(corner.force[0], -5.425114191225122);
    let home = Orthoglide::default().evaluate(&[0.0; 3]).expect("regular");
    close(home.mass[0], 1.9666666666666668);
    close(home.gyroscopic()[4], -2.814814814814815);
    close(home.force[2], -20.601000000000003);
    assert_eq!(home.potential, 0.0);
}
