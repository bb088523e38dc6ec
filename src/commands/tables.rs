//! Numbers and regions as readable text.

use reducer::pipeline::ShortBox;
use reducer::reduced_model::MissingRegion;
use reducer::reduction::ModeChoice;
use serde_json::{Value, json};
use std::fmt::Write;

/// Entries of a list that are shown one by one.
pub const SHOWN: usize = 8;

/// A square matrix with its coordinates' names.
pub fn matrix(out: &mut String, title: &str, names: &[String], values: &[f64]) {
    rows(out, title, names, values, names.len());
}

/// Rows of `width` numbers with their names.
pub fn rows(out: &mut String, title: &str, names: &[String], values: &[f64], width: usize) {
    let _ = writeln!(out, "\n{title}");
    for (name, row) in names.iter().zip(values.chunks(width.max(1))) {
        let _ = write!(out, "  {name:<16}");
        for value in row {
            let _ = write!(out, " {value:>13.6e}");
        }
        out.push('\n');
    }
}

/// A vector with its coordinates' names.
pub fn vector(out: &mut String, title: &str, names: &[String], values: &[f64]) {
    let _ = writeln!(out, "\n{title}");
    for (name, value) in names.iter().zip(values) {
        let _ = writeln!(out, "  {name:<16} {value:>13.6e}");
    }
}

/// Numbers on one line; nothing where there are none.
pub fn list(out: &mut String, title: &str, values: &[f64]) {
    if values.is_empty() {
        return;
    }
    let _ = write!(out, "{title}:");
    for value in values {
        let _ = write!(out, " {value:.6}");
    }
    out.push('\n');
}

/// Regions without a model; nothing where there are none.
pub fn missing_regions(out: &mut String, regions: &[MissingRegion]) {
    if regions.is_empty() {
        return;
    }
    let _ = writeln!(out, "{} region(s) without a model", regions.len());
    for region in regions.iter().take(SHOWN) {
        let _ = writeln!(
            out,
            "  θ from {:?} to {:?}: {}",
            region.lower, region.upper, region.reason
        );
    }
    more(out, regions.len());
}

/// Boxes that fell short of a tolerance or lack a proof, with their errors; nothing where there are none.
pub fn short_boxes(out: &mut String, boxes: &[ShortBox]) {
    if boxes.is_empty() {
        return;
    }
    let proof = if boxes.iter().any(|b| b.lacks_proof) {
        " or of a proof of definiteness"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "{} box(es) fell short of a tolerance{proof}",
        boxes.len()
    );
    for short in boxes.iter().take(SHOWN) {
        let doubt = if short.lacks_proof {
            ": mass or stiffness may be indefinite there"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "  θ from {:?} to {:?}{doubt}",
            short.lower, short.upper
        );
        for e in &short.errors {
            let _ = writeln!(
                out,
                "    {:<18} mean {:.2e}, max {:.2e}",
                e.block.name(),
                e.mean,
                e.max
            );
        }
    }
    more(out, boxes.len());
}

fn more(out: &mut String, count: usize) {
    if count > SHOWN {
        let _ = writeln!(out, "  and {} more, all with --json", count - SHOWN);
    }
}

/// Internal modes that were chosen, for scripts.
pub fn mode_choice(choice: &ModeChoice) -> Value {
    json!({
        "count": choice.count,
        "plane": choice.plane.map(|plane| plane.name()),
        "gap": choice.gap,
        "reason": choice.to_string(),
    })
}
