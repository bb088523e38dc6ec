//! Curves through the rows of a CSV file.

use super::fault::{ScenarioFault, ScenarioFaultKind};
use crate::description::FaultKind;
use crate::description::mechanism::Origin;
use crate::description::suggest::closest;
use crate::dynamics::spline::{Ends, Spline};
use csv::StringRecord;
use std::ops::Range;

/// Reads times from the first column and values from another one.
///
/// `source` is the number under which the file's text is known to diagnostics; `column` the name
/// that is wanted, and where it was written.
pub(super) fn curve(
    text: &str,
    source: usize,
    column: Option<(&str, &Origin)>,
    ends: Ends,
    written: &Origin,
) -> Result<Spline, ScenarioFault> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let (mut times, mut values) = (Vec::new(), Vec::new());
    let mut place = 1;
    let mut first = true;
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| ScenarioFault {
            origin: Some(written.clone()),
            kind: ScenarioFaultKind::BadTable {
                reason: error.to_string(),
            },
        })?;
        if record.iter().all(str::is_empty) {
            continue;
        }
        let is_header = first && record.get(0).is_some_and(|c| c.parse::<f64>().is_err());
        if first {
            first = false;
            if let Some((name, origin)) = column {
                place = named_column(&record, is_header, name, origin)?;
            }
            if is_header {
                continue;
            }
        }
        let row = Row {
            record: &record,
            number: index + 1,
            line: line_of(text, &record),
            source,
        };
        let time = row.cell(0)?;
        if let Some(&before) = times.last().filter(|before| **before >= time) {
            return Err(row.fault(ScenarioFaultKind::TimesOutOfOrder { time, before }));
        }
        times.push(time);
        values.push(row.cell(place)?);
    }
    let rows = times.len();
    Spline::new(times, values, ends).ok_or_else(|| ScenarioFault {
        origin: Some(written.clone()),
        kind: ScenarioFaultKind::TooShort { rows },
    })
}

/// A row of numbers.
struct Row<'r> {
    record: &'r StringRecord,
    number: usize,
    line: Range<usize>,
    source: usize,
}

impl Row<'_> {
    fn fault(&self, kind: ScenarioFaultKind) -> ScenarioFault {
        ScenarioFault {
            origin: Some(Origin {
                source: self.source,
                span: self.line.clone(),
            }),
            kind,
        }
    }

    fn cell(&self, column: usize) -> Result<f64, ScenarioFault> {
        let cell = self.record.get(column).unwrap_or_default();
        if cell.is_empty() {
            return Err(self.fault(ScenarioFaultKind::Gap {
                row: self.number,
                column: column + 1,
            }));
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.fault(ScenarioFaultKind::NotANumber {
                cell: cell.chars().take(60).collect(),
            })),
        }
    }
}

/// The line on which a record begins.
fn line_of(text: &str, record: &StringRecord) -> Range<usize> {
    let at = record.position().map_or(0, |p| p.byte() as usize);
    let start = at.min(text.len());
    let rest = text.get(start..).unwrap_or_default();
    let skipped = rest.len() - rest.trim_start().len();
    let length = rest.trim_start().find(['\n', '\r']);
    let length = length.unwrap_or(rest.trim_start().len());
    start + skipped..start + skipped + length
}

fn named_column(
    record: &StringRecord,
    is_header: bool,
    name: &str,
    origin: &Origin,
) -> Result<usize, ScenarioFault> {
    let fault = |kind| ScenarioFault {
        origin: Some(origin.clone()),
        kind,
    };
    if !is_header {
        return Err(fault(ScenarioFaultKind::NoHeader));
    }
    record.iter().position(|c| c == name).ok_or_else(|| {
        fault(ScenarioFaultKind::Description(
            FaultKind::UnknownReference {
                what: "column",
                name: name.to_owned(),
                suggestion: closest(name, record.iter()),
                known: record.iter().map(str::to_owned).collect(),
            },
        ))
    })
}
