//! The values that templates name.

use super::literal::{comment, distinct_identifiers, real};
use super::plan::{Entry, Group, Plan, PlanTable};
use super::runs::{Run, n_rows, shape_degree};
use super::{cost, samples, single};
use crate::{ExportOptions, WriteError, model_hash};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Value, context};
use reducer::reduced_model::{Continuity, ModelForm, ReducedModel, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Entries of a list up to which C has a statement for each of them instead of a loop.
const WRITTEN_OUT: usize = 128;

/// How a language spells tables and numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    pub single: bool,
    /// Suffix of single-precision literals.
    pub suffix: &'static str,
    /// Brackets of nested initialisers.
    pub open: &'static str,
    pub close: &'static str,
}

/// Prefix of all names.
pub(super) fn prefix(model: &ReducedModel, options: &ExportOptions) -> Result<String, WriteError> {
    let prefix = match &options.prefix {
        Some(given) => given.clone(),
        None => super::literal::identifier(&model.layout.name)
            .chars()
            .take(40)
            .collect(),
    };
    let proper = prefix.len() <= 40
        && prefix.starts_with(|c: char| c.is_ascii_alphabetic())
        && prefix
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
    if proper {
        Ok(prefix)
    } else {
        Err(WriteError::Prefix { prefix })
    }
}

/// Renders named templates with the facts of a model.
pub(super) fn render(
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

/// Everything that C and Rust templates share.
pub(super) fn facts(
    model: &ReducedModel,
    plan: &Plan,
    prefix: &str,
    spelling: Spelling,
) -> Result<Value, WriteError> {
    let text = Printer { spelling };
    let layout = &model.layout;
    let domain = &layout.domain;
    let sampled = samples::sample(model)?;
    let tables: Vec<Value> = std::iter::once(("dynamics", "dynamics", &plan.dynamics))
        .chain(plan.motion.as_ref().map(|t| ("motion", "outputs", t)))
        .map(|(name, what, t)| text.table(name, what, t, plan.n_rigid))
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
    let periodic_places: Vec<String> = (0..domain.periodic.len())
        .filter(|&k| domain.periodic[k])
        .map(|k| k.to_string())
        .collect();
    let places = context! {
        with_gradients => plan.dynamics.gradients || plan.motion.is_some(),
        with_powers => plan.tables().any(|t| t.powers),
        with_chebyshev => plan.tables().any(|t| t.gradients && !t.powers),
        with_basis => plan.has_basis(),
        tables,
        n_nodes => plan.nodes.len(),
        all_dropped => model.boxes.is_empty(),
        tree_depth => plan.depth,
        tree => text.tree(plan)?,
        grid => text.grid(plan)?,
        boxes => text.boxes(plan)?,
        entry_lists => text.entry_lists(plan, |g| is_listed(plan, g)),
        all_lists => text.entry_lists(plan, |g| g.belongs(plan)),
        inequalities => text.inequalities(model)?,
        entries => entry_map(plan),
        factor_places => factor_places(plan),
        written_out => WRITTEN_OUT,
        any_periodic => domain.periodic.contains(&true),
        theta_periodic => periodic.join(", "),
        periodic_places => periodic_places.join(", "),
        theta_lower => text.list(&domain.lower)?,
        theta_upper => text.list(&domain.upper)?,
        n_inequalities => bounds.len(),
        inequality_coefficients => text.rows(&inequalities, layout.n_rigid)?,
        inequality_bounds => text.rows(&bounds, 6)?,
    };
    let sizes = context! {
        s => plan.n_rigid,
        n => plan.n,
        n_outputs => plan.n_outputs,
        n_loaded => plan.n_loaded,
        degrees => plan.degrees(),
        lagrangian => plan.form == ModelForm::Lagrangian,
        has_turn => plan.has_turn(),
        feedforward_iterations => super::FEEDFORWARD_ITERATIONS,
        constant_bytes => cost::constant_bytes(plan, spelling.single),
        stack_bytes => cost::stack_bytes(plan, spelling.single),
        costs => costs(plan),
        stable_step => stable_step(&sampled),
        points => text.points(&sampled)?,
        tested_boxes => samples::tested_boxes(model.boxes.len()),
        test_rate => text.list(&sampled.rate)?,
        test_accel => text.list(&sampled.accel)?,
        n_real => text.real(plan.n as f64)?,
        tolerance => text.real(if spelling.single { 1e-4 } else { 1e-12 })?,
    };
    let single_errors: Vec<String> = if spelling.single {
        single::single_errors(model, &sampled)?
            .iter()
            .map(|e| format!("{:<18} {:.1e}", e.block, e.error))
            .collect()
    } else {
        Vec::new()
    };
    let loss = format!("{:.1e}", sampled.condition);
    let about = context! { single_errors, loss, ..about(model, prefix)? };
    let numbers = text.numbers()?;
    let parameters = text.parameters(model, plan)?;
    Ok(context! { ..places, ..sizes, ..about, ..parameters, ..numbers })
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
        .map(|e| format!("{:<12} {:.3e} {:.3e}", comment(&e.block), e.mean, e.max))
        .collect();
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
        continuity,
        reached => model.provenance.reached,
        errors,
        coordinates => named(
            layout.coordinates.iter().map(|c| c.name.as_str()).collect(),
            layout.coordinates.iter().map(coordinate).collect(),
        ),
        outputs => plain(&layout.outputs),
        loaded => plain(&layout.loaded),
    })
}

