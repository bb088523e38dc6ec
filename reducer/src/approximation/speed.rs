//! Objective `speed`: the form and degree whose evaluation takes the fewest operations.
//!
//! Candidates are tried from the cheapest on. The first that meets every tolerance with tables of
//! reasonable size is taken; its boxes are as many as they must be.

use super::components::{Mass, find_components};
use super::history::Counters;
use super::observer::Observer;
use super::rules::Rules;
use super::source::LocalModel;
use super::store::SampleStore;
use super::terms::total_degree;
use super::{Approximation, ApproximationError, SampleDatabase, approximate_by, probe};
use crate::description::mechanism::Form;
use crate::reduced_model::plan::Plan;
use crate::reduced_model::{ModelForm, ModelLayout, inverse_dynamics_cost};

/// Degrees that may be the fastest; one above is worth less than another box.
const DEGREES: std::ops::RangeInclusive<usize> = 2..=4;
/// Numbers beyond which tables leave the caches of a processor: a mebibyte.
const MOST_NUMBERS: usize = 1 << 17;

struct Candidate {
    form: ModelForm,
    degree: usize,
    operations: usize,
}

/// The forms among which the settings leave a choice.
pub(super) fn forms(written: Option<Form>) -> Vec<ModelForm> {
    match written {
        Some(Form::Direct) => vec![ModelForm::Direct],
        Some(Form::Lagrangian) => vec![ModelForm::Lagrangian],
        None => vec![ModelForm::Lagrangian, ModelForm::Direct],
    }
}

/// Approximates with the cheapest candidate that reaches the tolerances; where none does, with the
/// first form and the largest degree of the candidates, however many boxes that takes.
pub(super) fn approximate(
    local: &dyn LocalModel,
    layout: &ModelLayout,
    rules: &Rules,
    forms: &[ModelForm],
    observer: &dyn Observer,
    database: &mut SampleDatabase,
) -> Result<Approximation, ApproximationError> {
    let counters = Counters::default();
    let mut candidates = Vec::new();
    for &form in forms {
        let mut store = SampleStore::new(local, database, form, layout, &counters);
        let probes = probe(layout, &mut store)?;
        let components = find_components(layout, form, Mass::Factor, &probes);
        candidates.extend(DEGREES.filter(|d| *d <= rules.max_degree).map(|degree| {
            let terms = total_degree(layout.n_rigid, degree);
            let plan = Plan::of_terms(layout, form, &components, &terms);
            Candidate {
                form,
                degree,
                operations: inverse_dynamics_cost(&plan).multiplications,
            }
        }));
    }
    candidates.sort_by_key(|c| c.operations);
    for candidate in &candidates {
        let rules = Rules {
            form: candidate.form,
            dynamics_degree: candidate.degree,
            most_numbers: MOST_NUMBERS,
            ..rules.clone()
        };
        let found = approximate_by(local, layout, rules, &counters, observer, database)?;
        if let Some(found) = found
            && found.model.boxes.iter().all(|b| b.reached)
        {
            return Ok(found);
        }
    }
    let rules = Rules {
        dynamics_degree: rules.max_degree.min(*DEGREES.end()),
        ..rules.clone()
    };
    let found = approximate_by(local, layout, rules, &counters, observer, database)?;
    Ok(found.expect("refinement without a limit is not given up"))
}
