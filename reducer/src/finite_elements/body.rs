//! A body put together from its files, and what tells whether it was read as it was meant.

use super::Dof;
use super::error::{FeError, Place};
use super::mesh::{Mesh, RigidTie};
use super::read::{Content, FileMatrix};
use super::sparse::Symmetric;
use faer::Mat;
use nalgebra::{Matrix3, Matrix6, Vector3};
use std::collections::{BTreeMap, HashMap};

/// Force of a rigid motion, relative to its largest term, above which a body counts as constrained.
const CONSTRAINED: f64 = 1e-6;
/// Names of the rigid motions.
const MOTIONS: [&str; 6] = [
    "translation along x",
    "translation along y",
    "translation along z",
    "rotation about x",
    "rotation about y",
    "rotation about z",
];

/// Units of the files, in SI; forces follow, time is in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// Metres per unit of length.
    pub length: f64,
    /// Kilograms per unit of mass.
    pub mass: f64,
}

impl Default for Units {
    fn default() -> Self {
        Self {
            length: 1.0,
            mass: 1.0,
        }
    }
}

/// Mass, centre of mass and inertia about it, axes of the mesh.
#[derive(Debug, Clone, Copy)]
pub struct MassProperties {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass (m).
    pub center: Vector3<f64>,
    /// Inertia about the centre of mass (kg m²).
    pub inertia: Matrix3<f64>,
}

/// How far the stiffness is from leaving rigid motions alone.
#[derive(Debug, Clone, Copy)]
pub struct RigidResidual {
    /// Largest force of each of the six rigid motions, relative to its largest term.
    pub motions: [f64; 6],
}

impl RigidResidual {
    /// The largest.
    pub fn largest(&self) -> f64 {
        self.motions.iter().fold(0.0, |m, v| m.max(*v))
    }
}

/// A body of a finite-element program in SI units.
#[derive(Debug, Clone)]
pub struct FeBody {
    /// What the rows of the matrices are.
    pub dofs: Vec<Dof>,
    /// Coordinates by node (m).
    pub nodes: BTreeMap<u64, Vector3<f64>>,
    /// Mesh as read: elements and sets; coordinates in units of the file.
    pub mesh: Mesh,
    /// Entries that repeated a place of a matrix and were added.
    pub n_repeated: usize,
    pub(crate) stiffness: Symmetric,
    pub(crate) mass: Symmetric,
    stiffness_file: String,
    mass_file: String,
}

/// Which file was named for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The stiffness.
    Stiffness,
    /// The mass.
    Mass,
    /// Whatever it holds.
    Any,
}

impl FeBody {
    /// Puts together what files hold. `rotations` names nodes whose dofs 1 to 3 are rotations of
    /// another node, beside those of `*RIGID BODY`.
    pub fn new(
        contents: Vec<(Role, Content)>,
        rotations: &[(u64, u64)],
        units: Units,
    ) -> Result<Self, FeError> {
        let mut gathered = Gathered::default();
        for (role, content) in contents {
            gathered.add(role, content)?;
        }
        let mut relabel: HashMap<u64, u64> = rotations.iter().map(|(r, n)| (*r, *n)).collect();
        for RigidTie {
            reference,
            rotation,
            ..
        } in &gathered.mesh.ties
        {
            if let Some(rotation) = rotation {
                relabel.insert(*rotation, *reference);
            }
        }
        gathered.label()?;
        let [first, second] = <[FileMatrix; 2]>::try_from(std::mem::take(&mut gathered.matrices))
            .map_err(|found| FeError::Missing {
            what: if found.is_empty() || gathered.roles == [Role::Mass] {
                "stiffness"
            } else {
                "mass"
            },
        })?;
        let (stiffness, mass) = gathered.roles(first, second, &relabel)?;
        let (dofs, place_of) = table(&stiffness, &relabel)?;
        let nodes = gathered.coordinates(&dofs, units.length, &stiffness.labels)?;
        let body = Self {
            n_repeated: stiffness.lower.n_repeated + mass.lower.n_repeated,
            stiffness: scaled(&stiffness, &dofs, None, units),
            mass: {
                let (labels, _) = table(&mass, &relabel)?;
                let places = (labels.iter())
                    .map(|dof| {
                        place_of
                            .get(dof)
                            .copied()
                            .ok_or_else(|| FeError::UnknownDof {
                                place: whole_file(&mass.file),
                                dof: *dof,
                            })
                    })
                    .collect::<Result<Vec<u32>, _>>()?;
                scaled(&mass, &dofs, Some(&places), units)
            },
            stiffness_file: stiffness.file,
            mass_file: mass.file,
            mesh: gathered.mesh,
            dofs,
            nodes,
        };
        body.check()?;
        Ok(body)
    }

