//! Controllers of the user's own, each a process beside this one.
//!
//! A sample is one line of text: the time and the inputs; the answer is one line with the outputs. A
//! process of its own can neither damage this one nor hang it: every answer has a time limit.

use super::law::Sample;
use crate::description::mechanism::Origin;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Source of the program that loads a shared library and speaks for it: C99 and POSIX.
pub const HOST: &str = include_str!("host.c");

/// Longest answer in bytes.
const LONGEST_ANSWER: u64 = 1 << 16;
/// How much of what a process says on its error stream is kept.
const LAST_WORDS: usize = 2000;
/// How long a process that closed its output may take to end.
const ENDING: Duration = Duration::from_millis(500);
/// Between two looks at whether it has.
const SHORTLY: Duration = Duration::from_millis(5);

/// A controller in a process of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct External {
    /// What runs.
    pub runs: Runs,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// How long an answer may take (s).
    pub timeout: f64,
}

/// What a controller is.
#[derive(Debug, Clone, PartialEq)]
pub enum Runs {
    /// A program, and its arguments.
    Program(PathBuf, Vec<String>),
    /// A shared library.
    Library(Library),
}

/// A shared library with `controller_init`, `controller_step` and `controller_free`.
#[derive(Debug, Clone, PartialEq)]
pub struct Library {
    /// The file.
    pub path: PathBuf,
    /// A text for `controller_init`.
    pub setting: String,
    /// The program made from [`HOST`], which loads it; without one it cannot run.
    pub host: Option<PathBuf>,
    /// Where the scenario names it.
    pub origin: Origin,
}

/// What a controller can do wrong.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum ControllerFault {
    #[error("`{program}` cannot be started: {reason}")]
    NotStarted { program: String, reason: String },
    #[error("there is no host program that could load the library `{path}`")]
    NoHost { path: String },
    #[error("it ended with {how} before it answered{}", said(words))]
    Ended { how: String, words: Option<String> },
    #[error("it did not answer within {seconds} s")]
    TimedOut { seconds: f64 },
    #[error("it answered `{answer}`, which is not {expected} number(s)")]
    BadAnswer { answer: String, expected: usize },
}

fn said(words: &Option<String>) -> String {
    words
        .as_ref()
        .map_or_else(String::new, |words| format!("; its last words: {words}"))
}

impl ControllerFault {
    /// One thing to try.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => {
                "give the path of an executable file, relative to the scenario, or the name of a command"
            }
            Self::NoHost { .. } => "give the library to a program that has one, or run a program",
            Self::Ended { .. } => {
                "let it read and answer until its input ends; run it by hand with the inputs of the tables"
            }
            Self::TimedOut { .. } => {
                "flush its output after every line, or give it a longer `timeout`"
            }
            Self::BadAnswer { .. } => {
                "print the outputs alone on one line, and messages to the error stream; `outputs` says how many"
            }
        }
    }
}

impl External {
    fn command(&self, period: f64) -> Result<Command, ControllerFault> {
        let mut command = match &self.runs {
            Runs::Program(program, arguments) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            Runs::Library(library) => {
                let host = library.host.as_ref();
                let mut command = Command::new(host.ok_or_else(|| ControllerFault::NoHost {
                    path: library.path.display().to_string(),
                })?);
                command
                    .arg(&library.path)
                    .arg(format!("{period:e}"))
                    .arg(self.inputs.to_string())
                    .arg(self.outputs.to_string())
                    .arg(&library.setting);
                command
            }
        };
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(&self.folder);
        }
        Ok(command)
    }

    fn name(&self) -> &Path {
        match &self.runs {
            Runs::Program(program, _) => program,
            Runs::Library(library) => &library.path,
        }
    }
}

/// A controller at work.
pub(super) struct Process {
    child: Child,
    questions: Sender<String>,
    answers: Receiver<Option<String>>,
    words: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when the error stream has ended.
    silent: Receiver<()>,
}

