//! The model along lines through its domain, block by block.

use super::units::Unit;
use crate::WriteError;
use rayon::prelude::*;
use reducer::reduced_model::{Evaluator, ModelCoefficients, ReducedModel, Status, Workspace};
use reducer::survey::{ExactPoint, Line, Survey};

/// Entries of one block that are drawn.
const LARGEST_COUNT: usize = 12;
/// Entries that change by less than this part of their block count as constant.
const CONSTANT: f64 = 1e-6;
/// Points of the reduced model between two of the full one.
const FINER: usize = 4;
/// Points of a line without a full model.
const ALONE: usize = 193;

/// A block of coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// M̄.
    Mass,
    /// K̄.
    Stiffness,
    /// D̄.
    Damping,
    /// h̄.
    Gyroscopic,
    /// −∂V/∂η.
    Force,
    /// Positions of the outputs.
    Outputs,
}

/// A line and how finely the reduced model is drawn on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineSpec {
    /// The line; without a full model it has no points.
    pub line: Line,
    /// Points of the reduced model, evenly spaced.
    pub points: usize,
}

/// The reduced model on one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReducedLine {
    /// Coefficients; none where the model is undefined.
    pub coefficients: Vec<Option<ModelCoefficients>>,
    /// Frequencies of the internal modes (Hz).
    pub frequencies_hz: Vec<Vec<f64>>,
}

/// One entry of a block: per line, the full model's values and the reduced model's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EntryCurve {
    /// Name, for example `M[x, y]`.
    pub label: String,
    /// Unit.
    pub unit: String,
    /// Full model, per line.
    pub full: Vec<Vec<f64>>,
    /// Reduced model, per line.
    pub reduced: Vec<Vec<f64>>,
}

/// The entries of a block that vary most.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlockCurves {
    /// The block.
    pub block: Block,
    /// Those shown, largest variation first.
    pub entries: Vec<EntryCurve>,
    /// Number of distinct entries that vary.
    pub varying: usize,
    /// Number of distinct entries that are constant and not zero.
    pub constant: usize,
}

impl Block {
    /// All blocks, in the order of the report.
    pub const ALL: [Self; 6] = [
        Self::Mass,
        Self::Stiffness,
        Self::Gyroscopic,
        Self::Force,
        Self::Damping,
        Self::Outputs,
    ];

    /// Name of the block in settings and summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::Stiffness => "stiffness",
            Self::Damping => "damping",
            Self::Gyroscopic => "gyroscopic",
            Self::Force => "gravity",
            Self::Outputs => "outputs",
        }
    }

    /// Heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Mass => "Mass M̄",
            Self::Stiffness => "Stiffness K̄",
            Self::Damping => "Damping D̄",
            Self::Gyroscopic => "Gyroscopic tensor h̄",
            Self::Force => "Generalised force of gravity, springs and constant loads",
            Self::Outputs => "Positions of the outputs",
        }
    }

    fn of_reduced(self, c: &ModelCoefficients) -> Vec<f64> {
        match self {
            Self::Mass => c.mass.clone(),
            Self::Stiffness => c.stiffness.clone(),
            Self::Damping => c.damping.clone(),
            Self::Gyroscopic => c.gyroscopic.clone(),
            Self::Force => c.force.clone(),
            Self::Outputs => c
                .outputs
                .iter()
                .flat_map(|o| [o.position.x, o.position.y, o.position.z])
                .collect(),
        }
    }

    fn of_full(self, p: &ExactPoint) -> &[f64] {
        match self {
            Self::Mass => &p.mass,
            Self::Stiffness => &p.stiffness,
            Self::Damping => &p.damping,
            Self::Gyroscopic => &p.gyroscopic,
            Self::Force => &p.force,
            Self::Outputs => &p.positions,
        }
    }

    /// Index, name, unit and coordinates of each distinct entry.
    fn entries(self, model: &ReducedModel) -> Vec<(usize, String, Unit, Vec<usize>)> {
        let coordinates = &model.layout.coordinates;
        let n = coordinates.len();
        let entry = |letter: &str, start: Unit, places: &[usize]| {
            let names: Vec<&str> = places
                .iter()
                .map(|&i| coordinates[i].name.as_str())
                .collect();
            let index = places.iter().fold(0, |index, &i| index * n + i);
            let unit = places.iter().fold(start, |unit, &i| {
                unit.per(Unit::of_coordinate(&coordinates[i].unit))
            });
            let label = format!("{letter}[{}]", names.join(", "));
            (index, label, unit, places.to_vec())
        };
        let pairs = || (0..n).flat_map(move |i| (i..n).map(move |j| [i, j]));
        match self {
            Self::Mass => pairs().map(|p| entry("M", Unit::INERTIA, &p)).collect(),
            Self::Stiffness => pairs().map(|p| entry("K", Unit::ENERGY, &p)).collect(),
            Self::Damping => pairs().map(|p| entry("D", Unit::ACTION, &p)).collect(),
            Self::Gyroscopic => (0..n)
                .flat_map(|i| pairs().map(move |[j, k]| [i, j, k]))
                .map(|p| entry("h", Unit::INERTIA, &p))
                .collect(),
            Self::Force => (0..n).map(|i| entry("f", Unit::ENERGY, &[i])).collect(),
            Self::Outputs => {
                let names = model.layout.outputs.iter();
                let each = names.enumerate().flat_map(|(o, name)| {
                    ["x", "y", "z"]
                        .into_iter()
                        .enumerate()
                        .map(move |(a, axis)| {
                            let unit = Unit::of_coordinate("m");
                            (3 * o + a, format!("{name}.{axis}"), unit, Vec::new())
                        })
                });
                each.collect()
            }
        }
    }
}

