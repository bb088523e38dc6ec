//! JSON: the model's own structure, floats in their shortest exact form.

use crate::{ReadError, WriteError};
use reducer::reduced_model::{FORMATS, ReducedModel};
use serde::Deserialize;

/// Most bytes of a JSON model that are read.
pub const LARGEST: u64 = 128 << 20;
/// Most lists and objects in it.
const CONTAINERS: usize = 4_000_000;
/// Most values in it.
const VALUES: usize = 16_000_000;

/// The version, whatever else the file holds.
#[derive(Deserialize)]
struct FormatOnly {
    format: u64,
}

/// The model as one line of JSON with a final newline.
pub fn to_bytes(model: &ReducedModel) -> Result<Vec<u8>, WriteError> {
    model.validate()?;
    let mut bytes = serde_json::to_vec(model).map_err(|e| WriteError::Template {
        template: "model.json",
        fact: e.to_string(),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads and validates a model.
pub fn from_bytes(bytes: &[u8]) -> Result<ReducedModel, ReadError> {
    let found = bytes.len() as u64;
    if found > LARGEST {
        return Err(ReadError::TooLarge {
            found,
            largest: LARGEST,
        });
    }
    within_bounds(bytes)?;
    let refuse = |e: serde_json::Error| ReadError::Json {
        line: e.line(),
        column: e.column(),
        fact: e.to_string(),
    };
    // A file of another version may differ anywhere: say so before anything else is judged.
    let version: FormatOnly = serde_json::from_slice(bytes).map_err(refuse)?;
    if !FORMATS.map(u64::from).contains(&version.format) {
        return Err(ReadError::Format {
            found: version.format,
        });
    }
    let model: ReducedModel = serde_json::from_slice(bytes).map_err(refuse)?;
    model.validate()?;
    Ok(model)
}

/// Refuses what would take many times its size in memory: an empty list has two bytes in a file and
/// twenty-four in memory.
fn within_bounds(bytes: &[u8]) -> Result<(), ReadError> {
    let (mut containers, mut values) = (0_usize, 0_usize);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => containers += 1,
            b',' if !in_text => values += 1,
            _ => {}
        }
    }
    for (what, found, largest) in [
        ("lists and objects", containers, CONTAINERS),
        ("values", values, VALUES),
    ] {
        if found > largest {
            return Err(ReadError::TooMany {
                what,
                found,
                largest,
            });
        }
    }
    Ok(())
}
