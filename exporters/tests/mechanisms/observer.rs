//! Generated observers: compiled with warnings as errors, equal in C and Rust, sanitised and proven like the rest.

use crate::contracts::{Goal, named};
use crate::generated::{FRAMA_C, WARNINGS, run, sanitizing_compilers};
use crate::models::model;
use crate::proof::{analysis_with, complaints, is_shown};
use exporters::ExportOptions;
use exporters::code::{c_files_with, rust_files_with};
use kernel::{Disturbance, Reading, Sensor};
use reducer::reduced_model::{ObserverPlan, ReducedModel};
use std::path::Path;
use std::process::Command;

/// A model with modes and one with several coordinates and boxes.
const OBSERVED: [&str; 2] = ["one_link", "elbow"];

/// Every kind of sensor, readings with a common part, and unknown forces of both kinds.
fn observer(model: &ReducedModel) -> ObserverPlan {
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let of = |reading, index| Sensor {
        reading,
        index,
        axis: [0.6, 0.0, 0.8],
        body: false,
        gravity: false,
    };
    let mut sensors: Vec<Sensor<f64>> = (0..s).map(|k| of(Reading::Coordinate, k)).collect();
    sensors.push(of(Reading::Rate, n - 1));
    sensors.push(of(Reading::Acceleration, 0));
    for body in [false, true] {
        sensors.push(of(Reading::Position, 0));
        sensors.push(Sensor {
            body,
            ..of(Reading::Velocity, 0)
        });
        for axis in [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]] {
            sensors.push(Sensor {
                axis,
                body,
                gravity: body,
                ..of(Reading::PointAcceleration, 0)
            });
        }
    }
    let (m, states) = (sensors.len(), 2 * n + 2);
    let lower = |size: usize, shared: f64| -> Vec<f64> {
        let entry = |at: usize| match (at / size, at % size) {
            (i, j) if i == j => 0.1,
            (i, j) if i == j + 1 => shared,
            _ => 0.0,
        };
        (0..size * size).map(entry).collect()
    };
    ObserverPlan {
        sensor_names: (0..m).map(|i| format!("s{i}")).collect(),
        sensors,
        disturbances: vec![
            Disturbance {
                at_output: false,
                index: 0,
                axis: [0.0; 3],
            },
            Disturbance {
                at_output: true,
                index: 0,
                axis: [0.0, 1.0, 0.0],
            },
        ],
        disturbance_names: vec!["a".to_owned(), "b".to_owned()],
        period: 1e-4,
        substeps: 2,
        process: lower(n, 0.0),
        drift: vec![0.01, 0.02],
        measurement: lower(m, 0.03),
        initial: vec![0.01; states],
        gravity: [0.0, 0.0, -9.81],
    }
}

fn options(single: bool) -> ExportOptions {
    ExportOptions {
        single,
        prefix: None,
    }
}

fn write(folder: &Path, files: Vec<(String, Vec<u8>)>) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a folder");
    }
}

/// The self-test holds estimate and deviations of the library's own filter after three periods.
#[test]
fn c_and_rust_compute_what_the_library_does() {
    for name in OBSERVED {
        let model = model(name);
        for single in [false, true] {
            let folder = tempfile::tempdir().expect("a folder");
            let at = folder.path();
            let plan = observer(model);
            write(
                at,
                c_files_with(model, &options(single), Some(&plan)).expect("C"),
            );
            let main = "#include \"@.h\"\nint main(void) { return @_selftest(); }\n";
            std::fs::write(at.join("main.c"), named(name, main)).expect("a folder");
            let sources = [
                "main.c",
                &format!("{name}.c"),
                &format!("{name}_selftest.c"),
            ];
            run(Command::new("cc")
                .current_dir(at)
                .args(WARNINGS)
                .args(["-O1", "-o", "main"])
                .args(sources)
                .arg("-lm"));
            run(&mut Command::new(at.join("main")));
            let crate_folder = at.join("crate");
            let files = rust_files_with(model, &options(single), Some(&plan)).expect("Rust");
            write(&crate_folder, files);
            let main =
                format!("fn main() {{ std::process::exit({name}_model::selftest() as i32) }}");
            std::fs::write(crate_folder.join("main.rs"), main).expect("a folder");
            let rustc = || {
                let mut command = Command::new("rustc");
                command.current_dir(&crate_folder);
                command.args(["--edition", "2024", "-O", "-D", "warnings"]);
                command
            };
            run(rustc()
                .args(["--crate-type", "rlib", "--crate-name"])
                .args([&format!("{name}_model"), "src/lib.rs"]));
            let library = format!("{name}_model=lib{name}_model.rlib");
            run(rustc().args(["--extern", &library, "main.rs"]));
            run(&mut Command::new(crate_folder.join("main")));
        }
    }
}

