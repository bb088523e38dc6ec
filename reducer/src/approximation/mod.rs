//! From exact coefficients at chosen configurations to polynomials on boxes [T 5.6].

mod audit;
mod axis;
mod budget;
mod certify;
mod check;
mod combine;
mod components;
mod continuity;
mod database;
mod errors;
mod factors;
mod fit;
mod history;
mod least_squares;
mod motions;
mod observer;
mod orientation;
mod path;
mod peaks;
mod pivoting;
mod plan;
mod points;
mod quantities;
mod refine;
mod region;
mod rules;
mod sample;
mod search;
mod sensitivity;
mod source;
mod speed;
mod store;
mod terms;
mod trace;
mod tree;
mod trial;
mod trim;
mod waves;

pub(crate) use continuity::absolute_jumps;

pub use check::{CheckReport, FrequencyErrors, WorstPoint, check};
pub use database::{DatabaseError, SampleDatabase, SampleResult};
pub use history::{Round, Work};
pub use observer::{Observer, Progress, Silent};
pub use path::{PATH, Path, PathError, PathModel};
pub use peaks::LargePlace;
pub use rules::SettingsError;
pub use source::{LocalModel, SampleFailure};
pub use trace::{TracedPoint, trace};

use crate::description::mechanism::{ApproximationSettings, Criterion, Objective};
use crate::reduced_model::{Functions, ModelForm, ModelLayout, ReducedModel};
use components::Mass;
use errors::Scales;
use history::Counters;
use peaks::Peaks;
use region::Region;
use rules::Rules;
use sample::Sample;
use sensitivity::Sensitivities;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::SampleStore;
use trial::Context;

/// Why there is no approximation.
#[derive(Debug, thiserror::Error)]
pub enum ApproximationError {
    /// Settings or domain cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The sample database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No configuration of the domain could be reduced.
    #[error(
        "no configuration of the domain could be reduced; the first failure: {0}; check the coordinates' limits, and that each of them moves a mass (with `stiffness`: a `rotor_inertia`)"
    )]
    NoSample(SampleFailure),
    /// No point satisfies the inequalities.
    #[error(
        "no point of the coordinates' ranges satisfies the inequalities of the domain; check their signs"
    )]
    EmptyDomain,
}

/// How often boxes are refined again because points not seen before exceed a tolerance,
const LAST_ATTEMPT: u64 = 3;
/// and because a search finds errors that are too large.
const LAST_SEARCH: u64 = 6;
/// Part of the largest error allowed beyond which boxes are refined again.
const CLOSE: f64 = 0.95;

/// How many times the boxes may become for the sake of the largest error; beyond, the mean alone is kept,
const MOST_GROWTH: usize = 8;
/// unless even whole boxes would store no more numbers than this.
const FEW_NUMBERS: usize = 500_000;

/// A model and what it cost.
#[derive(Debug, Clone)]
pub struct Approximation {
    /// The model, without hash and errors at fresh points.
    pub model: ReducedModel,
    /// Samples used, by candidates that were given up as well.
    pub samples: usize,
    /// How many of them were not in the database.
    pub evaluated: usize,
    /// How it was refined.
    pub history: Vec<Round>,
    /// What that took besides samples.
    pub work: Work,
    /// What the bound of the largest error takes; absent where the mean alone keeps it.
    pub largest: Option<LargestCost>,
}

/// What the bound of the largest error takes beyond that of the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LargestCost {
    /// Polynomial coefficients of the dynamics that keep the mean alone.
    pub numbers: usize,
    /// Where errors are too large then, the worst place of every block.
    pub places: Vec<LargePlace>,
    /// Boxes that there were when the bound was given up; absent where it is kept.
    pub given_up: Option<usize>,
}

