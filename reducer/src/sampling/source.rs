//! Where samples come from: the domain of a mechanism, or the path that its file asks for.

use super::{MechanismModel, SamplingError};
use crate::approximation::{LocalModel, Path, PathModel, SampleFailure};
use crate::description::mechanism::Mechanism;
use crate::reduced_model::{Domain, ModelLayout};
use crate::reduction::Coefficients;
use rayon::prelude::*;

/// Where samples of a mechanism come from. Every verb that compares a model with its mechanism
/// takes them from here, so that all mean the same coordinates.
pub enum SampleSource {
    /// The domain: the model's coordinates are those of the mechanism.
    Domain(Box<MechanismModel>),
    /// The path of `[approximation] trajectory`: the model's one rigid coordinate is the place on it.
    Path(Box<PathModel<MechanismModel>>),
}

impl SampleSource {
    /// The source that the mechanism's file asks for.
    pub fn new(mechanism: &Mechanism) -> Result<Self, SamplingError> {
        let model = MechanismModel::new(mechanism)?;
        Ok(match &mechanism.approximation.trajectory {
            Some(trajectory) => Self::Path(Box::new(PathModel::new(model, &trajectory.points)?)),
            None => Self::Domain(Box::new(model)),
        })
    }

    /// The mechanism, in its own coordinates.
    pub fn mechanism(&self) -> &MechanismModel {
        match self {
            Self::Domain(mechanism) => mechanism,
            Self::Path(along) => along.inner(),
        }
    }

    /// The path, if samples are taken along one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Domain(_) => None,
            Self::Path(along) => Some(along.path()),
        }
    }

    /// θ of the mechanism at a point of the model's domain.
    pub fn theta(&self, point: &[f64]) -> Vec<f64> {
        match self.path() {
            Some(path) => {
                let [theta, ..] = path.configuration(point[0]);
                theta
            }
            None => point.to_vec(),
        }
    }

    fn local(&self) -> &dyn LocalModel {
        match self {
            Self::Domain(mechanism) => mechanism.as_ref(),
            Self::Path(along) => along.as_ref(),
        }
    }
}

impl LocalModel for SampleSource {
    fn layout(&self) -> ModelLayout {
        self.local().layout()
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        self.local().evaluate(theta)
    }

    fn own_inertia(&self) -> Option<Vec<f64>> {
        self.local().own_inertia()
    }

    fn is_tree(&self) -> bool {
        self.local().is_tree()
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.local().fingerprint()
    }
}

/// Low modes of the full model that the kept ones do not represent.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct UnrepresentedModes {
    /// Where, in coordinates of the mechanism.
    pub theta: Vec<f64>,
    /// Their frequencies (Hz).
    pub frequencies_hz: Vec<f64>,
    /// Number of internal modes that would do there, where known.
    pub modes_that_would_do: Option<usize>,
}

impl SampleSource {
    /// Compares kept and true internal frequencies on points spread over the model's domain: 65 on a grid
    /// for one coordinate, 64 of a Halton sequence for more. Points without a reduction are left
    /// to the approximation to report.
    pub fn unrepresented_modes(&self) -> Vec<UnrepresentedModes> {
        let reducer = self.mechanism().reducer();
        if reducer.reference().shapes.ncols() == 0 {
            return Vec::new();
        }
        let Domain { lower, upper, .. } = &self.layout().domain;
        let points: Vec<Vec<f64>> = match lower.len() {
            1 => (0..=64)
                .map(|i| vec![lower[0] + (upper[0] - lower[0]) * f64::from(i) / 64.0])
                .collect(),
            s => (1..=64)
                .map(|i| {
                    (0..s)
                        .map(|k| lower[k] + (upper[k] - lower[k]) * halton(i, PRIMES[k % 8]))
                        .collect()
                })
                .collect(),
        };
        points
            .par_iter()
            .filter_map(|point| {
                let theta = self.theta(point);
                let missing = reducer.inspect(&theta).ok()?.missing_hz();
                (!missing.is_empty()).then(|| UnrepresentedModes {
                    modes_that_would_do: reducer.modes_that_would_do(&theta).ok().flatten(),
                    theta,
                    frequencies_hz: missing,
                })
            })
            .collect()
    }
}

const PRIMES: [u32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

/// Element `index` of the Halton sequence of a base, in (0, 1).
fn halton(mut index: u32, base: u32) -> f64 {
    let (mut value, mut digit) = (0.0, 1.0);
    while index > 0 {
        digit /= f64::from(base);
        value += digit * f64::from(index % base);
        index /= base;
    }
    value
}
