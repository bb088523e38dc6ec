//! From the file as written to the validated mechanism.
//!
//! Templates are expanded first; bodies, joints and everything attached to them follow in the
//! order of the file. Each step reports what it finds and goes on without the part at fault, so
//! that one run shows all independent faults.

mod attachment;
mod beam;
mod bodies;
mod connectivity;
pub(crate) mod context;
mod coordinates;
mod derived;
mod expand;
mod free;
mod joints;
mod parts;
mod placement;
mod sections;
mod settings;
mod superelement;
mod trajectory;

use super::Stores;
use super::fault::{Fault, FaultKind};
use super::files::{Resolver, Units};
use super::format::{Gravity, GravityWord};
use super::mechanism::{Mechanism, Plane};
use super::parameters::{Parameters, Written};
use super::quantity::Dimension;
use crate::lie::Frame;
use bodies::Bodies;
use context::{Context, Scope};
use nalgebra::Vector3;
use sections::Library;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// How far assembly may move a drawn point unless the file says otherwise (m).
const HOME_TOLERANCE: f64 = 1e-6;

/// Builds the mechanism, or says what is wrong with it.
pub fn elaborate(
    input: &Units,
    stem: &str,
    resolver: &Resolver<'_>,
    stores: &Stores<'_>,
) -> Result<Mechanism, Vec<Fault>> {
    let mut context = Context::default();
    let file = root_scope(&mut context, input);
    let library = library(&mut context, input, &file);
    let home_tolerance = home_tolerance(&mut context, input, &file);
    let parts = expand::expand(&mut context, input, &file);

    let mut bodies = Bodies::new(&mut context, input, &file, home_tolerance);
    let name = mechanism_name(&mut context, input, &file, stem);
    let read = |source: usize, path: &Path| {
        let unit = input.units.iter().find(|unit| unit.source == source);
        let folder = unit.map(|unit| unit.folder.as_path());
        resolver(&folder.unwrap_or(Path::new("")).join(path))
    };
    let store = name.as_deref().and_then(stores);
    let files = superelement::Files::new(&read, store);
    bodies.add_all(&mut context, &parts, &library, &files);
    let mut joints = joints::joints(&mut context, &parts, &bodies);
    bodies.list.append(&mut joints.carriers);
    let coordinates = coordinates::coordinates(&mut context, &parts, &bodies, &joints);
    let springs = parts::springs(&mut context, &parts, &bodies, &joints);
    let point_masses = parts::point_masses(&mut context, &parts, &bodies);
    let loads = parts::loads(&mut context, &parts, &bodies);
    let outputs = parts::outputs(&mut context, &parts, &bodies);
    let loaded = parts::loaded(&mut context, &parts, &bodies);
    // A part at fault may be the one that connects the others.
    let intact = bodies.named.values().all(|named| named.body.is_some())
        && joints.named.values().all(Option::is_some);
    if intact {
        let driven =
            |placed: &expand::Placed<'_>| matches!(placed.part, expand::Part::Coordinate(_));
        let any_coordinate = parts.iter().any(driven);
        connectivity::check(&mut context, &bodies.list, &joints.list, any_coordinate);
    }
    let plane = latest(input, |file| file.plane).map(|(_, plane)| Plane::from(plane));
    superelement::check_plane(&mut context, &bodies.list, plane);
    let settings = settings::Settings {
        input,
        file: &file,
        coordinates: &coordinates,
        bodies: &bodies.list,
        complete: context.faults.is_empty(),
    };
    let inequalities = settings.inequalities(&mut context);
    let damping = settings.damping(&mut context);
    let reduction = settings.reduction(&mut context);
    let approximation = settings.approximation(&mut context, resolver);
    let derived = settings.derived(&mut context, &outputs, &loaded, approximation.as_ref());
    let (gravity, gravity_at_runtime) = gravity(&mut context, input, &file);

    let mechanism = (|| {
        Some(Mechanism {
            name: name?,
            gravity: gravity?,
            gravity_at_runtime,
            plane,
            bodies: bodies.list,
            joints: joints.list,
            coordinates,
            springs,
            point_masses,
            loads,
            outputs,
            loaded,
            derived,
            inequalities,
            home_tolerance,
            damping: damping?,
            reduction: reduction?,
            approximation: approximation?,
            sources: input.sources.clone(),
        })
    })();
    match mechanism {
        Some(mechanism) if context.faults.is_empty() => Ok(mechanism),
        _ => Err(context.faults),
    }
}

