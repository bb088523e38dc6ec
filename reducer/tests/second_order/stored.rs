//! `stiffening = true`: stored models of mechanisms that move fast, against independent results, the full model
//! and conservation of energy.

use crate::support::{Random, read, root, stored};
use reducer::reduced_model::{Continuity, Evaluator, Parameters, Status, Workspace};
use serde_json::Value;
use std::f64::consts::TAU;

fn link(modes: &str, more: &str) -> String {
    let text = read("data/one_link.toml");
    let from = "internal_modes = { in_plane = \"xy\", count = 3 }";
    assert!(text.contains(from));
    let text = text.replace(
        from,
        &format!("internal_modes = {modes}\nstiffening = true"),
    );
    // Outputs show what is measured here, and payloads move with them.
    let outputs = "\n[approximation]\ntolerances = { outputs = 1e-10 }\n";
    text.replace("elements = 16", "elements = 24") + outputs + more
}

/// Accelerations of modal coordinates for a motion of the first coordinate.
fn modal_acceleration(evaluator: &Evaluator, eta: &[f64], rate: &[f64], push: f64) -> Vec<f64> {
    let n = eta.len();
    let mut prescribed = vec![false; n];
    prescribed[0] = true;
    let (mut accel, mut force) = (vec![0.0; n], vec![0.0; n]);
    accel[0] = push;
    let mut work = Workspace::default();
    let status = evaluator
        .hybrid_dynamics(eta, rate, &prescribed, &mut accel, &mut force, &mut work)
        .expect("sizes");
    assert!(status < Status::Undefined, "{status:?}");
    accel
}

/// Largest deflection of the tip in the axes of the hub, the instant, and the largest shortening.
fn spin_up(count: usize) -> [f64; 3] {
    let model = stored(&link(
        &format!("{{ in_plane = \"xy\", count = {count} }}"),
        "",
    ));
    let evaluator = Evaluator::new(&model).expect("valid");
    let n = evaluator.n();
    let (top, duration) = (4.0, 15.0);
    let w = TAU / duration;
    let motion = |t: f64| {
        [
            top / duration * (0.5 * t * t + ((w * t).cos() - 1.0) / (w * w)),
            top / duration * (t - (w * t).sin() / w),
            top / duration * (1.0 - (w * t).cos()),
        ]
    };
    let slope = |t: f64, x: &[f64]| {
        let [angle, spin, push] = motion(t);
        let (mut eta, mut rate) = (x[..n].to_vec(), x[n..].to_vec());
        (eta[0], rate[0]) = (angle, spin);
        let accel = modal_acceleration(&evaluator, &eta, &rate, push);
        [rate, accel].concat()
    };
    let (mut x, h, mut out) = (vec![0.0; 2 * n], 2e-3, [0.0_f64; 3]);
    let mut work = Workspace::default();
    for step in 0..(duration / h) as usize {
        let t = step as f64 * h;
        let moved =
            |k: &[f64], by: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + by * k).collect() };
        let k1 = slope(t, &x);
        let k2 = slope(t + 0.5 * h, &moved(&k1, 0.5 * h));
        let k3 = slope(t + 0.5 * h, &moved(&k2, 0.5 * h));
        let k4 = slope(t + h, &moved(&k3, h));
        for i in 0..2 * n {
            x[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
        }
        let mut eta = x[..n].to_vec();
        eta[0] = motion(t + h)[0];
        let (tips, _) = evaluator
            .outputs(&eta, &vec![0.0; n], &mut work)
            .expect("sizes");
        let tip = tips[0].position;
        let (sin, cos) = eta[0].sin_cos();
        let aside = (cos * tip.y - sin * tip.x).abs();
        if aside > out[0] {
            out = [aside, t + h, out[2]];
        }
        out[2] = out[2].max(8.0 - (cos * tip.x + sin * tip.y));
    }
    out
}

/// Expected: independent prototypes; the full model in Exudyn deflects by 0.5336 m at 6.76 s and shortens by
/// 0.02046 m.
#[test]
fn a_spun_up_link_deflects_and_shortens_as_independent_prototypes_do() {
    for (count, deflection) in [(1, 0.5378), (2, 0.5337), (3, 0.5343)] {
        let [found, instant, shortening] = spin_up(count);
        assert!(
            (found - deflection).abs() < 5e-4,
            "{count} modes: {found} m"
        );
        if count == 3 {
            assert!((instant - 6.77).abs() < 0.05, "{instant} s");
            assert!((shortening / 0.02046 - 1.0).abs() < 0.02, "{shortening} m");
        }
    }
}

