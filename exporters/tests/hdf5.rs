//! HDF5 models: exact, readable elsewhere, and refused where damaged.

mod support;
#[path = "support/tools.rs"]
mod tools;

use exporters::ReadError;
use exporters::hdf5::{self, Backend};
use proptest::prelude::*;
use reducer::reduced_model::*;
use std::process::Command;
use std::sync::LazyLock;
use support::{Recipe, model, recipes};

/// Numbers and texts that are hard to keep.
fn awkward_models() -> Vec<ReducedModel> {
    let awkward = |recipe| {
        let mut original = model(recipe);
        original.boxes[0].definite = None;
        original.provenance.reached = false;
        original.boxes[0].errors = vec![BlockError {
            block: Block::Mass,
            mean: 1e-300,
            max: 0.1 + 0.2,
        }];
        original.boxes[0].dynamics.coefficients[0] = 5e-324;
        original.boxes[0].dynamics.coefficients[1] = -0.0;
        original.layout.coordinates[0].unit = "µm".into();
        original
    };
    recipes().iter().map(awkward).collect()
}

fn bits(m: &ReducedModel) -> Vec<u64> {
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
}

#[test]
fn every_backend_reads_the_identical_model_from_the_file_of_every_backend() {
    for original in awkward_models() {
        for writer in Backend::ALL {
            let bytes = writer.to_bytes(&original).unwrap();
            for reader in Backend::ALL {
                let back = reader.from_bytes(bytes.clone()).unwrap();
                assert_eq!(original, back, "{writer:?} to {reader:?}");
                assert_eq!(bits(&original), bits(&back), "{writer:?} to {reader:?}");
                assert_eq!(bytes, writer.to_bytes(&back).unwrap(), "two runs differ");
            }
        }
    }
}

#[test]
fn the_default_backend_is_the_last_of_this_build() {
    let expected = if cfg!(feature = "hdf5-library") { 2 } else { 1 };
    assert_eq!(Backend::ALL.len(), expected);
    assert_eq!(Backend::ALL.last(), Some(&Backend::default()));
    let m = model(&recipes()[0]);
    assert_eq!(
        hdf5::to_bytes(&m).unwrap(),
        Backend::default().to_bytes(&m).unwrap()
    );
}

/// The library reads texts into buffers of three widths; 1000 bytes are the most.
#[test]
fn texts_of_any_length_survive() {
    for length in [1, 16, 17, 128, 129, 250] {
        let mut m = model(&recipes()[0]);
        m.provenance.tool = "\u{10348}".repeat(length);
        for writer in Backend::ALL {
            let bytes = writer.to_bytes(&m).unwrap();
            for reader in Backend::ALL {
                assert_eq!(reader.from_bytes(bytes.clone()).unwrap(), m, "{length}");
            }
        }
    }
}

#[test]
fn a_model_without_any_box_survives() {
    let mut m = model(&recipes()[0]);
    m.tree = vec![TreeNode::Dropped {
        reason: DropReason::Outside,
    }];
    m.boxes.clear();
    for backend in Backend::ALL {
        let bytes = backend.to_bytes(&m).unwrap();
        assert_eq!(backend.from_bytes(bytes).unwrap(), m);
    }
}

#[test]
fn every_setting_and_every_reason_survives() {
    let cut = recipes().into_iter().find(|r| r.drop_first).unwrap();
    let theta = model(&cut).layout.domain.lower.clone();
    let message = "it locks".to_owned();
    let reasons = [
        DropReason::Outside,
        DropReason::Unfinished,
        DropReason::Cut {
            samples: 3,
            needed: 10,
            checks: 0,
        },
        DropReason::Singular {
            theta: theta.clone(),
            message: message.clone(),
        },
        DropReason::Inadmissible { theta, message },
    ];
    let bases = [
        BasisRecord::Quadratic,
        BasisRecord::Lagrange { order: 3 },
        BasisRecord::Chebyshev { max_degree: 12 },
    ];
    let tolerance = |block| BlockTolerance {
        block,
        tolerance: 0.1,
    };
    for (i, reason) in reasons.into_iter().enumerate() {
        let mut m = model(&cut);
        m.provenance.settings.basis = bases[i % bases.len()];
        m.provenance.settings.criterion = [Criterion::Mean, Criterion::Max][i % 2];
        m.provenance.settings.objective = [Objective::Size, Objective::Speed][i % 2];
        m.provenance.settings.tolerances = Block::ALL.map(tolerance).to_vec();
        m.provenance.cut_short = CutShort::ALL.get(i).copied();
        for node in &mut m.tree {
            if let TreeNode::Dropped { reason: found } = node {
                *found = reason.clone();
            }
        }
        let text = exporters::json::to_bytes(&m).unwrap();
        assert_eq!(exporters::json::from_bytes(&text).unwrap(), m);
        for backend in Backend::ALL {
            let bytes = backend.to_bytes(&m).unwrap();
            assert_eq!(backend.from_bytes(bytes).unwrap(), m, "{backend:?}");
        }
    }
}

