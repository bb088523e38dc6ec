//! What can be wrong with a mechanism file.

use super::expression::{ExpressionError, FUNCTIONS, MAX_LENGTH};
use super::mechanism::{Origin, Source};
use super::quantity::Dimension;
use crate::error::Explain;
use std::fmt;
use thiserror::Error;

/// All faults of a mechanism file that do not follow from one another.
#[derive(Debug, Clone)]
pub struct Faults {
    /// The faults in the order of the sources; at least one.
    pub faults: Vec<Fault>,
    /// The files that were read.
    pub sources: Vec<Source>,
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// One fault and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Where it is; `None` for a file that could not be read.
    pub origin: Option<Origin>,
    /// What it is.
    pub kind: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(out)
    }
}

impl std::error::Error for Fault {}

impl Explain for Fault {
    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    fn help(&self) -> Option<String> {
        self.kind.help()
    }
}

/// Facts of a fault.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum FaultKind {
    #[error("`{path}` cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("`{path}` is a folder, not a mechanism file")]
    Folder { path: String },
    #[error("`{path}` is a pipe or a device, not a file")]
    NotAFile { path: String },
    #[error("`{path}` is larger than {limit} bytes")]
    TooLarge { path: String, limit: usize },
    #[error("`{path}` is not UTF-8 text: byte {offset} cannot be decoded")]
    NotText { path: String, offset: usize },
    #[error(transparent)]
    FiniteElements(Box<crate::finite_elements::FeError>),
    #[error("`{path}` is empty")]
    Empty { path: String },
    #[error("this is not TOML: {message}")]
    Syntax { message: String },
    #[error("`{path}` includes itself")]
    IncludeCycle { path: String },
    #[error("template `{name}` uses itself")]
    TemplateCycle { name: String },
    #[error("the walls are too thick for the section")]
    ThickWalls,
    #[error("more than {limit} {what}")]
    Limit { what: &'static str, limit: usize },
    #[error("the file does not say which version of the format it is written in")]
    MissingFormat,
    #[error("version {found} of the format is not known")]
    UnsupportedFormat { found: i64 },

    #[error("unknown key `{key}` in {table}")]
    UnknownKey {
        key: String,
        table: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    #[error("`{key}` is missing in {table}")]
    MissingKey { key: String, table: String },
    #[error("{what} should be {expected}, not {found}")]
    WrongType {
        what: String,
        expected: String,
        found: &'static str,
    },
    #[error("`{found}` is not a value of {what}")]
    WrongChoice {
        what: String,
        found: String,
        suggestion: Option<String>,
        choices: Vec<String>,
        /// Kinds of values that are possible besides the choices.
        others: Vec<String>,
    },
    #[error("{message}")]
    Value { message: String },

    #[error("`{name}` is not a name")]
    BadName { name: String },
    #[error("another {what} has the name `{name}` already")]
    DuplicateName { what: &'static str, name: String },
    #[error("there is no {what} `{name}`")]
    UnknownReference {
        what: &'static str,
        name: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    #[error("{error}")]
    Expression {
        error: ExpressionError,
        suggestion: Option<String>,
    },
    #[error(transparent)]
    Matrix(super::matrix::MatrixError),
    #[error("{found} is not a finite number")]
    NotFinite { found: f64 },
    #[error("this is in {found}, but {expected} is needed")]
    WrongDimension {
        expected: Dimension,
        found: Dimension,
    },
    #[error("parameter `{name}` depends on itself")]
    ParameterCycle { name: String },
    #[error("a runtime parameter cannot be used here")]
    RuntimeParameter,

    #[error("{what} must be positive, not {value}")]
    NotPositive { what: String, value: f64 },
    #[error("{what} must not be negative, but is {value}")]
    Negative { what: String, value: f64 },
    #[error("{what} must be {allowed}, not {value}")]
    OutOfRange {
        what: String,
        value: f64,
        allowed: &'static str,
    },
    #[error(
        "the inertia of `{body}` is not positive semidefinite: its smallest principal moment is {smallest} kg m²"
    )]
    IndefiniteInertia { body: String, smallest: f64 },
    #[error(
        "the inertia of `{body}` violates the triangle inequality: {largest} > {middle} + {smallest} kg m² (principal moments)"
    )]
    TriangleInequality {
        body: String,
        smallest: f64,
        middle: f64,
        largest: f64,
    },
    #[error("the inertia is not symmetric: entries ({row}, {column}) differ")]
    AsymmetricInertia { row: usize, column: usize },
    #[error("{what} is zero")]
    ZeroVector { what: &'static str },
    #[error("{what} are parallel")]
    Parallel { what: &'static str },
    #[error("the axes of a universal joint must be perpendicular; these make {degrees:.6}°")]
    NotPerpendicular { degrees: f64 },
    #[error("{what} needs exactly one of {options}")]
    ExactlyOne {
        what: String,
        options: &'static str,
        found: Vec<&'static str>,
    },
    #[error("`{first}` and `{second}` say the same thing twice")]
    Conflict {
        first: &'static str,
        second: &'static str,
    },
    #[error("`{key}` means nothing {context}")]
    Meaningless {
        key: &'static str,
        context: &'static str,
    },
    #[error("the point is {distance:.3e} m away from the nearest node of the beam `{body}`")]
    NotANode {
        body: String,
        distance: f64,
        nearest: Vec<String>,
    },
    #[error(
        "the frames of joint `{joint}` do not coincide at home: {distance:.3e} m and {degrees:.3}° apart"
    )]
    FramesApart {
        joint: String,
        distance: f64,
        degrees: f64,
        tolerance: f64,
        /// They differ along the axis of a joint that slides there, and in nothing else.
        slides: bool,
    },
    #[error("it is not clear where joint `{joint}` is")]
    NoPosition { joint: String },
    #[error("joint `{joint}` has no axis")]
    NoAxis { joint: String, key: &'static str },
    #[error("both ends are on the same body")]
    SameBody,
    #[error("no chain of joints connects body `{body}` to the ground")]
    Disconnected { body: String },
    #[error("joint `{joint}` is driven by `{first}` already")]
    DrivenTwice { joint: String, first: String },
    #[error("joint `{joint}` is {kind}: it has no single coordinate")]
    NotOneCoordinate { joint: String, kind: &'static str },
    #[error("joint `{joint}` is free: it has six coordinates")]
    SixCoordinates { joint: String },
    #[error("the mechanism has no {what}")]
    Nothing { what: &'static str },
    #[error("the range ends at {upper}, which is not above its start {lower}")]
    RangeOrder { lower: f64, upper: f64 },
    #[error("home {home} lies outside the range {lower} to {upper}")]
    HomeOutside { home: f64, lower: f64, upper: f64 },
    #[error("{what} has {found} value(s), but {expected} are needed")]
    WrongCount {
        what: &'static str,
        expected: usize,
        found: usize,
    },
}

impl FaultKind {
    /// One thing to try.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Unreadable { .. } => "check the path and the permissions".into(),
            Self::Folder { .. } => "give the path of a TOML file inside it".into(),
            Self::NotAFile { .. } => "save what it gives to a file, and give that".into(),
            Self::TooLarge { .. } | Self::NotText { .. } => {
                "check that this is the mechanism file: a TOML text of a few kilobytes".into()
            }
            Self::Empty { .. } => {
                "start with `format = 1`, then describe `[[body]]`, `[[joint]]` and `[[coordinate]]`"
                    .into()
            }
            Self::Syntax { .. } => "correct the line; values are numbers, \"strings\", [lists] or { tables }".into(),
            Self::IncludeCycle { .. } => "remove one of the includes".into(),
            Self::TemplateCycle { .. } => "remove one of the `use` tables".into(),
            Self::ThickWalls => "make the walls thinner, or the section larger".into(),
            Self::Limit { limit, .. } => format!("split the mechanism or simplify it to at most {limit}"),
            Self::MissingFormat => "put `format = 1` at the top of the file".into(),
            Self::UnsupportedFormat { .. } => "write `format = 1`, or use a newer version of this program".into(),
            Self::UnknownKey { key, table, .. } if is_beside_rigid(key, table) => {
                format!("write `{key}` beside `rigid`, not in its table: it places the body's frame")
            }
            Self::UnknownKey { key, table, .. } if key == "free" && table.trim_matches('`').ends_with("joint") => {
                "join the body by three prismatic joints and three hinges, each driven by a coordinate: see \"A body that floats\" in docs/mechanism-format.md".into()
            }
            Self::UnknownKey { suggestion, known, .. } => suggest(suggestion, "the keys are", known),
            Self::WrongChoice { suggestion, choices, others, .. } => {
                let lead = if others.is_empty() {
                    "the values are".to_owned()
                } else {
                    format!("write {} or", others.join(" or "))
                };
                suggest(suggestion, &lead, choices)
            }
            Self::UnknownReference { suggestion, known, what, .. } => match known.as_slice() {
                [] => format!("describe the {what} first, or correct the name"),
                _ => suggest(suggestion, "there are", known),
            },
            Self::MissingKey { key, .. } => format!("add `{key} = …`"),
            Self::WrongType {
                what,
                expected,
                found,
            } => type_help(what, expected, found),
            Self::Value { .. } => "correct the value; the format is described in docs/mechanism-format.md".into(),
            Self::BadName { .. } => "begin with a letter and use letters, digits and `_` only".into(),
            Self::DuplicateName { .. } => "give one of them another name".into(),
            Self::Expression { error, suggestion } => expression_help(error, suggestion),
            Self::Matrix(error) => error.help(),
            Self::NotFinite { .. } => "write a finite number".into(),
            Self::WrongDimension { expected, .. } => format!("write a plain number in SI units, or a unit of {expected}"),
            Self::ParameterCycle { .. } => "give one of the parameters in the circle a number".into(),
            Self::RuntimeParameter => "use runtime parameters for the mass of a `[[point_mass]]`, `rotor_inertia`, `viscous` or `coulomb` only".into(),
            other => other.physical_help(),
        };
        Some(text)
    }

    fn physical_help(&self) -> String {
        match self {
            Self::NotPositive { what, .. } if what.starts_with("the mass") => {
                "give a positive mass in kg, or leave `mass` out for a massless point or rigid body".into()
            }
            Self::NotPositive { .. } => "give a positive value".into(),
            Self::Negative { .. } => "give zero or a positive value".into(),
            Self::OutOfRange { allowed, .. } => format!("give a value that is {allowed}"),
            Self::IndefiniteInertia { .. } => "check the signs of the products of inertia (`products = \"cad\"` for positive CAD products) and `inertia_about`".into(),
            Self::TriangleInequality { .. } => "no distribution of mass has such moments: check the order xx, yy, zz and `inertia_about`".into(),
            Self::AsymmetricInertia { .. } => "make the rows symmetric, or give [xx, yy, zz, xy, xz, yz]".into(),
            Self::ZeroVector { .. } => "give a vector with a direction".into(),
            Self::Parallel { .. } => "choose directions that differ".into(),
            Self::NotPerpendicular { .. } => "turn one of `axes` so that they make 90°".into(),
            Self::ExactlyOne { options, found, .. } => match found.as_slice() {
                [] => format!("add one of {options}"),
                found => format!("keep one of {}", found.join(", ")),
            },
            Self::Conflict { second, .. } => format!("remove `{second}`"),
            Self::Meaningless { key, .. } => format!("remove `{key}`"),
            Self::NotANode { nearest, .. } => format!("move it to a node, or change `elements`; the nearest nodes are {}", nearest.join(" and ")),
            Self::FramesApart { slides: true, .. } => "a sliding joint is drawn at one place at home: say with `frame_b = { at = [x, y, z] }` where that is, in the frame of the second body".into(),
            Self::FramesApart { tolerance, .. } => format!("correct the drawing; `home_tolerance` is {tolerance} m"),
            Self::NoPosition { .. } => "give `at = [x, y, z]`, or name a point of one body or of both, such as `hinge = [\"ground\", \"crank.origin\"]` or `hinge = [\"crank.to\", \"coupler.from\"]`".into(),
            Self::NoAxis { key, .. } => format!("add `{key}`"),
            Self::SameBody => "name two different bodies".into(),
            Self::Disconnected { .. } => "add a joint between it and the rest of the mechanism; springs alone do not hold a body: attach one that floats by a `free` joint, see \"A body that floats\" in docs/mechanism-format.md".into(),
            Self::DrivenTwice { .. } => "remove one of the coordinates, or drive another joint".into(),
            Self::NotOneCoordinate { .. } => "use a hinge or a prismatic joint here".into(),
            Self::SixCoordinates { joint } => format!("name one of its motions: `{joint}.x`, `{joint}.y`, `{joint}.z`, `{joint}.yaw`, `{joint}.pitch`, `{joint}.roll`"),
            Self::Nothing { what } => format!("add `[[{what}]]`"),
            Self::RangeOrder { .. } => "write the smaller value first".into(),
            Self::HomeOutside { .. } => "every configuration is reached from home: draw the mechanism inside the range, or widen the range up to home and leave out what is too much by `[domain] inequalities`".into(),
            Self::WrongCount { expected, .. } => format!("give {expected}"),
            Self::FiniteElements(error) => error.advice(),
            _ => "see docs/mechanism-format.md".into(),
        }
    }
}

