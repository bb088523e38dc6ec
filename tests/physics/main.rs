//! Physics: agreement with independent results, and identities that any correct model satisfies.

mod beams;
mod flexible;
mod identities;
mod rigid;
mod support;
