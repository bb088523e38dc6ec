//! `reduce simulate`: the full and the reduced model side by side in time.

pub(super) mod chart;
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
pub use host::Host;
use interrupt::Interrupt;
use reducer::approximation::{LocalModel, Observer, Progress as State, SampleDatabase};
use reducer::description::closest;
use reducer::dynamics::along::AlongPath;
use reducer::dynamics::comparison::compare;
use reducer::dynamics::deflection::rigid_outputs;
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::full::{self, FullError, FullReport, Initial};
use reducer::dynamics::observer::ObserverStatistics;
use reducer::dynamics::record::Record;
use reducer::dynamics::reduced::{self, ReducedError, ReducedReport, ReducedSettings};
use reducer::dynamics::scenario::{self, Scenario};
use reducer::pipeline;
use reducer::reduced_model::{Evaluator, ReducedModel};
use reducer::sampling::SampleSource;
use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;
pub use summary::Summary;

const FULL: &str = "full.csv";
const REDUCED: &str = "reduced.csv";
const CHART: &str = "comparison.svg";

/// A run of one model.
pub struct Run<R, E> {
    /// What was written down.
    pub record: Record,
    /// How it ended.
    pub result: Result<R, E>,
    /// Wall time.
    pub seconds: f64,
}

/// Who looks on.
pub trait Watch: Observer {
    /// The model is there and its runs begin.
    fn begin(&self) -> Result<(), Failure>;
    /// The full model has reached a time.
    fn simulating(&self, time: f64, duration: f64);
    /// The runs are to end early.
    fn ends(&self) -> bool;
}

/// Somebody at a terminal.
struct Terminal {
    progress: Progress,
    interrupt: OnceCell<Interrupt>,
}

impl Observer for Terminal {
    fn phase(&self, name: &str) {
        self.progress.phase(name);
    }

    fn progress(&self, state: &State) {
        Observer::progress(&self.progress, state);
    }

    fn sampling(&self, left: usize) {
        self.progress.sampling(left);
    }

    fn fitting(&self, boxes: usize) {
        self.progress.fitting(boxes);
    }
}

impl Watch for Terminal {
    fn begin(&self) -> Result<(), Failure> {
        // Until here Ctrl-C ends the program: there is nothing to keep but samples, which are stored.
        let interrupt = Interrupt::listen()?;
        let _ = self.interrupt.set(interrupt);
        talk::step("running both models");
        Ok(())
    }

    fn simulating(&self, time: f64, duration: f64) {
        self.progress.simulating(time, duration);
    }

    fn ends(&self) -> bool {
        self.interrupt.get().is_some_and(Interrupt::is_asked)
    }
}

/// Runs the command.
pub fn run(args: &SimulateArgs) -> Result<Outcome, Failure> {
    let mut scenario = load(&args.scenario)?;
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}-simulation", scenario.name)),
    };
    check_shown(&args.show, &scenario)?;
    let guard = guard(&args.scenario, &scenario, args.force);
    allow(&folder, &guard)?;
    // Before the reduction, which may take long.
    let _host = Host::serve(&mut scenario)?;
    super::use_threads(args.jobs)?;
    let watch = Terminal {
        progress: Progress::new(),
        interrupt: OnceCell::new(),
    };
    let runs = simulate(&scenario, Some(&folder.join(".samples")), &watch)?;
    drop(watch);
    write_showing(&folder, &scenario, &runs, &guard, &args.show)?;
    let summary = runs.summary(&scenario)?;
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

/// Refuses panels that the chart does not have, before the work.
fn check_shown(shown: &[String], scenario: &Scenario) -> Result<(), Failure> {
    let groups = Record::full(scenario).groups;
    let known: Vec<String> = groups.into_iter().map(|group| group.name).collect();
    let Some(name) = shown.iter().find(|name| !known.contains(name)) else {
        return Ok(());
    };
    Err(Failure::one(CommandError::UnknownSignal {
        option: "show",
        name: name.clone(),
        suggestion: closest(name, known.iter().map(String::as_str)),
        known,
    }))
}

/// Reads a scenario file.
pub fn load(path: &Path) -> Result<Scenario, Failure> {
    scenario::load(path).map_err(|faults| Failure::new(faults.faults, faults.sources))
}

/// Both models of a scenario in time.
pub struct Runs {
    /// The full model.
    pub full: Run<FullReport, FullError>,
    /// The reduced one.
    pub reduced: Run<ReducedReport, ReducedError>,
    /// What the observer saw of each, where there is one.
    pub observed: [Option<ObserverStatistics>; 2],
    reduction_seconds: Option<f64>,
    interrupted: bool,
    model_within_tolerance: bool,
}

impl Runs {
    /// What the comparison found; the failure of the full model where it failed.
    pub fn summary(&self, scenario: &Scenario) -> Result<Summary, Failure> {
        let (full, reduced) = (&self.full, &self.reduced);
        let report = match &full.result {
            Ok(report) => *report,
            Err(error) => {
                return Err(Failure::one(error.clone()).with_sources(&scenario.mechanism));
            }
        };
        Ok(Summary {
            scenario: scenario.name.clone(),
            differences: compare(&full.record, &reduced.record),
            full_energy: summary::Balance::of(&full.record),
            reduced_energy: summary::Balance::of(&reduced.record),
            observed: self.observed,
            full_seconds: full.seconds,
            reduced_seconds: reduced.seconds,
            reduction_seconds: self.reduction_seconds,
            full_report: report,
            reduced_report: reduced.result.clone(),
            reached: report.reached,
            interrupted: self.interrupted,
            model_within_tolerance: self.model_within_tolerance,
        })
    }
}

