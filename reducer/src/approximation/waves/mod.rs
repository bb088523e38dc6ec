//! Waves of angles [M 9.4] instead of polynomials on boxes, over the whole domain at once.
//!
//! Where bodies form a tree, angles may leave their ranges, and all that is stored repeats with every turn. Of rigid
//! bodies entries of the mass, potentials and positions are sums of a few waves of every angle and of low powers of every
//! length (`ending`); with elastic bodies sums do not end but fade quickly (`fading`).
//!
//! Lines along single coordinates show which functions of each there are. A grid of as many points as there are products
//! of these gives all coefficients.

mod axis;
mod ending;
mod fading;
mod grid;
mod lines;
mod positive;

pub(super) use ending::approximate as approximate_ending;
pub(super) use fading::approximate as approximate_fading;
pub(super) use positive::lower_bound;

use super::database::DatabaseError;
use super::sample::Sample;
use super::store::SampleStore;
use crate::reduced_model::{Component, Table};
use axis::{Axis, Family, Span};
use grid::Grid;
use kernel::Group;
use lines::{Line, continued};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Points of a grid, at most.
const MOST_POINTS: usize = 30_000;

/// What decides how many functions are needed.
trait Needs {
    /// Number of functions of θ_k that components need, given by their places in a table and their coefficients on
    /// lines: `[line][component][function]`. Nothing where that is too many.
    fn count(&self, axis: &Axis, k: usize, family: Family, shown: &Shown) -> Option<usize>;

    /// Below this a coefficient of a component is not needed.
    fn limit(&self, place: usize) -> f64;
}

/// Coefficients of some components of a table on lines along one θ.
struct Shown<'a> {
    places: &'a [usize],
    lines: Vec<Vec<Vec<f64>>>,
}

impl<'a> Shown<'a> {
    fn new(
        axis: &Axis,
        k: usize,
        family: Family,
        lines: &[Line],
        components: &[Component],
        places: &'a [usize],
    ) -> Option<Self> {
        let of_line = |line: &Line| line.coefficients(axis, k, family, components);
        let lines = lines.iter().map(of_line).collect::<Option<_>>()?;
        Some(Self { places, lines })
    }
}

/// Components that share a grid.
struct Part {
    places: Vec<usize>,
    /// The output whose quaternion they are.
    quaternion: Option<usize>,
}

impl Part {
    /// Parts of a table: quaternions by output, and what `of` puts together.
    fn split(list: &[Component], of: impl Fn(Group) -> u8) -> Vec<Self> {
        let mut parts: BTreeMap<(u8, Option<usize>), Vec<usize>> = BTreeMap::new();
        for (place, component) in list.iter().enumerate() {
            let key = match component {
                Component::Quaternion { output, .. } => (u8::MAX, Some(*output)),
                _ => (of(component.place().0), None),
            };
            parts.entry(key).or_default().push(place);
        }
        let of_key = |((_, quaternion), places)| Self { places, quaternion };
        parts.into_iter().map(of_key).collect()
    }
}

/// Samples from which tables are made.
struct Search<'a, 's> {
    axes: &'a [Axis],
    store: &'a mut SampleStore<'s>,
    lines: Vec<Vec<Line>>,
}

impl Search<'_, '_> {
    /// A table of components; nothing where it would be too large or samples fail.
    fn table(
        &mut self,
        list: &[Component],
        parts: &[Part],
        needs: &dyn Needs,
    ) -> Result<Option<Table>, DatabaseError> {
        let mut found = BTreeMap::new();
        let is_output = list.iter().any(|c| c.is_output());
        for part in parts {
            let Some(spans) = self.spans(list, part, needs) else {
                return Ok(None);
            };
            if points_of(&spans) > MOST_POINTS {
                return Ok(None);
            }
            let Some(grid) = Grid::new(self.axes, &spans, is_output) else {
                return Ok(None);
            };
            let Some(samples) = lines::samples(self.store, &grid.points())? else {
                return Ok(None);
            };
            let signs = part.quaternion.map(|output| signs(&grid, &samples, output));
            let terms = grid.terms();
            for &place in &part.places {
                let mut numbers: Vec<f64> = samples.iter().map(|s| s.value(list[place])).collect();
                if let Some(signs) = &signs {
                    let pairs = numbers.iter_mut().zip(signs);
                    pairs.for_each(|(number, sign)| *number *= sign);
                }
                grid.transform(&mut numbers);
                let limit = needs.limit(place);
                for (term, c) in terms.iter().zip(numbers).filter(|(_, c)| c.abs() > limit) {
                    let row = found.entry(term.clone());
                    row.or_insert_with(|| vec![0.0; list.len()])[place] = c;
                }
            }
        }
        Ok(Some(table_of(found)))
    }

    /// Points of all grids of a table; nothing where one would be too large.
    fn points(&self, list: &[Component], parts: &[Part], needs: &dyn Needs) -> Option<usize> {
        let points = |part| Some(points_of(&self.spans(list, part, needs)?));
        let allowed = |part| points(part).filter(|p| *p <= MOST_POINTS);
        parts.iter().map(allowed).sum()
    }

    /// Functions of every θ that a part needs.
    fn spans(&self, list: &[Component], part: &Part, needs: &dyn Needs) -> Option<Vec<Span>> {
        let components: Vec<Component> = part.places.iter().map(|&i| list[i]).collect();
        let span = |k: usize| {
            let (axis, lines) = (&self.axes[k], &self.lines[k]);
            let turns = |output| axis.family() == Family::Waves && lines[0].changes_sign(k, output);
            let family = match part.quaternion {
                Some(output) if turns(output) => Family::HalfWaves,
                _ => axis.family(),
            };
            let shown = Shown::new(axis, k, family, lines, &components, &part.places)?;
            let count = needs.count(axis, k, family, &shown)?;
            Some(Span::new(family, count))
        };
        (0..self.axes.len()).map(span).collect()
    }
}

/// Points of the grid for these functions.
fn points_of(spans: &[Span]) -> usize {
    let counts = spans.iter().map(|s| s.count);
    counts.fold(1, usize::saturating_mul)
}

/// Signs that make the quaternions of an output continuous on a grid.
fn signs(grid: &Grid, samples: &[Arc<Sample>], output: usize) -> Vec<f64> {
    let mut signs: Vec<f64> = Vec::with_capacity(samples.len());
    for (place, sample) in samples.iter().enumerate() {
        let sign = grid.before(place).map_or(1.0, |(k, from, step)| {
            signs[from] * continued(&samples[from], sample, output, k, step)
        });
        signs.push(sign);
    }
    signs
}

/// A table of rows by their terms, graded.
fn table_of(found: BTreeMap<Vec<u8>, Vec<f64>>) -> Table {
    let mut rows: Vec<(Vec<u8>, Vec<f64>)> = found.into_iter().collect();
    rows.sort_by_key(|(term, _)| term.iter().map(|&d| u32::from(d)).sum::<u32>());
    let (terms, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Table {
        coefficients: rows.concat(),
        terms,
    }
}
