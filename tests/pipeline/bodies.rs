//! Bodies from finite-element programs through the whole pipeline.

use crate::generated::self_test;
use crate::support::{contents, data, pipeline, reduce, run};
use crate::tools;
use std::path::Path;
use std::process::Command;

/// The four-bar with a coupler of solid elements: model, and C that passes its self-test.
#[test]
fn the_mixed_four_bar_becomes_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = data("reference/superelements/four_bar.toml");
    let (document, code) = pipeline(&file, folder.path());
    assert_eq!(code, 0, "{document}");
    assert_eq!(document["without_geometric_stiffness"][0], "coupler");
    self_test(&folder.path().join("c"), "four_bar_solid_coupler");
}

/// The example from its exported matrices. A second run takes the condensed body from where the first has left it, and
/// writes the same bytes; so does one that finds a damaged body there.
#[test]
fn the_bracket_arm_becomes_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let file = data("bracket_arm/bracket_arm.toml");
    let (document, code) = pipeline(&file, &out);
    assert_eq!(code, 0, "{document}");
    self_test(&out.join("c"), "bracket_arm");
    let report = std::fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(report.contains("Without geometric stiffness inside"));
    let first = contents(&out);
    let stored = std::fs::read_dir(out.join(".samples/bodies")).expect("bodies");
    let stored: Vec<_> = stored.flatten().map(|entry| entry.path()).collect();
    assert_eq!(stored.len(), 1);
    for damage in [false, true] {
        if damage {
            std::fs::write(&stored[0], b"not a body").expect("written");
        }
        assert_eq!(pipeline(&file, &out).1, 0);
        assert!(contents(&out) == first, "damaged: {damage}");
    }
    let modes = folder.path().join("modes.vtu");
    let output = run(reduce()
        .arg("modes")
        .arg(&file)
        .args(["--at", "0.3", "-o"])
        .arg(&modes));
    assert!(output.status.success());
    let text = std::fs::read_to_string(&modes).expect("shapes");
    // Three interfaces and the mesh, no lines.
    assert!(
        text.contains("NumberOfPoints=\"846\" NumberOfCells=\"364\""),
        "{}",
        &text[..300]
    );
}

/// gmsh, CalculiX and `reduce`, as the README of the example says.
#[test]
fn the_bracket_arm_from_its_geometry() {
    if !tools::FROM_GEOMETRY.is_done() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    for file in ["bracket_arm.geo", "bracket_arm.inp", "bracket_arm.toml"] {
        std::fs::copy(data("bracket_arm").join(file), here.join(file)).expect("copied");
    }
    let mesh = ["-3", "bracket_arm.geo", "-o", "mesh.inp"];
    tools::run(Command::new("gmsh").args(mesh).current_dir(here));
    tools::run(Command::new("ccx").arg("bracket_arm").current_dir(here));
    let facts = |folder: &Path| {
        let files = [
            "bracket_arm.sti",
            "bracket_arm.mas",
            "bracket_arm.dof",
            "mesh.inp",
        ];
        let mut command = reduce();
        command.arg("body").args(files.map(|f| folder.join(f)));
        crate::support::json(command.args(["--length", "mm", "--mass", "t"])).0
    };
    // Another version of gmsh may make another mesh of the same body.
    let (made, kept) = (facts(here), facts(&data("bracket_arm")));
    let close = |a: &serde_json::Value, b: &serde_json::Value, tolerance: f64| {
        let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
        assert!((a - b).abs() <= tolerance * b.abs(), "{a} for {b}");
    };
    close(&made["mass"], &kept["mass"], 0.02);
    for k in 0..4 {
        let name = "free_frequencies_hz";
        close(&made[name][k], &kept[name][k], 0.03);
    }
    let (document, code) = pipeline(&here.join("bracket_arm.toml"), &here.join("out"));
    assert_eq!(code, 0, "{document}");
    self_test(&here.join("out/c"), "bracket_arm");
}
