//! Neighbouring boxes: equal traces on common faces, or the largest jump.

mod slopes;

use super::errors::{Part, summarize};
use super::least_squares::LeastSquares;
use super::motions::Motion;
use super::points::{grid, halton, lobatto};
use super::quantities::Quantities;
use super::region::Region;
use super::sample::Sample;
use super::store::{SampleStore, key};
use super::trial::Context;
use crate::description::mechanism::Basis;
use crate::reduced_model::{
    BoxModel, Component, Continuity, Evaluator, LargestError, ModelCoefficients, PolynomialValues,
    ReducedModel, Table, TreeNode, Workspace,
};
use faer::Mat;
use std::collections::BTreeMap;

/// Samples that tell how large components are.
const SIZING: usize = 64;

/// Jumps below this, relative to the component, are rounding.
const ROUNDING: f64 = 1e-10;

/// Makes boxes agree on faces where the rules ask for it, and says how they meet.
pub(super) fn join_boxes(
    context: &Context,
    store: &SampleStore,
    tree: &[TreeNode],
    boxes: &mut [BoxModel],
) -> Continuity {
    if tree.len() == 1 && !turns(context, boxes) {
        return Continuity::Smooth;
    }
    if let Basis::Lagrange { order } = context.rules.basis
        && context.rules.continuous
        && context.layout.n_rigid > 1
    {
        conform(order, boxes);
        for b in boxes.iter_mut() {
            assess(context, store, b);
        }
    }
    let largest = largest_jump(context, store, boxes);
    if largest > ROUNDING {
        return Continuity::Jumps { largest };
    }
    match slopes::join(context, store, boxes) {
        true => Continuity::Differentiable,
        false => Continuity::Continuous,
    }
}

/// Something depends on a coordinate that is periodic: polynomials do not go on smoothly at its ends.
fn turns(context: &Context, boxes: &[BoxModel]) -> bool {
    let periodic = &context.layout.domain.periodic;
    let terms = boxes
        .iter()
        .flat_map(|b| b.dynamics.terms.iter().chain(&b.outputs.terms));
    terms
        .flat_map(|t| t.iter().zip(periodic))
        .any(|(degree, periodic)| *degree > 0 && *periodic)
}

/// Measures a changed box again, at all samples in it, and says which part of a tolerance it uses.
pub(super) fn assess(context: &Context, store: &SampleStore, b: &mut BoxModel) -> f64 {
    let region = Region::of_box(b);
    let places = store.inside(&region, usize::MAX);
    let samples: Vec<_> = places.iter().filter_map(|p| store.get(p)).collect();
    let samples: Vec<&Sample> = samples.iter().map(AsRef::as_ref).collect();
    let errors = context.errors(&region, [&b.dynamics, &b.outputs], Part::All, &samples);
    let ratios = context.rules.ratios(&errors, context.scales);
    b.reached &= ratios.iter().all(|r| *r <= 1.0);
    b.errors = summarize(&errors, context.scales);
    b.definite = super::certify::definite_bound(context, &region, &b.dynamics);
    ratios.into_iter().fold(0.0, f64::max)
}

/// Nodes that lie on a box they are not nodes of take that box's value [T, figure 5.13], until
/// nothing changes. Faces must be nested, which refinement sees to.
fn conform(order: usize, boxes: &mut [BoxModel]) {
    let s = boxes.first().map_or(0, |b| b.lower.len());
    let xi = grid(&lobatto(order), s);
    let regions: Vec<Region> = boxes.iter().map(Region::of_box).collect();
    let nodes: Vec<Vec<Vec<f64>>> = regions
        .iter()
        .map(|r| xi.iter().map(|x| r.point(x)).collect())
        .collect();
    let hosts = hosts(order, &regions, &nodes);
    for table in [dynamics as TableOf, outputs as TableOf] {
        for _ in 0..64 {
            let mut change = 0.0_f64;
            for (b, own) in nodes.iter().enumerate() {
                change = change.max(take_values(boxes, b, own, &regions, &hosts, table));
            }
            if change <= 1e-15 {
                break;
            }
        }
    }
}

