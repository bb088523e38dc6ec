//! `reduce validate`: checks a mechanism file and counts what it describes.

use super::Outcome;
use crate::args::ValidateArgs;
use crate::diagnostics::{self, Failure};
use reducer::description::load;
use reducer::description::mechanism::{BodyKind, Mechanism};
use serde_json::json;

/// Runs the command.
pub fn run(args: &ValidateArgs) -> Result<Outcome, Failure> {
    let checked = load(&args.mechanism)
        .map_err(Failure::from)
        .and_then(|mechanism| {
            if let Some(theta) = &args.at {
                mechanism
                    .check_configuration(&theta.0)
                    .map_err(|errors| Failure::new(errors, mechanism.sources.clone()))?;
            }
            Ok(mechanism)
        });
    match checked {
        Ok(mechanism) => {
            let text = if args.json {
                as_json(&mechanism)
            } else {
                as_text(&mechanism)
            };
            diagnostics::print(&text)?;
            Ok(Outcome::Done)
        }
        Err(failure) if args.json => {
            diagnostics::print(&failure.as_json())?;
            Err(failure.told())
        }
        Err(failure) => Err(failure),
    }
}

fn elements(mechanism: &Mechanism) -> usize {
    let chains = mechanism.bodies.iter().map(|body| match &body.kind {
        BodyKind::Beam(chain) => chain.lengths.len(),
        _ => 0,
    });
    chains.sum()
}

fn as_json(mechanism: &Mechanism) -> String {
    let names: Vec<&str> = mechanism
        .coordinates
        .iter()
        .map(|own| own.name.as_str())
        .collect();
    let document = json!({
        "valid": true,
        "name": mechanism.name,
        "bodies": mechanism.bodies.len(),
        "elements": elements(mechanism),
        "joints": mechanism.joints.len(),
        "coordinates": names,
        "springs": mechanism.springs.len(),
        "point_masses": mechanism.point_masses.len(),
        "loads": mechanism.loads.len(),
        "outputs": mechanism.outputs.len(),
        "loaded": mechanism.loaded.len(),
        "faults": [],
    });
    format!("{document:#}\n")
}

fn as_text(mechanism: &Mechanism) -> String {
    let mut text = format!("{} is valid\n", mechanism.name);
    let counts = [
        ("bodies", mechanism.bodies.len()),
        ("elements", elements(mechanism)),
        ("joints", mechanism.joints.len()),
        ("coordinates", mechanism.coordinates.len()),
        ("springs", mechanism.springs.len()),
        ("point masses", mechanism.point_masses.len()),
        ("loads", mechanism.loads.len()),
        ("outputs", mechanism.outputs.len()),
        ("loaded", mechanism.loaded.len()),
    ];
    for (what, count) in counts {
        text.push_str(&format!("  {what:<13}{count}\n"));
    }
    text
}
