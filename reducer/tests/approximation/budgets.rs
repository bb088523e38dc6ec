//! Work that ends: budgets, memory, and regions that cannot be reduced.

use crate::flexible::Flexible;
use crate::orthoglide::Orthoglide;
use crate::{reduced, settings};
use reducer::approximation::{LocalModel, Observer, SampleDatabase, Silent};
use reducer::description::mechanism::{ApproximationSettings, Budgets};
use reducer::pipeline::{Summary, reduce};
use reducer::reduced_model::{CutShort, DropReason, Evaluator, ReducedModel, Status, Workspace};
use std::cell::Cell;

/// Settings that take more boxes, numbers and samples than a test has time for.
fn strict() -> ApproximationSettings {
    let mut settings = settings(&[0.01; 3]);
    settings.tolerance = 1e-7;
    settings
}

fn with_budgets(change: impl FnOnce(&mut Budgets)) -> (ReducedModel, Summary) {
    let mut settings = strict();
    change(&mut settings.budgets);
    reduced(&Orthoglide::default(), &settings)
}

/// Every point of the domain has a value, and the model says what ended it.
#[track_caller]
fn assert_best_so_far(model: &ReducedModel, summary: &Summary, cut: CutShort) {
    assert_eq!(summary.cut_short, Some(cut));
    assert_eq!(model.provenance.cut_short, Some(cut));
    assert!(!summary.reached && !summary.errors.is_empty());
    model.validate().expect("a valid model");
    let evaluator = Evaluator::new(model).expect("valid");
    let mut work = Workspace::default();
    for t in [-0.08, 0.0, 0.1, 0.26] {
        let status = evaluator.status(&[t, t, -0.05], &mut work);
        assert_eq!(status, Ok(Status::Inside), "{t}");
    }
}

#[test]
fn a_budget_of_samples_ends_with_a_model_of_the_whole_domain() {
    let (model, summary) = with_budgets(|b| b.samples = 400);
    assert_best_so_far(&model, &summary, CutShort::Samples);
    assert!(summary.samples <= 400, "{}", summary.samples);
}

#[test]
fn a_budget_of_numbers_is_kept() {
    let (model, summary) = with_budgets(|b| b.numbers = 5000);
    assert_best_so_far(&model, &summary, CutShort::Numbers);
    let stored = summary.stored_numbers + summary.stored_numbers_outputs;
    assert!(stored <= 5000, "{stored}");
}

#[test]
fn a_budget_of_boxes_is_kept() {
    let (model, summary) = with_budgets(|b| b.boxes = 3);
    assert_best_so_far(&model, &summary, CutShort::Boxes);
    assert!(summary.boxes <= 3, "{}", summary.boxes);
}

/// Wants an end after some looks.
struct Impatient(Cell<usize>);

impl Observer for Impatient {
    fn cut_short(&self) -> Option<CutShort> {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        (left == 0).then_some(CutShort::Time)
    }
}

#[test]
fn a_run_whose_time_is_over_ends_with_the_best_model_so_far() {
    for looks in [0, 3] {
        let mut database = SampleDatabase::in_memory();
        let observer = Impatient(Cell::new(looks));
        let local = Orthoglide::default();
        let (model, summary) =
            reduce(&local, &strict(), &observer, &mut database).expect("a model");
        assert_best_so_far(&model, &summary, CutShort::Time);
    }
}

/// Samples that memory does not hold come back from disk as they were: the model is the same to the bit.
#[test]
fn memory_changes_nothing_but_where_samples_are() {
    let mut local = Flexible::new(2, 2);
    local.wildness = 2.0;
    let mut settings = settings(&[0.1; 2]);
    settings.tolerance = 1e-4;
    let bytes = |database: &mut SampleDatabase| {
        let (model, _) = reduce(&local, &settings, &Silent, database).expect("a model");
        serde_json::to_string(&model).expect("plain data")
    };
    let expected = bytes(&mut SampleDatabase::in_memory());
    let folder = tempfile::tempdir().expect("a folder");
    for memory in [0, 40_000] {
        let mut scratch = SampleDatabase::scratch(folder.path(), memory);
        assert!(bytes(&mut scratch) == expected, "{memory} bytes");
        let files = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 1, "what is not in memory is on disk");
        drop(scratch);
        let files = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 0, "and gone afterwards");
    }
    for _ in 0..2 {
        let mut stored = SampleDatabase::open_within(folder.path(), local.fingerprint(), 40_000)
            .expect("a writable folder");
        assert!(bytes(&mut stored) == expected, "stored and read again");
    }
}

/// Boxes that hold a failure are looked at with a few samples; what fails as a whole is not bisected, and the number
/// of bisections in search of the rest is bounded.
#[test]
fn regions_that_fail_are_not_bisected_by_the_thousand() {
    let mut local = Flexible::new(3, 1);
    local.singular_above = 0.1;
    let mut settings = settings(&[1e-3; 3]);
    settings.tolerance = 0.05;
    settings.budgets.boxes = 200;
    let (model, summary) = reduced(&local, &settings);
    assert_eq!(summary.cut_short, None);
    assert!(!summary.missing.is_empty() && !summary.reached && summary.boxes > 0);
    assert!(model.tree.len() < 200, "{}", model.tree.len());
    assert!(summary.samples < 6000, "{}", summary.samples);
    for region in &summary.missing {
        assert!(matches!(region.reason, DropReason::Singular { .. }));
        assert!(region.upper[0] > 0.1, "{region:?}");
    }
}

/// Where a budget ends a run just after boxes were bisected, their halves have a low degree: the wider boxes' polynomials stay.
#[test]
fn a_larger_budget_makes_no_worse_model() {
    let mut local = Flexible::new(2, 1);
    local.wildness = 6.0;
    let mut settings = settings(&[0.01; 2]);
    settings.tolerance = 1e-5;
    settings.largest = None;
    let worst = |samples: usize| {
        let mut settings = settings.clone();
        settings.budgets.samples = samples;
        let (_, summary) = reduced(&local, &settings);
        let errors = summary.errors.iter().map(|e| e.mean);
        (summary.cut_short.is_some(), errors.fold(0.0, f64::max))
    };
    let mut best = f64::INFINITY;
    let mut cut = 0;
    for samples in (60..900).step_by(40) {
        let (is_cut, error) = worst(samples);
        assert!(
            error < 1.3 * best,
            "{samples} samples: {error:e}, with fewer {best:e}"
        );
        best = best.min(error);
        cut += usize::from(is_cut);
    }
    assert!(cut > 10, "{cut}");
}
