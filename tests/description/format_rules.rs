//! Rules of the format that models rely on.

use nalgebra::{Matrix3, Vector3};
use reducer::description::mechanism::{
    BodyKind, BodyRef, Damping, Drive, InternalModes, JointKind, Mechanism, SpringKind,
};
use reducer::description::{FaultKind, Faults, parse};
use std::path::Path;

fn read(text: &str) -> Result<Mechanism, Faults> {
    let resolver = |path: &Path| {
        let label = path.display().to_string();
        match label.as_str() {
            "parts/leg.toml" => Ok(b"format = 1\ninclude = [\"../steel.toml\"]\n[[template.leg.body]]\nname = \"foot\"\npoint = { at = [\"reach\", 0, 0], mass = 1 }\n[[template.leg.joint]]\nname = \"guide\"\nprismatic = [\"ground\", \"foot\"]\naxis = [0, 0, 1]\n[[template.leg.coordinate]]\nname = \"q\"\ndrives = \"guide\"\n".to_vec()),
            "steel.toml" => Ok(b"[parameters]\nreach = 1\n".to_vec()),
            "path.csv" => Ok(b"theta\n0.0\n0.1\n0.2\n".to_vec()),
            _ => Err(FaultKind::Folder { path: label }),
        }
    };
    parse(text, "folder/test.toml", &resolver)
}

fn valid(text: &str) -> Mechanism {
    read(text).unwrap_or_else(|faults| panic!("{faults}"))
}

/// A crank on a hinge, to which `more` is added.
fn crank(more: &str) -> String {
    format!(
        "format = 1\n[[body]]\nname = \"crank\"\nrod = {{ from = [0, 0, 0], to = [1, 0, 0], mass = 2 }}\n\
         [[joint]]\nname = \"pivot\"\nhinge = [\"ground\", \"crank.from\"]\naxis = [0, 0, 1]\n\
         [[coordinate]]\nname = \"theta\"\ndrives = \"pivot\"\n{more}"
    )
}

fn kinds(text: &str) -> Vec<FaultKind> {
    let faults = read(text).unwrap_err().faults;
    faults.into_iter().map(|fault| fault.kind).collect()
}

#[test]
fn the_rod_has_transverse_inertia_only() {
    let mechanism = valid(&crank(""));
    let BodyKind::Rigid(inertia) = &mechanism.bodies[0].kind else {
        panic!("a rod is rigid");
    };
    let expected = Matrix3::from_diagonal(&Vector3::new(0.0, 2.0 / 12.0, 2.0 / 12.0));
    assert_eq!(inertia.inertia, expected);
    assert_eq!(inertia.center_of_mass, Vector3::new(0.5, 0.0, 0.0));
    assert_eq!(mechanism.name, "test");
    assert_eq!(mechanism.coordinates[0].lower, f64::NEG_INFINITY);
}

#[test]
fn inertia_may_be_given_about_the_origin_and_with_cad_signs() {
    let body = |rigid: &str| {
        let text = crank(&format!(
            "[[body]]\nname = \"b\"\nrigid = {{ {rigid} }}\n[[joint]]\nfixed = [\"crank\", \"b\"]\n"
        ));
        match valid(&text).bodies.remove(1).kind {
            BodyKind::Rigid(inertia) => inertia.inertia,
            _ => panic!("rigid"),
        }
    };
    let about_center =
        body("mass = 2, center_of_mass = [0.5, 0, 0.1], inertia = [1, 2, 2, 0.1, 0.2, 0.3]");
    // Parallel axes: I + m (c·c 1 − c cᵀ).
    let about_origin = body(
        "mass = 2, center_of_mass = [0.5, 0, 0.1], inertia_about = \"origin\", inertia = [1.02, 2.52, 2.5, 0.1, 0.1, 0.3]",
    );
    assert!((about_center - about_origin).norm() < 1e-15);
    let cad = body(
        "mass = 2, center_of_mass = [0.5, 0, 0.1], products = \"cad\", inertia = [[1, -0.1, -0.2], [-0.1, 2, -0.3], [-0.2, -0.3, 2]]",
    );
    assert_eq!(about_center, cad);
}

