//! The mechanisms of `data/`, and one of them with objective `speed`, reduced once per run of the tests.

use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::mechanism::Objective;
use reducer::reduced_model::ReducedModel;
use reducer::sampling::SampleSource;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The mechanism whose generated code is also made for speed, and that model.
const ORTHOGLIDE: &str = "orthoglide";
const FAST: &str = "orthoglide_speed";

/// Every mechanism file, which a test compares with the folder, and the model made for speed.
pub const MECHANISMS: [&str; 11] = [
    "arm6",
    "elbow",
    "four_bar",
    "four_bar_rigid",
    "four_bar_thesis",
    "hexapod",
    "one_link",
    ORTHOGLIDE,
    "orthoglide_parallelogram",
    FAST,
    "ralf",
];

/// Mechanisms of the folder whose generated code is not checked here: what these checks take grows with
/// the size of a model, and these are large or take minutes to make.
const LARGE: [&str; 4] = ["arm6_wide", "delta", "planar_3rrr", "scara"];

/// One test per mechanism, which calls the given function with its name, and one that none is left out.
macro_rules! for_every_mechanism {
    ($check:ident) => {
        crate::models::for_every_mechanism!(
            $check: arm6 elbow four_bar four_bar_rigid four_bar_thesis hexapod one_link orthoglide
            orthoglide_parallelogram orthoglide_speed ralf
        );
    };
    ($check:ident: $($name:ident)*) => {
        $(#[test]
        fn $name() {
            $check(stringify!($name));
        })*

        #[test]
        fn every_mechanism_is_checked() {
            assert_eq!([$(stringify!($name)),*], crate::models::MECHANISMS);
        }
    };
}
pub(crate) use for_every_mechanism;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")
}

/// The reduced model of a mechanism, with the settings of its file but for the objective.
pub fn model(name: &str) -> &'static ReducedModel {
    static MODELS: [OnceLock<ReducedModel>; MECHANISMS.len()] =
        [const { OnceLock::new() }; MECHANISMS.len()];
    let place = MECHANISMS
        .iter()
        .position(|m| *m == name)
        .expect("a name of the list");
    MODELS[place].get_or_init(|| reduce(name))
}

fn reduce(name: &str) -> ReducedModel {
    let stem = if name == FAST { ORTHOGLIDE } else { name };
    let file = data().join(format!("{stem}.toml"));
    let mut mechanism = reducer::description::load(&file).expect("a valid mechanism");
    if name == FAST {
        mechanism.name = name.to_owned();
        mechanism.approximation.objective = Objective::Speed;
    }
    let source = SampleSource::new(&mechanism).expect("a source of samples");
    let settings = &mechanism.approximation;
    let mut database = SampleDatabase::in_memory();
    reducer::pipeline::reduce(&source, settings, &Silent, &mut database)
        .expect("a reduced model")
        .0
}

#[test]
fn every_mechanism_of_the_data_folder_is_listed() {
    let mut found: Vec<String> = std::fs::read_dir(data())
        .expect("the data folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| {
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    found.push(FAST.to_owned());
    found.sort();
    let mut listed = [MECHANISMS.as_slice(), &LARGE].concat();
    listed.sort_unstable();
    assert_eq!(found, listed);
}
