//! Generated C and Rust against the evaluator, function by function.

use crate::generated::{Generated, LARGEST_EQUALITY, compilers, norm};
use crate::models::model;
use crate::points::{Parameters, Point, points};
use crate::reference::Reference;
use reducer::reduced_model::ReducedModel;
use std::collections::BTreeMap;

/// Of the norm of a block, in double precision.
const DOUBLE: f64 = 1e-13;
/// As many units in the last place, in single precision.
const SINGLE: f64 = DOUBLE * (1_u64 << 29) as f64;

/// Largest errors, by function and block, as parts of what is allowed.
#[derive(Default)]
struct Worst(BTreeMap<String, (f64, String)>);

impl Worst {
    fn add(&mut self, what: String, found: &[f64], expected: &[f64], allowed: f64, place: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let difference: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
        let error = norm(&difference);
        let part = match error / allowed {
            _ if error == 0.0 => 0.0,
            part if part >= 0.0 => part,
            // Neither a number that is not one nor a bound below zero counts as agreement.
            _ => f64::INFINITY,
        };
        let entry = self.0.entry(what).or_default();
        if part > entry.0 {
            *entry = (
                part,
                format!("{error:e} of {:e} at {place}", norm(expected)),
            );
        }
    }

    fn check(self, title: &str) {
        let mut lines: Vec<String> = Vec::new();
        for (what, (part, place)) in &self.0 {
            eprintln!("{title}: {what}: {part:.3} of the allowed error, {place}");
            if *part > 1.0 {
                lines.push(format!("{what}: {part:.3e} of the allowed error, {place}"));
            }
        }
        assert!(lines.is_empty(), "{title}\n{}", lines.join("\n"));
    }
}

/// One implementation at the points of a model.
struct Comparison<'a> {
    reference: &'a Reference<'a>,
    library: &'a Generated,
    tolerance: f64,
    /// Distance from 1 to the next number.
    epsilon: f64,
    step: f64,
    single: bool,
    /// A number whose square is beyond the range of numbers.
    huge: f64,
    worst: Worst,
}

