//! Combinations of columns, by the places that columns have in a plan.

use crate::reduced_model::Combination;

/// Values that are combinations of columns; fields as in [`kernel::Combined`].
#[derive(Debug, Clone, Default)]
pub struct PlanCombined {
    /// Where the terms of every combination end.
    pub ends: Vec<u32>,
    /// Column of every term.
    pub columns: Vec<u16>,
    /// Factor of every term.
    pub factors: Vec<f64>,
}

impl PlanCombined {
    /// Of combinations of `n_columns` stored columns, of which those in `kept` stand in the plan, in this order.
    pub(super) fn new(combined: &[Combination], kept: &[usize], n_columns: usize) -> Self {
        let mut out = Self::default();
        if combined.is_empty() {
            return out;
        }
        let mut places = vec![0; n_columns];
        for (place, &column) in kept.iter().enumerate() {
            places[column] = place as u16;
        }
        for c in combined {
            // In the order of the plan, so that memory is read forwards.
            let mut terms: Vec<(u16, f64)> = (c.of.iter().zip(&c.by))
                .map(|(column, factor)| (places[*column as usize], *factor))
                .collect();
            terms.sort_by_key(|(place, _)| *place);
            for (place, factor) in terms {
                out.columns.push(place);
                out.factors.push(factor);
            }
            out.ends.push(out.columns.len() as u32);
        }
        out
    }

    /// Operations of one product with each factor.
    pub(super) fn cost(&self) -> usize {
        2 * self.factors.len()
    }

    pub(super) fn view(&self) -> kernel::Combined<'_, f64> {
        kernel::Combined {
            ends: &self.ends,
            columns: &self.columns,
            factors: &self.factors,
        }
    }
}
