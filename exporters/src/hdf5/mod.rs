//! HDF5: the same content as JSON, as arrays that any HDF5 reader understands.
//!
//! Groups and datasets are listed in `docs/model-formats.md`; every dataset carries the attributes
//! `unit` and `description`. `content` lists the arrays, `encode` and `decode` map models to them
//! and back; `pure` is the only place that knows an HDF5 library.

mod content;
mod decode;
mod encode;
mod pure;

use crate::{ReadError, WriteError};
use content::{Array, Content};
use reducer::reduced_model::ReducedModel;

/// Most bytes of an HDF5 model that are read.
pub const LARGEST: u64 = 256 << 20;

/// What a library of HDF5 must do.
trait Backend {
    /// A file with the given arrays.
    fn write(&self, content: &Content) -> Result<Vec<u8>, WriteError>;
    /// The version of the layout that a file states, and those of the wanted arrays that it holds.
    fn read(&self, bytes: Vec<u8>, wanted: &[(&'static str, Array)]) -> Result<Content, ReadError>;
}

/// The model as an HDF5 file.
pub fn to_bytes(model: &ReducedModel) -> Result<Vec<u8>, WriteError> {
    model.validate()?;
    let bytes = pure::PureRust.write(&encode::from_model(model))?;
    match from_bytes(bytes.clone()) {
        Ok(back) if back == *model => Ok(bytes),
        // Fixed-width text cannot hold everything that Rust's can.
        Ok(_) => Err(WriteError::Hdf5 {
            fact: "a name or text of the model ends in a zero byte".to_owned(),
        }),
        Err(e) => Err(WriteError::Hdf5 {
            fact: format!("the file does not read back: {e}"),
        }),
    }
}

/// Reads and validates a model.
pub fn from_bytes(bytes: Vec<u8>) -> Result<ReducedModel, ReadError> {
    let found = bytes.len() as u64;
    if found > LARGEST {
        return Err(ReadError::TooLarge {
            found,
            largest: LARGEST,
        });
    }
    let content = pure::PureRust.read(bytes, &content::wanted())?;
    let model = decode::to_model(content)?;
    model.validate()?;
    Ok(model)
}
