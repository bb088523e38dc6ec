//! Numbers written as expressions: `"L/2"`, `"30 deg"`, `"3.5e6 N/m"`.
//!
//! A unit follows a number or a closing parenthesis and binds tighter than any operator:
//! `1/2 m` is 1/(2 m). Written without spaces, `N/m` after a number is one unit; elsewhere a name
//! is a parameter first and a unit second, so that a parameter may be called `m`.

use super::quantity::{Dimension, Known, Quantity, unit};
use thiserror::Error;

/// Longest expression in bytes.
pub const MAX_LENGTH: usize = 1000;
/// Deepest nesting of parentheses, signs and powers.
const MAX_DEPTH: usize = 40;

/// Functions that an expression may call.
pub const FUNCTIONS: &[&str] = &[
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "abs", "min", "max", "exp", "log",
];

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ExpressionError {
    /// Too long to be meant.
    #[error("the expression is longer than {MAX_LENGTH} characters")]
    TooLong,
    /// Too deep to be meant.
    #[error("the expression is nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Units multiply to powers that nothing has.
    #[error("the units multiply to absurd powers")]
    HugePower,
    /// Something else was expected here.
    #[error("the expression has {found} where {expected} should be")]
    Unexpected {
        /// What stands there.
        found: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// Not a number.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// Neither parameter nor constant nor unit.
    #[error("`{0}` is neither a parameter nor a unit")]
    UnknownName(String),
    /// Not a function.
    #[error("there is no function `{0}`")]
    UnknownFunction(String),
    /// Wrong number of arguments.
    #[error("`{function}` takes {expected} argument(s), not {found}")]
    ArgumentCount {
        /// The function.
        function: String,
        /// How many it takes.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// Sum or comparison of different dimensions.
    #[error("{left} and {right} cannot be combined")]
    Mixed {
        /// Left operand.
        left: Dimension,
        /// Right operand.
        right: Dimension,
    },
    /// A function or exponent that needs another dimension.
    #[error("{what} cannot be taken of {found}")]
    Argument {
        /// The operation.
        what: String,
        /// Dimension of the operand.
        found: Dimension,
    },
    /// NaN or infinity.
    #[error("the value is {0}, not a finite number")]
    NotFinite(f64),
    /// The parameter is at fault itself; it was reported there.
    #[error("a parameter in the expression has no value")]
    Reported,
}

/// Finds the value of a parameter: `None` if there is no such parameter.
pub type Lookup<'a> = dyn FnMut(&str) -> Option<Result<Quantity, ExpressionError>> + 'a;

/// Evaluates an expression.
pub fn evaluate(text: &str, lookup: &mut Lookup<'_>) -> Result<Quantity, ExpressionError> {
    if text.len() > MAX_LENGTH {
        return Err(ExpressionError::TooLong);
    }
    let mut parser = Parser {
        tokens: tokenize(text)?,
        next: 0,
        depth: 0,
        lookup,
    };
    let value = parser.sum()?;
    match parser.peek() {
        None => finite(value),
        Some(_) => Err(parser.unexpected("an operator")),
    }
}

fn finite(value: Quantity) -> Result<Quantity, ExpressionError> {
    if value.value.is_finite() {
        Ok(value)
    } else {
        Err(ExpressionError::NotFinite(value.value))
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Number(f64),
    Name(String),
    Symbol(char),
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    kind: Kind,
    /// No space before it.
    tight: bool,
}

fn tokenize(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        let tight = trimmed.len() == rest.len();
        let Some(first) = trimmed.chars().next() else {
            return Ok(tokens);
        };
        let (kind, length) = if first.is_ascii_digit() || first == '.' {
            let length = number_length(trimmed);
            let (digits, _) = trimmed.split_at(length);
            let number = digits
                .parse()
                .map_err(|_| ExpressionError::BadNumber(digits.to_owned()))?;
            (Kind::Number(number), length)
        } else if first.is_ascii_alphabetic() {
            let length = trimmed
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(trimmed.len());
            let (name, _) = trimmed.split_at(length);
            (Kind::Name(name.to_owned()), length)
        } else {
            (Kind::Symbol(first), first.len_utf8())
        };
        tokens.push(Token { kind, tight });
        rest = trimmed.split_at(length).1;
    }
}

/// Length of the number at the start: digits, a point, digits, and an exponent only if digits
/// follow it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits_from = |start: usize| {
        bytes
            .iter()
            .skip(start)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut length = digits_from(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits_from(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits_from(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

struct Parser<'a, 'b> {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    lookup: &'a mut Lookup<'b>,
}

impl Parser<'_, '_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn peek_symbol(&self) -> Option<char> {
        match self.peek() {
            Some(Token {
                kind: Kind::Symbol(symbol),
                ..
            }) => Some(*symbol),
            _ => None,
        }
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.peek_symbol() == Some(symbol);
        self.next += usize::from(found);
        found
    }

    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        let found = match self.peek().map(|token| &token.kind) {
            None => "its end".to_owned(),
            Some(Kind::Number(number)) => format!("`{number}`"),
            Some(Kind::Name(name)) => format!("`{name}`"),
            Some(Kind::Symbol(symbol)) => format!("`{symbol}`"),
        };
        ExpressionError::Unexpected { found, expected }
    }

    fn sum(&mut self) -> Result<Quantity, ExpressionError> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                let right = self.product()?;
                value = combine(value, right, |a, b| a + b)?;
            } else if self.take('-') {
                let right = self.product()?;
                value = combine(value, right, |a, b| a - b)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Quantity, ExpressionError> {
        let mut value = self.signed()?;
        loop {
            if self.take('*') {
                let right = self.signed()?;
                value = multiply(value, right, |a, b| a * b, Dimension::times)?;
            } else if self.take('/') {
                let right = self.signed()?;
                value = multiply(value, right, |a, b| a / b, Dimension::over)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Result<Quantity, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::TooDeep);
        }
        let value = if self.take('-') {
            let value = self.signed()?;
            Quantity {
                value: -value.value,
                ..value
            }
        } else if self.take('+') {
            self.signed()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<Quantity, ExpressionError> {
        let base = self.primary()?;
        if !self.take('^') {
            return Ok(base);
        }
        let exponent = self.signed()?;
        raise(base, exponent)
    }

    fn primary(&mut self) -> Result<Quantity, ExpressionError> {
        let Some(token) = self.peek().cloned() else {
            return Err(self.unexpected("a value"));
        };
        match token.kind {
            Kind::Number(number) => {
                self.next += 1;
                self.unit_suffix(Quantity::plain(number))
            }
            Kind::Symbol('(') => {
                self.next += 1;
                let value = self.sum()?;
                if !self.take(')') {
                    return Err(self.unexpected("`)`"));
                }
                self.unit_suffix(value)
            }
            Kind::Symbol(_) => Err(self.unexpected("a value")),
            Kind::Name(name) => {
                self.next += 1;
                if self.peek_symbol() == Some('(') {
                    self.call(&name)
                } else {
                    self.named(name)
                }
            }
        }
    }

    fn named(&mut self, name: String) -> Result<Quantity, ExpressionError> {
        if let Some(found) = (self.lookup)(&name) {
            let value = found?;
            // A parameter without unit may stand for anything.
            let dimension = match value.dimension {
                Known::Plain => Known::Unknown,
                known => known,
            };
            return Ok(Quantity { dimension, ..value });
        }
        if name == "pi" {
            return Ok(Quantity::plain(std::f64::consts::PI));
        }
        match unit(&name) {
            Some((factor, dimension)) => Ok(Quantity::with_unit(factor, dimension)),
            None => Err(ExpressionError::UnknownName(name)),
        }
    }

    /// Units directly after a number: `N m`, `N/m`, `kg/m^3`.
    fn unit_suffix(&mut self, mut value: Quantity) -> Result<Quantity, ExpressionError> {
        let mut first = true;
        loop {
            let (divide, skip) = match (self.peek(), self.peek_symbol()) {
                (Some(token), Some('/' | '*')) if !first && token.tight => {
                    (self.peek_symbol() == Some('/'), 1)
                }
                _ => (false, 0),
            };
            let Some(Token {
                kind: Kind::Name(name),
                tight,
            }) = self.tokens.get(self.next + skip).cloned()
            else {
                return Ok(value);
            };
            let followed_by_call =
                self.tokens.get(self.next + skip + 1).map(|t| &t.kind) == Some(&Kind::Symbol('('));
            let Some((factor, dimension)) = unit(&name) else {
                return if skip == 0 {
                    Err(ExpressionError::UnknownName(name))
                } else {
                    Ok(value)
                };
            };
            if skip == 1 && (!tight || followed_by_call) {
                return Ok(value);
            }
            self.next += skip + 1;
            let mut suffix = Quantity::with_unit(factor, dimension);
            if self.take('^') {
                let exponent = self.signed()?;
                suffix = raise(suffix, exponent)?;
            }
            value = if divide {
                multiply(value, suffix, |a, b| a / b, Dimension::over)?
            } else {
                multiply(value, suffix, |a, b| a * b, Dimension::times)?
            };
            first = false;
        }
    }

    fn call(&mut self, name: &str) -> Result<Quantity, ExpressionError> {
        if !FUNCTIONS.contains(&name) {
            return Err(ExpressionError::UnknownFunction(name.to_owned()));
        }
        self.take('(');
        let mut arguments = Vec::new();
        if self.peek_symbol() != Some(')') {
            arguments.push(self.sum()?);
            while self.take(',') {
                arguments.push(self.sum()?);
            }
        }
        if !self.take(')') {
            return Err(self.unexpected("`)`"));
        }
        let value = apply(name, &arguments)?;
        self.unit_suffix(value)
    }
}

fn common(left: Known, right: Known) -> Result<Known, ExpressionError> {
    match (left, right) {
        (Known::Unit(left), Known::Unit(right)) if left != right => {
            Err(ExpressionError::Mixed { left, right })
        }
        (Known::Unit(dimension), _) | (_, Known::Unit(dimension)) => Ok(Known::Unit(dimension)),
        (Known::Plain, Known::Plain) => Ok(Known::Plain),
        _ => Ok(Known::Unknown),
    }
}

fn combine(
    left: Quantity,
    right: Quantity,
    operation: impl Fn(f64, f64) -> f64,
) -> Result<Quantity, ExpressionError> {
    Ok(Quantity {
        value: operation(left.value, right.value),
        dimension: common(left.dimension, right.dimension)?,
        runtime: left.runtime || right.runtime,
    })
}

fn multiply(
    left: Quantity,
    right: Quantity,
    operation: impl Fn(f64, f64) -> f64,
    dimensions: impl Fn(Dimension, Dimension) -> Option<Dimension>,
) -> Result<Quantity, ExpressionError> {
    let own = |known| match known {
        Known::Plain => Some(Dimension::NONE),
        Known::Unknown => None,
        Known::Unit(dimension) => Some(dimension),
    };
    let dimension = match (own(left.dimension), own(right.dimension)) {
        _ if left.dimension == Known::Plain && right.dimension == Known::Plain => Known::Plain,
        (Some(a), Some(b)) => {
            dimensions(a, b).map_or(Err(ExpressionError::HugePower), |d| Ok(Known::Unit(d)))?
        }
        _ => Known::Unknown,
    };
    Ok(Quantity {
        value: operation(left.value, right.value),
        dimension,
        runtime: left.runtime || right.runtime,
    })
}

fn raise(base: Quantity, exponent: Quantity) -> Result<Quantity, ExpressionError> {
    if let Known::Unit(found) = exponent.dimension
        && found != Dimension::NONE
    {
        return Err(ExpressionError::Argument {
            what: "a power".to_owned(),
            found,
        });
    }
    let dimension = match base.dimension {
        Known::Unit(dimension) => {
            let doubled = 2.0 * exponent.value;
            let whole = doubled.fract() == 0.0 && doubled.abs() < 100.0;
            let raised = whole
                .then(|| dimension.power(doubled as i8).and_then(Dimension::root))
                .flatten();
            Known::Unit(raised.ok_or_else(|| ExpressionError::Argument {
                what: format!("the power {}", exponent.value),
                found: dimension,
            })?)
        }
        other => common(other, exponent.dimension).unwrap_or(Known::Unknown),
    };
    Ok(Quantity {
        value: base.value.powf(exponent.value),
        dimension,
        runtime: base.runtime || exponent.runtime,
    })
}

fn apply(name: &str, arguments: &[Quantity]) -> Result<Quantity, ExpressionError> {
    let count = |expected| ExpressionError::ArgumentCount {
        function: name.to_owned(),
        expected,
        found: arguments.len(),
    };
    match (name, arguments) {
        ("atan2", [y, x]) => {
            let both = combine(*y, *x, f64::atan2)?;
            Ok(Quantity {
                dimension: Known::Unit(Dimension::ANGLE),
                ..both
            })
        }
        ("atan2", _) => Err(count("2")),
        ("min" | "max", [first, rest @ ..]) => rest.iter().try_fold(*first, |a, b| {
            combine(a, *b, if name == "min" { f64::min } else { f64::max })
        }),
        ("min" | "max", []) => Err(count("1 or more")),
        (_, [argument]) => apply_one(name, *argument),
        _ => Err(count("1")),
    }
}

fn apply_one(name: &str, argument: Quantity) -> Result<Quantity, ExpressionError> {
    let refuse = |found| ExpressionError::Argument {
        what: format!("`{name}`"),
        found,
    };
    let angle = Known::Unit(Dimension::ANGLE);
    let (function, dimension): (fn(f64) -> f64, Known) = match name {
        "abs" => (f64::abs, argument.dimension),
        "sqrt" => {
            let dimension = match argument.dimension {
                Known::Unit(found) => Known::Unit(found.root().ok_or_else(|| refuse(found))?),
                other => other,
            };
            (f64::sqrt, dimension)
        }
        _ => {
            if let Known::Unit(found) = argument.dimension
                && !found.fits(Dimension::ANGLE)
            {
                return Err(refuse(found));
            }
            match name {
                "sin" => (f64::sin, Known::Plain),
                "cos" => (f64::cos, Known::Plain),
                "tan" => (f64::tan, Known::Plain),
                "asin" => (f64::asin, angle),
                "acos" => (f64::acos, angle),
                "atan" => (f64::atan, angle),
                "exp" => (f64::exp, Known::Plain),
                _ => (f64::ln, Known::Plain),
            }
        }
    };
    Ok(Quantity {
        value: function(argument.value),
        dimension,
        runtime: argument.runtime,
    })
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;
