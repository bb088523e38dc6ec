//! Schemas and manual pages come from the program.

use crate::support::{reduce, text};

#[test]
fn schemas_are_the_published_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    for (kind, file) in [
        ("mechanism", "mechanism"),
        ("scenario", "scenario"),
        ("model", "reduced-model"),
    ] {
        let output = reduce(folder.path(), &["schema", kind]);
        assert_eq!(output.status.code(), Some(0), "{kind}");
        let published = std::fs::read_to_string(format!("docs/{file}.schema.json"));
        assert!(
            text(&output.stdout) == published.expect("a schema"),
            "{kind}"
        );
    }
}

/// The file that the first line of a new mechanism names is what `reduce schema` is told to write there.
#[test]
fn new_files_name_a_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in ["serial", "four-bar", "parallel", "hexapod"] {
        let name = kind.replace('-', "_");
        reduce(folder.path(), &["new", &name, "--from", kind]);
        let written = std::fs::read_to_string(folder.path().join(format!("{name}.toml")));
        let written = written.expect("the file");
        let first = written.lines().next().expect("a line");
        let file = first.strip_prefix("#:schema ./").expect("a schema");
        assert!(
            written.contains(&format!("`reduce schema mechanism > {file}`")),
            "{kind}"
        );
    }
}

#[test]
fn every_listed_verb_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = reduce(folder.path(), &["man", "-o", "pages"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let help = reduce(folder.path(), &["--help"]);
    let help = text(&help.stdout);
    let verbs = help.lines().skip_while(|line| *line != "Verbs:").skip(1);
    let verbs: Vec<&str> = verbs
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|verb| !verb.is_empty() && *verb != "help")
        .collect();
    assert!(verbs.len() > 12 && !verbs.contains(&"man"), "{verbs:?}");
    for verb in verbs {
        let page = folder.path().join(format!("pages/reduce-{verb}.1"));
        let page = std::fs::read_to_string(page).unwrap_or_else(|_| panic!("{verb} has no page"));
        assert!(page.contains(&format!("reduce\\-{verb} \\- ")), "{page}");
    }
}
