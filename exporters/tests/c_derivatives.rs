//! Generated C: what parameters mean, against motions of the evaluator.

#[path = "support/generated.rs"]
mod generated;
mod support;

use generated::{Generated, close, flat_parameters};
use reducer::reduced_model::*;
use support::{Numbers, model, recipes};

/// Derivatives of the evaluator by Richardson's extrapolation of central differences.
fn slope(f: impl Fn(f64) -> Vec<f64>, h: f64) -> Vec<f64> {
    let central = |h: f64| -> Vec<f64> {
        f(h).iter()
            .zip(f(-h))
            .map(|(a, b)| (a - b) / (2.0 * h))
            .collect()
    };
    central(h / 2.0)
        .iter()
        .zip(central(h))
        .map(|(fine, coarse)| (4.0 * fine - coarse) / 3.0)
        .collect()
}

/// Parameters as the header's structure, beyond what the model holds.
fn parameters(m: &ReducedModel, payload: f64, rotor: f64, viscous: f64, coulomb: f64) -> Vec<f64> {
    let mut p = Parameters::nominal(&m.layout);
    p.gravity = gravity(m);
    for (values, value) in [
        (&mut p.payload_mass, payload),
        (&mut p.rotor_inertia, rotor),
        (&mut p.viscous, viscous),
        (&mut p.coulomb, coulomb),
        (&mut p.coulomb_rate, 0.1),
    ] {
        values.iter_mut().for_each(|v| *v += value);
    }
    flat_parameters(m, &p)
}

/// Gravity on the payloads that leaves the mechanism's own as it is.
fn gravity(m: &ReducedModel) -> [f64; 3] {
    if m.layout.parameters.gravity_at_runtime {
        m.layout.parameters.gravity
    } else {
        [0.3, -0.2, -9.81]
    }
}

#[test]
fn parameters_act_as_the_header_says() {
    for recipe in recipes() {
        let m = model(&recipe);
        let c = Generated::new(&m, "gcc", false, &[]);
        let (n, s, n_outputs) = (m.layout.n(), m.layout.n_rigid, m.layout.outputs.len());
        let evaluator = Evaluator::new(&m).unwrap();
        let mut numbers = Numbers::new(8);
        let b = &m.boxes[0];
        let mut eta: Vec<f64> = (0..s).map(|k| 0.5 * (b.lower[k] + b.upper[k])).collect();
        eta.extend(numbers.vector(n - s, 0.02));
        let (rate, accel) = (numbers.vector(n, 1.0), numbers.vector(n, 1.0));
        let p = parameters(&m, 0.8, 0.4, 0.6, 0.5);
        let call = |p: Option<&[f64]>| {
            c.call_with("inverse_dynamics_p", p, &[&eta, &rate, &accel], &[n])
                .1
                .remove(0)
        };
        let nominal = call(None);
        assert_eq!(
            nominal,
            c.call("inverse_dynamics", &[&eta, &rate, &accel], &[n]).1[0]
        );
        assert_eq!(nominal, call(Some(&parameters(&m, 0.0, 0.0, 0.0, 0.0))));

        // Payload: m J^T (acceleration of the point - gravity), acceleration by differences.
        let mut expected = nominal.clone();
        for k in 0..s {
            expected[k] += 0.4 * accel[k] + 0.6 * rate[k] + 0.5 * (rate[k] / 0.1).clamp(-1.0, 1.0);
        }
        let motion = |t: f64, o: usize| {
            let at = |i: usize| eta[i] + t * rate[i] + 0.5 * t * t * accel[i];
            let eta_t: Vec<f64> = (0..n).map(at).collect();
            let rate_t: Vec<f64> = (0..n).map(|i| rate[i] + t * accel[i]).collect();
            evaluator
                .outputs(&eta_t, &rate_t, &mut Workspace::default())
                .unwrap()
                .0[o]
                .clone()
        };
        for o in 0..n_outputs {
            let a = slope(|t| motion(t, o).velocity.as_slice().to_vec(), 1e-3);
            let jacobian = motion(0.0, o).jacobian;
            for k in 0..n {
                for (axis, g) in gravity(&m).into_iter().enumerate() {
                    expected[k] += 0.8 * jacobian[axis * n + k] * (a[axis] - g);
                }
            }
        }
        let loaded = call(Some(&p));
        close(recipe.name, &loaded, &expected, 1e-9);

        // Forward dynamics inverts inverse dynamics with the same parameters.
        let (status, back) = c.call_with(
            "forward_dynamics_p",
            Some(&p),
            &[&eta, &rate, &loaded],
            &[n],
        );
        assert_eq!(status, 0);
        close("round trip", &back[0], &accel, 1e-10);

        // The coefficients give the same force at eta = (theta, 0), Coulomb friction apart.
        let mut rest = eta.clone();
        rest[s..].fill(0.0);
        let p = parameters(&m, 0.8, 0.4, 0.6, 0.0);
        let length = n * n * n + 3 * n * n + 2 * n + m.layout.loaded.len() * n;
        let k = c
            .call_with("coefficients_p", Some(&p), &[&rest[..s]], &[length])
            .1
            .remove(0);
        let force = c
            .call_with(
                "inverse_dynamics_p",
                Some(&p),
                &[&rest, &rate, &accel],
                &[n],
            )
            .1
            .remove(0);
        let (mass, h) = (&k[..n * n], &k[n * n..n * n + n * n * n]);
        let damping = &k[n * n * n + 2 * n * n..];
        let stored = &k[n * n * n + 3 * n * n..];
        let sum: Vec<f64> = (0..n)
            .map(|i| {
                (0..n).fold(-stored[i], |f, j| {
                    let gyroscopic: f64 = (0..n).map(|l| h[(i * n + j) * n + l] * rate[l]).sum();
                    f + mass[i * n + j] * accel[j] + (damping[i * n + j] + gyroscopic) * rate[j]
                })
            })
            .collect();
        close("coefficients with parameters", &sum, &force, 1e-12);
    }
}
