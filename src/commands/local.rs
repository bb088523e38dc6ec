//! `reduce local`: the full model reduced at one exact configuration.

use super::{Outcome, tables};
use crate::args::{LocalArgs, Numbers};
use crate::diagnostics::{self, CommandError, Failure};
use reducer::approximation::LocalModel;
use reducer::description::mechanism::Mechanism;
use reducer::model::ActuatorMotion;
use reducer::reduction::{Coefficients, LoadedFrequencies, LocalReducer};
use reducer::sampling::SampleSource;
use serde_json::{Value, json};

/// Runs the command.
pub fn run(args: &LocalArgs) -> Result<Outcome, Failure> {
    let mechanism = super::read_mechanism(&args.mechanism)?;
    let document = if args.on_path {
        on_path(args, &mechanism, &super::source_of(&mechanism)?)?
    } else {
        admissible(args, &mechanism)?;
        in_domain(args, &mechanism, &built(&mechanism)?)?
    };
    let text = if args.json {
        format!("{}\n", document.as_json())
    } else {
        document.as_text()
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}

/// The answer as JSON, of a mechanism whose exact reduction is built.
pub fn document(
    args: &LocalArgs,
    mechanism: &Mechanism,
    reducer: &LocalReducer,
) -> Result<Value, Failure> {
    admissible(args, mechanism)?;
    Ok(in_domain(args, mechanism, reducer)?.as_json())
}

/// The same at a place of the mechanism's path.
pub fn document_on_path(
    args: &LocalArgs,
    mechanism: &Mechanism,
    source: &SampleSource,
) -> Result<Value, Failure> {
    Ok(on_path(args, mechanism, source)?.as_json())
}

/// The exact reduction of a mechanism.
pub fn built(mechanism: &Mechanism) -> Result<LocalReducer, Failure> {
    LocalReducer::new(mechanism).map_err(|e| Failure::one(e).with_sources(mechanism))
}

fn admissible(args: &LocalArgs, mechanism: &Mechanism) -> Result<(), Failure> {
    let theta = &args.at.0;
    let admissible = if args.anywhere {
        mechanism.check_values(theta)
    } else {
        mechanism.check_configuration(theta)
    };
    admissible.map_err(|errors| Failure::new(errors, mechanism.sources.clone()))
}

/// At θ of the mechanism.
fn in_domain<'a>(
    args: &LocalArgs,
    mechanism: &'a Mechanism,
    reducer: &LocalReducer,
) -> Result<Document<'a>, Failure> {
    let theta = &args.at.0;
    let fail = |e| Failure::one(e).with_sources(mechanism);
    let coefficients = reducer.evaluate(theta).map_err(fail)?;
    let names = reducer.coordinate_names(mechanism);
    let place = Place::of_theta(theta);
    Document::new(args, mechanism, reducer, &place, names, coefficients)
}

/// At a place of the mechanism's path.
fn on_path<'a>(
    args: &LocalArgs,
    mechanism: &'a Mechanism,
    source: &SampleSource,
) -> Result<Document<'a>, Failure> {
    if source.path().is_none() {
        let mechanism = mechanism.name.clone();
        return Err(Failure::one(CommandError::NothingToFollow { mechanism }));
    }
    let [place] = args.at.0[..] else {
        return Err(Failure::one(CommandError::WrongCount {
            option: "at",
            found: args.at.0.len(),
            rigid: 1,
            all: 1,
        }));
    };
    finite("at", &[place])?;
    if !args.anywhere && !(0.0..=1.0).contains(&place) {
        return Err(Failure::one(CommandError::OffPath { place }));
    }
    let coefficients = source
        .evaluate(&[place])
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    let layout = source.layout().coordinates;
    let names = layout.into_iter().map(|c| c.name).collect();
    let reducer = source.mechanism().reducer();
    let place = match source.path() {
        Some(path) => Place::on_path(path.configuration(place)),
        None => Place::of_theta(&source.theta(&[place])),
    };
    Document::new(args, mechanism, reducer, &place, names, coefficients)
}

