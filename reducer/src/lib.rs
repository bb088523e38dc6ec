//! From a mechanism description to a reduced model.
//!
//! Modules stand in the order of the pipeline; imports point backwards only. An equation of
//! `docs/method.md` is cited by its number, as [M 7.4], one of Brüls' thesis as [T 5.130].
//!
//! A mechanism is loaded from a file, or parsed from text:
//!
//! ```
//! use std::path::Path;
//!
//! let mechanism = reducer::description::load(Path::new("../data/four_bar_rigid.toml"))?;
//! assert_eq!(mechanism.coordinates[0].name, "theta");
//!
//! let faults = reducer::description::load(Path::new("nowhere.toml")).unwrap_err();
//! assert_eq!(faults.faults.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is reduced over its whole domain by [`pipeline::reduce`], and the model is used through an
//! [`Evaluator`](reduced_model::Evaluator):
//!
//! ```
//! use reducer::approximation::{SampleDatabase, Silent};
//! use reducer::reduced_model::{Evaluator, Status, Workspace};
//! use reducer::sampling::MechanismModel;
//! # let path = std::path::Path::new("../data/four_bar_rigid.toml");
//! # let mechanism = reducer::description::load(path)?;
//!
//! let full = MechanismModel::new(&mechanism)?;
//! let (model, summary) = reducer::pipeline::reduce(
//!     &full,
//!     &mechanism.approximation,
//!     &Silent,
//!     &mut SampleDatabase::in_memory(),
//! )?;
//! assert!(summary.reached);
//!
//! let evaluator = Evaluator::new(&model)?;
//! let mut work = Workspace::default();
//! let mut torque = [0.0];
//! let status = evaluator.inverse_dynamics(&[0.5], &[1.0], &[0.0], &mut torque, &mut work)?;
//! assert_eq!(status, Status::Inside);
//!
//! // The full model, reduced exactly at this configuration.
//! let exact = full.reducer().evaluate(&[0.5])?.inverse_dynamics(&[1.0], &[0.0]);
//! assert!((torque[0] - exact[0]).abs() < 0.01 * exact[0].abs());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod error;
pub mod lie;
#[doc(hidden)]
pub mod linalg;
mod spectrum;

pub mod finite_elements;

pub mod description;

/// The full model, open to the tests of its identities alone.
#[doc(hidden)]
pub mod model;

mod kinematics;

mod modes;

pub mod reduction;

pub mod reduced_model;

pub mod approximation;

pub mod dynamics;

pub mod sampling;

pub mod scan;

pub mod survey;

pub mod distribution;

pub mod pipeline;
