//! A `no_std` Rust crate: the kernel's source, the model's numbers and functions with arrays of known length.

use super::SourceFiles;
use super::cost::Costs;
use super::facts::{facts, prefix, render};
use super::groups::{code_plan, describe};
use super::printer::Printer;
use crate::{ExportOptions, WriteError};
use kernel::{Finder, Group};
use minijinja::{Value, context};
use reducer::reduced_model::plan::{Plan, PlanTable};
use reducer::reduced_model::{CallCost, ObserverPlan, ReducedModel};

const TEMPLATES: &[(&str, &str)] = &[
    ("lib.rs", include_str!("../../templates/rust/lib.rs.j2")),
    (
        "tables.rs",
        include_str!("../../templates/rust/tables.rs.j2"),
    ),
    (
        "observer.rs",
        include_str!("../../templates/rust/observer.rs.j2"),
    ),
    (
        "kernel.rs",
        include_str!("../../templates/rust/kernel.rs.j2"),
    ),
    (
        "selftest.rs",
        include_str!("../../templates/rust/selftest.rs.j2"),
    ),
    (
        "selftest_run.rs",
        include_str!("../../templates/rust/selftest_run.rs.j2"),
    ),
    (
        "Cargo.toml",
        include_str!("../../templates/rust/Cargo.toml.j2"),
    ),
    (
        "README.md",
        include_str!("../../templates/rust/README.md.j2"),
    ),
];

/// Name, arguments, the call of the kernel, comment.
const FUNCTIONS: &[[&str; 4]] = &[
    [
        "coefficients",
        "theta: &[Real; N_RIGID], out: &mut Coefficients",
        "kernel::coefficients(&Generated, parameters, theta, &mut out.view(), scratch)",
        "Coefficients of the equations of motion at θ.",
    ],
    [
        "inverse_dynamics",
        "eta: &[Real; N], rate: &[Real; N], accel: &[Real; N], force: &mut [Real; N]",
        "kernel::inverse_dynamics(&Generated, parameters, [eta, rate, accel], force, scratch)",
        "Force that produces the accelerations.",
    ],
    [
        "forward_dynamics",
        "eta: &[Real; N], rate: &[Real; N], force: &[Real; N], accel: &mut [Real; N]",
        "kernel::forward_dynamics(&Generated, parameters, [eta, rate, force], accel, scratch)",
        "Accelerations under a force.",
    ],
    [
        "outputs",
        "eta: &[Real; N], rate: &[Real; N], out: &mut [Output; N_OUTPUTS]",
        "kernel::outputs(&Generated, parameters, [eta, rate], out, Output::view, scratch)",
        "Motion of the outputs.",
    ],
    [
        "state_derivative",
        "x: &[Real; 2 * N], force: &[Real; N], dx: &mut [Real; 2 * N]",
        "kernel::state_derivative(&Generated, parameters, x, force, dx, scratch)",
        "Derivative of the state x = (η, rate) under a force.",
    ],
    [
        "linearize",
        "eta: &[Real; N], rate: &[Real; N], force: &[Real; N], out: &mut LinearModel",
        "out.d = [0.0; N_Y * N];\n    let mut into = kernel::LinearModel { a: &mut out.a, b: &mut out.b, c: &mut out.c };\n    kernel::linearize(&Generated, parameters, [eta, rate, force], &mut into, scratch)",
        "Linear model around a state. θ outside the domain: derivatives of the point used.",
    ],
    [
        "feedforward",
        "theta: &[Real; N_RIGID], rate: &[Real; N_RIGID], accel: &[Real; N_RIGID], force: &mut [Real; N_RIGID], modal: &mut [Real; N_MODAL]",
        "kernel::feedforward(&Generated, parameters, [theta, rate, accel], force, modal, scratch)",
        "Actuator forces along a motion of θ, and the modal coordinates that follow it quasi-statically.",
    ],
    [
        "step",
        "x: &mut [Real; 2 * N], force: &[Real; N], dt: Real",
        "kernel::step(&Generated, parameters, x, force, dt, scratch)",
        "One step of the classical Runge-Kutta method under a constant force; x is zero afterwards where\n/// the status is [`Status::Undefined`] or worse.",
    ],
];

