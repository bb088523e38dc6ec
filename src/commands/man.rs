//! `reduce man`: manual pages of all verbs, for packages. Not listed among the verbs.

use super::Outcome;
use crate::args::{Args, ManArgs};
use crate::diagnostics::{CommandError, Failure};
use clap::CommandFactory;
use clap_mangen::Man;
use exporters::Guard;

/// Runs the command.
pub fn run(args: &ManArgs) -> Result<Outcome, Failure> {
    let program = Args::command();
    let mut pages = vec![page(program.clone(), "reduce")];
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    for verb in verbs {
        let name = format!("reduce-{}", verb.get_name());
        let named = verb.clone().bin_name(format!("reduce {}", verb.get_name()));
        pages.push(page(named, &name));
    }
    exporters::write_set(&args.output, &pages, &Guard::default())
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    Ok(Outcome::Done)
}

/// File name and text of a page.
fn page(command: clap::Command, name: &str) -> (String, Vec<u8>) {
    let mut text = Vec::new();
    let man = Man::new(command.display_name(name)).title(name);
    // A list of bytes takes everything.
    man.render(&mut text).expect("memory takes what is written");
    (format!("{name}.1"), text)
}
