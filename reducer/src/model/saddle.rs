//! The static operator of the constrained model: one sparse factorisation per configuration.
//!
//! [K Cᵀ; C 0] with K of beams, flexible actuators and springs, and C the rows of joints, actuated
//! coordinates and fixed loaded dofs. Unknowns are scaled by a length and the stiffness by its
//! largest entry, so that pivoting compares like with like.

use super::FullModel;
use super::dofs::DofMap;
use super::rows::ConstraintRows;
use super::springs::SpringState;
use crate::lie::Vector6;
use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{Argsort, Pair, SparseColMat, SymbolicSparseColMat};
use faer::{Conj, Mat};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use thiserror::Error;

/// Why the static operator could not be factorised.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum SaddleError {
    #[error(
        "the constrained model is singular: something can still move with all actuators locked"
    )]
    Singular,
    #[error("the constrained model is too large for its index type")]
    TooLarge,
}

/// Pattern and constants of the operator; made once, used at every configuration.
#[derive(Debug, Clone)]
pub struct Saddle {
    map: DofMap,
    n_nodes: usize,
    n_motion: usize,
    n_rows: usize,
    scale: f64,
    row_scale: Vec<f64>,
    constant: Vec<f64>,
    pattern: SymbolicSparseColMat<usize>,
    order: Argsort<usize>,
    symbolic: SymbolicLu<usize>,
    /// Factorisations so far, on all threads.
    count: Arc<AtomicUsize>,
}

/// A factorised operator.
pub struct Factor<'a> {
    saddle: &'a Saddle,
    lu: Lu<usize, f64>,
}

