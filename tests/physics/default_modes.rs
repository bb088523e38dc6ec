//! Modes that are kept where the file leaves them open.

use crate::support::{Random, data, mechanism, mechanism_with, reducer};
use reducer::description::mechanism::{InternalModes, Mechanism, Plane};
use reducer::reduction::{LocalReducer, in_plane_energy};

/// At configurations that the choice has not seen the frequencies leave a gap behind the last mode.
fn assert_gap(file: &str, kept: usize) {
    let reducer = reducer(file);
    let choice = reducer.mode_choice().expect("the file names no modes");
    assert_eq!(
        (choice.count, choice.plane),
        (kept, None),
        "{file}: {choice}"
    );
    assert_eq!(reducer.n() - reducer.n_rigid(), kept);
    let promised = choice.gap.expect("there are more modes");
    assert!(promised > 1.25, "{file}: {choice}");
    let mut random = Random(7);
    let mut narrowest = f64::INFINITY;
    for _ in 0..20 {
        let theta: Vec<f64> = mechanism(file)
            .coordinates
            .iter()
            .map(|c| 0.5 * (c.lower + c.upper) + 0.5 * (c.upper - c.lower) * random.next())
            .collect();
        // Nothing is loaded, so that internal modes are those with locked actuators.
        let hz = reducer
            .locked_frequencies_hz(&theta, kept + 1)
            .expect("a configuration of the domain");
        narrowest = narrowest.min(hz[kept] / hz[kept - 1]);
    }
    assert!(
        narrowest > 1.15,
        "{file}: {narrowest} at some place, {promised} promised"
    );
    // The least is among the configurations tried, so fresh ones do not promise much more.
    assert!(
        promised < 1.3 * narrowest,
        "{file}: {narrowest}, {promised} promised"
    );
}

#[test]
fn whole_clusters_are_kept() {
    // Three modes of the platform on its links; the links by themselves come in threes far above.
    assert_gap("planar_3rrr.toml", 3);
    // Each leg bends in its plane, on its gear, and across it.
    assert_gap("delta.toml", 3);
}

fn four_bar(changes: &[(&str, &str)]) -> Mechanism {
    let open = ("internal_modes = 5", "# all by default");
    let text = std::fs::read_to_string(data("four_bar.toml")).expect("readable");
    assert!(text.contains(open.0));
    mechanism_with("four_bar.toml", &[&[open], changes].concat())
}

#[test]
fn planar_mechanisms_keep_modes_in_their_plane() {
    let mechanism = four_bar(&[]);
    let reducer = LocalReducer::new(&mechanism).expect("a four-bar");
    let choice = reducer.mode_choice().expect("the file names no modes");
    assert_eq!(choice.plane, Some(Plane::Xz), "{choice}");
    assert!(choice.to_string().contains("in the plane xz"), "{choice}");
    let kept = InternalModes::InPlane(Plane::Xz, choice.count);
    assert_eq!(reducer.reference().selection, kept);
    let home = reducer.kinematics().solve(&[0.3]).expect("in the domain");
    let at = reducer.linearise(&home).expect("regular");
    let modes = reducer.modes(&at).expect("regular");
    for mode in reducer.n_rigid() + 1..reducer.n() {
        let part = in_plane_energy(&at, &modes.shapes, mode, Plane::Xz);
        assert!((part - 1.0).abs() < 1e-9, "mode {mode}: {part}");
    }
}

#[test]
fn loads_across_the_plane_call_for_all_modes() {
    let across = ("gravity = [0, 0, -9.81]", "gravity = [0, -9.81, 0]");
    for changes in [
        [across],
        [("gravity = [0, 0, -9.81]", "gravity = \"runtime\"")],
        [("direction = [0, 0, 1]", "direction = [0, 1, 0]")],
    ] {
        let reducer = LocalReducer::new(&four_bar(&changes)).expect("a four-bar");
        let choice = reducer.mode_choice().expect("the file names no modes");
        assert_eq!(choice.plane, None, "{changes:?}: {choice}");
    }
}

#[test]
fn a_file_that_says_how_many_gets_them() {
    let reducer = reducer("four_bar.toml");
    assert_eq!(reducer.mode_choice(), None);
    assert_eq!(reducer.reference().selection, InternalModes::Lowest(5));
}

/// A tube bends alike in all directions: its modes come in pairs of one frequency, which the eigenproblem mixes.
#[test]
fn tubes_keep_modes_in_the_plane_of_motion_too() {
    let text = r#"
format = 1
name = "tubes"
gravity = [0, -9.81, 0]
[section.tube]
tube = { diameter = "25 mm", wall = "2 mm" }
[[body]]
name = "upper"
beam = { from = [0, 0, 0], to = [0.6, 0, 0], elements = 4, section = "tube", material = "aluminium" }
[[body]]
name = "lower"
beam = { from = [0.6, 0, 0], to = [1.1, 0, 0], elements = 4, section = "tube", material = "aluminium" }
[[joint]]
name = "shoulder"
hinge = ["ground", "upper.from"]
axis = [0, 0, 1]
[[joint]]
name = "elbow"
hinge = ["upper.to", "lower.from"]
axis = [0, 0, 1]
[[coordinate]]
name = "shoulder"
drives = "shoulder"
range = [-0.8, 0.8]
[[coordinate]]
name = "elbow"
drives = "elbow"
range = [-0.8, 0.8]
"#;
    let read = |path: &std::path::Path| reducer::description::read(path);
    let mechanism = reducer::description::parse(text, "tubes.toml", &read)
        .unwrap_or_else(|faults| panic!("{faults}"));
    let reducer = LocalReducer::new(&mechanism).expect("an arm");
    let choice = reducer.mode_choice().expect("the file names no modes");
    assert_eq!(choice.plane, Some(Plane::Xy), "{choice}");
    assert!(choice.gap.is_some_and(|gap| gap > 1.25), "{choice}");
}
