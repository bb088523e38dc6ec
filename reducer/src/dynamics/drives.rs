//! Actuators and point forces made of signals.

use super::control::{
    CalledModel, CalledModelError, Diagram, External, Feedback, Law, Library, ObserverLaw, Runs,
};
use super::excitation::{Drive, Excitation, Impulse};
use super::signal::Signal;
use crate::reduced_model::ReducedModel;
use nalgebra::Vector3;
use std::path::Path;
use std::sync::Arc;

/// What an actuator does.
#[derive(Debug, Clone, PartialEq)]
pub enum Actuator {
    /// A force (torque on a hinge) along the coordinate.
    Force(Signal),
    /// The coordinate follows the signal.
    Motion(Signal),
    /// The coordinate's rate follows the signal.
    Velocity {
        /// Value of the coordinate at time 0.
        start: f64,
        /// Its rate.
        rate: Signal,
    },
    /// Force g = G^v (G^in v − θ̇) of a drive with inner velocity feedback [T 6.4].
    VelocityFeedback {
        /// G^v (N s/m or N m s/rad).
        gain: f64,
        /// G^in, rate of the coordinate per input.
        input_gain: f64,
        /// The input v.
        input: Signal,
    },
}

/// A force on the point of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct PointForce {
    /// Index of the output.
    pub output: usize,
    /// Unit vector, inertial axes.
    pub direction: Vector3<f64>,
    /// Size (N).
    pub force: Signal,
}

/// Actuators of all coordinates and forces at points.
#[derive(Debug, Clone)]
pub struct Drives {
    actuators: Vec<Actuator>,
    forces: Vec<PointForce>,
    breaks: Vec<f64>,
    control: Option<(Diagram, Vec<Feedback>)>,
    impulses: Vec<Impulse>,
}

/// A prescribed motion that no force can follow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MotionFault {
    /// The position jumps.
    #[error("the motion jumps by {by} at t = {time} s")]
    Jump {
        /// When.
        time: f64,
        /// By how much.
        by: f64,
    },
    /// The rate jumps.
    #[error("the rate of the motion jumps by {by} at t = {time} s, which takes an infinite force")]
    Kink {
        /// When.
        time: f64,
        /// By how much.
        by: f64,
    },
    /// The rate has no closed integral.
    #[error("a chirp cannot be a velocity: its integral has no closed form")]
    NoIntegral,
}

impl MotionFault {
    /// One thing to try.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Jump { .. } | Self::Kink { .. } => {
                "use `point_to_point`, `spin_up`, or a `table` with `ends = \"rest\"`"
            }
            Self::NoIntegral => "prescribe the motion itself, or use `sine`",
        }
    }
}

impl Actuator {
    /// What a force can follow: position and rate must not jump between 0 and `duration`.
    pub fn check(&self, duration: f64) -> Result<(), MotionFault> {
        let signal = match self {
            Self::Motion(signal) => signal,
            Self::Velocity { rate, .. } => rate,
            Self::Force(_) | Self::VelocityFeedback { .. } => return Ok(()),
        };
        let is_rate = matches!(self, Self::Velocity { .. });
        if is_rate && signal.integral(duration).is_none() {
            return Err(MotionFault::NoIntegral);
        }
        let mut breaks = Vec::new();
        signal.add_breaks(&mut breaks);
        for time in inner(breaks, duration) {
            let (low, high) = (signal.at(time.next_down()), signal.at(time));
            let scale = 1e-9 * (1.0 + low.value.abs() + low.rate.abs() + high.rate.abs());
            let by = high.value - low.value;
            if by.abs() > scale {
                return Err(if is_rate {
                    MotionFault::Kink { time, by }
                } else {
                    MotionFault::Jump { time, by }
                });
            }
            let by = high.rate - low.rate;
            if !is_rate && by.abs() > scale {
                return Err(MotionFault::Kink { time, by });
            }
        }
        Ok(())
    }

    /// Whether the coordinate moves as given.
    pub fn is_prescribed(&self) -> bool {
        matches!(self, Self::Motion(_) | Self::Velocity { .. })
    }

    fn signal(&self) -> &Signal {
        match self {
            Self::Force(signal) | Self::Motion(signal) => signal,
            Self::Velocity { rate, .. } => rate,
            Self::VelocityFeedback { input, .. } => input,
        }
    }

    fn drive(&self, time: f64, rate: f64) -> Drive {
        match self {
            Self::Force(signal) => Drive::Force {
                force: signal.at(time).value,
                by_position: 0.0,
                by_rate: 0.0,
            },
            Self::VelocityFeedback {
                gain,
                input_gain,
                input,
            } => Drive::Force {
                force: gain * (input_gain * input.at(time).value - rate),
                by_position: 0.0,
                by_rate: -gain,
            },
            Self::Motion(signal) => {
                let jet = signal.at(time);
                Drive::Motion {
                    position: jet.value,
                    rate: jet.rate,
                    acceleration: jet.acceleration,
                }
            }
            Self::Velocity { start, rate } => {
                let jet = rate.at(time);
                Drive::Motion {
                    // `check` refuses rates without an integral.
                    position: start + rate.integral(time).unwrap_or(f64::NAN),
                    rate: jet.value,
                    acceleration: jet.rate,
                }
            }
        }
    }
}

impl Drives {
    /// One actuator per coordinate of θ, and forces at points, from 0 to `duration`.
    pub fn new(
        actuators: Vec<Actuator>,
        forces: Vec<PointForce>,
        duration: f64,
    ) -> Result<Self, MotionFault> {
        let mut breaks = Vec::new();
        for actuator in &actuators {
            actuator.check(duration)?;
            actuator.signal().add_breaks(&mut breaks);
        }
        for force in &forces {
            force.force.add_breaks(&mut breaks);
        }
        Ok(Self {
            actuators,
            forces,
            breaks: inner(breaks, duration),
            control: None,
            impulses: Vec::new(),
        })
    }

