//! What every step of the elaboration shares: scopes, evaluation and faults.

use super::super::fault::{Fault, FaultKind};
use super::super::format::{Located, Scalar, Vector};
use super::super::mechanism::Origin;
use super::super::parameters::{self, Parameters};
use super::super::quantity::{Dimension, Known, Quantity};
use crate::lie::Frame;
use nalgebra::Vector3;
use std::ops::Range;
use std::rc::Rc;

/// Where names and coordinates are understood: the file, or an instance of a template.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Path of the instance with a dot at its end; empty for the file.
    pub prefix: String,
    /// Frame of the drawing in the inertial frame.
    pub frame: Frame,
    /// Source in which it is written.
    pub source: usize,
    /// Parameters that can be seen.
    pub parameters: Rc<Parameters>,
}

impl Scope {
    /// Full path of a name in this scope.
    pub fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The place of a range of this scope's source.
    pub fn origin(&self, span: &Range<usize>) -> Origin {
        Origin {
            source: self.source,
            span: span.clone(),
        }
    }

    /// Paths under which `name` may be meant, innermost first.
    pub fn candidates(&self, name: &str) -> Vec<String> {
        let mut candidates = vec![self.path(name)];
        let mut prefix = self.prefix.trim_end_matches('.');
        while !prefix.is_empty() {
            prefix = prefix.rfind('.').map_or("", |dot| prefix.split_at(dot).0);
            candidates.push(match prefix {
                "" => name.to_owned(),
                prefix => format!("{prefix}.{name}"),
            });
        }
        candidates
    }

    /// A drawn point in the inertial frame.
    pub fn place(&self, point: Vector3<f64>) -> Vector3<f64> {
        self.frame.position + self.frame.rotation * point
    }
}

/// Largest number that can be meant; what is computed from such numbers stays finite.
const LARGEST: f64 = 1e60;

/// The faults found so far.
#[derive(Debug, Default)]
pub struct Context {
    /// In the order of discovery.
    pub faults: Vec<Fault>,
}

impl Context {
    /// Records a fault.
    pub fn fault(&mut self, scope: &Scope, span: &Range<usize>, kind: FaultKind) {
        parameters::report(&mut self.faults, scope.origin(span), kind);
    }

    /// Value of a number, of which only the size is checked.
    pub fn quantity(&mut self, scope: &Scope, scalar: &Scalar) -> Option<Quantity> {
        let found = parameters::evaluate(&scalar.value, &mut |name| {
            let value = scope.parameters.find(name)?;
            Some(value.ok_or(super::super::expression::ExpressionError::Reported))
        });
        match found {
            Ok(quantity) if quantity.value.abs() <= LARGEST => Some(quantity),
            Ok(quantity) => {
                let kind = FaultKind::OutOfRange {
                    what: "the number".to_owned(),
                    value: quantity.value,
                    allowed: "between -1e60 and 1e60",
                };
                self.fault(scope, &scalar.span, kind);
                None
            }
            Err(kind) => {
                let kind = parameters::with_suggestion(kind, &scope.parameters);
                self.fault(scope, &scalar.span, kind);
                None
            }
        }
    }

    /// Value of a number that may depend on a runtime parameter.
    pub fn runtime_number(
        &mut self,
        scope: &Scope,
        scalar: &Scalar,
        expected: Dimension,
    ) -> Option<(f64, bool)> {
        let quantity = self.quantity(scope, scalar)?;
        match quantity.dimension {
            Known::Unit(found) if !found.fits(expected) => {
                let kind = FaultKind::WrongDimension { expected, found };
                self.fault(scope, &scalar.span, kind);
                None
            }
            _ => Some((quantity.value, quantity.runtime)),
        }
    }

    /// Value of a number that is fixed in the reduced model.
    pub fn number(&mut self, scope: &Scope, scalar: &Scalar, expected: Dimension) -> Option<f64> {
        let (value, runtime) = self.runtime_number(scope, scalar, expected)?;
        if runtime {
            self.fault(scope, &scalar.span, FaultKind::RuntimeParameter);
            return None;
        }
        Some(value)
    }

