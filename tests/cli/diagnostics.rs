//! The full text of every diagnostic of the command line, in `snapshots/`. Those of mechanism files
//! are in `tests/description`, those of the assembled model in `tests/robustness`.

use crate::support::{folder, folder_with_model, reduce, text};
use std::path::Path;

/// Compares what a refused command says.
#[track_caller]
fn refused(folder: &Path, name: &str, arguments: &[&str]) {
    let output = reduce(folder, arguments);
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {shown}");
    assert!(output.stdout.is_empty(), "{name}");
    assert!(!shown.contains("panicked"), "{name}: {shown}");
    insta::with_settings!({
        snapshot_path => "snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
        description => format!("reduce {}", arguments.join(" ")),
    }, {
        insta::assert_snapshot!(name.to_owned(), shown);
    });
}

#[test]
fn words_in_the_wrong_place() {
    let folder = folder();
    for (name, arguments) in [
        ("misspelt_verb", &["valdate", "four_bar.toml"][..]),
        (
            "misspelt_verb_with_options",
            &["modse", "four_bar.toml", "--at", "0"],
        ),
        ("misspelt_verb_alone", &["vlaidate"]),
        ("misspelt_topic", &["help", "modse"]),
        ("unknown_word", &["simplify", "four_bar.toml"]),
        ("verb_after_file", &["four_bar.toml", "validate"]),
        ("verb_between_files", &["a.toml", "validate", "b.toml"]),
        ("second_file", &["four_bar.toml", "arm.toml"]),
        (
            "options_before_verb",
            &["--fresh", "validate", "four_bar.toml"],
        ),
        ("missing_configuration", &["local", "four_bar.toml"]),
        ("misspelt_option", &["validate", "four_bar.toml", "--jsno"]),
        ("no_number", &["local", "four_bar.toml", "--at", "0,x"]),
        (
            "no_points",
            &["check", "m.json", "m.toml", "--samples", "0"],
        ),
        (
            "too_many_points",
            &[
                "check",
                "m.json",
                "m.toml",
                "--samples",
                "18446744073709551615",
            ],
        ),
        ("quiet_and_verbose", &["validate", "m.toml", "-q", "-v"]),
        (
            "fresh_and_stored",
            &["four_bar.toml", "--fresh", "--samples-dir", "s"],
        ),
    ] {
        refused(folder.path(), name, arguments);
    }
}

#[test]
fn mechanisms_that_are_not_there() {
    let folder = folder();
    std::fs::write(folder.path().join("model.json"), "{}").expect("a file");
    for (name, arguments) in [
        ("missing_mechanism", &["nofile.toml"][..]),
        ("misspelt_mechanism", &["validate", "four_bra.toml"]),
        ("missing_folder", &["validate", "nowhere/four_bar.toml"]),
        ("model_as_mechanism", &["validate", "model.json"]),
        ("folder_as_mechanism", &["validate", "."]),
    ] {
        refused(folder.path(), name, arguments);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = folder_with_model();
    std::fs::write(folder.path().join("file"), "mine").expect("a file");
    let model = "made/model.json";
    for (name, arguments) in [
        ("output_is_file", &["four_bar.toml", "-o", "file"][..]),
        ("output_below_file", &["four_bar.toml", "-o", "file/below"]),
        (
            "samples_in_file",
            &["four_bar.toml", "-o", "out", "--samples-dir", "file"],
        ),
        ("no_threads", &["four_bar.toml", "-o", "out", "--jobs", "0"]),
        (
            "too_many_threads",
            &["four_bar.toml", "-o", "out", "--jobs", "1000000"],
        ),
        (
            "export_reserved",
            &[
                "export", model, "--format", "c", "-o", "c", "--prefix", "math",
            ],
        ),
        ("new_reserved", &["new", "example_main", "--from", "serial"]),
        (
            "export_onto_file",
            &["export", model, "--format", "c", "-o", "file"],
        ),
        (
            "export_onto_folder",
            &["export", model, "--format", "json", "-o", "made"],
        ),
        (
            "export_prefix",
            &[
                "export", model, "--format", "c", "-o", "c", "--prefix", "6r",
            ],
        ),
        (
            "export_single",
            &["export", model, "--format", "json", "-o", "c", "--single"],
        ),
        (
            "plot_along",
            &[
                "plot", model, "--what", "errors", "--along", "w", "-o", "p.svg",
            ],
        ),
        (
            "shapes_onto_folder",
            &["modes", "four_bar.toml", "--at", "0", "-o", "made"],
        ),
        ("new_exists", &["new", "four_bar", "--from", "four-bar"]),
        ("new_name", &["new", "my-arm", "--from", "serial"]),
        ("new_below_file", &["new", "file/arm", "--from", "serial"]),
        ("new_kind", &["new", "arm", "--from", "seril"]),
    ] {
        refused(folder.path(), name, arguments);
    }
    let kept = std::fs::read_to_string(folder.path().join("file")).expect("the file");
    assert_eq!(kept, "mine");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn models_that_cannot_be_used() {
    let folder = folder_with_model();
    let path = |name: &str| folder.path().join(name);
    let model = std::fs::read_to_string(path("made/model.json")).expect("a model");
    let other = model.replacen("\"format\":4", "\"format\":1", 1);
    assert_ne!(other, model);
    std::fs::write(path("other.json"), other).expect("a file");
    std::fs::write(path("cut.json"), &model[..40]).expect("a file");
    std::fs::write(path("noise.h5"), "no HDF5").expect("a file");
    let arm = ["new", "arm", "--from", "serial"];
    assert_eq!(reduce(folder.path(), &arm).status.code(), Some(0));
    for (name, arguments) in [
        ("missing_model", &["eval", "none.json", "--at", "0"][..]),
        ("folder_as_model", &["eval", "made", "--at", "0"]),
        ("format_of_model", &["eval", "other.json", "--at", "0"]),
        ("cut_model", &["eval", "cut.json", "--at", "0"]),
        ("noise_as_model", &["eval", "noise.h5", "--at", "0"]),
        ("eval_count", &["eval", "made/model.h5", "--at", "0,1"]),
        (
            "eval_modal_count",
            &["eval", "made/model.h5", "--at", "0", "--modal", "1"],
        ),
        ("other_mechanism", &["check", "made/model.json", "arm.toml"]),
    ] {
        refused(folder.path(), name, arguments);
    }
}

#[test]
fn domains_and_paths_without_a_model() {
    let folder = folder();
    let four_bar =
        std::fs::read_to_string(folder.path().join("four_bar.toml")).expect("a mechanism");
    let with = |settings: &str| format!("{four_bar}\n{settings}\n");
    let empty = "[domain]\ninequalities = [{ coefficients = { theta = 1 }, at_least = 3 }]";
    let slide = "format = 1\n[[body]]\nname = \"block\"\nrigid = { mass = 1 }\n\
                 [[joint]]\nname = \"rail\"\nprismatic = [\"ground\", \"block\"]\naxis = [1, 0, 0]\n\
                 [[coordinate]]\nname = \"slide\"\ndrives = \"rail\"\n";
    for (name, text) in [
        ("empty_domain", with(empty)),
        ("unbounded_slide", slide.to_owned()),
        (
            "short_trajectory",
            with("[approximation]\ntrajectory = { points = [[0], [1]] }"),
        ),
        (
            "repeated_point",
            with("[approximation]\ntrajectory = { points = [[0], [0.5], [0.5], [1]] }"),
        ),
    ] {
        std::fs::write(folder.path().join("m.toml"), text).expect("a file");
        refused(folder.path(), name, &["m.toml", "-o", "out", "--fresh"]);
    }
}
