//! Frames at single nodes, frames away from the mean of their nodes, and the mesh for pictures.

use super::blocks::{ARM, INNER, dense, motion};
use super::{CALCULIX, assert_close, body_of};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use reducer::finite_elements::{
    Coupling, FeBody, Interface, Modes, Role, SourceFile, Superelement, Tie, Units, read,
};

fn block() -> FeBody {
    let contents = ARM.files().map(|(name, text)| {
        let bytes = text.as_bytes();
        let content = read(SourceFile { name, bytes }).expect("content");
        (Role::Any, content)
    });
    FeBody::new(contents.to_vec(), &[], Units::default()).expect("a body")
}

fn face(body: &FeBody, set: &str, coupling: Coupling, at: Option<Vector3<f64>>) -> Interface {
    Interface {
        name: set.to_ascii_lowercase(),
        tie: Tie::Nodes {
            nodes: body.mesh.sets[set].clone(),
            coupling,
            at,
        },
    }
}

/// A node between the faces, off the middle.
const NODE: usize = 3 * 6 + 5;

/// Left face held, a unit force at one node: its compliance from the condensed body is that of all dofs, so the
/// frame stiffens nothing and moves with the node.
#[test]
fn a_frame_at_a_node_moves_with_it_and_stiffens_nothing() {
    let body = block();
    let frames = [
        face(&body, "LEFT", Coupling::Rigid, None),
        face(&body, "RIGHT", Coupling::Rigid, None),
        Interface {
            name: "node".into(),
            tie: Tie::Node {
                node: NODE as u64 + 1,
            },
        },
    ];
    let condensed = body.condense(&frames, Modes::Count(0)).expect("condensed");
    assert!((condensed.positions[2] - ARM.position(NODE)).norm() < 1e-12);
    let compliance = condensed.stiffness.view((6, 6), (12, 12)).into_owned();
    let compliance = compliance.try_inverse().expect("held");
    let (k, _) = ARM.assembled();
    let map = motion(0, INNER + 6, [None, Some((INNER, Matrix3::identity()))]);
    let stiffness = map.transpose() * dense(ARM.n_dofs(), &k) * &map;
    let factor = stiffness.cholesky().expect("held");
    for c in 0..3 {
        let mut force = DVector::zeros(ARM.n_dofs());
        force[3 * NODE + c] = 1.0;
        let moved = &map * factor.solve(&map.tr_mul(&force));
        for r in 0..3 {
            let (found, exact) = (compliance[(6 + r, 6 + c)], moved[3 * NODE + r]);
            let size = moved.rows(3 * NODE, 3).norm();
            assert!((found - exact).abs() < 1e-8 * size, "{found:e} {exact:e}");
        }
    }
    let free = body.free_frequencies_hz(&frames[..2], 6).expect("free");
    let with = body.free_frequencies_hz(&frames, 6).expect("free");
    assert_close(&with, &free, 1e-8, "free");
}

/// A frame elsewhere on the same nodes: motions of one frame are those of the other carried along.
#[test]
fn a_frame_may_be_anywhere_on_its_nodes() {
    let body = block();
    let at = Vector3::new(0.43, -0.02, 0.05);
    let arm = at - Vector3::new(ARM.size[0], 0.0, 0.0);
    for coupling in [Coupling::Rigid, Coupling::Average] {
        let of = |at| {
            let pair = [
                face(&body, "LEFT", Coupling::Rigid, None),
                face(&body, "RIGHT", coupling, at),
            ];
            body.condense(&pair, Modes::Count(3)).expect("condensed")
        };
        let (plain, moved) = (of(None), of(Some(at)));
        assert!((moved.positions[1] - at).norm() < 1e-15);
        // d_plain = d_moved − φ×arm.
        let mut carry = DMatrix::identity(12, 12);
        carry
            .fixed_view_mut::<3, 3>(6, 9)
            .copy_from(&arm.cross_matrix());
        let expected = carry.transpose() * &plain.stiffness * carry;
        let error = (&moved.stiffness - &expected).norm() / expected.norm();
        assert!(error < 1e-8, "{error:e}");
        assert_close(&moved.omega, &plain.omega, 1e-8, "held");
    }
}

/// Nodes of the faces move with their frames, and a stretch is shared evenly.
#[test]
fn the_picture_moves_with_the_deformation() {
    let body = body_of(&CALCULIX).expect("a body");
    let condensed = body
        .condense(&body.interfaces(), Modes::Count(4))
        .expect("condensed");
    let own = Superelement::new(&body, &condensed);
    let picture = &own.picture;
    assert_eq!(picture.points.len(), 104);
    assert_eq!(picture.cells.len(), 8);
    assert!(
        picture
            .cells
            .iter()
            .all(|(kind, points)| *kind == 25 && points.len() == 20)
    );
    assert!(picture.outline.len() >= 12, "{}", picture.outline.len());
    for a in 0..6 {
        let mut z = vec![0.0; own.n_strains()];
        z[a] = 1.0;
        for (p, at) in picture.points.iter().enumerate() {
            let moved = picture.displacement(p, &z);
            let end = Vector3::from(*at) - Vector3::new(0.45, 0.0, 0.0);
            let expected = if at[0] == 0.0 {
                Vector3::zeros()
            } else if end.x.abs() < 1e-12 {
                let unit = Vector3::ith(a % 3, 1.0);
                if a < 3 { unit } else { unit.cross(&end) }
            } else if a == 0 && at[1] == 0.0 && at[2] == 0.0 {
                Vector3::new(at[0] / 0.45, 0.0, 0.0)
            } else {
                continue;
            };
            assert!((moved - expected).norm() < 2e-3, "{a} {at:?} {moved:?}");
        }
    }
}
