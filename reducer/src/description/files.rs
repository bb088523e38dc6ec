//! Reading the mechanism file and its includes.

use super::fault::{Fault, FaultKind};
use super::format::{File, Located};
use super::mechanism::{Origin, Source};
use super::schema::{self, ShapeFault};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Largest file in bytes.
pub const MAX_BYTES: usize = 1 << 20;
const MAX_INCLUDES: usize = 64;
const MAX_INCLUDE_DEPTH: usize = 16;

/// Gives the bytes of an included file; the path is relative to the main file's folder.
pub type Resolver<'a> = dyn Fn(&Path) -> Result<Vec<u8>, FaultKind> + 'a;

/// Reads a file of the format.
pub fn read(path: &Path) -> Result<Vec<u8>, FaultKind> {
    read_up_to(path, MAX_BYTES)
}

/// Reads a file that a mechanism file names: another one, a table of points, or a matrix, which may be
/// large.
pub fn read_named(path: &Path) -> Result<Vec<u8>, FaultKind> {
    let small = |ending: &std::ffi::OsStr| ending == "toml" || ending == "csv";
    if path.extension().is_some_and(small) {
        read(path)
    } else {
        read_large(path)
    }
}

/// Reads a file of a finite-element program.
pub fn read_large(path: &Path) -> Result<Vec<u8>, FaultKind> {
    read_up_to(path, crate::finite_elements::MAX_BYTES)
}

/// Reads a file of at most `limit` bytes; pipes and devices, which may never end, are refused.
pub(crate) fn read_up_to(path: &Path, limit: usize) -> Result<Vec<u8>, FaultKind> {
    let label = path.display().to_string();
    let unreadable = |error: std::io::Error| FaultKind::Unreadable {
        path: label.clone(),
        reason: match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        },
    };
    // Before it is opened: to open a pipe is to wait for its other end.
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err(FaultKind::Folder { path: label });
    }
    if !about.is_file() {
        return Err(FaultKind::NotAFile { path: label });
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(limit as u64 + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() > limit {
        return Err(FaultKind::TooLarge { path: label, limit });
    }
    Ok(bytes)
}

/// One file, read into the types of the format.
pub struct Unit {
    /// Index into the sources.
    pub source: usize,
    /// Its contents.
    pub file: File,
    /// Where top-level tables begin.
    pub tables: BTreeMap<String, Range<usize>>,
    /// Folder of the file, relative to the main file's folder.
    pub folder: PathBuf,
}

/// All files of a mechanism, includes before the files that include them.
pub struct Units {
    /// The files; the last one is the main file.
    pub units: Vec<Unit>,
    /// Their texts; the first one is the main file.
    pub sources: Vec<Source>,
    /// What is wrong with their shape.
    pub faults: Vec<ShapeFault>,
}

/// Reads `bytes` as the main file, and what it includes.
pub fn gather(bytes: &[u8], label: &str, resolver: &Resolver<'_>) -> Units {
    let mut reader = Reader {
        resolver,
        label: PathBuf::from(label),
        done: Vec::new(),
        output: Units {
            units: Vec::new(),
            sources: Vec::new(),
            faults: Vec::new(),
        },
    };
    let mut open = Vec::new();
    reader.unit(bytes, label.to_owned(), PathBuf::new(), &mut open, true);
    reader.output
}

struct Reader<'a> {
    resolver: &'a Resolver<'a>,
    label: PathBuf,
    done: Vec<PathBuf>,
    output: Units,
}

