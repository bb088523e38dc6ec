//! Motion in time: what drives a mechanism, and the full and the reduced model driven by it.

pub mod drives;
pub mod excitation;
pub mod signal;
pub mod spline;