/// The configuration of the mechanism at a place, and how it moves with the coordinates there.
struct Place {
    theta: Vec<f64>,
    /// First and second derivatives by the coordinate of a path.
    along: Option<(Vec<f64>, Vec<f64>)>,
}

impl Place {
    fn of_theta(theta: &[f64]) -> Self {
        Self {
            theta: theta.to_vec(),
            along: None,
        }
    }

    fn on_path([theta, first, second]: [Vec<f64>; 3]) -> Self {
        Self {
            theta,
            along: Some((first, second)),
        }
    }

    /// Rates and accelerations of θ for those of the coordinates.
    fn motion(&self, rate: &[f64], accel: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let s = self.theta.len();
        match &self.along {
            None => (rate[..s].to_vec(), accel[..s].to_vec()),
            Some((first, second)) => {
                let bent = second.iter().map(|c| c * rate[0] * rate[0]);
                (
                    first.iter().map(|c| c * rate[0]).collect(),
                    (bent.zip(first).map(|(b, c)| b + c * accel[0])).collect(),
                )
            }
        }
    }
}

/// Refuses NaN and infinities.
pub(super) fn finite(option: &'static str, values: &[f64]) -> Result<(), Failure> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(place) => Err(Failure::one(CommandError::NotFinite {
            option,
            place,
            value: values[place],
        })),
        None => Ok(()),
    }
}

/// A list of n generalised values; s values are those of θ, the others zero; none: all zero.
pub(super) fn generalised(
    option: &'static str,
    given: Option<&[f64]>,
    n: usize,
    s: usize,
) -> Result<Vec<f64>, Failure> {
    let mut out = vec![0.0; n];
    if let Some(values) = given {
        finite(option, values)?;
        if values.len() != n && values.len() != s {
            return Err(Failure::one(CommandError::WrongCount {
                option,
                found: values.len(),
                rigid: s,
                all: n,
            }));
        }
        out[..values.len()].copy_from_slice(values);
    }
    Ok(out)
}

struct Document<'a> {
    mechanism: &'a Mechanism,
    names: Vec<String>,
    coefficients: Coefficients,
    frequencies: Vec<f64>,
    locked: Vec<f64>,
    /// About the loaded state, or why there is none.
    loaded: Result<LoadedFrequencies, String>,
    force: Option<Vec<f64>>,
}

