//! JSON models: exact, published, and refused where damaged.

mod support;

use exporters::{ReadError, json, read_model, schema};
use proptest::prelude::*;
use reducer::reduced_model::ReducedModel;
use support::{model, recipes};

#[test]
fn reading_back_gives_the_identical_model() {
    for recipe in recipes() {
        let original = model(&recipe);
        let bytes = json::to_bytes(&original).unwrap();
        let back = json::from_bytes(&bytes).unwrap();
        assert_eq!(original, back);
        let bits = |m: &ReducedModel| -> Vec<u64> {
            m.boxes
                .iter()
                .flat_map(|b| {
                    b.dynamics
                        .coefficients
                        .iter()
                        .chain(&b.outputs.coefficients)
                })
                .map(|c| c.to_bits())
                .collect()
        };
        assert_eq!(bits(&original), bits(&back));
        assert_eq!(bytes, json::to_bytes(&back).unwrap());
    }
}

#[test]
fn awkward_numbers_survive() {
    let mut m = model(&recipes()[3]);
    let awkward = [
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        -0.0,
        0.1 + 0.2,
        1.0 / 3.0,
        1e23,
        f64::MIN_POSITIVE - 5e-324,
    ];
    for (place, value) in m.boxes[0].dynamics.coefficients.iter_mut().zip(awkward) {
        *place = value;
    }
    let back = json::from_bytes(&json::to_bytes(&m).unwrap()).unwrap();
    for (a, b) in m.boxes[0]
        .dynamics
        .coefficients
        .iter()
        .zip(&back.boxes[0].dynamics.coefficients)
    {
        assert_eq!(a.to_bits(), b.to_bits());
    }
}

#[test]
fn published_schema_is_current() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/reduced-model.schema.json"
    );
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        published == schema::json_schema(),
        "docs/reduced-model.schema.json is not what the types say; run `cargo run --release -- schema model > docs/reduced-model.schema.json`"
    );
}

#[test]
fn another_version_is_named_whatever_else_the_file_holds() {
    let old = json::to_bytes(&model(&recipes()[0])).unwrap();
    let old = String::from_utf8(old)
        .unwrap()
        .replacen(r#""format":4"#, r#""format":1"#, 1);
    for (text, version) in [
        (r#"{"format": 7, "novelty": [1, 2]}"#, 7),
        (
            r#"{"format": 1, "tree": [{"node": "dropped", "reason": "a text"}]}"#,
            1,
        ),
        (&old, 1),
    ] {
        let refusal = json::from_bytes(text.as_bytes()).unwrap_err();
        assert!(
            matches!(refusal, ReadError::Format { found } if found == version),
            "{refusal}"
        );
        let said = refusal.to_string();
        assert!(said.contains(&format!("format {version};")), "{said}");
        assert!(
            said.contains("reduce the mechanism again with this version"),
            "{said}"
        );
    }
}

#[test]
fn truncated_files_are_refused_with_a_place() {
    let bytes = json::to_bytes(&model(&recipes()[1])).unwrap();
    for end in (0..bytes.len() - 2).step_by(97) {
        let refusal = json::from_bytes(&bytes[..end]).unwrap_err();
        assert!(
            matches!(refusal, ReadError::Json { .. }),
            "{end}: {refusal}"
        );
    }
}

#[test]
fn hostile_files_are_refused() {
    let text = String::from_utf8(json::to_bytes(&model(&recipes()[2])).unwrap()).unwrap();
    for (from, to) in [
        (r#""n_rigid":2"#, r#""n_rigid":0"#),
        (r#""n_rigid":2"#, r#""n_rigid":18446744073709551615"#),
        (r#""low":1"#, r#""low":0"#),
        (r#""axis":0"#, r#""axis":9"#),
        (r#""form":"lagrangian""#, r#""form":"direct""#),
        (r#""full_dofs":42"#, r#""full_dofs":42,"extra":1"#),
        (r#""bound":1.6"#, r#""bound":1e999"#),
        (r#""input_hash":"01"#, r#""input_hash":"zz"#),
    ] {
        assert!(text.contains(from), "{from} is not in the file");
        let changed = text.replacen(from, to, 1);
        assert!(
            json::from_bytes(changed.as_bytes()).is_err(),
            "{from} -> {to} was accepted"
        );
    }
    let deep = "[".repeat(1_000_000);
    assert!(json::from_bytes(deep.as_bytes()).is_err());
    assert!(json::from_bytes(br#"{"format": 4}"#).is_err());
    assert!(json::from_bytes(b"\xff\xfe").is_err());
}

#[test]
fn files_are_told_apart_by_their_ending() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.txt");
    std::fs::write(&path, "{}").unwrap();
    assert!(matches!(
        read_model(&path),
        Err(ReadError::UnknownEnding { .. })
    ));
    assert!(matches!(
        read_model(&folder.path().join("none.json")),
        Err(ReadError::Io { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed bytes give a refusal or a valid model, never a panic.
    #[test]
    fn mutations_never_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), which in 0usize..4) {
        let mut bytes = json::to_bytes(&model(&recipes()[which])).unwrap();
        for (place, value) in places {
            let i = place.index(bytes.len());
            bytes[i] = value;
        }
        if let Ok(m) = json::from_bytes(&bytes) {
            prop_assert!(m.validate().is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(json::from_bytes(&bytes).is_err());
    }
}

#[test]
fn combinations_that_lie_are_refused() {
    let recipe = recipes().into_iter().find(|r| r.name == "combined_arm");
    let good = model(&recipe.expect("a recipe"));
    assert_eq!(good.format, 5);
    type Change = fn(&mut ReducedModel);
    let changes: [(&str, Change); 7] = [
        ("no column", |m| {
            let c = &mut m.components.combined[0];
            (c.of, c.by) = (Vec::new(), Vec::new());
        }),
        ("a column that is not there", |m| {
            let beyond = m.components.dynamics.len() as u32;
            m.components.combined[0].of = vec![beyond];
            m.components.combined[0].by = vec![1.0];
        }),
        ("columns that do not ascend", |m| {
            m.components.combined[0].of = vec![2, 1];
            m.components.combined[0].by = vec![1.0, 1.0];
        }),
        ("a factor too many", |m| {
            m.components.combined[0].by.push(1.0)
        }),
        ("no number", |m| m.components.combined[0].by[0] = f64::NAN),
        ("a function twice", |m| {
            m.components.combined[0].component = m.components.dynamics[0];
        }),
        ("the format of models without", |m| m.format = 4),
    ];
    for (what, change) in changes {
        let mut m = good.clone();
        change(&mut m);
        assert!(m.validate().is_err(), "{what}");
    }
    let mut plain = model(&recipes()[0]);
    plain.format = 5;
    assert!(plain.validate().is_err());
}
