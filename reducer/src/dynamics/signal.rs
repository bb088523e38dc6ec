//! Inputs over time, with exact first and second derivatives.

use super::spline::Spline;
use std::f64::consts::TAU;

/// A value with its first and second derivative by time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Jet {
    /// The value.
    pub value: f64,
    /// First derivative.
    pub rate: f64,
    /// Second derivative.
    pub acceleration: f64,
}

impl Jet {
    /// A value that does not change.
    pub const fn still(value: f64) -> Self {
        Self {
            value,
            rate: 0.0,
            acceleration: 0.0,
        }
    }
}

/// A scalar function of time, continuous from the right at its breaks.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// The same value always.
    Constant(f64),
    /// One value before an instant, another from then on.
    Step {
        /// When.
        at: f64,
        /// Value before.
        before: f64,
        /// Value from then on.
        after: f64,
    },
    /// A straight line between two values, held outside.
    Ramp {
        /// When it begins.
        start: f64,
        /// How long it takes.
        duration: f64,
        /// First value.
        from: f64,
        /// Last value.
        to: f64,
    },
    /// offset + amplitude · sin(2π f (t − start) + phase); held before `start`.
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// Frequency (Hz).
        frequency_hz: f64,
        /// Phase at `start` (rad).
        phase: f64,
        /// Mean value.
        offset: f64,
        /// When it begins.
        start: f64,
    },
    /// amplitude · sin φ(t), whose frequency φ̇/2π grows linearly; zero before, and going on with
    /// the last frequency after.
    Chirp {
        /// Amplitude.
        amplitude: f64,
        /// First frequency (Hz).
        from_hz: f64,
        /// Last frequency (Hz).
        to_hz: f64,
        /// When it begins.
        start: f64,
        /// How long the frequency changes.
        duration: f64,
    },
    /// from + (to − from)(s − sin(2πs)/2π), s = (t − start)/duration; held outside.
    PointToPoint {
        /// When it begins.
        start: f64,
        /// How long it takes.
        duration: f64,
        /// First value.
        from: f64,
        /// Last value.
        to: f64,
    },
    /// +amplitude for half the duration, −amplitude for the other half, zero outside.
    BangBang {
        /// Amplitude.
        amplitude: f64,
        /// When it begins.
        start: f64,
        /// Duration of both halves.
        duration: f64,
    },
    /// from + Ω/T [τ²/2 + (T/2π)²(cos(2πτ/T) − 1)], τ = t − start, then from + Ω(τ − T/2): an angle
    /// whose rate grows smoothly from 0 to Ω.
    SpinUp {
        /// Last rate Ω.
        rate: f64,
        /// When it begins.
        start: f64,
        /// Duration T.
        duration: f64,
        /// First value.
        from: f64,
    },
    /// A twice continuously differentiable curve through given points, held outside.
    Table(Spline),
    /// A sum.
    Sum(Vec<Signal>),
}

impl Signal {
    /// Value and derivatives.
    pub fn at(&self, t: f64) -> Jet {
        match self {
            Self::Constant(value) => Jet::still(*value),
            Self::Step { at, before, after } => Jet::still(if t < *at { *before } else { *after }),
            &Self::Ramp {
                start,
                duration,
                from,
                to,
            } => between(t, start, duration, from, to, |s| Jet {
                value: s,
                rate: 1.0,
                acceleration: 0.0,
            }),
            &Self::PointToPoint {
                start,
                duration,
                from,
                to,
            } => between(t, start, duration, from, to, |s| {
                let (sin, cos) = (TAU * s).sin_cos();
                Jet {
                    value: s - sin / TAU,
                    rate: 1.0 - cos,
                    acceleration: TAU * sin,
                }
            }),
            &Self::Sine {
                amplitude,
                frequency_hz,
                phase,
                offset,
                start,
            } => {
                if t < start {
                    return Jet::still(offset + amplitude * phase.sin());
                }
                let omega = TAU * frequency_hz;
                let mut jet = sine(amplitude, omega * (t - start) + phase, omega, 0.0);
                jet.value += offset;
                jet
            }
            &Self::Chirp {
                amplitude,
                from_hz,
                to_hz,
                start,
                duration,
            } => {
                let tau = t - start;
                if tau < 0.0 {
                    return Jet::default();
                }
                let growth = TAU * (to_hz - from_hz) / duration;
                let swept = tau.min(duration);
                let phase = TAU * from_hz * tau + growth * swept * (tau - 0.5 * swept);
                let omega = TAU * from_hz + growth * swept;
                let bend = if tau < duration { growth } else { 0.0 };
                sine(amplitude, phase, omega, bend)
            }
            &Self::BangBang {
                amplitude,
                start,
                duration,
            } => Jet::still(match t - start {
                tau if tau < 0.0 || tau >= duration => 0.0,
                tau if tau < 0.5 * duration => amplitude,
                _ => -amplitude,
            }),
            &Self::SpinUp {
                rate,
                start,
                duration,
                from,
            } => spin_up(t - start, rate, duration, from),
            Self::Table(spline) => spline.at(t),
            Self::Sum(parts) => parts.iter().fold(Jet::default(), |sum, part| {
                let jet = part.at(t);
                Jet {
                    value: sum.value + jet.value,
                    rate: sum.rate + jet.rate,
                    acceleration: sum.acceleration + jet.acceleration,
                }
            }),
        }
    }

