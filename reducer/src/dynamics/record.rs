//! Tables of results: the same columns for the full and the reduced model.

use super::along::AlongPath;
use super::excitation::Excitation;
use super::full::{FullInstant, OutputMotion};
use super::reduced::ReducedInstant;
use super::scenario::{Axes, DrivenKind, OutputRequest, Quantity, Scenario};
use crate::lie::Frame;
use nalgebra::{Matrix3, Rotation3, Vector3};
use std::fmt::Write;
use std::ops::Range;

/// What a difference is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The largest size.
    Size,
    /// The largest change since the start: the origin of positions means nothing.
    Change,
}

/// Columns that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name, for example `deflection_B`.
    pub name: String,
    /// Its columns.
    pub columns: Range<usize>,
    /// What a difference is compared with.
    pub measure: Measure,
    /// Unit of its values.
    pub unit: &'static str,
}

/// A table of results over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Names of the columns; the first is `time`.
    pub columns: Vec<String>,
    /// Outputs and forces that are compared.
    pub groups: Vec<Group>,
    /// One row per instant.
    pub rows: Vec<Vec<f64>>,
    /// Energy that came from nowhere at each instant (J).
    pub imbalance: Vec<f64>,
    requests: Vec<OutputRequest>,
    start: Option<(f64, f64)>,
}

/// What both models tell of one output.
struct Point {
    motion: OutputMotion,
    deflection: Vector3<f64>,
    rigid_axes: Matrix3<f64>,
}

/// Energies as both models tell them (J).
struct Energy {
    kinetic: f64,
    potential: f64,
    work: f64,
    dissipated: f64,
}

impl Record {
    /// An empty table for the full model. On a path it ends with what the coordinates of the
    /// mechanism do one by one, of which a model along the path knows nothing.
    pub fn full(scenario: &Scenario) -> Self {
        let on_path = scenario
            .coordinates
            .iter()
            .any(|c| c.kind == DrivenKind::Path);
        let names = || scenario.mechanism.coordinates.iter().map(|c| &c.name);
        let own = ["force", "coordinate"].into_iter().filter(|_| on_path);
        let own = own.flat_map(|what| names().map(move |name| format!("{what}.{name}")));
        Self::new(scenario, own)
    }

    /// An empty table for the reduced model; `modal` names its modal coordinates.
    pub fn reduced(scenario: &Scenario, modal: &[String]) -> Self {
        Self::new(scenario, modal.iter().map(|m| format!("modal.{m}")))
    }

    fn new(scenario: &Scenario, own: impl Iterator<Item = String>) -> Self {
        let mut record = Self {
            columns: vec!["time".to_owned()],
            groups: Vec::new(),
            rows: Vec::new(),
            imbalance: Vec::new(),
            requests: scenario.outputs.clone(),
            start: None,
        };
        for request in &scenario.outputs {
            let point = &scenario.mechanism.outputs[request.output].name;
            for quantity in &request.quantities {
                let (name, axes, measure, unit) = quantity.columns(point);
                record.add_group(name, &axes, measure, unit);
            }
        }
        for c in &scenario.coordinates {
            let group = format!("force.{}", c.name);
            let [unit, _] = c.kind.units();
            record.add_group(group.clone(), &[group], Measure::Size, unit);
        }
        for c in &scenario.coordinates {
            let group = format!("coordinate.{}", c.name);
            let [_, unit] = c.kind.units();
            record.add_group(group.clone(), &[group], Measure::Change, unit);
        }
        let rates = scenario.coordinates.iter();
        record
            .columns
            .extend(rates.map(|c| format!("rate.{}", c.name)));
        if let Some((diagram, _)) = scenario.drives.control() {
            for name in diagram.signal_names() {
                let group = format!("control.{name}");
                record.add_group(group.clone(), &[group], Measure::Size, "1");
            }
        }
        let energies = ["kinetic", "potential", "work", "dissipated"];
        record
            .columns
            .extend(energies.map(|e| format!("energy.{e}")));
        record.columns.extend(own);
        record
    }

    fn add_group(
        &mut self,
        name: String,
        columns: &[String],
        measure: Measure,
        unit: &'static str,
    ) {
        let start = self.columns.len();
        self.columns.extend_from_slice(columns);
        self.groups.push(Group {
            name,
            columns: start..self.columns.len(),
            measure,
            unit,
        });
    }