#[test]
fn orientations_agree() {
    let frame = |frame: &str| {
        let text = crank(&format!(
            "[[body]]\nname = \"b\"\nrigid = {{ mass = 1 }}\nframe = {{ at = [1, 2, 3], {frame} }}\n[[joint]]\nfixed = [\"crank\", \"b\"]\n"
        ));
        valid(&text).bodies[1].frame
    };
    let expected = Matrix3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    for orientation in [
        "quaternion = [\"sqrt(0.5)\", 0, 0, \"sqrt(0.5)\"]",
        "axis = [0, 0, 2], angle = \"90 deg\"",
        "rpy = [0, 0, \"pi/2\"]",
        "x = [0, 1, 0], y = [-1, 5, 0]",
        "z = [0, 0, 1], x = [0, 1, 0]",
    ] {
        let found = frame(orientation);
        assert!((found.rotation - expected).norm() < 1e-15, "{orientation}");
        assert_eq!(found.position, Vector3::new(1.0, 2.0, 3.0));
    }
    // URDF: rotations about the fixed axes x, then y, then z.
    let rpy = frame("rpy = [\"pi/2\", 0, \"pi/2\"]").rotation;
    assert!((rpy * Vector3::y() - Vector3::z()).norm() < 1e-15);
    assert!((rpy * Vector3::x() - Vector3::y()).norm() < 1e-15);
}

#[test]
fn joint_frames_put_z_along_the_axis_and_x_along_the_second() {
    let text = crank(
        "[[body]]\nname = \"b\"\npoint = { at = [1, 0, 0] }\n[[joint]]\nname = \"u\"\nuniversal = [\"crank\", \"b\"]\naxes = [[0, 3, 0], [0, 0, 2]]\n",
    );
    let mechanism = valid(&text);
    let joint = &mechanism.joints[1];
    assert_eq!(joint.kind, JointKind::Universal);
    let home = mechanism.bodies[0].frame;
    let frame = home.compose(&joint.a.frame);
    assert!((frame.rotation.column(2) - Vector3::y()).norm() < 1e-15);
    assert!((frame.rotation.column(0) - Vector3::z()).norm() < 1e-15);
    assert!((frame.position - Vector3::x()).norm() < 1e-15);
}

#[test]
fn explicit_frames_replace_at_and_axis() {
    let text = crank(
        "[[body]]\nname = \"b\"\nrigid = { mass = 1 }\nat = [1, 0, 0]\npoints = { mount = { rpy = [\"90 deg\", 0, 0] } }\n[[joint]]\nname = \"h\"\nhinge = [\"crank\", \"b\"]\nframe_b = \"mount\"\n",
    );
    let mechanism = valid(&text);
    let frame = mechanism.bodies[1]
        .frame
        .compose(&mechanism.joints[1].b.frame);
    assert!((frame.rotation.column(2) + Vector3::y()).norm() < 1e-15);
    assert_eq!(frame.position, Vector3::x());
    let apart = crank(
        "[[body]]\nname = \"b\"\nrigid = { mass = 1 }\nat = [1, 0, 0]\n[[joint]]\nname = \"h\"\nhinge = [\"crank\", \"b\"]\nframe_a = { z = [0, 0, 1], x = [1, 0, 0] }\nframe_b = { z = [0, 1, 0], x = [1, 0, 0] }\n",
    );
    assert!(matches!(
        kinds(&apart).as_slice(),
        [FaultKind::FramesApart { .. }]
    ));
}

