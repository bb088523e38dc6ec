//! What was typed after `reduce invert`.

use std::path::PathBuf;

/// Arguments of `reduce invert`.
#[derive(Debug, clap::Args)]
pub struct InvertArgs {
    /// The scenario file, with a `[[track]]` for every coordinate.
    pub scenario: PathBuf,
    /// Where to write; `<scenario>-inversion` where absent.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Number of threads; all cores where absent.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Replaces files that this program has not written.
    #[arg(long)]
    pub force: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}
