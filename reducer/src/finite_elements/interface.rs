//! Interface frames: six dofs each, either given by the finite-element program or tied to nodes here.

use super::Dof;
use super::body::FeBody;
use super::error::FeError;
use super::sparse::Symmetric;
use crate::lie::skew;
use faer::Mat;
use nalgebra::{DMatrix, Matrix3, Vector3};
use std::collections::HashMap;

/// Most nodes of an averaging interface: six of their dofs are tied to all others.
const MAX_AVERAGED: usize = 400;
/// Most nodes with which a frame at a single node turns.
const MAX_AROUND: usize = 60;

/// How a set of nodes carries a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coupling {
    /// The nodes move with the frame.
    Rigid,
    /// The frame follows the mean of the nodes, which may deform.
    Average,
}

/// What an interface frame is tied to.
#[derive(Debug, Clone)]
pub enum Tie {
    /// A node with six dofs.
    Reference {
        /// The node.
        node: u64,
    },
    /// A set of nodes.
    Nodes {
        /// The nodes.
        nodes: Vec<u64>,
        /// How they carry the frame.
        coupling: Coupling,
        /// Where the frame is, axes of the mesh (m); default: the mean of the nodes.
        at: Option<Vector3<f64>>,
    },
    /// One node: the frame moves with it and turns with the nodes around it, which stay as free as they were.
    Node {
        /// The node.
        node: u64,
    },
}

/// An interface frame of a body, along the axes of the mesh.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What it is tied to.
    pub tie: Tie,
}

/// The body over dofs among which the interface frames are.
pub(super) struct Tied {
    pub stiffness: Symmetric,
    pub mass: Symmetric,
    /// Dofs of every interface.
    pub interfaces: Vec<[u32; 6]>,
    pub positions: Vec<Vector3<f64>>,
    /// Every dof of the body as a sum of tied ones.
    pub map: Vec<Vec<(u32, f64)>>,
    /// Rigid motions about the origin.
    pub motions: Mat<f64>,
}

impl FeBody {
    /// The interfaces that the files tell of: reference nodes of rigid bodies, else nodes with six
    /// dofs among others with three.
    pub fn interfaces(&self) -> Vec<Interface> {
        let ties = self.mesh.ties.iter().map(|tie| Interface {
            name: tie.set.to_ascii_lowercase(),
            tie: Tie::Reference {
                node: tie.reference,
            },
        });
        let ties: Vec<Interface> = ties.collect();
        if !ties.is_empty() {
            return ties;
        }
        let mut turning: Vec<u64> = (self.dofs.iter())
            .filter(|dof| dof.component == 4)
            .map(|dof| dof.node)
            .collect();
        turning.sort_unstable();
        turning.dedup();
        let all: std::collections::BTreeSet<u64> = self.dofs.iter().map(|dof| dof.node).collect();
        if turning.len() * 2 > all.len() {
            // A mesh of shells or beams: nothing tells which nodes are meant.
            return Vec::new();
        }
        (turning.into_iter())
            .map(|node| Interface {
                name: format!("node{node}"),
                tie: Tie::Reference { node },
            })
            .collect()
    }

    /// Ties interface frames to the body.
    pub(super) fn tied(&self, interfaces: &[Interface]) -> Result<Tied, FeError> {
        let mut builder = Builder {
            body: self,
            places: self.places(),
            map: (0..self.dofs.len() as u32)
                .map(|i| vec![(i, 1.0)])
                .collect(),
            taken: vec![None; self.dofs.len()],
            n: self.dofs.len() as u32,
        };
        let mut dofs = vec![[0; 6]; interfaces.len()];
        let mut positions = vec![Vector3::zeros(); interfaces.len()];
        // Single nodes last: they take what others leave of their surroundings.
        for last in [false, true] {
            for (i, interface) in interfaces.iter().enumerate() {
                if matches!(interface.tie, Tie::Node { .. }) == last {
                    (dofs[i], positions[i]) = builder.tie(i, interface, interfaces)?;
                }
            }
        }
        Ok(builder.finish(dofs, positions))
    }
}

