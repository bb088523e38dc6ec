//! From TOML to a validated [`mechanism::Mechanism`].
//!
//! [`load`] reads a file, [`parse`] a text. The steps, in order: the text becomes the types of
//! [`mod@format`] (its shape is checked against the JSON Schema of those types), numbers are
//! evaluated, templates expanded, names resolved and the physics checked. All independent faults
//! are reported together, each with its place.

mod domain;
mod elaborate;
pub mod expression;
mod fault;
mod files;
pub mod format;
pub mod mechanism;
mod parameters;
pub mod quantity;
mod repair;
mod schema;
mod suggest;

pub use domain::ConfigurationError;
pub use fault::{Fault, FaultKind, Faults};
pub use files::{MAX_BYTES, Resolver, read};
pub use schema::schema;
pub use suggest::closest;

use mechanism::Mechanism;
use std::path::Path;

/// Reads a mechanism file and what it includes.
pub fn load(path: &Path) -> Result<Mechanism, Faults> {
    let bytes = read(path).map_err(|kind| Faults {
        faults: vec![Fault { origin: None, kind }],
        sources: Vec::new(),
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_bytes(&bytes, &path.display().to_string(), &|include: &Path| {
        read(&folder.join(include))
    })
}

/// Reads a mechanism from text; `resolver` gives the files it includes, by their path relative to
/// this one.
pub fn parse(text: &str, label: &str, resolver: &Resolver<'_>) -> Result<Mechanism, Faults> {
    parse_bytes(text.as_bytes(), label, resolver)
}

fn parse_bytes(bytes: &[u8], label: &str, resolver: &Resolver<'_>) -> Result<Mechanism, Faults> {
    let input = files::gather(bytes, label, resolver);
    let stem = Path::new(label).file_stem().and_then(|stem| stem.to_str());
    let mut faults: Vec<Fault> = input
        .faults
        .iter()
        .map(|found| found.fault.clone())
        .collect();
    let complete = input.units.len() == input.sources.len() && !input.units.is_empty();
    if complete && !input.faults.iter().any(|found| found.fatal) {
        match elaborate::elaborate(&input, stem.unwrap_or("mechanism"), resolver) {
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
