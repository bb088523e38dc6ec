//! The operations that headers state are those that are carried out, within a tenth: generated C is compiled
//! as C++ with a number type that counts, and called in every box.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::ExportOptions;
use generated::{run, write_c};
use reducer::reduced_model::plan::{Plan, PlanMoving, Purpose};
use reducer::reduced_model::{BoxModel, ReducedModel, inverse_dynamics_cost};
use std::collections::BTreeMap;
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
inline Count cos(Count a) { ++multiplications; return Count(std::cos(a.v)); }
inline Count sin(Count a) { ++multiplications; return Count(std::sin(a.v)); }
"#;

const MAIN: &str = r#"
#define COUNT(name, call) \
    multiplications = additions = 0; \
    if ((call) >= 2) { continue; } \
    std::printf("%s %ld %ld\n", name, multiplications, additions)
int main() {
    enum { n = NAME_N, s = NAME_N_RIGID, y = NAME_N_Y };
    Count x[2 * n], rate[n], accel[n], force[n], dx[2 * n];
    Count A[4 * n * n], B[2 * n * n], C[y * 2 * n + 1], D[y * n + 1];
    name_coefficients_t c;
    for (int i = 0; i < n; ++i) {
        rate[i] = Count(0.1);
        accel[i] = Count(0.2);
        force[i] = Count(0.3);
    }
    name_params_t nominal = NAME_NOMINAL_PARAMS;
    for (int k = 0; k < s; ++k) {
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
    for (int with = 0; with < 2; ++with) for (const auto &centre : centres) {
        const name_params_t *p = params[with];
        for (int i = 0; i < n; ++i) {
            x[i] = i < s ? Count(centre[i]) : Count(0.01);
            x[n + i] = Count(0.1);
        }
        std::printf("%d\n", with);
        COUNT("coefficients", name_coefficients_p(p, x, &c));
        COUNT("inverse_dynamics", name_inverse_dynamics_p(p, x, rate, accel, force));
        COUNT("forward_dynamics", name_forward_dynamics_p(p, x, rate, force, accel));
        COUNT("state_derivative", name_state_derivative_p(p, x, force, dx));
        COUNT("linearize", name_linearize_p(p, x, rate, force, A, B, C, D));
        COUNT("feedforward", (name_feedforward_p(p, x, rate, accel, force, B), 0));
#if NAME_N_OUTPUTS > 0
        COUNT("outputs", name_outputs_p(p, x, rate, &o));
#endif
        COUNT("step", name_step_p(p, x, force, Count(0.0)));
    }
    return 0;
}
"#;

/// Most operations of any box, per function, without and with parameters.
type Counts = BTreeMap<(usize, String), [usize; 2]>;

/// What the program counts at the centre of every box, one period away where coordinates are periodic.
fn counted(m: &ReducedModel, folder: &Path) -> Counts {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let header = read("name.h").replace("typedef double name_real;", "typedef Count name_real;");
    let header = header.replace("extern \"C\" {", "extern \"C++\" {");
    std::fs::write(folder.join("name.h"), header).unwrap();
    let domain = &m.layout.domain;
    let centre = |b: &BoxModel| {
        let period = |k: usize| f64::from(domain.periodic[k]) * (domain.upper[k] - domain.lower[k]);
        let at = |k: usize| 0.5 * (b.lower[k] + b.upper[k]) + period(k);
        let texts: Vec<String> = (0..m.layout.n_rigid).map(|k| at(k).to_string()).collect();
        format!("{{ {} }}", texts.join(", "))
    };
    let centres: Vec<String> = m.boxes.iter().map(centre).collect();
    let centres = format!(
        "static const double centres[][NAME_N_RIGID] = {{ {} }};\n",
        centres.join(", ")
    );
    // Corrections that never settle are as many as there can be.
    let source = read("name.c").replace("* first)) {", "* first) && false) {");
    let program = format!("{COUNTING}{source}{centres}{MAIN}");
    std::fs::write(folder.join("count.cpp"), program).unwrap();
    let mut compile = Command::new("g++");
    run(compile
        .current_dir(folder)
        .args(["-w", "-std=c++11", "-o", "count", "count.cpp"]));
    let mut counts = Counts::new();
    let mut with = 0;
    for line in run(&mut Command::new(folder.join("count"))).lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            [set] => with = set.parse().unwrap(),
            [name, multiplications, additions] => {
                let found = [multiplications, additions].map(|w| w.parse().unwrap());
                let most = counts.entry((with, name.to_owned())).or_insert([0; 2]);
                *most = std::array::from_fn(|i| most[i].max(found[i]));
            }
            _ => panic!("{line}"),
        }
    }
    counts
}

