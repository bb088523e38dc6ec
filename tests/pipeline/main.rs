//! The whole pipeline through the command line: what it promises, on the mechanisms of `data/`.

mod accuracy;
mod generated;
mod interruption;
mod support;
