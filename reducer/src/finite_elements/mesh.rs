//! Nodes, elements and node sets of input decks and tables.

use super::error::{FeError, Place};
use super::read::{Lines, expected, fields, number, whole};
use std::collections::BTreeMap;

/// Most nodes of a set.
const MAX_SET: usize = 5_000_000;

/// Elements of one type.
#[derive(Debug, Clone, Default)]
pub struct ElementBlock {
    /// Type as written, in capitals.
    pub kind: String,
    /// Nodes of every element.
    pub nodes: Vec<Vec<u64>>,
}

/// Nodes that a reference node carries rigidly (`*RIGID BODY`).
#[derive(Debug, Clone)]
pub struct RigidTie {
    /// Name of the node set, where it is one.
    pub set: String,
    /// Node of the translations.
    pub reference: u64,
    /// Node whose dofs 1 to 3 are the rotations.
    pub rotation: Option<u64>,
}

/// What an input deck says of geometry.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Coordinates by node, in units of the file.
    pub nodes: BTreeMap<u64, [f64; 3]>,
    /// Elements.
    pub elements: Vec<ElementBlock>,
    /// Node sets by name in capitals.
    pub sets: BTreeMap<String, Vec<u64>>,
    /// Rigid bodies.
    pub ties: Vec<RigidTie>,
}

impl Mesh {
    /// Adds a node; the same node at another place is refused.
    pub(super) fn add_node(
        &mut self,
        node: u64,
        at: [f64; 3],
        place: Place,
    ) -> Result<(), FeError> {
        match self.nodes.insert(node, at) {
            Some(before) if before != at => Err(FeError::MovedNode { place, node }),
            _ => Ok(()),
        }
    }
}

/// The block of an input deck that lines belong to.
enum Block {
    Nodes(Option<String>),
    Elements,
    Set { name: String, generate: bool },
    Other,
}

/// `*KEYWORD, KEY=VALUE, …` in capitals without blanks.
struct Keyword {
    name: String,
    options: Vec<(String, String)>,
}

impl Keyword {
    fn parse(line: &str) -> Self {
        let packed: String = line
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
            .to_ascii_uppercase();
        let mut parts = packed.split(',');
        let name = parts.next().unwrap_or_default().to_owned();
        let options = parts
            .map(|part| match part.split_once('=') {
                Some((key, value)) => (key.to_owned(), value.to_owned()),
                None => (part.to_owned(), String::new()),
            })
            .collect();
        Self { name, options }
    }

    fn option(&self, key: &str) -> Option<&str> {
        (self.options.iter())
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }
}

/// Nodes of known element types.
fn nodes_of(kind: &str) -> Option<usize> {
    let count = match kind {
        "C3D4" => 4,
        "C3D6" => 6,
        "C3D10" | "C3D10T" | "C3D10M" => 10,
        "C3D15" => 15,
        _ if kind.starts_with("C3D20") => 20,
        _ if kind.starts_with("C3D8") => 8,
        "S3" | "S3R" => 3,
        "S4" | "S4R" => 4,
        "S6" => 6,
        "S8" | "S8R" => 8,
        "B31" | "B31R" | "T3D2" => 2,
        "B32" | "B32R" | "T3D3" => 3,
        _ => return None,
    };
    Some(count)
}

/// Reads `*NODE`, `*ELEMENT`, `*NSET` and `*RIGID BODY` of an input deck of CalculiX or Abaqus.
pub(super) fn read_inp(mut lines: Lines<'_>) -> Result<Mesh, FeError> {
    let mut mesh = Mesh::default();
    let mut block = Block::Other;
    let mut open: Vec<u64> = Vec::new();
    while let Some((at, line)) = lines.next() {
        let place = || lines.place(at);
        let line = line.trim();
        if line.starts_with("**") {
            continue;
        }
        if line.starts_with('*') {
            open.clear();
            block = begin(&Keyword::parse(line), &mut mesh, place)?;
            continue;
        }
        match &block {
            Block::Nodes(set) => {
                let (node, position) = node_line(line, place)?;
                mesh.add_node(node, position, place())?;
                if let Some(set) = set {
                    mesh.sets.entry(set.clone()).or_default().push(node);
                }
            }
            Block::Elements => {
                for field in fields(line) {
                    open.push(whole(field, place)?);
                }
                let Some(elements) = mesh.elements.last_mut() else {
                    continue;
                };
                let done = match nodes_of(&elements.kind) {
                    Some(count) => open.len() > count,
                    None => !line.ends_with(','),
                };
                if done {
                    elements.nodes.push(open.iter().skip(1).copied().collect());
                    open.clear();
                }
            }
            Block::Set { name, generate } => {
                add_to_set(&mut mesh, name, *generate, line, place)?;
            }
            Block::Other => {}
        }
    }
    Ok(mesh)
}