/// Runs both models. A mechanism that must be reduced for it stores its samples in the folder given.
pub fn simulate(
    scenario: &Scenario,
    samples: Option<&Path>,
    watch: &dyn Watch,
) -> Result<Runs, Failure> {
    let source = super::source_of(&scenario.mechanism)?;
    let (model, reduction_seconds) = reduced_model(scenario, &source, samples, watch)?;
    super::same_coordinates(&model, &source)?;
    // Each run begins with an observer of its own.
    let refused = |e| Failure::new(vec![e], scenario.sources.clone());
    let scenario = &scenario
        .calling(&model)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    let scenarios = [(); 2].map(|()| scenario.observed(&model));
    let [for_full, for_reduced] = scenarios;
    let (for_full, for_reduced) = (&for_full.map_err(refused)?, &for_reduced.map_err(refused)?);
    watch.begin()?;
    let along = source.path().map(|p| AlongPath::new(p, &scenario.drives));
    let full = run_full(for_full, &source, along.as_ref(), watch);
    let settings = ReducedSettings {
        path: source.path().cloned(),
        ..scenario.reduced.clone()
    };
    let reduced = run_reduced(for_reduced, &settings, &model, Some(&full.record), watch)?;
    Ok(Runs {
        full,
        reduced,
        observed: [for_full, for_reduced].map(|s| s.observer().and_then(|o| o.statistics())),
        reduction_seconds,
        interrupted: watch.ends(),
        model_within_tolerance: model.provenance.reached,
    })
}

/// Goes on unless an end is asked for.
fn flow(watch: &dyn Watch) -> ControlFlow<()> {
    if watch.ends() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// What must not be replaced: the scenario, its mechanism, its model and its tables.
pub fn guard(file: &Path, scenario: &Scenario, force: bool) -> Guard {
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

/// Refuses files that the results would replace, before the work that they are to hold.
pub fn allow(folder: &Path, guard: &Guard) -> Result<(), Failure> {
    let mut names = [FULL, REDUCED, CHART].iter();
    names.try_for_each(|name| super::allow(guard, &folder.join(name)))
}

/// The model the scenario names, or that of its mechanism; and the time it took to reduce.
pub(super) fn reduced_model(
    scenario: &Scenario,
    source: &SampleSource,
    samples: Option<&Path>,
    observer: &dyn Observer,
) -> Result<(ReducedModel, Option<f64>), Failure> {
    if let Some(path) = &scenario.model {
        let model = super::read_model(path)?;
        same_machine(scenario, source, &model, path)?;
        return Ok((model, None));
    }
    let start = Instant::now();
    let memory = Limits::default().for_samples();
    let mut database = match samples {
        Some(folder) => SampleDatabase::open_within(folder, source.fingerprint(), memory)
            .map_err(|e| Failure::one(CommandError::from(e)))?,
        None => SampleDatabase::in_memory(),
    };
    let settings = &scenario.mechanism.approximation;
    let (model, _) = pipeline::reduce(source, settings, observer, &mut database)
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

pub(super) fn run_full(
    scenario: &Scenario,
    source: &SampleSource,
    along: Option<&AlongPath<'_>>,
    watch: &dyn Watch,
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
            watch.simulating(instant.time, scenario.duration);
            flow(watch)
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

/// Runs the reduced model as long as the full one ran, or to the end; only a further Ctrl-C ends it earlier.
pub(super) fn run_reduced(
    scenario: &Scenario,
    settings: &ReducedSettings,
    model: &ReducedModel,
    full: Option<&Record>,
    watch: &dyn Watch,
) -> Result<Run<ReducedReport, ReducedError>, Failure> {
    let evaluator = Evaluator::new(model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let layout = &model.layout;
    let modal: Vec<String> = layout.coordinates[layout.n_rigid..]
        .iter()
        .map(|c| c.name.clone())
        .collect();
    let mut record = Record::reduced(scenario, &modal);
    let already_asked = watch.ends();
    let start = Instant::now();
    let result = reduced::simulate(
        &evaluator,
        &scenario.drives,
        &scenario.initial,
        settings,
        &mut |instant| {
            if full.is_some_and(|full| record.rows.len() == full.rows.len()) {
                return ControlFlow::Break(());
            }
            record.add_reduced(instant);
            if already_asked {
                ControlFlow::Continue(())
            } else {
                flow(watch)
            }
        },
    );
    Ok(Run {
        record,
        result,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Writes both records and their chart.
pub fn write(
    folder: &Path,
    scenario: &Scenario,
    runs: &Runs,
    guard: &Guard,
) -> Result<(), Failure> {
    write_showing(folder, scenario, runs, guard, &[])
}

/// The same with these panels of the chart alone, where there are any.
fn write_showing(
    folder: &Path,
    scenario: &Scenario,
    runs: &Runs,
    guard: &Guard,
    shown: &[String],
) -> Result<(), Failure> {
    let (full, reduced) = (&runs.full.record, &runs.reduced.record);
    let files = [
        (FULL.to_owned(), full.to_csv().into_bytes()),
        (REDUCED.to_owned(), reduced.to_csv().into_bytes()),
        (
            CHART.to_owned(),
            chart::draw(&scenario.name, full, reduced, shown).into_bytes(),
        ),
    ];
    exporters::write_set(folder, &files, guard).map_err(|e| Failure::one(CommandError::from(e)))
}