impl Process {
    pub fn start(external: &External, period: f64) -> Result<Self, ControllerFault> {
        let mut command = external.command(period)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C is for the run, which ends the controller in its own time.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let not_started = |reason: String| ControllerFault::NotStarted {
            program: external.name().display().to_string(),
            reason,
        };
        let mut child = command.spawn().map_err(|e| not_started(e.to_string()))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(errors)) = streams else {
            return Err(not_started("it has no standard streams".to_owned()));
        };
        let (questions, asked) = channel();
        let (answering, answers) = channel();
        std::thread::spawn(move || converse(to, from, &asked, &answering));
        let words = Arc::new(Mutex::new(Vec::new()));
        let (listening, silent) = channel();
        let kept = Arc::clone(&words);
        std::thread::spawn(move || {
            listen(errors, &kept);
            drop::<Sender<()>>(listening);
        });
        Ok(Self {
            child,
            questions,
            answers,
            words,
            silent,
        })
    }

    /// Hands over a sample and waits for the outputs.
    pub fn step(
        &mut self,
        external: &External,
        at: &Sample,
        inputs: &[f64],
    ) -> Result<Vec<f64>, ControllerFault> {
        let mut line = format!("{:e}", at.time);
        for input in inputs {
            line += &format!(" {input:e}");
        }
        line.push('\n');
        // Where nobody listens any more, no answer comes either.
        let _ = self.questions.send(line);
        let limit = Duration::try_from_secs_f64(external.timeout).unwrap_or(Duration::MAX);
        match self.answers.recv_timeout(limit) {
            Ok(Some(answer)) => numbers(&answer, external.outputs),
            Err(RecvTimeoutError::Timeout) => Err(ControllerFault::TimedOut {
                seconds: external.timeout,
            }),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// How a process that answers no more has ended.
    fn ended(&mut self) -> ControllerFault {
        // The error stream ends with the process, unless others hold it.
        let _ = self.silent.recv_timeout(ENDING);
        // Its streams close before it has ended.
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if start.elapsed() < ENDING => std::thread::sleep(SHORTLY),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let how = status.map_or_else(|| "its output closed".to_owned(), how);
        let words = match self.words.lock() {
            Ok(words) => String::from_utf8_lossy(&words).into_owned(),
            Err(_) => String::new(),
        };
        let last = words.lines().rev().map(str::trim).find(|l| !l.is_empty());
        ControllerFault::Ended {
            how,
            words: last.map(str::to_owned),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to save; one that is gone already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal {
            4 => "an illegal instruction".to_owned(),
            6 => "an abort".to_owned(),
            8 => "an arithmetic fault".to_owned(),
            7 | 11 => "a memory fault".to_owned(),
            signal => format!("signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "no exit code".to_owned(),
    }
}

/// Writes questions and reads answers until one side ends; none is the end.
fn converse(
    mut to: ChildStdin,
    from: ChildStdout,
    questions: &Receiver<String>,
    answers: &Sender<Option<String>>,
) {
    let mut from = BufReader::new(from);
    while let Ok(question) = questions.recv() {
        let asked = to.write_all(question.as_bytes()).and_then(|()| to.flush());
        let mut line = Vec::new();
        // What was said before the input closed is still an answer.
        let read = (&mut from)
            .take(LONGEST_ANSWER)
            .read_until(b'\n', &mut line);
        let answer = match read {
            Ok(count) if count > 0 => Some(String::from_utf8_lossy(&line).into_owned()),
            _ => None,
        };
        let over = answer.is_none() || asked.is_err();
        if answers.send(answer).is_err() || over {
            return;
        }
    }
}

/// Keeps the end of what a process says.
fn listen(mut errors: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        let Ok(mut words) = kept.lock() else { return };
        words.extend_from_slice(&buffer[..count]);
        let surplus = words.len().saturating_sub(LAST_WORDS);
        words.drain(..surplus);
    }
}

fn numbers(answer: &str, expected: usize) -> Result<Vec<f64>, ControllerFault> {
    let values: Result<Vec<f64>, _> = answer.split_whitespace().map(str::parse).collect();
    match values {
        Ok(values) if values.len() == expected => Ok(values),
        _ => Err(ControllerFault::BadAnswer {
            answer: answer.trim().chars().take(60).collect(),
            expected,
        }),
    }
}
