//! HDF5: the same content as JSON, as arrays that any HDF5 reader understands.
//!
//! Groups and datasets are listed in `docs/model-formats.md`; every dataset carries the attributes
//! `unit` and `description`. `content` lists the arrays, `encode` and `decode` map models to them
//! and back; `pure` and, with the feature `hdf5-library`, `library` are the only places that know an
//! implementation of HDF5.

mod content;
mod decode;
mod encode;
#[cfg(feature = "hdf5-library")]
mod library;
mod pure;

use crate::export::read_bounded;
use crate::results::Entry;
use crate::{ReadError, WriteError};
use content::Content;
pub(crate) use content::{Array, Dataset};
use reducer::reduced_model::{FORMATS, ReducedModel};
use std::path::Path;

/// Most bytes of an HDF5 model that are read: 16 million numbers.
pub const LARGEST: u64 = 128 << 20;
/// Most texts of one dataset: errors of every block in each of 250 000 boxes.
const TEXTS: u64 = 2_000_000;
/// Widest text in bytes: 1000 characters of UTF-8.
const TEXT_WIDTH: u64 = 4000;

/// What writes and reads HDF5 files; each reads the files of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// Rust alone.
    #[cfg_attr(not(feature = "hdf5-library"), default)]
    PureRust,
    /// The HDF5 C library; with the feature `hdf5-library`.
    #[cfg(feature = "hdf5-library")]
    #[default]
    Library,
}

/// Named arrays of a valid model, in the order of their names, so that those of a group stand together.
pub(crate) fn arrays(model: &ReducedModel) -> impl Iterator<Item = (&'static str, Dataset)> {
    encode::from_model(model).into_iter()
}

impl Backend {
    /// Everything that this build has.
    pub const ALL: &[Self] = &[
        Self::PureRust,
        #[cfg(feature = "hdf5-library")]
        Self::Library,
    ];

    /// The model as an HDF5 file.
    pub fn to_bytes(self, model: &ReducedModel) -> Result<Vec<u8>, WriteError> {
        model.validate()?;
        let content = encode::from_model(model);
        // Fixed-width text cannot hold everything that Rust's can.
        if let Some((path, _)) = content.iter().find(|(_, data)| has_zero_byte(&data.array)) {
            return Err(WriteError::Hdf5 {
                fact: format!("a text of `{path}` has a zero byte: take it out of the name"),
            });
        }
        let bytes = self.implementation().write(&content)?;
        match self.from_bytes(bytes.clone()) {
            Ok(back) if back == *model => Ok(bytes),
            Ok(_) => Err(WriteError::Hdf5 {
                fact: "the file reads back as another model; please report this".to_owned(),
            }),
            Err(e) => Err(WriteError::Hdf5 {
                fact: format!("the file does not read back: {e}"),
            }),
        }
    }

    /// Reads and validates a model.
    pub fn from_bytes(self, bytes: Vec<u8>) -> Result<ReducedModel, ReadError> {
        let found = bytes.len() as u64;
        if found > LARGEST {
            return Err(ReadError::TooLarge {
                found,
                largest: LARGEST,
            });
        }
        let content = self.implementation().read(bytes, &content::wanted())?;
        let model = decode::to_model(content)?;
        model.validate()?;
        Ok(model)
    }

    fn implementation(self) -> &'static dyn ReadWrite {
        match self {
            Self::PureRust => &pure::PureRust,
            #[cfg(feature = "hdf5-library")]
            Self::Library => &library::HdfLibrary,
        }
    }
}

/// What an implementation of HDF5 must do.
trait ReadWrite {
    /// A file with the given arrays.
    fn write(&self, content: &Content) -> Result<Vec<u8>, WriteError>;
    /// Those of the wanted arrays that a file of this version's layout holds.
    fn read(&self, bytes: Vec<u8>, wanted: &[(&'static str, Array)]) -> Result<Content, ReadError>;
}

/// The model as an HDF5 file, by the default backend.
pub fn to_bytes(model: &ReducedModel) -> Result<Vec<u8>, WriteError> {
    Backend::default().to_bytes(model)
}

/// Reads and validates a model, by the default backend.
pub fn from_bytes(bytes: Vec<u8>) -> Result<ReducedModel, ReadError> {
    Backend::default().from_bytes(bytes)
}

/// Results as one group of arrays, by Rust alone.
pub(crate) fn results(name: &str, entries: &[Entry]) -> Result<Vec<u8>, WriteError> {
    pure::write_results(name, entries)
}

/// The file holds results that this program has written.
pub(crate) fn is_results(path: &Path) -> bool {
    read_bounded(path, LARGEST).is_ok_and(pure::holds_results)
}

/// The file is a model, if only one of another version.
pub(crate) fn is_model(path: &Path) -> bool {
    let read = read_bounded(path, LARGEST).and_then(from_bytes);
    matches!(read, Ok(_) | Err(ReadError::Format { .. }))
}

fn has_zero_byte(array: &Array) -> bool {
    matches!(array, Array::Text(texts) if texts.iter().any(|t| t.contains('\0')))
}

fn refuse(object: &str, fact: impl std::fmt::Display) -> ReadError {
    ReadError::Hdf5 {
        object: object.to_owned(),
        fact: fact.to_string(),
    }
}

/// The version of the layout that a file states is ours.
fn check_format(found: Option<u64>) -> Result<(), ReadError> {
    match found {
        Some(found) if FORMATS.map(u64::from).contains(&found) => Ok(()),
        Some(found) => Err(ReadError::Format { found }),
        None => Err(refuse("/", "no attribute `format`")),
    }
}

/// Elements of an array, after its size was found to fit into what is left of the file's length, so
/// that a file that lies about its shapes cannot make the reader allocate more than a few times its size.
fn affordable(
    path: &str,
    kind: &Array,
    shape: &[u64],
    width: u64,
    stored: u64,
    budget: &mut u64,
) -> Result<u64, ReadError> {
    let elements = shape
        .iter()
        .try_fold(1u64, |product, &n| product.checked_mul(n))
        .ok_or_else(|| refuse(path, "an impossible shape"))?;
    let left = elements
        .checked_mul(width)
        .filter(|&needed| needed <= stored)
        .and_then(|needed| budget.checked_sub(needed));
    *budget = left.ok_or_else(|| refuse(path, "more data than the file holds"))?;
    if matches!(kind, Array::Text(_)) && (elements > TEXTS || width > TEXT_WIDTH) {
        return Err(refuse(path, "more text than a model has"));
    }
    Ok(elements)
}
