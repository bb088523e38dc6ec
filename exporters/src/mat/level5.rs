//! The level-5 `.mat` format, uncompressed: numbers, texts, lists and structures, as MATLAB, Octave and SciPy read them.

/// A value of MATLAB.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A matrix or an array of more dimensions, column by column.
    Numbers {
        /// Sizes, at least two.
        shape: Vec<usize>,
        /// The first index varies fastest.
        values: Vec<f64>,
    },
    /// A text in one row.
    Text(String),
    /// A column of values.
    Cells(Vec<Value>),
    /// Named values, 1×1.
    Struct(Vec<(String, Value)>),
}

// Types of data.
const INT8: u32 = 1;
const UINT16: u32 = 4;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const DOUBLE: u32 = 9;
const MATRIX: u32 = 14;
// Classes of arrays.
const CELL: u32 = 1;
const STRUCT: u32 = 2;
const CHAR: u32 = 4;
const REAL: u32 = 6;
/// Bytes of the name of a field, its end included.
const FIELD: usize = 32;

/// Start of every file of this program; `is_ours` looks for it.
pub(crate) const MARK: &str = "MATLAB 5.0 MAT-file, written by reduce";

impl Value {
    /// One number.
    pub fn number(value: f64) -> Self {
        Self::column(vec![value])
    }

    /// A column of numbers.
    pub fn column(values: Vec<f64>) -> Self {
        Self::Numbers {
            shape: vec![values.len(), 1],
            values,
        }
    }

    /// A matrix from its rows.
    pub fn matrix(rows: usize, columns: usize, by_rows: &[f64]) -> Self {
        let at = |k: usize| by_rows[(k % rows) * columns + k / rows];
        Self::Numbers {
            shape: vec![rows, columns],
            values: (0..rows * columns).map(at).collect(),
        }
    }

    /// A column of texts.
    pub fn texts(list: &[String]) -> Self {
        Self::Cells(list.iter().cloned().map(Self::Text).collect())
    }
}

/// A file with these variables.
pub fn file(variables: &[(&str, Value)]) -> Vec<u8> {
    let mut out = format!("{MARK:<116}").into_bytes();
    out.resize(124, 0);
    // Version 1.0, numbers with their lowest byte first.
    out.extend([0, 1, b'I', b'M']);
    for (name, value) in variables {
        matrix(&mut out, name, value);
    }
    out
}

fn element(out: &mut Vec<u8>, kind: u32, bytes: &[u8]) {
    out.extend(kind.to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
    out.resize(out.len().next_multiple_of(8), 0);
}

fn integers(values: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let bytes = values.into_iter().map(|v| (v as u32).to_le_bytes());
    bytes.flatten().collect()
}

/// Type, shape and name of an array.
fn start(class: u32, shape: &[usize], name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    element(&mut out, UINT32, &integers([class as usize, 0]));
    element(&mut out, INT32, &integers(shape.iter().copied()));
    element(&mut out, INT8, name.as_bytes());
    out
}

fn matrix(out: &mut Vec<u8>, name: &str, value: &Value) {
    let content = match value {
        Value::Numbers { shape, values } => {
            let mut content = start(REAL, shape, name);
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            element(&mut content, DOUBLE, &bytes);
            content
        }
        Value::Text(text) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut content = start(CHAR, &[usize::from(!units.is_empty()), units.len()], name);
            let bytes: Vec<u8> = units.iter().flat_map(|u| u.to_le_bytes()).collect();
            element(&mut content, UINT16, &bytes);
            content
        }
        Value::Cells(list) => {
            let mut content = start(CELL, &[list.len(), 1], name);
            for value in list {
                matrix(&mut content, "", value);
            }
            content
        }
        Value::Struct(fields) => {
            let mut content = start(STRUCT, &[1, 1], name);
            // The length of names stands in the tag itself.
            content.extend((INT32 | 4 << 16).to_le_bytes());
            content.extend((FIELD as u32).to_le_bytes());
            let mut names = Vec::new();
            for (field, _) in fields {
                let end = names.len() + FIELD;
                names.extend(field.bytes().take(FIELD - 1));
                names.resize(end, 0);
            }
            element(&mut content, INT8, &names);
            for (_, value) in fields {
                matrix(&mut content, "", value);
            }
            content
        }
    };
    element(out, MATRIX, &content);
}
