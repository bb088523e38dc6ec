//! The full model: frames, elements, joints and their sparse operators.

pub mod beam;
pub mod joint;
