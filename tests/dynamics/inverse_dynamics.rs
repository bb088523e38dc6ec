//! Prescribed motion of rigid mechanisms takes the force of the exact inverse dynamics.

use crate::support::{Moved, reducer_with, run, undeformed};
use reducer::dynamics::full::FullSettings;
use reducer::reduction::LocalReducer;

/// τ = M̄θ̈ + ½(∂_jM̄_ki + ∂_iM̄_kj − ∂_kM̄_ij)θ̇_iθ̇_j − force.
fn inverse_dynamics(model: &LocalReducer, theta: &[f64], rate: &[f64], accel: &[f64]) -> Vec<f64> {
    let c = model.evaluate(theta).expect("a configuration");
    let n = theta.len();
    (0..n)
        .map(|k| {
            let mut force = -c.force[k];
            for i in 0..n {
                force += c.mass[k * n + i] * accel[i];
                for j in 0..n {
                    let slope = c.mass_gradient[j][k * n + i] - 0.5 * c.mass_gradient[k][i * n + j];
                    force += slope * rate[i] * rate[j];
                }
            }
            force
        })
        .collect()
}

fn assert_exact(file: &str, start: &[f64], size: f64) {
    let model = reducer_with(file, &[]);
    let motion = |k: usize, t: f64| {
        let w = 3.0 + k as f64;
        [
            start[k] + size * (w * t).sin(),
            size * w * (w * t).cos(),
            -size * w * w * (w * t).sin(),
        ]
    };
    let rates: Vec<f64> = (0..start.len()).map(|k| motion(k, 0.0)[1]).collect();
    let settings = FullSettings::new(0.5, 0.01);
    let seen = run(
        &model,
        &Moved(motion, vec![]),
        &undeformed(start, &rates),
        &settings,
    );
    assert_eq!(seen.len(), 51);
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for instant in &seen {
        let column = |d: usize| -> Vec<f64> {
            (0..start.len())
                .map(|k| motion(k, instant.time)[d])
                .collect()
        };
        let expected = inverse_dynamics(&model, &column(0), &column(1), &column(2));
        for (found, expected) in instant.actuator_force.iter().zip(&expected) {
            worst = worst.max((found - expected).abs());
            largest = largest.max(expected.abs());
        }
    }
    assert!(
        worst < 1e-9 * largest,
        "{file}: {worst:.2e} of {largest:.2e}"
    );
}

#[test]
fn four_bar() {
    assert_exact("four_bar_rigid.toml", &[0.1], 0.5);
}

#[test]
fn orthoglide() {
    assert_exact("orthoglide.toml", &[0.05, 0.1, 0.08], 0.05);
}

#[test]
fn serial_arm() {
    assert_exact("arm6.toml", &[0.3; 6], 0.3);
}
