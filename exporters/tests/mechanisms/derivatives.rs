//! The kernel's linear models against dual numbers.

use crate::dual::{linear_model, without_rotations};
use crate::generated::norm;
use crate::models::model;
use crate::points::points;
use crate::reference::Reference;

/// Of the norm of a block, times the condition of the mass matrix where it is solved with.
const TOLERANCE: f64 = 1e-12;

fn check(name: &str) {
    let reference = Reference::new(model(name));
    let n = reference.n();
    let mut compared = 0;
    for x in points(reference.model, true) {
        for p in [None, Some(&x.parameters)] {
            let (force, _) = reference.inverse_dynamics(p, &x);
            let (found, status) = reference.linearize(p, &x, &force);
            // Outside the domain a derivative is that of the point used; a kink of friction has none.
            if status != 0 {
                continue;
            }
            let parameters = p.map(|p| reference.parameters(p));
            let motion = [&x.eta[..], &x.rate, &force];
            let [a, b, c] = linear_model(&reference.plan, parameters.as_ref(), motion);
            let (condition, _) = reference.condition(p, &x.eta);
            let blocks = [
                ("A", &found.a, a, condition),
                ("B", &found.b, b, condition),
                ("C", &without_rotations(&found.c, n), c, 1.0),
            ];
            for (block, found, exact, scale) in blocks {
                let difference: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
                let error = norm(&difference) / norm(&exact).max(f64::MIN_POSITIVE);
                assert!(
                    error <= TOLERANCE * scale,
                    "{name} {block}: {error:.2e} at {:?}, condition {scale:.1e}",
                    x.eta
                );
            }
            compared += 1;
        }
    }
    assert!(compared > 4, "{name}: {compared} points");
}

crate::models::for_every_mechanism!(check);
