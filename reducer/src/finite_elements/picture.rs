//! The mesh of a body for pictures: its points, how they move with the deformation, its elements as VTK knows
//! them, and lines that show its form.

use super::Dof;
use super::body::FeBody;
use super::mesh::ElementBlock;
use faer::Mat;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most lines of an outline.
const MOST_LINES: usize = 150;
/// Cosine of the angle between two faces above which their edge is part of the form.
const SMOOTH: f32 = 0.8;

/// Points, elements and outline of a body.
#[derive(Clone, Default, PartialEq)]
pub struct Picture {
    /// Points in the axes of the mesh (m).
    pub points: Vec<[f64; 3]>,
    /// Displacement of every point per unit of every component of the deformation, `[point][component][3]`.
    pub shapes: Vec<f32>,
    /// Elements: number by which VTK knows the kind, and points in its order.
    pub cells: Vec<(u8, Vec<u32>)>,
    /// Lines between points that show the form; connected ones follow one another.
    pub outline: Vec<[u32; 2]>,
}

/// Without content: fingerprints of samples are made of `Debug`, and no sample depends on a picture.
impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Picture").finish_non_exhaustive()
    }
}

/// A kind of element: VTK's number, points in VTK's order, faces by their corners, and edges as pairs of corners
/// with the point between them.
struct Kind {
    vtk: u8,
    order: &'static [usize],
    faces: &'static [&'static [usize]],
    edges: &'static [[usize; 3]],
}

const IN_ORDER: [usize; 20] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
];
const TET: &[&[usize]] = &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[2, 0, 3]];
const TET_EDGES: &[[usize; 3]] = &[
    [0, 1, 4],
    [1, 2, 5],
    [2, 0, 6],
    [0, 3, 7],
    [1, 3, 8],
    [2, 3, 9],
];
const HEX: &[&[usize]] = &[
    &[0, 3, 2, 1],
    &[4, 5, 6, 7],
    &[0, 1, 5, 4],
    &[1, 2, 6, 5],
    &[2, 3, 7, 6],
    &[3, 0, 4, 7],
];
const HEX_EDGES: &[[usize; 3]] = &[
    [0, 1, 8],
    [1, 2, 9],
    [2, 3, 10],
    [3, 0, 11],
    [4, 5, 12],
    [5, 6, 13],
    [6, 7, 14],
    [7, 4, 15],
    [0, 4, 16],
    [1, 5, 17],
    [2, 6, 18],
    [3, 7, 19],
];
const WEDGE: &[&[usize]] = &[
    &[0, 2, 1],
    &[3, 4, 5],
    &[0, 1, 4, 3],
    &[1, 2, 5, 4],
    &[2, 0, 3, 5],
];
const WEDGE_EDGES: &[[usize; 3]] = &[
    [0, 1, 6],
    [1, 2, 7],
    [2, 0, 8],
    [3, 4, 9],
    [4, 5, 10],
    [5, 3, 11],
    [0, 3, 12],
    [1, 4, 13],
    [2, 5, 14],
];
const TRIANGLE: &[&[usize]] = &[&[0, 1, 2]];
const TRIANGLE_EDGES: &[[usize; 3]] = &[[0, 1, 3], [1, 2, 4], [2, 0, 5]];
const QUAD: &[&[usize]] = &[&[0, 1, 2, 3]];
const QUAD_EDGES: &[[usize; 3]] = &[[0, 1, 4], [1, 2, 5], [2, 3, 6], [3, 0, 7]];

