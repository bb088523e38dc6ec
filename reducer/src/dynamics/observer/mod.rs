//! Observers: what a scenario says of one becomes the filter of a model [M 18.1].

mod error;
mod observability;
mod statistics;

pub use error::ObserverError;
pub use statistics::ObserverStatistics;

use super::control::{Place, Sensed};
use crate::description::mechanism::Origin;
use crate::reduced_model::{Evaluator, ObserverPlan, Parameters, ReducedModel, Status, Workspace};
use kernel::{Disturbance, Reading, Sensor};
use nalgebra::DMatrix;

/// Most steps of integration in a period.
const MOST_SUBSTEPS: usize = 64;
/// Part of the stability limit of the step that is used where substeps are chosen.
const MARGIN: f64 = 1.3;
/// Fastest eigenvalue times step at which the classical Runge-Kutta method is stable.
const STABLE: f64 = 2.6;

/// An unknown force as declared.
#[derive(Debug, Clone, PartialEq)]
pub struct DisturbanceSettings {
    /// Its name.
    pub name: String,
    /// Where it acts.
    pub place: Place,
    /// Deviation at the start (N, N m).
    pub initial: f64,
    /// Deviation of its change in one second (N, N m).
    pub drift: f64,
}

/// An observer as declared.
#[derive(Debug, Clone, PartialEq)]
pub struct ObserverSettings {
    /// Name of its block.
    pub name: String,
    /// Where it is declared.
    pub origin: Origin,
    /// Time between samples (s).
    pub period: f64,
    /// Steps of integration in a period; as many as stability asks for where absent.
    pub substeps: Option<usize>,
    /// Names of sensors and what they measure.
    pub sensors: Vec<(String, Sensed)>,
    /// Lower factor of the covariance of their noise, row-major.
    pub measurement: Vec<f64>,
    /// Lower factor of the covariance of forces on the coordinates, row-major.
    pub process: Vec<f64>,
    /// Deviations of η and rates at the start.
    pub initial: Vec<f64>,
    /// η and rates at the start; those of the scenario where absent.
    pub estimate: Option<Vec<f64>>,
    /// Unknown forces.
    pub disturbances: Vec<DisturbanceSettings>,
    /// Viscous friction that drives add to each coordinate (N s/m, N m s/rad).
    pub viscous: Vec<f64>,
    /// Coulomb friction of each coordinate, and below which rate it falls to zero.
    pub coulomb: (Vec<f64>, f64),
    /// Gravity that sensors feel (m/s²).
    pub gravity: [f64; 3],
    /// Configuration of the start.
    pub theta: Vec<f64>,
}

impl ObserverSettings {
    /// Number of coordinates η that the declaration is made for.
    pub fn n(&self) -> usize {
        self.initial.len() / 2
    }

    /// Number of states: η, rates, disturbances.
    pub fn states(&self) -> usize {
        self.initial.len() + self.disturbances.len()
    }