/// Approximates a local model over its domain. A trajectory in the settings is the caller's to
/// apply, by handing over a [`PathModel`], as `sampling::SampleSource` does.
pub fn approximate(
    local: &dyn LocalModel,
    settings: &ApproximationSettings,
    observer: &dyn Observer,
    database: &mut SampleDatabase,
) -> Result<Approximation, ApproximationError> {
    let layout = local.layout();
    let rules = Rules::new(settings, &layout)?;
    if rules.objective == Objective::Speed && rules.is_adaptive_degree() {
        let forms = speed::forms(settings.form);
        return speed::approximate(local, &layout, &rules, &forms, observer, database);
    }
    let counters = Counters::default();
    let approximation = approximate_by(local, &layout, rules, &counters, observer, database)?;
    Ok(approximation.expect("refinement without a limit is not given up"))
}

/// Approximates by concrete rules; nothing where that takes more numbers than they allow.
fn approximate_by(
    local: &dyn LocalModel,
    layout: &ModelLayout,
    mut rules: Rules,
    counters: &Counters,
    observer: &dyn Observer,
    database: &mut SampleDatabase,
) -> Result<Option<Approximation>, ApproximationError> {
    let mut store = SampleStore::new(local, database, rules.form, layout, counters);

    observer.phase("probing");
    let probes = probe(layout, &mut store)?;
    let mut components = components::find_components(layout, rules.form, Mass::Factor, &probes);
    let mut scales = Scales::new(&probes, layout);
    if rules.thesis {
        scales = scales.with_combined(&rules.minimal_width);
    }
    let polynomials = vec![Functions::Polynomials; layout.n_rigid];
    let mut peaks = Peaks::new(layout);
    let mut sensitivities = Sensitivities::default();
    let mut everything = None;
    let mut whole = None;
    let mut largest: Option<LargestCost> = None;
    if rules.is_adaptive_degree() && rules.objective == Objective::Size {
        let context = Context {
            layout,
            rules: &rules,
            components: &components,
            functions: &polynomials,
            scales: &scales,
            sensitivities: &sensitivities,
            peaks: &peaks,
            counters,
        };
        let lagrangian = rules.form == ModelForm::Lagrangian && layout.n() == layout.n_rigid;
        if let Some(own) = local.own_inertia().filter(|_| lagrangian)
            && let Some(model) = waves::approximate_ending(&context, &mut store, &probes, &own)?
        {
            let history = Vec::new();
            return Ok(Some(finished(model, &store, counters, history)));
        }
        let draft = |tables| context.single_box_model(tables);
        let all = Sensitivities::new(&rules, &components, &scales, &probes, draft);
        let smaller = all.neglect(&components, &probes);
        sensitivities = all.of(&components.dynamics, &smaller.dynamics);
        let before = std::mem::replace(&mut components, smaller);
        everything = (before != components).then_some((before, all));
        let context = Context {
            layout,
            rules: &rules,
            components: &components,
            functions: &polynomials,
            scales: &scales,
            sensitivities: &sensitivities,
            peaks: &peaks,
            counters,
        };
        let is_tree = local.is_tree();
        if rules.form == ModelForm::Lagrangian
            && let Some(faded) = waves::approximate_fading(&context, &mut store, &probes, is_tree)?
        {
            if faded.is_bounded {
                let combined = combine::combine(&context, &mut store, &faded.model)?;
                let model = combined.unwrap_or(faded.model);
                return Ok(Some(Approximation {
                    largest: faded.largest,
                    ..finished(model, &store, counters, Vec::new())
                }));
            }
            // Boxes may keep the bound of the largest error, which must not take too much.
            let most = MOST_GROWTH * faded.model.stored_numbers();
            rules.most_numbers = rules.most_numbers.min(most);
            (whole, largest) = (Some(faded.model), faded.largest);
        }
    }

    let (mut attempt, mut searches) = (0, 0);
    let mut memory = refine::Memory::default();
    loop {
        observer.phase("refining");
        let context = Context {
            layout,
            rules: &rules,
            components: &components,
            functions: &polynomials,
            scales: &scales,
            sensitivities: &sensitivities,
            peaks: &peaks,
            counters,
        };
        let Some(tree) = refine::refine(&context, &mut store, &mut memory, observer)? else {
            // Without the bound of the largest error there is a model.
            return Ok(whole.zip(largest).map(|(model, cost)| Approximation {
                largest: Some(LargestCost {
                    given_up: memory.given_up_at,
                    ..cost
                }),
                ..finished(model, &store, counters, memory.history)
            }));
        };
        let (tree, mut boxes) = tree.into_parts();

        observer.phase("joining");
        let continuity = continuity::join_boxes(&context, &store, &tree, &mut boxes);

        observer.phase("auditing");
        let model = context.draft(layout.clone(), tree, boxes, continuity);
        let is_cut = memory.cut_short.is_some();
        let audit = match is_cut {
            true => None,
            false => Some(audit::audit(&context, &mut store, &model, attempt)?),
        };
        let excess = audit.as_ref().map_or(f64::INFINITY, |a| a.excess);
        let complete = model.boxes.iter().all(|b| b.reached);
        if let Some(all) = everything.take_if(|_| !complete && !is_cut) {
            // What was left out may matter where no probe was.
            (components, sensitivities) = all;
            memory = refine::Memory::default();
            continue;
        }
        if let Some((audit, factor)) = audit.zip(rules.largest)
            && audit.excess <= 1.0
            && complete
            && searches < LAST_SEARCH
        {
            searches += 1;
            let found = peaks::search(&context, &mut store, &model, &audit.points, factor)?;
            let most = MOST_GROWTH * model.boxes.len() * context.numbers_per_box();
            let most = most.max(FEW_NUMBERS);
            if found.excess > CLOSE && peaks.include(found.points) {
                if largest.is_none() {
                    rules.most_numbers = rules.most_numbers.min(most);
                }
                largest.get_or_insert(LargestCost {
                    numbers: model.stored_numbers(),
                    places: found.worst,
                    given_up: None,
                });
                whole = Some(model);
                continue;
            }
        }
        if is_cut || excess <= 1.0 || !complete || rules.thesis || attempt == LAST_ATTEMPT {
            // A stricter attempt that was cut short is worse than the one before.
            let mut model = whole.filter(|_| is_cut).unwrap_or(model);
            model.provenance.cut_short = memory.cut_short;
            if !is_cut {
                let context = Context {
                    layout,
                    rules: &rules,
                    components: &components,
                    functions: &polynomials,
                    scales: &scales,
                    sensitivities: &sensitivities,
                    peaks: &peaks,
                    counters,
                };
                model = combine::combine(&context, &mut store, &model)?.unwrap_or(model);
            }
            return Ok(Some(Approximation {
                largest,
                ..finished(model, &store, counters, memory.history)
            }));
        }
        whole = Some(model);
        let smaller = match rules.criterion {
            Criterion::Mean => (0.9 / excess).clamp(0.3, 0.9),
            // The points that were too far off now take part in the validation.
            Criterion::Max => 0.95,
        };
        rules.tighten(smaller);
        attempt += 1;
    }
}

