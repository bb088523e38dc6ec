//! What the stored numbers of a reduced model mean, written once.
//!
//! Everything that an evaluation of a model does is here, generic over the number: finding the box of a
//! configuration, the polynomials of a table, the equations of motion of both forms, parameters, outputs and
//! their motion, linear models, quasi-static feedforward, a step in time. `f64` is the evaluator of the
//! library; `f32` tells what single precision costs; a number that counts tells how many operations a call
//! takes; a dual number differentiates, for tests. Generated Rust crates hold these files ([`SOURCE`]) with a
//! [`Model`] whose sizes the compiler knows.
//!
//! No heap, no standard library, no dependencies. Memory comes from the caller as a [`Scratch`].
//!
//! `[M 8.4]` is an equation of the project's `docs/method.md`.
#![no_std]
// Formulas have indices.
#![allow(clippy::needless_range_loop)]

mod algebra;
mod coefficients;
mod curvature;
mod derived;
mod direct;
mod dynamics;
mod energy;
mod equations;
mod feedforward;
mod lagrangian;
mod linear;
mod locate;
mod measurement;
mod model;
mod motion;
mod moving;
mod number;
mod observer;
mod parameters;
mod polynomials;
mod scaling;
mod scratch;
mod sensitivity;
mod slopes;
mod tangent;
mod trigonometry;
mod values;
mod waves;

pub use algebra::{factor, solve, upper_product};
pub use coefficients::{
    Coefficients, coefficients, gravity_axes, load_map, position_curvature, second_order,
};
pub use derived::derived;
pub use dynamics::{
    forward_dynamics, inverse_dynamics, mass_and_bias, outputs, state_derivative, step,
};
pub use energy::{dissipated_power, energy};
pub use feedforward::{ITERATIONS, RENEWED, feedforward};
pub use linear::{LinearModel, linearize};
pub use locate::{Status, locate};
pub use measurement::{Reading, Sensor};
pub use model::{
    Combined, Combining, Entry, Finder, Form, Group, LARGEST_RIGID, Model, Moving, Node, Source,
    Table,
};
pub use motion::Output;
pub use number::{Load, Number};
pub use observer::{
    Disturbance, Estimate, ObserverModel, observer_init, observer_predict, observer_readings,
    observer_update,
};
pub use parameters::{Held, Parameters};
pub use scaling::SMALLEST_SCALE;
pub use scratch::Scratch;
pub use sensitivity::{Move, moved_coefficients};

/// The files of this crate, by name, as generated crates hold them in a module of their own.
pub const SOURCE: &[(&str, &str)] = &[
    ("algebra.rs", include_str!("algebra.rs")),
    ("coefficients.rs", include_str!("coefficients.rs")),
    ("curvature.rs", include_str!("curvature.rs")),
    ("derived.rs", include_str!("derived.rs")),
    ("direct.rs", include_str!("direct.rs")),
    ("dynamics.rs", include_str!("dynamics.rs")),
    ("equations.rs", include_str!("equations.rs")),
    ("feedforward.rs", include_str!("feedforward.rs")),
    ("lagrangian.rs", include_str!("lagrangian.rs")),
    ("linear.rs", include_str!("linear.rs")),
    ("locate.rs", include_str!("locate.rs")),
    ("model.rs", include_str!("model.rs")),
    ("motion.rs", include_str!("motion.rs")),
    ("moving.rs", include_str!("moving.rs")),
    ("number.rs", include_str!("number.rs")),
    ("parameters.rs", include_str!("parameters.rs")),
    ("polynomials.rs", include_str!("polynomials.rs")),
    ("scaling.rs", include_str!("scaling.rs")),
    ("scratch.rs", include_str!("scratch.rs")),
    ("slopes.rs", include_str!("slopes.rs")),
    ("tangent.rs", include_str!("tangent.rs")),
    ("trigonometry.rs", include_str!("trigonometry.rs")),
    ("values.rs", include_str!("values.rs")),
    ("waves.rs", include_str!("waves.rs")),
];

/// The files that generated crates with an observer hold besides.
pub const OBSERVER_SOURCE: &[(&str, &str)] = &[
    ("measurement.rs", include_str!("measurement.rs")),
    ("observer.rs", include_str!("observer.rs")),
];
