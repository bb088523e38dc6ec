//! Every generated function, computed from the library's evaluator alone.

use crate::jets::Jets;
use crate::points::{Parameters, Point, used};
use nalgebra::{DMatrix, DVector};
use reducer::reduced_model::{
    Continuity, Evaluator, ModelCoefficients, OutputMotion, ReducedModel, Status, Table, TreeNode,
    Workspace,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The evaluator with parameters.
pub struct Reference<'m> {
    pub model: &'m ReducedModel,
    evaluator: Evaluator<'m>,
    work: RefCell<Workspace>,
    /// Models of one box, by box and coordinate, whose functions are moved along a coordinate.
    moved: RefCell<BTreeMap<(usize, usize), [ReducedModel; 2]>>,
}

/// A linear model around a state.
pub struct Linear {
    pub status: i32,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl<'m> Reference<'m> {
    pub fn new(model: &'m ReducedModel) -> Self {
        Self {
            model,
            evaluator: Evaluator::new(model).expect("a valid model"),
            work: RefCell::default(),
            moved: RefCell::default(),
        }
    }

    pub fn n(&self) -> usize {
        self.evaluator.n()
    }

    pub fn n_rigid(&self) -> usize {
        self.evaluator.n_rigid()
    }

    /// Coefficients with parameters, Coulomb friction apart.
    pub fn coefficients_with(&self, p: Option<&Parameters>, theta: &[f64]) -> ModelCoefficients {
        let (n, s) = (self.n(), self.n_rigid());
        let mut c = self.coefficients(theta);
        let Some(p) = p else { return c };
        if c.status >= Status::Undefined {
            return c;
        }
        let (eta, rest) = ([theta, &vec![0.0; n - s]].concat(), vec![0.0; n]);
        let mass = self.mass(Some(p), &eta) - self.mass(None, &eta);
        for i in 0..n {
            for j in 0..n {
                c.mass[i * n + j] += mass[(i, j)];
            }
        }
        for k in 0..s {
            c.damping[k * n + k] += p.viscous[k];
        }
        let loaded = self.smooth_force(Some(p), &eta, &rest, &rest).0;
        let nominal = self.smooth_force(None, &eta, &rest, &rest).0;
        for i in 0..n {
            c.force[i] -= loaded[i] - nominal[i];
            c.gravity[i] -= loaded[i] - nominal[i];
        }
        let jets = Jets::new(self.model, theta).expect("a box");
        for (o, payload) in p.payload.iter().enumerate() {
            let jacobian = jets.jacobian(o, &eta, &[]);
            for k in 0..s {
                let slope = jets.jacobian(o, &eta, &[k]);
                for (j, dj) in jacobian.chunks(n).zip(slope.chunks(n)) {
                    for (i, j) in j.iter().enumerate() {
                        for (l, dj) in dj.iter().enumerate() {
                            let value = payload * j * dj;
                            c.gyroscopic[(i * n + l) * n + k] += value;
                            if l >= s {
                                c.gyroscopic[(i * n + k) * n + l] += value;
                            }
                        }
                    }
                }
            }
        }
        c
    }

    fn coefficients(&self, theta: &[f64]) -> ModelCoefficients {
        self.evaluator
            .coefficients(theta, &mut self.work.borrow_mut())
            .expect("lengths")
    }

    pub fn outputs(&self, eta: &[f64], rate: &[f64]) -> (Vec<OutputMotion>, Status) {
        self.evaluator
            .outputs(eta, rate, &mut self.work.borrow_mut())
            .expect("lengths")
    }

    fn nominal_force(&self, eta: &[f64], rate: &[f64], accel: &[f64]) -> (Vec<f64>, Status) {
        let mut force = vec![0.0; self.n()];
        let mut work = self.work.borrow_mut();
        let status = self
            .evaluator
            .inverse_dynamics(eta, rate, accel, &mut force, &mut work);
        (force, status.expect("lengths"))
    }

    /// Force without Coulomb friction: smooth in every argument.
    fn smooth_force(
        &self,
        p: Option<&Parameters>,
        eta: &[f64],
        rate: &[f64],
        accel: &[f64],
    ) -> (Vec<f64>, Status) {
        let (mut force, status) = self.nominal_force(eta, rate, accel);
        if let (Some(p), true) = (p, status < Status::Undefined) {
            for k in 0..self.n_rigid() {
                force[k] += p.rotor[k] * accel[k] + p.viscous[k] * rate[k];
            }
            let payload = self.payload(p, eta, rate, accel, &[]);
            for (f, part) in force.iter_mut().zip(payload) {
                *f += part;
            }
        }
        (force, status)
    }

    /// Force of the payloads, or its derivative by the one θ of `by`.
    fn payload(
        &self,
        p: &Parameters,
        eta: &[f64],
        rate: &[f64],
        accel: &[f64],
        by: &[usize],
    ) -> Vec<f64> {
        let n = self.n();
        let mut out = vec![0.0; n];
        let jets = Jets::new(self.model, &eta[..self.n_rigid()]).expect("a box");
        let dot = |row: &[f64]| -> f64 { row.iter().zip(accel).map(|(j, a)| j * a).sum() };
        for (o, mass) in p.payload.iter().enumerate() {
            let jacobian = jets.jacobian(o, eta, &[]);
            let bias = jets.bias(o, eta, rate, &[]);
            let slope = jets.jacobian(o, eta, by);
            let bias_slope = jets.bias(o, eta, rate, by);
            for axis in 0..3 {
                let rows = axis * n..(axis + 1) * n;
                let (row, row_slope) = (&jacobian[rows.clone()], &slope[rows]);
                let a = dot(row) + bias[axis] - p.gravity[axis];
                let a_slope = dot(row_slope) + bias_slope[axis];
                for k in 0..n {
                    out[k] += match by {
                        [] => mass * row[k] * a,
                        _ => mass * (row_slope[k] * a + row[k] * a_slope),
                    };
                }
            }
        }
        out
    }

    /// Derivative by a modal coordinate of a polynomial of second degree in it: central differences
    /// are exact.
    fn modal_slope(&self, f: &dyn Fn(&[f64]) -> Vec<f64>, eta: &[f64], k: usize) -> Vec<f64> {
        let width = 1.0 / 64.0;
        let mut moved = eta.to_vec();
        moved[k] = eta[k] + width;
        let high = f(&moved);
        moved[k] = eta[k] - width;
        half_difference(&high, &f(&moved), width)
    }

    /// Derivative of the nominal force by θ_k. The force is a polynomial of second degree in the
    /// stored functions f: models of f ± w ∂f/∂θ_k give it exactly.
    fn theta_slope(&self, [eta, rate, accel]: [&[f64]; 3], k: usize) -> Vec<f64> {
        let (theta, index) = used(self.model, &eta[..self.n_rigid()]);
        let index = index.expect("a box");
        let b = &self.model.boxes[index];
        let width = 0.5 * (b.upper[k] - b.lower[k]);
        let mut moved = self.moved.borrow_mut();
        let models = moved
            .entry((index, k))
            .or_insert_with(|| [width, -width].map(|w| moved_model(self.model, index, k, w)));
        let eta = [&theta, &eta[theta.len()..]].concat();
        let [high, low] = models
            .each_ref()
            .map(|m| Reference::new(m).nominal_force(&eta, rate, accel).0);
        half_difference(&high, &low, width)
    }

    fn coulomb(&self, p: Option<&Parameters>, rate: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n()];
        if let Some(p) = p {
            for k in 0..self.n_rigid() {
                out[k] = p.coulomb[k] * (rate[k] / p.coulomb_rate[k]).clamp(-1.0, 1.0);
            }
        }
        out
    }

