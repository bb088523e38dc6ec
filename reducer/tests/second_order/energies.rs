//! Kinetic energy and potential of the full model on the second-order manifold, differentiated
//! numerically, against all second-order quantities. No formula is shared: only shapes, frames,
//! element masses and strain energies at finite deformation.

use crate::support::{Manifold, Random, assert_close, read, reducer};
use faer::Mat;
use nalgebra::{DMatrix, Vector3};
use reducer::lie::{self, Frame, Vector6};
use reducer::model::joint;
use reducer::model::rows::{line, mount_frame};
use reducer::reduction::{LocalReducer, pair_index};

/// Steps of θ in fourth-order differences, with their weights times the step.
const STENCIL: [(f64, f64); 4] = [
    (1.0, 2.0 / 3.0),
    (-1.0, -2.0 / 3.0),
    (2.0, -1.0 / 12.0),
    (-2.0, 1.0 / 12.0),
];
const STEP: f64 = 1e-3;

/// The manifold at θ and at the places around it that differences along θ need.
struct Around<'a> {
    reducer: &'a LocalReducer,
    here: Manifold,
    along: Vec<Vec<Manifold>>,
    unit: Vec<f64>,
}

impl<'a> Around<'a> {
    fn new(reducer: &'a LocalReducer, theta: &[f64]) -> Self {
        let along = (0..theta.len()).map(|k| {
            let moved = STENCIL.iter().map(|(step, _)| {
                let mut moved = theta.to_vec();
                moved[k] += step * STEP;
                Manifold::new(reducer, &moved)
            });
            moved.collect()
        });
        let here = Manifold::new(reducer, theta);
        // Unit amplitudes move something by a metre or turn it by a radian.
        let unit = (0..here.n()).map(|d| {
            let column = here.shapes().col_as_slice(d);
            1.0 / column.iter().fold(0.0_f64, |m, v| m.max(v.abs()))
        });
        Self {
            reducer,
            unit: unit.collect(),
            along: along.collect(),
            here,
        }
    }

    /// The motion per rate of θ_k, or of η_d with k = s + d.
    fn velocities(&self, eta: &[f64], i: usize) -> Vec<f64> {
        let s = self.along.len();
        let (here, _) = self.here.at(eta);
        let mut out = vec![0.0; self.reducer.model().n_motion()];
        for (place, (step, weight)) in STENCIL.iter().enumerate() {
            let ((there, scalars), h) = if i < s {
                (self.along[i][place].at(eta), STEP)
            } else {
                let h = 1e-3 * self.unit[i - s];
                let mut moved = eta.to_vec();
                moved[i - s] += step * h;
                (self.here.at(&moved), h)
            };
            let (nodes, last) = out.split_at_mut(6 * here.len());
            for ((v, a), b) in nodes.chunks_exact_mut(6).zip(&here).zip(&there) {
                for (v, change) in v.iter_mut().zip(&lie::log(&a.relative(b))) {
                    *v += change * (weight / h);
                }
            }
            // The weights sum to zero: no value in the middle is needed.
            for (v, value) in last.iter_mut().zip(&scalars) {
                *v += value * (weight / h);
            }
        }
        out
    }

    /// M̄(η) of the full model, without rotors.
    fn mass(&self, eta: &[f64]) -> DMatrix<f64> {
        let n = self.along.len() + eta.len();
        let model = self.reducer.model();
        let (frames, scalars) = self.here.at(eta);
        let v: Vec<Vec<f64>> = (0..n).map(|i| self.velocities(eta, i)).collect();
        let mut out = DMatrix::zeros(n, n);
        for (node, m) in &model.masses {
            let of = |i: usize| Vector6::from_column_slice(&v[i][6 * node..6 * node + 6]);
            for i in 0..n {
                for j in 0..n {
                    out[(i, j)] += of(i).dot(&(m * of(j)));
                }
            }
        }
        for placed in &model.placed {
            let d = model.deformation(placed, &frames, &scalars);
            let m = model.element(placed).mass_at(&d);
            let local: Vec<_> = v.iter().map(|v| placed.gather(v)).collect();
            for i in 0..n {
                for j in 0..n {
                    out[(i, j)] += local[i].dot(&(&m * &local[j]));
                }
            }
        }
        out
    }

