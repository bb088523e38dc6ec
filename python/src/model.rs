//! A reduced model with its evaluator.

use crate::buffers::{fill, numbers, rows};
use crate::errors::{failure, raise, refused};
use crate::rows::{Found, each_row};
use crate::watch;
use exporters::Guard;
use mechreduce::args::{ExportArgs, FmiName, FormatName, InterfaceName};
use mechreduce::commands::{self, check, export};
use mechreduce::diagnostics::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use reducer::reduced_model::{
    CoordinateKind, EvaluationError, Evaluator, OutputMotion, Parameters, ReducedModel, Status,
    Workspace,
};
use serde_json::json;
use std::path::PathBuf;

/// A reduced model, ready for evaluation.
#[pyclass(frozen, module = "mechreduce._mechreduce")]
pub struct Model {
    evaluator: Evaluator<'static>,
    parameters: Parameters,
}

impl Model {
    /// Validates a model and prepares its tables.
    pub fn new(model: ReducedModel) -> Result<Self, Failure> {
        let evaluator = Evaluator::owning(model).map_err(failure)?;
        let parameters = Parameters::nominal(&evaluator.model().layout);
        Ok(Self {
            evaluator,
            parameters,
        })
    }

    fn internal(&self) -> usize {
        let coordinates = self.evaluator.model().layout.coordinates.iter();
        coordinates
            .filter(|c| c.kind == CoordinateKind::Internal)
            .count()
    }

    /// Numbers of positions, rotations, Jacobians, velocities and angular velocities of all outputs.
    fn output_sizes(&self) -> [usize; 5] {
        let count = self.evaluator.model().layout.outputs.len();
        [3, 9, 6 * self.evaluator.n(), 3, 3].map(|size| size * count)
    }

    /// Calls `each` for so many rows, with room for its results; what was refused is raised.
    fn each_row<const K: usize>(
        &self,
        py: Python<'_>,
        count: usize,
        widths: [usize; K],
        each: impl Fn(
            &Evaluator<'_>,
            usize,
            [&mut [f64]; K],
            &mut Workspace,
        ) -> Result<Status, EvaluationError>
        + Sync,
    ) -> PyResult<Found<K>> {
        let model = &self.evaluator;
        each_row(py, count, widths, |row, into, work| {
            each(model, row, into, work)
        })
        .map_err(|error| refused(py, error))
    }
}

/// Row `index` of a list.
fn row(list: &[f64], index: usize, width: usize) -> &[f64] {
    &list[index * width..(index + 1) * width]
}

