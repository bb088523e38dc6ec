//! What a call of generated code costs: upper bounds that its header states.

mod added;

use super::plan::{Group, Plan, PlanTable};
use super::runs::{Run, shape_degree};
use super::terms::TermList;
use added::Added;
use reducer::reduced_model::ModelForm;
use std::ops::{Add, Mul};

/// Floating-point operations of one call. Divisions and roots count as multiplications,
/// subtractions as additions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    pub multiplications: usize,
    pub additions: usize,
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            multiplications: self.multiplications + other.multiplications,
            additions: self.additions + other.additions,
        }
    }
}

impl Mul<Cost> for usize {
    type Output = Cost;
    fn mul(self, one: Cost) -> Cost {
        Cost {
            multiplications: self * one.multiplications,
            additions: self * one.additions,
        }
    }
}

const fn cost(multiplications: usize, additions: usize) -> Cost {
    Cost {
        multiplications,
        additions,
    }
}

/// Costs of the functions, in the order of the header; `with` parameters of a call, all of them in use,
/// or without any.
pub(super) fn costs(plan: &Plan, with: bool) -> Vec<(&'static str, Cost)> {
    let (n, s) = (plan.n, plan.n_rigid);
    let added = if with {
        Added::new(plan)
    } else {
        Added::default()
    };
    let fields = locate(plan) + evaluation(&plan.dynamics, s);
    let motion = plan.motion.as_ref();
    let motion_fields = motion.map_or(Cost::default(), |t| locate(plan) + evaluation(t, s));
    let equations = equations(plan);
    let residual = equations + added.residual;
    let product = n * n * n;
    let solve = cost(n * (n + 1), n * (n - 1));
    let factor = if plan.form == ModelForm::Direct || with {
        cost(product + n, product)
    } else {
        Cost::default()
    };
    // Finite arguments: a sum that NaN and infinities spoil.
    let begin = cost(3 * n, 3 * n) + added.check;
    let inverse = begin + fields + residual + added.friction + finite(n);
    let forward = begin
        + fields
        + residual
        + added.mass
        + added.friction
        + factor
        + solve
        + cost(0, n)
        + finite(n);
    let blocks = match plan.form {
        ModelForm::Lagrangian => cost((2 * n + 4) * product, (2 * n + 4) * product),
        ModelForm::Direct => Cost::default(),
    };
    let load_map = if plan.list(Group::LoadMap).is_empty() {
        Cost::default()
    } else {
        motion_fields
    };
    let coefficients = added.check
        + fields
        + residual
        + blocks
        + load_map
        + added.gyroscopic
        + cost(n * n * n, 2 * n * n * n)
        + finite(n + n * n + product);
    let outputs = begin + plan.n_outputs * (output(plan) + finite(18 + 6 * n)) + motion_fields;
    let modal = n - s;
    let stiffness = cost(
        product + modal * modal * modal,
        product + modal * modal * modal,
    );
    let iterations = if modal > 0 {
        super::FEEDFORWARD_ITERATIONS
    } else {
        0
    };
    let feedforward = begin
        + fields
        + (iterations + 1) * residual
        + added.friction
        + iterations * (solve + cost(modal + 2, 2 * modal))
        + iterations.min(1) * stiffness
        + finite(2 * n);
    let linearize = forward
        + s * (rates(&plan.dynamics, s) + added.by_theta)
        + (2 * s) * equations
        + (4 * n - 2 * s) * residual
        + (3 * n) * (solve + cost(n, 2 * n))
        + (2 * s)
            * cost(
                plan.dynamics.columns * per_column(&plan.dynamics, s),
                plan.dynamics.columns * per_column(&plan.dynamics, s),
            )
        + motion.map_or(Cost::default(), |t| rates(t, s))
        + outputs
        + finite(6 * n * n + 18 * n * plan.n_outputs);
    let mut list = vec![
        ("coefficients", coefficients),
        ("inverse_dynamics", inverse),
        ("forward_dynamics", forward),
    ];
    if plan.n_outputs > 0 {
        list.push(("outputs", outputs));
    }
    list.extend([
        ("state_derivative", forward),
        ("linearize", linearize),
        ("feedforward", feedforward),
        (
            "step",
            4 * (forward + cost(4 * n + 2, 4 * n)) + cost(4 * n, 2 * n) + finite(2 * n + 1),
        ),
    ]);
    list
}