    /// Elastic energy (springs by their stretch since η^δ = 0) and potential of everything else.
    fn potentials(&self, eta: &[f64]) -> (f64, f64) {
        let model = self.reducer.model();
        let (frames, scalars) = self.here.at(eta);
        let (relaxed, _) = self.here.at(&vec![0.0; eta.len()]);
        let mut elastic = 0.0;
        let mut moment = Vector3::zeros();
        for placed in &model.placed {
            let element = model.element(placed);
            let d = model.deformation(placed, &frames, &scalars);
            elastic += element.strain_energy(&d);
            moment += element.first_moment(&frames[placed.nodes[0]], &d).1;
        }
        for (i, (stiffness, _)) in model.scalars.iter().enumerate() {
            elastic += 0.5 * stiffness * scalars[i] * scalars[i];
        }
        for (node, m) in &model.masses {
            let own = Vector3::new(m[(5, 1)], m[(3, 2)], m[(4, 0)]);
            moment += frames[*node].position * m[(0, 0)] + frames[*node].rotation * own;
        }
        let mut other = -model.gravity.dot(&moment);
        for load in &model.loads {
            other -= load.force.dot(&mount_frame(&load.at, &frames).position);
        }
        for spring in &model.springs {
            let value = |frames: &[Frame]| match &spring.drive.coordinate {
                None => line(&spring.drive.a, &spring.drive.b, frames, None).distance,
                Some(row) => {
                    let a = mount_frame(&spring.drive.a, frames);
                    let d = a.relative(&mount_frame(&spring.drive.b, frames));
                    if row[5] != 0.0 {
                        joint::hinge_angle(&d, 0.0)
                    } else {
                        d.position.z
                    }
                }
            };
            let stretch = value(&frames) - value(&relaxed);
            elastic += 0.5 * spring.stiffness * stretch * stretch;
            other += spring.stiffness * (value(&relaxed) - spring.rest) * stretch;
        }
        (elastic, other)
    }
}

/// Second derivative along a direction, of sixth order.
fn second<T>(f: impl Fn(f64) -> T, h: f64) -> T
where
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let pair = |x: f64| f(x) + f(-x);
    (pair(h) * 1.5 - pair(2.0 * h) * 0.15 + pair(3.0 * h) * (1.0 / 90.0) - f(0.0) * (49.0 / 18.0))
        * (1.0 / (h * h))
}

fn first<T>(f: impl Fn(f64) -> T, h: f64) -> T
where
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let odd = |x: f64| f(x) - f(-x);
    (odd(h) * 0.75 - odd(2.0 * h) * 0.15 + odd(3.0 * h) * (1.0 / 60.0)) * (1.0 / h)
}

fn check(reducer: &LocalReducer, theta: &[f64], reach: f64) {
    let s = theta.len();
    let around = Around::new(reducer, theta);
    let n = around.here.n();
    let c = reducer.evaluate(theta).expect("regular");
    let all = s + n;
    let configuration = reducer.kinematics().solve(theta).expect("regular");
    let found = reducer
        .second_order(&configuration)
        .expect("regular")
        .expect("flexible");
    // Amplitudes in units that move something by a metre, steps of `reach` of them.
    let direction = |parts: &[(usize, f64)], t: f64| {
        let mut eta = vec![0.0; n];
        for (d, weight) in parts {
            eta[*d] += weight * t * around.unit[*d];
        }
        eta
    };
    let mut expected: Vec<Vec<f64>> = vec![Vec::new(); s * (s + 1) / 2];
    let mut values = expected.clone();
    let mut stiffness = (Vec::new(), Vec::new());
    let mut elastic = (Vec::new(), Vec::new());
    for d in 0..n {
        for e in 0..=d {
            let along = |sign: f64| [(d, 1.0), (e, sign)];
            // Polarisation: 4·∂_d∂_e = second along d + e less second along d − e.
            let parts = [along(1.0), along(-1.0)];
            let mass = parts.map(|p| second(|t| around.mass(&direction(&p, t)), reach));
            let potential = parts.map(|p| {
                second(
                    |t| {
                        let (elastic, other) = around.potentials(&direction(&p, t));
                        DMatrix::from_row_slice(1, 2, &[elastic, other])
                    },
                    reach,
                )
            });
            let mass = (&mass[0] - &mass[1]) * 0.25;
            let potential = (&potential[0] - &potential[1]) * 0.25;
            let unit = around.unit[d] * around.unit[e];
            for j in 0..s {
                for k in 0..=j {
                    expected[pair_index(j, k)].push(mass[(j, k)]);
                    values[pair_index(j, k)]
                        .push(found.mass_curvature[pair_index(j, k)][(d, e)] * unit);
                }
            }
            elastic.0.push(c.stiffness[(s + d) * all + s + e] * unit);
            elastic.1.push(potential[(0, 0)]);
            stiffness.0.push(found.load_stiffness[(d, e)] * unit);
            stiffness.1.push(potential[(0, 1)]);
        }
    }
    for (values, expected) in values.iter().zip(&expected) {
        assert_close("N_de", values, expected, 1e-5, 0.0);
    }
    assert_close("K", &elastic.0, &elastic.1, 1e-5, 0.0);
    assert_close("K^f", &stiffness.0, &stiffness.1, 1e-5, 0.0);
    check_slopes(
        &around,
        &c.mass_gradient,
        &found.coupling,
        &found.elastic,
        s,
        reach,
    );
    check_cubic(&around, reach);
}