impl Comparison<'_> {
    /// Calls a function with and without parameters.
    fn call(
        &self,
        function: &str,
        p: Option<&Parameters>,
        inputs: &[&[f64]],
        results: &[usize],
    ) -> (i32, Vec<Vec<f64>>) {
        let long = format!("{function}_p");
        match p {
            Some(p) => self
                .library
                .call_with(&long, Some(&p.flat()), inputs, results),
            None => {
                let short = self.library.call(function, inputs, results);
                let nominal = self.library.call_with(&long, None, inputs, results);
                assert_eq!(short, nominal, "{function} with null parameters");
                short
            }
        }
    }

    fn point(&mut self, x: &Point, p: Option<&Parameters>) {
        let place = format!(
            "{:?}{}",
            x.eta,
            if p.is_some() { " with parameters" } else { "" }
        );
        self.coefficients(x, p, &place);
        let (force, status) = self.reference.inverse_dynamics(p, x);
        let n = self.reference.n();
        let (found, out) = self.call("inverse_dynamics", p, &[&x.eta, &x.rate, &x.accel], &[n]);
        assert_eq!(found, status, "inverse dynamics at {place}");
        self.compare("inverse_dynamics", &out[0], &force, norm(&force), &place);
        self.outputs(x, p, &place);
        self.feedforward(x, p, &place);
        // A force that both precisions hold exactly.
        let force: Vec<f64> = force.iter().map(|&f| f64::from(f as f32)).collect();
        self.motion(x, p, &force, &place);
    }

    fn compare(&mut self, what: &str, found: &[f64], expected: &[f64], scale: f64, place: &str) {
        let allowed = self.tolerance * scale;
        self.worst
            .add(what.to_owned(), found, expected, allowed, place);
    }

    fn coefficients(&mut self, x: &Point, p: Option<&Parameters>, place: &str) {
        let (n, s) = (self.reference.n(), self.reference.n_rigid());
        let c = self.reference.coefficients(p, &x.eta[..s]);
        let blocks = [
            ("mass", &c.mass),
            ("gyroscopic", &c.gyroscopic),
            ("stiffness", &c.stiffness),
            ("damping", &c.damping),
            ("force", &c.force),
            ("gravity", &c.gravity),
            ("load_map", &c.load_map.concat()),
        ];
        let length = blocks.iter().map(|b| b.1.len()).sum();
        let (status, out) = self.call("coefficients", p, &[&x.eta[..s]], &[length]);
        assert_eq!(status, c.status as i32, "coefficients at {place}");
        let mut rest = &out[0][..];
        for (name, block) in blocks {
            let (found, after) = rest.split_at(block.len());
            rest = after;
            let what = format!("coefficients {name}");
            if name == "gyroscopic" && status < 2 {
                // Derivatives of the mass may cancel each other wholly, as for a mass on a circle: what is left is
                // rounding of each term, in both implementations.
                let rounding = self.reference.gyroscopic_rounding(p, &x.eta[..s]);
                let units = 0.5 * (f64::EPSILON + self.epsilon);
                self.worst.add(what, found, block, units * rounding, place);
            } else {
                self.compare(&what, found, block, norm(block), place);
            }
        }
        assert_eq!(
            rest.len(),
            length - n * n * n - 3 * n * n - 2 * n - c.load_map.len() * n
        );
    }

    fn outputs(&mut self, x: &Point, p: Option<&Parameters>, place: &str) {
        let count = self.reference.model.layout.outputs.len();
        if count == 0 {
            return;
        }
        let each = 18 + 6 * self.reference.n();
        let (motions, expected) = self.reference.outputs(&x.eta, &x.rate);
        let (status, out) = self.call("outputs", p, &[&x.eta, &x.rate], &[each * count]);
        assert_eq!(status, expected as i32, "outputs at {place}");
        if status >= 2 {
            assert!(out[0].iter().all(|&v| v == 0.0), "outputs at {place}");
            return;
        }
        for (motion, found) in motions.iter().zip(out[0].chunks(each)) {
            let blocks = [
                ("position", motion.position.as_slice(), 0..3),
                ("rotation", motion.rotation.transpose().as_slice(), 3..12),
                ("velocity", motion.velocity.as_slice(), 12..15),
                (
                    "angular velocity",
                    motion.angular_velocity.as_slice(),
                    15..18,
                ),
                ("jacobian", &motion.jacobian[..], 18..each),
            ]
            .map(|(name, block, range)| (name, block.to_vec(), range));
            for (name, block, range) in blocks {
                let scale = match name {
                    // Components of a sum over rates may cancel.
                    "velocity" | "angular velocity" => norm(&motion.jacobian) * norm(&x.rate),
                    _ => norm(&block),
                };
                self.compare(
                    &format!("outputs {name}"),
                    &found[range],
                    &block,
                    scale,
                    place,
                );
            }
        }
    }

    fn feedforward(&mut self, x: &Point, p: Option<&Parameters>, place: &str) {
        let (n, s) = (self.reference.n(), self.reference.n_rigid());
        let (force, modal, status) = self.reference.feedforward(p, x);
        let inputs = [&x.eta[..s], &x.rate[..s], &x.accel[..s]];
        let (found, out) = self.call("feedforward", p, &inputs, &[s, n - s]);
        // In single precision more motions count as settled.
        if self.single && status == 2 && found < 2 {
            return;
        }
        assert_eq!(found, status, "feedforward at {place}");
        self.compare("feedforward force", &out[0], &force, norm(&force), place);
        self.compare("feedforward modal", &out[1], &modal, norm(&modal), place);
    }

    /// Functions that solve with the mass matrix.
    fn motion(&mut self, x: &Point, p: Option<&Parameters>, force: &[f64], place: &str) {
        let n = self.reference.n();
        let (accel, size, status) = self.reference.forward_dynamics(p, &x.eta, &x.rate, force);
        let (found, out) = self.call("forward_dynamics", p, &[&x.eta, &x.rate, force], &[n]);
        assert_eq!(found, status, "forward dynamics at {place}");
        let (condition, smallest) = self.reference.condition(p, &x.eta);
        // An error of the force is at most this much larger in the accelerations.
        let scale = condition * norm(&accel) + size / smallest;
        self.compare("forward_dynamics", &out[0], &accel, scale, place);
        let state = [&x.eta[..], &x.rate].concat();
        let (found, dx) = self.call("state_derivative", p, &[&state, force], &[2 * n]);
        assert_eq!(found, status, "state derivative at {place}");
        let rates: &[f64] = if status < 2 { &x.rate } else { &vec![0.0; n] };
        assert_eq!(
            dx[0],
            [rates, &out[0]].concat(),
            "state derivative at {place}"
        );

        let (moved, status) = self.reference.step(p, &state, force, self.step);
        let mut found = state.clone();
        let flat = p.map(Parameters::flat);
        let code = self
            .library
            .step_with(flat.as_deref(), &mut found, force, self.step);
        assert_eq!(code, status, "step at {place}");
        let scale = norm(&moved) + self.step * (condition * norm(&accel) + size / smallest);
        self.compare("step", &found, &moved, scale, place);
        self.linearize(x, p, force, place);
    }

    fn linearize(&mut self, x: &Point, p: Option<&Parameters>, force: &[f64], place: &str) {
        let n = self.reference.n();
        let y = 9 * self.reference.model.layout.outputs.len();
        let (expected, expected_status) = self.reference.linearize(p, x, force);
        let (status, out) = self.call(
            "linearize",
            p,
            &[&x.eta, &x.rate, force],
            &[4 * n * n, 2 * n * n, 2 * n * y, n * y],
        );
        assert_eq!(status, expected_status, "linearize at {place}");
        let (condition, _) = self.reference.condition(p, &x.eta);
        for (name, found, block, scale) in [
            ("A", &out[0], &expected.a, condition),
            ("B", &out[1], &expected.b, condition),
            ("C", &out[2], &expected.c, 1.0),
        ] {
            let scale = scale * norm(block);
            self.compare(&format!("linearize {name}"), found, block, scale, place);
        }
        assert!(out[3].iter().all(|&d| d == 0.0));
    }

    /// NaN and infinities in any argument, and results beyond the range of numbers: status 3 and zeros.
    fn not_finite(&self) {
        let (n, s) = (self.reference.n(), self.reference.n_rigid());
        let model = self.reference.model;
        let y = 9 * model.layout.outputs.len();
        let good = vec![0.0; 2 * n];
        let zero = |what: &str, (status, out): (i32, Vec<Vec<f64>>)| {
            assert_eq!(status, 3, "{what}");
            assert!(out.iter().flatten().all(|&v| v == 0.0), "{what}");
        };
        let huge = vec![self.huge; n];
        for name in ["inverse_dynamics", "forward_dynamics"] {
            let inputs: [&[f64]; 3] = [&good[..n], &huge, &good[..n]];
            zero(name, self.library.call_with(name, None, &inputs, &[n]));
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut vector = vec![0.0; 2 * n];
            vector[0] = bad;
            for position in 0..3 {
                let mut arguments = [&good[..n]; 3];
                arguments[position] = &vector[..n];
                let linear = [4 * n * n, 2 * n * n, 2 * n * y, n * y];
                for p in ["", "_p"] {
                    let call = |name: &str, inputs: &[&[f64]], results: &[usize]| {
                        let name = format!("{name}{p}");
                        zero(&name, self.library.call_with(&name, None, inputs, results));
                    };
                    call("inverse_dynamics", &arguments, &[n]);
                    call("forward_dynamics", &arguments, &[n]);
                    call("linearize", &arguments, &linear);
                    call("feedforward", &arguments.map(|a| &a[..s]), &[s, n - s]);
                    call("state_derivative", &[&vector, &good], &[2 * n]);
                    if y > 0 && position < 2 {
                        call("outputs", &arguments[..2], &[y / 9 * (18 + 6 * n)]);
                    }
                    let length = n * n * n + 3 * n * n + 2 * n + model.layout.loaded.len() * n;
                    call("coefficients", &[&vector[..s]], &[length]);
                }
            }
            for (mut x, dt) in [(vector.clone(), self.step), (good.clone(), bad)] {
                assert_eq!(self.library.step_with(None, &mut x, &good, dt), 3);
                assert!(x.iter().all(|&v| v == 0.0));
            }
            let mut parameters = points(model, false)[0].parameters.flat();
            parameters[0] = bad;
            let inputs = [&good[..n], &good[..n], &good[..n]];
            let out =
                self.library
                    .call_with("inverse_dynamics_p", Some(&parameters), &inputs, &[n]);
            zero("parameters", out);
        }
    }
}

