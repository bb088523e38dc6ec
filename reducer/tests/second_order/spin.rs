//! Second-order quantities against independent results on a link that turns about one axis: all is
//! constant there, so that the equations can be written down and integrated here.

use crate::support::{Manifold, Random, read, reducer, root};
use nalgebra::{DMatrix, DVector};
use reducer::reduction::LocalReducer;
use serde_json::Value;

const SPAN: f64 = 8.0;

fn link(modes: &str) -> LocalReducer {
    let text = read("data/one_link.toml");
    let from = "internal_modes = { in_plane = \"xy\", count = 3 }";
    assert!(text.contains(from));
    let text = text.replace("elements = 16", "elements = 24");
    reducer(&text.replace(from, &format!("internal_modes = {modes}")))
}

/// How the second derivative of the mass on θ is made part of the mass.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// T = ½|Uᵀ(Bθ̇, η̇)|², B = 1 + ½Σ B_deη_dη_e.
    RateScaling,
    /// Added to M̄_θθ.
    Added,
    /// In U_θθ.
    InFactor,
}

/// Mass, its first derivatives complete to first order, and its second derivative on θ.
struct Spinning {
    mass: DMatrix<f64>,
    slopes: Vec<DMatrix<f64>>,
    curvature: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    factor: DMatrix<f64>,
    factor_slopes: Vec<DMatrix<f64>>,
}

/// Upper triangular X with X + Xᵀ = A.
fn upper_half(a: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| {
        if i < j {
            a[(i, j)]
        } else if i == j {
            0.5 * a[(i, j)]
        } else {
            0.0
        }
    })
}

/// Upper triangular U with A = UUᵀ.
fn upper_factor(a: &DMatrix<f64>) -> DMatrix<f64> {
    let n = a.nrows();
    let turned = DMatrix::from_fn(n, n, |i, j| a[(n - 1 - i, n - 1 - j)]);
    let l = turned.cholesky().expect("definite").l();
    DMatrix::from_fn(n, n, |i, j| l[(n - 1 - i, n - 1 - j)])
}

impl Spinning {
    fn new(reducer: &LocalReducer) -> Self {
        let c = reducer.evaluate(&[0.0]).expect("regular");
        let configuration = reducer.kinematics().solve(&[0.0]).expect("regular");
        let second = reducer
            .second_order(&configuration)
            .expect("regular")
            .expect("flexible");
        let n = c.n();
        let mass = DMatrix::from_row_slice(n, n, &c.mass);
        let slopes: Vec<DMatrix<f64>> = (1..n)
            .map(|d| {
                let mut slope = DMatrix::from_row_slice(n, n, &c.mass_gradient[d]);
                for e in 1..n {
                    let new = second.coupling[0][(d - 1, e - 1)];
                    slope[(0, e)] += new;
                    slope[(e, 0)] += new;
                    for f in 1..n {
                        slope[(e, f)] += second.elastic[e - 1][(d - 1, f - 1)]
                            + second.elastic[f - 1][(d - 1, e - 1)];
                    }
                }
                slope
            })
            .collect();
        let factor = upper_factor(&mass);
        let inverse = factor.clone().try_inverse().expect("regular");
        let factor_slopes = (slopes.iter())
            .map(|s| &factor * upper_half(&(&inverse * s * inverse.transpose())))
            .collect();
        Self {
            stiffness: DMatrix::from_fn(n - 1, n - 1, |i, j| c.stiffness[(1 + i) * n + 1 + j]),
            curvature: DMatrix::from_fn(n - 1, n - 1, |i, j| second.mass_curvature[0][(i, j)]),
            mass,
            slopes,
            factor,
            factor_slopes,
        }
    }

    fn n(&self) -> usize {
        self.mass.nrows()
    }

    /// What is left of the curvature beside U_dU_eᵀ + U_eU_dᵀ.
    fn rest(&self) -> DMatrix<f64> {
        let row = |d: usize| self.factor_slopes[d].row(0).into_owned();
        DMatrix::from_fn(self.n() - 1, self.n() - 1, |d, e| {
            self.curvature[(d, e)] - 2.0 * row(d).dot(&row(e))
        })
    }