fn costs(plan: &Plan) -> Vec<String> {
    let both = cost::costs(plan, false)
        .into_iter()
        .zip(cost::costs(plan, true));
    both.map(|((name, without), (_, with))| {
        let pair = |c: cost::Cost| format!("{:>15} {:>14}", c.multiplications, c.additions);
        format!("{name:<18} {}  {}", pair(without), pair(with))
    })
    .collect()
}

/// What the explicit fixed-step integrator tolerates: |λ| dt ≤ 2.6 is inside its region.
fn stable_step(sampled: &samples::Samples) -> String {
    if sampled.fastest > 0.0 {
        format!(
            "{:.3e} s (fastest eigenvalue {:.4e} 1/s at {} configurations)",
            2.6 / sampled.fastest,
            sampled.fastest,
            sampled.n_configurations
        )
    } else {
        "not limited by the model: it has neither stiffness nor damping".to_owned()
    }
}

/// Values and indices of every list by its name; empty lists are false in templates.
fn entry_map(plan: &Plan) -> BTreeMap<&'static str, Vec<Value>> {
    let fact = |e: &Entry| context! { value => e.value, i => e.i, j => e.j, k => e.k };
    Group::ALL
        .iter()
        .map(|&g| (g.describe().0, plan.list(g).iter().map(fact).collect()))
        .collect()
}

/// C needs the list as a table: static forces and masses are used only where short lists are written
/// out.
fn is_listed(plan: &Plan, group: Group) -> bool {
    match group {
        Group::Potential => false,
        Group::Force | Group::Mass => plan.list(group).len() > WRITTEN_OUT,
        _ => !plan.list(group).is_empty(),
    }
}

/// Where the factor of the mass matrix may differ from zero, column by column.
fn factor_places(plan: &Plan) -> Vec<Value> {
    let lists = [Group::MassFactor, Group::MassSlope];
    let entries = lists.iter().flat_map(|&g| plan.list(g));
    let places: BTreeSet<(usize, usize)> = entries.map(|e| (e.j, e.i)).collect();
    let fact = |&(j, i): &(usize, usize)| context! { i, j };
    places.iter().map(fact).collect()
}

struct Printer {
    spelling: Spelling,
}

impl Printer {
    fn real(&self, value: f64) -> Result<String, WriteError> {
        real(value, self.spelling.single, self.spelling.suffix)
    }

    fn list(&self, values: &[f64]) -> Result<String, WriteError> {
        let texts: Result<Vec<_>, _> = values.iter().map(|&v| self.real(v)).collect();
        Ok(texts?.join(", "))
    }

    /// Numbers in lines of `width`, indented.
    fn rows(&self, values: &[f64], width: usize) -> Result<String, WriteError> {
        let lines: Result<Vec<_>, WriteError> = values
            .chunks(width.clamp(1, 8))
            .map(|row| Ok(format!("    {}", self.list(row)?)))
            .collect();
        Ok(lines?.join(",\n"))
    }

    fn braces(&self, inside: &str) -> String {
        format!("{} {inside} {}", self.spelling.open, self.spelling.close)
    }

    fn tree(&self, plan: &Plan) -> Result<String, WriteError> {
        let lines: Result<Vec<_>, WriteError> = plan
            .nodes
            .iter()
            .map(|n| {
                let fields = [
                    self.real(n.at)?,
                    n.axis.to_string(),
                    n.low.to_string(),
                    n.high.to_string(),
                ];
                Ok(format!(
                    "    {}",
                    self.record("Node", ["at", "axis", "low", "high"], &fields)
                ))
            })
            .collect();
        Ok(lines?.join(",\n"))
    }