fn begin(keyword: &Keyword, mesh: &mut Mesh, place: impl Fn() -> Place) -> Result<Block, FeError> {
    Ok(match keyword.name.as_str() {
        "*NODE" => Block::Nodes(keyword.option("NSET").map(str::to_owned)),
        "*ELEMENT" => {
            mesh.elements.push(ElementBlock {
                kind: keyword.option("TYPE").unwrap_or_default().to_owned(),
                nodes: Vec::new(),
            });
            Block::Elements
        }
        "*NSET" => Block::Set {
            name: keyword.option("NSET").unwrap_or_default().to_owned(),
            generate: keyword.option("GENERATE").is_some(),
        },
        "*RIGIDBODY" => {
            if let Some(reference) = keyword.option("REFNODE") {
                let rotation = keyword.option("ROTNODE").map(|node| whole(node, &place));
                mesh.ties.push(RigidTie {
                    set: keyword.option("NSET").unwrap_or_default().to_owned(),
                    reference: whole(reference, &place)?,
                    rotation: rotation.transpose()?,
                });
            }
            Block::Other
        }
        _ => Block::Other,
    })
}

fn add_to_set(
    mesh: &mut Mesh,
    name: &str,
    generate: bool,
    line: &str,
    place: impl Fn() -> Place,
) -> Result<(), FeError> {
    if generate {
        let range: Vec<u64> = fields(line)
            .map(|field| whole(field, &place))
            .collect::<Result<_, _>>()?;
        let (first, last, step) = match *range.as_slice() {
            [first, last] => (first, last, 1),
            [first, last, step] => (first, last, step),
            _ => return Err(expected(place(), "`first, last, step`", line)),
        };
        // Only nodes that exist: a range may be as long as it likes.
        let members: Vec<u64> = mesh
            .nodes
            .range(first..=last.max(first))
            .map(|(node, _)| *node)
            .filter(|node| (node - first) % step == 0)
            .collect();
        mesh.sets
            .entry(name.to_owned())
            .or_default()
            .extend(members);
        return Ok(());
    }
    for field in fields(line) {
        let members = match field.parse::<u64>() {
            Ok(node) => vec![node],
            Err(_) => match mesh.sets.get(&field.to_ascii_uppercase()) {
                Some(members) => members.clone(),
                None => return Err(expected(place(), "a node or a node set", field)),
            },
        };
        let set = mesh.sets.entry(name.to_owned()).or_default();
        set.extend(members);
        // A set may name itself.
        if set.len() > MAX_SET {
            return Err(FeError::Limit {
                place: place(),
                what: "the number of nodes of a set",
                limit: MAX_SET,
            });
        }
    }
    Ok(())
}

fn node_line(line: &str, place: impl Fn() -> Place) -> Result<(u64, [f64; 3]), FeError> {
    let mut parts = fields(line);
    let node = parts.next().unwrap_or_default();
    let node = whole(node, &place)?;
    let mut at = [0.0; 3];
    for (i, value) in at.iter_mut().enumerate() {
        match parts.next() {
            Some(field) => *value = number(field, &place)?,
            None if i > 0 => {}
            None => return Err(expected(place(), "`node, x, y, z`", line)),
        }
    }
    Ok((node, at))
}

/// Reads lines `node, x, y, z`, with or without a line of titles.
pub(super) fn read_table(mut lines: Lines<'_>) -> Result<Mesh, FeError> {
    let mut mesh = Mesh::default();
    let mut first = true;
    while let Some((at, line)) = lines.next() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let title = first
            && fields(line)
                .next()
                .is_some_and(|f| f.parse::<u64>().is_err());
        first = false;
        if title {
            continue;
        }
        let (node, position) = node_line(line, || lines.place(at))?;
        mesh.add_node(node, position, lines.place(at))?;
    }
    Ok(mesh)
}
