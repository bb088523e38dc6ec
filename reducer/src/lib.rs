//! From a mechanism description to a reduced model.
//!
//! Modules stand in the order of the pipeline; imports point backwards only. An equation of
//! `docs/method.md` is cited by its number, as [M 7.4], one of Brüls' thesis as [T 5.130].

pub mod error;
pub mod lie;
pub mod linalg;

pub mod description;

pub mod model;

pub mod kinematics;

pub mod modes;

pub mod reduction;

pub mod reduced_model;

pub mod approximation;

pub mod dynamics;

pub mod sampling;

pub mod survey;

pub mod pipeline;
