//! The chart of both models.

use exporters::plot::{Axis, Chart, Curve, Panel, Stroke};
use reducer::dynamics::record::{Group, Record};

/// Components that stay below this (SI) are not drawn, for example across a plane of motion.
const STILL: f64 = 1e-12;

/// One panel per output and force: the full model as broad lines, the reduced one on them.
pub fn draw(name: &str, full: &Record, reduced: &Record) -> String {
    let panels = full.groups.iter().map(|group| panel(group, full, reduced));
    Chart {
        title: name.to_owned(),
        description: "Full and reduced model over time".to_owned(),
        panels: panels.collect(),
    }
    .to_svg()
}

fn panel(group: &Group, full: &Record, reduced: &Record) -> Panel {
    let mut curves = Vec::new();
    for (place, column) in group.columns.clone().enumerate() {
        let values = full.column(column).chain(reduced.column(column));
        let is_still = values.fold(0.0_f64, |m, x| m.max(x.abs())) < STILL;
        if is_still && group.columns.len() > 1 {
            continue;
        }
        let component = full.columns[column].clone();
        for (record, model, stroke) in [
            (full, "full", Stroke::Broad),
            (reduced, "reduced", Stroke::Solid),
        ] {
            curves.push(Curve {
                label: format!("{component}, {model}"),
                points: record
                    .rows
                    .iter()
                    .map(|row| [row[0], row[column]])
                    .collect(),
                stroke,
                colour: place,
            });
        }
    }
    Panel {
        title: group.name.clone(),
        horizontal: Axis {
            label: "time [s]".to_owned(),
            ..Axis::default()
        },
        vertical: Axis {
            label: format!("[{}]", group.unit),
            ..Axis::default()
        },
        curves,
        ..Panel::default()
    }
}
