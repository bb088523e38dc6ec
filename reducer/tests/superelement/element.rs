//! Identities of the element: its forces, tangents and second derivatives against differences.

use super::{CALCULIX, body_of};
use nalgebra::{DMatrix, DVector};
use reducer::finite_elements::{Modes, Superelement};
use reducer::lie::{self, Frame, Vector6};
use reducer::model::superelement::SuperElement;
use std::sync::Arc;

fn element() -> (SuperElement, Vec<Frame>) {
    let body = body_of(&CALCULIX).expect("a body");
    let condensed = body
        .condense(&body.interfaces(), Modes::Count(4))
        .expect("condensed");
    let own = Superelement::new(&body, &condensed);
    let nodes = own.nodes.clone();
    (SuperElement::new(Arc::new(own)), nodes)
}

/// A motion of the nodes and modes by finite amounts.
fn moved(nodes: &[Frame], modes: &[f64], by: &DVector<f64>) -> (Vec<Frame>, Vec<f64>) {
    let frames = (nodes.iter().enumerate())
        .map(|(k, frame)| frame.compose(&lie::exp(&by.fixed_rows::<6>(6 * k).into_owned())))
        .collect();
    let first = 6 * nodes.len();
    let modes = modes
        .iter()
        .enumerate()
        .map(|(k, q)| q + by[first + k])
        .collect();
    (frames, modes)
}

fn z_of(element: &SuperElement, state: &(Vec<Frame>, Vec<f64>)) -> DVector<f64> {
    let nodes: Vec<&Frame> = state.0.iter().collect();
    element.deformation(&nodes, &state.1)
}

fn pattern(n: usize, a: f64, b: f64, size: f64) -> DVector<f64> {
    DVector::from_fn(n, |i, _| (a * i as f64 + b).sin() * size)
}

/// A deformed state.
fn state() -> (SuperElement, (Vec<Frame>, Vec<f64>)) {
    let (element, nodes) = element();
    let change = pattern(16, 1.3, 0.4, 0.02);
    let state = moved(&nodes, &[0.0; 4], &change);
    (element, state)
}

fn difference(f: impl Fn(f64) -> DVector<f64>, h: f64) -> DVector<f64> {
    (f(h) - f(-h)) * (2.0 / (3.0 * h)) - (f(2.0 * h) - f(-2.0 * h)) * (1.0 / (12.0 * h))
}

fn close(found: &DVector<f64>, expected: &DVector<f64>, tolerance: f64, what: &str) {
    let error = (found - expected).norm() / expected.norm().max(1e-300);
    assert!(error < tolerance, "{what}: {error:e}");
}

#[test]
fn a_rigid_motion_of_the_whole_changes_nothing_and_has_its_own_energy() {
    let (element, state) = state();
    let z = z_of(&element, &state);
    let whole = lie::exp(&Vector6::new(0.3, -0.2, 0.5, 0.7, -1.1, 0.4));
    let carried = (
        state.0.iter().map(|f| whole.compose(f)).collect(),
        state.1.clone(),
    );
    assert!((z_of(&element, &carried) - &z).norm() < 1e-13);
    // Uniform velocities: momentum m·v, no elastic power, energy ½mv².
    let v = nalgebra::Vector3::new(0.4, -0.7, 1.1);
    let mut motion = DVector::zeros(16);
    for (k, frame) in state.0.iter().enumerate() {
        motion
            .fixed_rows_mut::<3>(6 * k)
            .copy_from(&frame.rotation.tr_mul(&v));
    }
    assert!(element.deformation_rate(&z, &motion).norm() < 1e-12);
    let twice = motion.dot(&(element.mass_at(&z) * &motion));
    assert!((twice / (0.3645 * v.norm_squared()) - 1.0).abs() < 1e-9);
    let power = motion.dot(&element.stress_forces(&z)) / element.stress_forces(&z).norm();
    assert!(power.abs() < 1e-12, "{power:e}");
}

