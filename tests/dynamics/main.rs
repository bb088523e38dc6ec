//! Motion in time: order of convergence, energy, constraints, agreement with independent results.

mod control;
mod convergence;
mod damping;
mod energy;
mod inverse_dynamics;
mod one_link;
mod support;