/// Frequencies while the hub turns, both planes; Ritz values of an independent calculation.
#[test]
fn a_rotating_cantilever_has_the_frequencies_of_a_ritz_model() {
    let text = std::fs::read_to_string(root("data/reference/second_order.json")).expect("a file");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let reference = &all["rotating_cantilever"];
    let unit = reference["parameters"]["time_unit_sqrt_mu_L4_over_EI"].as_f64();
    let unit = unit.expect("a number");
    for (side, key, exact) in [
        ("in_plane", "ritz_lag_nondimensional", "lag_nondimensional"),
        (
            "out_of_plane",
            "ritz_flap_nondimensional",
            "flap_nondimensional",
        ),
    ] {
        for (count, near) in [(3, 1.5e-3), (5, 5e-4)] {
            let model = stored(&link(
                &format!("{{ {side} = \"xy\", count = {count} }}"),
                "",
            ));
            let evaluator = Evaluator::new(&model).expect("valid");
            for row in reference["rows"].as_array().expect("rows") {
                let spin = row["Omega_rad_s"].as_f64().expect("a number");
                let found = evaluator
                    .loaded_frequencies_hz(&[0.4], &[spin], &[0.0], &mut Workspace::default())
                    .expect("sizes")
                    .expect("straight");
                let expected = row[key][count.to_string()].as_array().expect("a list");
                for (found, expected) in found.iter().zip(expected) {
                    let error = found * TAU * unit / expected.as_f64().expect("a number") - 1.0;
                    assert!(error.abs() < 1e-3, "{side} {count} at {spin}: {error:.1e}");
                }
                // The beam itself, not a Ritz model of it.
                if row["lambda_nondimensional"].as_f64() <= Some(5.0) {
                    let first = row[exact][0].as_f64().expect("a number");
                    let error = found[0] * TAU * unit / first - 1.0;
                    assert!(error.abs() < near, "{side} {count} at {spin}: {error:.1e}");
                }
            }
        }
    }
}

/// Energy of a mechanism that turns by itself, with deflections of some per cent.
fn drift(text: &str, spin: f64, push: f64, payload: f64) -> f64 {
    let model = stored(text);
    let parameters = Parameters {
        payload_mass: vec![payload],
        gravity: [0.0, -2.0, 0.0],
        ..Parameters::nominal(&model.layout)
    };
    let evaluator = Evaluator::new(&model)
        .expect("valid")
        .with_parameters(parameters)
        .expect("sizes");
    let n = evaluator.n();
    let mut work = Workspace::default();
    let mut x = vec![0.0; 2 * n];
    let s = evaluator.n_rigid();
    for k in 0..s {
        x[n + k] = spin * (1.0 - 0.6 * k as f64);
    }
    x[n + s] = push;
    let energy = |x: &[f64], work: &mut Workspace| {
        let (kinetic, potential, _) = evaluator.energy(&x[..n], &x[n..], work).expect("sizes");
        kinetic + potential
    };
    let first = energy(&x, &mut work);
    let h = if s == 1 { 5e-4 } else { 2.5e-4 };
    let mut worst = 0.0_f64;
    for step in 0..(10.0 / h) as usize {
        let status = evaluator
            .step(&mut x, &vec![0.0; n], h, &mut work)
            .expect("sizes");
        assert!(status < Status::Undefined, "{status:?} after {step} steps");
        if step % 100 == 0 {
            worst = worst.max((energy(&x, &mut work) / first - 1.0).abs());
        }
    }
    worst
}

/// Two slender links that turn freely; a spring holds the second one near the line of the first.
const FREE_ARM: &str = r#"
format = 1
name = "free_arm"
[material.m]
density = 2766.7
young = 6.8952e10
poisson = 0.3
[section.s]
area = 7.2968e-5
inertia_y = 8.2189e-9
inertia_z = 8.2189e-9
torsion = 1.6e-8
[[body]]
name = "upper"
beam = { from = [0, 0, 0], to = [4, 0, 0], elements = 8, section = "s", material = "m", up = [0, 0, 1] }
[[body]]
name = "lower"
beam = { from = [4, 0, 0], to = [7, 0, 0], elements = 8, section = "s", material = "m", up = [0, 0, 1] }
[[joint]]
name = "hub"
hinge = ["ground", "upper.from"]
axis = [0, 0, 1]
[[joint]]
name = "elbow"
hinge = ["upper.to", "lower.from"]
axis = [0, 0, 1]
[[coordinate]]
name = "turn"
drives = "hub"
[[coordinate]]
name = "bend"
drives = "elbow"
range = [-0.6, 0.6]
[[spring]]
name = "back"
joint = "elbow"
stiffness = 40
rest = 0
[[output]]
name = "tip"
at = "lower.to"
[reduction]
internal_modes = { in_plane = "xy", count = 3 }
stiffening = true
"#;

