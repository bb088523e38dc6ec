//! What was typed. Nothing is checked here beyond its spelling.

mod invert;
mod linear;

pub use invert::InvertArgs;
pub use linear::LinearArgs;

use crate::help;
use crate::limits;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Turns a flexible mechanism into a compact, explicit model for a controller.
#[derive(Debug, Parser)]
#[command(
    name = "reduce",
    version,
    propagate_version = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    override_usage = "reduce <MECHANISM> [OPTIONS]\n       reduce <VERB> …",
    after_help = help::REDUCE
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Without a verb: the whole pipeline.
    #[command(flatten)]
    pub reduce: ReduceArgs,
    /// How much is said, for all verbs.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// How much is said.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct TalkArgs {
    /// Says nothing but errors; a JSON document is still printed.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Tells every step on standard error.
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

impl Args {
    /// Standard output is to hold one JSON document, whatever happens.
    pub fn json(&self) -> bool {
        match &self.command {
            None => self.reduce.json,
            Some(Command::Validate(args)) => args.json,
            Some(Command::Body(args)) => args.json,
            Some(Command::Scan(args)) => args.json,
            Some(Command::Local(args)) => args.json,
            Some(Command::Modes(args)) => args.json,
            Some(Command::Eval(args)) => args.json,
            Some(Command::Check(args)) => args.json,
            Some(Command::Export(args)) => args.json,
            Some(Command::New(args)) => args.json,
            Some(Command::Report(args)) => args.json,
            Some(Command::Plot(args)) => args.json,
            Some(Command::Completions(_) | Command::Schema(_) | Command::Man(_)) => false,
            Some(Command::Simulate(args)) => args.json,
            Some(Command::Linear(args)) => args.json,
            Some(Command::Invert(args)) => args.json,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Checks a mechanism file and counts what it describes.
    #[command(after_help = help::VALIDATE)]
    Validate(ValidateArgs),
    /// Shows what the files of a finite-element body hold.
    #[command(after_help = help::BODY)]
    Body(BodyArgs),
    /// Looks over the domain, coarsely, before it is reduced.
    #[command(after_help = help::SCAN)]
    Scan(ScanArgs),
    /// Reduces the full model at one exact configuration.
    #[command(after_help = help::LOCAL)]
    Local(LocalArgs),
    /// Describes the local modes at one configuration.
    #[command(after_help = help::MODES)]
    Modes(ModesArgs),
    /// Evaluates a reduced model at one configuration.
    #[command(after_help = help::EVAL)]
    Eval(EvalArgs),
    /// Compares a reduced model with the full one at fresh points.
    #[command(after_help = help::CHECK)]
    Check(CheckArgs),
    /// Runs the full and the reduced model side by side in time.
    #[command(after_help = help::SIMULATE)]
    Simulate(SimulateArgs),
    /// Finds poles, zeros and frequency responses, loops open or closed.
    #[command(after_help = help::LINEAR)]
    Linear(LinearArgs),
    /// Finds forces that keep outputs of the flexible mechanism on their paths.
    #[command(after_help = help::INVERT)]
    Invert(InvertArgs),
    /// Writes a reduced model in another format.
    #[command(after_help = help::EXPORT)]
    Export(ExportArgs),
    /// Writes a commented mechanism file to start from.
    #[command(after_help = help::NEW)]
    New(NewArgs),
    /// Prints a script that lets a shell complete verbs and options.
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Prints the JSON Schema of a kind of file, for editors.
    #[command(after_help = help::SCHEMA)]
    Schema(SchemaArgs),
    /// Writes manual pages.
    #[command(hide = true, after_help = help::MAN)]
    Man(ManArgs),
    /// Writes a report of a reduced model, for a browser.
    #[command(after_help = help::REPORT)]
    Report(ReportArgs),
    /// Draws a figure of a reduced model as SVG.
    #[command(after_help = help::PLOT)]
    Plot(PlotArgs),
}

/// Arguments of `reduce M.toml`.
#[derive(Debug, Default, PartialEq, clap::Args)]
pub struct ReduceArgs {
    /// The mechanism file.
    #[arg(required = true)]
    pub mechanism: Option<PathBuf>,
    /// Where to write; `<name>-reduced` where absent.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Number of threads; all cores where absent.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Ignores stored samples.
    #[arg(long)]
    pub fresh: bool,
    /// Where samples are stored; `.samples` in the output folder where absent.
    #[arg(long, value_name = "D", conflicts_with = "fresh")]
    pub samples_dir: Option<PathBuf>,
    /// Memory that the run may take, for example 4G; a quarter of the machine's where absent, at most 1G for samples.
    #[arg(long, value_name = "SIZE", value_parser = limits::size)]
    pub memory: Option<u64>,
    /// Time after which the best model so far is written, for example 90s, 5m or 2h; none where absent.
    #[arg(long, value_name = "TIME", value_parser = limits::duration)]
    pub time: Option<Duration>,
    /// Writes no report, and saves the time that surveying the full model for it takes.
    #[arg(long)]
    pub no_report: bool,
    /// Replaces files that this program has not written.
    #[arg(long)]
    pub force: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce scan`.
#[derive(Debug, clap::Args)]
pub struct ScanArgs {
    /// The mechanism file.
    pub mechanism: PathBuf,
    /// Number of threads; all cores where absent.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce modes`.
#[derive(Debug, clap::Args)]
pub struct ModesArgs {
    /// The mechanism file.
    pub mechanism: PathBuf,
    /// The configuration.
    #[arg(long, value_name = "θ1,θ2,…", allow_hyphen_values = true)]
    pub at: Numbers,
    /// Where to write the shapes for ParaView (.vtu).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces files that this program has not written.
    #[arg(long)]
    pub force: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce eval`.
#[derive(Debug, clap::Args)]
pub struct EvalArgs {
    /// The model, `.json` or `.h5`.
    pub model: PathBuf,
    /// The configuration.
    #[arg(long, value_name = "θ1,θ2,…", allow_hyphen_values = true)]
    pub at: Numbers,
    /// Modal coordinates.
    #[arg(long, value_name = "η1,…", allow_hyphen_values = true)]
    pub modal: Option<Numbers>,
    /// Generalised velocities: those of θ, or of all coordinates.
    #[arg(long, value_name = "η̇1,…", allow_hyphen_values = true)]
    pub rate: Option<Numbers>,
    /// Generalised accelerations: those of θ, or of all coordinates.
    #[arg(long, value_name = "η̈1,…", allow_hyphen_values = true)]
    pub accel: Option<Numbers>,
    /// Linear model around the state, under the force that holds it with the given accelerations.
    #[arg(long)]
    pub linearize: bool,
    /// Actuator forces along the motion of θ, and the modal coordinates that follow it quasi-statically.
    #[arg(long)]
    pub feedforward: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The model, `.json` or `.h5`.
    pub model: PathBuf,
    /// The mechanism file.
    pub mechanism: PathBuf,
    /// Number of fresh points.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = points)]
    pub samples: usize,
    /// Seed of the points.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Number of threads; all cores where absent.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce simulate`.
#[derive(Debug, clap::Args)]
pub struct SimulateArgs {
    /// The scenario file.
    pub scenario: PathBuf,
    /// Panels of comparison.svg, such as deflection_tip,force.theta; all where absent.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Where to write; `<scenario>-simulation` where absent.
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

/// Arguments of `reduce export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The model, `.json` or `.h5`.
    pub model: PathBuf,
    /// What to write.
    #[arg(long, value_enum)]
    pub format: FormatName,
    /// A file (json, hdf5, mat, fmu) or a folder (c, rust, casadi).
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,
    /// Source that computes in single precision.
    #[arg(long)]
    pub single: bool,
    /// Start of all names in generated source; the model's name where absent.
    #[arg(long, value_name = "NAME")]
    pub prefix: Option<String>,
    /// A scenario with `[observer]`: c and rust then hold a filter that finds the state from its sensors.
    #[arg(long, value_name = "SCENARIO")]
    pub observer: Option<PathBuf>,
    /// Version of FMI, for fmu; 3 where absent.
    #[arg(long, value_enum, value_name = "VERSION")]
    pub fmi: Option<FmiName>,
    /// What an FMU takes in; forces where absent.
    #[arg(long, value_enum, value_name = "KIND")]
    pub interface: Option<InterfaceName>,
    /// Replaces files that this program has not written.
    #[arg(long)]
    pub force: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reduce new`.
#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// The file to write; `.toml` is added where absent.
    pub name: PathBuf,
    /// The kind of mechanism.
    #[arg(long, value_enum, value_name = "KIND")]
    pub from: StarterName,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Mechanisms of `reduce new`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum StarterName {
    /// Two hinges, flexible forearm.
    Serial,
    /// One loop in a plane, flexible coupler and rocker.
    FourBar,
    /// Three sliders and three legs, rigid.
    Parallel,
    /// Six legs with compliant screws.
    Hexapod,
}

/// Arguments of `reduce completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `reduce schema`.
#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// The kind of file.
    #[arg(value_enum)]
    pub of: SchemaName,
}

/// Files with a schema.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum SchemaName {
    /// What `reduce M.toml` reads.
    Mechanism,
    /// What `reduce simulate` reads.
    Scenario,
    /// `model.json`.
    Model,
}

/// Arguments of `reduce man`.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Where to write.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// Arguments of `reduce report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The model, `.json` or `.h5`.
    pub model: PathBuf,
    /// The mechanism file: adds the drawing and the full model beside the reduced one.
    pub mechanism: Option<PathBuf>,
    /// Where to write; `report.html` beside the model where absent.
    #[arg(short, long, value_name = "FILE")]
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

/// Arguments of `reduce plot`.
#[derive(Debug, clap::Args)]
pub struct PlotArgs {
    /// The model, `.json` or `.h5`.
    pub model: PathBuf,
    /// The mechanism file: adds the full model.
    pub mechanism: Option<PathBuf>,
    /// What to draw.
    #[arg(long, value_enum)]
    pub what: FigureName,
    /// Only the line along this coordinate, or `diagonal`; for spin the coordinate that moves.
    #[arg(long, value_name = "NAME")]
    pub along: Option<String>,
    /// Where to write the SVG.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
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

/// Figures of `reduce plot`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum FigureName {
    /// Natural frequencies of the internal modes along lines through the domain.
    Frequencies,
    /// Errors along lines (with the mechanism file) or per box.
    Errors,
    /// Boxes of the configuration space with degree and error.
    Boxes,
    /// The entries of each block that vary most, along one line.
    Coefficients,
    /// Frequencies with locked actuators over the rate of one coordinate.
    Spin,
    /// Frequencies with locked actuators over gravity, where the model leaves it free.
    Weight,
}

/// Formats of `reduce export`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum FormatName {
    /// One JSON file.
    Json,
    /// One HDF5 file.
    Hdf5,
    /// One MATLAB file, and a function that evaluates it.
    Mat,
    /// C99 source.
    C,
    /// A Rust crate.
    Rust,
    /// C and Python for CasADi and acados.
    Casadi,
    /// A Functional Mock-up Unit: model exchange and co-simulation.
    Fmu,
}

/// Versions of FMI.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum FmiName {
    /// FMI 2.0, which most tools import.
    #[value(name = "2")]
    Two,
    /// FMI 3.0.
    #[default]
    #[value(name = "3")]
    Three,
}

/// Interfaces of FMUs.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum InterfaceName {
    /// Forces come in, motion goes out.
    #[default]
    Forces,
    /// Motion of the actuated coordinates comes in, forces go out.
    Motion,
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
    /// Natural frequencies of the full model to list, at most 1000.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub frequencies: u16,
    /// Ignores the domain.
    #[arg(long)]
    pub anywhere: bool,
    /// `--at` is a place on the file's trajectory, from 0 to 1.
    #[arg(long)]
    pub on_path: bool,
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

/// Arguments of `reduce body`.
#[derive(Debug, clap::Args)]
pub struct BodyArgs {
    /// Stiffness, mass, table of dofs and nodes, in any order.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Unit of length of the files.
    #[arg(long, value_name = "UNIT", default_value = "m", value_parser = ["m", "mm", "cm", "in"])]
    pub length: String,
    /// Unit of mass of the files.
    #[arg(long, value_name = "UNIT", default_value = "kg", value_parser = ["kg", "t", "g"])]
    pub mass: String,
    /// Number of frequencies.
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub count: u8,
    /// Prints one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Most points of a check: their results are held in memory.
const MOST_POINTS: usize = 1_000_000;

fn points(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one point is needed".to_owned()),
        Ok(count) if count > MOST_POINTS => Err(format!("at most {MOST_POINTS} are possible")),
        Ok(count) => Ok(count),
        Err(error) => Err(format!("not a number of points: {error}")),
    }
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
            let Some(Command::Validate(args)) = Args::try_parse_from(words).unwrap().command else {
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
