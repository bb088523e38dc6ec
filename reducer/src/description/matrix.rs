//! Matrix expressions of derived quantities: `inv(M.dt) * sqrt(K.dd)`.
//!
//! A small language of what samples hold. Names are resolved when a text is read; sizes are known once the
//! modes are counted ([`Matrix::size`]).

mod parse;
#[cfg(test)]
mod tests;

pub use parse::{Names, parse};

use std::fmt;
use thiserror::Error;

/// Longest expression in bytes.
pub const MAX_LENGTH: usize = 1000;
/// Deepest nesting.
pub const MAX_DEPTH: usize = 40;
/// Most rows, and most columns, of a derived quantity.
pub const MAX_SIZE: usize = 64;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// A number; it multiplies matrices of any size.
    Number(f64),
    /// A block of mass, stiffness or damping.
    Block(Source, Part, Part),
    /// Angular frequencies with actuators locked, ascending: a column.
    Frequencies,
    /// Velocities of an output per rate of the coordinates.
    Jacobian {
        /// Number and name of the output.
        output: (usize, String),
        /// Its own axes, not the inertial ones.
        body: bool,
        /// Rows: 0 to 2 velocity, 3 to 5 angular velocity; none: all six.
        rows: Vec<u8>,
        /// Columns.
        columns: Part,
    },
    /// Rotation of an output, from its own to inertial axes.
    Rotation(usize, String),
    /// Displacement of a loaded dof per coordinate: a row.
    LoadMap(usize, String, Part),
    /// Rows of matrices side by side.
    Stack(Vec<Vec<Matrix>>),
    /// A function of one matrix.
    Function(Function, Box<Matrix>),
    /// A sum, difference, product or quotient.
    Binary(Operator, Box<Matrix>, Box<Matrix>),
}

/// Matrices over all coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// M̄.
    Mass,
    /// K̄.
    Stiffness,
    /// D̄.
    Damping,
}

/// Coordinates that a block has rows or columns for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All.
    All,
    /// θ.
    Rigid,
    /// δ.
    Modal,
}

/// Functions of one matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Minus.
    Negative,
    /// Inverse of a square matrix.
    Inverse,
    /// Inverse of least squares, or of least norm, of a matrix of full rank.
    PseudoInverse,
    /// Rows become columns.
    Transpose,
    /// A row or column becomes the diagonal of a square matrix.
    Diagonal,
    /// The positive root of a symmetric positive definite matrix.
    Root,
}

/// Operators between two matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// +
    Sum,
    /// −
    Difference,
    /// Product of matrices, or with a number.
    Product,
    /// Quotient by a number.
    Quotient,
}

/// Rows and columns; none for numbers.
pub type Size = Option<(usize, usize)>;

/// How many coordinates there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// θ.
    pub rigid: usize,
    /// δ.
    pub modal: usize,
}

/// Why a text is not an expression, or has no value.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum MatrixError {
    #[error("the expression is longer than {MAX_LENGTH} characters")]
    TooLong,
    #[error("the expression is nested more than {MAX_DEPTH} deep")]
    TooDeep,
    #[error("the expression has {found} where {expected} should be")]
    Unexpected {
        found: String,
        expected: &'static str,
    },
    #[error("`{0}` is not a number")]
    BadNumber(String),
    #[error("there is no {what} `{name}`")]
    Unknown {
        what: &'static str,
        name: String,
        known: Vec<String>,
    },
    #[error("parameter `{0}` is free at run time, and a derived quantity is fitted once")]
    Runtime(String),
    /// It was reported where the parameter stands.
    #[error("a parameter in the expression has no value")]
    Reported,
    #[error("`{0}` is not a finite number")]
    NotFinite(String),
    #[error("`{0}` is a number, not a matrix")]
    NoMatrix(String),
    #[error("`{0}` has no entries, because the reduced model has no modal coordinates")]
    Empty(String),
    #[error("`{left}` is {left_size} and `{right}` is {right_size}: they have no {what}")]
    Mismatch {
        what: &'static str,
        left: String,
        left_size: String,
        right: String,
        right_size: String,
    },
    #[error("`{of}` is {size}, and only {wanted}")]
    Unfit {
        of: String,
        size: String,
        wanted: &'static str,
    },
    #[error("the quantity is {size}; a derived quantity has at most {MAX_SIZE} rows and columns")]
    TooLarge { size: String },
}

