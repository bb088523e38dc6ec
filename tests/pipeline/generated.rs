//! Source that the command line writes: compiled with warnings as errors, and its self-test run. What
//! every function of every mechanism computes is compared in `exporters/tests/mechanisms`.

use crate::support::{contents, data, pipeline, reduce, run};
use crate::tools::{NO_CONTRACTION, WARNINGS, compilers};
use std::path::Path;
use std::process::Command;

pub fn self_test(folder: &Path, name: &str) {
    let main = folder.join("main.c");
    std::fs::write(
        &main,
        format!("int {name}_selftest(void);\nint main(void) {{ return {name}_selftest(); }}\n"),
    )
    .expect("a folder");
    for compiler in compilers() {
        let binary = folder.join(format!("selftest-{compiler}"));
        let output = run(Command::new(compiler)
            .args(WARNINGS)
            .args(["-O1", NO_CONTRACTION, "-o"])
            .arg(&binary)
            .arg(&main)
            .arg(folder.join(format!("{name}.c")))
            .arg(folder.join(format!("{name}_selftest.c")))
            .arg("-lm"));
        assert!(
            output.status.success(),
            "{name} with {compiler}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let status = Command::new(&binary).status().expect("an executable");
        assert_eq!(
            status.code(),
            Some(0),
            "self-test of {name} with {compiler}"
        );
    }
}

#[test]
fn c_that_the_pipeline_writes_passes_its_self_test() {
    for name in ["orthoglide", "four_bar_thesis"] {
        let folder = tempfile::tempdir().expect("a folder");
        let (_, code) = pipeline(&data(&format!("{name}.toml")), folder.path());
        assert!(code <= 1, "{name}: exit code {code}");
        self_test(&folder.path().join("c"), name);
    }
}

#[test]
fn single_precision_passes_its_self_test() {
    let folder = tempfile::tempdir().expect("a folder");
    pipeline(&data("orthoglide.toml"), folder.path());
    let single = folder.path().join("single");
    let output = run(reduce()
        .arg("export")
        .arg(folder.path().join("model.json"))
        .args(["--format", "c", "--single", "--prefix", "glide", "-o"])
        .arg(&single));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    self_test(&single, "glide");
}

/// Any number of threads, and a second run on stored samples, give the same bytes.
#[test]
fn bytes_do_not_depend_on_threads_or_earlier_runs() {
    for mechanism in ["orthoglide.toml", "four_bar.toml"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = None;
        for jobs in ["1", "2", "7", "2"] {
            let out = folder.path().join("out");
            let output = run(reduce()
                .arg(data(mechanism))
                .arg("-o")
                .arg(&out)
                .args(["--jobs", jobs]));
            assert!(output.status.success());
            let found = contents(&out);
            match &first {
                None => first = Some(found),
                Some(expected) => assert!(*expected == found, "{mechanism} with {jobs} threads"),
            }
            if jobs == "7" {
                // The last run starts from stored samples, the others from nothing.
                continue;
            }
            std::fs::remove_dir_all(out.join(".samples")).expect("samples");
        }
    }
}
