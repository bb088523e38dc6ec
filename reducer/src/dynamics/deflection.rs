//! The rigid mechanism, relative to which points deflect.

use crate::lie::Frame;
use crate::model::rows::mount_frame;
use crate::reduction::{LocalReducer, ReductionError};

/// Frames of the outputs of the undeformed mechanism at θ, in the order of the mechanism.
pub fn rigid_outputs(reducer: &LocalReducer, theta: &[f64]) -> Result<Vec<Frame>, ReductionError> {
    let configuration = reducer.kinematics().solve(theta)?;
    let model = reducer.model();
    let frames = model.node_frames(&configuration.frames);
    let mounts = model.outputs.iter();
    Ok(mounts.map(|mount| mount_frame(mount, &frames)).collect())
}
