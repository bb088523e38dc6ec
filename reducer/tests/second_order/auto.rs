//! `stiffening = "auto"`: what is found to change the stiffness, against the frequencies of the full model and known
//! buckling loads.

use crate::support::{read, reducer};
use reducer::approximation::{LocalModel, SampleDatabase, Silent};
use reducer::description;
use reducer::description::mechanism::Stiffening;
use reducer::model::ActuatorMotion;
use reducer::pipeline;
use reducer::reduced_model::{self, ModelLayout};
use reducer::sampling::MechanismModel;

/// μgL³/EI = 1 of the link (EI = 566.71 N m², μ = 0.20188 kg/m, L = 8 m).
const UNIT: f64 = 566.71 / (0.20188 * 512.0);

fn link(count: usize, changes: &[(&str, &str)]) -> String {
    let modes = format!("internal_modes = {{ in_plane = \"xy\", count = {count} }}");
    let own = ("internal_modes = { in_plane = \"xy\", count = 3 }", &*modes);
    let all = std::iter::once(&own).chain(changes);
    all.fold(read("data/one_link.toml"), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

fn layout(text: &str) -> (ModelLayout, [u8; 32]) {
    let mechanism = description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let model = MechanismModel::new(&mechanism).expect("a mechanism");
    (model.layout(), model.fingerprint())
}

/// Relative change of the square of the full model's lowest frequency by a motion of the hub.
fn change(rate: f64, push: f64, gravity: &str) -> f64 {
    let text = link(
        1,
        &[
            ("gravity = [0, 0, 0]", gravity),
            // Bends in the plane only.
            ("inertia_y = \"I\"", "inertia_y = \"100*I\""),
        ],
    );
    let reducer = reducer(&text);
    let lowest = |rate: f64, push: f64| {
        let motion = ActuatorMotion {
            rate: &[rate],
            acceleration: &[push],
        };
        let found = reducer.loaded_frequencies(&[0.0], motion, 1);
        found.expect("regular").frequencies_hz[0]
    };
    (lowest(rate, push) / lowest(0.0, 0.0)).powi(2) - 1.0
}

#[test]
fn the_rate_that_reaches_the_tolerance_changes_the_squared_frequency_by_it() {
    let (layout, _) = layout(&link(1, &[("inertia_y = \"I\"", "inertia_y = \"100*I\"")]));
    assert_eq!(layout.stiffening, reduced_model::Stiffening::None);
    let validity = layout.validity.expect("flexible");
    let rate = validity.rate_at_tolerance[0].expect("a rate");
    let found = change(rate, 0.0, "gravity = [0, 0, 0]");
    if std::env::var("SHOW").is_ok() {
        eprintln!("{rate:.4} rad/s changes the squared frequency by {found:.3e}");
    }
    assert!((found / validity.tolerance - 1.0).abs() < 0.02, "{found}");
    assert_eq!(validity.loads_change, 0.0);
    // A link that only turns is not pushed along itself.
    assert_eq!(validity.acceleration_at_tolerance, [None]);
}

#[test]
fn weight_changes_the_stiffness_of_a_column_by_its_part_of_the_buckling_load() {
    for (part, expected) in [(0.5, Stiffening::Loads), (0.02, Stiffening::None)] {
        let gravity = format!("gravity = [{:e}, 0, 0]", -part * UNIT);
        let range = (
            "drives = \"hub\"",
            "drives = \"hub\"\nrange = [-0.001, 0.001]",
        );
        let text = link(3, &[("gravity = [0, 0, 0]", &gravity), range]);
        let reducer = reducer(&text);
        let found = reducer.effects().loads * 7.8373 / part;
        assert!((found - 1.0).abs() < 5e-3, "{part}: {found}");
        assert_eq!(reducer.stiffening(), expected, "{part}");
        let c = reducer.evaluate(&[0.0]).expect("stable");
        assert!(c.mass_curvature.is_empty());
        assert_eq!(
            c.outputs[0].curvature.is_empty(),
            expected == Stiffening::None
        );
    }
}

#[test]
fn declared_rates_decide_and_are_told() {
    let with = |rate: &str| {
        let drive = format!("drives = \"hub\"\nrate = \"{rate}\"\nacceleration = 2");
        layout(&link(3, &[("drives = \"hub\"", &drive)]))
    };
    let (slow, slow_hash) = with("5 deg/s");
    let (fast, fast_hash) = with("2 rad/s");
    assert_eq!(slow.stiffening, reduced_model::Stiffening::None);
    assert_eq!(fast.stiffening, reduced_model::Stiffening::All);
    // Samples of the slow one are those of a link without a declared rate.
    assert_eq!(slow_hash, layout(&link(3, &[])).1);
    assert_ne!(slow_hash, fast_hash);
    let words = fast
        .validity
        .as_ref()
        .expect("flexible")
        .in_words(&fast)
        .join("\n");
    assert!(
        words.starts_with("made for motion up to angle 2.000 rad/s, angle 2.000 rad/s^2"),
        "{words}"
    );
    assert!(
        words.contains("(in the model)") && !words.contains("that is not"),
        "{words}"
    );
    let validity = slow.validity.as_ref().expect("flexible");
    let words = validity.in_words(&slow).join("\n");
    assert!(words.contains("(not in the model)"), "{words}");
    assert!(
        words.contains("motion that is not in the model changes it by 0.5000 % at angle"),
        "{words}"
    );
    // Grows with the square of the rate.
    let ratio = fast.validity.expect("flexible").rate_change / validity.rate_change;
    assert!(
        (ratio * 5f64.to_radians().powi(2) / 4.0 - 1.0).abs() < 1e-9,
        "{ratio}"
    );
}

#[test]
fn the_thesis_settings_have_no_terms_of_second_order() {
    let text = link(3, &[("drives = \"hub\"", "drives = \"hub\"\nrate = 4")])
        + "\n[approximation]\nform = \"direct\"\nbasis = \"lagrange\"\n";
    assert_eq!(reducer(&text).stiffening(), Stiffening::None);
}

/// Loads alone, with gravity per axis: there is no second derivative of the mass to compare with.
#[test]
fn a_column_whose_gravity_is_free_reaches_its_tolerances_with_loads_alone() {
    let gravity = format!(
        "gravity = {{ value = [{:e}, 0, 0], runtime = true }}",
        -2.0 * UNIT
    );
    let range = ("drives = \"hub\"", "drives = \"hub\"\nrange = [-0.2, 0.2]");
    let text = link(2, &[("gravity = [0, 0, 0]", &gravity), range]);
    let mechanism = description::parse(&text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let local = MechanismModel::new(&mechanism).expect("a mechanism");
    let mut database = SampleDatabase::in_memory();
    let (model, summary) =
        pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
            .expect("a model");
    assert_eq!(model.layout.stiffening, reduced_model::Stiffening::Loads);
    assert!(summary.reached, "{:?}", summary.errors);
    assert!(summary.boxes <= 4, "{}", summary.boxes);
}
