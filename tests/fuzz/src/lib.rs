//! What the targets share, and the files from which they start.

#[path = "../../support/hdf5.rs"]
pub mod hdf5;

use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::FaultKind;
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::finite_elements::{
    BodyStore, FeBody, Interface, Modes, Role, SourceFile, Superelement, Tie, Units, read,
};
use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};
use reducer::reduction::LocalReducer;
use reducer::sampling::SampleSource;
use std::path::{Path, PathBuf};

/// Meshes above this are legitimate but slow.
const MOST_NODES: usize = 60;
/// Fingerprint of the samples in fuzzed logs.
pub const FINGERPRINT: [u8; 32] = [7; 32];

/// Between the files of one body.
pub const BETWEEN_FILES: &str = "\n--------\n";

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// Includes of fuzzed files: there are none.
pub fn no_file(path: &Path) -> Result<Vec<u8>, FaultKind> {
    Err(FaultKind::Folder {
        path: path.display().to_string(),
    })
}

/// Assembles a small mechanism and reduces it at home.
pub fn use_mechanism(mechanism: &Mechanism) {
    let nodes = |kind: &BodyKind| kind.flexible_nodes().map_or(1, <[_]>::len);
    if mechanism
        .bodies
        .iter()
        .map(|b| nodes(&b.kind))
        .sum::<usize>()
        > MOST_NODES
    {
        return;
    }
    if let Ok(reducer) = LocalReducer::new(mechanism) {
        let home: Vec<f64> = mechanism.coordinates.iter().map(|c| c.home).collect();
        let _ = reducer.evaluate(&home);
    }
}

/// Looks for a stored body in a file with these bytes.
pub fn get_stored(folder: &Path, bytes: &[u8]) {
    // Files are named by the first half of the key.
    let name: String = FINGERPRINT[..16]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    std::fs::write(folder.join(name + ".body"), bytes).expect("a file");
    if let Some(body) = BodyStore::new(folder).get(&FINGERPRINT) {
        assert_eq!(
            body.n_strains(),
            6 * (body.nodes.len() - 1) + body.n_modes()
        );
    }
}

/// Two nodes with six dofs, a spring between them and lumped mass, in files of the kind of Abaqus.
fn small_body() -> [String; 3] {
    let (mut stiffness, mut mass) = (String::new(), String::new());
    for c in 1..=6 {
        for node in [1, 2] {
            stiffness += &format!("{node},{c},{node},{c},1.0\n");
            mass += &format!("{node},{c},{node},{c},2.0\n");
        }
        stiffness += &format!("1,{c},2,{c},-1.0\n");
    }
    [
        stiffness,
        mass,
        "1,0.,0.,0.\n2,0.,0.,0.\n3,1.,0.,0.\n4,0.,1.,0.\n5,1.,1.,0.\n".to_owned(),
    ]
}

/// First files of bodies: a whole small one, and beginnings of files of all programs.
fn body_seeds() -> Vec<(String, String)> {
    let folder = repository("data/reference/superelements");
    let begin = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("a file");
        text.chars().take(2000).collect::<String>()
    };
    let sets: [&[&str]; 4] = [
        &[
            "b1_coupler.sti",
            "b1_coupler.mas",
            "b1_coupler.dof",
            "b1_coupler.inp",
        ],
        &[
            "b1_coupler_STIF1.mtx",
            "b1_coupler_MASS1.mtx",
            "b1_coupler_abaqus.inp",
        ],
        &[
            "b1_coupler_K.mtx",
            "b1_coupler_M.mtx",
            "b1_coupler_dofs.txt",
            "b1_coupler_nodes.csv",
        ],
        &["b1_coupler.pch", "b1_coupler.bdf"],
    ];
    let cut = sets
        .iter()
        .map(|names| names.iter().map(|n| begin(n)).collect::<Vec<_>>());
    let all = std::iter::once(small_body().to_vec()).chain(cut);
    all.enumerate()
        .map(|(i, files)| (format!("set{i}"), files.join(BETWEEN_FILES)))
        .collect()
}

