//! The coarse map of the domain that was made before the reduction.

use super::numbers::packed;
use minijinja::{Value as Text, context};
use reducer::reduced_model::ReducedModel;
use reducer::survey::{Place, Scan};
use serde_json::{Map, Value, json};

/// What a map may show of a place, and whether its sizes differ by powers of ten.
type Measure = (&'static str, fn(&Place) -> Option<f64>, bool);

const MEASURES: [Measure; 4] = [
    (
        "regularity (1 at home, 0 at a singularity)",
        |p| p.regularity,
        false,
    ),
    (
        "lowest frequency with actuators locked [Hz]",
        |p| p.lowest_hz,
        false,
    ),
    (
        "overlap of internal modes with the reference",
        |p| p.overlap,
        false,
    ),
    ("condition of the mass", |p| p.mass_condition, true),
];

/// What the script draws.
pub(super) fn data(model: &ReducedModel, scan: &Scan) -> Value {
    let domain = &model.layout.domain;
    let places = || scan.places.iter();
    let measure = |(text, of, logarithmic): &Measure| {
        let value = |p: &Place| match p.failure {
            None => of(p).unwrap_or(f64::NAN),
            Some(_) => f64::NAN,
        };
        json!({ "text": text, "logarithmic": logarithmic, "values": packed(places().map(value)) })
    };
    let failures: Map<String, Value> = places()
        .enumerate()
        .filter_map(|(i, p)| Some((i.to_string(), json!(p.failure.as_ref()?))))
        .collect();
    json!({
        "grid": scan.grid,
        "count": scan.places.len(),
        "theta": packed(places().flat_map(|p| p.theta.iter().copied())),
        "inside": places().map(|p| u8::from(domain.admits(&p.theta))).collect::<Vec<_>>(),
        "measures": MEASURES.iter().map(measure).collect::<Vec<_>>(),
        "failures": failures,
    })
}

/// What the page says.
pub(super) fn facts(model: &ReducedModel, scan: &Scan) -> Text {
    let domain = &model.layout.domain;
    let inside = || scan.places.iter().filter(|p| domain.admits(&p.theta));
    let nearest = inside()
        .filter(|p| p.failure.is_none())
        .filter_map(|p| Some((p, p.regularity?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let suggestions: Vec<Text> = (scan.suggestions.iter())
        .map(|s| context! { fact => s.fact.clone(), paste => s.paste.clone() })
        .collect();
    context! {
        places => inside().count(),
        failed => inside().filter(|p| p.failure.is_some()).count(),
        nearest => nearest.map(|(_, regularity)| format!("{regularity:.2}")),
        nearest_place => nearest.map(|(p, _)| format!("{:.4?}", p.theta)),
        is_grid => !scan.grid.is_empty(),
        suggestions,
    }
}
