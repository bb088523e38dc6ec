//! Files and folders that appear whole or not at all.

use crate::WriteError;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes at the start of a file in which its marks are looked for.
const HEAD: u64 = 4096;

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
fn is_ours(path: &Path) -> bool {
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
    let table = first.starts_with("time,") && first.contains(",energy.kinetic,");
    let hdf5 = head.starts_with(b"\x89HDF\r\n\x1a\n") && crate::hdf5::is_model(path);
    let marked = source || model || history || page || chart || shapes || table || hdf5;
    read && (head.is_empty() || marked)
}

fn refused(path: &Path) -> impl FnOnce(std::io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError::Io { path, source }
}

/// Writes one file beside its place and renames it, so that readers see the old or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], guard: &Guard) -> Result<(), WriteError> {
    guard.allow(path)?;
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(refused(folder))?;
    }
    let draft = draft_of(path);
    let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The draft may not exist; the first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(refused(path))
}

/// Writes a set of files into a folder; drafts of all of them exist before any is renamed, and
/// files of the folder that are not in the set stay.
pub fn write_set(
    folder: &Path,
    files: &[(String, Vec<u8>)],
    guard: &Guard,
) -> Result<(), WriteError> {
    guard.allow_all(folder, files.iter().map(|(name, _)| name.as_str()))?;
    let targets: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    let drafts: Vec<PathBuf> = targets.iter().map(|t| draft_of(t)).collect();
    let result = write_drafts(&drafts, files).and_then(|()| {
        for (draft, target) in drafts.iter().zip(&targets) {
            fs::rename(draft, target).map_err(refused(target))?;
        }
        Ok(())
    });
    if result.is_err() {
        for draft in &drafts {
            let _ = fs::remove_file(draft);
        }
    }
    result
}

fn write_drafts(drafts: &[PathBuf], files: &[(String, Vec<u8>)]) -> Result<(), WriteError> {
    for (draft, (_, bytes)) in drafts.iter().zip(files) {
        if let Some(parent) = draft.parent() {
            fs::create_dir_all(parent).map_err(refused(parent))?;
        }
        fs::write(draft, bytes).map_err(refused(draft))?;
    }
    Ok(())
}

/// A name beside `path` that no other process uses at the same time.
fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.draft", std::process::id()))
}
