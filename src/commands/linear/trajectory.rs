//! Small motions about a large one: matrices along it, and how they move beside the reduced and the full model.

use crate::args::LinearArgs;
use crate::commands::simulate::{self, Host, Run, Watch, chart};
use crate::commands::{Outcome, source_of, tables};
use crate::diagnostics::{self, CommandError, Failure};
use exporters::plot::Stroke;
use exporters::results::{self, Content, Entry};
use reducer::approximation::{Observer, Silent};
use reducer::dynamics::along::AlongPath;
use reducer::dynamics::comparison::{Difference, compare};
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::full::{FullError, FullReport};
use reducer::dynamics::record::Record;
use reducer::dynamics::reduced::{
    AlongMotion, Perturbation, PerturbationSettings, Perturbations, ReducedError, ReducedReport,
    ReducedSettings, Stiffness, simulate_perturbed,
};
use reducer::dynamics::scenario::Scenario;
use reducer::error::Explain;
use reducer::reduced_model::{Evaluator, ReducedModel, readable};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

const DOCUMENT: &str = "trajectory.json";
const MAT: &str = "trajectory.mat";
const HDF5: &str = "trajectory.h5";
const NOMINAL: &str = "nominal.csv";
const SMALL: &str = "small_motions.csv";
const REDUCED: &str = "reduced.csv";
const FULL: &str = "full.csv";
const CHART: &str = "trajectory.svg";

/// Nobody looks on.
struct Nobody;

impl Observer for Nobody {}

