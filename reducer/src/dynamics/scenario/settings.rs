//! Sampling and the integration of the full model.

use super::fault::ScenarioFaultKind;
use super::format::{AlphaTable, FullTable, ScenarioFile};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::{Located, Scalar};
use crate::description::quantity::Dimension;
use crate::dynamics::full::{FullSettings, StepControl};
use std::ops::Range;

/// Most rows of a table of results.
const MAX_SAMPLES: usize = 10_000_000;
/// Most steps of the full model, which takes a millisecond or more for each.
const MAX_STEPS: usize = 10_000_000;
/// Most periods of an input: each takes several steps of both models.
const MAX_PERIODS: f64 = 1e6;
/// Smallest tolerance that the rounding of numbers leaves room for.
const MIN_TOLERANCE: f64 = 1e-13;
/// Rows of the tables unless the scenario says otherwise.
const SAMPLES: f64 = 500.0;
/// Steps of the full model unless the scenario says otherwise.
const STEPS: f64 = 2000.0;

impl Reader<'_> {
    /// Times of the rows: equal steps, and the end.
    pub(super) fn instants(&mut self, file: &ScenarioFile, duration: f64) -> Option<Vec<f64>> {
        let (step, span) = match &file.sampling.step {
            Some(step) => (
                self.positive(step, Dimension::TIME, "the sampling step")?,
                step.span.clone(),
            ),
            None => (duration / SAMPLES, file.duration.span.clone()),
        };
        // A last step shorter than a billionth is rounding.
        let count = (duration / step - 1e-9).ceil().max(1.0);
        if count > MAX_SAMPLES as f64 {
            let limit = MAX_SAMPLES;
            self.own_fault(&span, ScenarioFaultKind::TooManySamples { count, limit });
            return None;
        }
        let inner = (0..count as usize).map(|i| i as f64 * step);
        Some(inner.chain([duration]).collect())
    }

    pub(super) fn full(&mut self, table: &FullTable, duration: f64) -> Option<FullSettings> {
        let step = match &table.step {
            Some(written) => {
                let step = self.positive(written, Dimension::TIME, "the step");
                step.and_then(|step| self.affordable_step(step, duration, &written.span))
            }
            None => Some(duration / STEPS),
        };
        let tolerance = match &table.tolerance {
            Some(scalar) => self.tolerance(scalar).map(Some),
            None => Some(None),
        };
        let radius = match &table.spectral_radius {
            Some(scalar) => self.radius(scalar).map(Some),
            None => Some(None),
        };
        let alpha = match &table.method {
            Some(method) => self
                .alpha(method, table.spectral_radius.is_some())
                .map(Some),
            None => Some(None),
        };
        let mut settings = FullSettings::new(duration, step?);
        settings.alpha = alpha?;
        if let Some(tolerance) = tolerance? {
            settings.step = StepControl::Adaptive {
                first: step?,
                tolerance,
                largest: duration,
            };
        }
        if let Some(radius) = radius? {
            settings.spectral_radius = radius;
        }
        settings.restart_at_samples = table.restart.unwrap_or(true);
        Some(settings)
    }

    /// α_m and α_f for which the method is stable for any step.
    fn alpha(&mut self, written: &Located<AlphaTable>, has_radius: bool) -> Option<[f64; 2]> {
        let (hht, alpha) = (&written.hht, &written.alpha);
        let values = match (hht, alpha.as_deref(), has_radius) {
            (Some(hht), None, false) => [0.0, self.number(hht, Dimension::NONE)?],
            (None, Some([m, f]), false) => [
                self.number(m, Dimension::NONE)?,
                self.number(f, Dimension::NONE)?,
            ],
            _ => {
                let given = [
                    ("hht", hht.is_some()),
                    ("alpha", alpha.is_some()),
                    ("spectral_radius", has_radius),
                ];
                let found = given.iter().filter(|g| g.1).map(|g| g.0).collect();
                let kind = FaultKind::ExactlyOne {
                    what: "the full model's integration".to_owned(),
                    options: "`spectral_radius`, `hht`, `alpha` (two numbers)",
                    found,
                };
                self.fault(&written.span, kind);
                return None;
            }
        };
        let [m, f] = values;
        let stable = match hht {
            Some(_) => (0.0..=1.0 / 3.0).contains(&f),
            None => (-1.0..=f).contains(&m) && f <= 0.5,
        };
        if stable {
            return Some(values);
        }
        let kind = FaultKind::OutOfRange {
            what: if hht.is_some() {
                "α of HHT"
            } else {
                "α_m or α_f"
            }
            .to_owned(),
            value: if hht.is_some() || f > 0.5 { f } else { m },
            allowed: if hht.is_some() {
                "between 0 and 1/3"
            } else {
                "−1 ≤ α_m ≤ α_f ≤ 1/2"
            },
        };
        self.fault(&written.span, kind);
        None
    }

    /// A step of which not too many make the whole run.
    fn affordable_step(&mut self, step: f64, duration: f64, span: &Range<usize>) -> Option<f64> {
        let (count, limit) = ((duration / step).ceil(), MAX_STEPS);
        if count <= limit as f64 {
            return Some(step);
        }
        self.own_fault(span, ScenarioFaultKind::TooManySteps { count, limit });
        None
    }

    /// A frequency of which not too many periods make the whole run.
    pub(super) fn affordable_frequency(&mut self, written: &Scalar) -> Option<f64> {
        let frequency = self.number(written, Dimension::RATE)?;
        let (count, limit) = ((frequency * self.duration).abs().ceil(), MAX_PERIODS);
        if count <= limit {
            return Some(frequency);
        }
        let kind = ScenarioFaultKind::TooManyPeriods { count, limit };
        self.own_fault(&written.span, kind);
        None
    }

    /// A tolerance that numbers of this machine can keep.
    pub(super) fn tolerance(&mut self, written: &Scalar) -> Option<f64> {
        let value = self.positive(written, Dimension::NONE, "the tolerance")?;
        if value >= MIN_TOLERANCE {
            return Some(value);
        }
        let kind = FaultKind::OutOfRange {
            what: "the tolerance".to_owned(),
            value,
            allowed: "at least 1e-13",
        };
        self.fault(&written.span, kind);
        None
    }

    fn radius(&mut self, scalar: &Scalar) -> Option<f64> {
        let value = self.number(scalar, Dimension::NONE)?;
        if (0.0..=1.0).contains(&value) {
            return Some(value);
        }
        let kind = FaultKind::OutOfRange {
            what: "the spectral radius".to_owned(),
            value,
            allowed: "between 0 and 1",
        };
        self.fault(&scalar.span, kind);
        None
    }
}