    /// The mass at η^δ, its derivatives along η^δ, and B.
    fn at(&self, eta: &DVector<f64>, form: Form) -> (DMatrix<f64>, Vec<DMatrix<f64>>, f64) {
        let n = self.n();
        let mut u = self.factor.clone();
        let mut du = self.factor_slopes.clone();
        for (d, slope) in self.factor_slopes.iter().enumerate() {
            u += slope * eta[d];
        }
        let rest = self.rest();
        let bent = &rest * eta;
        let twice = eta.dot(&bent);
        let mut b = DMatrix::identity(n, n);
        let mut db = vec![DMatrix::zeros(n, n); n - 1];
        let own = self.mass[(0, 0)];
        if form == Form::RateScaling {
            // 2B_de M̄_θθ = rest.
            b[(0, 0)] += 0.25 * twice / own;
            for d in 0..n - 1 {
                db[d][(0, 0)] = 0.5 * bent[d] / own;
            }
        }
        if form == Form::InFactor {
            let own = self.factor[(0, 0)];
            u[(0, 0)] += 0.25 * twice / own;
            for d in 0..n - 1 {
                du[d][(0, 0)] += 0.5 * bent[d] / own;
            }
        }
        let bu = &b * &u;
        let mut mass = &bu * bu.transpose();
        let mut slopes: Vec<DMatrix<f64>> = (0..n - 1)
            .map(|d| {
                let half = (&db[d] * &u + &b * &du[d]) * bu.transpose();
                &half + half.transpose()
            })
            .collect();
        if form == Form::Added {
            mass[(0, 0)] += 0.5 * twice;
            for d in 0..n - 1 {
                slopes[d][(0, 0)] += bent[d];
            }
        }
        (mass, slopes, b[(0, 0)])
    }

    /// η̈^δ for a given motion of θ.
    fn acceleration(
        &self,
        [eta, rate]: [&DVector<f64>; 2],
        [spin, push]: [f64; 2],
    ) -> DVector<f64> {
        let n = self.n();
        let (mass, slopes, _) = self.at(eta, Form::RateScaling);
        let all = DVector::from_fn(n, |i, _| if i == 0 { spin } else { rate[i - 1] });
        let mut force = -(&self.stiffness * eta);
        let mut momentum = DVector::zeros(n);
        for d in 0..n - 1 {
            let image = &slopes[d] * &all;
            force[d] += 0.5 * all.dot(&image);
            momentum += image * rate[d];
        }
        for d in 0..n - 1 {
            force[d] -= momentum[d + 1] + mass[(d + 1, 0)] * push;
        }
        let own = mass.view((1, 1), (n - 1, n - 1)).into_owned();
        own.cholesky().expect("definite").solve(&force)
    }

    /// Frequencies (rad/s) while θ turns at a constant rate.
    fn frequencies(&self, spin: f64) -> Vec<f64> {
        let n = self.n() - 1;
        let own = self.mass.view((1, 1), (n, n)).into_owned();
        // Coriolis terms vanish: what couples rates is symmetric.
        for d in 0..n {
            for e in 0..n {
                let gap = self.slopes[d][(0, e + 1)] - self.slopes[e][(0, d + 1)];
                assert!(gap.abs() < 1e-9 * self.slopes[d].norm().max(1.0));
            }
        }
        let stiffness = &self.stiffness - &self.curvature * (0.5 * spin * spin);
        let l = own.cholesky().expect("definite").l();
        let inverse = l.try_inverse().expect("regular");
        let white = &inverse * stiffness * inverse.transpose();
        let mut out: Vec<f64> = (white.symmetric_eigenvalues().iter())
            .map(|w| w.max(0.0).sqrt())
            .collect();
        out.sort_by(f64::total_cmp);
        out
    }
}

fn cantilever() -> Value {
    let text = std::fs::read_to_string(root("data/reference/second_order.json")).expect("a file");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    all["rotating_cantilever"].clone()
}

