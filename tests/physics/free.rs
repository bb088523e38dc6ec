//! A free joint is what six joints with massless bodies between them are.

use crate::support::mechanism_from;
use reducer::reduction::{Coefficients, LocalReducer};

const RAFT: &str = r#"format = 1
name = "raft"
gravity = [0, 0, -9.81]
[ground.points]
corner = [0.4, 0.3, -0.3]
[[body]]
name = "raft"
at = [0.1, 0.2, 0.3]
rigid = { mass = 50, inertia = [2, 3, 4], center_of_mass = [0.01, 0.02, 0.03] }
points = { corner = [0.4, 0.3, 0] }
[[spring]]
between = ["ground.corner", "raft.corner"]
stiffness = 1e5
[[output]]
name = "corner"
at = "raft.corner"
"#;

const FREE: &str = r#"[[joint]]
name = "base"
free = ["ground", "raft"]
"#;

const MOTIONS: [&str; 6] = ["x", "y", "z", "yaw", "pitch", "roll"];
const AXES: [&str; 6] = [
    "[1, 0, 0]",
    "[0, 1, 0]",
    "[0, 0, 1]",
    "[0, 0, 1]",
    "[0, 1, 0]",
    "[1, 0, 0]",
];

fn coordinates(driven: impl Fn(&str) -> String) -> String {
    let one = |motion: &&str| {
        let joint = driven(motion);
        format!("[[coordinate]]\nname = \"{motion}\"\ndrives = \"{joint}\"\nrange = [-1, 1]\n")
    };
    MOTIONS.iter().map(one).collect()
}

/// The same with all joints and the bodies between them written out.
fn written_out() -> String {
    let mut text = RAFT.to_owned();
    for motion in &MOTIONS[..5] {
        text +=
            &format!("[[body]]\nname = \"after_{motion}\"\nat = [0.1, 0.2, 0.3]\nrigid = {{}}\n");
    }
    let mut before = "ground".to_owned();
    for (k, (motion, axis)) in MOTIONS.iter().zip(AXES).enumerate() {
        let after = match k {
            5 => "raft".to_owned(),
            _ => format!("after_{motion}"),
        };
        let kind = if k < 3 { "prismatic" } else { "hinge" };
        text += &format!(
            "[[joint]]\nname = \"{motion}\"\n{kind} = [\"{before}\", \"{after}\"]\nat = [0.1, 0.2, 0.3]\naxis = {axis}\n"
        );
        before = after;
    }
    text + &coordinates(str::to_owned)
}

fn at(text: &str, theta: &[f64]) -> Coefficients {
    let reducer = LocalReducer::new(&mechanism_from(text)).expect("a mechanism");
    reducer.evaluate(theta).expect("regular")
}

#[test]
fn a_free_joint_is_six_joints_in_a_row() {
    let free = RAFT.to_owned() + FREE + &coordinates(|motion| format!("base.{motion}"));
    let theta = [0.1, -0.2, 0.3, 0.7, -0.4, 0.9];
    let (found, expected) = (at(&free, &theta), at(&written_out(), &theta));
    for (a, b) in [
        (&found.mass, &expected.mass),
        (&found.force, &expected.force),
        (
            &found.mass_gradient.concat(),
            &expected.mass_gradient.concat(),
        ),
    ] {
        let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        let apart = apart.fold(0.0, f64::max);
        assert!(apart <= 1e-12 * size, "{apart} {size}");
    }
    // Whatever the orientation, the body is shifted with all of its mass.
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let mass = if i == j { 50.0 } else { 0.0 };
        assert!((found.mass[6 * i + j] - mass).abs() < 1e-11, "{i} {j}");
    }
}
