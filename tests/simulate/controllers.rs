//! Controllers of the user's own: the same in a program, in a library and as a block, on both models,
//! and every way in which they can fail.

use crate::support::{reduce_in, scenario_file, shown};
use std::path::Path;
use std::process::Command;

/// A sampled PID, as the block computes it: in a library, and with MAIN as a program.
const CONTROLLER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
typedef struct { double period, integral, before; int started; } pid_t_;
void *controller_init(double period, int inputs, int outputs, const char *setting)
{
    pid_t_ *c = calloc(1, sizeof *c);
    if (c == NULL || inputs != 2 || outputs != 2 || setting[0] != 'p') return NULL;
    c->period = period;
#ifndef MAIN
    printf("a library may print what it likes\n");
#endif
    return c;
}
int controller_step(void *controller, double time, const double *input, double *output)
{
    pid_t_ *c = controller;
    const double e = input[0] - input[1];
    (void)time;
    if (!c->started) { c->before = e; c->started = 1; }
    c->integral += 300.0 * c->period * e;
    output[0] = 200.0 * e + c->integral + 12.0 * (e - c->before) / c->period;
    output[1] = e;
    c->before = e;
    return 0;
}
void controller_free(void *controller) { free(controller); }
#ifdef MAIN
int main(void)
{
    double time, input[2], output[2];
    void *c = controller_init(0.005, 2, 2, "p");
    while (scanf("%lf %lf %lf", &time, &input[0], &input[1]) == 3) {
        controller_step(c, time, input, output);
        printf("%.17g %.17g\n", output[0], output[1]);
        fflush(stdout);
    }
    controller_free(c);
    return 0;
}
#endif
"#;

const SCENARIO: &str = r#"format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 0.4
[[sensor]]
name = "x"
coordinate = "motor"
[[block]]
name = "wanted"
signal = { point_to_point = { to = 0.1, duration = 0.3 } }
[[block]]
name = "pid"
LAW
sampled = { period = 0.005 }
[[drive]]
coordinate = "motor"
force = "FORCE"
[sampling]
step = 0.02
[full]
step = 1e-3
"#;

fn scenario(law: &str, force: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let fixtures = std::fs::canonicalize("tests/fixtures").unwrap();
    let text = SCENARIO
        .replace("FIXTURES", fixtures.to_str().unwrap())
        .replace("LAW", law)
        .replace("FORCE", force);
    scenario_file("loop.toml", &text)
}

fn cc(folder: &Path, arguments: &[&str]) {
    let status = Command::new("cc")
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(status.unwrap().success(), "{arguments:?}");
}

/// The columns `coordinate.motor` and `coordinate.load` of both models.
fn motions(folder: &Path) -> Vec<f64> {
    let mut values = Vec::new();
    for name in ["full.csv", "reduced.csv"] {
        let text = std::fs::read_to_string(folder.join("out").join(name)).unwrap();
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let places = ["coordinate.motor", "coordinate.load"]
            .map(|name| header.iter().position(|h| *h == name).unwrap());
        for line in text.lines().skip(1) {
            let row: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
            values.extend(places.map(|p| row[p]));
        }
    }
    values
}

#[test]
fn a_program_and_a_library_do_what_the_block_does() {
    let block = r#"pid = { kp = 200, ki = 300, kd = 12 }
input = ["wanted", "-x"]"#;
    let (folder, _) = scenario(block, "pid");
    let run = |folder: &Path| {
        let output = reduce_in(folder, &["simulate", "loop.toml", "-o", "out"]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        motions(folder)
    };
    let expected = run(folder.path());
    assert!(expected.len() >= 80);
    assert!(expected.iter().any(|x| *x > 0.08), "{expected:?}");
    let library = r#"library = { path = "pid.so", setting = "p", outputs = 2 }
input = ["wanted", "x"]"#;
    let program = r#"program = { command = ["./pid program", "p"], outputs = 2, timeout = "5 s" }
input = ["wanted", "x"]"#;
    let mut tables = Vec::new();
    for law in [library, program] {
        let (folder, _) = scenario(law, "pid.1");
        let folder = folder.path();
        std::fs::write(folder.join("pid.c"), CONTROLLER).unwrap();
        cc(folder, &["-shared", "-fPIC", "-o", "pid.so", "pid.c"]);
        cc(folder, &["-DMAIN", "-o", "pid program", "pid.c"]);
        // From elsewhere: paths are those from the scenario.
        let elsewhere = tempfile::tempdir().unwrap();
        let (path, out) = (folder.join("loop.toml"), folder.join("out"));
        let [path, out] = [&path, &out].map(|p| p.to_str().unwrap());
        let output = reduce_in(elsewhere.path(), &["simulate", path, "-o", out]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        let found = motions(folder);
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12, "{law}: {a} {b}");
        }
        let names = ["full.csv", "reduced.csv"];
        tables.push(names.map(|n| std::fs::read(Path::new(out).join(n)).unwrap()));
    }
    assert_eq!(tables[0], tables[1], "a library is a program");
}