/// Making sure that so many numbers are finite.
const fn finite(count: usize) -> Cost {
    cost(0, count)
}

/// Putting θ into the domain.
fn locate(plan: &Plan) -> Cost {
    let s = plan.n_rigid;
    let grid = plan.grid.as_ref().map_or(0, |_| s);
    finite(s)
        + plan.n_inequalities * cost(s + 2, 2 * s)
        + plan.n_periodic * cost(2, 6)
        + grid * cost(1, 1)
}

/// Values, and gradients where they are needed, of a table in its most expensive box.
fn evaluation(table: &PlanTable, s: usize) -> Cost {
    if !table.gradients {
        let of_list = |list: &TermList| terms(list, s) + sums(list, table.columns);
        let all = table.term_lists.iter().map(of_list);
        return all.max().unwrap_or_default();
    }
    let of_shape = |runs: &Vec<Run>| {
        let values: usize = runs.iter().map(|r| r.count - 1).sum();
        let slopes: usize = runs.iter().map(|r| r.count.saturating_sub(2)).sum();
        let folds: usize = runs
            .iter()
            .map(|r| {
                let first = if s > 1 { 3 } else { 0 };
                first + (1..r.folds.max(1)).map(|level| level + 3).sum::<usize>()
            })
            .sum();
        if table.powers {
            let sums = table.columns * (values + slopes + folds);
            return cost(sums + table.columns * s, sums) + s * cost(1, 1);
        }
        let sums = table.columns * (2 * values + folds);
        cost(sums, sums) + basis(shape_degree(runs), s)
    };
    table.shapes.iter().map(of_shape).max().unwrap_or_default()
}

/// Terms of a box; those of the second degree are there in any case.
fn terms(list: &TermList, s: usize) -> Cost {
    let recurrence = 1 + list.degree.saturating_sub(2);
    s * (cost(1, 1) + recurrence * cost(2, 1)) + list.products.len() * cost(1, 0)
}

/// Rows times terms, the first of which is one.
fn sums(list: &TermList, columns: usize) -> Cost {
    let sums = (list.rows.len() - 1) * columns;
    cost(sums, sums)
}

fn basis(degree: usize, s: usize) -> Cost {
    s * (cost(2, 1) + degree.saturating_sub(1) * cost(7, 3))
}

/// Numbers per column: the value, and the gradient where it is needed.
fn per_column(table: &PlanTable, s: usize) -> usize {
    if table.gradients { s + 1 } else { 1 }
}

/// Derivatives of values and gradients along a direction.
fn rates(table: &PlanTable, s: usize) -> Cost {
    if !table.gradients {
        let of_list = |list: &TermList| {
            let recurrence = list.degree.saturating_sub(1);
            let singles = s * (cost(1, 0) + recurrence * cost(3, 2));
            let products = list.products.len() * cost(2, 1);
            terms(list, s) + singles + products + sums(list, table.columns)
        };
        let all = table.term_lists.iter().map(of_list);
        return all.max().unwrap_or_default();
    }
    let of_shape = |runs: &Vec<Run>| {
        let rows: usize = runs.iter().map(|r| r.count).sum();
        let term = cost(s * s * (s + 1), s * (s + 1));
        let sums = table.columns * per_column(table, s);
        rows * (term + cost(sums, sums)) + 3 * basis(shape_degree(runs), s)
    };
    table.shapes.iter().map(of_shape).max().unwrap_or_default()
}

