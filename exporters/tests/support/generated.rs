//! Compiles generated C and calls it.
#![allow(dead_code, unsafe_code)]

use exporters::ExportOptions;
use exporters::code::c_files;
use libloading::{Library, Symbol};
use reducer::reduced_model::{Parameters, ReducedModel};
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const WARNINGS: &[&str] = &[
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Werror",
];

/// Compilers of this machine; a missing clang is reported loudly once per test.
pub fn compilers() -> Vec<&'static str> {
    ["gcc", "clang"]
        .into_iter()
        .filter(|c| {
            let found = Command::new(c).arg("--version").output().is_ok();
            if !found {
                assert!(
                    std::env::var_os("REDUCE_REQUIRE_TOOLS").is_none(),
                    "{c} is required here and not installed"
                );
                eprintln!("SKIPPED: {c} is not installed; generated C is not compiled with it");
            }
            found
        })
        .collect()
}

pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn write_c(model: &ReducedModel, options: &ExportOptions, folder: &Path) {
    for (name, bytes) in c_files(model, options).unwrap() {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Generated C in a shared library.
pub struct Generated {
    library: Library,
    prefix: String,
    single: bool,
    _folder: tempfile::TempDir,
}

impl Generated {
    pub fn new(model: &ReducedModel, compiler: &str, single: bool, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ExportOptions {
            single,
            prefix: None,
        };
        write_c(model, &options, folder.path());
        let prefix = model.layout.name.clone();
        let object: PathBuf = folder.path().join("model.so");
        run(Command::new(compiler)
            .args(WARNINGS)
            .args(["-O2", "-ffp-contract=off", "-fPIC", "-shared", "-o"])
            .arg(&object)
            .args(flags)
            .arg(folder.path().join(format!("{prefix}.c")))
            .arg(folder.path().join(format!("{prefix}_selftest.c")))
            .arg("-lm"));
        // SAFETY: the library was generated and compiled above and has no initialisers.
        let library = unsafe { Library::new(&object) }.unwrap();
        Self {
            library,
            prefix,
            single,
            _folder: folder,
        }
    }

    pub fn selftest(&self) -> i32 {
        let name = format!("{}_selftest", self.prefix);
        // SAFETY: `int name_selftest(void)`.
        unsafe {
            let f: Symbol<unsafe extern "C" fn() -> i32> =
                self.library.get(name.as_bytes()).unwrap();
            f()
        }
    }

    /// Calls a function whose arguments are arrays: first the inputs, then the results, of which
    /// only the lengths are given; results start as NaN. Every array has room to spare, which must
    /// stay untouched.
    pub fn call(
        &self,
        function: &str,
        inputs: &[&[f64]],
        results: &[usize],
    ) -> (i32, Vec<Vec<f64>>) {
        self.call_with(function, None, inputs, results)
    }

    /// The same for functions whose first argument are parameters.
    pub fn call_with(
        &self,
        function: &str,
        params: Option<&[f64]>,
        inputs: &[&[f64]],
        results: &[usize],
    ) -> (i32, Vec<Vec<f64>>) {
        let with_params = function.ends_with("_p");
        let mut doubles: Vec<Vec<f64>> = params.iter().chain(inputs).map(|v| v.to_vec()).collect();
        doubles.extend(results.iter().map(|&n| vec![f64::NAN; n + 2]));
        let mut singles: Vec<Vec<f32>> = doubles
            .iter()
            .map(|v| v.iter().map(|&x| x as f32).collect())
            .collect();
        let mut pointers: Vec<*mut c_void> = if self.single {
            singles.iter_mut().map(|v| v.as_mut_ptr().cast()).collect()
        } else {
            doubles.iter_mut().map(|v| v.as_mut_ptr().cast()).collect()
        };
        if with_params && params.is_none() {
            pointers.insert(0, std::ptr::null_mut());
        }
        let status = self.call_pointers(function, &pointers);
        if self.single {
            doubles = singles
                .iter()
                .map(|v| v.iter().map(|&x| f64::from(x)).collect())
                .collect();
        }
        let skip = doubles.len() - results.len();
        let out = doubles.split_off(skip);
        let out = out
            .into_iter()
            .map(|mut v| {
                assert!(
                    v.pop().unwrap().is_nan() && v.pop().unwrap().is_nan(),
                    "{function} wrote beyond its results"
                );
                v
            })
            .collect();
        (status, out)
    }

    fn call_pointers(&self, function: &str, p: &[*mut c_void]) -> i32 {
        type P = *mut c_void;
        let name = format!("{}_{function}", self.prefix);
        let name = name.as_bytes();
        // SAFETY: the header declares these functions with as many pointers as are passed, and the
        // caller gives arrays of the lengths that the header states.
        unsafe {
            match *p {
                [a, b] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P) -> i32>(name)
                    .unwrap()(a, b),
                [a, b, c] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P, P) -> i32>(name)
                    .unwrap()(a, b, c),
                [a, b, c, d] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P, P, P) -> i32>(name)
                    .unwrap()(a, b, c, d),
                [a, b, c, d, e] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P, P, P, P) -> i32>(name)
                    .unwrap()(a, b, c, d, e),
                [a, b, c, d, e, f] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P, P, P, P, P) -> i32>(name)
                    .unwrap()(a, b, c, d, e, f),
                [a, b, c, d, e, f, g] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P, P, P, P, P, P) -> i32>(name)
                    .unwrap()(a, b, c, d, e, f, g),
                [a, b, c, d, e, f, g, h] => self
                    .library
                    .get::<unsafe extern "C" fn(P, P, P, P, P, P, P, P) -> i32>(name)
                    .unwrap()(a, b, c, d, e, f, g, h),
                _ => panic!("{} arguments", p.len()),
            }
        }
    }

    /// One step in double precision; the state is changed in place.
    pub fn step(&self, x: &mut [f64], force: &[f64], dt: f64) -> i32 {
        assert!(!self.single);
        let name = format!("{}_step", self.prefix);
        // SAFETY: `int name_step(double x[], const double force[], double dt)` with full arrays.
        unsafe {
            let f: Symbol<unsafe extern "C" fn(*mut f64, *const f64, f64) -> i32> =
                self.library.get(name.as_bytes()).unwrap();
            f(x.as_mut_ptr(), force.as_ptr(), dt)
        }
    }
}

/// Parameters as the header's structure lays them out.
pub fn flat_parameters(model: &ReducedModel, p: &Parameters) -> Vec<f64> {
    let mut flat = p.payload_mass.clone();
    if !p.payload_mass.is_empty() || model.layout.parameters.gravity_at_runtime {
        flat.extend(p.gravity);
    }
    for values in [&p.rotor_inertia, &p.viscous, &p.coulomb, &p.coulomb_rate] {
        flat.extend(values);
    }
    flat
}

pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖a − b‖ ≤ tolerance ‖b‖.
#[track_caller]
pub fn close(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let difference: Vec<f64> = a.iter().zip(b).map(|(x, y)| x - y).collect();
    let (found, scale) = (norm(&difference), norm(b));
    assert!(
        found <= tolerance * scale,
        "{what}: {found:e} against {scale:e}\n{a:?}\n{b:?}"
    );
}
