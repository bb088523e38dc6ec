//! Mechanism files: refused with faults, or assembled and reduced without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(mechanism) = reducer::description::parse(text, "fuzz.toml", &fuzz::no_file) {
        fuzz::use_mechanism(&mechanism);
    }
});
