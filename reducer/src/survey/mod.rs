//! What a report shows of the full model, as plain data: its kinematics, the shapes of its modes,
//! and exact coefficients along lines through the domain.

mod lines;
mod shapes;
mod skeleton;

pub use crate::description::mechanism::JointKind;
pub use lines::{ExactPoint, Line};
pub use shapes::{AxisShapes, ModeShapes};
pub use skeleton::{
    DriveKind, PlacedFrame, Skeleton, SkeletonBody, SkeletonDrive, SkeletonJoint, SkeletonLoad,
    SkeletonNode, SkeletonSpring,
};

pub use crate::approximation::Round;
pub use crate::scan::{Edge, Place, Scan, Suggestion};

use crate::reduced_model::{Evaluator, InvalidModel, ReducedModel, Status, Workspace};
use crate::sampling::SampleSource;
use serde::Serialize;

/// Points of the table that maps a path's parameter to θ.
const PATH_POINTS: usize = 129;

/// The full model beside a reduced one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Survey {
    /// Bodies, joints and actuators of the undeformed mechanism.
    pub skeleton: Skeleton,
    /// For a model along a path: θ at evenly spaced places of the path; empty otherwise.
    pub path: Vec<Vec<f64>>,
    /// Where the lines meet, in the model's coordinates.
    pub base: Vec<f64>,
    /// Shapes of constraint, attachment and internal modes.
    pub shapes: ModeShapes,
    /// Exact coefficients along each coordinate, and along the diagonal of the domain.
    pub lines: Vec<Line>,
    /// How the reduced model was refined, where that is known; [`survey`] does not know it.
    pub history: Vec<Round>,
    /// The map of the domain that was made before the reduction; [`survey`] does not make it.
    pub scan: Option<Scan>,
}

/// Looks at the full model where a report will show it.
pub fn survey(model: &ReducedModel, source: &SampleSource) -> Result<Survey, InvalidModel> {
    let reducer = source.mechanism().reducer();
    let base = base_point(model, source)?;
    let theta_of = |point: &[f64]| source.theta(point);
    let last = (PATH_POINTS - 1) as f64;
    Ok(Survey {
        skeleton: Skeleton::new(reducer),
        path: source.path().map_or(Vec::new(), |_| {
            (0..PATH_POINTS)
                .map(|i| source.theta(&[i as f64 / last]))
                .collect()
        }),
        shapes: ModeShapes::sample(reducer, &model.layout.domain, &base, &theta_of),
        lines: lines::sample(model, source, reducer, &base, &theta_of)?,
        base,
        history: Vec::new(),
        scan: None,
    })
}

/// The middle of the domain, or home where the model is undefined there.
fn base_point(model: &ReducedModel, source: &SampleSource) -> Result<Vec<f64>, InvalidModel> {
    let domain = &model.layout.domain;
    let ends = domain.lower.iter().zip(&domain.upper);
    let middle: Vec<f64> = ends.map(|(l, u)| f64::midpoint(*l, *u)).collect();
    let status = Evaluator::new(model)?.status(&middle, &mut Workspace::default());
    let home = source.mechanism().reducer().kinematics().home();
    Ok(if status == Ok(Status::Inside) || source.path().is_some() {
        middle
    } else {
        home.to_vec()
    })
}
