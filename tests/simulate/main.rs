//! Promises of motion in time: the reduced model by itself, against the full one, and `reduce
//! simulate`.

mod bad_input;
mod command;
mod four_bar;
mod path;
mod products;
mod ralf;
mod reduced;
mod schema;
mod signals;
mod support;
mod tables;
