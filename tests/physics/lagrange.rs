//! The Lagrange check: kinetic energy of the full model through the parameterisation
//! x = x_ρ + R_ρΨ_xη, R = R_ρ·exp(Ψ_ψη), differentiated numerically, against every component of
//! ∂M̄/∂θ, N and h̄. It shares no formula with the coefficients: only shapes, frames and the
//! element masses at finite deformation.

use crate::support::{fixture, reducer, tensor_norm};
use nalgebra::{DMatrix, DVector, Vector3};
use reducer::lie::{self, Frame};
use reducer::reduction::LocalReducer;

/// Node frames and scalar dofs at η.
fn place(reducer: &LocalReducer, eta: &[f64]) -> (Vec<Frame>, Vec<f64>) {
    let s = reducer.n_rigid();
    let configuration = reducer.kinematics().solve(&eta[..s]).expect("regular");
    let at = reducer.linearise(&configuration).expect("regular");
    let modes = reducer.modes(&at).expect("modes");
    let scalars = (6 * at.frames.len()..modes.shapes.nrows())
        .map(|i| (s..eta.len()).map(|j| modes.shapes[(i, j)] * eta[j]).sum())
        .collect();
    let frames = (at.frames.iter().enumerate())
        .map(|(node, frame)| {
            let mut u = Vector3::zeros();
            let mut phi = Vector3::zeros();
            for (j, amplitude) in eta.iter().enumerate().skip(s) {
                for i in 0..3 {
                    u[i] += modes.shapes[(6 * node + i, j)] * amplitude;
                    phi[i] += modes.shapes[(6 * node + 3 + i, j)] * amplitude;
                }
            }
            Frame::new(
                frame.rotation * lie::exp_rotation(&phi),
                frame.position + frame.rotation * u,
            )
        })
        .collect();
    (frames, scalars)
}

/// Fourth-order central difference of a function of one variable.
fn slope<T>(f: impl Fn(f64) -> T, h: f64) -> T
where
    T: std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let near = (f(h) - f(-h)) * (2.0 / (3.0 * h));
    let far = (f(2.0 * h) - f(-2.0 * h)) * (1.0 / (12.0 * h));
    near - far
}

/// The motion per η̇_i, by differences of frames and scalar dofs.
fn velocities(reducer: &LocalReducer, eta: &[f64], i: usize, h: f64) -> DVector<f64> {
    let (here, at_rest) = place(reducer, eta);
    let at = |step: f64| -> DVector<f64> {
        let mut moved = eta.to_vec();
        moved[i] += step;
        let (there, scalars) = place(reducer, &moved);
        let mut all: Vec<f64> = here
            .iter()
            .zip(&there)
            .flat_map(|(a, b)| lie::log(&a.relative(b)).as_slice().to_vec())
            .collect();
        all.extend(scalars.iter().zip(&at_rest).map(|(b, a)| b - a));
        DVector::from_vec(all)
    };
    slope(at, h)
}

/// M̄(η) from the kinetic energy of the full model.
fn mass(reducer: &LocalReducer, eta: &[f64], steps: &[f64]) -> DMatrix<f64> {
    let n = eta.len();
    let model = reducer.model();
    let (here, scalars) = place(reducer, eta);
    let v: Vec<DVector<f64>> = (0..n)
        .map(|i| velocities(reducer, eta, i, steps[i]))
        .collect();
    let mut out = DMatrix::zeros(n, n);
    for (node, m) in &model.masses {
        let of = |i: usize| v[i].fixed_rows::<6>(6 * node).into_owned();
        for i in 0..n {
            for j in 0..n {
                out[(i, j)] += of(i).dot(&(m * of(j)));
            }
        }
    }
    for placed in &model.placed {
        let d = model.deformation(placed, &here, &scalars);
        let m = model.element(placed).mass_at(&d);
        let local: Vec<_> = v.iter().map(|v| placed.gather(v.as_slice())).collect();
        for i in 0..n {
            for j in 0..n {
                out[(i, j)] += local[i].dot(&(&m * &local[j]));
            }
        }
    }
    out
}

