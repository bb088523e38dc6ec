//! Files that change together, also where the program is killed between two of them.
//!
//! Drafts are made in a private folder inside the one they are for. A single file is renamed into its
//! place. Of a set, the folder of drafts gets a fixed name first: from that moment the set counts as
//! written, and whoever next reads or writes in the folder ends a move that was cut short.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A complete set that is being moved to its places.
const PENDING: &str = ".reduce-pending";
/// Start of the names of folders with drafts.
const DRAFTS: &str = ".reduce-drafts-";
/// Locked while the process lives that makes the drafts; says whether files of others may be replaced.
const OWNER: &str = ".owner";
const FORCE: &[u8] = b"force";
/// Folders in one another that a set has at most.
const DEPTH: usize = 4;

/// Drafts of one process for one folder; what is not moved is gone afterwards.
pub(crate) struct Drafts {
    folder: PathBuf,
    place: PathBuf,
    /// Holds the lock.
    _owner: File,
}

impl Drafts {
    /// A new private folder inside `folder`, which is made where it is missing; those of processes
    /// that were killed are removed.
    pub fn new(folder: &Path, force: bool) -> io::Result<Self> {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        fs::create_dir_all(folder)?;
        remove_abandoned(folder)?;
        let process = std::process::id();
        for number in 0_u32.. {
            let place = folder.join(format!("{DRAFTS}{process}-{number}"));
            // Neither an existing folder nor a link is taken: what is made is ours alone.
            match private_folder(&place) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            match own(&place, force) {
                // Someone took the empty folder for an abandoned one.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                Err(e) => {
                    let _ = fs::remove_dir_all(&place);
                    return Err(e);
                }
                Ok(owner) => {
                    return Ok(Self {
                        folder: folder.to_owned(),
                        place,
                        _owner: owner,
                    });
                }
            }
        }
        Err(io::Error::other("no name is left for drafts"))
    }

    /// Makes the draft of a file with this path from the folder.
    pub fn add(&self, name: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let draft = self.place.join(name);
        if let Some(parent) = draft.parent() {
            fs::create_dir_all(parent)?;
        }
        File::create_new(draft)?.write_all(bytes)
    }

    /// Renames one draft into its place.
    pub fn replace(self, name: &OsStr) -> io::Result<()> {
        fs::rename(self.place.join(name), self.folder.join(name))
    }

    /// Puts all drafts into their places: all of them, however the process ends, or none.
    pub fn replace_all(self, names: &[&str]) -> io::Result<()> {
        for name in names {
            self.prepare(name)?;
        }
        let pending = self.folder.join(PENDING);
        loop {
            settle(&self.folder)?;
            match fs::rename(&self.place, &pending) {
                // Another process was faster; its set comes first.
                Err(e) if is_occupied(&e) => continue,
                moved => moved?,
            }
            return settle(&self.folder);
        }
    }

    /// Makes the folder of a file, and finds out now what would keep it from its place later.
    fn prepare(&self, name: &str) -> io::Result<()> {
        let place = self.folder.join(name);
        if place.is_dir() {
            return Err(io::Error::new(
                ErrorKind::IsADirectory,
                format!("`{name}` is a folder"),
            ));
        }
        let parent = place.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent)?;
        let probe = parent.join(format!("{DRAFTS}{}-probe", std::process::id()));
        private_folder(&probe)?;
        fs::remove_dir(&probe)
    }
}

impl Drop for Drafts {
    fn drop(&mut self) {
        // After a move there is nothing here any more.
        let _ = fs::remove_dir_all(&self.place);
    }
}

fn own(place: &Path, force: bool) -> io::Result<File> {
    let mut owner = File::create_new(place.join(OWNER))?;
    owner.lock()?;
    if force {
        owner.write_all(FORCE)?;
    }
    Ok(owner)
}

fn private_folder(place: &Path) -> io::Result<()> {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(place)
}

fn is_occupied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
    )
}

/// Removes drafts whose process is gone: it no longer holds their lock.
fn remove_abandoned(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let is_draft = entry.file_name().to_string_lossy().starts_with(DRAFTS);
        // The type is that of the entry: links are not followed.
        if !is_draft || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        match File::open(entry.path().join(OWNER)) {
            Ok(owner) if owner.try_lock().is_ok() => {
                let _ = fs::remove_dir_all(entry.path());
            }
            Ok(_) => {}
            // Empty: killed before the lock, or about to be locked, which then takes another name.
            Err(_) => {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
    Ok(())
}

/// Ends the move of a set that was cut short; nothing to do where there is none.
pub(crate) fn settle(folder: &Path) -> io::Result<()> {
    let pending = folder.join(PENDING);
    // A link could lead to files that are not a set of ours.
    if !fs::symlink_metadata(&pending).is_ok_and(|about| about.is_dir()) {
        return Ok(());
    }
    let force = fs::read(pending.join(OWNER)).is_ok_and(|said| said == FORCE);
    move_files(&pending, folder, force, DEPTH)
}

/// Moves what a folder holds, and removes the folder. Several processes may do this at once: what one
/// has moved is not there for the others.
fn move_files(from: &Path, to: &Path, force: bool, depth: usize) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (draft, place) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            fs::create_dir_all(&place)?;
            move_files(&draft, &place, force, depth - 1)?;
        } else if kind.is_file() && entry.file_name() != OWNER {
            if place.exists() && !force && !crate::files::is_ours(&place) {
                return Err(io::Error::new(
                    ErrorKind::AlreadyExists,
                    format!("`{}` was not written by this program", place.display()),
                ));
            }
            unless_gone(fs::rename(&draft, &place))?;
        }
    }
    unless_gone(fs::remove_file(from.join(OWNER)))?;
    match fs::remove_dir(from) {
        // Another process has begun with its own set.
        Err(e) if is_occupied(&e) => Ok(()),
        removed => unless_gone(removed),
    }
}

fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