/// What is known of a kind by its name in input decks; none for others.
fn kind_of(name: &str) -> Option<Kind> {
    let solid = |vtk, n: usize, faces, edges| Kind {
        vtk,
        order: &IN_ORDER[..n],
        faces,
        edges,
    };
    Some(match name {
        "C3D4" => solid(10, 4, TET, TET_EDGES),
        "C3D10" | "C3D10T" | "C3D10M" => solid(24, 10, TET, TET_EDGES),
        "C3D6" => solid(13, 6, WEDGE, WEDGE_EDGES),
        "C3D15" => solid(26, 15, WEDGE, WEDGE_EDGES),
        _ if name.starts_with("C3D20") => solid(25, 20, HEX, HEX_EDGES),
        _ if name.starts_with("C3D8") => solid(12, 8, HEX, HEX_EDGES),
        "S3" | "S3R" => solid(5, 3, TRIANGLE, TRIANGLE_EDGES),
        "S6" => solid(22, 6, TRIANGLE, TRIANGLE_EDGES),
        "S4" | "S4R" => solid(9, 4, QUAD, QUAD_EDGES),
        "S8" | "S8R" => solid(23, 8, QUAD, QUAD_EDGES),
        "B31" | "B31R" | "T3D2" => solid(3, 2, &[], &[[0, 1, 2]]),
        // The middle node is the second of three, and the last one of VTK.
        "B32" | "B32R" | "T3D3" => Kind {
            vtk: 21,
            order: &[0, 2, 1],
            faces: &[],
            edges: &[[0, 2, 1]],
        },
        _ => return None,
    })
}

impl Picture {
    /// The mesh of a body; `shapes` are motions of its dofs, one column per component of the deformation.
    pub(super) fn new(body: &FeBody, shapes: &Mat<f64>) -> Self {
        let movers = Movers::new(body);
        let known = |block: &&ElementBlock| kind_of(&block.kind).is_some();
        let mut places: BTreeMap<u64, u32> = (body.mesh.elements.iter().filter(known))
            .flat_map(|block| block.nodes.iter().flatten())
            .filter(|node| movers.carries(**node))
            .map(|node| (*node, 0))
            .collect();
        if places.is_empty() {
            return Self::without_elements(body, shapes, &movers);
        }
        let mut points = Vec::with_capacity(places.len());
        for (i, (node, place)) in places.iter_mut().enumerate() {
            *place = i as u32;
            points.push(body.nodes[node].into());
        }
        let mut cells = Vec::new();
        let mut form = Form::default();
        for block in &body.mesh.elements {
            let Some(kind) = kind_of(&block.kind) else {
                continue;
            };
            for nodes in &block.nodes {
                let own: Option<Vec<u32>> = nodes.iter().map(|n| places.get(n).copied()).collect();
                // An element that was cut off, or hangs on nodes without dofs.
                let Some(own) = own.filter(|own| own.len() >= kind.order.len()) else {
                    continue;
                };
                form.add(&kind, &own);
                cells.push((kind.vtk, kind.order.iter().map(|k| own[*k]).collect()));
            }
        }
        let outline = form.outline(&points);
        Self {
            shapes: movers.displacements(places.keys().copied(), shapes),
            points,
            cells,
            outline,
        }
    }

    /// A box around the body, its corners carried by the nodes next to them.
    fn without_elements(body: &FeBody, shapes: &Mat<f64>, movers: &Movers<'_>) -> Self {
        let (low, high) = body.bounds();
        let corner =
            |k: usize| Vector3::from_fn(|c, _| if k >> c & 1 == 0 { low[c] } else { high[c] });
        let nearest = |at: Vector3<f64>| {
            let own = movers.places.keys().copied();
            own.min_by(|a, b| {
                let away = |n: &u64| (body.nodes[n] - at).norm_squared();
                away(a).total_cmp(&away(b))
            })
        };
        let nodes: Vec<u64> = (0..8).filter_map(|k| nearest(corner(k))).collect();
        if nodes.len() < 8 {
            return Self::default();
        }
        let rings = [
            [0, 1],
            [1, 3],
            [3, 2],
            [2, 0],
            [4, 5],
            [5, 7],
            [7, 6],
            [6, 4],
        ];
        let posts = [[0, 4], [1, 5], [2, 6], [3, 7]];
        Self {
            points: (0..8).map(|k| corner(k).into()).collect(),
            shapes: movers.displacements(nodes.into_iter(), shapes),
            cells: Vec::new(),
            outline: rings.into_iter().chain(posts).collect(),
        }
    }

