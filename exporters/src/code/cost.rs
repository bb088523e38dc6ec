//! What a call of generated code costs, as headers state it.

use kernel::Finder;
use reducer::reduced_model::plan::Plan;
use reducer::reduced_model::{CallCost, ObserverPlan, call_costs};

/// Operations and memory of all functions, without parameters and with all of them.
pub(super) struct Costs {
    pub without: Vec<CallCost>,
    pub with: Vec<CallCost>,
}

impl Costs {
    pub fn new(plan: &Plan) -> Self {
        Self {
            without: call_costs(plan, false),
            with: call_costs(plan, true),
        }
    }

    /// The same with the functions of an observer.
    pub fn observed(plan: &Plan, observer: Option<&ObserverPlan>) -> Self {
        let mut all = Self::new(plan);
        if let Some(observer) = observer {
            let [without, with] = super::observer::costs(plan, observer);
            all.without.extend(without);
            all.with.extend(with);
        }
        all
    }

    /// A line per function.
    pub fn lines(&self) -> Vec<String> {
        let pair = |c: &CallCost| {
            let count = c.operations;
            format!("{:>15} {:>14}", count.multiplications, count.additions)
        };
        let both = self.without.iter().zip(&self.with);
        both.map(|(a, b)| format!("{:<18} {}  {}", a.function, pair(a), pair(b)))
            .collect()
    }

    /// Bytes of stack of the deepest chain of calls: compilers keep copies of what the kernel takes.
    pub fn stack_bytes(&self, single: bool) -> usize {
        let numbers = self.with.iter().map(|c| c.memory).max().unwrap_or(0);
        let real = if single { 4 } else { 8 };
        (numbers * real * 3 / 2 + 2048).next_multiple_of(64)
    }
}

/// Bytes of tables.
pub(super) fn constant_bytes(plan: &Plan, single: bool) -> usize {
    let real = if single { 4 } else { 8 };
    let s = plan.n_rigid;
    let of_tables: usize = plan
        .tables()
        .map(|t| {
            let run = if s > 1 { s + 1 } else { 1 };
            (t.coefficients.len() + t.constants.len() + t.combined.factors.len()) * real
                + t.combined.ends.len() * 4
                + t.combined.columns.len() * 2
                + t.runs.len() / (s + 1) * run
                + t.shapes.len() * 8
                + if t.gradients { t.places.len() * 8 } else { 0 }
                + t.lists.len() * 12
                + t.products.len() * 4
                + t.moving.rows.len() * 8
                + t.moving.terms.len() * 2
                + t.moving.lists.len() * 4
        })
        .sum();
    let n_tables = plan.tables().count();
    let entries: usize = plan.entries.iter().map(Vec::len).sum();
    let found = match plan.finder() {
        Finder::Grid { ends, boxes, .. } => {
            let narrow = plan.grid.as_ref().is_some_and(|g| g.is_narrow());
            boxes.len() * if narrow { 1 } else { 2 } + (ends.len() + 2 * s) * real
        }
        Finder::Tree(nodes) => nodes.len() * (real + if single { 12 } else { 16 }),
        Finder::Single | Finder::Nowhere => 0,
    };
    let boxes = plan.n_boxes() * (2 * s * real + 8 * n_tables);
    of_tables + entries * 6 + found + boxes + 2 * s * real
}
