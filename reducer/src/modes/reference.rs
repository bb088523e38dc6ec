//! Reference shapes of the gauge: the selected internal modes at one configuration.

use super::{Linearised, ModesError};
use crate::description::mechanism::{InternalModes, Plane};
use crate::lie::Frame;
use crate::linalg::symmetric_eigen;
use crate::model::plane_normal;
use crate::spectrum::{NaturalModes, lowest_modes};
use faer::Mat;
use nalgebra::Vector3;

/// Part of a mode's kinetic energy that must lie in (or across) a plane for its symmetry class.
const PURE: f64 = 0.999;
/// Frequencies nearer than this (relative) belong to one eigenspace, in which any basis is as good.
const EQUAL: f64 = 1e-7;

/// Shapes X_ref towards which internal modes are turned at every configuration.
#[derive(Debug, Clone)]
pub struct Reference {
    /// One column per internal mode, largest displacement positive.
    pub shapes: Mat<f64>,
    /// Mass times shapes.
    pub mass_shapes: Mat<f64>,
    /// Angular frequencies at the reference configuration.
    pub omega: Vec<f64>,
    /// Positions of the shapes among all modes in ascending frequency.
    pub indices: Vec<usize>,
    /// How they were selected.
    pub selection: InternalModes,
}

/// Internal modes of the model as constrained in `at`.
pub fn internal_modes(at: &Linearised<'_>, count: usize) -> Result<NaturalModes, ModesError> {
    if count == 0 {
        return Ok(NaturalModes {
            omega: Vec::new(),
            shapes: Mat::zeros(at.model.n_motion(), 0),
            complete: false,
        });
    }
    lowest_modes::<ModesError>(
        at.model.n_motion(),
        count,
        &|q| at.model.mass_times(q),
        &|f| Ok(at.static_response(f, None)?.0),
    )
}

impl Reference {
    /// No internal modes.
    pub fn empty(n_motion: usize) -> Self {
        Self {
            shapes: Mat::zeros(n_motion, 0),
            mass_shapes: Mat::zeros(n_motion, 0),
            omega: Vec::new(),
            indices: Vec::new(),
            selection: InternalModes::Lowest(0),
        }
    }

    /// Selects modes at the reference configuration `at`.
    pub fn select(at: &Linearised<'_>, wanted: &InternalModes) -> Result<Self, ModesError> {
        let (modes, indices) = match wanted {
            InternalModes::Lowest(count) => {
                (internal_modes(at, *count)?, (0..*count).collect::<Vec<_>>())
            }
            InternalModes::Select(list) => {
                let count = list.iter().max().map_or(0, |m| m + 1);
                (internal_modes(at, count)?, list.clone())
            }
            InternalModes::InPlane(plane, count) => of_class(at, *plane, *count, true)?,
            InternalModes::OutOfPlane(plane, count) => of_class(at, *plane, *count, false)?,
        };
        let wanted_modes = indices.iter().max().map_or(0, |largest| largest + 1);
        if wanted_modes > modes.omega.len() {
            return Err(ModesError::TooFewModes {
                wanted: wanted_modes,
                found: modes.omega.len(),
            });
        }
        let mut shapes = Mat::zeros(modes.shapes.nrows(), indices.len());
        for (j, &index) in indices.iter().enumerate() {
            let column = modes.shapes.col_as_slice(index);
            let sign = largest_displacement(column, at.model.nodes.len()).signum();
            for (to, from) in shapes.col_as_slice_mut(j).iter_mut().zip(column) {
                *to = sign * from;
            }
        }
        Ok(Self {
            mass_shapes: at.model.mass_times(&shapes),
            shapes,
            omega: indices.iter().map(|&i| modes.omega[i]).collect(),
            indices,
            selection: wanted.clone(),
        })
    }
}

/// The displacement of largest size, by its sign (the first of equal ones).
fn largest_displacement(motion: &[f64], n_nodes: usize) -> f64 {
    let mut best = 0.0_f64;
    for node in 0..n_nodes {
        for value in &motion[6 * node..6 * node + 3] {
            if value.abs() > best.abs() * (1.0 + 1e-9) {
                best = *value;
            }
        }
    }
    if best == 0.0 { 1.0 } else { best }
}

