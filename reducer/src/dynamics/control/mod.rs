//! Blocks that close loops around a mechanism: controllers, filters, actuators, references.
//!
//! Blocks ẋ = f(u, x, t), y = g(u, x, t) take sums of sensors w and outputs y as inputs,
//! u = L_w w + L_y y [T 4.3-4.9] [M 13.2]. Sampled blocks act at their instants and hold their outputs between.

mod called;
mod diagram;
mod discrete;
mod expression;
mod external;
mod law;
mod linear;
mod noise;
mod observed;
mod order;
mod periodic;
mod run;
mod state_space;

pub(crate) use called::CalledModel;
pub use called::{CalledModelError, ModelFunction, ModelLaw};
pub use diagram::{Block, Diagram, DiagramFault, Feedback, Place, Sampling, Sensed, Sensor, Term};
pub use expression::Expression;
pub use external::{ControllerFault, External, HOST, Library, Runs};
pub use law::{Law, Limits, Pid};
pub use linear::Slopes;
pub use observed::ObserverLaw;
pub(crate) use periodic::Held as PeriodHeld;
pub use periodic::PeriodFault;
pub use run::ControlFault;
pub(crate) use run::{ControlRun, Running};
pub use state_space::{Band, StateSpace};
