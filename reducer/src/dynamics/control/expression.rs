//! Expressions of a block's inputs, with their gradients.

use crate::reduced_model::{Bidual, Dual};
use kernel::Number;

/// Longest expression in bytes.
const MAX_LENGTH: usize = 1000;
/// Deepest nesting.
const MAX_DEPTH: usize = 40;

/// A function of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Abs,
    Min,
    Max,
    Exp,
    Log,
    Sign,
}

const FUNCTIONS: [(&str, Function, usize); 14] = [
    ("sqrt", Function::Sqrt, 1),
    ("sin", Function::Sin, 1),
    ("cos", Function::Cos, 1),
    ("tan", Function::Tan, 1),
    ("asin", Function::Asin, 1),
    ("acos", Function::Acos, 1),
    ("atan", Function::Atan, 1),
    ("atan2", Function::Atan2, 2),
    ("abs", Function::Abs, 1),
    ("min", Function::Min, 2),
    ("max", Function::Max, 2),
    ("exp", Function::Exp, 1),
    ("log", Function::Log, 1),
    ("sign", Function::Sign, 1),
];

/// What is done with a stack of numbers, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Number(f64),
    Input(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Call(Function),
}

/// A checked expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    operations: Vec<Operation>,
    n_inputs: usize,
}

impl Expression {
    /// Reads an expression; `input` tells the number of an input by its name. The error says what is
    /// wrong.
    pub fn read(
        text: &str,
        n_inputs: usize,
        input: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!(
                "the expression is longer than {MAX_LENGTH} characters"
            ));
        }
        let mut parser = Parser {
            rest: text.trim_start(),
            depth: 0,
            operations: Vec::new(),
            input,
        };
        parser.sum()?;
        if parser.rest.is_empty() {
            Ok(Self {
                operations: parser.operations,
                n_inputs,
            })
        } else {
            Err(parser.unexpected("an operator"))
        }
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Its value.
    pub(super) fn value(&self, inputs: &[f64]) -> f64 {
        self.evaluate(|i| Dual {
            v: inputs[i],
            d: 0.0,
        })
        .v
    }

    /// Its derivatives by all inputs.
    pub(super) fn gradient(&self, inputs: &[f64]) -> Vec<f64> {
        let along = |j: usize| {
            self.evaluate(|i| Dual {
                v: inputs[i],
                d: if i == j { 1.0 } else { 0.0 },
            })
        };
        (0..inputs.len()).map(|j| along(j).d).collect()
    }

    /// Value and first two derivatives of a function of one input.
    pub(in crate::dynamics) fn jet(&self, input: f64) -> [f64; 3] {
        let found = self.evaluate(|_| Bidual {
            v: input,
            a: 1.0,
            b: 1.0,
            ab: 0.0,
        });
        [found.v, found.a, found.ab]
    }

    fn evaluate<R: Smooth>(&self, input: impl Fn(usize) -> R) -> R {
        let mut stack: Vec<R> = Vec::new();
        let pop = |stack: &mut Vec<R>| stack.pop().unwrap_or(R::of(f64::NAN));
        for operation in &self.operations {
            let value = match *operation {
                Operation::Number(v) => R::of(v),
                Operation::Input(i) => input(i),
                Operation::Negate => -pop(&mut stack),
                Operation::Call(function) => {
                    let last = pop(&mut stack);
                    match function {
                        Function::Atan2 | Function::Min | Function::Max => {
                            two(function, pop(&mut stack), last)
                        }
                        _ => one(function, last),
                    }
                }
                operator => {
                    let right = pop(&mut stack);
                    let left = pop(&mut stack);
                    match operator {
                        Operation::Add => left + right,
                        Operation::Subtract => left - right,
                        Operation::Multiply => left * right,
                        Operation::Divide => left / right,
                        _ => power(left, right),
                    }
                }
            };
            stack.push(value);
        }
        pop(&mut stack)
    }
}

/// Numbers with derivatives, for functions whose derivatives are known.
trait Smooth: Number {
    fn value(self) -> f64;
    /// Whether it depends on what is varied at all.
    fn varies(self) -> bool;
    /// f(self) from f and its first two derivatives there.
    fn chain(self, of: [f64; 3]) -> Self;
}

impl Smooth for Dual {
    fn value(self) -> f64 {
        self.v
    }

    fn varies(self) -> bool {
        self.d != 0.0
    }

    fn chain(self, [v, slope, _]: [f64; 3]) -> Self {
        let d = if self.d == 0.0 { 0.0 } else { slope * self.d };
        Self { v, d }
    }
}

