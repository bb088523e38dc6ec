//! A mechanism as the approximation sees it: names, domain, and coefficients at any θ, or at any
//! place of its path.

mod fingerprint;
mod source;
mod validity;

pub use source::{SampleSource, UnrepresentedModes};

use crate::approximation::{LocalModel, PathError, SampleFailure};
use crate::description::MatrixError;
use crate::description::matrix::Counts;
use crate::description::mechanism;
use crate::description::mechanism::{
    Attachment, Coordinate, Drive, JointKind, LoadedKind, Mechanism, Origin,
};
use crate::error::Explain;
use crate::kinematics::KinematicsError;
use crate::reduced_model::{
    CoordinateInfo, CoordinateKind, DerivedInfo, Domain, LinearInequality, ModelLayout,
    NominalParameters, Stiffening, limits,
};
use crate::reduction::{self, Coefficients, DerivedFault, LocalReducer, ReductionError};
use fingerprint::fingerprint;
use thiserror::Error;

/// Why a mechanism cannot be sampled over its domain.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum SamplingError {
    #[error(transparent)]
    Reduction(#[from] ReductionError),
    #[error("coordinate `{coordinate}` has no range, which only a hinge can do without")]
    Unbounded { coordinate: String, origin: Origin },
    #[error(
        "the mechanism is immobile: no actuator can be moved from home by a thousandth of its range; {reason}"
    )]
    Immobile { reason: String, origin: Origin },
    #[error("mass `{mass}` stays free in the reduced model, but no output is at its point")]
    PayloadWithoutOutput { mass: String, origin: Origin },
    #[error("{found} {what}; a reduced model has at most {limit}")]
    TooLarge {
        what: &'static str,
        found: usize,
        limit: usize,
        /// The first part beyond the limit; none where a sum is.
        origin: Option<Origin>,
    },
    #[error("derived quantity `{name}`: {error}")]
    Derived {
        name: String,
        error: MatrixError,
        origin: Origin,
    },
    #[error(transparent)]
    Path(#[from] PathError),
}

impl Explain for SamplingError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Reduction(e) => e.origin(),
            Self::Unbounded { origin, .. }
            | Self::Immobile { origin, .. }
            | Self::PayloadWithoutOutput { origin, .. }
            | Self::Derived { origin, .. } => Some(origin),
            Self::TooLarge { origin, .. } => origin.as_ref(),
            Self::Path(_) => None,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Reduction(e) => e.help(),
            Self::Unbounded { .. } => Some("give the coordinate a `range`".into()),
            Self::Immobile { .. } => {
                Some("check the lengths and joints of its loops, or draw it at another home".into())
            }
            Self::PayloadWithoutOutput { .. } => {
                Some("add an `[[output]]` at the same point, or remove `runtime`".into())
            }
            Self::TooLarge { what, .. } => Some(match *what {
                RIGID => "lock some of the actuators, or reduce along a `trajectory`".into(),
                COORDINATES => "keep fewer internal modes, or load fewer points".into(),
                what => format!("leave out some of the {what}"),
            }),
            Self::Derived { error, .. } => Some(error.help()),
            Self::Path(e) => Some(e.help()),
        }
    }
}

const RIGID: &str = "actuated coordinates";
const COORDINATES: &str = "generalised coordinates";

/// The exact reduction of a mechanism of which a reduced model can be made. What the file alone says of
/// its size is judged before anything is built: time and memory grow with the cube of it.
pub fn build(mechanism: &Mechanism) -> Result<LocalReducer, SamplingError> {
    check_counts(mechanism)?;
    let reducer = LocalReducer::new(mechanism)?;
    let along_path = mechanism.approximation.trajectory.is_some();
    let n_rigid = if along_path {
        1
    } else {
        mechanism.coordinates.len()
    };
    let modal = mechanism.loaded.len() + reducer.reference().shapes.ncols();
    let limit = limits::COORDINATES;
    within(COORDINATES, n_rigid + modal, limit, None)?;
    refuse_immobile(mechanism, &reducer)?;
    for quantity in &mechanism.derived {
        size_of(quantity, &reducer)?;
    }
    Ok(reducer)
}

/// Rows and columns of a derived quantity, now that the modes are counted.
fn size_of(
    quantity: &mechanism::Derived,
    reducer: &LocalReducer,
) -> Result<(usize, usize), SamplingError> {
    let rigid = reducer.n_rigid();
    let counts = Counts {
        rigid,
        modal: reducer.n() - rigid,
    };
    let size = quantity.value.checked_size(counts);
    size.map_err(|error| SamplingError::Derived {
        name: quantity.name.clone(),
        error,
        origin: quantity.origin.clone(),
    })
}

