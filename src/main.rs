//! reduce
fn main() {}
