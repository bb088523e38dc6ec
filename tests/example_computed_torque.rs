//! The example runs, and the reduced model earns its place.

#[allow(dead_code)]
#[path = "../examples/computed_torque.rs"]
mod computed_torque;

#[test]
fn the_model_reduces_the_tracking_error_at_least_five_times() {
    for (language, t) in computed_torque::compare().expect("a run") {
        assert!(t.without_model > 5.0 * t.with_model, "{language}: {t:?}");
    }
}
