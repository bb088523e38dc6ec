//! What a scenario may change of a mechanism.

use super::value::alternatives;
use super::{
    ApproximationTable, DampingTable, Entries, Gravity, Located, Parameter, ReductionTable,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;

/// Changes to a mechanism: each value or table replaces that of the mechanism file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct OverrideTable {
    /// Acceleration of gravity in inertial axes (m/s²).
    pub gravity: Option<Located<Gravity>>,
    /// Elements of every beam, or of single beams by the name of their body.
    pub elements: Option<Located<Elements>>,
    /// Values of parameters.
    pub parameters: Entries<Located<Parameter>>,
    /// Structural damping.
    pub damping: Option<DampingTable>,
    /// Choice of local modes.
    pub reduction: Option<ReductionTable>,
    /// Approximation over the configuration space.
    pub approximation: Option<ApproximationTable>,
}

alternatives!(
    /// Numbers of elements: of every beam, or by the name of the body.
    Elements,
    Count(usize),
    Table(Entries<Located<usize>>),
    "a number of elements or a table of them",
    [count, table]
);
