//! Functions that end [M 9.4]: of a tree of rigid bodies the entries of the mass, potentials and positions are sums of
//! a few waves of every angle and of low powers of every length, quaternions of half angles.
//!
//! Lines along single coordinates show which waves there are. A grid of as many points as there are products of these
//! gives all coefficients; what is left of them above rounding is the model, on any range. Angles may leave their
//! ranges on the way, because the tree is defined for any of them.

use super::audit;
use super::components::{Mass, find_components};
use super::database::DatabaseError;
use super::errors::{Part, summarize};
use super::points::halton;
use super::region::Region;
use super::sample::Sample;
use super::store::SampleStore;
use super::trial::Context;
use crate::reduced_model::{
    Block, BoxModel, Component, ComponentLists, Continuity, Functions, ModelLayout, ReducedModel,
    Table, TreeNode,
};
use kernel::Group;
use nalgebra::DMatrix;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

/// Points of a line: harmonics up to 4, or degrees up to 6; the last ones must be absent.
const WAVE_LINE: usize = 9;
const POWER_LINE: usize = 7;
/// Lines along every coordinate.
const LINES: u64 = 2;
/// Relative to its scale: below this a coefficient of a line is rounding,
const ABSENT: f64 = 1e-11;
/// and below this one of a grid, which is a mean of many values.
const ROUNDING: f64 = 1e-13;
/// Products, at most, that are tried.
const MOST_POINTS: usize = 20_000;
/// Part of its tolerance that no block may exceed: what ends is exact but for rounding.
const EXACT: f64 = 1e-4;

/// The model of a tree of rigid bodies whose inertias, each moved by one θ alone, are `own`; nothing where its functions
/// do not end.
pub(super) fn approximate(
    base: &Context,
    store: &mut SampleStore,
    probes: &[Sample],
    own: &[f64],
) -> Result<Option<ReducedModel>, DatabaseError> {
    let layout = base.layout;
    let components = find_components(layout, base.rules.form, Mass::Entries, probes);
    let axes: Vec<Axis> = (0..layout.n_rigid).map(|k| Axis::of(layout, k)).collect();
    let scales = Scales::new(&components, probes);
    let mut found = Search {
        axes: &axes,
        store,
        scales: &scales,
    };
    let Some([dynamics, outputs]) = found.tables(&components)? else {
        return Ok(None);
    };
    let functions: Vec<Functions> = axes.iter().map(|a| a.functions).collect();
    let context = Context {
        components: &components,
        functions: &functions,
        ..*base
    };
    let region = Region::of_domain(&layout.domain);
    let mut points: Vec<Vec<f64>> = (0..16 + 8 * layout.n_rigid as u64)
        .map(|i| halton(i, 0xf17e, layout.n_rigid))
        .map(|u| region.point(&u.iter().map(|v| 2.0 * v - 1.0).collect::<Vec<_>>()))
        .collect();
    points.retain(|p| layout.domain.admits(p));
    store.require(&points)?;
    let samples: Vec<Arc<Sample>> = points.iter().filter_map(|p| store.get(p)).collect();
    let samples: Vec<&Sample> = samples.iter().map(AsRef::as_ref).collect();
    let errors = context.errors(&region, [&dynamics, &outputs], Part::All, &samples);
    let ratios = context.rules.ratios(&errors, context.scales);
    if samples.len() < points.len() || ratios.iter().any(|r| *r > EXACT) {
        return Ok(None);
    }
    let largest = |e: f64, p: &super::errors::PointErrors| e.max(p[Block::Mass as usize]);
    let model_box = BoxModel {
        lower: region.lower.clone(),
        upper: region.upper.clone(),
        definite: definite_bound(&components, &dynamics, own)
            .filter(|_| errors.iter().fold(0.0, largest) < 1e-6),
        dynamics,
        outputs,
        reached: true,
        errors: summarize(&errors, context.scales),
    };
    let tree = vec![TreeNode::Leaf { index: 0 }];
    let model = context.draft(layout.clone(), tree, vec![model_box], Continuity::Smooth);
    let excess = audit::audit(&context, store, &model, 0)?.excess;
    Ok((excess <= EXACT).then_some(model))
}