impl MatrixError {
    /// One thing to try.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { known, what, .. } if known.is_empty() => {
                format!("describe the {what} first, or correct the name")
            }
            Self::Unknown { known, .. } => format!("there are `{}`", known.join("`, `")),
            Self::Runtime(_) => "use a parameter without `runtime`, or write the number".into(),
            Self::NotFinite(_) => "check for a division by zero".into(),
            Self::NoMatrix(_) => "write an expression of M, K, D, omega, J(…), R(…) or L(…)".into(),
            Self::Empty(_) => {
                "keep modes (`internal_modes`, `[[loaded]]`), or leave the block out".into()
            }
            Self::Mismatch { .. } | Self::Unfit { .. } => {
                "choose blocks (`.tt`, `.td`, `.dt`, `.dd`; `.t`, `.d`) and rows of `J` so that sizes agree; `reduce validate` states how many coordinates there are".into()
            }
            Self::TooLarge { .. } => "take the blocks and rows that are needed".into(),
            Self::TooLong | Self::TooDeep => "make several derived quantities of it".into(),
            Self::Unexpected { .. } | Self::BadNumber(_) | Self::Reported => {
                "write it like \"inv(M.dt) * [-J(tip).t, J(tip).d]\"; see \"Derived quantities\" in docs/mechanism-format.md".into()
            }
        }
    }
}

impl Counts {
    fn of(self, part: Part) -> usize {
        match part {
            Part::All => self.rigid + self.modal,
            Part::Rigid => self.rigid,
            Part::Modal => self.modal,
        }
    }
}

fn in_words(size: Size) -> String {
    size.map_or("a number".into(), |(rows, columns)| {
        format!("{rows} x {columns}")
    })
}

impl Matrix {
    /// Rows and columns of a whole expression, which is no number and not too large.
    pub fn checked_size(&self, counts: Counts) -> Result<(usize, usize), MatrixError> {
        match self.size(counts)? {
            None => Err(MatrixError::NoMatrix(self.to_string())),
            Some((rows, columns)) if rows.max(columns) > MAX_SIZE => Err(MatrixError::TooLarge {
                size: in_words(Some((rows, columns))),
            }),
            Some(size) => Ok(size),
        }
    }

    /// Rows and columns; sizes of all parts agree.
    pub fn size(&self, counts: Counts) -> Result<Size, MatrixError> {
        let size = match self {
            Self::Number(_) => return Ok(None),
            Self::Block(_, rows, columns) => (counts.of(*rows), counts.of(*columns)),
            Self::Frequencies => (counts.modal, 1),
            Self::Jacobian { rows, columns, .. } => match rows.len() {
                0 => (6, counts.of(*columns)),
                chosen => (chosen, counts.of(*columns)),
            },
            Self::Rotation(..) => (3, 3),
            Self::LoadMap(.., columns) => (1, counts.of(*columns)),
            Self::Stack(rows) => stacked(rows, counts)?,
            Self::Function(function, of) => match function.size(of, of.size(counts)?)? {
                Some(size) => size,
                None => return Ok(None),
            },
            Self::Binary(operator, left, right) => {
                let sizes = [left.size(counts)?, right.size(counts)?];
                match operator.size(left, right, sizes)? {
                    Some(size) => size,
                    None => return Ok(None),
                }
            }
        };
        match size {
            (0, _) | (_, 0) => Err(MatrixError::Empty(self.to_string())),
            size => Ok(Some(size)),
        }
    }
}

fn stacked(rows: &[Vec<Matrix>], counts: Counts) -> Result<(usize, usize), MatrixError> {
    let mut whole: Option<(usize, usize, &Matrix)> = None;
    for row in rows {
        let mut side_by_side: Option<(usize, usize, &Matrix)> = None;
        for part in row {
            let (r, c) = part
                .size(counts)?
                .ok_or_else(|| MatrixError::NoMatrix(part.to_string()))?;
            side_by_side = Some(match side_by_side {
                Some((height, width, first)) if height == r => (height, width + c, first),
                Some((height, width, first)) => {
                    let sizes = [Some((height, width)), Some((r, c))];
                    return Err(mismatch("equal numbers of rows", [first, part], sizes));
                }
                None => (r, c, part),
            });
        }
        let Some((r, c, first)) = side_by_side else {
            continue;
        };
        whole = Some(match whole {
            Some((height, width, top)) if width == c => (height + r, width, top),
            Some((height, width, top)) => {
                let sizes = [Some((height, width)), Some((r, c))];
                return Err(mismatch("equal numbers of columns", [top, first], sizes));
            }
            None => (r, c, first),
        });
    }
    Ok(whole.map_or((0, 0), |(rows, columns, _)| (rows, columns)))
}

fn mismatch(what: &'static str, parts: [&Matrix; 2], sizes: [Size; 2]) -> MatrixError {
    MatrixError::Mismatch {
        what,
        left: parts[0].to_string(),
        left_size: in_words(sizes[0]),
        right: parts[1].to_string(),
        right_size: in_words(sizes[1]),
    }
}