    fn check(&self) -> Result<(), FeError> {
        for (matrix, name, file) in [
            (&self.stiffness, "stiffness", &self.stiffness_file),
            (&self.mass, "mass", &self.mass_file),
        ] {
            let diagonal = matrix.diagonal();
            let wrong = |v: f64| if name == "mass" { v < 0.0 } else { v <= 0.0 };
            if let Some(i) = diagonal.iter().position(|v| wrong(*v)) {
                return Err(FeError::Indefinite {
                    place: whole_file(file),
                    matrix: name,
                    found: format!("{:e}", diagonal[i]),
                    dof: self.dofs[i],
                });
            }
        }
        let residual = self.rigid_residual();
        if let Some(k) = residual.motions.iter().position(|r| *r > CONSTRAINED) {
            return Err(FeError::Constrained {
                place: whole_file(&self.stiffness_file),
                motion: MOTIONS[k],
                residual: residual.motions[k],
            });
        }
        let mass = self.mass_properties().mass;
        if mass.is_nan() || mass <= 0.0 {
            let place = whole_file(&self.mass_file);
            return Err(FeError::NoMass { place, mass });
        }
        Ok(())
    }

    /// The six rigid motions about a point, one column each.
    pub(crate) fn rigid_motions(&self, about: &Vector3<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.dofs.len(), 6);
        for (i, dof) in self.dofs.iter().enumerate() {
            let c = usize::from(dof.component) - 1;
            if c >= 3 {
                out[(i, c)] = 1.0;
                continue;
            }
            out[(i, c)] = 1.0;
            let arm = self.nodes[&dof.node] - about;
            for k in 0..3 {
                out[(i, 3 + k)] = Vector3::ith(k, 1.0).cross(&arm)[c];
            }
        }
        out
    }

    /// Forces of rigid motions.
    pub fn rigid_residual(&self) -> RigidResidual {
        let (low, high) = self.bounds();
        let motions = self.rigid_motions(&((low + high) * 0.5));
        residual(&self.stiffness, &motions)
    }

    /// Mass, centre and inertia.
    pub fn mass_properties(&self) -> MassProperties {
        let motions = self.rigid_motions(&Vector3::zeros());
        let whole = motions.transpose() * self.mass.times(&motions);
        let whole = Matrix6::from_fn(|i, j| whole[(i, j)]);
        let mass = (whole[(0, 0)] + whole[(1, 1)] + whole[(2, 2)]) / 3.0;
        // The coupling block is −m·skew(c).
        let center = Vector3::new(whole[(1, 5)], whole[(2, 3)], whole[(0, 4)]) / mass;
        let shift = Matrix3::identity() * center.norm_squared() - center * center.transpose();
        let about_origin: Matrix3<f64> = whole.fixed_view::<3, 3>(3, 3).into_owned();
        MassProperties {
            mass,
            center,
            inertia: about_origin - shift * mass,
        }
    }

    /// Smallest box around all nodes that have dofs (m).
    pub fn bounds(&self) -> (Vector3<f64>, Vector3<f64>) {
        let mut all = self.dofs.iter().map(|dof| self.nodes[&dof.node]);
        let first = all.next().unwrap_or_else(Vector3::zeros);
        all.fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)))
    }

    /// Dofs without any mass.
    pub fn n_massless(&self) -> usize {
        self.mass.diagonal().iter().filter(|v| **v == 0.0).count()
    }

    /// Place of every dof in the matrices.
    pub(crate) fn places(&self) -> HashMap<Dof, u32> {
        (self.dofs.iter().enumerate())
            .map(|(i, dof)| (*dof, i as u32))
            .collect()
    }
}

