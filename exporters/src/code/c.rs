//! C99, which also compiles as C++11.

use super::SourceFiles;
use super::cost::Costs;
use super::facts::{facts, prefix, render};
use super::groups::code_plan;
use super::printer::Printer;
use super::reserved::target;
use crate::{ExportOptions, WriteError};
use minijinja::{Value, context};
use reducer::reduced_model::{ObserverPlan, ReducedModel};

const TEMPLATES: &[(&str, &str)] = &[
    ("header.h", include_str!("../../templates/c/header.h.j2")),
    ("source.c", include_str!("../../templates/c/source.c.j2")),
    ("tables.h", include_str!("../../templates/c/tables.h.j2")),
    ("support.c", include_str!("../../templates/c/support.c.j2")),
    (
        "polynomials.c",
        include_str!("../../templates/c/polynomials.c.j2"),
    ),
    ("moving.c", include_str!("../../templates/c/moving.c.j2")),
    (
        "combined.c",
        include_str!("../../templates/c/combined.c.j2"),
    ),
    (
        "motion_forces.c",
        include_str!("../../templates/c/motion_forces.c.j2"),
    ),
    ("entries.c", include_str!("../../templates/c/entries.c.j2")),
    (
        "equations_lagrangian.c",
        include_str!("../../templates/c/equations_lagrangian.c.j2"),
    ),
    (
        "equations_direct.c",
        include_str!("../../templates/c/equations_direct.c.j2"),
    ),
    ("tangent.c", include_str!("../../templates/c/tangent.c.j2")),
    ("slopes.c", include_str!("../../templates/c/slopes.c.j2")),
    ("motion.c", include_str!("../../templates/c/motion.c.j2")),
    (
        "parameters.c",
        include_str!("../../templates/c/parameters.c.j2"),
    ),
    ("blocks.c", include_str!("../../templates/c/blocks.c.j2")),
    (
        "linearize.c",
        include_str!("../../templates/c/linearize.c.j2"),
    ),
    (
        "feedforward.c",
        include_str!("../../templates/c/feedforward.c.j2"),
    ),
    ("api.c", include_str!("../../templates/c/api.c.j2")),
    (
        "observer.c",
        include_str!("../../templates/c/observer.c.j2"),
    ),
    (
        "observer.h",
        include_str!("../../templates/c/observer.h.j2"),
    ),
    (
        "observer_tables.h",
        include_str!("../../templates/c/observer_tables.h.j2"),
    ),
    (
        "observer_test.c",
        include_str!("../../templates/c/observer_test.c.j2"),
    ),
    (
        "selftest.c",
        include_str!("../../templates/c/selftest.c.j2"),
    ),
    (
        "example_main.c",
        include_str!("../../templates/c/example_main.c.j2"),
    ),
    (
        "CMakeLists.txt",
        include_str!("../../templates/c/CMakeLists.txt.j2"),
    ),
    ("README.md", include_str!("../../templates/c/README.md.j2")),
];

/// Derivatives of outputs along a direction, for sources that include the generated model as a whole.
pub(crate) const ALONG: (&str, &str) = ("along.h", include_str!("../../templates/c/along.h.j2"));

/// Name, parameters, arguments, comment.
const FUNCTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "coefficients",
        "const @_real theta[], @_coefficients_t *out",
        "theta, out",
        "Coefficients of the equations of motion at theta.",
    ),
    (
        "inverse_dynamics",
        "const @_real eta[], const @_real rate[], const @_real accel[],\n    @_real force[]",
        "eta, rate, accel, force",
        "Force that produces the accelerations.",
    ),
    (
        "forward_dynamics",
        "const @_real eta[], const @_real rate[], const @_real force[],\n    @_real accel[]",
        "eta, rate, force, accel",
        "Accelerations under a force.",
    ),
    (
        "outputs",
        "const @_real eta[], const @_real rate[], @_outputs_t *out",
        "eta, rate, out",
        "Motion of the outputs.",
    ),
    (
        "state_derivative",
        "const @_real x[], const @_real force[], @_real dx[]",
        "x, force, dx",
        "Derivative of the state x = (eta, rate) under a force.",
    ),
    (
        "linearize",
        "const @_real eta[], const @_real rate[], const @_real force[],\n    @_real A[], @_real B[], @_real C[], @_real D[]",
        "eta, rate, force, A, B, C, D",
        "Linear model around a state: dx' = A dx + B dforce, dy = C dx + D dforce; A 2N x 2N, B 2N x N,\n   C N_Y x 2N, D N_Y x N (zero). Coordinates outside the domain: derivatives of the point used.",
    ),
    (
        "feedforward",
        "const @_real theta[], const @_real rate[], const @_real accel[],\n    @_real force[], @_real modal[]",
        "theta, rate, accel, force, modal",
        "Actuator forces (N_RIGID) along a motion of theta, and the modal coordinates (N_MODAL) that follow\n   it quasi-statically: the modal rows of the equations hold without modal rates, to 1e-6 of the\n   deflection (1e-4 in single precision), or the status is 2, as it is where motion and loads take away\n   the stiffness.",
    ),
    (
        "step",
        "@_real x[], const @_real force[], @_real dt",
        "x, force, dt",
        "One step of the classical Runge-Kutta method under a constant force. Stable steps: see above.\n   x is argument and result: a status of 2 or above leaves it zero.",
    ),
];

