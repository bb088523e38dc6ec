//! Mechanisms with elastic bodies, of which some angle turns far: sums of waves that fade, and are cut off where
//! tolerances allow it.

use super::super::audit::audit;
use super::super::database::DatabaseError;
use super::super::errors::Part as OfModel;
use super::super::peaks::{Peaks, search};
use super::super::points::halton;
use super::super::region::Region;
use super::super::rules::Rules;
use super::super::sample::Sample;
use super::super::sensitivity::Sensitivities;
use super::super::store::SampleStore;
use super::super::trial::{Context, Trial, TrialSamples};
use super::super::{CLOSE, LargestCost};
use super::axis::{Axis, Family};
use super::lines::{self, Extent, Line};
use super::{Needs, Part, Search, Shown};
use crate::reduced_model::{
    Block, Component, Continuity, Functions, ReducedModel, Table, TreeNode,
};
use kernel::Group;
use std::collections::BTreeMap;
use std::sync::Arc;

const EXTENT: Extent = Extent {
    lines: 3,
    waves: 97,
    polynomials: 33,
};
/// Part of the points of a line that functions may need: more would not be told apart.
const RESOLVED: f64 = 0.75;
/// Part of a tolerance that the functions cut off may take along one line in the first attempt: the smallest whose grids
/// are not too large, because the errors of many lines are added up and are seldom all there at once.
const TAILS: [f64; 3] = [0.3, 1.0, 3.0];
/// How much less it is in the next attempt; the square root of that where lines do not tell so many functions apart.
const LESS: f64 = 0.3;
const ATTEMPTS: u64 = 5;
/// Of what is cut off, single coefficients may be so small a part to be left out at once.
const NOTHING: f64 = 1e-3;
/// Part of a tolerance that trimmed tables may lose: more than on boxes, because errors of smooth functions are small
/// in the mean where they are small somewhere, and the whole domain is looked at.
const TRIMMING: f64 = 0.7;

/// A model by waves that keeps the tolerances.
pub(in super::super) struct Faded {
    pub model: ReducedModel,
    /// What the bound of the largest error takes, where the mean alone does not keep it.
    pub largest: Option<LargestCost>,
    /// That bound is kept.
    pub is_bounded: bool,
}

/// The model of a mechanism by waves of its angles; nothing where none suits, functions fade slowly or samples fail.
/// Where `is_tree`, angles may leave their ranges.
pub(in super::super) fn approximate(
    base: &Context,
    store: &mut SampleStore,
    probes: &[Sample],
    is_tree: bool,
) -> Result<Option<Faded>, DatabaseError> {
    let layout = base.layout;
    let needs = lists_with_needs(base, probes, TAILS[0]);
    let Some((axes, lines)) = chosen(base, store, &needs, is_tree)? else {
        return Ok(None);
    };
    let functions: Vec<Functions> = axes.iter().map(|a| a.functions).collect();
    let mut samples = Search {
        axes: &axes,
        store,
        lines,
    };
    let mut rules = Rules {
        continuous: false,
        trimming: TRIMMING,
        ..base.rules.clone()
    };
    let mut peaks = Peaks::new(layout);
    let fits = |tail: &&f64| {
        let needs = lists_with_needs(base, probes, **tail);
        needs.iter().all(|(list, needs)| {
            let parts = Part::split(list, |_| 0);
            samples.points(list, &parts, needs).is_some()
        })
    };
    let Some(mut tail) = TAILS.iter().find(fits).copied() else {
        return Ok(None);
    };
    let (mut first, mut largest) = (None, None);
    let mut less = LESS;
    for attempt in 0..ATTEMPTS {
        let Some(tables) = tables(base, &mut samples, probes, tail)? else {
            if attempt == 0 {
                return Ok(None);
            }
            tail /= less;
            less = less.sqrt();
            tail *= less;
            continue;
        };
        tail *= less;
        let context = Context {
            rules: &rules,
            functions: &functions,
            peaks: &peaks,
            ..*base
        };
        let Some(model) = finished(&context, samples.store, tables, attempt)? else {
            continue;
        };
        let audited = audit(&context, samples.store, &model, attempt)?;
        if audited.excess > 1.0 {
            rules.tighten((0.9 / audited.excess).clamp(0.3, 0.9));
            continue;
        }
        let bounded = |model| Faded {
            model,
            largest: largest.clone(),
            is_bounded: true,
        };
        let Some(factor) = rules.largest else {
            return Ok(Some(bounded(model)));
        };
        let found = search(&context, samples.store, &model, &audited.points, factor)?;
        if found.excess <= CLOSE {
            return Ok(Some(bounded(model)));
        }
        peaks.include(found.points);
        largest.get_or_insert(LargestCost {
            numbers: model.stored_numbers(),
            places: found.worst,
            given_up: None,
        });
        first.get_or_insert(model);
    }
    Ok(first.map(|model| Faded {
        model,
        largest,
        is_bounded: false,
    }))
}

