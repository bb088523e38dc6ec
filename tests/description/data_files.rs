//! Every mechanism in `data/` is valid and says what `mechanisms.md` asks for.

use nalgebra::Vector3;
use reducer::description::load;
use reducer::description::mechanism::{
    Attachment, BodyKind, BodyRef, Drive, Gauge, InternalModes, JointKind, Mechanism,
};
use reducer::lie::Frame;
use std::path::Path;

fn mechanism(name: &str) -> Mechanism {
    let path = Path::new("data").join(name);
    load(&path).unwrap_or_else(|faults| panic!("{name}: {faults}"))
}

fn drawn(mechanism: &Mechanism, at: &Attachment) -> Frame {
    let node = match at.body {
        BodyRef::Ground => Frame::identity(),
        BodyRef::Body(id) => {
            let body = &mechanism.bodies[id.0];
            match body.kind.flexible_nodes() {
                Some(nodes) => body.frame.compose(&nodes[at.node]),
                None => body.frame,
            }
        }
    };
    node.compose(&at.frame)
}

fn total_mass(mechanism: &Mechanism) -> f64 {
    mechanism
        .bodies
        .iter()
        .map(|body| match &body.kind {
            BodyKind::Rigid(inertia) => inertia.mass,
            BodyKind::Point { mass } => *mass,
            BodyKind::Superelement(own) => own.properties.mass,
            BodyKind::Beam(chain) => {
                chain.section.mass_per_length * chain.lengths.iter().sum::<f64>()
            }
        })
        .sum()
}

#[test]
fn every_file_is_valid_and_its_joints_close_at_home() {
    let mut count = 0;
    for entry in std::fs::read_dir("data").unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if path.extension().is_none_or(|end| end != "toml") || !text.contains("format = 1") {
            continue;
        }
        let mechanism = load(&path).unwrap_or_else(|faults| panic!("{}: {faults}", path.display()));
        for joint in &mechanism.joints {
            let (a, b) = (drawn(&mechanism, &joint.a), drawn(&mechanism, &joint.b));
            let gap = (a.position - b.position).norm() + (a.rotation - b.rotation).norm();
            assert!(gap < 1e-14, "{} in {}: {gap}", joint.name, path.display());
        }
        count += 1;
    }
    assert!(count >= 8);
}

#[test]
fn orthoglide_legs_lie_along_the_axes() {
    let mechanism = mechanism("orthoglide.toml");
    let names: Vec<&str> = mechanism
        .coordinates
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["x.slide", "y.slide", "z.slide"]);
    assert_eq!(mechanism.bodies.len(), 7);
    assert_eq!(mechanism.joints.len(), 9);
    assert!((total_mass(&mechanism) - 3.5).abs() < 1e-15);
    for (index, coordinate) in mechanism.coordinates.iter().enumerate() {
        assert_eq!(
            (coordinate.home, coordinate.lower, coordinate.upper),
            (0.0, -0.08, 0.26)
        );
        let Drive::Joint(id) = coordinate.drive else {
            panic!("a guide drives each slider");
        };
        let guide = &mechanism.joints[id.0];
        assert_eq!(guide.kind, JointKind::Prismatic);
        let frame = drawn(&mechanism, &guide.b);
        let axis = Vector3::ith(index, 1.0);
        assert!((frame.rotation.column(2) - axis).norm() < 4e-15);
        assert!((frame.position + 0.45 * axis).norm() < 1e-15);
    }
    let output = &mechanism.outputs[0];
    assert_eq!(output.name, "effector");
    assert_eq!(drawn(&mechanism, &output.at).position, Vector3::zeros());
}

#[test]
fn parallelogram_legs_carry_the_same_mass() {
    let mechanism = mechanism("orthoglide_parallelogram.toml");
    assert!((total_mass(&mechanism) - 3.5).abs() < 1e-15);
    let universal =
        |joint: &&reducer::description::mechanism::Joint| joint.kind == JointKind::Universal;
    assert_eq!(mechanism.joints.iter().filter(universal).count(), 12);
}

#[test]
fn four_bar_is_drawn_with_its_lengths_on_the_upper_branch() {
    for name in ["four_bar.toml", "four_bar_rigid.toml"] {
        let mechanism = mechanism(name);
        let at = |joint: usize| drawn(&mechanism, &mechanism.joints[joint].a).position;
        let (o, a, b, d) = (at(0), at(1), at(2), at(3));
        assert!(((a - o).norm() - 0.5).abs() < 1e-15, "{name}");
        assert!(((b - a).norm() - 0.45).abs() < 1e-15, "{name}");
        assert!(((d - b).norm() - 0.765).abs() < 1e-15, "{name}");
        assert!((d - Vector3::x()).norm() < 1e-15, "{name}");
        let (u, v) = (d - a, b - a);
        assert!(u.x * v.z - u.z * v.x > 0.0, "{name}");
        assert!((total_mass(&mechanism) - 0.81 * 1.715).abs() < 1e-15);
        let axis = drawn(&mechanism, &mechanism.joints[0].a)
            .rotation
            .column(2)
            .into_owned();
        assert!((axis + Vector3::y()).norm() < 1e-15, "{name}");
    }
}

#[test]
fn four_bar_sections_and_modes() {
    let mechanism = mechanism("four_bar.toml");
    assert_eq!(mechanism.loaded.len(), 1);
    assert_eq!(mechanism.loaded[0].direction, Vector3::z());
    assert_eq!(mechanism.reduction.internal, Some(InternalModes::Lowest(5)));
    assert_eq!(mechanism.reduction.gauge, Gauge::Filtered { power: 2 });
    for body in &mechanism.bodies {
        let BodyKind::Beam(chain) = &body.kind else {
            panic!("{} is a beam", body.name);
        };
        assert_eq!(chain.nodes.len(), 5);
        let section = &chain.section;
        let near = |value: f64, expected: f64| ((value - expected) / expected).abs() < 1e-15;
        assert!(near(section.axial, 21e6));
        assert!(near(section.bending_y, 700.0));
        assert!(near(section.bending_z, 393.75));
        assert!(near(section.torsion, 70e9 / 2.6 * 1.2e-8));
        assert!(near(section.shear_z, 70e9 / 2.6 * 3e-4 * 5.0 / 6.0));
        assert!(near(section.rotary_inertia.x, 2700.0 * 1.5625e-8));
        // Bending about y is bending in the plane: y of every node is across it.
        let y = (body.frame.rotation * chain.nodes[2].rotation)
            .column(1)
            .into_owned();
        assert!((y - Vector3::y()).norm() < 1e-15);
    }
}

#[test]
fn thesis_settings_replace_those_of_the_included_file() {
    let mechanism = mechanism("four_bar_thesis.toml");
    assert_eq!(mechanism.name, "four_bar_thesis");
    assert_eq!(mechanism.reduction.internal, Some(InternalModes::Lowest(3)));
    assert_eq!(mechanism.reduction.gauge, Gauge::Track);
    assert_eq!(mechanism.approximation.minimal_width, [0.03]);
    assert_eq!(mechanism.bodies.len(), 3);
    assert_eq!(mechanism.sources.len(), 2);
}

#[test]
fn serial_arms_hang_together() {
    for (name, links, tip) in [("elbow.toml", 3, 0.6), ("arm6.toml", 6, 1.25)] {
        let mechanism = mechanism(name);
        assert_eq!(mechanism.coordinates.len(), links);
        let tool = drawn(&mechanism, &mechanism.outputs[0].at);
        assert!((tool.position - Vector3::new(tip, 0.0, 0.4)).norm() < 1e-15);
    }
}
