//! Computed torque on the Orthoglide, in C and in Rust, with and without the reduced model.
//!
//! `cargo run --release --example computed_torque`

#[path = "support/mod.rs"]
mod support;

use reducer::dynamics::full::{FullInstant, Initial, Start};
use support::{Controller, Failure, close_loop, compile_c, compile_rust, file, reduced};

/// Largest distance of any axis from its path (m).
#[derive(Debug, Clone, Copy)]
pub struct Tracking {
    /// Position and rate feedback alone.
    pub without_model: f64,
    /// The same gains, and the forces that the reduced model asks for.
    pub with_model: f64,
}

/// Runs the controllers in C and in Rust against the full model.
pub fn compare() -> Result<Vec<(&'static str, Tracking)>, Failure> {
    let folder = tempfile::tempdir()?;
    let machine = reduced("orthoglide", folder.path())?;
    let c = compile_c(
        "orthoglide",
        &file("computed_torque/controller.c"),
        folder.path(),
    )?;
    let rust = compile_rust(
        "orthoglide",
        &file("computed_torque/controller.rs"),
        folder.path(),
    )?;
    let home = Initial {
        theta: vec![0.09; 3],
        rate: vec![0.0; 3],
        start: Start::Undeformed,
    };
    let sense = |instant: Option<&FullInstant>| match instant {
        Some(i) => [&[i.time][..], &i.theta, &i.rate].concat(),
        None => [&[0.0][..], &home.theta, &home.rate].concat(),
    };
    let run = |program, argument| -> Result<f64, Failure> {
        let mut controller = Controller::start(program, argument)?;
        let mut largest = 0.0_f64;
        close_loop(
            &machine,
            &mut controller,
            |_, input, _| (input, 0.0),
            &home,
            2.0,
            &sense,
            &mut |instant, answer| {
                for k in 0..3 {
                    largest = largest.max((instant.theta[k] - answer[3 + k]).abs());
                }
            },
        )?;
        Ok(largest)
    };
    let mut out = Vec::new();
    for (language, program) in [("C", &c), ("Rust", &rust)] {
        let tracking = Tracking {
            without_model: run(program, "alone")?,
            with_model: run(program, "model")?,
        };
        out.push((language, tracking));
    }
    Ok(out)
}

fn main() -> Result<(), Failure> {
    println!("Orthoglide, axes swinging by 0.12 m at 1.4 Hz, full model as the machine");
    println!("largest tracking error   feedback alone   with the model   ratio");
    for (language, t) in compare()? {
        println!(
            "{language:<24} {:>11.3} mm {:>13.4} mm {:>7.0}",
            1e3 * t.without_model,
            1e3 * t.with_model,
            t.without_model / t.with_model
        );
    }
    Ok(())
}