/// A model with what it cost.
fn finished(
    mut model: ReducedModel,
    store: &SampleStore,
    counters: &Counters,
    history: Vec<Round>,
) -> Approximation {
    model.provenance.routed_samples = store.n_routed();
    let (samples, evaluated) = counters.samples();
    Approximation {
        model,
        samples,
        evaluated,
        history,
        work: counters.work(),
        largest: None,
    }
}

/// Samples at fixed points of the whole domain that show what varies and how large it is.
fn probe(layout: &ModelLayout, store: &mut SampleStore) -> Result<Vec<Sample>, ApproximationError> {
    let s = layout.n_rigid;
    let domain = Region::of_domain(&layout.domain);
    let mut wanted = vec![domain.point(&vec![0.0; s])];
    let halton = (0..16 + 8 * s as u64).map(|i| points::halton(i, 0, s));
    wanted
        .extend(halton.map(|u| domain.point(&u.iter().map(|v| 2.0 * v - 1.0).collect::<Vec<_>>())));
    let wanted = domain.admitted(&layout.domain, wanted);
    if wanted.is_empty() {
        return Err(ApproximationError::EmptyDomain);
    }
    store.require(&wanted)?;
    let probes: Vec<Sample> = store.samples().map(Arc::unwrap_or_clone).collect();
    match store.failure_inside(&domain) {
        Some((_, failure)) if probes.is_empty() => {
            Err(ApproximationError::NoSample(failure.clone()))
        }
        _ => Ok(probes),
    }
}
