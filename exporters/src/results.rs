//! Results of analyses as named values with what they mean: one list for `.mat` and for HDF5 files.

use crate::mat::{self, Value};
use crate::{WriteError, hdf5};

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name; one that a field of a structure can have.
    pub name: String,
    /// What it holds.
    pub content: Content,
    /// One unit, or that of each element; empty where none applies.
    pub unit: Vec<String>,
    /// What it is, in words.
    pub description: String,
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Numbers; the first index varies fastest.
    Numbers {
        /// Sizes, at least two.
        shape: Vec<usize>,
        /// The numbers.
        values: Vec<f64>,
    },
    /// One text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// Entries of its own.
    Group(Vec<Entry>),
}

impl Entry {
    /// An entry with one unit.
    pub fn new(name: &str, content: Content, unit: &str, description: &str) -> Self {
        Self {
            name: name.to_owned(),
            content,
            unit: vec![unit.to_owned()],
            description: description.to_owned(),
        }
    }

    /// A list of names with the unit of what each stands for.
    pub fn names(name: &str, names: &[String], units: Vec<String>, description: &str) -> Self {
        Self {
            unit: units,
            ..Self::new(name, Content::Texts(names.to_vec()), "", description)
        }
    }

    fn to_mat(&self) -> Value {
        match &self.content {
            Content::Numbers { shape, values } => Value::Numbers {
                shape: shape.clone(),
                values: values.clone(),
            },
            Content::Text(text) => Value::Text(text.clone()),
            Content::Texts(list) => Value::texts(list),
            Content::Group(entries) => structure(entries),
        }
    }
}

impl Content {
    /// A column of numbers.
    pub fn column(values: Vec<f64>) -> Self {
        Self::Numbers {
            shape: vec![values.len(), 1],
            values,
        }
    }

    /// Numbers with the last index varying fastest, as HDF5 has them.
    pub(crate) fn by_rows(shape: &[usize], values: &[f64]) -> Vec<f64> {
        let mut index = vec![0; shape.len()];
        let mut rows = Vec::with_capacity(values.len());
        for _ in values {
            let place = index.iter().zip(shape).rev().fold(0, |p, (i, n)| p * n + i);
            rows.push(values[place]);
            for (i, n) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < *n {
                    break;
                }
                *i = 0;
            }
        }
        rows
    }
}

fn structure(entries: &[Entry]) -> Value {
    let fields = entries.iter().map(|e| (e.name.clone(), e.to_mat()));
    Value::Struct(fields.collect())
}

/// The entries as one structure in a `.mat` file.
pub fn to_mat(name: &str, entries: &[Entry]) -> Vec<u8> {
    mat::file(&[(name, structure(entries))])
}

/// The entries as one group in an HDF5 file, with the same names and shapes; units and descriptions are attributes.
pub fn to_hdf5(name: &str, entries: &[Entry]) -> Result<Vec<u8>, WriteError> {
    hdf5::results(name, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_index_varies_fastest_by_rows() {
        // Entry (i, j, k) of a 2 × 3 × 2 array is 100 i + 10 j + k.
        let mut columns = Vec::new();
        for k in 0..2 {
            for j in 0..3 {
                for i in 0..2 {
                    columns.push(f64::from(100 * i + 10 * j + k));
                }
            }
        }
        let rows = Content::by_rows(&[2, 3, 2], &columns);
        let mut expected = columns.clone();
        expected.sort_by(f64::total_cmp);
        assert_eq!(rows, expected);
        assert_ne!(rows, columns);
        assert!(Content::by_rows(&[0, 4], &[]).is_empty());
    }
}
