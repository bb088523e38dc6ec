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
    for (single, limit) in [(false, 1e-9), (true, 1e-3)] {
        let library = Generated::new(model, compiler, single, &[]);
        for theta in [0.0, 0.84, 1.5] {
            for rate in [0.1, 1.0, 3.0, 6.0, 10.0] {
                let rest = rest(&library, n, s, theta, rate).expect("a slow motion");
                assert!(rest < limit, "{theta}, {rate}: {rest:.1e}");
            }
            // Faster than the lowest natural frequencies.
            for rate in [20.0, 50.0, 100.0] {
                if let Some(rest) = rest(&library, n, s, theta, rate) {
                    assert!(rest < limit, "{theta}, {rate}: {rest:.1e}");
                }
            }
        }
        // Forces of inertia take the stiffness away.
        assert_eq!(rest(&library, n, s, 0.84, 100.0), None);
    }
}

/// A beam that is driven at two and four times its first frequency at rest (2.9 rad/s) is stiffened by tension. Corrections
/// with the stiffness at rest would grow there; those with the stiffness that motion leaves settle to rounding.
#[test]
fn a_beam_is_followed_beyond_its_first_frequency_at_rest() {
    let model = model("one_link_stiffened");
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let library = Generated::new(model, compilers()[0], false, &[]);
    for rate in [0.5, 3.0, 6.0, 12.0] {
        let inputs: [&[f64]; 3] = [&[0.4], &[rate], &[0.3]];
        let (status, out) = library.call("feedforward", &inputs, &[s, n - s]);
        assert_eq!(status, 0, "{rate}");
        let rows = |modal: &[f64]| {
            let full = |x: f64, modal: &[f64]| [&[x], modal].concat();
            let none = vec![0.0; n - s];
            let motion = [full(0.4, modal), full(rate, &none), full(0.3, &none)];
            let motion: Vec<&[f64]> = motion.iter().map(Vec::as_slice).collect();
            let (status, out) = library.call("inverse_dynamics", &motion, &[n]);
            assert_eq!(status, 0);
            norm(&out[0][s..])
        };
        let rest = rows(&out[1]) / rows(&vec![0.0; n - s]);
        assert!(rest < 1e-11, "{rate}: {rest:.1e}");
    }
}
