//! One attempt at one box: fit, measure at fresh points, drop what is not needed.

use super::certify::definite_bound;
use super::errors::{N_BLOCKS, OF_OUTPUTS, Part, PointErrors, Scales, summarize};
use super::fit::{Fit, FitOptions, sample_weights};
use super::history::Counters;
use super::orientation::of_one_sign;
use super::peaks::Peaks;
use super::region::Region;
use super::rules::Rules;
use super::sample::Sample;
use super::sensitivity::Sensitivities;
use super::terms::{tensor, total_degree};
use super::trim::Trimming;
use crate::description::mechanism::{Basis, Objective};
use crate::reduced_model::{
    BoxModel, Component, ComponentLists, Continuity, Evaluator, Functions, ModelCoefficients,
    ModelForm, ModelLayout, Provenance, ReducedModel, Table, TreeNode, Workspace,
};
use kernel::Group;
use std::collections::BTreeMap;

/// What every box of a run shares.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub layout: &'a ModelLayout,
    pub rules: &'a Rules,
    pub components: &'a ComponentLists,
    /// Functions of every θ.
    pub functions: &'a [Functions],
    pub scales: &'a Scales,
    pub sensitivities: &'a Sensitivities,
    /// Places of large errors, at which boxes are judged besides their own points.
    pub peaks: &'a Peaks,
    pub counters: &'a Counters,
}

/// Validation points that are looked at first.
const FIRST_LOOK: usize = 24;

/// With an error of so many targets at the first points, an attempt has failed.
const FAR: f64 = 2.0;

/// A fitted box.
pub(super) struct Trial {
    pub dynamics: Table,
    pub outputs: Table,
    /// At the validation points, or at the first of them.
    pub errors: Vec<PointErrors>,
}

/// Samples of one attempt.
pub(super) struct TrialSamples<'a> {
    pub fit: Vec<&'a Sample>,
    /// None of them is in `fit`.
    pub validation: Vec<&'a Sample>,
}

