//! The full model's own frequency response beside the reduced one's.

use super::Subject;
use crate::diagnostics::{CommandError, Failure};
use reducer::description::mechanism::Mechanism;
use reducer::dynamics::full::{FullSettings, frequency_response};
use reducer::reduced_model::{Evaluator, Workspace};
use reducer::sampling::SampleSource;
use serde_json::{Value, json};

/// The full model of a scenario.
pub struct Machine {
    /// The mechanism.
    pub source: SampleSource,
    /// The file that it comes from.
    pub mechanism: Mechanism,
    /// Damping and the like.
    pub settings: FullSettings,
}

/// The full model's response and how far the reduced one is from it.
pub struct Check {
    /// Frequency (Hz), real and imaginary part; none at an undamped resonance.
    pub response: Vec<[f64; 3]>,
    /// Half the highest frequency of the reduced model with actuators locked (Hz).
    up_to: Option<f64>,
    /// The largest difference in parts of the full model's response up to there, and its frequency.
    largest: Option<[f64; 2]>,
    /// The same in parts of the largest response near that frequency: a zero that is a little elsewhere counts little.
    nearby: Option<[f64; 2]>,
}

/// What is near a frequency, as a factor.
const NEAR: f64 = 1.2;

/// Compares from input `j` to output `i`.
pub fn check(
    subject: &Subject,
    reduced: &[[f64; 3]],
    [i, j]: [usize; 2],
) -> Result<Check, Failure> {
    let Some(machine) = &subject.machine else {
        return Err(Failure::one(CommandError::NoFullModel));
    };
    let frequencies: Vec<f64> = reduced.iter().map(|r| r[0]).collect();
    let found = frequency_response(
        machine.source.mechanism().reducer(),
        &subject.drives,
        &subject.initial,
        &machine.settings,
        &frequencies,
    )
    .map_err(|e| Failure::one(e).with_sources(&machine.mechanism))?;
    let pairs = frequencies.iter().zip(&found);
    let response = pairs.filter_map(|(f, all)| {
        let value = all.as_ref()?[(i, j)];
        Some([*f, value.re, value.im])
    });
    let response: Vec<[f64; 3]> = response.collect();
    let up_to = half_the_band(subject);
    let size = |r: &[f64; 3]| r[1].hypot(r[2]);
    let most = |scale: &dyn Fn(&[f64; 3]) -> f64| {
        let apart = response.iter().filter_map(|full| {
            let own = reduced.iter().find(|r| r[0] == full[0])?;
            let difference = (own[1] - full[1]).hypot(own[2] - full[2]);
            Some([difference / scale(full), full[0]])
        });
        let inside = apart.filter(|a| up_to.is_some_and(|end| a[1] <= end));
        inside.max_by(|a, b| a[0].total_cmp(&b[0]))
    };
    let largest = most(&size);
    let nearby = most(&|at| {
        let near = |r: &&[f64; 3]| r[0] <= at[0] * NEAR && r[0] >= at[0] / NEAR;
        let sizes = response.iter().filter(near).map(size);
        sizes.fold(0.0, f64::max)
    });
    Ok(Check {
        up_to,
        largest,
        nearby,
        response,
    })
}

fn half_the_band(subject: &Subject) -> Option<f64> {
    let evaluator = Evaluator::new(&subject.model).ok()?;
    let document = evaluator.document(&subject.initial.theta, &mut Workspace::default());
    let frequencies = document.ok()?.frequencies_hz;
    Some(0.5 * frequencies.last()?)
}

impl Check {
    /// For the document.
    pub fn as_json(&self) -> Value {
        let column = |k: usize| self.response.iter().map(|r| r[k]).collect::<Vec<f64>>();
        json!({
            "frequency_hz": column(0),
            "re": column(1),
            "im": column(2),
            "up_to_hz": self.up_to,
            "largest_difference": self.largest.map(|l| l[0]),
            "at_hz": self.largest.map(|l| l[1]),
            "largest_difference_nearby": self.nearby.map(|l| l[0]),
            "nearby_at_hz": self.nearby.map(|l| l[1]),
        })
    }

    /// One line.
    pub fn as_text(&self) -> String {
        match (self.up_to, self.largest, self.nearby) {
            (Some(end), Some([part, at]), Some([near, there])) => format!(
                "differs from the full model by {:.3} % at most up to {end:.4} Hz, at {at:.4} Hz, and by {:.3} % of the largest response within a \
                 fifth of the frequency, at {there:.4} Hz\n",
                100.0 * part,
                100.0 * near
            ),
            _ => "no frequency is low enough to compare with the full model\n".to_owned(),
        }
    }
}
