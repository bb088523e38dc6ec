//! The example runs, and the damping loop earns its place.

#[allow(dead_code)]
#[path = "../examples/inertial_damping.rs"]
mod inertial_damping;

#[test]
fn inertial_damping_halves_the_residual_vibration() {
    let r = inertial_damping::compare().expect("a run");
    let (without, with) = (r.without_damping, r.with_damping);
    assert!(with.position < 0.5 * without.position, "{r:?}");
    assert!(with.acceleration < 0.5 * without.acceleration, "{r:?}");
    assert!(with.end_error < 2e-4, "{r:?}");
    let observed = r.with_observer;
    assert!(observed.position <= with.position, "{r:?}");
    assert!(observed.end_error < 2e-4, "{r:?}");
}
