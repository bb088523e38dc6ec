//! `reduce scan`: a coarse map of the domain, and what of the mechanism file to change.

use super::{Outcome, tables};
use crate::args::ScanArgs;
use crate::diagnostics::{self, Failure};
use reducer::description::mechanism::Mechanism;
use reducer::sampling::{MechanismModel, SampleSource};
use reducer::scan::{ILL_CONDITIONED, NEAR, Place, Scan};
use serde_json::json;
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &ScanArgs) -> Result<Outcome, Failure> {
    let mechanism = super::read_mechanism(&args.mechanism)?;
    super::use_threads(args.jobs)?;
    let model = MechanismModel::new(&mechanism)
        .map_err(|error| Failure::one(error).with_sources(&mechanism))?;
    let scan = Scan::new(&mechanism, &model);
    let text = if args.json {
        format!("{}\n", json!(scan))
    } else {
        as_text(&mechanism.name, &scan)
    };
    diagnostics::print(&text)?;
    Ok(if scan.suggestions.is_empty() {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

/// The map of a domain that is reduced; none where samples are taken along a path.
pub(super) fn of(mechanism: &Mechanism, source: &SampleSource) -> Option<Scan> {
    match source {
        SampleSource::Domain(model) => Some(Scan::new(mechanism, model)),
        SampleSource::Path(_) => None,
    }
}

/// A quick look before a reduction: what is to be told of it; nothing is changed.
pub fn warnings(scan: &Scan) -> Vec<String> {
    let suggestions = scan.suggestions.iter();
    let told = suggestions.map(|suggestion| {
        let paste = suggestion.paste.replace('\n', "; ");
        let advice = if paste.is_empty() {
            String::new()
        } else {
            format!(": {paste}")
        };
        format!("{}{advice}", suggestion.fact)
    });
    told.collect()
}

/// A number of a place, where it was looked for.
type Fact = fn(&Place) -> Option<f64>;

fn as_text(name: &str, scan: &Scan) -> String {
    let mut out = String::new();
    let count = |is: &dyn Fn(&Place) -> bool| scan.places.iter().filter(|p| is(p)).count();
    let near = count(&|p| p.failure.is_none() && p.regularity.is_some_and(|r| r < NEAR));
    let _ = writeln!(
        out,
        "{name}: {} configurations of the domain, {} cannot be reached or reduced, {near} are near a singularity",
        scan.places.len(),
        scan.failures().count(),
    );
    map(&mut out, scan);
    let facts: [(&str, Fact); 3] = [
        ("regularity (1 at home, 0 singular)", |p| p.regularity),
        ("lowest frequency, actuators locked (Hz)", |p| p.lowest_hz),
        ("overlap of modes with the reference", |p| p.overlap),
    ];
    for (what, of) in facts {
        if let Some((place, value)) = scan.lowest(of) {
            let _ = writeln!(
                out,
                "{what:<40} at least {value:.4} (θ = {:.4?})",
                place.theta
            );
        }
    }
    if let Some((place, value)) = scan.lowest(|p| p.mass_condition.map(|c| -c)) {
        let _ = writeln!(
            out,
            "{:<40} at most {:.1e} (θ = {:.4?})",
            "condition of the mass", -value, place.theta
        );
        if -value > ILL_CONDITIONED {
            let _ = writeln!(out, "  models lose that many digits");
        }
    }
    for edge in scan.edges.iter().take(tables::SHOWN) {
        let _ = writeln!(
            out,
            "ends between θ = {:.4?} and {:.4?}: {}",
            edge.inside, edge.outside, edge.reason
        );
    }
    tables::more(&mut out, scan.edges.len());
    for suggestion in &scan.suggestions {
        let _ = writeln!(out, "\n{}:", suggestion.fact);
        for line in suggestion.paste.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    out
}

/// The map as characters, for one and two coordinates.
fn map(out: &mut String, scan: &Scan) {
    let sign = |p: &Place| match p.regularity {
        _ if p.failure.is_some() => '#',
        Some(r) if r < NEAR => '!',
        Some(r) if r < 3.0 * NEAR => '+',
        _ => '.',
    };
    let rows = match scan.grid.len() {
        1 => 1,
        2 => scan.grid[0],
        _ => return,
    };
    let _ = writeln!(
        out,
        "map (. good, + somewhat near a singularity, ! near, # none), {}",
        scan.coordinates.join(" downwards, ")
    );
    for row in scan.places.chunks(scan.places.len() / rows) {
        let line: String = row.iter().map(sign).collect();
        let _ = writeln!(out, "  {line}");
    }
}
