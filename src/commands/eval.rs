//! `reduce eval`: a reduced model at one configuration.

use super::{Outcome, local::generalised, tables};
use crate::args::{EvalArgs, Numbers};
use crate::diagnostics::{self, CommandError, Failure};
use reducer::reduced_model::{
    DropReason, EvaluationError, Evaluator, LinearModel, ModelDocument, Status, Workspace,
};
use serde_json::json;

/// What was asked for beside the coefficients.
#[derive(Default)]
struct Extras {
    /// Force for the given motion.
    force: Option<Vec<f64>>,
    linear: Option<LinearModel>,
    /// Actuator forces and modal coordinates.
    feedforward: Option<[Vec<f64>; 2]>,
    /// Frequencies about the deflection under loads and motion; none where there is no such deflection.
    loaded: Option<Vec<f64>>,
    /// Why there is no model.
    reason: Option<DropReason>,
    /// Mass or stiffness may be indefinite in the box of θ.
    lacks_proof: bool,
}

/// Runs the command.
pub fn run(args: &EvalArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    let evaluator = Evaluator::new(&model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let s = evaluator.n_rigid();
    let theta = &args.at.0;
    if theta.len() != s {
        return Err(wrong_count("at", theta.len(), s));
    }
    let document = evaluator
        .document(theta, &mut Workspace::default())
        .map_err(refused)?;
    let (extras, status) = extras(args, &evaluator)?;
    let status = document.status.max(status);
    let text = if args.json {
        format!("{}\n", as_json(&document, &extras, status, evaluator.n()))
    } else {
        as_text(&model.layout.name, &document, &extras, status)
    };
    diagnostics::print(&text)?;
    Ok(if status >= Status::Undefined {
        Outcome::FellShort
    } else {
        Outcome::Done
    })
}

fn refused(error: EvaluationError) -> Failure {
    Failure::one(CommandError::from(error))
}

fn wrong_count(option: &'static str, found: usize, expected: usize) -> Failure {
    Failure::one(CommandError::WrongCount {
        option,
        found,
        rigid: expected,
        all: expected,
    })
}

fn extras(args: &EvalArgs, evaluator: &Evaluator<'_>) -> Result<(Extras, Status), Failure> {
    let (n, s) = (evaluator.n(), evaluator.n_rigid());
    let slice = |v: &Option<Numbers>| v.as_ref().map(|v| v.0.clone());
    let modal = slice(&args.modal).unwrap_or_else(|| vec![0.0; n - s]);
    if modal.len() != n - s {
        return Err(wrong_count("modal", modal.len(), n - s));
    }
    let theta = &args.at.0;
    let eta = [&theta[..], &modal].concat();
    let rate = generalised("rate", slice(&args.rate).as_deref(), n, s)?;
    let accel = generalised("accel", slice(&args.accel).as_deref(), n, s)?;
    let mut work = Workspace::default();
    let mut extras = Extras {
        reason: evaluator.drop_reason(theta, &mut work).map_err(refused)?,
        lacks_proof: evaluator.lacks_proof(theta, &mut work).map_err(refused)?,
        ..Extras::default()
    };
    let mut status = Status::Inside;
    let moved = args.modal.is_some() || args.rate.is_some() || args.accel.is_some();
    if moved || args.linearize {
        let mut force = vec![0.0; n];
        let how = evaluator
            .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
            .map_err(refused)?;
        status = status.max(how);
        if args.linearize {
            let found = evaluator.linearize(&eta, &rate, &force, &mut work);
            let (linear, how) = found.map_err(refused)?;
            status = status.max(how);
            extras.linear = Some(linear);
        }
        extras.force = Some(force);
    }
    extras.loaded = evaluator
        .loaded_frequencies_hz(theta, &rate[..s], &accel[..s], &mut work)
        .map_err(refused)?;
    if args.feedforward {
        let found = evaluator.feedforward(theta, &rate[..s], &accel[..s], &mut work);
        let (force, modal, how) = found.map_err(refused)?;
        status = status.max(how);
        extras.feedforward = Some([force, modal]);
    }
    Ok((extras, status))
}

fn as_json(
    document: &ModelDocument,
    extras: &Extras,
    status: Status,
    n: usize,
) -> serde_json::Value {
    let mut value = json!(document);
    value["status"] = json!(status);
    value["lacks_proof"] = json!(extras.lacks_proof);
    value["loaded_frequencies_hz"] = json!(extras.loaded);
    if let Some(reason) = &extras.reason {
        value["reason"] = json!(reason);
    }
    if let Some(force) = &extras.force {
        value["force"] = json!(force);
    }
    if let Some(linear) = &extras.linear {
        let rows = |values: &[f64], width: usize| -> Vec<Vec<f64>> {
            values.chunks(width).map(<[f64]>::to_vec).collect()
        };
        value["linear"] = json!({
            "A": rows(&linear.a, 2 * n),
            "B": rows(&linear.b, n),
            "C": rows(&linear.c, 2 * n),
            "D": rows(&linear.d, n),
        });
    }
    if let Some([force, modal]) = &extras.feedforward {
        value["feedforward"] = json!({ "force": force, "modal": modal });
    }
    value
}

fn as_text(name: &str, d: &ModelDocument, extras: &Extras, status: Status) -> String {
    let flat = |m: &[Vec<f64>]| m.concat();
    let word = json!(status);
    let doubt = if extras.lacks_proof {
        "; mass or stiffness may be indefinite in this box"
    } else {
        ""
    };
    let why = (extras.reason.as_ref()).map_or(doubt.to_owned(), |r| format!(": {r}"));
    let mut out = format!(
        "{name} at θ = {:?}, {}{why}\n",
        d.theta,
        word.as_str().unwrap_or_default()
    );
    tables::matrix(&mut out, "mass", &d.coordinates, &flat(&d.mass));
    let stiffness = flat(&d.stiffness);
    if stiffness.iter().any(|v| *v != 0.0) {
        tables::matrix(&mut out, "stiffness", &d.coordinates, &stiffness);
    }
    tables::vector(&mut out, "gravity", &d.coordinates, &d.gravity);
    if let Some(force) = &extras.force {
        tables::vector(&mut out, "force", &d.coordinates, force);
    }
    if let Some(linear) = &extras.linear {
        let rates = d.coordinates.iter().map(|c| format!("rate of {c}"));
        let states: Vec<String> = d.coordinates.iter().cloned().chain(rates).collect();
        tables::matrix(&mut out, "A of the linear model", &states, &linear.a);
        tables::rows(&mut out, "B", &states, &linear.b, d.coordinates.len());
    }
    if let Some([force, modal]) = &extras.feedforward {
        let (rigid, elastic) = d.coordinates.split_at(force.len());
        tables::vector(&mut out, "feedforward", rigid, force);
        if !modal.is_empty() {
            tables::vector(&mut out, "deflection that follows it", elastic, modal);
        }
    }
    for (derived, rows) in &d.derived {
        let names: Vec<String> = (1..=rows.len()).map(|i| format!("row {i}")).collect();
        let width = rows.first().map_or(0, Vec::len);
        tables::rows(&mut out, derived, &names, &flat(rows), width);
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