type TableOf = fn(&mut BoxModel) -> &mut Table;

fn dynamics(b: &mut BoxModel) -> &mut Table {
    &mut b.dynamics
}

fn outputs(b: &mut BoxModel) -> &mut Table {
    &mut b.outputs
}

/// For each hanging node the largest box that contains it without having it as a node.
fn hosts(order: usize, regions: &[Region], nodes: &[Vec<Vec<f64>>]) -> BTreeMap<Vec<u64>, usize> {
    let volume = |r: &Region| (0..r.dimension()).map(|k| r.width(k)).product::<f64>();
    let line = lobatto(order);
    let is_node = |r: &Region, theta: &[f64]| {
        (0..r.dimension()).all(|k| {
            let along = Region {
                lower: vec![r.lower[k]],
                upper: vec![r.upper[k]],
            };
            line.iter().any(|x| along.point(&[*x])[0] == theta[k])
        })
    };
    let mut hosts = BTreeMap::new();
    for theta in nodes.iter().flatten() {
        let mut best: Option<usize> = None;
        for (c, region) in regions.iter().enumerate() {
            let hangs = region.contains(theta) && !is_node(region, theta);
            if hangs && best.is_none_or(|b| volume(&regions[b]) < volume(region)) {
                best = Some(c);
            }
        }
        if let Some(host) = best {
            hosts.insert(key(theta), host);
        }
    }
    hosts
}

/// Gives the hanging nodes of one box their hosts' values; returns the largest relative change.
fn take_values(
    boxes: &mut [BoxModel],
    b: usize,
    nodes: &[Vec<f64>],
    regions: &[Region],
    hosts: &BTreeMap<Vec<u64>, usize>,
    table: TableOf,
) -> f64 {
    let n_terms = table(&mut boxes[b]).terms.len();
    if n_terms == 0 || !nodes.iter().any(|p| hosts.contains_key(&key(p))) {
        return 0.0;
    }
    let n_components = table(&mut boxes[b]).coefficients.len() / n_terms;
    let mut values = Mat::zeros(nodes.len(), n_components);
    let (mut change, mut size) = (
        vec![0.0_f64; n_components],
        vec![f64::MIN_POSITIVE; n_components],
    );
    for (i, theta) in nodes.iter().enumerate() {
        let own = evaluate(table(&mut boxes[b]), &regions[b], theta);
        let host = hosts.get(&key(theta)).filter(|h| **h != b);
        let taken = host.map_or_else(
            || own.clone(),
            |&h| evaluate(table(&mut boxes[h]), &regions[h], theta),
        );
        for j in 0..n_components {
            values[(i, j)] = taken[j];
            change[j] = change[j].max((taken[j] - own[j]).abs());
            size[j] = size[j].max(taken[j].abs());
        }
    }
    let largest = change
        .iter()
        .zip(&size)
        .map(|(c, s)| c / s)
        .fold(0.0, f64::max);
    if largest > 1e-15 {
        let matrix = vandermonde(table(&mut boxes[b]), &regions[b], nodes);
        let solution = LeastSquares::new(matrix).solve(values);
        let coefficients = &mut table(&mut boxes[b]).coefficients;
        for m in 0..n_terms {
            (0..n_components).for_each(|j| coefficients[m * n_components + j] = solution[(m, j)]);
        }
    }
    largest
}

fn vandermonde(table: &Table, region: &Region, nodes: &[Vec<f64>]) -> Mat<f64> {
    let degrees: Vec<u8> = table.terms.iter().flatten().copied().collect();
    let mut at = PolynomialValues::default();
    let mut matrix = Mat::zeros(nodes.len(), table.terms.len());
    for (i, theta) in nodes.iter().enumerate() {
        at.fill(&degrees, theta, &region.lower, &region.upper);
        at.terms()
            .iter()
            .enumerate()
            .for_each(|(m, v)| matrix[(i, m)] = *v);
    }
    matrix
}