impl Function {
    fn size(self, of: &Matrix, size: Size) -> Result<Size, MatrixError> {
        let unfit = |wanted| MatrixError::Unfit {
            of: of.to_string(),
            size: in_words(size),
            wanted,
        };
        let Some((rows, columns)) = size else {
            return match self {
                Self::Diagonal => Err(MatrixError::NoMatrix(of.to_string())),
                _ => Ok(None),
            };
        };
        Ok(Some(match self {
            Self::Negative => (rows, columns),
            Self::Inverse if rows != columns => {
                return Err(unfit(
                    "square matrices have an inverse (`pinv` takes others)",
                ));
            }
            Self::Root if rows != columns => {
                return Err(unfit("square matrices have a root"));
            }
            Self::Inverse | Self::Root => (rows, columns),
            Self::PseudoInverse | Self::Transpose => (columns, rows),
            Self::Diagonal if rows != 1 && columns != 1 => {
                return Err(unfit("one row or column can be a diagonal"));
            }
            Self::Diagonal => (rows.max(columns), rows.max(columns)),
        }))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Negative => "-",
            Self::Inverse => "inv",
            Self::PseudoInverse => "pinv",
            Self::Transpose => "transpose",
            Self::Diagonal => "diag",
            Self::Root => "sqrt",
        }
    }
}

impl Operator {
    fn size(self, left: &Matrix, right: &Matrix, sizes: [Size; 2]) -> Result<Size, MatrixError> {
        let refuse = |what| Err(mismatch(what, [left, right], sizes));
        match (self, sizes) {
            (_, [None, None]) => Ok(None),
            (Self::Sum, [a, b]) if a == b => Ok(a),
            (Self::Difference, [a, b]) if a == b => Ok(a),
            (Self::Sum, _) => refuse("sum"),
            (Self::Difference, _) => refuse("difference"),
            (Self::Product, [a, None]) => Ok(a),
            (Self::Product, [None, b]) => Ok(b),
            (Self::Product, [Some((rows, inner)), Some((other, columns))]) if inner == other => {
                Ok(Some((rows, columns)))
            }
            (Self::Product, _) => refuse("product"),
            (Self::Quotient, [a, None]) => Ok(a),
            (Self::Quotient, _) => refuse("quotient (`inv` gives an inverse)"),
        }
    }

    fn symbol(self) -> char {
        match self {
            Self::Sum => '+',
            Self::Difference => '-',
            Self::Product => '*',
            Self::Quotient => '/',
        }
    }
}

impl Source {
    fn letter(self) -> char {
        match self {
            Self::Mass => 'M',
            Self::Stiffness => 'K',
            Self::Damping => 'D',
        }
    }
}

impl Part {
    fn letter(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Rigid => "t",
            Self::Modal => "d",
        }
    }
}

/// A part of an expression, as messages quote it.
impl fmt::Display for Matrix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = |part: &Part| match part {
            Part::All => String::new(),
            part => format!(".{}", part.letter()),
        };
        match self {
            Self::Number(value) => write!(out, "{value}"),
            Self::Block(source, Part::All, _) => write!(out, "{}", source.letter()),
            Self::Block(source, rows, columns) => {
                write!(
                    out,
                    "{}.{}{}",
                    source.letter(),
                    rows.letter(),
                    columns.letter()
                )
            }
            Self::Frequencies => write!(out, "omega"),
            Self::Jacobian {
                output: (_, name),
                body,
                rows,
                columns: part,
            } => {
                write!(out, "J({name}")?;
                if *body {
                    write!(out, ", body")?;
                }
                for row in rows {
                    write!(out, ", {}", parse::ROWS[usize::from(*row)])?;
                }
                write!(out, "){}", columns(part))
            }
            Self::Rotation(_, name) => write!(out, "R({name})"),
            Self::LoadMap(_, name, part) => write!(out, "L({name}){}", columns(part)),
            Self::Stack(rows) => {
                let row = |row: &Vec<Matrix>| {
                    let parts: Vec<String> = row.iter().map(Matrix::to_string).collect();
                    parts.join(", ")
                };
                let rows: Vec<String> = rows.iter().map(row).collect();
                write!(out, "[{}]", rows.join("; "))
            }
            Self::Function(Function::Negative, of) => write!(out, "-{of}"),
            Self::Function(function, of) => write!(out, "{}({of})", function.name()),
            Self::Binary(operator, left, right) => {
                write!(out, "({left} {} {right})", operator.symbol())
            }
        }
    }
}
