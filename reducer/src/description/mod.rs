//! From TOML to a validated [`mechanism::Mechanism`].
//!
//! [`load`] reads a file, [`parse`] a text. The steps, in order: the text becomes the types of
//! `format` (its shape is checked against the JSON Schema of those types), numbers are
//! evaluated, templates expanded, names resolved and the physics checked. All independent faults
//! are reported together, each with its place.

mod domain;
pub(crate) mod elaborate;
mod expression;
mod fault;
mod files;
pub(crate) mod format;
pub(crate) mod matrix;
pub mod mechanism;
mod overrides;
pub(crate) mod parameters;
pub(crate) mod quantity;
mod repair;
pub(crate) mod schema;
pub(crate) mod suggest;

pub use domain::ConfigurationError;
pub use fault::{Fault, FaultKind, Faults};
pub use files::{MAX_BYTES, Resolver, read, read_large};
pub(crate) use files::{read_named, read_up_to};
pub use matrix::MatrixError;
pub(crate) use overrides::Overrides;
pub use schema::schema;
pub use suggest::closest;

use crate::finite_elements::BodyStore;
use mechanism::Mechanism;
use std::path::Path;

/// Where condensed bodies of a mechanism with this name are kept; none: nowhere.
pub type Stores<'a> = dyn Fn(&str) -> Option<BodyStore> + 'a;

/// Reads a mechanism file and what it includes.
pub fn load(path: &Path) -> Result<Mechanism, Faults> {
    load_with(path, &|_| None)
}

/// Like [`load`]; bodies from finite-element programs are condensed once and then taken from where they are kept.
pub fn load_with(path: &Path, stores: &Stores<'_>) -> Result<Mechanism, Faults> {
    let bytes = read(path).map_err(|kind| Faults {
        faults: vec![Fault { origin: None, kind }],
        sources: Vec::new(),
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let resolver = |named: &Path| files::read_named(&folder.join(named));
    parse_bytes(&bytes, &path.display().to_string(), &resolver, None, stores)
}

/// A mechanism from the bytes of its file, with some values replaced; `resolver` gives the files it
/// includes.
pub fn parse_with(
    bytes: &[u8],
    label: &str,
    resolver: &Resolver<'_>,
    overrides: &Overrides,
) -> Result<Mechanism, Faults> {
    parse_bytes(bytes, label, resolver, Some(overrides), &|_| None)
}

/// Reads a mechanism from text; `resolver` gives the files it includes, by their path relative to
/// this one.
pub fn parse(text: &str, label: &str, resolver: &Resolver<'_>) -> Result<Mechanism, Faults> {
    parse_bytes(text.as_bytes(), label, resolver, None, &|_| None)
}

fn parse_bytes(
    bytes: &[u8],
    label: &str,
    resolver: &Resolver<'_>,
    overrides: Option<&Overrides>,
    stores: &Stores<'_>,
) -> Result<Mechanism, Faults> {
    let mut input = files::gather(bytes, label, resolver);
    let stem = Path::new(label).file_stem().and_then(|stem| stem.to_str());
    let mut faults: Vec<Fault> = input
        .faults
        .iter()
        .map(|found| found.fault.clone())
        .collect();
    let complete = input.units.len() == input.sources.len() && !input.units.is_empty();
    if let Some(overrides) = overrides.filter(|_| complete) {
        faults.extend(overrides.apply(&mut input));
    }
    if complete && !input.faults.iter().any(|found| found.fatal) {
        match elaborate::elaborate(&input, stem.unwrap_or("mechanism"), resolver, stores) {
            Ok(mechanism) if faults.is_empty() => return Ok(mechanism),
            Ok(_) => {}
            Err(found) => {
                faults.extend(elaborate::without_followers(found, &input.faults));
            }
        }
    }
    faults.sort_by_key(|fault| {
        fault
            .origin
            .as_ref()
            .map(|origin| (origin.source, origin.span.start))
    });
    Err(Faults {
        faults,
        sources: input.sources,
    })
}
