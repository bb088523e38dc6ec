//! Linear models over the domain of a reduced model, and linear models as `.mat` files.

use super::Subject;
use crate::diagnostics::{CommandError, Failure};
use exporters::mat::{self, Value};
use reducer::dynamics::full::Initial;
use reducer::dynamics::linear::LinearSystem;
use reducer::dynamics::reduced::linearise;
use reducer::reduced_model::{Evaluator, Status, Workspace};
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
) -> Value {
    let [rows, columns] = shape;
    let missing = || vec![f64::NAN; rows * columns];
    Value::Numbers {
        shape: [&shape[..], counts].concat(),
        values: matrices.flat_map(|m| m.unwrap_or_else(missing)).collect(),
    }
}

/// The file of one linear model, or of those of a grid.
pub(super) fn to_mat(subject: &Subject, points: &[Point], counts: &[usize]) -> Option<Vec<u8>> {
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
        let name = mat::field(&layout.coordinates[k].name);
        let values = points.iter().map(|p| p.theta[k]).collect();
        let shape = shape.clone();
        (name, Value::Numbers { shape, values })
    });
    let mut fields = vec![
        ("name", Value::Text(subject.name.clone())),
        ("a", of([x, x], |s| s.a.as_slice())),
        ("b", of([x, u], |s| s.b.as_slice())),
        ("c", of([y, x], |s| s.c.as_slice())),
        ("d", of([y, u], |s| s.d.as_slice())),
        ("states", Value::texts(&first.states)),
        ("inputs", Value::texts(&first.inputs)),
        ("outputs", Value::texts(&first.outputs)),
        ("grid", Value::Struct(axes.collect())),
    ];
    if points.iter().any(|p| p.rest.is_some()) {
        for (name, k) in [("x", 0), ("u", 1), ("y", 2)] {
            fields.push((name, offset(k)));
        }
    }
    let fields = fields.into_iter().map(|(name, v)| (name.to_owned(), v));
    Some(mat::file(&[("linear", Value::Struct(fields.collect()))]))
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
