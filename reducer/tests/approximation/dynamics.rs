//! Structure of the derived dynamics.

use crate::energy::energy_drift;
use crate::flexible::Flexible;
use crate::orthoglide::Orthoglide;
use crate::{Numbers, reduced, settings};
use reducer::approximation::LocalModel;
use reducer::description::mechanism::{Criterion, Form};
use reducer::reduced_model::{Component, Evaluator, ReducedModel, Workspace};

fn models() -> Vec<ReducedModel> {
    let orthoglide = Orthoglide::default();
    let (one, two) = (Flexible::new(1, 3), Flexible::new(2, 2));
    let locals: [(&dyn LocalModel, usize); 3] = [(&orthoglide, 3), (&one, 1), (&two, 2)];
    locals
        .map(|(local, s)| reduced(local, &settings(&vec![0.05; s])).0)
        .into()
}

fn random_theta(model: &ReducedModel, numbers: &mut Numbers) -> Vec<f64> {
    let domain = &model.layout.domain;
    let place = |k: usize, x: f64| {
        0.5 * (domain.lower[k] + domain.upper[k]) + 0.49 * x * (domain.upper[k] - domain.lower[k])
    };
    (0..model.layout.n_rigid)
        .map(|k| place(k, numbers.number()))
        .collect()
}

fn random_state(model: &ReducedModel, numbers: &mut Numbers) -> [Vec<f64>; 3] {
    let n = model.layout.n();
    let mut eta = random_theta(model, numbers);
    eta.extend(numbers.vector(n - eta.len(), 0.02));
    [eta, numbers.vector(n, 1.0), numbers.vector(n, 3.0)]
}

#[test]
fn gyroscopic_tensor_is_the_christoffel_symbol_of_the_derived_mass() {
    let mut numbers = Numbers::new(1);
    for model in models() {
        let evaluator = Evaluator::new(&model).expect("valid");
        let mut work = Workspace::default();
        let (n, s) = (model.layout.n(), model.layout.n_rigid);
        let theta = random_theta(&model, &mut numbers);
        let mut mass = |theta: &[f64]| {
            evaluator
                .coefficients(theta, &mut work)
                .expect("sizes")
                .mass
        };
        let h = 1e-5;
        let slopes: Vec<Vec<f64>> = (0..s)
            .map(|k| {
                let moved = |d: f64| {
                    theta
                        .iter()
                        .enumerate()
                        .map(|(i, t)| if i == k { t + d } else { *t })
                        .collect::<Vec<_>>()
                };
                let (a, b) = (mass(&moved(h)), mass(&moved(-h)));
                a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            })
            .collect();
        let c = evaluator
            .coefficients(&theta, &mut Workspace::default())
            .expect("sizes");
        for i in 0..s {
            for j in 0..s {
                for k in 0..s {
                    let symbol =
                        0.5 * (slopes[k][i * n + j] + slopes[j][i * n + k] - slopes[i][j * n + k]);
                    assert!(
                        (c.gyroscopic[(i * n + j) * n + k] - symbol).abs()
                            < 2e-6 * (1.0 + symbol.abs())
                    );
                }
            }
        }
    }
}

#[test]
fn mass_rate_minus_twice_the_coriolis_matrix_is_skew() {
    let mut numbers = Numbers::new(2);
    for model in models() {
        let evaluator = Evaluator::new(&model).expect("valid");
        let n = model.layout.n();
        let theta = random_theta(&model, &mut numbers);
        let mut work = Workspace::default();
        let c = evaluator.coefficients(&theta, &mut work).expect("sizes");
        let rate = numbers.vector(n, 1.0);
        // The mass matrix at any η, column by column, from forces; its rate by differences along the motion.
        let mut mass = |shift: f64| -> Vec<f64> {
            let mut eta = vec![0.0; n];
            eta[..theta.len()].copy_from_slice(&theta);
            let along = eta.iter().zip(&rate).map(|(x, v)| x + shift * v);
            let eta: Vec<f64> = along.collect();
            let mut force = |accel: &[f64]| {
                let mut out = vec![0.0; n];
                let zero = vec![0.0; n];
                evaluator
                    .inverse_dynamics(&eta, &zero, accel, &mut out, &mut work)
                    .expect("sizes");
                out
            };
            let rest = force(&vec![0.0; n]);
            let column = |k: usize| {
                let mut unit = vec![0.0; n];
                unit[k] = 1.0;
                let moved = force(&unit);
                moved
                    .iter()
                    .zip(&rest)
                    .map(|(a, b)| a - b)
                    .collect::<Vec<_>>()
            };
            (0..n).flat_map(column).collect()
        };
        let h = 1e-5;
        let (high, low) = (mass(h), mass(-h));
        let size = high.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let skew = |i: usize, j: usize| {
            let mass_rate = (high[i * n + j] - low[i * n + j]) / (2.0 * h);
            let coriolis: f64 = (0..n)
                .map(|k| c.gyroscopic[(i * n + j) * n + k] * rate[k])
                .sum();
            mass_rate - 2.0 * coriolis
        };
        for i in 0..n {
            for j in 0..n {
                assert!((skew(i, j) + skew(j, i)).abs() < 1e-8 * size);
            }
        }
    }
}