/// What a failing controller leaves: the message in one line, and rows of the full model's table.
fn fails(law: &str, files: &[(&str, &str)]) -> (String, usize) {
    let (folder, _) = scenario(law, "pid");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let output = reduce_in(folder.path(), &["simulate", "loop.toml", "-o", "out"]);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{law}: {}",
        shown(&output.stdout)
    );
    let table = std::fs::read_to_string(folder.path().join("out/full.csv"));
    let rows = table.map_or(0, |text| text.lines().count().saturating_sub(1));
    let message = shown(&output.stderr);
    let words = message.split_whitespace().filter(|w| *w != "│");
    (words.collect::<Vec<_>>().join(" "), rows)
}

fn script(text: &str, timeout: &str) -> String {
    let command = format!("[\"sh\", \"-c\", \"{text}\"]");
    format!("program = {{ command = {command}, timeout = \"{timeout}\" }}\ninput = \"x\"")
}

#[test]
fn failing_programs_are_named_and_what_was_computed_is_kept() {
    // Each answers twenty samples, until t = 0.1 s.
    let until = |then: &str| {
        format!("i=0; while [ $i -lt 20 ]; do read l; echo 0; i=$((i+1)); done; read l; {then}")
    };
    let cases = [
        (
            "echo out of ideas >&2; exit 7",
            "10 s",
            "exit code 7",
            "out of ideas",
        ),
        ("kill -SEGV $$", "10 s", "a memory fault", "t = 1.0"),
        (
            "exec sleep 30",
            "0.2 s",
            "did not answer within 0.2 s",
            "timeout",
        ),
        (
            "echo 1 2; read l",
            "10 s",
            "answered `1 2`, which is not 1 number(s)",
            "`outputs`",
        ),
        (
            "echo hello; read l",
            "10 s",
            "answered `hello`",
            "error stream",
        ),
        ("exec >&-; sleep 30", "10 s", "its output closed", "t = 1.0"),
        ("echo nan; read l", "10 s", "gives NaN", "t = 1.0"),
    ];
    for (then, timeout, fact, more) in cases {
        let (message, rows) = fails(&script(&until(then), timeout), &[]);
        assert!(
            message.contains("`pid`") && message.contains(fact),
            "{message}"
        );
        assert!(message.contains(more), "{message}");
        assert!((5..=6).contains(&rows), "{then}: {rows} rows\n{message}");
    }
    let (message, _) = fails(&script("sleep 30", "0.1 s"), &[]);
    assert!(message.contains("0.1 s"), "{message}");
    let missing = "program = { command = \"no_such_command_anywhere\" }\ninput = \"x\"";
    let (message, _) = fails(missing, &[]);
    assert!(message.contains("cannot be started"), "{message}");
}

/// Initialises unless it gets a text, and crashes at t = 0.1 s.
const CRASHING: &str = "
void *controller_init(double p, int i, int o, const char *s)
{ static int c; (void)p; (void)i; (void)o; return s[0] ? 0 : &c; }
int controller_step(void *c, double t, const double *u, double *y)
{ volatile int *p = 0; (void)c; (void)u; y[0] = 0; return t < 0.1 ? 0 : *p; }
void controller_free(void *c) { (void)c; }
";

