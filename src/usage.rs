//! What was typed and cannot be understood. Spelling of options is left to clap; verbs and files in
//! the wrong place are explained here.

use crate::args::{Args, ReduceArgs};
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser};
use reducer::description::closest;
use reducer::description::mechanism::Origin;
use reducer::error::Explain;
use std::ffi::OsString;
use std::path::Path;

/// Why the words were refused.
pub enum Refusal {
    /// A verb or a file in the wrong place.
    Explained(UsageError),
    /// Help and version, which are no faults, and wrong options.
    Clap(clap::Error),
}

/// A verb or a file in the wrong place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UsageError {
    /// The first word is no verb and looks like no file.
    #[error("`{word}` is neither a verb nor a mechanism file")]
    UnknownVerb {
        /// The word.
        word: String,
        /// The command that was probably meant.
        meant: Option<String>,
    },
    /// `reduce M.toml validate`.
    #[error("the verb `{verb}` stands after `{file}`")]
    VerbAfterFile {
        /// The verb.
        verb: String,
        /// What stands before it.
        file: String,
    },
    /// Options of the pipeline before a verb.
    #[error("options stand before the verb `{verb}`")]
    OptionsBeforeVerb {
        /// The verb.
        verb: String,
    },
    /// More than one file for the pipeline.
    #[error("`{word}` is one word too many: the pipeline takes one mechanism file, here `{file}`")]
    SecondFile {
        /// The second word.
        word: String,
        /// The mechanism file.
        file: String,
    },
}

impl Explain for UsageError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::UnknownVerb {
                meant: Some(meant), ..
            } => format!("did you mean `{meant}`?"),
            Self::UnknownVerb { .. } => {
                "give a mechanism file that ends in .toml, or a verb that `reduce --help` lists"
                    .to_owned()
            }
            Self::VerbAfterFile { verb, file } => format!("write `reduce {verb} {file}`"),
            Self::OptionsBeforeVerb { verb } => {
                format!("write them after it; `reduce {verb} --help` lists those it has")
            }
            Self::SecondFile { .. } => {
                "run `reduce` once for each mechanism; put names with spaces in quotes".to_owned()
            }
        })
    }
}

/// Understands the words of a command line, the program's name first.
pub fn parse(words: &[OsString]) -> Result<Args, Refusal> {
    let parsed = Args::try_parse_from(words);
    match misplaced(words, &parsed) {
        Some(error) => Err(Refusal::Explained(error)),
        None => parsed.map_err(Refusal::Clap),
    }
}

fn misplaced(words: &[OsString], parsed: &Result<Args, clap::Error>) -> Option<UsageError> {
    let mut verbs: Vec<String> = Args::command()
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect();
    verbs.push("help".to_owned());
    let texts: Vec<String> = words
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let is_verb = |word: &String| verbs.contains(word);
    match parsed {
        Ok(args) => {
            if args.command.is_none() {
                let file = args.reduce.mechanism.as_ref()?.to_string_lossy();
                let place = texts.iter().position(|word| *word == file)?;
                return unknown_verb("reduce", &texts[place], &texts[place + 1..], &verbs);
            }
            let verb = texts.iter().find(|word| is_verb(word))?.clone();
            match &args.reduce.mechanism {
                Some(file) => {
                    let file = file.to_string_lossy().into_owned();
                    Some(UsageError::VerbAfterFile { verb, file })
                }
                None if args.reduce == ReduceArgs::default() => None,
                None => Some(UsageError::OptionsBeforeVerb { verb }),
            }
        }
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            None
        }
        Err(error) => {
            let first = texts.first().filter(|word| !word.starts_with('-'))?;
            if first == "help" {
                return unknown_verb("reduce help", texts.get(1)?, &[], &verbs);
            }
            if is_verb(first) {
                return None;
            }
            if let Some(found) = unknown_verb("reduce", first, &texts[1..], &verbs) {
                return Some(found);
            }
            let second = texts.get(1)?.clone();
            let file = first.clone();
            if is_verb(&second) {
                return Some(UsageError::VerbAfterFile { verb: second, file });
            }
            let refused = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
                .iter()
                .find_map(|kind| error.get(*kind))
                .map(ToString::to_string);
            (refused.as_ref() == Some(&second) && !second.starts_with('-'))
                .then_some(UsageError::SecondFile { word: second, file })
        }
    }
}

/// A word that looks like no file, with the verb that it resembles between what stands around it.
fn unknown_verb(before: &str, word: &str, rest: &[String], verbs: &[String]) -> Option<UsageError> {
    let path = Path::new(word);
    if path.extension().is_some() || path.components().count() > 1 || path.exists() {
        return None;
    }
    let meant = closest(word, verbs.iter().map(String::as_str)).map(|verb| {
        let words = [before, verb.as_str()].into_iter();
        words
            .chain(rest.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    });
    Some(UsageError::UnknownVerb {
        word: word.to_owned(),
        meant,
    })
}
