//! How much the errors of a model feel each stored function.

use super::errors::{Part, Scales};
use super::rules::Rules;
use super::sample::Sample;
use crate::reduced_model::{
    Block, BoxModel, Component, ComponentLists, Constant, Evaluator, ModelCoefficients, ModelForm,
    ReducedModel, Table, Workspace,
};
use kernel::{Group, Move};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Probes at which functions are moved.
const PROBES: usize = 6;

/// Part of a tolerance that components which are left out may take.
const NEGLIGIBLE: f64 = 0.02;

/// Error over tolerance, the largest of all blocks, per unit of a stored function of the dynamics and per
/// unit of its derivatives by θ; root mean squares over some probes.
#[derive(Debug, Default)]
pub(super) struct Sensitivities {
    /// One per component.
    value: Vec<f64>,
    /// Of one component after the other, one per θ.
    slope: Vec<f64>,
}

impl Sensitivities {
    /// Moves every function, and its slopes, in models that are exact at one probe each. `draft` makes a
    /// model of one box from its tables.
    pub fn new(
        rules: &Rules,
        components: &ComponentLists,
        scales: &Scales,
        probes: &[Sample],
        draft: impl Fn(BoxModel) -> ReducedModel + Sync,
    ) -> Self {
        let Some(first) = probes.first() else {
            return Self::default();
        };
        let (s, stored) = (first.theta().len(), &components.dynamics);
        let step = probes.len().div_ceil(PROBES);
        let at: Vec<&Sample> = probes.iter().step_by(step).collect();
        let sizes = Sizes::new(components, probes);
        let squares: Vec<Vec<f64>> = at
            .par_iter()
            .map(|probe| {
                let model = draft(affine(probe, components));
                Moved::new(rules, scales, &sizes, probe, &model).squares(stored)
            })
            .collect();
        let root = |i: usize| {
            let sum: f64 = squares.iter().map(|p| p[i]).sum();
            (sum / at.len() as f64).sqrt()
        };
        let all: Vec<f64> = (0..stored.len() * (1 + s)).map(root).collect();
        let parts = || all.chunks_exact(1 + s);
        Self {
            value: parts().map(|p| p[0]).collect(),
            slope: parts().flat_map(|p| p[1..].iter().copied()).collect(),
        }
    }

