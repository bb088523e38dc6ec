//! `reduce invert`: forces under which outputs of the flexible mechanism follow their paths.

use super::{Outcome, simulate};
use crate::args::InvertArgs;
use crate::diagnostics::{self, CommandError, Failure};
use crate::progress::Progress;
use exporters::Guard;
use exporters::plot::{Axis, Chart, Curve, Panel, Stroke};
use reducer::approximation::Observer;
use reducer::dynamics::inversion::{Ends, Feedforward, Inversion, Truncation, invert};
use reducer::dynamics::linear::Root;
use reducer::dynamics::scenario::Scenario;
use reducer::reduced_model::{Evaluator, ReducedModel};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const TABLE: &str = "inversion.csv";
const CHART: &str = "inversion.svg";
/// Largest error of steps in time, in parts of the largest change of force, that is no shortfall.
const ACCURATE: f64 = 1e-3;

/// Runs the command.
pub fn run(args: &InvertArgs) -> Result<Outcome, Failure> {
    let scenario = simulate::load(&args.scenario)?;
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}-inversion", scenario.name)),
    };
    let guard = simulate::guard(&args.scenario, &scenario, args.force);
    allow(&folder, &guard)?;
    super::use_threads(args.jobs)?;
    let progress = Progress::new();
    let inverted = solve(&scenario, Some(&folder.join(".samples")), &progress)?;
    drop(progress);
    write(&folder, &scenario, &inverted, &guard)?;
    let text = if args.json {
        format!("{}\n", inverted.as_json(&scenario))
    } else {
        as_text(&scenario, &inverted, &folder)
    };
    diagnostics::print(&text)?;
    Ok(if inverted.found.error <= ACCURATE {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

/// Refuses files that the results would replace, before the work that they are to hold.
pub fn allow(folder: &Path, guard: &Guard) -> Result<(), Failure> {
    let mut names = [TABLE, CHART].iter();
    names.try_for_each(|name| super::allow(guard, &folder.join(name)))
}

/// A path inverted, and the model with which it was.
pub struct Inverted {
    /// The reduced model.
    pub model: ReducedModel,
    /// Motions and forces.
    pub found: Inversion,
}

/// Inverts the path of a scenario. A mechanism that must be reduced for it stores its samples in the folder given.
pub fn solve(
    scenario: &Scenario,
    samples: Option<&Path>,
    observer: &dyn Observer,
) -> Result<Inverted, Failure> {
    let source = super::source_of(&scenario.mechanism)?;
    let (model, _) = simulate::reduced_model(scenario, &source, samples, observer)?;
    super::same_coordinates(&model, &source)?;
    let evaluator = Evaluator::new(&model).map_err(|e| Failure::one(CommandError::from(e)))?;
    observer.phase("inverting");
    let found = invert(&evaluator, &scenario.tracked, &scenario.inversion).map_err(Failure::one)?;
    Ok(Inverted { model, found })
}

/// Writes the table and its chart.
pub fn write(
    folder: &Path,
    scenario: &Scenario,
    inverted: &Inverted,
    guard: &Guard,
) -> Result<(), Failure> {
    let Inverted { model, found } = inverted;
    let table = found.to_csv(model, &scenario.tracked);
    let files = [
        (TABLE.to_owned(), table.into_bytes()),
        (CHART.to_owned(), chart(scenario, model, found).into_bytes()),
    ];
    exporters::write_set(folder, &files, guard).map_err(|e| Failure::one(CommandError::from(e)))
}

fn names(model: &ReducedModel) -> impl Iterator<Item = &str> {
    let layout = &model.layout;
    let rigid = layout.coordinates[..layout.n_rigid].iter();
    rigid.map(|c| c.name.as_str())
}

/// Largest force of each coordinate.
fn peaks(feedforward: &Feedforward, coordinate: usize) -> f64 {
    let forces = feedforward.force.iter();
    forces.fold(0.0, |most, force| force[coordinate].abs().max(most))
}

impl Inverted {
    /// What was found but for the table.
    pub fn as_json(&self, scenario: &Scenario) -> Value {
        as_json(scenario, &self.model, &self.found)
    }
}

fn as_json(scenario: &Scenario, model: &ReducedModel, found: &Inversion) -> Value {
    let roots = |list: &[Root]| -> Vec<Value> {
        let each = list.iter();
        each.map(|root| json!({ "re": root.at.re, "im": root.at.im }))
            .collect()
    };
    let rests = found.rests.each_ref().map(
        |rest| json!({ "zeros": roots(&rest.zeros), "natural_frequencies": rest.frequencies }),
    );
    let [begin, end] = rests;
    let forces: Vec<Value> = names(model)
        .enumerate()
        .map(|(k, name)| {
            json!({
                "coordinate": name,
                "peak": peaks(&found.exact, k),
                "rigid_peak": peaks(&found.rigid, k),
                "quasi_static_peak": peaks(&found.quasi_static, k),
            })
        })
        .collect();
    json!({
        "name": scenario.name,
        "tracked": scenario.tracked.iter().map(|t| &t.name).collect::<Vec<_>>(),
        "duration": found.times.last(),
        "path": { "begins": found.path[0], "ends": found.path[1] },
        "begin": begin,
        "end": end,
        "truncation": found.truncation.map(|t| json!({
            "kept": t.kept,
            "resolved": t.resolved,
            "acceleration_beyond": t.beyond,
        })),
        "end_conditions": ends_name(found.ends),
        "iterations": found.iterations,
        "instants": found.times.len(),
        "step_error": found.error,
        "deviation_from_rest": found.unrest,
        "forces": forces,
    })
}

fn ends_name(ends: Ends) -> &'static str {
    match ends {
        Ends::Zeros => "zeros",
        Ends::LeastBending => "least_bending",
    }
}

fn as_text(scenario: &Scenario, inverted: &Inverted, folder: &Path) -> String {
    let Inverted { model, found } = inverted;
    let tracked: Vec<&str> = scenario.tracked.iter().map(|t| t.name.as_str()).collect();
    let whole = found.times.last().copied().unwrap_or(0.0);
    let mut text = format!(
        "{}: {} on the path from t = {:.6} s to {:.6} s; forces from 0 to {whole:.6} s\n",
        scenario.name,
        tracked.join(", "),
        found.path[0],
        found.path[1],
    );
    let places = ["beginning", "end"];
    for (place, rest) in places.iter().zip(&found.rests) {
        let zeros: Vec<String> = rest.zeros.iter().filter_map(zero).collect();
        if !zeros.is_empty() {
            let _ = writeln!(text, "zeros at the {place} [1/s]: {}", zeros.join(", "));
        }
    }
    if let Some(truncation) = &found.truncation {
        text += &statement(truncation, found);
    }
    if found.ends == Ends::LeastBending {
        text += "ends: the motion of least bending\n";
    }
    let _ = writeln!(
        text,
        "\n{:>20}  {:>12}  {:>12}  {:>12}",
        "largest force", "inversion", "quasi-static", "rigid"
    );
    for (k, name) in names(model).enumerate() {
        let sizes = [&found.exact, &found.quasi_static, &found.rigid].map(|f| peaks(f, k));
        let [exact, quasi, rigid] = sizes;
        let _ = writeln!(
            text,
            "{name:>20}  {exact:>12.5}  {quasi:>12.5}  {rigid:>12.5}"
        );
    }
    let [first, last] = found.unrest;
    let [coarse, fine] = found.iterations;
    let _ = writeln!(
        text,
        "\n{} instants, {coarse} + {fine} iterations; error of the steps in time {:.1e} of the forces\n\
         away from rest at the beginning {first:.1e}, at the end {last:.1e} of the largest deflection\n\
         written to {}",
        found.times.len(),
        found.error,
        folder.display()
    );
    text
}

/// One of a pair of conjugates.
fn zero(root: &Root) -> Option<String> {
    let (re, im) = (root.at.re, root.at.im);
    if im == 0.0 {
        Some(format!("{re:.4}"))
    } else {
        (im > 0.0).then(|| format!("{re:.4} ± {im:.4}i"))
    }
}

/// What the truncated zeros allow.
fn statement(truncation: &Truncation, found: &Inversion) -> String {
    let zeros = found.rests.iter().flat_map(|rest| &rest.zeros);
    let beyond = zeros.filter(|root| root.at.norm() > truncation.resolved);
    let mut text = format!(
        "the model keeps natural frequencies up to {:.3} rad/s: zeros up to {:.3} rad/s are the mechanism's within about 1 %",
        truncation.kept, truncation.resolved
    );
    if beyond.count() > 0 {
        text +=
            ",\nhigher ones belong to the truncation and are right for slow parts of the path only";
    }
    let _ = writeln!(
        text,
        ";\n{:.2} % of the wanted accelerations (rms) are above",
        100.0 * truncation.beyond
    );
    text
}

/// Forces of each coordinate, and the modes.
fn chart(scenario: &Scenario, model: &ReducedModel, found: &Inversion) -> String {
    let curve = |label: &str, lists: &[Vec<f64>], k: usize, stroke, colour| Curve {
        label: label.to_owned(),
        points: (found.times.iter().zip(lists))
            .map(|(time, list)| [*time, list[k]])
            .collect(),
        stroke,
        colour,
    };
    let mut panels: Vec<Panel> = Vec::new();
    for (k, name) in names(model).enumerate() {
        let [unit, _] = scenario.coordinates[k].kind.units();
        let curves = vec![
            curve("rigid", &found.rigid.force, k, Stroke::Broad, 2),
            curve(
                "quasi-static",
                &found.quasi_static.force,
                k,
                Stroke::Dashed,
                1,
            ),
            curve("inversion", &found.exact.force, k, Stroke::Solid, 0),
        ];
        panels.push(panel(&format!("force.{name}"), unit, curves));
    }
    let layout = &model.layout;
    let modal = layout.coordinates[layout.n_rigid..].iter().enumerate();
    let modes: Vec<Curve> = modal
        .map(|(k, c)| curve(&c.name, &found.modal, k, Stroke::Solid, k))
        .collect();
    if !modes.is_empty() {
        panels.push(panel("modal coordinates", "1", modes));
    }
    Chart {
        title: scenario.name.clone(),
        description: "Forces that keep the outputs on their paths".to_owned(),
        panels,
    }
    .to_svg()
}

fn panel(title: &str, unit: &str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        horizontal: Axis {
            label: "time [s]".to_owned(),
            ..Axis::default()
        },
        vertical: Axis {
            label: format!("[{unit}]"),
            ..Axis::default()
        },
        curves,
        ..Panel::default()
    }
}