#[test]
fn a_rotating_cantilever_has_the_frequencies_of_a_ritz_model() {
    let reference = cantilever();
    let unit = reference["parameters"]["time_unit_sqrt_mu_L4_over_EI"].as_f64();
    let unit = unit.expect("a number");
    for (side, key) in [
        ("in_plane", "ritz_lag_nondimensional"),
        ("out_of_plane", "ritz_flap_nondimensional"),
    ] {
        for count in [1, 2, 3, 5] {
            let reducer = link(&format!("{{ {side} = \"xy\", count = {count} }}"));
            let spinning = Spinning::new(&reducer);
            for row in reference["rows"].as_array().expect("rows") {
                let spin = row["Omega_rad_s"].as_f64().expect("a number");
                let found = spinning.frequencies(spin);
                let expected = row[key][count.to_string()].as_array().expect("a list");
                for (found, expected) in found.iter().zip(expected) {
                    let expected = expected.as_f64().expect("a number");
                    let error = found * unit / expected - 1.0;
                    if std::env::var("SHOW").is_ok() {
                        eprintln!("{side} {count} modes at {spin:.3}: {error:.1e}");
                    }
                    assert!(
                        error.abs() < 1e-3,
                        "{side} {count} modes at {spin}: {error:.1e}"
                    );
                }
            }
        }
    }
}

/// Largest deflection of the tip, the instant, and the largest shortening of the link.
fn spin_up(count: usize) -> [f64; 3] {
    let reducer = link(&format!("{{ in_plane = \"xy\", count = {count} }}"));
    let spinning = Spinning::new(&reducer);
    let manifold = Manifold::new(&reducer, &[0.0]);
    let (top, duration) = (4.0, 15.0);
    let w = std::f64::consts::TAU / duration;
    let drive = |t: f64| {
        [
            top / duration * (t - (w * t).sin() / w),
            top / duration * (1.0 - (w * t).cos()),
        ]
    };
    let n = spinning.n() - 1;
    let (mut x, mut v) = (DVector::zeros(n), DVector::zeros(n));
    let h = 2e-3;
    let mut out = [0.0_f64; 3];
    for step in 0..(duration / h) as usize {
        let t = step as f64 * h;
        let f =
            |x: &DVector<f64>, v: &DVector<f64>, t: f64| spinning.acceleration([x, v], drive(t));
        let (v1, a1) = (v.clone(), f(&x, &v, t));
        let (v2, x2) = (&v + &a1 * (0.5 * h), &x + &v1 * (0.5 * h));
        let a2 = f(&x2, &v2, t + 0.5 * h);
        let (v3, x3) = (&v + &a2 * (0.5 * h), &x + &v2 * (0.5 * h));
        let a3 = f(&x3, &v3, t + 0.5 * h);
        let (v4, x4) = (&v + &a3 * h, &x + &v3 * h);
        let a4 = f(&x4, &v4, t + h);
        x += (v1 + (v2 + v3) * 2.0 + v4) * (h / 6.0);
        v += (a1 + (a2 + a3) * 2.0 + a4) * (h / 6.0);
        let (frames, _) = manifold.at(x.as_slice());
        let tip = frames.last().expect("nodes").position;
        if tip.y.abs() > out[0] {
            out = [tip.y.abs(), t + h, out[2]];
        }
        out[2] = out[2].max(SPAN - tip.x);
    }
    out
}

/// Expected values: independent prototypes, of which the full model in Exudyn deflects by 0.5336 m at
/// 6.76 s and shortens by 0.02046 m.
#[test]
fn a_spun_up_link_deflects_as_independent_prototypes_do() {
    for (count, deflection) in [(1, 0.5378), (2, 0.5337), (3, 0.5343)] {
        let [found, instant, shortening] = spin_up(count);
        if std::env::var("SHOW").is_ok() {
            eprintln!("{count} modes: {found:.5} m at {instant:.2} s, {shortening:.5} m");
        }
        assert!(
            (found - deflection).abs() < 5e-4,
            "{count} modes: {found} m"
        );
        if count == 3 {
            assert!((instant - 6.77).abs() < 0.05, "{instant} s");
            assert!((shortening / 0.02046 - 1.0).abs() < 0.02, "{shortening} m");
        }
    }
}

/// Smallest eigenvalue of M̄(η) in units of unit inertias, as a part of that at rest; smallest B; smallest eigenvalue
/// whitened by M̄(0).
struct Smallest {
    mass: f64,
    b: f64,
    whitened: f64,
}

