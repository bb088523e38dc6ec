//! Scenarios: both models in time, and forces for paths.

use crate::watch;
use mechreduce::commands::{invert as inversion, simulate as verb};
use mechreduce::diagnostics::Failure;
use pyo3::prelude::*;
use reducer::dynamics::record::Record;
use std::path::PathBuf;

/// Names of columns, and all rows one after the other.
type Table = (Vec<String>, Vec<f64>);

/// Runs a scenario: the tables of the full and the reduced model, and the summary as JSON. With a folder, the files
/// of the verb as well.
#[pyfunction]
#[pyo3(signature = (path, output, jobs, force, hear))]
pub fn simulate(
    py: Python<'_>,
    path: PathBuf,
    output: Option<PathBuf>,
    jobs: Option<usize>,
    force: bool,
    hear: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Table, Table, String)> {
    watch::watched(py, jobs, hear, |watcher| -> Result<_, Failure> {
        let mut scenario = verb::load(&path)?;
        let guard = verb::guard(&path, &scenario, force);
        if let Some(folder) = &output {
            verb::allow(folder, &guard)?;
        }
        // Before the reduction, which may take long.
        let _host = verb::Host::serve(&mut scenario)?;
        let samples = output.as_ref().map(|folder| folder.join(".samples"));
        let runs = verb::simulate(&scenario, samples.as_deref(), &watcher)?;
        if let Some(folder) = &output {
            verb::write(folder, &scenario, &runs, &guard)?;
        }
        let summary = runs.summary(&scenario)?.as_json().to_string();
        Ok((
            table(&runs.full.record),
            table(&runs.reduced.record),
            summary,
        ))
    })
}

/// Inverts the path of a scenario: the table of forces and motions, and what was found as JSON. With a folder, the
/// files of the verb as well.
#[pyfunction]
#[pyo3(signature = (path, output, jobs, force, hear))]
pub fn invert(
    py: Python<'_>,
    path: PathBuf,
    output: Option<PathBuf>,
    jobs: Option<usize>,
    force: bool,
    hear: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Table, String)> {
    watch::watched(py, jobs, hear, |watcher| -> Result<_, Failure> {
        let scenario = verb::load(&path)?;
        let guard = verb::guard(&path, &scenario, force);
        if let Some(folder) = &output {
            inversion::allow(folder, &guard)?;
        }
        let samples = output.as_ref().map(|folder| folder.join(".samples"));
        let inverted = inversion::solve(&scenario, samples.as_deref(), &watcher)?;
        if let Some(folder) = &output {
            inversion::write(folder, &scenario, &inverted, &guard)?;
        }
        let found = &inverted.found;
        let columns = found.columns(&inverted.model, &scenario.tracked);
        let numbers = (0..found.times.len()).flat_map(|i| found.row(i)).collect();
        Ok(((columns, numbers), inverted.as_json(&scenario).to_string()))
    })
}

fn table(record: &Record) -> Table {
    (record.columns.clone(), record.rows.concat())
}
