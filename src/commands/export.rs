//! `reduce export`: a model in another format.

use super::Outcome;
use crate::args::{ExportArgs, FmiName, FormatName, InterfaceName};
use crate::diagnostics::{CommandError, Failure};
use crate::talk;
use exporters::code::single_errors;
use exporters::fmu::{Fmi, FmuOptions, Interface};
use exporters::{ExportOptions, Format, Guard, WriteError};
use reducer::reduced_model::{ObserverPlan, ReducedModel};
use std::path::Path;

/// Error of a function in single precision, relative to its largest value, that is worth a warning.
const NOTABLE: f64 = 1e-3;

/// What a caller computes with; errors of the blocks are inside these.
const FUNCTIONS: [&str; 3] = ["inverse_dynamics", "forward_dynamics", "outputs"];

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    let guard = super::guard(&[&args.model], None, args.force);
    for warning in write(&model, args, &guard)? {
        talk::warn(&warning);
    }
    super::tell_written(&model, &args.output, args.json)
}

/// Writes a model as the options say, wherever it comes from; returns what is to be warned of.
pub fn write(
    model: &ReducedModel,
    args: &ExportArgs,
    guard: &Guard,
) -> Result<Vec<String>, Failure> {
    let format = match args.format {
        FormatName::Json => Format::Json,
        FormatName::Hdf5 => Format::Hdf5,
        FormatName::Mat => Format::Mat,
        FormatName::C => Format::C,
        FormatName::Rust => Format::Rust,
        FormatName::Casadi => Format::Casadi,
        FormatName::Fmu => Format::Fmu,
    };
    refuse_fmu_options(args, format)?;
    let options = ExportOptions {
        single: args.single,
        prefix: args.prefix.clone(),
    };
    let observer = match &args.observer {
        Some(path) => Some(observer(model, path)?),
        None => None,
    };
    let written = match format {
        _ if observer.is_some() => write_observer(model, args, format, &options, observer, guard),
        Format::Fmu => export_fmu(model, args, &options, guard),
        _ => exporters::export(model, format, &args.output, &options, guard).map(|()| None),
    };
    let mut warnings: Vec<String> = Vec::new();
    warnings.extend(written.map_err(|e| Failure::one(CommandError::from(e)))?);
    if args.single {
        let errors = single_errors(model).map_err(|e| Failure::one(CommandError::from(e)))?;
        warnings.extend(rounding(&errors));
    }
    Ok(warnings)
}

/// The observer of a scenario, for a model.
fn observer(model: &ReducedModel, path: &Path) -> Result<ObserverPlan, Failure> {
    let scenario = super::simulate::load(path)?;
    let Some(law) = scenario.observer() else {
        let path = path.to_owned();
        return Err(Failure::one(CommandError::NoObserver { path }));
    };
    let refused = |e| Failure::new(vec![e], scenario.sources.clone());
    let evaluator = law.settings.evaluator(model).map_err(refused)?;
    law.settings.plan(&evaluator).map_err(refused)
}

fn write_observer(
    model: &ReducedModel,
    args: &ExportArgs,
    format: Format,
    options: &ExportOptions,
    observer: Option<ObserverPlan>,
    guard: &Guard,
) -> Result<Option<String>, WriteError> {
    if let Some(observer) = observer {
        let path = &args.output;
        exporters::export_with_observer(model, format, path, options, &observer, guard)?;
    }
    Ok(None)
}

/// Only FMUs have a version of FMI and an interface.
fn refuse_fmu_options(args: &ExportArgs, format: Format) -> Result<(), Failure> {
    let option = match (args.fmi, args.interface) {
        (Some(_), _) => "--fmi",
        (_, Some(_)) => "--interface",
        (None, None) => return Ok(()),
    };
    match format {
        Format::Fmu => Ok(()),
        _ => Err(Failure::one(CommandError::NotFmu { option })),
    }
}

/// Writes an FMU; says so where it has no binary.
fn export_fmu(
    model: &ReducedModel,
    args: &ExportArgs,
    options: &ExportOptions,
    guard: &Guard,
) -> Result<Option<String>, WriteError> {
    let fmu = FmuOptions {
        fmi: match args.fmi.unwrap_or_default() {
            FmiName::Two => Fmi::Two,
            FmiName::Three => Fmi::Three,
        },
        interface: match args.interface.unwrap_or_default() {
            InterfaceName::Forces => Interface::Forces,
            InterfaceName::Motion => Interface::Motion,
        },
    };
    let without_binary = exporters::write_fmu(model, fmu, &args.output, options, guard)?;
    Ok(without_binary.map(|reason| {
        format!(
            "the FMU holds sources and no binary: {reason}; install a C compiler as `cc` and export again, or let the importing tool compile it"
        )
    }))
}

/// What is to be said of errors of functions; nothing where all keep their digits.
fn rounding(errors: &[(&str, f64)]) -> Option<String> {
    let notable: Vec<String> = errors
        .iter()
        .filter(|(block, error)| FUNCTIONS.contains(block) && *error > NOTABLE)
        .map(|(block, error)| format!("{block} by {error:.1e}"))
        .collect();
    (!notable.is_empty()).then(|| {
        format!(
            "rounding to single precision changes {} of the largest value; do not use that, or export without --single",
            notable.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_lose_their_digits_are_named_with_the_loss() {
        let errors = [
            ("mass", 0.5),
            ("inverse_dynamics", 1e-7),
            ("forward_dynamics", 0.36),
        ];
        let text = rounding(&errors).expect("a warning");
        assert!(
            text.contains("changes forward_dynamics by 3.6e-1 of"),
            "{text}"
        );
        assert_eq!(rounding(&errors[..2]), None);
    }
}
