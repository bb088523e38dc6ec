//! A `no_std` Rust crate.

use super::SourceFiles;
use super::facts::{facts, prefix, render};
use super::plan::Plan;
use super::printer::Spelling;
use crate::{ExportOptions, WriteError};
use minijinja::context;
use reducer::reduced_model::{ModelForm, ReducedModel};

const TEMPLATES: &[(&str, &str)] = &[
    ("lib.rs", include_str!("../../templates/rust/lib.rs.j2")),
    (
        "functions.rs",
        include_str!("../../templates/rust/functions.rs.j2"),
    ),
    (
        "numbers.rs",
        include_str!("../../templates/rust/numbers.rs.j2"),
    ),
    (
        "polynomials.rs",
        include_str!("../../templates/rust/polynomials.rs.j2"),
    ),
    (
        "values.rs",
        include_str!("../../templates/rust/values.rs.j2"),
    ),
    (
        "tables.rs",
        include_str!("../../templates/rust/tables.rs.j2"),
    ),
    (
        "equations_lagrangian.rs",
        include_str!("../../templates/rust/equations_lagrangian.rs.j2"),
    ),
    (
        "equations_direct.rs",
        include_str!("../../templates/rust/equations_direct.rs.j2"),
    ),
    (
        "motion.rs",
        include_str!("../../templates/rust/motion.rs.j2"),
    ),
    (
        "parameters.rs",
        include_str!("../../templates/rust/parameters.rs.j2"),
    ),
    (
        "linearize.rs",
        include_str!("../../templates/rust/linearize.rs.j2"),
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

/// The folder of a crate: manifest, README and source.
pub fn rust_files(
    model: &ReducedModel,
    options: &ExportOptions,
) -> Result<SourceFiles, WriteError> {
    let plan = Plan::new(model)?;
    let prefix = prefix(model, options)?;
    let spelling = Spelling {
        single: options.single,
        suffix: "",
        open: "[",
        close: "]",
    };
    let shared = facts(model, &plan, &prefix, spelling)?;
    // Half the exponent's bias, as bits; subnormal numbers are scaled by 2^64 and 2^-32.
    let (real, root_bias) = if options.single {
        ("f32", "0x1FC0_0000")
    } else {
        ("f64", "0x1FF8_0000_0000_0000")
    };
    let facts = context! {
        real,
        root_bias,
        root_scale => "18446744073709551616.0",
        root_unscale => "2.3283064365386963e-10",
        // A crate's name must not be a keyword.
        crate_name => format!("{}_model", prefix.to_ascii_lowercase()),
        ..shared
    };
    let equations = match plan.form {
        ModelForm::Lagrangian => "equations_lagrangian.rs",
        ModelForm::Direct => "equations_direct.rs",
    };
    let mut files = vec![
        ("Cargo.toml", "Cargo.toml"),
        ("README.md", "README.md"),
        ("src/lib.rs", "lib.rs"),
        ("src/equations.rs", equations),
        ("src/linearize.rs", "linearize.rs"),
        ("src/numbers.rs", "numbers.rs"),
        ("src/parameters.rs", "parameters.rs"),
        ("src/polynomials.rs", "polynomials.rs"),
        ("src/selftest.rs", "selftest.rs"),
        ("src/tables.rs", "tables.rs"),
        ("tests/selftest.rs", "selftest_run.rs"),
    ];
    if plan.n_outputs > 0 {
        files.push(("src/motion.rs", "motion.rs"));
    }
    files
        .into_iter()
        .map(|(name, template)| {
            let bytes = render(TEMPLATES, template, &facts, &prefix)?;
            Ok((name.to_owned(), bytes))
        })
        .collect()
}
