//! `reduce M.toml`: the whole pipeline, from the mechanism file to a folder of models.

use super::{Outcome, tables};
use crate::args::ReduceArgs;
use crate::diagnostics::{self, CommandError, Failure};
use crate::progress::Progress;
use crate::talk;
use exporters::ExportOptions;
use reducer::approximation::{LocalModel, Observer, SampleDatabase};
use reducer::pipeline::{self, Summary};
use reducer::reduced_model::Continuity;
use reducer::reduction::ModeChoice;
use reducer::sampling::UnrepresentedModes;
use reducer::survey::survey;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the command.
pub fn run(args: &ReduceArgs) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let Some(path) = &args.mechanism else {
        return Err(Failure::one(CommandError::NoMechanism));
    };
    let mechanism = super::read_mechanism(path)?;
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}-reduced", mechanism.name)),
    };
    must_be_folder(&folder)?;
    let guard = super::guard(&[], Some(&mechanism), args.force);
    let options = ExportOptions::default();
    // What would refuse the files is found before the long work.
    exporters::check_all(&mechanism.name, &folder, &options, &guard)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    super::use_threads(args.jobs)?;
    let source = super::source_of(&mechanism)?;
    let mut database = if args.fresh {
        SampleDatabase::in_memory()
    } else {
        let samples = match &args.samples_dir {
            Some(folder) => folder.clone(),
            None => folder.join(".samples"),
        };
        SampleDatabase::open(&samples, source.fingerprint())
            .map_err(|e| Failure::one(CommandError::from(e)))?
    };
    if database.is_partly_read() {
        talk::warn(
            "stored samples beyond 512 MB are not read and computed again; remove files of `.samples` that are no longer needed",
        );
    }
    let layout = source.layout();
    talk::step(&format!(
        "{} dofs, {} generalised coordinates, {} stored samples, {} thread(s)",
        layout.full_dofs,
        layout.n(),
        database.len(),
        rayon::current_num_threads()
    ));
    let progress = Progress::new();
    let (model, summary) =
        pipeline::reduce(&source, &mechanism.approximation, &progress, &mut database)
            .map_err(|e| Failure::one(CommandError::from(e)))?;
    progress.phase("surveying");
    let mut survey = survey(&model, &source).map_err(|e| Failure::one(CommandError::from(e)))?;
    survey.history.clone_from(&summary.history);
    let (written, unrepresented) = rayon::join(
        || exporters::write_all(&model, Some(&survey), &folder, &options, &guard),
        || source.unrepresented_modes(),
    );
    written.map_err(|e| Failure::one(CommandError::from(e)))?;
    talk::step(&format!("written to {}", folder.display()));
    drop(progress);
    let seconds = start.elapsed().as_secs_f64();
    let modes = Modes {
        choice: source.mechanism().reducer().mode_choice(),
        unrepresented: &unrepresented,
    };
    let text = if args.json {
        format!("{}\n", as_json(&summary, &modes, seconds))
    } else {
        as_text(&mechanism.name, &folder, &summary, &modes, seconds)
    };
    diagnostics::print(&text)?;
    Ok(if summary.reached {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
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

/// What is to be told of the internal modes.
struct Modes<'a> {
    /// Where the file leaves them open.
    choice: Option<&'a ModeChoice>,
    unrepresented: &'a [UnrepresentedModes],
}

fn as_json(summary: &Summary, modes: &Modes<'_>, seconds: f64) -> Value {
    let errors: Map<String, Value> = summary
        .errors
        .iter()
        .map(|e| {
            (
                e.block.name().to_owned(),
                json!({ "mean": e.mean, "max": e.max }),
            )
        })
        .collect();
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
        "continuity": summary.continuity,
        "certified": summary.certified,
        "short": summary.short,
        "default_modes": modes.choice.map(tables::mode_choice),
        "unrepresented_modes": modes.unrepresented,
        "history": summary.history,
        "work": summary.work,
        "reached": summary.reached,
        "seconds": seconds,
    })
}

fn as_text(
    name: &str,
    folder: &Path,
    summary: &Summary,
    modes: &Modes<'_>,
    seconds: f64,
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
        "{} samples, {} computed now, {seconds:.2} s",
        summary.samples, summary.evaluated
    );
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
    let _ = writeln!(out, "errors at fresh points   mean       max");
    for e in &summary.errors {
        let _ = writeln!(
            out,
            "  {:<20} {:>8.4} % {:>8.4} %",
            e.block.name(),
            100.0 * e.mean,
            100.0 * e.max
        );
    }
    let continuity = match summary.continuity {
        Continuity::Smooth => "smooth (one box)".to_owned(),
        Continuity::Continuous => "continuous across boxes".to_owned(),
        Continuity::Jumps { largest } => format!("jumps of up to {:.2e} between boxes", largest),
    };
    let _ = writeln!(
        out,
        "{continuity}; definiteness proven in {} of {} box(es)",
        summary.certified, summary.boxes
    );
    tables::missing_regions(&mut out, &summary.missing);
    for low in modes.unrepresented.iter().take(tables::SHOWN) {
        let advice = low
            .modes_that_would_do
            .map_or(String::new(), |n| format!("; {n} internal modes would do"));
        let _ = writeln!(
            out,
            "not represented at θ = {:.4?}: {:.1?} Hz of the full model{advice}",
            low.theta, low.frequencies_hz
        );
    }
    tables::short_boxes(&mut out, &summary.short);
    let _ = writeln!(
        out,
        "{}; written to {}",
        if summary.reached {
            "all tolerances reached"
        } else if !summary.missing.is_empty() {
            "part of the domain has no model"
        } else if summary.short.iter().any(|b| b.lacks_proof) {
            "definiteness is not proven everywhere"
        } else {
            "a tolerance was not reached"
        },
        folder.display()
    );
    out
}