    /// The same with blocks that close loops.
    pub fn with_control(
        mut self,
        diagram: Diagram,
        feedback: Vec<Feedback>,
        duration: f64,
    ) -> Self {
        for block in &diagram.blocks {
            if let Law::Source(signal, _) = &block.law {
                signal.add_breaks(&mut self.breaks);
            }
        }
        self.breaks = inner(self.breaks, duration);
        self.control = Some((diagram, feedback));
        self
    }

    /// The same with blows at times from 0 to before the end.
    pub fn with_impulses(mut self, impulses: Vec<Impulse>, duration: f64) -> Self {
        self.breaks.extend(impulses.iter().map(|i| i.time));
        self.breaks = inner(self.breaks, duration);
        self.impulses = impulses;
        self
    }

    /// The same without what blocks give: sensors read, blocks compute, nothing is fed back.
    pub fn opened(mut self) -> Self {
        if let Some((_, feedback)) = &mut self.control {
            feedback.clear();
        }
        self
    }

    /// Controllers that are shared libraries, and the names of their blocks.
    pub fn libraries(&self) -> Vec<(&str, &Library)> {
        let blocks = self.control.iter().flat_map(|(diagram, _)| &diagram.blocks);
        let own = blocks.filter_map(|block| match &block.law {
            Law::External(External {
                runs: Runs::Library(library),
                ..
            }) => Some((block.name.as_str(), library)),
            _ => None,
        });
        own.collect()
    }

    /// The same with a program that loads shared libraries.
    pub fn with_host(mut self, host: &Path) -> Self {
        let blocks = self.control.iter_mut();
        for block in blocks.flat_map(|(diagram, _)| &mut diagram.blocks) {
            if let Law::External(External {
                runs: Runs::Library(library),
                ..
            }) = &mut block.law
            {
                library.host = Some(host.to_owned());
            }
        }
        self
    }

    /// Blocks that are observers.
    pub(crate) fn observers(&mut self) -> impl Iterator<Item = &mut ObserverLaw> {
        let blocks = self.control.iter_mut();
        let blocks = blocks.flat_map(|(diagram, _)| &mut diagram.blocks);
        blocks.filter_map(|block| match &mut block.law {
            Law::Observer(observer) => Some(&mut **observer),
            _ => None,
        })
    }

    /// The same with the model that blocks evaluate, where there are such.
    pub fn calling(&self, model: &ReducedModel) -> Result<Self, CalledModelError> {
        let mut all = self.clone();
        let blocks = all.control.iter_mut();
        let blocks = blocks.flat_map(|(diagram, _)| &mut diagram.blocks);
        let calls = blocks.filter_map(|block| match &mut block.law {
            Law::Model(law) => Some((&block.name, law)),
            _ => None,
        });
        let mut called: Option<Arc<CalledModel>> = None;
        for (name, law) in calls {
            let called = match &called {
                Some(called) => called,
                None => called.insert(Arc::new(CalledModel::new(model)?)),
            };
            if called.coordinates() != law.coordinates {
                return Err(CalledModelError::Coordinates {
                    block: name.clone(),
                    expected: law.coordinates,
                    found: called.coordinates(),
                });
            }
            law.attach(called);
        }
        Ok(all)
    }

    /// The same with a multiple of a block's outputs.
    pub fn scaled(&self, block: &str, factor: f64) -> Self {
        let mut all = self.clone();
        if let Some((diagram, feedback)) = &mut all.control {
            let signals = diagram.signals_of(block);
            diagram.scale(&signals, factor);
            for term in feedback.iter_mut().map(|f| &mut f.term) {
                if signals.contains(&term.signal) {
                    term.weight *= factor;
                }
            }
        }
        all
    }

    /// The actuators, one per coordinate of θ.
    pub fn actuators(&self) -> &[Actuator] {
        &self.actuators
    }
}

/// Times strictly inside the run, in order, each once.
fn inner(mut breaks: Vec<f64>, duration: f64) -> Vec<f64> {
    let least = 1e-12 * duration;
    breaks.retain(|t| *t > least && *t < duration - least);
    breaks.sort_by(f64::total_cmp);
    breaks.dedup_by(|later, earlier| *later - *earlier <= least);
    breaks
}

impl Excitation for Drives {
    fn is_prescribed(&self, k: usize) -> bool {
        self.actuators.get(k).is_some_and(Actuator::is_prescribed)
    }

    fn drive(&self, k: usize, time: f64, _position: f64, rate: f64) -> Drive {
        match self.actuators.get(k) {
            Some(actuator) => actuator.drive(time, rate),
            None => Drive::Force {
                force: 0.0,
                by_position: 0.0,
                by_rate: 0.0,
            },
        }
    }

    fn point_force(&self, output: usize, time: f64) -> Option<Vector3<f64>> {
        let mut here = self.forces.iter().filter(|f| f.output == output).peekable();
        here.peek()?;
        Some(here.map(|f| f.direction * f.force.at(time).value).sum())
    }

    fn control(&self) -> Option<(&Diagram, &[Feedback])> {
        let (diagram, feedback) = self.control.as_ref()?;
        Some((diagram, feedback))
    }

    fn impulses(&self) -> &[Impulse] {
        &self.impulses
    }

    fn breaks(&self) -> &[f64] {
        &self.breaks
    }
}