    /// The model that the filter predicts with: with the friction of drives and of the mechanism.
    pub fn evaluator<'m>(&self, model: &'m ReducedModel) -> Result<Evaluator<'m>, ObserverError> {
        let evaluator = Evaluator::new(model).map_err(|e| self.refused_model(e.to_string()))?;
        self.with_friction(evaluator)
    }

    /// The same with a model of its own.
    pub fn owning(&self, model: ReducedModel) -> Result<Evaluator<'static>, ObserverError> {
        let evaluator = Evaluator::owning(model).map_err(|e| self.refused_model(e.to_string()))?;
        self.with_friction(evaluator)
    }

    fn refused_model(&self, reason: String) -> ObserverError {
        ObserverError::Model {
            origin: self.origin.clone(),
            reason,
        }
    }

    fn with_friction<'m>(&self, evaluator: Evaluator<'m>) -> Result<Evaluator<'m>, ObserverError> {
        let layout = &evaluator.model().layout;
        if self.viscous.len() != layout.n_rigid {
            return Err(self.refused_model(format!(
                "it has {} actuated coordinates, the mechanism of the scenario has {}",
                layout.n_rigid,
                self.viscous.len()
            )));
        }
        let mut parameters = Parameters::nominal(layout);
        for (sum, viscous) in parameters.viscous.iter_mut().zip(&self.viscous) {
            *sum += viscous;
        }
        parameters.coulomb.clone_from(&self.coulomb.0);
        parameters.coulomb_rate.fill(self.coulomb.1);
        evaluator
            .with_parameters(parameters)
            .map_err(|e| self.refused_model(e.to_string()))
    }

    /// The filter of a model: sizes fit, and its sensors see every state.
    pub fn plan(&self, evaluator: &Evaluator<'_>) -> Result<ObserverPlan, ObserverError> {
        self.check_sizes(evaluator)?;
        let n_rigid = evaluator.n_rigid();
        let sensors = self
            .sensors
            .iter()
            .map(|(name, sensed)| self.sensor(name, sensed, evaluator));
        let disturbances = self.disturbances.iter().map(|d| match d.place {
            Place::Coordinate(index) => Disturbance {
                at_output: false,
                index,
                axis: [0.0; 3],
            },
            Place::Output(index, direction) => Disturbance {
                at_output: true,
                index,
                axis: direction.into(),
            },
        });
        let mut initial = self.initial.clone();
        initial.extend(self.disturbances.iter().map(|d| d.initial));
        let drift = self.disturbances.iter().map(|d| d.drift);
        let mut plan = ObserverPlan {
            sensors: sensors.collect::<Result<_, _>>()?,
            sensor_names: self.sensors.iter().map(|s| s.0.clone()).collect(),
            disturbances: disturbances.collect(),
            disturbance_names: self.disturbances.iter().map(|d| d.name.clone()).collect(),
            period: self.period,
            substeps: 1,
            process: self.process.clone(),
            drift: drift.map(|d| d * self.period.sqrt()).collect(),
            measurement: self.measurement.clone(),
            initial,
            gravity: self.gravity,
        };
        debug_assert!(n_rigid <= plan.n());
        let around = self.linearised(evaluator, &plan)?;
        plan.substeps = self.substeps(&around)?;
        observability::check(self, evaluator, &plan, &around)?;
        Ok(plan)
    }

    fn check_sizes(&self, evaluator: &Evaluator<'_>) -> Result<(), ObserverError> {
        let n = evaluator.n();
        let layout = &evaluator.model().layout;
        let names: Vec<&str> = layout.coordinates.iter().map(|c| c.name.as_str()).collect();
        let counts = [
            ("initial", self.initial.len(), 2 * n),
            ("process", self.process.len().isqrt(), n),
            (
                "estimate",
                self.estimate.as_ref().map_or(2 * n, Vec::len),
                2 * n,
            ),
        ];
        for (what, found, expected) in counts {
            if found != expected {
                return Err(ObserverError::Count {
                    origin: self.origin.clone(),
                    what,
                    found,
                    expected,
                    coordinates: names.join(", "),
                });
            }
        }
        Ok(())
    }

    fn sensor(
        &self,
        name: &str,
        sensed: &Sensed,
        evaluator: &Evaluator<'_>,
    ) -> Result<Sensor<f64>, ObserverError> {
        let s = evaluator.n_rigid();
        let modes = evaluator.n() - s;
        let of = |reading, index| Sensor {
            reading,
            index,
            axis: [0.0; 3],
            body: false,
            gravity: false,
        };
        let modal = |reading, k: usize| {
            if k < modes {
                return Ok(of(reading, s + k));
            }
            Err(ObserverError::NoSuchMode {
                origin: self.origin.clone(),
                sensor: name.to_owned(),
                number: k + 1,
                modes,
            })
        };
        let turned = |reading, output, axis: &nalgebra::Vector3<f64>, body| Sensor {
            axis: (*axis).into(),
            body,
            ..of(reading, output)
        };
        match sensed {
            Sensed::Coordinate(k) => Ok(of(Reading::Coordinate, *k)),
            Sensed::Rate(k) => Ok(of(Reading::Rate, *k)),
            Sensed::CoordinateAcceleration(k) => Ok(of(Reading::Acceleration, *k)),
            Sensed::Modal(k) => modal(Reading::Coordinate, *k),
            Sensed::ModalRate(k) => modal(Reading::Rate, *k),
            Sensed::Position { output, axis } => {
                Ok(turned(Reading::Position, *output, axis, false))
            }
            Sensed::Velocity { output, axis, body } => {
                Ok(turned(Reading::Velocity, *output, axis, *body))
            }
            Sensed::Acceleration {
                output,
                axis,
                body,
                gravity,
            } => Ok(Sensor {
                gravity: *gravity,
                ..turned(Reading::PointAcceleration, *output, axis, *body)
            }),
            Sensed::AngularVelocity { .. } => Err(ObserverError::NotStored {
                origin: self.origin.clone(),
                sensor: name.to_owned(),
            }),
        }
    }

    /// The first state: as declared, or θ and rates of the start with the deflection that holds it there.
    pub fn start(&self, evaluator: &Evaluator<'_>, rate: &[f64], deflected: bool) -> [Vec<f64>; 2] {
        let (n, s) = (evaluator.n(), evaluator.n_rigid());
        if let Some(given) = &self.estimate {
            return [given[..n].to_vec(), given[n..].to_vec()];
        }
        let mut eta = self.theta.clone();
        let zero = vec![0.0; s];
        let work = &mut Workspace::default();
        let modal = match evaluator.feedforward(&self.theta, &zero, &zero, work) {
            Ok((_, modal, status)) if deflected && status < Status::Undefined => modal,
            _ => vec![0.0; n - s],
        };
        eta.extend(modal);
        let mut rates = rate.to_vec();
        rates.resize(n, 0.0);
        [eta, rates]
    }

    /// The model linearised where it starts, at rest under the forces that hold it.
    fn linearised(
        &self,
        evaluator: &Evaluator<'_>,
        plan: &ObserverPlan,
    ) -> Result<observability::Around, ObserverError> {
        let n = evaluator.n();
        let work = &mut Workspace::default();
        let [eta, _] = self.start(evaluator, &[], true);
        let zero = vec![0.0; n];
        let mut force = vec![0.0; n];
        let here = |_| ObserverError::NoModel {
            origin: self.origin.clone(),
            theta: self.theta.clone(),
        };
        let held = evaluator.inverse_dynamics(&eta, &zero, &zero, &mut force, work);
        let held = held.map_err(|e| self.refused_model(e.to_string()))?;
        let linear = evaluator.linearize(&eta, &zero, &force, work);
        let (linear, status) = linear.map_err(|e| self.refused_model(e.to_string()))?;
        if status.max(held) >= Status::Clamped {
            return Err(here(()));
        }
        let mut x = [eta, zero].concat();
        x.resize(plan.states(), 0.0);
        let read = evaluator.observer_readings(plan, &x, &force, work);
        let (_, slope, _) = read.map_err(|e| self.refused_model(e.to_string()))?;
        let a = DMatrix::from_row_slice(2 * n, 2 * n, &linear.a);
        let b = DMatrix::from_row_slice(2 * n, n, &linear.b);
        Ok(observability::Around {
            frequencies: observability::frequencies(&a, &b),
            a,
            b,
            directions: observability::directions(evaluator, plan, &x, work),
            c: DMatrix::from_row_slice(plan.sensors.len(), plan.states(), &slope),
        })
    }

    /// Steps of a period that are stable, or as declared.
    fn substeps(&self, around: &observability::Around) -> Result<usize, ObserverError> {
        if let Some(count) = self.substeps {
            return Ok(count);
        }
        let all = around.a.complex_eigenvalues();
        let fastest = all.iter().fold(0.0_f64, |m, l| m.max(l.norm()));
        let count = (MARGIN * fastest * self.period / STABLE).ceil().max(1.0);
        if count > MOST_SUBSTEPS as f64 {
            return Err(ObserverError::TooSlow {
                origin: self.origin.clone(),
                period: self.period,
                fastest,
                count,
                most: MOST_SUBSTEPS,
            });
        }
        Ok(count as usize)
    }
}