fn equations(plan: &Plan) -> Cost {
    let count = |group: Group| plan.list(group).len();
    let (n, s) = (plan.n, plan.n_rigid);
    let symmetric = |group: Group| count(group) * cost(2, 2);
    if plan.form == ModelForm::Direct {
        return n * n * cost(1, 0)
            + symmetric(Group::Mass)
            + symmetric(Group::Stiffness)
            + symmetric(Group::Damping)
            + count(Group::Gyroscopic) * cost(1, 1)
            + count(Group::Force) * cost(0, 1)
            + count(Group::GravityForce) * cost(1, 1);
    }
    let values = plan.dynamics.columns + plan.dynamics.constants.len();
    let triangle = n * (n + 1) / 2;
    cost(s * values, s * values)
        + count(Group::MassFactor) * cost(1, 2)
        + count(Group::MassSlope) * cost(7, 4)
        + triangle * cost(5, 5)
        + count(Group::StiffnessFactor) * cost(3, 2)
        + count(Group::DampingFactor) * cost(2, 2)
        + symmetric(Group::Damping)
        + count(Group::Force) * cost(0, 1)
        + count(Group::GravityForce) * cost(2 * s + 1, s + 1)
        + count(Group::GravityPotential) * cost(s, s)
        + s * cost(plan.dynamics.columns, plan.dynamics.columns + 1)
}

fn output(plan: &Plan) -> Cost {
    let (n, s) = (plan.n, plan.n_rigid);
    let turned = if plan.has_turn() {
        cost(180, 120) + (n + s + 3) * cost(18, 12)
    } else {
        Cost::default()
    };
    let amplitudes = plan.list(Group::Amplitude).len() / plan.n_outputs.max(1) + 6 * n;
    cost(40, 30) + s * cost(22, 14) + amplitudes * cost(s + 1, s + 1) + n * cost(6, 6) + turned
}

/// Bytes of tables.
pub(super) fn constant_bytes(plan: &Plan, single: bool) -> usize {
    let real = if single { 4 } else { 8 };
    let s = plan.n_rigid;
    let of_tables: usize = plan
        .tables()
        .map(|t| {
            let runs: usize = t.shapes.iter().map(Vec::len).sum();
            (t.coefficients.len() + t.constants.len()) * real
                + runs * (1 + if s > 1 { s } else { 0 })
                + t.shapes.len() * 16
                + t.term_lists.len() * 12
                + t.term_lists
                    .iter()
                    .map(|l| l.products.len() * 4)
                    .sum::<usize>()
        })
        .sum();
    let n_tables = 1 + usize::from(plan.motion.is_some());
    let entries: usize = plan.entries.values().map(Vec::len).sum();
    let tree = if let Some(grid) = &plan.grid {
        let cuts: usize = grid.cuts.iter().map(|c| c.len() + 1).sum();
        grid.boxes.len() * if grid.is_narrow() { 1 } else { 2 } + (cuts + s) * real
    } else if plan.nodes.len() > 1 {
        plan.nodes.len() * (real + if single { 12 } else { 16 })
    } else {
        0
    };
    let boxes = plan.boxes.len() * (2 * s * real + 8 * n_tables);
    of_tables + entries * 6 + tree + boxes + 2 * s * real
}

/// Bytes of stack of the deepest chain of calls, which starts at the linearisation.
pub(super) fn stack_bytes(plan: &Plan, single: bool) -> usize {
    let real = if single { 4 } else { 8 };
    let (n, s) = (plan.n, plan.n_rigid);
    let values = |t: &PlanTable| t.columns + t.constants.len();
    let scratch = |t: &PlanTable| t.columns * (s * s + s + 2) + 2 * t.n_terms().max(1 + 2 * s);
    let motion = plan.motion.as_ref();
    let dynamics_fields = (1 + s) * values(&plan.dynamics);
    let motion_fields = motion.map_or(0, |t| (1 + s) * values(t));
    let basis = 2 * s * plan.degrees();
    let deepest_sum = scratch(&plan.dynamics).max(motion.map_or(0, scratch));
    let evaluation = 2 * basis + deepest_sum;
    let equations = 2 * values(&plan.dynamics) + 2 * n * n + 5 * n;
    let parameters = 2 * motion_fields + 6 * n;
    let outputs = 2 * motion_fields + 9 * n + 24 + 4 * s;
    let linearize = dynamics_fields + n * n + 2 * n;
    let column = 2 * dynamics_fields + 2 * n * n + 6 * n + 2 * s;
    let payload = 3 * motion_fields + motion.map_or(0, values) + 10 * n + s;
    let reals = linearize
        + column.max(outputs)
        + parameters.max(payload)
        + evaluation.max(equations)
        + 2 * n * n;
    (reals * real * 5 / 4 + 2048).next_multiple_of(64)
}