impl Reader<'_> {
    fn push(&mut self, origin: Option<Origin>, kind: FaultKind) {
        self.output.faults.push(ShapeFault {
            fatal: kind != FaultKind::MissingFormat,
            fault: Fault { origin, kind },
            part: None,
            repair: None,
        });
    }

    fn unit(
        &mut self,
        bytes: &[u8],
        label: String,
        folder: PathBuf,
        open: &mut Vec<PathBuf>,
        main: bool,
    ) {
        let text = match decode(bytes, &label) {
            Ok(text) => text,
            Err(kind) => return self.push(None, kind),
        };
        let source = self.output.sources.len();
        self.output.sources.push(Source {
            path: label.clone(),
            text: Arc::from(text),
        });
        let place = |span: Range<usize>| Some(Origin { source, span });
        if text.trim().is_empty() {
            return self.push(place(0..0), FaultKind::Empty { path: label });
        }
        let document = match toml_edit::Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let message = error.message().trim().replace('\n', ", ");
                let span = within(error.span().unwrap_or(0..0), text);
                return self.push(place(span), FaultKind::Syntax { message });
            }
        };
        let shape = schema::check(document.as_item(), source);
        let tables = document
            .iter()
            .filter_map(|(name, item)| Some((name.to_owned(), item.span()?)))
            .collect();
        let version = document
            .get("format")
            .map(|item| (item.as_integer(), item.span()));
        self.version(version, source, main);
        let mut item = document.into_item();
        for repair in shape.iter().filter_map(|found| found.repair.as_ref()) {
            repair.apply(&mut item);
        }
        let told = !shape.is_empty();
        self.output.faults.extend(shape);
        match into_file(item) {
            Ok(file) => {
                self.includes(&file.include, &folder, source, open);
                self.output.units.push(Unit {
                    source,
                    file,
                    tables,
                    folder,
                });
            }
            // The check of the shape has said why.
            Err(_) if told => {}
            Err((message, span)) => {
                let span = within(span, text);
                self.push(place(span), FaultKind::Value { message });
            }
        }
    }

    fn version(
        &mut self,
        found: Option<(Option<i64>, Option<Range<usize>>)>,
        source: usize,
        main: bool,
    ) {
        let (kind, span) = match found {
            None if main => (FaultKind::MissingFormat, 0..0),
            Some((Some(found), span)) if found != 1 => {
                (FaultKind::UnsupportedFormat { found }, span.unwrap_or(0..0))
            }
            _ => return,
        };
        self.push(Some(Origin { source, span }), kind);
    }

    fn includes(
        &mut self,
        includes: &[Located<String>],
        folder: &Path,
        source: usize,
        open: &mut Vec<PathBuf>,
    ) {
        for include in includes {
            let origin = Origin {
                source,
                span: include.span.clone(),
            };
            let path = normal(&folder.join(&include.value));
            let shown = path.display().to_string();
            let own = self.label.file_name().map(PathBuf::from);
            if open.contains(&path) || own.as_ref() == Some(&path) {
                self.push(Some(origin), FaultKind::IncludeCycle { path: shown });
                continue;
            }
            if self.done.contains(&path) {
                continue;
            }
            let limits = [
                (
                    open.len() >= MAX_INCLUDE_DEPTH,
                    "levels of includes",
                    MAX_INCLUDE_DEPTH,
                ),
                (
                    self.done.len() >= MAX_INCLUDES,
                    "included files",
                    MAX_INCLUDES,
                ),
            ];
            if let Some((_, what, limit)) = limits.into_iter().find(|(reached, ..)| *reached) {
                self.push(Some(origin), FaultKind::Limit { what, limit });
                return;
            }
            self.done.push(path.clone());
            match (self.resolver)(&path) {
                Ok(bytes) => {
                    let label = self.label.with_file_name(&path).display().to_string();
                    let inner = path.parent().map(Path::to_path_buf).unwrap_or_default();
                    open.push(path);
                    self.unit(&bytes, label, inner, open, false);
                    open.pop();
                }
                Err(kind) => self.push(Some(origin), kind),
            }
        }
    }
}

fn into_file(document: toml_edit::Item) -> Result<File, (String, Range<usize>)> {
    // The root of a document is a table.
    let table = document.into_table().unwrap_or_default();
    let reader = toml_edit::de::Deserializer::from(toml_edit::DocumentMut::from(table));
    File::deserialize(reader).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        (error.message().to_owned(), span)
    })
}

/// The range, moved to what can be shown of the text.
fn within(span: Range<usize>, text: &str) -> Range<usize> {
    let start = span.start.min(text.len());
    start..span.end.clamp(start, text.len())
}

fn decode<'a>(bytes: &'a [u8], label: &str) -> Result<&'a str, FaultKind> {
    if bytes.len() > MAX_BYTES {
        return Err(FaultKind::TooLarge {
            path: label.to_owned(),
            limit: MAX_BYTES,
        });
    }
    std::str::from_utf8(bytes).map_err(|error| FaultKind::NotText {
        path: label.to_owned(),
        offset: error.valid_up_to(),
    })
}

/// The path without `.` and inner `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.last(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.iter().collect()
}
