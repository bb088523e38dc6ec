//! `reduce eval`: a reduced model at one configuration.

use super::{Outcome, local::generalised, tables};
use crate::args::EvalArgs;
use crate::diagnostics::{self, CommandError, Failure};
use reducer::reduced_model::{DropReason, Evaluator, ModelDocument, Status, Workspace};
use serde_json::json;

/// Runs the command.
pub fn run(args: &EvalArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    let evaluator = Evaluator::new(&model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let (n, s) = (evaluator.n(), evaluator.n_rigid());
    let theta = &args.at.0;
    if theta.len() != s {
        return Err(Failure::one(CommandError::WrongCount {
            option: "at",
            found: theta.len(),
            rigid: s,
            all: s,
        }));
    }
    let mut work = Workspace::default();
    let document = evaluator
        .document(theta, &mut work)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    let reason = evaluator
        .drop_reason(theta, &mut work)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    let mut status = document.status;
    let mut force = None;
    if args.modal.is_some() || args.rate.is_some() || args.accel.is_some() {
        let slice = |v: &Option<crate::args::Numbers>| v.as_ref().map(|v| v.0.clone());
        let modal = match slice(&args.modal) {
            Some(values) if values.len() == n - s => values,
            Some(values) => {
                return Err(Failure::one(CommandError::WrongCount {
                    option: "modal",
                    found: values.len(),
                    rigid: n - s,
                    all: n - s,
                }));
            }
            None => vec![0.0; n - s],
        };
        let eta: Vec<f64> = theta.iter().copied().chain(modal).collect();
        let rate = generalised("rate", slice(&args.rate).as_deref(), n, s)?;
        let accel = generalised("accel", slice(&args.accel).as_deref(), n, s)?;
        let mut found = vec![0.0; n];
        let how = evaluator
            .inverse_dynamics(&eta, &rate, &accel, &mut found, &mut work)
            .map_err(|e| Failure::one(CommandError::from(e)))?;
        status = status.max(how);
        force = Some(found);
    }
    let text = if args.json {
        let mut value = json!(document);
        value["status"] = json!(status);
        if let Some(reason) = &reason {
            value["reason"] = json!(reason);
        }
        if let Some(force) = &force {
            value["force"] = json!(force);
        }
        format!("{value}\n")
    } else {
        let head = heading(&model.layout.name, &document, status, reason.as_ref());
        as_text(head, &document, force.as_deref())
    };
    diagnostics::print(&text)?;
    Ok(if status >= Status::Undefined {
        Outcome::FellShort
    } else {
        Outcome::Done
    })
}

fn heading(name: &str, d: &ModelDocument, status: Status, reason: Option<&DropReason>) -> String {
    let word = json!(status);
    let why = reason.map_or(String::new(), |r| format!(": {r}"));
    format!(
        "{name} at θ = {:?}, {}{why}\n",
        d.theta,
        word.as_str().unwrap_or_default()
    )
}

fn as_text(mut out: String, d: &ModelDocument, force: Option<&[f64]>) -> String {
    let flat = |m: &[Vec<f64>]| m.concat();
    tables::matrix(&mut out, "mass", &d.coordinates, &flat(&d.mass));
    let stiffness = flat(&d.stiffness);
    if stiffness.iter().any(|v| *v != 0.0) {
        tables::matrix(&mut out, "stiffness", &d.coordinates, &stiffness);
    }
    tables::vector(&mut out, "gravity", &d.coordinates, &d.gravity);
    if let Some(force) = force {
        tables::vector(&mut out, "force", &d.coordinates, force);
    }
    tables::list(&mut out, "internal frequencies [Hz]", &d.frequencies_hz);
    for (output, values) in &d.outputs {
        tables::list(
            &mut out,
            &format!("position of {output} [m]"),
            &values.position,
        );
    }
    out
}
