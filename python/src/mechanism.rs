//! A mechanism and its exact reduction.

use crate::errors::raise;
use crate::model::Model;
use crate::watch::{self, Event};
use mechreduce::args::{LocalArgs, Numbers, ReduceArgs};
use mechreduce::commands::reduce::Said;
use mechreduce::commands::{self, local, modes, reduce, validate};
use mechreduce::diagnostics::Failure;
use mechreduce::limits::{self, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use reducer::description::mechanism::Mechanism as Description;
use reducer::reduction::LocalReducer;
use serde_json::json;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A mechanism as its file describes it.
#[pyclass(frozen, module = "mechreduce._mechreduce")]
pub struct Mechanism {
    /// What the file says.
    pub description: Description,
    /// Built when it is first asked for.
    reducer: OnceLock<LocalReducer>,
}

impl Mechanism {
    fn reducer(&self) -> Result<&LocalReducer, Failure> {
        if self.reducer.get().is_none() {
            let built = local::built(&self.description)?;
            // Another thread may have built the same meanwhile.
            let _ = self.reducer.set(built);
        }
        Ok(self.reducer.get().expect("set above or by another thread"))
    }
}

#[pymethods]
impl Mechanism {
    /// Reads a mechanism file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let description = py.detach(|| commands::read_mechanism(&path));
        Ok(Self {
            description: description.map_err(|error| raise(py, &error))?,
            reducer: OnceLock::new(),
        })
    }

    /// Names, as JSON.
    fn layout(&self) -> String {
        let m = &self.description;
        let names: Vec<&str> = m.coordinates.iter().map(|c| c.name.as_str()).collect();
        let outputs: Vec<&str> = m.outputs.iter().map(|o| o.name.as_str()).collect();
        let trajectory = m.approximation.trajectory.is_some();
        json!({
            "name": m.name,
            "coordinates": names,
            "bodies": m.bodies.len(),
            "joints": m.joints.len(),
            "outputs": outputs,
            "trajectory": trajectory,
        })
        .to_string()
    }

    /// The document of `reduce validate`.
    fn validate(&self, py: Python<'_>, at: Option<Vec<f64>>) -> PyResult<String> {
        watch::away(py, None, || {
            Ok(validate::document(&self.description, at.as_deref())?.to_string())
        })
    }

    /// The documents of `reduce local` at each θ.
    #[pyo3(signature = (theta, rate, accel, frequencies, anywhere, on_path, jobs))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the options of the verb, all named in Python"
    )]
    fn local(
        &self,
        py: Python<'_>,
        theta: Vec<Vec<f64>>,
        rate: Option<Vec<f64>>,
        accel: Option<Vec<f64>>,
        frequencies: u16,
        anywhere: bool,
        on_path: bool,
        jobs: Option<usize>,
    ) -> PyResult<Vec<String>> {
        if !(1..=1000).contains(&frequencies) {
            return Err(PyValueError::new_err(
                "frequencies is a number from 1 to 1000",
            ));
        }
        let at = |theta: &[f64]| LocalArgs {
            mechanism: PathBuf::new(),
            at: Numbers(theta.to_vec()),
            rate: rate.clone().map(Numbers),
            accel: accel.clone().map(Numbers),
            frequencies,
            anywhere,
            on_path,
            json: true,
        };
        let mechanism = &self.description;
        watch::away(py, jobs, || {
            if on_path {
                let source = commands::source_of(mechanism)?;
                let found = theta.par_iter().map(|theta| {
                    let document = local::document_on_path(&at(theta), mechanism, &source)?;
                    Ok(document.to_string())
                });
                return found.collect();
            }
            let reducer = self.reducer()?;
            let found = theta
                .par_iter()
                .map(|theta| Ok(local::document(&at(theta), mechanism, reducer)?.to_string()));
            found.collect()
        })
    }

    /// The document of `reduce modes` at θ.
    fn modes(&self, py: Python<'_>, theta: Vec<f64>) -> PyResult<String> {
        watch::away(py, None, || {
            let document = modes::document(&self.description, self.reducer()?, &theta)?;
            Ok(document.to_string())
        })
    }

    /// Reduces the mechanism: the model and the document of `reduce M.toml`.
    #[pyo3(signature = (output, jobs, fresh, samples_dir, memory, time, no_report, force, hear))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the options of the verb, all named in Python"
    )]
    fn reduce(
        &self,
        py: Python<'_>,
        output: Option<PathBuf>,
        jobs: Option<usize>,
        fresh: bool,
        samples_dir: Option<PathBuf>,
        memory: Option<String>,
        time: Option<String>,
        no_report: bool,
        force: bool,
        hear: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Model, String)> {
        let args = ReduceArgs {
            jobs,
            fresh,
            samples_dir,
            memory: (memory.as_deref().map(limits::size))
                .transpose()
                .map_err(PyValueError::new_err)?,
            time: (time.as_deref().map(limits::duration))
                .transpose()
                .map_err(PyValueError::new_err)?,
            no_report,
            force,
            ..ReduceArgs::default()
        };
        let reduction = watch::watched(py, jobs, hear, |watcher| {
            let watcher = watcher.within(Limits::new(args.memory, args.time));
            let say = |said: Said<'_>| {
                if let Said::Warning(text) = said {
                    watcher.tell(Event::Warning(text.to_owned()));
                }
            };
            let folder = output.as_deref();
            let reduction = reduce::reduce(&self.description, &args, folder, &watcher, &say)?;
            let document = reduction.document().to_string();
            Ok((Model::new(reduction.model)?, document))
        })?;
        Ok(reduction)
    }
}
