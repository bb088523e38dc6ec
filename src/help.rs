//! What `--help` teaches beyond the list of options. Every line that starts with `reduce` is a
//! command that works; a test parses them all.

/// After the options of `reduce` itself.
pub const REDUCE: &str = "\
Examples:
  From nothing to C code of a four-bar:
    reduce new arm --from four-bar
    reduce validate arm.toml
    reduce arm.toml
    reduce check arm-reduced/model.json arm.toml

  Other places, fewer threads, a summary for scripts:
    reduce arm.toml -o build/arm --samples-dir build/samples --jobs 2 --json

Exit codes: 0 done; 1 done, but a tolerance was not reached or a check failed; 2 could not run.
Progress is shown on a terminal only. NO_COLOR=1 switches colours off.";

/// After the options of `reduce scan`.
pub const SCAN: &str = "\
Examples:
  What cannot be assembled, what is near a singularity, and which ranges avoid it:
    reduce scan arm.toml
  For scripts:
    reduce scan arm.toml --json

Exit codes: 0 nothing to change; 1 there are suggestions; 2 could not run.";

/// After the options of `reduce validate`.
pub const VALIDATE: &str = "\
Examples:
  All faults of a file, each with its line and one thing to try:
    reduce validate arm.toml
  Can the mechanism reach this configuration?
    reduce validate arm.toml --at 0.3,-1.2
  For scripts and editors:
    reduce validate arm.toml --json";

/// After the options of `reduce body`.
pub const BODY: &str = "\
Examples:
  Mass, dimensions, frequencies and rigid motions of a CalculiX export in mm and t:
    reduce body arm.sti arm.mas arm.dof arm.inp --length mm --mass t
  A DMIG file of Nastran with its grids, for scripts:
    reduce body arm.pch arm.bdf --json";

/// After the options of `reduce local`.
pub const LOCAL: &str = "\
Examples:
  Mass, stiffness, gravity and natural frequencies at one configuration:
    reduce local arm.toml --at 0.3,-1.2
  Motor torques for a motion: rates and accelerations of the actuated coordinates:
    reduce local arm.toml --at 0.3,-1.2 --rate 1,0.5 --accel 0,2
  Outside the ranges of the file, every number as JSON:
    reduce local arm.toml --at=-3,0 --anywhere --json";

/// After the options of `reduce modes`.
pub const MODES: &str = "\
Examples:
  Which parts move in each mode, and which low frequencies no mode represents:
    reduce modes arm.toml --at 0.3,-1.2
  Shapes as vector fields for ParaView:
    reduce modes arm.toml --at 0.3,-1.2 -o modes.vtu";

/// After the options of `reduce eval`.
pub const EVAL: &str = "\
Examples:
  What the reduced model says at one configuration:
    reduce eval arm-reduced/model.json --at 0.3,-1.2
  Inverse dynamics with deflection, rates and accelerations:
    reduce eval arm-reduced/model.h5 --at 0.3,-1.2 --modal 0.001,0 --rate 1,0.5 --accel 0,2 --json

A configuration outside the domain is clamped (exit code 0); where there is no model the exit code is 1.";

/// After the options of `reduce check`.
pub const CHECK: &str = "\
Examples:
  Errors of a model at 500 points that no fit has seen:
    reduce check arm-reduced/model.json arm.toml
  More and other points:
    reduce check arm-reduced/model.json arm.toml --samples 5000 --seed 7 --json

Exit code 1: a tolerance that the model was made for does not hold at these points.";

/// After the options of `reduce export`.
pub const EXPORT: &str = "\
Examples:
  C in single precision for a small controller:
    reduce export arm-reduced/model.json --format c --single -o firmware/arm
  Another prefix for all names in the source:
    reduce export arm-reduced/model.json --format rust --prefix left_arm -o left_arm
  With a filter that finds the modes from the sensors of a scenario:
    reduce export arm-reduced/model.json --format c --observer arm_loop.toml -o firmware/arm
  The same numbers, bit for bit, in the other format:
    reduce export arm-reduced/model.h5 --format json -o arm.json";

/// After the options of `reduce new`.
pub const NEW: &str = "\
Examples:
  A flexible arm, as a file that runs as it is:
    reduce new arm --from serial
    reduce arm.toml
  In another folder:
    reduce new machines/press --from four-bar

An existing file is never replaced.";

