//! First and second derivatives of the undeformed motion with respect to θ, in closed form.
//!
//! V_k is the velocity of a frame per unit θ̇_k, in the frame's own axes; ∂_l V_k its derivative
//! along θ_l. They are not symmetric in k and l: ∂_l V_k − ∂_k V_l = [V_k, V_l] [M 5.3].

use super::closure::{Posture, mount_velocity};
use super::skeleton::{Gauge, Mount, Skeleton};
use crate::lie::{Frame, Vector6, angular, bracket, linear};
use crate::model::joint;
use nalgebra::{DMatrix, Dyn, LU, Vector3};

/// Velocities of all bodies per θ̇_k and their derivatives.
#[derive(Debug, Clone)]
pub struct Motion {
    n_theta: usize,
    /// Size of all unit-free joint rates per unit-free θ̇.
    pub(super) amplification: f64,
    velocity: Vec<Vector6>,
    derivative: Vec<Vector6>,
}

impl Motion {
    /// Velocity of a body's frame per unit θ̇_k.
    pub fn velocity(&self, body: usize, k: usize) -> &Vector6 {
        &self.velocity[body * self.n_theta + k]
    }

    /// ∂_l V_k of a body's frame.
    pub fn derivative(&self, body: usize, k: usize, l: usize) -> &Vector6 {
        &self.derivative[(body * self.n_theta + k) * self.n_theta + l]
    }
}

impl Skeleton {
    /// Derivatives of the motion at a closed posture; `rows` are the independent closure rows and
    /// `lu` factorises [closure rows; actuated rows].
    pub(super) fn motion(
        &self,
        posture: &Posture,
        rows: &[usize],
        lu: &LU<f64, Dyn, Dyn>,
    ) -> Option<Motion> {
        let s = self.gauges.len();
        let n = self.n_coordinates;
        let mut rates = DMatrix::zeros(n, s);
        for k in 0..s {
            rates[(rows.len() + k, k)] = 1.0 / self.gauge_scale(&self.gauges[k]);
        }
        if !lu.solve_mut(&mut rates) {
            return None;
        }
        let amplification = (0..s)
            .map(|k| rates.column(k).norm_squared() * self.gauge_scale(&self.gauges[k]).powi(2))
            .sum::<f64>()
            .sqrt();
        let (velocity, carried) = self.link_velocities(posture, &rates);
        let partial = self.partial_derivatives(posture, &velocity, &carried);
        let mut second = DMatrix::zeros(n, s * s);
        let all = self.closure_second_order(posture, &velocity, &partial);
        for column in 0..s * s {
            for (r, &row) in rows.iter().enumerate() {
                second[(r, column)] = -all[(row, column)];
            }
            for k in 0..s {
                second[(rows.len() + k, column)] =
                    -self.gauge_second_order(posture, k, column, &velocity, &partial);
            }
        }
        if !lu.solve_mut(&mut second) {
            return None;
        }
        let (mut derivative, _) = self.link_velocities(posture, &second);
        for (d, p) in derivative.iter_mut().zip(&partial) {
            *d += p;
        }
        let bodies = &self.body_link;
        let pick = |from: &[Vector6], width: usize| {
            bodies
                .iter()
                .flat_map(|&link| from[link * width..(link + 1) * width].iter().copied())
                .collect()
        };
        Some(Motion {
            n_theta: s,
            amplification,
            velocity: pick(&velocity, s),
            derivative: pick(&derivative, s * s),
        })
    }

    fn scaled(&self, c: usize, value: f64) -> f64 {
        if self.is_length[c] {
            value * self.length
        } else {
            value
        }
    }

    /// Velocities of all links for columns of joint rates, and the part that parents carry along.
    fn link_velocities(
        &self,
        posture: &Posture,
        rates: &DMatrix<f64>,
    ) -> (Vec<Vector6>, Vec<Vector6>) {
        let columns = rates.ncols();
        let mut velocity = vec![Vector6::zeros(); self.links.len() * columns];
        let mut carried = velocity.clone();
        for (i, link) in self.links.iter().enumerate() {
            for k in 0..columns {
                let mut v = match link.parent {
                    Some(parent) => posture.relative[i].pull_back(&velocity[parent * columns + k]),
                    None => Vector6::zeros(),
                };
                carried[i * columns + k] = v;
                for (j, column) in link.subspace.iter().enumerate() {
                    let c = link.first + j;
                    v += column * self.scaled(c, rates[(c, k)]);
                }
                velocity[i * columns + k] = v;
            }
        }
        (velocity, carried)
    }

