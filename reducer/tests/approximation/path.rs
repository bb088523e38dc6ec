//! Reduction along a path.

use crate::flexible::Flexible;
use crate::{reduced, settings};
use reducer::approximation::{LocalModel, PathError, PathModel};
use reducer::description::mechanism::Trajectory;

fn points() -> Vec<Vec<f64>> {
    vec![
        vec![-1.0, 0.5],
        vec![-0.2, 0.1],
        vec![0.3, -0.8],
        vec![1.2, -0.6],
    ]
}

#[test]
fn projected_gradients_are_derivatives_along_the_path() {
    let local = Flexible::new(2, 2);
    let path = PathModel::new(&local, &points()).expect("a path");
    let (h, sigma) = (1e-5, 0.37);
    let at = |x: f64| path.evaluate(&[x]).expect("regular");
    let (before, now, after) = (at(sigma - h), at(sigma), at(sigma + h));
    let close = |a: &[f64], b: &[f64], slope: &[f64]| {
        for i in 0..slope.len() {
            let difference = (b[i] - a[i]) / (2.0 * h);
            assert!(
                (difference - slope[i]).abs() < 1e-7 * (1.0 + slope[i].abs()),
                "{difference} {}",
                slope[i]
            );
        }
    };
    close(&before.mass, &after.mass, &now.mass_gradient[0]);
    close(
        &before.stiffness,
        &after.stiffness,
        &now.stiffness_gradient[0],
    );
    close(&before.force, &after.force, &now.force_gradient[0]);
    close(&[before.potential], &[after.potential], &[-now.force[0]]);
    let (a, b) = (&before.outputs[0].position, &after.outputs[0].position);
    let velocity: Vec<f64> = (0..3)
        .map(|axis| now.outputs[0].jacobian[axis * 4])
        .collect();
    close(a, b, &velocity);
}

#[test]
fn a_path_passes_its_points_and_can_be_reduced() {
    let local = Flexible::new(2, 1);
    let path = PathModel::new(&local, &points()).expect("a path");
    let [start, ..] = path.path().configuration(0.0);
    let [end, ..] = path.path().configuration(1.0);
    assert_eq!((start, end), (points()[0].clone(), points()[3].clone()));
    let mut settings = settings(&[0.1; 2]);
    settings.trajectory = Some(Trajectory {
        points: points(),
        file: None,
    });
    let (model, summary) = reduced(&path, &settings);
    assert!(summary.reached);
    assert_eq!((model.layout.n_rigid, model.layout.n()), (1, 3));
}

#[test]
fn paths_that_are_none_are_refused() {
    let local = Flexible::new(2, 1);
    let refused = |points: &[Vec<f64>]| PathModel::new(&local, points).err();
    assert_eq!(
        refused(&points()[..2]),
        Some(PathError::TooShort { found: 2 })
    );
    let twice = [points(), vec![points()[3].clone()]].concat();
    assert_eq!(refused(&twice), Some(PathError::Repeated { index: 3 }));
    let short = [points(), vec![vec![1.0]]].concat();
    assert_eq!(
        refused(&short),
        Some(PathError::BadPoint {
            index: 4,
            expected: 2
        })
    );
}
