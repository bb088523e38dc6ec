//! Scenario files: a mechanism, what drives it, and what is wanted of its motion.
//!
//! [`load`] reads a scenario and its mechanism. Diagnostics of both point into the files; a
//! scenario's own text comes after those of the mechanism among the sources.

mod blocks;
mod controllers;
mod driven;
mod fault;
mod format;
mod format_control;
mod format_observer;
mod format_track;
mod laws;
mod observer;
mod resolve;
mod settings;
mod signals;
mod start;
mod table;
mod tracks;

pub use driven::{DrivenCoordinate, DrivenKind};
pub use fault::{ScenarioFault, ScenarioFaultKind, ScenarioFaults};

use super::control::{CalledModelError, Law, ObserverLaw};
use super::drives::Drives;
use super::excitation::Excitation;
use super::full::{FullSettings, Initial, Start};
use super::inversion::{InversionSettings, Tracked};
use super::observer::ObserverError;
use super::reduced::ReducedSettings;
use crate::description::mechanism::{Mechanism, Origin, Source};
use crate::description::{
    Fault, FaultKind, Overrides, parse_with, read, read_named, read_up_to, schema,
};
use crate::reduced_model::ReducedModel;
use format::ScenarioFile;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest table of a signal in bytes.
pub const MAX_TABLE_BYTES: usize = 64 << 20;

/// A quantity of an output point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Position, inertial axes.
    Position,
    /// Displacement relative to the rigid mechanism at the same θ.
    Deflection,
    /// Velocity.
    Velocity,
    /// Acceleration.
    Acceleration,
    /// Rotation vector, inertial axes.
    Rotation,
    /// Angular velocity.
    AngularVelocity,
}

/// Axes of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// The inertial frame.
    Inertial,
    /// The point's frame; for a deflection, that of the rigid mechanism.
    Body,
}

/// What is wanted of an output point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRequest {
    /// Index of the output in the mechanism.
    pub output: usize,
    /// What is wanted, each once.
    pub quantities: Vec<Quantity>,
    /// In which axes.
    pub axes: Axes,
}

/// A validated scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's stem.
    pub name: String,
    /// The mechanism, with the scenario's changes.
    pub mechanism: Mechanism,
    /// A reduced model; the mechanism is to be reduced where absent.
    pub model: Option<PathBuf>,
    /// Keys of `[override]` that make the mechanism another machine than its file describes.
    pub changes: Vec<&'static str>,
    /// Time to simulate (s).
    pub duration: f64,
    /// What is driven: the mechanism's coordinates, or the place on its path.
    pub coordinates: Vec<DrivenCoordinate>,
    /// Its state at t = 0.
    pub initial: Initial,
    /// What drives it.
    pub drives: Drives,
    /// Outputs with their paths, where these are to be inverted; empty otherwise.
    pub tracked: Vec<Tracked>,
    /// How they are inverted.
    pub inversion: InversionSettings,
    /// What is wanted.
    pub outputs: Vec<OutputRequest>,
    /// When, from 0 to the end.
    pub instants: Vec<f64>,
    /// Integration of the full model.
    pub full: FullSettings,
    /// Integration of the reduced model.
    pub reduced: ReducedSettings,
    /// All files: those of the mechanism, the scenario, its tables.
    pub sources: Vec<Source>,
}

impl Scenario {
    /// Number of the sensor or block output of this name among the signals of an instant.
    pub fn signal(&self, name: &str) -> Option<usize> {
        let (diagram, _) = self.drives.control()?;
        diagram.signal_names().iter().position(|n| n == name)
    }

    /// The observer that it declares, if any.
    pub fn observer(&self) -> Option<&ObserverLaw> {
        let (diagram, _) = self.drives.control()?;
        diagram.blocks.iter().find_map(|block| match &block.law {
            Law::Observer(observer) => Some(&**observer),
            _ => None,
        })
    }

    /// The same with the model that its blocks evaluate.
    pub fn calling(&self, model: &ReducedModel) -> Result<Self, CalledModelError> {
        Ok(Self {
            drives: self.drives.calling(model)?,
            ..self.clone()
        })
    }

    /// The same with a model for its observer, which has seen nothing yet.
    pub fn observed(&self, model: &ReducedModel) -> Result<Self, ObserverError> {
        let mut all = self.clone();
        let deflected = self.initial.start == Start::Equilibrium;
        for observer in all.drives.observers() {
            observer.attach(model, &self.initial.rate, deflected)?;
        }
        Ok(all)
    }
}

