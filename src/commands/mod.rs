//! One file per verb.

mod body;
pub mod check;
mod completions;
mod eval;
pub mod export;
pub mod invert;
mod linear;
pub mod local;
mod man;
pub mod modes;
mod new;
mod plot;
pub mod reduce;
mod report;
mod scan;
mod schema;
pub mod simulate;
mod tables;
pub mod validate;

use crate::args::{Args, Command};
use crate::diagnostics::{self, CommandError, Failure};
use crate::talk;
use exporters::Guard;
use reducer::approximation::{LocalModel, PATH};
use reducer::description::mechanism::Mechanism;
use reducer::description::{Stores, closest, load_with};
use reducer::finite_elements::BodyStore;
use reducer::reduced_model::ReducedModel;
use reducer::sampling::SampleSource;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Most threads of `--jobs`.
const MOST_THREADS: usize = 1024;

/// How a command ended when it could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// Done, but a tolerance was not reached or a check failed.
    FellShort,
}

/// Runs what was asked for.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.command {
        None => reduce::run(&args.reduce),
        Some(Command::Validate(args)) => validate::run(args),
        Some(Command::Body(args)) => body::run(args),
        Some(Command::Scan(args)) => scan::run(args),
        Some(Command::Local(args)) => local::run(args),
        Some(Command::Modes(args)) => modes::run(args),
        Some(Command::Eval(args)) => eval::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Simulate(args)) => simulate::run(args),
        Some(Command::Linear(args)) => linear::run(args),
        Some(Command::Invert(args)) => invert::run(args),
        Some(Command::Export(args)) => export::run(args),
        Some(Command::New(args)) => new::run(args),
        Some(Command::Completions(args)) => completions::run(args),
        Some(Command::Schema(args)) => schema::run(args),
        Some(Command::Man(args)) => man::run(args),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::Plot(args)) => plot::run(args),
    }
}

/// Folder of a reduction unless another is asked for.
fn usual_folder(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}-reduced"))
}

/// Condensed bodies beside the samples of a folder.
fn store_of(samples: &Path) -> BodyStore {
    BodyStore::new(&samples.join("bodies"))
}

/// Reads a mechanism file. Condensed bodies are kept where a reduction has left its samples, if it has.
pub fn read_mechanism(path: &Path) -> Result<Mechanism, Failure> {
    read_mechanism_with(path, &|name| {
        let samples = usual_folder(name).join(".samples");
        samples.is_dir().then(|| store_of(&samples))
    })
}

/// Reads a mechanism file, with condensed bodies where `stores` says.
fn read_mechanism_with(path: &Path, stores: &Stores<'_>) -> Result<Mechanism, Failure> {
    if !path.exists() {
        return Err(Failure::one(CommandError::NoSuchFile {
            path: path.to_owned(),
            similar: similar_file(path),
        }));
    }
    if path
        .extension()
        .is_some_and(|ending| ending == "json" || ending == "h5")
    {
        return Err(Failure::one(CommandError::NoMechanismFile {
            path: path.to_owned(),
        }));
    }
    let mechanism = load_with(path, stores)?;
    talk::step(&format!(
        "read {}: mechanism `{}`, {} bodies, {} joints, {} actuated",
        path.display(),
        mechanism.name,
        mechanism.bodies.len(),
        mechanism.joints.len(),
        mechanism.coordinates.len()
    ));
    Ok(mechanism)
}

/// A mechanism file in the same folder with nearly the same name.
fn similar_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let listed = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut names: Vec<String> = std::fs::read_dir(listed)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    let name = path.file_name()?.to_str()?;
    closest(name, names.iter().map(String::as_str)).map(|near| folder.join(near))
}

/// Reads a model file.
pub fn read_model(path: &Path) -> Result<ReducedModel, Failure> {
    let model = exporters::read_model(path).map_err(|error| {
        Failure::one(CommandError::Read {
            path: path.to_owned(),
            error,
        })
    })?;
    talk::step(&format!(
        "read {}: model `{}`, {} coordinates, {} box(es)",
        path.display(),
        model.layout.name,
        model.layout.n(),
        model.boxes.len()
    ));
    Ok(model)
}

/// Says which model was written where: one line with `--verbose`, a document with `--json`.
fn tell_written(model: &ReducedModel, output: &Path, json: bool) -> Result<Outcome, Failure> {
    let output = output.display();
    talk::step(&format!("written to {output}"));
    if json {
        let document = json!({ "name": model.layout.name, "output": output.to_string() });
        diagnostics::print(&format!("{document}\n"))?;
    }
    Ok(Outcome::Done)
}

/// What a command must not replace: the files that it reads, and without `force` those of others.
pub fn guard(read: &[&Path], mechanism: Option<&Mechanism>, force: bool) -> Guard {
    let included = mechanism.into_iter().flat_map(files_of);
    Guard {
        inputs: (read.iter().map(|path| path.to_path_buf()))
            .chain(included)
            .collect(),
        force,
    }
}

/// The files that a mechanism was read from: its own, included ones and that of its trajectory.
fn files_of(mechanism: &Mechanism) -> Vec<PathBuf> {
    let sources = mechanism.sources.iter();
    let mut files: Vec<PathBuf> = sources.map(|s| PathBuf::from(&s.path)).collect();
    let trajectory = mechanism.approximation.trajectory.as_ref();
    if let (Some(own), Some(path)) = (files.first(), trajectory.and_then(|t| t.file.as_ref())) {
        files.push(own.with_file_name(path));
    }
    files
}

/// Refuses an output file before the work that it is to hold.
fn allow(guard: &Guard, output: &Path) -> Result<(), Failure> {
    guard
        .allow(output)
        .map_err(|e| Failure::one(CommandError::from(e)))
}

/// Refuses numbers of threads that no machine has.
pub fn check_threads(jobs: usize) -> Result<(), Failure> {
    if jobs == 0 {
        return Err(Failure::one(CommandError::NoThreads));
    }
    if jobs > MOST_THREADS {
        let limit = MOST_THREADS;
        return Err(Failure::one(CommandError::TooManyThreads { jobs, limit }));
    }
    Ok(())
}

/// Sets the number of threads of all parallel work.
fn use_threads(jobs: Option<usize>) -> Result<(), Failure> {
    let Some(jobs) = jobs else { return Ok(()) };
    check_threads(jobs)?;
    // The pool exists already only if this was called before, with the same number.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build_global();
    Ok(())
}

/// Refuses to compare a model with another mechanism.
pub fn same_coordinates(model: &ReducedModel, source: &SampleSource) -> Result<(), Failure> {
    let layout = source.layout();
    if layout.coordinates == model.layout.coordinates && layout.outputs == model.layout.outputs {
        return Ok(());
    }
    let (model, mechanism) = (&model.layout, layout.name);
    let follows_path = model.n_rigid == 1 && model.coordinates[0].name == PATH;
    let model = model.name.clone();
    Err(Failure::one(match (follows_path, source.path()) {
        (true, None) => CommandError::NoTrajectory { model, mechanism },
        (false, Some(_)) => CommandError::OverDomain { model, mechanism },
        _ => CommandError::OtherMechanism { model, mechanism },
    }))
}

/// Where the samples of a mechanism come from: its domain, or the path its file asks for.
pub fn source_of(mechanism: &Mechanism) -> Result<SampleSource, Failure> {
    SampleSource::new(mechanism).map_err(|e| Failure::one(e).with_sources(mechanism))
}
