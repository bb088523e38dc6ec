//! Promises of motion in time: the reduced model by itself, against the full one, and `reduce
//! simulate`.

mod bad_input;
mod blocks;
mod closed_loop;
mod command;
mod computed_torque;
mod controllers;
mod discrete;
mod fast;
mod four_bar;
mod inversion;
mod invert;
mod linear;
mod machines;
mod observer;
mod path;
mod products;
mod ralf;
mod reduced;
mod response;
mod schema;
mod signals;
mod support;
mod tables;
mod trajectory;