#[test]
fn text_that_the_format_cannot_hold_is_refused() {
    for tool in ["ends in zero\0", "zero\0inside"] {
        let mut m = model(&recipes()[0]);
        m.provenance.tool = tool.into();
        for backend in Backend::ALL {
            assert!(backend.to_bytes(&m).is_err(), "{backend:?}: {tool:?}");
        }
    }
}

#[test]
fn other_files_are_refused() {
    let stating = |format: i64| {
        let mut other = hdf5_pure::FileBuilder::new();
        other.set_attr("format", hdf5_pure::AttrValue::I64(format));
        other.finish().unwrap()
    };
    let none = hdf5_pure::FileBuilder::new().finish().unwrap();
    for backend in Backend::ALL {
        for bytes in [
            Vec::new(),
            b"{\"format\": 4}".to_vec(),
            none.clone(),
            stating(4),
            stating(-1),
        ] {
            let found = backend.from_bytes(bytes);
            assert!(
                matches!(found, Err(ReadError::Hdf5 { .. })),
                "{backend:?}: {found:?}"
            );
        }
        for other in [1, 9] {
            let refusal = backend.from_bytes(stating(other)).unwrap_err();
            let found = other as u64;
            assert!(
                matches!(refusal, ReadError::Format { found: f } if f == found),
                "{refusal}"
            );
            let said = refusal.to_string();
            assert!(said.contains(&format!("format {other};")), "{said}");
            assert!(
                said.contains("reduce the mechanism again with this version"),
                "{said}"
            );
        }
    }
}

#[test]
fn truncated_files_are_refused() {
    for writer in Backend::ALL {
        let bytes = writer.to_bytes(&model(&recipes()[1])).unwrap();
        for reader in Backend::ALL {
            for end in (0..bytes.len()).step_by(61) {
                assert!(
                    reader.from_bytes(bytes[..end].to_vec()).is_err(),
                    "{end} bytes of {writer:?} were accepted by {reader:?}"
                );
            }
        }
    }
}

/// Files of three models by every backend.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let models: Vec<ReducedModel> = recipes().iter().take(3).map(model).collect();
    let file = |backend: &Backend, m| backend.to_bytes(m).unwrap();
    let of_backend = |b| models.iter().map(move |m| file(b, m));
    Backend::ALL.iter().flat_map(of_backend).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed bytes, mostly in the headers, give a refusal or a valid model, never a panic.
    #[test]
    fn mutations_never_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), head in any::<bool>(), which in any::<prop::sample::Index>()) {
        let mut bytes = which.get(&FILES).clone();
        let end = if head { bytes.len().min(9000) } else { bytes.len() };
        for (place, value) in places {
            let i = place.index(end);
            bytes[i] = value;
        }
        for backend in Backend::ALL {
            if let Ok(m) = backend.from_bytes(bytes.clone()) {
                prop_assert!(m.validate().is_ok());
            }
        }
    }
}

/// Puts something else in the place of one dataset; prints nothing.
const DAMAGE: &str = r#"
import sys
import h5py
import numpy as np

path, other, how = sys.argv[1:]
f = h5py.File(path, "r+")
numbers = f["boxes/lower"][()]
name = "layout/name" if how == "text of variable length" else "boxes/lower"
del f[name]
if how == "shape of 8 TB without data":
    f.create_dataset(name, shape=(1 << 40,), dtype="f8")