fn evaluate(table: &Table, region: &Region, theta: &[f64]) -> Vec<f64> {
    let degrees: Vec<u8> = table.terms.iter().flatten().copied().collect();
    let n = table.coefficients.len() / table.terms.len().max(1);
    let mut at = PolynomialValues::default();
    at.fill(&degrees, theta, &region.lower, &region.upper);
    let mut values = vec![0.0; n];
    for (term, row) in at
        .terms()
        .iter()
        .zip(table.coefficients.chunks_exact(n.max(1)))
    {
        values.iter_mut().zip(row).for_each(|(v, c)| *v += term * c);
    }
    values
}

/// Largest jump of any component across any face, relative to its root mean square; ends of a periodic
/// coordinate are a face.
fn largest_jump(context: &Context, store: &SampleStore, boxes: &[BoxModel]) -> f64 {
    let scales = Scales {
        dynamics: root_mean_squares(store, &context.components.dynamics),
        outputs: root_mean_squares(store, &context.components.outputs),
    };
    let regions: Vec<Region> = boxes.iter().map(Region::of_box).collect();
    let mut largest = 0.0_f64;
    let domain = &context.layout.domain;
    for (a, b, face) in faces(&regions) {
        for theta in face_points(&face).iter().filter(|p| domain.admits(p)) {
            let sides = [(&boxes[a], theta), (&boxes[b], theta)];
            largest = largest.max(scales.jump(context, sides));
        }
    }
    for k in (0..context.layout.n_rigid).filter(|k| domain.periodic[*k]) {
        for (a, first) in regions.iter().enumerate() {
            let Some(beyond) = one_period_on(first, k, domain.lower[k], domain.upper[k]) else {
                continue;
            };
            for (b, last) in regions.iter().enumerate() {
                let Some(face) = beyond.common_face(last) else {
                    continue;
                };
                for theta in face_points(&face).into_iter().filter(|p| domain.admits(p)) {
                    let mut start = theta.clone();
                    start[k] = domain.lower[k];
                    let sides = [(&boxes[a], &start), (&boxes[b], &theta)];
                    largest = largest.max(scales.jump(context, sides));
                }
            }
        }
    }
    largest
}

/// The largest jumps of outputs and forces across faces that a few points of each show, in their units;
/// points that the inequalities exclude do not count.
pub(crate) fn absolute_jumps(model: &ReducedModel) -> Vec<LargestError> {
    let layout = &model.layout;
    let scales = super::errors::Scales::default();
    let quantities = Quantities::new(layout, &scales);
    let regions: Vec<Region> = model.boxes.iter().map(Region::of_box).collect();
    let alone: Vec<ReducedModel> = (0..regions.len()).map(|b| model.box_alone(b)).collect();
    let evaluators: Vec<Evaluator> = alone.iter().map(Evaluator::trial).collect();
    let mut largest: Vec<Option<(f64, Motion, Vec<f64>)>> = vec![None; quantities.list.len()];
    let mut sums = vec![0.0; quantities.list.len()];
    let mut count = 0;
    let (mut work, mut sides) = (Workspace::default(), <[ModelCoefficients; 2]>::default());
    for (a, b, face) in faces(&regions) {
        for theta in few_points(&face).iter().filter(|p| layout.domain.admits(p)) {
            let ok = [a, b]
                .into_iter()
                .zip(&mut sides)
                .all(|(i, c)| evaluators[i].coefficients_into(theta, &mut work, c).is_ok());
            if !ok {
                continue;
            }
            count += 1;
            let jumps = quantities.between(&sides[0], &sides[1]);
            for ((entry, sum), (jump, motion)) in largest.iter_mut().zip(&mut sums).zip(jumps) {
                *sum += jump;
                if entry.as_ref().is_none_or(|e| jump > e.0) {
                    *entry = Some((jump, motion, theta.clone()));
                }
            }
        }
    }
    let entries = quantities.list.iter().zip(largest).zip(sums);
    entries
        .filter_map(|((quantity, found), sum)| {
            let (jump, motion, theta) = found?;
            let mean = sum / f64::from(count.max(1));
            Some(quantities.entry(*quantity, mean, jump, &theta, &motion))
        })
        .collect()
}

