//! `reduce new`: a commented mechanism file to start from.

use super::Outcome;
use crate::args::{NewArgs, StarterName};
use crate::diagnostics::{self, Failure};
use reducer::description::mechanism::Origin;
use reducer::error::Explain;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What the starting files call themselves.
const PLACEHOLDER: &str = "starter";

/// Why no file is written.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    /// The name could not name generated code.
    #[error("`{name}` cannot name a mechanism")]
    Name {
        /// The name, without folder and ending.
        name: String,
    },
    /// There is something at this place.
    #[error("`{path}` exists and is not replaced", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refuses.
    #[error("`{path}` cannot be written: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl Explain for NewError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Name { .. } => {
                "use letters, digits and _, a letter first, at most 100 characters, and no word of C"
                    .to_owned()
            }
            Self::Exists { .. } => "choose another name, or move the file away".to_owned(),
            Self::Io { source, .. } => diagnostics::of_unwritable(source).to_owned(),
        })
    }
}

/// Runs the command.
pub fn run(args: &NewArgs) -> Result<Outcome, Failure> {
    let (path, name) = place(&args.name).map_err(Failure::one)?;
    let starter = match args.from {
        StarterName::Serial => include_str!("../starters/serial.toml"),
        StarterName::FourBar => include_str!("../starters/four_bar.toml"),
        StarterName::Parallel => include_str!("../starters/parallel.toml"),
        StarterName::Hexapod => include_str!("../starters/hexapod.toml"),
    };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let text = starter
        .replace(&format!("{PLACEHOLDER}.toml"), &file)
        .replace(&format!("\"{PLACEHOLDER}\""), &format!("\"{name}\""));
    write(&path, &text).map_err(Failure::one)?;
    let shown = path.display();
    let said = if args.json {
        format!("{}\n", json!({ "name": name, "file": shown.to_string() }))
    } else {
        format!("{shown} written; look at it, then run `reduce {shown}`\n")
    };
    diagnostics::print(&said)?;
    Ok(Outcome::Done)
}

/// The file to write and the name of its mechanism.
fn place(typed: &Path) -> Result<(PathBuf, String), NewError> {
    let path = if typed.extension().is_some_and(|ending| ending == "toml") {
        typed.to_owned()
    } else {
        let mut whole = typed.as_os_str().to_owned();
        whole.push(".toml");
        PathBuf::from(whole)
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.len() <= 100
        && name != "ground"
        && exporters::code::check_name(&name).is_ok();
    if valid {
        Ok((path.clone(), name.into_owned()))
    } else {
        Err(NewError::Name {
            name: name.into_owned(),
        })
    }
}

/// Writes a file that does not exist yet, whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), NewError> {
    let refused = |source: std::io::Error| match source.kind() {
        ErrorKind::AlreadyExists => NewError::Exists {
            path: path.to_owned(),
        },
        _ => NewError::Io {
            path: path.to_owned(),
            source,
        },
    };
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|source| NewError::Io {
            path: path.to_owned(),
            source,
        })?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(refused)?;
    file.write_all(text.as_bytes()).map_err(|source| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(path);
        refused(source)
    })
}
