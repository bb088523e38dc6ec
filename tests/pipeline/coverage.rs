//! Regions without a model: everything that counts them counts the same ones.

use crate::support::{changed, data, json, pipeline, reduce, run};
use reducer::reduced_model::{DropReason, Evaluator, Workspace};
use serde_json::Value;
use std::path::Path;

/// The Orthoglide with x + y + z ≤ `bound` and boxes small enough for that to matter.
fn cut_orthoglide(bound: &str, folder: &Path) -> (Value, i32) {
    let inequality = format!(
        "objective = \"speed\"\n[domain]\ninequalities = [{{ coefficients = {{ \"x.slide\" = 1, \"y.slide\" = 1, \"z.slide\" = 1 }}, at_most = {bound} }}]\n[approximation.tolerances]\nmass = 0.005"
    );
    let changes = [(
        "tolerances = { mass = 0.005, gyroscopic = 0.005, gravity = 0.005, force = 0.005 }",
        inequality.as_str(),
    )];
    pipeline(&changed("orthoglide.toml", &changes, folder), folder)
}

fn text_of(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number before ` region(s)` in a text for people; none where it is not mentioned.
fn told(text: &str, between: &str) -> usize {
    let Some((before, _)) = text.split_once(between) else {
        return 0;
    };
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|d| d.parse().ok()).expect("a number")
}

/// Counts the regions without a model wherever they are told; they must agree.
#[track_caller]
fn regions_told_everywhere(summary: &Value, folder: &Path) -> usize {
    let missing = summary["missing"].as_array().expect("a list");
    let count = missing.len();
    assert_eq!(summary["dropped"], count);

    let model = folder.join("model.json");
    let mechanism = folder.join("orthoglide.toml");
    let file: Value = serde_json::from_slice(&std::fs::read(&model).expect("a model"))
        .expect("the model is JSON");
    let nodes = file["tree"].as_array().expect("a tree").iter();
    let stored = nodes.filter(|n| n["node"] == "dropped" && n["reason"]["why"] != "outside");
    assert_eq!(stored.count(), count);

    let again = run(reduce().arg(&mechanism).arg("-o").arg(folder));
    assert_eq!(told(&text_of(&again), " region(s) without a model"), count);
    let report = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert_eq!(told(&report, "</b> region(s) have no model"), count);

    let (check, code) = json(reduce().arg("check").arg(&model).arg(&mechanism));
    assert_eq!(check["missing"], summary["missing"]);
    assert_eq!(check["reached"], summary["reached"]);
    assert_eq!(code, i32::from(summary["reached"] == false));
    let points = |key: &str| check[key].as_u64().expect("a count");
    assert!(points("outside") > 0);
    assert_eq!(
        points("skipped"),
        points("outside") + points("without_model") + points("failed")
    );
    assert_eq!(points("compared") + points("skipped"), 500);
    let check = run(reduce().arg("check").arg(&model).arg(&mechanism));
    assert_eq!(told(&text_of(&check), " region(s) without a model"), count);
    count
}

/// The bound goes through corners of boxes: what lies beyond is the user's own choice.
#[test]
fn regions_outside_the_inequalities_are_not_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (summary, code) = cut_orthoglide("0.1", folder.path());
    assert_eq!(regions_told_everywhere(&summary, folder.path()), 0);
    assert_eq!((code, &summary["reached"]), (0, &Value::Bool(true)));
}

/// The bound leaves slivers of boxes: they have a model too, and nothing beyond the bound has.
#[test]
fn slivers_that_the_inequalities_leave_have_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let (summary, code) = cut_orthoglide("0.11", folder.path());
    assert_eq!(regions_told_everywhere(&summary, folder.path()), 0);
    assert_eq!((code, &summary["reached"]), (0, &Value::Bool(true)));
    let file = std::fs::read(folder.path().join("model.json")).expect("a model");
    let model: reducer::reduced_model::ReducedModel =
        serde_json::from_slice(&file).expect("the model is JSON");
    let evaluator = Evaluator::new(&model).expect("a valid model");
    let mut work = Workspace::default();
    let domain = &model.layout.domain;
    let steps = 40;
    let along = |k: usize, i: usize| {
        domain.lower[k] + (domain.upper[k] - domain.lower[k]) * i as f64 / steps as f64
    };
    for i in 0..=steps {
        for j in 0..=steps {
            for k in 0..=steps {
                let theta = [along(0, i), along(1, j), along(2, k)];
                let reason = evaluator
                    .drop_reason(&theta, &mut work)
                    .expect("three values");
                let expected = (!domain.admits(&theta)).then_some(DropReason::Outside);
                assert_eq!(reason, expected, "{theta:?}");
            }
        }
    }
}