    /// Number of components of the deformation.
    pub fn n_components(&self) -> usize {
        self.shapes
            .len()
            .checked_div(3 * self.points.len())
            .unwrap_or(0)
    }

    /// Displacement of a point for a deformation, axes of the mesh.
    pub fn displacement(&self, point: usize, deformation: &[f64]) -> Vector3<f64> {
        let n = self.n_components();
        let own = &self.shapes[3 * n * point..3 * n * (point + 1)];
        let mut out = Vector3::zeros();
        for (value, shape) in deformation.iter().zip(own.chunks_exact(3)) {
            for c in 0..3 {
                out[c] += value * f64::from(shape[c]);
            }
        }
        out
    }
}

/// Which dofs move a node.
struct Movers<'a> {
    body: &'a FeBody,
    places: BTreeMap<u64, [Option<usize>; 6]>,
    /// Nodes that a reference node of a rigid body carries.
    carried: HashMap<u64, u64>,
}

impl<'a> Movers<'a> {
    fn new(body: &'a FeBody) -> Self {
        let mut places: BTreeMap<u64, [Option<usize>; 6]> = BTreeMap::new();
        for (i, Dof { node, component }) in body.dofs.iter().enumerate() {
            places.entry(*node).or_default()[usize::from(*component) - 1] = Some(i);
        }
        let mut carried = HashMap::new();
        for tie in &body.mesh.ties {
            for node in body.mesh.sets.get(&tie.set).into_iter().flatten() {
                carried.insert(*node, tie.reference);
            }
        }
        Self {
            body,
            places,
            carried,
        }
    }

    fn carries(&self, node: u64) -> bool {
        let by_itself = |node: &u64| self.places.contains_key(node);
        self.body.nodes.contains_key(&node)
            && (by_itself(&node) || self.carried.get(&node).is_some_and(by_itself))
    }

    fn displacements(&self, nodes: impl Iterator<Item = u64>, shapes: &Mat<f64>) -> Vec<f32> {
        let mut out = Vec::new();
        for node in nodes {
            let by = if self.places.contains_key(&node) {
                node
            } else {
                self.carried.get(&node).copied().unwrap_or(node)
            };
            let places = self.places.get(&by).copied().unwrap_or_default();
            let arm = self.body.nodes[&node] - self.body.nodes[&by];
            for a in 0..shapes.ncols() {
                let value = |c: usize| places[c].map_or(0.0, |i| shapes[(i, a)]);
                let mut moved = Vector3::new(value(0), value(1), value(2));
                if by != node {
                    moved += Vector3::new(value(3), value(4), value(5)).cross(&arm);
                }
                out.extend(moved.iter().map(|v| *v as f32));
            }
        }
        out
    }
}

/// Faces on the surface and what lies on their edges.
#[derive(Default)]
struct Form {
    /// Faces by their sorted corners: the corners in order, and how many elements have it.
    faces: BTreeMap<Vec<u32>, (Vec<u32>, usize)>,
    /// The point between two corners.
    middles: HashMap<[u32; 2], u32>,
    /// Edges of elements without faces.
    wires: BTreeSet<[u32; 2]>,
}

