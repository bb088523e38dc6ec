//! `data/bracket_arm` from its exported matrices: an arm of tetrahedra with a rigid and an averaging interface, against
//! SciPy with all dofs kept (`data/bracket_arm/reference.py`).

use super::assert_close;
use reducer::description::load;
use reducer::description::mechanism::{BodyKind, Mechanism};
use reducer::finite_elements::Superelement;
use reducer::reduction::LocalReducer;
use std::path::Path;

fn arm() -> Mechanism {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/bracket_arm/bracket_arm.toml");
    load(&data).unwrap_or_else(|faults| panic!("{faults}"))
}

fn body(mechanism: &Mechanism) -> &Superelement {
    match &mechanism.bodies[0].kind {
        BodyKind::Superelement(own) => own,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_bracket_arm_is_that_of_its_matrices() {
    let mechanism = arm();
    let own = body(&mechanism);
    assert_close(
        &[own.properties.mass],
        &[0.43103509774990656],
        1e-12,
        "mass",
    );
    let center = nalgebra::Vector3::new(1.42142725e-01, 1.16264168e-05, -3.25517874e-05);
    assert!((own.properties.center - center).norm() < 1e-9);
    let reducer = LocalReducer::new(&mechanism).expect("a model");
    let c = reducer.evaluate(&[0.0]).expect("regular");
    assert_close(&[c.mass[0]], &[0.08605682013050071], 1e-9, "inertia");
    assert_close(&[c.gravity[0]], &[-2.9554440194011855], 1e-9, "gravity");
    let n = c.n();
    assert_close(&[c.stiffness[n + 1]], &[283402.3107964241], 1e-7, "sag");
    // Eight modes of the held body, and static shapes of three frames.
    let exact = [33.16142765, 88.21633397, 557.42313048, 920.71035176];
    let found = reducer.locked_frequencies_hz(&[0.0], 4).expect("modes");
    assert_close(&found, &exact, 2e-4, "held with the tool");
    for (f, e) in found.iter().zip(&exact) {
        assert!(f > &(e * (1.0 - 1e-8)), "Ritz: {f} {e}");
    }
}

/// Node 12 moves with the static shape of the flange as it does with all dofs: as an interface exactly, in the
/// picture to single precision.
#[test]
fn a_node_of_the_mesh_moves_as_in_the_whole_model() {
    let mechanism = arm();
    let reducer = LocalReducer::new(&mechanism).expect("a model");
    let portrait = reducer.portrait(&[0.0]).expect("modes");
    let expected = [
        -0.024491554138521693,
        0.0006681863934226622,
        0.14438495623281916,
    ];
    let sag = &portrait.modes[1].displacement;
    let hole = body(&mechanism).names.iter().position(|n| n == "hole");
    let at = portrait.nodes[hole.expect("an interface")];
    let drawn = (3..portrait.nodes.len())
        .find(|p| (0..3).all(|c| (portrait.nodes[*p][c] - at[c]).abs() < 1e-9))
        .expect("the node in the mesh");
    for c in 0..3 {
        assert!((sag[hole.expect("an interface")][c] - expected[c]).abs() < 1e-8);
        assert!(
            (sag[drawn][c] - expected[c]).abs() < 1e-6,
            "{:?}",
            sag[drawn]
        );
    }
    assert_eq!(portrait.nodes.len(), 3 + 843);
    let tets = portrait
        .cells
        .iter()
        .filter(|(kind, _)| *kind == 24)
        .count();
    assert_eq!(tets, portrait.cells.len());
    // Every quadratic tetrahedron has its middle nodes between its corners.
    for (_, points) in &portrait.cells {
        let pairs = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)];
        for (k, (a, b)) in pairs.into_iter().enumerate() {
            for c in 0..3 {
                let middle = 0.5 * (portrait.nodes[points[a]][c] + portrait.nodes[points[b]][c]);
                assert!((portrait.nodes[points[4 + k]][c] - middle).abs() < 1e-9);
            }
        }
    }
    assert_eq!(reducer.model().without_geometric_stiffness(), ["arm"]);
}
