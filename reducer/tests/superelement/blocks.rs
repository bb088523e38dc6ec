//! Blocks of equal hexahedra with eight nodes: element matrices, assembly and files, made here and not by a
//! finite-element program, so that bodies of any size can be had and checked against their own matrices.
#![allow(dead_code)]

use nalgebra::{DMatrix, Matrix3, Matrix6, SMatrix, Vector3};
use std::fmt::Write;

pub const YOUNG: f64 = 70e9;
pub const POISSON: f64 = 0.3;
pub const DENSITY: f64 = 2700.0;

type Matrix24 = SMatrix<f64, 24, 24>;
/// Lower triangle: row, column, value.
pub type Entries = Vec<(usize, usize, f64)>;

/// A block from the origin along x, centred about y = z = 0.
#[derive(Clone, Copy)]
pub struct Block {
    /// Elements along x, y, z.
    pub cells: [usize; 3],
    /// Edges (m).
    pub size: [f64; 3],
}

/// Corners of a cell in the order of C3D8.
const CORNERS: [[usize; 3]; 8] = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
    [0, 1, 1],
];

impl Block {
    pub fn n_nodes(&self) -> usize {
        self.cells.iter().map(|n| n + 1).product()
    }

    pub fn n_dofs(&self) -> usize {
        3 * self.n_nodes()
    }

    /// Index of a node from 0; its number in files is one more.
    fn node(&self, at: [usize; 3]) -> usize {
        let [_, ny, nz] = self.cells.map(|n| n + 1);
        (at[0] * ny + at[1]) * nz + at[2]
    }

    pub fn position(&self, node: usize) -> Vector3<f64> {
        let [_, ny, nz] = self.cells.map(|n| n + 1);
        let at = [node / (ny * nz), node / nz % ny, node % nz];
        let part = |c: usize| self.size[c] * at[c] as f64 / self.cells[c] as f64;
        Vector3::new(
            part(0),
            part(1) - 0.5 * self.size[1],
            part(2) - 0.5 * self.size[2],
        )
    }

    /// Nodes of the face at the start (0) or end (1) of x.
    pub fn face(&self, end: usize) -> Vec<usize> {
        let layer = (self.cells[1] + 1) * (self.cells[2] + 1);
        let first = end * self.cells[0] * layer;
        (first..first + layer).collect()
    }

