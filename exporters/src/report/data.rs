//! What the page's scripts draw, as one JSON document.

use super::curves::{Block, LineSpec, ReducedLine, block_curves, coordinate_label};
use super::domain;
use super::numbers::packed;
use crate::WriteError;
use kernel::Group;
use rayon::prelude::*;
use reducer::reduced_model::{
    self, BlockError, BoxModel, Component, Evaluator, ReducedModel, Status, Table, Workspace,
};
use reducer::survey::{ExactPoint, ModeShapes, Round, Survey};
use serde_json::{Map, Value, json};

/// Points along each side of a map of frequencies.
const MAP_POINTS: usize = 9;

/// Gathers everything.
pub(super) fn gather(
    model: &ReducedModel,
    survey: Option<&Survey>,
    lines: &[LineSpec],
    reduced: &[ReducedLine],
) -> Result<Value, WriteError> {
    let layout = &model.layout;
    let base = match survey {
        Some(survey) => survey.base.clone(),
        None => lines.first().map_or(Vec::new(), |l| l.line.at(0.5)),
    };
    Ok(json!({
        "name": layout.name,
        "rigid": layout.n_rigid,
        "coordinates": layout.coordinates,
        "outputs": layout.outputs,
        "domain": layout.domain,
        "base": base,
        "tolerances": tolerances(model),
        "criterion": model.provenance.settings.criterion,
        "tree": model.tree,
        "boxes": model.boxes.iter().map(box_facts).collect::<Vec<_>>(),
        "mode_hz": mode_frequencies_hz(model, &base)?,
        "motion": motion(model),
        "lines": lines.iter().map(|l| line_facts(model, l)).collect::<Vec<_>>(),
        "blocks": Block::ALL
            .into_iter()
            .map(|block| block_data(model, block, lines, reduced))
            .collect::<Vec<_>>(),
        "frequencies": frequencies(model, lines, reduced, &base)?,
        "skeleton": survey.map(|s| &s.skeleton),
        "path": survey.map(|s| &s.path),
        "shapes": survey.map(|s| shapes(&s.shapes)),
        "scan": survey.and_then(|s| s.scan.as_ref()).map(|scan| domain::data(model, scan)),
        "history": survey.map_or(Vec::new(), |s| s.history.iter().map(round_facts).collect()),
    }))
}

fn tolerances(model: &ReducedModel) -> Map<String, Value> {
    let list = &model.provenance.settings.tolerances;
    list.iter()
        .map(|t| (t.block.name().to_owned(), json!(t.tolerance)))
        .collect()
}

/// Largest total degree of a table.
pub(super) fn degree(table: &Table) -> usize {
    let total = |term: &Vec<u8>| term.iter().map(|&d| usize::from(d)).sum();
    table.terms.iter().map(total).max().unwrap_or(0)
}

/// Block → mean and largest error.
fn error_pairs(errors: &[BlockError]) -> Map<String, Value> {
    errors
        .iter()
        .map(|e| (e.block.name().to_owned(), json!([e.mean, e.max])))
        .collect()
}

fn round_facts(round: &Round) -> Value {
    json!({
        "samples": round.samples,
        "boxes": round.tried,
        "finished": round.finished,
        "degree": round.degree,
        "errors": error_pairs(&round.errors),
    })
}

fn box_facts(b: &BoxModel) -> Value {
    json!({
        "lower": b.lower,
        "upper": b.upper,
        "degree": degree(&b.dynamics),
        "numbers": b.dynamics.coefficients.len(),
        "reached": b.reached,
        "errors": error_pairs(&b.errors),
    })
}

/// Functions of the outputs' positions and amplitudes.
fn motion(model: &ReducedModel) -> Value {
    let wanted = |c: &Component| {
        let (group, [row, ..]) = c.place();
        group == Group::Position || (group == Group::Amplitude && row < 3)
    };
    let list = &model.components.outputs;
    let columns: Vec<usize> = (0..list.len()).filter(|&i| wanted(&list[i])).collect();
    let tables = model.boxes.iter().map(|b| {
        let values = b.outputs.coefficients.chunks(list.len().max(1));
        json!({
            "terms": b.outputs.terms,
            "values": packed(values.flat_map(|row| columns.iter().map(|&c| row[c]))),
        })
    });
    json!({
        "components": columns.iter().map(|&c| list[c]).collect::<Vec<_>>(),
        "functions": model.functions,
        "tables": tables.collect::<Vec<_>>(),
        "constants": model
            .components
            .constants
            .iter()
            .filter(|c| wanted(&c.component))
            .collect::<Vec<_>>(),
    })
}

fn line_facts(model: &ReducedModel, spec: &LineSpec) -> Value {
    let errors = |block: reduced_model::Block| {
        let of = |p: &Option<ExactPoint>| {
            let errors = p.as_ref().map(|p| &p.errors);
            let found = errors.and_then(|e| e.iter().find(|(of, _)| *of == block));
            found.map_or(f64::NAN, |(_, error)| *error)
        };
        packed(spec.line.points.iter().map(of))
    };
    let first = spec.line.points.iter().flatten().next();
    let blocks = first.map_or(&[][..], |p| &p.errors[..]);
    json!({
        "axis": spec.line.axis,
        "label": spec.line.axis.map_or_else(
            || "diagonal of the domain".to_owned(),
            |k| coordinate_label(model, k),
        ),
        "from": spec.line.from,
        "to": spec.line.to,
        "parts": packed(spec.line.parts.iter().copied()),
        "errors": blocks
            .iter()
            .map(|(block, _)| (block.name().to_owned(), errors(*block)))
            .collect::<Map<String, Value>>(),
    })
}