impl Watch for Nobody {
    fn begin(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn simulating(&self, _: f64, _: f64) {}

    fn ends(&self) -> bool {
        false
    }
}

/// What was found.
struct Found {
    name: String,
    /// Names of all coordinates, those of θ first.
    coordinates: Vec<String>,
    instants: Vec<(f64, Perturbation)>,
    small: Run<ReducedReport, ReducedError>,
    reduced: Run<ReducedReport, ReducedError>,
    full: Option<Run<FullReport, FullError>>,
}

/// Runs `reduce linear --trajectory`.
pub(super) fn run(args: &LinearArgs, path: &Path) -> Result<Outcome, Failure> {
    let trajectory = simulate::load(path)?;
    let is_model = (args.source.extension()).is_some_and(|e| e == "json" || e == "h5");
    let mut scenario = if is_model {
        let mut scenario = trajectory.clone();
        scenario.model = Some(args.source.clone());
        scenario
    } else {
        simulate::load(&args.source)?
    };
    let sources = scenario.sources.iter().chain(&trajectory.sources);
    let mut read: Vec<PathBuf> = sources.map(|s| PathBuf::from(&s.path)).collect();
    read.extend(scenario.model.clone());
    let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    let guard = crate::commands::guard(&read, Some(&scenario.mechanism), args.force);
    if let Some(folder) = &args.output {
        for name in [DOCUMENT, MAT, HDF5, NOMINAL, SMALL, REDUCED, FULL, CHART] {
            crate::commands::allow(&guard, &folder.join(name))?;
        }
    }
    let _host = Host::serve(&mut scenario)?;
    let found = find(args, &scenario, &trajectory)?;
    let document = found.as_json();
    if let Some(folder) = &args.output {
        let hdf5 = results::to_hdf5("trajectory", &found.entries());
        let hdf5 = hdf5.map_err(|e| Failure::one(CommandError::from(e)))?;
        let files = found.files(&document, hdf5);
        exporters::write_set(folder, &files, &guard)
            .map_err(|e| Failure::one(CommandError::from(e)))?;
    }
    let text = if args.json {
        format!("{document}\n")
    } else {
        found.as_text()
    };
    diagnostics::print(&text)?;
    Ok(if found.is_complete() {
        Outcome::Done
    } else {
        Outcome::FellShort
    })
}

fn find(args: &LinearArgs, scenario: &Scenario, trajectory: &Scenario) -> Result<Found, Failure> {
    let source = source_of(&scenario.mechanism)?;
    let (model, _) = simulate::reduced_model(scenario, &source, None, &Silent)?;
    crate::commands::same_coordinates(&model, &source)?;
    let scenario = &scenario
        .calling(&model)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    crate::commands::same_coordinates(&model, &source_of(&trajectory.mechanism)?)?;
    let evaluator = Evaluator::new(&model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let stiffness = if args.stiffness_at_rest {
        Stiffness::AtRest
    } else {
        Stiffness::InMotion
    };
    let refused = |e: ReducedError| Failure::one(CommandError::from(e));
    let along = AlongMotion::new(&evaluator, &trajectory.drives, stiffness).map_err(refused)?;
    let count = args.instants.clamp(2, 100_000);
    let instants = (0..count)
        .map(|k| {
            let time = scenario.duration * k as f64 / (count - 1) as f64;
            along.at(time).map(|found| (time, found))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(refused)?;
    let settings = ReducedSettings {
        path: source.path().cloned(),
        ..scenario.reduced.clone()
    };
    let path = source.path().map(|p| AlongPath::new(p, &scenario.drives));
    let full = args
        .full
        .then(|| simulate::run_full(scenario, &source, path.as_ref(), &Nobody));
    let options = PerturbationSettings {
        modes: args.modes,
        mode_acceleration: args.mode_acceleration,
    };
    let breaks = trajectory.drives.breaks();
    let small = small_motions(scenario, &settings, &model, (&along, breaks), &options);
    let reduced = simulate::run_reduced(scenario, &settings, &model, None, &Nobody)?;
    Ok(Found {
        name: scenario.name.clone(),
        coordinates: names(&model),
        instants,
        small,
        reduced,
        full,
    })
}

fn names(model: &ReducedModel) -> Vec<String> {
    let coordinates = model.layout.coordinates.iter();
    coordinates.map(|c| c.name.clone()).collect()
}

fn small_motions(
    scenario: &Scenario,
    settings: &ReducedSettings,
    model: &ReducedModel,
    about: (&dyn Perturbations, &[f64]),
    options: &PerturbationSettings,
) -> Run<ReducedReport, ReducedError> {
    let mut record = Record::reduced(scenario, &names(model)[model.layout.n_rigid..]);
    let start = Instant::now();
    let result = Evaluator::new(model)
        .map_err(|_| ReducedError::NoModes { time: 0.0 })
        .and_then(|evaluator| {
            simulate_perturbed(
                &evaluator,
                &scenario.drives,
                about,
                &scenario.initial,
                settings,
                options,
                &mut |instant| {
                    record.add_reduced(instant);
                    ControlFlow::Continue(())
                },
            )
        });
    Run {
        record,
        result,
        seconds: start.elapsed().as_secs_f64(),
    }
}

impl Found {
    fn is_complete(&self) -> bool {
        self.small.result.is_ok()
            && self.reduced.result.is_ok()
            && self.full.as_ref().is_none_or(|run| run.result.is_ok())
    }

    /// Names of what small motions are compared with, and by how much they differ.
    fn comparisons(&self) -> Vec<(&'static str, Vec<Difference>)> {
        let own = &self.small.record;
        let mut all = vec![("reduced", compare(&self.reduced.record, own))];
        if let Some(full) = &self.full {
            all.push(("full", compare(&full.record, own)));
        }
        all
    }

    fn as_json(&self) -> Value {
        let instants = self.instants.iter().map(|(time, at)| {
            let [mass, damping, stiffness] = [&at.mass, &at.damping, &at.stiffness].map(|m| {
                let rows = m.row_iter().map(|row| row.iter().copied().collect());
                rows.collect::<Vec<Vec<f64>>>()
            });
            json!({
                "time": time,
                "theta": at.nominal[0],
                "rate": at.nominal[1],
                "acceleration": at.nominal[2],
                "force": at.nominal_force(),
                "excitation": at.excitation(),
                "quasi_static": at.quasi_static(),
                "frequencies_hz": at.frequencies_hz(),
                "mass": mass,
                "damping": damping,
                "stiffness": stiffness,
            })
        });
        let differences = self.comparisons().into_iter().map(|(with, list)| {
            let entries = list.into_iter().map(|d| {
                let entry = json!({ "peak": d.peak, "unit": d.unit, "max": d.max, "rms": d.rms });
                (d.name, entry)
            });
            let entries: serde_json::Map<String, Value> = entries.collect();
            (with.to_owned(), Value::from(entries))
        });
        let ended = |result: Result<(), String>| match result {
            Ok(()) => json!({ "completed": true }),
            Err(message) => json!({ "completed": false, "message": message }),
        };
        let told = |e: &ReducedError| e.to_string();
        json!({
            "name": self.name,
            "coordinates": self.coordinates,
            "instants": instants.collect::<Vec<Value>>(),
            "differences": differences.collect::<serde_json::Map<String, Value>>(),
            "small_motions": ended(self.small.result.as_ref().map(|_| ()).map_err(told)),
            "reduced": ended(self.reduced.result.as_ref().map(|_| ()).map_err(told)),
            "full": self.full.as_ref().map(|run| {
                ended(run.result.as_ref().map(|_| ()).map_err(FullError::to_string))
            }),
        })
    }

    /// Matrices stacked along a third dimension, by time.
    fn entries(&self) -> Vec<Entry> {
        let n = self.coordinates.len();
        let stack = |part: &dyn Fn(&Perturbation) -> Vec<f64>, shape: [usize; 2]| {
            let values = self.instants.iter().flat_map(|(_, at)| part(at));
            Content::Numbers {
                shape: [&shape[..], &[self.instants.len()]].concat(),
                values: values.collect(),
            }
        };
        let square = |part: &dyn Fn(&Perturbation) -> Vec<f64>| stack(part, [n, n]);
        let s = self
            .instants
            .first()
            .map_or(0, |(_, at)| at.nominal[0].len());
        let times = self.instants.iter().map(|(time, _)| *time).collect();
        let force = "of the force on the coordinate";
        let by = |what: &str| format!("{force} over that {what}");
        let nominal = |k: usize| stack(&move |at| at.nominal[k].clone(), [s, 1]);
        let entry = Entry::new;
        let names = Content::Texts(self.coordinates.clone());
        vec![
            entry(
                "name",
                Content::Text(self.name.clone()),
                "",
                "what was linearised",
            ),
            entry("time", Content::column(times), "s", "instants"),
            entry(
                "coordinates",
                names,
                "",
                "all coordinates, those of theta first",
            ),
            entry(
                "mass",
                square(&|at| at.mass.as_slice().to_vec()),
                &by("of its acceleration"),
                "M0",
            ),
            entry(
                "damping",
                square(&|at| at.damping.as_slice().to_vec()),
                &by("of its rate"),
                "C0",
            ),
            entry(
                "stiffness",
                square(&|at| at.stiffness.as_slice().to_vec()),
                &by("of the coordinate"),
                "K0",
            ),
            entry("theta", nominal(0), "of the coordinate", "nominal motion"),
            entry("rate", nominal(1), "of the coordinate per s", "its rate"),
            entry(
                "acceleration",
                nominal(2),
                "of the coordinate per s^2",
                "its acceleration",
            ),
            entry(
                "force",
                stack(&|at| at.nominal_force().to_vec(), [s, 1]),
                force,
                "u0, forces of the rigid motion",
            ),
            entry(
                "excitation",
                stack(&|at| at.excitation(), [n - s, 1]),
                force,
                "sigma0, what excites the modes",
            ),
        ]
    }

    /// The nominal motion with u₀ and σ₀, whose columns scenarios take as tables.
    fn nominal(&self) -> String {
        let s = self
            .instants
            .first()
            .map_or(0, |(_, at)| at.nominal[0].len());
        let (theta, modes) = self.coordinates.split_at(s);
        let mut columns = vec!["time".to_owned()];
        for what in ["coordinate", "rate", "acceleration", "force"] {
            columns.extend(theta.iter().map(|name| format!("{what}.{name}")));
        }
        columns.extend(modes.iter().map(|name| format!("excitation.{name}")));
        let mut text = columns.join(",") + "\n";
        for (time, at) in &self.instants {
            let _ = write!(text, "{time:e}");
            let lists = at.nominal.iter().flatten().chain(at.nominal_force());
            for value in lists.copied().chain(at.excitation()) {
                let _ = write!(text, ",{value:e}");
            }
            text.push('\n');
        }
        text
    }

    fn files(&self, document: &Value, hdf5: Vec<u8>) -> Vec<(String, Vec<u8>)> {
        let mut records = Vec::new();
        if let Some(full) = &self.full {
            records.push((&full.record, "full", Stroke::Broad));
        }
        records.push((&self.reduced.record, "reduced", Stroke::Solid));
        records.push((&self.small.record, "small motions", Stroke::Dashed));
        let drawn = chart::draw_all(&self.name, "Small motions about a nominal motion", &records);
        let mut files = vec![
            (DOCUMENT, format!("{document}\n").into_bytes()),
            (MAT, results::to_mat("trajectory", &self.entries())),
            (HDF5, hdf5),
            (NOMINAL, self.nominal().into_bytes()),
            (SMALL, self.small.record.to_csv().into_bytes()),
            (REDUCED, self.reduced.record.to_csv().into_bytes()),
            (CHART, drawn.into_bytes()),
        ];
        if let Some(full) = &self.full {
            files.push((FULL, full.record.to_csv().into_bytes()));
        }
        let files = files.into_iter();
        files
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .collect()
    }

    fn as_text(&self) -> String {
        let mut out = format!("{}: small motions about a nominal motion\n", self.name);
        let lowest = self
            .instants
            .iter()
            .filter_map(|(_, at)| at.frequencies_hz());
        let lowest: Vec<f64> = lowest.filter_map(|f| f.first().copied()).collect();
        if !lowest.is_empty() {
            let least = lowest.iter().copied().fold(f64::INFINITY, f64::min);
            let most = lowest.iter().copied().fold(0.0, f64::max);
            let _ = writeln!(
                out,
                "lowest frequency with θ on its motion: {} to {} Hz",
                readable(least),
                readable(most)
            );
        }
        let unstable = self.instants.len() - lowest.len();
        if unstable > 0 && self.coordinates.len() > self.instants[0].1.nominal[0].len() {
            let _ = writeln!(
                out,
                "at {unstable} of {} instants the stiffness is not positive",
                self.instants.len()
            );
        }
        for (with, list) in self.comparisons() {
            let _ = writeln!(out, "against the {with} model, of the peak");
            tables::differences(&mut out, &list);
        }
        let failed = [&self.small.result, &self.reduced.result].into_iter();
        for error in failed.filter_map(|result| result.as_ref().err()) {
            let _ = writeln!(out, "{error}");
            if let Some(help) = error.help() {
                let _ = writeln!(out, "  help: {help}");
            }
        }
        if let Some(Err(error)) = self.full.as_ref().map(|run| &run.result) {
            let _ = writeln!(out, "{error}");
        }
        out
    }
}
