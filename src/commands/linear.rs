//! `reduce linear`: poles, zeros and frequency responses of a reduced model, its loops open or closed.

mod full;
mod grid;
mod trajectory;

use self::grid::{Grid, Point};
use super::{Outcome, simulate};
use crate::args::LinearArgs;
use crate::diagnostics::{self, CommandError, Failure};
use exporters::plot::{Axis, Chart, Curve, Panel, Stroke};
use exporters::results;
use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::closest;
use reducer::dynamics::drives::{Actuator, Drives};
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::full::{Initial, Start};
use reducer::dynamics::linear::{LinearSystem, Root};
use reducer::dynamics::reduced::{ReducedSettings, SampledLoop, linearise, linearise_sampled};
use reducer::dynamics::scenario;
use reducer::dynamics::signal::Signal;
use reducer::pipeline;
use reducer::reduced_model::{Evaluator, ReducedModel};
use serde_json::{Value, json};
use std::f64::consts::PI;
use std::fmt::Write;
use std::path::PathBuf;

const DOCUMENT: &str = "linear.json";
const MAT: &str = "linear.mat";
const HDF5: &str = "linear.h5";
const POLES: &str = "poles.svg";
const BODE: &str = "bode.svg";

/// What is linearised.
struct Subject {
    name: String,
    model: ReducedModel,
    drives: Drives,
    initial: Initial,
    settings: ReducedSettings,
    read: Vec<PathBuf>,
    /// The full model, where the source is a scenario.
    machine: Option<full::Machine>,
}

/// What was found.
struct Analysis {
    system: LinearSystem,
    poles: Vec<Root>,
    /// The loop that sampled blocks close.
    sampled: Option<SampledLoop>,
    /// Input, output, zeros and response at frequencies, where they were asked for.
    way: Option<Way>,
    /// Factor of a block's outputs, and the poles there.
    locus: Vec<(f64, Vec<Root>)>,
    /// States, inputs and outputs at rest, of a model by itself.
    here: Point,
    /// Over the domain, where it was asked for.
    grid: Option<Grid>,
}

struct Way {
    input: String,
    output: String,
    zeros: Option<Vec<Root>>,
    /// Frequency (Hz), real and imaginary part.
    response: Vec<[f64; 3]>,
    /// The same of the full model, and how far they are apart.
    full: Option<full::Check>,
}