/// Functions of every θ, and lines along each.
type Chosen = (Vec<Axis>, Vec<Vec<Line>>);

/// Functions of every θ, and lines along it: waves where it turns endlessly, and in a tree where they are fewer than
/// polynomials over its range. Nothing where there are no waves at all, or a sample fails.
fn chosen(
    base: &Context,
    store: &mut SampleStore,
    needs: &[(&[Component], Fading)],
    is_tree: bool,
) -> Result<Option<Chosen>, DatabaseError> {
    let (layout, domain) = (base.layout, &base.layout.domain);
    let tried = |k: usize| -> &[Functions] {
        let is_angle = layout.coordinates[k].unit == "rad";
        match (is_angle && domain.periodic[k], is_angle && is_tree) {
            (true, _) => &[Functions::Waves],
            (false, true) => &[Functions::Waves, Functions::Polynomials],
            (false, false) => &[Functions::Polynomials],
        }
    };
    let (mut axes, mut lines) = (Vec::new(), Vec::new());
    if (0..layout.n_rigid).all(|k| !tried(k).contains(&Functions::Waves)) {
        return Ok(None);
    }
    for k in 0..layout.n_rigid {
        let mut best: Option<(usize, Axis, Vec<Line>)> = None;
        for functions in tried(k) {
            let axis = Axis::of(layout, k, *functions);
            let Some(taken) = lines::take(&axis, k, domain, &EXTENT, store)? else {
                continue;
            };
            let count = functions_needed(&axis, k, &taken, needs);
            if best.as_ref().is_none_or(|(least, ..)| count < *least) {
                best = Some((count, axis, taken));
            }
        }
        let Some((_, axis, taken)) = best else {
            return Ok(None);
        };
        axes.push(axis);
        lines.push(taken);
    }
    let turns = axes.iter().any(|a| a.functions == Functions::Waves);
    Ok(turns.then_some((axes, lines)))
}

/// Functions of θ_k that both tables need, but for quaternions.
fn functions_needed(
    axis: &Axis,
    k: usize,
    lines: &[Line],
    needs: &[(&[Component], Fading)],
) -> usize {
    let of_table = |(list, needs): &(&[Component], Fading)| {
        let is_plain = |c: &Component| !matches!(c, Component::Quaternion { .. });
        let places: Vec<usize> = (0..list.len()).filter(|&i| is_plain(&list[i])).collect();
        let components: Vec<Component> = places.iter().map(|&i| list[i]).collect();
        let shown = Shown::new(axis, k, axis.family(), lines, &components, &places)?;
        needs.count(axis, k, axis.family(), &shown)
    };
    let counts = needs.iter().map(|n| of_table(n).unwrap_or(usize::MAX));
    counts.fold(0, usize::saturating_add)
}

/// Stored components of dynamics and outputs, and how many functions they need.
fn lists_with_needs<'a>(
    base: &Context<'a>,
    probes: &[Sample],
    tail: f64,
) -> [(&'a [Component], Fading<'a>); 2] {
    let lists = base.components;
    let dynamics = Weights::OfDynamics(base.sensitivities, base.layout.n_rigid);
    let outputs = Weights::of_outputs(&lists.outputs, probes, base.rules);
    [
        (&lists.dynamics[..], dynamics),
        (&lists.outputs[..], outputs),
    ]
    .map(|(list, weights)| (list, Fading { weights, tail }))
}

/// Tables of dynamics and outputs.
fn tables(
    base: &Context,
    samples: &mut Search,
    probes: &[Sample],
    tail: f64,
) -> Result<Option<[Table; 2]>, DatabaseError> {
    let mut tables = Vec::new();
    for (list, needs) in lists_with_needs(base, probes, tail) {
        let parts = Part::split(list, |_| 0);
        match samples.table(list, &parts, &needs)? {
            Some(table) => tables.push(table),
            None => return Ok(None),
        }
    }
    Ok(tables.try_into().ok())
}

