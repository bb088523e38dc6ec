//! From a mechanism description to a reduced model.
//!
//! Modules stand in the order of the pipeline; imports point backwards only.

pub mod lie;

pub mod description;

pub mod reduction;

pub mod reduced_model;

pub mod approximation;

pub mod pipeline;