#[test]
fn stated_operations_are_those_carried_out() {
    for recipe in recipes() {
        let folder = tempfile::tempdir().unwrap();
        let options = ExportOptions {
            single: false,
            prefix: Some("name".into()),
        };
        let m = model(&recipe);
        write_c(&m, &options, folder.path());
        let header = std::fs::read_to_string(folder.path().join("name.h")).unwrap();
        let counts = counted(&m, folder.path());
        assert!(counts.len() >= 14, "{}", recipe.name);
        for ((with, function), found) in counts {
            let start = format!(" *   {function} ");
            let line = header.lines().find(|l| l.starts_with(&start)).unwrap();
            let stated: Vec<usize> = line
                .split_whitespace()
                .filter_map(|w| w.parse().ok())
                .collect();
            for (stated, found) in stated[2 * with..2 * with + 2].iter().zip(found) {
                let apart = (*stated as f64 / found as f64 - 1.0).abs();
                assert!(
                    apart <= 0.1,
                    "{} {function}: {stated} stated, {found} counted",
                    recipe.name
                );
            }
        }
    }
}

/// Force of the kernel in `f64` for a motion at η.
fn inverse_dynamics(plan: &Plan, eta: &[f64]) -> Vec<f64> {
    let n = plan.n;
    let numbers = |scale: f64| (0..n).map(|i| scale * (0.4 + i as f64).sin()).collect();
    let (rate, accel): (Vec<f64>, Vec<f64>) = (numbers(0.7), numbers(1.3));
    let (mut force, mut memory) = (vec![0.0; n], vec![0.0; plan.memory()]);
    let status = kernel::inverse_dynamics(
        &plan.model(),
        None,
        [eta, &rate, &accel],
        &mut force,
        kernel::Scratch::new(&mut memory),
    );
    assert!(status < kernel::Status::Undefined);
    force
}

/// Σ weight · gradient over the terms is the sum of whole gradients, and costs less where it is planned.
#[test]
fn sums_over_terms_are_planned_where_they_cost_less_and_give_the_same_forces() {
    let mut planned = Vec::new();
    for recipe in recipes() {
        let m = model(&recipe);
        let moving = Plan::new(&m, Purpose::Code);
        if moving.dynamics.moving.lists.is_empty() {
            continue;
        }
        let mut whole = moving.clone();
        whole.dynamics.moving = PlanMoving::default();
        let count = |plan: &Plan| {
            let cost = inverse_dynamics_cost(plan);
            cost.multiplications + cost.additions
        };
        let name = recipe.name;
        assert!(count(&moving) < count(&whole), "{name}");
        planned.push((name, moving.dynamics.lanes));
        for b in &m.boxes {
            let inside = |k: usize| b.lower[k] + 0.3 * (b.upper[k] - b.lower[k]);
            let modal = (0..recipe.modal).map(|i| 0.02 * (1.0 + i as f64));
            let eta: Vec<f64> = (0..recipe.s).map(inside).chain(modal).collect();
            let [a, b] = [&moving, &whole].map(|plan| inverse_dynamics(plan, &eta));
            let size = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() <= 1e-13 * size, "{name}: {a} {b}");
            }
        }
    }
    // Few coordinates keep whole gradients; columns stand alone where they share few terms.
    assert!(planned.contains(&("six", 4)), "{planned:?}");
    assert!(planned.contains(&("fast_sparse", 1)), "{planned:?}");
    assert!(planned.contains(&("turning_five", 4)), "{planned:?}");
    assert!(planned.iter().all(|(name, _)| *name != "flexible_arm"));
}