/// Lower bound of the eigenvalues of the mass, its diagonal scaled to at most one [M 9.5]: with pivots no smaller than
/// the inertias that each θ moves alone, det ≥ Π own/largest, and the other eigenvalues have a product below e. What
/// rounding and dropped coefficients change is taken off.
fn definite_bound(components: &ComponentLists, table: &Table, own: &[f64]) -> Option<f64> {
    let s = own.len();
    let largest = |k: usize| -> f64 {
        let component = Component::Mass { row: k, column: k };
        let constant = components
            .constants
            .iter()
            .find(|c| c.component == component);
        let column = components.dynamics.iter().position(|c| *c == component);
        let stored = column.map_or(0.0, |column| {
            let numbers = table.coefficients.iter().skip(column);
            numbers
                .step_by(components.dynamics.len())
                .map(|c| c.abs())
                .sum()
        });
        stored + constant.map_or(0.0, |c| c.value.abs())
    };
    let determinant: f64 = (0..s).map(|k| (own[k] / largest(k)).min(1.0)).product();
    let changed = (s * table.terms.len().max(1)) as f64 * ROUNDING;
    let bound = determinant / std::f64::consts::E - changed;
    (bound > changed).then_some(bound)
}

/// Functions of one θ and where they are sampled.
struct Axis {
    functions: Functions,
    lower: f64,
    upper: f64,
}

impl Axis {
    fn of(layout: &ModelLayout, k: usize) -> Self {
        Self {
            functions: match layout.coordinates[k].unit.as_str() {
                "rad" => Functions::Waves,
                _ => Functions::Polynomials,
            },
            lower: layout.domain.lower[k],
            upper: layout.domain.upper[k],
        }
    }

    fn middle(&self) -> f64 {
        0.5 * (self.lower + self.upper)
    }

    /// Points that tell so many functions apart best.
    fn nodes(&self, count: usize) -> Vec<f64> {
        let place = |i: usize| (i as f64 + 0.5) / count as f64;
        match self.functions {
            _ if count == 1 => vec![self.middle()],
            Functions::Waves => (0..count)
                .map(|i| self.middle() + PI * (2.0 * place(i) - 1.0))
                .collect(),
            Functions::Polynomials => {
                let half = 0.5 * (self.upper - self.lower);
                let node = |i: usize| self.middle() - half * (PI * place(i)).cos();
                (0..count).map(node).collect()
            }
        }
    }

    /// Function i at θ; waves are those of `per_angle` θ.
    fn function(&self, i: usize, theta: f64, per_angle: f64) -> f64 {
        let harmonic = i.div_ceil(2) as f64 * per_angle;
        match self.functions {
            Functions::Waves if i % 2 == 1 => (harmonic * theta).cos(),
            Functions::Waves if i > 0 => (harmonic * theta).sin(),
            Functions::Waves => 1.0,
            Functions::Polynomials => {
                let xi = 2.0 * (theta - self.middle()) / (self.upper - self.lower);
                (i as f64 * xi.clamp(-1.0, 1.0).acos()).cos()
            }
        }
    }

    /// Coefficients of the functions `which` from values at the nodes.
    fn inverse(&self, nodes: &[f64], which: &[usize], per_angle: f64) -> Option<DMatrix<f64>> {
        let value = |r: usize, c: usize| self.function(which[c], nodes[r], per_angle);
        DMatrix::from_fn(nodes.len(), which.len(), value).try_inverse()
    }
}

/// Sizes of components, by which rounding is told.
struct Scales(BTreeMap<Component, f64>);

impl Scales {
    fn new(components: &ComponentLists, probes: &[Sample]) -> Self {
        let all = || components.dynamics.iter().chain(&components.outputs);
        let largest = |c: Component| {
            let values = probes.iter().map(|p| p.value(c).abs());
            values.fold(0.0, f64::max)
        };
        let mut groups: BTreeMap<Group, f64> = BTreeMap::new();
        for c in all() {
            let size = groups.entry(c.place().0).or_default();
            *size = size.max(largest(*c));
        }
        let scale = |c: &Component| match *c {
            Component::Mass { row, column } => {
                let diagonal = |k| largest(Component::Mass { row: k, column: k });
                (diagonal(row) * diagonal(column)).sqrt()
            }
            _ => groups[&c.place().0],
        };
        Self(all().map(|c| (*c, scale(c))).collect())
    }

