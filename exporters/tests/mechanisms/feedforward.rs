//! Feedforward holds what it promises or refuses: modal rows vanish at the modal coordinates that it gives.

use crate::generated::{Generated, compilers, norm};
use crate::models::model;

/// Size of the modal rows over their size without deflection, where feedforward answers.
fn rest(library: &Generated, n: usize, s: usize, theta: f64, rate: f64) -> Option<f64> {
    let extend = |x: f64, modal: &[f64]| {
        let mut full = vec![0.0; s];
        full[0] = x;
        full.extend(modal);
        full
    };
    let none = vec![0.0; n - s];
    let (rate, accel) = (extend(rate, &none), extend(20.0 * rate, &none));
    let eta = extend(theta, &none);
    let inputs = [&eta[..s], &rate[..s], &accel[..s]];
    let (status, out) = library.call("feedforward", &inputs, &[s, n - s]);
    let rows = |eta: &[f64]| {
        let (status, out) = library.call("inverse_dynamics", &[eta, &rate, &accel], &[n]);
        assert_eq!(status, 0);
        norm(&out[0][s..])
    };
    if status >= 2 {
        assert!(out.iter().flatten().all(|x| *x == 0.0));
        return None;
    }
    Some(rows(&extend(theta, &out[1])) / rows(&eta))
}

#[test]
fn modal_rows_vanish_or_the_motion_is_refused() {
    let model = model("four_bar");
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let compiler = compilers()[0];
    for (single, limit) in [(false, 1e-5), (true, 1e-3)] {
        let library = Generated::new(model, compiler, single, &[]);
        for theta in [0.0, 0.84, 1.5] {
            for rate in [0.1, 1.0, 3.0, 6.0] {
                let rest = rest(&library, n, s, theta, rate).expect("a slow motion");
                assert!(rest < limit, "{theta}, {rate}: {rest:.1e}");
            }
            // Faster than the lowest natural frequencies.
            for rate in [10.0, 20.0, 50.0, 100.0] {
                if let Some(rest) = rest(&library, n, s, theta, rate) {
                    assert!(rest < limit, "{theta}, {rate}: {rest:.1e}");
                }
            }
        }
        assert_eq!(rest(&library, n, s, 0.84, 100.0), None);
    }
}
