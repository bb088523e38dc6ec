//! `reduce`: from a mechanism file to a compact model for a controller.

mod args;
mod commands;
mod diagnostics;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(&args) {
        Ok(commands::Outcome::Done) => ExitCode::SUCCESS,
        Ok(commands::Outcome::FellShort) => ExitCode::from(1),
        Err(failure) => {
            diagnostics::show(&failure, args.json());
            ExitCode::from(2)
        }
    }
}
