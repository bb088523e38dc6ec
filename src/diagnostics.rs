//! Errors as the user sees them: the place in the file, what is wrong and one thing to try.

mod shown;

use crate::talk;
use exporters::WriteError;
use miette::MietteHandlerOpts;
use reducer::approximation::ApproximationError;
use reducer::description::Faults;
use reducer::description::mechanism::{Mechanism, Source};
use reducer::error::Explain;
use reducer::pipeline::PipelineError;
use serde_json::json;
use shown::{Rendered, Shown};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Why a command could not run.
pub struct Failure {
    errors: Vec<Box<dyn Explain + Send>>,
    sources: Vec<Source>,
}

impl Failure {
    /// All errors of a phase, with the files they point into.
    pub fn new<E: Explain + Send + 'static>(errors: Vec<E>, sources: Vec<Source>) -> Self {
        let errors = errors
            .into_iter()
            .map(|error| Box::new(error) as Box<dyn Explain + Send>)
            .collect();
        Self { errors, sources }
    }

    /// A single error that points into no file.
    pub fn one<E: Explain + Send + 'static>(error: E) -> Self {
        Self::new(vec![error], Vec::new())
    }

    /// The same failure with the files of a mechanism, into which its errors point.
    pub fn with_sources(self, mechanism: &Mechanism) -> Self {
        Self {
            sources: mechanism.sources.clone(),
            ..self
        }
    }

    /// All errors as a document: what is wrong, what to try, and the place.
    pub fn document(&self) -> serde_json::Value {
        let faults: Vec<_> = self
            .errors
            .iter()
            .map(|error| {
                let place = self.place(error.as_ref());
                json!({
                    "message": error.to_string(),
                    "help": error.help(),
                    "file": place.as_ref().map(|place| place.source.path.clone()),
                    "line": place.as_ref().map(|place| place.line),
                    "column": place.as_ref().map(|place| place.column),
                })
            })
            .collect();
        json!({ "valid": false, "faults": faults })
    }

    fn place(&self, error: &dyn Explain) -> Option<Place<'_>> {
        let origin = error.origin()?;
        let source = self.sources.get(origin.source)?;
        let text = source.text.as_ref();
        let mut start = origin.span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let (before, after) = text.split_at(start);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = after.find('\n').unwrap_or(after.len());
        Some(Place {
            source,
            start,
            end: origin.span.end.clamp(start, start + rest),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            line_length: start - line_start + rest,
        })
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::new(faults.faults, faults.sources)
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::one(error)
    }
}

