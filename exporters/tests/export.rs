//! Whole folders of exports.

mod support;

use exporters::{ExportOptions, Format, Guard, export, model_hash, read_model, write_all};
use reducer::reduced_model::ReducedModel;
use std::collections::BTreeMap;
use std::path::Path;
use support::{Recipe, model, recipes};

/// All files below a folder by relative path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(next) = rest.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                rest.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_pipeline_gets_every_format_and_other_files_stay() {
    let m = model(&recipes()[1]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/deep");
    std::fs::create_dir_all(out.join("c")).unwrap();
    std::fs::write(out.join("c/mine.txt"), "keep").unwrap();
    write_all(&m, None, &out, &ExportOptions::default(), &Guard::default()).unwrap();
    let first = files(&out);
    let expected = [
        "c/CMakeLists.txt",
        "c/README.md",
        "c/example_main.c",
        "c/flexible_arm.c",
        "c/flexible_arm.h",
        "c/flexible_arm_selftest.c",
        "c/flexible_arm_tables.h",
        "c/mine.txt",
        "model.h5",
        "model.json",
        "report.html",
        "rust/Cargo.toml",
        "rust/README.md",
        "rust/src/kernel/algebra.rs",
        "rust/src/kernel/coefficients.rs",
        "rust/src/kernel/curvature.rs",
        "rust/src/kernel/derived.rs",
        "rust/src/kernel/direct.rs",
        "rust/src/kernel/dynamics.rs",
        "rust/src/kernel/equations.rs",
        "rust/src/kernel/feedforward.rs",
        "rust/src/kernel/lagrangian.rs",
        "rust/src/kernel/linear.rs",
        "rust/src/kernel/locate.rs",
        "rust/src/kernel/mod.rs",
        "rust/src/kernel/model.rs",
        "rust/src/kernel/motion.rs",
        "rust/src/kernel/moving.rs",
        "rust/src/kernel/number.rs",
        "rust/src/kernel/parameters.rs",
        "rust/src/kernel/polynomials.rs",
        "rust/src/kernel/scaling.rs",
        "rust/src/kernel/scratch.rs",
        "rust/src/kernel/slopes.rs",
        "rust/src/kernel/tangent.rs",
        "rust/src/kernel/trigonometry.rs",
        "rust/src/kernel/values.rs",
        "rust/src/kernel/waves.rs",
        "rust/src/lib.rs",
        "rust/src/selftest.rs",
        "rust/src/tables.rs",
        "rust/tests/selftest.rs",
    ];
    assert_eq!(first.keys().collect::<Vec<_>>(), expected);
    assert_eq!(read_model(&out.join("model.json")).unwrap(), m);
    assert_eq!(read_model(&out.join("model.h5")).unwrap(), m);
    write_all(&m, None, &out, &ExportOptions::default(), &Guard::default()).unwrap();
    assert_eq!(files(&out), first);
    for (name, bytes) in &first {
        let text = String::from_utf8_lossy(bytes);
        let source = name.starts_with("c/") || name.starts_with("rust/");
        if source && !name.ends_with("mine.txt") {
            assert!(text.contains("SPDX-License-Identifier: 0BSD"), "{name}");
        }
    }
}

