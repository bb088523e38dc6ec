//! From the text of an expression to its tree.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = ["-" | "+"] signed | value { "'" }
//! value   = number | name | M, K, D [ "." block ] | J(…), L(…) [ "." columns ] | R(…)
//!         | function "(" sum ")" | "(" sum ")" | "[" row { ";" row } "]"
//! row     = sum { "," sum }
//! ```

use super::{Function, MAX_DEPTH, MAX_LENGTH, Matrix, MatrixError, Operator, Part, Source};

/// Words for rows of a Jacobian.
pub(super) const ROWS: [&str; 6] = ["vx", "vy", "vz", "wx", "wy", "wz"];
const FUNCTIONS: [(&str, Function); 5] = [
    ("inv", Function::Inverse),
    ("pinv", Function::PseudoInverse),
    ("transpose", Function::Transpose),
    ("diag", Function::Diagonal),
    ("sqrt", Function::Root),
];

/// Names of the mechanism that an expression may use.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// Outputs, in order.
    pub outputs: &'a [String],
    /// Loaded dofs, in order.
    pub loaded: &'a [String],
}

/// Finds the value of a parameter: `None` if there is no such parameter.
pub type Numbers<'a> = dyn Fn(&str) -> Option<Result<f64, MatrixError>> + 'a;

/// Reads an expression.
pub fn parse(text: &str, names: Names<'_>, numbers: &Numbers<'_>) -> Result<Matrix, MatrixError> {
    if text.len() > MAX_LENGTH {
        return Err(MatrixError::TooLong);
    }
    let mut parser = Parser {
        tokens: tokenize(text)?,
        next: 0,
        depth: 0,
        names,
        numbers,
    };
    let matrix = parser.sum()?;
    match parser.peek() {
        None => Ok(matrix),
        Some(_) => Err(parser.unexpected("an operator")),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(char),
}

fn tokenize(text: &str) -> Result<Vec<Token>, MatrixError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            number_length(rest)
        } else if first.is_ascii_alphabetic() {
            let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            rest.find(|c| !of_name(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        tokens.push(if first.is_ascii_digit() {
            let number: Result<f64, _> = word.parse();
            Token::Number(number.map_err(|_| MatrixError::BadNumber(word.to_owned()))?)
        } else if first.is_ascii_alphabetic() {
            Token::Name(word.to_owned())
        } else {
            Token::Symbol(first)
        });
        rest = after.trim_start();
    }
    Ok(tokens)
}

/// Length of the number at the start: digits, a point with digits, an exponent with digits.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |start: usize| {
        let rest = bytes.iter().skip(start);
        rest.take_while(|b| b.is_ascii_digit()).count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        match digits(length + 1 + sign) {
            0 => {}
            exponent => length += 1 + sign + exponent,
        }
    }
    length
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    names: Names<'a>,
    numbers: &'a Numbers<'a>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(&Token::Symbol(symbol));
        self.next += usize::from(found);
        found
    }

    fn require(&mut self, symbol: char, expected: &'static str) -> Result<(), MatrixError> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    fn unexpected(&self, expected: &'static str) -> MatrixError {
        let found = match self.peek() {
            None => "its end".to_owned(),
            Some(Token::Number(number)) => format!("`{number}`"),
            Some(Token::Name(name)) => format!("`{name}`"),
            Some(Token::Symbol(symbol)) => format!("`{symbol}`"),
        };
        MatrixError::Unexpected { found, expected }
    }

    fn name(&mut self, expected: &'static str) -> Result<String, MatrixError> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn sum(&mut self) -> Result<Matrix, MatrixError> {
        let mut value = self.product()?;
        loop {
            let operator = match (self.take('+'), self.take('-')) {
                (true, _) => Operator::Sum,
                (_, true) => Operator::Difference,
                _ => return Ok(value),
            };
            value = combined(operator, value, self.product()?)?;
        }
    }

    fn product(&mut self) -> Result<Matrix, MatrixError> {
        let mut value = self.signed()?;
        loop {
            let operator = match (self.take('*'), self.take('/')) {
                (true, _) => Operator::Product,
                (_, true) => Operator::Quotient,
                _ => return Ok(value),
            };
            value = combined(operator, value, self.signed()?)?;
        }
    }

    fn signed(&mut self) -> Result<Matrix, MatrixError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(MatrixError::TooDeep);
        }
        let value = if self.take('-') {
            applied(Function::Negative, self.signed()?)?
        } else if self.take('+') {
            self.signed()?
        } else {
            let mut value = self.value()?;
            while self.take('\'') {
                value = applied(Function::Transpose, value)?;
            }
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    fn value(&mut self) -> Result<Matrix, MatrixError> {
        match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.next += 1;
                finite(number)
            }
            Some(Token::Symbol('(')) => {
                self.next += 1;
                let value = self.sum()?;
                self.require(')', "`)`")?;
                Ok(value)
            }
            Some(Token::Symbol('[')) => {
                self.next += 1;
                self.stack()
            }
            Some(Token::Name(name)) => {
                self.next += 1;
                self.named(name)
            }
            _ => Err(self.unexpected("a matrix or a number")),
        }
    }

    fn stack(&mut self) -> Result<Matrix, MatrixError> {
        let mut rows = vec![vec![self.sum()?]];
        loop {
            if self.take(',') {
                let part = self.sum()?;
                if let Some(row) = rows.last_mut() {
                    row.push(part);
                }
            } else if self.take(';') {
                rows.push(vec![self.sum()?]);
            } else {
                self.require(']', "`,`, `;` or `]`")?;
                return Ok(Matrix::Stack(rows));
            }
        }
    }

    fn named(&mut self, name: String) -> Result<Matrix, MatrixError> {
        match name.as_str() {
            "M" => self.block(Source::Mass),
            "K" => self.block(Source::Stiffness),
            "D" => self.block(Source::Damping),
            "omega" => Ok(Matrix::Frequencies),
            "J" => self.jacobian(),
            "L" => {
                let (loaded, name) = self.part_of_mechanism("loaded displacement")?;
                self.require(')', "`)`")?;
                Ok(Matrix::LoadMap(loaded, name, self.columns()?))
            }
            "R" => {
                let (output, name) = self.part_of_mechanism("output")?;
                self.require(')', "`)`")?;
                Ok(Matrix::Rotation(output, name))
            }
            _ if self.peek() == Some(&Token::Symbol('(')) => {
                let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
                let Some((_, function)) = found else {
                    let known = FUNCTIONS.map(|(known, _)| known);
                    return Err(unknown(
                        "function",
                        name,
                        known.iter().chain(&["J", "L", "R"]),
                    ));
                };
                self.next += 1;
                let of = self.sum()?;
                self.require(')', "`)`")?;
                applied(*function, of)
            }
            _ => match (self.numbers)(&name) {
                Some(number) => finite(number?),
                None if name == "pi" => Ok(Matrix::Number(std::f64::consts::PI)),
                None => {
                    let known = ["M", "K", "D", "omega", "J", "L", "R", "pi"];
                    Err(unknown("matrix or parameter", name, known.iter()))
                }
            },
        }
    }

    fn block(&mut self, source: Source) -> Result<Matrix, MatrixError> {
        if !self.take('.') {
            return Ok(Matrix::Block(source, Part::All, Part::All));
        }
        let word = self.name("a block, such as `dt`")?;
        let (rows, columns) = match word.as_str() {
            "tt" => (Part::Rigid, Part::Rigid),
            "td" => (Part::Rigid, Part::Modal),
            "dt" => (Part::Modal, Part::Rigid),
            "dd" => (Part::Modal, Part::Modal),
            _ => return Err(unknown("block", word, ["tt", "td", "dt", "dd"].iter())),
        };
        Ok(Matrix::Block(source, rows, columns))
    }

    fn columns(&mut self) -> Result<Part, MatrixError> {
        if !self.take('.') {
            return Ok(Part::All);
        }
        let word = self.name("`t` or `d`")?;
        match word.as_str() {
            "t" => Ok(Part::Rigid),
            "d" => Ok(Part::Modal),
            _ => Err(unknown("block of columns", word, ["t", "d"].iter())),
        }
    }

    /// `(` and the name of an output or a loaded dof, with dots where it belongs to an instance of a template.
    fn part_of_mechanism(&mut self, what: &'static str) -> Result<(usize, String), MatrixError> {
        let known = match what {
            "output" => self.names.outputs,
            _ => self.names.loaded,
        };
        self.require('(', "`(` and a name")?;
        let mut name = self.name("a name")?;
        while self.take('.') {
            name = format!("{name}.{}", self.name("a name")?);
        }
        match known.iter().position(|known| *known == name) {
            Some(index) => Ok((index, name)),
            None => Err(unknown(what, name, known.iter())),
        }
    }

    fn jacobian(&mut self) -> Result<Matrix, MatrixError> {
        let output = self.part_of_mechanism("output")?;
        let (mut body, mut rows) = (false, Vec::new());
        while self.take(',') {
            let word = self.name("`body` or a row, such as `vx`")?;
            match (word.as_str(), ROWS.iter().position(|row| *row == word)) {
                ("body", _) => body = true,
                ("v", _) => rows.extend([0, 1, 2]),
                ("w", _) => rows.extend([3, 4, 5]),
                (_, Some(row)) => rows.push(row as u8),
                _ => {
                    let known = ["body", "v", "w"];
                    return Err(unknown("row", word, known.iter().chain(&ROWS)));
                }
            }
        }
        self.require(')', "`,` or `)`")?;
        Ok(Matrix::Jacobian {
            output,
            body,
            rows,
            columns: self.columns()?,
        })
    }
}

