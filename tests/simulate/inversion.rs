//! Stable inversion: zeros, the linear case against Fourier series and an exact beam, and what it is for, the
//! full model on its path.

use crate::support::reduce_mechanism;
use nalgebra::Complex;
use reducer::description::load;
use reducer::description::mechanism::{InternalModes, Mechanism};
use reducer::dynamics::drives::{Actuator, Drives};
use reducer::dynamics::full::{self, Initial, Start};
use reducer::dynamics::inversion::{
    Ends, Inversion, InversionError, InversionSettings, Tracked, TrackedPlace, Wanted, invert,
};
use reducer::dynamics::linear::LinearSystem;
use reducer::dynamics::reduced::{self, ReducedSettings, linearise};
use reducer::dynamics::scenario::{self, Scenario};
use reducer::dynamics::signal::Signal;
use reducer::reduced_model::{Evaluator, ReducedModel};
use reducer::sampling::MechanismModel;
use serde_json::Value;
use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::path::Path;

/// Small enough that the beam is linear.
const AMPLITUDE: f64 = 1e-4;
/// How long the tip moves (s).
const DURATION: f64 = 1.5;

fn one_link(modes: usize) -> ReducedModel {
    let mut mechanism = load(Path::new("data/one_link.toml")).unwrap();
    set_modes(&mut mechanism, modes);
    // Entries of the mass that hardly matter in motion move the zeros by a per cent.
    mechanism.approximation.tolerance = 1e-7;
    reduce_mechanism(&mechanism)
}

fn set_modes(mechanism: &mut Mechanism, count: usize) {
    match &mut mechanism.reduction.internal {
        Some(InternalModes::InPlane(_, own)) => *own = count,
        other => panic!("{other:?}"),
    }
}

/// The tip of the beam across it, as in data/reference/control.json.
fn across() -> Vec<Tracked> {
    vec![Tracked {
        name: "tip.y".to_owned(),
        place: TrackedPlace::Output { output: 0, axis: 1 },
        wanted: Wanted::Signal(Signal::PointToPoint {
            start: 0.0,
            duration: DURATION,
            from: 0.0,
            to: AMPLITUDE,
        }),
    }]
}

pub fn settings(coordinates: usize) -> InversionSettings {
    InversionSettings {
        duration: DURATION,
        instants: 1000,
        before: None,
        after: None,
        ends: Ends::Zeros,
        theta: vec![0.0; coordinates],
        coulomb: Vec::new(),
        coulomb_rate: 1e-3,
    }
}

fn reference() -> Value {
    let text = std::fs::read_to_string("data/reference/control.json").unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    all["stable_inversion_one_link"].take()
}

pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|x| x.as_f64().unwrap()).collect()
}

/// Torque at a time after the beginning of the path, by the cubic through four neighbours.
fn torque(found: &Inversion, time: f64) -> f64 {
    let at = time + found.path[0];
    let after = found.times.partition_point(|t| *t < at);
    let first = after.saturating_sub(2).min(found.times.len() - 4);
    let mut sum = 0.0;
    for i in first..first + 4 {
        let others = (first..first + 4).filter(|j| *j != i);
        let weight: f64 = others
            .map(|j| (at - found.times[j]) / (found.times[i] - found.times[j]))
            .product();
        sum += weight * found.exact.force[i][0];
    }
    sum
}

/// Exact first zero ±9.2609 rad/s (tan κL = −tanh κL).
#[test]
fn zeros_of_a_beam_are_those_of_its_truncation_and_near_the_exact_ones() {
    let reference = reference();
    let exact = reference["exact_zeros_rad_s"][0].as_f64().unwrap();
    for modes in [2, 3, 4] {
        let model = one_link(modes);
        let evaluator = Evaluator::new(&model).unwrap();
        let found = invert(&evaluator, &across(), &settings(1)).unwrap();
        let zeros = &found.rests[0].zeros;
        assert_eq!(zeros.len(), 2 * modes);
        let own = &reference["zeros_by_number_of_modes"][modes.to_string()][0];
        let own = own[0].as_f64().unwrap();
        for sign in [-1.0, 1.0] {
            let near = |wanted: f64, part: f64| {
                zeros
                    .iter()
                    .any(|z| (z.at - Complex::new(sign * wanted, 0.0)).norm() < part * wanted)
            };
            assert!(near(own, 2e-4), "{modes} modes: {zeros:?}");
            assert!(modes < 4 || near(exact, 0.005), "{zeros:?}");
        }
    }
    let model = one_link(1);
    let evaluator = Evaluator::new(&model).unwrap();
    let refused = invert(&evaluator, &across(), &settings(1)).unwrap_err();
    let zero =
        matches!(refused, InversionError::BeyondBand { zero, .. } if (zero - 7.845).abs() < 0.01);
    assert!(zero, "{refused}");
}

