//! Paths that cannot be inverted, and `reduce invert`.

use crate::inversion::{numbers, settings};
use crate::support::{reduce_in, reduce_mechanism, shown};
use reducer::description::load;
use reducer::dynamics::inversion::{
    InversionError, InversionSettings, Tracked, TrackedPlace, Wanted, invert,
};
use reducer::dynamics::signal::Signal;
use reducer::reduced_model::Evaluator;
use serde_json::Value;
use std::path::Path;

/// What no path can do is refused, with names and places.
#[test]
fn what_cannot_be_followed_is_named() {
    let mechanism = load(Path::new("data/inversion/two_link.toml")).unwrap();
    let model = reduce_mechanism(&mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let path = |axis: usize, from: f64, to: f64, duration: f64| Tracked {
        name: format!("tip.{}", ["x", "y", "z"][axis]),
        place: TrackedPlace::Output { output: 0, axis },
        wanted: Wanted::Signal(Signal::PointToPoint {
            start: 0.0,
            duration,
            from,
            to,
        }),
    };
    let elbow = Tracked {
        name: "elbow".to_owned(),
        place: TrackedPlace::Coordinate(1),
        wanted: Wanted::Signal(Signal::Constant(1.5)),
    };
    let settings = InversionSettings {
        theta: vec![0.0, 1.5],
        ..settings(2)
    };
    let refused = |tracked: &[Tracked]| invert(&evaluator, tracked, &settings).unwrap_err();
    let x = || path(0, 0.62, 0.62, 1.0);
    for (tracked, words) in [
        (
            vec![x()],
            "1 output(s) are to be tracked by 2 coordinate(s)",
        ),
        (
            vec![x(), path(2, 0.0, 0.0, 1.0)],
            "cannot move `tip.z` independently",
        ),
        (vec![x(), x()], "cannot move `tip.x`, `tip.x` independently"),
        (
            vec![x(), path(1, 0.5, 0.1, 1.0)],
            "out of the reduced model's domain",
        ),
        (vec![x(), path(1, 0.5, 0.4, 2.0)], "begins and ends at rest"),
    ] {
        let error = refused(&tracked);
        assert!(error.to_string().contains(words), "{error}");
    }
    let jump = Tracked {
        wanted: Wanted::Signal(Signal::Step {
            at: 0.5,
            before: 0.5,
            after: 0.49,
        }),
        ..path(1, 0.0, 0.0, 1.0)
    };
    assert!(matches!(
        refused(&[x(), jump]),
        InversionError::Motion { .. }
    ));
    // A coordinate may be tracked itself.
    let found = invert(&evaluator, &[elbow, path(1, 0.5, 0.48, 1.0)], &settings).unwrap();
    assert!(
        found
            .exact
            .theta
            .iter()
            .all(|theta| (theta[1] - 1.5).abs() < 1e-9)
    );
}

#[test]
fn the_verb_writes_a_table_and_a_chart_and_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string("data/inversion/two_link_half_circle.toml").unwrap();
    for name in ["two_link.toml", "two_link_half_circle.toml"] {
        std::fs::copy(format!("data/inversion/{name}"), folder.path().join(name)).unwrap();
    }
    let arguments = ["invert", "two_link_half_circle.toml", "-o", "out", "--json"];
    let answer = reduce_in(folder.path(), &arguments);
    assert!(answer.status.success(), "{}", shown(&answer.stderr));
    let document: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let at = |key: &str| numbers(&document[key]);
    assert_eq!(document["begin"]["zeros"].as_array().unwrap().len(), 8);
    assert!(at("iterations")[0] <= 10.0 && at("deviation_from_rest")[0] < 1e-3);
    let table = std::fs::read_to_string(folder.path().join("out/inversion.csv")).unwrap();
    let columns = table.lines().next().unwrap();
    for column in [
        "time,coordinate.shoulder",
        "force.elbow",
        "wanted.tip.y",
        "rigid.force.elbow",
    ] {
        assert!(columns.contains(column), "{columns}");
    }
    assert_eq!(
        table.lines().count() - 1,
        document["instants"].as_u64().unwrap() as usize
    );
    let again = [
        "invert",
        "two_link_half_circle.toml",
        "-o",
        "again",
        "--jobs",
        "1",
    ];
    assert!(reduce_in(folder.path(), &again).status.success());
    for name in ["inversion.csv", "inversion.svg"] {
        let read = |out: &str| std::fs::read(folder.path().join(out).join(name)).unwrap();
        assert!(read("out") == read("again"), "{name} depends on threads");
    }

    for (old, new, words) in [
        (
            "curve = \"0.6 + 0.1*cos(s)\"",
            "curve = \"0.6 + 0.1*cos(u)\"",
            "`s`",
        ),
        ("axis = \"x\"\n", "", "has no `axis`"),
        ("[invert]\nparameter", "[invert]\n#", "which nothing gives"),
        (
            "[[track]]\noutput = \"tip\"\naxis = \"x\"",
            "[[drive]]\ncoordinate = \"elbow\"\nforce = 1\n[[track]]\noutput = \"tip\"\naxis = \"x\"",
            "drives the mechanism besides",
        ),
        ("0.1*sin(s)", "0.4*sin(s)", "domain"),
    ] {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text, "{old}");
        std::fs::write(folder.path().join("bad.toml"), changed).unwrap();
        let arguments = ["invert", "bad.toml", "-o", "bad", "--json"];
        let answer = reduce_in(folder.path(), &arguments);
        assert_eq!(answer.status.code(), Some(2), "{new}");
        let said = shown(&answer.stdout);
        assert!(said.contains(words), "{new}: {said}");
    }
}
