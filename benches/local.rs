//! Exact local evaluation and reduction, one thread.

use divan::{Bencher, black_box};
use reducer::description::{self, mechanism::Mechanism};
use reducer::reduction::LocalReducer;
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

fn mechanism(file: &str, elements: Option<usize>) -> Mechanism {
    let mut text = std::fs::read_to_string(data(file)).expect("data file");
    if let Some(elements) = elements {
        text = text.replace("elements = 4", &format!("elements = {elements}"));
    }
    parsed(file, &text)
}

/// With what changes the stiffness.
fn stiffened(file: &str, stiffening: &str) -> LocalReducer {
    let text = std::fs::read_to_string(data(file)).expect("data file");
    // In place of what the file may say of it.
    let kept = text.lines().filter(|line| !line.starts_with("stiffening"));
    let text = kept.collect::<Vec<_>>().join("\n");
    let section = "[reduction]";
    assert!(text.contains(section));
    let text = text.replace(section, &format!("{section}\nstiffening = {stiffening}"));
    LocalReducer::new(&parsed(file, &text)).expect("a mechanism")
}

fn parsed(file: &str, text: &str) -> Mechanism {
    description::parse(text, file, &|path| description::read(&data("").join(path))).expect("valid")
}

/// Target: at most 30 µs.
#[divan::bench]
fn orthoglide_rigid(bencher: Bencher) {
    let reducer = LocalReducer::new(&mechanism("orthoglide.toml", None)).expect("orthoglide");
    bencher.bench_local(|| reducer.evaluate(black_box(&[0.11, -0.03, 0.2])));
}

#[divan::bench]
fn orthoglide_kinematics(bencher: Bencher) {
    let reducer = LocalReducer::new(&mechanism("orthoglide.toml", None)).expect("orthoglide");
    bencher.bench_local(|| reducer.kinematics().solve(black_box(&[0.11, -0.03, 0.2])));
}

/// Targets: 0.5 ms with 4 elements per link, 10 ms with 40; growth at most n^1.3.
#[divan::bench(args = [4, 40, 140, 560])]
fn four_bar_reduction(bencher: Bencher, elements: usize) {
    let reducer = LocalReducer::new(&mechanism("four_bar.toml", Some(elements))).expect("four-bar");
    bencher.bench_local(|| reducer.evaluate(black_box(&[0.3])));
}

/// Assembly and factorisation alone; growth at most n^1.2.
#[divan::bench(args = [4, 40, 140, 560])]
fn four_bar_factorisation(bencher: Bencher, elements: usize) {
    let reducer = LocalReducer::new(&mechanism("four_bar.toml", Some(elements))).expect("four-bar");
    let configuration = reducer.kinematics().solve(&[0.3]).expect("regular");
    bencher.bench_local(|| {
        reducer
            .linearise(black_box(&configuration))
            .map(|at| at.frames.len())
    });
}

/// Target: with `true` at most 1.6 times as long as with `false`.
#[divan::bench(args = ["false", "\"loads\"", "true"])]
fn four_bar_stiffening(bencher: Bencher, stiffening: &str) {
    let reducer = stiffened("four_bar.toml", stiffening);
    bencher.bench_local(|| reducer.evaluate(black_box(&[0.3])));
}

/// The same target.
#[divan::bench(args = ["false", "\"loads\"", "true"])]
fn ralf_stiffening(bencher: Bencher, stiffening: &str) {
    let reducer = stiffened("ralf.toml", stiffening);
    let theta = reducer.kinematics().home().to_vec();
    bencher.bench_local(|| reducer.evaluate(black_box(&theta)));
}