/// Forces of a linear plant on a periodic path, from its frequency response: τ = ÿ/(s²G). Far harmonics
/// go with the response at infinite frequency, which is taken out of the series.
fn fourier(system: &LinearSystem, period: f64, at: &[f64]) -> Vec<f64> {
    let output = system.outputs.iter().position(|n| n == "tip.y").unwrap();
    let input = system
        .inputs
        .iter()
        .position(|n| n.starts_with("force"))
        .unwrap();
    let admittance = |omega: f64| {
        let response = system.response(omega / TAU).unwrap()[(output, input)];
        Complex::new(1.0, 0.0) / (response * -omega * omega)
    };
    let end = admittance(1e6).re;
    // ÿ = a sin(2πt/T) within [0, T].
    let (size, own) = (AMPLITUDE * TAU / (DURATION * DURATION), TAU / DURATION);
    let turn = |angle: f64| Complex::new(0.0, angle).exp();
    let line = |omega: f64| {
        let part = |w: f64| {
            if w.abs() < 1e-9 {
                Complex::new(DURATION, 0.0)
            } else {
                (turn(w * DURATION) - 1.0) / Complex::new(0.0, w)
            }
        };
        (part(own - omega) - part(-own - omega)) * size / Complex::new(0.0, 2.0) / period
    };
    let mut sums: Vec<f64> = at
        .iter()
        .map(|t| {
            if (0.0..DURATION).contains(t) {
                end * size * (own * t).sin()
            } else {
                0.0
            }
        })
        .collect();
    for k in 1..6000 {
        let omega = TAU * f64::from(k) / period;
        let weight = line(omega) * (admittance(omega) - end);
        for (sum, t) in sums.iter_mut().zip(at) {
            *sum += 2.0 * (weight * turn(omega * t)).re;
        }
    }
    sums
}

#[test]
fn the_linear_case_is_fourier_inversion() {
    let model = one_link(3);
    let evaluator = Evaluator::new(&model).unwrap();
    let wide = InversionSettings {
        instants: 2000,
        ..settings(1)
    };
    let found = invert(&evaluator, &across(), &wide).unwrap();
    let free = vec![Actuator::Force(Signal::Constant(0.0))];
    let drives = Drives::new(free, Vec::new(), 1.0).unwrap();
    let at = Initial {
        theta: vec![0.0],
        rate: vec![0.0],
        start: Start::Equilibrium,
    };
    let system = linearise(&evaluator, &drives, &at, &ReducedSettings::new(1.0, 1e-6)).unwrap();
    let places: Vec<usize> = (0..found.times.len()).step_by(40).collect();
    let times: Vec<f64> = places
        .iter()
        .map(|&i| found.times[i] - found.path[0])
        .collect();
    let expected = fourier(&system, 12.0, &times);
    let peak = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut worst = 0.0_f64;
    for (&i, expected) in places.iter().zip(&expected) {
        worst = worst.max((found.exact.force[i][0] - expected).abs());
    }
    println!(
        "Fourier: {:.2e}, estimated {:.2e}",
        worst / peak,
        found.error
    );
    assert!(worst < 1e-6 * peak, "{:.2e}", worst / peak);

    // Everything is bounded, begins before the path and ends at rest.
    let exact = reference();
    let exact = &exact["tip_motion_1m_in_1.5_s"];
    let largest = exact["peak_torque"].as_f64().unwrap() * AMPLITUDE;
    let before = torque(&found, -0.1);
    assert!(before > 0.1 * largest, "{before}");
    assert!(
        found.unrest.iter().all(|part| *part < 1e-3),
        "{:?}",
        found.unrest
    );
    assert!(peak < 1.01 * largest);

    let (times, torques) = (numbers(&exact["t"]), numbers(&exact["torque"]));
    let mut worst = 0.0_f64;
    let inside = |t: f64| {
        t > 0.01 - found.path[0] && t < found.times[found.times.len() - 1] - found.path[0] - 0.01
    };
    for (t, expected) in times.iter().zip(&torques).filter(|(t, _)| inside(**t)) {
        let own = torque(&found, *t) / AMPLITUDE;
        worst = worst.max((own - expected).abs() * AMPLITUDE / largest);
    }
    println!("exact beam: {worst:.2e}");
    assert!(worst < 1e-3, "{worst:.2e}");
}

