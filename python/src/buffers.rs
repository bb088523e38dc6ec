//! Lists of numbers from and to numpy, through the buffer protocol.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The numbers of a contiguous array, copied: Python may change them while they are worked with.
pub fn numbers(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    PyBuffer::<f64>::get(array)?.to_vec(py)
}

/// Fills a contiguous array of the same length.
pub fn fill<T: Element + Copy>(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    values: &[T],
) -> PyResult<()> {
    PyBuffer::<T>::get(array)?.copy_from_slice(py, values)
}

/// The number of rows of `width` numbers; all lists must have the same.
pub fn rows(lists: &[(&[f64], usize)]) -> PyResult<usize> {
    let count = |(list, width): &(&[f64], usize)| match *width {
        0 => 0,
        width => list.len() / width,
    };
    let rows = lists.iter().map(count).max().unwrap_or(0);
    match lists.iter().all(|(list, width)| list.len() == rows * width) {
        true => Ok(rows),
        false => Err(PyValueError::new_err("lists of different lengths")),
    }
}
