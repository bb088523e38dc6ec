//! Shapes of the elastic modes along each coordinate.

use crate::lie::{Vector6, angular, linear};
use crate::reduced_model::Domain;
use crate::reduction::LocalReducer;
use rayon::prelude::*;
use serde::Serialize;

/// Places along the only coordinate.
const ALONG_ONE: usize = 33;
/// Places along each of several coordinates.
const ALONG_MANY: usize = 5;

/// Shapes of constraint, attachment and internal modes: displacement and rotation of every node in the
/// axes of its undeformed body, in the order of the skeleton. The gauge makes them smooth, so that they can be interpolated.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ModeShapes {
    /// Number of modes.
    pub modes: usize,
    /// At the base point, `[mode][node][6]`; empty without elastic modes.
    pub base: Vec<f64>,
    /// Along each coordinate through the base point.
    pub axes: Vec<AxisShapes>,
}

/// Shapes along one coordinate.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AxisShapes {
    /// Values of the coordinate, ascending.
    pub places: Vec<f64>,
    /// One list as [`ModeShapes::base`] for each place.
    pub shapes: Vec<Vec<f64>>,
}

impl ModeShapes {
    pub(super) fn sample(
        reducer: &LocalReducer,
        domain: &Domain,
        base: &[f64],
        theta_of: &(dyn Fn(&[f64]) -> Vec<f64> + Sync),
    ) -> Self {
        let modes = reducer.n() - reducer.n_rigid();
        let at_base = (modes > 0)
            .then(|| shapes(reducer, &theta_of(base)))
            .flatten();
        let Some(at_base) = at_base else {
            return Self::default();
        };
        let count = if base.len() == 1 {
            ALONG_ONE
        } else {
            ALONG_MANY
        };
        let places: Vec<(usize, f64)> = (0..base.len())
            .flat_map(|k| {
                let width = domain.upper[k] - domain.lower[k];
                let step = width / (count - 1) as f64;
                (0..count).map(move |i| (k, domain.lower[k] + step * i as f64))
            })
            .collect();
        let found: Vec<Option<Vec<f64>>> = places
            .par_iter()
            .map(|&(k, value)| {
                let mut point = base.to_vec();
                point[k] = value;
                shapes(reducer, &theta_of(&point))
            })
            .collect();
        let mut axes = vec![AxisShapes::default(); base.len()];
        for ((k, value), shapes) in places.into_iter().zip(found) {
            if let Some(shapes) = shapes {
                axes[k].places.push(value);
                axes[k].shapes.push(shapes);
            }
        }
        Self {
            modes,
            base: at_base,
            axes,
        }
    }
}

/// All elastic shapes at θ; none where the mechanism cannot be reduced.
fn shapes(reducer: &LocalReducer, theta: &[f64]) -> Option<Vec<f64>> {
    let configuration = reducer.kinematics().solve(theta).ok()?;
    let at = reducer.linearise(&configuration).ok()?;
    let modes = reducer.modes(&at).ok()?;
    let nodes = &reducer.model().nodes;
    let bodies = reducer.model().pictured();
    let outlines: Vec<_> = bodies.iter().map(|b| (b, b.outline().0)).collect();
    let mut out = Vec::with_capacity(6 * nodes.len() * (reducer.n() - reducer.n_rigid()));
    for mode in reducer.n_rigid()..reducer.n() {
        for (i, node) in nodes.iter().enumerate() {
            let motion = Vector6::from_fn(|row, _| modes.shapes[(6 * i + row, mode)]);
            out.extend((node.local.rotation * linear(&motion)).iter());
            out.extend((node.local.rotation * angular(&motion)).iter());
        }
        for (body, points) in &outlines {
            let motion = body.motion(modes.shapes.col_as_slice(mode));
            for point in points {
                // A point of a drawing carries nothing that would turn.
                out.extend(motion.of(*point).iter().chain(&[0.0; 3]));
            }
        }
    }
    Some(out)
}
