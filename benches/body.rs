//! A body of 100 000 dofs, made here: read and condensed, and what a sample of a mechanism with it costs afterwards.
//!
//! Targets on two cores: 2 minutes and 6 GB for reading and condensing; a sample as fast as with a small body.
//! `cargo bench --bench body -- 64 24 20` takes another number of elements along x, y and z.

#[path = "../reducer/tests/superelement/blocks.rs"]
mod blocks;

use blocks::Block;
use reducer::description;
use reducer::reduction::LocalReducer;
use std::path::Path;
use std::time::Instant;

const ARM: &str = r#"format = 1
gravity = [0, 0, -9.81]
[[body]]
name = "arm"
superelement = { stiffness = "k.mtx", mass = "m.mtx", nodes = "block.inp", modes = 12 }
[[body.interface]]
name = "left"
nodes = "LEFT"
[[body.interface]]
name = "right"
nodes = "RIGHT"
[[joint]]
name = "A"
hinge = ["ground", "arm.left"]
axis = [0, 1, 0]
[[coordinate]]
name = "theta"
drives = "A"
range = [-1, 1]
[[output]]
name = "tip"
at = "arm.right"
[reduction]
internal_modes = 4
"#;

fn main() {
    let given: Vec<usize> = (std::env::args().skip(1))
        .filter_map(|word| word.parse().ok())
        .collect();
    let cells = <[usize; 3]>::try_from(given).unwrap_or([64, 24, 20]);
    measure([12, 4, 3]);
    measure(cells);
}

fn measure(cells: [usize; 3]) {
    let block = Block {
        cells,
        size: [0.6, 0.2, 0.16],
    };
    let files = block.files().map(|(name, text)| (name, text.into_bytes()));
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    println!(
        "{} dofs, {:.0} MB of files",
        block.n_dofs(),
        bytes as f64 / 1e6
    );
    let start = Instant::now();
    let resolver = |path: &Path| {
        let found = files.iter().find(|(name, _)| path.ends_with(name));
        Ok(found.expect("a file of the block").1.clone())
    };
    let mechanism =
        description::parse(ARM, "arm.toml", &resolver).unwrap_or_else(|faults| panic!("{faults}"));
    println!(
        "  read and condensed in {:.1} s, at most {:.2} GB of memory so far",
        start.elapsed().as_secs_f64(),
        peak_bytes() / 1e9
    );
    let reducer = LocalReducer::new(&mechanism).expect("a model");
    let rounds = 200;
    let start = Instant::now();
    for i in 0..rounds {
        let theta = f64::from(i) / f64::from(rounds);
        reducer.evaluate(&[theta]).expect("regular");
    }
    let each = start.elapsed().as_secs_f64() / f64::from(rounds);
    println!("  a sample in {:.2} ms", 1e3 * each);
}

/// Largest memory of this process, files and generator included; 0 where the system does not tell.
fn peak_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    1e3 * number.unwrap_or(0.0)
}
