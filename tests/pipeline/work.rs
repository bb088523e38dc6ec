//! How much work a reduction is, in counts: a change of the algorithm is a line of the snapshot.

use crate::support::{data, json, pipeline, reduce};
use reducer::approximation::{Approximation, SampleDatabase, Silent, approximate};
use reducer::description::load;
use reducer::sampling::SampleSource;
use std::fmt::Write;

#[test]
fn counts_of_work() {
    let mut table = String::new();
    for name in ["four_bar_rigid", "orthoglide", "four_bar"] {
        let mechanism = load(&data(&format!("{name}.toml"))).expect("a data file");
        let source = SampleSource::new(&mechanism).expect("a source of samples");
        let reducer = source.mechanism().reducer();
        let before = reducer.n_factorisations();
        let mut database = SampleDatabase::in_memory();
        let Approximation {
            model,
            evaluated,
            history,
            work,
            ..
        } = approximate(&source, &mechanism.approximation, &Silent, &mut database)
            .expect("a model");
        let factorisations = reducer.n_factorisations() - before;
        writeln!(
            table,
            "{name}: {evaluated} samples computed, {factorisations} factorisations, {} rounds, \
             {} boxes tried, {} fits, {} boxes",
            history.len(),
            work.boxes_tried,
            work.fits,
            model.boxes.len()
        )
        .expect("a string");
    }
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("work", table);
    });
}

/// Candidates of objective `speed` that were given up used samples too: without stored ones, all that
/// were used were computed.
#[test]
fn samples_used_and_computed_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(data("four_bar_rigid.toml")).expect("a data file");
    let settings = "objective = \"speed\"\ntolerance = 1e-4\nminimal_width = 0.8\n";
    let file = folder.path().join("fast.toml");
    std::fs::write(&file, format!("{text}\n[approximation]\n{settings}")).expect("a file");
    let run = |more: &[&str]| {
        let mut command = reduce();
        command.arg(&file).arg("-o").arg(folder.path().join("made"));
        json(command.args(more)).0
    };
    let fresh = run(&["--fresh"]);
    assert_eq!(fresh["samples"], fresh["evaluated"], "{fresh}");
    let first = run(&[]);
    let again = run(&[]);
    assert_eq!(first["samples"], first["evaluated"], "{first}");
    assert_eq!(again["samples"], first["samples"]);
    assert_eq!(again["evaluated"], 0);
}

/// Every round is told, and neither threads nor stored samples change what is told.
#[test]
fn the_history_of_a_refinement_is_that_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(data("four_bar.toml")).expect("a data file");
    let file = folder.path().join("four_bar.toml");
    let tight = format!("{text}\n[approximation]\ncriterion = \"max\"\n");
    std::fs::write(&file, tight).expect("a file");
    let first = folder.path().join("first");
    let (summary, code) = pipeline(&file, &first);
    assert_eq!(code, 0, "{summary}");
    let (again, _) = pipeline(&file, &first);
    assert_eq!(again["evaluated"], 0);
    let second = folder.path().join("second");
    let mut one = reduce();
    let (other, _) = json(one.arg(&file).arg("-o").arg(&second).args(["--jobs", "1"]));
    for key in ["history", "work", "samples"] {
        assert_eq!(again[key], summary[key], "{key}");
        assert_eq!(other[key], summary[key], "{key}");
    }
    let rounds = summary["history"].as_array().expect("a list");
    assert!(rounds.len() > 2, "{rounds:?}");
    let of = |round: &serde_json::Value, key: &str| round[key].as_u64().expect(key);
    let tried: u64 = rounds.iter().map(|r| of(r, "tried")).sum();
    assert!(tried <= of(&summary["work"], "boxes_tried"));
    assert!(
        2 * tried <= of(&summary["work"], "fits"),
        "two tables a box"
    );
    let (start, end) = (&rounds[0], &rounds[rounds.len() - 1]);
    assert_eq!((of(start, "tried"), of(start, "degree")), (1, 2));
    assert!(
        rounds
            .windows(2)
            .all(|r| of(&r[0], "samples") <= of(&r[1], "samples"))
    );
    assert!(of(end, "samples") <= of(&summary, "samples"));
    // Two finished neighbours may have been merged afterwards.
    assert!(of(end, "finished") >= of(&summary, "boxes"));
    let mass = |round: &serde_json::Value| {
        let blocks = round["errors"].as_array().expect("blocks");
        let mass = blocks.iter().find(|b| b["block"] == "mass").expect("mass");
        mass["max"].as_f64().expect("a number")
    };
    assert!(mass(start) > 10.0 * mass(end), "{start} {end}");
}
