//! Derived quantities: names and parameters of their expressions resolved.

use super::super::fault::FaultKind;
use super::super::format;
use super::super::matrix::{self, MatrixError, Names};
use super::super::mechanism::{ApproximationSettings, Derived, LoadedDof, Output};
use super::context::{Context, Scope};
use super::settings::Settings;
use std::collections::BTreeSet;

/// Derived quantities of one mechanism, at most.
const MOST: usize = 64;

impl Settings<'_> {
    /// All derived quantities, in the order of the files.
    pub(super) fn derived(
        &self,
        context: &mut Context,
        outputs: &[Output],
        loaded: &[LoadedDof],
        approximation: Option<&ApproximationSettings>,
    ) -> Vec<Derived> {
        let outputs: Vec<String> = outputs.iter().map(|o| o.name.clone()).collect();
        let loaded: Vec<String> = loaded.iter().map(|l| l.name.clone()).collect();
        let names = Names {
            outputs: &outputs,
            loaded: &loaded,
        };
        let usual = approximation.map_or(super::settings::TOLERANCE, |a| a.tolerance);
        let (mut list, mut used) = (Vec::new(), BTreeSet::new());
        for unit in &self.input.units {
            let scope = Scope {
                source: unit.source,
                ..self.file.clone()
            };
            for written in &unit.file.derived {
                let (what, name) = ("derived quantity", &written.name);
                if used.len() == MOST {
                    let what = "derived quantities";
                    let kind = FaultKind::Limit { what, limit: MOST };
                    context.fault(&scope, &written.span, kind);
                    return list;
                }
                let named = context.name(&scope, name);
                if named && !used.insert(name.value.clone()) {
                    let name = name.value.clone();
                    let kind = FaultKind::DuplicateName { what, name };
                    context.fault(&scope, &written.name.span, kind);
                }
                list.extend(self.quantity(context, &scope, written, names, usual));
            }
        }
        list
    }

    fn quantity(
        &self,
        context: &mut Context,
        scope: &Scope,
        written: &format::Derived,
        names: Names<'_>,
        usual: f64,
    ) -> Option<Derived> {
        let tolerance = match &written.tolerance {
            Some(tolerance) => self.tolerance(context, scope, tolerance),
            None => Some(usual),
        };
        let parameter = |name: &str| {
            let found = scope.parameters.find(name)?;
            Some(match found {
                None => Err(MatrixError::Reported),
                Some(value) if value.runtime => Err(MatrixError::Runtime(name.to_owned())),
                Some(value) => Ok(value.value),
            })
        };
        let value = match matrix::parse(&written.value.value, names, &parameter) {
            Ok(value) => value,
            Err(error) => {
                // Where parts are at fault, so is what names them.
                let follows = match error {
                    MatrixError::Reported => true,
                    MatrixError::Unknown { what, .. } => {
                        !self.complete && matches!(what, "output" | "loaded displacement")
                    }
                    _ => false,
                };
                if !follows {
                    context.fault(scope, &written.value.span, FaultKind::Matrix(error));
                }
                return None;
            }
        };
        Some(Derived {
            name: written.name.value.clone(),
            origin: scope.origin(&written.value.span),
            text: written.value.value.clone(),
            value,
            tolerance: tolerance?,
        })
    }
}
