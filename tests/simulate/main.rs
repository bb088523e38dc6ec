//! Promises of motion in time: the reduced model by itself, against the full one, and `reduce
//! simulate`.

mod reduced;
mod support;
