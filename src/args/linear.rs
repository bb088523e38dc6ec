//! What was typed after `reduce linear`.

use super::Numbers;
use std::path::PathBuf;

/// Arguments of `reduce linear`.
#[derive(Debug, clap::Args)]
pub struct LinearArgs {
    /// A scenario file with its blocks, or a model, `.json` or `.h5`.
    #[arg(value_name = "SCENARIO|MODEL")]
    pub source: PathBuf,
    /// The configuration; where the scenario starts where absent.
    #[arg(long, value_name = "θ1,θ2,…", allow_hyphen_values = true)]
    pub at: Option<Numbers>,
    /// Linear models at so many values of every coordinate as well, over the domain.
    #[arg(long, value_name = "N")]
    pub grid: Option<usize>,
    /// Leaves out what blocks give: the loop is open.
    #[arg(long)]
    pub open: bool,
    /// Input of the zeros and the frequency response.
    #[arg(
        long = "from",
        value_name = "NAME",
        requires = "to",
        group = "compared"
    )]
    pub input: Option<String>,
    /// Their output.
    #[arg(long, value_name = "NAME", requires = "input")]
    pub to: Option<String>,
    /// Lowest and highest frequency (Hz) and how many, on a logarithmic scale.
    #[arg(long, value_name = "LOW,HIGH,N", default_value = "0.1,100,200")]
    pub band: Numbers,
    /// Adds the full model's own response, sparse and without reduction, or its own motion, as the check.
    #[arg(long, requires = "compared")]
    pub full: bool,
    /// Root locus: poles for multiples of this block's outputs.
    #[arg(long, value_name = "BLOCK")]
    pub locus: Option<String>,
    /// The multiples: first, last and how many.
    #[arg(
        long,
        value_name = "FIRST,LAST,N",
        default_value = "0,2,41",
        allow_hyphen_values = true
    )]
    pub multiples: Numbers,
    /// Largest frequency (Hz) of what poles.svg shows; all poles where absent.
    #[arg(long, value_name = "HZ")]
    pub reach: Option<f64>,
    /// Small motions about the motion that this scenario prescribes, in time beside the reduced model.
    #[arg(
        long,
        value_name = "SCENARIO",
        group = "compared",
        conflicts_with_all = ["at", "grid", "open", "locus"]
    )]
    pub trajectory: Option<PathBuf>,
    /// Instants along the trajectory at which matrices are written.
    #[arg(long, value_name = "N", default_value_t = 101, requires = "trajectory")]
    pub instants: usize,
    /// So many of the lowest modes of every instant carry small motions; all coordinates where absent.
    #[arg(long, value_name = "N", requires = "trajectory")]
    pub modes: Option<usize>,
    /// Corrects small motions by the static answer of what the modes leave out.
    #[arg(long, requires = "trajectory")]
    pub mode_acceleration: bool,
    /// Small motions feel the stiffness at rest, not what the motion adds to it.
    #[arg(long, requires = "trajectory")]
    pub stiffness_at_rest: bool,
    /// Where to write linear.json, linear.mat, linear.h5, poles.svg and bode.svg.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replaces files that this program has not written.
    #[arg(long)]
    pub force: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

impl LinearArgs {
    /// Frequencies of the response.
    pub fn frequencies(&self) -> Vec<f64> {
        let [low, high, count] = steps(&self.band);
        let (low, high) = (low.max(1e-12), high.max(1e-12));
        (0..count as usize)
            .map(|k| low * (high / low).powf(k as f64 / (count - 1.0).max(1.0)))
            .collect()
    }

    /// Multiples of the root locus.
    pub fn factors(&self) -> Vec<f64> {
        let [first, last, count] = steps(&self.multiples);
        (0..count as usize)
            .map(|k| first + (last - first) * k as f64 / (count - 1.0).max(1.0))
            .collect()
    }
}

/// Two ends and a count from 1 to ten thousand; what is missing counts as one value.
fn steps(numbers: &Numbers) -> [f64; 3] {
    let list = &numbers.0;
    let first = list.first().copied().unwrap_or(1.0);
    let last = list.get(1).copied().unwrap_or(first);
    let count = list.get(2).copied().unwrap_or(1.0);
    [first, last, count.clamp(1.0, 1e4).floor()]
}
