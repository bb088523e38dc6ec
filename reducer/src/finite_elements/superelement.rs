//! A condensed body as an element of the full model: energy and inertia over its deformation.
//!
//! The element frame E is that of the first interface. Deformation z = (d_2, …, d_n, q): where the other
//! interfaces are, seen from E, and the modes of the held body. Material points are at y = y⁰ + Φz in E
//! and move with R(y)V_E + Φż, R linear in y, so that the inertia over (V_E, ż) is a polynomial of second
//! degree in z [M 15.4].

use super::body::{FeBody, MassProperties};
use super::condense::Condensed;
use super::picture::Picture;
use crate::lie::Frame;
use faer::Mat;
use nalgebra::{DMatrix, Matrix3, Vector3};
use std::collections::BTreeMap;

/// Constants of a condensed body.
#[derive(Debug, Clone)]
pub struct Superelement {
    /// Names of the interfaces.
    pub names: Vec<String>,
    /// Interface frames in the axes of the mesh.
    pub nodes: Vec<Frame>,
    /// Mass, centre and inertia.
    pub properties: MassProperties,
    /// Frequencies of the kept modes of the held body (Hz).
    pub frequencies_hz: Vec<f64>,
    /// Stiffness over z.
    pub stiffness: DMatrix<f64>,
    /// Inertia over (V_E, ż), undeformed.
    pub constant: DMatrix<f64>,
    /// For every component a of z: R_aᵀM[R_0, Φ], the three rows of rotations.
    pub linear: Vec<DMatrix<f64>>,
    /// For every pair (a, b): R_aᵀMR_b over rotations, row by row.
    pub quadratic: Vec<Matrix3<f64>>,
    /// Its mesh, for pictures.
    pub picture: Picture,
}

impl Superelement {
    /// Number of components of z.
    pub fn n_strains(&self) -> usize {
        self.stiffness.nrows()
    }

    /// Number of modes.
    pub fn n_modes(&self) -> usize {
        self.frequencies_hz.len()
    }

    /// Gathers the constants of a condensed body.
    pub fn new(body: &FeBody, condensed: &Condensed) -> Self {
        let properties = body.mass_properties();
        // Modes with the body's mass as modal mass: their coordinates are lengths.
        let scale = properties.mass.sqrt();
        let n_static = condensed.constraint.ncols() - 6;
        let n = n_static + condensed.omega.len();
        let shapes = Mat::from_fn(body.dofs.len(), n, |i, a| {
            if a < n_static {
                condensed.constraint[(i, 6 + a)]
            } else {
                condensed.modes[(i, a - n_static)] * scale
            }
        });
        let stiffness = DMatrix::from_fn(n, n, |a, b| {
            if a < n_static && b < n_static {
                condensed.stiffness[(6 + a, 6 + b)]
            } else if a == b {
                (condensed.omega[a - n_static] * scale).powi(2)
            } else {
                0.0
            }
        });
        let rigid = body.rigid_motions(&condensed.positions[0]);
        let both = Mat::from_fn(body.dofs.len(), 6 + n, |i, j| {
            if j < 6 {
                rigid[(i, j)]
            } else {
                shapes[(i, j - 6)]
            }
        });
        let momenta = body.mass.times(&both);
        let constant = both.transpose() * &momenta;
        let turned = turned_fields(body, &shapes);
        let linear = turned.transpose() * &momenta;
        let quadratic = turned.transpose() * body.mass.times(&turned);
        Self {
            names: condensed.names.clone(),
            nodes: (condensed.positions.iter())
                .map(|at| Frame::new(Matrix3::identity(), *at))
                .collect(),
            properties,
            frequencies_hz: (condensed.omega.iter())
                .map(|w| w / std::f64::consts::TAU)
                .collect(),
            stiffness,
            constant: DMatrix::from_fn(6 + n, 6 + n, |i, j| {
                0.5 * (constant[(i, j)] + constant[(j, i)])
            }),
            linear: (0..n)
                .map(|a| DMatrix::from_fn(3, 6 + n, |k, j| linear[(3 * a + k, j)]))
                .collect(),
            quadratic: (0..n * n)
                .map(|ab| {
                    let (a, b) = (ab / n, ab % n);
                    Matrix3::from_fn(|k, l| quadratic[(3 * a + k, 3 * b + l)])
                })
                .collect(),
            picture: Picture::new(body, &shapes),
        }
    }
}

/// Fields e_k × Φ_a, column 3a + k.
fn turned_fields(body: &FeBody, shapes: &Mat<f64>) -> Mat<f64> {
    let mut nodes: BTreeMap<u64, [Option<usize>; 3]> = BTreeMap::new();
    for (i, dof) in body.dofs.iter().enumerate() {
        if dof.component <= 3 {
            nodes.entry(dof.node).or_default()[usize::from(dof.component) - 1] = Some(i);
        }
    }
    let mut out = Mat::zeros(body.dofs.len(), 3 * shapes.ncols());
    for a in 0..shapes.ncols() {
        for places in nodes.values() {
            let u = Vector3::from_fn(|c, _| places[c].map_or(0.0, |i| shapes[(i, a)]));
            for k in 0..3 {
                let field = Vector3::ith(k, 1.0).cross(&u);
                for (c, place) in places.iter().enumerate() {
                    if let Some(i) = place {
                        out[(*i, 3 * a + k)] = field[c];
                    }
                }
            }
        }
    }
    out
}
