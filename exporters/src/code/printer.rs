//! Numbers, tables and lists as templates print them.

use super::groups::describe;
use super::literal::real;
use super::samples;
use crate::WriteError;
use kernel::{Entry, Group};
use minijinja::{Value, context};
use reducer::reduced_model::plan::{Plan, PlanTable};
use reducer::reduced_model::{ReducedModel, Status};

/// Prints numbers and, for C, tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printer {
    pub single: bool,
    /// Suffix of single-precision literals.
    pub suffix: &'static str,
}

/// Whole numbers as an initialiser of C.
fn braces<T: ToString>(numbers: &[T]) -> String {
    format!("{{ {} }}", join(numbers))
}

fn join<T: ToString>(numbers: &[T]) -> String {
    let texts: Vec<String> = numbers.iter().map(T::to_string).collect();
    texts.join(", ")
}

/// Lines of a table, indented.
fn lines(rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.map(|row| format!("    {row}")).collect();
    rows.join(",\n")
}

impl Printer {
    pub fn real(&self, value: f64) -> Result<String, WriteError> {
        real(value, self.single, self.suffix)
    }

    pub fn list(&self, values: &[f64]) -> Result<String, WriteError> {
        let texts: Result<Vec<_>, _> = values.iter().map(|&v| self.real(v)).collect();
        Ok(texts?.join(", "))
    }

    /// Numbers in lines of `width`, indented.
    pub fn rows(&self, values: &[f64], width: usize) -> Result<String, WriteError> {
        let rows: Result<Vec<_>, WriteError> = values
            .chunks(width.clamp(1, 8))
            .map(|row| self.list(row))
            .collect();
        Ok(lines(rows?.into_iter()))
    }

    pub fn tree(&self, plan: &Plan) -> Result<String, WriteError> {
        let rows: Result<Vec<_>, WriteError> = plan
            .nodes
            .iter()
            .map(|n| {
                let places = join(&[n.axis, n.low, n.high]);
                Ok(format!("{{ {}, {places} }}", self.real(n.at)?))
            })
            .collect();
        Ok(lines(rows?.into_iter()))
    }

    /// The regular grid; nothing where the tree is walked.
    pub fn grid(&self, plan: &Plan) -> Result<Option<Value>, WriteError> {
        let Some(grid) = &plan.grid else {
            return Ok(None);
        };
        let mut rest = &grid.ends[..];
        let mut cuts = Vec::new();
        for count in &grid.cells {
            let (ends, others) = rest.split_at(*count);
            rest = others;
            cuts.push(context! { count => ends.len(), values => self.rows(ends, 6)? });
        }
        Ok(Some(context! {
            cells => grid.cells.clone(),
            cuts,
            scale => self.list(&grid.scale)?,
            narrow => grid.is_narrow(),
            n_boxes => grid.boxes.len(),
            boxes => lines(grid.boxes.chunks(16).map(join)),
        }))
    }

