//! Equations of motion in single precision, as generated code has them.

use super::fields::Fields;
use reducer::reduced_model::{Component, ModelForm};

impl Fields {
    /// Force that produces the accelerations.
    pub fn inverse_dynamics(&self, eta: &[f32], rate: &[f32], accel: &[f32]) -> Vec<f32> {
        self.equations(eta, rate, accel).1
    }

    /// Accelerations under a force; nothing where M̄ is not definite.
    pub fn forward_dynamics(&self, eta: &[f32], rate: &[f32], force: &[f32]) -> Option<Vec<f32>> {
        let (mut u, bias) = self.equations(eta, rate, &vec![0.0; self.n]);
        let n = self.n;
        if self.form == ModelForm::Direct && !factor(&mut u, n) {
            return None;
        }
        let mut x: Vec<f32> = force.iter().zip(&bias).map(|(f, b)| f - b).collect();
        for i in (0..n).rev() {
            let sum: f32 = (i + 1..n).map(|k| u[i * n + k] * x[k]).sum();
            x[i] = (x[i] - sum) / u[i * n + i];
        }
        for i in 0..n {
            let sum: f32 = (0..i).map(|k| u[k * n + i] * x[k]).sum();
            x[i] = (x[i] - sum) / u[i * n + i];
        }
        x.iter().all(|a| a.is_finite()).then_some(x)
    }

    /// Mass, gyroscopic tensor, stiffness, damping, static force and gravity at η^δ = 0.
    pub fn blocks(&self) -> [Vec<f32>; 6] {
        let n = self.n;
        let zero = vec![0.0; n];
        let (u, force) = self.equations(&zero, &zero, &zero);
        let force: Vec<f32> = force.iter().map(|f| -f).collect();
        let (mass, gyroscopic) = match self.form {
            ModelForm::Lagrangian => (product(&u, &u, n), self.gyroscopic(&u)),
            ModelForm::Direct => (u, self.stored_gyroscopic()),
        };
        let [stiffness, damping] = self.elastic();
        let gravity = self.gravity_force(&force);
        [mass, gyroscopic, stiffness, damping, force, gravity]
    }

    /// U (`lagrangian`) or M̄ (`direct`), and the force.
    fn equations(&self, eta: &[f32], rate: &[f32], accel: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let mut out = vec![0.0; self.n];
        let matrix = match self.form {
            ModelForm::Lagrangian => self.lagrangian(eta, rate, accel, &mut out),
            ModelForm::Direct => self.direct(eta, rate, accel, &mut out),
        };
        for x in &self.stored {
            if let Component::GravityForce { row, axis } = x.component {
                out[row] -= self.gravity[axis] * x.value;
                if self.form == ModelForm::Lagrangian {
                    for (sum, slope) in out.iter_mut().zip(&x.slope) {
                        *sum -= self.gravity[axis] * eta[row] * slope;
                    }
                }
            }
        }
        (matrix, out)
    }

    fn lagrangian(&self, eta: &[f32], rate: &[f32], accel: &[f32], out: &mut [f32]) -> Vec<f32> {
        let (n, s) = (self.n, self.s);
        let mut u = vec![0.0; n * n];
        let mut du = vec![0.0; n * n];
        let along = |slope: &[f32]| slope.iter().zip(rate).map(|(d, r)| d * r).sum::<f32>();
        let mut y = vec![0.0; n];
        let mut z = vec![0.0; n];
        for x in &self.stored {
            let v = x.value;
            match x.component {
                Component::MassFactor { row, column } => {
                    u[row * n + column] += v;
                    du[row * n + column] += along(&x.slope);
                }
                Component::MassFactorSlope {
                    coordinate: d,
                    row,
                    column,
                } => {
                    u[row * n + column] += v * eta[d];
                    du[row * n + column] += along(&x.slope) * eta[d] + v * rate[d];
                }
                Component::StiffnessFactor { row, column } => y[column] += v * eta[row],
                Component::DampingFactor { row, column } => z[column] += v * rate[row],
                _ => {}
            }
        }
        let mut p = vec![0.0; n];
        let mut dp = vec![0.0; n];
        for r in 0..n {
            for c in r..n {
                p[c] += u[r * n + c] * rate[r];
                dp[c] += du[r * n + c] * rate[r] + u[r * n + c] * accel[r];
            }
        }
        for r in 0..n {
            for c in r..n {
                out[r] += du[r * n + c] * p[c] + u[r * n + c] * dp[c];
            }
        }
        for x in &self.stored {
            let v = x.value;
            let weight = match x.component {
                Component::MassFactor { row, column } => -(rate[row] * p[column]),
                Component::MassFactorSlope {
                    coordinate: d,
                    row,
                    column,
                } => {
                    out[d] -= v * rate[row] * p[column];
                    -(eta[d] * rate[row] * p[column])
                }
                Component::StiffnessFactor { row, column } => {
                    out[row] += v * y[column];
                    eta[row] * y[column]
                }
                Component::DampingFactor { row, column } => {
                    out[row] += v * z[column];
                    continue;
                }
                Component::Damping { row, column } => {
                    add_symmetric(out, row, column, v, rate);
                    continue;
                }
                Component::Force { row } => {
                    out[row] -= v;
                    -eta[row]
                }
                Component::Potential => 1.0,
                Component::GravityPotential { axis } => self.gravity[axis],
                _ => continue,
            };
            for (sum, slope) in out[..s].iter_mut().zip(&x.slope) {
                *sum += weight * slope;
            }
        }
        u
    }

