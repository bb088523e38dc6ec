//! `reduce simulate`: the full and the reduced model side by side in time.

mod chart;
mod host;
mod interrupt;
mod summary;

use super::Outcome;
use crate::args::SimulateArgs;
use crate::diagnostics::{self, CommandError, Failure};
use crate::limits::Limits;
use crate::progress::Progress;
use crate::talk;
use exporters::Guard;
use host::Host;
use interrupt::Interrupt;
use reducer::approximation::{LocalModel, SampleDatabase};
use reducer::dynamics::along::AlongPath;
use reducer::dynamics::comparison::compare;
use reducer::dynamics::deflection::rigid_outputs;
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::full::{self, FullError, FullReport, Initial};
use reducer::dynamics::record::Record;
use reducer::dynamics::reduced::{self, ReducedError, ReducedReport, ReducedSettings};
use reducer::dynamics::scenario::{self, Scenario};
use reducer::pipeline;
use reducer::reduced_model::{Evaluator, ReducedModel};
use reducer::sampling::SampleSource;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::Summary;

const FULL: &str = "full.csv";
const REDUCED: &str = "reduced.csv";
const CHART: &str = "comparison.svg";

/// A run of one model.
struct Run<R, E> {
    record: Record,
    result: Result<R, E>,
    seconds: f64,
}

