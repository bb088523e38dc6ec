//! Generated folders of one small model, byte for byte: a change of templates shows as a difference of
//! the files that users get.
//!
//! `UPDATE_GOLDEN=1 cargo test --release -p mechreduce-exporters --test golden` writes them anew.

mod support;

use exporters::code::{SourceFiles, c_files, rust_files};
use exporters::{ExportOptions, WriteError};
use reducer::reduced_model::ReducedModel;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::{Recipe, model, recipes};

type Generator = fn(&ReducedModel, &ExportOptions) -> Result<SourceFiles, WriteError>;

/// Languages, by the folder that holds their files.
const LANGUAGES: [(&str, Generator); 2] = [("c", c_files), ("rust", rust_of_the_model)];

/// The Rust crate without the kernel's own files, which are the same for every model.
fn rust_of_the_model(
    model: &ReducedModel,
    options: &ExportOptions,
) -> Result<SourceFiles, WriteError> {
    let kernel = |name: &str| {
        let file = name.strip_prefix("src/kernel/");
        file.and_then(|f| kernel::SOURCE.iter().find(|(name, _)| *name == f))
    };
    let mut files = rust_files(model, options)?;
    files.retain(|(name, bytes)| match kernel(name) {
        Some((_, source)) => {
            assert!(bytes.ends_with(source.as_bytes()), "{name}");
            false
        }
        None => true,
    });
    Ok(files)
}

/// One rigid and one modal coordinate, one output.
fn small() -> Recipe {
    let press = recipes().into_iter().find(|r| r.name == "press");
    Recipe {
        outputs: 1,
        loaded: 0,
        ..press.expect("a recipe")
    }
}

/// Files below a folder, by their path in it.
fn stored(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder of golden files") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(&path).expect("a golden file");
                let name = path.strip_prefix(folder).expect("a path below the folder");
                found.insert(name.to_owned(), bytes);
            }
        }
    }
    found
}

/// The first line in which two texts differ.
fn difference(found: &[u8], expected: &[u8]) -> String {
    let [found, expected] = [found, expected].map(String::from_utf8_lossy);
    let (mut a, mut b) = (found.lines(), expected.lines());
    (1..)
        .map(|line| (line, a.next(), b.next()))
        .find(|(_, a, b)| a != b || a.is_none())
        .map(|(line, a, b)| format!("line {line}: {a:?}, golden {b:?}"))
        .expect("texts end")
}

#[test]
fn generated_folders_are_the_golden_ones() {
    let recipe = small();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (language, generate) in LANGUAGES {
        let folder = root.join(recipe.name).join(language);
        let files = generate(&model(&recipe), &ExportOptions::default()).expect("source");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::remove_dir_all(&folder).ok();
            for (name, bytes) in &files {
                let path = folder.join(name);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(path, bytes).expect("a golden file");
            }
        }
        let golden = stored(&folder);
        let names: Vec<&PathBuf> = golden.keys().collect();
        let generated: BTreeMap<PathBuf, Vec<u8>> =
            files.into_iter().map(|(n, b)| (n.into(), b)).collect();
        assert_eq!(generated.keys().collect::<Vec<_>>(), names, "{language}");
        for (name, bytes) in &generated {
            assert!(
                *bytes == golden[name],
                "{}: {}\nWhere the change is meant, write the files anew with UPDATE_GOLDEN=1.",
                folder.join(name).display(),
                difference(bytes, &golden[name])
            );
        }
    }
}
