//! The command line as a library: what each verb finds, as values and JSON documents, for programs that want
//! the same answers without a terminal.
//!
//! Verbs have a function that computes and one that prints. Only what the binary calls, [`run`], speaks to
//! standard streams. The numbers come from `reducer` and `exporters`; nothing is computed here.

pub mod args;
pub mod commands;
pub mod diagnostics;
mod help;
pub mod limits;
mod progress;
pub mod ranks;
mod talk;
mod usage;

use diagnostics::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Does what the words of a command line ask for, the program's name first, and says how it went.
pub fn run(words: &[OsString]) -> ExitCode {
    let args = match usage::parse(words) {
        Ok(args) => args,
        Err(refusal) => return refuse(&refusal, words),
    };
    let json = args.json();
    talk::set(args.talk.quiet, args.talk.verbose, json);
    match commands::run(&args) {
        Ok(commands::Outcome::Done) => ExitCode::SUCCESS,
        Ok(commands::Outcome::FellShort) => ExitCode::from(1),
        Err(failure) => {
            diagnostics::show(&failure, json);
            ExitCode::from(2)
        }
    }
}
/// Says why the words were not understood, or what they asked to be told.
fn refuse(refusal: &usage::Refusal, words: &[OsString]) -> ExitCode {
    let json = words.iter().any(|word| word == "--json");
    match refusal {
        usage::Refusal::Explained(error) => {
            diagnostics::show(&Failure::one(error.clone()), json);
            ExitCode::from(2)
        }
        usage::Refusal::Clap(error) => {
            // There is no one left to tell when the stream is closed.
            let _ = error.print();
            if error.exit_code() == 0 {
                return ExitCode::SUCCESS;
            }
            if json {
                diagnostics::show_json(&Failure::one(diagnostics::WrongOptions::new(error)));
            }
            ExitCode::from(2)
        }
    }
}
