//! No text makes the reader panic, overflow or hang.

use proptest::prelude::*;
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::description::{FaultKind, parse};
use reducer::lie::Frame;
use std::path::Path;

fn read(text: &str) {
    let resolver = |path: &Path| {
        let label = path.display().to_string();
        match std::fs::read(Path::new("data").join(path)) {
            Ok(bytes) if !label.contains("..") => Ok(bytes),
            _ => Err(FaultKind::Folder { path: label }),
        }
    };
    match parse(text, "fuzz.toml", &resolver) {
        Ok(mechanism) => finite(&mechanism),
        Err(faults) => {
            assert!(!faults.faults.is_empty());
            for fault in &faults.faults {
                assert!(!fault.to_string().is_empty());
                assert!(fault.kind.help().is_some_and(|help| !help.is_empty()));
                if let Some(origin) = &fault.origin {
                    let shown = faults.sources[origin.source].text.get(origin.span.clone());
                    assert!(shown.is_some(), "{fault}: {origin:?}");
                }
            }
        }
    }
}

/// What passes holds finite numbers only, and rotations that are rotations.
fn finite(mechanism: &Mechanism) {
    let frame = |frame: &Frame| {
        assert!(frame.position.iter().all(|value| value.is_finite()));
        let defect = frame.rotation.transpose() * frame.rotation - nalgebra::Matrix3::identity();
        assert!(defect.norm() < 1e-13, "{frame:?}");
        assert!(frame.rotation.determinant() > 0.0);
    };
    for body in &mechanism.bodies {
        frame(&body.frame);
        match &body.kind {
            BodyKind::Rigid(rigid) => {
                assert!(rigid.mass >= 0.0 && rigid.mass.is_finite());
                assert!(rigid.inertia.iter().all(|value| value.is_finite()));
            }
            BodyKind::Point { mass } => assert!(*mass >= 0.0 && mass.is_finite()),
            BodyKind::Superelement(own) => own.nodes.iter().for_each(frame),
            BodyKind::Beam(chain) => {
                chain.nodes.iter().for_each(frame);
                assert_eq!(chain.nodes.len(), chain.lengths.len() + 1);
                assert!(
                    chain
                        .lengths
                        .iter()
                        .all(|length| *length > 0.0 && length.is_finite())
                );
                assert!(chain.section.bending_y > 0.0 && chain.section.bending_y.is_finite());
            }
        }
    }
    for joint in &mechanism.joints {
        frame(&joint.a.frame);
        frame(&joint.b.frame);
    }
    for own in &mechanism.coordinates {
        assert!(own.lower <= own.home && own.home <= own.upper && own.home.is_finite());
    }
}

fn valid_files() -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for folder in ["data", "tests/description/bad"] {
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "toml"))
            .collect();
        paths.sort();
        texts.extend(
            paths
                .iter()
                .map(|path| std::fs::read_to_string(path).unwrap()),
        );
    }
    texts
}

/// Pieces that are likely to hurt.
const PIECES: &[&str] = &[
    "nan",
    "-inf",
    "1e308",
    "-1",
    "0",
    "\"\"",
    "\"L/0\"",
    "\"((((\"",
    "[]",
    "[[0]]",
    "{}",
    "true",
    "1979-05-27",
    "\"ground\"",
    "\"x.rod\"",
    "\"\\u0000\"",
    "9223372036854775807",
    "\"é.θ\"",
    "[[use]]\n",
    "[[body]]\n",
    "[parameters]\n",
    "format = 1\n",
    "\"1 m^99\"",
    "'''",
    "\u{feff}",
    "\"1e999\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_never_panic(
        index in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, any::<prop::sample::Index>()), 1..6),
    ) {
        let files = valid_files();
        let mut text = index.get(&files).clone();
        for (at, length, piece) in edits {
            let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let start = at.index(bounds.len());
            let end = (start + length).min(bounds.len() - 1);
            let piece: &str = PIECES[piece.index(PIECES.len())];
            text.replace_range(bounds[start]..bounds[end], piece);
        }
        read(&text);
    }

    #[test]
    fn swapped_values_never_panic(
        index in any::<prop::sample::Index>(),
        line in any::<prop::sample::Index>(),
        piece in any::<prop::sample::Index>(),
    ) {
        let files = valid_files();
        let text = index.get(&files);
        let lines: Vec<&str> = text.lines().collect();
        let chosen = line.index(lines.len());
        let changed: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(number, line)| match line.split_once(" = ") {
                Some((key, _)) if number == chosen => format!("{key} = {}", piece.get(PIECES)),
                _ => (*line).to_owned(),
            })
            .collect();
        read(&changed.join("\n"));
    }

    #[test]
    fn noise_never_panics(text in "\\PC{0,400}") {
        read(&text);
        read(&format!("format = 1\n{text}"));
        read(&format!("format = 1\n[parameters]\na = \"{text}\"\n"));
    }
}

#[test]
fn hostile_files_are_refused_in_bounded_work() {
    let chain: String = (1..5000)
        .map(|n| format!("p{n} = \"p{}\"\n", n - 1))
        .collect();
    let instances = (0..3000)
        .map(|n| format!("\"i{n}\""))
        .collect::<Vec<_>>()
        .join(",");
    let doubling: String = (0..16)
        .map(|n| {
            let next = n + 1;
            format!("[[template.t{n}.use]]\ntemplate = \"t{next}\"\nnames = [\"a\", \"b\", \"c\", \"d\"]\n")
        })
        .collect();
    let bodies: String = (0..6000)
        .map(|n| {
            format!("[[body]]\nname = \"body_{n}_with_long_name\"\npoint = {{ at = [0, 0, 0] }}\n")
        })
        .collect();
    let outputs: String = (0..3000)
        .map(|n| format!("[[output]]\nname = \"o{n}\"\nat = \"bodi_{n}_with_long_nam\"\n"))
        .collect();
    let hostile = [
        format!("format = 1\n{outputs}{bodies}"),
        format!("format = 1\nx = {}", "[".repeat(100_000)),
        format!("format = 1\n{}x = 1", "a.".repeat(100_000)),
        format!("format = 1\n[parameters]\np0 = \"p4999\"\n{chain}"),
        format!("format = 1\n[[template.t.body]]\nname = \"b\"\npoint = {{ at = [0, 0, 0] }}\n[[use]]\ntemplate = \"t\"\nnames = [{instances}]\n"),
        format!("format = 1\n{doubling}[[template.t16.body]]\nname = \"b\"\npoint = {{ at = [0, 0, 0] }}\n[[use]]\ntemplate = \"t0\"\nnames = [\"a\"]\n"),
        "format = 1\n[[body]]\nname = \"b\"\nbeam = { from = [0, 0, 0], to = [1, 0, 0], elements = 9223372036854775807, section = { circle = { diameter = 1 } }, material = \"steel\" }\n".to_owned(),
        format!("format = 1\n{}", (0..20_000).map(|n| format!("k{n} = 1\n")).collect::<String>()),
        format!("format = 1\n[parameters]\na = \"{}\"\n", "(".repeat(900)),
    ];
    for text in hostile {
        let resolver = |_: &Path| Err(FaultKind::MissingFormat);
        let faults = parse(&text, "hostile.toml", &resolver).unwrap_err();
        assert!(faults.faults.len() <= 200, "{}", faults.faults.len());
    }
}
