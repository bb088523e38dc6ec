//! Generated C with parameters against the evaluator with the same parameters.

#[path = "support/dual.rs"]
mod dual;
#[path = "support/generated.rs"]
mod generated;
mod support;

use dual::{linear_model, without_rotations};
use exporters::ExportOptions;
use exporters::code::c_files;
use generated::{Generated, close, flat_parameters};
use reducer::reduced_model::plan::{Plan, Purpose};
use reducer::reduced_model::*;
use support::{Numbers, configurations, model, recipes};

/// Parameters that all differ from the nominal ones.
fn changed(m: &ReducedModel) -> Parameters {
    let mut p = Parameters::nominal(&m.layout);
    p.gravity = [2.0, -3.5, 4.0];
    let vary = |values: &mut Vec<f64>, by: f64| {
        for (i, v) in values.iter_mut().enumerate() {
            *v += by * (1.0 + 0.5 * i as f64);
        }
    };
    vary(&mut p.payload_mass, 0.6);
    vary(&mut p.rotor_inertia, 0.2);
    vary(&mut p.viscous, 0.3);
    vary(&mut p.coulomb, 0.7);
    vary(&mut p.coulomb_rate, 0.4);
    p
}

fn with<'m>(m: &'m ReducedModel, p: &Parameters) -> Evaluator<'m> {
    let evaluator = Evaluator::new(m).unwrap();
    evaluator.with_parameters(p.clone()).unwrap()
}

#[test]
fn every_function_equals_the_evaluator() {
    for recipe in recipes() {
        let m = model(&recipe);
        let c = Generated::new(&m, "gcc", false, &[]);
        let (n, s) = (m.layout.n(), m.layout.n_rigid);
        let p = changed(&m);
        let flat = flat_parameters(&m, &p);
        let evaluator = with(&m, &p);
        let mut work = Workspace::default();
        let mut numbers = Numbers::new(21);
        for eta in configurations(&m) {
            let (rate, accel) = (numbers.vector(n, 1.0), numbers.vector(n, 1.0));
            let mut force = vec![0.0; n];
            let status = evaluator
                .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
                .unwrap();
            let call = |function: &str, inputs: &[&[f64]], lengths: &[usize]| {
                let (code, out) = c.call_with(function, Some(&flat), inputs, lengths);
                assert_eq!(code, status as i32, "{} {function} {eta:?}", recipe.name);
                out
            };
            let out = call("inverse_dynamics_p", &[&eta, &rate, &accel], &[n]);
            close(recipe.name, &out[0], &force, 1e-13);

            let mut back = vec![0.0; n];
            evaluator
                .forward_dynamics(&eta, &rate, &force, &mut back, &mut work)
                .unwrap();
            let out = call("forward_dynamics_p", &[&eta, &rate, &force], &[n]);
            close("acceleration", &out[0], &back, 1e-11);
            if status < Status::Undefined {
                close("round trip", &back, &accel, 1e-11);
            }
            let state = [eta.clone(), rate.clone()].concat();
            let slopes = call("state_derivative_p", &[&state, &force], &[2 * n]);
            assert_eq!(slopes[0][n..], out[0][..]);

            let expected = evaluator.coefficients(&eta[..s], &mut work).unwrap();
            let blocks = [
                &expected.mass,
                &expected.gyroscopic,
                &expected.stiffness,
                &expected.damping,
                &expected.force,
                &expected.gravity,
            ];
            let length: usize = blocks.iter().map(|b| b.len()).sum();
            let loads = n * m.layout.loaded.len();
            let found = call("coefficients_p", &[&eta[..s]], &[length + loads]);
            let mut rest = &found[0][..];
            for (i, block) in blocks.iter().enumerate() {
                let (head, tail) = rest.split_at(block.len());
                close(&format!("{} block {i}", recipe.name), head, block, 2e-13);
                rest = tail;
            }
        }
    }
}

