//! A model as a `.mat` file: the arrays of the HDF5 file as one structure, and a function that evaluates it in MATLAB and
//! Octave.

mod level5;

pub(crate) use level5::MARK;
pub use level5::{Value, file};

use crate::WriteError;
use crate::hdf5::{Array, Dataset, arrays};
use reducer::reduced_model::ReducedModel;

/// Name of the function that is written beside a model.
pub const EVALUATE: &str = "evaluate_model.m";
const PROGRAM: &str = include_str!("../../templates/mat/evaluate_model.m");

/// Texts of which there is one.
const SINGLE: [&str; 6] = [
    "layout/name",
    "layout/form",
    "layout/stiffening",
    "provenance/tool",
    "provenance/input_hash",
    "provenance/continuity",
];

/// The model as the variable `model`.
pub fn to_bytes(model: &ReducedModel) -> Result<Vec<u8>, WriteError> {
    model.validate()?;
    let mut groups: Vec<(String, Value)> = vec![
        ("format".to_owned(), Value::number(f64::from(model.format))),
        ("hash".to_owned(), Value::Text(crate::model_hash(model)?)),
    ];
    for (path, dataset) in arrays(model) {
        let (group, name) = path.split_once('/').unwrap_or(("", path));
        let value = (name.to_owned(), value(path, &dataset));
        match groups.last_mut() {
            Some((last, Value::Struct(fields))) if last == group => fields.push(value),
            _ => groups.push((group.to_owned(), Value::Struct(vec![value]))),
        }
    }
    Ok(file(&[("model", Value::Struct(groups))]))
}

/// A name as a field of a structure can have it.
pub fn field(name: &str) -> String {
    let name = crate::code::identifier(name);
    let start = if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        ""
    } else {
        "x"
    };
    format!("{start}{name}").chars().take(31).collect()
}

/// The program that evaluates it.
pub fn program() -> Vec<u8> {
    PROGRAM.as_bytes().to_vec()
}

fn value(path: &str, dataset: &Dataset) -> Value {
    let numbers = |values: &[f64]| match dataset.shape[..] {
        [rows, columns] => Value::matrix(rows as usize, columns as usize, values),
        _ => Value::column(values.to_vec()),
    };
    match &dataset.array {
        Array::Real(values) => numbers(values),
        Array::Integer(values) => {
            let reals: Vec<f64> = values.iter().map(|&v| v as f64).collect();
            numbers(&reals)
        }
        Array::Text(list) => match &list[..] {
            [one] if SINGLE.contains(&path) => Value::Text(one.clone()),
            _ => Value::texts(list),
        },
    }
}
