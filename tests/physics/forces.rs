//! Springs, dampers, constant loads and actuators: gradients, virtual work and power.

use crate::identities::check_gradients;
use crate::support::{assert_close, fixture_with, mechanism_from, mechanism_with};
use reducer::reduction::LocalReducer;

/// Springs of both kinds, a load and an actuator's own properties on the four-bar.
const FORCES: &str = r#"
[[spring]]
joint = "B"
stiffness = 12
rest = 0.3
damping = 0.4

[[spring]]
joint = "D"
stiffness = 7
rest = -0.2

[[spring]]
between = ["ground.anchor", "coupler.to"]
length = 0.2
stiffness = 90
damping = 2.5

[[load]]
at = "crank.to"
force = [3, 0, -11]

"#;

fn with_forces(file: &str, before: &str) -> LocalReducer {
    let text = format!("ground.points = {{ anchor = [0.3, 0, 0.9] }}\n\n{before}");
    let mut changes = vec![(before, text.as_str())];
    let forces = format!("{FORCES}[[output]]\nname = \"B\"");
    changes.push(("[[output]]\nname = \"B\"", &forces));
    let range = "range = [-1.75, 1.75]";
    let actuator = format!("{range}\nrotor_inertia = 2e-4\nratio = 30\nviscous = 0.7");
    changes.push((range, &actuator));
    LocalReducer::new(&mechanism_with(file, &changes)).expect("a four-bar")
}

#[test]
fn springs_loads_and_actuators_have_exact_gradients() {
    for file in ["four_bar_rigid.toml", "four_bar.toml"] {
        let reducer = with_forces(file, "[parameters]");
        for theta in [-1.3, 0.1, 1.2] {
            check_gradients(file, &reducer, &[theta], 1e-6);
        }
    }
    let arm = fixture_with(
        "flexible_arm.toml",
        "\n[[spring]]\njoint = \"shoulder\"\nstiffness = 40\nrest = 0.5\n",
    );
    check_gradients("arm", &arm, &[0.4, -0.3, 0.6], 1e-6);
}

#[test]
fn actuators_and_dampers_act_on_the_coordinates_they_move() {
    let plain = LocalReducer::new(&mechanism_with("four_bar_rigid.toml", &[])).expect("a four-bar");
    let reducer = with_forces("four_bar_rigid.toml", "[parameters]");
    for theta in [-0.9, 0.6] {
        let a = plain.evaluate(&[theta]).expect("regular");
        let c = reducer.evaluate(&[theta]).expect("regular");
        assert_close("rotor", &[c.mass[0] - a.mass[0]], &[2e-4 * 900.0], 1e-10);
        // Power of the dampers at unit rate: the hinge at B turns by the difference of the angular
        // velocities of coupler and rocker, the other follows the distance from the anchor.
        let b = &c.outputs[1];
        let line: Vec<f64> = (b.position.iter().zip([0.3, 0.0, 0.9]))
            .map(|(p, q)| p - q)
            .collect();
        let distance = line.iter().map(|v| v * v).sum::<f64>().sqrt();
        let rate: f64 = (0..3).map(|i| line[i] * b.jacobian[i] / distance).sum();
        // Hinge B keeps a right angle between the rocker D→B and the velocity of B.
        let from_d = [b.position[0] - 1.0, b.position[2]];
        let rocker = (from_d[0] * b.jacobian[2] - from_d[1] * b.jacobian[0])
            / (from_d[0].powi(2) + from_d[1].powi(2));
        // Positive angles turn x towards z, against the direction of y.
        let turn = rocker + b.jacobian[4];
        let expected = 0.7 + 2.5 * rate * rate + 0.4 * turn * turn;
        assert_close("damping", &c.damping, &[expected], 1e-10);
    }
}