/// A setting from the last file that has it: the including file wins over its includes.
fn latest<T>(
    input: &Units,
    setting: impl Fn(&super::format::File) -> Option<T>,
) -> Option<(usize, T)> {
    let found = |unit: &super::files::Unit| Some((unit.source, setting(&unit.file)?));
    input.units.iter().rev().find_map(found)
}

fn root_scope(context: &mut Context, input: &Units) -> Scope {
    let mut scope = Scope {
        prefix: String::new(),
        frame: Frame::identity(),
        source: 0,
        parameters: Rc::new(Parameters::default()),
    };
    let mut written: Vec<Written<'_>> = Vec::new();
    for unit in &input.units {
        scope.source = unit.source;
        for (name, parameter) in &unit.file.parameters.0 {
            if context.name(&scope, name) {
                written.push((unit.source, &name.value, parameter));
            }
        }
    }
    let values = Parameters::evaluate(&written, BTreeMap::new(), None, &mut context.faults);
    Scope {
        source: 0,
        parameters: Rc::new(values),
        ..scope
    }
}

fn library(context: &mut Context, input: &Units, file: &Scope) -> Library {
    let mut library = Library::default();
    for unit in &input.units {
        let scope = Scope {
            source: unit.source,
            ..file.clone()
        };
        for (name, table) in &unit.file.material.0 {
            context.name(&scope, name);
            let material = context.material(&scope, table, &name.span);
            library.materials.insert(name.value.clone(), material);
        }
        for (name, table) in &unit.file.section.0 {
            context.name(&scope, name);
            let shape = context.shape(&scope, table, &name.span);
            library.sections.insert(name.value.clone(), shape);
        }
    }
    library
}

fn home_tolerance(context: &mut Context, input: &Units, file: &Scope) -> f64 {
    latest(input, |file| file.home_tolerance.clone())
        .and_then(|(source, scalar)| {
            let scope = Scope {
                source,
                ..file.clone()
            };
            context.positive(&scope, &scalar, Dimension::LENGTH, "`home_tolerance`")
        })
        .unwrap_or(HOME_TOLERANCE)
}

/// Nominal gravity along −z where a file leaves it free without a value (m/s²).
const STANDARD_GRAVITY: f64 = 9.81;

fn gravity(context: &mut Context, input: &Units, file: &Scope) -> (Option<Vector3<f64>>, bool) {
    let Some((source, gravity)) = latest(input, |file| file.gravity.clone()) else {
        return (Some(Vector3::zeros()), false);
    };
    let scope = Scope {
        source,
        ..file.clone()
    };
    let (values, runtime) = match &gravity.value {
        Gravity::Position(values) => (values, false),
        Gravity::Table(table) => (&table.value, table.runtime),
        Gravity::Word(GravityWord::Runtime) => {
            return (Some(Vector3::new(0.0, 0.0, -STANDARD_GRAVITY)), true);
        }
    };
    (
        context.triple(&scope, values, Dimension::ACCELERATION),
        runtime,
    )
}

fn mechanism_name(
    context: &mut Context,
    input: &Units,
    file: &Scope,
    stem: &str,
) -> Option<String> {
    let main = input.units.iter().find(|unit| unit.source == 0)?;
    if let Some(name) = &main.file.name {
        let scope = Scope {
            source: main.source,
            ..file.clone()
        };
        return context.name(&scope, name).then(|| name.value.clone());
    }
    // A file name may hold what a name may not.
    let mut name: String = stem
        .chars()
        .map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter,
            _ => '_',
        })
        .collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.insert_str(0, "mechanism_");
    }
    Some(name)
}

/// Removes faults that follow from a fault of shape: a joint whose kind is misspelt needs no second
/// message that it has no kind.
pub fn without_followers(faults: Vec<Fault>, shape: &[super::schema::ShapeFault]) -> Vec<Fault> {
    let place = |fault: &Fault| {
        fault
            .origin
            .clone()
            .map(|origin| (origin.source, origin.span))
    };
    let follows = |fault: &Fault| match fault.kind {
        FaultKind::Nothing { .. } | FaultKind::Disconnected { .. } => shape
            .iter()
            .any(|other| !matches!(other.fault.kind, FaultKind::MissingFormat)),
        FaultKind::ExactlyOne { .. } | FaultKind::NoAxis { .. } | FaultKind::NoPosition { .. } => {
            let found = place(fault);
            shape.iter().any(|other| {
                let source = other.fault.origin.as_ref().map(|origin| origin.source);
                source.zip(other.part.clone()) == found
            })
        }
        _ => false,
    };
    faults.into_iter().filter(|fault| !follows(fault)).collect()
}