/// The evaluator's linear models are derivatives by dual numbers, and generated C has the same ones.
#[test]
fn linear_models_are_derivatives() {
    for recipe in recipes() {
        let m = model(&recipe);
        let c = Generated::new(&m, "gcc", false, &[]);
        let plan = Plan::new(&m, Purpose::Code);
        let (n, s) = (m.layout.n(), m.layout.n_rigid);
        let mut numbers = Numbers::new(4);
        let b = m.boxes.last().unwrap();
        let middle = |k: usize| b.lower[k] + 0.4 * (b.upper[k] - b.lower[k]);
        let mut eta: Vec<f64> = (0..s).map(middle).collect();
        eta.extend(numbers.vector(n - s, 0.02));
        // Rates below those at which Coulomb friction has a kink.
        let (rate, force) = (numbers.vector(n, 0.3), numbers.vector(n, 2.0));
        let state = [&eta[..], &rate, &force];
        let y = 9 * m.layout.outputs.len();
        let lengths = [4 * n * n, 2 * n * n, y * 2 * n, y * n];
        for p in [None, Some(changed(&m))] {
            let evaluator = match &p {
                None => Evaluator::new(&m).unwrap(),
                Some(p) => with(&m, p),
            };
            let flat = p.as_ref().map(|p| flat_parameters(&m, p));
            let (status, out) = c.call_with("linearize_p", flat.as_deref(), &state, &lengths);
            let (found, _) = evaluator
                .linearize(&eta, &rate, &force, &mut Workspace::default())
                .unwrap();
            assert_eq!(status, 0);
            close("A of C", &out[0], &found.a, 1e-12);
            close("B of C", &out[1], &found.b, 1e-12);
            close("C of C", &out[2], &found.c, 1e-12);
            assert!(out[3].iter().chain(&found.d).all(|d| *d == 0.0));
            let [a, b, c] = linear_model(&plan, p.as_ref(), state);
            close(&format!("{} A", recipe.name), &found.a, &a, 1e-12);
            close(&format!("{} B", recipe.name), &found.b, &b, 1e-12);
            close("C", &without_rotations(&found.c, n), &c, 1e-12);
        }
    }
}

#[test]
fn feedforward_knows_the_parameters() {
    for recipe in recipes().iter().filter(|r| r.runtime) {
        let m = model(recipe);
        let c = Generated::new(&m, "gcc", false, &[]);
        let (n, s) = (m.layout.n(), m.layout.n_rigid);
        let p = changed(&m);
        let (theta, rate, accel) = (vec![0.2; s], vec![0.4; s], vec![0.5; s]);
        let flat = flat_parameters(&m, &p);
        let (status, out) = c.call_with(
            "feedforward_p",
            Some(&flat),
            &[&theta, &rate, &accel],
            &[s, n - s],
        );
        assert_eq!(status, 0);
        let pad = |v: &[f64]| [v, &vec![0.0; n - s]].concat();
        let mut force = vec![0.0; n];
        with(&m, &p)
            .inverse_dynamics(
                &[&theta[..], &out[1]].concat(),
                &pad(&rate),
                &pad(&accel),
                &mut force,
                &mut Workspace::default(),
            )
            .unwrap();
        close(recipe.name, &out[0], &force[..s], 1e-12);
    }
}

/// Nominal parameters are the nominal model to the last bit, and so is the header's initialiser.
#[test]
fn nominal_parameters_change_nothing() {
    for recipe in recipes() {
        let m = model(&recipe);
        let c = Generated::new(&m, "gcc", false, &[]);
        let n = m.layout.n();
        let nominal = flat_parameters(&m, &Parameters::nominal(&m.layout));
        let x = vec![0.15; n];
        let call = |p: Option<&[f64]>| c.call_with("inverse_dynamics_p", p, &[&x, &x, &x], &[n]);
        assert_eq!(call(None), call(Some(&nominal)), "{}", recipe.name);
        let header = c_files(&m, &ExportOptions::default()).unwrap().remove(0).1;
        let header = String::from_utf8(header).unwrap();
        let start = header.find("_NOMINAL_PARAMS {").unwrap();
        let text: String = header[start..]
            .lines()
            .take_while(|l| !l.is_empty())
            .collect();
        let numbers: Vec<f64> = text
            .split(|c: char| " ,{}\\".contains(c))
            .filter_map(|w| w.parse().ok())
            .collect();
        assert_eq!(numbers, nominal, "{}", recipe.name);
    }
}

/// Coulomb friction has the sign of the rate where no width is given, and nothing divides by it.
#[test]
fn coulomb_friction_without_a_width_is_a_sign() {
    let m = model(&recipes()[0]);
    let c = Generated::new(&m, "gcc", false, &[]);
    let mut p = Parameters::nominal(&m.layout);
    p.coulomb = vec![0.7];
    let flat = flat_parameters(&m, &p);
    let evaluator = with(&m, &p);
    for (rate, expected) in [(0.0, 0.0), (1e-300, 0.7), (-1e-300, -0.7), (2.0, 0.7)] {
        let call = |p: Option<&[f64]>| {
            c.call_with("inverse_dynamics_p", p, &[&[0.1], &[rate], &[0.0]], &[1])
                .1[0][0]
        };
        assert!((call(Some(&flat)) - call(None) - expected).abs() < 1e-13);
        let mut force = [0.0];
        let mut work = Workspace::default();
        evaluator
            .inverse_dynamics(&[0.1], &[rate], &[0.0], &mut force, &mut work)
            .unwrap();
        assert!((force[0] - call(Some(&flat))).abs() < 1e-13);
    }
}
