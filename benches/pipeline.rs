//! The whole reduction: how much of it is sampling, and what a second thread brings.
//!
//! Every figure is a ratio within one run. Rounds alternate between one and two threads, and the
//! medians are compared, since machines are shared.

use reducer::approximation::{LocalModel, SampleDatabase, SampleFailure, Silent};
use reducer::description::{self, mechanism::Mechanism};
use reducer::pipeline;
use reducer::reduced_model::ModelLayout;
use reducer::reduction::Coefficients;
use reducer::sampling::MechanismModel;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const ROUNDS: usize = 7;

/// A mechanism that knows how long its evaluations took, all threads together.
struct Timed<'a> {
    local: &'a MechanismModel,
    nanoseconds: AtomicU64,
}

impl LocalModel for Timed<'_> {
    fn layout(&self) -> ModelLayout {
        self.local.layout()
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        let start = Instant::now();
        let result = self.local.evaluate(theta);
        let spent = start.elapsed().as_nanos() as u64;
        self.nanoseconds.fetch_add(spent, Ordering::Relaxed);
        result
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.local.fingerprint()
    }
}

fn mechanism(file: &str, changes: &[(&str, &str)]) -> Mechanism {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut text = std::fs::read_to_string(data.join(file)).expect("data file");
    for (from, to) in changes {
        text = text.replace(from, to);
    }
    description::parse(&text, file, &|path| description::read(&data.join(path))).expect("valid")
}

/// Wall time of a run (s), the part of it that fit and bookkeeping take where one thread runs, and the
/// number of samples.
fn run(mechanism: &Mechanism, threads: usize) -> (f64, f64, usize) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    pool.install(|| {
        let start = Instant::now();
        let local = MechanismModel::new(mechanism).expect("valid");
        let built = start.elapsed().as_secs_f64();
        let timed = Timed {
            local: &local,
            nanoseconds: AtomicU64::new(0),
        };
        let mut database = SampleDatabase::in_memory();
        let (_, summary) =
            pipeline::reduce(&timed, &mechanism.approximation, &Silent, &mut database)
                .expect("reducible");
        let total = start.elapsed().as_secs_f64();
        let sampling = timed.nanoseconds.into_inner() as f64 * 1e-9;
        (total, (total - built - sampling) / total, summary.samples)
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let cases = [
        ("orthoglide", mechanism("orthoglide.toml", &[])),
        ("four_bar", mechanism("four_bar.toml", &[])),
        (
            "four_bar, 16 elements per link",
            mechanism("four_bar.toml", &[("elements = 4", "elements = 16")]),
        ),
        (
            "four_bar, 40 elements per link",
            mechanism("four_bar.toml", &[("elements = 4", "elements = 40")]),
        ),
    ];
    println!(
        "case                             samples   1 thread   2 threads   efficiency   fit and bookkeeping"
    );
    // `cargo bench --bench pipeline -- 16` measures the cases whose names have the word in them.
    let word = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let word = word.unwrap_or_default();
    for (name, mechanism) in cases.iter().filter(|(name, _)| name.contains(&word)) {
        let (mut one, mut two, mut outside, mut samples) = (vec![], vec![], vec![], 0);
        for _ in 0..ROUNDS {
            let (total, rest, count) = run(mechanism, 1);
            one.push(total);
            outside.push(rest);
            samples = count;
            two.push(run(mechanism, 2).0);
        }
        let (one, two) = (median(one), median(two));
        println!(
            "{name:<32} {samples:>7} {one:>8.3} s {two:>9.3} s {:>10.0} % {:>19.1} %",
            50.0 * one / two,
            100.0 * median(outside)
        );
    }
}