    pub fn inverse_dynamics(&self, p: Option<&Parameters>, x: &Point) -> (Vec<f64>, i32) {
        let (mut force, status) = self.smooth_force(p, &x.eta, &x.rate, &x.accel);
        if status < Status::Undefined {
            for (f, c) in force.iter_mut().zip(self.coulomb(p, &x.rate)) {
                *f += c;
            }
        }
        (force, status as i32)
    }

    /// Mass matrix at a state: forces of accelerations so large that nothing else counts.
    pub fn mass(&self, p: Option<&Parameters>, eta: &[f64]) -> DMatrix<f64> {
        const LARGE: f64 = (1_u64 << 40) as f64;
        let n = self.n();
        let rest = vec![0.0; n];
        let mut accel = vec![0.0; n];
        let mut mass = DMatrix::zeros(n, n);
        for k in 0..n {
            accel[k] = LARGE;
            let high = self.smooth_force(p, eta, &rest, &accel).0;
            accel[k] = -LARGE;
            let low = self.smooth_force(p, eta, &rest, &accel).0;
            accel[k] = 0.0;
            for i in 0..n {
                mass[(i, k)] = (high[i] - low[i]) / (2.0 * LARGE);
            }
        }
        (&mass + mass.transpose()) * 0.5
    }

    /// Accelerations and the force that was solved for; the status is 2 where the mass matrix is
    /// not definite.
    pub fn forward_dynamics(
        &self,
        p: Option<&Parameters>,
        eta: &[f64],
        rate: &[f64],
        force: &[f64],
    ) -> (Vec<f64>, f64, i32) {
        let n = self.n();
        let (mut rest, mut status) = self.smooth_force(p, eta, rate, &vec![0.0; n]);
        let mut size = norm(force) + norm(&rest);
        let mut accel = vec![0.0; n];
        if !force.iter().all(|f| f.is_finite()) {
            status = Status::NotFinite;
        }
        if status < Status::Undefined {
            size += norm(&self.coulomb(p, rate));
            if p.is_none() {
                let mut work = self.work.borrow_mut();
                status = self
                    .evaluator
                    .forward_dynamics(eta, rate, force, &mut accel, &mut work)
                    .expect("lengths");
            } else {
                for ((r, f), c) in rest.iter_mut().zip(force).zip(self.coulomb(p, rate)) {
                    *r = f - *r - c;
                }
                match self.mass(p, eta).cholesky() {
                    Some(factor) => {
                        accel.copy_from_slice(factor.solve(&DVector::from(rest)).as_slice())
                    }
                    None => status = Status::Undefined,
                }
            }
        }
        (accel, size, status as i32)
    }