impl Context<'_> {
    pub fn options(&self) -> FitOptions {
        let adaptive = self.rules.is_adaptive_degree();
        FitOptions {
            gradients: adaptive,
            interpolate_ends: adaptive && self.rules.continuous && self.layout.n_rigid == 1,
        }
    }

    /// Terms of the basis; `degree` matters for `chebyshev` only.
    pub fn terms(&self, degree: usize) -> Vec<Vec<u8>> {
        let s = self.layout.n_rigid;
        match self.rules.basis {
            Basis::Quadratic => total_degree(s, 2),
            Basis::Lagrange { order } => tensor(s, order),
            Basis::Chebyshev { .. } => total_degree(s, degree),
        }
    }

    /// Numbers of the dynamics of a box of the degree that is preferred.
    pub fn numbers_per_box(&self) -> usize {
        self.terms(self.rules.dynamics_degree).len() * self.components.dynamics.len()
    }

    /// Fits both tables and measures errors at the validation points; where a few of them show that
    /// the target is far, only there.
    pub fn attempt(
        &self,
        region: &Region,
        samples: &TrialSamples,
        dynamics_degree: usize,
        outputs_degree: usize,
    ) -> Trial {
        let dynamics = self.fit_table(
            region,
            samples,
            &self.terms(dynamics_degree),
            &self.components.dynamics,
        );
        let outputs = self.fit_table(
            region,
            samples,
            &self.terms(outputs_degree),
            &self.components.outputs,
        );
        let errors = self.measure(region, samples, &dynamics, &outputs, Part::All);
        Trial {
            dynamics,
            outputs,
            errors,
        }
    }

    /// Errors of a part of the model at the validation points, or at the first of them if they show
    /// that the target is far.
    fn measure(
        &self,
        region: &Region,
        samples: &TrialSamples,
        dynamics: &Table,
        outputs: &Table,
        part: Part,
    ) -> Vec<PointErrors> {
        let in_reach = |errors: &[PointErrors]| {
            let ratios = self.rules.ratios(errors, self.scales);
            errors.len() > FIRST_LOOK || ratios.iter().all(|r| *r <= FAR * self.rules.target)
        };
        let at = &samples.validation;
        self.errors_while(region, [dynamics, outputs], part, at, FIRST_LOOK, in_reach)
    }

    /// A trial that is good with one table replaced by one of another degree, if it still is.
    pub fn with_degree(
        &self,
        region: &Region,
        samples: &TrialSamples,
        trial: &Trial,
        part: Part,
        degree: usize,
    ) -> Option<Trial> {
        let components = match part {
            Part::Outputs => &self.components.outputs,
            Part::Dynamics | Part::All => &self.components.dynamics,
        };
        let table = self.fit_table(region, samples, &self.terms(degree), components);
        let (dynamics, outputs) = match part {
            Part::Outputs => (trial.dynamics.clone(), table),
            Part::Dynamics | Part::All => (table, trial.outputs.clone()),
        };
        let found = self.measure(region, samples, &dynamics, &outputs, part);
        let ratios = self.rules.ratios(&found, self.scales);
        ratios.iter().all(|r| *r <= self.rules.target).then(|| {
            let mut errors = trial.errors.clone();
            put_part(&mut errors, found, part);
            Trial {
                dynamics,
                outputs,
                errors,
            }
        })
    }

    /// The trial with errors at all validation points.
    pub fn completed(&self, region: &Region, samples: &TrialSamples, mut trial: Trial) -> Trial {
        let missing = &samples.validation[trial.errors.len()..];
        let tables = [&trial.dynamics, &trial.outputs];
        let errors = self.errors(region, tables, Part::All, missing);
        trial.errors.extend(errors);
        trial
    }

    /// Fits one table with the given terms.
    pub fn fit_table(
        &self,
        region: &Region,
        samples: &TrialSamples,
        terms: &[Vec<u8>],
        components: &[Component],
    ) -> Table {
        if components.is_empty() {
            return Table {
                terms: Vec::new(),
                coefficients: Vec::new(),
            };
        }
        self.counters.count_fit();
        let options = self.options();
        let is_turning = |c: &Component| matches!(c, Component::Quaternion { .. });
        let turned = components
            .iter()
            .any(is_turning)
            .then(|| of_one_sign(&samples.fit, region))
            .flatten();
        let turned: Option<Vec<&Sample>> = turned.as_ref().map(|all| all.iter().collect());
        let fitted = turned.as_ref().unwrap_or(&samples.fit);
        let weights = if options.gradients {
            sample_weights(&samples.fit, region, self.rules.criterion)
        } else {
            vec![1.0; samples.fit.len()]
        };
        Fit {
            samples: fitted,
            weights: &weights,
            region,
            terms,
            options,
        }
        .table(components)
    }

    /// Errors of a part of the model, through the evaluator that users get; `tables` are those of
    /// dynamics and outputs.
    pub fn errors(
        &self,
        region: &Region,
        tables: [&Table; 2],
        part: Part,
        at: &[&Sample],
    ) -> Vec<PointErrors> {
        self.errors_while(region, tables, part, at, at.len().max(1), |_| true)
    }

    /// The same, but after every `step` points `go_on` decides from what is known if more are needed.
    pub fn errors_while(
        &self,
        region: &Region,
        [dynamics, outputs]: [&Table; 2],
        part: Part,
        at: &[&Sample],
        step: usize,
        go_on: impl Fn(&[PointErrors]) -> bool,
    ) -> Vec<PointErrors> {
        let huge = PointErrors::new([f64::MAX; N_BLOCKS]);
        let finite = |table: &Table| table.coefficients.iter().all(|c| c.is_finite());
        if !finite(dynamics) || !finite(outputs) {
            return vec![huge; at.len()];
        }
        let model = self.single_box_model(BoxModel {
            lower: region.lower.clone(),
            upper: region.upper.clone(),
            dynamics: dynamics.clone(),
            outputs: outputs.clone(),
            definite: None,
            reached: false,
            errors: Vec::new(),
        });
        let evaluator = Evaluator::trial(&model);
        let mut work = Workspace::default();
        let mut found = ModelCoefficients::default();
        let measure = self.rules.measure();
        let mut point_errors = |sample: &Sample| {
            let (theta, work, found) = (sample.theta(), &mut work, &mut found);
            let evaluated = match part {
                Part::All => evaluator.coefficients_into(theta, work, found),
                Part::Dynamics => evaluator.dynamics_into(theta, work, found),
                Part::Outputs => evaluator.outputs_into(theta, work, found),
            };
            match evaluated {
                Ok(()) if self.peaks.contains(theta) => {
                    self.peaks.of_worst_motion(self, sample, found, part)
                }
                Ok(()) => self.scales.point_errors(sample, found, measure, part),
                Err(_) => huge,
            }
        };
        let mut errors = Vec::with_capacity(at.len());
        for points in at.chunks(step) {
            errors.extend(points.iter().map(|sample| point_errors(sample)));
            if !go_on(&errors) {
                break;
            }
        }
        errors
    }

    /// A model of one box, for measuring.
    pub fn single_box_model(&self, tables: BoxModel) -> ReducedModel {
        let layout = self.layout.over(&tables);
        let tree = vec![TreeNode::Leaf { index: 0 }];
        self.draft(layout, tree, vec![tables], Continuity::Smooth)
    }

    /// A model whose errors are not known yet.
    pub fn draft(
        &self,
        layout: ModelLayout,
        tree: Vec<TreeNode>,
        boxes: Vec<BoxModel>,
        continuity: Continuity,
    ) -> ReducedModel {
        ReducedModel {
            format: self.components.format(),
            layout,
            form: self.rules.form,
            functions: self.functions.to_vec(),
            components: self.components.clone(),
            tree,
            boxes,
            continuity,
            provenance: Provenance {
                tool: concat!("reduce ", env!("CARGO_PKG_VERSION")).to_owned(),
                input_hash: "0".repeat(64),
                settings: self.rules.record(self.scales),
                reached: false,
                routed_samples: 0,
                cut_short: None,
                errors: Vec::new(),
                largest: Vec::new(),
                jumps: Vec::new(),
            },
        }
    }

    /// The finished box, without coefficients that no tolerance needs.
    pub fn finish(
        &self,
        region: &Region,
        samples: &TrialSamples,
        trial: Trial,
        reached: bool,
    ) -> BoxModel {
        let Trial {
            mut dynamics,
            mut outputs,
            mut errors,
        } = trial;
        if self.rules.is_adaptive_degree() {
            let trimming = |part| Trimming {
                context: self,
                region,
                samples,
                dynamics: &dynamics,
                outputs: &outputs,
                errors: &errors,
                part,
            };
            // Boxes with equal terms are evaluated faster than boxes with fewer ones.
            let smaller_dynamics = match self.rules.objective {
                Objective::Size => trimming(Part::Dynamics).trimmed(),
                Objective::Speed => None,
            };
            let smaller_outputs = trimming(Part::Outputs).trimmed();
            if let Some(smaller) =
                smaller_dynamics.filter(|s| self.stays_proven(region, &dynamics, &s.table))
            {
                dynamics = smaller.table;
                put_part(&mut errors, smaller.errors, Part::Dynamics);
            }
            if let Some(smaller) = smaller_outputs {
                outputs = smaller.table;
                put_part(&mut errors, smaller.errors, Part::Outputs);
            }
        }
        BoxModel {
            lower: region.lower.clone(),
            upper: region.upper.clone(),
            definite: definite_bound(self, region, &dynamics),
            dynamics,
            outputs,
            reached,
            errors: summarize(&errors, self.scales),
        }
    }
}

