//! Variables of an FMU in the order of their value references, and what depends on what.

use super::Interface;
use crate::WriteError;
use crate::code::{identifier, plain};
use minijinja::{Value, context};
use reducer::reduced_model::{CoordinateInfo, Evaluator, ReducedModel, Status, Workspace};
use std::collections::BTreeSet;

/// Base units by the name of a unit: kg, m, s, rad.
const UNITS: &[(&str, [i32; 4])] = &[
    ("1", [0, 0, 0, 0]),
    ("N", [1, 1, -2, 0]),
    ("N.m", [1, 2, -2, 0]),
    ("N.m.s/rad", [1, 2, -1, -1]),
    ("N.s/m", [1, 0, -1, 0]),
    ("N/s", [1, 1, -3, 0]),
    ("N/s2", [1, 1, -4, 0]),
    ("kg", [1, 0, 0, 0]),
    ("kg.m2", [1, 2, 0, 0]),
    ("m", [0, 1, 0, 0]),
    ("m/s", [0, 1, -1, 0]),
    ("m/s2", [0, 1, -2, 0]),
    ("m/s3", [0, 1, -3, 0]),
    ("rad", [0, 0, 0, 1]),
    ("rad/s", [0, 0, -1, 1]),
    ("rad/s2", [0, 0, -2, 1]),
    ("rad/s3", [0, 0, -3, 1]),
    ("s", [0, 0, 1, 0]),
];

/// What a value depends on.
#[derive(Clone)]
enum Depends {
    /// On everything.
    All,
    /// On these variables.
    On(Vec<usize>),
    /// On this one, times a constant.
    Constant(usize),
}

/// One variable; its value reference is its place in the list.
struct Variable {
    name: String,
    description: String,
    causality: &'static str,
    variability: &'static str,
    initial: Option<&'static str>,
    start: Option<f64>,
    unit: Option<String>,
    nominal: Option<f64>,
    derivative: Option<usize>,
    depends: Depends,
}

/// All variables and the first of each kind.
pub(super) struct Variables {
    list: Vec<Variable>,
    pub x: usize,
    pub dx: usize,
    pub u: usize,
    pub y: usize,
    pub p: usize,
    pub inner_step: usize,
    pub status: usize,
    /// First of the loads among the inputs.
    pub loads: usize,
    /// First of the points among the outputs.
    pub points: usize,
    used: BTreeSet<String>,
}

/// Attribute of XML.
fn attribute(name: &str, value: &str) -> String {
    format!(" {name}=\"{value}\"")
}

/// A unit of the list, per second as often as wanted; none where base units cannot say it.
fn unit(base: &str, per_second: usize) -> Option<String> {
    let name = format!("{base}{}", ["", "/s", "/s2", "/s3"][per_second]);
    UNITS.iter().any(|u| u.0 == name).then_some(name)
}

/// Dots separate identifiers.
fn structured(name: &str) -> String {
    let parts: Vec<String> = name.split('.').map(identifier).collect();
    parts.join(".")
}

impl Variables {
    pub fn new(
        model: &ReducedModel,
        interface: Interface,
        inner_step: f64,
    ) -> Result<Self, WriteError> {
        let mut all = Self {
            list: Vec::new(),
            x: 0,
            dx: 0,
            u: 0,
            y: 0,
            p: 0,
            inner_step: 0,
            status: 0,
            loads: 0,
            points: 0,
            used: BTreeSet::new(),
        };
        all.add("time", "Time", "independent", "continuous");
        all.with(|v| v.unit = Some("s".to_owned()));
        let theta = start(model)?;
        all.add_states(model, interface, &theta);
        all.add_inputs(model, interface, &theta);
        all.add_outputs(model, interface);
        all.add_parameters(model);
        all.inner_step = all.list.len();
        let words = "Largest step inside a communication step of co-simulation";
        all.add("inner_step", words, "parameter", "fixed");
        all.with(|v| {
            v.start = Some(inner_step);
            v.unit = Some("s".to_owned());
        });
        all.status = all.list.len();
        let words =
            "0 inside the domain, 1 clamped to it, 2 no model there, 3 not finite, 4 bent too far";
        all.add("status", words, "output", "continuous");
        let places = all.rigid(model, interface);
        all.with(|v| v.depends = Depends::On(places));
        Ok(all)
    }

