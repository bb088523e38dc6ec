//! Models that several tests share.

use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::load;
use reducer::pipeline;
use reducer::reduced_model::ReducedModel;
use reducer::sampling::MechanismModel;
use std::path::Path;
use std::sync::OnceLock;

/// The reduced model of a file in `data/`.
pub fn reduce(file: &str) -> ReducedModel {
    let mechanism = load(&Path::new("data").join(file)).unwrap();
    let local = MechanismModel::new(&mechanism).unwrap();
    let mut database = SampleDatabase::in_memory();
    pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
        .unwrap()
        .0
}

/// The four-bar with one constraint mode and five internal modes.
pub fn four_bar() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| reduce("four_bar.toml"))
}

/// `count` equal intervals from 0 to `duration`.
pub fn times(duration: f64, count: u32) -> Vec<f64> {
    (0..=count)
        .map(|i| duration * f64::from(i) / f64::from(count))
        .collect()
}
