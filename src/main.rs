//! `reduce`: from a mechanism file to a compact model for a controller.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    mechreduce::run(&words)
}