/// Files of the crate besides the kernel, and their templates.
const NAMED: [(&str, &str); 7] = [
    ("Cargo.toml", "Cargo.toml"),
    ("README.md", "README.md"),
    ("src/lib.rs", "lib.rs"),
    ("src/kernel/mod.rs", "kernel.rs"),
    ("src/selftest.rs", "selftest.rs"),
    ("src/tables.rs", "tables.rs"),
    ("tests/selftest.rs", "selftest_run.rs"),
];

/// Names of the files that [`rust_files`] gives.
pub(crate) fn rust_names() -> Vec<String> {
    let own = NAMED.iter().map(|(name, _)| (*name).to_owned());
    let kernel = kernel::SOURCE.iter();
    own.chain(kernel.map(|(name, _)| format!("src/kernel/{name}")))
        .collect()
}

/// The folder of a crate: manifest, README and source.
pub fn rust_files(
    model: &ReducedModel,
    options: &ExportOptions,
) -> Result<SourceFiles, WriteError> {
    rust_files_with(model, options, None)
}

/// The same with an observer.
pub fn rust_files_with(
    model: &ReducedModel,
    options: &ExportOptions,
    observer: Option<&ObserverPlan>,
) -> Result<SourceFiles, WriteError> {
    let plan = code_plan(model)?;
    let prefix = prefix(&model.layout.name, options)?;
    let text = Printer {
        single: options.single,
        suffix: "",
    };
    let costs = Costs::observed(&plan, observer);
    let (shared, _) = facts(model, &plan, &prefix, text, &costs)?;
    let functions: Vec<Value> = FUNCTIONS
        .iter()
        .filter(|f| f[0] != "outputs" || plan.n_outputs > 0)
        .map(|&[name, arguments, call, comment]| {
            context! { name, upper => name.to_ascii_uppercase(), arguments, call, comment }
        })
        .collect();
    let more = if observer.is_some() {
        kernel::OBSERVER_SOURCE
    } else {
        &[]
    };
    let source = || kernel::SOURCE.iter().chain(more);
    let observer = match observer {
        Some(observer) => Some(super::observer::facts(model, observer, text)?),
        None => None,
    };
    let modules: Vec<&str> = source()
        .filter_map(|(file, _)| file.strip_suffix(".rs"))
        .collect();
    let facts = context! {
        functions,
        modules,
        observer => observer.clone(),
        real => if options.single { "f32" } else { "f64" },
        // A crate's name must not be a keyword.
        crate_name => format!("{}_model", prefix.to_ascii_lowercase()),
        code => table_facts(&plan, text, &costs)?,
        ..shared
    };
    let with_observer = observer.map(|_| ("src/observer.rs", "observer.rs"));
    let own = NAMED
        .into_iter()
        .chain(with_observer)
        .map(|(name, template)| {
            let bytes = render(TEMPLATES, template, &facts, &prefix)?;
            Ok((name.to_owned(), bytes))
        });
    let kernel = source().map(|(name, source)| {
        let bytes = format!("// SPDX-License-Identifier: 0BSD\n{source}").into_bytes();
        Ok((format!("src/kernel/{name}"), bytes))
    });
    own.chain(kernel).collect()
}

/// Rows of numbers in brackets, or of plain numbers, indented.
fn lines(rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.map(|row| format!("    {row}")).collect();
    rows.join(",\n")
}

fn arrays<const K: usize, T: std::fmt::Debug>(rows: &[[T; K]]) -> String {
    lines(rows.iter().map(|row| format!("{row:?}")))
}

fn numbers<T: std::fmt::Debug>(values: &[T]) -> String {
    let row = |row: &[T]| format!("{row:?}").trim_matches(['[', ']']).to_owned();
    lines(values.chunks(24).map(row))
}

