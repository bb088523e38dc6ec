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

/// Inertia of rigid and constraint mode against a fine mesh: 0.2 % (of √(M̄^θθM̄^γγ) for the
/// coupling, which crosses zero), and the gyroscopic terms of θ̇² against 1 %.
#[test]
fn inertia_with_four_elements_is_converged() {
    let coarse = reducer("four_bar.toml");
    let fine = four_bar_with(&[("elements = 4", "elements = 32")]);
    let rigid = reducer("four_bar_rigid.toml");
    for theta in [-1.75, -1.2, -0.4, 0.3, 0.7, 0.8047, 0.9, 1.3, 1.75] {
        let (c, f) = (
            coarse.evaluate(&[theta]).expect("regular"),
            fine.evaluate(&[theta]).expect("regular"),
        );
        let r = rigid.evaluate(&[theta]).expect("regular");
        let n = c.n();
        assert_close("rigid", &c.mass[..1], &r.mass, 2e-3);
        assert_close("M^θθ", &c.mass[..1], &f.mass[..1], 1e-9);
        assert_close("M^γγ", &[c.mass[n + 1]], &[f.mass[n + 1]], 2e-3);
        let scale = (f.mass[0] * f.mass[n + 1]).sqrt();
        assert!(
            (c.mass[1] - f.mass[1]).abs() < 2e-3 * scale,
            "M^θγ at {theta}"
        );
        let h = |x: &reducer::reduction::Coefficients| {
            let h = x.gyroscopic();
            vec![h[0], h[n * n]]
        };
        assert_close("h_iθθ", &h(&c), &h(&f), 1e-2);
    }
}

#[test]
fn internal_frequencies_converge() {
    let exact = four_bar_with(&[("elements = 4", "elements = 64")]);
    let expected = exact.inspect(&[0.3]).expect("regular").exact_hz;
    let errors: Vec<f64> = [4, 8, 16]
        .iter()
        .map(|elements| {
            let reducer = four_bar_with(&[("elements = 4", &format!("elements = {elements}"))]);
            let found = reducer.inspect(&[0.3]).expect("regular").exact_hz;
            found
                .iter()
                .zip(&expected)
                .fold(0.0_f64, |m, (f, e)| m.max((f / e - 1.0).abs()))
        })
        .collect();
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1]).log2() > 1.9, "{errors:?}");
    }
}

/// With every internal mode kept, the reduced problem is the full linearised one.
#[test]
fn all_modes_together_are_the_full_model() {
    let all = 90 - 20 - 1 - 1;
    let reducer = four_bar_with(&[
        ("internal_modes = 5", &format!("internal_modes = {all}")),
        ("gauge = \"filtered\"", "gauge = \"subspace\""),
    ]);
    for theta in [-1.2, 0.3] {
        let c = reducer.evaluate(&[theta]).expect("regular");
        let found = reducer::reduction::frequencies_hz(&c, 1).expect("definite");
        let expected = reducer
            .locked_frequencies_hz(&[theta], 10)
            .expect("regular");
        assert_close("frequencies", &found[..10], &expected, 1e-9);
    }
}

/// Vertical stiffness at B with the crank held, by Castigliano's theorem: coupler and rocker are
/// two-force members, the crank is a cantilever with shear.
fn castigliano(theta: f64) -> f64 {
    let (crank, coupler, rocker) = (0.5, 0.45, 0.765);
    let (ea, ei, ga) = (70e9 * 3e-4, 70e9 * 1e-8, 5.0 / 6.0 * 3e-4 * 70e9 / 2.6);
    let a = [crank * theta.cos(), crank * theta.sin()];
    let d = [1.0 - a[0], -a[1]];
    let distance = d[0].hypot(d[1]);
    let along = (coupler * coupler + distance * distance - rocker * rocker) / (2.0 * distance);
    let across = (coupler * coupler - along * along).sqrt();
    let u = [d[0] / distance, d[1] / distance];
    let b = [
        a[0] + along * u[0] - across * u[1],
        a[1] + along * u[1] + across * u[0],
    ];
    let ab = [(b[0] - a[0]) / coupler, (b[1] - a[1]) / coupler];
    let db = [(b[0] - 1.0) / rocker, b[1] / rocker];
    // Forces along the members for a unit vertical load at B.
    let determinant = ab[0] * db[1] - ab[1] * db[0];
    let (n_ab, n_db) = (-db[0] / determinant, ab[0] / determinant);
    let axial = n_ab * (ab[0] * theta.cos() + ab[1] * theta.sin());
    let shear = n_ab * (ab[1] * theta.cos() - ab[0] * theta.sin());
    let compliance = n_ab * n_ab * coupler / ea
        + n_db * n_db * rocker / ea
        + axial * axial * crank / ea
        + shear * shear * (crank.powi(3) / (3.0 * ei) + crank / ga);
    1.0 / compliance
}

#[test]
fn constraint_mode_stiffness_everywhere() {
    let reducer = reducer("four_bar.toml");
    let grid = (0..=350).map(|i| (-1.75 + 0.01 * f64::from(i)).min(1.75));
    for theta in grid.chain([0.8047, 0.804734]) {
        let c = reducer.evaluate(&[theta]).expect("regular");
        let found = c.stiffness[c.n() + 1];
        assert_close(
            &format!("θ = {theta}"),
            &[found],
            &[castigliano(theta)],
            1e-4,
        );
    }
    let peak = castigliano(0.804734);
    assert!((peak / 3.3e7 - 1.0).abs() < 0.03, "{peak:e}");
}