/// Refuses a mechanism that moves at home to first order only: one that is drawn where a loop is stretched, or whose
/// loops leave no motion.
fn refuse_immobile(mechanism: &Mechanism, reducer: &LocalReducer) -> Result<(), SamplingError> {
    let home = reducer.kinematics().home();
    let mut reason = None;
    for (k, coordinate) in mechanism.coordinates.iter().enumerate() {
        let range = coordinate.upper - coordinate.lower;
        let step = 1e-3 * if range.is_finite() { range } else { 1.0 };
        for step in [step, -step] {
            let mut theta = home.to_vec();
            theta[k] = (theta[k] + step).clamp(coordinate.lower, coordinate.upper);
            if theta[k] == home[k] {
                continue;
            }
            match reducer.kinematics().solve(&theta) {
                Ok(_) => return Ok(()),
                Err(error) => reason = reason.or(Some(error.to_string())),
            }
        }
    }
    match (reason, mechanism.coordinates.first()) {
        (Some(reason), Some(first)) => Err(SamplingError::Immobile {
            reason,
            origin: first.origin.clone(),
        }),
        _ => Ok(()),
    }
}

/// Refuses more parts than a reduced model may have.
fn check_counts(mechanism: &Mechanism) -> Result<(), SamplingError> {
    let Mechanism {
        coordinates,
        outputs,
        loaded,
        ..
    } = mechanism;
    // Along a path its place is the only actuated coordinate of the model; those of the mechanism still
    // make its reduction.
    let rigid = match mechanism.approximation.trajectory {
        Some(_) => limits::COORDINATES,
        None => limits::RIGID,
    };
    let most = limits::OUTPUTS;
    let origin = coordinates.get(rigid).map(|c| &c.origin);
    within(RIGID, coordinates.len(), rigid, origin)?;
    let origin = outputs.get(most).map(|o| &o.origin);
    within("outputs", outputs.len(), most, origin)?;
    let origin = loaded.get(most).map(|l| &l.origin);
    within("loaded directions", loaded.len(), most, origin)
}

fn within(
    what: &'static str,
    found: usize,
    limit: usize,
    origin: Option<&Origin>,
) -> Result<(), SamplingError> {
    if found <= limit {
        return Ok(());
    }
    Err(SamplingError::TooLarge {
        what,
        found,
        limit,
        origin: origin.cloned(),
    })
}

/// A mechanism with its exact reduction.
pub struct MechanismModel {
    reducer: LocalReducer,
    layout: ModelLayout,
    fingerprint: [u8; 32],
    derived: Vec<mechanism::Derived>,
}

impl MechanismModel {
    /// Builds the full model and describes it.
    pub fn new(mechanism: &Mechanism) -> Result<Self, SamplingError> {
        let domain = domain(mechanism)?;
        let parameters = parameters(mechanism)?;
        let reducer = build(mechanism)?;
        let layout = ModelLayout {
            name: mechanism.name.clone(),
            coordinates: coordinates(mechanism, &reducer),
            n_rigid: mechanism.coordinates.len(),
            outputs: mechanism.outputs.iter().map(|o| o.name.clone()).collect(),
            loaded: mechanism.loaded.iter().map(|l| l.name.clone()).collect(),
            domain,
            full_dofs: reducer.model().n_dofs(),
            parameters,
            stiffening: match reducer.stiffening() {
                mechanism::Stiffening::None | mechanism::Stiffening::Auto => Stiffening::None,
                mechanism::Stiffening::Loads => Stiffening::Loads,
                mechanism::Stiffening::All => Stiffening::All,
            },
            validity: validity::of(mechanism, &reducer),
            derived: derived(mechanism, &reducer)?,
        };
        Ok(Self {
            derived: mechanism.derived.clone(),
            fingerprint: fingerprint(mechanism, reducer.stiffening()),
            reducer,
            layout,
        })
    }

    /// The exact reduction.
    pub fn reducer(&self) -> &LocalReducer {
        &self.reducer
    }
}

impl LocalModel for MechanismModel {
    fn layout(&self) -> ModelLayout {
        self.layout.clone()
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        let mut found = self.reducer.evaluate(theta).map_err(|error| {
            let reason = error.to_string();
            let theta = theta.to_vec();
            match error {
                ReductionError::Kinematics(
                    KinematicsError::Singular { .. } | KinematicsError::Blocked { .. },
                ) => SampleFailure::Singular { theta, reason },
                _ => SampleFailure::Inadmissible { theta, reason },
            }
        })?;
        for quantity in &self.derived {
            let value = reduction::derived::evaluate(&quantity.value, &found);
            found
                .derived
                .push(value.map_err(|fault| no_value(quantity, fault, theta))?);
        }
        Ok(found)
    }

    fn own_inertia(&self) -> Option<Vec<f64>> {
        self.reducer.own_inertia()
    }

    fn is_tree(&self) -> bool {
        self.reducer.kinematics().is_tree()
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }
}

