//! The values that templates name.

use super::groups::describe;
use super::literal::{comment, distinct_identifiers};
use super::printer::Printer;
use super::{cost, samples, single};
use crate::{ExportOptions, WriteError, model_hash};
use kernel::{Entry, Form, Group};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Value, context};
use reducer::reduced_model::plan::Plan;
use reducer::reduced_model::{
    Continuity, DerivedInfo, LargestError, ModelForm, ReducedModel, Stiffening,
};
use std::collections::BTreeMap;

/// Entries of a list up to which C has a statement for each of them instead of a loop.
const WRITTEN_OUT: usize = 128;

/// Prefix of all names.
pub(crate) fn prefix(name: &str, options: &ExportOptions) -> Result<String, WriteError> {
    let prefix = match &options.prefix {
        Some(given) => given.clone(),
        None => super::literal::identifier(name).chars().take(40).collect(),
    };
    let proper = prefix.len() <= 40
        && prefix.starts_with(|c: char| c.is_ascii_alphabetic())
        && prefix
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !proper {
        return Err(WriteError::Prefix { prefix });
    }
    match super::reserved::reserved(&prefix) {
        Some(what) => Err(WriteError::Reserved { prefix, what }),
        None => Ok(prefix),
    }
}

/// Renders named templates with the facts of a model.
pub(crate) fn render(
    templates: &[(&'static str, &'static str)],
    wanted: &'static str,
    facts: &Value,
    prefix: &str,
) -> Result<Vec<u8>, WriteError> {
    let refused = |e: minijinja::Error| WriteError::Template {
        template: wanted,
        fact: format!("{e:#}"),
    };
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .map_err(refused)?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    for (name, text) in templates {
        environment.add_template(name, text).map_err(refused)?;
    }
    let text = environment
        .get_template(wanted)
        .and_then(|t| t.render(facts))
        .map_err(refused)?;
    let named = text
        .replace("@@_", &format!("{}_", prefix.to_ascii_uppercase()))
        .replace("@_", &format!("{prefix}_"));
    Ok(named.into_bytes())
}

