//! Inverse dynamics of the Orthoglide, one thread: generated C for both objectives at the thesis
//! tolerance, a closed form written by hand, and the exact numerical elimination.

use exporters::{ExportOptions, code};
use reducer::approximation::{LocalModel, SampleDatabase, Silent};
use reducer::description::{self, mechanism::Objective};
use reducer::pipeline;
use reducer::reduced_model::ReducedModel;
use reducer::sampling::MechanismModel;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Parts of the range of θ that are visited: all of it at random, or what a controller meets from one
/// call to the next, whose tables are in the first cache.
const SPANS: [(&str, &str); 2] = [("1.0", "anywhere"), ("0.01", "nearby")];
const FLAGS: [&[&str]; 2] = [&["-O2"], &["-O3", "-march=native"]];

/// Runs of every program, in turn: what else the machine does disturbs some of them for seconds, and
/// code that keeps a processor busy more than code that waits.
const RUNS: usize = 12;

/// Times of one call in nanoseconds.
struct Times {
    median: f64,
    smallest: f64,
}

fn main() {
    // `cargo test --benches` and listings must not measure.
    if std::env::args().any(|a| a == "--test" || a == "--list") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let exact = elimination();
    println!(
        "Orthoglide inverse dynamics: median of the least disturbed of {RUNS} runs (smallest time)"
    );
    println!(
        "exact elimination        {:9.0} ns ({:.0})",
        exact.median, exact.smallest
    );
    let fast = export(Objective::Speed, "speed", folder.path());
    let small = export(Objective::Size, "size", folder.path());
    for (flags, (span, words)) in FLAGS.iter().flat_map(|f| SPANS.map(|s| (f, s))) {
        println!("gcc {}, {words}", flags.join(" "));
        let programs = [
            (source().join("closed_form.c"), "closed_form"),
            (fast.clone(), "speed"),
            (small.clone(), "size"),
        ]
        .map(|(file, name)| compile(&file, name, span, flags, folder.path()));
        let [closed, fast, small] = least_disturbed(&programs);
        print("closed form", &closed, &closed, &exact);
        print("speed", &fast, &closed, &exact);
        print("size", &small, &closed, &exact);
    }
}

fn print(name: &str, found: &Times, closed: &Times, exact: &Times) {
    println!(
        "  {name:<22} {:9.1} ns ({:.1}), {:.2} of the closed form, elimination {:.0} times slower",
        found.median,
        found.smallest,
        found.median / closed.median,
        exact.median / found.median,
    );
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/orthoglide")
}

fn local() -> (MechanismModel, description::mechanism::Mechanism) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/orthoglide.toml");
    let mechanism = description::load(&path).expect("a data file");
    let local = MechanismModel::new(&mechanism).expect("a mechanism that assembles");
    (local, mechanism)
}

/// The reduced model as C; the path of its source.
fn export(objective: Objective, name: &str, folder: &Path) -> PathBuf {
    let (local, mut mechanism) = local();
    mechanism.approximation.objective = objective;
    let mut database = SampleDatabase::in_memory();
    let (model, summary) =
        pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
            .expect("a model");
    describe(name, &model, summary.reached);
    let options = ExportOptions {
        single: false,
        prefix: Some(name.to_owned()),
    };
    for (file, text) in code::c_files(&model, &options).expect("source") {
        std::fs::write(folder.join(file), text).expect("a temporary folder");
    }
    folder.join(format!("{name}.c"))
}

fn describe(name: &str, model: &ReducedModel, reached: bool) {
    let terms = model.boxes.iter().map(|b| b.dynamics.terms.len()).max();
    println!(
        "{name}: {:?}, {} box(es), at most {} terms, {} numbers, tolerances reached: {}",
        model.form,
        model.boxes.len(),
        terms.unwrap_or(0),
        model.stored_numbers(),
        reached,
    );
}

/// Compiles a source with the loop of calls; the path of the program.
fn compile(file: &Path, prefix: &str, span: &str, flags: &[&str], folder: &Path) -> PathBuf {
    let upper = prefix.to_ascii_uppercase();
    let program = folder.join(format!("time_{prefix}"));
    let parent = file.parent().expect("a file in a folder");
    let status = Command::new("gcc")
        .arg("-std=c99")
        .args(flags)
        .arg(format!("-DHEADER=\"{prefix}.h\""))
        .arg(format!("-DSPAN={span}"))
        .arg(format!("-DFUNCTION={prefix}_inverse_dynamics"))
        .arg(format!("-DLOWER={upper}_THETA_MIN"))
        .arg(format!("-DUPPER={upper}_THETA_MAX"))
        .arg("-I")
        .arg(parent)
        .arg("-o")
        .arg(&program)
        .args([file, &source().join("time_calls.c")])
        .arg("-lm")
        .status()
        .expect("gcc");
    assert!(status.success(), "{} does not compile", file.display());
    program
}

/// Of every program the run with the smallest median.
fn least_disturbed<const N: usize>(programs: &[PathBuf; N]) -> [Times; N] {
    let mut best = programs.each_ref().map(|p| time(p));
    for _ in 1..RUNS {
        for (best, program) in best.iter_mut().zip(programs) {
            let found = time(program);
            if found.median < best.median {
                *best = found;
            }
        }
    }
    best
}

fn time(program: &Path) -> Times {
    let output = Command::new(program).output().expect("the program runs");
    let name = program.display();
    assert!(output.status.success(), "{name} failed at a state");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut numbers = text
        .split_whitespace()
        .map(|w| w.parse().expect("a number"));
    let mut next = || numbers.next().expect("two times");
    Times {
        median: next(),
        smallest: next(),
    }
}

/// Kinematics, elimination of the constraints and projection, then the equations of motion.
fn elimination() -> Times {
    let (local, _) = local();
    let mut times: Vec<f64> = (0..2000)
        .map(|i| {
            let part = |k: f64| (f64::from(i) * k).fract();
            let theta = [0.618, 0.414, 0.236].map(|k| -0.08 + 0.34 * part(k));
            let rate = [0.732, 0.292, 0.162].map(|k| 2.0 * part(k) - 1.0);
            let start = Instant::now();
            let exact = local
                .evaluate(black_box(&theta))
                .expect("a regular configuration");
            black_box(exact.inverse_dynamics(&rate, &rate));
            start.elapsed().as_nanos() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    Times {
        median: times[times.len() / 2],
        smallest: times[0],
    }
}