#[test]
fn libraries_that_do_not_load_are_refused_before_the_reduction() {
    let law = "library = { path = \"pid.so\" }\ninput = \"x\"";
    let (message, rows) = fails(law, &[]);
    assert!(message.contains("there is no file `pid.so`"), "{message}");
    assert_eq!(rows, 0);
    let (message, _) = fails(law, &[("pid.so", "not a library")]);
    assert!(message.contains("cannot be used"), "{message}");
    assert!(message.contains("loop.toml:"), "{message}");
    let (folder, _) = scenario(law, "pid");
    let half = "void *controller_init(void) { return 0; }";
    std::fs::write(folder.path().join("half.c"), half).unwrap();
    cc(
        folder.path(),
        &["-shared", "-fPIC", "-o", "pid.so", "half.c"],
    );
    let output = reduce_in(folder.path(), &["simulate", "loop.toml", "-o", "out"]);
    let message = shown(&output.stderr);
    assert!(message.contains("`controller_step`"), "{message}");
    assert!(!folder.path().join("out").exists());
    // A library that crashes or refuses is named like a program.
    for (setting, fact) in [("", "a memory fault"), ("no", "refused")] {
        let law = format!("library = {{ path = \"pid.so\", setting = \"{setting}\" }}");
        let (folder, _) = scenario(&format!("{law}\ninput = \"x\""), "pid");
        std::fs::write(folder.path().join("crash.c"), CRASHING).unwrap();
        cc(
            folder.path(),
            &["-shared", "-fPIC", "-o", "pid.so", "crash.c"],
        );
        let output = reduce_in(folder.path(), &["simulate", "loop.toml", "-o", "out"]);
        assert_eq!(output.status.code(), Some(2));
        let message = shown(&output.stderr).replace("\n  │", "");
        assert!(
            message.contains("`pid`") && message.contains(fact),
            "{message}"
        );
    }
}

#[test]
fn controllers_must_be_sampled_and_are_never_run_by_linear_analysis() {
    let (folder, path) = scenario(&script("echo ran > ran; read l; echo 0", "1 s"), "pid");
    let output = reduce_in(folder.path(), &["linear", "loop.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    assert!(!folder.path().join("ran").exists());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("sampled = { period = 0.005 }", "")).unwrap();
    let output = reduce_in(folder.path(), &["simulate", "loop.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let message = shown(&output.stderr);
    assert!(message.contains("must be sampled"), "{message}");
}

/// C code for the target, compiled once with the generated model, around both models.
#[test]
fn the_controller_of_the_example_damps_both_models() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let here = std::fs::canonicalize(".").unwrap();
    let data = here.join("data/ralf.toml");
    let output = reduce_in(
        folder,
        &["--no-report", data.to_str().unwrap(), "-o", "ralf"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let example = here.join("examples/inertial_damping");
    let text = std::fs::read_to_string(example.join("scenario.toml")).unwrap();
    let text = text.replace("../../data", here.join("data").to_str().unwrap());
    let model = "model = \"ralf/model.json\"\nduration = 0.8";
    let text = text.replace("duration = 2", model);
    std::fs::write(folder.join("damped.toml"), &text).unwrap();
    let plain = text.replace("\"damped\"", "\"plain\"");
    std::fs::write(folder.join("plain.toml"), plain).unwrap();
    let (controller, support) = (example.join("controller.c"), here.join("examples/support"));
    let [controller, support] = [&controller, &support].map(|p| p.to_str().unwrap());
    let strict = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-O2",
    ];
    let build = [
        "-shared",
        "-fPIC",
        "-DCONTROLLER_LIBRARY",
        "-I",
        "ralf/c",
        "-I",
        support,
    ];
    let files = ["-o", "controller.so", controller, "ralf/c/ralf.c", "-lm"];
    cc(folder, &[&strict[..], &build, &files].concat());
    let run = |name: &str| {
        let output = reduce_in(folder, &["simulate", &format!("{name}.toml"), "-o", name]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        ["full.csv", "reduced.csv"].map(|table| {
            let text = std::fs::read_to_string(folder.join(name).join(table)).unwrap();
            let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
            let z = header
                .iter()
                .position(|h| *h == "deflection_tip.z")
                .unwrap();
            let rows = text.lines().skip(1).map(|line| {
                let row: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
                [row[0], row[z]]
            });
            rows.collect::<Vec<[f64; 2]>>()
        })
    };
    let range = |rows: &[[f64; 2]], from: f64| {
        let late = rows.iter().filter(|r| r[0] >= from).map(|r| r[1]);
        let (low, high) = late.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        high - low
    };
    let (with, without) = (run("damped"), run("plain"));
    for rows in [&with, &without] {
        let [full, reduced] = rows;
        let apart = full.iter().zip(reduced).map(|(a, b)| (a[1] - b[1]).abs());
        let apart = apart.fold(0.0, f64::max);
        let whole = range(full, 0.0);
        assert!(apart < 0.02 * whole, "{apart:.2e} of {whole:.2e}");
    }
    for k in 0..2 {
        let (with, without) = (range(&with[k], 0.55), range(&without[k], 0.55));
        assert!(with < 0.6 * without, "{with:.2e} {without:.2e}");
    }
}
