// SPDX-License-Identifier: 0BSD
//! What the numbers of a model mean: the same files for every model. They say more than one model needs.
//! `[M 8.4]` is an equation of the generator's `docs/method.md`.

mod algebra;
mod coefficients;
mod curvature;
mod derived;
mod direct;
mod dynamics;
mod equations;
mod feedforward;
mod lagrangian;
mod linear;
mod locate;
mod model;
mod motion;
mod moving;
mod number;
mod parameters;
mod polynomials;
mod scaling;
mod scratch;
mod slopes;
mod tangent;
mod trigonometry;
mod values;
mod waves;

pub use coefficients::{coefficients, Coefficients};
pub use derived::derived;
pub use dynamics::{forward_dynamics, inverse_dynamics, outputs, state_derivative, step};
pub use feedforward::feedforward;
pub use linear::{linearize, LinearModel};
pub use locate::Status;
pub use model::{Entry, Finder, Form, Model, Moving, Node, Source, Table};
pub use motion::Output;
pub use parameters::{Held, Parameters};
pub use scratch::Scratch;