/// Everything that C and Rust templates share, and a bound on the eigenvalues of the linearised model [1/s].
pub(super) fn facts(
    model: &ReducedModel,
    plan: &Plan,
    prefix: &str,
    text: Printer,
    costs: &cost::Costs,
) -> Result<(Value, f64), WriteError> {
    let layout = &model.layout;
    let domain = &layout.domain;
    let sampled = samples::sample(model)?;
    // Names that begin with `derived` are those of the quantities themselves.
    let named = |name: &'static str| match name {
        "motion" => [name, "outputs"],
        "derived" => ["quantities", "derived quantities"],
        _ => [name; 2],
    };
    let tables: Vec<Value> = plan
        .named_tables()
        .map(|(name, t)| (named(name), t))
        .map(|([name, what], t)| text.table(name, what, t, plan.n_rigid))
        .collect::<Result<_, _>>()?;
    let inequalities: Vec<f64> = domain
        .inequalities
        .iter()
        .flat_map(|i| i.coefficients.clone())
        .collect();
    let bounds: Vec<f64> = domain.inequalities.iter().map(|i| i.bound).collect();
    let periodic: Vec<String> = domain
        .periodic
        .iter()
        .map(|&p| i32::from(p).to_string())
        .collect();
    let waves: Vec<String> = plan
        .waves
        .iter()
        .map(|&w| i32::from(w).to_string())
        .collect();
    let periodic_places: Vec<String> = (0..domain.periodic.len())
        .filter(|&k| domain.periodic[k])
        .map(|k| k.to_string())
        .collect();
    let ends: Vec<String> = plan.factor_ends.iter().map(u8::to_string).collect();
    let places = context! {
        with_gradients => plan.tables().any(|t| t.gradients),
        with_powers => plan.tables().any(|t| t.powers),
        with_chebyshev => plan.tables().any(|t| t.gradients && !t.powers),
        with_basis => plan.tables().any(|t| t.gradients && !t.powers),
        moving => !plan.dynamics.moving.lists.is_empty(),
        with_values => plan.tables().any(|t| !t.gradients),
        with_products => plan.tables().any(|t| !t.products.is_empty()),
        derived => derived(model, plan),
        with_curvature => plan.form == Form::Lagrangian || plan.n_outputs > 0,
        tables,
        n_nodes => plan.nodes.len(),
        all_dropped => model.boxes.is_empty(),
        tree_depth => tree_depth(plan),
        tree => text.tree(plan)?,
        grid => text.grid(plan)?,
        boxes => text.boxes(plan)?,
        entry_lists => text.entry_lists(plan, |g| is_listed(plan, g)),
        entries => entry_map(plan),
        factor_places => factor_places(plan),
        factor_ends => ends.join(", "),
        written_out => WRITTEN_OUT,
        any_periodic => domain.periodic.contains(&true),
        any_waves => !plan.waves.is_empty(),
        all_waves => !plan.waves.is_empty() && plan.waves.iter().all(|&w| w),
        theta_waves => waves.join(", "),
        per_angle => context! { dynamics => text.real(1.0)?, motion => text.real(0.5)?, quantities => text.real(0.5)? },
        theta_periodic => periodic.join(", "),
        periodic_places => periodic_places.join(", "),
        theta_lower => text.list(&domain.lower)?,
        theta_upper => text.list(&domain.upper)?,
        n_inequalities => bounds.len(),
        inequality_coefficients => text.rows(&inequalities, layout.n_rigid)?,
        inequality_bounds => text.rows(&bounds, 6)?,
    };
    let is_lagrangian = plan.form == Form::Lagrangian;
    let is_scaled = !plan.list(Group::RateScale).is_empty();
    let sizes = context! {
        s => plan.n_rigid,
        n => plan.n,
        n_outputs => plan.n_outputs,
        n_loaded => plan.n_loaded,
        degrees => plan.degrees(),
        lagrangian => is_lagrangian,
        written_slopes => is_lagrangian && !is_scaled,
        statics => is_lagrangian && (is_scaled || plan.n > plan.n_rigid),
        stiffening => match layout.stiffening {
            Stiffening::None => None,
            Stiffening::Loads => Some("gravity and loads"),
            Stiffening::All => Some("gravity, loads, rates and accelerations"),
        },
        has_turn => plan.has_turn(),
        feedforward_iterations => kernel::ITERATIONS,
        feedforward_renewed => kernel::RENEWED,
        constant_bytes => cost::constant_bytes(plan, text.single),
        stack_bytes => costs.stack_bytes(text.single),
        costs => costs.lines(),
        stable_step => sampled.fastest.step(),
        points => text.points(&sampled)?,
        tested_boxes => samples::tested_boxes(model.boxes.len()),
        test_rate => text.list(&sampled.rate)?,
        test_accel => text.list(&sampled.accel)?,
        n_real => text.real(plan.n as f64)?,
        tolerance => text.real(if text.single { 1e-4 } else { 1e-12 })?,
    };
    let single_errors: Vec<String> = if text.single {
        single::single_errors(model, plan, &sampled)
            .iter()
            .map(|e| format!("{:<18} {:.1e}", e.block, e.error))
            .collect()
    } else {
        Vec::new()
    };
    let about = context! { single_errors, ..about(model, prefix)? };
    let numbers = text.numbers()?;
    let parameters = text.parameters(model, plan)?;
    let all = context! { ..places, ..sizes, ..about, ..parameters, ..numbers };
    Ok((all, sampled.fastest.rate))
}

