//! Samples survive interruption.

use crate::orthoglide::Orthoglide;
use crate::{Numbers, settings};
use reducer::approximation::{LocalModel, SampleDatabase, SampleFailure, Silent};
use reducer::pipeline::{CHECK_POINTS, reduce};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The model's bytes and the number of configurations that were computed.
fn run(folder: &Path) -> (String, usize) {
    let local = Orthoglide::default();
    let mut database =
        SampleDatabase::open(folder, local.fingerprint()).expect("a writable folder");
    let (model, summary) =
        reduce(&local, &settings(&[0.05; 3]), &Silent, &mut database).expect("reducible");
    // What is not part of the model is the check: its points, and the search from the worst of them.
    let check = local.evaluations.load(Ordering::Relaxed) - summary.evaluated;
    let allowed = CHECK_POINTS..=CHECK_POINTS + CHECK_POINTS / 4;
    assert!(allowed.contains(&check), "{check}");
    (
        serde_json::to_string(&model).expect("plain data"),
        summary.evaluated,
    )
}

#[test]
fn a_log_cut_anywhere_gives_the_same_model() {
    let whole = tempfile::tempdir().expect("a folder");
    let (model, evaluated) = run(whole.path());
    let log = std::fs::read(whole.path().join("000000.samples")).expect("a segment");
    assert_eq!(run(whole.path()), (model.clone(), 0));
    let mut numbers = Numbers::new(3);
    let ends = [0, 7, 40, 41, log.len() - 1];
    let random = (0..6).map(|_| ((0.5 + 0.5 * numbers.number()) * log.len() as f64) as usize);
    for end in ends.into_iter().chain(random) {
        let cut = tempfile::tempdir().expect("a folder");
        std::fs::write(cut.path().join("000000.samples"), &log[..end]).expect("written");
        let (resumed, again) = run(cut.path());
        assert_eq!(resumed, model);
        let known = evaluated as f64 * end as f64 / log.len() as f64;
        assert!(
            (again as f64) < evaluated as f64 - known + 2.0,
            "{end}: {again} of {evaluated}"
        );
    }
}

#[test]
fn damaged_records_are_ignored_with_all_that_follow() {
    let folder = tempfile::tempdir().expect("a folder");
    let (model, evaluated) = run(folder.path());
    let path = folder.path().join("000000.samples");
    let mut log = std::fs::read(&path).expect("a segment");
    let middle = log.len() / 2;
    log[middle] ^= 0x10;
    std::fs::write(&path, log).expect("written");
    let (again, computed) = run(folder.path());
    assert_eq!(again, model);
    assert!(
        (evaluated / 3..evaluated).contains(&computed),
        "{computed} of {evaluated}"
    );
}

#[test]
fn concurrent_writers_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = Orthoglide::default();
    let open =
        || SampleDatabase::open(folder.path(), local.fingerprint()).expect("a writable folder");
    let (mut one, mut other) = (open(), open());
    let exact = |v: f64| local.evaluate(&[v; 3]).map(Arc::new);
    let sample = |v: f64| (vec![v; 3], exact(v));
    let failure = SampleFailure::Singular {
        theta: vec![0.2; 3],
        reason: "locks".to_owned(),
    };
    for i in 0..5 {
        one.append(vec![sample(0.01 * f64::from(i))])
            .expect("written");
        other
            .append(vec![
                sample(-0.01 * f64::from(i + 1)),
                (vec![0.2; 3], Err(failure.clone())),
            ])
            .expect("written");
    }
    let both = open();
    assert_eq!(both.len(), 11);
    assert_eq!(both.get(&[0.03; 3]), Some(exact(0.03)));
    assert_eq!(both.get(&[0.2; 3]), Some(Err(failure)));
    let stranger = SampleDatabase::open(folder.path(), [1; 32]).expect("a readable folder");
    assert!(stranger.is_empty());
}

/// A record whose hash holds is still no sample if its arrays do not fit together: it could take many
/// times its size in memory, and fits no model.
#[test]
fn a_sample_whose_arrays_do_not_fit_together_is_not_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = Orthoglide::default();
    let sample = local.evaluate(&[0.01; 3]).expect("reducible");
    let mut other = sample.clone();
    other.theta = vec![0.02; 3];
    other.load_map = vec![Vec::new(); 1_000_000];
    let mut log = b"GMPSMPL4".to_vec();
    log.extend(local.fingerprint());
    for sample in [&sample, &other] {
        let record = (&sample.theta, Ok::<_, SampleFailure>(sample));
        let payload = postcard::to_stdvec(&record).expect("plain data");
        let mut bytes = (payload.len() as u64).to_le_bytes().to_vec();
        bytes.extend(payload);
        bytes.extend(blake3::hash(&bytes).as_bytes());
        log.extend(bytes);
    }
    std::fs::write(folder.path().join("000000.samples"), log).expect("written");
    let read = SampleDatabase::open(folder.path(), local.fingerprint()).expect("readable");
    assert_eq!(read.len(), 1);
    assert!(read.get(&[0.01; 3]).is_some());
    assert!(!read.is_partly_read());
}