    /// ∂_l V_k of all links for fixed joint rates.
    fn partial_derivatives(
        &self,
        posture: &Posture,
        velocity: &[Vector6],
        carried: &[Vector6],
    ) -> Vec<Vector6> {
        let s = self.gauges.len();
        let mut out = vec![Vector6::zeros(); self.links.len() * s * s];
        for (i, link) in self.links.iter().enumerate() {
            let Some(parent) = link.parent else { continue };
            for l in 0..s {
                let own = velocity[i * s + l] - carried[i * s + l];
                for k in 0..s {
                    out[(i * s + k) * s + l] = posture.relative[i]
                        .pull_back(&out[(parent * s + k) * s + l])
                        - bracket(&own, &carried[i * s + k]);
                }
            }
        }
        out
    }

    /// Derivative along θ_l of (closure rows)·(rates of θ_k) for fixed rates, column k·s + l.
    fn closure_second_order(
        &self,
        posture: &Posture,
        velocity: &[Vector6],
        partial: &[Vector6],
    ) -> DMatrix<f64> {
        let s = self.gauges.len();
        let mut out = DMatrix::zeros(self.n_cut_rows(), s * s);
        let mut first = 0;
        for (i, cut) in self.cuts.iter().enumerate() {
            let motion = self.cut_motion(posture, i);
            let gradient = joint::gradient(cut.kind, &motion.d);
            let v: Vec<(Vector6, Vector6)> = (0..s)
                .map(|k| {
                    let v_a = mount_velocity(&cut.a, velocity, s, k);
                    let v_b = mount_velocity(&cut.b, velocity, s, k);
                    (v_a, motion.velocity(&v_a, &v_b))
                })
                .collect();
            for l in 0..s {
                let rate = joint::gradient_rate(cut.kind, &motion.d, &v[l].1);
                for k in 0..s {
                    let column = k * s + l;
                    let a = motion.velocity(
                        &mount_velocity(&cut.a, partial, s * s, column),
                        &mount_velocity(&cut.b, partial, s * s, column),
                    ) + motion.velocity_rate(&v[l].1, &v[k].0);
                    let pairs = gradient.as_slice().iter().zip(rate.as_slice());
                    for (r, (row, row_rate)) in pairs.enumerate() {
                        out[(first + r, column)] =
                            (row.dot(&a) + row_rate.dot(&v[k].1)) / self.row_scale(cut.kind, r);
                    }
                }
            }
            first += gradient.as_slice().len();
        }
        out
    }

    fn gauge_second_order(
        &self,
        posture: &Posture,
        gauge: usize,
        column: usize,
        velocity: &[Vector6],
        partial: &[Vector6],
    ) -> f64 {
        let Gauge::Distance { a, b, .. } = &self.gauges[gauge] else {
            return 0.0;
        };
        let s = self.gauges.len();
        let (k, l) = (column / s, column % s);
        let (fa, fb) = (self.mount_frame(posture, a), self.mount_frame(posture, b));
        let gap = fb.position - fa.position;
        let distance = gap.norm();
        let direction = gap / distance;
        let end = |mount: &Mount, frame: &Frame| -> (Vector3<f64>, Vector3<f64>, Vector3<f64>) {
            let v_k = mount_velocity(mount, velocity, s, k);
            let v_l = mount_velocity(mount, velocity, s, l);
            let a = mount_velocity(mount, partial, s * s, column);
            (
                frame.rotation * linear(&v_k),
                frame.rotation * linear(&v_l),
                frame.rotation * (angular(&v_l).cross(&linear(&v_k)) + linear(&a)),
            )
        };
        let (ka, la, aa) = end(a, &fa);
        let (kb, lb, ab) = end(b, &fb);
        let (w_k, w_l) = (kb - ka, lb - la);
        let turning = (w_l - direction * direction.dot(&w_l)) / distance;
        (direction.dot(&(ab - aa)) + turning.dot(&w_k)) / self.length
    }
}