    /// Adds a variable with what follows from causality and variability.
    fn add(
        &mut self,
        name: &str,
        description: &str,
        causality: &'static str,
        variability: &'static str,
    ) {
        let mut unique = name.to_owned();
        while !self.used.insert(unique.clone()) {
            unique = format!("{unique}_{}", self.list.len());
        }
        self.list.push(Variable {
            name: unique,
            description: description.to_owned(),
            causality,
            variability,
            initial: None,
            start: matches!(causality, "input" | "parameter").then_some(0.0),
            unit: None,
            nominal: None,
            derivative: None,
            depends: Depends::All,
        });
    }

    /// Changes the last variable.
    fn with(&mut self, change: impl FnOnce(&mut Variable)) {
        if let Some(last) = self.list.last_mut() {
            change(last);
        }
    }

    /// Coordinates that are states.
    fn free(model: &ReducedModel, interface: Interface) -> &[CoordinateInfo] {
        let coordinates = &model.layout.coordinates;
        match interface {
            Interface::Forces => coordinates,
            Interface::Motion => &coordinates[model.layout.n_rigid..],
        }
    }

    /// References of the actuated coordinates.
    fn rigid(&self, model: &ReducedModel, interface: Interface) -> Vec<usize> {
        let first = match interface {
            Interface::Forces => self.x,
            Interface::Motion => self.u,
        };
        (first..first + model.layout.n_rigid).collect()
    }

    fn add_states(&mut self, model: &ReducedModel, interface: Interface, theta: &[f64]) {
        let free = Self::free(model, interface);
        let n = free.len();
        self.x = self.list.len();
        self.dx = self.x + 2 * n;
        for (i, c) in free.iter().enumerate() {
            let rigid = interface == Interface::Forces && i < model.layout.n_rigid;
            let words = plain(&format!("{} [{}], {:?}", c.name, c.unit, c.kind));
            let name = format!("coordinate.{}", structured(&c.name));
            self.add(&name, &words, "output", "continuous");
            let (at, width) = match rigid {
                true => {
                    let domain = &model.layout.domain;
                    (theta[i], 0.5 * (domain.upper[i] - domain.lower[i]))
                }
                false => (0.0, 1e-3),
            };
            let place = self.x + i;
            self.with(|v| {
                v.initial = Some("exact");
                v.start = Some(at);
                v.nominal = Some(if width > 0.0 { width } else { 1.0 });
                v.unit = unit(&c.unit, 0);
                v.depends = Depends::Constant(place);
            });
        }
        for (i, c) in free.iter().enumerate() {
            let rigid = interface == Interface::Forces && i < model.layout.n_rigid;
            let words = plain(&format!("Rate of {}", c.name));
            let name = format!("rate.{}", structured(&c.name));
            self.add(&name, &words, "output", "continuous");
            let place = self.x + n + i;
            self.with(|v| {
                v.initial = Some("exact");
                v.start = Some(0.0);
                v.nominal = Some(if rigid { 1.0 } else { 1e-1 });
                v.unit = unit(&c.unit, 1);
                v.depends = Depends::Constant(place);
            });
        }
        for i in 0..2 * n {
            let (of, order) = (&free[i % n], 1 + i / n);
            let name = format!("der({})", self.list[self.x + i].name);
            let words = ["Rate of", "Acceleration of"][order - 1];
            let words = plain(&format!("{words} {}", of.name));
            self.add(&name, &words, "local", "continuous");
            let state = self.x + i;
            let depends = match order {
                1 => Depends::Constant(state + n),
                _ => Depends::All,
            };
            self.with(|v| {
                v.initial = Some("calculated");
                v.derivative = Some(state);
                v.unit = unit(&of.unit, order);
                v.depends = depends;
            });
        }
    }

    fn add_inputs(&mut self, model: &ReducedModel, interface: Interface, theta: &[f64]) {
        let layout = &model.layout;
        let rigid = &layout.coordinates[..layout.n_rigid];
        self.u = self.list.len();
        match interface {
            Interface::Forces => {
                for c in rigid {
                    let words = plain(&format!("Force on the mechanism along {}", c.name));
                    let name = format!("force.{}", structured(&c.name));
                    self.add(&name, &words, "input", "continuous");
                    self.with(|v| v.unit = force_unit(&c.unit));
                }
            }
            Interface::Motion => {
                let kinds = ["position", "velocity", "acceleration", "jerk"];
                for (order, kind) in kinds.iter().enumerate() {
                    for (k, c) in rigid.iter().enumerate() {
                        let words = plain(&format!("Prescribed {kind} of {}", c.name));
                        let name = format!("{kind}.{}", structured(&c.name));
                        self.add(&name, &words, "input", "continuous");
                        let at = if order == 0 { theta[k] } else { 0.0 };
                        self.with(|v| {
                            v.unit = unit(&c.unit, order);
                            v.start = Some(at);
                        });
                    }
                }
            }
        }
        self.loads = self.list.len() - self.u;
        for name in &layout.loaded {
            let words = plain(&format!("Load at {name}, along its stated direction"));
            let name = format!("load.{}", structured(name));
            self.add(&name, &words, "input", "continuous");
            self.with(|v| v.unit = Some("N".to_owned()));
        }
    }

