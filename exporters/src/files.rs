//! Files and folders that appear whole or not at all.

use crate::WriteError;
use std::fs;
use std::path::{Path, PathBuf};

fn refused(path: &Path) -> impl FnOnce(std::io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError::Io { path, source }
}

/// Writes one file beside its place and renames it, so that readers see the old or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
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
pub fn write_set(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), WriteError> {
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
