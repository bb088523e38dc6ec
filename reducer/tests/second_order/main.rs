//! Second order in the deformation: identities of its quantities, and the energies of the full model
//! on the manifold that they belong to.

mod auto;
mod energies;
mod loaded;
mod loops;
mod machines;
mod payload;
mod spin;
mod stiffened;
mod stored;
mod support;