fn pair(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Form {
    fn add(&mut self, kind: &Kind, own: &[u32]) {
        for face in kind.faces {
            let corners: Vec<u32> = face.iter().map(|k| own[*k]).collect();
            let mut key = corners.clone();
            key.sort_unstable();
            self.faces.entry(key).or_insert((corners, 0)).1 += 1;
        }
        for [a, b, middle] in kind.edges {
            let edge = pair(own[*a], own[*b]);
            if let Some(middle) = own.get(*middle) {
                self.middles.insert(edge, *middle);
            }
            if kind.faces.is_empty() {
                self.wires.insert(edge);
            }
        }
    }

    /// Edges where the surface bends or ends, in chains, thinned out where there are many.
    fn outline(&self, points: &[[f64; 3]]) -> Vec<[u32; 2]> {
        let mut sides: BTreeMap<[u32; 2], Vec<Vector3<f32>>> = BTreeMap::new();
        for (corners, _) in self.faces.values().filter(|(_, count)| *count == 1) {
            let at = |k: usize| Vector3::from(points[corners[k] as usize]);
            let last = corners.len() - 1;
            let normal = (at(1) - at(0)).cross(&(at(last) - at(0)));
            let unit = normal.try_normalize(0.0).unwrap_or_default();
            for (k, corner) in corners.iter().enumerate() {
                let next = corners[(k + 1) % corners.len()];
                let sides = sides.entry(pair(*corner, next)).or_default();
                sides.push(unit.cast::<f32>());
            }
        }
        let bends = |sides: &[Vector3<f32>]| match sides {
            [a, b] => a.dot(b).abs() < SMOOTH,
            _ => true,
        };
        let edges = (sides.iter()).filter(|(_, sides)| bends(sides));
        let mut edges: Vec<[u32; 2]> = edges.map(|(edge, _)| *edge).collect();
        edges.extend(&self.wires);
        let chains = chains(&edges);
        let total: usize = chains.iter().map(|chain| chain.len() - 1).sum();
        let middles = 2 * total <= MOST_LINES;
        let step = total.div_ceil(MOST_LINES).max(1);
        let mut out = Vec::new();
        for chain in chains {
            let closed = chain.first() == chain.last();
            // A ring keeps at least its triangle.
            let most = ((chain.len() - 1) / if closed { 3 } else { 1 }).max(1);
            let step = step.min(most);
            let mut kept: Vec<u32> = chain.iter().copied().step_by(step).collect();
            if (chain.len() - 1) % step != 0 {
                kept.extend(chain.last());
            }
            for ends in kept.windows(2) {
                match self
                    .middles
                    .get(&pair(ends[0], ends[1]))
                    .filter(|_| middles)
                {
                    Some(middle) => out.extend([[ends[0], *middle], [*middle, ends[1]]]),
                    None => out.push([ends[0], ends[1]]),
                }
            }
        }
        out
    }
}

/// Edges joined to lines that end where more or fewer than two meet.
fn chains(edges: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut at: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (e, [a, b]) in edges.iter().enumerate() {
        at.entry(*a).or_default().push(e);
        at.entry(*b).or_default().push(e);
    }
    let mut used = vec![false; edges.len()];
    let mut out = Vec::new();
    let mut walk = |from: u32, first: usize, used: &mut Vec<bool>| {
        let mut chain = vec![from];
        let (mut here, mut edge) = (from, first);
        loop {
            used[edge] = true;
            let [a, b] = edges[edge];
            here = if a == here { b } else { a };
            chain.push(here);
            let next = (at[&here].iter().copied()).find(|e| !used[*e]);
            match next {
                Some(next) if at[&here].len() == 2 => edge = next,
                _ => break,
            }
        }
        out.push(chain);
    };
    // From junctions and ends first; what is left are rings.
    for junctions in [true, false] {
        for (point, own) in &at {
            for edge in own {
                if !used[*edge] && (own.len() != 2) == junctions {
                    walk(*point, *edge, &mut used);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_joined_between_junctions() {
        // A square with a tail.
        let found = chains(&[[0, 1], [1, 2], [2, 3], [0, 3], [3, 4]]);
        let mut lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, [2, 5]);
        let ring = chains(&[[0, 1], [1, 2], [0, 2]]);
        assert_eq!(ring, [[0, 1, 2, 0]]);
    }

    #[test]
    fn a_hexahedron_shows_its_twelve_edges() {
        let points: Vec<[f64; 3]> = [
            [0, 0, 0],
            [1, 0, 0],
            [1, 1, 0],
            [0, 1, 0],
            [0, 0, 1],
            [1, 0, 1],
            [1, 1, 1],
            [0, 1, 1],
        ]
        .map(|p: [i32; 3]| p.map(f64::from))
        .to_vec();
        let mut form = Form::default();
        form.add(&kind_of("C3D8").expect("known"), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(form.outline(&points).len(), 12);
    }
}
