//! Energy along free motions of the flexible four-bar across its boxes.

use crate::energy_drift::energy_drift;
use crate::support::{changed, pipeline};
use reducer::reduced_model::{Continuity, Evaluator, ReducedModel, Workspace};

/// The four-bar without gravity.
fn four_bar(changes: &[(&str, &str)]) -> ReducedModel {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = vec![("gravity = [0, 0, -9.81]", "gravity = [0, 0, 0]")];
    all.extend(changes);
    let mechanism = changed("four_bar.toml", &all, folder.path());
    let output = folder.path().join("out");
    pipeline(&mechanism, &output);
    exporters::read_model(&output.join("model.json")).expect("a model")
}

/// A spring of 100 N m/rad keeps the crank between −0.6 and 0.6 rad, where it passes faces.
#[test]
fn energy_of_the_four_bar_is_conserved_in_the_lagrangian_form_and_not_in_the_direct_one() {
    let model = four_bar(&[]);
    let faces = model.boxes.iter().filter(|b| b.lower[0].abs() < 0.5);
    assert!(faces.count() > 0, "the motion passes no face");
    let drift = energy_drift(&model, 100.0, 10.0, 1e-4);
    assert!(drift < 1e-9, "{drift:e}");
    let direct = four_bar(&[(
        "[reduction]\n",
        "[approximation]\nform = \"direct\"\n\n[reduction]\n",
    )]);
    let drift = energy_drift(&direct, 100.0, 1.0, 3e-4);
    assert!(drift > 1e-6, "{drift:e}");
}

/// Forces on both sides of a face, with modes deflected and moving, are equal but for rounding; without slopes that are
/// equal they are not.
#[test]
fn forces_of_the_four_bar_do_not_jump() {
    let largest_jump = |model: &ReducedModel| {
        let evaluator = Evaluator::new(model).expect("a valid model");
        let (n, mut work) = (model.layout.n(), Workspace::default());
        let numbers = |k: f64, size: f64| -> Vec<f64> {
            (0..n).map(|i| size * (k + i as f64).sin()).collect()
        };
        let mut force = |theta: f64| {
            let mut eta = numbers(0.4, 0.01);
            eta[0] = theta;
            let mut force = vec![0.0; n];
            evaluator
                .inverse_dynamics(
                    &eta,
                    &numbers(1.1, 3.0),
                    &numbers(2.3, 20.0),
                    &mut force,
                    &mut work,
                )
                .expect("sizes");
            force
        };
        let faces = (model.boxes.iter()).map(|b| b.lower[0]);
        let inner = faces.filter(|at| *at > model.layout.domain.lower[0]);
        let jump = |at: f64| {
            let (below, above) = (force(at.next_down()), force(at));
            let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
            norm(&mut below.iter().zip(&above).map(|(a, b)| a - b))
                / norm(&mut above.iter().copied())
        };
        inner.map(jump).fold(0.0, f64::max)
    };
    let smooth = four_bar(&[]);
    assert!(smooth.boxes.len() > 4);
    assert_eq!(smooth.continuity, Continuity::Differentiable);
    let jump = largest_jump(&smooth);
    assert!(jump < 1e-11, "{jump:e}");
    let other = four_bar(&[(
        "[reduction]\n",
        "[approximation]\ncontinuity = \"c0\"\n\n[reduction]\n",
    )]);
    assert_eq!(other.continuity, Continuity::Continuous);
    let jump = largest_jump(&other);
    assert!(jump > 1e-6, "{jump:e}");
}