/// Runs the command.
pub fn run(args: &SimulateArgs) -> Result<Outcome, Failure> {
    let mut scenario = scenario::load(&args.scenario)
        .map_err(|faults| Failure::new(faults.faults, faults.sources))?;
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}-simulation", scenario.name)),
    };
    let guard = guard(&args.scenario, args.force, &scenario);
    for name in [FULL, REDUCED, CHART] {
        super::allow(&guard, &folder.join(name))?;
    }
    // Before the reduction, which may take long.
    let _host = Host::serve(&mut scenario)?;
    super::use_threads(args.jobs)?;
    let mechanism = &scenario.mechanism;
    let source = super::source_of(mechanism)?;
    let progress = Progress::new();
    let (model, reduction_seconds) = reduced_model(&scenario, &source, &folder, &progress)?;
    super::same_coordinates(&model, &source)?;
    // Until here Ctrl-C ends the program: there is nothing to keep but samples, which are stored.
    let interrupt = Interrupt::listen()?;
    talk::step("running both models");
    let along = source.path().map(|p| AlongPath::new(p, &scenario.drives));
    let full = run_full(&scenario, &source, along.as_ref(), &progress, &interrupt);
    let settings = ReducedSettings {
        path: source.path().cloned(),
        ..scenario.reduced.clone()
    };
    let reduced = run_reduced(&scenario, &settings, &model, &full.record, &interrupt)?;
    drop(progress);
    write(&folder, &scenario, &full.record, &reduced.record, &guard)?;
    let report = match &full.result {
        Ok(report) => *report,
        Err(error) => {
            return Err(Failure::one(error.clone()).with_sources(mechanism));
        }
    };
    let summary = Summary {
        scenario: scenario.name.clone(),
        differences: compare(&full.record, &reduced.record),
        full_energy: summary::Balance::of(&full.record),
        reduced_energy: summary::Balance::of(&reduced.record),
        full_seconds: full.seconds,
        reduced_seconds: reduced.seconds,
        reduction_seconds,
        full_report: report,
        reduced_report: reduced.result,
        reached: report.reached,
        interrupted: interrupt.is_asked(),
        model_within_tolerance: model.provenance.reached,
    };
    let text = if args.json {
        format!("{}\n", summary.as_json())
    } else {
        summary.as_text(&folder)
    };
    diagnostics::print(&text)?;
    Ok(if summary.is_complete() {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

/// What must not be replaced: the scenario, its mechanism, its model and its tables.
pub(super) fn guard(file: &Path, force: bool, scenario: &Scenario) -> Guard {
    let folder = file.parent().unwrap_or(Path::new(""));
    // Tables are known by their paths from the scenario, other sources by those from here.
    let sources = scenario.sources.iter();
    let read: Vec<PathBuf> = sources
        .flat_map(|source| [PathBuf::from(&source.path), folder.join(&source.path)])
        .chain(scenario.model.clone())
        .collect();
    let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    super::guard(&read, Some(&scenario.mechanism), force)
}

/// The model the scenario names, or that of its mechanism; and the time it took to reduce.
pub(super) fn reduced_model(
    scenario: &Scenario,
    source: &SampleSource,
    folder: &Path,
    progress: &Progress,
) -> Result<(ReducedModel, Option<f64>), Failure> {
    if let Some(path) = &scenario.model {
        let model = super::read_model(path)?;
        same_machine(scenario, source, &model, path)?;
        return Ok((model, None));
    }
    let start = Instant::now();
    let samples = folder.join(".samples");
    let memory = Limits::default().for_samples();
    let mut database = SampleDatabase::open_within(&samples, source.fingerprint(), memory)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    let settings = &scenario.mechanism.approximation;
    let (model, _) = pipeline::reduce(source, settings, progress, &mut database)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    Ok((model, Some(start.elapsed().as_secs_f64())))
}

/// Refuses a stored model of the mechanism as its file describes it where the scenario changes it: the
/// comparison would be one of two machines.
pub(super) fn same_machine(
    scenario: &Scenario,
    source: &SampleSource,
    model: &ReducedModel,
    path: &Path,
) -> Result<(), Failure> {
    let is_its_own = model.provenance.input_hash == source.input_hash();
    if is_its_own || scenario.changes.is_empty() {
        return Ok(());
    }
    Err(Failure::one(CommandError::OtherMachine {
        path: path.to_owned(),
        changes: scenario.changes.clone(),
    }))
}

fn run_full(
    scenario: &Scenario,
    source: &SampleSource,
    along: Option<&AlongPath<'_>>,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Run<FullReport, FullError> {
    let reducer = source.mechanism().reducer();
    let (excitation, initial): (&dyn Excitation, Initial) = match along {
        Some(along) => (along, along.initial(&scenario.initial)),
        None => (&scenario.drives, scenario.initial.clone()),
    };
    let mut record = Record::full(scenario);
    let mut lost = None;
    let start = Instant::now();
    let result = full::simulate(
        reducer,
        excitation,
        &initial,
        &scenario.full,
        &mut |instant| {
            if instant.sample {
                match rigid_outputs(reducer, &instant.theta) {
                    Ok(rigid) => record.add_full(instant, &rigid, along),
                    Err(fault) => {
                        let time = instant.time;
                        lost = Some(FullError::Reference { time, fault });
                        return ControlFlow::Break(());
                    }
                }
            }
            progress.simulating(instant.time, scenario.duration);
            interrupt.flow()
        },
    );
    let result = match lost {
        Some(error) => Err(error),
        None => result,
    };
    Run {
        record,
        result,
        seconds: start.elapsed().as_secs_f64(),
    }
}

/// Runs the reduced model as long as the full one ran; only a further Ctrl-C ends it earlier.
fn run_reduced(
    scenario: &Scenario,
    settings: &ReducedSettings,
    model: &ReducedModel,
    full: &Record,
    interrupt: &Interrupt,
) -> Result<Run<ReducedReport, ReducedError>, Failure> {
    let evaluator = Evaluator::new(model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let layout = &model.layout;
    let modal: Vec<String> = layout.coordinates[layout.n_rigid..]
        .iter()
        .map(|c| c.name.clone())
        .collect();
    let mut record = Record::reduced(scenario, &modal);
    let already_asked = interrupt.is_asked();
    let start = Instant::now();
    let result = reduced::simulate(
        &evaluator,
        &scenario.drives,
        &scenario.initial,
        settings,
        &mut |instant| {
            if record.rows.len() == full.rows.len() {
                return ControlFlow::Break(());
            }
            record.add_reduced(instant);
            if already_asked {
                ControlFlow::Continue(())
            } else {
                interrupt.flow()
            }
        },
    );
    Ok(Run {
        record,
        result,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn write(
    folder: &Path,
    scenario: &Scenario,
    full: &Record,
    reduced: &Record,
    guard: &Guard,
) -> Result<(), Failure> {
    let files = [
        (FULL.to_owned(), full.to_csv().into_bytes()),
        (REDUCED.to_owned(), reduced.to_csv().into_bytes()),
        (
            CHART.to_owned(),
            chart::draw(&scenario.name, full, reduced).into_bytes(),
        ),
    ];
    exporters::write_set(folder, &files, guard).map_err(|e| Failure::one(CommandError::from(e)))
}
