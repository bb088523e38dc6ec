//! Coefficients of one box, and how files hold them.

use super::Functions;
use super::validate::{Checked, finite, limits, require};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Numbers of a table, at most, zeros included.
const LARGEST: usize = 4_000_000;

/// Coefficients of products of Chebyshev polynomials. Every component has terms of its own: a coefficient
/// that is zero is not stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Table {
    /// Degrees of each term that any component has, one per θ; graded order.
    pub terms: Vec<Vec<u8>>,
    /// Coefficients, `[term][component]`, contiguous across components; zero where a component does not
    /// have the term.
    pub coefficients: Vec<f64>,
}

impl Table {
    /// Sizes, finite numbers and terms that are allowed.
    pub(super) fn validate(
        &self,
        place: &str,
        functions: &[Functions],
        n_components: usize,
    ) -> Checked {
        let expected = self.terms.len().checked_mul(n_components);
        let found = self.coefficients.len();
        require(
            Some(found) == expected,
            place,
            found,
            format!("{} terms times {n_components} components", self.terms.len()),
        )?;
        finite(&self.coefficients, place)?;
        // Waves are numbered with a cosine and a sine each.
        let largest = |f: &Functions| match f {
            Functions::Polynomials => limits::DEGREE,
            Functions::Waves => 2 * limits::DEGREE,
        };
        let largest: Vec<u8> = functions.iter().map(largest).collect();
        let mut seen = BTreeSet::new();
        for term in &self.terms {
            let proper =
                term.len() == largest.len() && term.iter().zip(&largest).all(|(d, l)| d <= l);
            require(
                proper,
                place,
                format!("degrees {term:?}"),
                format!("degrees up to {largest:?}"),
            )?;
            require(
                seen.insert(term),
                place,
                format!("degrees {term:?} twice"),
                "distinct terms",
            )?;
        }
        Ok(())
    }

    /// Number of coefficients that are stored: those that are not zero.
    pub fn stored(&self) -> usize {
        self.coefficients.iter().filter(|c| **c != 0.0).count()
    }

    /// Some of `n_components` columns, with the terms that these have.
    pub(crate) fn of_columns(&self, n_components: usize, columns: &[usize]) -> Self {
        let rows = self.coefficients.chunks_exact(n_components.max(1));
        Self {
            terms: self.terms.clone(),
            coefficients: rows
                .flat_map(|row| columns.iter().map(|&c| row[c]))
                .collect(),
        }
        .without_zero_terms(columns.len())
    }

    /// The table of `n_components` without terms that have no coefficient, but for the first one if none has.
    pub(crate) fn without_zero_terms(self, n_components: usize) -> Self {
        let mut kept = Self {
            terms: Vec::new(),
            coefficients: Vec::new(),
        };
        let rows = self.coefficients.chunks_exact(n_components.max(1));
        let nothing = self.stored() == 0;
        for (m, (term, row)) in self.terms.into_iter().zip(rows).enumerate() {
            if row.iter().any(|c| *c != 0.0) || (nothing && m == 0) {
                kept.terms.push(term);
                kept.coefficients.extend(row);
            }
        }
        kept
    }
}

/// Coefficients of products of Chebyshev polynomials, without zeros.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Table")]
struct Stored {
    /// Number of components.
    components: usize,
    /// Degrees of each term that any component has, one per θ; graded order.
    terms: Vec<Vec<u8>>,
    /// Of each term the components that have it, ascending; absent where all have all terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<Vec<u32>>>,
    /// Coefficients of the first term, in the order of its components, then of the second, and so on.
    coefficients: Vec<f64>,
}

