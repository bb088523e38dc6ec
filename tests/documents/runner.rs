//! What a document tells people to do, in order, and doing it in a folder of its own.

use crate::markdown::{Document, root};
use crate::output::first_difference;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One thing that a reader does.
pub enum Step {
    /// Writes a file: a block whose first line is a comment with nothing but its path.
    Write { path: String, text: String },
    /// Types a command.
    Type(Typed),
}

/// A command with what the document says about it.
pub struct Typed {
    pub line: usize,
    pub text: String,
    /// From a comment `# exit code 2` behind the command; 0 without one.
    pub exit_code: i32,
    /// Output as shown; empty where none is.
    pub shown: Vec<String>,
}

/// Steps of a document. Languages of blocks with commands are `sh` and, with output, `console`.
pub fn steps(document: &Document) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in &document.blocks {
        let is_console = block.language == "console";
        if !is_console && block.language != "sh" {
            steps.extend(named_file(&block.lines));
            continue;
        }
        for (k, line) in block.lines.iter().enumerate() {
            let command = match line.strip_prefix("$ ") {
                Some(command) => Some(command),
                None => Some(line.as_str()).filter(|_| !is_console),
            };
            match (command, steps.last_mut()) {
                (Some(command), _) => steps.extend(typed(command, block.first_line + k)),
                (None, Some(Step::Type(previous))) => previous.shown.push(line.clone()),
                (None, _) => panic!(
                    "{}:{}: output of no command",
                    document.name(),
                    block.first_line + k
                ),
            }
        }
    }
    steps
}

fn typed(line: &str, number: usize) -> Option<Step> {
    let (text, comment) = match line.split_once('#') {
        Some((text, comment)) => (text.trim(), comment.trim()),
        None => (line.trim(), ""),
    };
    let exit_code = comment
        .strip_prefix("exit code ")
        .map_or(0, |code| code.parse().expect("a number after `exit code`"));
    (!text.is_empty()).then(|| {
        Step::Type(Typed {
            line: number,
            text: text.into(),
            exit_code,
            shown: Vec::new(),
        })
    })
}

fn named_file(lines: &[String]) -> Option<Step> {
    let first = lines.first()?;
    let path = first
        .strip_prefix("# ")
        .or_else(|| first.strip_prefix("/* ")?.strip_suffix(" */"))?;
    let is_path = path.contains('.') && !path.contains(char::is_whitespace);
    is_path.then(|| Step::Write {
        path: path.into(),
        text: lines.join("\n") + "\n",
    })
}

/// A reader's folder: the checkout's `data/`, and where the reader stands in it.
pub struct Reader {
    folder: tempfile::TempDir,
    place: PathBuf,
}

impl Reader {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&root().join("data"), &folder.path().join("data"));
        let place = folder.path().into();
        Self { folder, place }
    }

    /// Writes below the folder, wherever the reader stands.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    pub fn change_folder(&mut self, to: &str) -> Result<(), String> {
        self.place = self
            .place
            .join(to)
            .canonicalize()
            .map_err(|error| format!("{to}: {error}"))?;
        Ok(())
    }

    /// Lets a shell run the command, and compares exit code and output with what is shown.
    pub fn run(&self, text: &str, typed: &Typed) -> Result<(), String> {
        let binary = Path::new(env!("CARGO_BIN_EXE_reduce"));
        let mut path = vec![binary.parent().expect("in a folder").to_path_buf()];
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let output = Command::new("sh")
            .args(["-c", text])
            .current_dir(&self.place)
            .env("PATH", std::env::join_paths(path).expect("a search path"))
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS")
            .output()
            .map_err(|error| error.to_string())?;
        let printed =
            [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
        // What takes long says so on a slow machine; no document shows that.
        let is_reminder = |line: &&str| {
            line.starts_with("after ") && [" s: ", " min: "].iter().any(|unit| line.contains(unit))
        };
        let printed = printed.concat();
        let lines: Vec<&str> = printed.lines().filter(|line| !is_reminder(line)).collect();
        let printed = lines.join("\n");
        if output.status.code() != Some(typed.exit_code) {
            let code = output.status.code();
            return Err(format!(
                "exit code {code:?} in place of {}:\n{printed}",
                typed.exit_code
            ));
        }
        if typed.shown.is_empty() {
            return Ok(());
        }
        match first_difference(&typed.shown, &printed) {
            None => Ok(()),
            Some(line) => Err(format!(
                "shown, but not printed:\n{line}\nprinted:\n{printed}"
            )),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a copy");
        }
    }
}