/// A tenth of the largest stable step that the header states, exact in single precision.
fn step(model: &ReducedModel) -> f64 {
    let files = exporters::code::c_files(model, &exporters::ExportOptions::default()).unwrap();
    let header = String::from_utf8(files[0].1.clone()).unwrap();
    let line = header
        .lines()
        .find(|l| l.contains("Largest stable step"))
        .expect("a stable step");
    let stable = line.split_whitespace().find_map(|w| w.parse::<f64>().ok());
    f64::from(stable.map_or(1e-3, |dt| 0.1 * dt) as f32)
}

fn compare(title: &str, model: &ReducedModel, library: &Generated, single: bool) {
    let reference = Reference::new(model);
    let mut comparison = Comparison {
        reference: &reference,
        library,
        tolerance: if single { SINGLE } else { DOUBLE },
        epsilon: if single {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        },
        step: step(model),
        single,
        huge: if single { 1e38 } else { 1e300 },
        worst: Worst::default(),
    };
    for x in points(model, !single) {
        comparison.point(&x, None);
        comparison.point(&x, Some(&x.parameters));
    }
    comparison.not_finite();
    assert_eq!(library.selftest(), 0, "{title}: self-test");
    comparison.worst.check(title);
}

/// Too large for every change.
const SLOW: &str = "hexapod";

fn check(name: &str) {
    if name == SLOW && !LARGEST_EQUALITY.is_done() {
        return;
    }
    let model = model(name);
    for single in [false, true] {
        let precision = if single { "single" } else { "double" };
        for compiler in compilers() {
            let library = Generated::new(model, compiler, single, &[]);
            compare(
                &format!("{name}, {compiler}, {precision}"),
                model,
                &library,
                single,
            );
        }
        let library = Generated::from_rust(model, single);
        compare(
            &format!("{name}, rustc, {precision}"),
            model,
            &library,
            single,
        );
    }
}

crate::models::for_every_mechanism!(check);