impl From<Table> for Stored {
    fn from(table: Table) -> Self {
        let components = table.coefficients.len() / table.terms.len().max(1);
        let rows = || table.coefficients.chunks_exact(components.max(1));
        let is_stored = |c: &f64| c.to_bits() != 0;
        let kept = |row: &[f64]| {
            let places = (0..).zip(row).filter(|(_, c)| is_stored(c));
            places.map(|(place, _)| place).collect::<Vec<u32>>()
        };
        let is_full = table.coefficients.iter().all(is_stored);
        Self {
            components,
            columns: (!is_full).then(|| rows().map(kept).collect()),
            coefficients: match is_full {
                true => table.coefficients.clone(),
                false => (table.coefficients.iter().copied())
                    .filter(is_stored)
                    .collect(),
            },
            terms: table.terms,
        }
    }
}

impl TryFrom<Stored> for Table {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let n_terms = stored.terms.len();
        let size = stored.components.checked_mul(n_terms);
        let Some(size) = size.filter(|n| *n <= LARGEST) else {
            let components = stored.components;
            return Err(format!(
                "{n_terms} terms times {components} components are more than {LARGEST} numbers"
            ));
        };
        let Some(columns) = &stored.columns else {
            return Ok(Self {
                terms: stored.terms,
                coefficients: stored.coefficients,
            });
        };
        let listed: usize = columns.iter().map(Vec::len).sum();
        if columns.len() != n_terms || listed != stored.coefficients.len() {
            let (terms, numbers) = (columns.len(), stored.coefficients.len());
            return Err(format!(
                "`columns` lists {listed} components of {terms} terms where there are {n_terms} terms and {numbers} coefficients"
            ));
        }
        let mut coefficients = vec![0.0; size];
        let mut numbers = stored.coefficients.iter();
        for (row, columns) in coefficients
            .chunks_exact_mut(stored.components.max(1))
            .zip(columns)
        {
            if !columns.is_sorted_by(|a, b| a < b) {
                return Err("the components of a term in `columns` are not ascending".to_owned());
            }
            for (&column, c) in columns.iter().zip(&mut numbers) {
                let components = stored.components;
                *row.get_mut(column as usize).ok_or_else(|| {
                    format!("component {column} in `columns` where there are {components}")
                })? = *c;
            }
        }
        Ok(Self {
            terms: stored.terms,
            coefficients,
        })
    }
}

impl JsonSchema for Table {
    fn schema_name() -> Cow<'static, str> {
        "Table".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Stored::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(coefficients: Vec<f64>) -> Table {
        Table {
            terms: vec![vec![0], vec![2]],
            coefficients,
        }
    }

    #[test]
    fn files_hold_no_zeros() {
        for (coefficients, text) in [
            (
                vec![1.0, 2.0, 0.0, 3.0],
                r#"{"components":2,"terms":[[0],[2]],"columns":[[0,1],[1]],"coefficients":[1.0,2.0,3.0]}"#,
            ),
            (
                vec![1.0, 2.0, 4.0, 3.0],
                r#"{"components":2,"terms":[[0],[2]],"coefficients":[1.0,2.0,4.0,3.0]}"#,
            ),
        ] {
            let table = table(coefficients);
            assert_eq!(serde_json::to_string(&table).expect("a table"), text);
            assert_eq!(serde_json::from_str::<Table>(text).expect("a table"), table);
        }
    }

    #[test]
    fn tables_that_lie_are_refused() {
        for text in [
            r#"{"components":2,"terms":[[0]],"columns":[[0,2]],"coefficients":[1.0,2.0]}"#,
            r#"{"components":2,"terms":[[0]],"columns":[[1,0]],"coefficients":[1.0,2.0]}"#,
            r#"{"components":2,"terms":[[0]],"columns":[[0]],"coefficients":[1.0,2.0]}"#,
            r#"{"components":2,"terms":[[0],[1]],"columns":[[0]],"coefficients":[1.0]}"#,
            r#"{"components":4000000000,"terms":[[0],[1]],"coefficients":[1.0]}"#,
        ] {
            assert!(serde_json::from_str::<Table>(text).is_err(), "{text}");
        }
    }
}
