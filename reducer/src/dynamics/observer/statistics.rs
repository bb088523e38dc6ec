//! Whether an observer is as sure of itself as it may be.

/// Sums over the samples of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ObserverStatistics {
    /// Updates.
    pub updates: usize,
    /// Number of sensors.
    pub sensors: usize,
    /// Sum of squared innovations in units of their covariance.
    pub innovations: f64,
    /// Samples at which the true state was known.
    pub judged: usize,
    /// Number of states that were judged: η and rates.
    pub states: usize,
    /// Sum of squared errors in units of their covariance.
    pub errors: f64,
    /// Samples that were left out because the status was bad.
    pub refused: usize,
}

impl ObserverStatistics {
    /// Mean normalised innovation squared; about the number of sensors where the noise is as declared.
    pub fn nis(&self) -> Option<f64> {
        (self.updates > 0).then(|| self.innovations / self.updates as f64)
    }

    /// Where that mean is in 95 of 100 runs of as many samples with white innovations: quantiles of χ² over their number
    /// [Wilson, Hilferty 1931].
    pub fn nis_band(&self) -> Option<[f64; 2]> {
        let degrees = (self.updates * self.sensors) as f64;
        (degrees > 0.0).then(|| {
            let spread = 2.0 / (9.0 * degrees);
            let quantile = |z: f64| degrees * (1.0 - spread + z * spread.sqrt()).powi(3);
            [-1.959_963_985, 1.959_963_985].map(|z| quantile(z) / self.updates as f64)
        })
    }

    /// Mean normalised estimation error squared; about the number of states where the observer is consistent.
    pub fn nees(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.errors / self.judged as f64)
    }
}