/// What was typed does not fit the mechanism.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A list of generalised values has a wrong length.
    #[error("--{option} has {found} value(s), but there are {}", counted(*rigid, *all))]
    WrongCount {
        /// The option.
        option: &'static str,
        /// Values given.
        found: usize,
        /// Number of actuated coordinates.
        rigid: usize,
        /// Number of generalised coordinates.
        all: usize,
    },
    /// A linear system has no such input, output or block.
    #[error("--{option}: there is no `{name}`")]
    UnknownSignal {
        /// The option.
        option: &'static str,
        /// What was given.
        name: String,
        /// What was probably meant.
        suggestion: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// A model file alone does not say where to linearise.
    #[error("a model does not say at which configuration to linearise")]
    NoConfiguration,
    /// A model alone is compared with nothing.
    #[error("a model file does not hold the full model to compare with")]
    NoFullModel,
    /// A grid of no or of too many configurations.
    #[error(
        "a grid of {count} values of every coordinate has less than two of one, or more than {most} configurations"
    )]
    GridSize {
        /// Values of every coordinate.
        count: usize,
        /// Configurations, at most.
        most: usize,
    },
    /// The reduced model has no linear system there.
    #[error(transparent)]
    Linear(#[from] reducer::dynamics::reduced::ReducedError),
    /// NaN or infinite.
    #[error("value {} of --{option} is {value}", place + 1)]
    NotFinite {
        /// The option.
        option: &'static str,
        /// Position in the list, from 0.
        place: usize,
        /// The value.
        value: f64,
    },
    /// Finite arguments with a force that is not.
    #[error("the force at these --rate and --accel is beyond the range of numbers")]
    Overflow,
    /// Neither a verb nor a mechanism file.
    #[error("no mechanism file was given")]
    NoMechanism,
    /// No file of this name.
    #[error("`{path}` cannot be read: there is no such file", path = path.display())]
    NoSuchFile {
        /// The file.
        path: PathBuf,
        /// A file beside it with nearly this name.
        similar: Option<PathBuf>,
    },
    /// A model where a mechanism is needed.
    #[error("`{path}` looks like a reduced model, not like a mechanism file", path = path.display())]
    NoMechanismFile {
        /// The file.
        path: PathBuf,
    },
    /// A file stands where the output folder is to be.
    #[error("the output folder cannot be made: `{file}` is a file", file = file.display())]
    OutputIsFile {
        /// The file.
        file: PathBuf,
    },
    /// A scenario that was to declare an observer.
    #[error("`{}` declares no observer", path.display())]
    NoObserver {
        /// The scenario.
        path: PathBuf,
    },
    /// An option of FMUs with another format.
    #[error("{option} is for --format fmu")]
    NotFmu {
        /// The option.
        option: &'static str,
    },
    /// `--jobs 0`.
    #[error("--jobs 0 leaves no thread to work")]
    NoThreads,
    /// More threads than any machine has cores.
    #[error("--jobs {jobs} is more than the {limit} threads that are possible")]
    TooManyThreads {
        /// The number given.
        jobs: usize,
        /// The largest number.
        limit: usize,
    },
    /// A model and a mechanism that do not belong together.
    #[error("model `{model}` and mechanism `{mechanism}` have different coordinates or outputs")]
    OtherMechanism {
        /// Name of the model.
        model: String,
        /// Name of the mechanism.
        mechanism: String,
    },
    /// A model along a path and a mechanism without one.
    #[error("model `{model}` follows a path, but mechanism `{mechanism}` has no trajectory")]
    NoTrajectory {
        /// Name of the model.
        model: String,
        /// Name of the mechanism.
        mechanism: String,
    },
    /// A model over a domain and a mechanism that asks for a path.
    #[error(
        "model `{model}` is one over a domain, but mechanism `{mechanism}` asks for one along its trajectory"
    )]
    OverDomain {
        /// Name of the model.
        model: String,
        /// Name of the mechanism.
        mechanism: String,
    },
    /// A stored model without the changes of the scenario that names it.
    #[error(
        "model `{path}` was not reduced with what the scenario changes in `[override]` ({keys}): the full model would be of another machine",
        path = path.display(),
        keys = changes.join(", ")
    )]
    OtherMachine {
        /// The model.
        path: PathBuf,
        /// Keys of `[override]`.
        changes: Vec<&'static str>,
    },
    /// `--on-path` without a trajectory.
    #[error("mechanism `{mechanism}` has no trajectory that --on-path could mean")]
    NothingToFollow {
        /// Name of the mechanism.
        mechanism: String,
    },
    /// A place beyond the ends of the path.
    #[error("{place} is no place on the path, which goes from 0 to 1")]
    OffPath {
        /// The place.
        place: f64,
    },
    /// The exact reduction fails.
    #[error(transparent)]
    Sample(#[from] reducer::approximation::SampleFailure),
    /// The pipeline stopped.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The sample database cannot be used.
    #[error(transparent)]
    Database(#[from] reducer::approximation::DatabaseError),
    /// A model file cannot be read.
    #[error("{}", of_file(path, error))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: exporters::ReadError,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A model contradicts itself.
    #[error(transparent)]
    Model(#[from] reducer::reduced_model::InvalidModel),
    /// Blocks of a scenario cannot evaluate a model.
    #[error(transparent)]
    Called(#[from] reducer::dynamics::control::CalledModelError),
    /// Ctrl-C cannot be listened to.
    #[error("Ctrl-C cannot be listened to: {0}")]
    Interrupt(String),
    /// Arguments do not fit the model.
    #[error(transparent)]
    Evaluation(#[from] reducer::reduced_model::EvaluationError),
}

/// The error with the file's name, which some name themselves.
fn of_file(path: &Path, error: &exporters::ReadError) -> String {
    use exporters::ReadError::{History, Io, NotAFile, UnknownEnding};
    match error {
        History { .. } | Io { .. } | NotAFile { .. } | UnknownEnding { .. } => error.to_string(),
        _ => format!("`{}`: {error}", path.display()),
    }
}

fn counted(rigid: usize, all: usize) -> String {
    if rigid == all {
        format!("{all} coordinate(s)")
    } else {
        format!("{rigid} actuated coordinate(s) and {all} in all")
    }
}

impl Explain for CommandError {
    fn origin(&self) -> Option<&reducer::description::mechanism::Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::WrongCount { option, all: 0, .. } => Some(format!("leave --{option} away")),
            Self::WrongCount { rigid, all, .. } if rigid == all => {
                Some(format!("give {all} number(s), separated by commas"))
            }
            Self::WrongCount { rigid, all, .. } => Some(format!(
                "give {rigid} or {all} numbers, separated by commas"
            )),
            Self::UnknownSignal {
                suggestion, known, ..
            } => Some(match (suggestion, known.as_slice()) {
                (Some(name), _) => format!("did you mean `{name}`?"),
                (None, []) => "there is none; add blocks to the scenario".into(),
                (None, known) => format!("there are {}", known.join(", ")),
            }),
            Self::NoFullModel => Some("give a scenario of the mechanism, or leave --full away".into()),
            Self::NoConfiguration => Some("add --at=θ1,θ2,…, or --grid=N".into()),
            Self::GridSize { .. } => Some("give another --grid".into()),
            Self::Linear(error) => reducer::error::Explain::help(error),
            Self::Called(_) => Some("give the model of the scenario's mechanism, as it is now".into()),
            Self::NotFinite { .. } => Some("give finite numbers".into()),
            Self::Overflow => Some("give smaller numbers; they are in SI units and radians".into()),
            Self::NoMechanism => Some("run `reduce mechanism.toml`, or see `reduce --help`".into()),
            Self::NoSuchFile { similar, .. } => Some(match similar {
                Some(similar) => format!("did you mean `{}`?", similar.display()),
                None => {
                    "check the path; `reduce new NAME --from four-bar` writes a file to start from"
                        .into()
                }
            }),
            Self::NoMechanismFile { .. } => Some(
                "give the mechanism's .toml file; `reduce eval` and `reduce check` read models"
                    .into(),
            ),
            Self::OutputIsFile { .. } => {
                Some("give another folder with -o, or move the file away".into())
            }
            Self::NothingToFollow { .. } => {
                Some("leave --on-path away, or give `[approximation]` a `trajectory`".into())
            }
            Self::OtherMachine { .. } => Some(
                "leave `model` away, and the mechanism is reduced with these changes; or write them into the mechanism file and reduce it again"
                    .into(),
            ),
            Self::Sample(_) => Some("try another place, or lay the trajectory elsewhere".into()),
            Self::OffPath { .. } => Some("give a number from 0 to 1, or --anywhere".into()),
            Self::NoObserver { .. } => {
                Some("add `[observer]`: docs/scenario-format.md describes it".into())
            }
            Self::NotFmu { .. } => Some("leave the option away, or give --format fmu".into()),
            Self::NoThreads => Some("give a positive number, or leave --jobs away".into()),
            Self::TooManyThreads { .. } => Some("leave --jobs away: every core is used".into()),
            Self::OtherMechanism { .. } | Self::NoTrajectory { .. } | Self::OverDomain { .. } => {
                Some("give the mechanism file from which the model was made".into())
            }
            Self::Read {
                error: exporters::ReadError::Io { source, .. },
                ..
            } => Some(of_unreadable(source).into()),
            Self::Write(error) => of_unwritten(error).map(str::to_owned),
            Self::Database(_)
            | Self::Pipeline(PipelineError::Approximation(ApproximationError::Database(_))) => {
                Some("choose another folder with --samples-dir, or make it writable".into())
            }
            Self::Pipeline(PipelineError::Model(_)) => {
                Some("simplify the mechanism file; `reduce validate` counts what it makes".into())
            }
            Self::Model(_) => Some("make the model again with `reduce M.toml`".into()),
            Self::Interrupt(_) => Some("run the command again, in a terminal of its own".into()),
            Self::Evaluation(_) => {
                Some("give finite numbers, one for each coordinate of the model".into())
            }
            // These say themselves what to try.
            Self::Pipeline(_) | Self::Read { .. } => None,
        }
    }
}

fn of_unreadable(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => "check the path; `reduce M.toml` writes model.json and model.h5",
        ErrorKind::IsADirectory => "give the file model.json or model.h5 in it",
        _ => "check the permissions",
    }
}

/// What to try where a model is not written; absent where the error says it itself.
fn of_unwritten(error: &WriteError) -> Option<&'static str> {
    Some(match error {
        WriteError::Io { source, .. } => of_unwritable(source),
        WriteError::Input { .. } => "give another place with -o",
        WriteError::Foreign { .. } => "give another place with -o, or --force to replace it",
        WriteError::Prefix { .. } => "give another name with --prefix",
        WriteError::Reserved { .. } => {
            "give the mechanism another `name`, or `reduce export` a --prefix"
        }
        WriteError::NotSource { .. } => {
            "leave --single and --prefix away, or export with --format c or rust"
        }
        WriteError::BeyondSingle { .. } => "export without --single",
        WriteError::NoLine { .. } => "give --along the name of an actuated coordinate",
        _ => return None,
    })
}

