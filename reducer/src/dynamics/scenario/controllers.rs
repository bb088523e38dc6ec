//! Controllers of the user's own as written become laws.

use super::fault::ScenarioFaultKind;
use super::format_control::{LibraryTable, Names, ProgramTable};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::{Located, Scalar};
use crate::description::quantity::Dimension;
use crate::dynamics::control::{External, Law, Library, Runs};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How long an answer may take unless the scenario says otherwise (s).
const TIMEOUT: f64 = 10.0;
/// Longest time an answer may take (s).
const LONGEST: f64 = 86400.0;
/// Most outputs.
const MAX_OUTPUTS: i64 = 1000;

impl Reader<'_> {
    pub(super) fn program(
        &mut self,
        table: &Located<ProgramTable>,
        input: Option<&Located<Names>>,
    ) -> Option<Law> {
        let words: Vec<&str> = match &table.command.value {
            Names::One(word) => vec![word],
            Names::Many(list) => list.iter().map(|word| word.value.as_str()).collect(),
        };
        let span = &table.command.span;
        let command = match words.first() {
            Some(first) if !first.contains(['/', '\\']) && !first.is_empty() => {
                Some(PathBuf::from(first))
            }
            Some(first) => self.controller_file(first, span),
            None => {
                let kind = FaultKind::WrongCount {
                    what: "the words of `command`",
                    expected: 1,
                    found: 0,
                };
                self.fault(span, kind);
                None
            }
        };
        let arguments = words.iter().skip(1).map(|word| (*word).to_owned());
        let arguments = arguments.collect();
        let limits = self.exchange(&table.outputs, &table.timeout);
        let runs = Runs::Program(command?, arguments);
        self.external(runs, input, limits?)
    }

    pub(super) fn library(
        &mut self,
        table: &Located<LibraryTable>,
        input: Option<&Located<Names>>,
    ) -> Option<Law> {
        let path = self.controller_file(&table.path.value, &table.path.span);
        let limits = self.exchange(&table.outputs, &table.timeout);
        let runs = Runs::Library(Library {
            path: path?,
            setting: table.setting.clone(),
            host: None,
            origin: self.origin(&table.path.span),
        });
        self.external(runs, input, limits?)
    }

    fn external(
        &self,
        runs: Runs,
        input: Option<&Located<Names>>,
        (outputs, timeout): (usize, f64),
    ) -> Option<Law> {
        let inputs = match input.map(|names| &names.value) {
            None => 0,
            Some(Names::One(_)) => 1,
            Some(Names::Many(list)) => list.len(),
        };
        Some(Law::External(External {
            runs,
            folder: whole(self.folder),
            inputs,
            outputs,
            timeout,
        }))
    }

    /// A file that exists, by a path that holds wherever the controller runs.
    fn controller_file(&mut self, written: &str, span: &Range<usize>) -> Option<PathBuf> {
        let path = whole(self.folder).join(written);
        if path.is_file() {
            return Some(path);
        }
        let path = written.to_owned();
        self.own_fault(span, ScenarioFaultKind::NoController { path });
        None
    }

    /// Number of outputs and how long an answer may take.
    fn exchange(
        &mut self,
        outputs: &Option<Located<i64>>,
        timeout: &Option<Scalar>,
    ) -> Option<(usize, f64)> {
        let count = match outputs {
            None => Some(1),
            Some(written) if (1..=MAX_OUTPUTS).contains(&written.value) => {
                usize::try_from(written.value).ok()
            }
            Some(written) => {
                let kind = FaultKind::OutOfRange {
                    what: "the number of outputs".to_owned(),
                    value: written.value as f64,
                    allowed: "between 1 and 1000",
                };
                self.fault(&written.span, kind);
                None
            }
        };
        let seconds = match timeout {
            None => Some(TIMEOUT),
            Some(written) => self.positive(written, Dimension::TIME, "`timeout`"),
        };
        Some((count?, seconds?.min(LONGEST)))
    }
}

/// A folder by its whole path: a controller may change the folder it works in.
fn whole(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}
