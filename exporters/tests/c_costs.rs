//! The operations that headers state bound those that are carried out: generated C is compiled as
//! C++ with a number type that counts.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::ExportOptions;
use exporters::code::code_figures;
use generated::{run, write_c};
use reducer::reduced_model::inverse_dynamics_operations;
use std::path::Path;
use std::process::Command;
use support::{model, recipes};

const COUNTING: &str = r#"
#include <cmath>
#include <cstdio>
static long multiplications, additions;
struct Count {
    double v;
    Count() = default;
    constexpr Count(double x) : v(x) {}
    constexpr Count(int x) : v(x) {}
    constexpr Count(long x) : v((double)x) {}
    explicit operator long() const { return (long)v; }
    explicit operator int() const { return (int)v; }
};
inline Count operator*(Count a, Count b) { ++multiplications; return Count(a.v * b.v); }
inline Count operator/(Count a, Count b) { ++multiplications; return Count(a.v / b.v); }
inline Count operator+(Count a, Count b) { ++additions; return Count(a.v + b.v); }
inline Count operator-(Count a, Count b) { ++additions; return Count(a.v - b.v); }
inline Count operator-(Count a) { return Count(-a.v); }
inline Count &operator+=(Count &a, Count b) { return a = a + b; }
inline Count &operator-=(Count &a, Count b) { return a = a - b; }
inline Count &operator*=(Count &a, Count b) { return a = a * b; }
inline bool operator<(Count a, Count b) { return a.v < b.v; }
inline bool operator>(Count a, Count b) { return a.v > b.v; }
inline bool operator<=(Count a, Count b) { return a.v <= b.v; }
inline bool operator>=(Count a, Count b) { return a.v >= b.v; }
inline bool operator==(Count a, Count b) { return a.v == b.v; }
inline bool operator!=(Count a, Count b) { return a.v != b.v; }
static Count sqrt(Count a) { ++multiplications; return Count(std::sqrt(a.v)); }
"#;

const MAIN: &str = r#"
#define COUNT(name, call) \
    multiplications = additions = 0; \
    if ((call) >= 2) { return 1; } \
    std::printf("%s %ld %ld\n", name, multiplications, additions)
int main() {
    enum { n = NAME_N, s = NAME_N_RIGID, y = NAME_N_Y };
    Count lower[] = NAME_THETA_MIN, upper[] = NAME_THETA_MAX;
    Count x[2 * n], rate[n], fast[s], accel[n], force[n], dx[2 * n];
    Count A[4 * n * n], B[2 * n * n], C[y * 2 * n + 1], D[y * n + 1];
    name_coefficients_t c;
    for (int i = 0; i < n; ++i) {
        x[i] = i < s ? Count(lower[i].v + 0.7 * (upper[i].v - lower[i].v)) : Count(0.01);
        x[n + i] = rate[i] = Count(0.1);
        accel[i] = Count(0.2);
        force[i] = Count(0.3);
    }
    name_params_t nominal = NAME_NOMINAL_PARAMS;
    for (int k = 0; k < s; ++k) {
        fast[k] = Count(1e3);
        nominal.rotor_inertia[k] = nominal.viscous[k] = Count(0.3);
        nominal.coulomb[k] = nominal.coulomb_rate[k] = Count(0.5);
    }
#if NAME_N_OUTPUTS > 0
    name_outputs_t o;
    for (int k = 0; k < NAME_N_OUTPUTS; ++k) {
        nominal.payload_mass[k] = Count(nominal.payload_mass[k].v + 0.3);
    }
#endif
    const name_params_t *params[] = {NULL, &nominal};
    for (const name_params_t *p : params) {
        COUNT("coefficients", name_coefficients_p(p, x, &c));
        COUNT("inverse_dynamics", name_inverse_dynamics_p(p, x, rate, accel, force));
        COUNT("forward_dynamics", name_forward_dynamics_p(p, x, rate, force, accel));
        COUNT("state_derivative", name_state_derivative_p(p, x, force, dx));
        COUNT("linearize", name_linearize_p(p, x, rate, force, A, B, C, D));
        /* So fast that modal coordinates seldom settle. */
        COUNT("feedforward", (name_feedforward_p(p, x, fast, accel, force, B), 0));
#if NAME_N_OUTPUTS > 0
        COUNT("outputs", name_outputs_p(p, x, rate, &o));
#endif
        COUNT("step", name_step_p(p, x, force, Count(1e-3)));
    }
    return 0;
}
"#;

/// What the program counts, per function.
fn counted(folder: &Path) -> Vec<(String, [usize; 2])> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let header = read("name.h").replace("typedef double name_real;", "typedef Count name_real;");
    let header = header.replace("extern \"C\" {", "extern \"C++\" {");
    std::fs::write(folder.join("name.h"), header).unwrap();
    let program = format!("{COUNTING}{}{MAIN}", read("name.c"));
    std::fs::write(folder.join("count.cpp"), program).unwrap();
    let mut compile = Command::new("g++");
    run(compile
        .current_dir(folder)
        .args(["-w", "-std=c++11", "-o", "count", "count.cpp"]));
    run(&mut Command::new(folder.join("count")))
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (
                words[0].to_owned(),
                [1, 2].map(|i| words[i].parse().unwrap()),
            )
        })
        .collect()
}

#[test]
fn stated_operations_bound_those_carried_out() {
    for recipe in recipes() {
        let folder = tempfile::tempdir().unwrap();
        let options = ExportOptions {
            single: false,
            prefix: Some("name".into()),
        };
        write_c(&model(&recipe), &options, folder.path());
        let header = std::fs::read_to_string(folder.path().join("name.h")).unwrap();
        let counts = counted(folder.path());
        for (i, (function, found)) in counts.iter().enumerate() {
            let start = format!(" *   {function} ");
            let line = header.lines().find(|l| l.starts_with(&start)).unwrap();
            let stated: Vec<usize> = line
                .split_whitespace()
                .filter_map(|w| w.parse().ok())
                .collect();
            // Without parameters first, then with all of them.
            let stated = &stated[if i < counts.len() / 2 { 0..2 } else { 2..4 }];
            for (stated, found) in stated.iter().zip(found) {
                assert!(
                    found <= stated,
                    "{} {function}: {found} > {stated}",
                    recipe.name
                );
                // Forces that are linear in modal coordinates settle at once.
                let settles = function == "feedforward";
                assert!(
                    settles || *stated <= 2 * found,
                    "{} {function}: {stated} is no tight bound of {found}",
                    recipe.name
                );
            }
        }
    }
}

/// Objective `speed` ranks forms and degrees by the library's estimate, before there is any code.
/// Generated code adds columns that fill up vectors, the basis and checks.
#[test]
fn the_library_estimates_what_the_code_multiplies() {
    for recipe in recipes().iter().filter(|r| r.s == 3) {
        let model = model(recipe);
        let of_box = |b: &reducer::reduced_model::BoxModel| {
            let components = &model.components.dynamics;
            inverse_dynamics_operations(model.form, &b.dynamics.terms, components)
        };
        let estimate = model.boxes.iter().map(of_box).max().unwrap();
        let figures = code_figures(&model).unwrap();
        let is_inverse = |o: &&(&str, usize, usize)| o.0 == "inverse_dynamics";
        let (_, stated, _) = figures.operations.iter().find(is_inverse).unwrap();
        assert!(
            estimate <= *stated && *stated <= estimate + estimate / 3,
            "{}: {estimate} for {stated}",
            recipe.name
        );
    }
}
