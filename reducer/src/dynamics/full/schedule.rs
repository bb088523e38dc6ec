//! Times at which steps must end.

use super::{FullError, FullSettings, StepControl};

/// A time at which a step ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stop {
    pub time: f64,
    /// The observer asked for it.
    pub sample: bool,
    /// The excitation jumps or bends.
    pub jump: bool,
    /// Sampled blocks act.
    pub acts: bool,
}

/// Asked instants, breaks and the end, in order; those closer together than rounding are one.
pub(super) fn stops(settings: &FullSettings, breaks: &[f64], samples: &[f64]) -> Vec<Stop> {
    let end = settings.duration;
    let inside = |time: &&f64| **time > 0.0 && **time <= end;
    let mut all: Vec<Stop> = (settings.instants.iter().filter(inside))
        .map(|&time| Stop {
            time,
            sample: true,
            jump: false,
            acts: false,
        })
        .chain(breaks.iter().filter(inside).map(|&time| Stop {
            time,
            sample: false,
            jump: true,
            acts: false,
        }))
        .chain(samples.iter().filter(inside).map(|&time| Stop {
            time,
            sample: false,
            jump: false,
            acts: true,
        }))
        .collect();
    all.push(Stop {
        time: end,
        sample: false,
        jump: false,
        acts: false,
    });
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut out: Vec<Stop> = Vec::with_capacity(all.len());
    for stop in all {
        match out.last_mut() {
            Some(last) if stop.time - last.time <= 1e-12 * end => {
                last.sample |= stop.sample;
                // Where a jump is, its own time counts.
                if stop.jump && !last.jump {
                    last.time = stop.time;
                }
                last.jump |= stop.jump;
                last.acts |= stop.acts;
            }
            _ => out.push(stop),
        }
    }
    out
}

/// Refuses settings without meaning.
pub(super) fn check(settings: &FullSettings) -> Result<(), FullError> {
    let bad = |what, must, found| Err(FullError::BadSetting { what, must, found });
    let positive = |what, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            bad(what, "positive and finite", value)
        }
    };
    positive("duration", settings.duration)?;
    positive("Newton tolerance", settings.newton_tolerance)?;
    positive("Coulomb rate", settings.coulomb_rate)?;
    if settings.mode_refresh.is_nan() || settings.mode_refresh < 0.0 {
        return bad(
            "distance for fresh modes",
            "zero or more",
            settings.mode_refresh,
        );
    }
    if !(0.0..=1.0).contains(&settings.spectral_radius) {
        return bad(
            "spectral radius",
            "between 0 and 1",
            settings.spectral_radius,
        );
    }
    if let Some(time) = settings.instants.iter().find(|t| !t.is_finite()) {
        return bad("time of an instant", "finite", *time);
    }
    match settings.step {
        StepControl::Fixed(step) => positive("step", step),
        StepControl::Adaptive {
            first,
            tolerance,
            largest,
        } => {
            positive("first step", first)?;
            positive("tolerance of the step", tolerance)?;
            positive("largest step", largest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_ordered_and_merged() {
        let mut settings = FullSettings::new(1.0, 0.1);
        settings.instants = vec![0.0, 0.5, 0.25, 1.0, 2.0];
        let jump = 0.5 + 1e-16;
        let found = stops(&settings, &[jump, 0.7], &[0.7, 0.8]);
        let stop = |time, sample, jump| Stop {
            time,
            sample,
            jump,
            acts: (0.7..0.9).contains(&time),
        };
        let expected = [
            stop(0.25, true, false),
            stop(jump, true, true),
            stop(0.7, false, true),
            stop(0.8, false, false),
            stop(1.0, true, false),
        ];
        assert_eq!(found, expected);
    }
}
