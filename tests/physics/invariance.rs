//! Moving and turning a whole mechanism, gravity and loads with it, changes nothing.

use crate::support::{Random, mechanism, relative_error};
use nalgebra::Vector3;
use reducer::description::mechanism::{Attachment, BodyRef, Drive, Mechanism, SpringKind};
use reducer::lie::{Frame, exp_rotation};
use reducer::reduction::LocalReducer;

fn moved(mechanism: &Mechanism, motion: &Frame) -> Mechanism {
    let mut out = mechanism.clone();
    let turn = |v: &mut Vector3<f64>| *v = motion.rotation * *v;
    let carry = |at: &mut Attachment| {
        if at.body == BodyRef::Ground {
            at.frame = motion.compose(&at.frame);
        }
    };
    turn(&mut out.gravity);
    for body in &mut out.bodies {
        body.frame = motion.compose(&body.frame);
    }
    for joint in &mut out.joints {
        carry(&mut joint.a);
        carry(&mut joint.b);
    }
    for coordinate in &mut out.coordinates {
        if let Drive::Distance(a, b) = &mut coordinate.drive {
            carry(a);
            carry(b);
        }
    }
    for spring in &mut out.springs {
        if let SpringKind::Points { a, b, .. } = &mut spring.kind {
            carry(a);
            carry(b);
        }
    }
    for load in &mut out.loads {
        carry(&mut load.at);
        turn(&mut load.force);
        turn(&mut load.moment);
    }
    for loaded in &mut out.loaded {
        carry(&mut loaded.at);
        turn(&mut loaded.direction);
    }
    for output in &mut out.outputs {
        carry(&mut output.at);
    }
    out
}

/// Largest relative differences of everything that must not change, and of the output that moves
/// with the mechanism.
fn differences(mechanism: &Mechanism, motion: &Frame, theta: &[f64]) -> Vec<(&'static str, f64)> {
    let here = LocalReducer::new(mechanism).expect("regular");
    let there = LocalReducer::new(&moved(mechanism, motion)).expect("regular");
    let (a, b) = (
        here.evaluate(theta).expect("regular"),
        there.evaluate(theta).expect("regular"),
    );
    let locked = |r: &LocalReducer| r.locked_frequencies_hz(theta, 10).expect("regular");
    let positions: Vec<f64> = (a.outputs.iter())
        .flat_map(|o| {
            let p = motion.rotation * Vector3::from(o.position) + motion.position;
            [p.x, p.y, p.z]
        })
        .collect();
    let found: Vec<f64> = b.outputs.iter().flat_map(|o| o.position).collect();
    vec![
        ("mass", relative_error(&b.mass, &a.mass)),
        (
            "gyroscopic",
            relative_error(&b.gyroscopic(), &a.gyroscopic()),
        ),
        ("gravity", relative_error(&b.gravity, &a.gravity)),
        ("force", relative_error(&b.force, &a.force)),
        ("stiffness", relative_error(&b.stiffness, &a.stiffness)),
        (
            "locked frequencies",
            relative_error(&locked(&there), &locked(&here)),
        ),
        ("positions", relative_error(&found, &positions)),
    ]
}

#[test]
fn a_moved_and_turned_mechanism_is_the_same() {
    let mut random = Random(11);
    for file in [
        "orthoglide.toml",
        "four_bar_rigid.toml",
        "four_bar.toml",
        "elbow.toml",
    ] {
        let drawn = mechanism(file);
        for _ in 0..3 {
            let mut vector = |size: f64| Vector3::from_fn(|_, _| size * random.next());
            let motion = Frame::new(exp_rotation(&vector(3.0)), vector(1.0));
            let theta: Vec<f64> = (drawn.coordinates.iter())
                .map(|c| 0.5 * (c.lower + c.upper) + 0.4 * (c.upper - c.lower) * random.next())
                .collect();
            for (what, difference) in differences(&drawn, &motion, &theta) {
                assert!(
                    difference <= 1e-12,
                    "{file} {what} {difference:.2e} at {theta:?}"
                );
            }
        }
    }
}

/// The first axis of the SCARA is vertical, and so is gravity: whatever it does, the equations stay the
/// same, and outputs turn with it.
#[test]
fn a_vertical_first_axis_enters_outputs_only() {
    let reducer = LocalReducer::new(&mechanism("scara.toml")).expect("a SCARA");
    let mut random = Random(11);
    for turn in [0.4, -1.9, 3.0] {
        let theta = [
            0.0,
            2.0 * random.next(),
            0.1 + 0.1 * random.next(),
            3.0 * random.next(),
        ];
        let mut turned = theta;
        turned[0] = turn;
        let [a, b] = [theta, turned].map(|theta| reducer.evaluate(&theta).expect("in the domain"));
        let blocks = [
            ("mass", &a.mass, &b.mass),
            ("gyroscopic", &a.gyroscopic(), &b.gyroscopic()),
            ("stiffness", &a.stiffness, &b.stiffness),
            ("damping", &a.damping, &b.damping),
            ("gravity", &a.gravity, &b.gravity),
        ];
        for (block, a, b) in blocks {
            let error = relative_error(b, a);
            assert!(error < 1e-9, "{block} at {turned:?}: {error:.1e}");
        }
        let by = exp_rotation(&Vector3::new(0.0, 0.0, turn));
        let [a, b] = [a, b].map(|c| Vector3::from(c.outputs[0].position));
        assert!((by * a - b).norm() < 1e-12, "{turned:?}");
    }
}
