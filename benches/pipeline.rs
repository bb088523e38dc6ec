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
use std::path::{Path, PathBuf};
use std::process::Command;
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

    fn own_inertia(&self) -> Option<Vec<f64>> {
        self.local.own_inertia()
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.local.fingerprint()
    }
}

/// A mechanism file of its own, from one in `data` with other elements per link.
fn case(folder: &Path, name: &'static str, file: &str, elements: &str) -> (&'static str, PathBuf) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let text = std::fs::read_to_string(data.join(file)).expect("data file");
    let path = folder.join(format!("{}.toml", name.replace([',', ' '], "_")));
    let changed = text.replace("elements = 4", elements);
    std::fs::write(&path, changed).expect("a temporary folder");
    (name, path)
}

/// Wall time (s) of the whole command, files and report included, on one thread.
fn command(file: &Path, folder: &Path) -> f64 {
    let start = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_reduce"))
        .env("RAYON_NUM_THREADS", "1")
        .arg(file)
        .args(["--fresh", "--quiet", "-o"])
        .arg(folder.join("reduced"))
        .status()
        .expect("the program runs");
    assert!(status.success(), "{} is not reduced", file.display());
    start.elapsed().as_secs_f64()
}

/// Wall time of a run (s), what fit and bookkeeping take of it where one thread runs (s), and the
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
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut database =
            SampleDatabase::open(folder.path(), local.fingerprint()).expect("a writable folder");
        let (_, summary) =
            pipeline::reduce(&timed, &mechanism.approximation, &Silent, &mut database)
                .expect("reducible");
        let total = start.elapsed().as_secs_f64();
        let sampling = timed.nanoseconds.into_inner() as f64 * 1e-9;
        (total, total - built - sampling, summary.samples)
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = folder.path();
    let four_bar = "four_bar.toml";
    let cases = [
        case(place, "orthoglide", "orthoglide.toml", "elements = 4"),
        case(place, "four_bar", four_bar, "elements = 4"),
        case(place, "four_bar, 16 elements", four_bar, "elements = 16"),
        case(place, "four_bar, 40 elements", four_bar, "elements = 40"),
    ];
    println!(
        "                                                           fit and bookkeeping, part of"
    );
    println!(
        "case                    samples  1 thread  2 threads  efficiency   the reduction  the command"
    );
    // `cargo bench --bench pipeline -- 16` measures the cases whose names have the word in them.
    let word = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let word = word.unwrap_or_default();
    for (name, file) in cases.iter().filter(|(name, _)| name.contains(&word)) {
        let mechanism = description::load(file).expect("valid");
        let (mut one, mut two, mut samples) = (vec![], vec![], 0);
        let (mut of_reduction, mut of_command) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            let (total, rest, count) = run(&mechanism, 1);
            one.push(total);
            of_reduction.push(100.0 * rest / total);
            of_command.push(100.0 * rest / command(file, place));
            samples = count;
            two.push(run(&mechanism, 2).0);
        }
        let (one, two) = (median(one), median(two));
        println!(
            "{name:<23} {samples:>7} {one:>7.3} s {two:>8.3} s {:>9.0} % {:>13.1} % {:>10.1} %",
            50.0 * one / two,
            median(of_reduction),
            median(of_command)
        );
    }
}