#[test]
fn forces_are_slopes_of_the_energy_and_tangents_slopes_of_forces() {
    let (element, state) = state();
    let z = z_of(&element, &state);
    let (force, tangent) = element.elastic_forces(&z);
    close(&element.stress_forces(&z), &force, 1e-14, "force");
    for i in 0..16 {
        let along = |h: f64| {
            let mut by = DVector::zeros(16);
            by[i] = h;
            z_of(&element, &moved(&state.0, &state.1, &by))
        };
        let slope = difference(
            |h| DVector::from_element(1, element.strain_energy(&along(h))),
            1e-4,
        );
        assert!((slope[0] - force[i]).abs() < 1e-8 * force.norm(), "{i}");
        let slope = difference(|h| element.stress_forces(&along(h)), 1e-4);
        let error = (slope - tangent.column(i)).norm();
        assert!(error < 1e-8 * tangent.norm(), "{i} {error:e}");
    }
}

/// Lagrange's equations from M(z) and its numerical derivatives.
#[test]
fn inertia_forces_are_those_of_lagrange() {
    let (element, state) = state();
    let z = z_of(&element, &state);
    let (v, a) = (pattern(16, 0.7, 1.0, 2.0), pattern(16, 2.1, 0.2, 5.0));
    let m = z.len();
    let gradient: Vec<DMatrix<f64>> = (0..m)
        .map(|c| {
            let flat = difference(
                |h| {
                    let mut z = z.clone();
                    z[c] += h;
                    DVector::from_column_slice(element.mass_at(&z).as_slice())
                },
                1e-3,
            );
            DMatrix::from_column_slice(16, 16, flat.as_slice())
        })
        .collect();
    let exact = element.mass_gradient_times_at(&z, &v);
    for (c, gradient) in gradient.iter().enumerate() {
        close(
            &exact.column(c).into_owned(),
            &(gradient * &v),
            1e-8,
            "mass gradient",
        );
    }
    let rate = element.deformation_rate(&z, &v);
    let mass = element.mass_at(&z);
    let momentum = &mass * &v;
    let mut expected = &mass * &a;
    // P column by column from rates of unit motions.
    for i in 0..16 {
        let mut unit = DVector::zeros(16);
        unit[i] = 1.0;
        let p = element.deformation_rate(&z, &unit);
        for c in 0..m {
            expected[i] -= p[c] * 0.5 * v.dot(&(&gradient[c] * &v));
        }
    }
    for c in 0..m {
        expected += &gradient[c] * &v * rate[c];
    }
    for first in [0, 6] {
        let turned = lie::coadjoint(
            &v.fixed_rows::<6>(first).into_owned(),
            &momentum.fixed_rows::<6>(first).into_owned(),
        );
        let mut part = expected.fixed_rows_mut::<6>(first);
        part -= turned;
    }
    close(
        &element.inertia_forces(&z, &v, &a),
        &expected,
        1e-8,
        "inertia forces",
    );
}

#[test]
fn tangents_of_inertia_forces_match_differences() {
    let (element, state) = state();
    let z = z_of(&element, &state);
    let (v, a) = (pattern(16, 0.7, 1.0, 2.0), pattern(16, 2.1, 0.2, 5.0));
    let tangent = element.inertia_tangent(&z, &v);
    let by_motion = element.inertia_by_motion(&z, &v, &a);
    for i in 0..16 {
        let unit = |h: f64| {
            let mut by = DVector::zeros(16);
            by[i] = h;
            by
        };
        let slope = difference(|h| element.inertia_forces(&z, &(&v + unit(h)), &a), 1e-2);
        let error = (slope - tangent.gyroscopic.column(i)).norm();
        assert!(
            error < 1e-9 * tangent.gyroscopic.norm(),
            "by velocity {i} {error:e}"
        );
        let slope = difference(|h| element.inertia_forces(&z, &v, &(&a + unit(h))), 1e-2);
        let error = (slope - tangent.mass.column(i)).norm();
        assert!(
            error < 1e-9 * tangent.mass.norm(),
            "by acceleration {i} {error:e}"
        );
        let slope = difference(
            |h| {
                let z = z_of(&element, &moved(&state.0, &state.1, &unit(h)));
                element.inertia_forces(&z, &v, &a)
            },
            1e-3,
        );
        let error = (slope - by_motion.column(i)).norm();
        assert!(error < 1e-7 * by_motion.norm(), "by motion {i} {error:e}");
    }
}
