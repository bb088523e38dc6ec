//! One body in five formats.

use super::{CALCULIX, assert_close, body_of, expected, numbers};
use reducer::finite_elements::{
    Content, Coupling, FeBody, Interface, Modes, Role, Tie, Units, read,
};
use reducer::finite_elements::{FeError, SourceFile};

/// Every set of files, as given in the folder's README, and the digits that it prints.
const SETS: [(&[&str], f64); 5] = [
    (&CALCULIX, 1e-9),
    (
        &[
            "b1_coupler_abaqus.inp",
            "b1_coupler_STIF1.mtx",
            "b1_coupler_MASS1.mtx",
        ],
        1e-9,
    ),
    (
        &[
            "b1_coupler_MASS1_coordinate.mtx",
            "b1_coupler_STIF1_coordinate.mtx",
            "b1_coupler_dofs.txt",
            "b1_coupler_nodes.csv",
        ],
        1e-9,
    ),
    (
        &[
            "b1_coupler_K.mtx",
            "b1_coupler_M.mtx",
            "b1_coupler_dofs.txt",
            "b1_coupler_nodes.csv",
        ],
        1e-9,
    ),
    (&["b1_coupler.pch", "b1_coupler.bdf"], 5e-6),
];

fn both(body: &FeBody) -> Vec<Interface> {
    let found = body.interfaces();
    assert_eq!(found.len(), 2);
    found
}

#[test]
fn all_formats_hold_the_same_body() {
    let reference = body_of(SETS[0].0).expect("a body");
    let whole = reference
        .condense(&both(&reference), Modes::Count(6))
        .expect("condensed");
    for (names, tolerance) in SETS {
        let body = body_of(names).expect("a body");
        assert_eq!(body.dofs.len(), 276, "{names:?}");
        let condensed = body
            .condense(&both(&body), Modes::Count(6))
            .expect("condensed");
        let difference = (&condensed.stiffness - &whole.stiffness).norm();
        assert!(
            difference <= tolerance * whole.stiffness.norm(),
            "{names:?} {difference:e}"
        );
        assert_close(&condensed.omega, &whole.omega, tolerance, "modes");
    }
}

#[test]
fn frequencies_and_mass_are_the_expected_ones() {
    let expected = expected();
    let own = &expected["body"];
    for (names, digits) in SETS {
        let body = body_of(names).expect("a body");
        let interfaces = both(&body);
        let tolerance = f64::max(1e-6, digits);
        let free = body.free_frequencies_hz(&interfaces, 12).expect("free");
        assert_close(&free, &numbers(&own["free_free_hz"]), tolerance, "free");
        let held = body.held_frequencies_hz(&interfaces, 12).expect("held");
        assert_close(
            &held,
            &numbers(&own["both_frames_held_hz"]),
            tolerance,
            "both held",
        );
        let start = body
            .held_frequencies_hz(&interfaces[..1], 10)
            .expect("held");
        assert_close(
            &start,
            &numbers(&own["frame_start_held_hz"]),
            tolerance,
            "start held",
        );
        let p = body.mass_properties();
        assert!((p.mass / 0.3645 - 1.0).abs() < 1e-9, "{}", p.mass);
        assert!((p.center - nalgebra::Vector3::new(0.225, 0.0, 0.0)).norm() < 1e-9 * 0.225);
        let moments = numbers(&own["exact"]["inertia"]);
        for k in 0..3 {
            assert!(
                (p.inertia[(k, k)] - moments[k]).abs() < 1e-9 * moments[1],
                "{k}"
            );
        }
    }
}

