//! What can be wrong with the files of a body.

use super::Dof;
use crate::error::{Explain, Origin};
use thiserror::Error;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as it was given.
    pub file: String,
    /// Line, from 1; 0: the file as a whole.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// Faults of a body from a finite-element program.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs)]
pub enum FeError {
    #[error("{place}: cannot tell what this file holds")]
    UnknownContent { place: Place },
    #[error("{place}: expected {expected}, found `{found}`")]
    Expected {
        place: Place,
        expected: &'static str,
        found: String,
    },
    #[error("{place}: `{found}` is not a finite number")]
    NotFinite { place: Place, found: String },
    #[error("{place}: the file ends after {found} of {expected} entries")]
    Truncated {
        place: Place,
        expected: usize,
        found: usize,
    },
    #[error("{place}: {what} exceeds the limit of {limit}")]
    Limit {
        place: Place,
        what: &'static str,
        limit: usize,
    },
    #[error("{place}: entry ({row}, {column}) is {value:e}, its mirror image is {mirror:e}")]
    Unsymmetric {
        place: Place,
        row: usize,
        column: usize,
        value: f64,
        mirror: f64,
    },
    #[error("{place}: the {matrix} has {found} on its diagonal at {dof}")]
    Indefinite {
        place: Place,
        matrix: &'static str,
        found: String,
        dof: Dof,
    },
    #[error("no file holds the {what}")]
    Missing { what: &'static str },
    #[error("{place}: a second file with {what}")]
    Twice { place: Place, what: &'static str },
    #[error("{place}: the {matrix} has {found} equations, the table of dofs has {expected}")]
    Size {
        place: Place,
        matrix: &'static str,
        expected: usize,
        found: usize,
    },
    #[error("{place}: {dof} is listed twice")]
    DuplicateDof { place: Place, dof: Dof },
    #[error("{place}: {dof} appears in the mass, not in the stiffness")]
    UnknownDof { place: Place, dof: Dof },
    #[error("{place}: node {node} has dofs but no coordinates")]
    NoCoordinates { place: Place, node: u64 },
    #[error("{place}: node {node} is given twice, at different places")]
    MovedNode { place: Place, node: u64 },
    #[error(
        "{place}: the stiffness resists {motion}: the largest force is {residual:.1e} of its largest term"
    )]
    Constrained {
        place: Place,
        motion: &'static str,
        residual: f64,
    },
    #[error("{place}: the body has no mass that moves with it ({mass:e} kg)")]
    NoMass { place: Place, mass: f64 },
    #[error("interface `{interface}`: {what}")]
    Interface { interface: String, what: String },
    #[error("with all interfaces held something of the body can still move")]
    Loose,
    #[error("more than {limit} modes of the held body lie below {up_to_hz} Hz")]
    ManyModes { limit: usize, up_to_hz: f64 },
    #[error("the eigenvalue problem of the body with held interfaces failed")]
    Eigenproblem,
}

impl Explain for FeError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(self.advice())
    }
}

impl FeError {
    /// One thing to try.
    pub fn advice(&self) -> String {
        match self {
            Self::UnknownContent { .. } => "give matrices of CalculiX, Abaqus, MatrixMarket or Nastran (DMIG), a table of dofs, or nodes as *NODE, GRID or `node, x, y, z`".into(),
            Self::Expected { .. } | Self::NotFinite { .. } => "write the file again, or remove the line if it does not belong there".into(),
            Self::Truncated { .. } => "write the file again: the export was cut off".into(),
            Self::Limit { .. } => "export a coarser mesh, or condense the body in the finite-element program first".into(),
            Self::Unsymmetric { .. } => "export a linear elastic model without contact, follower loads or gyroscopic terms; give one triangle or both in full".into(),
            Self::Indefinite { matrix: "mass", .. } => "use elements with a positive mass (C3D10 or C3D20 instead of C3D20R, none of C3D8I)".into(),
            Self::Indefinite { .. } => "export the stiffness of the unloaded structure".into(),
            Self::Missing { what } => match *what {
                "table of dofs" => "give the `.dof` file, or a table `row node dof`".into(),
                "nodes" => "give the file with the coordinates: `.inp`, `.bdf`, or `node, x, y, z`".into(),
                _ => "give stiffness and mass; a DMIG file may hold both".into(),
            },
            Self::Twice { .. } => "give every part once".into(),
            Self::Size { .. } => "take matrices and table of dofs of the same export".into(),
            Self::DuplicateDof { .. } => "shells S8R of CalculiX repeat labels: use solids, or S6 and S3; otherwise mend the table".into(),
            Self::UnknownDof { .. } => "take stiffness and mass of the same export".into(),
            Self::NoCoordinates { .. } => "give a file with its coordinates, or name it as `rotation` of an interface; hidden nodes of C3D8I have none: use C3D10 or C3D20".into(),
            Self::MovedNode { .. } => "give one file with the coordinates of the exported mesh".into(),
            Self::Constrained { .. } => "remove supports and *BOUNDARY from the exported model; check that coordinates and matrices have the same unit of length, and that rotations of reference nodes are named".into(),
            Self::NoMass { .. } => "give the material a density, and check `units`".into(),
            Self::Interface { .. } => "name nodes of the exported mesh; a reference node has six dofs, or three and a rotation node".into(),
            Self::Loose => "join all parts of the mesh; a single interface with three dofs cannot hold a body".into(),
            Self::ManyModes { .. } => "lower `up_to`, or give `modes` instead".into(),
            Self::Eigenproblem => "check the mass: negative entries make it indefinite".into(),
        }
    }
}