/// After the options of `reduce report`.
pub const REPORT: &str = "\
Examples:
  From the model alone, beside it:
    reduce report four_bar-reduced/model.json
  With the drawing, the modes and the full model's curves:
    reduce report four_bar-reduced/model.json data/four_bar.toml -o four_bar.html

Every run of `reduce M.toml` writes the second kind by itself.";

/// After the options of `reduce plot`.
pub const PLOT: &str = "\
Examples:
  Natural frequencies over the domain:
    reduce plot four_bar-reduced/model.json --what frequencies -o frequencies.svg
  Errors against the full model along one coordinate:
    reduce plot orthoglide-reduced/model.h5 data/orthoglide.toml --what errors --along x -o errors.svg";

/// After the options of `reduce simulate`.
pub const SIMULATE: &str = "\
Examples:
  The four-bar moved from one angle to another, full and reduced model side by side:
    reduce simulate data/scenarios/four_bar_point_to_point.toml -o motion
  The summary for a script:
    reduce simulate data/scenarios/ralf_tip_force.toml --json

Writes full.csv, reduced.csv and comparison.svg.";

/// After the options of `reduce linear`.
pub const LINEAR: &str = "\
Examples:
  Poles of a closed loop, and how they move with a block's gain:
    reduce linear data/scenarios/ralf_slow_loop.toml
    reduce linear data/scenarios/ralf_slow_loop.toml --locus slow1 --multiples 0,3,61 -o locus
  From a force to the tip, loops left open:
    reduce linear data/scenarios/ralf_slow_loop.toml --open --from force.cylinder1 --to tip.z -o bode
  Linear models over the domain, for MATLAB, Octave and python-control:
    reduce linear arm-reduced/model.json --grid 9 -o arm-linear
  Small motions about a large one, with their matrices along it:
    reduce linear data/scenarios/one_link_spin_up.toml --trajectory data/scenarios/one_link_spin_up.toml";

/// After the options of `reduce invert`.
pub const INVERT: &str = "\
Examples:
  Torques that move the tip of a flexible arm along half a circle:
    reduce invert data/inversion/two_link_half_circle.toml -o half_circle
  Zeros, forces and errors for a script:
    reduce invert data/inversion/two_link_half_circle.toml --json

Writes inversion.csv, whose columns scenarios take as drives, and inversion.svg.";

/// After the options of `reduce schema`.
pub const SCHEMA: &str = "\
Examples:
  beside a file from `reduce new`, whose first line names it:
    reduce schema mechanism > mechanism.schema.json
  scenarios and models:
    reduce schema scenario > scenario.schema.json
    reduce schema model > model.schema.json";

/// After the options of `reduce man`.
pub const MAN: &str = "\
Examples:
  one page for each verb:
    reduce man -o man1";

/// After the options of `reduce completions`.
pub const COMPLETIONS: &str = "\
Examples:
  bash, for this user:
    reduce completions bash > ~/.local/share/bash-completion/completions/reduce
  zsh, in a folder of $fpath:
    reduce completions zsh > ~/.zfunc/_reduce
  fish:
    reduce completions fish > ~/.config/fish/completions/reduce.fish
  PowerShell, for this session:
    reduce completions powershell | Out-String | Invoke-Expression";

#[cfg(test)]
mod tests {
    use crate::args::Args;
    use clap::{CommandFactory, Parser};

    /// Commands of a help text, without what the shell does with their output.
    fn commands(text: &str) -> Vec<Vec<&str>> {
        text.lines()
            .filter_map(|line| {
                line.strip_prefix("    ")
                    .filter(|l| l.starts_with("reduce "))
            })
            .map(|line| line.split(['|', '>']).next().unwrap_or(line))
            .map(|line| line.split_whitespace().collect())
            .collect()
    }

    #[test]
    fn every_verb_teaches_with_examples_that_parse() {
        let command = Args::command();
        let verbs = command.get_subcommands();
        for verb in std::iter::once(&command).chain(verbs) {
            let name = verb.get_name();
            if name == "help" {
                continue;
            }
            let text = verb.get_after_help().map(ToString::to_string);
            let text = text.unwrap_or_else(|| panic!("`{name}` has no examples"));
            assert!(
                text.lines().all(|line| line.chars().count() <= 104),
                "{name}"
            );
            let found = commands(&text);
            assert!(!found.is_empty(), "{name}");
            for words in found {
                let parsed = Args::try_parse_from(&words);
                assert!(parsed.is_ok(), "{words:?}: {}", parsed.unwrap_err());
            }
        }
    }
}
