//! `reduce check`: a reduced model against the full one at points that no fit has seen.

use super::{Outcome, tables};
use crate::args::CheckArgs;
use crate::diagnostics::{self, CommandError, Failure};
use crate::progress::Progress;
use reducer::approximation::{CheckReport, Observer, check};
use reducer::pipeline::ShortBox;
use reducer::reduced_model::{Block, LargestError, MissingRegion, ReducedModel};
use reducer::sampling::SampleSource;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    let mechanism = super::read_mechanism(&args.mechanism)?;
    super::use_threads(args.jobs)?;
    let source = super::source_of(&mechanism)?;
    let progress = Progress::new();
    progress.phase("checking");
    let verdict = compared(&model, &source, args.samples, args.seed)?;
    drop(progress);
    let text = if args.json {
        format!("{}\n", verdict.as_json())
    } else {
        verdict.as_text()
    };
    diagnostics::print(&text)?;
    Ok(if verdict.reached {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

/// The answer as JSON, at `samples` points with this seed.
pub fn document(
    model: &ReducedModel,
    source: &SampleSource,
    samples: usize,
    seed: u64,
) -> Result<Value, Failure> {
    Ok(compared(model, source, samples, seed)?.as_json())
}

fn compared<'m>(
    model: &'m ReducedModel,
    source: &SampleSource,
    samples: usize,
    seed: u64,
) -> Result<Verdict<'m>, Failure> {
    super::same_coordinates(model, source)?;
    let report =
        check(model, source, samples, seed).map_err(|e| Failure::one(CommandError::from(e)))?;
    Ok(Verdict::new(report, model))
}

/// Comparison at fresh points, and what the model says of itself.
struct Verdict<'m> {
    report: CheckReport,
    model: &'m ReducedModel,
    missing: Vec<MissingRegion>,
    short: Vec<ShortBox>,
    reached: bool,
}

impl<'m> Verdict<'m> {
    fn new(report: CheckReport, model: &'m ReducedModel) -> Self {
        Self {
            model,
            missing: model.missing_regions(),
            short: ShortBox::all(model),
            reached: report.compared > 0
                && report.failed == 0
                && model.reaches(&report.errors, &report.largest),
            report,
        }
    }

    fn as_json(&self) -> Value {
        let report = &self.report;
        let mut errors: Map<String, Value> = report
            .errors
            .iter()
            .map(|e| {
                let worst = report.worst.iter().find(|w| w.block == e.block);
                let mut entry = Map::new();
                if let Some(found) = self.searched(e.block) {
                    tables::found(found, &mut entry);
                }
                entry.insert("mean".into(), json!(e.mean));
                entry.insert("max".into(), json!(e.max));
                entry.insert("worst_theta".into(), json!(worst.map(|w| &w.theta)));
                (e.block.name().to_owned(), Value::Object(entry))
            })
            .collect();
        if let Some(f) = &report.frequencies {
            errors.insert(
                "frequencies".into(),
                json!({ "mean": f.mean, "max": f.max }),
            );
        }
        json!({
            "errors": errors,
            "absolute": tables::absolute(&report.largest, &self.model.layout),
            "compared": report.compared,
            "skipped": report.outside + report.without_model + report.failed,
            "outside": report.outside,
            "without_model": report.without_model,
            "failed": report.failed,
            "missing": self.missing,
            "short": self.short,
            "reached": self.reached,
        })
    }

    /// The largest error of a block that was found.
    fn searched(&self, block: Block) -> Option<&LargestError> {
        let mut all = self.report.largest.iter();
        all.find(|e| e.block() == Some(block))
    }

    fn as_text(&self) -> String {
        let report = &self.report;
        let mut out = format!(
            "compared at {} points, {} without a model",
            report.compared, report.without_model
        );
        for (count, place) in [
            (report.outside, "outside the inequalities of the domain"),
            (report.failed, "where the full model fails"),
        ] {
            if count > 0 {
                let _ = write!(out, ", {count} {place}");
            }
        }
        let _ = writeln!(
            out,
            "\n                       mean   at points  largest found, at θ"
        );
        for e in &report.errors {
            let place = self.searched(e.block).map_or(String::new(), |found| {
                format!("{:>9.4} %  {:.4?}", 100.0 * found.largest, found.theta)
            });
            row(&mut out, e.block.name(), e.mean, e.max, &place);
        }
        if let Some(f) = &report.frequencies {
            row(&mut out, "frequencies", f.mean, f.max, "");
        }
        let title = "errors in units";
        tables::absolute_rows(&mut out, title, &report.largest, &self.model.layout);
        tables::missing_regions(&mut out, &self.missing);
        tables::short_boxes(&mut out, &self.short);
        let _ = writeln!(
            out,
            "{}",
            if self.reached {
                "within the model's tolerances"
            } else if !self.missing.is_empty() {
                "part of the domain has no model"
            } else if report.compared == 0 {
                "no point could be compared"
            } else if report.failed > 0 {
                "the full model fails where the reduced one has values"
            } else if self.short.iter().any(|b| b.lacks_proof) {
                "definiteness of the model is not proven everywhere"
            } else {
                "a tolerance of the model is exceeded"
            }
        );
        out
    }
}

fn row(out: &mut String, name: &str, mean: f64, max: f64, place: &str) {
    let _ = writeln!(
        out,
        "  {name:<14} {:>9.4} % {:>9.4} %  {place}",
        100.0 * mean,
        100.0 * max
    );
}
