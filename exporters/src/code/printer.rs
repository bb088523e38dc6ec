//! Numbers, tables and lists as templates print them.

use super::literal::real;
use super::plan::{Entry, Group, Plan, PlanTable};
use super::runs::{Run, n_rows, shape_degree};
use super::samples;
use crate::WriteError;
use minijinja::{Value, context};
use reducer::reduced_model::{ReducedModel, Status};

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

/// Prints numbers and tables as a language spells them.
pub(super) struct Printer {
    pub spelling: Spelling,
}

impl Printer {
    pub fn real(&self, value: f64) -> Result<String, WriteError> {
        real(value, self.spelling.single, self.spelling.suffix)
    }

    pub fn list(&self, values: &[f64]) -> Result<String, WriteError> {
        let texts: Result<Vec<_>, _> = values.iter().map(|&v| self.real(v)).collect();
        Ok(texts?.join(", "))
    }

    /// Numbers in lines of `width`, indented.
    pub fn rows(&self, values: &[f64], width: usize) -> Result<String, WriteError> {
        let lines: Result<Vec<_>, WriteError> = values
            .chunks(width.clamp(1, 8))
            .map(|row| Ok(format!("    {}", self.list(row)?)))
            .collect();
        Ok(lines?.join(",\n"))
    }

    fn braces(&self, inside: &str) -> String {
        format!("{} {inside} {}", self.spelling.open, self.spelling.close)
    }

    pub fn tree(&self, plan: &Plan) -> Result<String, WriteError> {
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
    pub fn grid(&self, plan: &Plan) -> Result<Option<Value>, WriteError> {
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

    pub fn boxes(&self, plan: &Plan) -> Result<Vec<Value>, WriteError> {
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

    pub fn table(
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

    pub fn inequalities(&self, model: &ReducedModel) -> Result<Vec<Value>, WriteError> {
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

    pub fn entry_lists(&self, plan: &Plan, wanted: impl Fn(Group) -> bool) -> Vec<Value> {
        let line = |e: &Entry| {
            let [value, i, j, k, l] = [e.value, e.i, e.j, e.k, e.l].map(|v| v.to_string());
            let record = if self.spelling.open == "{" {
                self.braces(&[value, i, j, k, l].join(", "))
            } else {
                self.record("Entry", ["value", "i", "j", "k"], &[value, i, j, k])
            };
            format!("    {record}")
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

    pub fn points(&self, sampled: &samples::Samples) -> Result<Vec<Value>, WriteError> {
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
    pub fn parameters(&self, model: &ReducedModel, plan: &Plan) -> Result<Value, WriteError> {
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
    pub fn numbers(&self) -> Result<Value, WriteError> {
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