    fn of(&self, component: Component) -> f64 {
        self.0.get(&component).copied().unwrap_or(0.0)
    }
}

/// Coefficients by the numbers of their functions, one list per component of a table.
type Found = BTreeMap<Vec<u8>, Vec<f64>>;

struct Search<'a, 's> {
    axes: &'a [Axis],
    store: &'a mut SampleStore<'s>,
    scales: &'a Scales,
}

impl Search<'_, '_> {
    /// Tables of dynamics and outputs; nothing where functions do not end or samples fail.
    fn tables(&mut self, components: &ComponentLists) -> Result<Option<[Table; 2]>, DatabaseError> {
        let Some(lines) = self.lines()? else {
            return Ok(None);
        };
        let mut tables = Vec::new();
        for list in [&components.dynamics, &components.outputs] {
            let mut found = Found::new();
            let of = |group: fn(Group) -> bool| -> Vec<usize> {
                let places = list.iter().enumerate();
                places
                    .filter(|(_, c)| group(c.place().0))
                    .map(|(i, _)| i)
                    .collect()
            };
            let parts = [
                of(|g| g == Group::Mass),
                of(|g| g != Group::Mass && g != Group::Quaternion),
            ];
            for part in parts.iter().filter(|p| !p.is_empty()) {
                if !self.grid(list, part, &lines, &mut found)? {
                    return Ok(None);
                }
            }
            let part = of(|g| g == Group::Quaternion);
            if !part.is_empty() && !self.half_angles(list, &part, &mut found)? {
                return Ok(None);
            }
            tables.push(table_of(found));
        }
        Ok(tables.try_into().ok())
    }

    /// Samples at points; nothing where one fails.
    fn samples(&mut self, points: &[Vec<f64>]) -> Result<Option<Vec<Arc<Sample>>>, DatabaseError> {
        self.store.require(points)?;
        Ok(points.iter().map(|p| self.store.get(p)).collect())
    }

    /// Samples on lines along every θ, which they differ in alone.
    fn lines(&mut self) -> Result<Option<Vec<Vec<Line>>>, DatabaseError> {
        let s = self.axes.len();
        let mut all = Vec::new();
        for (k, axis) in self.axes.iter().enumerate() {
            let count = match axis.functions {
                Functions::Waves => WAVE_LINE,
                Functions::Polynomials => POWER_LINE,
            };
            let nodes = axis.nodes(count);
            let which: Vec<usize> = (0..count).collect();
            let Some(inverse) = axis.inverse(&nodes, &which, 1.0) else {
                return Ok(None);
            };
            let mut of_axis = Vec::new();
            for line in 0..LINES {
                let place = halton(line, 0x11e5, s);
                let through: Vec<f64> = (self.axes.iter().zip(place))
                    .map(|(a, u)| a.lower + u * (a.upper - a.lower))
                    .collect();
                let points: Vec<Vec<f64>> = nodes
                    .iter()
                    .map(|node| {
                        let mut point = through.clone();
                        point[k] = *node;
                        point
                    })
                    .collect();
                let Some(samples) = self.samples(&points)? else {
                    return Ok(None);
                };
                of_axis.push(Line {
                    inverse: inverse.clone(),
                    samples,
                });
            }
            all.push(of_axis);
        }
        Ok(Some(all))
    }

    /// Number of the last function of a component on lines along one θ; nothing where there are too many.
    fn last_function(&self, axis: &Axis, lines: &[Line], component: Component) -> Option<usize> {
        let limit = ABSENT * self.scales.of(component);
        let last = lines.iter().map(|line| line.last(component, limit)).max()?;
        let (last, allowed) = match axis.functions {
            // Cosines and sines come together.
            Functions::Waves => (last.next_multiple_of(2), WAVE_LINE - 3),
            Functions::Polynomials => (last, POWER_LINE - 2),
        };
        (last <= allowed).then_some(last)
    }

