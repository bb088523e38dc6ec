//! The model where its users work: FMUs in another program, against the command line.

mod casadi;
mod linear;
mod observer;
#[path = "../../exporters/tests/support/tools.rs"]
mod tools;

use std::path::Path;
use std::process::Command;
use tools::{ALL_FMUS, FMPY, GCC_32, TCC, run, sanitizing_compilers};

/// A mechanism, how forces and motions drive it, and a point to look at.
struct Case {
    name: &'static str,
    coordinates: &'static [&'static str],
    force: f64,
    point: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        name: "four_bar",
        coordinates: &["theta"],
        force: 5.0,
        point: "B",
    },
    Case {
        name: "orthoglide",
        coordinates: &["x.slide", "y.slide", "z.slide"],
        force: 8.0,
        point: "effector",
    },
    Case {
        name: "ralf",
        coordinates: &["cylinder1", "cylinder2"],
        force: 200.0,
        point: "tip",
    },
];

fn reduce(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reduce"));
    run(command.args(arguments).current_dir(folder))
}

impl Case {
    /// The reduced model in a folder.
    fn model(&self, folder: &Path) {
        let file = std::fs::canonicalize(format!("data/{}.toml", self.name)).unwrap();
        reduce(folder, &[file.to_str().unwrap(), "-o", ".", "--quiet"]);
    }

    /// Runs a scenario in which every coordinate is driven like this; the reduced run is in `NAME/reduced.csv`.
    fn simulate(&self, folder: &Path, name: &str, drive: &str, [duration, step]: [f64; 2]) {
        let file = std::fs::canonicalize(format!("data/{}.toml", self.name)).unwrap();
        let drives: String = self
            .coordinates
            .iter()
            .map(|c| format!("[[drive]]\ncoordinate = \"{c}\"\n{drive}\n"))
            .collect();
        let text = format!(
            "format = 1\nmechanism = {file:?}\nmodel = \"model.json\"\nduration = {duration}\n{drives}\
             [[output]]\npoint = \"{}\"\nquantities = [\"position\", \"velocity\"]\n\
             [sampling]\nstep = {step}\n[reduced]\ntolerance = 1e-10\n[full]\nstep = {step}\n",
            self.point
        );
        let scenario = format!("{name}.toml");
        std::fs::write(folder.join(&scenario), text).unwrap();
        reduce(folder, &["simulate", &scenario, "-o", name, "--quiet"]);
    }

    /// Everything that fmpy can say about the FMUs of the model.
    fn check_fmus(&self) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        self.model(folder);
        let force = format!("force = {}", self.force);
        self.simulate(folder, "forces", &force, [0.05, 5e-4]);
        let sine = "motion = { sine = { amplitude = 0.02, frequency = 5 } }";
        self.simulate(folder, "sine", sine, [0.02, 2e-4]);
        let ramp = "velocity = { ramp = { to = 0.04, duration = 0.02 } }";
        self.simulate(folder, "ramp", ramp, [0.02, 5e-4]);
        for fmi in ["2", "3"] {
            let general = ["valid", "derivatives", "restored", "sources"];
            let forces = ["follows", "forces/reduced.csv"];
            self.check_fmu(
                folder,
                [fmi, "forces"],
                &[&general, &forces, &["me", "0"], &forces, &["cs", "0"]],
            );
            let by_sine = ["follows", "sine/reduced.csv", "me", "5"];
            let by_ramp = ["follows", "ramp/reduced.csv", "cs", "constant:2"];
            let by_steps = ["follows", "sine/reduced.csv", "cs", "5"];
            let motions: [&[&str]; 4] = [&general, &by_sine, &by_steps, &by_ramp];
            self.check_fmu(folder, [fmi, "motion"], &motions);
        }
    }

    fn check_fmu(&self, folder: &Path, [fmi, interface]: [&str; 2], checks: &[&[&str]]) {
        let name = format!("{}_{fmi}_{interface}.fmu", self.name);
        self.export(folder, [fmi, interface], &name);
        let program = std::fs::canonicalize("tests/interfaces/fmu.py").unwrap();
        let mut python = Command::new("python3");
        let python = python
            .arg(program)
            .arg(name)
            .args(checks.concat())
            .current_dir(folder);
        println!("{} {fmi} {interface}\n{}", self.name, run(python));
    }

    fn export(&self, folder: &Path, [fmi, interface]: [&str; 2], name: &str) {
        let options = ["--fmi", fmi, "--interface", interface, "-o", name];
        let start = ["export", "model.json", "--format", "fmu"];
        reduce(folder, &[&start[..], &options].concat());
    }
}

