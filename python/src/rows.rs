//! Many evaluations in one call: rows of numbers, divided among threads.

use pyo3::prelude::*;
use reducer::reduced_model::{EvaluationError, Status, Workspace};
use std::thread::{available_parallelism, scope};

/// Fewest rows of a thread: fewer are done before it has started.
const LEAST: usize = 1024;

/// Results of all rows, and their statuses.
pub type Found<const K: usize> = ([Vec<f64>; K], Vec<u8>);

/// Consecutive rows and where their results go.
struct Part<'a, const K: usize> {
    first: usize,
    results: [&'a mut [f64]; K],
    statuses: &'a mut [u8],
}

/// Calls `each` for so many rows, with room for the results of one row, without holding Python's lock. Rows do not
/// depend on one another, so that results do not depend on the number of threads; these end with the call, because
/// a pool would not be there in a forked process.
pub fn each_row<const K: usize>(
    py: Python<'_>,
    count: usize,
    widths: [usize; K],
    each: impl Fn(usize, [&mut [f64]; K], &mut Workspace) -> Result<Status, EvaluationError> + Sync,
) -> Result<Found<K>, EvaluationError> {
    let run = || {
        let mut results = widths.map(|width| vec![0.0; width * count]);
        let mut statuses = vec![0; count];
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = cores.min(count / LEAST).max(1);
        let parts = divide(&mut results, &mut statuses, widths, count.div_ceil(threads));
        let each = &each;
        scope(|scope| {
            let mut parts = parts.into_iter();
            let own = parts.next();
            let started: Vec<_> = parts
                .map(|part| scope.spawn(move || evaluate(part, widths, each)))
                .collect();
            let mut outcome = own.map_or(Ok(()), |part| evaluate(part, widths, each));
            for thread in started {
                let other = thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = outcome.and(other);
            }
            outcome
        })?;
        Ok((results, statuses))
    };
    py.detach(run)
}

/// Parts of so many rows, the last one with what is left.
fn divide<'a, const K: usize>(
    results: &'a mut [Vec<f64>; K],
    statuses: &'a mut [u8],
    widths: [usize; K],
    rows: usize,
) -> Vec<Part<'a, K>> {
    let mut rest = results.each_mut().map(Vec::as_mut_slice);
    let mut parts = Vec::new();
    for (index, statuses) in statuses.chunks_mut(rows.max(1)).enumerate() {
        let mut width = widths.iter();
        let results = rest.each_mut().map(|list| {
            let size = width.next().map_or(0, |width| width * statuses.len());
            let (part, left) = std::mem::take(list).split_at_mut(size);
            *list = left;
            part
        });
        parts.push(Part {
            first: index * rows,
            results,
            statuses,
        });
    }
    parts
}

fn evaluate<const K: usize>(
    mut part: Part<'_, K>,
    widths: [usize; K],
    each: &impl Fn(usize, [&mut [f64]; K], &mut Workspace) -> Result<Status, EvaluationError>,
) -> Result<(), EvaluationError> {
    let mut work = Workspace::default();
    for (row, status) in part.statuses.iter_mut().enumerate() {
        let mut width = widths.iter();
        let results = part.results.each_mut().map(|list| {
            let width = width.next().copied().unwrap_or(0);
            &mut list[row * width..(row + 1) * width]
        });
        *status = each(part.first + row, results, &mut work)? as u8;
    }
    Ok(())
}
