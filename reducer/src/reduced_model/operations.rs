//! What a call costs: the kernel run with numbers that count.

use super::ObserverPlan;
use super::plan::Plan;
use kernel::{
    Coefficients, Combining, Estimate, LinearModel, Load, Number, Output, Parameters, Scratch,
    Status,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// Floating-point operations. Divisions, roots, cosines and sines count as multiplications, subtractions as additions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operations {
    /// Products.
    pub multiplications: usize,
    /// Sums.
    pub additions: usize,
}

impl Operations {
    fn most(self, other: Self) -> Self {
        Self {
            multiplications: self.multiplications.max(other.multiplications),
            additions: self.additions.max(other.additions),
        }
    }
}

/// What one call of a function costs at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallCost {
    /// Name of the function.
    pub function: &'static str,
    /// Operations in the most expensive box.
    pub operations: Operations,
    /// Numbers of memory that suffice for the kernel.
    pub memory: usize,
}

/// Boxes of one shape that are tried, at most, until one has a definite mass and stiffness.
const TRIED: usize = 32;

thread_local! {
    static COUNT: Cell<Operations> = const { Cell::new(Operations { multiplications: 0, additions: 0 }) };
}

/// A number that counts what is done with it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct Counted(f64);

fn multiplied(value: f64) -> Counted {
    COUNT.with(|c| {
        let mut now = c.get();
        now.multiplications += 1;
        c.set(now);
    });
    Counted(value)
}

fn added(value: f64) -> Counted {
    COUNT.with(|c| {
        let mut now = c.get();
        now.additions += 1;
        c.set(now);
    });
    Counted(value)
}

macro_rules! operation {
    ($trait:ident, $method:ident, $assign:ident, $assigned:ident, $by:tt, $count:ident) => {
        impl $trait for Counted {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                $count(self.0 $by other.0)
            }
        }
        operation!($assign, $assigned, $by);
    };
    (NoAssign, $assigned:ident, $by:tt) => {};
    ($assign:ident, $assigned:ident, $by:tt) => {
        impl $assign for Counted {
            fn $assigned(&mut self, other: Self) {
                *self = *self $by other;
            }
        }
    };
}

operation!(Add, add, AddAssign, add_assign, +, added);
operation!(Sub, sub, SubAssign, sub_assign, -, added);
operation!(Mul, mul, MulAssign, mul_assign, *, multiplied);
operation!(Div, div, NoAssign, div_assign, /, multiplied);

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Number for Counted {
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);
    const TWO: Self = Self(2.0);
    const EPSILON: Self = Self(f64::EPSILON);
    const MAX: Self = Self(f64::MAX);
    /// Nothing settles: all corrections are counted.
    const SETTLED: Self = Self(f64::NAN);
    const NEAR: Self = Self(f64::NEAR);

    fn of(value: f64) -> Self {
        Self(value)
    }

    /// Generated C takes a number from itself to find out.
    fn is_finite(self) -> bool {
        added(self.0).0.is_finite()
    }

    fn square_root(self) -> Self {
        multiplied(self.0.sqrt())
    }

    fn cosine_sine(self) -> (Self, Self) {
        (multiplied(self.0.cos()), multiplied(self.0.sin()))
    }

    fn whole(self) -> Self {
        Self(self.0.trunc())
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Load<f64> for Counted {
    fn load(stored: f64) -> Self {
        Self(stored)
    }
}

/// Costs of all functions of a model, in the order of headers; with parameters, all of them in use, or
/// without any.
pub fn call_costs(plan: &Plan, with_parameters: bool) -> Vec<CallCost> {
    let calls = Calls::new(plan, with_parameters);
    let mut found: Vec<CallCost> = Vec::new();
    for boxes in boxes_by_shape(plan) {
        let tried = boxes.iter().take(TRIED).map(|&index| calls.at_box(index));
        let (mut last, mut whole) = (Vec::new(), false);
        for (here, is_whole) in tried {
            (last, whole) = (here, is_whole);
            if whole {
                break;
            }
        }
        if found.is_empty() {
            found.clone_from(&last);
        }
        for (most, here) in found.iter_mut().zip(last) {
            most.operations = most.operations.most(here.operations);
            most.memory = most.memory.max(here.memory);
            if !whole {
                // A call that ended early has not shown all that it takes.
                most.memory = plan.memory();
            }
        }
    }
    found
}

/// Costs of an observer's prediction and update, in the most expensive box.
pub fn observer_costs(
    plan: &Plan,
    observer: &ObserverPlan,
    with_parameters: bool,
) -> Vec<CallCost> {
    let mut calls = Calls::new(plan, with_parameters);
    calls.more = observer.view().memory(plan.n, plan.n_outputs);
    let mut found: Vec<CallCost> = Vec::new();
    for boxes in boxes_by_shape(plan) {
        let mut here = Vec::new();
        for &index in boxes.iter().take(TRIED) {
            let costs = calls.observer(observer, index);
            here = costs.iter().map(|(cost, _)| *cost).collect();
            if costs.iter().all(|(_, status)| *status < Status::Undefined) {
                break;
            }
        }
        if found.is_empty() {
            found.clone_from(&here);
        }
        for (most, here) in found.iter_mut().zip(here) {
            most.operations = most.operations.most(here.operations);
        }
    }
    // A call that ended early has not shown all that it takes.
    for cost in &mut found {
        cost.memory = plan.memory() + calls.more;
    }
    found
}

/// Operations of an inverse dynamics of the nominal model.
pub fn inverse_dynamics_cost(plan: &Plan) -> Operations {
    let calls = Calls::new(plan, false);
    let most = boxes_by_shape(plan)
        .into_iter()
        .map(|boxes| calls.inverse_dynamics(&calls.eta(boxes[0])).0.operations);
    most.fold(Operations::default(), Operations::most)
}

/// Boxes by their pairs of shapes; none is empty.
fn boxes_by_shape(plan: &Plan) -> Vec<Vec<usize>> {
    let mut known: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for i in 0..plan.n_boxes() {
        let derived = plan.has_derived().then(|| plan.derived.orders(i));
        let shapes = (plan.dynamics.orders(i), plan.motion.orders(i), derived);
        known.entry(shapes).or_default().push(i);
    }
    known.into_values().collect()
}

/// A model and arguments for its functions.
struct Calls<'a> {
    plan: &'a Plan,
    /// Inequalities that hold everywhere, at the same cost.
    inequalities: Vec<f64>,
    with_parameters: bool,
    payload: Vec<Counted>,
    per_theta: Vec<Counted>,
    /// Memory beyond that of the model's own functions.
    more: usize,
}

