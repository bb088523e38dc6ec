//! Physics: agreement with independent results, and identities that any correct model satisfies.

mod flexible;
mod identities;
mod lagrange;
mod rigid;
mod support;
