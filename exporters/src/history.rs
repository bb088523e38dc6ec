//! How a model was refined, in a file beside it.
//!
//! The model itself does not hold it: it is of no use to those who evaluate the model.

use crate::export::read_bounded;
use crate::{ReadError, WriteError, model_hash};
use reducer::reduced_model::ReducedModel;
use reducer::survey::Round;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file.
pub(crate) const FILE: &str = "history.json";

/// Most bytes of it that are read.
const LARGEST: u64 = 16 << 20;

/// What the file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    /// Hash of the model that the rounds led to.
    model: String,
    rounds: Vec<Round>,
}

pub(crate) fn to_bytes(model: &ReducedModel, rounds: &[Round]) -> Result<Vec<u8>, WriteError> {
    let history = History {
        model: model_hash(model)?,
        rounds: rounds.to_vec(),
    };
    let mut bytes = serde_json::to_vec(&history).map_err(|e| WriteError::Template {
        template: FILE,
        fact: e.to_string(),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// How a model was refined, from the file `history.json` beside its own; empty where there is none,
/// or where it is that of another model.
pub fn read_history(model: &ReducedModel, path: &Path) -> Result<Vec<Round>, ReadError> {
    let path = path.with_file_name(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let history: History =
        serde_json::from_slice(&read_bounded(&path, LARGEST)?).map_err(|e| ReadError::History {
            path,
            fact: e.to_string(),
        })?;
    let same = model_hash(model).is_ok_and(|hash| hash == history.model);
    Ok(if same { history.rounds } else { Vec::new() })
}