/// Why a derived quantity makes a sample fail.
fn no_value(quantity: &mechanism::Derived, fault: DerivedFault, theta: &[f64]) -> SampleFailure {
    let theta = theta.to_vec();
    let reason = format!("derived quantity `{}`: {fault}", quantity.name);
    match fault {
        DerivedFault::Singular { .. } => SampleFailure::Singular { theta, reason },
        DerivedFault::Indefinite { .. } | DerivedFault::NotFinite { .. } => {
            SampleFailure::Inadmissible { theta, reason }
        }
    }
}

/// Names, expressions and sizes of the derived quantities.
fn derived(
    mechanism: &Mechanism,
    reducer: &LocalReducer,
) -> Result<Vec<DerivedInfo>, SamplingError> {
    let info = |quantity: &mechanism::Derived| {
        let (rows, columns) = size_of(quantity, reducer)?;
        Ok(DerivedInfo {
            name: quantity.name.clone(),
            value: quantity.text.clone(),
            rows,
            columns,
            tolerance: quantity.tolerance,
        })
    };
    mechanism.derived.iter().map(info).collect()
}

/// Intervals with finite ends; a hinge that turns without end repeats after a turn.
fn domain(mechanism: &Mechanism) -> Result<Domain, SamplingError> {
    let mut out = Domain {
        lower: Vec::new(),
        upper: Vec::new(),
        periodic: Vec::new(),
        inequalities: mechanism
            .inequalities
            .iter()
            .map(|i| LinearInequality {
                coefficients: i.coefficients.clone(),
                bound: i.bound,
            })
            .collect(),
    };
    for coordinate in &mechanism.coordinates {
        let bounded = coordinate.lower.is_finite() && coordinate.upper.is_finite();
        if bounded {
            out.lower.push(coordinate.lower);
            out.upper.push(coordinate.upper);
            out.periodic.push(coordinate.periodic);
        } else if is_angle(mechanism, &coordinate.drive) {
            out.lower.push(coordinate.home - std::f64::consts::PI);
            out.upper.push(coordinate.home + std::f64::consts::PI);
            out.periodic.push(true);
        } else {
            return Err(SamplingError::Unbounded {
                coordinate: coordinate.name.clone(),
                origin: coordinate.origin.clone(),
            });
        }
    }
    Ok(out)
}

/// What the mechanism leaves free, and gravity.
fn parameters(mechanism: &Mechanism) -> Result<NominalParameters, SamplingError> {
    let free = |value: fn(&Coordinate) -> (bool, f64)| -> Vec<f64> {
        let values = mechanism.coordinates.iter().map(value);
        values.map(|(free, v)| if free { v } else { 0.0 }).collect()
    };
    let mut payload_mass = vec![0.0; mechanism.outputs.len()];
    for mass in mechanism.point_masses.iter().filter(|m| m.at_runtime) {
        let same = |at: &Attachment| {
            let apart = (at.frame.position - mass.at.frame.position).norm();
            at.body == mass.at.body && at.node == mass.at.node && apart <= 1e-9
        };
        match mechanism.outputs.iter().position(|o| same(&o.at)) {
            Some(output) => payload_mass[output] += mass.mass,
            None => {
                return Err(SamplingError::PayloadWithoutOutput {
                    mass: mass.name.clone(),
                    origin: mass.origin.clone(),
                });
            }
        }
    }
    Ok(NominalParameters {
        gravity: mechanism.gravity.into(),
        gravity_at_runtime: mechanism.gravity_at_runtime,
        payload_mass,
        rotor_inertia: free(|c| (c.at_runtime.rotor_inertia, c.rotor_inertia)),
        viscous: free(|c| (c.at_runtime.viscous, c.viscous)),
        coulomb: free(|c| (true, c.coulomb)),
    })
}

fn is_angle(mechanism: &Mechanism, drive: &Drive) -> bool {
    match drive {
        Drive::Joint(joint) => mechanism.joints[joint.0].kind == JointKind::Hinge,
        Drive::Distance(..) => false,
    }
}

fn coordinates(mechanism: &Mechanism, reducer: &LocalReducer) -> Vec<CoordinateInfo> {
    let rigid = mechanism.coordinates.iter().map(|c| {
        let unit = if is_angle(mechanism, &c.drive) {
            "rad"
        } else {
            "m"
        };
        (CoordinateKind::Rigid, unit)
    });
    let loaded = mechanism.loaded.iter().map(|l| match l.kind {
        LoadedKind::Displacement => (CoordinateKind::Constraint, "m"),
        LoadedKind::Attachment => (CoordinateKind::Attachment, "N"),
    });
    let internal =
        (0..reducer.reference().shapes.ncols()).map(|_| (CoordinateKind::Internal, "m*sqrt(kg)"));
    reducer
        .coordinate_names(mechanism)
        .into_iter()
        .zip(rigid.chain(loaded).chain(internal))
        .map(|(name, (kind, unit))| CoordinateInfo {
            name,
            kind,
            unit: unit.to_owned(),
        })
        .collect()
}
