//! Motion in time: what drives a mechanism, and the full and the reduced model driven by it.

pub mod along;
pub mod comparison;
pub mod control;
pub mod deflection;
pub mod drives;
pub mod excitation;
pub mod full;
pub mod inversion;
pub mod linear;
pub mod observer;
pub mod record;
pub mod reduced;
pub mod scenario;
pub mod signal;
pub mod spline;