    pub fn linearize(&self, p: Option<&Parameters>, x: &Point, force: &[f64]) -> Linear {
        let n = self.n();
        let y = 9 * self.model.layout.outputs.len();
        let (accel, _, status) = self.forward_dynamics(p, &x.eta, &x.rate, force);
        let mut out = Linear {
            status,
            a: vec![0.0; 4 * n * n],
            b: vec![0.0; 2 * n * n],
            c: vec![0.0; y * 2 * n],
        };
        if status >= Status::Undefined as i32 {
            return out;
        }
        let factor = self.mass(p, &x.eta).cholesky().expect("a definite mass");
        let at = |eta: &[f64], rate: &[f64]| self.smooth_force(p, eta, rate, &accel).0;
        for k in 0..n {
            out.a[k * 2 * n + n + k] = 1.0;
            let by_eta = self.force_slope(p, [&x.eta, &x.rate, &accel], k);
            let (mut high, mut low) = (x.rate.clone(), x.rate.clone());
            high[k] += 1.0;
            low[k] -= 1.0;
            let (high, low) = (at(&x.eta, &high), at(&x.eta, &low));
            let mut by_rate = half_difference(&high, &low, 1.0);
            if let (Some(p), true) = (p, k < self.n_rigid())
                && x.rate[k].abs() < p.coulomb_rate[k]
            {
                by_rate[k] += p.coulomb[k] / p.coulomb_rate[k];
            }
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            let solved = |by: Vec<f64>| factor.solve(&DVector::from(by));
            let (by_eta, by_rate, unit) = (solved(by_eta), solved(by_rate), solved(unit));
            for i in 0..n {
                out.a[(n + i) * 2 * n + k] = -by_eta[i];
                out.a[(n + i) * 2 * n + n + k] = -by_rate[i];
                out.b[(n + i) * n + k] = unit[i];
            }
        }
        self.output_rows(x, &mut out.c);
        out
    }