fn unknown<T: ToString>(
    what: &'static str,
    name: String,
    known: impl Iterator<Item = T>,
) -> MatrixError {
    let known = known.map(|k| k.to_string()).collect();
    MatrixError::Unknown { what, name, known }
}

fn finite(number: f64) -> Result<Matrix, MatrixError> {
    match number.is_finite() {
        true => Ok(Matrix::Number(number)),
        false => Err(MatrixError::NotFinite(number.to_string())),
    }
}

/// Numbers are worked out at once.
fn combined(operator: Operator, left: Matrix, right: Matrix) -> Result<Matrix, MatrixError> {
    match (&left, &right) {
        (Matrix::Number(a), Matrix::Number(b)) => finite(match operator {
            Operator::Sum => a + b,
            Operator::Difference => a - b,
            Operator::Product => a * b,
            Operator::Quotient => a / b,
        }),
        (_, Matrix::Number(0.0)) if operator == Operator::Quotient => {
            Err(MatrixError::NotFinite(format!("{left} / 0")))
        }
        _ => Ok(Matrix::Binary(operator, left.into(), right.into())),
    }
}

fn applied(function: Function, of: Matrix) -> Result<Matrix, MatrixError> {
    match (function, &of) {
        (Function::Negative, Matrix::Number(a)) => finite(-a),
        (Function::Transpose, Matrix::Number(a)) => finite(*a),
        (Function::Root, Matrix::Number(a)) => finite(a.sqrt()),
        (Function::Inverse | Function::PseudoInverse, Matrix::Number(a)) => finite(1.0 / a),
        _ => Ok(Matrix::Function(function, of.into())),
    }
}
