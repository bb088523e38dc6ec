//! Values of parameters, which may use each other.

use super::expression::{self, ExpressionError};
use super::fault::{Fault, FaultKind};
use super::format::{Located, Number, Parameter};
use super::mechanism::Origin;
use super::quantity::{Quantity, unit_names};
use super::suggest::closest;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Longest chain of parameters that use each other.
const MAX_CHAIN: usize = 64;
/// Most parameters of the file or of a template.
pub const MAX_PARAMETERS: usize = 2_000;
/// Faults beyond this number are not recorded.
pub const MAX_FAULTS: usize = 100;

/// Evaluated parameters of the file or of an instance; `None` for one at fault.
#[derive(Debug, Default)]
pub struct Parameters {
    values: BTreeMap<String, Option<Quantity>>,
    parent: Option<Rc<Parameters>>,
}

/// A parameter as written, with the source it is written in.
pub type Written<'a> = (usize, &'a str, &'a Located<Parameter>);

impl Parameters {
    /// Value of a parameter here or further out; `Some(None)` for one at fault.
    pub fn find(&self, name: &str) -> Option<Option<Quantity>> {
        match (self.values.get(name), &self.parent) {
            (Some(value), _) => Some(*value),
            (None, Some(parent)) => parent.find(name),
            (None, None) => None,
        }
    }

    /// Names of all parameters that can be seen from here.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.values.keys().map(String::as_str).collect();
        if let Some(parent) = &self.parent {
            names.extend(parent.names());
        }
        names
    }

    /// Evaluates parameters in the light of those further out.
    ///
    /// `given` are already evaluated and take precedence over `written`.
    pub fn evaluate(
        written: &[Written<'_>],
        given: BTreeMap<String, Option<Quantity>>,
        parent: Option<Rc<Parameters>>,
        faults: &mut Vec<Fault>,
    ) -> Self {
        let mut open = BTreeMap::new();
        if let Some((source, _, parameter)) = written.get(MAX_PARAMETERS) {
            let origin = Origin {
                source: *source,
                span: parameter.span.clone(),
            };
            let (what, limit) = ("parameters", MAX_PARAMETERS);
            report(faults, origin, FaultKind::Limit { what, limit });
        }
        for (source, name, parameter) in written.iter().take(MAX_PARAMETERS) {
            if !given.contains_key(*name) {
                open.insert((*name).to_owned(), (*source, *parameter));
            }
        }
        let names: Vec<String> = open.keys().cloned().collect();
        let mut work = Work {
            open,
            active: Vec::new(),
            done: Parameters {
                values: given,
                parent,
            },
            faults,
        };
        for name in names {
            work.value(&name);
        }
        work.done
    }
}

struct Work<'a, 'f> {
    open: BTreeMap<String, (usize, &'a Located<Parameter>)>,
    active: Vec<String>,
    done: Parameters,
    faults: &'f mut Vec<Fault>,
}

impl Work<'_, '_> {
    fn value(&mut self, name: &str) -> Option<Result<Quantity, ExpressionError>> {
        if self.active.iter().any(|active| active == name) {
            return Some(Err(ExpressionError::Reported));
        }
        let Some((source, parameter)) = self.open.remove(name) else {
            return self
                .done
                .find(name)
                .map(|value| value.ok_or(ExpressionError::Reported));
        };
        self.active.push(name.to_owned());
        let value = self.written(name, source, parameter);
        self.active.pop();
        self.done.values.insert(name.to_owned(), value);
        Some(value.ok_or(ExpressionError::Reported))
    }

    fn written(
        &mut self,
        name: &str,
        source: usize,
        parameter: &Located<Parameter>,
    ) -> Option<Quantity> {
        let (number, span, runtime) = match &parameter.value {
            Parameter::Number(number) => (number, &parameter.span, false),
            Parameter::Table(table) => (&table.value.value, &table.value.span, table.runtime),
        };
        let mut circle = false;
        let result = if self.active.len() > MAX_CHAIN {
            Err(FaultKind::Limit {
                what: "parameters in a chain",
                limit: MAX_CHAIN,
            })
        } else {
            evaluate(number, &mut |inner| {
                circle |= self.active.iter().any(|active| active == inner);
                self.value(inner)
            })
        };
        let result = match result {
            Err(FaultKind::Expression {
                error: ExpressionError::Reported,
                ..
            }) if circle => Err(FaultKind::ParameterCycle {
                name: name.to_owned(),
            }),
            other => other,
        };
        match result {
            Ok(quantity) => Some(Quantity {
                runtime: quantity.runtime || runtime,
                ..quantity
            }),
            Err(kind) => {
                let origin = Origin {
                    source,
                    span: span.clone(),
                };
                report(self.faults, origin, with_suggestion(kind, &self.done));
                None
            }
        }
    }
}

/// Evaluates a number as written.
pub fn evaluate(
    number: &Number,
    lookup: &mut expression::Lookup<'_>,
) -> Result<Quantity, FaultKind> {
    match number {
        Number::Value(value) if value.is_finite() => Ok(Quantity::plain(*value)),
        Number::Value(value) => Err(FaultKind::NotFinite { found: *value }),
        Number::Expression(text) => {
            expression::evaluate(text, lookup).map_err(|error| FaultKind::Expression {
                error,
                suggestion: None,
            })
        }
    }
}

/// Records a fault unless it follows from one that is recorded already.
pub fn report(faults: &mut Vec<Fault>, origin: Origin, kind: FaultKind) {
    let follows = matches!(
        kind,
        FaultKind::Expression {
            error: ExpressionError::Reported,
            ..
        }
    );
    let fault = Fault {
        origin: Some(origin),
        kind,
    };
    if !follows && faults.len() < MAX_FAULTS && !faults.contains(&fault) {
        faults.push(fault);
    }
}

/// Adds the name that may have been meant.
pub fn with_suggestion(kind: FaultKind, parameters: &Parameters) -> FaultKind {
    match kind {
        FaultKind::Expression { error, .. } => {
            let suggestion = match &error {
                ExpressionError::UnknownName(name) => {
                    let mut known: Vec<&str> = unit_names().collect();
                    known.extend(parameters.names());
                    closest(name, known)
                }
                ExpressionError::UnknownFunction(name) => {
                    closest(name, expression::FUNCTIONS.iter().copied())
                }
                _ => None,
            };
            FaultKind::Expression { error, suggestion }
        }
        other => other,
    }
}