/// Arguments that are hard; what fails must leave the observer as it was.
const HOSTILE: &str = r#"#include <float.h>
#include <math.h>
#include <string.h>
#include "@.h"
int main(void)
{
    static const double hard[] = { 0.0, 1.0, -1.0, 1e-300, 1e30, -1e300, DBL_MAX, INFINITY, -INFINITY, NAN };
    enum { COUNT = sizeof(hard) / sizeof(hard[0]) };
    for (int i = 0; i < COUNT * COUNT * COUNT; ++i) {
        const @_real a = (@_real)hard[i % COUNT], b = (@_real)hard[(i / COUNT) % COUNT];
        const @_real c = (@_real)hard[i / COUNT / COUNT];
        @_real eta[@@_N], rate[@@_N], force[@@_N], readings[@@_OBSERVER_SENSORS];
        @_observer_t observer, before;
        memset(&observer, 0, sizeof observer);
        for (int k = 0; k < @@_N; ++k) { eta[k] = (k % 2) ? a : b; rate[k] = c; force[k] = b; }
        for (int k = 0; k < @@_OBSERVER_SENSORS; ++k) { readings[k] = (k % 2) ? c : a; }
        (void)@_observer_init(&observer, eta, rate, force);
        before = observer;
        if (@_observer_predict(&observer, force) >= @@_UNDEFINED && memcmp(&before, &observer, sizeof before)) { return 1; }
        before = observer;
        if (@_observer_update(&observer, readings) >= @@_UNDEFINED && memcmp(&before, &observer, sizeof before)) { return 2; }
        for (int k = 0; k < @@_OBSERVER_STATES; ++k) { if (!isfinite(observer.x[k])) { return 3; } }
    }
    return 0;
}
"#;

#[test]
fn hard_arguments_leave_the_observer_as_it_was() {
    let name = OBSERVED[0];
    let model = model(name);
    let folder = tempfile::tempdir().expect("a folder");
    let files = c_files_with(model, &options(false), Some(&observer(model))).expect("C");
    write(folder.path(), files);
    std::fs::write(folder.path().join("hostile.c"), named(name, HOSTILE)).expect("a folder");
    for compiler in sanitizing_compilers() {
        run(Command::new(compiler)
            .current_dir(folder.path())
            .args(["-std=c99", "-O1", "-g", "-fsanitize=address,undefined"])
            .args(["-fno-sanitize-recover=all", "-o", "hostile", "hostile.c"])
            .args([&format!("{name}.c"), "-lm"]));
        run(&mut Command::new(folder.path().join("hostile")));
    }
}

/// Frama-C: no run-time error for any observer, force and readings.
#[test]
fn observers_are_proven() {
    if !FRAMA_C.is_done() {
        return;
    }
    let name = OBSERVED[0];
    let model = model(name);
    let folder = tempfile::tempdir().expect("a folder");
    let files = c_files_with(model, &options(false), Some(&observer(model))).expect("C");
    write(folder.path(), files);
    let file = folder.path().join(format!("{name}.c"));
    let source = std::fs::read_to_string(file).expect("a source");
    let any = "#include <stddef.h>
#include \"@.h\"
extern volatile @_real any_real;
extern volatile int any_int;
static void any(@_real x[], int n)
{
    /*# loop unroll 1000000; */
    for (int i = 0; i < n; ++i) { x[i] = any_real; }
}
int main(void)
{
    static @_params_t params;
    static @_observer_t o;
    static @_real a[@@_N], b[@@_N], c[@@_N], z[@@_OBSERVER_SENSORS];
    any(params.rotor_inertia, @@_N_RIGID); any(params.viscous, @@_N_RIGID);
    any(params.coulomb, @@_N_RIGID); any(params.coulomb_rate, @@_N_RIGID);
    any(params.payload_mass, @@_N_OUTPUTS); any(params.gravity, 3);
    any(a, @@_N); any(b, @@_N); any(c, @@_N); any(z, @@_OBSERVER_SENSORS);
    any(o.x, @@_OBSERVER_STATES); any(o.root, @@_OBSERVER_STATES * @@_OBSERVER_STATES); any(o.force, @@_N);
    o.nis = any_real;
    const @_params_t *p = any_int ? &params : NULL;
    switch (any_int) {
    case 0: return @_observer_init(&o, a, b, c);
    case 1: return @_observer_predict_p(p, &o, a);
    default: return @_observer_update_p(p, &o, z);
    }
}
";
    let any = named(name, any);
    let said = analysis_with(folder.path(), model, &source, Goal::Interface, &any);
    assert!(is_shown(Goal::Interface, &said), "{}", complaints(&said));
}