/// Largest force of each motion relative to its largest term.
fn residual(matrix: &Symmetric, motions: &Mat<f64>) -> RigidResidual {
    let forces = matrix.times(motions);
    let mut out = RigidResidual { motions: [0.0; 6] };
    for (k, value) in out.motions.iter_mut().enumerate() {
        let motion = motions.col_as_slice(k);
        let largest = (matrix.entries.iter()).fold(0.0_f64, |m, &(row, column, v)| {
            let x = motion[row as usize]
                .abs()
                .max(motion[column as usize].abs());
            m.max(v.abs() * x)
        });
        let force = (forces.col_as_slice(k).iter()).fold(0.0_f64, |m, f| m.max(f.abs()));
        *value = if largest > 0.0 { force / largest } else { 0.0 };
    }
    out
}

fn whole_file(file: &str) -> Place {
    Place {
        file: file.to_owned(),
        line: 0,
    }
}

/// Labels of a matrix with rotations under their own node, and where each is.
fn table(
    matrix: &FileMatrix,
    relabel: &HashMap<u64, u64>,
) -> Result<(Vec<Dof>, HashMap<Dof, u32>), FeError> {
    let dofs: Vec<Dof> = (matrix.dofs.iter().flatten())
        .map(|dof| match relabel.get(&dof.node) {
            Some(node) if dof.component <= 3 => Dof {
                node: *node,
                component: dof.component + 3,
            },
            _ => *dof,
        })
        .collect();
    let mut places = HashMap::with_capacity(dofs.len());
    for (i, dof) in dofs.iter().enumerate() {
        if places.insert(*dof, i as u32).is_some() {
            return Err(FeError::DuplicateDof {
                place: whole_file(&matrix.labels),
                dof: *dof,
            });
        }
    }
    Ok((dofs, places))
}

/// The matrix in SI units over the dofs of the body.
fn scaled(matrix: &FileMatrix, dofs: &[Dof], places: Option<&[u32]>, units: Units) -> Symmetric {
    let place = |i: u32| places.map_or(i, |places| places[i as usize]);
    let factor = |i: u32| {
        if dofs[i as usize].component > 3 {
            units.length
        } else {
            1.0
        }
    };
    let entries = (matrix.lower.entries.iter())
        .filter(|(.., value)| *value != 0.0)
        .map(|&(row, column, value)| {
            let (i, j) = (place(row), place(column));
            (i, j, value * units.mass * factor(i) * factor(j))
        })
        .collect();
    Symmetric::from_entries(dofs.len(), entries)
}

/// Parts of all files.
#[derive(Default)]
struct Gathered {
    matrices: Vec<FileMatrix>,
    roles: Vec<Role>,
    dofs: Option<Vec<Dof>>,
    dofs_file: Option<String>,
    mesh: Mesh,
}

impl Gathered {
    fn add(&mut self, role: Role, content: Content) -> Result<(), FeError> {
        let place = whole_file(&content.file);
        for matrix in content.matrices {
            let by_name = match matrix.name.as_deref() {
                Some(name) if name.starts_with("K4") || name.starts_with('B') => continue,
                Some(name) if name.starts_with('K') => Role::Stiffness,
                Some(name) if name.starts_with('M') => Role::Mass,
                Some(_) => continue,
                None => role,
            };
            if self.matrices.len() == 2 || (by_name != Role::Any && self.roles.contains(&by_name)) {
                let what = "a stiffness or mass";
                return Err(FeError::Twice { place, what });
            }
            self.roles.push(by_name);
            self.matrices.push(matrix);
        }
        if content.dofs.is_some() {
            if self.dofs.is_some() {
                let what = "a table of dofs";
                return Err(FeError::Twice { place, what });
            }
            self.dofs = content.dofs;
            self.dofs_file = Some(content.file);
        }
        if let Some(mesh) = content.mesh {
            for (node, at) in mesh.nodes {
                self.mesh.add_node(node, at, place.clone())?;
            }
            self.mesh.elements.extend(mesh.elements);
            self.mesh.sets.extend(mesh.sets);
            self.mesh.ties.extend(mesh.ties);
        }
        Ok(())
    }

