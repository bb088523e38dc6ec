//! Mechanisms, what drives them, and runs of the full model.

use nalgebra::Vector3;
use reducer::description;
use reducer::dynamics::excitation::{Drive, Excitation};
use reducer::dynamics::full::{FullInstant, FullSettings, Initial, Start, simulate};
use reducer::reduction::LocalReducer;
use std::ops::ControlFlow;
use std::path::Path;

/// A mechanism of `data/` with pieces of its text replaced; each must occur.
pub fn reducer_with(file: &str, changes: &[(&str, &str)]) -> LocalReducer {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut text = std::fs::read_to_string(folder.join(file)).expect("readable");
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no {from}");
        text = text.replace(from, to);
    }
    reducer_from(&text)
}

/// The serial arm of `tests/fixtures/` with pieces of its text replaced and parts added.
pub fn arm_with(changes: &[(&str, &str)], parts: &str) -> LocalReducer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flexible_arm.toml");
    let mut text = std::fs::read_to_string(path).expect("readable");
    for (from, to) in changes {
        assert!(text.contains(from), "the arm has no {from}");
        text = text.replace(from, to);
    }
    reducer_from(&(text + parts))
}

pub fn reducer_from(text: &str) -> LocalReducer {
    let mechanism = description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}"));
    LocalReducer::new(&mechanism).unwrap_or_else(|error| panic!("{error}"))
}

/// No actuator does anything.
pub struct Free;

impl Excitation for Free {
    fn is_prescribed(&self, _: usize) -> bool {
        false
    }

    fn drive(&self, _: usize, _: f64, _: f64, _: f64) -> Drive {
        Drive::Force {
            force: 0.0,
            by_position: 0.0,
            by_rate: 0.0,
        }
    }

    fn point_force(&self, _: usize, _: f64) -> Option<Vector3<f64>> {
        None
    }

    fn breaks(&self) -> &[f64] {
        &[]
    }
}

/// Forces on the coordinates as functions of time, and one on the first output.
pub struct Forced<F>(pub F, pub Vector3<f64>);

impl<F: Fn(usize, f64) -> f64> Excitation for Forced<F> {
    fn is_prescribed(&self, _: usize) -> bool {
        false
    }

    fn drive(&self, k: usize, time: f64, _: f64, _: f64) -> Drive {
        Drive::Force {
            force: (self.0)(k, time),
            by_position: 0.0,
            by_rate: 0.0,
        }
    }

    fn point_force(&self, output: usize, time: f64) -> Option<Vector3<f64>> {
        (output == 0).then(|| self.1 * (1.0 - (10.0 * time).cos()))
    }

    fn breaks(&self) -> &[f64] {
        &[]
    }
}

/// Every coordinate moves as a function of time tells: position, rate, acceleration.
pub struct Moved<F>(pub F, pub Vec<f64>);

impl<F: Fn(usize, f64) -> [f64; 3]> Excitation for Moved<F> {
    fn is_prescribed(&self, _: usize) -> bool {
        true
    }

    fn drive(&self, k: usize, time: f64, _: f64, _: f64) -> Drive {
        let [position, rate, acceleration] = (self.0)(k, time);
        Drive::Motion {
            position,
            rate,
            acceleration,
        }
    }

    fn point_force(&self, _: usize, _: f64) -> Option<Vector3<f64>> {
        None
    }

    fn breaks(&self) -> &[f64] {
        &self.1
    }
}

pub fn undeformed(theta: &[f64], rate: &[f64]) -> Initial {
    Initial {
        theta: theta.to_vec(),
        rate: rate.to_vec(),
        start: Start::Undeformed,
    }
}

/// All instants of a run. Every run must keep its constraints.
pub fn run(
    model: &LocalReducer,
    excitation: &dyn Excitation,
    initial: &Initial,
    settings: &FullSettings,
) -> Vec<FullInstant> {
    let mut seen = Vec::new();
    let report = simulate(model, excitation, initial, settings, &mut |instant| {
        seen.push(instant.clone());
        ControlFlow::Continue(())
    })
    .unwrap_or_else(|error| panic!("{error}"));
    let worst = report.largest_constraint_residual;
    assert!(worst <= 1e-10, "constraints are open by {worst:.2e}");
    seen
}

/// From one position to another in a given time with continuous snap, then at rest.
pub fn smooth_point_to_point(from: f64, to: f64, duration: f64, time: f64) -> [f64; 3] {
    let span = to - from;
    let s = (time / duration).min(1.0);
    let t = duration;
    [
        from + span
            * s.powi(5)
            * (126.0 - 420.0 * s + 540.0 * s * s - 315.0 * s.powi(3) + 70.0 * s.powi(4)),
        span / t * 630.0 * (s * (1.0 - s)).powi(4),
        span / (t * t) * 2520.0 * (s * (1.0 - s)).powi(3) * (1.0 - 2.0 * s),
    ]
}

/// From one position to another in a given time with continuous acceleration, then at rest.
pub fn point_to_point(from: f64, to: f64, duration: f64, time: f64) -> [f64; 3] {
    let span = to - from;
    if time >= duration {
        return [to, 0.0, 0.0];
    }
    let w = std::f64::consts::TAU / duration;
    [
        from + span * (time / duration - (w * time).sin() / (w * duration)),
        span / duration * (1.0 - (w * time).cos()),
        span / duration * w * (w * time).sin(),
    ]
}

/// A symmetric top on a fixed point: precession about z, nutation about x, spin about the axis.
pub const HEAVY_TOP: &str = r#"
format = 1
name = "heavy_top"
gravity = [0, 0, -9.81]

[[body]]
name = "fork"
at = [0, 0, 0]
rigid = { mass = 0.1, inertia = [0.001, 0.001, 0.001] }

[[body]]
name = "ring"
at = [0, 0, 0]
rigid = { mass = 0.1, inertia = [0.001, 0.001, 0.001] }

[[body]]
name = "top"
at = [0, 0, 0]
rigid = { mass = 5, center_of_mass = [0, 0.3, 0.6], inertia = [0.8, 0.8, 1.1] }

[[joint]]
name = "precession"
hinge = ["ground", "fork.origin"]
axis = [0, 0, 1]

[[joint]]
name = "nutation"
hinge = ["fork", "ring.origin"]
axis = [1, 0, 0]

[[joint]]
name = "spin"
hinge = ["ring", "top.origin"]
axis = [0, 0.4472135954999579, 0.8944271909999159]

[[coordinate]]
name = "psi"
drives = "precession"

[[coordinate]]
name = "nu"
drives = "nutation"

[[coordinate]]
name = "phi"
drives = "spin"

[[output]]
name = "center"
body = "top"
at = [0, 0.3, 0.6]
"#;