#[test]
fn units_scale_everything() {
    let si = body_of(&CALCULIX).expect("a body");
    // The same numbers taken as millimetres and tonnes: lengths /1000, masses ×1000.
    let contents = CALCULIX.map(|name| {
        let bytes = std::fs::read(super::folder().join(name)).expect("a file");
        (
            Role::Any,
            read(SourceFile {
                name,
                bytes: &bytes,
            })
            .expect("content"),
        )
    });
    let units = Units {
        length: 1e-3,
        mass: 1e3,
    };
    let other = FeBody::new(contents.to_vec(), &[], units).expect("a body");
    let (a, b) = (si.mass_properties(), other.mass_properties());
    assert!((b.mass / a.mass / 1e3 - 1.0).abs() < 1e-12);
    assert!((b.inertia[(1, 1)] / a.inertia[(1, 1)] / 1e-3 - 1.0).abs() < 1e-9);
    // Frequencies depend on neither unit: stiffness is mass over time squared.
    let of = |body: &FeBody| {
        body.free_frequencies_hz(&body.interfaces(), 4)
            .expect("free")
    };
    assert_close(&of(&other), &of(&si), 1e-9, "free");
}

/// Rigid ties made here, on a body whose program has none, against rigidity made of stiffness: the
/// eight nodes of a face carry a frame; an average frame is softer, and both have the same mass.
#[test]
fn ties_made_here_keep_mass_and_rigid_motions() {
    let body = body_of(&CALCULIX).expect("a body");
    let nodes: Vec<u64> = body
        .mesh
        .nodes
        .iter()
        .filter(|(_, p)| (p[0] - 0.05625).abs() < 1e-9)
        .map(|(n, _)| *n)
        .collect();
    let end = both(&body).remove(1);
    let mut lowest = Vec::new();
    for coupling in [Coupling::Rigid, Coupling::Average] {
        let tie = Tie::Nodes {
            nodes: nodes.clone(),
            coupling,
            at: None,
        };
        let own = Interface {
            name: "ring".into(),
            tie,
        };
        let pair = [own, end.clone()];
        let condensed = body.condense(&pair, Modes::Count(4)).expect("condensed");
        assert!((condensed.positions[0].x - 0.05625).abs() < 1e-12);
        assert!(condensed.rigid_gap < 1e-8, "{:e}", condensed.rigid_gap);
        lowest.push(body.held_frequencies_hz(&pair, 1).expect("held")[0]);
    }
    assert!(lowest[1] < lowest[0], "{lowest:?}");
}

fn text(name: &str) -> String {
    std::fs::read_to_string(super::folder().join(name)).expect("a file")
}

/// The body with one file replaced.
fn damaged(name: &str, change: impl Fn(&str) -> String) -> String {
    let set = SETS
        .iter()
        .map(|(names, _)| *names)
        .find(|names| names.contains(&name));
    let contents: Result<Vec<(Role, Content)>, FeError> = set
        .expect("a set")
        .iter()
        .map(|own| {
            let mut bytes = text(own);
            if *own == name {
                bytes = change(&bytes);
            }
            let file = SourceFile {
                name: own,
                bytes: bytes.as_bytes(),
            };
            Ok((Role::Any, read(file)?))
        })
        .collect();
    let found = contents.and_then(|contents| FeBody::new(contents, &[], Units::default()));
    match found {
        Ok(_) => "accepted".to_owned(),
        Err(error) => format!("{error}\n  help: {}", error.advice()),
    }
}

fn without_line(text: &str, line: usize) -> String {
    let kept = text.lines().enumerate().filter(|(i, _)| *i + 1 != line);
    kept.map(|(_, l)| format!("{l}\n")).collect()
}

