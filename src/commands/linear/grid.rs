//! Linear models over the domain of a reduced model, and linear models as `.mat` files.

use super::Subject;
use crate::diagnostics::{CommandError, Failure};
use exporters::mat;
use exporters::results::{Content, Entry};
use reducer::dynamics::full::Initial;
use reducer::dynamics::linear::LinearSystem;
use reducer::dynamics::reduced::linearise;
use reducer::reduced_model::{Evaluator, ModelLayout, Status, Workspace};
use serde_json::json;

/// Configurations of a grid, at most.
const MOST: usize = 10_000;

/// A linear model and the state at rest about which it holds.
pub(super) struct Point {
    pub theta: Vec<f64>,
    /// None where there is no model.
    pub system: Option<LinearSystem>,
    /// States, inputs and outputs at rest, where nothing but constant forces drives the mechanism.
    pub rest: Option<[Vec<f64>; 3]>,
}

/// Linear models at a grid of configurations, the first coordinate fastest.
pub(super) struct Grid {
    pub counts: Vec<usize>,
    pub points: Vec<Point>,
}

impl Point {
    /// A linear model and its state at rest.
    pub fn new(theta: Vec<f64>, system: LinearSystem, evaluator: &Evaluator<'_>) -> Self {
        Self {
            rest: at_rest(evaluator, &theta, &system),
            system: Some(system),
            theta,
        }
    }
}

/// States, inputs and outputs at rest; none where the system has others than the model alone.
fn at_rest(
    evaluator: &Evaluator<'_>,
    theta: &[f64],
    system: &LinearSystem,
) -> Option<[Vec<f64>; 3]> {
    let mut work = Workspace::default();
    let (n, zeros) = (evaluator.n(), vec![0.0; evaluator.n()]);
    let still = &zeros[..theta.len()];
    let (force, modal, status) = evaluator.feedforward(theta, still, still, &mut work).ok()?;
    let eta = [theta, &modal].concat();
    let (outputs, also) = evaluator.outputs(&eta, &zeros, &mut work).ok()?;
    if status.max(also) >= Status::Undefined {
        return None;
    }
    let mut y = theta.to_vec();
    y.extend(outputs.iter().flat_map(|o| o.position.as_slice().to_vec()));
    let rest = [[eta, zeros].concat(), force, y];
    let sizes = [2 * n, theta.len(), rest[2].len()];
    let known = [&system.states, &system.inputs, &system.outputs];
    (sizes == known.map(Vec::len)).then_some(rest)
}

/// Linearises at `count` values of every coordinate, from end to end of the domain.
pub(super) fn grid(
    subject: &Subject,
    evaluator: &Evaluator<'_>,
    count: usize,
) -> Result<Grid, Failure> {
    let domain = &subject.model.layout.domain;
    let s = domain.lower.len();
    let size = count.checked_pow(s as u32).filter(|size| *size <= MOST);
    let Some(size) = size.filter(|_| count >= 2) else {
        return Err(Failure::one(CommandError::GridSize { count, most: MOST }));
    };
    let thetas: Vec<Vec<f64>> = (0..size)
        .map(|place| {
            (0..s)
                .map(|k| {
                    let step = place / count.pow(k as u32) % count;
                    // A coordinate that repeats has its first value again after the last.
                    let last = count - usize::from(!domain.periodic[k]);
                    let part = step as f64 / last as f64;
                    domain.lower[k] + part * (domain.upper[k] - domain.lower[k])
                })
                .collect()
        })
        .collect();
    let points = thetas
        .into_iter()
        .map(|theta| {
            let at = Initial {
                theta: theta.clone(),
                ..subject.initial.clone()
            };
            let linear = linearise(evaluator, &subject.drives, &at, &subject.settings);
            match linear {
                Ok(system) => Point::new(theta, system, evaluator),
                Err(_) => Point {
                    theta,
                    system: None,
                    rest: None,
                },
            }
        })
        .collect();
    Ok(Grid {
        counts: vec![count; s],
        points,
    })
}

/// A stack of matrices of equal shape; NaN where there is none.
fn stack<'p>(
    shape: [usize; 2],
    counts: &[usize],
    matrices: impl Iterator<Item = Option<Vec<f64>>> + 'p,
) -> Content {
    let [rows, columns] = shape;
    let missing = || vec![f64::NAN; rows * columns];
    Content::Numbers {
        shape: [&shape[..], counts].concat(),
        values: matrices.flat_map(|m| m.unwrap_or_else(missing)).collect(),
    }
}

