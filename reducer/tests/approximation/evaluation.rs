//! Statuses, arguments and outputs of the evaluator.

use crate::flexible::Flexible;
use crate::{Numbers, reduced, settings};
use nalgebra::Matrix3;
use reducer::reduced_model::{Evaluator, Status, Workspace};

#[test]
fn outside_the_domain_the_nearest_point_is_used() {
    let (model, _) = reduced(&Flexible::new(2, 1), &settings(&[0.1; 2]));
    let evaluator = Evaluator::new(&model).expect("valid");
    let mut work = Workspace::default();
    let edge = evaluator
        .coefficients(&[1.75, 0.3], &mut work)
        .expect("two coordinates");
    let outside = evaluator
        .coefficients(&[9.0, 0.3], &mut work)
        .expect("two coordinates");
    assert_eq!(
        (edge.status, outside.status),
        (Status::Inside, Status::Clamped)
    );
    assert_eq!(
        (&edge.mass, &edge.gyroscopic),
        (&outside.mass, &outside.gyroscopic)
    );
    let mut force = [1.0; 4];
    let rate = [0.1, f64::NAN, 0.0, 0.0];
    let status = evaluator.inverse_dynamics(&[0.0; 4], &rate, &[0.0; 4], &mut force, &mut work);
    assert_eq!((status, force), (Ok(Status::NotFinite), [0.0; 4]));
    // Results beyond the range of numbers.
    let (huge, mut accel) = ([1e300; 4], [1.0; 4]);
    let status = evaluator.inverse_dynamics(&[0.0; 4], &huge, &[0.0; 4], &mut force, &mut work);
    assert_eq!((status, force), (Ok(Status::NotFinite), [0.0; 4]));
    let status = evaluator.forward_dynamics(&[0.0; 4], &huge, &[0.0; 4], &mut accel, &mut work);
    assert_eq!((status, accel), (Ok(Status::NotFinite), [0.0; 4]));
    assert_eq!(
        evaluator.status(&[f64::INFINITY, 0.0], &mut work),
        Ok(Status::NotFinite)
    );
    let wrong = evaluator
        .coefficients(&[0.0], &mut work)
        .expect_err("one value is missing");
    assert_eq!(
        (wrong.argument, wrong.expected, wrong.found),
        ("theta", 2, 1)
    );
}

#[test]
fn periodic_coordinates_repeat() {
    let (mut model, _) = reduced(&Flexible::new(1, 1), &settings(&[0.1]));
    model.layout.domain.periodic = vec![true];
    let evaluator = Evaluator::new(&model).expect("valid");
    let mut work = Workspace::default();
    let at = |theta: f64, work: &mut Workspace| {
        evaluator
            .coefficients(&[theta], work)
            .expect("one coordinate")
    };
    let (one, next) = (at(0.5, &mut work), at(0.5 + 3.5 * 7.0, &mut work));
    assert_eq!(next.status, Status::Inside);
    assert!(
        one.mass
            .iter()
            .zip(&next.mass)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
    // Nothing is left of the digits of such an angle.
    let (far, end) = (at(1e11, &mut work), at(1.75, &mut work));
    assert_eq!((far.status, far.mass), (Status::Clamped, end.mass));
}

#[test]
fn output_velocities_are_derivatives_of_their_motion() {
    let (model, _) = reduced(&Flexible::new(2, 2), &settings(&[0.1; 2]));
    let evaluator = Evaluator::new(&model).expect("valid");
    let mut work = Workspace::default();
    let mut numbers = Numbers::new(11);
    for _ in 0..20 {
        let eta = [numbers.vector(2, 1.5), numbers.vector(3, 0.5)].concat();
        let rate = numbers.vector(5, 1.0);
        let mut at = |h: f64| {
            let eta: Vec<f64> = eta.iter().zip(&rate).map(|(e, r)| e + h * r).collect();
            evaluator
                .outputs(&eta, &rate, &mut work)
                .expect("five coordinates")
                .0
                .remove(0)
        };
        let h = 1e-5;
        let (before, now, after) = (at(-h), at(0.0), at(h));
        let velocity = (after.position - before.position) / (2.0 * h);
        assert!((velocity - now.velocity).norm() < 1e-8);
        let spin = (after.rotation - before.rotation) / (2.0 * h) * now.rotation.transpose();
        assert!((spin - now.angular_velocity.cross_matrix()).norm() < 1e-8);
        assert!((now.rotation * now.rotation.transpose() - Matrix3::identity()).norm() < 1e-13);
    }
}

#[test]
fn documents_have_the_nested_shape_scripts_rely_on() {
    let mut local = Flexible::new(1, 2);
    local.springs = true;
    let (model, _) = reduced(&local, &settings(&[0.1]));
    let evaluator = Evaluator::new(&model).expect("valid");
    let document = evaluator
        .document(&[0.4], &mut Workspace::default())
        .expect("one coordinate");
    let value = serde_json::to_value(&document).expect("plain data");
    assert_eq!(value["status"], "inside");
    assert_eq!(value["mass"].as_array().map(Vec::len), Some(4));
    assert_eq!(value["gyroscopic"][3][3].as_array().map(Vec::len), Some(4));
    assert_eq!(value["psi_g_theta"][0].as_array().map(Vec::len), Some(1));
    assert_eq!(
        value["outputs"]["tip"]["jacobian"].as_array().map(Vec::len),
        Some(6)
    );
    assert_eq!(document.frequencies_hz.len(), 2);
    assert!(document.frequencies_hz.is_sorted() && document.frequencies_hz[0] > 10.0);
    let exact = reducer::approximation::LocalModel::evaluate(&local, &[0.4]).expect("regular");
    for (found, of) in document.gravity.iter().zip(&exact.gravity) {
        assert!(
            (found - of).abs() < 0.02,
            "springs must not count as gravity: {found} {of}"
        );
    }
}

/// lower + (upper − lower) rounds beyond upper here: just below the seam is inside all the same.
#[test]
fn the_seam_of_a_periodic_coordinate_is_inside() {
    let mut coarse = settings(&[0.1]);
    coarse.tolerance = 0.9;
    let (mut model, _) = reduced(&Flexible::new(1, 1), &coarse);
    assert_eq!(model.boxes.len(), 1);
    let (lower, upper) = (-0.1, 0.2);
    assert!(lower + (upper - lower) > upper);
    let domain = &mut model.layout.domain;
    (domain.lower[0], domain.upper[0], domain.periodic[0]) = (lower, upper, true);
    (model.boxes[0].lower[0], model.boxes[0].upper[0]) = (lower, upper);
    let evaluator = Evaluator::new(&model).expect("valid");
    let mut work = Workspace::default();
    for theta in [lower, lower.next_down(), upper, upper.next_up(), 0.5, -0.4] {
        let status = evaluator.status(&[theta], &mut work);
        assert_eq!(status, Ok(Status::Inside), "{theta}");
    }
}
