//! The same bytes for any number of threads.

use crate::flexible::Flexible;
use crate::orthoglide::Orthoglide;
use crate::{reduced, settings};
use reducer::approximation::LocalModel;

fn bytes(local: &dyn LocalModel, width: &[f64], threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let (model, _) = pool.install(|| reduced(local, &settings(width)));
    serde_json::to_string(&model).expect("plain data")
}

#[test]
fn models_are_bit_identical_for_1_2_and_7_threads() {
    let mut wild = Flexible::new(1, 2);
    wild.wildness = 20.0;
    let orthoglide = Orthoglide::default();
    for (local, width) in [
        (&orthoglide as &dyn LocalModel, &[0.05; 3][..]),
        (&wild, &[0.02]),
    ] {
        let one = bytes(local, width, 1);
        assert_eq!(one, bytes(local, width, 2));
        assert_eq!(one, bytes(local, width, 7));
    }
}