#[pymethods]
impl Model {
    /// Reads `.json` or `.h5`.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = || commands::read_model(&path).and_then(Self::new);
        py.detach(read).map_err(|error| raise(py, &error))
    }

    /// Names and sizes, as JSON.
    fn layout(&self) -> String {
        let model = self.evaluator.model();
        let layout = &model.layout;
        let names: Vec<&str> = layout.coordinates.iter().map(|c| c.name.as_str()).collect();
        let corners = model.boxes.iter().map(|b| [&b.lower, &b.upper]);
        json!({
            "name": layout.name,
            "coordinates": names,
            "n_rigid": layout.n_rigid,
            "n_internal": self.internal(),
            "outputs": layout.outputs,
            "loaded": layout.loaded,
            "domain": layout.domain,
            "full_dofs": layout.full_dofs,
            "boxes": corners.collect::<Vec<_>>(),
            "reached": model.provenance.reached,
            "input_hash": model.provenance.input_hash,
            "parameters": layout.parameters,
            "derived": layout.derived,
        })
        .to_string()
    }

    /// The same model with other parameters; what is absent stays.
    #[pyo3(signature = (payload_mass, gravity, rotor_inertia, viscous, coulomb, coulomb_rate))]
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each kind of parameter, all named in Python"
    )]
    fn with_parameters(
        &self,
        py: Python<'_>,
        payload_mass: Option<Vec<f64>>,
        gravity: Option<[f64; 3]>,
        rotor_inertia: Option<Vec<f64>>,
        viscous: Option<Vec<f64>>,
        coulomb: Option<Vec<f64>>,
        coulomb_rate: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let now = self.parameters.clone();
        let parameters = Parameters {
            payload_mass: payload_mass.unwrap_or(now.payload_mass),
            gravity: gravity.unwrap_or(now.gravity),
            rotor_inertia: rotor_inertia.unwrap_or(now.rotor_inertia),
            viscous: viscous.unwrap_or(now.viscous),
            coulomb: coulomb.unwrap_or(now.coulomb),
            coulomb_rate: coulomb_rate.unwrap_or(now.coulomb_rate),
        };
        let model = self.evaluator.model().clone();
        let made = || -> Result<Self, Failure> {
            let evaluator = Evaluator::owning(model).map_err(failure)?;
            Ok(Self {
                evaluator: (evaluator.with_parameters(parameters.clone())).map_err(failure)?,
                parameters,
            })
        };
        py.detach(made).map_err(|error| raise(py, &error))
    }

    /// Status of each θ.
    fn status(
        &self,
        py: Python<'_>,
        theta: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let s = self.evaluator.n_rigid();
        let theta = numbers(py, theta)?;
        let count = rows(&[(&theta, s)])?;
        let ([], how) = self.each_row(py, count, [], |model, i, [], work| {
            model.status(row(&theta, i, s), work)
        })?;
        fill(py, status, &how)
    }

    /// Forces for accelerations, or accelerations for forces, of states (η, rate).
    fn dynamics(
        &self,
        py: Python<'_>,
        inverse: bool,
        given: [Bound<'_, PyAny>; 3],
        found: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let n = self.evaluator.n();
        let [eta, rate, third] = lists(py, &given)?;
        let count = rows(&[(&eta, n), (&rate, n), (&third, n)])?;
        let ([out], how) = self.each_row(py, count, [n], |model, i, [into], work| {
            let [eta, rate, third] = [&eta, &rate, &third].map(|list| row(list, i, n));
            if inverse {
                model.inverse_dynamics(eta, rate, third, into, work)
            } else {
                model.forward_dynamics(eta, rate, third, into, work)
            }
        })?;
        fill(py, found, &out)?;
        fill(py, status, &how)
    }

    /// All coefficients at θ: arrays in the order mass, stiffness, damping, gyroscopic, gravity, load map by θ,
    /// internal frequencies, and of all outputs position, rotation, Jacobian.
    fn coefficients(
        &self,
        py: Python<'_>,
        theta: &Bound<'_, PyAny>,
        found: [Bound<'_, PyAny>; 10],
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (n, s) = (self.evaluator.n(), self.evaluator.n_rigid());
        let theta = numbers(py, theta)?;
        let count = rows(&[(&theta, s)])?;
        let loaded = self.evaluator.model().layout.loaded.len();
        let [position, rotation, jacobian, ..] = self.output_sizes();
        let widths = [
            n * n,
            n * n,
            n * n,
            n * n * n,
            n,
            loaded * s,
            self.internal(),
            position,
            rotation,
            jacobian,
        ];
        let (out, how) = self.each_row(py, count, widths, |model, i, into, work| {
            let c = model.coefficients(row(&theta, i, s), work)?;
            let [
                mass,
                stiffness,
                damping,
                gyroscopic,
                gravity,
                map,
                frequencies,
                mut outputs @ ..,
            ] = into;
            mass.copy_from_slice(&c.mass);
            stiffness.copy_from_slice(&c.stiffness);
            damping.copy_from_slice(&c.damping);
            gyroscopic.copy_from_slice(&c.gyroscopic);
            gravity.copy_from_slice(&c.gravity);
            let mapped = c.load_map.iter().flat_map(|row| &row[..s]);
            map.iter_mut()
                .zip(mapped)
                .for_each(|(to, from)| *to = *from);
            // Where the mass of internal modes is indefinite there are fewer.
            let known = model.frequencies_hz(&c);
            let padded = known.into_iter().chain(std::iter::repeat(f64::NAN));
            (frequencies.iter_mut().zip(padded)).for_each(|(to, from)| *to = from);
            put_outputs(&c.outputs, &mut outputs);
            Ok(c.status)
        })?;
        fill_all(py, &found, &out)?;
        fill(py, status, &how)
    }

    /// Motion of all outputs: position, rotation, Jacobian, velocity, angular velocity.
    fn outputs(
        &self,
        py: Python<'_>,
        given: [Bound<'_, PyAny>; 2],
        found: [Bound<'_, PyAny>; 5],
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let n = self.evaluator.n();
        let [eta, rate] = lists(py, &given)?;
        let count = rows(&[(&eta, n), (&rate, n)])?;
        let widths = self.output_sizes();
        let (out, how) = self.each_row(py, count, widths, |model, i, mut into, work| {
            let (motion, status) = model.outputs(row(&eta, i, n), row(&rate, i, n), work)?;
            put_outputs(&motion, &mut into);
            Ok(status)
        })?;
        fill_all(py, &found, &out)?;
        fill(py, status, &how)
    }

    /// A, B, C, D around states (η, rate) under forces.
    fn linearize(
        &self,
        py: Python<'_>,
        given: [Bound<'_, PyAny>; 3],
        found: [Bound<'_, PyAny>; 4],
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let n = self.evaluator.n();
        let y = 9 * self.evaluator.model().layout.outputs.len();
        let [eta, rate, force] = lists(py, &given)?;
        let count = rows(&[(&eta, n), (&rate, n), (&force, n)])?;
        let widths = [4 * n * n, 2 * n * n, y * 2 * n, y * n];
        let (out, how) = self.each_row(py, count, widths, |model, i, [a, b, c, d], work| {
            let [eta, rate, force] = [&eta, &rate, &force].map(|list| row(list, i, n));
            let (linear, status) = model.linearize(eta, rate, force, work)?;
            a.copy_from_slice(&linear.a);
            b.copy_from_slice(&linear.b);
            c.copy_from_slice(&linear.c);
            d.copy_from_slice(&linear.d);
            Ok(status)
        })?;
        fill_all(py, &found, &out)?;
        fill(py, status, &how)
    }

    /// Actuator forces along motions of θ, and the modal coordinates that follow.
    fn feedforward(
        &self,
        py: Python<'_>,
        given: [Bound<'_, PyAny>; 3],
        found: [Bound<'_, PyAny>; 2],
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (n, s) = (self.evaluator.n(), self.evaluator.n_rigid());
        let [theta, rate, accel] = lists(py, &given)?;
        let count = rows(&[(&theta, s), (&rate, s), (&accel, s)])?;
        let widths = [s, n - s];
        let (out, how) = self.each_row(py, count, widths, |model, i, [force, modal], work| {
            let [theta, rate, accel] = [&theta, &rate, &accel].map(|list| row(list, i, s));
            let (actuators, modes, status) = model.feedforward(theta, rate, accel, work)?;
            force.copy_from_slice(&actuators);
            modal.copy_from_slice(&modes);
            Ok(status)
        })?;
        fill_all(py, &found, &out)?;
        fill(py, status, &how)
    }

    /// One step of states (η, rate) under constant forces.
    fn step(
        &self,
        py: Python<'_>,
        given: [Bound<'_, PyAny>; 2],
        dt: f64,
        found: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let n = self.evaluator.n();
        let [states, force] = lists(py, &given)?;
        let count = rows(&[(&states, 2 * n), (&force, n)])?;
        let ([out], how) = self.each_row(py, count, [2 * n], |model, i, [state], work| {
            state.copy_from_slice(row(&states, i, 2 * n));
            model.step(state, row(&force, i, n), dt, work)
        })?;
        fill(py, found, &out)?;
        fill(py, status, &how)
    }

    /// All derived quantities at θ, one after the other, each row-major.
    fn derived(
        &self,
        py: Python<'_>,
        theta: &Bound<'_, PyAny>,
        found: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let s = self.evaluator.n_rigid();
        let theta = numbers(py, theta)?;
        let count = rows(&[(&theta, s)])?;
        let quantities = &self.evaluator.model().layout.derived;
        let width = quantities.iter().map(|d| d.rows * d.columns).sum();
        let ([out], how) = self.each_row(py, count, [width], |model, i, [all], work| {
            let (values, status) = model.derived(row(&theta, i, s), work)?;
            all.copy_from_slice(&values.concat());
            Ok(status)
        })?;
        fill(py, found, &out)?;
        fill(py, status, &how)
    }

    /// Compares the model with the full one; a JSON document.
    fn check(
        &self,
        py: Python<'_>,
        mechanism: &crate::mechanism::Mechanism,
        samples: usize,
        seed: u64,
        jobs: Option<usize>,
    ) -> PyResult<String> {
        if !(1..=1_000_000).contains(&samples) {
            return Err(PyValueError::new_err(
                "samples is a number from 1 to 1000000",
            ));
        }
        let model = self.evaluator.model();
        watch::away(py, jobs, || {
            let source = commands::source_of(&mechanism.description)?;
            Ok(check::document(model, &source, samples, seed)?.to_string())
        })
    }

    /// Writes the model; returns what is to be warned of.
    #[pyo3(signature = (format, path, single, prefix, fmi, interface, force))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the options of the verb, all named in Python"
    )]
    fn export(
        &self,
        py: Python<'_>,
        format: &str,
        path: PathBuf,
        single: bool,
        prefix: Option<String>,
        fmi: Option<String>,
        interface: Option<String>,
        force: bool,
    ) -> PyResult<Vec<String>> {
        let args = ExportArgs {
            observer: None,
            model: PathBuf::new(),
            format: named::<FormatName>("format", format)?,
            output: path,
            single,
            prefix,
            fmi: (fmi.as_deref().map(|word| named::<FmiName>("fmi", word))).transpose()?,
            interface: (interface.as_deref())
                .map(|word| named::<InterfaceName>("interface", word))
                .transpose()?,
            force,
            json: false,
        };
        let guard = Guard {
            inputs: Vec::new(),
            force,
        };
        let model = self.evaluator.model();
        let write = || export::write(model, &args, &guard);
        py.detach(write).map_err(|error| raise(py, &error))
    }
}

/// A word of the command line's vocabulary.
fn named<T: clap::ValueEnum>(argument: &str, word: &str) -> PyResult<T> {
    T::from_str(word, false).map_err(|_| {
        let known = T::value_variants().iter();
        let known: Vec<String> = known
            .filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned()))
            .collect();
        let known = known.join(", ");
        PyValueError::new_err(format!("{argument} is one of {known}, not `{word}`"))
    })
}

fn lists<const N: usize>(
    py: Python<'_>,
    arrays: &[Bound<'_, PyAny>; N],
) -> PyResult<[Vec<f64>; N]> {
    let mut out: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for (list, array) in out.iter_mut().zip(arrays) {
        *list = numbers(py, array)?;
    }
    Ok(out)
}

/// Writes the motion of all outputs into lists of positions, rotations, Jacobians, velocities and angular
/// velocities, as many as there are; leaves them zero where there is none.
fn put_outputs(motion: &[OutputMotion], lists: &mut [&mut [f64]]) {
    for (index, m) in motion.iter().enumerate() {
        let rotation = m.rotation.transpose();
        let parts: [&[f64]; 5] = [
            m.position.as_slice(),
            rotation.as_slice(),
            &m.jacobian,
            m.velocity.as_slice(),
            m.angular_velocity.as_slice(),
        ];
        for (list, part) in lists.iter_mut().zip(parts) {
            let start = index * part.len();
            list[start..start + part.len()].copy_from_slice(part);
        }
    }
}

fn fill_all<const K: usize>(
    py: Python<'_>,
    arrays: &[Bound<'_, PyAny>; K],
    lists: &[Vec<f64>; K],
) -> PyResult<()> {
    let mut both = arrays.iter().zip(lists);
    both.try_for_each(|(array, values)| fill(py, array, values))
}