    fn add_outputs(&mut self, model: &ReducedModel, interface: Interface) {
        let layout = &model.layout;
        self.y = self.list.len();
        if interface == Interface::Motion {
            for c in &layout.coordinates[..layout.n_rigid] {
                let words = plain(&format!("Force on the mechanism along {}", c.name));
                let name = format!("force.{}", structured(&c.name));
                self.add(&name, &words, "output", "continuous");
                self.with(|v| v.unit = force_unit(&c.unit));
            }
        }
        self.points = self.list.len() - self.y;
        // Neither positions nor velocities depend on forces: importers need no loop for them.
        let n = Self::free(model, interface).len();
        let rigid = self.rigid(model, interface);
        let mut places: Vec<usize> = (self.x..self.x + n).collect();
        let mut motion: Vec<usize> = (self.x..self.x + 2 * n).collect();
        if interface == Interface::Motion {
            places.extend(&rigid);
            motion.extend(self.u..self.u + 2 * layout.n_rigid);
        }
        let (places, motion) = (Depends::On(places), Depends::On(motion));
        let kinds = [
            ("position", 3, "m", &places),
            ("rotation", 9, "1", &places),
            ("velocity", 3, "m/s", &motion),
            ("angular_velocity", 3, "rad/s", &motion),
            ("acceleration", 3, "m/s2", &Depends::All),
        ];
        for point in &layout.outputs {
            for (kind, count, unit, depends) in kinds {
                for i in 0..count {
                    let name = match count {
                        9 => format!("[{},{}]", i / 3 + 1, i % 3 + 1),
                        _ => format!("[{}]", i + 1),
                    };
                    let name = format!("{}.{kind}{name}", structured(point));
                    let words = plain(&format!("{point}: {kind}, inertial axes"));
                    self.add(&name, &words, "output", "continuous");
                    self.with(|v| {
                        v.unit = Some(unit.to_owned());
                        v.depends = depends.clone();
                    });
                }
            }
        }
    }

    fn add_parameters(&mut self, model: &ReducedModel) {
        let layout = &model.layout;
        let nominal = &layout.parameters;
        self.p = self.list.len();
        for (name, &mass) in layout.outputs.iter().zip(&nominal.payload_mass) {
            let words = plain(&format!("Point mass at {name}"));
            let name = format!("payload_mass.{}", structured(name));
            self.add_parameter(&name, &words, mass, Some("kg".to_owned()));
        }
        if nominal.gravity_at_runtime || !layout.outputs.is_empty() {
            let on = match nominal.gravity_at_runtime {
                true => "on mechanism and payloads",
                false => "on payloads; that on the mechanism is fixed",
            };
            for (i, &g) in nominal.gravity.iter().enumerate() {
                let words = format!("Acceleration of gravity {on}");
                let name = format!("gravity[{}]", i + 1);
                self.add_parameter(&name, &words, g, Some("m/s2".to_owned()));
            }
        }
        let zeros = vec![0.0; layout.n_rigid];
        let lists: [(&str, &str, &[f64], [&str; 2]); 4] = [
            (
                "rotor_inertia",
                "Inertia on",
                &nominal.rotor_inertia,
                ["kg", "kg.m2"],
            ),
            (
                "viscous",
                "Viscous friction on",
                &nominal.viscous,
                ["N.s/m", "N.m.s/rad"],
            ),
            (
                "coulomb",
                "Magnitude of Coulomb friction on",
                &zeros,
                ["N", "N.m"],
            ),
            (
                "coulomb_rate",
                "Rate below which Coulomb friction falls to zero on",
                &zeros,
                ["m/s", "rad/s"],
            ),
        ];
        for (kind, words, values, units) in lists {
            for (c, &value) in layout.coordinates.iter().zip(values) {
                let words = plain(&format!("{words} {}", c.name));
                let name = format!("{kind}.{}", structured(&c.name));
                let unit = match c.unit.as_str() {
                    "m" => Some(units[0]),
                    "rad" => Some(units[1]),
                    _ => None,
                };
                self.add_parameter(&name, &words, value, unit.map(str::to_owned));
            }
        }
    }

