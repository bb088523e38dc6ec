//! Unknowns of the linear solvers: which belong to each node and how they map to its motion.

use super::FullModel;
use super::rows::ConstraintRows;
use crate::lie::{Matrix6, Vector6};
use std::ops::Range;

/// Which unknowns of the solver belong to each node, and how they map to its motion.
#[derive(Debug, Clone)]
pub(crate) struct DofMap {
    first: Vec<usize>,
    bases: Vec<Option<Vec<Vector6>>>,
    n: usize,
    first_scalar: usize,
    length: f64,
}

impl DofMap {
    /// Unknowns of a node.
    pub(crate) fn range(&self, node: usize) -> Range<usize> {
        let count = self.bases[node].as_ref().map_or(6, Vec::len);
        self.first[node]..self.first[node] + count
    }

    fn scale(&self, basis: &Vector6) -> f64 {
        // Rotations are measured as displacements at the characteristic length.
        if basis.fixed_rows::<3>(3).amax() > 0.0 {
            1.0 / self.length
        } else {
            1.0
        }
    }

    /// Coefficients on a node's motion as coefficients on its unknowns.
    pub(crate) fn project<'a>(
        &'a self,
        node: usize,
        values: &'a Vector6,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.range(node).enumerate().map(move |(i, dof)| {
            let value = match &self.bases[node] {
                Some(basis) => basis[i].dot(values) * self.scale(&basis[i]),
                None if i < 3 => values[i],
                None => values[i] / self.length,
            };
            (dof, value)
        })
    }

    /// Number of unknowns.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// First unknown that is a scalar dof.
    pub(crate) fn first_scalar(&self) -> usize {
        self.first_scalar
    }

    /// Motion of a node for a unit value of one of its unknowns.
    pub(crate) fn unit(&self, node: usize, dof: usize) -> Vector6 {
        let i = dof - self.first[node];
        match &self.bases[node] {
            Some(basis) => basis[i] * self.scale(&basis[i]),
            None if i < 3 => Vector6::ith(i, 1.0),
            None => Vector6::ith(i, 1.0 / self.length),
        }
    }

    /// Entries of a 6x6 block between two nodes over the unknowns.
    pub(crate) fn each_entry(
        &self,
        row_node: usize,
        column_node: usize,
        block: &Matrix6,
        mut push: impl FnMut(usize, usize, f64),
    ) {
        for dof in self.range(column_node) {
            let force = block * self.unit(column_node, dof);
            for (i, value) in self.project(row_node, &force) {
                push(i, dof, value);
            }
        }
    }

    /// Entries (row, unknown, value) of sparse rows.
    pub(crate) fn each_row_entry(
        &self,
        rows: &ConstraintRows,
        mut push: impl FnMut(usize, usize, f64),
    ) {
        for entry in &rows.entries {
            for (dof, value) in self.project(entry.node, &entry.values) {
                push(entry.row, dof, value);
            }
        }
        for &(row, scalar, value) in &rows.scalars {
            push(row, self.first_scalar + scalar, value);
        }
    }

    /// Motion of a node from the solver's unknowns.
    pub(crate) fn expand(&self, node: usize, y: &[f64]) -> Vector6 {
        match &self.bases[node] {
            Some(basis) => basis
                .iter()
                .zip(self.range(node))
                .map(|(b, dof)| b * (y[dof] * self.scale(b)))
                .sum(),
            None => {
                let first = self.first[node];
                Vector6::from_fn(|i, _| {
                    if i < 3 {
                        y[first + i]
                    } else {
                        y[first + i] / self.length
                    }
                })
            }
        }
    }
}

impl FullModel {
    pub(crate) fn dof_map(&self) -> DofMap {
        let mut first = Vec::with_capacity(self.nodes.len());
        let mut n = 0;
        for node in &self.nodes {
            first.push(n);
            n += node.basis.as_ref().map_or(6, Vec::len);
        }
        DofMap {
            first,
            bases: self.nodes.iter().map(|node| node.basis.clone()).collect(),
            n: n + self.scalars.len(),
            first_scalar: n,
            length: self.length,
        }
    }
}