impl Smooth for Bidual {
    fn value(self) -> f64 {
        self.v
    }

    fn varies(self) -> bool {
        self.a != 0.0 || self.b != 0.0 || self.ab != 0.0
    }

    fn chain(self, [v, slope, bend]: [f64; 3]) -> Self {
        if !self.varies() {
            return Self::of(v);
        }
        Self {
            v,
            a: slope * self.a,
            b: slope * self.b,
            ab: slope * self.ab + bend * self.a * self.b,
        }
    }
}

/// A constant exponent takes bases of any sign; where it varies, b^e is exp(e ln b).
fn power<R: Smooth>(base: R, exponent: R) -> R {
    let (b, e) = (base.value(), exponent.value());
    let v = b.powf(e);
    if !exponent.varies() {
        let slope = |order: f64, factor: f64| factor * b.powf(e - order);
        return base.chain([v, slope(1.0, e), slope(2.0, e * (e - 1.0))]);
    }
    let logarithm = one(Function::Log, base);
    one(Function::Exp, exponent * logarithm)
}

fn one<R: Smooth>(function: Function, input: R) -> R {
    let x = input.value();
    let rest = 1.0 - x * x;
    input.chain(match function {
        Function::Sqrt => [x.sqrt(), 0.5 / x.sqrt(), -0.25 / (x * x.sqrt())],
        Function::Sin => [x.sin(), x.cos(), -x.sin()],
        Function::Cos => [x.cos(), -x.sin(), -x.cos()],
        Function::Tan => {
            let slope = 1.0 + x.tan().powi(2);
            [x.tan(), slope, 2.0 * x.tan() * slope]
        }
        Function::Asin => [x.asin(), 1.0 / rest.sqrt(), x / (rest * rest.sqrt())],
        Function::Acos => [x.acos(), -1.0 / rest.sqrt(), -x / (rest * rest.sqrt())],
        Function::Atan => {
            let slope = 1.0 / (1.0 + x * x);
            [x.atan(), slope, -2.0 * x * slope * slope]
        }
        Function::Abs => [x.abs(), if x < 0.0 { -1.0 } else { 1.0 }, 0.0],
        Function::Exp => [x.exp(); 3],
        Function::Log => [x.ln(), 1.0 / x, -1.0 / (x * x)],
        Function::Sign => [if x == 0.0 { 0.0 } else { x.signum() }, 0.0, 0.0],
        Function::Atan2 | Function::Min | Function::Max => [f64::NAN, 0.0, 0.0],
    })
}

fn two<R: Smooth>(function: Function, a: R, b: R) -> R {
    match function {
        Function::Min if a <= b => a,
        Function::Max if a >= b => a,
        Function::Min | Function::Max => b,
        // The angle is that of the quotient but for a constant; of two quotients the smaller one.
        _ => {
            let (y, x) = (a.value(), b.value());
            if !a.varies() && !b.varies() {
                return R::of(y.atan2(x));
            }
            let turned = if y.abs() <= x.abs() {
                one(Function::Atan, a / b)
            } else {
                -one(Function::Atan, b / a)
            };
            turned + R::of(y.atan2(x) - turned.value())
        }
    }
}

struct Parser<'t, 'i> {
    rest: &'t str,
    depth: usize,
    operations: Vec<Operation>,
    input: &'i dyn Fn(&str) -> Option<usize>,
}

