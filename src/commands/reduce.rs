//! `reduce M.toml`: the whole pipeline, from the mechanism file to a folder of models.

use super::{Outcome, tables};
use crate::args::ReduceArgs;
use crate::diagnostics::{self, CommandError, Failure};
use crate::limits::Limits;
use crate::progress::Progress;
use crate::ranks::{self, Follows, Leads, Part, RanksError};
use crate::talk;
use exporters::{ExportOptions, Guard, WriteError};
use reducer::approximation::{LargePlace, LargestCost, LocalModel, Observer, SampleDatabase};
use reducer::description::mechanism::Mechanism;
use reducer::distribution::{self, Leader};
use reducer::pipeline::{self, PipelineError, Summary};
use reducer::reduced_model::{
    BlockError, Continuity, CutShort, Evaluator, ModelLayout, ReducedModel, Workspace,
};
use reducer::reduction::ModeChoice;
use reducer::sampling::{SampleSource, UnrepresentedModes};
use reducer::scan::Scan;
use reducer::survey::{Survey, survey};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// Runs the command, alone or with other processes.
pub fn run(args: &ReduceArgs) -> Result<Outcome, Failure> {
    match ranks::join().map_err(Failure::one)? {
        None => lead(args, None),
        Some(Part::Leads(part)) => lead(args, Some(&part)),
        Some(Part::Follows(part)) => {
            follow(args, &part);
            Ok(Outcome::Done)
        }
    }
}

/// Evaluates what the leading process sends. What is wrong with the input, that one tells.
fn follow(args: &ReduceArgs, part: &Follows) {
    let prepare = || {
        super::use_threads(args.jobs.or_else(|| threads_beside(part.neighbours)))?;
        let path = args.mechanism.as_ref();
        let path = path.ok_or_else(|| Failure::one(CommandError::NoMechanism))?;
        super::source_of(&super::read_mechanism(path)?)
    };
    match prepare() {
        Ok(source) => distribution::follow(&part.post, Ok(&source)),
        Err(failure) => {
            let message = |fault: &Value| fault["message"].as_str().map(str::to_owned);
            let first = failure.document()["faults"][0].clone();
            let reason = message(&first).unwrap_or_default();
            distribution::follow(&part.post, Err(reason));
        }
    }
}

/// Threads of one of several processes on this machine.
fn threads_beside(neighbours: usize) -> Option<usize> {
    let all = std::thread::available_parallelism().ok()?.get();
    Some((all / neighbours.max(1)).max(1))
}