/// A constant moment does work on a body that turns about one direction, full turns counted.
#[test]
fn moments_have_a_potential_where_bodies_turn_about_one_direction() {
    let load = "[[load]]\nat = \"coupler.to\"\nmoment = [3, 5, -2]\n\n[[output]]\nname = \"B\"";
    for file in ["four_bar_rigid.toml", "four_bar.toml"] {
        let changes = [("[[output]]\nname = \"B\"", load)];
        let reducer = LocalReducer::new(&mechanism_with(file, &changes)).expect("a four-bar");
        for theta in [-1.3, 0.1, 1.2] {
            check_gradients(file, &reducer, &[theta], 1e-6);
        }
    }
    let pendulum = mechanism_from(
        "format = 1\n[[body]]\nname = \"arm\"\nrod = { from = [0, 0, 0], to = [1, 0, 0], mass = 1 }\n\
         [[joint]]\nname = \"pivot\"\nhinge = [\"ground\", \"arm.from\"]\naxis = [0, -1, 0]\n\
         [[coordinate]]\nname = \"angle\"\ndrives = \"pivot\"\n\
         [[load]]\nat = \"arm.to\"\nmoment = [7, -4, 1]\n",
    );
    let reducer = LocalReducer::new(&pendulum).expect("a pendulum");
    for angle in [-8.0, 0.5, 4.0] {
        let c = reducer.evaluate(&[angle]).expect("regular");
        assert_close("force", &c.force, &[4.0], 1e-12);
        assert_close("potential", &[c.potential], &[-4.0 * angle], 1e-12);
    }
}

/// A spring on a hinge winds up: full turns count, on driven hinges and on those that close loops.
#[test]
fn springs_on_hinges_count_full_turns() {
    let pendulum = mechanism_from(
        "format = 1\n[[body]]\nname = \"arm\"\nrod = { from = [0, 0, 0], to = [1, 0, 0], mass = 1 }\n\
         [[joint]]\nname = \"pivot\"\nhinge = [\"ground\", \"arm.from\"]\naxis = [0, -1, 0]\n\
         [[coordinate]]\nname = \"angle\"\ndrives = \"pivot\"\n\
         [[spring]]\njoint = \"pivot\"\nstiffness = 3\nrest = 0.5\n",
    );
    let reducer = LocalReducer::new(&pendulum).expect("a pendulum");
    for angle in [-9.0, -3.3, 0.0, 3.0, 3.3, 20.0] {
        let c = reducer.evaluate(&[angle]).expect("regular");
        assert_close("force", &c.force, &[-3.0 * (angle - 0.5)], 1e-12);
        let energy = 1.5 * ((angle - 0.5_f64).powi(2) - 0.25);
        assert_close("potential", &[c.potential], &[energy], 1e-12);
    }
    // The crank of a crank-rocker turns round against the coupler as well as against the ground.
    let text = |joint: &str| {
        format!(
            "format = 1\n[parameters]\na = 0.2\nb = 0.9\nc = 0.8\nd = 1.0\n\
             Bx = \"a + (b^2 + (d - a)^2 - c^2) / (2*(d - a))\"\nBz = \"sqrt(b^2 - (Bx - a)^2)\"\n\
             [[body]]\nname = \"crank\"\nrod = {{ from = [0, 0, 0], to = [\"a\", 0, 0], mass = 1 }}\n\
             [[body]]\nname = \"coupler\"\nrod = {{ from = [\"a\", 0, 0], to = [\"Bx\", 0, \"Bz\"], mass = 1 }}\n\
             [[body]]\nname = \"rocker\"\nrod = {{ from = [\"Bx\", 0, \"Bz\"], to = [\"d\", 0, 0], mass = 1 }}\n\
             [[joint]]\nname = \"O\"\nhinge = [\"ground\", \"crank.from\"]\naxis = [0, -1, 0]\n\
             [[joint]]\nname = \"A\"\nhinge = [\"crank.to\", \"coupler.from\"]\naxis = [0, -1, 0]\n\
             [[joint]]\nname = \"B\"\nhinge = [\"coupler.to\", \"rocker.from\"]\naxis = [0, -1, 0]\n\
             [[joint]]\nname = \"D\"\nhinge = [\"rocker.to\", \"ground\"]\naxis = [0, -1, 0]\n\
             [[coordinate]]\nname = \"theta\"\ndrives = \"O\"\n\
             [[spring]]\njoint = \"{joint}\"\nstiffness = 2\n"
        )
    };
    let turn = std::f64::consts::TAU;
    for (joint, turns) in [("O", 1.0), ("A", -1.0), ("B", 0.0), ("D", 0.0)] {
        let reducer = LocalReducer::new(&mechanism_from(&text(joint))).expect("a crank-rocker");
        for revolutions in [-1.0, 1.0, 2.0] {
            let c = reducer.evaluate(&[revolutions * turn]).expect("regular");
            let wound: f64 = turns * revolutions * turn;
            let error = (c.potential - wound * wound).abs();
            assert!(
                error < 1e-9,
                "{joint} after {revolutions} turns: {}",
                c.potential
            );
        }
        check_gradients(joint, &reducer, &[3.6], 1e-6);
    }
}
