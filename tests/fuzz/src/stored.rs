//! Stored bodies: whatever stands in their files, they are found or not found. The hash at the end is put right, so that
//! what is behind it is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fuzz_target!(|bytes: &[u8]| {
    let mut whole = bytes.to_vec();
    whole.extend(blake3::hash(bytes).as_bytes());
    fuzz::get_stored(FOLDER.path(), &whole);
});
