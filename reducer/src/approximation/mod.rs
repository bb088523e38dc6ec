//! From exact coefficients at chosen configurations to polynomials on boxes [T 5.6].

mod audit;
mod axis;
mod certify;
mod check;
mod components;
mod continuity;
mod database;
mod errors;
mod factors;
mod fit;
mod history;
mod least_squares;
mod observer;
mod path;
mod pivoting;
mod plan;
mod points;
mod refine;
mod region;
mod rules;
mod sample;
mod sensitivity;
mod source;
mod speed;
mod store;
mod terms;
mod trace;
mod tree;
mod trial;
mod trim;

pub use check::{CheckReport, FrequencyErrors, WorstPoint, check};
pub use database::{DatabaseError, SampleDatabase, SampleResult};
pub use history::{Round, Work};
pub use observer::{Observer, Progress, Silent};
pub use path::{PATH, Path, PathError, PathModel};
pub use rules::SettingsError;
pub use source::{LocalModel, SampleFailure};
pub use trace::{TracedPoint, trace};

use crate::description::mechanism::{ApproximationSettings, Criterion, Objective};
use crate::reduced_model::{ModelLayout, ReducedModel};
use errors::Scales;
use history::Counters;
use region::Region;
use rules::Rules;
use sample::Sample;
use sensitivity::Sensitivities;
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
        "no configuration of the domain could be reduced; the first failure: {0}; check the coordinates' limits"
    )]
    NoSample(SampleFailure),
    /// No point satisfies the inequalities.
    #[error(
        "no point of the coordinates' ranges satisfies the inequalities of the domain; check their signs"
    )]
    EmptyDomain,
}

/// How often boxes are refined again because points not seen before exceed a tolerance.
const LAST_ATTEMPT: u64 = 3;

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
    let mut components = components::find_components(layout, rules.form, &probes);
    let mut scales = Scales::new(&probes);
    if rules.thesis {
        scales = scales.with_combined(&rules.minimal_width);
    }
    let mut sensitivities = Sensitivities::default();
    let mut everything = None;
    if rules.is_adaptive_degree() && rules.objective == Objective::Size {
        let context = Context {
            layout,
            rules: &rules,
            components: &components,
            scales: &scales,
            sensitivities: &sensitivities,
            counters,
        };
        let draft = |tables| context.single_box_model(tables);
        let all = Sensitivities::new(&rules, &components, &scales, &probes, draft);
        let smaller = all.neglect(&components, &probes);
        sensitivities = all.of(&components.dynamics, &smaller.dynamics);
        let before = std::mem::replace(&mut components, smaller);
        everything = (before != components).then_some((before, all));
    }

    let mut attempt = 0;
    let mut memory = refine::Memory::default();
    loop {
        observer.phase("refining");
        let context = Context {
            layout,
            rules: &rules,
            components: &components,
            scales: &scales,
            sensitivities: &sensitivities,
            counters,
        };
        let Some(tree) = refine::refine(&context, &mut store, &mut memory, observer)? else {
            return Ok(None);
        };
        let (tree, mut boxes) = tree.into_parts();

        observer.phase("joining");
        let continuity = continuity::join_boxes(&context, &store, &tree, &mut boxes);

        observer.phase("auditing");
        let mut model = context.draft(layout.clone(), tree, boxes, continuity);
        let excess = audit::excess(&context, &mut store, &model, attempt)?;
        let complete = model.boxes.iter().all(|b| b.reached);
        if let Some(all) = everything.take_if(|_| !complete) {
            // What was left out may matter where no probe was.
            (components, sensitivities) = all;
            memory = refine::Memory::default();
            continue;
        }
        if excess <= 1.0 || !complete || rules.thesis || attempt == LAST_ATTEMPT {
            model.provenance.routed_samples = store.n_routed();
            let (samples, evaluated) = counters.samples();
            return Ok(Some(Approximation {
                model,
                samples,
                evaluated,
                history: memory.history,
                work: counters.work(),
            }));
        }
        let smaller = match rules.criterion {
            Criterion::Mean => (0.9 / excess).clamp(0.3, 0.9),
            // The points that were too far off now take part in the validation.
            Criterion::Max => 0.95,
        };
        rules.tighten(smaller);
        attempt += 1;
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
    wanted.retain(|p| layout.domain.admits(p));
    if wanted.is_empty() {
        return Err(ApproximationError::EmptyDomain);
    }
    store.require(&wanted)?;
    let probes: Vec<Sample> = store.samples().cloned().collect();
    match store.failure_inside(&domain) {
        Some((_, failure)) if probes.is_empty() => {
            Err(ApproximationError::NoSample(failure.clone()))
        }
        _ => Ok(probes),
    }
}
