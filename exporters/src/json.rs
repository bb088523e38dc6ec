//! JSON: the model's own structure, floats in their shortest exact form.

use crate::{ReadError, WriteError};
use reducer::reduced_model::{FORMAT, ReducedModel};
use serde::Deserialize;

/// Most bytes of a JSON model that are read.
pub const LARGEST: u64 = 256 << 20;

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
    let refuse = |e: serde_json::Error| ReadError::Json {
        line: e.line(),
        column: e.column(),
        fact: e.to_string(),
    };
    // A file of another version may differ anywhere: say so before anything else is judged.
    let version: FormatOnly = serde_json::from_slice(bytes).map_err(refuse)?;
    if version.format != u64::from(FORMAT) {
        return Err(ReadError::Format {
            found: version.format,
        });
    }
    let model: ReducedModel = serde_json::from_slice(bytes).map_err(refuse)?;
    model.validate()?;
    Ok(model)
}
