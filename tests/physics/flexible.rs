//! The flexible four-bar against converged values, and convergence of beams.

use crate::support::{assert_close, four_bar_with, numbers, reducer, reference};

#[test]
fn locked_frequencies_with_four_elements_per_link() {
    let reducer = reducer("four_bar.toml");
    let mut worst = 0.0_f64;
    for sample in reference("four_bar_flexible.json")["samples"]
        .as_array()
        .expect("samples")
    {
        let theta = numbers(&sample["theta"]);
        let expected = numbers(&sample["actuator_locked_hz"]["timoshenko_converged"]);
        let found = reducer.locked_frequencies_hz(&theta, 10).expect("regular");
        for (f, e) in found.iter().zip(&expected) {
            worst = worst.max((f / e - 1.0).abs());
        }
        assert_eq!(found.len(), 10);
    }
    assert!(worst < 5e-3, "worst of eight modes is {worst:.2e} off");
}

#[test]
fn locked_frequencies_converge_to_timoshenko() {
    let mut errors = Vec::new();
    for elements in [4, 8, 16, 32] {
        let reducer = four_bar_with(&[("elements = 4", &format!("elements = {elements}"))]);
        let mut worst = 0.0_f64;
        for sample in reference("four_bar_flexible.json")["samples"]
            .as_array()
            .expect("samples")
        {
            let theta = numbers(&sample["theta"]);
            let expected = numbers(&sample["actuator_locked_hz"]["timoshenko_converged"]);
            let found = reducer.locked_frequencies_hz(&theta, 8).expect("regular");
            for (f, e) in found.iter().zip(&expected) {
                worst = worst.max((f / e - 1.0).abs());
            }
        }
        errors.push(worst);
    }
    assert!(errors[3] < 1e-4, "{errors:?}");
    assert!((errors[0] / errors[1]).log2() > 1.9, "{errors:?}");
}

#[test]
fn constraint_mode_stiffness_is_castiglianos() {
    let reducer = reducer("four_bar.toml");
    for sample in reference("four_bar_flexible.json")["samples"]
        .as_array()
        .expect("samples")
    {
        let theta = numbers(&sample["theta"]);
        let c = reducer.evaluate(&theta).expect("regular");
        let n = c.n();
        let expected = numbers(&sample["vertical_stiffness_at_B"]["timoshenko"]);
        assert_close("stiffness", &[c.stiffness[n + 1]], &expected, 1e-4);
    }
}
