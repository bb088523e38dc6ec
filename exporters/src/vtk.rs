//! Shapes on a line mesh as VTK XML (`.vtu`), which ParaView opens.

use crate::{WriteError, files};
use std::path::Path;
use vtkio::model::{
    Attribute, Attributes, ByteOrder, CellType, Cells, DataArray, DataSet, ElementType,
    UnstructuredGridPiece, Version, VertexNumbers, Vtk,
};

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
    files::write_whole(path, &to_bytes(mesh)?)
}

/// The file's content.
pub fn to_bytes(mesh: &LineMesh) -> Result<Vec<u8>, WriteError> {
    let flat = |values: &[[f64; 3]]| values.iter().flatten().copied().collect::<Vec<f64>>();
    let point = mesh
        .fields
        .iter()
        .map(|(name, values)| {
            Attribute::DataArray(DataArray {
                name: name.clone(),
                elem: ElementType::Vectors,
                data: flat(values).into(),
            })
        })
        .collect();
    let piece = UnstructuredGridPiece {
        points: flat(&mesh.nodes).into(),
        cells: Cells {
            cell_verts: VertexNumbers::XML {
                connectivity: mesh.lines.iter().flatten().map(|&n| n as u64).collect(),
                offsets: (1..=mesh.lines.len() as u64).map(|i| 2 * i).collect(),
            },
            types: vec![CellType::Line; mesh.lines.len()],
        },
        data: Attributes {
            point,
            cell: Vec::new(),
        },
    };
    let vtk = Vtk {
        version: Version::new_xml(1, 0),
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        data: DataSet::inline(piece),
        file_path: None,
    };
    let mut bytes = Vec::new();
    vtk.write_xml(&mut bytes)
        .map_err(|error| WriteError::Vtk(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let mesh = LineMesh {
            nodes: vec![[0.0, 0.0, 0.0], [0.1, 0.25, -3e-7], [1.0, 2.0, 3.0]],
            lines: vec![[0, 1], [1, 2]],
            fields: vec![("zB".into(), vec![[0.0; 3], [1.0, -0.5, 1e-9], [2.0; 3]])],
        };
        let bytes = to_bytes(&mesh).expect("a small mesh");
        let vtk = Vtk::parse_xml(bytes.as_slice()).expect("our own file");
        let DataSet::UnstructuredGrid { pieces, .. } = vtk.data else {
            panic!("not an unstructured grid");
        };
        let piece = pieces[0].load_piece_data(None).expect("inline data");
        let points: Vec<f64> = piece.points.cast_into().expect("numbers");
        assert_eq!(points, mesh.nodes.concat());
        let Attribute::DataArray(field) = &piece.data.point[0] else {
            panic!("not a data array");
        };
        assert_eq!(field.name, "zB");
        let values: Vec<f64> = field.data.clone().cast_into().expect("numbers");
        assert_eq!(values, mesh.fields[0].1.concat());
    }
}