    /// Adds a row of the full model; `rigid` holds the outputs of the rigid mechanism at its θ, and
    /// `along` is the path on which it moves, if any.
    pub fn add_full(
        &mut self,
        instant: &FullInstant,
        rigid: &[Frame],
        along: Option<&AlongPath<'_>>,
    ) {
        let points: Vec<Point> = instant
            .outputs
            .iter()
            .zip(rigid)
            .map(|(motion, rigid)| Point {
                motion: *motion,
                deflection: motion.position - rigid.position,
                rigid_axes: rigid.rotation,
            })
            .collect();
        let e = &instant.energies;
        let energy = Energy {
            kinetic: e.kinetic,
            potential: e.total() - e.kinetic,
            work: e.actuator_work + e.force_work,
            dissipated: e.dissipated,
        };
        let (force, theta) = (&instant.actuator_force, &instant.theta);
        match along.map(|along| along.project(instant)) {
            Some(on) => {
                let coordinates = [&[on.force][..], &[on.place], &[on.rate], &[]];
                let own = [force.as_slice(), theta].concat();
                self.add(instant.time, &points, coordinates, &energy, &own);
            }
            None => {
                let coordinates = [force.as_slice(), theta, &instant.rate, &instant.signals];
                self.add(instant.time, &points, coordinates, &energy, &[]);
            }
        }
    }

    /// Adds a row of the reduced model.
    pub fn add_reduced(&mut self, instant: &ReducedInstant) {
        let points: Vec<Point> = instant
            .outputs
            .iter()
            .map(|output| Point {
                motion: output.motion,
                deflection: output.deflection,
                rigid_axes: output.rigid_axes,
            })
            .collect();
        let e = &instant.energies;
        let energy = Energy {
            kinetic: e.kinetic,
            potential: e.potential,
            work: e.actuator_work + e.force_work,
            dissipated: e.dissipated,
        };
        let force = instant.actuator_force.as_slice();
        let coordinates = [force, &instant.theta, &instant.rate, &instant.signals];
        self.add(instant.time, &points, coordinates, &energy, &instant.modal);
    }

    fn add(
        &mut self,
        time: f64,
        points: &[Point],
        coordinates: [&[f64]; 4],
        energy: &Energy,
        own: &[f64],
    ) {
        let (kinetic, potential) = *self.start.get_or_insert((energy.kinetic, energy.potential));
        let mut row = vec![time];
        for request in &self.requests {
            let point = &points[request.output];
            for quantity in &request.quantities {
                row.extend(quantity.of(point, request.axes).iter());
            }
        }
        for list in coordinates {
            row.extend(list);
        }
        let change = energy.potential - potential;
        row.extend([energy.kinetic, change, energy.work, energy.dissipated]);
        row.extend(own);
        self.rows.push(row);
        self.imbalance
            .push(energy.kinetic - kinetic + change + energy.dissipated - energy.work);
    }

    /// Values of a column.
    pub fn column(&self, index: usize) -> impl Iterator<Item = f64> {
        self.rows.iter().map(move |row| row[index])
    }

    /// Largest energy that moved: kinetic, potential or supplied (J).
    pub fn exchanged_energy(&self) -> f64 {
        let first = self.columns.iter().position(|c| c == "energy.kinetic");
        let Some(first) = first else { return 0.0 };
        let energies = self.rows.iter().flat_map(|row| &row[first..first + 4]);
        energies.fold(0.0, |most, e| most.max(e.abs()))
    }

    /// The table as comma-separated values; numbers read back exactly.
    pub fn to_csv(&self) -> String {
        let mut text = self.columns.join(",");
        text.push('\n');
        for row in &self.rows {
            for (i, value) in row.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                // Writing to a string cannot fail.
                let _ = write!(text, "{value:e}");
            }
            text.push('\n');
        }
        text
    }
}

impl Quantity {
    /// Name of the group, names of the columns, measure and unit.
    fn columns(self, point: &str) -> (String, [String; 3], Measure, &'static str) {
        let (name, prefix, measure, unit) = match self {
            Self::Position => (point.to_owned(), "", Measure::Change, "m"),
            Self::Deflection => (format!("deflection_{point}"), "", Measure::Size, "m"),
            Self::Velocity => (format!("{point}.velocity"), "v", Measure::Size, "m/s"),
            Self::Acceleration => (format!("{point}.acceleration"), "a", Measure::Size, "m/s²"),
            Self::Rotation => (format!("{point}.rotation"), "r", Measure::Change, "rad"),
            Self::AngularVelocity => (
                format!("{point}.angular_velocity"),
                "w",
                Measure::Size,
                "rad/s",
            ),
        };
        let owner = match self {
            Self::Deflection => name.as_str(),
            _ => point,
        };
        let columns = ["x", "y", "z"].map(|axis| format!("{owner}.{prefix}{axis}"));
        (name, columns, measure, unit)
    }

    fn of(self, point: &Point, axes: Axes) -> Vector3<f64> {
        let turned = |v: Vector3<f64>, frame: &Matrix3<f64>| match axes {
            Axes::Inertial => v,
            Axes::Body => frame.transpose() * v,
        };
        let motion = &point.motion;
        match self {
            Self::Position => motion.position,
            Self::Deflection => turned(point.deflection, &point.rigid_axes),
            Self::Velocity => turned(motion.velocity, &motion.rotation),
            Self::Acceleration => turned(motion.acceleration, &motion.rotation),
            Self::Rotation => Rotation3::from_matrix_unchecked(motion.rotation).scaled_axis(),
            Self::AngularVelocity => turned(motion.angular_velocity, &motion.rotation),
        }
    }
}
