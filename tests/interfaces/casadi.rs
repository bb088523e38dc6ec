//! The model in CasADi and acados.

use super::tools::{CASADI, FMPY, PLANNED, run};
use super::{CASES, Case, reduce};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

fn export(folder: &Path) {
    let words = "export model.json --format casadi -o casadi";
    reduce(folder, &words.split(' ').collect::<Vec<_>>());
}

fn python(program: &str, folder: &Path) -> Command {
    let mut command = Command::new("python3");
    command
        .arg(std::fs::canonicalize(format!("tests/interfaces/{program}")).unwrap())
        .current_dir(folder);
    command
}

/// Forces that `reduce eval` gives at some states inside the domain.
fn evaluated(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("model.json")).unwrap();
    let model: Value = serde_json::from_str(&text).unwrap();
    let layout = &model["layout"];
    let n = layout["coordinates"].as_array().unwrap().len();
    let s = layout["n_rigid"].as_u64().unwrap() as usize;
    let ends = |name: &str, k: usize| layout["domain"][name][k].as_f64().unwrap();
    let list = |v: &[f64]| -> String {
        let texts: Vec<String> = v.iter().map(|x| format!("{x:?}")).collect();
        texts.join(",")
    };
    let points = [0.12, 0.47, 0.81].map(|part| {
        let wave = |i: usize, size: f64| size * (7.0 * part + 2.3 * i as f64).sin();
        let at = |k: usize| ends("lower", k) + part * (ends("upper", k) - ends("lower", k));
        let theta: Vec<f64> = (0..s).map(at).collect();
        let modal: Vec<f64> = (s..n).map(|i| wave(i, 1e-3)).collect();
        let rate: Vec<f64> = (0..n).map(|i| wave(i, 1.0)).collect();
        let accel: Vec<f64> = (0..n).map(|i| wave(i + 3, 5.0)).collect();
        let texts = [&theta, &rate, &accel, &modal].map(|v| list(v));
        let mut words = vec!["eval", "model.json", "--json", "--at", &texts[0]];
        words.extend(["--rate", &texts[1], "--accel", &texts[2]]);
        if n > s {
            words.extend(["--modal", &texts[3]]);
        }
        let said: Value = serde_json::from_str(&reduce(folder, &words)).unwrap();
        let eta = [theta, modal].concat();
        json!({ "eta": eta, "rate": rate, "accel": accel, "status": 0, "force": said["force"] })
    });
    Value::from(points.to_vec())
}

/// External functions and expressions agree with `reduce eval`, first derivatives with those of CasADi.
#[test]
fn casadi_agrees_with_the_command_line() {
    if !CASADI.is_done() {
        return;
    }
    for case in &CASES[..2] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.model(folder);
        export(folder);
        std::fs::write(folder.join("points.json"), evaluated(folder).to_string()).unwrap();
        let mut check = python("check_casadi.py", folder);
        println!("{}", run(check.args(["casadi", case.name, "points.json"])));
    }
}

/// The part of acados' interface that the source uses, with matrices column by column.
const ACADOS: &str = "
struct blasfeo_dvec { double *pa; };
struct blasfeo_dmat { double *pA; int m; };
struct blasfeo_dvec_args { struct blasfeo_dvec *x; int xi; };
struct blasfeo_dmat_args { struct blasfeo_dmat *A; int ai; int aj; };
#define BLASFEO_DVECEL(v, i) ((v)->pa[i])
static void blasfeo_pack_tran_dmat(int m, int n, double *A, int lda, struct blasfeo_dmat *B, int bi, int bj)
{
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            B->pA[(bi + j) + (B->m * (bj + i))] = A[i + (lda * j)];
        }
    }
}
";

