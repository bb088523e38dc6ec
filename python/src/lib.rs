//! What Python calls: thin classes around the libraries. Documents go over as JSON text, whose numbers read back
//! bit for bit; lists of numbers as buffers. Shapes, broadcasting and what a user sees are in `mechreduce/*.py`.

mod buffers;
mod errors;
mod mechanism;
mod model;
mod rows;
mod simulation;
mod watch;

use pyo3::prelude::*;

/// The part of mechreduce that is not Python.
#[pymodule]
mod _mechreduce {
    #[pymodule_export]
    use super::mechanism::Mechanism;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::simulation::{invert, simulate};
}
