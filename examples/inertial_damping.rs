//! Active damping of the Ralf-like manipulator by inertia forces (thesis 6.3), in C.
//!
//! `cargo run --release --example inertial_damping`

#[path = "support/mod.rs"]
mod support;

use nalgebra::Vector3;
use reducer::dynamics::full::{FullInstant, Initial, Start};
use support::{Controller, Failure, close_loop, compile_c, file, reduced, with_observer};

/// What the accelerometer shows at rest: the weight, upwards.
const WEIGHT: Vector3<f64> = Vector3::new(0.0, 0.0, 9.81);
/// Rate of the cylinders per valve input, and force per rate that is missing (thesis 6.4).
const VALVE: [f64; 2] = [0.0236, 0.0265];
const LEAK: [f64; 2] = [3.5e5, 3.0e5];
/// Extensions at the start and at the end, as in the controller (m).
const START: [f64; 2] = [-0.02, -0.02];
const GOAL: [f64; 2] = [0.02, 0.01];
/// The vibration is watched from here on, 0.2 s after the motion, to the end (s).
const SETTLED: f64 = 0.6;
const END: f64 = 2.0;

/// What is left of the vibration after the motion, as root mean squares.
#[derive(Debug, Clone, Copy)]
pub struct Vibration {
    /// Distance of the tip from its mean position (m).
    pub position: f64,
    /// Acceleration of the tip (m/s²).
    pub acceleration: f64,
    /// Largest distance of a cylinder from its end position at the end of the run (m).
    pub end_error: f64,
}

/// The same motion three times.
#[derive(Debug, Clone, Copy)]
pub struct Residual {
    /// Slow loop alone.
    pub without_damping: Vibration,
    /// With the damping loop, modal rates by filters made by hand.
    pub with_damping: Vibration,
    /// With the damping loop, modal rates from the generated observer.
    pub with_observer: Vibration,
}

/// Runs the controller without its fast loop and with it, by hand and observed, against the full model.
pub fn compare() -> Result<Residual, Failure> {
    let folder = tempfile::tempdir()?;
    let machine = reduced("ralf", folder.path())?;
    with_observer(folder.path(), &file("inertial_damping/observer.toml"))?;
    let program = compile_c(
        "ralf",
        &file("inertial_damping/controller.c"),
        folder.path(),
    )?;
    let initial = Initial {
        theta: START.to_vec(),
        rate: vec![0.0; 2],
        start: Start::Equilibrium,
    };
    let start = machine
        .reducer()
        .evaluate(&initial.theta)
        .map_err(|e| e.to_string())?;
    let at_rest = nalgebra::Matrix3::from_row_slice(&start.outputs[0].rotation);
    let sense = |instant: Option<&FullInstant>| match instant {
        Some(i) => {
            let tip = &i.outputs[0];
            let shown = tip.rotation.transpose() * (tip.acceleration + WEIGHT);
            [&[i.time][..], &i.theta, &i.rate, shown.as_slice()].concat()
        }
        None => {
            let shown = at_rest.transpose() * WEIGHT;
            [&[0.0][..], &initial.theta, &initial.rate, shown.as_slice()].concat()
        }
    };
    let run = |argument| -> Result<Vibration, Failure> {
        let mut controller = Controller::start(&program, argument)?;
        let (mut positions, mut squares) = (Vec::new(), 0.0);
        let mut last = vec![0.0; 2];
        close_loop(
            &machine,
            &mut controller,
            |k, input, rate| (LEAK[k] * (VALVE[k] * input - rate), -LEAK[k]),
            &initial,
            END,
            &sense,
            &mut |instant, _| {
                if instant.time > SETTLED {
                    positions.push(instant.outputs[0].position);
                    squares += instant.outputs[0].acceleration.norm_squared();
                }
                last.clone_from(&instant.theta);
            },
        )?;
        let count = positions.len() as f64;
        let mean = positions.iter().sum::<Vector3<f64>>() / count;
        let spread: f64 = positions.iter().map(|p| (p - mean).norm_squared()).sum();
        let error = |k: usize| (last[k] - GOAL[k]).abs();
        Ok(Vibration {
            position: (spread / count).sqrt(),
            acceleration: (squares / count).sqrt(),
            end_error: error(0).max(error(1)),
        })
    };
    Ok(Residual {
        without_damping: run("plain")?,
        with_damping: run("damped")?,
        with_observer: run("observed")?,
    })
}

fn main() -> Result<(), Failure> {
    let r = compare()?;
    println!(
        "Ralf-like manipulator, cylinders moved by 40 and 30 mm in 0.4 s, full model as the machine"
    );
    println!(
        "tip from {SETTLED} to {END} s, root mean square: position about its mean, acceleration"
    );
    let print = |words, v: &Vibration| {
        println!(
            "  {words:<22}{:>6.2} mm {:>8.2} m/s², cylinders end within {:.2} mm",
            1e3 * v.position,
            v.acceleration,
            1e3 * v.end_error
        );
    };
    print("slow loop alone", &r.without_damping);
    print("with inertial damping", &r.with_damping);
    print("the same, observed", &r.with_observer);
    Ok(())
}
