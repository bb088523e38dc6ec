//! How numbers and names appear in generated source.

use crate::WriteError;

/// A number that reads back exactly in C and Rust, with the suffix `f` (C) where single.
pub(super) fn real(value: f64, single: bool, suffix: &str) -> Result<String, WriteError> {
    // Rounding decides what is stored; -0.0 is written as 0.0, which evaluates alike in sums.
    let text = if single {
        let rounded = value as f32;
        if !rounded.is_finite() {
            return Err(WriteError::BeyondSingle { value });
        }
        shorten(
            format!("{:?}", rounded + 0.0),
            format!("{:e}", rounded + 0.0),
        )
    } else {
        shorten(format!("{:?}", value + 0.0), format!("{:e}", value + 0.0))
    };
    Ok(if single { text + suffix } else { text })
}

/// The shorter of the plain and the exponent form; always with a point or an exponent.
fn shorten(plain: String, exponent: String) -> String {
    if plain.len() <= exponent.len() && plain.contains('.') {
        plain
    } else {
        exponent
    }
}

/// Text of a model inside a comment: one line, printable ASCII, nothing that ends a comment.
pub(super) fn comment(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '*' | '\\' | '?' => '.',
            c if c == ' ' || c.is_ascii_graphic() => c,
            _ => '.',
        })
        .take(200)
        .collect()
}

/// Text of a model inside XML and HTML: as in a comment, and nothing that is markup.
pub(crate) fn plain(text: &str) -> String {
    let is_markup = |c: char| "<>&\"'".contains(c);
    comment(text).replace(is_markup, ".").replace("--", "..")
}

/// An identifier from a name; letters, digits and `_` stay.
pub(crate) fn identifier(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(60)
        .collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, 'x');
    }
    out
}

/// Upper-case identifiers, each once: later ones of equal spelling get their number.
pub(super) fn distinct_identifiers<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut used = std::collections::BTreeSet::new();
    names
        .enumerate()
        .map(|(i, name)| {
            let mut candidate = identifier(name).to_ascii_uppercase();
            while !used.insert(candidate.clone()) {
                candidate = format!("{candidate}_{i}");
            }
            candidate
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_reads_back_exactly() {
        for value in [
            0.0,
            1.0,
            -1.0,
            0.1,
            1.0 / 3.0,
            1e300,
            5e-324,
            f64::MAX,
            123456789.123,
            2.5e-7,
            1e16,
            f64::MIN_POSITIVE,
        ] {
            let text = real(value, false, "f").unwrap();
            assert_eq!(
                text.parse::<f64>().unwrap().to_bits(),
                value.to_bits(),
                "{text}"
            );
            assert!(
                text.contains('.') || text.contains('e'),
                "{text} would be an integer"
            );
        }
    }

    #[test]
    fn single_literals_are_rounded_and_marked() {
        assert_eq!(real(0.1, true, "f").unwrap(), "0.1f");
        assert!(real(1e39, true, "f").is_err());
        assert_eq!(real(-0.0, false, "f").unwrap(), "0.0");
    }

    #[test]
    fn names_cannot_leave_a_comment_or_collide() {
        assert_eq!(comment("a*/ int x;\n\\u{e9}"), "a./ int x;..u{e9}");
        assert_eq!(
            distinct_identifiers(["a.b", "a_b", "1"].into_iter()),
            ["A_B", "A_B_1", "X1"]
        );
    }
}