/// Damaged variants are refused, each with its file, where it can be told its line, and a cure.
#[test]
fn damaged_files_are_refused() {
    let answers = [
        damaged("b1_coupler.sti", |t| {
            t.replacen("1.5434235517569e+09", "nan", 1)
        }),
        damaged("b1_coupler.sti", |t| {
            t.replacen("1 2 -5.65", "1 x -5.65", 1)
        }),
        damaged("b1_coupler.sti", |t| {
            t.replacen("1 1  8.5871320037987e+08", "1 1 -8.5871320037987e+08", 1)
        }),
        damaged("b1_coupler.sti", |t| {
            t.replacen("1 1  8.5871320037987e+08", "1 1 9.5871320037987e+08", 1)
        }),
        damaged("b1_coupler.dof", |t| without_line(t, 276)),
        damaged("b1_coupler.dof", |t| t.replacen("10.1", "9.1", 1)),
        damaged("b1_coupler.inp", |t| without_line(t, 14)),
        damaged("b1_coupler_K.mtx", |t| without_line(t, 400)),
        damaged("b1_coupler_STIF1_coordinate.mtx", |t| {
            let large = |line: &str| !line.starts_with("1 1 ") && line.contains("e+08");
            let at = t.lines().position(large).expect("an entry");
            without_line(t, at + 1)
        }),
        damaged("b1_coupler.pch", |t| {
            t.replacen("8.587132004D+08", "8.587132004X+08", 1)
        }),
        damaged("b1_coupler_MASS1.mtx", |t| {
            t.replace(", 9,1, 2.7", ", 9,7, 2.7")
        }),
        damaged("b1_coupler.mas", |t| t.replacen("1 1  2.7", "1 1 -2.7", 1)),
    ];
    let found = answers.join("\n") + "\n";
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/superelement/refusals.txt");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &found).expect("written");
    }
    let snapshot = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, snapshot, "UPDATE_SNAPSHOTS=1 writes it anew");
    assert!(!found.contains("accepted"));
}

/// Fixed pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Mutated files are read or refused; nothing panics, and no size is believed.
#[test]
fn mutated_files_never_panic() {
    let mut random = Random(1);
    let pieces: [&[u8]; 8] = [
        b"*",
        b",",
        b"NSET",
        b"18446744073709551615",
        b"-1",
        b"1e999",
        b"\n",
        b"DMIG*",
    ];
    for (names, _) in SETS {
        // Beginnings of all files, small enough for many tries, and one whole table.
        let texts: Vec<Vec<u8>> = (names.iter())
            .map(|name| text(name).into_bytes().into_iter().take(2500).collect())
            .collect();
        for _ in 0..400 {
            let mut changed = texts.clone();
            let file = random.below(changed.len());
            for _ in 0..1 + random.below(4) {
                let at = random.below(changed[file].len());
                match random.below(3) {
                    0 => changed[file][at] = random.below(128) as u8,
                    1 => changed[file].truncate(at.max(1)),
                    _ => {
                        let piece = pieces[random.below(pieces.len())];
                        changed[file].splice(at..at, piece.iter().copied());
                    }
                }
            }
            let contents: Result<Vec<(Role, Content)>, FeError> = (names.iter().zip(&changed))
                .map(|(name, bytes)| Ok((Role::Any, read(SourceFile { name, bytes })?)))
                .collect();
            if let Ok(contents) = contents
                && let Ok(body) = FeBody::new(contents, &[], Units::default())
            {
                let _ = body.condense(&body.interfaces(), Modes::Count(2));
            }
        }
    }
}

/// A body whose dofs are all at interfaces, as programs write it that condense themselves.
#[test]
fn a_body_of_interfaces_alone_has_no_modes() {
    // Two nodes, six dofs each: a stiffness between them and lumped mass.
    let (mut stiffness, mut mass) = (String::new(), String::new());
    for c in 1..=6 {
        for (node, value) in [(1, 1.0), (2, 1.0)] {
            stiffness += &format!("{node},{c},{node},{c},{value:.1}\n");
            mass += &format!("{node},{c},{node},{c},2.0\n");
        }
        stiffness += &format!("1,{c},2,{c},-1.0\n");
    }
    let files = [
        ("k", stiffness),
        ("m", mass),
        ("n", "1,0.,0.,0.\n2,0.,0.,0.\n".to_owned()),
    ];
    let contents = files.iter().map(|(name, text)| {
        let bytes = text.as_bytes();
        (
            Role::Any,
            read(SourceFile { name, bytes }).expect("content"),
        )
    });
    let body = FeBody::new(contents.collect(), &[], Units::default()).expect("a body");
    let pair = [1, 2].map(|node| Interface {
        name: format!("n{node}"),
        tie: Tie::Reference { node },
    });
    let condensed = body.condense(&pair, Modes::Count(5)).expect("condensed");
    assert!(condensed.omega.is_empty());
    assert!((condensed.stiffness[(0, 0)] - 1.0).abs() < 1e-12);
    assert!((body.mass_properties().mass - 4.0).abs() < 1e-12);
}