    /// The regular grid; nothing where the tree is walked.
    fn grid(&self, plan: &Plan) -> Result<Option<Value>, WriteError> {
        let Some(grid) = &plan.grid else {
            return Ok(None);
        };
        let cuts: Vec<Value> = grid
            .cuts
            .iter()
            .map(|cuts| {
                // No θ lies beyond the last cell.
                let ends = [&cuts[..], &[f64::from(f32::MAX)]].concat();
                Ok(context! { count => ends.len(), values => self.rows(&ends, 6)? })
            })
            .collect::<Result<_, WriteError>>()?;
        let rows: Vec<String> = grid
            .boxes
            .chunks(16)
            .map(|row| {
                let texts: Vec<String> = row.iter().map(i64::to_string).collect();
                format!("    {}", texts.join(", "))
            })
            .collect();
        Ok(Some(context! {
            cells => grid.cells.clone(),
            cuts,
            scale => self.list(&grid.scale)?,
            narrow => grid.is_narrow(),
            n_boxes => grid.boxes.len(),
            boxes => rows.join(",\n"),
        }))
    }

    /// A record: braces in C, a struct literal where brackets differ.
    fn record<const K: usize>(
        &self,
        name: &str,
        fields: [&str; K],
        values: &[String; K],
    ) -> String {
        if self.spelling.open == "{" {
            return self.braces(&values.join(", "));
        }
        let pairs: Vec<String> = fields
            .iter()
            .zip(values)
            .map(|(f, v)| format!("{f}: {v}"))
            .collect();
        format!("{name} {{ {} }}", pairs.join(", "))
    }

    fn boxes(&self, plan: &Plan) -> Result<Vec<Value>, WriteError> {
        let tables: Vec<&PlanTable> = plan.tables().collect();
        plan.boxes
            .iter()
            .enumerate()
            .map(|(i, b)| {
                let inverse: Vec<f64> = b.half_width.iter().map(|w| 1.0 / w).collect();
                let places: Vec<String> = tables
                    .iter()
                    .flat_map(|t| [t.starts[i], t.box_shapes[i]])
                    .map(|v| v.to_string())
                    .collect();
                Ok(context! {
                    centre => self.list(&b.centre)?,
                    inverse => self.list(&inverse)?,
                    places => places.join(", "),
                    place => places,
                })
            })
            .collect()
    }

    fn table(
        &self,
        name: &str,
        what: &str,
        t: &PlanTable,
        n_rigid: usize,
    ) -> Result<Value, WriteError> {
        let mut first = 0;
        let shapes: Vec<String> = t
            .shapes
            .iter()
            .map(|runs| {
                let start = first;
                first += runs.len();
                let fields = [start, first, n_rows(runs), shape_degree(runs)];
                let fields = fields.map(|v| v.to_string());
                let names = ["first_run", "end_run", "rows", "degree"];
                format!("    {}", self.record("Shape", names, &fields))
            })
            .collect();
        let runs: Vec<String> = t.shapes.iter().flatten().map(|r| self.run(r)).collect();
        let (term_lists, products) = self.term_lists(t);
        let common = t.term_lists.first().filter(|_| t.common > 0).map(|list| {
            context! {
                boxes => t.common,
                all => t.common == t.box_shapes.len(),
                rows => list.rows.len(),
                degree => list.degree,
                products => &list.products,
            }
        });
        let width = match t.gradients {
            true => t.lanes,
            false if t.columns <= 8 => t.columns,
            false => 6,
        };
        Ok(context! {
            name,
            upper => name.to_ascii_uppercase(),
            what,
            columns => t.columns,
            gradients => t.gradients,
            powers => t.powers,
            n_terms => t.n_terms().max(1 + 2 * n_rigid),
            lanes => t.lanes,
            n_term_lists => term_lists.len(),
            term_lists => term_lists.join(",\n"),
            common,
            n_products => products.len(),
            products => products.join(",\n"),
            n_constants => t.constants.len(),
            constants => self.rows(&t.constants, 6)?,
            n_shapes => t.shapes.len(),
            shapes => shapes.join(",\n"),
            n_runs => runs.len(),
            runs => runs.join(",\n"),
            n_coefficients => t.coefficients.len(),
            coefficients => self.rows(&t.coefficients, width)?,
        })
    }

    /// Lists of terms, and the factors of all their products.
    fn term_lists(&self, t: &PlanTable) -> (Vec<String>, Vec<String>) {
        let mut products = Vec::new();
        let lists = t
            .term_lists
            .iter()
            .map(|list| {
                let first = products.len();
                products.extend(list.products.iter().map(|&(left, right)| {
                    let fields = [left, right].map(|v| v.to_string());
                    format!("    {}", self.record("Product", ["left", "right"], &fields))
                }));
                let fields = [list.degree, first, products.len()].map(|v| v.to_string());
                let names = ["degree", "first_product", "end_product"];
                format!("    {}", self.record("TermList", names, &fields))
            })
            .collect();
        (lists, products)
    }

