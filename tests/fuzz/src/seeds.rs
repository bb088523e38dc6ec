//! Writes the files from which the targets start: `seeds FOLDER`.

// Holds what instrumented code calls.
use libfuzzer_sys as _;

fn main() {
    let folder = std::env::args_os().nth(1).expect("a folder");
    fuzz::write_seeds(folder.as_ref());
}
