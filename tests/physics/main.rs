//! Physics: agreement with independent results, and identities that any correct model satisfies.

mod beams;
mod default_modes;
mod flexible;
mod forces;
mod free;
mod gauges;
mod identities;
mod invariance;
mod lagrange;
mod loops;
mod plane;
mod ralf;
mod random_mechanisms;
mod redundancy;
mod rigid;
mod routes;
mod support;
