//! Physics: agreement with independent results, and identities that any correct model satisfies.

mod beams;
mod flexible;
mod gauges;
mod identities;
mod lagrange;
mod rigid;
mod support;