/// The lines of the survey; without one, lines along each coordinate through the middle.
pub(crate) fn lines(model: &ReducedModel, survey: Option<&Survey>) -> Vec<LineSpec> {
    if let Some(survey) = survey {
        let spec = |line: &Line| LineSpec {
            line: line.clone(),
            points: FINER * line.points.len() + 1,
        };
        return survey.lines.iter().map(spec).collect();
    }
    let domain = &model.layout.domain;
    let ends = || domain.lower.iter().zip(&domain.upper);
    let middle: Vec<f64> = ends().map(|(l, u)| f64::midpoint(*l, *u)).collect();
    ends()
        .enumerate()
        .map(|(k, (lower, upper))| {
            let (mut from, mut to) = (middle.clone(), middle.clone());
            (from[k], to[k]) = (*lower, *upper);
            let line = Line {
                axis: Some(k),
                from,
                to,
                parts: Vec::new(),
                points: Vec::new(),
            };
            LineSpec {
                line,
                points: ALONE,
            }
        })
        .collect()
}

/// Name and unit of a coordinate, for an axis.
pub(crate) fn coordinate_label(model: &ReducedModel, k: usize) -> String {
    let coordinate = &model.layout.coordinates[k];
    match coordinate.unit.as_str() {
        "1" => coordinate.name.clone(),
        unit => format!("{} [{unit}]", coordinate.name),
    }
}

/// Evaluates the model on all lines.
pub(crate) fn evaluate(
    model: &ReducedModel,
    lines: &[LineSpec],
) -> Result<Vec<ReducedLine>, WriteError> {
    let evaluator = Evaluator::new(model)?;
    Ok(lines
        .iter()
        .map(|spec| {
            let last = (spec.points - 1) as f64;
            let (coefficients, frequencies_hz) = (0..spec.points)
                .into_par_iter()
                .map_init(Workspace::default, |work, i| {
                    let theta = spec.line.at(i as f64 / last);
                    evaluated(&evaluator, &theta, work)
                })
                .unzip();
            ReducedLine {
                coefficients,
                frequencies_hz,
            }
        })
        .collect())
}

/// Coefficients and frequencies at one point of the domain.
fn evaluated(
    evaluator: &Evaluator<'_>,
    theta: &[f64],
    work: &mut Workspace,
) -> (Option<ModelCoefficients>, Vec<f64>) {
    match evaluator.coefficients(theta, work) {
        Ok(c) if c.status < Status::Undefined => {
            let hz = evaluator.frequencies_hz(&c);
            (Some(c), hz)
        }
        _ => (None, Vec::new()),
    }
}

/// The entries of one block that vary most, in units that make coordinates comparable.
pub(crate) fn block_curves(
    model: &ReducedModel,
    block: Block,
    lines: &[LineSpec],
    reduced: &[ReducedLine],
) -> BlockCurves {
    let tables: Vec<Vec<Option<Vec<f64>>>> = reduced
        .iter()
        .map(|line| {
            let values = |c: &Option<ModelCoefficients>| c.as_ref().map(|c| block.of_reduced(c));
            line.coefficients.iter().map(values).collect()
        })
        .collect();
    let weights = coordinate_weights(model, block, reduced);
    let mut ranked = Vec::new();
    let mut largest: f64 = 0.0;
    for (index, label, unit, places) in block.entries(model) {
        let weight: f64 = places.iter().map(|&i| weights[i]).product();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for values in tables.iter().flatten().flatten() {
            low = low.min(values[index]);
            high = high.max(values[index]);
        }
        if low > high {
            continue;
        }
        let size = weight * low.abs().max(high.abs());
        largest = largest.max(size);
        ranked.push((weight * (high - low), size, index, label, unit));
    }
    let constant = |range: f64, size: f64| range <= CONSTANT * largest && size > CONSTANT * largest;
    let n_constant = ranked.iter().filter(|r| constant(r.0, r.1)).count();
    ranked.retain(|r| r.0 > CONSTANT * largest);
    // Sorting is stable: entries that vary alike stay in their order.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let varying = ranked.len();
    let entries = ranked
        .into_iter()
        .take(LARGEST_COUNT)
        .map(|(_, _, index, label, unit)| EntryCurve {
            label,
            unit: unit.to_string(),
            full: lines
                .iter()
                .map(|spec| {
                    let value = |p: &Option<ExactPoint>| {
                        p.as_ref().map_or(f64::NAN, |p| block.of_full(p)[index])
                    };
                    spec.line.points.iter().map(value).collect()
                })
                .collect(),
            reduced: tables
                .iter()
                .map(|line| {
                    let value =
                        |v: &Option<Vec<f64>>| v.as_ref().map_or(f64::NAN, |values| values[index]);
                    line.iter().map(value).collect()
                })
                .collect(),
        })
        .collect();
    BlockCurves {
        block,
        entries,
        varying,
        constant: n_constant,
    }
}

/// What makes entries of different units comparable: 1/√ of the largest diagonal entry of M̄ (of
/// K̄ for the stiffness) in each coordinate.
fn coordinate_weights(model: &ReducedModel, block: Block, reduced: &[ReducedLine]) -> Vec<f64> {
    let n = model.layout.n();
    (0..n)
        .map(|i| {
            let diagonal = |c: &ModelCoefficients| match block {
                Block::Stiffness => c.stiffness[i * n + i],
                _ => c.mass[i * n + i],
            };
            let all = reduced
                .iter()
                .flat_map(|line| line.coefficients.iter().flatten());
            let largest = all.map(diagonal).fold(0.0, f64::max);
            if largest > 0.0 {
                largest.sqrt().recip()
            } else {
                1.0
            }
        })
        .collect()
}