/// Files and their templates.
fn named(prefix: &str) -> [(String, &'static str); 7] {
    [
        (format!("{prefix}.h"), "header.h"),
        (format!("{prefix}.c"), "source.c"),
        (format!("{prefix}_tables.h"), "tables.h"),
        (format!("{prefix}_selftest.c"), "selftest.c"),
        ("example_main.c".to_owned(), "example_main.c"),
        ("CMakeLists.txt".to_owned(), "CMakeLists.txt"),
        ("README.md".to_owned(), "README.md"),
    ]
}

/// Names of the files that [`c_files`] gives.
pub(crate) fn c_names(prefix: &str) -> Vec<String> {
    named(prefix).map(|(name, _)| name).to_vec()
}

/// The folder of C source: header, source and its tables, self-test, example, CMake file and README.
pub fn c_files(model: &ReducedModel, options: &ExportOptions) -> Result<SourceFiles, WriteError> {
    c_files_with(model, options, None)
}

/// The same with an observer.
pub fn c_files_with(
    model: &ReducedModel,
    options: &ExportOptions,
    observer: Option<&ObserverPlan>,
) -> Result<SourceFiles, WriteError> {
    let (prefix, facts, _) = c_values_with(model, options, observer)?;
    named(&prefix)
        .into_iter()
        .map(|(name, template)| Ok((name, render(TEMPLATES, template, &facts, &prefix)?)))
        .collect()
}

/// Prefix, the values that templates of C name, and a bound on the eigenvalues of the linearised model [1/s].
pub(crate) fn c_values(
    model: &ReducedModel,
    options: &ExportOptions,
) -> Result<(String, Value, f64), WriteError> {
    c_values_with(model, options, None)
}

fn c_values_with(
    model: &ReducedModel,
    options: &ExportOptions,
    observer: Option<&ObserverPlan>,
) -> Result<(String, Value, f64), WriteError> {
    let plan = code_plan(model)?;
    let prefix = prefix(&model.layout.name, options)?;
    let text = Printer {
        single: options.single,
        suffix: "f",
    };
    let costs = Costs::observed(&plan, observer);
    let (shared, fastest) = facts(model, &plan, &prefix, text, &costs)?;
    let observer = match observer {
        Some(observer) => Some(super::observer::facts(model, observer, text)?),
        None => None,
    };
    let functions: Vec<Value> = FUNCTIONS
        .iter()
        .filter(|f| f.0 != "outputs" || plan.n_outputs > 0)
        .map(|&(name, parameters, arguments, comment)| {
            context! { name, parameters, arguments, comment }
        })
        .collect();
    let (real, [root, cos, sin], limit) = if options.single {
        ("float", ["sqrtf", "cosf", "sinf"], "FLT")
    } else {
        ("double", ["sqrt", "cos", "sin"], "DBL")
    };
    let facts = context! {
        functions,
        observer,
        target => target(&prefix),
        real,
        sqrt => root,
        cos,
        sin,
        called => if plan.waves.is_empty() { root.to_owned() } else { format!("{root}`, `{cos}` and `{sin}") },
        real_max => format!("{limit}_MAX"),
        real_epsilon => format!("{limit}_EPSILON"),
        ..shared
    };
    Ok((prefix, facts, fastest))
}