    /// Derivative of the force by a coordinate.
    fn force_slope(
        &self,
        p: Option<&Parameters>,
        [eta, rate, accel]: [&[f64]; 3],
        k: usize,
    ) -> Vec<f64> {
        let nominal = |eta: &[f64]| self.nominal_force(eta, rate, accel).0;
        let rigid = k < self.n_rigid();
        let mut out = if rigid {
            self.theta_slope([eta, rate, accel], k)
        } else {
            self.modal_slope(&nominal, eta, k)
        };
        if let Some(p) = p {
            let payload = if rigid {
                self.payload(p, eta, rate, accel, &[k])
            } else {
                self.modal_slope(&|eta| self.payload(p, eta, rate, accel, &[]), eta, k)
            };
            for (sum, part) in out.iter_mut().zip(payload) {
                *sum += part;
            }
        }
        out
    }

    fn output_rows(&self, x: &Point, c: &mut [f64]) {
        let n = self.n();
        let motions = self.outputs(&x.eta, &x.rate).0;
        let jets = Jets::new(self.model, &x.eta[..self.n_rigid()]).expect("a box");
        for (o, motion) in motions.iter().enumerate() {
            let rows = &mut c[o * 18 * n..(o + 1) * 18 * n];
            for k in 0..n {
                for i in 0..6 {
                    rows[i * 2 * n + k] = motion.jacobian[i * n + k];
                }
                for i in 0..3 {
                    rows[(6 + i) * 2 * n + n + k] = motion.jacobian[i * n + k];
                }
            }
            // Second derivatives are symmetric: those by modal coordinates come from the columns.
            for k in 0..self.n_rigid() {
                let slope = jets.jacobian(o, &x.eta, &[k]);
                for i in 0..3 {
                    for l in 0..n {
                        rows[(6 + i) * 2 * n + k] += slope[i * n + l] * x.rate[l];
                        if l >= self.n_rigid() {
                            rows[(6 + i) * 2 * n + l] += slope[i * n + l] * x.rate[k];
                        }
                    }
                }
            }
        }
    }

    /// Forces and modal coordinates of a motion of θ, by the three corrections of the generated code.
    pub fn feedforward(
        &self,
        p: Option<&Parameters>,
        x: &Point,
        near: f64,
    ) -> (Vec<f64>, Vec<f64>, i32) {
        let (n, s) = (self.n(), self.n_rigid());
        let extend = |v: &[f64]| [&v[..s], &vec![0.0; n - s]].concat();
        let (mut eta, rate, accel) = (extend(&x.eta), extend(&x.rate), extend(&x.accel));
        let c = self.coefficients(&eta[..s]);
        let mut status = c.status;
        if n > s && status < Status::Undefined {
            let stiffness = DMatrix::from_fn(n - s, n - s, |i, j| c.stiffness[(s + i) * n + s + j]);
            match stiffness.cholesky() {
                Some(factor) => {
                    // Twice the elastic energy of the first and of the last correction.
                    let (mut first, mut last) = (None, 0.0);
                    for _ in 0..12 {
                        let force = self.smooth_force(p, &eta, &rate, &accel).0;
                        let rows = DVector::from(force[s..].to_vec());
                        let rest = factor.solve(&rows);
                        for i in s..n {
                            eta[i] -= rest[i - s];
                        }
                        last = rows.dot(&rest);
                        first.get_or_insert(last);
                    }
                    if last > near * near * first.unwrap_or_default() {
                        status = Status::Undefined;
                    }
                }
                None => status = Status::Undefined,
            }
        }
        if status >= Status::Undefined {
            return (vec![0.0; s], vec![0.0; n - s], status as i32);
        }
        let (force, _) = self.smooth_force(p, &eta, &rate, &accel);
        let coulomb = self.coulomb(p, &rate);
        let force = (0..s).map(|k| force[k] + coulomb[k]).collect();
        (force, eta[s..].to_vec(), status as i32)
    }