    fn direct(&self, eta: &[f32], rate: &[f32], accel: &[f32], out: &mut [f32]) -> Vec<f32> {
        let n = self.n;
        let mut mass = vec![0.0; n * n];
        for x in &self.stored {
            let v = x.value;
            match x.component {
                Component::Mass { row, column } => {
                    add_symmetric(out, row, column, v, accel);
                    mass[row * n + column] = v;
                    mass[column * n + row] = v;
                }
                Component::Stiffness { row, column } => add_symmetric(out, row, column, v, eta),
                Component::Damping { row, column } => add_symmetric(out, row, column, v, rate),
                Component::Gyroscopic { row, first, second } => {
                    let times = if first == second { 1.0 } else { 2.0 };
                    out[row] += v * (times * rate[first] * rate[second]);
                }
                Component::Force { row } => out[row] -= v,
                _ => {}
            }
        }
        mass
    }

    /// h_ijk of ∂M̄ = U′ Uᵀ + U U′ᵀ.
    fn gyroscopic(&self, u: &[f32]) -> Vec<f32> {
        let (n, s) = (self.n, self.s);
        let mut slopes = vec![vec![0.0; n * n]; n];
        for x in &self.stored {
            match x.component {
                Component::MassFactor { row, column } => {
                    for (k, slope) in slopes.iter_mut().take(s).enumerate() {
                        slope[row * n + column] = x.slope[k];
                    }
                }
                Component::MassFactorSlope {
                    coordinate,
                    row,
                    column,
                } => slopes[coordinate][row * n + column] = x.value,
                _ => {}
            }
        }
        let gradient: Vec<Vec<f32>> = slopes
            .iter()
            .map(|du| {
                let (a, b) = (product(du, u, n), product(u, du, n));
                a.iter().zip(&b).map(|(x, y)| x + y).collect()
            })
            .collect();
        let d = |k: usize, i: usize, j: usize| gradient[k][i * n + j];
        let mut h = vec![0.0; n * n * n];
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    h[(i * n + j) * n + k] = 0.5 * (d(k, i, j) + d(j, i, k) - d(i, j, k));
                }
            }
        }
        h
    }

    fn stored_gyroscopic(&self) -> Vec<f32> {
        let n = self.n;
        let mut h = vec![0.0; n * n * n];
        for x in &self.stored {
            if let Component::Gyroscopic { row, first, second } = x.component {
                h[(row * n + first) * n + second] = x.value;
                h[(row * n + second) * n + first] = x.value;
            }
        }
        h
    }

    /// Stiffness and damping.
    fn elastic(&self) -> [Vec<f32>; 2] {
        let n = self.n;
        // Factors and entries of both.
        let mut factors = [vec![0.0; n * n], vec![0.0; n * n]];
        let mut entries = [vec![0.0; n * n], vec![0.0; n * n]];
        for x in &self.stored {
            let v = x.value;
            match x.component {
                Component::StiffnessFactor { row, column } => factors[0][row * n + column] = v,
                Component::DampingFactor { row, column } => factors[1][row * n + column] = v,
                Component::Stiffness { row, column } => {
                    entries[0][row * n + column] = v;
                    entries[0][column * n + row] = v;
                }
                Component::Damping { row, column } => {
                    entries[1][row * n + column] = v;
                    entries[1][column * n + row] = v;
                }
                _ => {}
            }
        }
        [0, 1].map(|i| {
            let squared = product(&factors[i], &factors[i], n);
            squared
                .iter()
                .zip(&entries[i])
                .map(|(a, b)| a + b)
                .collect()
        })
    }

    fn gravity_force(&self, force: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.n];
        let mut own = false;
        for x in &self.stored {
            match x.component {
                Component::Gravity { row } => {
                    out[row] = x.value;
                    own = true;
                }
                Component::GravityForce { row, axis } => out[row] += self.gravity[axis] * x.value,
                Component::GravityPotential { axis } if self.form == ModelForm::Lagrangian => {
                    for (sum, slope) in out.iter_mut().zip(&x.slope) {
                        *sum -= self.gravity[axis] * slope;
                    }
                }
                _ => {}
            }
        }
        if own || self.gravity_per_axis {
            out
        } else {
            force.to_vec()
        }
    }
}

fn add_symmetric(out: &mut [f32], row: usize, column: usize, v: f32, x: &[f32]) {
    out[row] += v * x[column];
    if row != column {
        out[column] += v * x[row];
    }
}

/// A Bᵀ.
fn product(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let entry = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[j * n + k]).sum();
    (0..n * n).map(|ij| entry(ij / n, ij % n)).collect()
}

/// Replaces the symmetric `a` by the upper triangular U with A = U Uᵀ; false where not definite.
fn factor(a: &mut [f32], n: usize) -> bool {
    for j in (0..n).rev() {
        let squares: f32 = (j + 1..n).map(|k| a[j * n + k] * a[j * n + k]).sum();
        let pivot = a[j * n + j] - squares;
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let diagonal = pivot.sqrt();
        a[j * n + j] = diagonal;
        for i in 0..j {
            let sum: f32 = (j + 1..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] = (a[i * n + j] - sum) / diagonal;
        }
    }
    true
}
