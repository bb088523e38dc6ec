//! Logs of samples whose hashes hold, so that what is behind them is tried.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reducer::approximation::SampleDatabase;
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fuzz_target!(|payload: &[u8]| {
    let mut log = b"GMPSMPL4".to_vec();
    log.extend(fuzz::FINGERPRINT);
    let start = log.len();
    log.extend((payload.len() as u64).to_le_bytes());
    log.extend(payload);
    let hash = blake3::hash(&log[start..]);
    log.extend(hash.as_bytes());
    std::fs::write(FOLDER.path().join("000000.samples"), log).expect("a file");
    let read = SampleDatabase::open(FOLDER.path(), fuzz::FINGERPRINT).expect("a folder");
    assert!(read.len() <= 1);
});
