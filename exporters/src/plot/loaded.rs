//! Frequencies about states that loads and motion have bent.

use super::chart::{Axis, Chart, Curve, Panel, Stroke};
use crate::WriteError;
use reducer::reduced_model::{Evaluator, ModelLayout, Parameters, ReducedModel, Workspace};

/// Points of a curve, and every which of them is compared with the full model.
const POINTS: usize = 81;
const EVERY: usize = 8;

/// What changes along the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The rate of one actuated coordinate, the others at rest.
    Rate,
    /// Gravity, as a multiple of the nominal one.
    Weight,
}

/// A state of which frequencies are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedPoint {
    /// The configuration: the middle of the domain.
    pub theta: Vec<f64>,
    /// Rates of θ.
    pub rate: Vec<f64>,
    /// Gravity over its nominal value.
    pub weight: f64,
}

/// Draws the frequencies of a model (Hz, locked actuators) over the rate of the coordinate `along` (the first where
/// absent), or over gravity. `full` gives those of the full model where it is at hand.
pub fn loaded_figure(
    model: &ReducedModel,
    over: Over,
    along: Option<&str>,
    full: &dyn Fn(&LoadedPoint) -> Option<Vec<f64>>,
) -> Result<Chart, WriteError> {
    let layout = &model.layout;
    let (k, top) = match over {
        Over::Rate => fastest(layout, along)?,
        Over::Weight if !layout.parameters.gravity_at_runtime => {
            return Err(WriteError::NothingToPlot {
                fact: "gravity is fixed in the model",
                help: "give `gravity` as { value = [...], runtime = true } in the mechanism file, and reduce again",
            });
        }
        Over::Weight => (0, 2.0),
    };
    let middle = layout.domain.lower.iter().zip(&layout.domain.upper);
    let theta: Vec<f64> = middle.map(|(lower, upper)| 0.5 * (lower + upper)).collect();
    let point = |x: f64| {
        let mut rate = vec![0.0; layout.n_rigid];
        if over == Over::Rate {
            rate[k] = x;
        }
        LoadedPoint {
            theta: theta.clone(),
            rate,
            weight: if over == Over::Weight { x } else { 1.0 },
        }
    };
    let places: Vec<f64> = (0..POINTS)
        .map(|i| top * i as f64 / (POINTS - 1) as f64)
        .collect();
    let reduced = |x: &f64| (*x, frequencies(model, &point(*x)).unwrap_or_default());
    let reduced: Vec<(f64, Vec<f64>)> = places.iter().map(reduced).collect();
    let exact = places.iter().step_by(EVERY);
    let exact: Vec<(f64, Vec<f64>)> = exact
        .filter_map(|x| Some((*x, full(&point(*x))?)))
        .collect();
    let count = reduced.iter().map(|(_, f)| f.len()).max().unwrap_or(0);
    if count == 0 {
        return Err(WriteError::NothingToPlot {
            fact: "the model has no internal modes in the middle of its domain",
            help: "plot errors, boxes or coefficients instead",
        });
    }
    let name = &layout.name;
    let (title, label) = match over {
        Over::Rate => {
            let c = &layout.coordinates[k];
            (
                "frequencies in motion",
                format!("rate of {} [{}/s]", c.name, c.unit),
            )
        }
        Over::Weight => (
            "frequencies under gravity",
            "gravity over its nominal value".into(),
        ),
    };
    Ok(Chart {
        title: format!("{name}: {title}"),
        description: "Natural frequencies with locked actuators about the deflected state; circles: full model".into(),
        panels: vec![Panel {
            horizontal: Axis {
                label,
                logarithmic: false,
            },
            vertical: Axis {
                label: "frequency [Hz]".into(),
                logarithmic: false,
            },
            curves: curves(count, &reduced, &exact),
            ..Panel::default()
        }],
    })
}

/// The coordinate whose rate changes, and its largest rate: the declared one, or five times that at which motion reaches
/// the tolerance.
fn fastest(layout: &ModelLayout, along: Option<&str>) -> Result<(usize, f64), WriteError> {
    let k = match along {
        Some(name) => (0..layout.n_rigid)
            .find(|k| layout.coordinates[*k].name == name)
            .ok_or_else(|| WriteError::NoLine { along: name.into() })?,
        None => 0,
    };
    let validity = layout.validity.as_ref();
    let declared = validity.and_then(|v| v.rate[k]);
    let reached = validity.and_then(|v| v.rate_at_tolerance[k].map(|rate| 5.0 * rate));
    let top = declared.or(reached).ok_or(WriteError::NothingToPlot {
        fact: "no rate of this coordinate is declared, and none changes the stiffness",
        help: "choose another coordinate, or declare its `rate` in the mechanism file and reduce again",
    })?;
    Ok((k, top))
}

/// Frequencies of the model; none where it has no such state.
fn frequencies(model: &ReducedModel, at: &LoadedPoint) -> Option<Vec<f64>> {
    let mut evaluator = Evaluator::new(model).ok()?;
    if at.weight != 1.0 {
        let nominal = Parameters::nominal(&model.layout);
        let gravity = nominal.gravity.map(|g| at.weight * g);
        evaluator = evaluator
            .with_parameters(Parameters { gravity, ..nominal })
            .ok()?;
    }
    let still = vec![0.0; at.rate.len()];
    evaluator
        .loaded_frequencies_hz(&at.theta, &at.rate, &still, &mut Workspace::default())
        .ok()
        .flatten()
}

/// One curve per frequency of the model, and circles for all of the full model, whose order may be another.
fn curves(count: usize, reduced: &[(f64, Vec<f64>)], exact: &[(f64, Vec<f64>)]) -> Vec<Curve> {
    let of = |mode: usize| {
        let point = |(x, f): &(f64, Vec<f64>)| [*x, f.get(mode).copied().unwrap_or(f64::NAN)];
        reduced.iter().map(point).collect()
    };
    let mut out: Vec<Curve> = (0..count)
        .map(|mode| Curve {
            label: if mode == 0 {
                "reduced model".into()
            } else {
                String::new()
            },
            points: of(mode),
            stroke: Stroke::Solid,
            colour: mode % 7,
        })
        .collect();
    if !exact.is_empty() {
        let points = exact.iter().flat_map(|(x, f)| f.iter().map(|f| [*x, *f]));
        out.push(Curve {
            label: "full model".into(),
            points: points.collect(),
            stroke: Stroke::Circles,
            colour: 0,
        });
    }
    out
}