/// A stored body without its hash.
fn stored_seed() -> Vec<u8> {
    let contents = small_body().map(|text| {
        let bytes = text.as_bytes();
        (
            Role::Any,
            read(SourceFile { name: "f", bytes }).expect("content"),
        )
    });
    let body = FeBody::new(contents.to_vec(), &[], Units::default()).expect("a body");
    let pair = [1, 2].map(|node| Interface {
        name: format!("n{node}"),
        tie: Tie::Reference { node },
    });
    let condensed = body.condense(&pair, Modes::Count(0)).expect("condensed");
    let folder = tempfile::tempdir().expect("a folder");
    BodyStore::new(folder.path()).put(&FINGERPRINT, &Superelement::new(&body, &condensed));
    let entry = std::fs::read_dir(folder.path())
        .expect("a folder")
        .flatten()
        .next();
    let mut bytes = std::fs::read(entry.expect("a file").path()).expect("a file");
    bytes.truncate(bytes.len() - 32);
    bytes
}

/// Evaluates a model that a reader has accepted.
pub fn use_model(model: &ReducedModel) {
    model.validate().expect("readers validate");
    let evaluator = Evaluator::new(model).expect("valid models can be evaluated");
    let domain = &model.layout.domain;
    let middle: Vec<f64> = (domain.lower.iter().zip(&domain.upper))
        .map(|(l, u)| 0.5 * (l + u))
        .collect();
    evaluator
        .document(&middle, &mut Workspace::default())
        .expect("the number of coordinates is right");
}

/// A small model, and the log of its samples.
pub fn small_model() -> (ReducedModel, Vec<u8>) {
    let path = repository("data/four_bar_rigid.toml");
    let mechanism = reducer::description::load(&path).expect("a mechanism");
    let source = SampleSource::new(&mechanism).expect("a source");
    let folder = tempfile::tempdir().expect("a folder");
    let mut database = SampleDatabase::open(folder.path(), FINGERPRINT).expect("a database");
    let (model, _) =
        reducer::pipeline::reduce(&source, &mechanism.approximation, &Silent, &mut database)
            .expect("a model");
    let log = std::fs::read(folder.path().join("000000.samples")).expect("a log");
    (model, log)
}

/// Writes the first files of every target into `corpus/<target>`; done by each target when asked.
pub fn write_seeds(corpus: &Path) {
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(name), bytes).expect("a seed");
    };
    for (target, folder) in [
        ("mechanism", "data"),
        ("mechanism", "tests/description/bad"),
        ("scenario", "data/scenarios"),
        ("scenario", "tests/simulate/bad"),
        ("csv", "tests/simulate/bad"),
    ] {
        let ending = if target == "csv" { "csv" } else { "toml" };
        for entry in std::fs::read_dir(repository(folder))
            .expect("a folder")
            .flatten()
        {
            if entry.path().extension().is_some_and(|e| e == ending) {
                let bytes = std::fs::read(entry.path()).expect("a file");
                write(target, &entry.file_name().to_string_lossy(), &bytes);
            }
        }
    }
    write("csv", "path.csv", b"theta\n0\n0.5\n1\n");
    for (name, text) in body_seeds() {
        write("bodies", &name, text.as_bytes());
    }
    write("stored", "body", &stored_seed());
    let (model, log) = small_model();
    write(
        "json",
        "model.json",
        &exporters::json::to_bytes(&model).expect("JSON"),
    );
    write(
        "hdf5",
        "model.h5",
        &exporters::hdf5::to_bytes(&model).expect("HDF5"),
    );
    // The payload of the first record: the target adds lengths and hashes.
    let head = log[40..48].try_into().expect("eight bytes");
    let length = u64::from_le_bytes(head) as usize;
    write("samples", "record", &log[48..48 + length]);
}