/// Differences of the step against the Jacobian that acados gets, and a step without a length.
const ACADOS_MAIN: &str = r#"
#include "four_bar_casadi.c"
#include <stdio.h>
#define NX (2 * FOUR_BAR_N)
#define NU FOUR_BAR_N_RIGID
int main(void)
{
    double ux[NU + NX] = { 3.0, -0.4, 1e-4, 2e-4 };
    double high[NX], low[NX], next[NX], jacobian[(NU + NX) * NX];
    double dt = 1e-4, worst = 0.0, largest = 0.0;
    struct blasfeo_dvec from = { ux }, to = { next };
    struct blasfeo_dmat matrix = { jacobian, NU + NX };
    struct blasfeo_dvec_args x = { &from, NU }, u = { &from, 0 }, f = { &to, 0 };
    struct blasfeo_dmat_args j = { &matrix, 0, 0 };
    void *in[] = { &x, &u }, *out[] = { &f, &j };
    if (four_bar_acados_step_jac(in, out, &dt) != 0) return 1;
    if (four_bar_acados_step(in, out, NULL) == 0) return 2;
    for (int c = 0; c < NU + NX; ++c) {
        const double keep = ux[c], h = 1e-6;
        to.pa = high; ux[c] = keep + h;
        if (four_bar_acados_step(in, out, &dt) != 0) return 3;
        to.pa = low; ux[c] = keep - h;
        if (four_bar_acados_step(in, out, &dt) != 0) return 4;
        ux[c] = keep;
        for (int i = 0; i < NX; ++i) {
            const double slope = (high[i] - low[i]) / (2.0 * h);
            const double error = slope - jacobian[c + ((NU + NX) * i)];
            worst = (error > worst) ? error : ((-error > worst) ? -error : worst);
            largest = (slope > largest) ? slope : ((-slope > largest) ? -slope : largest);
        }
    }
    printf("%g of %g\n", worst, largest);
    return (worst <= 1e-7 * largest) ? 0 : 5;
}
"#;

/// The source compiles with what acados declares, and its Jacobian is that of its step.
#[test]
fn acados_gets_a_step_and_its_jacobian() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[0].model(folder);
    export(folder);
    let source = folder.join("casadi");
    std::fs::create_dir_all(source.join("acados/utils")).unwrap();
    let names = [
        ("acados/utils/external_function_generic.h", ACADOS),
        ("blasfeo_d_aux.h", ""),
        ("blasfeo_d_aux_ext_dep.h", ""),
        ("main.c", ACADOS_MAIN),
    ];
    for (name, text) in names {
        std::fs::write(source.join(name), text).unwrap();
    }
    for compiler in super::tools::compilers() {
        let flags = "-std=c99 -Wall -Wextra -Werror -O1 -DFOUR_BAR_ACADOS -I. -o run main.c -lm";
        let mut compile = Command::new(compiler);
        run(compile.args(flags.split(' ')).current_dir(&source));
        println!("{}", run(&mut Command::new(source.join("run"))));
    }
}

/// Missing arguments are zero, missing results are left out, and numbers that are none fail, without a finding of the
/// sanitizers.
#[test]
fn external_functions_refuse_hostile_calls() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[0].model(folder);
    export(folder);
    let program = std::fs::canonicalize("tests/interfaces/hostile_casadi.c").unwrap();
    for compiler in super::tools::sanitizing_compilers() {
        let flags = "-std=c99 -Wall -Wextra -Werror -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Icasadi -o hostile";
        let mut compile = Command::new(compiler);
        let compile = compile.args(flags.split(' ')).arg(&program).arg("-lm");
        run(compile.current_dir(folder));
        run(&mut Command::new(folder.join("hostile")));
    }
}

