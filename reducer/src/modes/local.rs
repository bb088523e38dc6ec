//! All local modes at one configuration, in the order θ, γ, ι, with their derivatives along θ.

use super::filtered::{Gauged, filtered};
use super::{Linearised, ModesError, Reference};
use crate::description::mechanism::Gauge;
use crate::model::rows::{mount_frame, mount_velocity, point_row, point_row_rate};
use faer::Mat;
use nalgebra::Vector3;

/// Local modes Ψ and ∂Ψ/∂θ.
#[derive(Debug, Clone)]
pub struct LocalModes {
    /// One column per generalised coordinate.
    pub shapes: Mat<f64>,
    /// ∂_l of the shapes.
    pub derivatives: Vec<Mat<f64>>,
    /// Smallest singular value of the gauge's overlap; 1 without internal modes.
    pub overlap: f64,
}

impl LocalModes {
    /// Rigid modes alone.
    pub fn rigid(at: &Linearised<'_>) -> Self {
        Self {
            shapes: at.rigid.clone(),
            derivatives: at.rigid_derivative.clone(),
            overlap: 1.0,
        }
    }

    /// Rigid, constraint or attachment, and internal modes.
    pub fn new(
        at: &Linearised<'_>,
        reference: &Reference,
        gauge: Gauge,
    ) -> Result<Self, ModesError> {
        let s = at.velocities.len();
        let n_loaded = at.model.loaded.len();
        let n_internal = reference.shapes.ncols();
        let internal = if n_internal > 0 {
            match gauge {
                Gauge::Filtered { power } => filtered(at, reference, power)?,
                Gauge::Subspace => super::eigen_gauges::subspace(at, reference)?,
                Gauge::Track => super::eigen_gauges::track(at, reference)?,
            }
        } else {
            Gauged {
                shapes: Mat::zeros(at.model.n_motion(), 0),
                derivatives: (0..s).map(|_| Mat::zeros(at.model.n_motion(), 0)).collect(),
                overlap: 1.0,
            }
        };
        let (loaded, loaded_derivatives) = loaded_modes(at, &internal)?;
        let join = |rigid: &Mat<f64>, loaded: &Mat<f64>, internal: &Mat<f64>| {
            Mat::from_fn(rigid.nrows(), s + n_loaded + n_internal, |i, j| {
                if j < s {
                    rigid[(i, j)]
                } else if j < s + n_loaded {
                    loaded[(i, j - s)]
                } else {
                    internal[(i, j - s - n_loaded)]
                }
            })
        };
        Ok(Self {
            shapes: join(&at.rigid, &loaded, &internal.shapes),
            derivatives: (0..s)
                .map(|l| {
                    join(
                        &at.rigid_derivative[l],
                        &loaded_derivatives[l],
                        &internal.derivatives[l],
                    )
                })
                .collect(),
            overlap: internal.overlap,
        })
    }
}

/// Static shapes of loaded dofs: unit displacement, or unit force less what internal modes carry.
fn loaded_modes(
    at: &Linearised<'_>,
    internal: &Gauged,
) -> Result<(Mat<f64>, Vec<Mat<f64>>), ModesError> {
    let model = at.model;
    let s = at.velocities.len();
    let n = model.loaded.len();
    let rows = at.rows.n_rows;
    let n_fixed = model.loaded.iter().filter(|l| l.fixed).count();
    let mut f = Mat::zeros(model.n_motion(), n);
    let mut df: Vec<Mat<f64>> = (0..s).map(|_| f.clone()).collect();
    let mut g = Mat::zeros(rows, n);
    let mut fixed_row = rows - n_fixed;
    for (j, loaded) in model.loaded.iter().enumerate() {
        if loaded.fixed {
            g[(fixed_row, j)] = 1.0;
            fixed_row += 1;
            continue;
        }
        let Some(node) = loaded.at.node else { continue };
        let frame = mount_frame(&loaded.at, &at.frames);
        let row = point_row(&loaded.at, &frame, &loaded.direction);
        for i in 0..6 {
            f[(6 * node + i, j)] = row[i];
        }
        for (l, d) in df.iter_mut().enumerate() {
            let v = mount_velocity(&loaded.at, &at.velocities[l]);
            let rate = point_row_rate(&loaded.at, &frame, &v, &loaded.direction, &Vector3::zeros());
            for i in 0..6 {
                d[(6 * node + i, j)] = rate[i];
            }
        }
    }
    if n == 0 {
        return Ok((f, df));
    }
    let (mut shapes, lambda) = at.static_response(&f, Some(&g))?;
    let mut derivatives = Vec::with_capacity(s);
    for (l, d) in df.into_iter().enumerate() {
        derivatives.push(at.static_response_rate(l, d, &shapes, &lambda)?.0);
    }
    // Attachment shapes are kept mass-orthogonal to the internal modes, which already contain
    // most of them.
    let mass_internal = model.mass_times(&internal.shapes);
    for j in (0..n).filter(|&j| !model.loaded[j].fixed) {
        let shape = Mat::from_fn(shapes.nrows(), 1, |i, _| shapes[(i, j)]);
        let c = mass_internal.transpose() * &shape;
        let reduced = &shape - &internal.shapes * &c;
        for (l, d) in derivatives.iter_mut().enumerate() {
            let rate = Mat::from_fn(shape.nrows(), 1, |i, _| d[(i, j)]);
            let mass_rate = model.mass_times(&internal.derivatives[l]);
            let dc = mass_internal.transpose() * &rate + mass_rate.transpose() * &shape;
            let new = rate - &internal.derivatives[l] * &c - &internal.shapes * &dc;
            for i in 0..new.nrows() {
                d[(i, j)] = new[(i, 0)];
            }
        }
        for i in 0..reduced.nrows() {
            shapes[(i, j)] = reduced[(i, 0)];
        }
    }
    Ok((shapes, derivatives))
}
