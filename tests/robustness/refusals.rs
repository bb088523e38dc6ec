//! Each refusal names the place, the fact and what to try; `snapshots/` hold the full texts.

use crate::readers::bounded;
use crate::support::{changed, reduce};

/// Runs `reduce <verb> <name>.toml <options>` on a mechanism and compares what it says.
fn refused(name: &str, text: &str, verb: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{name}.toml");
    std::fs::write(folder.path().join(&file), text).unwrap();
    let mut arguments = vec![verb, &file];
    arguments.extend(options);
    let output = reduce(folder.path(), &arguments);
    let shown = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{name}: {shown}");
    assert!(output.stdout.is_empty(), "{name}");
    assert!(shown.contains("help: "), "{name}: {shown}");
    assert!(!shown.contains("panicked"), "{name}: {shown}");
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name.to_owned(), shown);
    });
}

const COORDINATE: &str = "[[coordinate]]\nname = \"theta\"";

/// A second coordinate in front of the four-bar's own.
fn with_coordinate(joint: &str) -> String {
    let second = format!("[[coordinate]]\nname = \"second\"\ndrives = \"{joint}\"\n\n{COORDINATE}");
    changed("four_bar_rigid.toml", &[(COORDINATE, &second)])
}

#[test]
fn too_few_coordinates() {
    let five_bar = changed(
        "four_bar_rigid.toml",
        &[
            (
                "hinge = [\"rocker.to\", \"ground\"]",
                "hinge = [\"rocker.to\", \"post.from\"]",
            ),
            (
                COORDINATE,
                "[[body]]\nname = \"post\"\nrod = { from = [\"base\", 0, 0], to = [1.2, 0, -0.3], mass = 1 }\n\n\
                 [[joint]]\nname = \"E\"\nhinge = [\"post.to\", \"ground\"]\naxis = [0, -1, 0]\n\n\
                 [[coordinate]]\nname = \"theta\"",
            ),
        ],
    );
    refused("too_few_coordinates", &five_bar, "validate", &[]);
}

#[test]
fn too_many_coordinates() {
    refused(
        "too_many_coordinates",
        &with_coordinate("D"),
        "validate",
        &[],
    );
}

#[test]
fn all_joints_of_a_loop_actuated() {
    let coordinates: String = ["A", "B", "D"]
        .map(|joint| format!("[[coordinate]]\nname = \"theta_{joint}\"\ndrives = \"{joint}\"\n\n"))
        .concat();
    let text = changed(
        "four_bar_rigid.toml",
        &[(COORDINATE, &format!("{coordinates}{COORDINATE}"))],
    );
    refused("all_joints_actuated", &text, "validate", &[]);
}

/// Coupler and rocker of the four-bar drawn along one line, with a gap at B.
fn stretched(tolerance: &str, coupler_end: &str, rocker_start: &str) -> String {
    format!(
        "format = 1\nhome_tolerance = {tolerance}\n\n\
         [[body]]\nname = \"crank\"\nrod = {{ from = [0, 0, 0], to = [0, 0, 0.5], mass = 1 }}\n\n\
         [[body]]\nname = \"coupler\"\nrod = {{ from = [0, 0, 0.5], to = [{coupler_end}, 0, 0.5], mass = 1 }}\n\n\
         [[body]]\nname = \"rocker\"\nrod = {{ from = [{rocker_start}, 0, 0.5], to = [1, 0, 0.5], mass = 1 }}\n\n\
         [[joint]]\nname = \"O\"\nhinge = [\"ground\", \"crank.from\"]\naxis = [0, -1, 0]\n\n\
         [[joint]]\nname = \"A\"\nhinge = [\"crank.to\", \"coupler.from\"]\naxis = [0, -1, 0]\n\n\
         [[joint]]\nname = \"B\"\nhinge = [\"coupler.to\", \"rocker.from\"]\naxis = [0, -1, 0]\n\n\
         [[joint]]\nname = \"D\"\nhinge = [\"rocker.to\", \"ground\"]\naxis = [0, -1, 0]\n\n\
         [[coordinate]]\nname = \"theta\"\ndrives = \"O\"\n"
    )
}

/// A four-bar whose coupler is drawn 2 mm too long; both bodies at B begin at their other ends.
fn drawn_too_long(tolerance: &str) -> String {
    stretched(tolerance, "0.502", "0.5")
        .replace(
            "from = [0.5, 0, 0.5], to = [1, 0, 0.5]",
            "from = [0.9, 0, 0.2], to = [0.5, 0, 0.5]",
        )
        .replace("\"rocker.from\"]", "\"rocker.to\"]")
        .replace(
            "[\"rocker.to\", \"ground\"]",
            "[\"rocker.from\", \"ground\"]",
        )
}