/// A motion from rest to rest, planned with exact derivatives; the full model, driven by the force of the plan, ends
/// where it should.
#[test]
fn the_full_model_ends_where_an_optimal_plan_does() {
    if !CASADI.is_done() || !PLANNED.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // One box, so that functions have no jumps; without the pole of the constraint mode at 0.8.
    let text = std::fs::read_to_string("data/four_bar.toml").unwrap();
    let narrow = text.replace("range = [-1.75, 1.75]", "range = [-0.9, 0.1]");
    assert_ne!(narrow, text);
    std::fs::write(folder.join("four_bar.toml"), narrow).unwrap();
    reduce(folder, &["four_bar.toml", "-o", ".", "--quiet"]);
    export(folder);
    let plan = planned(folder, &["-0.75", "-0.05", "0.5", "15"]);
    let scenario = "format = 1\nmechanism = \"four_bar.toml\"\nmodel = \"model.json\"\nduration = 0.5\n\
        [initial]\ntheta = [-0.75]\nstart = \"equilibrium\"\n\
        [[drive]]\ncoordinate = \"theta\"\nforce = { table = { file = \"casadi/force.csv\" } }\n\
        [[output]]\npoint = \"B\"\nquantities = [\"position\"]\n\
        [sampling]\nstep = 5e-3\n[full]\nstep = 2.5e-4\n";
    std::fs::write(folder.join("drive.toml"), scenario).unwrap();
    reduce(
        folder,
        &["simulate", "drive.toml", "-o", "driven", "--quiet"],
    );
    let table = std::fs::read_to_string(folder.join("driven/full.csv")).unwrap();
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let last: Vec<&str> = lines.last().unwrap().split(',').collect();
    let squares = ["B.x", "B.y", "B.z"]
        .iter()
        .enumerate()
        .map(|(axis, name)| {
            let place = names.iter().position(|n| n == name).unwrap();
            let at: f64 = last[place].parse().unwrap();
            (at - plan["position"]["B"][axis].as_f64().unwrap()).powi(2)
        });
    let away = squares.sum::<f64>().sqrt();
    println!(
        "{} iterations, {:.2} mm away",
        plan["iterations"],
        1e3 * away
    );
    assert!(away < 2e-3, "{away}");
}

/// What `plan.py` plans.
fn planned(folder: &Path, motion: &[&str]) -> Value {
    run(python("plan.py", folder)
        .args(["casadi", "four_bar"])
        .args(motion));
    let plan = std::fs::read_to_string(folder.join("casadi/plan.json")).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan["status"], "Solve_Succeeded", "{plan}");
    plan
}

/// Over faces of boxes, by compiled functions and a Hessian of limited memory: the optimum of the expressions.
#[test]
fn compiled_functions_find_the_optimum_of_the_expressions() {
    if !CASADI.is_done() || !PLANNED.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[0].model(folder);
    export(folder);
    run(Command::new("cc")
        .args("-O2 -std=c99 -fPIC -shared four_bar_casadi.c -lm -o four_bar_casadi.so".split(' '))
        .current_dir(folder.join("casadi")));
    let motion = ["-0.4", "0.3", "0.8", "40"];
    let [exact, limited] =
        [&motion[..], &[&motion[..], &["compiled"]].concat()].map(|motion| planned(folder, motion));
    let [cost, other] = [&exact, &limited].map(|plan| plan["cost"].as_f64().unwrap());
    println!(
        "{} and {} iterations",
        exact["iterations"], limited["iterations"]
    );
    assert!((other / cost - 1.0).abs() < 1e-4, "{cost} and {other}");
}

/// Outputs of second order have exact derivatives in an FMU too.
#[test]
fn fmus_of_second_order_models_have_exact_derivatives() {
    if !FMPY.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = std::fs::read_to_string("data/one_link.toml").unwrap();
    let stiff = text.replace("[reduction]\n", "[reduction]\nstiffening = true\n");
    std::fs::write(folder.join("one_link.toml"), stiff).unwrap();
    reduce(folder, &["one_link.toml", "-o", ".", "--quiet"]);
    let model = std::fs::read_to_string(folder.join("model.json")).unwrap();
    assert!(model.contains("position_curvature") && model.contains("rate_scale"));
    let case = Case {
        name: "one_link",
        coordinates: &["angle"],
        force: 1.0,
        point: "tip",
    };
    for (fmi, interface) in [("2", "motion"), ("3", "forces")] {
        let checks = ["valid", "derivatives", "restored", "sources"];
        case.check_fmu(folder, [fmi, interface], &[&checks]);
    }
}