#[test]
fn inverse_dynamics_agree_with_the_coefficients_and_with_forward_dynamics() {
    let mut numbers = Numbers::new(3);
    for model in models() {
        let evaluator = Evaluator::new(&model).expect("valid");
        let (n, s) = (model.layout.n(), model.layout.n_rigid);
        let mut work = Workspace::default();
        for _ in 0..10 {
            let [mut eta, rate, accel] = random_state(&model, &mut numbers);
            let (mut force, mut found) = (vec![0.0; n], vec![0.0; n]);
            evaluator
                .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
                .expect("sizes");
            evaluator
                .forward_dynamics(&eta, &rate, &force, &mut found, &mut work)
                .expect("sizes");
            for (a, b) in found.iter().zip(&accel) {
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
            }
            eta[s..].fill(0.0);
            let c = evaluator.coefficients(&eta[..s], &mut work).expect("sizes");
            evaluator
                .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
                .expect("sizes");
            for (i, found) in force.iter().enumerate() {
                let mut expected = -c.force[i];
                for j in 0..n {
                    expected += c.mass[i * n + j] * accel[j] + c.damping[i * n + j] * rate[j];
                    expected += (0..n)
                        .map(|k| c.gyroscopic[(i * n + j) * n + k] * rate[j] * rate[k])
                        .sum::<f64>();
                }
                assert!(
                    (found - expected).abs() < 1e-11 * (1.0 + expected.abs()),
                    "{found} {expected}"
                );
            }
        }
    }
}

/// Lagrange's equations at η^δ ≠ 0 against numerical differentiation of the model's energies.
#[test]
fn forces_are_the_lagrange_derivatives_of_the_energies() {
    let mut numbers = Numbers::new(4);
    for model in models() {
        let evaluator = Evaluator::new(&model).expect("valid");
        let n = model.layout.n();
        let mut work = Workspace::default();
        let [eta, rate, accel] = random_state(&model, &mut numbers);
        let mut force = vec![0.0; n];
        evaluator
            .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
            .expect("sizes");
        let damping = evaluator
            .coefficients(&eta[..model.layout.n_rigid], &mut work)
            .expect("sizes")
            .damping;
        let mut lagrangian = |eta: &[f64], rate: &[f64]| {
            let (kinetic, potential, _) = evaluator.energy(eta, rate, &mut work).expect("sizes");
            (kinetic, potential)
        };
        let moved = |v: &[f64], i: usize, d: f64| {
            v.iter()
                .enumerate()
                .map(|(k, x)| if k == i { x + d } else { *x })
                .collect::<Vec<_>>()
        };
        let along = |v: &[f64], w: &[f64], t: f64| {
            v.iter().zip(w).map(|(a, b)| a + t * b).collect::<Vec<_>>()
        };
        let (h, t) = (1e-4, 1e-4);
        for i in 0..n {
            // T is quadratic in the rates: central differences are exact but for rounding.
            let mut momentum = |time: f64| {
                let (eta, rate) = (along(&eta, &rate, time), along(&rate, &accel, time));
                (lagrangian(&eta, &moved(&rate, i, 1.0)).0
                    - lagrangian(&eta, &moved(&rate, i, -1.0)).0)
                    / 2.0
            };
            let momentum_rate = (momentum(t) - momentum(-t)) / (2.0 * t);
            let (up, down) = (
                lagrangian(&moved(&eta, i, h), &rate),
                lagrangian(&moved(&eta, i, -h), &rate),
            );
            let slope = ((up.0 - up.1) - (down.0 - down.1)) / (2.0 * h);
            let friction: f64 = (0..n).map(|j| damping[i * n + j] * rate[j]).sum();
            let expected = momentum_rate - slope + friction;
            assert!(
                (force[i] - expected).abs() < 3e-6 * (1.0 + expected.abs()),
                "{i}: {} {expected}",
                force[i]
            );
        }
    }
}

#[test]
fn energy_is_conserved_in_the_lagrangian_form_and_not_in_the_direct_one() {
    let local = Orthoglide::default();
    let (model, _) = reduced(&local, &settings(&[0.05; 3]));
    let lagrangian = energy_drift(&model, 2000.0, 10.0, 0.005);
    assert!(lagrangian < 1e-9, "{lagrangian}");
    let mut direct = settings(&[0.05; 3]);
    (direct.form, direct.criterion) = (Some(Form::Direct), Criterion::Mean);
    let (model, _) = reduced(&local, &direct);
    let drift = energy_drift(&model, 2000.0, 10.0, 0.005);
    assert!(drift > 1e-6, "{drift}");
}

/// The model without damping: its columns become zero.
fn without_damping(mut model: ReducedModel) -> ReducedModel {
    let is_damping = |c: &Component| {
        matches!(
            c,
            Component::Damping { .. } | Component::DampingFactor { .. }
        )
    };
    let columns = model.components.dynamics.clone();
    for b in &mut model.boxes {
        for (i, v) in b.dynamics.coefficients.iter_mut().enumerate() {
            if is_damping(&columns[i % columns.len()]) {
                *v = 0.0;
            }
        }
    }
    model
        .components
        .constants
        .retain(|c| !is_damping(&c.component));
    model
}

#[test]
fn energy_of_a_flexible_model_is_conserved() {
    let (model, _) = reduced(&Flexible::new(1, 3), &settings(&[0.05]));
    let drift = energy_drift(&without_damping(model), 100.0, 2.0, 0.002);
    assert!(drift < 1e-9, "{drift}");
}

#[test]
fn energy_is_conserved_across_continuous_boxes() {
    let mut local = Flexible::new(1, 1);
    local.wildness = 14.0;
    let (model, _) = reduced(&local, &settings(&[0.02]));
    assert!(model.boxes.len() > 2);
    let drift = energy_drift(&without_damping(model), 1000.0, 2.0, 0.001);
    assert!(drift < 1e-9, "{drift}");
}
