//! The figures of `reduce plot`.

use super::chart::{Axis, Chart, Curve, Panel, Stroke, Tile};
use crate::WriteError;
use crate::report::{
    Block, LineSpec, ReducedLine, block_curves, coordinate_label, evaluate, lines,
};
use reducer::reduced_model::{BoxModel, ReducedModel, readable};
use reducer::survey::{ExactPoint, Survey};

/// Entries of a block in one panel: as many as there are colours.
const ENTRIES: usize = 7;

/// What a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Natural frequencies of the internal modes along lines through the domain.
    Frequencies,
    /// Errors: along lines where the full model is at hand, else per box.
    Errors,
    /// Boxes of the configuration space, coloured by their error.
    Boxes,
    /// Coefficients along lines, block by block.
    Coefficients,
}

/// Draws a figure of a model, beside the full model where a survey of it is given. `along` keeps
/// the line of one coordinate (or `diagonal`).
pub fn figure(
    model: &ReducedModel,
    survey: Option<&Survey>,
    figure: Figure,
    along: Option<&str>,
) -> Result<Chart, WriteError> {
    let name = &model.layout.name;
    let mut chosen = lines(model, survey);
    if let Some(along) = along {
        chosen.retain(|spec| line_name(model, spec) == along);
    }
    if chosen.is_empty() {
        return Err(WriteError::NoLine {
            along: along.unwrap_or_default().into(),
        });
    }
    Ok(match figure {
        Figure::Frequencies => Chart {
            title: format!("{name}: natural frequencies"),
            description: "Natural frequencies of the internal modes; circles: full model".into(),
            panels: frequency_panels(model, &chosen, &evaluate(model, &chosen)?)?,
        },
        Figure::Errors if survey.is_some() => Chart {
            title: format!("{name}: errors along lines"),
            description: "Relative errors of the blocks of the reduced model".into(),
            panels: chosen.iter().map(|l| error_panel(model, l)).collect(),
        },
        Figure::Errors => Chart {
            title: format!("{name}: errors of the boxes"),
            description: "Relative errors of the blocks at the validation points of each box"
                .into(),
            panels: vec![box_error_panel(model)],
        },
        Figure::Boxes => Chart {
            title: format!("{name}: boxes of the configuration space"),
            description: "Boxes with their degree; the shade is the error over its tolerance"
                .into(),
            panels: box_panels(model),
        },
        Figure::Coefficients => {
            chosen.truncate(1);
            Chart {
                title: format!("{name}: coefficients"),
                description: "Entries that vary most, each over its largest size".into(),
                panels: coefficient_panels(model, &chosen, &evaluate(model, &chosen)?),
            }
        }
    })
}

fn line_name<'a>(model: &'a ReducedModel, spec: &LineSpec) -> &'a str {
    let coordinates = &model.layout.coordinates;
    spec.line.axis.map_or("diagonal", |k| &coordinates[k].name)
}

fn coordinate_axis(model: &ReducedModel, k: usize) -> Axis {
    Axis {
        label: coordinate_label(model, k),
        logarithmic: false,
    }
}

fn line_axis(model: &ReducedModel, spec: &LineSpec) -> Axis {
    match spec.line.axis {
        Some(k) => coordinate_axis(model, k),
        None => Axis {
            label: "part of the domain's diagonal".into(),
            logarithmic: false,
        },
    }
}

/// Values over evenly spaced points of a line.
fn on_line(spec: &LineSpec, values: impl ExactSizeIterator<Item = f64>) -> Vec<[f64; 2]> {
    let last = values.len().saturating_sub(1).max(1) as f64;
    let places = values.enumerate().map(|(i, v)| (i as f64 / last, v));
    along(spec, places)
}

/// Values at the points where the full model was looked at.
fn at_points(spec: &LineSpec, value: impl Fn(&Option<ExactPoint>) -> f64) -> Vec<[f64; 2]> {
    let values = spec.line.points.iter().map(value);
    along(spec, spec.line.parts.iter().copied().zip(values))
}

/// Values at parts of the way over the line's coordinate, or over the part of a diagonal.
fn along(spec: &LineSpec, values: impl Iterator<Item = (f64, f64)>) -> Vec<[f64; 2]> {
    let (from, to) = match spec.line.axis {
        Some(k) => (spec.line.from[k], spec.line.to[k]),
        None => (0.0, 1.0),
    };
    values
        .map(|(part, v)| [from + (to - from) * part, v])
        .collect()
}