#[test]
fn what_assembly_moves_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("stretched.toml"), drawn_too_long("5e-3")).expect("a file");
    let output = reduce(folder.path(), &["validate", "stretched.toml", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let moved = &document["moved_at_home"];
    // The rocker turns until the coupler reaches: 2 mm over the cosine between them and the way B goes.
    let distance = moved["distance"].as_f64().expect("a distance");
    assert!((distance - 2e-3 / 0.6).abs() < 1e-4, "{document}");
    assert_eq!(moved["point"], "joint B");
    let output = reduce(folder.path(), &["validate", "stretched.toml"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("  assembly     moves rocker at joint B by 3."),
        "{text}"
    );
}

#[test]
fn a_drawing_that_cannot_be_assembled() {
    let short = stretched("0.02", "0.5", "0.51");
    refused("not_assembled", &short, "validate", &[]);
    let long = stretched("0.02", "0.51", "0.5");
    refused("assembled_elsewhere", &long, "validate", &[]);
    // Only the ends of coupler and rocker at B move, and neither is the origin of its body.
    refused("moved_at_a_joint", &drawn_too_long("3e-3"), "validate", &[]);
    let straight = stretched("1e-6", "0.5", "0.5");
    refused("singular_home", &straight, "validate", &[]);
}

#[test]
fn configurations_outside_the_domain_and_at_singularities() {
    let four_bar = changed("four_bar_rigid.toml", &[]);
    let orthoglide = changed("orthoglide.toml", &[]);
    for (name, text, at) in [
        ("outside_domain", &four_bar, &["--at", "1.8"][..]),
        ("several_outside", &orthoglide, &["--at", "-0.1,0.3,0"]),
        (
            "four_bar_singular",
            &four_bar,
            &["--anywhere", "--at", "1.798997"],
        ),
        ("four_bar_beyond", &four_bar, &["--anywhere", "--at", "2.0"]),
        (
            "orthoglide_singular",
            &orthoglide,
            &["--anywhere", "--at=-0.101135,-0.101135,-0.101135"],
        ),
        (
            "orthoglide_beyond",
            &orthoglide,
            &["--anywhere", "--at=-0.12,-0.12,-0.12"],
        ),
        ("far_away", &four_bar, &["--anywhere", "--at", "1e300"]),
    ] {
        refused(name, text, "local", at);
    }
}

#[test]
fn values_that_are_no_configuration() {
    let four_bar = changed("four_bar.toml", &[]);
    for (name, options) in [
        ("at_nan", &["--at", "nan"][..]),
        ("at_infinite_anywhere", &["--at=-inf", "--anywhere"]),
        ("at_count", &["--at", "0,0"]),
        ("at_count_anywhere", &["--at", "0,0", "--anywhere"]),
        ("rate_infinite", &["--at", "0", "--rate", "1,0,inf,0,0,0,0"]),
        ("accel_nan", &["--at", "0", "--accel", "nan"]),
        ("rate_count", &["--at", "0", "--rate", "1,2"]),
    ] {
        refused(name, &four_bar, "local", options);
    }
    let rigid = changed("four_bar_rigid.toml", &[]);
    refused(
        "accel_count",
        &rigid,
        "local",
        &["--at", "0", "--accel", "1,2"],
    );
}

#[test]
fn modes_that_do_not_exist() {
    let held = changed(
        "four_bar.toml",
        &[(
            "at = \"coupler.to\"\ndirection",
            "at = \"rocker.to\"\ndirection",
        )],
    );
    refused("loaded_held", &held, "validate", &[]);
    let again =
        "[[loaded]]\nname = \"again\"\nat = \"rocker.from\"\ndirection = [0, 0, -2]\n\n[reduction]";
    let repeated = changed("four_bar.toml", &[("[reduction]", again)]);
    refused("loaded_repeated", &repeated, "validate", &[]);
    let many = changed(
        "four_bar.toml",
        &[("internal_modes = 5", "internal_modes = 500")],
    );
    refused("too_many_modes", &many, "validate", &[]);
    let class = changed(
        "four_bar.toml",
        &[
            ("elements = 4", "elements = 1"),
            (
                "internal_modes = 5",
                "internal_modes = { out_of_plane = \"xz\", count = 40 }",
            ),
        ],
    );
    refused("too_many_of_a_class", &class, "validate", &[]);
    let rigid = changed(
        "four_bar_rigid.toml",
        &[(
            "[[output]]\nname = \"A\"",
            "[reduction]\ninternal_modes = 2\n\n[[output]]\nname = \"A\"",
        )],
    );
    refused("modes_of_rigid_bodies", &rigid, "validate", &[]);
}

#[test]
fn modes_without_stiffness() {
    let limp = changed(
        "four_bar.toml",
        &[
            (
                "[section.bar]",
                "[material.limp]\ndensity = 2700\nyoung = 1e-6\npoisson = 0.3\n\n[section.bar]",
            ),
            (
                "to = [\"crank\", 0, 0], elements = 4, section = \"bar\", material = \"alloy\"",
                "to = [\"crank\", 0, 0], elements = 4, section = \"bar\", material = \"limp\"",
            ),
        ],
    );
    refused("limp_material", &limp, "validate", &[]);
    let coordinate = "[[coordinate]]\nname = \"theta\"\nstiffness = 1e-12";
    let loose = changed("four_bar.toml", &[(COORDINATE, coordinate)]);
    refused("loose_actuator", &loose, "validate", &[]);
}

#[test]
fn gauges_that_do_not_hold() {
    let gauge = |modes: &str, name: &str| {
        let gauge = format!("gauge = \"{name}\"");
        let changes = [
            ("gauge = \"filtered\"", gauge.as_str()),
            ("internal_modes = 5", modes),
        ];
        changed("four_bar.toml", &changes)
    };
    let one = gauge(
        "internal_modes = { in_plane = \"xz\", count = 1 }",
        "subspace",
    );
    refused("subspace_gap", &one, "local", &["--at", "0.772"]);
    let three = gauge("internal_modes = 3", "track");
    refused("track_lost", &three, "local", &["--at", "0.772"]);
}

#[test]
fn mechanisms_without_inertia_or_out_of_bounds() {
    let mass = "[[body]]\nname = \"arm\"\nrigid = { center_of_mass = [0, 0, 0] }\n";
    let text = format!(
        "format = 1\n\n{mass}\n[[joint]]\nname = \"pivot\"\nhinge = [\"ground\", \"arm.origin\"]\naxis = [0, 1, 0]\n\n\
         [[coordinate]]\nname = \"angle\"\ndrives = \"pivot\"\n"
    );
    refused("no_inertia", &text, "validate", &[]);
    let slide = text
        .replace("hinge = ", "prismatic = ")
        .replace("rigid = {", "rigid = { mass = 1e20,")
        .replace("format = 1\n", "format = 1\ngravity = [0, -9.81, 0]\n");
    refused("overflow", &slide, "local", &["--at", "1e300"]);
    let arm = changed("elbow.toml", &[]);
    let fast = ["--at", "0.3,0.3,0.3", "--rate", "1e200,0,0"];
    refused("force_overflow", &arm, "local", &fast);
}

#[test]
fn moments_without_a_potential() {
    let load = "[[load]]\nat = \"link3\"\nmoment = [1, 0, 2]\n\n[[output]]";
    let elbow = changed("elbow.toml", &[("[[output]]", load)]);
    refused("moment_without_potential", &elbow, "validate", &[]);
}

#[test]
fn mechanisms_that_leave_their_plane() {
    let elbow = changed(
        "elbow.toml",
        &[("format = 1", "format = 1\nplane = \"xz\"")],
    );
    refused("joint_out_of_plane", &elbow, "validate", &[]);
    let tilted = changed(
        "four_bar.toml",
        &[(
            "gravity = [0, 0, -9.81]",
            "plane = \"xz\"\ngravity = [0, 1, -9.81]",
        )],
    );
    refused("gravity_out_of_plane", &tilted, "validate", &[]);
}

#[test]
fn sizes_that_no_model_may_have() {
    let outputs: String = (0..255)
        .map(|i| format!("\n[[output]]\nname = \"P{i}\"\nat = \"crank.to\"\n"))
        .collect();
    let many = changed("four_bar_rigid.toml", &[]) + &outputs;
    refused("too_many_outputs", &many, "validate", &[]);
    let modes = ("internal_modes = 5", "internal_modes = 70");
    let elements = ("elements = 4", "elements = 20");
    let many = changed("four_bar.toml", &[modes, elements]);
    refused("too_many_generalised", &many, "validate", &[]);
    let loaded =
        |i| format!("\n[[loaded]]\nname = \"F{i}\"\nat = \"crank.to\"\ndirection = [{i}, 0, 1]\n");
    let many = changed("four_bar.toml", &[]) + &(0..257).map(loaded).collect::<String>();
    refused("too_many_loaded", &many, "validate", &[]);
}

/// A chain so long that to build it would take a minute and gigabytes.
#[test]
fn a_chain_of_many_actuators_is_refused_before_it_is_built() {
    let link = |i: usize| {
        let before = match i {
            0 => "ground".to_owned(),
            _ => format!("b{}", i - 1),
        };
        format!(
            "[[body]]\nname = \"b{i}\"\nat = [{i}, 0, 0]\n\
             rigid = {{ mass = 1, center_of_mass = [0.5, 0, 0], inertia = [0.1, 0.1, 0.1] }}\n\
             [[joint]]\nname = \"j{i}\"\nhinge = [\"{before}\", \"b{i}.origin\"]\naxis = [0, 1, 0]\n\
             [[coordinate]]\nname = \"q{i}\"\ndrives = \"j{i}\"\nrange = [-1, 1]\n"
        )
    };
    let chain: String = (0..250).map(link).collect();
    let text = format!("format = 1\nname = \"chain\"\ngravity = [0, 0, -9.81]\n{chain}");
    refused("chain", &text, "validate", &[]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chain.toml"), text).unwrap();
    let (code, said) = bounded(folder.path(), &["validate", "chain.toml"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_name_that_generated_code_cannot_have() {
    let named = changed("four_bar_rigid.toml", &[("\"four_bar_rigid\"", "\"math\"")]);
    refused("reserved_name", &named, "validate", &[]);
}
