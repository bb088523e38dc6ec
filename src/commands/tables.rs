//! Numbers and regions as readable text.

use reducer::dynamics::comparison::Difference;
use reducer::pipeline::ShortBox;
use reducer::reduced_model::{LargestError, MissingRegion, ModelLayout, readable};
use reducer::reduction::ModeChoice;
use reducer::sampling::UnrepresentedModes;
use serde_json::{Map, Value, json};
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
    let mut groups: Vec<(String, Vec<&MissingRegion>)> = Vec::new();
    for region in regions {
        let fact = without_numbers(&region.reason.to_string());
        match groups.iter_mut().find(|(known, _)| *known == fact) {
            Some((_, alike)) => alike.push(region),
            None => groups.push((fact, vec![region])),
        }
    }
    for (_, alike) in groups.iter().take(SHOWN) {
        let first = alike[0];
        let reason = rounded_numbers(&first.reason.to_string());
        let (lower, upper) = (&first.lower, &first.upper);
        let _ = writeln!(out, "  θ from {lower:.4?} to {upper:.4?}: {reason}");
        if alike.len() > 1 {
            let (lower, upper) = hull(alike);
            let count = alike.len() - 1;
            let _ = writeln!(
                out,
                "    and {count} more for the same reason, all between {lower:.4?} and {upper:.4?}"
            );
        }
    }
    if groups.len() > SHOWN {
        let count = groups.len() - SHOWN;
        let _ = writeln!(out, "  and {count} more reasons, all with --json");
    }
}

/// Corners of the smallest box around regions.
fn hull(regions: &[&MissingRegion]) -> (Vec<f64>, Vec<f64>) {
    let mut corners = (regions[0].lower.clone(), regions[0].upper.clone());
    for region in regions {
        for k in 0..corners.0.len() {
            corners.0[k] = corners.0[k].min(region.lower[k]);
            corners.1[k] = corners.1[k].max(region.upper[k]);
        }
    }
    corners
}

/// A text in which numbers with a decimal point are changed.
fn with_numbers(text: &str, change: impl Fn(&str) -> String) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|c| !is_part(c)).unwrap_or(number.len());
        let digits = number[..end].trim_end_matches('.');
        out.push_str(before);
        out.push_str(&change(digits));
        rest = &number[digits.len()..];
    }
    out + rest
}

/// What a text says beside its numbers: texts that differ in these tell one fact.
fn without_numbers(text: &str) -> String {
    with_numbers(text, |_| String::new()).replace('-', "")
}

/// The same with at most four decimals.
fn rounded_numbers(text: &str) -> String {
    with_numbers(text, |digits| match digits.split_once('.') {
        Some((_, decimals)) if decimals.len() > 4 => digits
            .parse::<f64>()
            .map_or(digits.to_owned(), |value| format!("{value:.4}")),
        _ => digits.to_owned(),
    })
}

/// Configurations with low frequencies that no mode represents: one line, and how many are alike.
pub fn unrepresented(out: &mut String, places: &[UnrepresentedModes]) {
    let mut rest = places;
    let mut shown = 0;
    while let (Some(first), true) = (rest.first(), shown < SHOWN) {
        let alike =
            |low: &&UnrepresentedModes| low.modes_that_would_do == first.modes_that_would_do;
        let count = rest.iter().take_while(alike).count();
        let advice = first
            .modes_that_would_do
            .map_or(String::new(), |n| format!("; {n} internal modes would do"));
        let more = match count {
            1 => String::new(),
            _ => format!(
                ", and alike at {} more up to θ = {:.4?}",
                count - 1,
                rest[count - 1].theta
            ),
        };
        let _ = writeln!(
            out,
            "not represented at θ = {:.4?}: {:.1?} Hz of the full model{advice}{more}",
            first.theta, first.frequencies_hz
        );
        rest = &rest[count..];
        shown += 1;
    }
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

pub fn more(out: &mut String, count: usize) {
    if count > SHOWN {
        let _ = writeln!(out, "  and {} more, all with --json", count - SHOWN);
    }
}

/// The largest error that was found of one quantity, for scripts.
pub fn found(e: &LargestError, entry: &mut Map<String, Value>) {
    entry.insert("mean".into(), json!(e.mean));
    entry.insert("largest".into(), json!(e.largest));
    entry.insert("theta".into(), json!(e.theta));
    if e.quantity.has_motion() {
        entry.insert("rate".into(), json!(e.rate));
        entry.insert("accel".into(), json!(e.accel));
    }
}

/// Errors with units, for scripts: kind, then output or coordinate.
pub fn absolute(entries: &[LargestError], layout: &ModelLayout) -> Value {
    let mut kinds: Map<String, Value> = Map::new();
    for e in entries.iter().filter(|e| e.block().is_none()) {
        let [kind, of, unit] = e.quantity.names(layout);
        let mut entry = Map::from_iter([("unit".to_owned(), json!(unit))]);
        found(e, &mut entry);
        let kind = kinds.entry(kind).or_insert_with(|| json!({}));
        kind[of] = Value::Object(entry);
    }
    Value::Object(kinds)
}

/// Errors with units, and where they are.
pub fn absolute_rows(
    out: &mut String,
    title: &str,
    entries: &[LargestError],
    layout: &ModelLayout,
) {
    let mut rows = entries.iter().filter(|e| e.block().is_none()).peekable();
    if rows.peek().is_some() {
        let _ = writeln!(out, "{title}");
    }
    for e in rows {
        let _ = writeln!(out, "  {}, at θ = {:.4?}", e.in_words(layout), e.theta);
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

/// One line per output and force of two runs that were compared.
pub fn differences(out: &mut String, list: &[Difference]) {
    for d in list {
        let _ = writeln!(
            out,
            "  {:<22} {:>9.4} % {:>8.4} %  {:>10} {}",
            d.name,
            100.0 * d.max,
            100.0 * d.rms,
            readable(d.peak),
            d.unit
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reducer::reduced_model::DropReason;

    fn region(at: f64) -> MissingRegion {
        MissingRegion {
            lower: vec![at],
            upper: vec![at + 0.5],
            reason: DropReason::Singular {
                theta: vec![at + 0.123_456_789],
                message: format!("near {}", at + 0.234_567_891),
            },
        }
    }

    #[test]
    fn one_fact_is_one_line_with_a_count() {
        let mut out = String::new();
        missing_regions(&mut out, &[region(1.0), region(-2.0), region(3.0)]);
        let expected = "3 region(s) without a model
  θ from [1.0000] to [1.5000]: singular at θ = [1.1235]: near 1.2346
    and 2 more for the same reason, all between [-2.0000] and [3.5000]
";
        assert_eq!(out, expected);
    }
}
