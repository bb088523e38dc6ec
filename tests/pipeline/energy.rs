//! Energy along free motions of the flexible four-bar across its boxes.

use crate::energy_drift::energy_drift;
use crate::support::{changed, pipeline};
use reducer::reduced_model::ReducedModel;

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
