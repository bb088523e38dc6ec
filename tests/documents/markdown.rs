//! As much of Markdown as the documents use: fenced blocks, headings, links and code in the text.

use std::path::{Path, PathBuf};

/// A document of the repository.
pub struct Document {
    pub path: PathBuf,
    pub blocks: Vec<Block>,
    /// Text outside of blocks, one entry per paragraph, list or table.
    pub paragraphs: Vec<String>,
    pub headings: Vec<String>,
}

/// A fenced block.
pub struct Block {
    pub language: String,
    /// Line of the document on which the content starts, from 1.
    pub first_line: usize,
    pub lines: Vec<String>,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README, changelog, the page for contributors and everything in `docs/`, in a fixed order.
pub fn documents() -> Vec<Document> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .expect("docs/")
        .map(|entry| entry.expect("an entry of docs/").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    paths.sort();
    paths.insert(0, root().join("README.md"));
    paths.insert(1, root().join("CHANGELOG.md"));
    paths.insert(2, root().join("CONTRIBUTING.md"));
    paths.iter().map(|path| Document::read(path)).collect()
}

impl Document {
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(path, &text)
    }

    pub fn parse(path: &Path, text: &str) -> Self {
        let mut document = Self {
            path: path.into(),
            blocks: Vec::new(),
            paragraphs: vec![String::new()],
            headings: Vec::new(),
        };
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            if let Some(language) = line.strip_prefix("```") {
                inside = !inside;
                if inside {
                    document.blocks.push(Block {
                        language: language.trim().into(),
                        first_line: number + 2,
                        lines: Vec::new(),
                    });
                }
            } else if inside {
                let block = document.blocks.last_mut().expect("inside a block");
                block.lines.push(line.into());
            } else {
                document.text_line(line);
            }
        }
        assert!(!inside, "{}: a block is not closed", path.display());
        document
    }

    fn text_line(&mut self, line: &str) {
        if let Some(heading) = line.strip_prefix('#') {
            self.headings
                .push(heading.trim_start_matches('#').trim().into());
        }
        if line.trim().is_empty() {
            self.paragraphs.push(String::new());
        }
        let paragraph = self.paragraphs.last_mut().expect("never empty");
        paragraph.push_str(line);
        paragraph.push(' ');
    }

    /// Name for messages.
    pub fn name(&self) -> String {
        let inside = self.path.strip_prefix(root()).unwrap_or(&self.path);
        inside.display().to_string()
    }

    /// Targets of links and pictures.
    pub fn links(&self) -> Vec<String> {
        let mut found = Vec::new();
        for paragraph in &self.paragraphs {
            for part in without_code(paragraph).split("](").skip(1) {
                found.extend(part.split_once(')').map(|(target, _)| target.to_string()));
            }
        }
        found
    }

    /// Code within the text.
    pub fn code(&self) -> Vec<&str> {
        self.paragraphs
            .iter()
            .flat_map(|p| p.split('`').skip(1).step_by(2))
            .collect()
    }

    /// Anchors of the headings, as GitHub makes them.
    pub fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for heading in &self.headings {
            let plain: String = heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let before = anchors.iter().filter(|a| **a == plain).count();
            anchors.push(if before == 0 {
                plain
            } else {
                format!("{plain}-{before}")
            });
        }
        anchors
    }
}

/// The text with code blanked out, because code may hold brackets; the text of a link may be code.
fn without_code(paragraph: &str) -> String {
    paragraph.split('`').step_by(2).collect()
}

#[test]
fn blocks_headings_links_and_code_are_found() {
    let text = "# A `b` (c)\n\nsee [`x`](y.md#z) and `f[0](1)`,\n`two\nlines`\n\n```sh\nreduce\n```\n# A b c\n";
    let document = Document::parse(Path::new("t.md"), text);
    assert_eq!(document.anchors(), ["a-b-c", "a-b-c-1"]);
    assert_eq!(document.links(), ["y.md#z"]);
    assert_eq!(document.code(), ["b", "x", "f[0](1)", "two lines"]);
    assert_eq!(document.blocks[0].language, "sh");
    assert_eq!(document.blocks[0].first_line, 8);
    assert_eq!(document.blocks[0].lines, ["reduce"]);
}