    fn add_parameter(&mut self, name: &str, words: &str, start: f64, unit: Option<String>) {
        self.add(name, words, "parameter", "tunable");
        self.with(|v| {
            v.start = Some(start);
            v.unit = unit;
        });
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Start values of a range of variables.
    pub fn starts(&self, range: std::ops::Range<usize>) -> Vec<f64> {
        let starts = self.list[range].iter().map(|v| v.start.unwrap_or(0.0));
        starts.collect()
    }

    /// Nominal values of the states.
    pub fn nominals(&self) -> Vec<f64> {
        let states = self.list[self.x..self.dx].iter();
        states.map(|v| v.nominal.unwrap_or(1.0)).collect()
    }

    /// The list as templates print it.
    pub fn values(&self) -> Vec<Value> {
        let number = |name, value: Option<f64>| {
            value.map_or(String::new(), |v| attribute(name, &format!("{v:?}")))
        };
        let texts = |name, text: Option<&str>| text.map_or(String::new(), |t| attribute(name, t));
        self.list
            .iter()
            .map(|v| {
                context! {
                    name => v.name.as_str(),
                    description => v.description.as_str(),
                    causality => v.causality,
                    variability => v.variability,
                    initial => texts("initial", v.initial),
                    unit => texts("unit", v.unit.as_deref()),
                    start => number("start", v.start),
                    nominal => number("nominal", v.nominal),
                    derivative => v.derivative,
                }
            })
            .collect()
    }

    /// Units that are used.
    pub fn units(&self) -> Vec<Value> {
        let used = |name: &str| self.list.iter().any(|v| v.unit.as_deref() == Some(name));
        let base = |powers: &[i32; 4]| -> String {
            let named = ["kg", "m", "s", "rad"].iter().zip(powers);
            let set = named.filter(|(_, p)| **p != 0);
            set.map(|(name, p)| attribute(name, &p.to_string()))
                .collect()
        };
        UNITS
            .iter()
            .filter(|u| used(u.0))
            .map(|(name, powers)| context! { name => *name, base => base(powers) })
            .collect()
    }

    /// Outputs, derivatives and initially unknown variables with their dependencies.
    pub fn structure(&self) -> Value {
        let unknown = |(reference, v): (usize, &Variable)| {
            let text = |shift: usize| {
                let (on, kind): (&[usize], _) = match &v.depends {
                    Depends::All => return String::new(),
                    Depends::On(list) => (list, "dependent"),
                    Depends::Constant(one) => (std::slice::from_ref(one), "constant"),
                };
                let numbers: Vec<String> = on.iter().map(|r| (r + shift).to_string()).collect();
                let kinds = vec![kind; on.len()];
                attribute("dependencies", &numbers.join(" "))
                    + &attribute("dependenciesKind", &kinds.join(" "))
            };
            context! { reference, dependencies_2 => text(1), dependencies_3 => text(0) }
        };
        let chosen = |wanted: &dyn Fn(&Variable) -> bool| -> Vec<Value> {
            let all = self.list.iter().enumerate();
            all.filter(|(_, v)| wanted(v)).map(unknown).collect()
        };
        context! {
            outputs => chosen(&|v| v.causality == "output"),
            derivatives => chosen(&|v| v.derivative.is_some()),
            initial => chosen(&|v| {
                v.derivative.is_some() || (v.causality == "output" && v.initial != Some("exact"))
            }),
        }
    }
}

fn force_unit(of: &str) -> Option<String> {
    match of {
        "m" => Some("N".to_owned()),
        "rad" => Some("N.m".to_owned()),
        _ => None,
    }
}

/// A configuration to start from: zero where the domain holds it, otherwise its middle, or that of a box.
fn start(model: &ReducedModel) -> Result<Vec<f64>, WriteError> {
    let evaluator = Evaluator::new(model)?;
    let mut work = Workspace::default();
    let middle = |(l, u): (&f64, &f64)| 0.5 * (l + u);
    let domain = &model.layout.domain;
    let near = |(l, u): (&f64, &f64)| match *l <= 0.0 && 0.0 <= *u {
        true => 0.0,
        false => middle((l, u)),
    };
    let first: Vec<f64> = domain.lower.iter().zip(&domain.upper).map(near).collect();
    let boxes = model.boxes.iter();
    let others = boxes.map(|b| b.lower.iter().zip(&b.upper).map(middle).collect());
    let mut candidates = std::iter::once(first.clone()).chain(others);
    let defined = |theta: &Vec<f64>| {
        let found = evaluator.coefficients(theta, &mut work);
        found.is_ok_and(|c| c.status == Status::Inside)
    };
    Ok(candidates.find(defined).unwrap_or(first))
}
