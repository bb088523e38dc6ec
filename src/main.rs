//! `reduce`: from a mechanism file to a compact model for a controller.

mod args;
mod commands;
mod diagnostics;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(args.command) {
        Ok(commands::Outcome::Done) => ExitCode::SUCCESS,
        Err(failure) => {
            diagnostics::show(&failure);
            ExitCode::from(2)
        }
    }
}
