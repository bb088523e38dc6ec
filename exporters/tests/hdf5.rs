//! HDF5 models: exact, readable elsewhere, and refused where damaged.

mod support;

use exporters::{ReadError, hdf5};
use proptest::prelude::*;
use reducer::reduced_model::*;
use std::process::Command;
use support::{model, recipes};

#[test]
fn reading_back_gives_the_identical_model() {
    for recipe in recipes() {
        let mut original = model(&recipe);
        original.boxes[0].definite = None;
        original.boxes[0].errors = vec![BlockError {
            block: "mass".into(),
            mean: 1e-300,
            max: 0.1 + 0.2,
        }];
        original.boxes[0].dynamics.coefficients[0] = 5e-324;
        original.layout.coordinates[0].unit = "µm".into();
        let bytes = hdf5::to_bytes(&original).unwrap();
        let back = hdf5::from_bytes(bytes.clone()).unwrap();
        assert_eq!(original, back);
        let bits = |m: &ReducedModel| -> Vec<u64> {
            m.boxes
                .iter()
                .flat_map(|b| {
                    b.dynamics
                        .coefficients
                        .iter()
                        .chain(&b.outputs.coefficients)
                })
                .map(|c| c.to_bits())
                .collect()
        };
        assert_eq!(bits(&original), bits(&back));
        assert_eq!(bytes, hdf5::to_bytes(&back).unwrap(), "two runs differ");
    }
}

#[test]
fn a_model_without_any_box_survives() {
    let mut m = model(&recipes()[0]);
    m.tree = vec![TreeNode::Dropped {
        reason: "singular".into(),
    }];
    m.boxes.clear();
    assert_eq!(hdf5::from_bytes(hdf5::to_bytes(&m).unwrap()).unwrap(), m);
}

#[test]
fn text_that_the_format_cannot_hold_is_refused() {
    let mut m = model(&recipes()[0]);
    m.provenance.tool = "ends in zero\0".into();
    assert!(hdf5::to_bytes(&m).is_err());
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(
        hdf5::from_bytes(Vec::new()),
        Err(ReadError::Hdf5 { .. })
    ));
    assert!(matches!(
        hdf5::from_bytes(b"{\"format\": 1}".to_vec()),
        Err(ReadError::Hdf5 { .. })
    ));
    let mut other = hdf5_pure::FileBuilder::new();
    other.set_attr("format", hdf5_pure::AttrValue::I64(9));
    assert!(matches!(
        hdf5::from_bytes(other.finish().unwrap()),
        Err(ReadError::Format { found: 9 })
    ));
    let mut other = hdf5_pure::FileBuilder::new();
    other.set_attr("format", hdf5_pure::AttrValue::I64(1));
    assert!(matches!(
        hdf5::from_bytes(other.finish().unwrap()),
        Err(ReadError::Hdf5 { .. })
    ));
}

#[test]
fn truncated_files_are_refused() {
    let bytes = hdf5::to_bytes(&model(&recipes()[1])).unwrap();
    for end in (0..bytes.len()).step_by(61) {
        assert!(
            hdf5::from_bytes(bytes[..end].to_vec()).is_err(),
            "{end} bytes were accepted"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed bytes, mostly in the headers, give a refusal or a valid model, never a panic.
    #[test]
    fn mutations_never_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), head in any::<bool>(), which in 0usize..3) {
        let mut bytes = hdf5::to_bytes(&model(&recipes()[which])).unwrap();
        let end = if head { bytes.len().min(9000) } else { bytes.len() };
        for (place, value) in places {
            let i = place.index(end);
            bytes[i] = value;
        }
        if let Ok(m) = hdf5::from_bytes(bytes) {
            prop_assert!(m.validate().is_ok());
        }
    }
}

const SCRIPT: &str = r#"
import sys
import h5py
import numpy as np
from numpy.polynomial import chebyshev

f = h5py.File(sys.argv[1], "r")
assert f.attrs["format"] == 1
theta = np.array([float(t) for t in sys.argv[2:]])
n = len(f["layout/coordinate_name"])
node = 0
while f["tree/kind"][node] == 0:
    node = f["tree/low"][node] if theta[f["tree/axis"][node]] < f["tree/at"][node] else f["tree/high"][node]
box = f["tree/low"][node]
lower, upper = f["boxes/lower"][box], f["boxes/upper"][box]
xi = (2 * theta - lower - upper) / (upper - lower)
first, end = f["boxes/dynamics_first"][box : box + 2]
degrees = f["boxes/dynamics_degrees"][first:end]
terms = [np.prod([chebyshev.chebval(x, [0] * int(d) + [1]) for x, d in zip(xi, row)]) for row in degrees]
values = terms @ f["boxes/dynamics_coefficients"][first:end]
u = np.zeros((n, n))
for group, numbers in (("constant", f["components/constant_value"][:]), ("dynamics", values)):
    quantity = [q.decode() for q in f[f"components/{group}_quantity"][:]]
    for q, index, value in zip(quantity, f[f"components/{group}_index"][:], numbers):
        if q == "mass_factor":
            u[index[0], index[1]] = value
assert "unit" in f["layout/lower"].attrs and "description" in f["boxes/lower"].attrs
print(*(repr(float(x)) for x in (u @ u.T).ravel()))
"#;

#[test]
fn h5py_recomputes_the_mass_matrix() {
    let found = Command::new("python3")
        .args(["-c", "import h5py, numpy"])
        .output();
    if !found.is_ok_and(|o| o.status.success()) {
        assert!(
            std::env::var_os("REDUCE_REQUIRE_TOOLS").is_none(),
            "python3 with h5py and numpy is required here and not installed"
        );
        eprintln!(
            "SKIPPED: python3 with h5py and numpy is not installed; HDF5 files are not read elsewhere"
        );
        return;
    }
    for recipe in recipes()
        .into_iter()
        .filter(|r| r.form == ModelForm::Lagrangian)
    {
        let m = model(&recipe);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.h5");
        std::fs::write(&path, hdf5::to_bytes(&m).unwrap()).unwrap();
        let theta: Vec<f64> = m.layout.domain.upper.iter().map(|u| 0.7 * u).collect();
        let output = Command::new("python3")
            .args(["-c", SCRIPT])
            .arg(&path)
            .args(theta.iter().map(|t| format!("{t:e}")))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mass: Vec<f64> = String::from_utf8_lossy(&output.stdout)
            .split_whitespace()
            .map(|w| w.parse().unwrap())
            .collect();
        let expected = Evaluator::new(&m)
            .unwrap()
            .coefficients(&theta, &mut Workspace::default())
            .unwrap();
        let norm = |v: Vec<f64>| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let difference = norm(
            mass.iter()
                .zip(&expected.mass)
                .map(|(a, b)| a - b)
                .collect(),
        );
        assert!(
            difference <= 1e-14 * norm(expected.mass.clone()),
            "{}: {difference:e}",
            recipe.name
        );
    }
}