    /// Integral from 0 to `t`; none for a chirp, which has no closed one.
    pub fn integral(&self, t: f64) -> Option<f64> {
        let from_zero = |primitive: &dyn Fn(f64) -> f64| primitive(t) - primitive(0.0);
        Some(match self {
            Self::Constant(value) => value * t,
            Self::Step { at, before, after } => {
                from_zero(&|t| before * t.min(*at) + after * (t - at).max(0.0))
            }
            &Self::Ramp {
                start,
                duration,
                from,
                to,
            } => from_zero(&|t| held_integral(t, start, duration, from, to, |s| 0.5 * s * s)),
            &Self::PointToPoint {
                start,
                duration,
                from,
                to,
            } => from_zero(&|t| {
                held_integral(t, start, duration, from, to, |s| {
                    0.5 * s * s + ((TAU * s).cos() - 1.0) / (TAU * TAU)
                })
            }),
            &Self::Sine {
                amplitude,
                frequency_hz,
                phase,
                offset,
                start,
            } => {
                let omega = TAU * frequency_hz;
                from_zero(&|t| {
                    let (before, tau) = ((t - start).min(0.0), (t - start).max(0.0));
                    let wave = if omega == 0.0 {
                        tau * phase.sin()
                    } else {
                        (phase.cos() - (omega * tau + phase).cos()) / omega
                    };
                    offset * t + amplitude * (before * phase.sin() + wave)
                })
            }
            &Self::BangBang {
                amplitude,
                start,
                duration,
            } => from_zero(&|t| {
                let tau = (t - start).clamp(0.0, duration);
                amplitude * tau.min(duration - tau)
            }),
            &Self::SpinUp {
                rate,
                start,
                duration,
                from,
            } => from_zero(&|t| from * t + spin_up_integral(t - start, rate, duration)),
            Self::Table(spline) => spline.integral(t) - spline.integral(0.0),
            Self::Chirp { .. } => return None,
            Self::Sum(parts) => return parts.iter().map(|part| part.integral(t)).sum(),
        })
    }

    /// Adds the times at which the signal or one of its first two derivatives jumps.
    pub fn add_breaks(&self, breaks: &mut Vec<f64>) {
        match self {
            Self::Constant(_) => {}
            Self::Step { at, .. } => breaks.push(*at),
            Self::Ramp {
                start, duration, ..
            }
            | Self::PointToPoint {
                start, duration, ..
            }
            | Self::Chirp {
                start, duration, ..
            }
            | Self::SpinUp {
                start, duration, ..
            } => breaks.extend([*start, start + duration]),
            Self::BangBang {
                start, duration, ..
            } => breaks.extend([*start, start + 0.5 * duration, start + duration]),
            Self::Sine { start, .. } => breaks.push(*start),
            Self::Table(spline) => breaks.extend(spline.ends()),
            Self::Sum(parts) => parts.iter().for_each(|part| part.add_breaks(breaks)),
        }
    }
}

/// A profile from 0 to 1 in s ∈ [0, 1], stretched to values and times and held outside.
fn between(
    t: f64,
    start: f64,
    duration: f64,
    from: f64,
    to: f64,
    profile: impl Fn(f64) -> Jet,
) -> Jet {
    if t < start {
        return Jet::still(from);
    }
    if t >= start + duration {
        return Jet::still(to);
    }
    let jet = profile((t - start) / duration);
    let way = to - from;
    Jet {
        value: from + way * jet.value,
        rate: way * jet.rate / duration,
        acceleration: way * jet.acceleration / (duration * duration),
    }
}

/// Integral of such a profile from `start`, its primitive in s being zero at s = 0.
fn held_integral(
    t: f64,
    start: f64,
    duration: f64,
    from: f64,
    to: f64,
    primitive: impl Fn(f64) -> f64,
) -> f64 {
    let s = ((t - start) / duration).clamp(0.0, 1.0);
    let after = (t - start - duration).max(0.0);
    from * (t - start) + (to - from) * (duration * primitive(s) + after)
}

fn sine(amplitude: f64, phase: f64, omega: f64, omega_rate: f64) -> Jet {
    let (sin, cos) = phase.sin_cos();
    Jet {
        value: amplitude * sin,
        rate: amplitude * omega * cos,
        acceleration: amplitude * (omega_rate * cos - omega * omega * sin),
    }
}

fn spin_up(tau: f64, rate: f64, duration: f64, from: f64) -> Jet {
    if tau < 0.0 {
        return Jet::still(from);
    }
    if tau >= duration {
        return Jet {
            value: from + rate * (tau - 0.5 * duration),
            rate,
            acceleration: 0.0,
        };
    }
    let (sin, cos) = (TAU * tau / duration).sin_cos();
    let part = duration / TAU;
    Jet {
        value: from + rate / duration * (0.5 * tau * tau + part * part * (cos - 1.0)),
        rate: rate / duration * (tau - part * sin),
        acceleration: rate / duration * (1.0 - cos),
    }
}

fn spin_up_integral(tau: f64, rate: f64, duration: f64) -> f64 {
    let inner = tau.clamp(0.0, duration);
    let part = duration / TAU;
    let rising = rate / duration
        * (inner.powi(3) / 6.0 + part * part * (part * (TAU * inner / duration).sin() - inner));
    let after = (tau - duration).max(0.0);
    rising + rate * 0.5 * after * (after + duration)
}
