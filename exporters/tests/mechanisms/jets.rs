//! Derivatives of the stored motion of the outputs, straight from the coefficients of a model.

use crate::points::used;
use reducer::reduced_model::{Component, ReducedModel};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Stored functions of the outputs and their derivatives by θ at one configuration.
pub struct Jets<'m> {
    model: &'m ReducedModel,
    index: usize,
    /// Derivatives of Chebyshev polynomials by θ: order, coordinate, degree.
    basis: [Vec<Vec<f64>>; 4],
    known: RefCell<BTreeMap<Vec<usize>, Vec<f64>>>,
}

impl<'m> Jets<'m> {
    /// None in a region without a model.
    pub fn new(model: &'m ReducedModel, theta: &[f64]) -> Option<Self> {
        let (theta, index) = used(model, theta);
        let index = index?;
        let b = &model.boxes[index];
        let basis = [0, 1, 2, 3].map(|order| {
            let of = |k: usize| {
                let half = 0.5 * (b.upper[k] - b.lower[k]);
                let xi = (theta[k] - 0.5 * (b.upper[k] + b.lower[k])) / half;
                let degrees = b.outputs.terms.iter().map(|t| usize::from(t[k]));
                derivatives(xi, order, degrees.max().unwrap_or(0))
                    .iter()
                    .map(|d| d / half.powi(order as i32))
                    .collect()
            };
            (0..theta.len()).map(of).collect()
        });
        Some(Self {
            model,
            index,
            basis,
            known: RefCell::default(),
        })
    }

    /// The derivative of every column, `orders` times by each coordinate.
    fn columns(&self, orders: &[usize]) -> Vec<f64> {
        if let Some(known) = self.known.borrow().get(orders) {
            return known.clone();
        }
        let table = &self.model.boxes[self.index].outputs;
        let count = self.model.components.outputs.len();
        let mut out = vec![0.0; count];
        for (term, row) in table
            .terms
            .iter()
            .zip(table.coefficients.chunks(count.max(1)))
        {
            let factor = |(k, degree): (usize, &u8)| self.basis[orders[k]][k][usize::from(*degree)];
            let product: f64 = term.iter().enumerate().map(factor).product();
            for (sum, c) in out.iter_mut().zip(row) {
                *sum += product * c;
            }
        }
        self.known.borrow_mut().insert(orders.to_vec(), out.clone());
        out
    }

    /// Derivative of the rows of an output's position by all coordinates, 3×N, differentiated
    /// again by each θ of `by`.
    pub fn jacobian(&self, output: usize, eta: &[f64], by: &[usize]) -> Vec<f64> {
        let (n, s) = (eta.len(), self.model.layout.n_rigid);
        let mut out = vec![0.0; 3 * n];
        for k in 0..s {
            for (axis, d, value) in self.parts(output, &[by, &[k]].concat()) {
                out[axis * n + k] += value * d.map_or(1.0, |d| eta[d]);
            }
        }
        for (axis, d, value) in self.parts(output, by) {
            if let Some(d) = d {
                out[axis * n + d] += value;
            }
        }
        out
    }

    /// Acceleration of an output without accelerations of coordinates, differentiated by each θ of
    /// `by`.
    pub fn bias(&self, output: usize, eta: &[f64], rate: &[f64], by: &[usize]) -> [f64; 3] {
        let s = self.model.layout.n_rigid;
        let mut out = [0.0; 3];
        for k in 0..s {
            for l in 0..s {
                for (axis, d, value) in self.parts(output, &[by, &[k, l]].concat()) {
                    out[axis] += value * rate[k] * rate[l] * d.map_or(1.0, |d| eta[d]);
                }
            }
            for (axis, d, value) in self.parts(output, &[by, &[k]].concat()) {
                out[axis] += d.map_or(0.0, |d| 2.0 * value * rate[k] * rate[d]);
            }
        }
        out
    }

    /// Axis, modal coordinate (none: the undeformed position) and derivative of what moves a point.
    fn parts(&self, output: usize, by: &[usize]) -> Vec<(usize, Option<usize>, f64)> {
        let mut orders = vec![0; self.model.layout.n_rigid];
        for &k in by {
            orders[k] += 1;
        }
        let columns = self.columns(&orders);
        let lists = &self.model.components;
        let stored = lists.outputs.iter().copied().zip(columns);
        let constants = lists.constants.iter().map(|c| (c.component, c.value));
        let constants = constants.filter(|_| by.is_empty());
        stored
            .chain(constants)
            .filter_map(|(component, value)| match component {
                Component::Position { output: o, axis } if o == output => Some((axis, None, value)),
                Component::Amplitude {
                    output: o,
                    row,
                    coordinate,
                } if o == output && row < 3 => Some((row, Some(coordinate), value)),
                _ => None,
            })
            .collect()
    }
}

/// Derivatives of an order of the Chebyshev polynomials up to a degree.
fn derivatives(x: f64, order: usize, degree: usize) -> Vec<f64> {
    let mut lower = vec![0.0; degree + 2];
    for m in 0..=order {
        let mut value = vec![0.0; degree + 2];
        value[0] = if m == 0 { 1.0 } else { 0.0 };
        value[1] = [x, 1.0].get(m).copied().unwrap_or(0.0);
        for i in 2..=degree {
            value[i] = 2.0 * x * value[i - 1] - value[i - 2] + 2.0 * m as f64 * lower[i - 1];
        }
        lower = value;
    }
    lower
}