impl Saddle {
    /// Prepares the pattern from rows and springs at any configuration.
    pub fn new(
        model: &FullModel,
        rows: &ConstraintRows,
        springs: &[SpringState],
    ) -> Result<Self, SaddleError> {
        let map = model.dof_map();
        let mut places = Vec::new();
        let mut constant = Vec::new();
        elastic_entries(model, &map, |i, j, value| {
            places.push(Pair::new(i, j));
            constant.push(value);
        });
        let scale = constant.iter().fold(0.0_f64, |m, v: &f64| m.max(v.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        constant.iter_mut().for_each(|v| *v /= scale);
        let mut row_scale = vec![0.0_f64; rows.n_rows];
        map.each_row_entry(rows, |r, _, value| {
            row_scale[r] = row_scale[r].max(value.abs());
        });
        row_scale
            .iter_mut()
            .for_each(|v| *v = if *v > 0.0 { 1.0 / *v } else { 1.0 });
        spring_entries(&map, springs, |i, j, _| places.push(Pair::new(i, j)));
        map.each_row_entry(rows, |r, dof, _| {
            places.push(Pair::new(map.len() + r, dof));
            places.push(Pair::new(dof, map.len() + r));
        });
        let n = map.len() + rows.n_rows;
        let (pattern, order) = SymbolicSparseColMat::try_new_from_indices(n, n, &places)
            .map_err(|_| SaddleError::TooLarge)?;
        let symbolic = SymbolicLu::try_new(pattern.as_ref()).map_err(|_| SaddleError::TooLarge)?;
        Ok(Self {
            n_nodes: model.nodes.len(),
            n_motion: model.n_motion(),
            n_rows: rows.n_rows,
            map,
            scale,
            row_scale,
            constant,
            pattern,
            order,
            symbolic,
            count: Arc::default(),
        })
    }

    /// Number of unknowns less constraints: the freedoms of the constrained model.
    pub fn n_free(&self) -> usize {
        self.map.len().saturating_sub(self.n_rows)
    }

    /// Largest stiffness between two unknowns.
    pub fn stiffness_scale(&self) -> f64 {
        self.scale
    }

    /// Number of factorisations so far: a measure of work that is equal for any number of threads.
    pub fn n_factorisations(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Factorises the operator at a configuration.
    pub fn factor(
        &self,
        rows: &ConstraintRows,
        springs: &[SpringState],
    ) -> Result<Factor<'_>, SaddleError> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut values = self.constant.clone();
        spring_entries(&self.map, springs, |_, _, value| {
            values.push(value / self.scale);
        });
        self.map.each_row_entry(rows, |r, _, value| {
            let scaled = value * self.row_scale[r];
            values.push(scaled);
            values.push(scaled);
        });
        let matrix = SparseColMat::new_from_argsort(self.pattern.clone(), &self.order, &values)
            .map_err(|_| SaddleError::TooLarge)?;
        let lu = Lu::try_new_with_symbolic(self.symbolic.clone(), matrix.as_ref())
            .map_err(|_| SaddleError::Singular)?;
        Ok(Factor { saddle: self, lu })
    }
}

impl Factor<'_> {
    /// Motions q and multipliers λ of K·q + Cᵀλ = f, C·q = g, column by column [M 4.2].
    pub fn solve(
        &self,
        f: &Mat<f64>,
        g: Option<&Mat<f64>>,
    ) -> Result<(Mat<f64>, Mat<f64>), SaddleError> {
        let s = self.saddle;
        let columns = f.ncols();
        let mut rhs = Mat::zeros(s.map.len() + s.n_rows, columns);
        for column in 0..columns {
            let from = f.col_as_slice(column);
            let to = rhs.col_as_slice_mut(column);
            for node in 0..s.n_nodes {
                let values = Vector6::from_column_slice(&from[6 * node..6 * node + 6]);
                for (dof, value) in s.map.project(node, &values) {
                    to[dof] = value / s.scale;
                }
            }
            for i in 6 * s.n_nodes..s.n_motion {
                to[s.map.first_scalar() + i - 6 * s.n_nodes] = from[i] / s.scale;
            }
            if let Some(g) = g {
                for r in 0..s.n_rows {
                    to[s.map.len() + r] = g[(r, column)] * s.row_scale[r];
                }
            }
        }
        self.lu.solve_in_place_with_conj(Conj::No, rhs.as_mut());
        let mut q = Mat::zeros(s.n_motion, columns);
        let mut lambda = Mat::zeros(s.n_rows, columns);
        for column in 0..columns {
            let y = rhs.col_as_slice(column);
            let out = q.col_as_slice_mut(column);
            for node in 0..s.n_nodes {
                let v = s.map.expand(node, y);
                out[6 * node..6 * node + 6].copy_from_slice(v.as_slice());
            }
            for i in 6 * s.n_nodes..s.n_motion {
                out[i] = y[s.map.first_scalar() + i - 6 * s.n_nodes];
            }
            for r in 0..s.n_rows {
                lambda[(r, column)] = y[s.map.len() + r] * s.scale * s.row_scale[r];
            }
        }
        if (0..columns).any(|c| q.col_as_slice(c).iter().any(|v| !v.is_finite())) {
            return Err(SaddleError::Singular);
        }
        Ok((q, lambda))
    }
}

/// Entries of K of elements and flexible actuators over the solver's unknowns.
fn elastic_entries(model: &FullModel, map: &DofMap, mut push: impl FnMut(usize, usize, f64)) {
    for placed in &model.placed {
        placed.each_entry(map, model.element(placed).stiffness(), &mut push);
    }
    for (i, (stiffness, _)) in model.scalars.iter().enumerate() {
        let dof = map.first_scalar() + i;
        push(dof, dof, *stiffness);
    }
}

fn spring_entries(map: &DofMap, springs: &[SpringState], mut push: impl FnMut(usize, usize, f64)) {
    for spring in springs {
        let mut flat = Vec::new();
        map.each_row_entry(&spring.row, |_, dof, value| flat.push((dof, value)));
        for &(i, a) in &flat {
            for &(j, b) in &flat {
                push(i, j, spring.stiffness * a * b);
            }
        }
    }
}