/// What the file of tables names.
fn table_facts(plan: &Plan, text: Printer, costs: &Costs) -> Result<Value, WriteError> {
    let s = plan.n_rigid;
    let model = plan.model();
    let (finder, found) = match model.finder {
        Finder::Nowhere => ("Nowhere", Value::UNDEFINED),
        Finder::Single => ("Single", Value::UNDEFINED),
        Finder::Tree(_) => ("tree", Value::UNDEFINED),
        Finder::Grid {
            per_unit,
            counts,
            ends,
            boxes,
        } => {
            let grid = context! {
                cells => counts.to_vec(),
                scale => text.list(per_unit)?,
                n_ends => ends.len(),
                ends => text.rows(ends, 6)?,
                n_boxes => boxes.len(),
                boxes => numbers(boxes),
            };
            ("grid", grid)
        }
    };
    let nodes: Vec<String> = (plan.nodes.iter())
        .map(|n| {
            let (axis, low, high) = (n.axis, n.low, n.high);
            let at = text.real(n.at)?;
            Ok(format!(
                "Node {{ at: {at}, axis: {axis}, low: {low}, high: {high} }}"
            ))
        })
        .collect::<Result<_, WriteError>>()?;
    let lists: Vec<Value> = Group::ALL
        .iter()
        .map(|&g| {
            let (name, comment) = describe(g);
            let list = plan.list(g);
            let row = |e: &kernel::Entry| {
                format!("entry({}, [{}, {}, {}, {}])", e.value, e.i, e.j, e.k, e.l)
            };
            context! {
                upper => name.to_ascii_uppercase(),
                comment,
                count => list.len(),
                rows => lines(list.iter().map(row)),
            }
        })
        .collect();
    let sizes = |suffix: &'static str, costs: &[CallCost]| {
        let size = move |c: &CallCost| {
            let name = format!("{}{suffix}", c.function.to_ascii_uppercase());
            context! { name, numbers => c.memory }
        };
        costs.iter().map(size).collect::<Vec<Value>>()
    };
    // Parameters do not change derived quantities.
    let with: Vec<CallCost> = (costs.with.iter())
        .filter(|c| c.function != "derived")
        .copied()
        .collect();
    let mut tables = vec![
        table(text, "dynamics", &plan.dynamics)?,
        table(text, "motion", &plan.motion)?,
    ];
    if plan.has_derived() {
        tables.push(table(text, "derived", &plan.derived)?);
    }
    Ok(context! {
        finder,
        grid => found,
        tree => lines(nodes.into_iter()),
        memory => [sizes("", &costs.without), sizes("_P", &with)].concat(),
        periodic => format!("{:?}", model.periodic).trim_matches(['[', ']']),
        waves => format!("{:?}", model.waves).trim_matches(['[', ']']),
        inequalities => text.list(model.inequalities)?,
        n_box_numbers => plan.boxes.len(),
        boxes => text.rows(&plan.boxes, 2 * s)?,
        tables,
        lists,
        factor_ends => numbers(&plan.factor_ends),
    })
}

fn table(text: Printer, name: &str, t: &PlanTable) -> Result<Value, WriteError> {
    Ok(context! {
        name,
        upper => name.to_ascii_uppercase(),
        columns => t.columns,
        values => t.values(),
        lanes => t.lanes,
        gradients => t.gradients,
        powers => t.powers,
        n_terms => t.n_terms,
        groups => t.groups,
        n_places => t.places.len(),
        places => arrays(&t.places),
        n_shapes => t.shapes.len(),
        shapes => arrays(&t.shapes),
        n_runs => t.runs.len(),
        runs => numbers(&t.runs),
        n_lists => t.lists.len(),
        lists => arrays(&t.lists),
        n_products => t.products.len(),
        products => arrays(&t.products),
        n_constants => t.constants.len(),
        constants => text.rows(&t.constants, 6)?,
        n_combined => t.combined.ends.len(),
        n_combined_terms => t.combined.factors.len(),
        combined_ends => numbers(&t.combined.ends),
        combined_columns => numbers(&t.combined.columns),
        combined_factors => text.rows(&t.combined.factors, 6)?,
        n_moving_lists => t.moving.lists.len(),
        moving_lists => numbers(&t.moving.lists),
        n_moving_rows => t.moving.rows.len(),
        moving_rows => arrays(&t.moving.rows),
        n_moving_terms => t.moving.terms.len(),
        moving_terms => numbers(&t.moving.terms),
        n_coefficients => t.coefficients.len(),
        coefficients => text.rows(&t.coefficients, 8)?,
    })
}
