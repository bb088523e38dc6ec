//! The example runs, and the damping loop earns its place.

#[allow(dead_code)]
#[path = "../examples/inertial_damping.rs"]
mod inertial_damping;

#[test]
fn inertial_damping_halves_the_residual_vibration() {
    let r = inertial_damping::compare().expect("a run");
    assert!(r.with_damping < 0.5 * r.without_damping, "{r:?}");
    assert!(r.end_error < 2e-3, "{r:?}");
}
