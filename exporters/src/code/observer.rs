//! What templates name of an observer.

use super::literal::comment;
use super::printer::Printer;
use super::samples::pattern;
use crate::WriteError;
use kernel::{Disturbance, Reading, Sensor};
use minijinja::{Value, context};
use reducer::reduced_model::plan::Plan;
use reducer::reduced_model::{
    CallCost, Evaluator, ObserverPlan, ReducedModel, Workspace, observer_costs,
};

/// Periods of the self-test.
const PERIODS: usize = 3;

/// Costs of an observer's functions without and with parameters.
pub(super) fn costs(plan: &Plan, observer: &ObserverPlan) -> [Vec<CallCost>; 2] {
    [false, true].map(|with| observer_costs(plan, observer, with))
}

/// The values that templates name.
pub(super) fn facts(
    model: &ReducedModel,
    observer: &ObserverPlan,
    text: Printer,
) -> Result<Value, WriteError> {
    let n = observer.n();
    let mut axes: Vec<String> = Vec::new();
    let mut known = None;
    let mut sensors = Vec::new();
    for (sensor, name) in observer.sensors.iter().zip(&observer.sensor_names) {
        let what = (sensor.reading, sensor.index);
        let is_point = !is_of_coordinate(sensor.reading);
        sensors.push(context! {
            reading => word(sensor.reading),
            variant => variant(sensor.reading),
            index => sensor.index,
            axis_row => axes.len(),
            axis => text.list(&sensor.axis)?,
            body => sensor.body,
            gravity => sensor.gravity,
            first => known != Some(what),
            comment => comment(&describe(model, sensor, name)),
        });
        known = is_point.then_some(what);
        if is_point {
            axes.push(text.list(&sensor.axis)?);
        }
    }
    let disturbances = observer.disturbances.iter().map(|d| {
        let axis: Result<Vec<String>, WriteError> = d.axis.iter().map(|a| text.real(*a)).collect();
        Ok(context! {
            at_output => d.at_output,
            index => d.index,
            axis => axis?,
            comment => comment(&describe_force(model, d)),
        })
    });
    let any = |test: fn(&Sensor<f64>) -> bool| observer.sensors.iter().any(test);
    Ok(context! {
        states => observer.states(),
        n_sensors => observer.sensors.len(),
        n_disturbances => observer.disturbances.len(),
        sensors,
        axes,
        disturbances => disturbances.collect::<Result<Vec<Value>, WriteError>>()?,
        at_output => observer.disturbances.iter().any(|d| d.at_output),
        needs_model => any(|s| !s.reading.is_state()),
        accelerated => any(|s| matches!(s.reading, Reading::Acceleration | Reading::PointAcceleration)),
        point_accelerated => any(|s| s.reading == Reading::PointAcceleration),
        pointed => any(|s| !is_of_coordinate(s.reading)),
        turned => any(|s| !is_of_coordinate(s.reading) && s.body),
        heavy => any(|s| !is_of_coordinate(s.reading) && s.gravity),
        period => text.real(observer.period)?,
        step => text.real(observer.period / observer.substeps as f64)?,
        substeps => observer.substeps,
        process => text.rows(&observer.process, n)?,
        measurement => text.rows(&observer.measurement, observer.sensors.len())?,
        initial => text.rows(&observer.initial, 8)?,
        drift => text.list(&observer.drift)?,
        gravity => text.list(&observer.gravity)?,
        test => test(model, observer, text)?,
    })
}

fn is_of_coordinate(reading: Reading) -> bool {
    matches!(
        reading,
        Reading::Coordinate | Reading::Rate | Reading::Acceleration
    )
}

fn word(reading: Reading) -> &'static str {
    match reading {
        Reading::Coordinate => "coordinate",
        Reading::Rate => "rate",
        Reading::Acceleration => "acceleration",
        Reading::Position => "position",
        Reading::Velocity => "velocity",
        Reading::PointAcceleration => "point_acceleration",
    }
}

fn variant(reading: Reading) -> String {
    format!("{reading:?}")
}

