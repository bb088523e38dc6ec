//! JSON models.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = exporters::json::from_bytes(bytes) {
        fuzz::use_model(&model);
    }
});