/// The bounded motion is also nearly the one of least bending.
#[test]
fn least_bending_finds_the_same_motion() {
    let model = one_link(3);
    let evaluator = Evaluator::new(&model).unwrap();
    let bounded = invert(&evaluator, &across(), &settings(1)).unwrap();
    let least = InversionSettings {
        ends: Ends::LeastBending,
        ..settings(1)
    };
    let least = invert(&evaluator, &across(), &least).unwrap();
    assert_eq!(
        (bounded.ends, least.ends),
        (Ends::Zeros, Ends::LeastBending)
    );
    let peak = bounded
        .exact
        .force
        .iter()
        .fold(0.0_f64, |m, f| m.max(f[0].abs()));
    let pairs = bounded.exact.force.iter().zip(&least.exact.force);
    let worst = pairs.fold(0.0_f64, |m, (a, b)| m.max((a[0] - b[0]).abs()));
    println!("least bending: {:.2e}", worst / peak);
    assert!(worst < 0.05 * peak, "{:.2e}", worst / peak);
}

/// One rigid coordinate and three modes on a large motion, and twice as many instants.
#[test]
fn newton_needs_few_iterations_for_any_number_of_instants() {
    let model = one_link(3);
    let evaluator = Evaluator::new(&model).unwrap();
    let far = |amplitude: f64| {
        let mut tracked = across();
        tracked[0].wanted = Wanted::Signal(Signal::PointToPoint {
            start: 0.0,
            duration: DURATION,
            from: 0.0,
            to: amplitude,
        });
        tracked
    };
    for instants in [250, 1000, 4000] {
        let settings = InversionSettings {
            instants,
            ..settings(1)
        };
        let found = invert(&evaluator, &far(3.0), &settings).unwrap();
        println!("{instants}: {:?} {:.1e}", found.iterations, found.error);
        assert!(found.iterations[0] <= 10, "{:?}", found.iterations);
        assert!((found.times.len() as f64 / instants as f64 - 1.0).abs() < 0.02);
    }
}

/// A drive by table with weak feedback of the coordinates, over the whole horizon.
fn driven(
    scenario: &Scenario,
    inversion: &Inversion,
    folder: &Path,
    kind: &str,
    gains: [f64; 2],
) -> Scenario {
    let mechanism = &scenario.mechanism.sources[0].path;
    let mechanism = std::fs::canonicalize(mechanism).unwrap();
    let (prefix, theta) = match kind {
        "rigid" => ("rigid.", &inversion.rigid.theta),
        "quasi_static" => ("quasi_static.", &inversion.quasi_static.theta),
        _ => ("", &inversion.exact.theta),
    };
    let duration = inversion.times[inversion.times.len() - 1];
    let mut text = format!(
        "format = 1\nmechanism = {:?}\nduration = {duration}\n[full]\nstep = 5e-4\n[initial]\nstart = \"equilibrium\"\ntheta = {:?}\n",
        mechanism, theta[0]
    );
    for c in &scenario.coordinates {
        let name = &c.name;
        let flat = name.replace('.', "_");
        let [kp, kd] = gains;
        text += &format!(
            r#"
[[sensor]]
name = "{flat}_at"
coordinate = "{name}"
[[block]]
name = "{flat}_wanted"
signal = {{ table = {{ file = "inversion.csv", column = "{prefix}coordinate.{name}", ends = "rest" }} }}
[[block]]
name = "{flat}_servo"
pid = {{ kp = {kp}, kd = {kd}, filter = "1 ms" }}
input = ["{flat}_wanted", "-{flat}_at"]
[[drive]]
coordinate = "{name}"
force = [{{ table = {{ file = "inversion.csv", column = "{prefix}force.{name}" }} }}, "{flat}_servo"]
"#
        );
    }
    let path = folder.join("driven.toml");
    std::fs::write(&path, text).unwrap();
    scenario::load(&path).unwrap_or_else(|f| panic!("{:?}", f.faults))
}

