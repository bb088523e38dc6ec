//! What a report takes from the full model.

use crate::data;
use reducer::approximation::{LocalModel, SampleDatabase, Silent};
use reducer::description::load;
use reducer::pipeline;
use reducer::reduced_model::{Block, Evaluator, ReducedModel, Workspace};
use reducer::sampling::SampleSource;
use reducer::survey::{Survey, survey};

fn surveyed(file: &str) -> (SampleSource, ReducedModel, Survey) {
    let mechanism = load(&data(file)).expect("a data file");
    let local = SampleSource::new(&mechanism).expect("a mechanism");
    let mut database = SampleDatabase::in_memory();
    let (model, _) = pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
        .expect("a model");
    let found = survey(&model, &local).expect("a valid model");
    (local, model, found)
}

#[test]
fn lines_hold_exact_coefficients_and_the_errors_there() {
    let (local, model, survey) = surveyed("orthoglide.toml");
    assert_eq!(survey.lines.len(), 4);
    let evaluator = Evaluator::new(&model).expect("a valid model");
    let mut work = Workspace::default();
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    for line in &survey.lines {
        for (part, point) in line.parts.iter().zip(&line.points) {
            let point = point.as_ref().expect("the whole domain has a model");
            let exact = local.evaluate(&line.at(*part)).expect("inside");
            assert_eq!(point.mass, exact.mass);
            assert_eq!(point.gyroscopic, exact.gyroscopic());
            assert_eq!(point.positions, exact.outputs[0].position);
            let reduced = evaluator
                .coefficients(&exact.theta, &mut work)
                .expect("three values");
            let mut gap = reduced.mass.iter().zip(&exact.mass).map(|(a, b)| a - b);
            let expected = norm(&mut gap) / norm(&mut exact.mass.iter().copied());
            let (block, error) = point.errors[0];
            assert_eq!(block, Block::Mass);
            assert!((error - expected).abs() < 1e-14, "{error} {expected}");
        }
        for end in [0.0, 1.0] {
            let theta = line.at(end);
            let domain = &model.layout.domain;
            assert!((0..3).all(|k| domain.lower[k] <= theta[k] && theta[k] <= domain.upper[k]));
        }
    }
}

/// At home, the loaded point moves by one metre up in its constraint mode, and not at all in the
/// internal modes.
#[test]
fn shapes_are_those_of_the_modes() {
    let (_, _, survey) = surveyed("four_bar.toml");
    assert_eq!(survey.base, [0.0]);
    let output = &survey.skeleton.outputs[1];
    let (body, node) = (output.body.expect("a body"), output.node.expect("a node"));
    let rotation = &survey.skeleton.bodies[body].rotation;
    let length = 6 * survey.skeleton.nodes.len();
    assert_eq!(survey.shapes.base.len(), survey.shapes.modes * length);
    for mode in 0..survey.shapes.modes {
        let at = mode * length + 6 * node;
        let shift = &survey.shapes.base[at..at + 3];
        let up: f64 = (0..3).map(|k| rotation[6 + k] * shift[k]).sum();
        let expected = if mode == 0 { 1.0 } else { 0.0 };
        assert!((up - expected).abs() < 1e-9, "mode {mode}: {up}");
    }
    let places = &survey.shapes.axes[0].places;
    assert_eq!(places.len(), 33);
    assert_eq!(survey.shapes.axes[0].shapes[16], survey.shapes.base);
}

/// On samples the fit is exact, and a chart of errors would show teeth down to rounding.
#[test]
fn errors_are_measured_between_samples_and_on_the_peak() {
    let (_, _, survey) = surveyed("four_bar.toml");
    let line = &survey.lines[0];
    assert_eq!(line.parts.len(), line.points.len());
    assert!(line.parts.is_sorted());
    for point in line.points.iter().flatten() {
        for (block, error) in &point.errors {
            assert!(*error > 1e-8, "{block:?}: {error}");
        }
    }
    // The loaded point is nearly blocked at θ = 0.80: its stiffness has a narrow peak there.
    let n = 7;
    let peak = |at: &[f64]| at[n + 1];
    let exact = line.points.iter().flatten().map(|p| peak(&p.stiffness));
    let highest = exact.fold(0.0, f64::max);
    let near = line.parts.iter().zip(&line.points);
    let at = near.filter(|(_, p)| p.as_ref().is_some_and(|p| peak(&p.stiffness) == highest));
    let theta = at
        .map(|(part, _)| line.at(*part)[0])
        .next()
        .expect("a peak");
    assert!((theta - 0.80).abs() < 0.02, "{theta}");
}
