//! Generated code of the mechanisms in `data/`: equal to the evaluator, free of undefined
//! behaviour, within MISRA C but for listed deviations, proven free of run-time errors, and at home
//! on a microcontroller.

#[path = "../support/dual.rs"]
mod dual;
#[path = "../support/generated.rs"]
mod generated;
#[path = "../support/rounding.rs"]
mod rounding;
#[path = "../support/mod.rs"]
mod support;

mod contracts;
mod cortex;
mod derivatives;
mod driver;
mod equality;
mod feedforward;
mod misra;
mod models;
mod observer;
mod points;
mod proof;
mod reference;
mod sanitizers;
mod stable;