struct Builder<'a> {
    body: &'a FeBody,
    places: HashMap<Dof, u32>,
    map: Vec<Vec<(u32, f64)>>,
    /// The interface that uses a dof.
    taken: Vec<Option<usize>>,
    n: u32,
}

impl Builder<'_> {
    fn fault<T>(&self, interface: &Interface, what: String) -> Result<T, FeError> {
        Err(FeError::Interface {
            interface: interface.name.clone(),
            what,
        })
    }

    fn take(&mut self, place: u32, i: usize, all: &[Interface]) -> Result<(), FeError> {
        match self.taken[place as usize].replace(i) {
            None => Ok(()),
            Some(other) => {
                let dof = self.body.dofs[place as usize];
                let what = format!("{dof} belongs to interface `{}` already", all[other].name);
                self.fault(&all[i], what)
            }
        }
    }

    fn tie(
        &mut self,
        i: usize,
        interface: &Interface,
        all: &[Interface],
    ) -> Result<([u32; 6], Vector3<f64>), FeError> {
        match &interface.tie {
            Tie::Node { node } if !self.turns(*node) => self.single(i, interface, all, *node),
            Tie::Reference { node } | Tie::Node { node } => {
                let mut own = [0; 6];
                for (c, own) in own.iter_mut().enumerate() {
                    let dof = Dof {
                        node: *node,
                        component: c as u8 + 1,
                    };
                    match self.places.get(&dof) {
                        Some(place) => *own = *place,
                        None => return self.fault(interface, format!("there is no {dof}")),
                    }
                    self.take(*own, i, all)?;
                }
                Ok((own, self.body.nodes[node]))
            }
            Tie::Nodes {
                nodes,
                coupling,
                at,
            } => {
                let own: [u32; 6] = std::array::from_fn(|c| self.n + c as u32);
                self.n += 6;
                let members = self.members(interface, nodes)?;
                let center =
                    members.iter().map(|(_, p)| p).sum::<Vector3<f64>>() / members.len() as f64;
                let at = at.unwrap_or(center);
                match coupling {
                    Coupling::Rigid => self.rigid(i, all, &members, &at, &own)?,
                    Coupling::Average => self.average(i, all, &members, &at, &own)?,
                }
                Ok((own, at))
            }
        }
    }

    /// Nodes of a set that have dofs, with their places.
    fn members(
        &self,
        interface: &Interface,
        nodes: &[u64],
    ) -> Result<Vec<(u64, Vector3<f64>)>, FeError> {
        let mut out: Vec<(u64, Vector3<f64>)> = Vec::new();
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let whole = (1..=3).all(|component| self.places.contains_key(&Dof { node, component }));
            match self.body.nodes.get(&node) {
                Some(at) if whole => out.push((node, *at)),
                _ => {
                    return self
                        .fault(interface, format!("node {node} has no three displacements"));
                }
            }
        }
        let spread = out
            .iter()
            .fold(Matrix3::zeros(), |m: Matrix3<f64>, (_, p)| {
                let arm = p - out[0].1;
                m + arm * arm.transpose()
            });
        let mut values: Vec<f64> = spread.symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(f64::total_cmp);
        if out.len() < 3 || values[1] <= 1e-12 * values[2] {
            let what = "its nodes lie on a line: they cannot carry rotations".to_owned();
            return self.fault(interface, what);
        }
        Ok(out)
    }

    fn rigid(
        &mut self,
        i: usize,
        all: &[Interface],
        members: &[(u64, Vector3<f64>)],
        at: &Vector3<f64>,
        own: &[u32; 6],
    ) -> Result<(), FeError> {
        for (node, place) in members {
            // u = d + φ×r.
            let turn = -skew(&(place - at));
            for component in 1..=6u8 {
                let Some(&place) = self.places.get(&Dof {
                    node: *node,
                    component,
                }) else {
                    continue;
                };
                self.take(place, i, all)?;
                let c = usize::from(component) - 1;
                self.map[place as usize] = if c < 3 {
                    let mut row = vec![(own[c], 1.0)];
                    row.extend(
                        (0..3)
                            .map(|k| (own[3 + k], turn[(c, k)]))
                            .filter(|t| t.1 != 0.0),
                    );
                    row
                } else {
                    vec![(own[c], 1.0)]
                };
            }
        }
        Ok(())
    }

    fn average(
        &mut self,
        i: usize,
        all: &[Interface],
        members: &[(u64, Vector3<f64>)],
        at: &Vector3<f64>,
        own: &[u32; 6],
    ) -> Result<(), FeError> {
        if members.len() > MAX_AVERAGED {
            let what = format!("{} nodes, {MAX_AVERAGED} can be averaged", members.len());
            return self.fault(&all[i], what);
        }
        let weights = vec![1.0 / members.len() as f64; members.len()];
        self.follow(i, all, members, at, own, &weights)
    }

    /// Whether a node has rotations of its own.
    fn turns(&self, node: u64) -> bool {
        (4..=6).all(|component| self.places.contains_key(&Dof { node, component }))
    }

    fn single(
        &mut self,
        i: usize,
        interface: &Interface,
        all: &[Interface],
        node: u64,
    ) -> Result<([u32; 6], Vector3<f64>), FeError> {
        let around = self.around(node);
        let members = self.members(interface, &around)?;
        let Some(at) = members.iter().position(|(own, _)| *own == node) else {
            return self.fault(interface, format!("node {node} has no three displacements"));
        };
        let own: [u32; 6] = std::array::from_fn(|c| self.n + c as u32);
        self.n += 6;
        let mut weights = vec![0.0; members.len()];
        weights[at] = 1.0;
        let center = members[at].1;
        self.follow(i, all, &members, &center, &own, &weights)?;
        Ok((own, center))
    }

    /// A node and the nearest of those that the stiffness connects with it, as far as no other interface has them.
    fn around(&self, node: u64) -> Vec<u64> {
        let body = self.body;
        let mut found = vec![node];
        for &(row, column, _) in &body.stiffness.entries {
            let (a, b) = (
                body.dofs[row as usize].node,
                body.dofs[column as usize].node,
            );
            if a == node {
                found.push(b);
            } else if b == node {
                found.push(a);
            }
        }
        found.sort_unstable();
        found.dedup();
        let free = |other: &u64| {
            (1..=3).all(|component| {
                let node = *other;
                let place = self.places.get(&Dof { node, component });
                place.is_some_and(|place| self.taken[*place as usize].is_none())
            })
        };
        found.retain(|other| *other == node || free(other));
        if let Some(at) = body.nodes.get(&node) {
            let away = |n: &u64| (body.nodes[n] - at).norm_squared();
            found.sort_by(|a, b| away(a).total_cmp(&away(b)).then(a.cmp(b)));
        }
        found.truncate(MAX_AROUND);
        found
    }

    /// Motion Σ w·u of the weighted middle of nodes, φ = J⁻¹Σ r×(u − Σ w·u) with arms from there, and so that of a
    /// frame at any place: six of the nodes' dofs follow from the frame and the others.
    fn follow(
        &mut self,
        i: usize,
        all: &[Interface],
        members: &[(u64, Vector3<f64>)],
        frame_at: &Vector3<f64>,
        own: &[u32; 6],
        weights: &[f64],
    ) -> Result<(), FeError> {
        let n = members.len();
        let weighted = members.iter().zip(weights);
        let center: Vector3<f64> = weighted.map(|((_, at), weight)| at * *weight).sum();
        let mut inertia = Matrix3::zeros();
        for (_, at) in members {
            let arm = skew(&(at - center));
            inertia -= arm * arm;
        }
        let inverse = inertia.try_inverse().unwrap_or_else(Matrix3::zeros);
        let size = (inertia.trace() / n as f64).sqrt();
        // Zero about the mean.
        let arms = members
            .iter()
            .map(|(_, at)| at - center)
            .sum::<Vector3<f64>>();
        let mut w = DMatrix::zeros(6, 3 * n);
        let mut places = Vec::with_capacity(3 * n);
        for (k, (node, at)) in members.iter().enumerate() {
            let turn = inverse * skew(&(at - center - arms * weights[k])) * size;
            for c in 0..3 {
                w[(c, 3 * k + c)] = weights[k];
                for r in 0..3 {
                    w[(3 + r, 3 * k + c)] = turn[(r, c)];
                }
                let component = c as u8 + 1;
                let place = self.places[&Dof {
                    node: *node,
                    component,
                }];
                self.take(place, i, all)?;
                places.push(place);
            }
        }
        let carried = skew(&(frame_at - center)) * w.fixed_rows::<3>(3) / size;
        let mut shift = w.fixed_rows_mut::<3>(0);
        shift -= carried;
        let pivots = crate::linalg::independent_rows(&w.transpose(), 1e-6);
        let Some(inverse) = (pivots.len() == 6)
            .then(|| w.select_columns(&pivots).try_inverse())
            .flatten()
        else {
            return self.fault(&all[i], "its nodes cannot carry rotations".to_owned());
        };
        let others = &inverse * &w;
        for (row, pivot) in pivots.iter().enumerate() {
            let mut sum: Vec<(u32, f64)> = (0..6)
                .map(|c| (own[c], inverse[(row, c)] * if c < 3 { 1.0 } else { size }))
                .collect();
            sum.extend(
                (0..3 * n)
                    .filter(|column| !pivots.contains(column))
                    .map(|column| (places[column], -others[(row, column)])),
            );
            self.map[places[*pivot] as usize] = sum;
        }
        Ok(())
    }

    /// Numbers the dofs that are left.
    fn finish(self, interfaces: Vec<[u32; 6]>, positions: Vec<Vector3<f64>>) -> Tied {
        let mut used = vec![false; self.n as usize];
        for (dof, _) in self.map.iter().flatten() {
            used[*dof as usize] = true;
        }
        for dof in interfaces.iter().flatten() {
            used[*dof as usize] = true;
        }
        let mut number = vec![0; used.len()];
        let mut n = 0;
        for (number, used) in number.iter_mut().zip(&used) {
            *number = n;
            n += u32::from(*used);
        }
        let map: Vec<Vec<(u32, f64)>> = (self.map.iter())
            .map(|row| {
                row.iter()
                    .map(|(dof, v)| (number[*dof as usize], *v))
                    .collect()
            })
            .collect();
        let interfaces: Vec<[u32; 6]> = (interfaces.iter())
            .map(|own| own.map(|dof| number[dof as usize]))
            .collect();
        let of_body = self.body.rigid_motions(&Vector3::zeros());
        let mut motions = Mat::zeros(n as usize, 6);
        for (i, row) in map.iter().enumerate() {
            if let &[(dof, 1.0)] = row.as_slice() {
                for k in 0..6 {
                    motions[(dof as usize, k)] = of_body[(i, k)];
                }
            }
        }
        for (own, at) in interfaces.iter().zip(&positions) {
            let turn = -skew(at);
            for c in 0..3 {
                for k in 0..3 {
                    motions[(own[c] as usize, k)] = f64::from(u8::from(c == k));
                    motions[(own[c] as usize, 3 + k)] = turn[(c, k)];
                    motions[(own[3 + c] as usize, k)] = 0.0;
                    motions[(own[3 + c] as usize, 3 + k)] = f64::from(u8::from(c == k));
                }
            }
        }
        let n = n as usize;
        Tied {
            stiffness: self.body.stiffness.carried(&map, n),
            mass: self.body.mass.carried(&map, n),
            interfaces,
            positions,
            map,
            motions,
        }
    }
}