/// The model without coefficients that no tolerance needs; nothing where it does not keep them.
fn finished(
    context: &Context,
    store: &mut SampleStore,
    [dynamics, outputs]: [Table; 2],
    attempt: u64,
) -> Result<Option<ReducedModel>, DatabaseError> {
    let (layout, s) = (context.layout, context.layout.n_rigid as u64);
    let region = Region::of_domain(&layout.domain);
    let points = |key: u64| {
        let place = |i| halton(i, key, layout.n_rigid);
        let inside = |u: Vec<f64>| u.iter().map(|v| 2.0 * v - 1.0).collect::<Vec<_>>();
        let all = (0..32 + 16 * s).map(|i| region.point(&inside(place(i))));
        region.admitted(&layout.domain, all.collect())
    };
    let peaks = context.peaks.inside(&region).cloned();
    let validation: Vec<Vec<f64>> = peaks.chain(points(0xfade + attempt)).collect();
    let others = points(0x5eed);
    store.require(validation.iter().chain(&others))?;
    let get = |points: &[Vec<f64>]| -> Vec<Arc<Sample>> {
        points.iter().filter_map(|p| store.get(p)).collect()
    };
    let (known, others) = (get(&validation), get(&others));
    if known.len() < validation.len() {
        return Ok(None);
    }
    let samples = TrialSamples {
        fit: others.iter().map(AsRef::as_ref).collect(),
        validation: known.iter().map(AsRef::as_ref).collect(),
    };
    let tables = [&dynamics, &outputs];
    let errors = context.errors(&region, tables, OfModel::All, &samples.validation);
    let ratios = context.rules.ratios(&errors, context.scales);
    if ratios.iter().any(|r| *r > context.rules.target) {
        return Ok(None);
    }
    let trial = Trial {
        dynamics,
        outputs,
        errors,
    };
    let model_box = context.finish(&region, &samples, trial, true);
    let tree = vec![TreeNode::Leaf { index: 0 }];
    let boxes = vec![model_box];
    Ok(Some(context.draft(
        layout.clone(),
        tree,
        boxes,
        Continuity::Smooth,
    )))
}

/// How much errors feel the components of a table.
enum Weights<'a> {
    /// With the number of θ.
    OfDynamics(&'a Sensitivities, usize),
    /// Error over tolerance per unit.
    OfOutputs(Vec<f64>),
}

impl Weights<'_> {
    fn of_outputs(list: &[Component], probes: &[Sample], rules: &Rules) -> Self {
        // Translations and rotations have sizes of their own.
        let kind = |c: &Component| match c {
            Component::Amplitude { output, row, .. } => (Group::Amplitude, *output, *row >= 3),
            c => (c.place().0, c.place().1[2], false),
        };
        let mut sizes = BTreeMap::new();
        for c in list {
            let size: &mut f64 = sizes.entry(kind(c)).or_default();
            let values = probes.iter().map(|p| p.value(*c).abs());
            *size = values.fold(*size, f64::max);
        }
        let tolerance = |c: &Component| match c.is_derived() {
            true => rules.tolerances[Block::Derived as usize],
            false => rules.tolerances[Block::Outputs as usize],
        };
        let weight = |c: &Component| 1.0 / (sizes[&kind(c)] * tolerance(c)).max(f64::MIN_POSITIVE);
        Self::OfOutputs(list.iter().map(weight).collect())
    }

    /// Error over tolerance of a change of a component and of its derivative by θ_k.
    fn error(&self, place: usize, k: usize, value: f64, slope: f64) -> f64 {
        match self {
            Self::OfDynamics(sensitivities, s) => {
                let slopes = (0..*s).map(|i| if i == k { slope } else { 0.0 });
                sensitivities.error(place, value, slopes)
            }
            Self::OfOutputs(weights) => weights[place] * value.max(slope),
        }
    }
}

/// Sums that are cut off where the rest is small.
struct Fading<'a> {
    weights: Weights<'a>,
    tail: f64,
}

impl Needs for Fading<'_> {
    fn count(&self, axis: &Axis, k: usize, family: Family, shown: &Shown) -> Option<usize> {
        let length = shown.lines.first()?.first()?.len();
        let mut rest = 0.0;
        let mut count = length;
        while count > 1 {
            let i = count - 1;
            let mut square = 0.0;
            for (c, &place) in shown.places.iter().enumerate() {
                let sizes = shown.lines.iter().map(|line| line[c][i].abs());
                let size = sizes.fold(0.0, f64::max);
                let slope = size * axis.steepness(family, i);
                square += self.weights.error(place, k, size, slope).powi(2);
            }
            rest += square;
            if rest.sqrt() > self.tail {
                break;
            }
            count = i;
        }
        (count as f64 <= RESOLVED * length as f64).then_some(count)
    }

    fn limit(&self, place: usize) -> f64 {
        let steep = EXTENT.waves as f64;
        let most = self.weights.error(place, 0, 1.0, steep);
        NOTHING * self.tail / most.max(f64::MIN_POSITIVE)
    }
}