/// Pairs of boxes with the face they share.
fn faces(regions: &[Region]) -> impl Iterator<Item = (usize, usize, Region)> {
    let later = |a: usize| (a + 1..regions.len()).map(move |b| (a, b));
    let pairs = (0..regions.len()).flat_map(later);
    pairs.filter_map(|(a, b)| Some((a, b, regions[a].common_face(&regions[b])?)))
}

/// A box at the lower end of a periodic coordinate, beyond the upper end.
fn one_period_on(region: &Region, k: usize, lower: f64, upper: f64) -> Option<Region> {
    (region.lower[k] == lower).then(|| {
        let mut beyond = region.clone();
        beyond.lower[k] = upper;
        beyond.upper[k] = upper + region.width(k);
        beyond
    })
}

/// Root mean squares of the components.
struct Scales {
    dynamics: Vec<f64>,
    outputs: Vec<f64>,
}

impl Scales {
    /// Largest relative difference between two boxes at places that are one configuration.
    fn jump(&self, context: &Context, sides: [(&BoxModel, &Vec<f64>); 2]) -> f64 {
        let lists = context.components;
        let of = |table: fn(&BoxModel) -> &Table, components: &[Component], scales: &[f64]| {
            let [one, other] =
                sides.map(|(b, theta)| evaluate(table(b), &Region::of_box(b), theta));
            let apart = |(i, component): (usize, &Component)| {
                let difference = match component.facts().is_signless {
                    true => one[i].abs() - other[i].abs(),
                    false => one[i] - other[i],
                };
                difference.abs() / scales[i]
            };
            components.iter().enumerate().map(apart).fold(0.0, f64::max)
        };
        let dynamics = of(|b| &b.dynamics, &lists.dynamics, &self.dynamics);
        dynamics.max(of(|b| &b.outputs, &lists.outputs, &self.outputs))
    }
}

/// Root mean square of each component over the first samples, which are spread over the domain;
/// never zero.
fn root_mean_squares(store: &SampleStore, components: &[Component]) -> Vec<f64> {
    let mut sums = vec![0.0; components.len()];
    let mut count = 0;
    for sample in store.samples().take(SIZING) {
        for (sum, component) in sums.iter_mut().zip(components) {
            *sum += sample.value(*component).powi(2);
        }
        count += 1;
    }
    let root = |sum: f64| (sum / f64::from(count.max(1))).sqrt();
    sums.into_iter()
        .map(|sum| root(sum).max(f64::MIN_POSITIVE))
        .collect()
}

/// Corners, centre and a few more points of a face.
fn face_points(face: &Region) -> Vec<Vec<f64>> {
    let s = face.dimension();
    let mut xi = if s <= 4 {
        grid(&[-1.0, 0.0, 1.0], s)
    } else {
        vec![vec![0.0; s]]
    };
    xi.extend(spread(s));
    xi.iter().map(|x| face.point(x)).collect()
}

/// A few points of a face.
fn few_points(face: &Region) -> Vec<Vec<f64>> {
    let center = vec![0.0; face.dimension()];
    let xi = spread(face.dimension()).chain([center]);
    xi.map(|x| face.point(&x)).collect()
}

fn spread(s: usize) -> impl Iterator<Item = Vec<f64>> {
    (0..8).map(move |i| halton(i, 0, s).into_iter().map(|u| 2.0 * u - 1.0).collect())
}
