//! Sampling and the integration of the full model.

use super::fault::ScenarioFaultKind;
use super::format::{FullTable, ScenarioFile};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::Scalar;
use crate::description::quantity::Dimension;
use crate::dynamics::full::{FullSettings, StepControl};

/// Most rows of a table of results.
const MAX_SAMPLES: usize = 10_000_000;
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
            Some(step) => self.positive(step, Dimension::TIME, "the step"),
            None => Some(duration / STEPS),
        };
        let tolerance = match &table.tolerance {
            Some(scalar) => self
                .positive(scalar, Dimension::NONE, "the tolerance")
                .map(Some),
            None => Some(None),
        };
        let radius = match &table.spectral_radius {
            Some(scalar) => self.radius(scalar).map(Some),
            None => Some(None),
        };
        let mut settings = FullSettings::new(duration, step?);
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
        Some(settings)
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