impl<'a> Document<'a> {
    /// `place` is the configuration of the mechanism to which the coefficients belong.
    fn new(
        args: &LocalArgs,
        mechanism: &'a Mechanism,
        reducer: &LocalReducer,
        place: &Place,
        names: Vec<String>,
        coefficients: Coefficients,
    ) -> Result<Self, Failure> {
        let (n, s) = (coefficients.n(), coefficients.n_rigid());
        let given = |option: &'static str, numbers: &Option<Numbers>| {
            generalised(option, numbers.as_ref().map(|v| v.0.as_slice()), n, s)
        };
        let rate = given("rate", &args.rate)?;
        let accel = given("accel", &args.accel)?;
        let force = (args.rate.is_some() || args.accel.is_some())
            .then(|| coefficients.inverse_dynamics(&rate, &accel));
        if force.iter().flatten().any(|f| !f.is_finite()) {
            return Err(Failure::one(CommandError::Overflow));
        }
        let (theta_rate, theta_accel) = place.motion(&rate, &accel);
        let motion = ActuatorMotion {
            rate: &theta_rate,
            acceleration: &theta_accel,
        };
        let count = usize::from(args.frequencies);
        Ok(Self {
            mechanism,
            names,
            loaded: reducer
                .loaded_frequencies(&place.theta, motion, count)
                .map_err(|e| e.to_string()),
            frequencies: reducer
                .internal_frequencies_hz(&coefficients)
                .unwrap_or_default(),
            locked: reducer
                .locked_frequencies_hz(&place.theta, count)
                .map_err(|e| Failure::one(e).with_sources(mechanism))?,
            coefficients,
            force,
        })
    }

    fn as_json(&self) -> Value {
        let c = &self.coefficients;
        let n = c.n();
        let s = c.n_rigid();
        let outputs: serde_json::Map<String, Value> = self
            .mechanism
            .outputs
            .iter()
            .zip(&c.outputs)
            .map(|(output, values)| {
                let entry = json!({
                    "position": values.position,
                    "rotation": rows(&values.rotation, 3),
                    "jacobian": rows(&values.jacobian, n),
                });
                (output.name.clone(), entry)
            })
            .collect();
        let gyroscopic: Vec<Vec<Vec<f64>>> = c
            .gyroscopic()
            .chunks(n * n)
            .map(|slice| rows(slice, n))
            .collect();
        let psi_g_theta: Vec<&[f64]> = c.load_map.iter().map(|row| &row[..s]).collect();
        let mut document = json!({
            "coordinates": self.names,
            "theta": c.theta,
            "mass": rows(&c.mass, n),
            "stiffness": rows(&c.stiffness, n),
            "damping": rows(&c.damping, n),
            "gyroscopic": gyroscopic,
            "gravity": c.gravity,
            "psi_g_theta": psi_g_theta,
            "frequencies_hz": self.frequencies,
            "locked_frequencies_hz": self.locked,
            "outputs": outputs,
            "status": "inside",
        });
        match &self.loaded {
            Ok(loaded) => {
                document["loaded_frequencies_hz"] = json!(loaded.frequencies_hz);
                document["steady"] = json!(loaded.steady);
            }
            Err(reason) => {
                document["loaded_frequencies_hz"] = Value::Null;
                document["steady"] = Value::Null;
                document["loaded_failure"] = json!(reason);
            }
        }
        if let Some(force) = &self.force {
            document["force"] = json!(force);
        }
        document
    }

    fn as_text(&self) -> String {
        let c = &self.coefficients;
        let n = c.n();
        let mut out = format!("{} reduced at θ = {:?}\n", self.mechanism.name, c.theta);
        tables::matrix(&mut out, "mass", &self.names, &c.mass);
        if c.stiffness.iter().any(|v| *v != 0.0) {
            tables::matrix(&mut out, "stiffness", &self.names, &c.stiffness);
        }
        if c.damping.iter().any(|v| *v != 0.0) {
            tables::matrix(&mut out, "damping", &self.names, &c.damping);
        }
        tables::vector(&mut out, "gravity", &self.names, &c.gravity);
        if let Some(force) = &self.force {
            tables::vector(&mut out, "force", &self.names, force);
        }
        tables::list(&mut out, "internal frequencies [Hz]", &self.frequencies);
        tables::list(
            &mut out,
            "frequencies with actuators locked [Hz]",
            &self.locked,
        );
        match &self.loaded {
            Ok(loaded) => {
                let title = if loaded.steady {
                    "frequencies about the loaded state [Hz]"
                } else {
                    "frequencies about the loaded state, frozen [Hz]"
                };
                tables::list(&mut out, title, &loaded.frequencies_hz);
            }
            Err(reason) => out.push_str(&format!(
                "no frequencies about the loaded state: {reason}\n"
            )),
        }
        for (output, values) in self.mechanism.outputs.iter().zip(&c.outputs) {
            tables::list(
                &mut out,
                &format!("position of {} [m]", output.name),
                &values.position,
            );
        }
        out.push_str(&format!(
            "gyroscopic tensor: {n}x{n}x{n}, all values with --json\n"
        ));
        out
    }
}

fn rows(values: &[f64], width: usize) -> Vec<Vec<f64>> {
    values.chunks(width.max(1)).map(<[f64]>::to_vec).collect()
}
