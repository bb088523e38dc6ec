//! `reduce validate`: checks a mechanism file and counts what it describes.

use super::Outcome;
use crate::args::ValidateArgs;
use crate::diagnostics::{self, CommandError, Failure};
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::reduction::LocalReducer;
use reducer::sampling::{SamplingError, check_sizes};
use serde_json::json;

/// Runs the command.
pub fn run(args: &ValidateArgs) -> Result<Outcome, Failure> {
    let mechanism = super::read_mechanism(&args.mechanism)?;
    exporters::code::check_name(&mechanism.name)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    let theta = args.at.as_ref().map(|theta| theta.0.as_slice());
    if let Some(theta) = theta {
        mechanism
            .check_configuration(theta)
            .map_err(|errors| Failure::new(errors, mechanism.sources.clone()))?;
    }
    let built = Built::new(&mechanism, theta)
        .map_err(|error| Failure::one(error).with_sources(&mechanism))?;
    let text = if args.json {
        as_json(&mechanism, &built)
    } else {
        as_text(&mechanism, &built)
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}

/// What only the assembled model knows.
struct Built {
    dofs: usize,
    redundant_loop_equations: usize,
    redundant_constraints: usize,
    reduced: usize,
    /// Box centres on the way to θ, where θ is given.
    waypoints: Option<usize>,
}

impl Built {
    /// Assembles the mechanism at home and, where given, at θ.
    fn new(mechanism: &Mechanism, theta: Option<&[f64]>) -> Result<Self, SamplingError> {
        let reducer = LocalReducer::new(mechanism)?;
        check_sizes(mechanism, &reducer)?;
        let waypoints = match theta {
            Some(theta) => Some(reducer.evaluate(theta)?.waypoints),
            None => None,
        };
        Ok(Self {
            dofs: reducer.model().n_dofs(),
            redundant_loop_equations: reducer.kinematics().n_redundant(),
            redundant_constraints: reducer.model().n_redundant(),
            reduced: reducer.n(),
            waypoints,
        })
    }
}

fn elements(mechanism: &Mechanism) -> usize {
    let chains = mechanism.bodies.iter().map(|body| match &body.kind {
        BodyKind::Beam(chain) => chain.lengths.len(),
        _ => 0,
    });
    chains.sum()
}

fn as_json(mechanism: &Mechanism, built: &Built) -> String {
    let names: Vec<&str> = mechanism
        .coordinates
        .iter()
        .map(|own| own.name.as_str())
        .collect();
    let mut document = json!({
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
        "full_dofs": built.dofs,
        "reduced_dofs": built.reduced,
        "redundant_loop_equations": built.redundant_loop_equations,
        "redundant_constraints": built.redundant_constraints,
        "faults": [],
    });
    if let Some(waypoints) = built.waypoints {
        document["waypoints"] = waypoints.into();
    }
    format!("{document:#}\n")
}

fn as_text(mechanism: &Mechanism, built: &Built) -> String {
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
        ("full dofs", built.dofs),
        ("reduced dofs", built.reduced),
        ("redundant", built.redundant_loop_equations),
    ];
    for (what, count) in counts {
        text.push_str(&format!("  {what:<13}{count}\n"));
    }
    if let Some(waypoints) = built.waypoints.filter(|count| *count > 0) {
        text.push_str(&format!(
            "the straight line from home is blocked; reached through {waypoints} box centre(s)\n"
        ));
    }
    text
}