    /// A number that must be positive.
    pub fn positive(
        &mut self,
        scope: &Scope,
        scalar: &Scalar,
        expected: Dimension,
        what: &str,
    ) -> Option<f64> {
        let value = self.number(scope, scalar, expected)?;
        if value > 0.0 {
            return Some(value);
        }
        let what = what.to_owned();
        self.fault(scope, &scalar.span, FaultKind::NotPositive { what, value });
        None
    }

    /// A number that must not be negative.
    pub fn not_negative(
        &mut self,
        scope: &Scope,
        scalar: &Scalar,
        expected: Dimension,
        what: &str,
    ) -> Option<f64> {
        let value = self.number(scope, scalar, expected)?;
        if value >= 0.0 {
            return Some(value);
        }
        let what = what.to_owned();
        self.fault(scope, &scalar.span, FaultKind::Negative { what, value });
        None
    }

    /// An optional number that must not be negative, with its default.
    pub fn not_negative_or(
        &mut self,
        scope: &Scope,
        scalar: &Option<Scalar>,
        expected: Dimension,
        what: &str,
        default: f64,
    ) -> Option<f64> {
        match scalar {
            Some(scalar) => self.not_negative(scope, scalar, expected, what),
            None => Some(default),
        }
    }

    /// Values of a list; every fault in it is reported.
    pub fn numbers(
        &mut self,
        scope: &Scope,
        scalars: &[Scalar],
        expected: Dimension,
    ) -> Option<Vec<f64>> {
        let values: Vec<Option<f64>> = scalars
            .iter()
            .map(|scalar| self.number(scope, scalar, expected))
            .collect();
        values.into_iter().collect()
    }

    /// Three numbers.
    pub fn triple(
        &mut self,
        scope: &Scope,
        scalars: &[Scalar; 3],
        expected: Dimension,
    ) -> Option<Vector3<f64>> {
        let values = self.numbers(scope, scalars, expected)?;
        Some(Vector3::from_iterator(values))
    }

    /// A drawn position in the scope's drawing.
    pub fn position(&mut self, scope: &Scope, vector: &Vector) -> Option<Vector3<f64>> {
        self.triple(scope, &vector.value, Dimension::LENGTH)
    }

    /// An optional position, the origin where absent.
    pub fn position_or_origin(
        &mut self,
        scope: &Scope,
        vector: &Option<Vector>,
    ) -> Option<Vector3<f64>> {
        match vector {
            Some(vector) => self.position(scope, vector),
            None => Some(Vector3::zeros()),
        }
    }

    /// A unit vector in the scope's drawing; its length as written does not matter.
    pub fn direction(
        &mut self,
        scope: &Scope,
        vector: &Vector,
        what: &'static str,
    ) -> Option<Vector3<f64>> {
        let values: Vec<Option<Quantity>> = vector
            .value
            .iter()
            .map(|scalar| self.quantity(scope, scalar))
            .collect();
        let values: Vec<Quantity> = values.into_iter().collect::<Option<_>>()?;
        if values.iter().any(|value| value.runtime) {
            self.fault(scope, &vector.span, FaultKind::RuntimeParameter);
            return None;
        }
        let raw = Vector3::from_iterator(values.into_iter().map(|value| value.value));
        let scale = raw.amax();
        if scale == 0.0 {
            self.fault(scope, &vector.span, FaultKind::ZeroVector { what });
            return None;
        }
        Some((raw / scale).normalize())
    }

    /// Checks the spelling of a name.
    pub fn name(&mut self, scope: &Scope, name: &Located<String>) -> bool {
        let mut letters = name.chars();
        let good = letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && name.len() <= 100
            && name.value != "ground";
        if !good {
            let shown = name.chars().take(60).collect();
            self.fault(scope, &name.span, FaultKind::BadName { name: shown });
        }
        good
    }
}
