//! Each file in `bad/` is refused with the text in `snapshots/`: the place, the fact, what to try.

use std::path::Path;
use std::process::{Command, Output};

pub fn reduce(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reduce"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn every_bad_file_is_explained() {
    let folder = Path::new("tests/description/bad");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 20);
    for name in names {
        let output = reduce(folder, &["validate", &name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        let shown = text(&output.stderr);
        assert!(
            shown.contains("toml:") && shown.contains("help: "),
            "{name}: {shown}"
        );
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.trim_end_matches(".toml").to_owned(), shown);
        });
    }
}

#[test]
fn files_that_are_no_text_are_refused_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir(path.join("folder")).unwrap();
    std::fs::write(path.join("empty.toml"), "").unwrap();
    std::fs::write(path.join("blank.toml"), " \n\n").unwrap();
    std::fs::write(
        path.join("binary.toml"),
        b"format = 1\nname = \"\xff\xfe\"\n",
    )
    .unwrap();
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..10_000_000)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
        .collect();
    std::fs::write(path.join("noise.toml"), noise).unwrap();
    let expected = [
        ("folder", "`folder` is a folder, not a mechanism file"),
        (
            "missing.toml",
            "`missing.toml` cannot be read: there is no such file",
        ),
        ("empty.toml", "`empty.toml` is empty"),
        ("blank.toml", "`blank.toml` is empty"),
        (
            "binary.toml",
            "`binary.toml` is not UTF-8 text: byte 19 cannot be decoded",
        ),
        ("noise.toml", "`noise.toml` is larger than 1048576 bytes"),
    ];
    for (name, message) in expected {
        let output = reduce(path, &["validate", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let shown = text(&output.stderr);
        assert!(shown.contains(message), "{name}: {shown}");
        assert!(shown.contains("help: "), "{name}: {shown}");
    }
}

#[test]
fn a_long_line_is_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("format = 1\nbody = [{}]\n", "{ nme = 1 }, ".repeat(50_000));
    std::fs::write(folder.path().join("long.toml"), line).unwrap();
    let output = reduce(folder.path(), &["validate", "long.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let shown = text(&output.stderr);
    assert!(shown.len() < 50_000, "{}", shown.len());
    assert!(
        shown.contains("long.toml:2:11: unknown key `nme`"),
        "{shown}"
    );
}
