//! What a file holds, told by its content.

use super::Dof;
use super::error::{FeError, Place};
use super::mesh::{self, Mesh};
use super::nastran;
use super::triplets::{Lower, Triplets};

/// Most equations of a matrix.
pub(super) const MAX_DOFS: usize = 3_000_000;
/// Largest file in bytes.
pub const MAX_BYTES: usize = 2 << 30;

/// A file as it was given.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Name for messages.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// A symmetric matrix of a file.
#[derive(Debug, Clone)]
pub struct FileMatrix {
    /// Its file.
    pub file: String,
    /// Its name in the file, where it has one.
    pub name: Option<String>,
    /// What its rows are; none: numbered equations.
    pub dofs: Option<Vec<Dof>>,
    /// The file that says so.
    pub labels: String,
    /// Number of rows.
    pub n: usize,
    /// Its entries.
    pub lower: Lower,
}

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// The file.
    pub file: String,
    /// Matrices.
    pub matrices: Vec<FileMatrix>,
    /// What numbered equations are.
    pub dofs: Option<Vec<Dof>>,
    /// Nodes, elements and sets.
    pub mesh: Option<Mesh>,
}

/// Lines of a file with their numbers; blank ones left out.
pub(super) struct Lines<'a> {
    file: &'a str,
    rest: std::iter::Enumerate<std::str::Lines<'a>>,
}

impl<'a> Lines<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            rest: text.lines().enumerate(),
        }
    }

    pub fn place(&self, line: usize) -> Place {
        Place {
            file: self.file.to_owned(),
            line,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.rest
            .by_ref()
            .map(|(i, line)| (i + 1, line.trim_end()))
            .find(|(_, line)| !line.trim_start().is_empty())
    }
}

/// A fault of one field.
pub(super) fn expected(place: Place, expected: &'static str, found: &str) -> FeError {
    let short: String = found.trim().chars().take(40).collect();
    FeError::Expected {
        place,
        expected,
        found: short,
    }
}

/// A finite number.
pub(super) fn number(text: &str, place: impl Fn() -> Place) -> Result<f64, FeError> {
    let value: f64 = (text.parse()).map_err(|_| expected(place(), "a number", text))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(FeError::NotFinite {
            place: place(),
            found: text.to_owned(),
        })
    }
}

/// A positive whole number.
pub(super) fn whole(text: &str, place: impl Fn() -> Place) -> Result<u64, FeError> {
    match text.parse::<u64>() {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(expected(place(), "a positive whole number", text)),
    }
}

/// The number of an equation as an index from 0.
fn equation(text: &str, place: impl Fn() -> Place) -> Result<u32, FeError> {
    let value = whole(text, &place)?;
    if value > MAX_DOFS as u64 {
        return Err(FeError::Limit {
            place: place(),
            what: "the number of equations",
            limit: MAX_DOFS,
        });
    }
    Ok(value as u32 - 1)
}

/// A component from 1 to 6.
pub(super) fn component(text: &str, place: impl Fn() -> Place) -> Result<u8, FeError> {
    match text.parse::<u8>() {
        Ok(value @ 1..=6) => Ok(value),
        _ => Err(expected(place(), "a component from 1 to 6", text)),
    }
}

/// Reads a file.
pub fn read(file: SourceFile<'_>) -> Result<Content, FeError> {
    let whole_file = || Place {
        file: file.name.to_owned(),
        line: 0,
    };
    if file.bytes.len() > MAX_BYTES {
        return Err(FeError::Limit {
            place: whole_file(),
            what: "the size of the file in bytes",
            limit: MAX_BYTES,
        });
    }
    let unknown = || FeError::UnknownContent {
        place: whole_file(),
    };
    let text = std::str::from_utf8(file.bytes).map_err(|_| unknown())?;
    let mut content = Content {
        file: file.name.to_owned(),
        ..Content::default()
    };
    let lines = || Lines::new(file.name, text);
    let first = lines().next().ok_or_else(unknown)?.1.trim_start();
    if first.starts_with("%%MatrixMarket") {
        content.matrices.push(matrix_market(file.name, lines())?);
        return Ok(content);
    }
    let significant = |line: &&str| {
        let line = line.trim_start();
        !(line.starts_with("**") || line.starts_with('#') || line.starts_with('$'))
    };
    let first = lines()
        .map(|(_, line)| line)
        .find(significant)
        .ok_or_else(unknown)?
        .trim_start();
    let upper = first.to_ascii_uppercase();
    if ["DMIG", "GRID", "BEGIN", "SOL", "CEND", "CORD"]
        .iter()
        .any(|card| upper.starts_with(card))
    {
        nastran::read(lines(), &mut content)?;
        return Ok(content);
    }
    if first.starts_with('*') {
        content.mesh = Some(mesh::read_inp(lines())?);
        return Ok(content);
    }
    table(first, text, &mut content)?;
    Ok(content)
}