/// The lowest modes that move in (or across) a plane only.
fn of_class(
    at: &Linearised<'_>,
    plane: Plane,
    wanted: usize,
    in_plane: bool,
) -> Result<(NaturalModes, Vec<usize>), ModesError> {
    let mut count = 2 * wanted + 2;
    loop {
        let modes = separated(at, internal_modes(at, count)?, plane)?;
        let indices: Vec<usize> = (0..modes.omega.len())
            .filter(|&i| {
                let part = in_plane_energy(at, &modes.shapes, i, plane);
                if in_plane {
                    part > PURE
                } else {
                    part < 1.0 - PURE
                }
            })
            .take(wanted)
            .collect();
        if indices.len() == wanted {
            return Ok((modes, indices));
        }
        if modes.omega.len() < count {
            return Err(ModesError::TooFewModes {
                wanted,
                found: indices.len(),
            });
        }
        count *= 2;
    }
}

/// The same modes, with those of equal frequency turned so that each moves as purely as possible in
/// or across a plane: where both bending stiffnesses are equal, the eigenproblem itself mixes them.
pub(crate) fn separated(
    at: &Linearised<'_>,
    mut modes: NaturalModes,
    plane: Plane,
) -> Result<NaturalModes, ModesError> {
    let mut first = 0;
    while first < modes.omega.len() {
        let limit = modes.omega[first] * (1.0 + EQUAL);
        let count = modes.omega[first..].partition_point(|w| *w <= limit);
        if count > 1 {
            let shapes = Mat::from_fn(modes.shapes.nrows(), count, |i, j| {
                modes.shapes[(i, first + j)]
            });
            let part = plane_part(at, &shapes, plane);
            let energy = part.transpose() * &at.model.mass_times(&part);
            let (_, turn) = symmetric_eigen(&energy).ok_or(ModesError::EigenproblemFailed)?;
            let turned = shapes * turn;
            for j in 0..count {
                let to = modes.shapes.col_as_slice_mut(first + j);
                to.copy_from_slice(turned.col_as_slice(j));
            }
        }
        first += count;
    }
    Ok(modes)
}

/// Part of the kinetic energy of a mode of unit modal mass that lies in a plane.
pub fn in_plane_energy(at: &Linearised<'_>, shapes: &Mat<f64>, mode: usize, plane: Plane) -> f64 {
    let shape = Mat::from_fn(shapes.nrows(), 1, |i, _| shapes[(i, mode)]);
    let part = plane_part(at, &shape, plane);
    let image = at.model.mass_times(&part);
    part.col_as_slice(0)
        .iter()
        .zip(image.col_as_slice(0))
        .map(|(a, b)| a * b)
        .sum()
}

/// What of motions lies in a plane, node by node.
fn plane_part(at: &Linearised<'_>, shapes: &Mat<f64>, plane: Plane) -> Mat<f64> {
    let normal = plane_normal(plane);
    let mut part = Mat::zeros(shapes.nrows(), shapes.ncols());
    for j in 0..shapes.ncols() {
        let column = shapes.col_as_slice(j);
        for (node, frame) in at.frames.iter().enumerate() {
            let (u, phi) = in_plane_part(frame, &normal, &column[6 * node..6 * node + 6]);
            for i in 0..3 {
                part[(6 * node + i, j)] = u[i];
                part[(6 * node + 3 + i, j)] = phi[i];
            }
        }
    }
    part
}

fn in_plane_part(
    frame: &Frame,
    normal: &Vector3<f64>,
    motion: &[f64],
) -> (Vector3<f64>, Vector3<f64>) {
    let n = frame.rotation.tr_mul(normal);
    let u = Vector3::from_column_slice(&motion[..3]);
    let phi = Vector3::from_column_slice(&motion[3..]);
    (u - n * n.dot(&u), n * n.dot(&phi))
}
