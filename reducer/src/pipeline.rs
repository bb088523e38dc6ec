//! The method: a local model in, a reduced model and its summary out.

use crate::approximation::{
    Approximation, ApproximationError, LargestCost, LocalModel, Observer, Round, SampleDatabase,
    Work, absolute_jumps, approximate, check,
};
use crate::description::mechanism::ApproximationSettings;
use crate::reduced_model::{
    BlockError, BoxModel, Continuity, CutShort, InvalidModel, LargestError, MissingRegion,
    ReducedModel,
};
use serde::{Deserialize, Serialize};

/// Fresh points at which a finished model is checked.
pub const CHECK_POINTS: usize = 500;
/// Their seed.
const CHECK_SEED: u64 = 0x5eed;

/// Why there is no reduced model.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The coefficients could not be approximated.
    #[error(transparent)]
    Approximation(#[from] ApproximationError),
    /// The names or sizes of the mechanism do not make a model.
    #[error("the mechanism does not make a reduced model: {0}")]
    Model(#[from] InvalidModel),
    /// The observer gave it up.
    #[error("the reduction was given up; samples that were stored are kept")]
    GivenUp,
}

/// What a reduction achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Dofs of the full model.
    pub full_dofs: usize,
    /// Generalised coordinates.
    pub reduced_dofs: usize,
    /// Configurations the approximation used.
    pub samples: usize,
    /// Those of them that were reached around what blocks the straight line from home.
    pub routed_samples: usize,
    /// Configurations that had to be computed, without those of the check.
    pub evaluated: usize,
    /// Boxes with polynomials.
    pub boxes: usize,
    /// Regions without a model.
    pub missing: Vec<MissingRegion>,
    /// Polynomial coefficients of the dynamics.
    pub stored_numbers: usize,
    /// Polynomial coefficients of outputs and load map.
    pub stored_numbers_outputs: usize,
    /// Errors at points never used in the fit: per point, Frobenius norm of the difference over
    /// that of the exact value (at least a tenth of its root mean square over the domain).
    pub errors: Vec<BlockError>,
    /// The largest errors that a search from the worst of these points found: blocks, then outputs and
    /// forces in their units.
    pub largest: Vec<LargestError>,
    /// Behaviour across faces of boxes.
    pub continuity: Continuity,
    /// The largest jumps of outputs and forces across faces, in their units.
    pub jumps: Vec<LargestError>,
    /// Boxes whose definiteness is proven.
    pub certified: usize,
    /// Boxes that fell short of a tolerance, or whose definiteness is in doubt.
    pub short: Vec<ShortBox>,
    /// What ended the refinement before it was done.
    pub cut_short: Option<CutShort>,
    /// How it was refined, round by round.
    pub history: Vec<Round>,
    /// What that took besides samples.
    pub work: Work,
    /// What the bound of the largest error takes; absent where the mean alone keeps it.
    pub largest_cost: Option<LargestCost>,
    /// A largest error that was found is beyond what the settings allow.
    pub exceeds_largest: bool,
    /// The whole domain has a model, every tolerance holds in every box and at the fresh points, and
    /// no box leaves definiteness in doubt.
    pub reached: bool,
}

/// A box that fell short of a tolerance, or in which mass or stiffness may be indefinite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShortBox {
    /// Smallest θ.
    pub lower: Vec<f64>,
    /// Largest θ.
    pub upper: Vec<f64>,
    /// Its errors.
    pub errors: Vec<BlockError>,
    /// Its mass or stiffness is not proven to be definite, and the form of the model allows it not to be.
    pub lacks_proof: bool,
}

impl ShortBox {
    /// All of a model.
    pub fn all(model: &ReducedModel) -> Vec<Self> {
        let describe = |b: &BoxModel| Self {
            lower: b.lower.clone(),
            upper: b.upper.clone(),
            errors: b.errors.clone(),
            lacks_proof: model.lacks_proof(b),
        };
        model.short_boxes().map(describe).collect()
    }
}

/// Reduces a mechanism: sample, fit and refine; check at fresh points; assemble.
pub fn reduce(
    local: &dyn LocalModel,
    settings: &ApproximationSettings,
    observer: &dyn Observer,
    database: &mut SampleDatabase,
) -> Result<(ReducedModel, Summary), PipelineError> {
    let Approximation {
        mut model,
        samples,
        evaluated,
        history,
        work,
        largest,
    } = approximate(local, settings, observer, database)?;
    if observer.is_given_up() {
        return Err(PipelineError::GivenUp);
    }
    model.provenance.input_hash = local.input_hash();

    observer.phase("checking");
    let report = check(&model, local, CHECK_POINTS, CHECK_SEED)?;
    model.provenance.reached = model.reaches(&report.errors, &report.largest);
    model.provenance.errors = report.errors;
    model.provenance.largest = report.largest;
    if matches!(model.continuity, Continuity::Jumps { .. }) {
        model.provenance.jumps = absolute_jumps(&model);
    }
    let summary = Summary {
        samples,
        evaluated,
        history,
        work,
        largest_cost: largest,
        ..summarize(&model)
    };
    Ok((model, summary))
}

/// What the model itself tells; how it came about is the caller's to add.
fn summarize(model: &ReducedModel) -> Summary {
    Summary {
        full_dofs: model.layout.full_dofs,
        reduced_dofs: model.layout.n(),
        samples: 0,
        routed_samples: model.provenance.routed_samples,
        evaluated: 0,
        boxes: model.boxes.len(),
        missing: model.missing_regions(),
        stored_numbers: model.stored_numbers(),
        stored_numbers_outputs: model.stored_numbers_outputs(),
        errors: model.provenance.errors.clone(),
        largest: model.provenance.largest.clone(),
        continuity: model.continuity,
        jumps: model.provenance.jumps.clone(),
        certified: model.boxes.iter().filter(|b| b.definite.is_some()).count(),
        short: ShortBox::all(model),
        cut_short: model.provenance.cut_short,
        history: Vec::new(),
        work: Work::default(),
        largest_cost: None,
        exceeds_largest: {
            let (settings, mut found) =
                (&model.provenance.settings, model.provenance.largest.iter());
            !found.all(|e| settings.allows_largest(e))
        },
        reached: model.provenance.reached,
    }
}
