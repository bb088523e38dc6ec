//! Bodies from finite-element programs: stiffness and mass of a mesh, read from the text formats
//! that these programs write, checked, and condensed to interface frames and a few modes.
//!
//! `read` tells files by their content, `body` puts them together and judges them, `interface` ties
//! frames to nodes, `condense` is the method of Craig and Bampton.

mod body;
mod condense;
mod error;
mod interface;
mod mesh;
mod nastran;
mod picture;
mod read;
mod sparse;
mod stored;
mod superelement;
mod triplets;

pub use body::{FeBody, MassProperties, RigidResidual, Role, Units};
pub use condense::{Condensed, Modes};
pub use error::{FeError, Place};
pub use interface::{Coupling, Interface, Tie};
pub use mesh::{ElementBlock, Mesh, RigidTie};
pub use picture::Picture;
pub use read::{Content, FileMatrix, MAX_BYTES, SourceFile, read};
pub use stored::BodyStore;
pub use superelement::Superelement;

/// One degree of freedom: component 1 to 3 is a displacement along x, y, z, component 4 to 6 a
/// rotation about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dof {
    /// Number of the node in its file.
    pub node: u64,
    /// 1 to 6.
    pub component: u8,
}

impl std::fmt::Display for Dof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "dof {} of node {}", self.component, self.node)
    }
}
