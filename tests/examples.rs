//! The examples run, and the reduced model earns its place.

#[allow(dead_code)]
#[path = "../examples/computed_torque.rs"]
mod computed_torque;
#[allow(dead_code)]
#[path = "../examples/inertial_damping.rs"]
mod inertial_damping;

#[test]
fn the_model_reduces_the_tracking_error_at_least_five_times() {
    for (language, t) in computed_torque::compare().expect("a run") {
        assert!(t.without_model > 5.0 * t.with_model, "{language}: {t:?}");
    }
}

#[test]
fn inertial_damping_halves_the_residual_vibration() {
    let r = inertial_damping::compare().expect("a run");
    assert!(r.with_damping < 0.5 * r.without_damping, "{r:?}");
    assert!(r.end_error < 2e-3, "{r:?}");
}
