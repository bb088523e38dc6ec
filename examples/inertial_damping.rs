//! Active damping of the Ralf-like manipulator by inertia forces (thesis 6.3), in C.
//!
//! `cargo run --release --example inertial_damping`

#[path = "support/mod.rs"]
mod support;

use nalgebra::Vector3;
use reducer::dynamics::full::{FullInstant, Initial, Start};
use support::{Controller, Failure, close_loop, compile_c, file, reduced};

/// What the accelerometer shows at rest: the weight, upwards.
const WEIGHT: Vector3<f64> = Vector3::new(0.0, 0.0, 9.81);
/// Rate of the cylinders per valve input, and force per rate that is missing (thesis 6.4).
const VALVE: [f64; 2] = [0.0236, 0.0265];
const LEAK: [f64; 2] = [3.5e5, 3.0e5];
/// From here on the motion is over (s).
const SETTLED: f64 = 1.2;

/// What is left of the vibration after the motion.
#[derive(Debug, Clone, Copy)]
pub struct Residual {
    /// Root mean square of the tip's distance from its mean position (m).
    pub without_damping: f64,
    /// The same with the damping loop.
    pub with_damping: f64,
    /// Largest distance of a cylinder from its end position with the damping loop (m).
    pub end_error: f64,
}

/// Runs the controller with and without its fast loop against the full model.
pub fn compare() -> Result<Residual, Failure> {
    let folder = tempfile::tempdir()?;
    let machine = reduced("ralf", folder.path())?;
    let program = compile_c(
        "ralf",
        &file("inertial_damping/controller.c"),
        folder.path(),
    )?;
    let initial = Initial {
        theta: vec![-0.05, -0.06],
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
    let run = |argument| -> Result<(f64, f64), Failure> {
        let mut controller = Controller::start(&program, argument)?;
        let mut tip: Vec<Vector3<f64>> = Vec::new();
        let mut last = vec![0.0; 2];
        close_loop(
            &machine,
            &mut controller,
            |k, input, rate| (LEAK[k] * (VALVE[k] * input - rate), -LEAK[k]),
            &initial,
            3.0,
            &sense,
            &mut |instant, _| {
                if instant.time > SETTLED {
                    tip.push(instant.outputs[0].position);
                }
                last.clone_from(&instant.theta);
            },
        )?;
        let mean = tip.iter().sum::<Vector3<f64>>() / tip.len() as f64;
        let squares: f64 = tip.iter().map(|p| (p - mean).norm_squared()).sum();
        let end = (last[0] - 0.05).abs().max((last[1] - 0.02).abs());
        Ok(((squares / tip.len() as f64).sqrt(), end))
    };
    let (without_damping, _) = run("plain")?;
    let (with_damping, end_error) = run("damped")?;
    Ok(Residual {
        without_damping,
        with_damping,
        end_error,
    })
}

fn main() -> Result<(), Failure> {
    let r = compare()?;
    println!(
        "Ralf-like manipulator, cylinders moved by 0.10 and 0.08 m in 0.8 s, full model as the machine"
    );
    println!("vibration of the tip from {SETTLED} to 3 s, root mean square");
    println!(
        "  slow loop alone       {:>8.3} mm",
        1e3 * r.without_damping
    );
    println!("  with inertial damping {:>8.3} mm", 1e3 * r.with_damping);
    println!(
        "cylinders end within    {:>8.3} mm of their reference",
        1e3 * r.end_error
    );
    Ok(())
}