    /// Coefficients of some components of a table from a grid of their own; false where there are none.
    fn grid(
        &mut self,
        list: &[Component],
        part: &[usize],
        lines: &[Vec<Line>],
        found: &mut Found,
    ) -> Result<bool, DatabaseError> {
        let mut counts = vec![1; self.axes.len()];
        for &i in part {
            for (k, axis) in self.axes.iter().enumerate() {
                match self.last_function(axis, &lines[k], list[i]) {
                    Some(last) => counts[k] = counts[k].max(last + 1),
                    None => return Ok(false),
                }
            }
        }
        let which: Vec<Vec<usize>> = counts.iter().map(|&c| (0..c).collect()).collect();
        let nodes: Vec<Vec<f64>> = (self.axes.iter().zip(&counts))
            .map(|(axis, &count)| axis.nodes(count))
            .collect();
        // In outputs waves are those of θ/2: hθ is their harmonic 2h.
        let is_output = part.iter().any(|&i| list[i].is_output());
        let number = |k: usize, i: usize| match self.axes[k].functions {
            Functions::Waves if is_output && i > 0 => 4 * i.div_ceil(2) - i % 2,
            _ => i,
        };
        let numbers: Vec<Vec<usize>> = (0..counts.len())
            .map(|k| which[k].iter().map(|&i| number(k, i)).collect())
            .collect();
        let grid = Grid {
            nodes,
            which,
            numbers,
            per_angle: 1.0,
        };
        self.fill(list, part, &grid, found, |sample, component, _| {
            sample.value(component)
        })
    }

    /// Quaternions: of every angle the cosine and sine of its half.
    fn half_angles(
        &mut self,
        list: &[Component],
        part: &[usize],
        found: &mut Found,
    ) -> Result<bool, DatabaseError> {
        let turning = |a: &Axis| a.functions == Functions::Waves;
        let nodes: Vec<Vec<f64>> = (self.axes.iter())
            .map(|a| a.nodes(1 + usize::from(turning(a))))
            .collect();
        let which: Vec<Vec<usize>> = (self.axes.iter())
            .map(|a| if turning(a) { vec![1, 2] } else { vec![0] })
            .collect();
        let grid = Grid {
            nodes,
            numbers: which.clone(),
            which,
            per_angle: 0.5,
        };
        let points = grid.points();
        let Some(signs) = self.samples(&points)?.map(|s| signs(&grid, &s)) else {
            return Ok(false);
        };
        self.fill(list, part, &grid, found, |sample, component, place| {
            let (_, [_, _, output, _]) = component.place();
            signs[place][output] * sample.value(component)
        })
    }

    /// Coefficients from the values on a grid; false where it is too large or a sample fails.
    fn fill(
        &mut self,
        list: &[Component],
        part: &[usize],
        grid: &Grid,
        found: &mut Found,
        value: impl Fn(&Sample, Component, usize) -> f64,
    ) -> Result<bool, DatabaseError> {
        let (axes, scales) = (self.axes, self.scales);
        if grid.len() > MOST_POINTS {
            return Ok(false);
        }
        let inverses: Option<Vec<DMatrix<f64>>> = (0..axes.len())
            .map(|k| axes[k].inverse(&grid.nodes[k], &grid.which[k], grid.per_angle))
            .collect();
        let (Some(inverses), Some(samples)) = (inverses, self.samples(&grid.points())?) else {
            return Ok(false);
        };
        let terms = grid.terms();
        for &i in part {
            let component = list[i];
            let mut numbers: Vec<f64> = samples
                .iter()
                .enumerate()
                .map(|(place, sample)| value(sample, component, place))
                .collect();
            for (k, inverse) in inverses.iter().enumerate() {
                grid.transform(&mut numbers, k, inverse);
            }
            let limit = ROUNDING * scales.of(component);
            for (term, c) in terms.iter().zip(numbers).filter(|(_, c)| c.abs() > limit) {
                let row = found.entry(term.clone());
                row.or_insert_with(|| vec![0.0; list.len()])[i] = c;
            }
        }
        Ok(true)
    }
}

/// Samples that differ in one θ alone.
struct Line {
    inverse: DMatrix<f64>,
    samples: Vec<Arc<Sample>>,
}

