//! Local modes for people: what each one is, and its shape in inertial axes.

use super::{LocalReducer, ReductionError};
use crate::description::mechanism::Stiffening;
use crate::lie::{Vector6, linear};
use crate::model::Pictured;
use crate::modes::{kinetic_shares, strain_shares};

/// What a mode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeKind {
    /// Motion of an actuated coordinate without deformation.
    Rigid,
    /// Static shape of a loaded dof.
    Loaded,
    /// Vibration with actuators and loaded dofs fixed.
    Internal,
}

/// One local mode.
#[derive(Debug, Clone)]
pub struct ModePortrait {
    /// Its kind.
    pub kind: ModeKind,
    /// √(K̄_ii/M̄_ii)/2π; none for a rigid mode.
    pub frequency_hz: Option<f64>,
    /// Index of the body and its share of the energy (strain; kinetic for rigid modes), largest
    /// first, shares of at least 1 %.
    pub bodies: Vec<(usize, f64)>,
    /// Index of the coordinate and its actuator's share of the strain energy.
    pub actuators: Vec<(usize, f64)>,
    /// Modal assurance criterion against the reference shape; internal modes only.
    pub mac: Option<f64>,
    /// Displacement of every node and point, inertial axes.
    pub displacement: Vec<[f64; 3]>,
}

/// All local modes at one configuration, with the mesh they live on.
#[derive(Debug, Clone)]
pub struct Portrait {
    /// Node positions, undeformed, then points of the meshes of finite-element bodies.
    pub nodes: Vec<[f64; 3]>,
    /// Pairs of nodes: beam elements, and lines from rigid bodies to what they carry.
    pub lines: Vec<[usize; 2]>,
    /// Elements of finite-element bodies: number by which VTK knows the kind, and points.
    pub cells: Vec<(u8, Vec<usize>)>,
    /// The modes in the order of the generalised coordinates.
    pub modes: Vec<ModePortrait>,
    /// Frequencies of the internal modes together, ascending (Hz).
    pub internal_hz: Vec<f64>,
}

impl LocalReducer {
    /// Describes all local modes at θ.
    pub fn portrait(&self, theta: &[f64]) -> Result<Portrait, ReductionError> {
        let configuration = self.kinematics().solve(theta)?;
        let at = self.linearise(&configuration)?;
        let modes = self.modes(&at)?;
        // Natural modes know no loads.
        let coefficients = self.evaluate_with(theta, Stiffening::None)?;
        let (n, s) = (self.n(), self.n_rigid());
        let first_internal = s + self.n_loaded();
        let overlap = self.reference().mass_shapes.transpose() * &modes.shapes;
        let meshes = self.model().pictured();
        let portraits = (0..n)
            .map(|j| {
                let shares = if j < s {
                    kinetic_shares(&at, &modes.shapes, j)
                } else {
                    strain_shares(&at, &modes.shapes, j)
                };
                let drives = self.model().drives.iter().enumerate();
                ModePortrait {
                    kind: if j < s {
                        ModeKind::Rigid
                    } else if j < first_internal {
                        ModeKind::Loaded
                    } else {
                        ModeKind::Internal
                    },
                    frequency_hz: (j >= s).then(|| {
                        let ratio =
                            coefficients.stiffness[j * n + j] / coefficients.mass[j * n + j];
                        ratio.max(0.0).sqrt() / (2.0 * std::f64::consts::PI)
                    }),
                    bodies: largest_first(shares.bodies.iter().copied().enumerate()),
                    actuators: largest_first(
                        drives.filter_map(|(k, d)| Some((k, shares.actuators[d.scalar?]))),
                    ),
                    mac: (j >= first_internal).then(|| overlap[(j - first_internal, j)].powi(2)),
                    displacement: at
                        .frames
                        .iter()
                        .enumerate()
                        .map(|(node, frame)| {
                            let v = Vector6::from_fn(|i, _| modes.shapes[(6 * node + i, j)]);
                            (frame.rotation * linear(&v)).into()
                        })
                        .chain(meshes.iter().flat_map(|mesh| {
                            let turn = at.frames[mesh.first_node()].rotation;
                            let motion = mesh.motion(modes.shapes.col_as_slice(j));
                            (0..mesh.n_points()).map(move |p| (turn * motion.of(p)).into())
                        }))
                        .collect(),
                }
            })
            .collect();
        Ok(Portrait {
            cells: cells(&meshes, at.frames.len()),
            nodes: (at.frames.iter().map(|f| f.position.into()))
                .chain(meshes.iter().flat_map(|mesh| {
                    let first = &at.frames[mesh.first_node()];
                    (0..mesh.n_points()).map(|p| mesh.place(p, first).into())
                }))
                .collect(),
            lines: self.lines(),
            modes: portraits,
            internal_hz: self
                .internal_frequencies_hz(&coefficients)
                .unwrap_or_default(),
        })
    }

    /// Elements, and joints between nodes that do not coincide.
    fn lines(&self) -> Vec<[usize; 2]> {
        let model = self.model();
        let elements = model.element_lines().into_iter();
        let joints = model
            .joints
            .iter()
            .filter_map(|j| Some([j.a.node?, j.b.node?]));
        elements.chain(joints).collect()
    }
}

/// Elements of meshes whose points are numbered one after another, from `first` on.
fn cells(meshes: &[Pictured<'_>], mut first: usize) -> Vec<(u8, Vec<usize>)> {
    let mut out = Vec::new();
    for mesh in meshes {
        let own = mesh.cells().iter();
        out.extend(
            own.map(|(kind, points)| (*kind, points.iter().map(|p| first + *p as usize).collect())),
        );
        first += mesh.n_points();
    }
    out
}

fn largest_first(shares: impl Iterator<Item = (usize, f64)>) -> Vec<(usize, f64)> {
    let mut out: Vec<(usize, f64)> = shares.filter(|(_, share)| *share >= 0.01).collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1));
    out
}
