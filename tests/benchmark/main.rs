//! What benchmarks compare with is right.

use reducer::approximation::LocalModel;
use reducer::description;
use reducer::sampling::MechanismModel;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const MAIN: &str = r#"
#include "closed_form.h"
#include <stdio.h>
int main(void)
{
    double x[9], force[3];
    while (scanf("%lf %lf %lf %lf %lf %lf %lf %lf %lf", x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6,
                 x + 7, x + 8) == 9) {
        if (closed_form_inverse_dynamics(x, x + 3, x + 6, force) != 0) {
            return 1;
        }
        printf("%.17g %.17g %.17g\n", force[0], force[1], force[2]);
    }
    return 0;
}
"#;

/// States of the whole domain, corners included: positions, rates, accelerations.
fn states() -> Vec<[f64; 9]> {
    let mut states: Vec<[f64; 9]> = (0..200)
        .map(|i| {
            std::array::from_fn(|k| {
                let u = (f64::from(i + 1)
                    * [
                        0.618, 0.414, 0.236, 0.732, 0.646, 0.317, 0.873, 0.082, 0.517,
                    ][k])
                    .fract();
                match k / 3 {
                    0 => -0.08 + 0.34 * u,
                    1 => 2.0 * u - 1.0,
                    _ => 20.0 * u - 10.0,
                }
            })
        })
        .collect();
    for corner in 0..8 {
        let mut state = states[corner];
        for (k, x) in state.iter_mut().take(3).enumerate() {
            *x = if corner >> k & 1 == 1 { 0.26 } else { -0.08 };
        }
        states.push(state);
    }
    states
}

/// Forces of the closed form, compiled by the C compiler of the machine.
fn closed_form(states: &[[f64; 9]]) -> Vec<Vec<f64>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (main, program, input) = (
        folder.path().join("main.c"),
        folder.path().join("main"),
        folder.path().join("states"),
    );
    std::fs::write(&main, MAIN).expect("a file");
    let mut text = String::new();
    for x in states.iter().flatten() {
        writeln!(text, "{x:e}").expect("text");
    }
    std::fs::write(&input, text).expect("a file");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/orthoglide");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-I"])
        .arg(&source)
        .arg("-o")
        .args([&program, &main, &source.join("closed_form.c")])
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(compiled.success());
    let output = Command::new(&program)
        .stdin(std::fs::File::open(&input).expect("a file"))
        .output()
        .expect("the program runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| {
            line.split(' ')
                .map(|w| w.parse().expect("a number"))
                .collect()
        })
        .collect()
}

#[test]
fn the_closed_form_of_the_orthoglide_agrees_with_the_exact_evaluation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/orthoglide.toml");
    let mechanism = description::load(&path).expect("a data file");
    let local = MechanismModel::new(&mechanism).expect("a mechanism that assembles");
    let states = states();
    let forces = closed_form(&states);
    assert_eq!(forces.len(), states.len());
    for (state, found) in states.iter().zip(&forces) {
        let exact = local
            .evaluate(&state[..3])
            .expect("a regular configuration");
        let expected = exact.inverse_dynamics(&state[3..6], &state[6..]);
        let size = expected.iter().map(|f| f * f).sum::<f64>().sqrt();
        for (a, b) in found.iter().zip(&expected) {
            assert!(
                (a - b).abs() <= 1e-10 * size,
                "{state:?}: {found:?} {expected:?}"
            );
        }
    }
}
