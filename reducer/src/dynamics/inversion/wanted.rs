//! What is to be followed: outputs of a mechanism and where they are wanted over time.

use crate::dynamics::control::Expression;
use crate::dynamics::drives::{Actuator, MotionFault};
use crate::dynamics::signal::{Jet, Signal};

/// An output and where it is wanted.
#[derive(Debug, Clone)]
pub struct Tracked {
    /// Its name, as in `tip.x`.
    pub name: String,
    /// What is tracked.
    pub place: TrackedPlace,
    /// Where it is wanted.
    pub wanted: Wanted,
}

/// What is tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackedPlace {
    /// The position of an output along an inertial axis.
    Output {
        /// Index of the output.
        output: usize,
        /// 0, 1 or 2.
        axis: usize,
    },
    /// A coordinate of θ.
    Coordinate(usize),
}

/// A position over time.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// A function of time.
    Signal(Signal),
    /// A function of one parameter, which is a function of time.
    Curve {
        /// The function, with the parameter as its only input.
        curve: Expression,
        /// The parameter.
        parameter: Signal,
    },
}

impl Wanted {
    fn jet(&self, time: f64) -> Jet {
        match self {
            Self::Signal(signal) => signal.at(time),
            Self::Curve { curve, parameter } => {
                let s = parameter.at(time);
                let [value, slope, bend] = curve.jet(s.value);
                Jet {
                    value,
                    rate: slope * s.rate,
                    acceleration: slope * s.acceleration + bend * s.rate * s.rate,
                }
            }
        }
    }

    fn signal(&self) -> &Signal {
        match self {
            Self::Signal(signal) => signal,
            Self::Curve { parameter, .. } => parameter,
        }
    }

    /// Position and rate must not jump.
    pub(super) fn check(&self, duration: f64) -> Result<(), MotionFault> {
        Actuator::Motion(self.signal().clone()).check(duration)
    }

    /// Position and derivatives at a time, held before 0 and after `duration`; `before` tells the
    /// derivatives just before the time.
    pub(super) fn at(&self, time: f64, duration: f64, before: bool) -> Jet {
        if time < 0.0 || (before && time <= 0.0) {
            return Jet::still(self.jet(0.0).value);
        }
        if time > duration || (!before && time >= duration) {
            return Jet::still(self.jet(duration).value);
        }
        self.jet(if before { time.next_down() } else { time })
    }

    /// Times within the motion at which a derivative may jump.
    pub(super) fn add_breaks(&self, breaks: &mut Vec<f64>) {
        self.signal().add_breaks(breaks);
    }
}
