//! From TOML to a validated [`mechanism::Mechanism`].
pub mod mechanism;