impl Context<'_> {
    /// A smaller table keeps the proof of definiteness that a table has: in the form `direct` a box without
    /// it falls short.
    fn stays_proven(&self, region: &Region, table: &Table, smaller: &Table) -> bool {
        let proven = |table: &Table| definite_bound(self, region, table).is_some();
        self.rules.form == ModelForm::Lagrangian || proven(smaller) || !proven(table)
    }
}

/// Puts the errors of one part of the model, which replace those of before.
fn put_part(errors: &mut [PointErrors], found: Vec<PointErrors>, part: Part) {
    for (error, mut now) in errors.iter_mut().zip(found) {
        match part {
            Part::Outputs => OF_OUTPUTS
                .iter()
                .for_each(|b| error[*b as usize] = now[*b as usize]),
            Part::Dynamics => {
                OF_OUTPUTS
                    .iter()
                    .for_each(|b| now[*b as usize] = error[*b as usize]);
                *error = now;
            }
            Part::All => *error = now,
        }
    }
}

/// Largest coefficient of each component's kind.
pub(super) fn kind_scales(table: &Table, components: &[Component]) -> Vec<f64> {
    let n = components.len().max(1);
    // Derived quantities have sizes of their own.
    let kind = |c: &Component| match *c {
        Component::Derived { entry, .. } => (Group::Derived, entry),
        c => (c.place().0, 0),
    };
    let mut kinds: BTreeMap<(Group, usize), f64> = BTreeMap::new();
    for row in table.coefficients.chunks_exact(n) {
        for (component, c) in components.iter().zip(row) {
            let largest = kinds.entry(kind(component)).or_insert(f64::MIN_POSITIVE);
            *largest = largest.max(c.abs());
        }
    }
    let scale = |c: &Component| kinds.get(&kind(c)).copied().unwrap_or(f64::MIN_POSITIVE);
    components.iter().map(scale).collect()
}

/// Size of each term: root sum of squares over components, each relative to the largest
/// coefficient of its kind, times the degree, since derivatives count as much as values.
pub(super) fn term_sizes(table: &Table, components: &[Component]) -> Vec<f64> {
    let scales = kind_scales(table, components);
    let size = |(row, term): (&[f64], &Vec<u8>)| {
        let degree: f64 = term.iter().map(|&d| f64::from(d)).sum();
        degree.max(1.0)
            * row
                .iter()
                .zip(&scales)
                .map(|(c, s)| (c / s).powi(2))
                .sum::<f64>()
                .sqrt()
    };
    let rows = table.coefficients.chunks_exact(components.len().max(1));
    rows.zip(&table.terms).map(size).collect()
}
