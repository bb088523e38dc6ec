//! The whole pipeline through the command line: what it promises, on the mechanisms of `data/`.

mod accuracy;
mod bodies;
mod coverage;
mod elastic;
mod energy;
#[path = "../support/energy.rs"]
mod energy_drift;
mod generated;
mod interruption;
mod kinds;
mod limits;
mod runtime;
mod scan;
mod serial;
mod support;
#[path = "../../exporters/tests/support/tools.rs"]
mod tools;
mod work;
