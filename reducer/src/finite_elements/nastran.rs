//! Bulk data of Nastran and OptiStruct: DMIG matrices and GRID points.

use super::Dof;
use super::error::{FeError, Place};
use super::mesh::Mesh;
use super::read::{Content, Labelled, Lines, component, expected, number, whole};
use std::collections::BTreeMap;

/// A field of 16 characters behind the first 8, by number from 0; empty where the line ends.
fn wide(line: &str, field: usize) -> &str {
    let start = 8 + 16 * field;
    let end = (start + 16).min(line.len());
    line.get(start.min(line.len())..end).unwrap_or("").trim()
}

/// A field of 8 characters by number from 0.
fn narrow(line: &str, field: usize) -> &str {
    let start = 8 * field;
    let end = (start + 8).min(line.len());
    line.get(start.min(line.len())..end).unwrap_or("").trim()
}

/// A number as these programs write it: `1.5D+08`, `3.+5`.
fn real(text: &str, place: impl Fn() -> Place) -> Result<f64, FeError> {
    let mut plain = text.replace(['D', 'd'], "E");
    if !plain.contains(['E', 'e'])
        && let Some(sign) = plain.rfind(['+', '-']).filter(|at| *at > 0)
    {
        plain.insert(sign, 'E');
    }
    number(&plain, &place).map_err(|_| expected(place(), "a number", text))
}

fn label(node: &str, part: &str, place: impl Fn() -> Place) -> Result<Dof, FeError> {
    let node = whole(node, &place)?;
    // A scalar point has component 0.
    let part = if part == "0" { "1" } else { part };
    Ok(Dof {
        node,
        component: component(part, place)?,
    })
}

/// Reads DMIG and GRID cards; other cards are passed over.
pub(super) fn read(mut lines: Lines<'_>, content: &mut Content) -> Result<(), FeError> {
    let mut matrices: BTreeMap<String, Labelled> = BTreeMap::new();
    let mut column: Option<(String, Dof)> = None;
    let mut mesh = Mesh::default();
    let mut grid: Option<(u64, f64, f64)> = None;
    while let Some((at, line)) = lines.next() {
        let place = || lines.place(at);
        if !line.is_ascii() {
            return Err(expected(place(), "plain characters", line));
        }
        if line.starts_with('$') {
            continue;
        }
        let upper = line.to_ascii_uppercase();
        if upper.starts_with('*') {
            if let Some((node, x, y)) = grid.take() {
                let z = real(wide(line, 0), place)?;
                mesh.add_node(node, [x, y, z], place())?;
            } else if let Some((name, dof)) = &column {
                let row = label(wide(line, 0), wide(line, 1), place)?;
                let value = real(wide(line, 2), place)?;
                if let Some(matrix) = matrices.get_mut(name) {
                    matrix.push(row, *dof, value, at);
                }
            }
            continue;
        }
        (column, grid) = (None, None);
        if upper.starts_with("DMIG*") {
            let name = wide(&upper, 0).to_owned();
            if !matrices.contains_key(&name) {
                return Err(expected(
                    place(),
                    "the header of this matrix before its columns",
                    line,
                ));
            }
            column = Some((name, label(wide(line, 1), wide(line, 2), place)?));
        } else if upper.starts_with("DMIG") {
            header(&upper, &mut matrices, place)?;
        } else if upper.starts_with("GRID*") {
            let node = whole(wide(line, 0), place)?;
            grid = Some((
                node,
                real(wide(line, 2), place)?,
                real(wide(line, 3), place)?,
            ));
        } else if upper.starts_with("GRID") {
            let parts: Vec<&str> = if line.contains(',') {
                line.split(',').map(str::trim).collect()
            } else {
                (0..6).map(|field| narrow(line, field)).collect()
            };
            let field = |i: usize| parts.get(i).copied().unwrap_or("");
            let at = [
                real(field(3), place)?,
                real(field(4), place)?,
                real(field(5), place)?,
            ];
            mesh.add_node(whole(field(1), place)?, at, place())?;
        }
    }
    for (name, labelled) in matrices {
        content
            .matrices
            .push(labelled.matrix(&content.file, Some(name))?);
    }
    if !mesh.nodes.is_empty() {
        content.mesh = Some(mesh);
    }
    Ok(())
}

/// `DMIG NAME 0 IFO …`: a square matrix of real numbers.
fn header(
    line: &str,
    matrices: &mut BTreeMap<String, Labelled>,
    place: impl Fn() -> Place,
) -> Result<(), FeError> {
    let (name, zero, form) = (narrow(line, 1), narrow(line, 2), narrow(line, 3));
    if zero != "0" {
        return Err(expected(
            place(),
            "columns in fields of 16 characters (DMIG*)",
            line,
        ));
    }
    if !matches!(form, "6" | "1") {
        return Err(expected(place(), "form 6 or 1, a square matrix", form));
    }
    if matrices
        .insert(name.to_owned(), Labelled::default())
        .is_some()
    {
        return Err(expected(place(), "every matrix once", name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_exponent_letter_are_read() {
        let place = || Place {
            file: "f".into(),
            line: 1,
        };
        assert_eq!(real("3.+5", place).ok(), Some(3e5));
        assert_eq!(real("-1.25-3", place).ok(), Some(-1.25e-3));
        assert_eq!(real("8.587132004D+08", place).ok(), Some(8.587132004e8));
        assert!(real("D+", place).is_err());
    }
}
