//! Numbers as readable text.

use std::fmt::Write;

/// A square matrix with its coordinates' names.
pub fn matrix(out: &mut String, title: &str, names: &[String], values: &[f64]) {
    rows(out, title, names, values, names.len());
}

/// Rows of `width` numbers with their names.
pub fn rows(out: &mut String, title: &str, names: &[String], values: &[f64], width: usize) {
    let _ = writeln!(out, "\n{title}");
    for (name, row) in names.iter().zip(values.chunks(width.max(1))) {
        let _ = write!(out, "  {name:<16}");
        for value in row {
            let _ = write!(out, " {value:>13.6e}");
        }
        out.push('\n');
    }
}

/// A vector with its coordinates' names.
pub fn vector(out: &mut String, title: &str, names: &[String], values: &[f64]) {
    let _ = writeln!(out, "\n{title}");
    for (name, value) in names.iter().zip(values) {
        let _ = writeln!(out, "  {name:<16} {value:>13.6e}");
    }
}

/// Numbers on one line; nothing where there are none.
pub fn list(out: &mut String, title: &str, values: &[f64]) {
    if values.is_empty() {
        return;
    }
    let _ = write!(out, "{title}:");
    for value in values {
        let _ = write!(out, " {value:.6}");
    }
    out.push('\n');
}
