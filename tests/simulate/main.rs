//! Promises of motion in time: the reduced model by itself, against the full one, and `reduce
//! simulate`.

mod bad_input;
mod closed_loop;
mod command;
mod fast;
mod four_bar;
mod inversion;
mod invert;
mod linear;
mod path;
mod products;
mod ralf;
mod reduced;
mod schema;
mod signals;
mod support;
mod tables;
