//! From exact coefficients at chosen configurations to polynomials on boxes [T 5.6].

mod certify;
mod check;
mod components;
mod continuity;
mod database;
mod encoding;
mod errors;
mod factors;
mod fit;
mod least_squares;
mod observer;
mod points;
mod refine;
mod region;
mod rules;
mod sample;
mod source;
mod store;
mod terms;
mod tree;
mod trial;

pub use check::{CheckReport, WorstPoint, check};
pub use database::{DatabaseError, SampleDatabase, SampleResult};
pub use errors::Block;
pub use observer::{Observer, Progress, Silent};
pub use rules::SettingsError;
pub use source::{LocalModel, SampleFailure};

use crate::description::mechanism::ApproximationSettings;
use crate::reduced_model::{
    BoxModel, ComponentLists, Continuity, ModelForm, ModelLayout, SettingsRecord, TreeNode,
};
use errors::Scales;
use region::Region;
use rules::Rules;
use sample::Sample;
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

/// Polynomials on a tree of boxes.
#[derive(Debug, Clone)]
pub struct Approximation {
    /// What is stored.
    pub form: ModelForm,
    /// Meaning of the numbers.
    pub components: ComponentLists,
    /// Tree.
    pub tree: Vec<TreeNode>,
    /// Boxes.
    pub boxes: Vec<BoxModel>,
    /// Behaviour across faces.
    pub continuity: Continuity,
    /// Settings as used.
    pub settings: SettingsRecord,
    /// Samples used.
    pub samples: usize,
    /// Samples that were not in the database.
    pub evaluated: usize,
}

/// Approximates a local model over its domain.
pub fn approximate(
    local: &dyn LocalModel,
    settings: &ApproximationSettings,
    observer: &dyn Observer,
    database: &mut SampleDatabase,
) -> Result<Approximation, ApproximationError> {
    let layout = local.layout();
    let rules = Rules::new(settings, &layout)?;
    let mut store = SampleStore::new(local, database, rules.form, layout.n());

    observer.phase("probing");
    let probes = probe(&layout, &mut store)?;
    let components = components::find_components(&layout, rules.form, &probes);
    let scales = Scales::new(&probes, &layout.domain);

    observer.phase("refining");
    let context = Context {
        layout: &layout,
        rules: &rules,
        components: &components,
        scales: &scales,
    };
    let (tree, mut boxes) = refine::refine(&context, &mut store, observer)?.into_parts();

    observer.phase("joining");
    let continuity = continuity::join_boxes(&context, &store, &tree, &mut boxes);

    Ok(Approximation {
        form: rules.form,
        settings: rules.record(&scales),
        tree,
        boxes,
        continuity,
        samples: store.len(),
        evaluated: store.n_evaluated(),
        components,
    })
}

/// Samples at fixed points of the whole domain that show what varies and how large it is.
fn probe(layout: &ModelLayout, store: &mut SampleStore) -> Result<Vec<Sample>, ApproximationError> {
    let s = layout.n_rigid;
    let domain = Region::of_domain(&layout.domain);
    let mut wanted = vec![domain.point(&vec![0.0; s])];
    let halton = (0..16 + 8 * s as u64).map(|i| points::halton(i, 0, s));
    wanted
        .extend(halton.map(|u| domain.point(&u.iter().map(|v| 2.0 * v - 1.0).collect::<Vec<_>>())));
    wanted.retain(|p| layout.domain.inequalities.iter().all(|i| i.holds(p)));
    if wanted.is_empty() {
        return Err(ApproximationError::EmptyDomain);
    }
    store.require(&wanted)?;
    let probes: Vec<Sample> = store.samples().cloned().collect();
    match store.failure_inside(&domain) {
        Some(failure) if probes.is_empty() => Err(ApproximationError::NoSample(failure.clone())),
        _ => Ok(probes),
    }
}