/// Keys that place a rigid body stand beside its table, unlike those of a rod or a point.
fn is_beside_rigid(key: &str, table: &str) -> bool {
    matches!(key, "at" | "frame") && table.trim_matches('`').ends_with("rigid")
}

fn suggest(suggestion: &Option<String>, lead: &str, known: &[String]) -> String {
    if let Some(name) = suggestion {
        return format!("did you mean `{name}`?");
    }
    let shown: Vec<String> = known
        .iter()
        .take(30)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if known.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    format!("{lead} {}{more}", shown.join(", "))
}

fn type_help(what: &str, expected: &str, found: &str) -> String {
    let name = what.trim_matches('`');
    let list_of_tables = expected == "a list" && found == "a table";
    if list_of_tables && (!name.contains('.') || name.starts_with("template.")) {
        return format!("write `[[{name}]]` with two brackets");
    }
    format!("write {expected}")
}

fn expression_help(error: &ExpressionError, suggestion: &Option<String>) -> String {
    if let Some(name) = suggestion {
        return format!("did you mean `{name}`?");
    }
    match error {
        ExpressionError::UnknownName(_) => {
            "define it in `[parameters]`, or correct the name".into()
        }
        ExpressionError::UnknownFunction(_) => {
            format!("the functions are {}", FUNCTIONS.join(", "))
        }
        ExpressionError::TooLong => {
            format!("split it with `[parameters]` into pieces of at most {MAX_LENGTH} characters")
        }
        ExpressionError::Mixed { .. } | ExpressionError::Argument { .. } => {
            "correct the units; plain numbers are SI".into()
        }
        ExpressionError::NotFinite(_) => {
            "check for a division by zero or an argument outside a function's range".into()
        }
        _ => "write it like \"L/2 + 10 mm\", \"30 deg\" or \"3.5e6 N/m\"".into(),
    }
}
