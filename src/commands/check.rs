//! `reduce check`: a reduced model against the full one at points that no fit has seen.

use super::Outcome;
use crate::args::CheckArgs;
use crate::diagnostics::{self, CommandError, Failure};
use crate::progress::Progress;
use reducer::approximation::{CheckReport, Observer, check};
use reducer::reduced_model::ReducedModel;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    let mechanism = super::read_mechanism(&args.mechanism)?;
    super::use_threads(args.jobs)?;
    let source = super::source_of(&mechanism)?;
    super::same_coordinates(&model, &source)?;
    let progress = Progress::new();
    progress.phase("checking");
    let report = check(&model, &source, args.samples, args.seed)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    drop(progress);
    let reached = within(&report, &model);
    let text = if args.json {
        format!("{}\n", as_json(&report, reached))
    } else {
        as_text(&report, reached)
    };
    diagnostics::print(&text)?;
    Ok(if reached {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

/// The tolerances the model was made for hold at these points.
fn within(report: &CheckReport, model: &ReducedModel) -> bool {
    let settings = &model.provenance.settings;
    report.errors.iter().all(|e| {
        let error = if settings.criterion == "max" {
            e.max
        } else {
            e.mean
        };
        settings
            .tolerances
            .iter()
            .find(|t| t.block == e.block)
            .is_none_or(|t| error <= t.tolerance)
    })
}

fn as_json(report: &CheckReport, reached: bool) -> Value {
    let mut errors: Map<String, Value> = report
        .errors
        .iter()
        .map(|e| {
            let worst = report.worst.iter().find(|w| w.block == e.block);
            let entry = json!({
                "mean": e.mean,
                "max": e.max,
                "worst_theta": worst.map(|w| w.theta.clone()),
            });
            (e.block.clone(), entry)
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
        "compared": report.compared,
        "skipped": report.skipped,
        "reached": reached,
    })
}

fn as_text(report: &CheckReport, reached: bool) -> String {
    let mut out = format!(
        "compared at {} points, {} without a model\n",
        report.compared, report.skipped
    );
    let _ = writeln!(out, "                       mean         max  worst at θ");
    for e in report.errors.iter().chain(&report.frequencies) {
        let worst = report.worst.iter().find(|w| w.block == e.block);
        let place = worst.map_or(String::new(), |w| format!("{:.4?}", w.theta));
        let _ = writeln!(
            out,
            "  {:<14} {:>9.4} % {:>9.4} %  {place}",
            e.block,
            100.0 * e.mean,
            100.0 * e.max
        );
    }
    let _ = writeln!(
        out,
        "{}",
        if reached {
            "within the model's tolerances"
        } else {
            "a tolerance of the model is exceeded"
        }
    );
    out
}
