//! Generated C under the sanitizers of gcc and clang.

use crate::driver::{extremes, random_calls};
use crate::generated::{ALL_SANITIZED, WARNINGS, run, sanitizing_compilers, write_c};
use crate::models::model;
use exporters::ExportOptions;
use std::process::Command;

/// Division of floating-point numbers by zero is defined; that none happens is a promise of its own.
const SANITIZERS: &str = "-fsanitize=address,undefined,float-divide-by-zero,float-cast-overflow";

/// Too large for every change.
const SLOW: [&str; 2] = ["arm6", "hexapod"];

/// Calls at random states of what is too large for every change.
const MANY: &str = "10000000";
/// The same where it is small enough.
const SOME: &str = "20000";

/// Compiles and runs every function at extreme arguments, then so many times at random ones.
fn sanitize(name: &str, single: bool, compiler: &str, calls: &str) {
    let model = model(name);
    let folder = tempfile::tempdir().expect("a folder");
    let options = ExportOptions {
        single,
        prefix: None,
    };
    write_c(model, &options, folder.path());
    let (huge, tiny) = if single {
        ("-DHUGE_REAL=FLT_MAX", "-DTINY_REAL=FLT_MIN")
    } else {
        ("-DHUGE_REAL=DBL_MAX", "-DTINY_REAL=DBL_MIN")
    };
    for (program, text) in [
        ("extremes", extremes(model)),
        ("random", random_calls(model)),
    ] {
        let source = format!("{program}.c");
        std::fs::write(folder.path().join(&source), text).expect("a folder");
        let program = folder.path().join(program);
        // Most time goes into compiling small models, and into running large ones.
        let optimisation = if SLOW.contains(&name) { "-O2" } else { "-O0" };
        run(Command::new(compiler)
            .current_dir(folder.path())
            .args(WARNINGS)
            // Literals of the driver are narrowed on purpose.
            .args(["-Wno-conversion", "-Wno-double-promotion", huge, tiny])
            .args([optimisation, "-g", SANITIZERS])
            .args(["-fno-sanitize-recover=all", "-o"])
            .arg(&program)
            .args([&source, &format!("{name}.c"), &format!("{name}_selftest.c")])
            .arg("-lm"));
        print!("{name}: {}", run(Command::new(&program).arg(calls)));
    }
}

/// No function misbehaves at extreme arguments.
fn check(name: &str) {
    let all = ALL_SANITIZED.is_done();
    if SLOW.contains(&name) && !all {
        return;
    }
    let compilers = sanitizing_compilers();
    let precisions: &[bool] = if all { &[false, true] } else { &[false] };
    for (i, compiler) in compilers.iter().enumerate() {
        for &single in precisions {
            // One compiler and one precision suffice for the long run.
            let many = SLOW.contains(&name) && i == 0 && !single;
            sanitize(name, single, compiler, if many { MANY } else { SOME });
        }
    }
}

crate::models::for_every_mechanism!(check);