/// One linear model, or those of a grid; none where there is none.
pub(super) fn entries(subject: &Subject, points: &[Point], counts: &[usize]) -> Option<Vec<Entry>> {
    let first = points.iter().find_map(|p| p.system.as_ref())?;
    let sizes = [&first.states, &first.inputs, &first.outputs].map(Vec::len);
    let [x, u, y] = sizes;
    let of = |shape, part: fn(&LinearSystem) -> &[f64]| {
        let list = points.iter();
        stack(
            shape,
            counts,
            list.map(move |p| p.system.as_ref().map(|s| part(s).to_vec())),
        )
    };
    let offset = |k: usize| {
        let list = points.iter();
        stack(
            [sizes[k], 1],
            counts,
            list.map(move |p| p.rest.as_ref().map(|r| r[k].clone())),
        )
    };
    let mut shape = counts.to_vec();
    shape.resize(shape.len().max(2), 1);
    let layout = &subject.model.layout;
    let axes = (0..layout.n_rigid).map(|k| {
        let coordinate = &layout.coordinates[k];
        let values = points.iter().map(|p| p.theta[k]).collect();
        let shape = shape.clone();
        let content = Content::Numbers { shape, values };
        let name = mat::field(&coordinate.name);
        Entry::new(
            &name,
            content,
            &coordinate.unit,
            "the coordinate at each configuration",
        )
    });
    let system = "SI, by the units of its row over that of its column";
    let names = |name, list: &[String], what| {
        let units = list.iter().map(|name| unit(layout, name)).collect();
        Entry::names(name, list, units, what)
    };
    let mut entries = vec![
        Entry::new(
            "name",
            Content::Text(subject.name.clone()),
            "",
            "what was linearised",
        ),
        Entry::new(
            "a",
            of([x, x], |s| s.a.as_slice()),
            system,
            "rates of states by states",
        ),
        Entry::new(
            "b",
            of([x, u], |s| s.b.as_slice()),
            system,
            "rates of states by inputs",
        ),
        Entry::new(
            "c",
            of([y, x], |s| s.c.as_slice()),
            system,
            "outputs by states",
        ),
        Entry::new(
            "d",
            of([y, u], |s| s.d.as_slice()),
            system,
            "outputs by inputs",
        ),
        names("states", &first.states, "names of the states"),
        names("inputs", &first.inputs, "names of the inputs"),
        names("outputs", &first.outputs, "names of the outputs"),
        Entry::new(
            "grid",
            Content::Group(axes.collect()),
            "",
            "configurations by coordinate",
        ),
    ];
    if points.iter().any(|p| p.rest.is_some()) {
        let lists = [
            ("x", "states at rest", &first.states),
            ("u", "inputs at rest", &first.inputs),
            ("y", "outputs at rest", &first.outputs),
        ];
        for (k, (name, what, list)) in lists.into_iter().enumerate() {
            let units = list.iter().map(|name| unit(layout, name)).collect();
            let mut entry = Entry::new(name, offset(k), "", what);
            entry.unit = units;
            entries.push(entry);
        }
    }
    Some(entries)
}

/// Unit of a state, input or output; none of what blocks make.
fn unit(layout: &ModelLayout, name: &str) -> String {
    let of = |name: &str| {
        let found = layout.coordinates.iter().find(|c| c.name == name);
        found.map(|c| c.unit.as_str())
    };
    let (kind, rest) = name.split_once('.').unwrap_or(("", name));
    match (kind, of(rest)) {
        ("control", _) => String::new(),
        ("coordinate", Some(unit)) => unit.to_owned(),
        ("rate", Some(unit)) => format!("{unit}/s"),
        ("force", Some("rad")) => "N m".to_owned(),
        ("force", Some(_)) => "N".to_owned(),
        _ => match of(name) {
            Some(unit) => unit.to_owned(),
            None if layout.outputs.iter().any(|o| o == kind) => "m".to_owned(),
            None => String::new(),
        },
    }
}

/// The models of a grid for the JSON document.
pub(super) fn as_json(grid: &Grid) -> serde_json::Value {
    let one = |p: &Point| {
        let Some(system) = &p.system else {
            return json!({ "theta": p.theta, "defined": false });
        };
        let [a, b, c, d] = super::matrices(system);
        let poles: Vec<_> = system.poles().iter().map(super::root).collect();
        let mut value = json!({
            "theta": p.theta, "defined": true, "a": a, "b": b, "c": c, "d": d, "poles": poles,
        });
        if let Some([x, u, y]) = &p.rest {
            (value["x"], value["u"], value["y"]) = (json!(x), json!(u), json!(y));
        }
        value
    };
    grid.points.iter().map(one).collect()
}