/// What to try where a file cannot be written.
pub fn of_unwritable(source: &std::io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            "a file stands where a folder is needed: choose another place or move the file away"
        }
        ErrorKind::IsADirectory => "give the name of a file, not of a folder",
        ErrorKind::StorageFull => "make room on the disk",
        _ => "choose a place that you may write to",
    }
}

/// Options that clap refuses; it has told people itself.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct WrongOptions {
    message: String,
}

impl WrongOptions {
    /// The first paragraph of what clap says.
    pub fn new(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or(&text);
        let words: Vec<&str> = first.split_whitespace().collect();
        let message = words.join(" ");
        Self {
            message: message.trim_start_matches("error: ").to_owned(),
        }
    }
}

impl Explain for WrongOptions {
    fn origin(&self) -> Option<&reducer::description::mechanism::Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some("`--help` after the verb lists its options with examples".into())
    }
}

/// Standard output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the result cannot be written: {0}")]
pub struct OutputError(#[from] std::io::Error);

impl Explain for OutputError {
    fn origin(&self) -> Option<&reducer::description::mechanism::Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some("check where the output goes".to_owned())
    }
}

/// Writes a result to standard output, unless nothing but errors is to be said.
pub fn print(text: &str) -> Result<(), OutputError> {
    if !talk::prints_results() {
        return Ok(());
    }
    if talk::prints_json() {
        return write_out(text);
    }
    write_out(&visible(text))
}