/// The power of forces is what energy changes by, whatever the accelerations.
fn power_error(evaluator: &Evaluator, random: &mut Random) -> f64 {
    let n = evaluator.n();
    let mut work = Workspace::default();
    let mut list = |size: f64| -> Vec<f64> { (0..n).map(|_| size * random.next()).collect() };
    let (eta, rate, accel) = (list(0.3), list(1.0), list(2.0));
    let mut force = vec![0.0; n];
    let status = evaluator
        .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
        .expect("sizes");
    assert_eq!(status, Status::Inside);
    let power: f64 = force.iter().zip(&rate).map(|(f, r)| f * r).sum();
    // Energy on the way with constant acceleration.
    let mut energy = |t: f64| {
        let at: Vec<f64> = (0..n)
            .map(|i| eta[i] + t * rate[i] + 0.5 * t * t * accel[i])
            .collect();
        let moving: Vec<f64> = (0..n).map(|i| rate[i] + t * accel[i]).collect();
        let (kinetic, potential, _) = evaluator.energy(&at, &moving, &mut work).expect("sizes");
        kinetic + potential
    };
    let slope = |energy: &mut dyn FnMut(f64) -> f64, h: f64| (energy(h) - energy(-h)) / (2.0 * h);
    let h = 2e-3;
    let [coarse, middle, fine] = [4.0 * h, 2.0 * h, h].map(|h| slope(&mut energy, h));
    let [first, second] = [(4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0];
    let exact = (16.0 * second - first) / 15.0;
    let size: f64 = force.iter().zip(&rate).map(|(f, r)| (f * r).abs()).sum();
    (power - exact).abs() / size
}

#[test]
fn forces_of_an_arm_of_two_links_have_the_power_that_changes_its_energy() {
    let model = stored(FREE_ARM);
    let evaluator = Evaluator::new(&model).expect("valid");
    let mut random = Random(3);
    for _ in 0..20 {
        let found = power_error(&evaluator, &mut random);
        assert!(found < 1e-11, "{found:.1e}");
    }
}

/// Nothing but the outputs depends on the first angle, which turns three times: its seam must not show. In the middle of
/// the domain the arm is straight and all slopes vanish, which must not make rounding seem to matter: 1756 numbers then.
#[test]
fn a_spinning_arm_of_two_links_keeps_its_energy_with_few_numbers() {
    let model = stored(FREE_ARM);
    assert_eq!(model.continuity, Continuity::Smooth);
    assert!(model.stored_numbers() < 250, "{}", model.stored_numbers());
    let found = drift(FREE_ARM, 1.5, 0.1, 0.0);
    assert!(found < 1e-9, "{found:.1e}");
}

#[test]
fn spinning_without_torque_keeps_its_energy() {
    // The second payload moves with the second-order motion of the tip.
    for payload in [0.0, 0.05] {
        let found = drift(
            &link("{ in_plane = \"xy\", count = 3 }", ""),
            3.0,
            0.4,
            payload,
        );
        assert!(found < 1e-9, "{payload} kg: {found:.1e}");
    }
}

/// Far from what second-order terms can say the model answers with a status, not with numbers.
#[test]
fn deflections_beyond_the_range_of_the_terms_have_a_status() {
    let model = stored(&link("{ in_plane = \"xy\", count = 3 }", ""));
    let evaluator = Evaluator::new(&model).expect("valid");
    let n = evaluator.n();
    let mut work = Workspace::default();
    let mut random = Random(5);
    let mut bent = 0;
    for _ in 0..50 {
        let eta: Vec<f64> = (0..n)
            .map(|i| if i == 0 { 0.1 } else { 30.0 * random.next() })
            .collect();
        let mut force = vec![1.0; n];
        let status = evaluator
            .inverse_dynamics(&eta, &vec![1.0; n], &vec![0.0; n], &mut force, &mut work)
            .expect("sizes");
        if status == Status::Bent {
            bent += 1;
            assert_eq!(force, vec![0.0; n]);
            let accelerated = evaluator
                .forward_dynamics(&eta, &vec![1.0; n], &vec![0.0; n], &mut force, &mut work)
                .expect("sizes");
            assert_eq!((accelerated, &force), (Status::Bent, &vec![0.0; n]));
        }
    }
    assert!(bent > 10, "{bent}");
}
