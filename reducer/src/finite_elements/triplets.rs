//! Entries of a symmetric matrix as files give them: one triangle or both, repeated or not.

use super::error::{FeError, Place};

/// Relative difference of mirror images that printed digits may have.
const MIRROR: f64 = 1e-8;

/// One entry with its line.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// Line of the file.
    pub line: u32,
    /// Value.
    pub value: f64,
}

/// Entries of one matrix.
#[derive(Debug, Clone, Default)]
pub struct Triplets {
    /// As read.
    pub entries: Vec<Entry>,
}

/// The lower triangle, summed: (row, column, value) with row ≥ column, in order of columns.
#[derive(Debug, Clone, Default)]
pub struct Lower {
    /// Entries.
    pub entries: Vec<(u32, u32, f64)>,
    /// Entries of the file that repeated a place and were added.
    pub n_repeated: usize,
}

impl Triplets {
    /// Adds an entry.
    pub fn push(&mut self, row: u32, column: u32, value: f64, line: usize) {
        self.entries.push(Entry {
            row,
            column,
            line: line.min(u32::MAX as usize) as u32,
            value,
        });
    }

    /// One triangle. A place that occurs in both triangles must have equal values; where the file
    /// holds both triangles, an entry without mirror image is unsymmetric.
    pub fn lower(mut self, file: &str) -> Result<Lower, FeError> {
        let key = |e: &Entry| {
            let (low, high) = (e.row.min(e.column), e.row.max(e.column));
            (low, high, e.row < e.column, e.line)
        };
        self.entries.sort_unstable_by_key(key);
        let largest = (self.entries.iter()).fold(0.0_f64, |m, e| m.max(e.value.abs()));
        let mut out = Lower::default();
        let mut both = false;
        let mut alone: Option<(Entry, f64)> = None;
        let mut at = 0;
        while at < self.entries.len() {
            let (low, high, ..) = key(&self.entries[at]);
            let (mut sums, mut counts, first) = ([0.0; 2], [0usize; 2], self.entries[at]);
            while at < self.entries.len() {
                let (l, h, upper, _) = key(&self.entries[at]);
                if (l, h) != (low, high) {
                    break;
                }
                sums[usize::from(upper)] += self.entries[at].value;
                counts[usize::from(upper)] += 1;
                at += 1;
            }
            out.n_repeated += counts.iter().map(|n| n.saturating_sub(1)).sum::<usize>();
            let value = if counts[0] > 0 && counts[1] > 0 {
                both = true;
                if (sums[0] - sums[1]).abs() > MIRROR * largest.max(1e-300) {
                    return Err(unsymmetric(file, &first, sums[0], sums[1]));
                }
                0.5 * (sums[0] + sums[1])
            } else {
                let value = sums[0] + sums[1];
                if low != high && value.abs() > MIRROR * largest && alone.is_none() {
                    alone = Some((first, value));
                }
                value
            };
            out.entries.push((high, low, value));
        }
        match alone {
            Some((entry, value)) if both => Err(unsymmetric(file, &entry, value, 0.0)),
            _ => Ok(out),
        }
    }
}

fn unsymmetric(file: &str, entry: &Entry, value: f64, mirror: f64) -> FeError {
    FeError::Unsymmetric {
        place: Place {
            file: file.to_owned(),
            line: entry.line as usize,
        },
        row: entry.row as usize + 1,
        column: entry.column as usize + 1,
        value,
        mirror,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[(u32, u32, f64)]) -> Result<Lower, FeError> {
        let mut out = Triplets::default();
        for (line, (row, column, value)) in entries.iter().enumerate() {
            out.push(*row, *column, *value, line + 1);
        }
        out.lower("k")
    }

    #[test]
    fn either_triangle_or_both_give_the_same() {
        let lower = of(&[(0, 0, 2.0), (1, 0, -1.0), (1, 1, 3.0)]).expect("lower");
        let upper = of(&[(1, 1, 3.0), (0, 1, -1.0), (0, 0, 2.0)]).expect("upper");
        let both = [(0, 0, 2.0), (1, 0, -1.0), (0, 1, -1.0), (1, 1, 3.0)];
        assert_eq!(lower.entries, upper.entries);
        assert_eq!(lower.entries, of(&both).expect("both").entries);
    }

    #[test]
    fn repeated_entries_add_up_and_are_counted() {
        let found = of(&[(0, 0, 2.0), (0, 0, 0.5), (1, 0, 1.0)]).expect("sum");
        assert_eq!(found.entries[0], (0, 0, 2.5));
        assert_eq!(found.n_repeated, 1);
    }

    #[test]
    fn unequal_or_missing_mirror_images_are_refused() {
        assert!(of(&[(0, 1, 1.0), (1, 0, 2.0)]).is_err());
        assert!(of(&[(0, 1, 1.0), (1, 0, 1.0), (2, 0, 1.0)]).is_err());
    }
}