fn block_data(
    model: &ReducedModel,
    block: Block,
    lines: &[LineSpec],
    reduced: &[ReducedLine],
) -> Value {
    let curves = block_curves(model, block, lines, reduced);
    let entries: Vec<Value> = curves
        .entries
        .iter()
        .map(|entry| {
            let pack = |list: &[Vec<f64>]| -> Vec<Value> {
                list.iter().map(|v| packed(v.iter().copied())).collect()
            };
            json!({
                "label": entry.label,
                "unit": entry.unit,
                "full": pack(&entry.full),
                "reduced": pack(&entry.reduced),
            })
        })
        .collect();
    json!({
        "name": block.name(),
        "title": block.title(),
        "entries": entries,
        "varying": curves.varying,
        "constant": curves.constant,
    })
}

fn frequencies(
    model: &ReducedModel,
    lines: &[LineSpec],
    reduced: &[ReducedLine],
    base: &[f64],
) -> Result<Value, WriteError> {
    let count = reduced
        .iter()
        .flat_map(|line| line.frequencies_hz.iter().map(Vec::len))
        .max()
        .unwrap_or(0);
    let value = |list: &[f64], mode: usize| list.get(mode).copied().unwrap_or(f64::NAN);
    let of_lines: Vec<Value> = lines
        .iter()
        .zip(reduced)
        .map(|(spec, line)| {
            let full = |mode: usize| {
                let points = spec.line.points.iter();
                packed(points.map(move |p| {
                    p.as_ref()
                        .map_or(f64::NAN, |p| value(&p.frequencies_hz, mode))
                }))
            };
            let reduced = |mode| packed(line.frequencies_hz.iter().map(move |f| value(f, mode)));
            json!({
                "full": (0..count).map(full).collect::<Vec<_>>(),
                "reduced": (0..count).map(reduced).collect::<Vec<_>>(),
            })
        })
        .collect();
    let maps = if count > 0 {
        frequency_maps(model, base, count)?
    } else {
        Vec::new()
    };
    Ok(json!({ "count": count, "lines": of_lines, "maps": maps, "side": MAP_POINTS }))
}

/// Frequency of each elastic coordinate by itself, √(K̄ᵢᵢ/M̄ᵢᵢ)/2π, at the base point.
fn mode_frequencies_hz(model: &ReducedModel, base: &[f64]) -> Result<Vec<f64>, WriteError> {
    let evaluator = Evaluator::new(model)?;
    let n = model.layout.n();
    let found = evaluator.coefficients(base, &mut Workspace::default());
    let Some(c) = found.ok().filter(|c| c.status < Status::Undefined) else {
        return Ok(Vec::new());
    };
    let hz = |i: usize| (c.stiffness[i * n + i] / c.mass[i * n + i]).sqrt() / std::f64::consts::TAU;
    Ok((model.layout.n_rigid..n).map(hz).collect())
}

/// Frequencies of the reduced model on every plane of two coordinates through the base point.
fn frequency_maps(
    model: &ReducedModel,
    base: &[f64],
    count: usize,
) -> Result<Vec<Value>, WriteError> {
    let evaluator = Evaluator::new(model)?;
    let domain = &model.layout.domain;
    let s = base.len();
    let place = |k: usize, i: usize| {
        let part = i as f64 / (MAP_POINTS - 1) as f64;
        (1.0 - part) * domain.lower[k] + part * domain.upper[k]
    };
    let planes = (0..s).flat_map(|a| (a + 1..s).map(move |b| [a, b]));
    Ok(planes
        .map(|[a, b]| {
            let found: Vec<Vec<f64>> = (0..MAP_POINTS * MAP_POINTS)
                .into_par_iter()
                .map_init(Workspace::default, |work, cell| {
                    let mut theta = base.to_vec();
                    theta[a] = place(a, cell % MAP_POINTS);
                    theta[b] = place(b, cell / MAP_POINTS);
                    match evaluator.coefficients(&theta, work) {
                        Ok(c) if c.status < Status::Undefined => evaluator.frequencies_hz(&c),
                        _ => Vec::new(),
                    }
                })
                .collect();
            let of_mode = |mode: usize| {
                let values = found.iter();
                packed(values.map(move |f| f.get(mode).copied().unwrap_or(f64::NAN)))
            };
            json!({
                "axes": [a, b],
                "values": (0..count).map(of_mode).collect::<Vec<_>>(),
            })
        })
        .collect())
}

fn shapes(shapes: &ModeShapes) -> Value {
    let axes = shapes.axes.iter().map(|axis| {
        json!({
            "places": axis.places,
            "shapes": axis
                .shapes
                .iter()
                .map(|s| packed(s.iter().copied()))
                .collect::<Vec<_>>(),
        })
    });
    json!({
        "modes": shapes.modes,
        "base": packed(shapes.base.iter().copied()),
        "axes": axes.collect::<Vec<_>>(),
    })
}
