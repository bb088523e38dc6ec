//! What was typed. Nothing is checked here beyond its spelling.

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Turns a flexible mechanism into a compact, explicit model for a controller.
#[derive(Debug, Parser)]
#[command(name = "reduce", version, propagate_version = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Checks a mechanism file and counts what it describes.
    Validate(ValidateArgs),
    /// Reduces the full model at one exact configuration.
    Local(LocalArgs),
}

/// Arguments of `reduce local`.
#[derive(Debug, clap::Args)]
pub struct LocalArgs {
    /// The mechanism file.
    pub mechanism: PathBuf,
    /// The configuration.
    #[arg(long, value_name = "θ1,θ2,…", allow_hyphen_values = true)]
    pub at: Numbers,
    /// Generalised velocities: those of θ, or of all coordinates.
    #[arg(long, value_name = "η̇1,…", allow_hyphen_values = true)]
    pub rate: Option<Numbers>,
    /// Generalised accelerations: those of θ, or of all coordinates.
    #[arg(long, value_name = "η̈1,…", allow_hyphen_values = true)]
    pub accel: Option<Numbers>,
    /// Ignores the domain.
    #[arg(long)]
    pub anywhere: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce validate`.
#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// The mechanism file.
    pub mechanism: PathBuf,
    /// Also checks that this configuration lies in the domain.
    #[arg(long, value_name = "θ1,θ2,…", allow_hyphen_values = true)]
    pub at: Option<Numbers>,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Numbers separated by commas, as in `--at=-1,0.2`.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl std::str::FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(|cell| {
                let cell = cell.trim();
                cell.parse()
                    .map_err(|_| format!("`{cell}` is not a number; write for example -1,0.2"))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn negative_numbers_and_options_after_positionals() {
        for words in [
            ["reduce", "validate", "m.toml", "--at=-1,0.2"].as_slice(),
            ["reduce", "validate", "m.toml", "--at", "-1,0.2"].as_slice(),
            ["reduce", "validate", "--at", "-1, 0.2", "m.toml"].as_slice(),
        ] {
            let Command::Validate(args) = Args::try_parse_from(words).unwrap().command else {
                panic!("another verb: {words:?}");
            };
            assert_eq!(args.at, Some(Numbers(vec![-1.0, 0.2])), "{words:?}");
            assert_eq!(args.mechanism, PathBuf::from("m.toml"));
        }
    }

    #[test]
    fn words_are_not_numbers() {
        assert!(Args::try_parse_from(["reduce", "validate", "m.toml", "--at", "--json"]).is_err());
    }
}