#[test]
fn curved_beams_follow_the_arc() {
    let text = "format = 1\n[[body]]\nname = \"bend\"\nbeam = { from = [0, 0, 0], to = [\"100*sin(45 deg)\", \"100*(1 - cos(45 deg))\", 0], through = [\"100*sin(20 deg)\", \"100*(1 - cos(20 deg))\", 0], elements = 8, section = { rectangle = { height = 1, width = 1 } }, material = \"steel\", up = [0, 0, 1] }\n[[joint]]\nname = \"root\"\nhinge = [\"ground\", \"bend.from\"]\naxis = [0, 0, 1]\n[[coordinate]]\nname = \"q\"\ndrives = \"root\"\n";
    let mechanism = valid(text);
    let BodyKind::Beam(chain) = &mechanism.bodies[0].kind else {
        panic!("a beam");
    };
    let angle = std::f64::consts::FRAC_PI_4;
    assert_eq!(chain.nodes.len(), 9);
    for (index, node) in chain.nodes.iter().enumerate() {
        let phi = angle * index as f64 / 8.0;
        let expected = Vector3::new(100.0 * phi.sin(), 100.0 * (1.0 - phi.cos()), 0.0);
        assert!((node.position - expected).norm() < 1e-11, "{index}");
        let tangent = Vector3::new(phi.cos(), phi.sin(), 0.0);
        assert!((node.rotation.column(0) - tangent).norm() < 1e-13);
        assert!((node.rotation.column(2) - Vector3::z()).norm() < 1e-13);
    }
    assert!((chain.lengths[0] - 100.0 * angle / 8.0).abs() < 1e-12);
}

#[test]
fn distances_springs_masses_and_loads() {
    let text = crank(
        "[[body]]\nname = \"slider\"\npoint = { at = [0, 2, 0], mass = 1 }\n[[joint]]\nname = \"rail\"\nprismatic = [\"ground\", \"slider\"]\naxis = [0, 1, 0]\n\
         [[coordinate]]\nname = \"span\"\ndistance = [\"crank.to\", \"slider\"]\nrange = [1, 3]\nrotor_inertia = \"2 kg m^2\"\nratio = 10\nstiffness = \"3 kN/m\"\n\
         [[spring]]\njoint = \"pivot\"\nstiffness = \"5 N m/rad\"\nrest = \"10 deg\"\n[[spring]]\nbetween = [\"crank.center\", \"ground\"]\nstiffness = 7\ndamping = 0.5\n\
         [parameters]\npayload = { value = \"1200 g\", runtime = true }\n[[point_mass]]\nat = \"crank.to\"\nmass = \"payload\"\n\
         [[load]]\nat = [1, 0, 0]\nbody = \"crank\"\nforce = [0, \"2 kN\", 0]\n[damping]\nratio = 0.01\n",
    );
    let mechanism = valid(&text);
    let span = &mechanism.coordinates[1];
    assert!(matches!(span.drive, Drive::Distance(..)));
    assert_eq!(span.home, 5.0_f64.sqrt());
    assert_eq!(span.rotor_inertia, 200.0);
    assert_eq!(span.stiffness, Some(3000.0));
    assert!(
        matches!(mechanism.springs[0].kind, SpringKind::Joint { rest, .. } if (rest - 10_f64.to_radians()).abs() < 1e-16)
    );
    assert!(
        matches!(&mechanism.springs[1].kind, SpringKind::Points { length, b, .. } if *length == 0.5 && b.body == BodyRef::Ground)
    );
    assert_eq!(mechanism.springs[1].name, "spring2");
    assert!(mechanism.point_masses[0].at_runtime);
    assert_eq!(mechanism.point_masses[0].mass, 1.2);
    assert_eq!(mechanism.loads[0].force, Vector3::new(0.0, 2000.0, 0.0));
    assert_eq!(mechanism.damping, Damping::Modal { ratio: 0.01 });
    assert_eq!(mechanism.reduction.internal, Some(InternalModes::Lowest(1)));
}

#[test]
fn templates_take_parameters_frames_and_includes() {
    let text = "format = 1\ninclude = [\"parts/leg.toml\"]\n[[use]]\ntemplate = \"leg\"\nnames = [\"a\", \"b\"]\nat = [0, 0, 5]\nrotate = { axis = [0, 0, 1], step = \"90 deg\" }\n[[use]]\ntemplate = \"leg\"\nnames = [\"c\"]\nparameters = { reach = \"reach + 2\" }\n";
    let mechanism = valid(text);
    let names: Vec<&str> = mechanism
        .coordinates
        .iter()
        .map(|own| own.name.as_str())
        .collect();
    assert_eq!(names, ["a.q", "b.q", "c.q"]);
    let places: Vec<Vector3<f64>> = mechanism
        .bodies
        .iter()
        .map(|body| body.frame.position)
        .collect();
    let expected = [
        Vector3::new(1.0, 0.0, 5.0),
        Vector3::new(0.0, 1.0, 5.0),
        Vector3::new(3.0, 0.0, 0.0),
    ];
    for (found, expected) in places.iter().zip(expected) {
        assert!((found - expected).norm() < 1e-15);
    }
    let paths: Vec<&str> = mechanism
        .sources
        .iter()
        .map(|source| source.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "folder/test.toml",
            "folder/parts/leg.toml",
            "folder/steel.toml"
        ]
    );
}