    /// One classical Runge-Kutta step, and the sum of sizes of the forces that were solved for.
    pub fn step(
        &self,
        p: Option<&Parameters>,
        x: &[f64],
        force: &[f64],
        dt: f64,
    ) -> (Vec<f64>, f64, i32) {
        let n = self.n();
        let (mut slope, mut sum) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
        let (mut worst, mut size) = (0, 0.0_f64);
        for (shift, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            let stage: Vec<f64> = x
                .iter()
                .zip(&slope)
                .map(|(x, s)| x + shift * dt * s)
                .collect();
            let (accel, force_size, status) =
                self.forward_dynamics(p, &stage[..n], &stage[n..], force);
            size = size.max(force_size);
            worst = worst.max(status);
            if worst >= Status::Undefined as i32 {
                return (vec![0.0; 2 * n], size, worst);
            }
            slope = [&stage[n..], &accel].concat();
            for (sum, slope) in sum.iter_mut().zip(&slope) {
                *sum += weight * slope;
            }
        }
        let x = x.iter().zip(&sum).map(|(x, s)| x + dt / 6.0 * s).collect();
        (x, size, worst)
    }

    /// Largest over smallest eigenvalue of the mass matrix, and the smallest one.
    pub fn condition(&self, p: Option<&Parameters>, eta: &[f64]) -> (f64, f64) {
        let eigenvalues = self.mass(p, eta).symmetric_eigenvalues();
        let smallest = eigenvalues.min();
        (eigenvalues.max() / smallest, smallest)
    }
}

fn half_difference(high: &[f64], low: &[f64], width: f64) -> Vec<f64> {
    let slopes = high.iter().zip(low).map(|(h, l)| (h - l) / (2.0 * width));
    slopes.collect()
}

/// One box of a model by itself, its stored functions f replaced by f + width ∂f/∂θ_k.
fn moved_model(model: &ReducedModel, index: usize, k: usize, width: f64) -> ReducedModel {
    let mut b = model.boxes[index].clone();
    let half = 0.5 * (b.upper[k] - b.lower[k]);
    let columns = model.components.dynamics.len();
    let mut rows: BTreeMap<Vec<u8>, Vec<f64>> = BTreeMap::new();
    for (term, row) in b
        .dynamics
        .terms
        .iter()
        .zip(b.dynamics.coefficients.chunks(columns.max(1)))
    {
        let mut add = |term: Vec<u8>, factor: f64| {
            let sums = rows.entry(term).or_insert_with(|| vec![0.0; columns]);
            for (sum, c) in sums.iter_mut().zip(row) {
                *sum += factor * c;
            }
        };
        add(term.clone(), 1.0);
        // T_d' = 2 d (T_(d-1) + T_(d-3) + ...), T_0 counted half.
        let degree = term[k];
        for lower in (0..degree).rev().step_by(2) {
            let mut term = term.clone();
            term[k] = lower;
            let part = if lower == 0 { 1.0 } else { 2.0 };
            add(term, part * f64::from(degree) * width / half);
        }
    }
    b.dynamics = Table {
        terms: rows.keys().cloned().collect(),
        coefficients: rows.into_values().flatten().collect(),
    };
    let mut layout = model.layout.clone();
    layout.domain.lower.clone_from(&b.lower);
    layout.domain.upper.clone_from(&b.upper);
    layout.domain.periodic.fill(false);
    layout.domain.inequalities.clear();
    ReducedModel {
        layout,
        tree: vec![TreeNode::Leaf { index: 0 }],
        boxes: vec![b],
        continuity: Continuity::Smooth,
        ..model.clone()
    }
}