/// Files of numbers without keywords.
fn table(first: &str, text: &str, content: &mut Content) -> Result<(), FeError> {
    let file = content.file.clone();
    let lines = || Lines::new(&file, text);
    let fields: Vec<&str> = fields(first).collect();
    let numeric = fields.iter().all(|f| f.parse::<f64>().is_ok());
    let is_label = |text: &str| {
        text.split_once('.')
            .is_some_and(|(a, b)| a.parse::<u64>().is_ok() && b.len() == 1)
    };
    match (numeric, fields.as_slice()) {
        (true, [label]) if is_label(label) => content.dofs = Some(calculix_dofs(lines())?),
        (true, [_, _, _, _, _]) => {
            content.matrices.push(labelled_matrix(&file, lines())?);
        }
        (true, [_, x, y, z]) if [x, y, z].iter().any(|f| f.contains(['.', 'e', 'E'])) => {
            content.mesh = Some(mesh::read_table(lines())?);
        }
        (false, [_, _, _, _]) => content.mesh = Some(mesh::read_table(lines())?),
        (true, [_, _, third]) if third.parse::<u8>().is_ok_and(|c| (1..=6).contains(&c)) => {
            content.dofs = Some(dof_table(lines())?);
        }
        (true, [_, _, _]) => content.matrices.push(coordinate_matrix(&file, lines())?),
        _ => {
            let place = Place {
                file: file.clone(),
                line: 0,
            };
            return Err(FeError::UnknownContent { place });
        }
    }
    Ok(())
}

/// Fields between blanks, commas or semicolons.
pub(super) fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|field| !field.is_empty())
}

/// Lines `row column value` (CalculiX, Abaqus with FORMAT=COORDINATE).
fn coordinate_matrix(file: &str, lines: Lines<'_>) -> Result<FileMatrix, FeError> {
    let mut triplets = Triplets::default();
    let mut n = 0;
    let place = |line: usize| Place {
        file: file.to_owned(),
        line,
    };
    for (at, line) in lines.filter(|(_, line)| !line.trim_start().starts_with(['#', '*'])) {
        let mut parts = fields(line);
        let (Some(i), Some(j), Some(v), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(expected(place(at), "`row column value`", line));
        };
        let (i, j) = (equation(i, || place(at))?, equation(j, || place(at))?);
        n = n.max(i as usize + 1).max(j as usize + 1);
        triplets.push(i, j, number(v, || place(at))?, at);
    }
    Ok(FileMatrix {
        file: file.to_owned(),
        name: None,
        dofs: None,
        labels: String::new(),
        n,
        lower: triplets.lower(file)?,
    })
}

/// Lines `node, dof, node, dof, value` (Abaqus with FORMAT=MATRIX INPUT).
fn labelled_matrix(file: &str, lines: Lines<'_>) -> Result<FileMatrix, FeError> {
    let place = |line: usize| Place {
        file: file.to_owned(),
        line,
    };
    let mut labelled = Labelled::default();
    for (at, line) in lines.filter(|(_, line)| !line.trim_start().starts_with(['#', '*'])) {
        let parts: Vec<&str> = fields(line).collect();
        let &[a, c, b, d, v] = parts.as_slice() else {
            return Err(expected(place(at), "`node, dof, node, dof, value`", line));
        };
        let label = |node: &str, part: &str| -> Result<Dof, FeError> {
            Ok(Dof {
                node: whole(node, || place(at))?,
                component: component(part, || place(at))?,
            })
        };
        labelled.push(label(a, c)?, label(b, d)?, number(v, || place(at))?, at);
    }
    labelled.matrix(file, None)
}

/// Entries between labels.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    entries: Vec<(Dof, Dof, f64, usize)>,
}

impl Labelled {
    pub fn push(&mut self, row: Dof, column: Dof, value: f64, line: usize) {
        self.entries.push((row, column, value, line));
    }

