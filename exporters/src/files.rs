//! Which files may be replaced, and how: whole or not at all.

use crate::drafts::{self, Drafts};
use crate::export::read_bounded;
use crate::{ReadError, WriteError};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes at the start of a file in which its marks are looked for.
const HEAD: u64 = 4096;
/// Largest document of an analysis.
const LARGEST_ANALYSIS: u64 = 256 << 20;

/// What stands in the way of writing: nothing that the same command reads is replaced, and no file
/// that this program has not written, unless that is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    /// Files that the command reads.
    pub inputs: Vec<PathBuf>,
    /// Files of others may be replaced.
    pub force: bool,
}

impl Guard {
    /// Refuses a place whose present file must stay.
    pub fn allow(&self, path: &Path) -> Result<(), WriteError> {
        let Ok(place) = fs::canonicalize(path) else {
            return Ok(());
        };
        let is_input = |input: &PathBuf| fs::canonicalize(input).is_ok_and(|i| i == place);
        if self.inputs.iter().any(is_input) {
            let path = path.to_owned();
            return Err(WriteError::Input { path });
        }
        // What a folder in this place means, the system says.
        if self.force || place.is_dir() || is_ours(&place) {
            return Ok(());
        }
        let path = path.to_owned();
        Err(WriteError::Foreign { path })
    }

    /// Refuses a set of files of which one must stay.
    pub(crate) fn allow_all<'n>(
        &self,
        folder: &Path,
        mut names: impl Iterator<Item = &'n str>,
    ) -> Result<(), WriteError> {
        names.try_for_each(|name| self.allow(&folder.join(name)))
    }
}

/// The file is empty, or begins as only files of this program do.
pub(crate) fn is_ours(path: &Path) -> bool {
    let mut head = Vec::new();
    let is_file = fs::metadata(path).is_ok_and(|about| about.is_file());
    let read = is_file
        && fs::File::open(path).is_ok_and(|file| file.take(HEAD).read_to_end(&mut head).is_ok());
    let text = String::from_utf8_lossy(&head);
    let first = text.lines().next().unwrap_or_default();
    let source = first.contains("SPDX-License-Identifier: 0BSD");
    let model = first.starts_with("{\"format\":") && first.contains("\"layout\":{");
    let history = first.starts_with("{\"model\":\"") && first.contains("\"rounds\":");
    let page = text.contains(crate::report::MARK);
    let chart = first.starts_with("<svg ") && text.contains(crate::plot::MARK);
    let shapes = text.contains(crate::vtk::MARK);
    let record = first.contains(",energy.kinetic,") || first.starts_with("time,coordinate.");
    let table = first.starts_with("time,") && record;
    let analysis = first.starts_with("{\"") && is_analysis(path);
    let hdf5 = head.starts_with(b"\x89HDF\r\n\x1a\n")
        && (crate::hdf5::is_model(path) || crate::hdf5::is_results(path));
    let fmu = head.starts_with(b"PK\x03\x04") && text.contains(crate::fmu::MARK);
    let mat = text.starts_with(crate::mat::MARK);
    let one_of = [
        fmu, mat, source, model, history, page, chart, shapes, table, hdf5, analysis,
    ];
    read && (head.is_empty() || one_of.contains(&true))
}

/// A document of linear models, or of motions about a nominal one: its keys are all of one kind.
fn is_analysis(path: &Path) -> bool {
    const KINDS: [&[&str]; 2] = [
        &["a", "b", "c", "d", "poles", "sampled_blocks_held"],
        &["coordinates", "differences", "instants", "small_motions"],
    ];
    let bytes = read_bounded(path, LARGEST_ANALYSIS).unwrap_or_default();
    let keys: BTreeMap<String, IgnoredAny> = serde_json::from_slice(&bytes).unwrap_or_default();
    let has_all = |kind: &&[&str]| kind.iter().all(|key| keys.contains_key(*key));
    KINDS.iter().any(has_all)
}

fn refused(path: &Path) -> impl FnOnce(std::io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError::Io { path, source }
}

/// Writes one file beside its place and renames it, so that readers see the old or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], guard: &Guard) -> Result<(), WriteError> {
    guard.allow(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let write = || {
        let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
        let drafts = Drafts::new(folder, guard.force)?;
        drafts.add(name, bytes)?;
        drafts.replace(name)
    };
    write().map_err(refused(path))
}

/// Writes a set of files into a folder, all or none, also where the program is killed; files of the
/// folder that are not in the set stay.
pub fn write_set(
    folder: &Path,
    files: &[(String, Vec<u8>)],
    guard: &Guard,
) -> Result<(), WriteError> {
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    guard.allow_all(folder, names.iter().copied())?;
    Drafts::new(folder, guard.force)
        .and_then(|drafts| {
            for (name, bytes) in files {
                drafts.add(name, bytes)?;
            }
            drafts.replace_all(&names)
        })
        .map_err(refused(folder))
}

/// Removes a file of this program, where there is one.
pub(crate) fn remove_ours(path: &Path, guard: &Guard) -> Result<(), WriteError> {
    guard.allow(path)?;
    match fs::remove_file(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(refused(path)),
    }
}

/// Ends the move of a set into a folder that a kill cut short.
pub(crate) fn settle(folder: &Path) -> Result<(), ReadError> {
    drafts::settle(folder).map_err(|source| ReadError::Unsettled {
        folder: folder.to_owned(),
        source,
    })
}