impl<'t> Parser<'t, '_> {
    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        taken
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.rest.starts_with(symbol);
        if found {
            self.advance(symbol.len_utf8());
        }
        found
    }

    fn unexpected(&self, expected: &str) -> String {
        match self.rest.chars().next() {
            Some(found) => format!("the expression has `{found}` where {expected} should be"),
            None => format!("the expression ends where {expected} should be"),
        }
    }

    fn sum(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!(
                "the expression is nested more than {MAX_DEPTH} deep"
            ));
        }
        self.product()?;
        loop {
            let operation = if self.take('+') {
                Operation::Add
            } else if self.take('-') {
                Operation::Subtract
            } else {
                self.depth -= 1;
                return Ok(());
            };
            self.product()?;
            self.operations.push(operation);
        }
    }

    fn product(&mut self) -> Result<(), String> {
        self.signed()?;
        loop {
            let operation = if self.take('*') {
                Operation::Multiply
            } else if self.take('/') {
                Operation::Divide
            } else {
                return Ok(());
            };
            self.signed()?;
            self.operations.push(operation);
        }
    }

    fn signed(&mut self) -> Result<(), String> {
        let mut negative = false;
        while let Some(sign) = self.rest.chars().next().filter(|c| matches!(c, '+' | '-')) {
            negative ^= sign == '-';
            self.advance(1);
        }
        self.primary()?;
        if self.take('^') {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(format!(
                    "the expression is nested more than {MAX_DEPTH} deep"
                ));
            }
            self.signed()?;
            self.depth -= 1;
            self.operations.push(Operation::Power);
        }
        if negative {
            self.operations.push(Operation::Negate);
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<(), String> {
        if self.take('(') {
            self.sum()?;
            return self.close();
        }
        let first = self.rest.chars().next();
        match first {
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let length = number_length(self.rest);
                let text = self.advance(length);
                let number = text
                    .parse()
                    .map_err(|_| format!("`{text}` is not a number"))?;
                self.operations.push(Operation::Number(number));
                Ok(())
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.');
                let length = self.rest.find(ends).unwrap_or(self.rest.len());
                let name = self.advance(length);
                self.named(name)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.take(')') {
            Ok(())
        } else {
            Err(self.unexpected("`)`"))
        }
    }

    fn named(&mut self, name: &str) -> Result<(), String> {
        if !self.take('(') {
            if let Some(index) = (self.input)(name) {
                self.operations.push(Operation::Input(index));
                return Ok(());
            }
            if name == "pi" {
                self.operations
                    .push(Operation::Number(std::f64::consts::PI));
                return Ok(());
            }
            return Err(format!("`{name}` is not an input of the block"));
        }
        let Some((_, function, arguments)) = FUNCTIONS.iter().find(|f| f.0 == name) else {
            return Err(format!("there is no function `{name}`"));
        };
        for k in 0..*arguments {
            if k > 0 && !self.take(',') {
                return Err(self.unexpected("`,`"));
            }
            self.sum()?;
        }
        self.close()?;
        self.operations.push(Operation::Call(*function));
        Ok(())
    }
}

/// Length of the number at the start, an exponent only where digits follow it.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let mut length = digits(0);
    if byte(length) == Some(b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(byte(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expression, String> {
        Expression::read(text, 2, &|name| {
            ["x", "y.1"].iter().position(|n| *n == name)
        })
    }

    #[test]
    fn values_and_gradients() {
        let at = [0.7, -1.3];
        for text in [
            "x + 2*y.1 - 3",
            "-x^2*y.1/(1 + x)",
            "sin(x)*exp(-y.1) + atan2(x, y.1)",
            "max(x, y.1) + min(x, y.1)*abs(y.1)",
            "sqrt(x) + 2^x + log(x) + tan(x) - acos(x) + 1.5e-1*asin(x)",
        ] {
            let expression = read(text).unwrap();
            let gradient = expression.gradient(&at);
            for j in 0..2 {
                let moved = |by: f64| {
                    let mut at = at;
                    at[j] += by;
                    expression.value(&at)
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (gradient[j] - difference).abs() < 1e-8,
                    "{text}: {gradient:?} {difference}"
                );
            }
        }
        for text in [
            "sqrt(x) + 2^x + log(x) + tan(x) - acos(x) + 1.5e-1*asin(x)",
            "x^x*atan2(x, 0.2) - atan2(0.1, x)/cos(x) + exp(sin(x))",
            "0.3 - (x - 2)^3 + abs(x)/x^2 + atan(x)",
        ] {
            let curve = read(text).unwrap();
            let [value, slope, bend] = curve.jet(0.7);
            assert!((value - curve.value(&[0.7, 0.0])).abs() < 1e-14, "{text}");
            assert!(
                (slope - curve.gradient(&[0.7, 0.0])[0]).abs() < 1e-13,
                "{text}"
            );
            let difference = (curve.jet(0.7 + 1e-5)[1] - curve.jet(0.7 - 1e-5)[1]) / 2e-5;
            assert!(
                (bend - difference).abs() < 1e-8,
                "{text}: {bend} {difference}"
            );
        }
        assert_eq!(read("-x^2").unwrap().value(&[3.0, 0.0]), -9.0);
        assert_eq!(read("2^-1^2").unwrap().value(&[0.0, 0.0]), 0.5);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("x +", "ends"),
            ("x ? 2", "`?`"),
            ("z", "not an input"),
            ("sinus(x)", "no function `sinus`"),
            ("atan2(x)", "`,`"),
            (&"(".repeat(100), "nested"),
            ("1.5.2", "`.`"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(part), "{text}: {found}");
        }
    }
}