/// Compares all derivatives of the mass; `sizes` are steps in η.
fn check(reducer: &LocalReducer, theta: &[f64], elastic_step: f64) {
    let c = reducer.evaluate(theta).expect("regular");
    let (n, s) = (c.n(), theta.len());
    let mut eta = theta.to_vec();
    eta.resize(n, 0.0);
    // Steps that move the mechanism by comparable distances.
    let steps: Vec<f64> = (0..n)
        .map(|i| {
            let largest = (0..n).fold(0.0_f64, |m, j| m.max(c.mass[j * n + j]));
            if i < s {
                1e-3
            } else {
                elastic_step * (largest / c.mass[i * n + i]).sqrt()
            }
        })
        .collect();
    let exact = DMatrix::from_row_slice(n, n, &c.mass);
    let found = mass(reducer, &eta, &steps);
    assert!(
        (&found - &exact).norm() < 1e-8 * exact.norm(),
        "mass {found} {exact}"
    );
    let gradient: Vec<DMatrix<f64>> = (0..n)
        .map(|d| {
            slope(
                |step| {
                    let mut moved = eta.clone();
                    moved[d] += step;
                    mass(reducer, &moved, &steps)
                },
                steps[d],
            )
        })
        .collect();
    // Coordinates differ in unit by the reference shapes' norms: compare in units of unit mass.
    let unit: Vec<f64> = (0..n).map(|i| 1.0 / c.mass[i * n + i].sqrt()).collect();
    let kind = |i: usize| usize::from(i >= s);
    let exact_h = c.gyroscopic();
    for (what, value, reference) in [
        (
            "N",
            Box::new(|i: usize, j: usize, k: usize| gradient[k][(i, j)])
                as Box<dyn Fn(usize, usize, usize) -> f64>,
            Box::new(|i: usize, j: usize, k: usize| c.mass_gradient[k][i * n + j])
                as Box<dyn Fn(usize, usize, usize) -> f64>,
        ),
        (
            "h",
            Box::new(|i: usize, j: usize, k: usize| {
                0.5 * (gradient[k][(i, j)] + gradient[j][(i, k)] - gradient[i][(j, k)])
            }),
            Box::new(|i: usize, j: usize, k: usize| exact_h[(i * n + j) * n + k]),
        ),
    ] {
        for block in 0..8 {
            let inside = |i: usize, j: usize, k: usize| {
                kind(i) == block & 1 && kind(j) == (block >> 1) & 1 && kind(k) == block >> 2
            };
            let norm = |f: &dyn Fn(usize, usize, usize) -> f64| {
                tensor_norm(n, |i, j, k| {
                    if inside(i, j, k) {
                        f(i, j, k) * unit[i] * unit[j] * unit[k]
                    } else {
                        0.0
                    }
                })
            };
            let size = norm(&|i, j, k| reference(i, j, k));
            let error = norm(&|i, j, k| value(i, j, k) - reference(i, j, k));
            let all = tensor_norm(n, |i, j, k| {
                reference(i, j, k) * unit[i] * unit[j] * unit[k]
            });
            assert!(
                error <= 1e-5 * size.max(1e-4 * all),
                "{what} block {block:03b} at {theta:?}: {error:.2e} of {size:.2e}"
            );
        }
    }
}

#[test]
fn flexible_four_bar() {
    let reducer = reducer("four_bar.toml");
    for theta in [-1.4, 0.3, 1.0] {
        check(&reducer, &[theta], 1e-3);
    }
}

#[test]
fn four_bar_with_a_finite_element_coupler() {
    let reducer = reducer("reference/superelements/four_bar.toml");
    for theta in [-0.9, 0.3] {
        check(&reducer, &[theta], 1e-3);
    }
}

#[test]
fn spatial_closed_loop() {
    let reducer = fixture("flexible_orthoglide.toml");
    check(&reducer, &[0.05, -0.03, 0.11], 2e-3);
}

#[test]
fn serial_arm() {
    let reducer = fixture("flexible_arm.toml");
    check(&reducer, &[0.4, -0.3, 0.6], 2e-3);
}
