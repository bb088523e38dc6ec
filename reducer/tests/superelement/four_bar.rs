//! The body as the coupler of the four-bar.

use super::{assert_close, expected, folder, numbers};
use reducer::description::mechanism::Mechanism;
use reducer::reduction::{Coefficients, LocalReducer};
use reducer::sampling;

fn mechanism(change: impl Fn(&str) -> String) -> Mechanism {
    let text = std::fs::read_to_string(folder().join("four_bar.toml")).expect("the mechanism");
    let resolver = |path: &std::path::Path| reducer::description::read_large(&folder().join(path));
    reducer::description::parse(&change(&text), "four_bar.toml", &resolver).expect("a mechanism")
}

fn with_modes(count: usize) -> LocalReducer {
    let mechanism = mechanism(|text| text.replace("modes = 10 }", &format!("modes = {count} }}")));
    sampling::build(&mechanism).expect("a model")
}

#[test]
fn locked_frequencies_converge_with_the_number_of_modes() {
    let expected = expected();
    for (count, tolerance) in [(4, 5e-4), (10, 1e-4), (20, 2e-5)] {
        let reducer = with_modes(count);
        for case in expected["four_bar_with_this_coupler"]
            .as_array()
            .expect("cases")
        {
            let theta = case["theta"].as_f64().expect("θ");
            let found = reducer.locked_frequencies_hz(&[theta], 8).expect("modes");
            let exact = numbers(&case["locked_hz"]);
            assert_close(
                &found,
                &exact,
                tolerance,
                &format!("{count} modes at {theta}"),
            );
            // The same approximation by independent programs.
            let same = numbers(&case["locked_hz_with_fixed_interface_modes"][count.to_string()]);
            assert_close(
                &found,
                &same,
                1e-6,
                &format!("{count} modes at {theta}, same modes"),
            );
            for (f, e) in found.iter().zip(&exact) {
                assert!(f >= &(e * (1.0 - 2e-7)), "Ritz: {f} {e}");
            }
        }
    }
}

#[test]
fn mass_gravity_and_static_stiffness_are_the_expected_ones() {
    let reducer = with_modes(10);
    for case in expected()["four_bar_with_this_coupler"]
        .as_array()
        .expect("cases")
    {
        let theta = case["theta"].as_f64().expect("θ");
        let c = reducer.evaluate(&[theta]).expect("regular");
        assert_close(
            &[c.mass[0]],
            &[case["mass_theta"].as_f64().expect("mass")],
            1e-6,
            "mass",
        );
        let gravity = case["gravity_theta"].as_f64().expect("gravity");
        assert_close(&[c.gravity[0]], &[gravity], 1e-6, "gravity");
        // η^γ is the displacement of hinge B along z: its stiffness is the static one.
        let n = c.n();
        let stiffness = case["stiffness_of_hinge_B_along_z_actuator_locked"].as_f64();
        assert_close(
            &[c.stiffness[n + 1]],
            &[stiffness.expect("stiffness")],
            1e-6,
            "stiffness",
        );
    }
}

/// The same links as rigid bodies with the same mass properties have the same rigid dynamics.
#[test]
fn rigid_dynamics_are_those_of_rigid_bodies() {
    let flexible = with_modes(3);
    let body = r#"rigid = { mass = 0.3645, center_of_mass = [0.225, 0, 0], inertia = [1.8984375e-05, 0.0061630875, 0.006157771875] }
frame = { at = ["crank", 0, 0], x = ["Bx - crank", 0, "Bz"], y = [0, 1, 0] }
points = { start = [0, 0, 0], end = [0.45, 0, 0] }
"#;
    let rigid = mechanism(|text| {
        let start = text.find("superelement =").expect("the body");
        let end = text
            .find("[[body]]\nname = \"rocker\"")
            .expect("the next body");
        format!("{}{body}\n{}", &text[..start], &text[end..])
    });
    let rigid = sampling::build(&rigid).expect("a model");
    for theta in [-1.2, 0.0, 0.7] {
        let (a, b) = (
            flexible.evaluate(&[theta]).expect("regular"),
            rigid.evaluate(&[theta]).expect("regular"),
        );
        assert_close(&[a.mass[0]], &[b.mass[0]], 1e-9, "mass");
        assert_close(&[a.gravity[0]], &[b.gravity[0]], 1e-9, "gravity");
        let torque = |c: &Coefficients| {
            let along = |value: f64| {
                let mut all = vec![0.0; c.n()];
                all[0] = value;
                all
            };
            c.inverse_dynamics(&along(2.0), &along(-3.0))
        };
        let (f, g) = (torque(&a), torque(&b));
        assert_close(&f[..1], &g[..1], 1e-9, "torque");
    }
}