/// A sensor in words.
fn describe(model: &ReducedModel, sensor: &Sensor<f64>, name: &str) -> String {
    let layout = &model.layout;
    if is_of_coordinate(sensor.reading) {
        let coordinate = &layout.coordinates[sensor.index];
        let (what, per) = match sensor.reading {
            Reading::Coordinate => ("", ""),
            Reading::Rate => ("rate of ", "/s"),
            _ => ("acceleration of ", "/s^2"),
        };
        return format!(
            "{name}: {what}{} [{}{per}]",
            coordinate.name, coordinate.unit
        );
    }
    let (what, unit) = match sensor.reading {
        Reading::Position => ("position", "m"),
        Reading::Velocity => ("velocity", "m/s"),
        _ => ("acceleration", "m/s^2"),
    };
    let axes = if sensor.body { "its own" } else { "inertial" };
    let felt = if sensor.gravity { ", gravity felt" } else { "" };
    format!(
        "{name}: {what} of {} along {:?} of {axes} axes{felt} [{unit}]",
        layout.outputs[sensor.index], sensor.axis
    )
}

fn describe_force(model: &ReducedModel, d: &Disturbance<f64>) -> String {
    let layout = &model.layout;
    if d.at_output {
        return format!(
            "force on {} along {:?} of inertial axes [N]",
            layout.outputs[d.index], d.axis
        );
    }
    format!("force on {}", layout.coordinates[d.index].name)
}

/// Arguments of the self-test and what the generator finds.
fn test(model: &ReducedModel, observer: &ObserverPlan, text: Printer) -> Result<Value, WriteError> {
    let evaluator = Evaluator::new(model)?;
    let work = &mut Workspace::default();
    let (n, s) = (observer.n(), model.layout.n_rigid);
    let domain = &model.layout.domain;
    let middle = model.boxes.first().map_or_else(
        || domain.lower.clone(),
        |b| (0..s).map(|k| 0.5 * (b.lower[k] + b.upper[k])).collect(),
    );
    let eta: Vec<f64> = (0..n)
        .map(|i| if i < s { middle[i] } else { 1e-4 * pattern(i) })
        .collect();
    let rate: Vec<f64> = (0..n).map(|i| 1e-2 * pattern(i + 2)).collect();
    let zero = vec![0.0; n];
    let mut force = vec![0.0; n];
    let refused = |_| WriteError::Template {
        template: "observer",
        fact: "the observer is of another model".to_owned(),
    };
    let held = evaluator.inverse_dynamics(&eta, &zero, &zero, &mut force, work);
    held.map_err(refused)?;
    force[s..].fill(0.0);
    let mut state = observer.state();
    let begun = evaluator.observer_init(observer, &mut state, [&eta, &rate, &force]);
    begun.map_err(refused)?;
    let read = evaluator.observer_readings(observer, &state.x, &force, work);
    let (mut readings, _, _) = read.map_err(refused)?;
    let m = readings.len();
    for (i, reading) in readings.iter_mut().enumerate() {
        *reading += observer.measurement[i * m + i] * pattern(i);
    }
    let mut status = reducer::reduced_model::Status::Inside;
    for _ in 0..PERIODS {
        let predicted = evaluator.observer_predict(observer, &mut state, &force, work);
        let updated = evaluator.observer_update(observer, &mut state, &readings, work);
        status = status
            .max(predicted.map_err(refused)?)
            .max(updated.map_err(refused)?);
    }
    let states = observer.states();
    let covariance = state.covariance();
    let deviations: Vec<f64> = (0..states)
        .map(|i| covariance[i * states + i].sqrt())
        .collect();
    Ok(context! {
        periods => PERIODS,
        eta => text.list(&eta)?,
        rate => text.list(&rate)?,
        force => text.list(&force)?,
        readings => text.list(&readings)?,
        x => text.list(&state.x)?,
        deviations => text.list(&deviations)?,
        status => status as i32,
        tolerance => text.real(if text.single { 1e-2 } else { 1e-9 })?,
    })
}