/// At random deflections of 0.2 of the length, amplitudes as forces of equal size would make them.
fn smallest(spinning: &Spinning, manifold: &Manifold, form: Form) -> Smallest {
    let n = spinning.n();
    let lowest = |mass: &DMatrix<f64>| {
        let unit = |i: usize| 1.0 / spinning.mass[(i, i)].sqrt();
        let scaled = DMatrix::from_fn(n, n, |i, j| mass[(i, j)] * unit(i) * unit(j));
        scaled.symmetric_eigenvalues().min()
    };
    let inverse = spinning.factor.clone().try_inverse().expect("regular");
    let rest = lowest(&spinning.mass);
    let mut random = Random(3);
    let mut out = Smallest {
        mass: f64::INFINITY,
        b: f64::INFINITY,
        whitened: f64::INFINITY,
    };
    for _ in 0..200 {
        let mut eta = DVector::from_fn(n - 1, |d, _| random.next() / spinning.stiffness[(d, d)]);
        let (straight, _) = manifold.at(&vec![0.0; n - 1]);
        let (frames, _) = manifold.at(eta.as_slice());
        let reach = (frames.iter().zip(&straight))
            .map(|(a, b)| (a.position.y - b.position.y).abs())
            .fold(0.0, f64::max);
        eta *= 0.2 * SPAN / reach;
        let (mass, _, b) = spinning.at(&eta, form);
        let whitened = (&inverse * &mass * inverse.transpose()).symmetric_eigenvalues();
        if form == Form::RateScaling {
            let expected = spinning.whitened_by_scaling(b);
            let error = (whitened.min() / expected - 1.0).abs();
            assert!(error < 1e-6, "{error:.1e} off the closed form");
        }
        out = Smallest {
            mass: out.mass.min(lowest(&mass) / rest),
            b: out.b.min(b),
            whitened: out.whitened.min(whitened.min()),
        };
    }
    out
}

impl Spinning {
    /// The smallest eigenvalue of diag(B, 1)M̄(0)diag(B, 1) whitened by M̄(0). Two eigenvalues differ from 1; their
    /// product is B² and their sum 2B + (B − 1)²/σ, σ being the part of the inertia about the hub that no mode can move.
    /// Shapes soon span turning itself (σ = 1.4e-3 with three modes), so that a scale of 0.85 leaves 0.04.
    fn whitened_by_scaling(&self, b: f64) -> f64 {
        let n = self.n();
        let coupling = self.mass.view((0, 1), (1, n - 1));
        let own = self.mass.view((1, 1), (n - 1, n - 1)).into_owned();
        let solved = own
            .cholesky()
            .expect("definite")
            .solve(&coupling.transpose());
        let sigma = 1.0 - (coupling * solved)[(0, 0)] / self.mass[(0, 0)];
        let half = b + 0.5 * (b - 1.0).powi(2) / sigma;
        // The other root is the larger one.
        b * b / (half + (half * half - b * b).max(0.0).sqrt())
    }
}

/// What is asked of the mass is said of it in units of the inertias themselves. Whitened by the mass at rest it says
/// nothing of a form: with five and eight modes the wrong form in the factor leaves 1, and the right one 0.01.
#[test]
fn scaled_rates_keep_the_mass_definite_where_other_forms_do_not() {
    let mut wrong = [f64::INFINITY; 2];
    for count in [1, 3, 5, 8] {
        let reducer = link(&format!("{{ in_plane = \"xy\", count = {count} }}"));
        let spinning = Spinning::new(&reducer);
        let mut manifold = Manifold::new(&reducer, &[0.0]);
        manifold.flat = true;
        let found = smallest(&spinning, &manifold, Form::RateScaling);
        let others = [Form::Added, Form::InFactor].map(|f| smallest(&spinning, &manifold, f));
        if std::env::var("SHOW").is_ok() {
            let [added, factor] = &others;
            eprintln!(
                "{count} modes: mass {:.3}, B {:.3}, whitened {:.2e}; added {:.3e}, {:.2e}; in the factor {:.3e}, {:.2e}",
                found.mass,
                found.b,
                found.whitened,
                added.mass,
                added.whitened,
                factor.mass,
                factor.whitened
            );
        }
        assert!(
            found.mass >= 0.5 && found.b >= 0.5,
            "{count} modes: mass {}, B {}",
            found.mass,
            found.b
        );
        assert!(found.whitened > 0.0);
        for (worst, other) in wrong.iter_mut().zip(others) {
            *worst = worst.min(other.mass);
        }
    }
    assert!(wrong.iter().all(|w| *w < 0.5), "{wrong:?}");
}
