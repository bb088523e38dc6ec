//! Errors as the exception of the Python side, with the texts of the command line.

use mechreduce::diagnostics::{CommandError, Failure};
use pyo3::prelude::*;
use reducer::reduced_model::EvaluationError;

/// Raises `mechreduce.Error`, which words the faults of a document.
pub fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import("mechreduce._errors")?.getattr("Error")?;
        let text = failure.document()["faults"].to_string();
        Ok(PyErr::from_value(class.call_method1("_of", (text,))?))
    };
    // An exception that cannot be made is itself the one to raise.
    made().unwrap_or_else(|error| error)
}

/// A failure of one command error.
pub fn failure(error: impl Into<CommandError>) -> Failure {
    Failure::one(error.into())
}

/// Raises what an evaluation refused.
pub fn refused(py: Python<'_>, error: EvaluationError) -> PyErr {
    raise(py, &failure(error))
}