#[test]
fn fmus_of_the_four_bar_follow_the_command_line() {
    if FMPY.is_done() {
        CASES[0].check_fmus();
    }
}

#[test]
fn fmus_of_other_mechanisms_follow_the_command_line() {
    if FMPY.is_done() && ALL_FMUS.is_done() {
        CASES[1..].iter().for_each(Case::check_fmus);
    }
}

/// Wrong references, numbers that are none, steps of no length and damaged states are refused, without a finding of
/// the sanitizers.
#[test]
fn fmus_refuse_hostile_calls() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = std::fs::canonicalize("tests/interfaces/hostile.c").unwrap();
    for case in [&CASES[0], &CASES[2]] {
        let folder = &folder.join(case.name);
        std::fs::create_dir(folder).unwrap();
        case.model(folder);
        for compiler in sanitizing_compilers() {
            for (fmi, interface) in [("2", "forces"), ("3", "motion")] {
                case.export(folder, [fmi, interface], "x.fmu");
                let files = folder.join(format!("{compiler}_{fmi}_{interface}"));
                unpack(&folder.join("x.fmu"), &files);
                let built = files.join("hostile");
                let flags = "-std=c99 -Wall -Wextra -Werror -O1 -fsanitize=address,undefined -fno-sanitize-recover=all";
                let mut compile = Command::new(compiler);
                compile
                    .args(flags.split(' '))
                    .arg(format!("-DTEST_FMI{fmi}"))
                    .arg("-I")
                    .arg(files.join("sources"))
                    .arg(&program)
                    .args(["-lm", "-o"])
                    .arg(&built);
                run(&mut compile);
                run(&mut Command::new(&built));
            }
        }
    }
}

/// An option of FMUs with another format is refused, and so is single precision.
#[test]
fn options_of_fmus_are_for_fmus() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[1].model(folder);
    for (arguments, said) in [
        (
            "export model.json --format c --fmi 2 -o c2",
            "--fmi is for --format fmu",
        ),
        (
            "export model.json --format fmu --single -o x.fmu",
            "single precision is for generated source, not for fmu",
        ),
        (
            "export model.json --format fmu --prefix fmi3 -o x.fmu",
            "it is what sources of FMUs are called",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_reduce"))
            .args(arguments.split(' '))
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "│").collect();
        assert!(words.join(" ").contains(said), "{text}");
    }
}

/// Without a compiler there are sources alone, said once; equal commands give equal bytes.
#[test]
fn fmus_without_a_compiler_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[1].model(folder);
    let export = |name: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_reduce"))
            .args(["export", "model.json", "--format", "fmu", "-o", name])
            .current_dir(folder)
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("sources and no binary"), "{text}");
        std::fs::read(folder.join(name)).unwrap()
    };
    assert_eq!(export("a.fmu"), export("b.fmu"));
    // The same file is ours and may be replaced; another archive is not.
    export("a.fmu");
    std::fs::write(folder.join("c.fmu"), b"PK\x03\x04 of someone else").unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_reduce"))
        .args(["export", "model.json", "--format", "fmu", "-o", "c.fmu"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

/// The self-test passes with a small compiler and with 32 bits.
#[test]
fn generated_c_compiles_with_tcc_and_for_32_bits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[1].model(folder);
    let main = "int orthoglide_selftest(void);\nint main(void) { return orthoglide_selftest(); }\n";
    std::fs::write(folder.join("main.c"), main).unwrap();
    for (check, command) in [
        (TCC, "tcc -Wall -Werror"),
        (GCC_32, "gcc -m32 -Wall -Wextra -Werror -O2"),
    ] {
        if check.is_done() {
            let mut words = command
                .split(' ')
                .chain(["-std=c99", "-o", "selftest", "main.c"]);
            let mut compile = Command::new(words.next().unwrap());
            compile
                .args(words)
                .args(["c/orthoglide.c", "c/orthoglide_selftest.c", "-lm"]);
            run(compile.current_dir(folder));
            run(&mut Command::new(folder.join("selftest")));
        }
    }
}

/// Unpacks an archive with Python, which the tests of FMUs need anyway.
fn unpack(archive: &Path, folder: &Path) {
    run(Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .args([archive, folder]));
}
