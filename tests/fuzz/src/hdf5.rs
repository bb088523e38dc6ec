//! HDF5 models whose checksums hold, so that what is behind them is tried.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    fuzz::hdf5::repair(&mut bytes);
    if let Ok(model) = exporters::hdf5::from_bytes(bytes) {
        fuzz::use_model(&model);
    }
});
