//! Compiles generated code and calls it.
#![allow(dead_code, unsafe_code)]

#[path = "tools.rs"]
mod tools;

use exporters::ExportOptions;
use exporters::code::{c_files, rust_files};
use libloading::{Library, Symbol};
use reducer::reduced_model::{Parameters, ReducedModel};
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use tools::*;

pub fn write_c(model: &ReducedModel, options: &ExportOptions, folder: &Path) {
    for (name, bytes) in c_files(model, options).unwrap() {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Writes the generated crate.
pub fn write_rust(model: &ReducedModel, options: &ExportOptions, folder: &Path) {
    for (name, bytes) in rust_files(model, options).unwrap() {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Generated code in a shared library.
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
            .args(["-O2", NO_CONTRACTION, "-fPIC", "-shared", "-o"])
            .arg(&object)
            .args(flags)
            .arg(folder.path().join(format!("{prefix}.c")))
            .arg(folder.path().join(format!("{prefix}_selftest.c")))
            .arg("-lm"));
        Self::load(&object, prefix, single, folder)
    }

    /// The generated crate behind the interface of the C functions.
    pub fn from_rust(model: &ReducedModel, single: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ExportOptions {
            single,
            prefix: None,
        };
        write_rust(model, &options, folder.path());
        let prefix = model.layout.name.clone();
        let bridge = BRIDGE.replace("@", &prefix);
        let outputs = if model.layout.outputs.is_empty() {
            ""
        } else {
            BRIDGE_OUTPUTS
        };
        let text = bridge + &outputs.replace("@", &prefix);
        std::fs::write(folder.path().join("bridge.rs"), text).unwrap();
        for (kind, name, file, edition) in [
            ("rlib", "generated", "src/lib.rs", "2024"),
            ("cdylib", "bridge", "bridge.rs", "2021"),
        ] {
            let mut rustc = Command::new("rustc");
            rustc
                .current_dir(folder.path())
                .args(["--edition", edition, "-O", "-D", "warnings", "-L", "."])
                .args(["--crate-type", kind, "--crate-name", name]);
            if name == "bridge" {
                rustc.args(["--extern", "generated=libgenerated.rlib"]);
                if !model.layout.outputs.is_empty() {
                    rustc.args(["--cfg", "outputs"]);
                }
            }
            run(rustc.arg(file));
        }
        let object = folder.path().join("libbridge.so");
        Self::load(&object, prefix, single, folder)
    }

    fn load(object: &Path, prefix: String, single: bool, folder: tempfile::TempDir) -> Self {
        // SAFETY: the library was generated and compiled by the caller and has no initialisers.
        let library = unsafe { Library::new(object) }.unwrap();
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
        self.step_with(None, x, force, dt)
    }

    /// One step with parameters, in the precision of the library.
    pub fn step_with(&self, params: Option<&[f64]>, x: &mut [f64], force: &[f64], dt: f64) -> i32 {
        type Step<R> = unsafe extern "C" fn(*const R, *mut R, *const R, R) -> i32;
        let name = format!("{}_step_p", self.prefix);
        let narrow = |v: &[f64]| -> Vec<f32> { v.iter().map(|&x| x as f32).collect() };
        // SAFETY: `int name_step_p(const name_params_t *, name_real x[], const name_real force[],
        // name_real dt)` with full arrays; the parameters are a structure of reals only.
        unsafe {
            if self.single {
                let f: Symbol<Step<f32>> = self.library.get(name.as_bytes()).unwrap();
                let (params, mut y, force) = (params.map(narrow), narrow(x), narrow(force));
                let params = params.as_ref().map_or(std::ptr::null(), |p| p.as_ptr());
                let status = f(params, y.as_mut_ptr(), force.as_ptr(), dt as f32);
                for (x, y) in x.iter_mut().zip(y) {
                    *x = f64::from(y);
                }
                status
            } else {
                let f: Symbol<Step<f64>> = self.library.get(name.as_bytes()).unwrap();
                let params = params.map_or(std::ptr::null(), |p| p.as_ptr());
                f(params, x.as_mut_ptr(), force.as_ptr(), dt)
            }
        }
    }
}

/// Functions of the crate with the signatures of the C header; `@` stands for the prefix.
const BRIDGE: &str = r#"
use generated::*;
use std::slice::from_raw_parts_mut;

unsafe fn get<'a, const K: usize>(p: *const Real) -> &'a [Real; K] {
    unsafe { &*p.cast() }
}

unsafe fn set<'a, const K: usize>(p: *mut Real) -> &'a mut [Real; K] {
    unsafe { &mut *p.cast() }
}

/// Parts of a structure of arrays, one after the other.
unsafe fn put(mut p: *mut Real, parts: &[&[Real]]) {
    for part in parts {
        unsafe {
            from_raw_parts_mut(p, part.len()).copy_from_slice(part);
            p = p.add(part.len());
        }
    }
}

unsafe fn parameters(p: *const Real) -> Option<Parameters> {
    if p.is_null() {
        return None;
    }
    let mut place = p;
    let mut next = |count: usize| unsafe {
        let part = std::slice::from_raw_parts(place, count);
        place = place.add(count);
        part
    };
    let mut out = Parameters::NOMINAL;
    #[cfg(outputs)]
    {
        out.payload_mass.copy_from_slice(next(N_OUTPUTS));
        out.gravity.copy_from_slice(next(3));
    }
    out.rotor_inertia.copy_from_slice(next(N_RIGID));
    out.viscous.copy_from_slice(next(N_RIGID));
    out.coulomb.copy_from_slice(next(N_RIGID));
    out.coulomb_rate.copy_from_slice(next(N_RIGID));
    Some(out)
}

macro_rules! both {
    ($short:ident $long:ident ($($name:ident: $kind:ty),*) $p:ident $body:expr) => {
        #[no_mangle]
        pub unsafe extern "C" fn $long(params: *const Real, $($name: $kind),*) -> i32 {
            let params = unsafe { parameters(params) };
            let $p = params.as_ref();
            (unsafe { $body }) as i32
        }
        #[no_mangle]
        pub unsafe extern "C" fn $short($($name: $kind),*) -> i32 {
            let $p: Option<&Parameters> = None;
            (unsafe { $body }) as i32
        }
    };
}

both!(@_coefficients @_coefficients_p (theta: *const Real, out: *mut Real) p {
    let mut c = Coefficients::ZERO;
    let status = coefficients_p(p, get(theta), &mut c);
    put(out, &[&c.mass, &c.gyroscopic, &c.stiffness, &c.damping, &c.force, &c.gravity, &c.load_map]);
    status
});
both!(@_inverse_dynamics @_inverse_dynamics_p (eta: *const Real, rate: *const Real, accel: *const Real, force: *mut Real) p
    inverse_dynamics_p(p, get(eta), get(rate), get(accel), set(force)));
both!(@_forward_dynamics @_forward_dynamics_p (eta: *const Real, rate: *const Real, force: *const Real, accel: *mut Real) p
    forward_dynamics_p(p, get(eta), get(rate), get(force), set(accel)));
both!(@_state_derivative @_state_derivative_p (x: *const Real, force: *const Real, dx: *mut Real) p
    state_derivative_p(p, get(x), get(force), set(dx)));
both!(@_linearize @_linearize_p (eta: *const Real, rate: *const Real, force: *const Real, a: *mut Real, b: *mut Real, c: *mut Real, d: *mut Real) p {
    let mut l = LinearModel::ZERO;
    let status = linearize_p(p, get(eta), get(rate), get(force), &mut l);
    put(a, &[&l.a]);
    put(b, &[&l.b]);
    put(c, &[&l.c]);
    put(d, &[&l.d]);
    status
});
both!(@_feedforward @_feedforward_p (theta: *const Real, rate: *const Real, accel: *const Real, force: *mut Real, modal: *mut Real) p
    feedforward_p(p, get(theta), get(rate), get(accel), set(force), set(modal)));
both!(@_step @_step_p (x: *mut Real, force: *const Real, dt: Real) p
    step_p(p, set(x), get(force), dt));
#[no_mangle]
pub extern "C" fn @_selftest() -> i32 {
    selftest() as i32
}
"#;

const BRIDGE_OUTPUTS: &str = r#"
both!(@_outputs @_outputs_p (eta: *const Real, rate: *const Real, out: *mut Real) p {
    let mut o = [Output::ZERO; N_OUTPUTS];
    let status = outputs_p(p, get(eta), get(rate), &mut o);
    for (i, o) in o.iter().enumerate() {
        let place = out.add(i * (18 + 6 * N));
        put(place, &[&o.position, &o.rotation, &o.velocity, &o.angular_velocity, &o.jacobian]);
    }
    status
});
"#;

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
