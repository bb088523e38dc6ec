//! Reading on after a fault of shape.
//!
//! A misspelt key is read as the one that was meant, and an optional value of the wrong type as
//! absent, so that one run also finds the faults in the rest of the file. A file at fault never
//! becomes a mechanism, whatever is done to it here.

use toml_edit::{Item, TableLike};

/// One step from a table to something inside it.
#[derive(Debug, Clone)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// A table of a list of tables.
    Index(usize),
}

/// What to do to the document.
#[derive(Debug, Clone)]
pub enum Repair {
    /// Reads a key of the table at the path as another one.
    Rename {
        /// The table.
        table: Vec<Step>,
        /// The key as written.
        from: String,
        /// The key that was meant.
        to: String,
    },
    /// Leaves out a key of the table at the path.
    Remove {
        /// The table.
        table: Vec<Step>,
        /// The key.
        key: String,
    },
}

/// Values of a file that can be left out without consequences elsewhere.
const OPTIONAL: &[&str] = &["plane", "gravity", "home_tolerance"];

/// Tables of a file from which a value can be left out without consequences elsewhere.
const SELF_CONTAINED: &[&str] = &[
    "body",
    "joint",
    "coordinate",
    "spring",
    "point_mass",
    "load",
    "output",
    "loaded",
    "derived",
    "domain",
    "damping",
    "reduction",
    "approximation",
];

impl Repair {
    /// Leaves out the value at a path, if nothing else depends on it.
    pub fn removal(path: &[Step]) -> Option<Self> {
        let (last, table) = path.split_last()?;
        let first = match path.first()? {
            Step::Key(first) => first.as_str(),
            Step::Index(_) => return None,
        };
        let known = if table.is_empty() {
            OPTIONAL
        } else {
            SELF_CONTAINED
        };
        match last {
            Step::Key(key) if known.contains(&first) => Some(Self::Remove {
                table: table.to_vec(),
                key: key.clone(),
            }),
            _ => None,
        }
    }

    /// Changes the document.
    pub fn apply(&self, document: &mut Item) {
        match self {
            Self::Rename { table, from, to } => with_table(document, table, &mut |table| {
                if let Some(item) = table.remove(from) {
                    table.insert(to, item);
                }
            }),
            Self::Remove { table, key } => with_table(document, table, &mut |table| {
                table.remove(key);
            }),
        }
    }
}

fn with_table(item: &mut Item, path: &[Step], change: &mut dyn FnMut(&mut dyn TableLike)) {
    match path.split_first() {
        Some((Step::Index(index), rest)) => {
            let tables = item.as_array_of_tables_mut();
            if let Some(table) = tables.and_then(|tables| tables.get_mut(*index)) {
                in_table(table, rest, change);
            }
        }
        _ => {
            if let Some(table) = item.as_table_like_mut() {
                in_table(table, path, change);
            }
        }
    }
}

fn in_table(table: &mut dyn TableLike, path: &[Step], change: &mut dyn FnMut(&mut dyn TableLike)) {
    match path.split_first() {
        None => change(table),
        Some((Step::Key(key), rest)) => {
            if let Some(item) = table.get_mut(key) {
                with_table(item, rest, change);
            }
        }
        Some((Step::Index(_), _)) => {}
    }
}