/// Text of files and names as a terminal may show it: characters that would command it are replaced
/// by others of the same length, so that places in the text stay where they are.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\n' || (c == '\r' && rest.peek() == Some(&'\n'));
        out.push(match c {
            c if ends_line || c == '\t' || !c.is_control() => c,
            c if c.is_ascii() => '?',
            _ => '·',
        });
    }
    out
}

fn write_out(text: &str) -> Result<(), OutputError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Who closes the pipe has read enough; the work is done all the same.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Writes all errors to standard error and, where asked for, as JSON to standard output.
pub fn show(failure: &Failure, json: bool) {
    let handler = MietteHandlerOpts::new().unicode(true).build();
    let mut text = String::new();
    for error in &failure.errors {
        let shown = Shown::new(error.as_ref(), failure.place(error.as_ref()));
        text.push_str(&Rendered(&handler, &shown).to_string());
        text.push('\n');
    }
    if failure.errors.len() > 1 {
        text.push_str(&format!("{} faults\n", failure.errors.len()));
    }
    // There is no one left to tell when standard error is closed.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
    if json {
        show_json(failure);
    }
}

/// Writes all errors as JSON to standard output.
pub fn show_json(failure: &Failure) {
    // There is no one left to tell when standard output is closed.
    let _ = write_out(&format!("{:#}\n", failure.document()));
}

struct Place<'a> {
    source: &'a Source,
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    line_length: usize,
}