fn frequency_panels(
    model: &ReducedModel,
    lines: &[LineSpec],
    reduced: &[ReducedLine],
) -> Result<Vec<Panel>, WriteError> {
    let all = || reduced.iter().flat_map(|l| &l.frequencies_hz);
    let count = all().map(Vec::len).max().unwrap_or(0);
    if count == 0 {
        return Err(WriteError::NothingToPlot {
            fact: "the model has no internal modes",
            help: "plot errors, boxes or coefficients instead",
        });
    }
    let of = |list: &[f64], mode: usize| list.get(mode).copied().unwrap_or(f64::NAN);
    let panel = |(spec, line): (&LineSpec, &ReducedLine)| {
        let mut curves = Vec::new();
        for mode in 0..count {
            let values = line.frequencies_hz.iter().map(|f| of(f, mode));
            curves.push(Curve {
                label: if mode == 0 {
                    "reduced model".into()
                } else {
                    String::new()
                },
                points: on_line(spec, values),
                stroke: Stroke::Solid,
                colour: mode % 7,
            });
            let exact = |p: &Option<ExactPoint>| {
                p.as_ref().map_or(f64::NAN, |p| of(&p.frequencies_hz, mode))
            };
            let points = at_points(spec, exact);
            curves.push(Curve {
                label: if mode == 0 && !points.is_empty() {
                    "full model".into()
                } else {
                    String::new()
                },
                points,
                stroke: Stroke::Circles,
                colour: mode % 7,
            });
        }
        Panel {
            horizontal: line_axis(model, spec),
            vertical: Axis {
                label: "frequency [Hz]".into(),
                logarithmic: false,
            },
            curves,
            ..Panel::default()
        }
    };
    Ok(lines.iter().zip(reduced).map(panel).collect())
}

fn relative_error() -> Axis {
    Axis {
        label: "relative error".into(),
        logarithmic: true,
    }
}

/// Tolerances that all blocks share, as a line; otherwise none.
fn tolerance_line(model: &ReducedModel) -> Vec<(String, f64)> {
    let settings = &model.provenance.settings;
    let mut values = settings.tolerances.iter().map(|t| t.tolerance);
    match values.next() {
        Some(first) if values.all(|v| v == first) => {
            vec![(format!("tolerance ({})", settings.criterion.name()), first)]
        }
        _ => Vec::new(),
    }
}

fn error_panel(model: &ReducedModel, spec: &LineSpec) -> Panel {
    let first = spec.line.points.iter().flatten().next();
    let blocks = first.map_or(&[][..], |p| &p.errors[..]);
    let curves = blocks.iter().enumerate().map(|(i, (block, _))| {
        let error = |p: &Option<ExactPoint>| {
            let found = p
                .as_ref()
                .and_then(|p| p.errors.iter().find(|e| e.0 == *block));
            found.map_or(f64::NAN, |e| e.1)
        };
        Curve {
            label: block.name().to_owned(),
            points: at_points(spec, error),
            stroke: Stroke::Solid,
            colour: i,
        }
    });
    Panel {
        horizontal: line_axis(model, spec),
        vertical: relative_error(),
        curves: curves.collect(),
        references: tolerance_line(model),
        ..Panel::default()
    }
}

/// Errors of all boxes: over θ for one coordinate, over the number of the box for more.
fn box_error_panel(model: &ReducedModel) -> Panel {
    let mut order: Vec<usize> = (0..model.boxes.len()).collect();
    let along = model.layout.n_rigid == 1;
    if along {
        order.sort_by(|&a, &b| model.boxes[a].lower[0].total_cmp(&model.boxes[b].lower[0]));
    }
    let mut blocks = Vec::new();
    for error in model.boxes.iter().flat_map(|b| &b.errors) {
        if !blocks.contains(&error.block) {
            blocks.push(error.block);
        }
    }
    let settings = &model.provenance.settings;
    let curves = blocks.iter().enumerate().map(|(colour, block)| {
        let step = |(place, &index): (usize, &usize)| {
            let b = &model.boxes[index];
            let found = b.errors.iter().find(|e| e.block == *block);
            let error = found.map_or(f64::NAN, |e| settings.judged(e));
            let ends = if along {
                [b.lower[0], b.upper[0]]
            } else {
                [place as f64 + 0.5, place as f64 + 1.5]
            };
            ends.map(|x| [x, error])
        };
        Curve {
            label: block.name().to_owned(),
            points: order.iter().enumerate().flat_map(step).collect(),
            stroke: Stroke::Solid,
            colour,
        }
    });
    Panel {
        horizontal: if along {
            coordinate_axis(model, 0)
        } else {
            Axis {
                label: "box".into(),
                logarithmic: false,
            }
        },
        vertical: relative_error(),
        curves: curves.collect(),
        references: tolerance_line(model),
        ..Panel::default()
    }
}