    /// Components of the dynamics without which, or without whose changes, errors grow by no more than
    /// [`NEGLIGIBLE`] of a tolerance taken together: they become zero or constant. Errors of different
    /// components add up as their squares do.
    pub fn neglect(&self, components: &ComponentLists, probes: &[Sample]) -> ComponentLists {
        let parts: Vec<Varying> = components
            .dynamics
            .iter()
            .enumerate()
            .map(|(i, c)| self.varying(i, *c, probes))
            .collect();
        let mut order: Vec<(f64, usize, bool)> = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            order.push((part.change, i, false));
            order.push((part.whole, i, true));
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut sum, mut fate) = (0.0, vec![Fate::Stored; parts.len()]);
        for (error, i, whole) in order {
            sum += error * error;
            if sum > NEGLIGIBLE * NEGLIGIBLE {
                break;
            }
            fate[i] = if whole { Fate::Zero } else { Fate::Constant };
        }
        let mut lists = ComponentLists {
            dynamics: Vec::new(),
            ..components.clone()
        };
        for ((component, part), fate) in components.dynamics.iter().zip(&parts).zip(fate) {
            match fate {
                Fate::Stored => lists.dynamics.push(*component),
                Fate::Zero => {}
                Fate::Constant => lists.constants.push(Constant {
                    component: *component,
                    value: part.middle,
                }),
            }
        }
        lists
    }

    /// Largest errors over the probes if a component were constant, or zero.
    fn varying(&self, i: usize, component: Component, probes: &[Sample]) -> Varying {
        let values = || probes.iter().map(|p| p.value(component));
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        let middle = 0.5 * (low + high);
        let largest = |about: f64| {
            let error = |p: &Sample| {
                let slopes = (0..p.theta().len()).map(|k| p.slope(component, k).unwrap_or(0.0));
                self.error(i, p.value(component) - about, slopes)
            };
            probes.iter().map(error).fold(0.0, f64::max)
        };
        Varying {
            middle,
            change: largest(middle),
            whole: largest(0.0),
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// Error over tolerance per unit of a component itself.
    pub fn of_value(&self, component: usize) -> f64 {
        self.value[component]
    }

    /// Those of some of the components.
    pub fn of(&self, all: &[Component], some: &[Component]) -> Self {
        let s = self.slope.len() / self.value.len().max(1);
        let kept: Vec<usize> = (0..all.len()).filter(|i| some.contains(&all[*i])).collect();
        Self {
            value: kept.iter().map(|&i| self.value[i]).collect(),
            slope: kept
                .iter()
                .flat_map(|&i| self.slope[i * s..(i + 1) * s].iter().copied())
                .collect(),
        }
    }

    /// Error over tolerance that a change of a component causes which has this root mean square, and these
    /// of its derivatives.
    pub fn error(&self, component: usize, value: f64, slopes: impl Iterator<Item = f64>) -> f64 {
        let s = self.slope.len() / self.value.len().max(1);
        let of_slopes = self.slope[component * s..(component + 1) * s].iter();
        let squares = of_slopes.zip(slopes).map(|(a, b)| (a * b).powi(2));
        ((self.value[component] * value).powi(2) + squares.sum::<f64>()).sqrt()
    }
}

/// What a component is without its changes.
struct Varying {
    middle: f64,
    /// Error over tolerance if it were constant.
    change: f64,
    /// The same if it were zero.
    whole: f64,
}

#[derive(Clone, Copy)]
enum Fate {
    Stored,
    Constant,
    Zero,
}

/// Polynomials of first degree that are exact at a sample, which is the centre of the box.
fn affine(sample: &Sample, components: &ComponentLists) -> BoxModel {
    let theta = sample.theta();
    let s = theta.len();
    let unit = |k: usize| (0..s).map(|i| u8::from(i == k)).collect();
    let table = |list: &[Component]| {
        let values = list.iter().map(|c| sample.value(*c));
        let slopes =
            (0..s).flat_map(|k| list.iter().map(move |c| sample.slope(*c, k).unwrap_or(0.0)));
        Table {
            terms: std::iter::once(vec![0; s])
                .chain((0..s).map(unit))
                .collect(),
            coefficients: values.chain(slopes).collect(),
        }
    };
    BoxModel {
        lower: theta.iter().map(|t| t - 1.0).collect(),
        upper: theta.iter().map(|t| t + 1.0).collect(),
        dynamics: table(&components.dynamics),
        outputs: table(&components.outputs),
        definite: None,
        reached: false,
        errors: Vec::new(),
    }
}

/// Largest value and largest slope of the components of each group, over all probes: where a mechanism is symmetric, as it
/// often is in the middle of its domain, slopes are rounding alone, which no move may be measured by.
struct Sizes(BTreeMap<Group, [f64; 2]>);

impl Sizes {
    fn new(components: &ComponentLists, probes: &[Sample]) -> Self {
        let mut sizes = BTreeMap::new();
        for component in &components.dynamics {
            let [value, slope] = sizes.entry(component.place().0).or_insert([0.0_f64; 2]);
            for sample in probes {
                *value = value.max(sample.value(*component).abs());
                for k in 0..sample.theta().len() {
                    *slope = slope.max(sample.slope(*component, k).unwrap_or(0.0).abs());
                }
            }
        }
        Self(sizes)
    }

    /// Of the group of a component, slopes or values.
    fn largest(&self, component: Component, slope: Option<usize>) -> f64 {
        let sizes = self.0.get(&component.place().0);
        sizes.map_or(0.0, |s| s[usize::from(slope.is_some())])
    }
}

/// A model that is exact at a sample, with functions to be moved.
struct Moved<'a> {
    rules: &'a Rules,
    scales: &'a Scales,
    sample: &'a Sample,
    evaluator: Evaluator<'a>,
    work: Workspace,
    found: ModelCoefficients,
    sizes: &'a Sizes,
}

impl<'a> Moved<'a> {
    fn new(
        rules: &'a Rules,
        scales: &'a Scales,
        sizes: &'a Sizes,
        sample: &'a Sample,
        model: &'a ReducedModel,
    ) -> Self {
        Self {
            sizes,
            rules,
            scales,
            sample,
            evaluator: Evaluator::trial(model),
            work: Workspace::default(),
            found: ModelCoefficients::default(),
        }
    }

    /// Squares of the errors per unit of each component and of its slopes.
    fn squares(mut self, components: &[Component]) -> Vec<f64> {
        let s = self.sample.theta().len();
        let mut squares = Vec::with_capacity(components.len() * (1 + s));
        for component in components {
            // Without an exact gradient nothing that is measured depends on it, and in the form `direct`
            // nothing does.
            let has_slope = self.rules.form == ModelForm::Lagrangian
                && self.sample.slope(*component, 0).is_some();
            squares.push(self.error(*component, None).powi(2));
            for k in 0..s {
                let error = if has_slope {
                    self.error(*component, Some(k))
                } else {
                    0.0
                };
                squares.push(error.powi(2));
            }
        }
        squares
    }

    /// Error over tolerance per unit; errors grow with the move as long as it is small.
    fn error(&mut self, component: Component, slope: Option<usize>) -> f64 {
        let sample = self.sample;
        let size = match slope {
            Some(k) => sample.slope(component, k).unwrap_or(0.0),
            None => sample.value(component),
        };
        let by = 1e-3 * size.abs().max(1e-3 * self.sizes.largest(component, slope));
        if by == 0.0 {
            return 0.0;
        }
        let Some(value) = self.evaluator.value_of(component) else {
            return 0.0;
        };
        let moved = Move { value, slope, by };
        let (work, found) = (&mut self.work, &mut self.found);
        self.evaluator
            .moved_into(sample.theta(), moved, work, found);
        let measure = self.rules.measure();
        let errors = self
            .scales
            .point_errors(sample, found, measure, Part::Dynamics);
        let over = Block::ALL
            .into_iter()
            .filter(|b| self.scales.is_present(*b))
            .map(|b| errors[b as usize] / self.rules.tolerances[b as usize]);
        over.fold(0.0, f64::max) / by
    }
}