/// JSON, HDF5 and the report do not wait for what generated source can hold; source of an older model goes.
#[test]
fn a_model_too_large_for_source_is_written_without_it() {
    let recipe = Recipe {
        s: 3,
        ..recipes().remove(0)
    };
    let mut m = model(&recipe);
    let folder = tempfile::tempdir().unwrap();
    let write = |m: &ReducedModel| {
        let options = ExportOptions::default();
        write_all(m, None, folder.path(), &options, &Guard::default()).unwrap()
    };
    assert!(write(&m).is_none());
    assert!(folder.path().join("c/CMakeLists.txt").exists());
    let table = &mut m.boxes[0].dynamics;
    let n_components = table.coefficients.len() / table.terms.len();
    let degrees = |i: u32| [i / 1600, (i / 40) % 40, i % 40].map(|d| d as u8).to_vec();
    table.terms = (0..60_001).map(degrees).collect();
    table.coefficients.resize(60_001 * n_components, 1e-9);
    let refused = write(&m).expect("too large for C");
    assert!(refused.to_string().contains("terms of a box"), "{refused}");
    assert_eq!(read_model(&folder.path().join("model.json")).unwrap(), m);
    assert_eq!(read_model(&folder.path().join("model.h5")).unwrap(), m);
    assert!(folder.path().join("report.html").exists());
    assert!(!folder.path().join("c/CMakeLists.txt").exists());
    assert!(!folder.path().join("rust/Cargo.toml").exists());
}

#[test]
fn nothing_is_written_where_something_cannot_be() {
    let mut m = model(&recipes()[1]);
    m.boxes[0].dynamics.coefficients[3] = 1e60;
    let folder = tempfile::tempdir().unwrap();
    let single = ExportOptions {
        single: true,
        prefix: None,
    };
    assert!(write_all(&m, None, folder.path(), &single, &Guard::default()).is_err());
    assert!(files(folder.path()).is_empty());
    m.boxes[0].dynamics.coefficients[3] = f64::NAN;
    let path = folder.path().join("m.json");
    assert!(
        export(
            &m,
            Format::Json,
            &path,
            &ExportOptions::default(),
            &Guard::default()
        )
        .is_err()
    );
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let m = model(&recipes()[1]);
    assert!(
        export(
            &m,
            Format::C,
            &blocked,
            &ExportOptions::default(),
            &Guard::default()
        )
        .is_err()
    );
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn model_files_refuse_options_of_source() {
    let m = model(&recipes()[1]);
    let folder = tempfile::tempdir().unwrap();
    let single = ExportOptions {
        single: true,
        prefix: None,
    };
    let prefix = ExportOptions {
        single: false,
        prefix: Some("arm".into()),
    };
    for (format, name) in [(Format::Json, "json"), (Format::Hdf5, "hdf5")] {
        for (options, option) in [(&single, "single"), (&prefix, "prefix")] {
            let error = export(
                &m,
                format,
                &folder.path().join("m"),
                options,
                &Guard::default(),
            )
            .unwrap_err();
            let text = error.to_string();
            assert!(text.contains(option) && text.contains(name), "{text}");
        }
    }
    assert!(files(folder.path()).is_empty());
}

#[test]
fn the_hash_tells_models_apart() {
    let m = model(&recipes()[1]);
    let mut other = m.clone();
    other.boxes[1].outputs.coefficients[0] += 1e-15;
    assert_eq!(model_hash(&m).unwrap(), model_hash(&m.clone()).unwrap());
    assert_ne!(model_hash(&m).unwrap(), model_hash(&other).unwrap());
    assert_eq!(model_hash(&m).unwrap().len(), 64);
}

#[test]
fn a_quotation_mark_in_the_provenance_stays_out_of_the_manifest() {
    let mut m = model(&recipes()[1]);
    m.provenance.tool = "reduce \"nightly\" 0.1".to_owned();
    let files = exporters::code::rust_files(&m, &ExportOptions::default()).unwrap();
    let manifest = files.iter().find(|(name, _)| name == "Cargo.toml").unwrap();
    let text = std::str::from_utf8(&manifest.1).unwrap();
    let line = text.lines().find(|l| l.starts_with("description")).unwrap();
    assert_eq!(line.matches('"').count(), 2, "{line}");
}

#[test]
fn words_of_c_cannot_start_names() {
    let m = model(&recipes()[1]);
    for prefix in ["math", "float", "example_main", "template"] {
        let options = ExportOptions {
            single: false,
            prefix: Some(prefix.to_owned()),
        };
        let error = exporters::code::c_files(&m, &options)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("`{prefix}_model` could")),
            "{error}"
        );
    }
}
