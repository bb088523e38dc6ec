//! A mechanism with some of its values replaced, as a scenario asks for.
//!
//! The replacements stand for a file that includes the mechanism file: what it says wins.

use super::fault::{Fault, FaultKind};
use super::files::{Unit, Units};
use super::format::{Body, Elements, File, Located, OverrideTable};
use super::mechanism::{Origin, Source};
use super::suggest::closest;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Replacements and where they are written.
#[derive(Debug, Clone)]
pub struct Overrides {
    /// The file they are written in; it becomes the last source of the mechanism.
    pub source: Source,
    /// The replacements.
    pub table: OverrideTable,
    /// Where inner tables of the replacements begin, by name.
    pub places: BTreeMap<String, Range<usize>>,
}

impl Overrides {
    /// Adds the replacements to complete units.
    pub(super) fn apply(&self, input: &mut Units) -> Vec<Fault> {
        let source = input.sources.len();
        input.sources.push(self.source.clone());
        let faults = match &self.table.elements {
            Some(elements) => refine(input, elements, source),
            None => Vec::new(),
        };
        let table = &self.table;
        let mut tables = BTreeMap::new();
        let given = [
            ("damping", table.damping.is_some()),
            ("reduction", table.reduction.is_some()),
            ("approximation", table.approximation.is_some()),
        ];
        for (name, given) in given {
            if given {
                let place = self.places.get(name).cloned().unwrap_or(0..0);
                tables.insert(name.to_owned(), place);
            }
        }
        input.units.push(Unit {
            source,
            file: File {
                gravity: table.gravity.clone(),
                parameters: table.parameters.clone(),
                damping: table.damping.clone(),
                reduction: table.reduction.clone().unwrap_or_default(),
                approximation: table.approximation.clone().unwrap_or_default(),
                ..File::default()
            },
            tables,
            folder: PathBuf::new(),
        });
        faults
    }
}

/// Gives beams other numbers of elements.
fn refine(input: &mut Units, elements: &Located<Elements>, source: usize) -> Vec<Fault> {
    let mut beams: Vec<&mut Located<Body>> = Vec::new();
    for unit in &mut input.units {
        beams.extend(unit.file.body.iter_mut().filter(|b| b.beam.is_some()));
        for (_, template) in &mut unit.file.template.0 {
            beams.extend(template.body.iter_mut().filter(|b| b.beam.is_some()));
        }
    }
    let mut faults = Vec::new();
    let mut fault = |span: &Range<usize>, kind| {
        let span = span.clone();
        faults.push(Fault {
            origin: Some(Origin { source, span }),
            kind,
        });
    };
    let set = |bodies: &mut dyn Iterator<Item = &mut &mut Located<Body>>, count: usize| {
        for beam in bodies.filter_map(|body| body.value.beam.as_mut()) {
            beam.elements.value = i64::try_from(count).unwrap_or(i64::MAX);
        }
    };
    match &elements.value {
        Elements::Count(count) => set(&mut beams.iter_mut(), *count),
        Elements::Table(entries) => {
            for (name, count) in &entries.0 {
                let is_meant = |body: &&mut Located<Body>| body.value.name.value == name.value;
                if beams.iter().any(is_meant) {
                    let mut meant = beams.iter_mut().filter(|body| is_meant(body));
                    set(&mut meant, count.value);
                } else {
                    let known: Vec<String> =
                        beams.iter().map(|b| b.value.name.value.clone()).collect();
                    let kind = FaultKind::UnknownReference {
                        what: "beam",
                        name: name.value.clone(),
                        suggestion: closest(&name.value, known.iter().map(String::as_str)),
                        known,
                    };
                    fault(&name.span, kind);
                }
            }
        }
    }
    faults
}