    fn run(&self, run: &Run) -> String {
        if run.degrees.is_empty() {
            return format!(
                "    {}",
                self.record("Run", ["count"], &[run.count.to_string()])
            );
        }
        let degrees: Vec<String> = run.degrees.iter().map(u8::to_string).collect();
        let degrees = self.braces(&degrees.join(", "));
        let fields = [run.count.to_string(), run.folds.to_string(), degrees];
        format!(
            "    {}",
            self.record("Run", ["count", "folds", "degree"], &fields)
        )
    }

    fn inequalities(&self, model: &ReducedModel) -> Result<Vec<Value>, WriteError> {
        let domain = &model.layout.domain;
        domain
            .inequalities
            .iter()
            .map(|i| {
                let coefficients = self.list(&i.coefficients)?;
                Ok(context! { coefficients, bound => self.real(i.bound)? })
            })
            .collect()
    }

    fn entry_lists(&self, plan: &Plan, wanted: impl Fn(Group) -> bool) -> Vec<Value> {
        let line = |e: &Entry| {
            let fields = [e.value, e.i, e.j, e.k].map(|v| v.to_string());
            format!(
                "    {}",
                self.record("Entry", ["value", "i", "j", "k"], &fields)
            )
        };
        Group::ALL
            .iter()
            .filter(|&&g| wanted(g))
            .map(|&g| {
                let (name, comment) = g.describe();
                let rows: Vec<String> = plan.list(g).iter().map(line).collect();
                context! {
                    name,
                    upper => name.to_ascii_uppercase(),
                    comment,
                    count => rows.len(),
                    rows => rows.join(",\n"),
                }
            })
            .collect()
    }

    fn points(&self, sampled: &samples::Samples) -> Result<Vec<Value>, WriteError> {
        sampled
            .points
            .iter()
            .map(|p| {
                Ok(context! {
                    eta => self.list(&p.eta)?,
                    force => self.list(&p.force)?,
                    motion => self.list(&p.motion)?,
                    status => match p.status {
                        Status::Inside => 0,
                        Status::Clamped => 1,
                        Status::Undefined => 2,
                        Status::NotFinite => 3,
                    },
                })
            })
            .collect()
    }

    /// What may be changed at run time, and what the model holds of it.
    fn parameters(&self, model: &ReducedModel, plan: &Plan) -> Result<Value, WriteError> {
        let p = &model.layout.parameters;
        let zeros = vec![0.0; model.layout.n_rigid];
        // Nothing where the model holds nothing that is free.
        let held = |values: &[f64]| -> Result<Option<String>, WriteError> {
            let any = values.iter().any(|v| *v != 0.0);
            any.then(|| self.list(values)).transpose()
        };
        let terms = [Group::GravityPotential, Group::GravityForce];
        Ok(context! {
            runtime_gravity => p.gravity_at_runtime,
            gravity_terms => terms.iter().any(|g| !plan.list(*g).is_empty()),
            has_gravity => p.gravity_at_runtime || plan.n_outputs > 0,
            held => context! {
                payload_mass => held(&p.payload_mass)?,
                rotor_inertia => held(&p.rotor_inertia)?,
                viscous => held(&p.viscous)?,
            },
            nominal => context! {
                gravity => self.list(&p.gravity)?,
                payload_mass => self.list(&p.payload_mass)?,
                rotor_inertia => self.list(&p.rotor_inertia)?,
                viscous => self.list(&p.viscous)?,
                coulomb => self.list(&p.coulomb)?,
                zeros => self.list(&zeros)?,
            },
        })
    }

    /// Literals that kernels need.
    fn numbers(&self) -> Result<Value, WriteError> {
        let single = self.spelling.single;
        Ok(context! {
            single,
            zero => self.real(0.0)?,
            half => self.real(0.5)?,
            one => self.real(1.0)?,
            two => self.real(2.0)?,
            six => self.real(6.0)?,
            eight => self.real(8.0)?,
            billion => self.real(1e9)?,
            minus_billion => self.real(-1e9)?,
            pi => self.real(std::f64::consts::PI)?,
            // Energies go with the square.
            converged => self.real(super::FEEDFORWARD_CONVERGED[usize::from(single)].powi(2))?,
            near => self.real(super::FEEDFORWARD_NEAR[usize::from(single)].powi(2))?,
            modal_width => self.real(1.0 / 64.0)?,
            series_terms => 14,
            overflow => self.real(if single { 1e30 } else { 1e300 })?,
        })
    }
}