fn lead(args: &ReduceArgs, part: Option<&Leads>) -> Result<Outcome, Failure> {
    let Some(path) = &args.mechanism else {
        return Err(Failure::one(CommandError::NoMechanism));
    };
    let folder_of = |name: &str| match &args.output {
        Some(folder) => folder.clone(),
        None => super::usual_folder(name),
    };
    let mechanism = super::read_mechanism_with(path, &|name| {
        let samples = args.samples_dir.clone();
        let samples = samples.unwrap_or_else(|| folder_of(name).join(".samples"));
        (!args.fresh).then(|| super::store_of(&samples))
    })?;
    let folder = folder_of(&mechanism.name);
    let beside = part.and_then(|part| threads_beside(part.neighbours));
    super::use_threads(args.jobs.or(beside))?;
    let progress = Progress::within(Limits::new(args.memory, args.time));
    let reduction = reduce_with(
        &mechanism,
        args,
        Some(&folder),
        part.map(|part| &part.leader),
        &progress,
        &|said| match said {
            Said::Warning(text) => talk::warn(text),
            Said::Step(text) => talk::step(text),
        },
    )?;
    drop(progress);
    let text = if args.json {
        format!("{}\n", reduction.document())
    } else {
        reduction.as_text(&mechanism.name, &folder)
    };
    diagnostics::print(&text)?;
    Ok(if reduction.is_good() {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

/// What a reduction has to say while it goes on.
pub enum Said<'a> {
    /// Something to look at.
    Warning(&'a str),
    /// What is done now.
    Step(&'a str),
}

/// A finished reduction.
pub struct Reduction {
    /// The model.
    pub model: ReducedModel,
    source: SampleSource,
    summary: Summary,
    unrepresented: Vec<UnrepresentedModes>,
    /// Why there is no C and no Rust.
    refused: Option<String>,
    times: Times,
}

impl Reduction {
    /// Everything was reached and written.
    pub fn is_good(&self) -> bool {
        self.summary.reached && self.refused.is_none()
    }

    /// What was reached, as JSON.
    pub fn document(&self) -> Value {
        let layout = &self.model.layout;
        let mut document = as_json(&self.summary, layout, &self.modes(), &self.times);
        document["source_refused"] = json!(self.refused);
        document["without_geometric_stiffness"] = json!(self.unstressed());
        document
    }

    fn as_text(&self, name: &str, folder: &Path) -> String {
        let layout = &self.model.layout;
        let modes = self.modes();
        let mut text = as_text(name, folder, &self.summary, layout, &modes, &self.times);
        let unstressed = self.unstressed();
        if !unstressed.is_empty() {
            let _ = writeln!(
                text,
                "without geometric stiffness inside, because matrices do not tell of prestress: {}",
                unstressed.join(", ")
            );
        }
        if let Some(reason) = &self.refused {
            let _ = writeln!(text, "no C and no Rust were written: {reason}");
        }
        text
    }

    /// Bodies whose terms of second order are not complete.
    fn unstressed(&self) -> Vec<String> {
        let model = self.source.mechanism().reducer().model();
        model.without_geometric_stiffness()
    }

    fn modes(&self) -> Modes<'_> {
        Modes {
            choice: self.source.mechanism().reducer().mode_choice(),
            unrepresented: &self.unrepresented,
        }
    }
}

/// Reduces a mechanism and writes all files into `folder`, where one is given. Samples are stored where `args`
/// says, otherwise in the folder, otherwise nowhere.
pub fn reduce(
    mechanism: &Mechanism,
    args: &ReduceArgs,
    folder: Option<&Path>,
    observer: &dyn Observer,
    say: &dyn Fn(Said<'_>),
) -> Result<Reduction, Failure> {
    reduce_with(mechanism, args, folder, None, observer, say)
}

/// The same, with samples that other processes take part in.
fn reduce_with(
    mechanism: &Mechanism,
    args: &ReduceArgs,
    folder: Option<&Path>,
    leader: Option<&Leader>,
    observer: &dyn Observer,
    say: &dyn Fn(Said<'_>),
) -> Result<Reduction, Failure> {
    let start = Instant::now();
    let guard = super::guard(&[], Some(mechanism), args.force);
    if let Some(folder) = folder {
        // What would refuse the files is found before the long work.
        must_be_folder(folder)?;
        exporters::check_all(&mechanism.name, folder, &ExportOptions::default(), &guard)
            .map_err(|e| Failure::one(CommandError::from(e)))?;
    }
    observer.phase("assembling");
    let source = super::source_of(mechanism)?;
    let mut database = samples(args, folder, &source)?;
    if database.is_partly_read() {
        say(Said::Warning(
            "stored samples beyond 512 MB are not read and computed again; remove files of `.samples` that are no longer needed",
        ));
    }
    say(Said::Step("scanning"));
    let scan = super::scan::of(mechanism, &source);
    for warning in scan.iter().flat_map(super::scan::warnings) {
        say(Said::Warning(&warning));
    }
    let layout = source.layout();
    say(Said::Step(&format!(
        "{} dofs, {} generalised coordinates, {} stored samples, {} thread(s)",
        layout.full_dofs,
        layout.n(),
        database.len(),
        rayon::current_num_threads()
    )));
    let shared = match leader {
        Some(leader) => {
            let together = leader.gather(source.fingerprint());
            together.map_err(|e| Failure::one(RanksError::from(e)))?;
            Some(leader.share(&source))
        }
        None => None,
    };
    let local: &dyn LocalModel = match &shared {
        Some(shared) => shared,
        None => &source,
    };
    let (model, summary) =
        pipeline::reduce(local, &mechanism.approximation, observer, &mut database)
            .map_err(|e| Failure::one(CommandError::from(e)))?;
    let survey = match folder {
        Some(_) if !args.no_report => Some(surveyed(&model, &source, &summary, scan, observer)?),
        _ => None,
    };
    if observer.is_given_up() {
        return Err(Failure::one(CommandError::from(PipelineError::GivenUp)));
    }
    observer.phase("writing");
    let (written, unrepresented) = rayon::join(
        || folder.map_or(Ok(None), |f| write(&model, survey.as_ref(), f, &guard)),
        || source.unrepresented_modes(),
    );
    let refused = written.map_err(|e| Failure::one(CommandError::from(e)))?;
    if let Some(folder) = folder {
        say(Said::Step(&format!("written to {}", folder.display())));
    }
    let times = Times {
        run: start.elapsed().as_secs_f64(),
        call: call_seconds(&model),
    };
    Ok(Reduction {
        refused: refused.map(|error| error.to_string()),
        model,
        source,
        summary,
        unrepresented,
        times,
    })
}

/// Samples of earlier runs, and where those of this one go.
fn samples(
    args: &ReduceArgs,
    folder: Option<&Path>,
    source: &SampleSource,
) -> Result<SampleDatabase, Failure> {
    let stored = folder.map(|folder| folder.join(".samples"));
    let Some(place) = args.samples_dir.clone().or(stored) else {
        return Ok(SampleDatabase::in_memory());
    };
    let bytes = Limits::new(args.memory, None).for_samples();
    if args.fresh {
        return Ok(SampleDatabase::scratch(&place, bytes));
    }
    SampleDatabase::open_within(&place, source.fingerprint(), bytes)
        .map_err(|e| Failure::one(CommandError::from(e)))
}

/// What the report shows of the full model.
fn surveyed(
    model: &ReducedModel,
    source: &SampleSource,
    summary: &Summary,
    scan: Option<Scan>,
    observer: &dyn Observer,
) -> Result<Survey, Failure> {
    observer.phase("surveying");
    let found = survey(model, source).map_err(|e| Failure::one(CommandError::from(e)))?;
    Ok(Survey {
        history: summary.history.clone(),
        scan,
        ..found
    })
}

/// Writes all files; returns why source was refused, where it was.
fn write(
    model: &ReducedModel,
    survey: Option<&Survey>,
    folder: &Path,
    guard: &Guard,
) -> Result<Option<WriteError>, WriteError> {
    let options = ExportOptions::default();
    match survey {
        Some(_) => exporters::write_all(model, survey, folder, &options, guard),
        None => exporters::write_without_report(model, folder, &options, guard),
    }
}

/// Refuses an output folder in whose place, or above it, a file stands.
fn must_be_folder(folder: &Path) -> Result<(), Failure> {
    match folder.ancestors().find(|place| place.exists()) {
        Some(place) if !place.is_dir() => Err(Failure::one(CommandError::OutputIsFile {
            file: place.to_owned(),
        })),
        _ => Ok(()),
    }
}

/// Seconds that pass on this machine.
struct Times {
    run: f64,
    /// One inverse dynamics; none where there is no box.
    call: Option<f64>,
}

/// Time of one inverse dynamics in the middle of a box: the shortest of several batches, which other
/// programs disturb least.
fn call_seconds(model: &ReducedModel) -> Option<f64> {
    let evaluator = Evaluator::new(model).ok()?;
    let mut work = Workspace::default();
    let n = model.layout.n();
    let (mut eta, moving, mut force) = (vec![0.0; n], vec![0.1; n], vec![0.0; n]);
    let b = model.boxes.first()?;
    for (at, (lower, upper)) in eta.iter_mut().zip(b.lower.iter().zip(&b.upper)) {
        *at = 0.5 * (lower + upper);
    }
    let mut batch = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            let eta = std::hint::black_box(&eta);
            evaluator
                .inverse_dynamics(eta, &moving, &moving, &mut force, &mut work)
                .ok()?;
        }
        Some(start.elapsed().as_secs_f64() / f64::from(count))
    };
    let guess = batch(1)?.max(1e-7);
    let count = (1e-3 / guess).clamp(1.0, 1000.0) as u32;
    let batches: Option<Vec<f64>> = (0..8).map(|_| batch(count)).collect();
    batches?.into_iter().reduce(f64::min)
}

/// What is to be told of the internal modes.
struct Modes<'a> {
    /// Where the file leaves them open.
    choice: Option<&'a ModeChoice>,
    unrepresented: &'a [UnrepresentedModes],
}

fn as_json(summary: &Summary, layout: &ModelLayout, modes: &Modes<'_>, times: &Times) -> Value {
    let entry = |e: &BlockError| {
        let mut entry = Map::new();
        if let Some(found) = summary.largest.iter().find(|l| l.block() == Some(e.block)) {
            tables::found(found, &mut entry);
        }
        entry.insert("mean".into(), json!(e.mean));
        entry.insert("max".into(), json!(e.max));
        (e.block.name().to_owned(), Value::Object(entry))
    };
    let errors: Map<String, Value> = summary.errors.iter().map(entry).collect();
    json!({
        "full_dofs": summary.full_dofs,
        "reduced_dofs": summary.reduced_dofs,
        "samples": summary.samples,
        "routed_samples": summary.routed_samples,
        "evaluated": summary.evaluated,
        "boxes": summary.boxes,
        "dropped": summary.missing.len(),
        "missing": summary.missing,
        "stored_numbers": summary.stored_numbers,
        "stored_numbers_outputs": summary.stored_numbers_outputs,
        "errors": errors,
        "largest_cost": summary.largest_cost,
        "absolute": tables::absolute(&summary.largest, layout),
        "jumps": tables::absolute(&summary.jumps, layout),
        "continuity": summary.continuity,
        "certified": summary.certified,
        "short": summary.short,
        "stiffening": layout.stiffening,
        "validity": layout.validity,
        "default_modes": modes.choice.map(tables::mode_choice),
        "unrepresented_modes": modes.unrepresented,
        "history": summary.history,
        "work": summary.work,
        "cut_short": summary.cut_short,
        "reached": summary.reached,
        "seconds": times.run,
        "call_seconds": times.call,
    })
}

fn as_text(
    name: &str,
    folder: &Path,
    summary: &Summary,
    layout: &ModelLayout,
    modes: &Modes<'_>,
    times: &Times,
) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{name}: {} dofs reduced to {}, {} box(es), {} + {} numbers (dynamics + outputs)",
        summary.full_dofs,
        summary.reduced_dofs,
        summary.boxes,
        summary.stored_numbers,
        summary.stored_numbers_outputs,
    );
    let _ = writeln!(
        out,
        "{} samples, {} computed now, {:.2} s",
        summary.samples, summary.evaluated, times.run
    );
    if let Some(call) = times.call {
        let call = 1e6 * call;
        let _ = writeln!(
            out,
            "inverse dynamics takes {call:.2} µs on this machine, evaluated by this program"
        );
    }
    if summary.routed_samples > 0 {
        let _ = writeln!(
            out,
            "{} sample(s) reached around what blocks the straight line from home",
            summary.routed_samples
        );
    }
    if let Some(choice) = modes.choice {
        let _ = writeln!(out, "internal modes: {choice}");
    }
    for line in layout.validity.iter().flat_map(|v| v.in_words(layout)) {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(
        out,
        "errors at fresh points   mean       max   largest found, at θ"
    );
    for e in &summary.errors {
        let found = summary.largest.iter().find(|l| l.block() == Some(e.block));
        let found = found.map_or(String::new(), |l| {
            format!(" {:>8.4} %  {:.4?}", 100.0 * l.largest, l.theta)
        });
        let _ = writeln!(
            out,
            "  {:<20} {:>8.4} % {:>8.4} %{found}",
            e.block.name(),
            100.0 * e.mean,
            100.0 * e.max
        );
    }
    tables::absolute_rows(&mut out, "errors in units", &summary.largest, layout);
    if let Some(cost) = &summary.largest_cost {
        largest_cost(&mut out, cost, summary);
    }
    let continuity = match summary.continuity {
        Continuity::Smooth => "smooth (one box)".to_owned(),
        Continuity::Continuous => "continuous across boxes".to_owned(),
        Continuity::Differentiable => "continuous across boxes with all slopes".to_owned(),
        Continuity::Jumps { largest } => format!("jumps of up to {:.2e} between boxes", largest),
    };
    let _ = writeln!(
        out,
        "{continuity}; definiteness proven in {} of {} box(es)",
        summary.certified, summary.boxes
    );
    if let Some(cut) = summary.cut_short {
        let _ = writeln!(out, "ended early: {}", ended(cut));
    }
    tables::absolute_rows(&mut out, "jumps between boxes", &summary.jumps, layout);
    tables::missing_regions(&mut out, &summary.missing);
    tables::unrepresented(&mut out, modes.unrepresented);
    tables::short_boxes(&mut out, &summary.short);
    let _ = writeln!(
        out,
        "{}; written to {}",
        if summary.reached {
            "all tolerances reached"
        } else if summary.cut_short.is_some() {
            "the best model so far"
        } else if !summary.missing.is_empty() {
            "part of the domain has no model"
        } else if summary.short.iter().any(|b| b.lacks_proof) {
            "definiteness is not proven everywhere"
        } else if summary.exceeds_largest && summary.short.is_empty() {
            "the largest error found is beyond what `largest` in [approximation] allows"
        } else {
            "a tolerance was not reached"
        },
        folder.display()
    );
    out
}

/// Growth of a model, for its largest error, that is worth a word.
const WORTH_A_WORD: f64 = 1.5;

/// Where the bound of the largest error takes much, and what one can do about it.
fn largest_cost(out: &mut String, cost: &LargestCost, summary: &Summary) {
    let now = summary.stored_numbers;
    let place = |p: &LargePlace| format!("{} at θ = {:.4?}", p.block.name(), p.theta);
    let places: Vec<String> = cost.places.iter().map(place).collect();
    if let Some(boxes) = cost.given_up {
        let _ = writeln!(
            out,
            "the bound of the largest error is given up at {boxes} boxes, which take more than eight times what the mean does ({}): narrow the ranges, or set `largest = false` in [approximation]",
            places.join("; "),
        );
        return;
    }
    if (now as f64) < WORTH_A_WORD * cost.numbers as f64 {
        return;
    }
    let _ = writeln!(
        out,
        "{} of the {now} numbers keep the largest error small ({}): a range that ends before would save them, `largest = false` in [approximation] too",
        now - cost.numbers,
        places.join("; "),
    );
}

/// What ended the refinement, and what to do for a better model.
fn ended(cut: CutShort) -> &'static str {
    match cut {
        CutShort::Numbers => {
            "the model has as many numbers as it may; loosen the tolerance, narrow the ranges, or raise `max_numbers` in [approximation]"
        }
        CutShort::Boxes => {
            "the model has as many boxes as it may; loosen the tolerance, narrow the ranges, or raise `max_boxes` in [approximation]"
        }
        CutShort::Samples => {
            "as many samples are taken as may be; loosen the tolerance, narrow the ranges, or raise `max_samples` in [approximation]"
        }
        CutShort::Time => {
            "the time is over; run it again with more --time, it goes on from its stored samples"
        }
        CutShort::Memory => "the memory is used up; give more --memory, or narrow the ranges",
    }
}
