//! Mechanisms of finite-element bodies against their own assembly: two blocks between locked hinges, welded
//! together here dof by dof.

use super::assert_close;
use super::blocks::{ARM, INNER, dense, motion};
use nalgebra::{DMatrix, Matrix3};
use reducer::description;
use reducer::finite_elements::{FeBody, Modes, Role, SourceFile, Units, read};
use reducer::reduction::LocalReducer;

fn reducer(modes: usize) -> LocalReducer {
    let files = ARM.files();
    let body = |name: &str, at: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nframe = {{ at = [{at}, 0, 0] }}\nsuperelement = {{ stiffness = \"k.mtx\", mass = \"m.mtx\", \
             nodes = \"block.inp\", modes = {modes} }}\n[[body.interface]]\nname = \"left\"\nnodes = \"LEFT\"\n\
             [[body.interface]]\nname = \"right\"\nnodes = \"RIGHT\"\n"
        )
    };
    let text = format!(
        "format = 1\n{}{}[[joint]]\nname = \"A\"\nhinge = [\"ground\", \"a.left\"]\naxis = [0, 1, 0]\n\
         [[joint]]\nname = \"B\"\nhinge = [\"a.right\", \"b.left\"]\naxis = [0, 0, 1]\n\
         [[coordinate]]\nname = \"alpha\"\ndrives = \"A\"\nrange = [-1, 1]\n\
         [[coordinate]]\nname = \"beta\"\ndrives = \"B\"\nrange = [-1, 1]\n",
        body("a", 0.0),
        body("b", ARM.size[0])
    );
    let resolver = |path: &std::path::Path| {
        let found = files.iter().find(|(name, _)| path.ends_with(name));
        Ok(found.expect("a file of the block").1.clone().into_bytes())
    };
    let mechanism = description::parse(&text, "blocks.toml", &resolver)
        .unwrap_or_else(|faults| panic!("{faults}"));
    reducer::sampling::build(&mechanism).expect("a model")
}

/// Frequencies of the two blocks, the second turned by β about z (Hz).
fn assembled(beta: f64, count: usize) -> Vec<f64> {
    let (k, m) = ARM.assembled();
    let (k, m) = (dense(ARM.n_dofs(), &k), dense(ARM.n_dofs(), &m));
    // Inner dofs of both, the frame between them in axes of the first, the last frame.
    let n = 2 * INNER + 12;
    let (s, c) = beta.sin_cos();
    let into_second = Matrix3::new(c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0);
    let own = Matrix3::identity();
    let maps = [
        motion(0, n, [None, Some((2 * INNER, own))]),
        motion(
            INNER,
            n,
            [Some((2 * INNER, into_second)), Some((2 * INNER + 6, own))],
        ),
    ];
    let sum = |matrix: &DMatrix<f64>| {
        (maps.iter()).fold(DMatrix::zeros(n, n), |sum, t| {
            sum + t.transpose() * matrix * t
        })
    };
    let (stiffness, mass) = (sum(&k), sum(&m));
    // Largest eigenvalues of L⁻¹ML⁻ᵀ are 1/ω²: the lowest frequencies are the accurate ones.
    let factor = stiffness.cholesky().expect("held");
    let half = factor.l().solve_lower_triangular(&mass).expect("regular");
    let both = (factor.l()).solve_lower_triangular(&half.transpose());
    let mut values: Vec<f64> = (both.expect("regular").symmetric_eigenvalues())
        .iter()
        .map(|v| 1.0 / v.max(1e-300).sqrt() / std::f64::consts::TAU)
        .collect();
    values.sort_by(f64::total_cmp);
    values.truncate(count);
    values
}

#[test]
fn with_all_modes_kept_frequencies_are_those_of_the_assembly() {
    let reducer = reducer(INNER);
    for theta in [[0.0, 0.0], [0.4, 0.7], [-0.3, -0.9]] {
        let exact = assembled(theta[1], 16);
        let found = reducer.locked_frequencies_hz(&theta, 16).expect("modes");
        assert_close(&found, &exact, 1e-8, &format!("at {theta:?}"));
    }
}

/// Rayleigh's principle: more modes never raise a frequency and never lower it below the exact one. With r = λ/λ_c,
/// λ_c the square of the first angular frequency left out, the error of λ is below 2r/(1 − 2r): among the lowest exact
/// modes u = Σaᵢxᵢ, |a| = 1, parts q_j on modes left out obey λ_j·q_j = φ_jᵀMΣaᵢλᵢxᵢ, so that |q| ≤ r; without them the
/// strain energy is not larger and the mass is at least 1 − 2r.
#[test]
fn frequencies_converge_from_above_as_craig_and_bampton_promise() {
    let contents = ARM.files().map(|(name, text)| {
        let bytes = text.as_bytes();
        let content = read(SourceFile { name, bytes }).expect("content");
        (Role::Any, content)
    });
    let body = FeBody::new(contents.to_vec(), &[], Units::default()).expect("a body");
    let ties = ["LEFT", "RIGHT"].map(|set| reducer::finite_elements::Interface {
        name: set.into(),
        tie: reducer::finite_elements::Tie::Nodes {
            nodes: body.mesh.sets[set].clone(),
            coupling: reducer::finite_elements::Coupling::Rigid,
            at: None,
        },
    });
    let held = body.held_frequencies_hz(&ties, 60).expect("held");
    let theta = [0.4, 0.7];
    let exact = assembled(theta[1], 6);
    let mut before = vec![f64::INFINITY; 6];
    for count in [0, 2, 5, 10, 20, 40] {
        let found = reducer(count)
            .locked_frequencies_hz(&theta, 6)
            .expect("modes");
        for k in 0..6 {
            let error = (found[k] / exact[k]).powi(2) - 1.0;
            assert!(error > -1e-8, "{count} {k}: {error:e}");
            assert!(found[k] <= before[k] * (1.0 + 1e-9), "{count} {k}");
            let ratio = (exact[k] / held[count]).powi(2);
            if ratio < 0.5 {
                let bound = 2.0 * ratio / (1.0 - 2.0 * ratio);
                assert!(error < bound + 1e-8, "{count} {k}: {error:e} {bound:e}");
            }
        }
        before = found;
    }
    let last = before.iter().zip(&exact).map(|(f, e)| f / e - 1.0);
    assert!(last.fold(0.0, f64::max) < 1e-4, "{before:?} {exact:?}");
    let condensed = body
        .condense(&ties, Modes::UpTo(held[7] + 1.0))
        .expect("condensed");
    assert_eq!(condensed.omega.len(), 8);
}
