//! The program that loads controllers in shared libraries: compiled for a run, removed after it.
//!
//! A process of its own contains what foreign code does; C, because loading it needs what Rust calls
//! unsafe, and whoever has such a library has a C compiler.

use crate::diagnostics::Failure;
use reducer::description::mechanism::Origin;
use reducer::dynamics::control::{HOST, Library};
use reducer::dynamics::drives::Drives;
use reducer::dynamics::scenario::{Scenario, ScenarioFault, ScenarioFaultKind};
use reducer::error::Explain;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names that are tried for the folder.
const ATTEMPTS: u32 = 100;

/// What can keep the host from being made.
#[derive(Debug, thiserror::Error)]
enum HostError {
    #[error("a folder for the program that loads the controller cannot be made: {0}")]
    Folder(std::io::Error),
    #[error("the C compiler `{compiler}`, which a controller in a library needs, fails: {reason}")]
    Compiler { compiler: String, reason: String },
}

impl Explain for HostError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Folder(_) => "make room in the folder for temporary files".into(),
            Self::Compiler { .. } => {
                "install one as `cc`, or name one in the variable CC; or make the controller a `program`".into()
            }
        })
    }
}

/// The compiled program in a folder of its own.
pub struct Host {
    folder: PathBuf,
}

impl Host {
    /// Compiles the host where the scenario needs one, and sees whether its libraries load.
    pub fn serve(scenario: &mut Scenario) -> Result<Option<Self>, Failure> {
        let libraries = scenario.drives.libraries();
        if libraries.is_empty() {
            return Ok(None);
        }
        let host = Self {
            folder: own_folder().map_err(|e| Failure::one(HostError::Folder(e)))?,
        };
        host.compile().map_err(Failure::one)?;
        let faults: Vec<ScenarioFault> = (libraries.iter())
            .filter_map(|(_, library)| host.fault(library))
            .collect();
        if !faults.is_empty() {
            return Err(Failure::new(faults, scenario.sources.clone()));
        }
        let drives: Drives = scenario.drives.clone();
        scenario.drives = drives.with_host(&host.program());
        Ok(Some(host))
    }

    fn program(&self) -> PathBuf {
        self.folder.join("host")
    }

    fn compile(&self) -> Result<(), HostError> {
        let source = self.folder.join("host.c");
        std::fs::write(&source, HOST).map_err(HostError::Folder)?;
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let output = Command::new(&compiler)
            .arg("-O1")
            .arg("-o")
            .arg(self.program())
            .arg(&source)
            .arg("-ldl")
            .stdin(Stdio::null())
            .output();
        let reason = match output {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => first_line(&output.stderr).unwrap_or_else(|| output.status.to_string()),
            Err(error) => error.to_string(),
        };
        Err(HostError::Compiler { compiler, reason })
    }

    /// Why a library cannot be used, if so.
    fn fault(&self, library: &Library) -> Option<ScenarioFault> {
        let output = Command::new(self.program())
            .arg(&library.path)
            .stdin(Stdio::null())
            .output();
        let reason = match output {
            Ok(output) if output.status.success() => return None,
            Ok(output) => first_line(&output.stderr).unwrap_or_else(|| output.status.to_string()),
            Err(error) => error.to_string(),
        };
        let path = library.path.display().to_string();
        // The loader repeats the path.
        let reason = reason.trim_start_matches(&format!("{path}: ")).to_owned();
        let name = library.path.file_name().unwrap_or(library.path.as_os_str());
        Some(ScenarioFault {
            origin: Some(library.origin.clone()),
            kind: ScenarioFaultKind::BadLibrary {
                path: Path::new(name).display().to_string(),
                reason,
            },
        })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // What is left in a folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A fresh folder that nobody else can write to.
fn own_folder() -> std::io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut last = std::io::Error::from(ErrorKind::AlreadyExists);
    for k in 0..ATTEMPTS {
        let name = format!("reduce-host-{}-{k}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}
