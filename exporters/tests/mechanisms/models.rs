//! The mechanisms of `data/`, one of them with objective `speed` and two that move fast, reduced once per run of the
//! tests.

use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::mechanism::{Mechanism, Objective, Stiffening};
use reducer::reduced_model::ReducedModel;
use reducer::sampling::SampleSource;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of a model, the file it is made from, and what is changed.
type Variant = (&'static str, &'static str, fn(&mut Mechanism));

/// Models of the folder's mechanisms with other settings.
const VARIANTS: [Variant; 3] = [
    ("four_bar_fast", "four_bar", |m| {
        // Fast enough that `auto` stores what motion does to the stiffness.
        m.coordinates[0].rate = Some(20.0);
        m.coordinates[0].acceleration = Some(400.0);
    }),
    ("one_link_stiffened", "one_link", |m| {
        m.reduction.stiffening = Stiffening::All;
    }),
    ("orthoglide_speed", "orthoglide", |m| {
        m.approximation.objective = Objective::Speed;
    }),
];

/// Every mechanism file, which a test compares with the folder, and the variants.
pub const MECHANISMS: [&str; 14] = [
    "arm6",
    "elastic_arm",
    "elbow",
    "four_bar",
    "four_bar_fast",
    "four_bar_rigid",
    "four_bar_thesis",
    "hexapod",
    "one_link",
    "one_link_stiffened",
    "orthoglide",
    "orthoglide_parallelogram",
    "orthoglide_speed",
    "ralf",
];

/// Mechanisms of the folder whose generated code is not checked here: what these checks take grows with
/// the size of a model, and these are large or take long to make, or have others of their kind above.
const OTHERS: [&str; 7] = [
    "arm6_wide",
    "delta",
    "planar_3rrr",
    "ralf_lengths",
    "scara",
    "scara_rigid",
    "strip",
];

/// One test per mechanism, which calls the given function with its name, and one that none is left out.
macro_rules! for_every_mechanism {
    ($check:ident) => {
        crate::models::for_every_mechanism!(
            $check: arm6 elastic_arm elbow four_bar four_bar_fast four_bar_rigid four_bar_thesis hexapod one_link
            one_link_stiffened orthoglide orthoglide_parallelogram orthoglide_speed ralf
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

/// The reduced model of a mechanism, with the settings of its file, or of a variant.
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
    let variant = VARIANTS.iter().find(|v| v.0 == name);
    let stem = variant.map_or(name, |v| v.1);
    let file = data().join(format!("{stem}.toml"));
    let mut mechanism = reducer::description::load(&file).expect("a valid mechanism");
    if let Some((name, _, change)) = variant {
        mechanism.name = (*name).to_owned();
        change(&mut mechanism);
    }
    let source = SampleSource::new(&mechanism).expect("a source of samples");
    let settings = &mechanism.approximation;
    let mut database = SampleDatabase::in_memory();
    reducer::pipeline::reduce(&source, settings, &Silent, &mut database)
        .expect("a reduced model")
        .0
}

/// What these variants are for.
#[test]
fn fast_variants_hold_what_motion_does_to_the_stiffness() {
    for name in ["four_bar_fast", "one_link_stiffened"] {
        let held = model(name).layout.stiffening;
        assert_eq!(held, reducer::reduced_model::Stiffening::All, "{name}");
    }
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
    found.extend(VARIANTS.iter().map(|v| v.0.to_owned()));
    found.sort();
    let mut listed = [MECHANISMS.as_slice(), &OTHERS].concat();
    listed.sort_unstable();
    assert_eq!(found, listed);
}
