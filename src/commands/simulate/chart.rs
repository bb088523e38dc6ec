//! The chart of both models.

use exporters::plot::{Axis, Chart, Curve, Panel, Stroke};
use reducer::dynamics::record::{Group, Record};

/// Components that stay below this (SI) are not drawn, for example across a plane of motion.
const STILL: f64 = 1e-12;

/// A record, its name and how it is drawn.
pub type Drawn<'a> = (&'a Record, &'a str, Stroke);

/// One panel per output and force, or those shown: the full model as broad lines, the reduced one on them.
pub fn draw(name: &str, full: &Record, reduced: &Record, shown: &[String]) -> String {
    let records = [
        (full, "full", Stroke::Broad),
        (reduced, "reduced", Stroke::Solid),
    ];
    draw_some(name, "Full and reduced model over time", &records, shown)
}

/// The same of any records with the columns of the first.
pub fn draw_all(name: &str, description: &str, records: &[Drawn<'_>]) -> String {
    draw_some(name, description, records, &[])
}

fn draw_some(name: &str, description: &str, records: &[Drawn<'_>], shown: &[String]) -> String {
    let groups = records.first().map_or(&[][..], |(first, ..)| &first.groups);
    Chart {
        title: name.to_owned(),
        description: description.to_owned(),
        panels: (groups.iter())
            .filter(|group| shown.is_empty() || shown.contains(&group.name))
            .map(|group| panel(group, records))
            .collect(),
    }
    .to_svg()
}

fn panel(group: &Group, records: &[Drawn<'_>]) -> Panel {
    let mut curves = Vec::new();
    for (place, column) in group.columns.clone().enumerate() {
        let values = records
            .iter()
            .flat_map(|(record, ..)| record.column(column));
        let is_still = values.fold(0.0_f64, |m, x| m.max(x.abs())) < STILL;
        if is_still && group.columns.len() > 1 {
            continue;
        }
        for (record, model, stroke) in records {
            let component = &record.columns[column];
            curves.push(Curve {
                label: format!("{component}, {model}"),
                points: record
                    .rows
                    .iter()
                    .map(|row| [row[0], row[column]])
                    .collect(),
                stroke: *stroke,
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
