//! For which motion a model was made, and what motion does that it does not hold.

use super::ModelLayout;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Motion for which a model was made. Changes of the stiffness are relative, the largest that were seen over the domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validity {
    /// Largest rate of each θ (its unit per s); null where none was declared.
    pub rate: Vec<Option<f64>>,
    /// Largest acceleration of each θ (its unit per s²); null where none was declared.
    pub acceleration: Vec<Option<f64>>,
    /// Change of the stiffness by gravity, constant loads and tensioned springs.
    pub loads_change: f64,
    /// Change of the stiffness by the declared rates.
    pub rate_change: f64,
    /// Change of the stiffness by the declared accelerations.
    pub acceleration_change: f64,
    /// Change that was compared with these: the tolerance of the stiffness.
    pub tolerance: f64,
    /// Rate of each θ alone that changes the stiffness by the tolerance; null where no rate of a machine does.
    pub rate_at_tolerance: Vec<Option<f64>>,
    /// Acceleration of each θ alone that changes the stiffness by the tolerance; null as above.
    pub acceleration_at_tolerance: Vec<Option<f64>>,
}

impl Validity {
    /// Lists have one entry per θ, and numbers are positive.
    pub(super) fn fits(&self, s: usize) -> bool {
        let lists = [
            &self.rate,
            &self.acceleration,
            &self.rate_at_tolerance,
            &self.acceleration_at_tolerance,
        ];
        let positive = |v: &f64| *v > 0.0 && v.is_finite();
        let sizes = [
            self.loads_change,
            self.rate_change,
            self.acceleration_change,
        ];
        lists
            .iter()
            .all(|list| list.len() == s && list.iter().flatten().all(positive))
            && positive(&self.tolerance)
            && sizes.iter().all(|c| *c >= 0.0 && c.is_finite())
    }

    /// A rate or acceleration was declared.
    pub fn is_declared(&self) -> bool {
        self.rate
            .iter()
            .chain(&self.acceleration)
            .any(Option::is_some)
    }

    /// What it says, one sentence per line.
    pub fn in_words(&self, layout: &ModelLayout) -> Vec<String> {
        let part = |k: usize, value: f64, power: &str| {
            let coordinate = &layout.coordinates[k];
            let (name, unit) = (&coordinate.name, &coordinate.unit);
            format!("{name} {} {unit}/s{power}", super::readable(value))
        };
        let list = |rates: &[Option<f64>], accelerations: &[Option<f64>]| {
            let of = |values: &[Option<f64>], power: &str| -> Vec<String> {
                let given = values.iter().enumerate();
                given
                    .filter_map(|(k, v)| Some(part(k, (*v)?, power)))
                    .collect()
            };
            let all = [of(rates, ""), of(accelerations, "^2")].concat();
            all.join(", ")
        };
        let percent = |v: f64| format!("{} %", super::readable(100.0 * v));
        let mut out = Vec::new();
        if self.is_declared() {
            let declared = list(&self.rate, &self.acceleration);
            out.push(format!("made for motion up to {declared}"));
        } else {
            out.push("made for no declared rate or acceleration".to_owned());
        }
        let mut changes = vec![("loads", self.loads_change)];
        if self.is_declared() {
            changes.push(("rates", self.rate_change));
            changes.push(("accelerations", self.acceleration_change));
        }
        let held = |source: &str| match layout.stiffening {
            super::Stiffening::All => true,
            super::Stiffening::Loads => source == "loads",
            super::Stiffening::None => false,
        };
        let changes: Vec<String> = (changes.iter())
            .map(|(source, by)| {
                let kept = if held(source) { "in" } else { "not in" };
                format!("{source} by up to {} ({kept} the model)", percent(*by))
            })
            .collect();
        out.push(format!("stiffness is changed by {}", changes.join(", ")));
        let reach = list(&self.rate_at_tolerance, &self.acceleration_at_tolerance);
        if layout.stiffening != super::Stiffening::All && !reach.is_empty() {
            let by = percent(self.tolerance);
            out.push(format!(
                "motion that is not in the model changes it by {by} at {reach}"
            ));
        }
        out
    }
}
