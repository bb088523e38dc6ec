//! What may be changed while a model runs: values, and what the stored model already holds of them.
//!
//! Masses, inertias and friction act as the difference of the given value and the nominal one, so
//! that nominal values change nothing, not even by rounding.

use super::ModelLayout;
use super::evaluate::{EvaluationError, check_length};
use super::validate::{Checked, finite, require};
use kernel::Load;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shares of the stored model that stay free, and values that belong to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NominalParameters {
    /// Acceleration of gravity, inertial axes, in m/s².
    pub gravity: [f64; 3],
    /// Gravity is stored per inertial axis and may be another one at run time.
    pub gravity_at_runtime: bool,
    /// Free mass at each output that is part of the model, in kg; 0 where none is.
    pub payload_mass: Vec<f64>,
    /// Free inertia on each θ that is part of the model; 0 where it is not free.
    pub rotor_inertia: Vec<f64>,
    /// Free viscous friction on each θ that is part of the model; 0 where it is not free.
    pub viscous: Vec<f64>,
    /// Coulomb friction that the mechanism states for each θ; never part of the model.
    pub coulomb: Vec<f64>,
}

impl NominalParameters {
    /// Nothing stays free, there is no gravity and no Coulomb friction.
    pub fn fixed(n_rigid: usize, n_outputs: usize) -> Self {
        Self {
            gravity: [0.0; 3],
            gravity_at_runtime: false,
            payload_mass: vec![0.0; n_outputs],
            rotor_inertia: vec![0.0; n_rigid],
            viscous: vec![0.0; n_rigid],
            coulomb: vec![0.0; n_rigid],
        }
    }
}

/// Parameters of an evaluation. Start from [`Parameters::nominal`], which is the stored model.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Point mass at each output, in kg.
    pub payload_mass: Vec<f64>,
    /// Acceleration of gravity, inertial axes: on payloads, and on the mechanism where the model
    /// holds it per axis.
    pub gravity: [f64; 3],
    /// Inertia on each θ, beside what is fixed.
    pub rotor_inertia: Vec<f64>,
    /// Viscous friction on each θ, beside what is fixed.
    pub viscous: Vec<f64>,
    /// Magnitude of Coulomb friction on each θ.
    pub coulomb: Vec<f64>,
    /// Rate below which Coulomb friction falls linearly to zero; 0: it is the sign of the rate.
    pub coulomb_rate: Vec<f64>,
}

impl Parameters {
    /// What the stored model stands for.
    pub fn nominal(layout: &ModelLayout) -> Self {
        let nominal = &layout.parameters;
        Self {
            payload_mass: nominal.payload_mass.clone(),
            gravity: nominal.gravity,
            rotor_inertia: nominal.rotor_inertia.clone(),
            viscous: nominal.viscous.clone(),
            coulomb: vec![0.0; layout.n_rigid],
            coulomb_rate: vec![0.0; layout.n_rigid],
        }
    }

    /// All lists, in the order of [`in_kernel`].
    fn lists(&self) -> [&[f64]; 5] {
        [
            &self.payload_mass,
            &self.rotor_inertia,
            &self.viscous,
            &self.coulomb,
            &self.coulomb_rate,
        ]
    }

    /// The same as the kernel wants it.
    pub(super) fn view(&self) -> kernel::Parameters<'_, f64> {
        in_kernel(self.lists(), self.gravity)
    }

    /// The same in other numbers.
    pub(super) fn load<'p, R: Load<f64>>(
        &self,
        memory: &'p mut Vec<R>,
    ) -> kernel::Parameters<'p, R> {
        let lists = self.lists();
        memory.clear();
        memory.extend(lists.into_iter().flatten().map(|v| R::load(*v)));
        let mut rest = &memory[..];
        let loaded = lists.map(|list| {
            let (list, others) = rest.split_at(list.len());
            rest = others;
            list
        });
        in_kernel(loaded, self.gravity.map(R::load))
    }

    pub(super) fn check(&self, layout: &ModelLayout) -> Result<(), EvaluationError> {
        let s = layout.n_rigid;
        check_length(
            "payload_mass",
            self.payload_mass.len(),
            layout.outputs.len(),
        )?;
        check_length("rotor_inertia", self.rotor_inertia.len(), s)?;
        check_length("viscous", self.viscous.len(), s)?;
        check_length("coulomb", self.coulomb.len(), s)?;
        check_length("coulomb_rate", self.coulomb_rate.len(), s)
    }
}

/// Lists in the order of [`Parameters::lists`], and gravity.
fn in_kernel<'p, R>(lists: [&'p [R]; 5], gravity: [R; 3]) -> kernel::Parameters<'p, R> {
    let [payload_mass, rotor_inertia, viscous, coulomb, coulomb_rate] = lists;
    kernel::Parameters {
        payload_mass,
        gravity,
        rotor_inertia,
        viscous,
        coulomb,
        coulomb_rate,
    }
}

impl NominalParameters {
    /// Lists have their lengths, and no number is negative.
    pub(super) fn validate(&self, s: usize, n_outputs: usize) -> Checked {
        for (values, expected, place) in [
            (&self.payload_mass, n_outputs, "parameters.payload_mass"),
            (&self.rotor_inertia, s, "parameters.rotor_inertia"),
            (&self.viscous, s, "parameters.viscous"),
            (&self.coulomb, s, "parameters.coulomb"),
        ] {
            require(values.len() == expected, place, values.len(), expected)?;
            finite(values, place)?;
            let smallest = values.iter().copied().fold(0.0, f64::min);
            require(smallest >= 0.0, place, smallest, "no negative value")?;
        }
        finite(&self.gravity, "parameters.gravity")
    }
}