    fn elements(&self) -> impl Iterator<Item = [usize; 8]> + '_ {
        let [nx, ny, nz] = self.cells;
        (0..nx * ny * nz).map(move |e| {
            let cell = [e / (ny * nz), e / nz % ny, e % nz];
            CORNERS.map(|corner| self.node(std::array::from_fn(|c| cell[c] + corner[c])))
        })
    }

    /// Stiffness and mass of one element, by two Gauss points along every edge.
    fn element(&self) -> (Matrix24, Matrix24) {
        let edge: [f64; 3] = std::array::from_fn(|c| self.size[c] / self.cells[c] as f64);
        let lame = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
        let shear = YOUNG / (2.0 * (1.0 + POISSON));
        let mut law = Matrix6::from_diagonal_element(shear);
        let normal = Matrix3::from_element(lame) + Matrix3::from_diagonal_element(2.0 * shear);
        law.fixed_view_mut::<3, 3>(0, 0).copy_from(&normal);
        let (mut stiffness, mut mass) = (Matrix24::zeros(), Matrix24::zeros());
        let volume: f64 = edge.iter().product();
        let place = 0.5 / 3.0_f64.sqrt();
        for corner in CORNERS {
            let s: [f64; 3] = corner.map(|c| if c == 0 { 0.5 - place } else { 0.5 + place });
            let mut strain = SMatrix::<f64, 6, 24>::zeros();
            let mut shape = SMatrix::<f64, 3, 24>::zeros();
            for (k, own) in CORNERS.iter().enumerate() {
                let value = |c: usize| if own[c] == 0 { 1.0 - s[c] } else { s[c] };
                let slope = |c: usize| (if own[c] == 0 { -1.0 } else { 1.0 }) / edge[c];
                let g = [
                    slope(0) * value(1) * value(2),
                    value(0) * slope(1) * value(2),
                    value(0) * value(1) * slope(2),
                ];
                for c in 0..3 {
                    strain[(c, 3 * k + c)] = g[c];
                    shape[(c, 3 * k + c)] = value(0) * value(1) * value(2);
                }
                for (row, (a, b)) in [(1, 2), (0, 2), (0, 1)].into_iter().enumerate() {
                    strain[(3 + row, 3 * k + a)] = g[b];
                    strain[(3 + row, 3 * k + b)] = g[a];
                }
            }
            stiffness += strain.transpose() * law * strain * (volume / 8.0);
            mass += shape.transpose() * shape * (DENSITY * volume / 8.0);
        }
        (stiffness, mass)
    }

    /// Stiffness and mass of the block.
    pub fn assembled(&self) -> (Entries, Entries) {
        let (stiffness, mass) = self.element();
        (self.sum(&stiffness), self.sum(&mass))
    }

    fn sum(&self, element: &Matrix24) -> Entries {
        let mut all = Entries::new();
        for nodes in self.elements() {
            for (i, j) in (0..24).flat_map(|i| (0..24).map(move |j| (i, j))) {
                let (row, column) = (3 * nodes[i / 3] + i % 3, 3 * nodes[j / 3] + j % 3);
                if row >= column && element[(i, j)] != 0.0 {
                    all.push((row, column, element[(i, j)]));
                }
            }
        }
        all.sort_unstable_by_key(|(row, column, _)| (*column, *row));
        let mut out = Entries::new();
        for (row, column, value) in all {
            match out.last_mut() {
                Some(last) if (last.0, last.1) == (row, column) => last.2 += value,
                _ => out.push((row, column, value)),
            }
        }
        out
    }

    /// The block in files: `k.mtx`, `m.mtx` and `block.inp`, with node sets LEFT and RIGHT.
    pub fn files(&self) -> [(&'static str, String); 3] {
        let (stiffness, mass) = self.assembled();
        [
            ("k.mtx", matrix_market(self.n_dofs(), &stiffness)),
            ("m.mtx", matrix_market(self.n_dofs(), &mass)),
            ("block.inp", self.deck()),
        ]
    }

    fn deck(&self) -> String {
        let mut out = String::from("*NODE\n");
        for node in 0..self.n_nodes() {
            let at = self.position(node);
            let _ = writeln!(out, "{}, {:?}, {:?}, {:?}", node + 1, at.x, at.y, at.z);
        }
        out += "*ELEMENT, TYPE=C3D8\n";
        for (e, nodes) in self.elements().enumerate() {
            let list: Vec<String> = nodes.iter().map(|n| (n + 1).to_string()).collect();
            let _ = writeln!(out, "{}, {}", e + 1, list.join(", "));
        }
        for (end, name) in ["LEFT", "RIGHT"].into_iter().enumerate() {
            let _ = writeln!(out, "*NSET, NSET={name}");
            for node in self.face(end) {
                let _ = writeln!(out, "{}", node + 1);
            }
        }
        out
    }
}

fn matrix_market(n: usize, entries: &Entries) -> String {
    let mut out = format!(
        "%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {}\n",
        entries.len()
    );
    for (row, column, value) in entries {
        let _ = writeln!(out, "{} {} {value:e}", row + 1, column + 1);
    }
    out
}

/// A body that is small enough for dense matrices.
pub const ARM: Block = Block {
    cells: [5, 2, 1],
    size: [0.4, 0.06, 0.02],
};
/// Dofs between the faces.
pub const INNER: usize = 72;

pub fn dense(n: usize, entries: &[(usize, usize, f64)]) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(n, n);
    for &(row, column, value) in entries {
        out[(row, column)] = value;
        out[(column, row)] = value;
    }
    out
}

/// Motion of all nodes of a block per motion of inner nodes and of the frames in its faces. `frames` says for
/// either face where its six dofs are among all unknowns, and how they turn; `None`: held.
pub fn motion(
    first_inner: usize,
    n: usize,
    frames: [Option<(usize, Matrix3<f64>)>; 2],
) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(ARM.n_dofs(), n);
    let faces = [ARM.face(0), ARM.face(1)];
    let mut inner = first_inner;
    for node in 0..ARM.n_nodes() {
        let Some(end) = faces.iter().position(|face| face.contains(&node)) else {
            for c in 0..3 {
                out[(3 * node + c, inner)] = 1.0;
                inner += 1;
            }
            continue;
        };
        let Some((at, turn)) = &frames[end] else {
            continue;
        };
        let arm = ARM.position(node) - Vector3::new(end as f64 * ARM.size[0], 0.0, 0.0);
        for k in 0..3 {
            let along = turn.column(k).into_owned();
            let about = along.cross(&arm);
            for c in 0..3 {
                out[(3 * node + c, at + k)] = along[c];
                out[(3 * node + c, at + 3 + k)] = about[c];
            }
        }
    }
    assert_eq!(inner - first_inner, INNER);
    out
}