/// Singular regions are points without a model for `reduce check` too.
#[test]
fn points_of_missing_regions_are_counted_by_the_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let mechanism = data("four_bar_thesis.toml");
    let (summary, _) = pipeline(&mechanism, folder.path());
    let (check, code) = json(
        reduce()
            .arg("check")
            .arg(folder.path().join("model.json"))
            .arg(&mechanism)
            .args(["--samples", "2000"]),
    );
    assert_eq!(code, 1);
    assert_eq!(check["missing"], summary["missing"]);
    assert_eq!(check["outside"], 0);
    let width = |region: &Value| {
        let end = |key: &str| region[key][0].as_f64().expect("a number");
        end("upper") - end("lower")
    };
    let file = std::fs::read(folder.path().join("model.json")).expect("a model");
    let file: Value = serde_json::from_slice(&file).expect("the model is JSON");
    let missing = summary["missing"].as_array().expect("a list").iter();
    let part = missing.map(width).sum::<f64>() / width(&file["layout"]["domain"]);
    let found = check["without_model"].as_f64().expect("a count");
    // Points are random, but always the same: four standard deviations.
    let deviation = (2000.0 * part * (1.0 - part)).sqrt();
    assert!(
        found > 0.0 && (found - 2000.0 * part).abs() < 4.0 * deviation,
        "{found} points for {part}"
    );
}

/// The thesis's settings store every block by itself, and at 1.71 rad that leaves an indefinite mass.
#[test]
fn boxes_that_may_be_indefinite_are_told_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (summary, code) = pipeline(&data("four_bar_thesis.toml"), folder);
    assert_eq!((code, &summary["reached"]), (1, &Value::Bool(false)));
    let boxes = summary["short"].as_array().expect("a list");
    let doubtful: Vec<&Value> = boxes.iter().filter(|b| b["lacks_proof"] == true).collect();
    let counted = summary["boxes"].as_u64().expect("a count") as usize;
    let proven = summary["certified"].as_u64().expect("a count") as usize;
    assert!(proven < counted);
    assert_eq!(doubtful.len(), counted - proven);
    let bound = |b: &Value, end: &str| b[end][0].as_f64().expect("a number");
    let holds = |b: &&Value| bound(b, "lower") <= 1.71 && 1.71 <= bound(b, "upper");
    assert!(doubtful.iter().any(holds), "{doubtful:?}");

    let model = folder.join("model.json");
    let eval = |at: &str| json(reduce().arg("eval").arg(&model).args(["--at", at]));
    let (there, _) = eval("1.71");
    assert_eq!(there["status"], "inside");
    assert_eq!(there["lacks_proof"], true);
    let mass: Vec<Vec<f64>> = serde_json::from_value(there["mass"].clone()).expect("a matrix");
    let n = mass.len();
    let mass = nalgebra::DMatrix::from_fn(n, n, |i, j| mass[i][j]);
    assert!(mass.cholesky().is_none());
    assert_eq!(eval("0").0["lacks_proof"], false);

    let said = run(reduce().arg("eval").arg(&model).args(["--at", "1.71"]));
    assert!(text_of(&said).contains("may be indefinite in this box"));
    let again = run(reduce()
        .arg(data("four_bar_thesis.toml"))
        .arg("-o")
        .arg(folder));
    assert!(text_of(&again).contains(": mass or stiffness may be indefinite there"));
    let doubt = format!("Definiteness NOT proven in {} of the boxes", doubtful.len());
    for file in ["c/four_bar_thesis.h", "rust/src/lib.rs"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("generated source");
        assert!(text.contains(&doubt), "{file}");
    }
    let report = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(report.contains("fell short of a tolerance or of that proof"));
    let (check, code) = json(
        reduce()
            .arg("check")
            .arg(&model)
            .arg(data("four_bar_thesis.toml")),
    );
    assert_eq!((code, &check["short"]), (1, &summary["short"]));
}
