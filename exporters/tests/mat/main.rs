//! `.mat` files, with every kind of stored number: the same arrays as HDF5 in SciPy, and evaluated in Octave as the
//! evaluator does.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/tools.rs"]
mod tools;

use exporters::mat::Value;
use exporters::{ExportOptions, Format, Guard, WriteError, export, mat};
use reducer::reduced_model::*;
use std::path::Path;
use std::process::Command;
use support::{Numbers, configurations, model, recipes};
use tools::{H5PY, OCTAVE, SCIPY, run};

fn write(m: &ReducedModel, format: Format, path: &Path) -> Result<(), WriteError> {
    export(
        m,
        format,
        path,
        &ExportOptions::default(),
        &Guard::default(),
    )
}

/// What the evaluator says about a state.
fn point(m: &ReducedModel, eta: &[f64], numbers: &mut Numbers) -> Value {
    let (n, s) = (m.layout.n(), m.layout.n_rigid);
    let mut work = Workspace::default();
    let (rate, accel) = (numbers.vector(n, 2.0), numbers.vector(n, 3.0));
    let evaluator = Evaluator::new(m).unwrap();
    let mut force = vec![0.0; n];
    let status = evaluator
        .inverse_dynamics(eta, &rate, &accel, &mut force, &mut work)
        .unwrap();
    let (outputs, _) = evaluator.outputs(eta, &rate, &mut work).unwrap();
    let coefficients = evaluator.coefficients(&eta[..s], &mut work).unwrap();
    let flat = outputs.iter().flat_map(|o| {
        [
            o.position.as_slice(),
            o.rotation.as_slice(),
            o.velocity.as_slice(),
            o.angular_velocity.as_slice(),
        ]
        .concat()
    });
    let fields = [
        ("eta", eta.to_vec()),
        ("rate", rate),
        ("accel", accel),
        ("status", vec![f64::from(status as i32)]),
        ("force", force),
        ("outputs", flat.collect()),
        ("stiffness", coefficients.stiffness),
        ("damping", coefficients.damping),
        ("mass", coefficients.mass),
    ];
    let named = fields.map(|(name, values)| (name.to_owned(), Value::column(values)));
    Value::Struct(named.to_vec())
}

#[test]
fn octave_evaluates_models_as_the_evaluator_does() {
    if !OCTAVE.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for (i, recipe) in recipes().iter().enumerate() {
        let m = model(recipe);
        let name = format!("m{i}");
        write(&m, Format::Mat, &folder.path().join(format!("{name}.mat"))).unwrap();
        let mut numbers = Numbers::new(23);
        let states = configurations(&m);
        let points = states.iter().map(|eta| point(&m, eta, &mut numbers));
        let points = Value::Cells(points.collect());
        let place = folder.path().join(format!("{name}_points.mat"));
        std::fs::write(place, mat::file(&[("points", points)])).unwrap();
        names.push(name);
    }
    let program = std::fs::canonicalize("tests/mat/check.m").unwrap();
    let mut octave = Command::new("octave-cli");
    octave.args(["--no-init-file", "--quiet"]).arg(program);
    let said = run(octave.args(&names).current_dir(folder.path()));
    println!("{said}");
    assert_eq!(said.matches("largest error").count(), names.len(), "{said}");
}

/// SciPy reads the arrays that h5py reads from the HDF5 file.
#[test]
fn scipy_reads_the_arrays_of_the_hdf5_file() {
    if !SCIPY.is_done() || !H5PY.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = std::fs::canonicalize("tests/mat/compare.py").unwrap();
    let mut python = Command::new("python3");
    python.arg(&program);
    for (i, recipe) in recipes().iter().enumerate() {
        let m = model(recipe);
        let [mat, h5] = ["mat", "h5"].map(|end| folder.path().join(format!("m{i}.{end}")));
        write(&m, Format::Mat, &mat).unwrap();
        write(&m, Format::Hdf5, &h5).unwrap();
        python.args([&mat, &h5]);
    }
    run(&mut python);
}

#[test]
fn files_are_ours_and_equal_for_equal_models() {
    let folder = tempfile::tempdir().unwrap();
    let m = model(&recipes()[0]);
    let path = folder.path().join("a.mat");
    write(&m, Format::Mat, &path).unwrap();
    let first = std::fs::read(&path).unwrap();
    write(&m, Format::Mat, &path).unwrap();
    assert_eq!(first, std::fs::read(&path).unwrap());
    assert!(folder.path().join(mat::EVALUATE).exists());
    let refused = write(&m, Format::Mat, &folder.path().join("a.m")).unwrap_err();
    assert!(matches!(refused, WriteError::NotMat { .. }), "{refused}");
    std::fs::write(&path, "MATLAB 5.0 MAT-file, of someone else").unwrap();
    let refused = write(&m, Format::Mat, &path).unwrap_err();
    assert!(matches!(refused, WriteError::Foreign { .. }), "{refused}");
}
