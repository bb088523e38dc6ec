//! Rigid mechanisms against closed forms and Pinocchio (origins in data/reference), to 1e-9.

use crate::support::{assert_close, numbers, reducer, reference};
use reducer::reduction::{Coefficients, LocalReducer};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

fn position(c: &Coefficients, output: usize) -> Vec<f64> {
    c.outputs[output].position.to_vec()
}

fn check_orthoglide(reducer: &LocalReducer) {
    for sample in reference("orthoglide.json")["samples"]
        .as_array()
        .expect("samples")
    {
        let theta = numbers(&sample["theta"]);
        let c = reducer.evaluate(&theta).expect("inside the domain");
        let what = |name: &str| format!("{name} at {theta:?}");
        assert_close(&what("mass"), &c.mass, &numbers(&sample["mass"]), TOLERANCE);
        assert_close(
            &what("gyroscopic"),
            &c.gyroscopic(),
            &numbers(&sample["gyroscopic"]),
            TOLERANCE,
        );
        assert_close(
            &what("gravity"),
            &c.gravity,
            &numbers(&sample["gravity"]),
            TOLERANCE,
        );
        let force = c.inverse_dynamics(&numbers(&sample["rate"]), &numbers(&sample["accel"]));
        assert_close(
            &what("force"),
            &force,
            &numbers(&sample["force"]),
            TOLERANCE,
        );
        let expected = numbers(&sample["effector_position"]);
        for (a, b) in position(&c, 0).iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12, "{}", what("position"));
        }
        let jacobian = &c.outputs[0].jacobian[..9];
        assert_close(
            &what("jacobian"),
            jacobian,
            &numbers(&sample["effector_jacobian"]),
            TOLERANCE,
        );
        assert!(c.outputs[0].jacobian[9..].iter().all(|w| w.abs() < 1e-12));
    }
}

#[test]
fn orthoglide() {
    check_orthoglide(&reducer("orthoglide.toml"));
}

/// The true Orthoglide leg is a parallelogram of two bars, which is overconstrained.
#[test]
fn orthoglide_with_parallelogram_legs() {
    let reducer = reducer("orthoglide_parallelogram.toml");
    assert!(reducer.kinematics().n_redundant() > 0);
    check_orthoglide(&reducer);
}

#[test]
fn four_bar() {
    let reducer = reducer("four_bar_rigid.toml");
    assert_eq!(reducer.kinematics().n_redundant(), 3);
    for sample in reference("four_bar_rigid.json")["samples"]
        .as_array()
        .expect("samples")
    {
        let theta = numbers(&sample["theta"]);
        let c = reducer.evaluate(&theta).expect("inside the domain");
        assert_close("mass", &c.mass, &numbers(&sample["mass"]), TOLERANCE);
        assert_close(
            "gyroscopic",
            &c.gyroscopic(),
            &numbers(&sample["gyroscopic"]),
            TOLERANCE,
        );
        assert_close(
            "gravity",
            &c.gravity,
            &numbers(&sample["gravity"]),
            TOLERANCE,
        );
        for (output, key) in [(0, "A_xz"), (1, "B_xz")] {
            let p = position(&c, output);
            assert_close(key, &[p[0], p[2]], &numbers(&sample[key]), TOLERANCE);
            assert!(p[1].abs() < 1e-12);
        }
    }
}

fn check_arm(file: &str, key: &str) {
    let reducer = reducer(file);
    let all = reference("serial_arms.json");
    let samples: &Vec<Value> = all[key]["samples"].as_array().expect("samples");
    for sample in samples {
        let theta = numbers(&sample["theta"]);
        let c = reducer
            .evaluate(&theta)
            .expect("a serial arm goes everywhere");
        assert_close("mass", &c.mass, &numbers(&sample["mass"]), TOLERANCE);
        assert_close(
            "gravity",
            &c.gravity,
            &numbers(&sample["gravity"]),
            TOLERANCE,
        );
        let (rate, accel) = (numbers(&sample["rate"]), numbers(&sample["accel"]));
        let force = c.inverse_dynamics(&rate, &accel);
        assert_close("force", &force, &numbers(&sample["force"]), TOLERANCE);
        let n = c.n();
        let h = c.gyroscopic();
        let coriolis: Vec<f64> = (0..n)
            .map(|i| {
                (0..n * n)
                    .map(|jk| h[i * n * n + jk] * rate[jk / n] * rate[jk % n])
                    .sum()
            })
            .collect();
        assert_close(
            "coriolis",
            &coriolis,
            &numbers(&sample["coriolis"]),
            TOLERANCE,
        );
    }
}

#[test]
fn elbow_arm() {
    check_arm("elbow.toml", "elbow");
}

#[test]
fn six_axis_arm() {
    check_arm("arm6.toml", "arm6");
    // The same arm over a wider range.
    check_arm("arm6_wide.toml", "arm6");
}