    /// Gives numbered equations their labels.
    fn label(&mut self) -> Result<(), FeError> {
        for (matrix, role) in self.matrices.iter_mut().zip(&self.roles) {
            if matrix.dofs.is_some() {
                continue;
            }
            let dofs = match &self.dofs {
                Some(dofs) => dofs.clone(),
                None => {
                    // Every node with three or with six dofs, in the order of nodes.
                    let per_node = (matrix.n).checked_div(self.mesh.nodes.len()).unwrap_or(0);
                    if !matches!(per_node, 3 | 6) || per_node * self.mesh.nodes.len() != matrix.n {
                        return Err(FeError::Missing {
                            what: "table of dofs",
                        });
                    }
                    (self.mesh.nodes.keys())
                        .flat_map(|node| {
                            (1..=per_node as u8).map(|component| Dof {
                                node: *node,
                                component,
                            })
                        })
                        .collect()
                }
            };
            // Trailing equations without mass may be missing from a file without header.
            let short = *role != Role::Stiffness && matrix.n < dofs.len();
            if matrix.n != dofs.len() && !short {
                return Err(FeError::Size {
                    place: whole_file(&matrix.file),
                    matrix: "matrix",
                    expected: dofs.len(),
                    found: matrix.n,
                });
            }
            matrix.dofs = Some(dofs);
            matrix.labels = match &self.dofs_file {
                Some(file) => file.clone(),
                None => matrix.file.clone(),
            };
        }
        Ok(())
    }

    /// Which matrix is the stiffness: as named, else the one that leaves rigid motions alone.
    fn roles(
        &self,
        first: FileMatrix,
        second: FileMatrix,
        relabel: &HashMap<u64, u64>,
    ) -> Result<(FileMatrix, FileMatrix), FeError> {
        let swap = match (self.roles[0], self.roles[1]) {
            (Role::Stiffness, _) | (_, Role::Mass) => false,
            (Role::Mass, _) | (_, Role::Stiffness) => true,
            (Role::Any, Role::Any) => {
                let push = |matrix: &FileMatrix| -> Result<f64, FeError> {
                    let (dofs, _) = table(matrix, relabel)?;
                    let symmetric = scaled(matrix, &dofs, None, Units::default());
                    // Translations alone: they need no coordinates.
                    let motions = Mat::from_fn(dofs.len(), 6, |i, k| {
                        f64::from(u8::from(usize::from(dofs[i].component) == k + 1 && k < 3))
                    });
                    Ok(residual(&symmetric, &motions).largest())
                };
                push(&first)? > push(&second)?
            }
        };
        Ok(if swap {
            (second, first)
        } else {
            (first, second)
        })
    }

    fn coordinates(
        &self,
        dofs: &[Dof],
        length: f64,
        file: &str,
    ) -> Result<BTreeMap<u64, Vector3<f64>>, FeError> {
        if self.mesh.nodes.is_empty() {
            return Err(FeError::Missing { what: "nodes" });
        }
        if let Some(dof) = dofs
            .iter()
            .find(|dof| !self.mesh.nodes.contains_key(&dof.node))
        {
            return Err(FeError::NoCoordinates {
                place: whole_file(file),
                node: dof.node,
            });
        }
        Ok((self.mesh.nodes.iter())
            .map(|(node, at)| (*node, Vector3::from(*at) * length))
            .collect())
    }
}
