//! The Ralf-like manipulator has the published figures of Ralf over its whole workspace.

use crate::support::{assert_close, mechanism, mechanism_with, reducer};
use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::pipeline;
use reducer::reduction::LocalReducer;
use reducer::sampling::SampleSource;
use std::f64::consts::TAU;

const LENGTH: f64 = 3.05;

/// Configurations on a grid of the domain, ends included.
fn grid(mechanism: &Mechanism, steps: usize) -> Vec<[f64; 2]> {
    let value = |k: usize, step: usize| {
        let c = &mechanism.coordinates[k];
        c.lower + (c.upper - c.lower) * step as f64 / steps as f64
    };
    (0..=steps)
        .flat_map(|i| (0..=steps).map(move |j| [value(0, i), value(1, j)]))
        .collect()
}

#[test]
fn home_frequencies_are_the_published_ones() {
    let found = reducer("ralf.toml")
        .locked_frequencies_hz(&[0.0, 0.0], 2)
        .expect("regular");
    assert_close("first", &found[..1], &[4.4], 0.05);
    assert_close("second", &found[1..], &[6.7], 0.05);
}

#[test]
fn two_modes_stay_between_3_and_7_hz_and_the_third_above_25() {
    let mechanism = mechanism("ralf.toml");
    let reducer = LocalReducer::new(&mechanism).expect("a manipulator");
    for theta in grid(&mechanism, 10) {
        let found = reducer.locked_frequencies_hz(&theta, 3).expect("regular");
        assert!(found[0] > 3.0 && found[1] < 7.0, "{theta:?}: {found:?}");
        assert!(found[2] > 25.0, "{theta:?}: {found:?}");
        let kept = reducer.evaluate(&theta).expect("regular");
        let kept = reducer.internal_frequencies_hz(&kept).expect("two modes");
        assert_close("kept", &kept, &found[..2], 1e-4);
    }
}

/// Cylinders are no part of the structure.
#[test]
fn the_structure_weighs_45_kg() {
    let mechanism = mechanism("ralf.toml");
    let bodies = mechanism.bodies.iter().map(|body| match &body.kind {
        BodyKind::Rigid(inertia) => inertia.mass,
        BodyKind::Point { mass } => *mass,
        BodyKind::Superelement(own) => own.properties.mass,
        BodyKind::Beam(chain) => chain.section.mass_per_length * chain.lengths.iter().sum::<f64>(),
    });
    let lumped = (mechanism.point_masses.iter())
        .filter(|part| !part.name.starts_with("cylinder"))
        .map(|part| part.mass);
    assert_close("mass", &[bodies.chain(lumped).sum()], &[45.0], 0.1);
}

/// Law of cosines in the triangles of the two cylinders; the parallelogram passes the angle on.
#[test]
fn cylinders_turn_the_links_as_their_triangles_say() {
    let mechanism = mechanism("ralf.toml");
    let reducer = LocalReducer::new(&mechanism).expect("a manipulator");
    let square = |a: f64, b: f64, cosine: f64| a * a + b * b - 2.0 * a * b * cosine;
    let angle = |a: f64, b: f64, home: f64, extension: f64| {
        let side = square(a, b, home.to_radians().cos()).sqrt() + extension;
        ((a * a + b * b - side * side) / (2.0 * a * b)).acos()
    };
    for theta in grid(&mechanism, 3) {
        let first = angle(0.3 * LENGTH, 0.31, 75.0, theta[0]);
        // The rocker points opposite to link 2: its angle with link 1 is 180° less the bend.
        let second = first + angle(0.2 * LENGTH, 0.24, 95.0, theta[1]) - 0.5 * TAU;
        let tip = reducer.evaluate(&theta).expect("regular").outputs[0].position;
        let expected = [
            LENGTH * (first.cos() + second.cos()),
            0.0,
            LENGTH * (first.sin() + second.sin()),
        ];
        assert_close(&format!("{theta:?}"), &tip, &expected, 1e-12);
    }
}

/// With stiff tubes only the cylinders are left: ω² = eig(M̄^θθ⁻¹ diag(k)).
#[test]
fn stiff_tubes_leave_the_cylinders() {
    let stiff = "material = { density = 2700, young = 7e16, poisson = 0.33 }";
    let changed = mechanism_with("ralf.toml", &[("material = \"aluminium\"", stiff)]);
    let reducer = LocalReducer::new(&changed).expect("a manipulator");
    for theta in [[0.0, 0.0], [0.15, -0.15], [-0.1, 0.05]] {
        let c = reducer.evaluate(&theta).expect("regular");
        let (a, b, d) = (c.mass[0] / 3.5e6, c.mass[1], c.mass[c.n() + 1] / 3.0e6);
        let off = b * b / (3.5e6 * 3.0e6);
        let root = ((a - d).powi(2) + 4.0 * off).sqrt();
        let expected = [
            (2.0 / (a + d + root)).sqrt() / TAU,
            (2.0 / (a + d - root)).sqrt() / TAU,
        ];
        let found = reducer.locked_frequencies_hz(&theta, 2).expect("regular");
        assert_close(&format!("{theta:?}"), &found, &expected, 1e-5);
    }
}

#[test]
fn the_pipeline_reaches_a_thousandth() {
    let mechanism = mechanism("ralf.toml");
    let local = SampleSource::new(&mechanism).expect("a manipulator");
    let (model, summary) = pipeline::reduce(
        &local,
        &mechanism.approximation,
        &Silent,
        &mut SampleDatabase::in_memory(),
    )
    .expect("a model");
    assert!(summary.reached, "{summary:?}");
    assert_eq!((summary.reduced_dofs, summary.boxes), (4, 1));
    assert!(summary.errors.iter().all(|e| e.mean <= 1e-3), "{summary:?}");
    assert!(local.unrepresented_modes().is_empty());
    model.validate().expect("consistent");
}