impl<'a> Calls<'a> {
    fn new(plan: &'a Plan, with_parameters: bool) -> Self {
        let s = plan.n_rigid;
        let mut inequalities = plan.model().inequalities.to_vec();
        for row in inequalities.chunks_exact_mut(s + 1) {
            row[s] = 1e100;
        }
        let held = plan.model().held.payload_mass.iter();
        let largest = held.fold(0.0_f64, |most, m| most.max(*m));
        Self {
            plan,
            inequalities,
            with_parameters,
            payload: vec![Counted(largest + 0.3); plan.n_outputs],
            per_theta: vec![Counted(0.5); s],
            more: 0,
        }
    }

    fn model(&self) -> Combining<'_, f64> {
        let mut model = self.plan.model();
        model.model.inequalities = &self.inequalities;
        model
    }

    fn parameters(&self) -> Option<Parameters<'_, Counted>> {
        self.with_parameters.then_some(Parameters {
            payload_mass: &self.payload,
            gravity: [Counted(0.1); 3],
            rotor_inertia: &self.per_theta,
            viscous: &self.per_theta,
            coulomb: &self.per_theta,
            coulomb_rate: &self.per_theta,
        })
    }

    /// The centre of a box, by whole periods away where coordinates are periodic.
    fn eta(&self, index: usize) -> Vec<Counted> {
        let m = self.model();
        let s = m.n_rigid;
        let theta = (0..s).map(|k| {
            let period = if m.periodic[k] {
                m.theta_max[k] - m.theta_min[k]
            } else {
                0.0
            };
            Counted(m.boxes[2 * s * index + k] + period)
        });
        theta.chain((s..m.n).map(|_| Counted(0.01))).collect()
    }

    /// Counts what a call does.
    fn count(
        &self,
        function: &'static str,
        call: impl FnOnce(
            &Combining<'_, f64>,
            Option<&Parameters<'_, Counted>>,
            Scratch<'_, Counted>,
        ) -> Status,
    ) -> (CallCost, Status) {
        let mut memory = vec![Counted(0.0); self.plan.memory() + self.more];
        let left = Cell::new(memory.len());
        let total = memory.len();
        let parameters = self.parameters();
        COUNT.set(Operations::default());
        let status = call(
            &self.model(),
            parameters.as_ref(),
            Scratch::measured(&mut memory, &left),
        );
        let cost = CallCost {
            function,
            operations: COUNT.get(),
            memory: total - left.get(),
        };
        (cost, status)
    }

    fn inverse_dynamics(&self, eta: &[Counted]) -> (CallCost, Status) {
        let n = self.plan.n;
        let (rate, accel) = (vec![Counted(0.1); n], vec![Counted(0.2); n]);
        let mut force = vec![Counted(0.0); n];
        self.count("inverse_dynamics", |m, p, scratch| {
            kernel::inverse_dynamics(m, p, [eta, &rate, &accel], &mut force, scratch)
        })
    }

    /// Costs of all functions at the centre of a box, and whether all went to their end.
    fn at_box(&self, index: usize) -> (Vec<CallCost>, bool) {
        let (n, s) = (self.plan.n, self.plan.n_rigid);
        let y = 9 * self.plan.n_outputs;
        let eta = self.eta(index);
        let zeros = |len: usize| vec![Counted(0.0); len];
        let (rate, force) = (vec![Counted(0.1); n], vec![Counted(0.3); n]);
        let mut accel = zeros(n);
        let mut costs = vec![self.coefficients(&eta[..s]), self.inverse_dynamics(&eta)];
        costs.push(self.count("forward_dynamics", |m, p, scratch| {
            kernel::forward_dynamics(m, p, [&eta, &rate, &force], &mut accel, scratch)
        }));
        if self.plan.n_outputs > 0 {
            costs.push(self.outputs(&eta, &rate));
        }
        let mut x = [&eta[..], &rate].concat();
        let mut dx = zeros(2 * n);
        costs.push(self.count("state_derivative", |m, p, scratch| {
            kernel::state_derivative(m, p, &x, &force, &mut dx, scratch)
        }));
        let (mut a, mut b, mut c) = (zeros(4 * n * n), zeros(2 * n * n), zeros(y * 2 * n));
        costs.push(self.count("linearize", |m, p, scratch| {
            let mut out = LinearModel {
                a: &mut a,
                b: &mut b,
                c: &mut c,
            };
            kernel::linearize(m, p, [&eta, &rate, &force], &mut out, scratch)
        }));
        let (mut force_on_theta, mut modal) = (zeros(s), zeros(n - s));
        costs.push(self.count("feedforward", |m, p, scratch| {
            let still = zeros(s);
            let motion = [&eta[..s], &still, &still];
            kernel::feedforward(m, p, motion, &mut force_on_theta, &mut modal, scratch)
        }));
        costs.push(self.count("step", |m, p, scratch| {
            kernel::step(m, p, &mut x, &force, Counted(0.0), scratch)
        }));
        if self.plan.has_derived() {
            costs.push(self.derived(&eta[..s]));
        }
        let whole = costs.iter().all(|(_, status)| *status < Status::Undefined);
        (costs.into_iter().map(|(cost, _)| cost).collect(), whole)
    }

    fn observer(&self, observer: &ObserverPlan, index: usize) -> [(CallCost, Status); 2] {
        let (n, states) = (self.plan.n, observer.states());
        let zeros = |len: usize| vec![Counted(0.0); len];
        let mut x = self.eta(index);
        x.resize(states, Counted(1e-3));
        let (mut root, mut force, mut nis) = (zeros(states * states), zeros(n), Counted(0.0));
        for i in 0..states {
            root[i * states + i] = Counted(1e-3);
        }
        let (given, readings) = (zeros(n), zeros(observer.sensors.len()));
        let view = observer.view();
        let predicted = self.count("observer_predict", |m, p, scratch| {
            let mut e = Estimate {
                x: &mut x,
                root: &mut root,
                force: &mut force,
                nis: &mut nis,
            };
            kernel::observer_predict(m, &view, p, &mut e, &given, scratch)
        });
        let updated = self.count("observer_update", |m, p, scratch| {
            let mut e = Estimate {
                x: &mut x,
                root: &mut root,
                force: &mut force,
                nis: &mut nis,
            };
            kernel::observer_update(m, &view, p, &mut e, &readings, scratch)
        });
        [predicted, updated]
    }

    fn coefficients(&self, theta: &[Counted]) -> (CallCost, Status) {
        let n = self.plan.n;
        let zeros = |len: usize| vec![Counted(0.0); len];
        let (mut mass, mut stiffness, mut damping) = (zeros(n * n), zeros(n * n), zeros(n * n));
        let (mut gyroscopic, mut load_map) = (zeros(n * n * n), zeros(self.plan.n_loaded * n));
        let (mut force, mut gravity) = (zeros(n), zeros(n));
        self.count("coefficients", |m, p, scratch| {
            let mut out = Coefficients {
                mass: &mut mass,
                gyroscopic: &mut gyroscopic,
                stiffness: &mut stiffness,
                damping: &mut damping,
                force: &mut force,
                gravity: &mut gravity,
                load_map: &mut load_map,
            };
            kernel::coefficients(m, p, theta, &mut out, scratch)
        })
    }

    /// Any of the derived quantities: all come from one table.
    fn derived(&self, theta: &[Counted]) -> (CallCost, Status) {
        let list = self.plan.list(kernel::Group::Derived).iter();
        let most = list.map(|e| usize::from(e.i.max(e.j)) + 1).max();
        let size = most.unwrap_or(1);
        let mut out = vec![Counted(0.0); size * size];
        self.count("derived", |m, _, scratch| {
            kernel::derived(m, theta, [0, size], &mut out, scratch)
        })
    }

    fn outputs(&self, eta: &[Counted], rate: &[Counted]) -> (CallCost, Status) {
        type Numbers = ([[Counted; 3]; 3], [Counted; 9], Vec<Counted>);
        fn view(numbers: &mut Numbers) -> Output<'_, Counted> {
            let [position, velocity, angular_velocity] = &mut numbers.0;
            Output {
                position,
                rotation: &mut numbers.1,
                velocity,
                angular_velocity,
                jacobian: &mut numbers.2,
            }
        }
        let zero = Counted(0.0);
        let one: Numbers = ([[zero; 3]; 3], [zero; 9], vec![zero; 6 * self.plan.n]);
        let mut out = vec![one; self.plan.n_outputs];
        self.count("outputs", |m, p, scratch| {
            kernel::outputs(m, p, [eta, rate], &mut out, view, scratch)
        })
    }
}