impl Line {
    /// Number of the last function whose coefficient exceeds a limit.
    fn last(&self, component: Component, limit: f64) -> usize {
        let coefficient = |i: usize| -> f64 {
            let row = self.inverse.row(i);
            let values = self.samples.iter().map(|s| s.value(component));
            row.iter().zip(values).map(|(a, v)| a * v).sum()
        };
        (0..self.samples.len())
            .rev()
            .find(|&i| coefficient(i).abs() > limit)
            .unwrap_or(0)
    }
}

/// A grid of points, the last θ fastest.
struct Grid {
    nodes: Vec<Vec<f64>>,
    /// Functions of every θ,
    which: Vec<Vec<usize>>,
    /// and their numbers in a table.
    numbers: Vec<Vec<usize>>,
    per_angle: f64,
}

impl Grid {
    fn len(&self) -> usize {
        (self.nodes.iter()).fold(1, |count, nodes| count.saturating_mul(nodes.len()))
    }

    fn all<T: Copy, U>(&self, lists: &[Vec<T>], of: impl Fn(T) -> U) -> Vec<Vec<U>> {
        let at = |mut place: usize| {
            let mut item: Vec<U> = Vec::with_capacity(lists.len());
            for list in lists.iter().rev() {
                item.push(of(list[place % list.len()]));
                place /= list.len();
            }
            item.reverse();
            item
        };
        (0..self.len()).map(at).collect()
    }

    fn points(&self) -> Vec<Vec<f64>> {
        self.all(&self.nodes, |x| x)
    }

    fn terms(&self) -> Vec<Vec<u8>> {
        self.all(&self.numbers, |i| i as u8)
    }

    /// Distance of neighbours along θ_k.
    fn stride(&self, k: usize) -> usize {
        self.nodes[k + 1..].iter().map(Vec::len).product()
    }

    /// Multiplies every line of numbers along θ_k by a matrix.
    fn transform(&self, numbers: &mut [f64], k: usize, matrix: &DMatrix<f64>) {
        let (stride, length) = (self.stride(k), self.nodes[k].len());
        let mut line = vec![0.0; length];
        for start in (0..numbers.len()).filter(|i| (i / stride).is_multiple_of(length)) {
            for (i, x) in line.iter_mut().enumerate() {
                *x = numbers[start + i * stride];
            }
            for i in 0..length {
                numbers[start + i * stride] = (0..length).map(|j| matrix[(i, j)] * line[j]).sum();
            }
        }
    }
}

/// Signs that make quaternions continuous on a grid with two points, half a turn apart, along every angle: from
/// q(θ) = a cos(θ/2) + b sin(θ/2) follows q(θ + π) = 2 ∂q/∂θ.
fn signs(grid: &Grid, samples: &[Arc<Sample>]) -> Vec<Vec<f64>> {
    let n_outputs = samples.first().map_or(0, |s| s.exact.outputs.len());
    let mut signs: Vec<Vec<f64>> = Vec::with_capacity(samples.len());
    for (place, sample) in samples.iter().enumerate() {
        let before = (0..grid.nodes.len()).find_map(|k| {
            let stride = grid.stride(k);
            ((place / stride) % grid.nodes[k].len() == 1).then(|| (k, place - stride))
        });
        let sign = |output: usize| {
            let Some((k, from)) = before else {
                return 1.0;
            };
            let agreement: f64 = (0..4)
                .map(|entry| {
                    let component = Component::Quaternion { output, entry };
                    let expected = samples[from].slope(component, k).unwrap_or(0.0);
                    signs[from][output] * expected * sample.value(component)
                })
                .sum();
            if agreement < 0.0 { -1.0 } else { 1.0 }
        };
        let of_place = (0..n_outputs).map(sign).collect();
        signs.push(of_place);
    }
    signs
}

/// A table of what was found, terms graded by their numbers.
fn table_of(found: Found) -> Table {
    let mut rows: Vec<(Vec<u8>, Vec<f64>)> = found.into_iter().collect();
    rows.sort_by_key(|(term, _)| term.iter().map(|&d| u32::from(d)).sum::<u32>());
    let (terms, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Table {
        coefficients: rows.concat(),
        terms,
    }
}