    /// The matrix over all labels in their order.
    pub fn matrix(self, file: &str, name: Option<String>) -> Result<FileMatrix, FeError> {
        let mut dofs: Vec<Dof> = (self.entries.iter())
            .flat_map(|(row, column, ..)| [*row, *column])
            .collect();
        dofs.sort_unstable();
        dofs.dedup();
        if dofs.len() > MAX_DOFS {
            return Err(FeError::Limit {
                place: Place {
                    file: file.to_owned(),
                    line: 0,
                },
                what: "the number of equations",
                limit: MAX_DOFS,
            });
        }
        let index = |dof: &Dof| dofs.binary_search(dof).unwrap_or_default() as u32;
        let mut triplets = Triplets::default();
        for (row, column, value, line) in &self.entries {
            triplets.push(index(row), index(column), *value, *line);
        }
        Ok(FileMatrix {
            file: file.to_owned(),
            name,
            n: dofs.len(),
            dofs: Some(dofs),
            labels: file.to_owned(),
            lower: triplets.lower(file)?,
        })
    }
}

fn matrix_market(file: &str, mut lines: Lines<'_>) -> Result<FileMatrix, FeError> {
    let place = |line: usize| Place {
        file: file.to_owned(),
        line,
    };
    let (at, header) = lines.next().unwrap_or((1, ""));
    let words: Vec<String> = header
        .split_whitespace()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let known = matches!(
        words
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice(),
        [
            _,
            "matrix",
            "coordinate",
            "real" | "integer",
            "symmetric" | "general"
        ]
    );
    if !known {
        let wanted = "`matrix coordinate real symmetric`";
        return Err(expected(place(at), wanted, header));
    }
    let mut body = lines.filter(|(_, line)| !line.trim_start().starts_with('%'));
    let (at, sizes) = body.next().unwrap_or((at, ""));
    let sizes: Vec<u64> = fields(sizes).filter_map(|f| f.parse().ok()).collect();
    let &[rows, columns, count] = sizes.as_slice() else {
        return Err(expected(place(at), "`rows columns entries`", header));
    };
    if rows != columns {
        return Err(expected(
            place(at),
            "a square matrix",
            &format!("{rows} x {columns}"),
        ));
    }
    if rows > MAX_DOFS as u64 {
        return Err(FeError::Limit {
            place: place(at),
            what: "the number of equations",
            limit: MAX_DOFS,
        });
    }
    let mut triplets = Triplets::default();
    let mut last = at;
    for (at, line) in body {
        let mut parts = fields(line);
        let (Some(i), Some(j), Some(v), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(expected(place(at), "`row column value`", line));
        };
        let (i, j) = (equation(i, || place(at))?, equation(j, || place(at))?);
        if u64::from(i.max(j)) >= rows {
            return Err(expected(place(at), "a row within the matrix", line));
        }
        triplets.push(i, j, number(v, || place(at))?, at);
        last = at;
    }
    if triplets.entries.len() as u64 != count {
        return Err(FeError::Truncated {
            place: place(last),
            expected: count as usize,
            found: triplets.entries.len(),
        });
    }
    Ok(FileMatrix {
        file: file.to_owned(),
        name: None,
        dofs: None,
        labels: String::new(),
        n: rows as usize,
        lower: triplets.lower(file)?,
    })
}

/// Lines `node.component`, one per equation; split as text: 10.1 is node 10, component 1.
fn calculix_dofs(lines: Lines<'_>) -> Result<Vec<Dof>, FeError> {
    let file = lines.file;
    let place = |line: usize| Place {
        file: file.to_owned(),
        line,
    };
    lines
        .map(|(at, line)| {
            let line = line.trim();
            let Some((node, part)) = line.split_once('.') else {
                return Err(expected(place(at), "`node.dof`", line));
            };
            Ok(Dof {
                node: whole(node, || place(at))?,
                component: component(part, || place(at))?,
            })
        })
        .collect()
}

/// Lines `row node dof` in any order, every row once.
fn dof_table(lines: Lines<'_>) -> Result<Vec<Dof>, FeError> {
    let file = lines.file;
    let place = |line: usize| Place {
        file: file.to_owned(),
        line,
    };
    let mut rows: Vec<(u32, Dof, usize)> = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.trim_start().starts_with('#')) {
        let parts: Vec<&str> = fields(line).collect();
        let &[row, node, part] = parts.as_slice() else {
            return Err(expected(place(at), "`row node dof`", line));
        };
        let dof = Dof {
            node: whole(node, || place(at))?,
            component: component(part, || place(at))?,
        };
        rows.push((equation(row, || place(at))?, dof, at));
    }
    rows.sort_unstable_by_key(|(row, ..)| *row);
    for (i, (row, _, at)) in rows.iter().enumerate() {
        if *row as usize != i {
            let found = format!("row {}", row + 1);
            return Err(expected(place(*at), "every row once, from 1", &found));
        }
    }
    Ok(rows.into_iter().map(|(_, dof, _)| dof).collect())
}
