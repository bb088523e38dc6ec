//! Mutated mechanisms that still parse give finite coefficients or an error, and quickly.

use crate::support::changed;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::description::{FaultKind, parse};
use reducer::error::Explain;
use reducer::reduction::LocalReducer;
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

/// Far longer than any of these small mechanisms needs.
const HANG: Duration = Duration::from_secs(5);
/// Meshes above this are legitimate but slow.
const MOST_NODES: usize = 100;

/// One change of a text.
#[derive(Debug, Clone)]
enum Change {
    /// A number by another.
    Number(Index, &'static str),
    /// A number by a multiple of it.
    Factor(Index, f64),
    /// A word by another word of the file.
    Word(Index, Index),
    /// A joint's kind by another.
    Kind(Index, &'static str),
    /// A whole `[[…]]` part is left out.
    Part(Index),
}

const NUMBERS: [&str; 14] = [
    "0", "-1", "1", "1e-300", "1e300", "1e-9", "-1e-9", "1e9", "1e20", "-1e150", "0.5", "3.14159",
    "1e-20", "2",
];

const KINDS: [&str; 9] = [
    "fixed",
    "hinge",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "translation",
    "free",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), prop::sample::select(&NUMBERS[..]))
            .prop_map(|(i, n)| Change::Number(i, n)),
        (any::<Index>(), -2.0..2.0_f64).prop_map(|(i, f)| Change::Factor(i, f)),
        (any::<Index>(), any::<Index>()).prop_map(|(i, j)| Change::Word(i, j)),
        (any::<Index>(), prop::sample::select(&KINDS[..])).prop_map(|(i, k)| Change::Kind(i, k)),
        any::<Index>().prop_map(Change::Part),
    ]
}

/// Byte ranges of the tokens of a text that satisfy a condition.
fn tokens(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let mut out = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, inner(c)) {
            (None, true) => start = Some(at),
            (Some(first), false) => {
                if wanted(&text[first..at]) {
                    out.push((first, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    out
}

fn apply(text: &mut String, change: &Change) {
    let is_number = |token: &str| token.parse::<f64>().is_ok();
    let is_name = |token: &str| token.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_kind = |token: &str| KINDS.contains(&token);
    match change {
        Change::Number(which, number) => replace(text, is_number, which, |_| (*number).into()),
        Change::Factor(which, factor) => replace(text, is_number, which, |old| {
            format!("{:e}", old.parse::<f64>().unwrap_or(1.0) * factor)
        }),
        Change::Word(which, with) => {
            let copy = text.clone();
            let names = tokens(&copy, is_name);
            let (start, end) = names[with.index(names.len())];
            replace(text, is_name, which, |_| copy[start..end].to_owned());
        }
        Change::Kind(which, kind) => replace(text, is_kind, which, |_| (*kind).into()),
        Change::Part(which) => {
            let mut parts: Vec<&str> = text.split("\n[[").collect();
            if parts.len() > 1 {
                parts.remove(1 + which.index(parts.len() - 1));
            }
            *text = parts.join("\n[[");
        }
    }
}

/// Replaces one of the tokens that satisfy a condition.
fn replace(
    text: &mut String,
    wanted: impl Fn(&str) -> bool,
    which: &Index,
    by: impl Fn(&str) -> String,
) {
    let places = tokens(text, wanted);
    if !places.is_empty() {
        let (start, end) = places[which.index(places.len())];
        let new = by(&text[start..end]);
        text.replace_range(start..end, &new);
    }
}

fn nodes(mechanism: &Mechanism) -> usize {
    let count = |kind: &BodyKind| kind.flexible_nodes().map_or(1, <[_]>::len);
    mechanism.bodies.iter().map(|body| count(&body.kind)).sum()
}

/// Values inside the ranges, where there are any.
fn somewhere(mechanism: &Mechanism, part: f64) -> Vec<f64> {
    (mechanism.coordinates.iter())
        .map(|c| {
            let (low, high) = (c.lower.max(c.home - 1.0), c.upper.min(c.home + 1.0));
            low + part * (high - low)
        })
        .collect()
}

/// Whether the mechanism could be built and evaluated.
fn build(mechanism: &Mechanism, part: f64) -> bool {
    let explained = |error: &dyn Explain| {
        assert!(!error.to_string().is_empty());
        assert!(error.help().is_some_and(|help| !help.is_empty()));
    };
    let reducer = match LocalReducer::new(mechanism) {
        Ok(reducer) => reducer,
        Err(error) => {
            explained(&error);
            return false;
        }
    };
    let theta = somewhere(mechanism, part);
    let found = match reducer.evaluate(&theta) {
        Ok(found) => found,
        Err(error) => {
            explained(&error);
            return false;
        }
    };
    let numbers = (found.mass.iter())
        .chain(found.mass_gradient.iter().flatten())
        .chain(&found.force)
        .chain(&found.stiffness)
        .chain([&found.potential]);
    for number in numbers {
        assert!(number.is_finite());
    }
    match reducer.locked_frequencies_hz(&theta, 3) {
        Ok(frequencies) => assert!(frequencies.iter().all(|f| f.is_finite())),
        Err(error) => explained(&error),
    }
    true
}

#[test]
fn mutated_mechanisms_are_built_or_refused() {
    let coarse = [
        ("elements = 4", "elements = 1"),
        ("internal_modes = 5", "internal_modes = 2"),
    ];
    let planar = [
        coarse[0],
        coarse[1],
        ("format = 1", "format = 1\nplane = \"xz\""),
    ];
    let files = [
        changed("four_bar.toml", &coarse),
        changed("four_bar.toml", &planar),
        changed("four_bar_rigid.toml", &[]),
        changed("orthoglide.toml", &[]),
        changed("elbow.toml", &[]),
        changed("one_link.toml", &[]),
    ];
    let (parsed, built) = (Cell::new(0), Cell::new(0));
    let config = Config {
        cases: 6000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        max_shrink_iters: 200,
        ..Config::default()
    };
    let strategy = (
        0..files.len(),
        prop::collection::vec(change(), 1..4),
        0.0..1.0_f64,
    );
    let result = TestRunner::new(config).run(&strategy, |(file, changes, part)| {
        let mut text = files[file].clone();
        for change in &changes {
            apply(&mut text, change);
        }
        let resolver = |path: &Path| {
            Err(FaultKind::Folder {
                path: path.display().to_string(),
            })
        };
        let Ok(mechanism) = parse(&text, "fuzz.toml", &resolver) else {
            return Ok(());
        };
        if nodes(&mechanism) > MOST_NODES {
            return Ok(());
        }
        parsed.set(parsed.get() + 1);
        let start = Instant::now();
        if build(&mechanism, part) {
            built.set(built.get() + 1);
        }
        prop_assert!(start.elapsed() < HANG, "{:?}\n{text}", start.elapsed());
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // Both ways out must have been taken often.
    assert!(parsed.get() > 1000, "{} parsed", parsed.get());
    assert!(
        built.get() > 300 && parsed.get() - built.get() > 300,
        "{} built",
        built.get()
    );
}