/// Names, provenance and accuracy.
fn about(model: &ReducedModel, prefix: &str) -> Result<Value, WriteError> {
    let layout = &model.layout;
    let named = |names: Vec<&str>, notes: Vec<String>| -> Vec<Value> {
        distinct_identifiers(names.into_iter())
            .into_iter()
            .zip(notes)
            .map(|(identifier, comment)| context! { identifier, comment })
            .collect()
    };
    let coordinate = |c: &reducer::reduced_model::CoordinateInfo| {
        comment(&format!("{} [{}], {:?}", c.name, c.unit, c.kind))
    };
    let plain = |names: &Vec<String>| {
        let notes = names.iter().map(|n| comment(n)).collect();
        named(names.iter().map(String::as_str).collect(), notes)
    };
    let continuity = match model.continuity {
        Continuity::Smooth => "smooth".to_owned(),
        Continuity::Continuous => "continuous across boxes".to_owned(),
        Continuity::Differentiable => "continuous across boxes with all slopes".to_owned(),
        Continuity::Jumps { largest } => {
            format!(
                "stored values jump by up to {largest:.2e} of their root mean square across boxes"
            )
        }
    };
    let errors: Vec<String> = model
        .provenance
        .errors
        .iter()
        .map(|e| {
            let found = model.provenance.largest_of(e.block);
            let found = found.map_or(String::new(), |l| {
                format!(" {:.3e} at {}", l.largest, shortened(&l.theta))
            });
            format!("{:<12} {:.3e} {:.3e}{found}", e.block.name(), e.mean, e.max)
        })
        .collect();
    let in_units = |e: &LargestError| {
        comment(&format!(
            "{} at {}",
            e.in_words(layout),
            shortened(&e.theta)
        ))
    };
    let validity = layout.validity.as_ref();
    let absolute: Vec<String> = model.provenance.absolute().map(in_units).collect();
    let jumps: Vec<String> = model.provenance.jumps.iter().map(in_units).collect();
    Ok(context! {
        prefix,
        upper => prefix.to_ascii_uppercase(),
        title => comment(&layout.name),
        tool => comment(&model.provenance.tool),
        hash => model_hash(model)?,
        input_hash => comment(&model.provenance.input_hash),
        form => match model.form {
            ModelForm::Lagrangian => "energies are stored, forces are their derivatives",
            ModelForm::Direct => "every block of the equations of motion is stored by itself",
        },
        n_boxes => model.boxes.len(),
        validity => validity.map_or_else(Vec::new, |v| {
            v.in_words(layout).iter().map(|line| comment(line)).collect()
        }),
        motions => match validity.is_some_and(|v| v.is_declared()) {
            true => "what is declared, or 3 ranges/s and 30 ranges/s^2",
            false => "3 ranges/s and 30 ranges/s^2",
        },
        continuity,
        reached => model.provenance.reached,
        n_unproven => model.boxes.iter().filter(|b| model.lacks_proof(b)).count(),
        errors,
        absolute,
        jumps,
        coordinates => named(
            layout.coordinates.iter().map(|c| c.name.as_str()).collect(),
            layout.coordinates.iter().map(coordinate).collect(),
        ),
        outputs => plain(&layout.outputs),
        loaded => plain(&layout.loaded),
    })
}

/// Functions of derived quantities; none where all are zero.
fn derived(model: &ReducedModel, plan: &Plan) -> Vec<Value> {
    let list = model.layout.derived.iter().enumerate();
    let fact = |(number, d): (usize, &DerivedInfo)| {
        let identifier = super::literal::identifier(&d.name);
        let value = comment(&d.value);
        context! { number, identifier, value, rows => d.rows, columns => d.columns }
    };
    list.filter(|_| plan.has_derived()).map(fact).collect()
}

/// θ with as many digits as a comment needs.
fn shortened(theta: &[f64]) -> String {
    format!("{theta:.4?}")
}

fn tree_depth(plan: &Plan) -> usize {
    let mut depth = vec![0; plan.nodes.len()];
    for (i, node) in plan.nodes.iter().enumerate() {
        if node.axis >= 0 {
            depth[node.low as usize] = depth[i] + 1;
            depth[node.high as usize] = depth[i] + 1;
        }
    }
    depth.into_iter().max().unwrap_or(0)
}

/// Values and indices of every list by its name; empty lists are false in templates.
fn entry_map(plan: &Plan) -> BTreeMap<&'static str, Vec<Value>> {
    let fact = |e: &Entry| context! { value => e.value, i => e.i, j => e.j, k => e.k };
    Group::ALL
        .iter()
        .map(|&g| (describe(g).0, plan.list(g).iter().map(fact).collect()))
        .collect()
}

/// C needs the list as a table: static forces and masses are used only where short lists are written
/// out.
fn is_listed(plan: &Plan, group: Group) -> bool {
    match group {
        Group::Potential => false,
        Group::Mass if plan.form == Form::Lagrangian => !plan.list(group).is_empty(),
        Group::Force | Group::Mass => plan.list(group).len() > WRITTEN_OUT,
        _ => !plan.list(group).is_empty(),
    }
}

/// Where the factor of the mass matrix may differ from zero, column by column.
fn factor_places(plan: &Plan) -> Vec<Value> {
    let fact = |[i, j]: &[u8; 2]| context! { i, j };
    plan.factor_places.iter().map(fact).collect()
}