    pub fn boxes(&self, plan: &Plan) -> Result<Vec<Value>, WriteError> {
        let s = plan.n_rigid;
        let numbers = plan.boxes.chunks_exact(2 * s).enumerate();
        numbers
            .map(|(i, b)| {
                let place = |t: &PlanTable| match t.gradients {
                    true => std::iter::once(t.degree(i))
                        .chain(t.moving.lists.get(i).copied())
                        .collect(),
                    false => t.places[i].to_vec(),
                };
                let places: Vec<u32> = plan.tables().flat_map(place).collect();
                Ok(context! {
                    centre => self.list(&b[..s])?,
                    inverse => self.list(&b[s..])?,
                    places => join(&places),
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
        let stride = n_rigid + 1;
        let run = |run: &[u8]| match n_rigid {
            1 => braces(&run[..1]),
            _ => format!("{{ {}, {} }}", join(&run[..2]), braces(&run[2..])),
        };
        let common = t.common.as_ref().map(|common| {
            context! {
                boxes => common.boxes,
                all => common.boxes == t.places.len(),
                rows => common.rows,
                degree => common.degree,
                products => &common.products,
            }
        });
        let width = match t.gradients {
            true if t.lanes > 1 => t.lanes,
            true => 6,
            false if t.columns <= 8 => t.columns,
            false => 6,
        };
        // Of a table of constants compilers follow recurrences further than they ever go, and warn of short arrays.
        let least = match name {
            "quantities" => 1 + 3 * n_rigid,
            _ => 1 + n_rigid,
        };
        // Rows begin behind those of the constant terms, which compilers take for a mistake where nothing is there.
        let mut coefficients = t.coefficients.clone();
        if !t.gradients && coefficients.len() == t.columns {
            coefficients.resize(2 * t.columns, 0.0);
        }
        Ok(context! {
            name,
            upper => name.to_ascii_uppercase(),
            what,
            columns => t.columns,
            gradients => t.gradients,
            powers => t.powers,
            n_terms => t.n_terms.max(least),
            lanes => t.lanes,
            n_term_lists => t.lists.len(),
            term_lists => lines(t.lists.iter().map(|l| braces(l))),
            common,
            n_products => t.products.len(),
            products => lines(t.products.iter().map(|p| braces(p))),
            values => t.values(),
            n_constants => t.constants.len(),
            constants => self.rows(&t.constants, 6)?,
            n_combined => t.combined.ends.len(),
            n_combined_terms => t.combined.factors.len(),
            combined_ends => lines(t.combined.ends.chunks(16).map(join)),
            combined_columns => lines(t.combined.columns.chunks(16).map(join)),
            combined_factors => self.rows(&t.combined.factors, 6)?,
            n_shapes => t.shapes.len(),
            shapes => lines(t.shapes.iter().map(|s| braces(&s[..2]))),
            groups => t.groups,
            n_groups => t.places.len(),
            places => lines(t.places.iter().map(|p| braces(p))),
            n_runs => t.runs.len() / stride,
            runs => lines(t.runs.chunks_exact(stride).map(run)),
            moving => !t.moving.lists.is_empty(),
            moving_rows => lines(t.moving.rows.iter().map(|r| braces(r))),
            n_moving_terms => t.moving.terms.len(),
            moving_terms => lines(t.moving.terms.chunks(16).map(join)),
            n_coefficients => coefficients.len(),
            coefficients => self.rows(&coefficients, width)?,
        })
    }

    pub fn entry_lists(&self, plan: &Plan, wanted: impl Fn(Group) -> bool) -> Vec<Value> {
        let numbers = |e: &Entry| {
            let indices = [e.i, e.j, e.k, e.l].map(u32::from);
            braces(&[&[e.value][..], &indices].concat())
        };
        let groups = Group::ALL.into_iter().filter(|g| wanted(*g));
        groups
            .map(|g| {
                let (name, comment) = describe(g);
                let list = plan.list(g);
                context! {
                    name,
                    comment,
                    count => list.len(),
                    rows => lines(list.iter().map(numbers)),
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
                        Status::Bent => 4,
                    },
                })
            })
            .collect()
    }

    /// What may be changed at run time, and what the model holds of it.
    pub fn parameters(&self, model: &ReducedModel, plan: &Plan) -> Result<Value, WriteError> {
        let p = &model.layout.parameters;
        let zeros = vec![0.0; model.layout.n_rigid];
        let held = plan.model().held;
        // Nothing where the model holds nothing that is free.
        let list = |values: &[f64]| -> Result<Option<String>, WriteError> {
            let any = !values.is_empty();
            any.then(|| self.list(values)).transpose()
        };
        Ok(context! {
            runtime_gravity => p.gravity_at_runtime,
            gravity_terms => plan.model().has_gravity_terms(),
            has_gravity => p.gravity_at_runtime || plan.n_outputs > 0,
            held => context! {
                payload_mass => list(held.payload_mass)?,
                rotor_inertia => list(held.rotor_inertia)?,
                viscous => list(held.viscous)?,
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

    /// Literals that templates need.
    pub fn numbers(&self) -> Result<Value, WriteError> {
        use kernel::Number;
        let (settled, near) = match self.single {
            true => (f64::from(f32::SETTLED), f64::from(f32::NEAR)),
            false => (f64::SETTLED, f64::NEAR),
        };
        Ok(context! {
            single => self.single,
            zero => self.real(0.0)?,
            half => self.real(0.5)?,
            one => self.real(1.0)?,
            two => self.real(2.0)?,
            six => self.real(6.0)?,
            eight => self.real(8.0)?,
            billion => self.real(1e9)?,
            minus_billion => self.real(-1e9)?,
            pi => self.real(std::f64::consts::PI)?,
            converged => self.real(settled)?,
            near => self.real(near)?,
            modal_width => self.real(1.0 / 64.0)?,
            smallest_scale => self.real(kernel::SMALLEST_SCALE)?,
            series_terms => 14,
            overflow => self.real(if self.single { 1e30 } else { 1e300 })?,
        })
    }
}