elif how == "chunked":
    f.create_dataset(name, data=numbers, chunks=numbers.shape)
elif how == "chunked, 8 TB":
    f.create_dataset(name, shape=(1 << 40,), dtype="f8", chunks=(1 << 10,))
elif how == "compressed":
    f.create_dataset(name, data=numbers, compression="gzip")
elif how == "in another file":
    f.create_dataset(name, shape=numbers.shape, dtype="f8", external=[(other, 0, numbers.nbytes)])
elif how == "link to another file":
    f[name] = h5py.ExternalLink(other, name)
elif how == "single precision":
    f.create_dataset(name, data=numbers.astype("f4"))
elif how == "no shape":
    f.create_dataset(name, data=h5py.Empty("f8"))
elif how == "group":
    f.create_group(name)
elif how == "text of variable length":
    f.create_dataset(name, data=["name"], dtype=h5py.string_dtype())
else:
    sys.exit("unknown: " + how)
"#;

#[test]
fn datasets_that_lie_about_size_place_or_type_are_refused() {
    if !tools::H5PY.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["model.h5", "other.h5"].map(|name| folder.path().join(name));
    for how in [
        "shape of 8 TB without data",
        "chunked",
        "chunked, 8 TB",
        "compressed",
        "in another file",
        "link to another file",
        "single precision",
        "no shape",
        "group",
        "text of variable length",
    ] {
        for bytes in FILES.iter().step_by(3) {
            std::fs::write(&path, bytes).unwrap();
            std::fs::write(&other, bytes).unwrap();
            let script = Command::new("python3")
                .args(["-c", DAMAGE])
                .args([&path, &other])
                .arg(how)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&script.stderr);
            assert!(script.status.success(), "{how}: {said}");
            for backend in Backend::ALL {
                let found = backend.from_bytes(std::fs::read(&path).unwrap());
                assert!(
                    matches!(found, Err(ReadError::Hdf5 { .. })),
                    "{backend:?}, {how}: {found:?}"
                );
            }
        }
    }
}

const SCRIPT: &str = r#"
import sys
import h5py
import numpy as np
from numpy.polynomial import chebyshev

f = h5py.File(sys.argv[1], "r")
assert f.attrs["format"] == (5 if "combined_end" in f["components"] else 4)
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
kinds = [k.decode() for k in f["layout/functions"][:]]
def function(kind, x, t, d):
    if kind == "waves":
        return 1.0 if d == 0 else (np.cos((d + 1) // 2 * t) if d % 2 else np.sin(d // 2 * t))
    return chebyshev.chebval(x, [0] * int(d) + [1])
terms = [np.prod([function(*axis) for axis in zip(kinds, xi, theta, row)]) for row in degrees]
values = terms @ f["boxes/dynamics_coefficients"][first:end]
u, mass = np.zeros((n, n)), np.zeros((n, n))
groups = [("constant", f["components/constant_value"][:]), ("dynamics", values)]
if "combined_end" in f["components"]:
    products = f["components/combined_factor"][:] * values[f["components/combined_column"][:]]
    starts = np.append(0, f["components/combined_end"][:-1])
    groups.append(("combined", np.add.reduceat(products, starts)))
for group, numbers in groups:
    quantity = [q.decode() for q in f[f"components/{group}_quantity"][:]]
    for q, index, value in zip(quantity, f[f"components/{group}_index"][:], numbers):
        if q == "mass_factor":
            u[index[0], index[1]] = value
        if q == "mass":
            mass[index[0], index[1]] = mass[index[1], index[0]] = value
assert "unit" in f["layout/lower"].attrs and "description" in f["boxes/lower"].attrs
print(*(repr(float(x)) for x in (u @ u.T + mass).ravel()))
"#;

#[test]
fn h5py_recomputes_the_mass_matrix() {
    if !tools::H5PY.is_done() {
        return;
    }
    for recipe in recipes()
        .into_iter()
        .filter(|r| r.form == ModelForm::Lagrangian)
    {
        for backend in Backend::ALL {
            check_mass(&recipe, *backend);
        }
    }
}

fn check_mass(recipe: &Recipe, backend: Backend) {
    let m = model(recipe);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.h5");
    std::fs::write(&path, backend.to_bytes(&m).unwrap()).unwrap();
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
