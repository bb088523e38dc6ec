//! A path in θ, as points in the file or as rows of another file.

use super::super::fault::FaultKind;
use super::super::files::{MAX_BYTES, Resolver, Unit};
use super::super::format::ApproximationTable;
use super::super::mechanism::Trajectory;
use super::context::{Context, Scope};
use super::settings::Settings;

impl Settings<'_> {
    /// The path along which to reduce, where there is one.
    pub(super) fn trajectory(
        &self,
        context: &mut Context,
        scope: &Scope,
        unit: &Unit,
        table: &ApproximationTable,
        resolver: &Resolver<'_>,
    ) -> Option<Option<Trajectory>> {
        let Some(written) = &table.trajectory else {
            return Some(None);
        };
        let (points, span, path) = match (&written.points, &written.file) {
            (Some(points), None) => {
                let what = "a point of the trajectory";
                let rows: Vec<_> = points
                    .value
                    .iter()
                    .map(|row| self.per_coordinate(context, scope, &row.value, &row.span, what))
                    .collect();
                (
                    rows.into_iter().collect::<Option<Vec<_>>>()?,
                    &points.span,
                    None,
                )
            }
            (None, Some(file)) => {
                let path = unit.folder.join(&file.value);
                let read = resolver(&path);
                match read.and_then(|bytes| rows(&bytes, &file.value, self.coordinates.len())) {
                    Ok(points) => (points, &file.span, Some(path)),
                    Err(kind) => {
                        context.fault(scope, &file.span, kind);
                        return None;
                    }
                }
            }
            (points, _) => {
                let found = if points.is_some() {
                    vec!["points", "file"]
                } else {
                    Vec::new()
                };
                let kind = FaultKind::ExactlyOne {
                    what: "a trajectory".to_owned(),
                    options: "`points`, `file`",
                    found,
                };
                let span = unit.tables.get("approximation").cloned().unwrap_or(0..0);
                context.fault(scope, &span, kind);
                return None;
            }
        };
        if points.len() < 2 {
            let kind = FaultKind::WrongCount {
                what: "the trajectory",
                expected: 2,
                found: points.len(),
            };
            context.fault(scope, span, kind);
            return None;
        }
        Some(Some(Trajectory { points, file: path }))
    }
}

/// Rows of comma-separated numbers; a first row that is not numbers is a header.
fn rows(bytes: &[u8], path: &str, expected: usize) -> Result<Vec<Vec<f64>>, FaultKind> {
    if bytes.len() > MAX_BYTES {
        return Err(FaultKind::TooLarge {
            path: path.to_owned(),
            limit: MAX_BYTES,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| FaultKind::NotText {
        path: path.to_owned(),
        offset: error.valid_up_to(),
    })?;
    let mut points = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Option<Vec<f64>> = line
            .split(',')
            .map(|cell| {
                cell.trim()
                    .parse()
                    .ok()
                    .filter(|value: &f64| value.is_finite())
            })
            .collect();
        match row {
            Some(row) if row.len() == expected => points.push(row),
            None if index == 0 => {}
            _ => {
                return Err(FaultKind::Value {
                    message: format!(
                        "line {} of `{path}` does not hold {expected} finite number(s)",
                        index + 1
                    ),
                });
            }
        }
    }
    Ok(points)
}
