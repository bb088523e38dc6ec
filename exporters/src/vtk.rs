//! Shapes on a line mesh as VTK XML (`.vtu`), which ParaView, pyvista and meshio open.
//!
//! Numbers are binary, in base64, so they come back bit for bit. Indices are signed: meshio turns
//! unsigned 64-bit ones into floating-point numbers.

use crate::{WriteError, files};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;

/// The number by which VTK knows a line with two ends.
const LINE: u8 = 3;

/// A line mesh with vector fields on its nodes.
#[derive(Debug, Clone, Default)]
pub struct LineMesh {
    /// Node positions.
    pub nodes: Vec<[f64; 3]>,
    /// Pairs of nodes.
    pub lines: Vec<[usize; 2]>,
    /// Named vector fields, one vector per node.
    pub fields: Vec<(String, Vec<[f64; 3]>)>,
}

/// Writes the mesh and its fields.
pub fn write_vtu(mesh: &LineMesh, path: &Path) -> Result<(), WriteError> {
    files::write_whole(path, to_text(mesh).as_bytes())
}

/// The file's content.
pub fn to_text(mesh: &LineMesh) -> String {
    let ends = mesh.lines.iter().flatten().map(|&node| node as i64);
    let offsets = (1..=mesh.lines.len()).map(|line| 2 * line as i64);
    let active = match mesh.fields.first() {
        Some((name, _)) => format!(" Vectors=\"{}\"", escaped(name)),
        None => String::new(),
    };
    let fields: String = mesh.fields.iter().map(|(n, v)| vectors(n, v)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">
<UnstructuredGrid>
<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">
<PointData{active}>
{fields}</PointData>
<Points>
{}</Points>
<Cells>
{}{}{}</Cells>
</Piece>
</UnstructuredGrid>
</VTKFile>
",
        mesh.nodes.len(),
        mesh.lines.len(),
        vectors("Points", &mesh.nodes),
        array("Int64", "connectivity", 1, ends.flat_map(i64::to_le_bytes)),
        array("Int64", "offsets", 1, offsets.flat_map(i64::to_le_bytes)),
        array("UInt8", "types", 1, mesh.lines.iter().map(|_| LINE)),
    )
}

fn vectors(name: &str, values: &[[f64; 3]]) -> String {
    let bytes = values.iter().flatten().flat_map(|v| v.to_le_bytes());
    array("Float64", name, 3, bytes)
}

/// One array: its number of bytes, then the bytes.
fn array(kind: &str, name: &str, components: usize, bytes: impl Iterator<Item = u8>) -> String {
    let mut block = vec![0; 8];
    block.extend(bytes);
    let length = block.len() as u64 - 8;
    block[..8].copy_from_slice(&length.to_le_bytes());
    format!(
        "<DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\" format=\"binary\">{}</DataArray>\n",
        escaped(name),
        STANDARD.encode(block),
    )
}

/// A name as the value of an attribute; what XML cannot hold becomes a replacement character.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