/// JSON Schema of the scenario format, derived from the types that read it.
pub fn scenario_schema() -> serde_json::Value {
    schemars::schema_for!(ScenarioFile).to_value()
}

/// Reads a scenario file and its mechanism.
pub fn load(path: &Path) -> Result<Scenario, ScenarioFaults> {
    let label = path.display().to_string();
    let unplaced = |kind| ScenarioFaults {
        faults: vec![ScenarioFault { origin: None, kind }],
        sources: Vec::new(),
    };
    let text = read(path)
        .and_then(|bytes| decode(bytes, &label))
        .map_err(|kind| {
            unplaced(match kind {
                FaultKind::Folder { path } => ScenarioFaultKind::Folder { path },
                kind => ScenarioFaultKind::Description(kind),
            })
        })?;
    if text.trim().is_empty() {
        return Err(unplaced(ScenarioFaultKind::Empty { path: label }));
    }
    let source = Source {
        path: label,
        text: Arc::from(text.as_str()),
    };
    let (file, places) = parse(&source)?;
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let mechanism_path = folder.join(&file.mechanism.value);
    let bytes = read(&mechanism_path).map_err(|kind| ScenarioFaults {
        faults: vec![
            Fault {
                origin: Some(Origin {
                    source: 0,
                    span: file.mechanism.span.clone(),
                }),
                kind,
            }
            .into(),
        ],
        sources: vec![source.clone()],
    })?;
    let overrides = Overrides {
        source,
        table: file.overrides.clone(),
        places,
    };
    let inner = mechanism_path
        .parent()
        .unwrap_or(Path::new(""))
        .to_path_buf();
    let mechanism = parse_with(
        &bytes,
        &mechanism_path.display().to_string(),
        &|include: &Path| read_named(&inner.join(include)),
        &overrides,
    )?;
    let own = mechanism.sources.len() - 1;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let name = stem.unwrap_or("scenario").to_owned();
    resolve::resolve(&file, name, mechanism, own, &folder, &|table: &Path| {
        read_up_to(&folder.join(table), MAX_TABLE_BYTES)
    })
}

fn decode(bytes: Vec<u8>, label: &str) -> Result<String, FaultKind> {
    String::from_utf8(bytes).map_err(|error| FaultKind::NotText {
        path: label.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

type Places = BTreeMap<String, Range<usize>>;

/// The types of the format from the text, and where the tables of `[override]` begin.
fn parse(source: &Source) -> Result<(ScenarioFile, Places), ScenarioFaults> {
    let text = source.text.as_ref();
    let place = |span: Range<usize>| {
        let start = span.start.min(text.len());
        let end = span.end.clamp(start, text.len());
        Some(Origin {
            source: 0,
            span: start..end,
        })
    };
    let refused = |faults: Vec<Fault>| ScenarioFaults {
        faults: faults.into_iter().map(Into::into).collect(),
        sources: vec![source.clone()],
    };
    let document = toml_edit::Document::parse(text).map_err(|error| {
        let message = error.message().trim().replace('\n', ", ");
        refused(vec![Fault {
            origin: place(error.span().unwrap_or(0..0)),
            kind: FaultKind::Syntax { message },
        }])
    })?;
    let shape = schema::check_against(&scenario_schema(), document.as_item(), 0);
    let mut faults: Vec<Fault> = shape.into_iter().map(|found| found.fault).collect();
    let version = document
        .get("format")
        .map(|item| (item.as_integer(), item.span()));
    match version {
        None => faults.insert(
            0,
            Fault {
                origin: place(0..0),
                kind: FaultKind::MissingFormat,
            },
        ),
        Some((Some(found), span)) if found != 1 => faults.push(Fault {
            origin: place(span.unwrap_or(0..0)),
            kind: FaultKind::UnsupportedFormat { found },
        }),
        Some(_) => {}
    }
    if !faults.is_empty() {
        return Err(refused(faults));
    }
    let inner = document
        .get("override")
        .and_then(|item| item.as_table_like());
    let places = inner
        .into_iter()
        .flat_map(|table| table.iter())
        .filter_map(|(name, item)| Some((name.to_owned(), item.span()?)))
        .collect();
    let table = document.into_item().into_table().unwrap_or_default();
    let reader = toml_edit::de::Deserializer::from(toml_edit::DocumentMut::from(table));
    let file = ScenarioFile::deserialize(reader).map_err(|error| {
        refused(vec![Fault {
            origin: place(error.span().unwrap_or(0..0)),
            kind: FaultKind::Value {
                message: error.message().to_owned(),
            },
        }])
    })?;
    Ok((file, places))
}