#[test]
fn inequalities_and_trajectories() {
    let text = crank(
        "range = [-1, 1]\n[domain]\ninequalities = [{ coefficients = { theta = 2 }, at_least = -1 }]\n[approximation]\ntrajectory = { file = \"path.csv\" }\n",
    );
    let mechanism = valid(&text);
    assert_eq!(mechanism.inequalities[0].coefficients, [-2.0]);
    assert_eq!(mechanism.inequalities[0].bound, 1.0);
    assert!(mechanism.check_configuration(&[-0.5]).is_ok());
    assert!(mechanism.check_configuration(&[-0.6]).is_err());
    let points = mechanism.approximation.trajectory.unwrap().points;
    assert_eq!(points, [[0.0], [0.1], [0.2]]);
}

#[test]
fn runtime_parameters_mark_what_they_reach() {
    let text = crank(
        "viscous = \"2*d\"\ncoulomb = 1\n[parameters]\nd = { value = \"3 N m s/rad\", runtime = true }\n",
    );
    let coordinate = &valid(&text).coordinates[0];
    assert_eq!((coordinate.viscous, coordinate.coulomb), (6.0, 1.0));
    assert!(coordinate.at_runtime.viscous);
    assert!(!coordinate.at_runtime.coulomb && !coordinate.at_runtime.rotor_inertia);
}

#[test]
fn runtime_parameters_are_refused_where_they_mean_nothing() {
    let text = crank(
        "[parameters]\nm = { value = 1, runtime = true }\nn = \"2*m\"\n[[body]]\nname = \"b\"\npoint = { at = [0, 0, \"n\"] }\n[[joint]]\nfixed = [\"crank\", \"b\"]\n",
    );
    assert_eq!(kinds(&text), [FaultKind::RuntimeParameter]);
}

#[test]
fn gravity_may_stay_free() {
    let with = |gravity: &str| {
        let text = crank("").replacen("format = 1\n", &format!("format = 1\n{gravity}\n"), 1);
        read(&text).map(|m| (m.gravity, m.gravity_at_runtime))
    };
    let down = Vector3::new(0.0, 0.0, -9.81);
    assert_eq!(with("gravity = \"runtime\"").unwrap(), (down, true));
    let table = "gravity = { value = [1, 2, \"g\"], runtime = true }\nparameters.g = 3";
    assert_eq!(with(table).unwrap(), (Vector3::new(1.0, 2.0, 3.0), true));
    assert_eq!(with("gravity = [0, 0, -9.81]").unwrap(), (down, false));
    let refused = with("gravity = \"sometimes\"").unwrap_err().to_string();
    assert!(refused.contains("`sometimes` is not a value"), "{refused}");
}

#[test]
fn rates_and_accelerations_are_positive_and_have_the_units_of_their_coordinate() {
    let coordinate = |more: &str| valid(&crank(more)).coordinates.remove(0);
    let own = coordinate("rate = \"180 deg/s\"\nacceleration = 4\n");
    assert!((own.rate.unwrap() - std::f64::consts::PI).abs() < 1e-12);
    assert_eq!(own.acceleration, Some(4.0));
    let none = coordinate("");
    assert_eq!((none.rate, none.acceleration), (None, None));
    for wrong in ["rate = \"3 m/s\"\n", "acceleration = \"3 rad/s\"\n"] {
        let found = kinds(&crank(wrong));
        assert!(
            matches!(found[..], [FaultKind::WrongDimension { .. }]),
            "{found:?}"
        );
    }
    for wrong in ["rate = 0\n", "acceleration = -2\n"] {
        let found = kinds(&crank(wrong));
        assert!(
            matches!(found[..], [FaultKind::NotPositive { .. }]),
            "{found:?}"
        );
    }
}