/// First derivatives of the mass in (θ, δ) and (δ, δ).
fn check_slopes(
    around: &Around<'_>,
    gradient: &[Vec<f64>],
    coupling: &[Mat<f64>],
    elastic: &[Mat<f64>],
    s: usize,
    reach: f64,
) {
    let n = around.here.n();
    let all = s + n;
    let unit = |i: usize| if i < s { 1.0 } else { around.unit[i - s] };
    let (mut values, mut expected) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for d in 0..n {
        let slope = first(
            |t| {
                let mut eta = vec![0.0; n];
                eta[d] = t * around.unit[d];
                around.mass(&eta)
            },
            reach,
        );
        for e in 0..n {
            for i in 0..s + n {
                let new = if i < s {
                    coupling[i][(d, e)]
                } else {
                    elastic[i - s][(d, e)] + elastic[e][(d, i - s)]
                };
                let value = gradient[s + d][i * all + s + e] + new;
                let (value, slope) = (
                    value * around.unit[d] * unit(i) * around.unit[e],
                    slope[(i, s + e)] * unit(i) * around.unit[e],
                );
                if i < s {
                    values.0.push(value);
                    expected.0.push(slope);
                } else {
                    values.1.push(value);
                    expected.1.push(slope);
                }
            }
        }
    }
    assert_close("N_d on θδ", &values.0, &expected.0, 1e-5, 0.0);
    let floor = expected.0.iter().fold(0.0_f64, |m, v| m.max(v.abs())) * 1e-3;
    assert_close("N_d on δδ", &values.1, &expected.1, 1e-5, floor);
}

/// The elastic energy has no cubic term; without second-order displacements it has one.
fn check_cubic(around: &Around<'_>, reach: f64) {
    let mut random = Random(5);
    for _ in 0..4 {
        let direction: Vec<f64> = around.unit.iter().map(|u| u * random.next()).collect();
        let energy = |t: f64| {
            let eta: Vec<f64> = direction.iter().map(|x| x * t).collect();
            around.potentials(&eta).0
        };
        let odd = |t: f64| 0.5 * (energy(t) - energy(-t));
        let quadratic = second(energy, reach) * 0.5;
        // odd = c₃t³ + c₅t⁵.
        let cubic = (32.0 * odd(reach) - odd(2.0 * reach)) / (24.0 * reach.powi(3));
        assert!(
            cubic.abs() < 1e-5 * quadratic,
            "cubic {cubic:.2e} beside quadratic {quadratic:.2e}"
        );
    }
}

#[test]
fn four_bar() {
    let reducer = reducer(&read("data/four_bar.toml"));
    for theta in [-1.4, 0.3] {
        check(&reducer, &[theta], 2e-3);
    }
}

#[test]
fn spatial_closed_loop() {
    let reducer = reducer(&read("tests/fixtures/flexible_orthoglide.toml"));
    check(&reducer, &[0.05, -0.03, 0.11], 2e-3);
}

#[test]
fn serial_arm_with_a_load_and_springs() {
    let parts = "\n[[load]]\nat = \"fore.to\"\nforce = [3, -8, 5]\n[ground.points]\nhook = [0.3, 0.4, 1.2]\n[[spring]]\nbetween = [\"ground.hook\", \"fore.to\"]\nlength = 0.5\nstiffness = 60\n";
    let reducer = reducer(&(read("tests/fixtures/flexible_arm.toml") + parts));
    check(&reducer, &[0.4, -0.3, 0.6], 2e-3);
}