/// Largest error of a box over its tolerance, and its place on the colour ramp.
fn excess(model: &ReducedModel, b: &BoxModel) -> f64 {
    let settings = &model.provenance.settings;
    let ratio = |e: &reducer::reduced_model::BlockError| {
        Some(settings.judged(e) / settings.tolerance(e.block)?)
    };
    b.errors.iter().filter_map(ratio).fold(0.0, f64::max)
}

fn degree(b: &BoxModel) -> usize {
    let total = |term: &Vec<u8>| term.iter().map(|&d| usize::from(d)).sum::<usize>();
    b.dynamics.terms.iter().map(total).max().unwrap_or(0)
}

/// One coordinate: boxes as high as their degree. More: planes of neighbouring coordinates through
/// the middle of the domain.
fn box_panels(model: &ReducedModel) -> Vec<Panel> {
    let meaning =
        "number: degree; shade: largest error over its tolerance, from 0 (dark) to 1 (light)";
    let domain = &model.layout.domain;
    let tile = |b: &BoxModel, horizontal, vertical| Tile {
        horizontal,
        vertical,
        shade: excess(model, b).min(1.0),
        text: degree(b).to_string(),
    };
    if model.layout.n_rigid == 1 {
        let bars = model.boxes.iter();
        let tiles = bars.map(|b| tile(b, [b.lower[0], b.upper[0]], [0.0, degree(b) as f64]));
        return vec![Panel {
            title: meaning.into(),
            horizontal: coordinate_axis(model, 0),
            vertical: Axis {
                label: "degree".into(),
                logarithmic: false,
            },
            tiles: tiles.collect(),
            ..Panel::default()
        }];
    }
    let middle: Vec<f64> = domain
        .lower
        .iter()
        .zip(&domain.upper)
        .map(|(l, u)| f64::midpoint(*l, *u))
        .collect();
    (0..model.layout.n_rigid - 1)
        .map(|a| {
            let cut = |b: &&BoxModel| {
                (0..middle.len())
                    .filter(|k| *k != a && *k != a + 1)
                    .all(|k| (b.lower[k]..=b.upper[k]).contains(&middle[k]))
            };
            let slice = model.boxes.iter().filter(cut);
            Panel {
                title: if a == 0 {
                    meaning.into()
                } else {
                    String::new()
                },
                horizontal: coordinate_axis(model, a),
                vertical: coordinate_axis(model, a + 1),
                tiles: slice
                    .map(|b| {
                        tile(
                            b,
                            [b.lower[a], b.upper[a]],
                            [b.lower[a + 1], b.upper[a + 1]],
                        )
                    })
                    .collect(),
                ..Panel::default()
            }
        })
        .collect()
}

fn coefficient_panels(
    model: &ReducedModel,
    lines: &[LineSpec],
    reduced: &[ReducedLine],
) -> Vec<Panel> {
    let spec = &lines[0];
    let blocks = Block::ALL.into_iter().map(|block| {
        let found = block_curves(model, block, lines, reduced);
        let mut curves = Vec::new();
        for (colour, entry) in found.entries.iter().take(ENTRIES).enumerate() {
            let finite = entry.reduced[0].iter().filter(|v| v.is_finite());
            let size = finite.fold(0.0, |m: f64, v| m.max(v.abs()));
            let scaled = |list: &[f64]| on_line(spec, list.iter().map(|v| v / size));
            let unit = if entry.unit == "1" { "" } else { &entry.unit };
            curves.push(Curve {
                label: format!("{} / {} {unit}", entry.label, readable(size))
                    .trim_end()
                    .to_owned(),
                points: scaled(&entry.reduced[0]),
                stroke: Stroke::Solid,
                colour,
            });
            if !entry.full[0].is_empty() {
                let values = entry.full[0].iter().map(|v| v / size);
                let points = along(spec, spec.line.parts.iter().copied().zip(values));
                curves.push(Curve {
                    label: String::new(),
                    points,
                    stroke: Stroke::Circles,
                    colour,
                });
            }
        }
        Panel {
            title: block.title().to_owned(),
            horizontal: line_axis(model, spec),
            vertical: Axis {
                label: "over its largest size".into(),
                logarithmic: false,
            },
            curves,
            ..Panel::default()
        }
    });
    blocks.filter(|panel| !panel.curves.is_empty()).collect()
}