/// Largest distance of the tracked outputs of the full model from their paths.
fn tip_error(scenario: &Scenario, driven: &Scenario, inversion: &Inversion) -> f64 {
    let local = MechanismModel::new(&driven.mechanism).unwrap();
    let mut settings = driven.full.clone();
    settings.instants = inversion.times.clone();
    let mut worst = 0.0_f64;
    let mut row = 0;
    full::simulate(
        local.reducer(),
        &driven.drives,
        &driven.initial,
        &settings,
        &mut |instant| {
            if instant.sample {
                let mut square = 0.0;
                for (k, tracked) in scenario.tracked.iter().enumerate() {
                    if let TrackedPlace::Output { output, axis } = tracked.place {
                        let there = instant.outputs[output].position[axis];
                        square += (there - inversion.wanted[row][k]).powi(2);
                    }
                }
                worst = worst.max(square.sqrt());
                row += 1;
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(row, inversion.times.len());
    worst
}

/// Tip errors of the full model under the inversion, quasi-static and rigid feedforward.
fn errors(file: &str, gains: [f64; 2]) -> [f64; 3] {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario::load(Path::new(file)).unwrap_or_else(|f| panic!("{:?}", f.faults));
    let model = reduce_mechanism(&scenario.mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let found = invert(&evaluator, &scenario.tracked, &scenario.inversion).unwrap();
    println!(
        "{:?} {:.1e} {:?} {:?}",
        found.iterations, found.error, found.unrest, found.path
    );
    let table = found.to_csv(&model, &scenario.tracked);
    std::fs::write(folder.path().join("inversion.csv"), table).unwrap();
    let all = ["", "quasi_static", "rigid"].map(|kind| {
        let driven = driven(&scenario, &found, folder.path(), kind, gains);
        if kind.is_empty() {
            let own = own_error(&scenario, &driven, &found, &evaluator);
            println!("reduced model {own:.2e}");
            // Splines through the forces and the integration are all that is between them.
            assert!(own < 2e-6, "{own}");
        }
        tip_error(&scenario, &driven, &found)
    });
    println!("tip errors {all:?}");
    all
}

/// Largest distance of the tracked outputs of the reduced model from their paths.
fn own_error(
    scenario: &Scenario,
    driven: &Scenario,
    inversion: &Inversion,
    evaluator: &Evaluator<'_>,
) -> f64 {
    let settings = ReducedSettings {
        instants: inversion.times.clone(),
        tolerance: 1e-8,
        ..driven.reduced.clone()
    };
    let (mut worst, mut row) = (0.0_f64, 0);
    reduced::simulate(
        evaluator,
        &driven.drives,
        &driven.initial,
        &settings,
        &mut |instant| {
            for (k, tracked) in scenario.tracked.iter().enumerate() {
                if let TrackedPlace::Output { output, axis } = tracked.place {
                    let there = instant.outputs[output].motion.position[axis];
                    worst = worst.max((there - inversion.wanted[row][k]).abs());
                }
            }
            row += 1;
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    worst
}

#[test]
fn the_effector_of_a_flexible_orthoglide_follows_half_a_circle() {
    let file = "data/inversion/orthoglide_half_circle.toml";
    let [exact, quasi, rigid] = errors(file, [200.0, 20.0]);
    assert!(rigid > 10.0 * exact, "{rigid} {exact}");
    assert!(quasi > 5.0 * exact, "{quasi} {exact}");
}

#[test]
fn the_tip_of_a_flexible_arm_follows_half_a_circle() {
    let file = "data/inversion/two_link_half_circle.toml";
    let [exact, quasi, rigid] = errors(file, [2.0, 0.2]);
    assert!(rigid > 10.0 * exact, "{rigid} {exact}");
    assert!(quasi > 5.0 * exact, "{quasi} {exact}");
}
