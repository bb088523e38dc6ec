//! What can go wrong with an inversion.

use crate::description::mechanism::Origin;
use crate::dynamics::drives::MotionFault;
use crate::error::Explain;
use crate::reduced_model::EvaluationError;
use thiserror::Error;

/// Faults of an inversion. Times count from the beginning of the path.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum InversionError {
    #[error("{tracked} output(s) are to be tracked by {coordinates} coordinate(s)")]
    WrongCount { tracked: usize, coordinates: usize },
    #[error("the {what} must be positive, not {found}")]
    NotPositive { what: &'static str, found: f64 },
    #[error("{count} instants are asked for; {limit} are possible")]
    TooManyInstants { count: usize, limit: usize },
    #[error("`{name}` cannot follow this: {fault}")]
    Motion { name: String, fault: MotionFault },
    #[error(
        "at t = {time} s `{name}` is wanted with the rate {rate}: a path begins and ends at rest"
    )]
    NotAtRest { name: String, time: f64, rate: f64 },
    #[error(
        "at θ = {theta:?} the coordinates cannot move {} independently",
        outputs.join(", ")
    )]
    Uncontrollable {
        outputs: Vec<String>,
        theta: Vec<f64>,
    },
    #[error(
        "at t = {time:.6} s the path takes coordinate `{coordinate}` out of the reduced model's domain, {lower} to {upper}: it is at {value:.6}"
    )]
    LeftDomain {
        time: f64,
        coordinate: String,
        value: f64,
        lower: f64,
        upper: f64,
    },
    #[error("at t = {time:.6} s `{name}` is out of reach: {distance:.3e} are left")]
    OutOfReach {
        time: f64,
        name: String,
        distance: f64,
    },
    #[error("at t = {time:.6} s the reduced model comes to θ = {theta:?}, where it is not defined")]
    NoModel { time: f64, theta: Vec<f64> },
    #[error(
        "at t = {time:.6} s the modes' accelerations do not follow from the path: the plant has a zero at infinity there"
    )]
    Singular { time: f64 },
    #[error(
        "forces do not reach the accelerations of {} at once: some change of them by {part:.1e} of what it would be with rigid modes. An elastic drive stands between, and forces reach the fourth derivative only (relative degree four)",
        outputs.join(", ")
    )]
    ElasticDrive { outputs: Vec<String>, part: f64 },
    #[error(
        "there is no rest with the outputs at the {place} of the path: the plant has a zero near the origin"
    )]
    NoRest { place: &'static str },
    #[error(
        "the lowest zero in the right half-plane, {zero:.3} rad/s, is above the highest natural frequency that the model keeps, {kept:.3} rad/s: it is one of the truncation, not of the mechanism"
    )]
    BeyondBand { zero: f64, kept: f64 },
    #[error("after {iterations} iterations the motion still changes by {change:.1e} of its size")]
    NotConverged { iterations: usize, change: f64 },
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
}

impl Explain for InversionError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::WrongCount { coordinates, .. } => {
                format!("track {coordinates}: positions of outputs along axes, or coordinates themselves")
            }
            Self::NotPositive { .. } => "give a positive value".into(),
            Self::TooManyInstants { .. } => "ask for fewer instants".into(),
            Self::Motion { fault, .. } => fault.help().into(),
            Self::NotAtRest { .. } => {
                "use `point_to_point` for the path or its parameter, within the duration".into()
            }
            Self::Uncontrollable { .. } => {
                "track other outputs or axes, or a coordinate; keep away from singular configurations".into()
            }
            Self::LeftDomain { .. } => {
                "widen the `range` of the coordinate in the mechanism file, or move the path".into()
            }
            Self::OutOfReach { .. } => {
                "move the path, or begin nearer to it (`theta` in `[initial]`); where the model jumps between boxes, reduce `outputs` to a smaller tolerance".into()
            }
            Self::NoModel { .. } => {
                "keep the path away from the regions that `reduce` reports as missing".into()
            }
            Self::Singular { .. } | Self::NoRest { .. } => {
                "keep more modes, or track another output".into()
            }
            Self::ElasticDrive { .. } => {
                "track the coordinates, which are before the spring, or leave the drive's flexibility out of the mechanism for the inversion and let feedback do the rest".into()
            }
            Self::BeyondBand { .. } => {
                "keep more modes: `internal_modes` in `[reduction]` of the mechanism".into()
            }
            Self::NotConverged { .. } => "make the path slower, or ask for more `instants`".into(),
            Self::Evaluation(_) => "use a model of this mechanism".into(),
        })
    }
}