/// Runs the command.
pub fn run(args: &LinearArgs) -> Result<Outcome, Failure> {
    if let Some(path) = &args.trajectory {
        return trajectory::run(args, path);
    }
    let mut subject = subject(args)?;
    if let Some(at) = &args.at {
        let expected = subject.model.layout.n_rigid;
        if at.0.len() != expected {
            return Err(Failure::one(CommandError::WrongCount {
                option: "at",
                found: at.0.len(),
                rigid: expected,
                all: expected,
            }));
        }
        subject.initial.theta.clone_from(&at.0);
    }
    let read: Vec<_> = subject.read.iter().map(PathBuf::as_path).collect();
    let guard = super::guard(&read, None, args.force);
    if let Some(folder) = &args.output {
        for name in [DOCUMENT, MAT, HDF5, POLES, BODE] {
            super::allow(&guard, &folder.join(name))?;
        }
    }
    let analysis = analyse(args, &subject)?;
    let document = as_json(&subject, &analysis);
    if let Some(folder) = &args.output {
        let mut files = vec![
            (DOCUMENT.to_owned(), format!("{document}\n").into_bytes()),
            (
                POLES.to_owned(),
                pole_map(&subject.name, &analysis, args.reach).into_bytes(),
            ),
        ];
        let (points, counts) = match &analysis.grid {
            Some(grid) => (&grid.points[..], &grid.counts[..]),
            None => (std::slice::from_ref(&analysis.here), &[][..]),
        };
        if let Some(entries) = grid::entries(&subject, points, counts) {
            let hdf5 = results::to_hdf5("linear", &entries);
            let hdf5 = hdf5.map_err(|e| Failure::one(CommandError::from(e)))?;
            files.push((MAT.to_owned(), results::to_mat("linear", &entries)));
            files.push((HDF5.to_owned(), hdf5));
        }
        if let Some(way) = &analysis.way {
            files.push((BODE.to_owned(), bode(&subject.name, way).into_bytes()));
        }
        exporters::write_set(folder, &files, &guard)
            .map_err(|e| Failure::one(CommandError::from(e)))?;
    }
    let text = if args.json {
        format!("{document}\n")
    } else {
        as_text(&subject, &analysis)
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}

fn analyse(args: &LinearArgs, subject: &Subject) -> Result<Analysis, Failure> {
    let evaluator =
        Evaluator::new(&subject.model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let linear = |drives: &Drives| {
        linearise(&evaluator, drives, &subject.initial, &subject.settings)
            .map_err(|e| Failure::one(CommandError::from(e)))
    };
    let (system, sampled) = linearise_sampled(
        &evaluator,
        &subject.drives,
        &subject.initial,
        &subject.settings,
    )
    .map_err(|e| Failure::one(CommandError::from(e)))?;
    let mut locus = Vec::new();
    if let Some(block) = &args.locus {
        let names = block_names(&subject.drives);
        if !names.contains(block) {
            return Err(unknown("locus", block, &names));
        }
        for factor in args.factors() {
            let scaled = subject.drives.scaled(block, factor);
            locus.push((factor, linear(&scaled)?.poles()));
        }
    }
    let here = Point::new(subject.initial.theta.clone(), system.clone(), &evaluator);
    let grid = args
        .grid
        .map(|count| grid::grid(subject, &evaluator, count));
    Ok(Analysis {
        here,
        grid: grid.transpose()?,
        way: way(args, subject, &system)?,
        sampled,
        poles: system.poles(),
        system,
        locus,
    })
}

fn block_names(drives: &Drives) -> Vec<String> {
    let diagram = drives.control().map(|(diagram, _)| diagram);
    let blocks = diagram.into_iter().flat_map(|d| d.blocks.iter());
    blocks.map(|b| b.name.clone()).collect()
}

fn unknown(option: &'static str, name: &str, known: &[String]) -> Failure {
    Failure::one(CommandError::UnknownSignal {
        option,
        name: name.to_owned(),
        suggestion: closest(name, known.iter().map(String::as_str)),
        known: known.to_vec(),
    })
}

/// From an input to an output, where both are named.
fn way(
    args: &LinearArgs,
    subject: &Subject,
    system: &LinearSystem,
) -> Result<Option<Way>, Failure> {
    let (Some(input), Some(output)) = (&args.input, &args.to) else {
        return Ok(None);
    };
    let find = |option, name: &String, known: &[String]| {
        let place = known.iter().position(|k| k == name);
        place.ok_or_else(|| unknown(option, name, known))
    };
    let j = find("from", input, &system.inputs)?;
    let i = find("to", output, &system.outputs)?;
    let response = args.frequencies().into_iter().filter_map(|f| {
        let value = system.response(f)?[(i, j)];
        Some([f, value.re, value.im])
    });
    let response: Vec<[f64; 3]> = response.collect();
    let full = if args.full {
        Some(full::check(subject, &response, [i, j])?)
    } else {
        None
    };
    Ok(Some(Way {
        input: input.clone(),
        output: output.clone(),
        zeros: system.zeros(&[j], &[i]),
        response,
        full,
    }))
}

/// A scenario, or a model without anything that drives it.
fn subject(args: &LinearArgs) -> Result<Subject, Failure> {
    let path = &args.source;
    let is_model = path.extension().is_some_and(|e| e == "json" || e == "h5");
    if is_model {
        let model = super::read_model(path)?;
        let s = model.layout.n_rigid;
        if args.at.is_none() && args.grid.is_none() {
            return Err(Failure::one(CommandError::NoConfiguration));
        }
        let domain = &model.layout.domain;
        let ends = domain.lower.iter().zip(&domain.upper);
        let middle = ends.map(|(l, u)| 0.5 * (l + u)).collect();
        let free = vec![Actuator::Force(Signal::Constant(0.0)); s];
        let drives = Drives::new(free, Vec::new(), 1.0);
        // Constant forces move nothing that could jump.
        let drives = drives.map_err(|_| Failure::one(CommandError::NoConfiguration))?;
        return Ok(Subject {
            name: model.layout.name.clone(),
            initial: Initial {
                theta: middle,
                rate: vec![0.0; s],
                start: Start::Equilibrium,
            },
            settings: ReducedSettings::new(1.0, 1e-6),
            model,
            drives,
            read: vec![path.clone()],
            machine: None,
        });
    }
    let scenario =
        scenario::load(path).map_err(|faults| Failure::new(faults.faults, faults.sources))?;
    let source = super::source_of(&scenario.mechanism)?;
    let model = match &scenario.model {
        Some(model) => {
            let path = model.clone();
            let model = super::read_model(&path)?;
            simulate::same_machine(&scenario, &source, &model, &path)?;
            model
        }
        None => {
            let mut database = SampleDatabase::in_memory();
            let settings = &scenario.mechanism.approximation;
            let (model, _) = pipeline::reduce(&source, settings, &Silent, &mut database)
                .map_err(|e| Failure::one(CommandError::from(e)))?;
            model
        }
    };
    super::same_coordinates(&model, &source)?;
    let drives = scenario.drives.calling(&model);
    let drives = drives.map_err(|e| Failure::one(CommandError::from(e)))?;
    let mut settings = ReducedSettings::new(scenario.duration, 1e-6);
    settings.gravity = scenario.mechanism.gravity;
    settings.path = source.path().cloned();
    let sources = scenario.sources.iter();
    let mut read: Vec<PathBuf> = sources.map(|s| PathBuf::from(&s.path)).collect();
    read.extend(scenario.model.clone());
    Ok(Subject {
        name: scenario.name,
        drives: if args.open { drives.opened() } else { drives },
        initial: Initial {
            rate: vec![0.0; scenario.initial.rate.len()],
            start: Start::Equilibrium,
            ..scenario.initial
        },
        model,
        settings,
        read,
        machine: Some(full::Machine {
            source,
            mechanism: scenario.mechanism,
            settings: scenario.full,
        }),
    })
}

fn sampled(drives: &Drives) -> Vec<String> {
    let diagram = drives.control().map(|(diagram, _)| diagram);
    let blocks = diagram.into_iter().flat_map(|d| d.blocks.iter());
    let own = blocks.filter(|b| b.sampled.is_some());
    own.map(|b| b.name.clone()).collect()
}

fn root(root: &Root) -> Value {
    json!({
        "re": root.at.re,
        "im": root.at.im,
        "frequency_hz": root.frequency_hz(),
        "damping": root.damping(),
    })
}

/// A, B, C and D by rows.
fn matrices(system: &LinearSystem) -> [Vec<Vec<f64>>; 4] {
    [&system.a, &system.b, &system.c, &system.d].map(|m| {
        let rows = m.row_iter().map(|row| row.iter().copied().collect());
        rows.collect()
    })
}

fn as_json(subject: &Subject, analysis: &Analysis) -> Value {
    let system = &analysis.system;
    let [a, b, c, d] = matrices(system);
    let roots = |list: &[Root]| -> Vec<Value> { list.iter().map(root).collect() };
    let mut document = json!({
        "name": subject.name,
        "theta": subject.initial.theta,
        "states": system.states,
        "inputs": system.inputs,
        "outputs": system.outputs,
        "a": a,
        "b": b,
        "c": c,
        "d": d,
        "poles": roots(&analysis.poles),
        "sampled_blocks_held": sampled(&subject.drives),
    });
    if let Some(found) = &analysis.sampled {
        document["sampled_loop"] = sampled_json(found);
    }
    if let Some(way) = &analysis.way {
        let column = |k: usize| way.response.iter().map(|r| r[k]).collect::<Vec<f64>>();
        document["zeros"] = json!(way.zeros.as_deref().map(roots));
        document["response"] = json!({
            "input": way.input,
            "output": way.output,
            "frequency_hz": column(0),
            "re": column(1),
            "im": column(2),
        });
        if let Some(check) = &way.full {
            document["response"]["full"] = check.as_json();
        }
    }
    if !analysis.locus.is_empty() {
        let points = analysis.locus.iter();
        let points =
            points.map(|(factor, poles)| json!({ "factor": factor, "poles": roots(poles) }));
        document["locus"] = points.collect();
    }
    if let Some(grid) = &analysis.grid {
        document["grid"] = grid::as_json(grid);
    }
    document
}

/// Multipliers over the period, with their poles where they are not zero.
fn sampled_json(found: &SampledLoop) -> Value {
    let all = found.multipliers();
    let z = all.iter().map(|z| json!([z.re, z.im]));
    let poles: Vec<Value> = found.poles().iter().map(root).collect();
    json!({ "period": found.period, "z": z.collect::<Vec<Value>>(), "poles": poles })
}

fn as_text(subject: &Subject, analysis: &Analysis) -> String {
    let mut text = format!("{} at θ = {:?}\n", subject.name, subject.initial.theta);
    let held = sampled(&subject.drives);
    if !held.is_empty() {
        let _ = writeln!(
            text,
            "sampled blocks hold their outputs here: {}",
            held.join(", ")
        );
    }
    if let Some(grid) = &analysis.grid {
        let defined = grid.points.iter().filter(|p| p.system.is_some()).count();
        let count = grid.points.len();
        let _ = writeln!(text, "linear models at {defined} of {count} configurations");
    }
    table(&mut text, "pole", &analysis.poles);
    if let Some(found) = &analysis.sampled {
        let _ = writeln!(
            text,
            "\nloop closed by sampled blocks, exact over {} s, ln z over it:",
            found.period
        );
        let slow = found.poles().into_iter();
        // What is gone within a period is of no interest.
        let slow: Vec<Root> = slow.filter(|p| p.at.re * found.period > -7.0).collect();
        table(&mut text, "pole", &slow);
    }
    if let Some(way) = &analysis.way {
        let _ = writeln!(text, "\nfrom {} to {}", way.input, way.output);
        match &way.zeros {
            Some(zeros) => table(&mut text, "zero", zeros),
            None => text.push_str("no zeros: nothing reaches the output\n"),
        }
        if let Some(check) = &way.full {
            text.push_str(&check.as_text());
        }
    }
    text
}

fn table(text: &mut String, what: &str, roots: &[Root]) {
    let _ = writeln!(
        text,
        "{:>32}  {:>12}  {:>9}",
        format!("{what} [1/s]"),
        "[Hz]",
        "damping"
    );
    // Of a pair of conjugates one is enough.
    for root in roots.iter().filter(|r| r.at.im >= 0.0) {
        let place = if root.at.im == 0.0 {
            format!("{:.6}", root.at.re)
        } else {
            format!("{:.6} ± {:.6}i", root.at.re, root.at.im)
        };
        let (frequency, damping) = (root.frequency_hz(), root.damping());
        let _ = writeln!(text, "{place:>32}  {frequency:>12.6}  {damping:>9.5}");
    }
}

/// Poles up to a frequency, those of the locus and the zeros with them.
fn pole_map(name: &str, analysis: &Analysis, reach: Option<f64>) -> String {
    let limit = reach.map_or(f64::INFINITY, |hz| 2.0 * PI * hz);
    let marks = |label: &str, roots: &mut dyn Iterator<Item = &Root>, stroke, colour| {
        let near = roots.filter(|root| root.at.norm() <= limit);
        Curve {
            label: label.to_owned(),
            points: near.map(|root| [root.at.re, root.at.im]).collect(),
            stroke,
            colour,
        }
    };
    let mut curves = Vec::new();
    if !analysis.locus.is_empty() {
        let mut all = analysis.locus.iter().flat_map(|(_, poles)| poles);
        curves.push(marks("root locus", &mut all, Stroke::Dots, 5));
    }
    curves.push(marks(
        "poles",
        &mut analysis.poles.iter(),
        Stroke::Crosses,
        0,
    ));
    let zeros = analysis.way.as_ref().and_then(|way| way.zeros.as_ref());
    if let Some(zeros) = zeros {
        curves.push(marks("zeros", &mut zeros.iter(), Stroke::Circles, 1));
    }
    Chart {
        title: name.to_owned(),
        description: "Poles in the complex plane".to_owned(),
        panels: vec![panel(
            "",
            ["real part [1/s]", "imaginary part [1/s]"],
            [false; 2],
            curves,
        )],
    }
    .to_svg()
}

fn panel(title: &str, labels: [&str; 2], logarithmic: [bool; 2], curves: Vec<Curve>) -> Panel {
    let axis = |k: usize| Axis {
        label: labels[k].to_owned(),
        logarithmic: logarithmic[k],
    };
    Panel {
        title: title.to_owned(),
        horizontal: axis(0),
        vertical: axis(1),
        curves,
        ..Panel::default()
    }
}

fn bode(name: &str, way: &Way) -> String {
    let reduced = (format!("{} to {}", way.input, way.output), &way.response);
    let full = way.full.as_ref();
    let full = full.map(|check| ("full model".to_owned(), &check.response));
    let (mut sizes, mut phases) = (Vec::new(), Vec::new());
    for (k, (label, response)) in [Some(reduced), full].into_iter().flatten().enumerate() {
        let curve = |points| Curve {
            label: label.clone(),
            points,
            stroke: if k == 0 {
                Stroke::Solid
            } else {
                Stroke::Dashed
            },
            colour: k,
        };
        let size = response.iter().map(|[f, re, im]| [*f, re.hypot(*im)]);
        sizes.push(curve(size.filter(|p| p[1] > 0.0).collect()));
        phases.push(curve(phase(response)));
    }
    Chart {
        title: name.to_owned(),
        description: format!("Frequency response from {} to {}", way.input, way.output),
        panels: vec![
            panel("size", ["frequency [Hz]", "size"], [true, true], sizes),
            panel(
                "phase",
                ["frequency [Hz]", "phase [deg]"],
                [true, false],
                phases,
            ),
        ],
    }
    .to_svg()
}

/// Angles in degrees, without jumps of a whole turn.
fn phase(response: &[[f64; 3]]) -> Vec<[f64; 2]> {
    let mut phase: Vec<[f64; 2]> = Vec::new();
    for [f, re, im] in response {
        let mut angle = im.atan2(*re).to_degrees();
        if let Some(last) = phase.last() {
            angle += 360.0 * ((last[1] - angle) * PI / 180.0 / (2.0 * PI)).round();
        }
        phase.push([*f, angle]);
    }
    phase
}
