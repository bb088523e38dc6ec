//! Trees of rigid bodies: what is left of all coefficients above rounding is the model, on any range.

use super::super::audit;
use super::super::components::{Mass, find_components};
use super::super::database::DatabaseError;
use super::super::errors::{Part as OfModel, summarize};
use super::super::points::halton;
use super::super::region::Region;
use super::super::sample::Sample;
use super::super::store::SampleStore;
use super::super::trial::Context;
use super::axis::{Axis, Family};
use super::lines::{self, Extent};
use super::{Needs, Part, Search, Shown};
use crate::reduced_model::{
    Block, BoxModel, Component, ComponentLists, Continuity, Functions, ReducedModel, Table,
    TreeNode,
};
use kernel::Group;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lines: harmonics up to 4, or degrees up to 6; the last ones must be absent.
const EXTENT: Extent = Extent {
    lines: 2,
    waves: 9,
    polynomials: 7,
};
/// Relative to its scale: below this a coefficient of a line is rounding,
const ABSENT: f64 = 1e-11;
/// and below this one of a grid, which is a mean of many values.
const ROUNDING: f64 = 1e-13;
/// Part of its tolerance that no block may exceed: what ends is exact but for rounding.
const EXACT: f64 = 1e-4;

/// The model of a tree of rigid bodies whose inertias, each moved by one θ alone, are `own`; nothing where its functions
/// do not end.
pub(in super::super) fn approximate(
    base: &Context,
    store: &mut SampleStore,
    probes: &[Sample],
    own: &[f64],
) -> Result<Option<ReducedModel>, DatabaseError> {
    let layout = base.layout;
    let components = find_components(layout, base.rules.form, Mass::Entries, probes);
    let axes: Vec<Axis> = (0..layout.n_rigid)
        .map(|k| match layout.coordinates[k].unit.as_str() {
            "rad" => Axis::of(layout, k, Functions::Waves),
            _ => Axis::of(layout, k, Functions::Polynomials),
        })
        .collect();
    let functions: Vec<Functions> = axes.iter().map(|a| a.functions).collect();
    let mut all = Vec::new();
    for (k, axis) in axes.iter().enumerate() {
        match lines::take(axis, k, &layout.domain, &EXTENT, store)? {
            Some(lines) => all.push(lines),
            None => return Ok(None),
        }
    }
    let mut search = Search {
        axes: &axes,
        store,
        lines: all,
    };
    let mut tables = Vec::new();
    for list in [&components.dynamics, &components.outputs] {
        let parts = Part::split(list, |g| u8::from(g == Group::Mass));
        let needs = Sizes::new(list, probes);
        match search.table(list, &parts, &needs)? {
            Some(table) => tables.push(table),
            None => return Ok(None),
        }
    }
    let (Some(outputs), Some(dynamics)) = (tables.pop(), tables.pop()) else {
        return Ok(None);
    };
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
    let errors = context.errors(&region, [&dynamics, &outputs], OfModel::All, &samples);
    let ratios = context.rules.ratios(&errors, context.scales);
    if samples.len() < points.len() || ratios.iter().any(|r| *r > EXACT) {
        return Ok(None);
    }
    let largest = |e: f64, p: &super::super::errors::PointErrors| e.max(p[Block::Mass as usize]);
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

/// Sizes of the components of a table, by which rounding is told.
struct Sizes(Vec<f64>);

impl Sizes {
    fn new(list: &[Component], probes: &[Sample]) -> Self {
        let largest = |c: Component| {
            let values = probes.iter().map(|p| p.value(c).abs());
            values.fold(0.0, f64::max)
        };
        // Derived quantities have sizes of their own.
        let kind = |c: &Component| match *c {
            Component::Derived { entry, .. } => (Group::Derived, entry),
            c => (c.place().0, 0),
        };
        let mut groups: BTreeMap<(Group, usize), f64> = BTreeMap::new();
        for c in list {
            let size = groups.entry(kind(c)).or_default();
            *size = size.max(largest(*c));
        }
        let scale = |c: &Component| match *c {
            Component::Mass { row, column } => {
                let diagonal = |k| largest(Component::Mass { row: k, column: k });
                (diagonal(row) * diagonal(column)).sqrt()
            }
            c => groups[&kind(&c)],
        };
        Self(list.iter().map(scale).collect())
    }
}

impl Needs for Sizes {
    fn count(&self, axis: &Axis, _: usize, family: Family, shown: &Shown) -> Option<usize> {
        let mut count = 1;
        for coefficients in &shown.lines {
            for (of_component, place) in coefficients.iter().zip(shown.places) {
                let limit = ABSENT * self.0[*place];
                let last = of_component.iter().rposition(|c| c.abs() > limit);
                count = count.max(last.map_or(1, |last| last + 1));
            }
        }
        let points = EXTENT.points(axis.functions);
        let allowed = match family {
            Family::Waves | Family::HalfWaves => points - 2,
            Family::Polynomials => points - 1,
        };
        (count <= allowed).then_some(count)
    }

    fn limit(&self, place: usize) -> f64 {
        ROUNDING * self.0[place]
    }
}
