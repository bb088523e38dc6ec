//! `reduce modes`: what the local modes at one configuration are.

use super::Outcome;
use crate::args::ModesArgs;
use crate::diagnostics::{self, CommandError, Failure};
use exporters::vtk::{LineMesh, write_vtu};
use reducer::description::mechanism::{LoadedKind, Mechanism};
use reducer::reduction::{LocalReducer, ModeKind, ModePortrait, Portrait};
use serde_json::{Value, json};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &ModesArgs) -> Result<Outcome, Failure> {
    let mechanism = super::read_mechanism(&args.mechanism)?;
    let theta = &args.at.0;
    admissible(&mechanism, theta)?;
    let guard = super::guard(&[], Some(&mechanism), args.force);
    if let Some(path) = &args.output {
        super::allow(&guard, path)?;
    }
    let reducer = super::local::built(&mechanism)?;
    let (portrait, missing) = found(&mechanism, &reducer, theta)?;
    let names = reducer.coordinate_names(&mechanism);
    if let Some(path) = &args.output {
        let mesh = LineMesh {
            nodes: portrait.nodes.clone(),
            lines: portrait.lines.clone(),
            cells: portrait.cells.clone(),
            fields: names
                .iter()
                .cloned()
                .zip(portrait.modes.iter().map(|m| m.displacement.clone()))
                .collect(),
        };
        write_vtu(&mesh, path, &guard).map_err(|e| Failure::one(CommandError::from(e)))?;
    }
    let text = if args.json {
        format!("{}\n", as_json(&mechanism, &names, &portrait, &missing))
    } else {
        as_text(&mechanism, &names, &portrait, &missing)
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}

/// The answer as JSON, of a mechanism whose exact reduction is built.
pub fn document(
    mechanism: &Mechanism,
    reducer: &LocalReducer,
    theta: &[f64],
) -> Result<Value, Failure> {
    admissible(mechanism, theta)?;
    let (portrait, missing) = found(mechanism, reducer, theta)?;
    let names = reducer.coordinate_names(mechanism);
    Ok(as_json(mechanism, &names, &portrait, &missing))
}

fn admissible(mechanism: &Mechanism, theta: &[f64]) -> Result<(), Failure> {
    mechanism
        .check_configuration(theta)
        .map_err(|errors| Failure::new(errors, mechanism.sources.clone()))
}

/// What the modes are, and low frequencies of the full model that none of them represents.
fn found(
    mechanism: &Mechanism,
    reducer: &LocalReducer,
    theta: &[f64],
) -> Result<(Portrait, Vec<f64>), Failure> {
    let fail = |e| Failure::one(e).with_sources(mechanism);
    let portrait = reducer.portrait(theta).map_err(fail)?;
    let missing = if portrait.internal_hz.is_empty() {
        Vec::new()
    } else {
        reducer.inspect(theta).map_err(fail)?.missing_hz()
    };
    Ok((portrait, missing))
}

/// The kind of mode `index`.
fn kind(mechanism: &Mechanism, index: usize, mode: &ModePortrait) -> &'static str {
    match mode.kind {
        ModeKind::Rigid => "rigid",
        ModeKind::Internal => "internal",
        ModeKind::Loaded => {
            let loaded = &mechanism.loaded[index - mechanism.coordinates.len()];
            match loaded.kind {
                LoadedKind::Displacement => "constraint",
                LoadedKind::Attachment => "attachment",
            }
        }
    }
}

/// Bodies and actuators with their shares, largest first.
fn shares(mechanism: &Mechanism, mode: &ModePortrait) -> Vec<(String, f64)> {
    let bodies = mode
        .bodies
        .iter()
        .map(|&(b, share)| (mechanism.bodies[b].name.clone(), share));
    let actuators = mode
        .actuators
        .iter()
        .map(|&(k, share)| (format!("actuator {}", mechanism.coordinates[k].name), share));
    let mut all: Vec<(String, f64)> = bodies.chain(actuators).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

fn as_json(mechanism: &Mechanism, names: &[String], portrait: &Portrait, missing: &[f64]) -> Value {
    let modes: Vec<Value> = names
        .iter()
        .zip(&portrait.modes)
        .enumerate()
        .map(|(index, (name, mode))| {
            let energy: Vec<Value> = shares(mechanism, mode)
                .into_iter()
                .map(|(part, share)| json!({ "part": part, "share": share }))
                .collect();
            json!({
                "name": name,
                "kind": kind(mechanism, index, mode),
                "frequency_hz": mode.frequency_hz,
                "energy": energy,
                "mac": mode.mac,
            })
        })
        .collect();
    json!({
        "modes": modes,
        "internal_hz": portrait.internal_hz,
        "missing_hz": missing,
    })
}

fn as_text(
    mechanism: &Mechanism,
    names: &[String],
    portrait: &Portrait,
    missing: &[f64],
) -> String {
    let mut out = String::new();
    for (index, (name, mode)) in names.iter().zip(&portrait.modes).enumerate() {
        let frequency = mode
            .frequency_hz
            .map_or(String::new(), |f| format!("{f:.2} Hz"));
        let mac = mode.mac.map_or(String::new(), |m| {
            format!(", MAC with the reference {m:.3}")
        });
        let parts: Vec<String> = shares(mechanism, mode)
            .iter()
            .map(|(part, share)| format!("{part} {:.0} %", 100.0 * share))
            .collect();
        let energy = if mode.kind == ModeKind::Rigid {
            "kinetic energy"
        } else {
            "strain energy"
        };
        let _ = writeln!(
            out,
            "{name:<16} {:<11} {frequency:>12}  {energy} in {}{mac}",
            kind(mechanism, index, mode),
            parts.join(", "),
        );
    }
    super::tables::list(&mut out, "internal frequencies [Hz]", &portrait.internal_hz);
    if !missing.is_empty() {
        super::tables::list(
            &mut out,
            "low frequencies of the full model that no mode represents [Hz]",
            missing,
        );
    }
    out
}
