//! Shapes for ParaView: other programs read what was written, bit for bit.

#[path = "support/tools.rs"]
mod tools;

use exporters::vtk::{LineMesh, to_text, write_vtu};
use std::process::Command;

/// Prints names in quotes, indices, and the bits of numbers.
const SCRIPT: &str = r#"
import sys
import meshio
import numpy as np

mesh = meshio.read(sys.argv[1])
assert [cells.type for cells in mesh.cells] == ["line", "triangle"]
def bits(values):
    assert values.dtype == np.float64 and values.shape[1:] == (3,)
    print(*values.ravel().view(np.uint64))
bits(mesh.points)
for cells in mesh.cells:
    assert np.issubdtype(cells.data.dtype, np.integer), cells.data.dtype
    print(*cells.data.ravel())
for name, values in mesh.point_data.items():
    print(ascii(name))
    bits(values)
"#;

fn words<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
    words.join(" ") + "\n"
}

fn bits(values: &[[f64; 3]]) -> String {
    words(values.iter().flatten().map(|v| v.to_bits()))
}

#[test]
fn meshio_reads_the_same_bits_and_names() {
    if !tools::MESHIO.is_done() {
        return;
    }
    let mesh = LineMesh {
        nodes: vec![
            [0.0, -0.0, 5e-324],
            [0.1 + 0.2, 0.25, -3e-7],
            [1e300, 2.0, 3.0],
        ],
        lines: vec![[0, 1], [1, 2]],
        cells: vec![(5, vec![2, 0, 1])],
        fields: vec![
            ("zB".into(), vec![[0.0; 3], [1.0, -0.5, 1e-9], [2.0; 3]]),
            (
                "a<b & \"c\" > 'd' é".into(),
                vec![[f64::NAN; 3], [f64::INFINITY; 3], [1.0 / 3.0; 3]],
            ),
        ],
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("modes.vtu");
    write_vtu(&mesh, &path, &exporters::Guard::default()).expect("a file");
    let read = tools::run(Command::new("python3").args(["-c", SCRIPT]).arg(&path));
    let expected = [
        bits(&mesh.nodes),
        words([0, 1, 1, 2]),
        words([2, 0, 1]),
        "'zB'\n".into(),
        bits(&mesh.fields[0].1),
        "'a<b & \"c\" > \\'d\\' \\xe9'\n".into(),
        bits(&mesh.fields[1].1),
    ];
    assert_eq!(read, expected.concat());
}

#[test]
fn text_and_numbers_are_what_the_format_asks_for() {
    let mesh = LineMesh {
        nodes: vec![[0.0; 3], [1.0, 0.0, 0.0]],
        lines: vec![[0, 1]],
        cells: Vec::new(),
        fields: vec![("a\u{1}\n<&\"".into(), vec![[0.0; 3]; 2])],
    };
    let text = to_text(&mesh);
    for part in [
        "NumberOfPoints=\"2\" NumberOfCells=\"1\"",
        "Vectors=\"a\u{fffd}\u{fffd}&lt;&amp;&quot;\"",
        // Eight bytes of length, then 0 and 1.
        "\"Int64\" Name=\"connectivity\" NumberOfComponents=\"1\" format=\"binary\">EAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAA<",
        "\"Int64\" Name=\"offsets\" NumberOfComponents=\"1\" format=\"binary\">CAAAAAAAAAACAAAAAAAAAA==<",
        "\"UInt8\" Name=\"types\" NumberOfComponents=\"1\" format=\"binary\">AQAAAAAAAAAD<",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}
