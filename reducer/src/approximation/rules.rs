//! Settings made concrete for one model: tolerances, degrees, what may be bisected.

use super::errors::{Measure, N_BLOCKS, Part, PointErrors, Scales, mean_error};
use super::region::Region;
use super::terms::{default_max_degree, total_degree_count};
use crate::description::mechanism::{
    ApproximationSettings, Basis, Budgets, Continuity, Criterion, Form, Objective,
};
use crate::reduced_model::{
    BasisRecord, Block, BlockTolerance, ModelForm, ModelLayout, SettingsRecord, limits,
};

/// Settings or layout that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// θ has no finite range.
    #[error(
        "coordinate `{coordinate}` has no finite range; give lower and upper limits, or make it periodic"
    )]
    Unbounded {
        /// The coordinate.
        coordinate: String,
    },
    /// A number is out of range.
    #[error("approximation: {what} is {found}; {expected}")]
    OutOfRange {
        /// Which number.
        what: String,
        /// Its value.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// Slopes cannot be made continuous.
    #[error(
        "approximation: continuity `c1` is possible with one coordinate and the basis `chebyshev`; leave `continuity` out, or set it to `c0`"
    )]
    NoContinuousSlopes,
    /// Tolerance for something that has none.
    #[error(
        "approximation: there is no block `{block}`; tolerances exist for mass, gyroscopic, gravity, stiffness, damping, force and outputs"
    )]
    UnknownBlock {
        /// The name given.
        block: String,
    },
}

/// Of the boxes of a run, one part in so many may be spent on bisecting what cannot be reduced as a whole.
const SEARCH_PART: usize = 8;

/// What is asked of slopes at ends of boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slopes {
    Free,
    /// Equal on both sides where that takes few numbers.
    JoinedIfCheap,
    Joined,
}

/// Concrete rules of one run.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub form: ModelForm,
    pub basis: Basis,
    pub objective: Objective,
    pub criterion: Criterion,
    /// The largest error that is found may be so many times the tolerance of the mean.
    pub largest: Option<f64>,
    pub tolerances: [f64; N_BLOCKS],
    pub minimal_width: Vec<f64>,
    pub max_degree: usize,
    /// Degree of the dynamics above which boxes are bisected, as long as they may be.
    pub dynamics_degree: usize,
    /// Numbers of the dynamics beyond which a refinement is given up.
    pub most_numbers: usize,
    /// What a refinement may take.
    pub budgets: Budgets,
    /// Neighbours must agree on faces.
    pub continuous: bool,
    pub slopes: Slopes,
    /// Part of the tolerance that a box may use, so that points not yet seen stay below it.
    pub target: f64,
    /// Part of the tolerance that a box may use after terms are dropped.
    pub trimmed_target: f64,
    /// Part of its tolerance that a block may lose when terms are dropped: a tenth, because frequencies and forces in
    /// time are better than tolerances ask for where that costs little.
    pub trimming: f64,
    /// Form and bases of the thesis: its norm, and its validation points half-way to the faces.
    pub thesis: bool,
}

impl Rules {
    pub fn new(
        settings: &ApproximationSettings,
        layout: &ModelLayout,
    ) -> Result<Self, SettingsError> {
        let s = layout.n_rigid;
        check_domain(layout)?;
        let out_of_range = |what: &str, found: f64, expected| SettingsError::OutOfRange {
            what: what.to_owned(),
            found,
            expected,
        };
        let thesis = settings.form == Some(Form::Direct)
            && !matches!(settings.basis, Basis::Chebyshev { .. });
        let mut tolerances = [if thesis {
            f64::INFINITY
        } else {
            settings.tolerance
        }; N_BLOCKS];
        tolerances[Block::Combined as usize] = settings.tolerance;
        if let Some(tolerance) = layout.derived_tolerance() {
            tolerances[Block::Derived as usize] = tolerance;
        }
        // Declared motion makes vibrations: errors of frequencies add up to errors of phase.
        if layout.validity.as_ref().is_some_and(|v| v.is_declared()) {
            tolerances[Block::Stiffness as usize] *= 0.5;
        }
        for (name, tolerance) in &settings.block_tolerances {
            // Every derived quantity has a tolerance of its own.
            let mut known = Block::ALL.iter().filter(|b| **b != Block::Derived);
            match known.find(|b| b.name() == name) {
                Some(block) => tolerances[*block as usize] = *tolerance,
                None => {
                    return Err(SettingsError::UnknownBlock {
                        block: name.clone(),
                    });
                }
            }
        }
        for (block, &t) in Block::ALL.iter().zip(&tolerances) {
            if !(t > 0.0 && (thesis || t.is_finite())) {
                return Err(out_of_range(
                    &format!("the tolerance of `{}`", block.name()),
                    t,
                    "it must be positive",
                ));
            }
        }
        // Widths are given for the mechanism's coordinates; a path has a parameter of its own.
        let on_path = settings.trajectory.is_some() && s == 1;
        let given: Vec<f64> = if on_path {
            vec![1e-3]
        } else {
            settings.minimal_width.clone()
        };
        if given.len() != s {
            let found = given.len() as f64;
            return Err(out_of_range(
                "the number of minimal widths",
                found,
                "one is needed for each actuated coordinate",
            ));
        }
        let width = |k: usize| layout.domain.upper[k] - layout.domain.lower[k];
        let minimal_width = (0..s)
            .map(|k| given[k].max(width(k) * 2f64.powi(-20)))
            .collect();
        let max_degree = match settings.basis {
            Basis::Quadratic => 2,
            Basis::Lagrange { order } => order,
            Basis::Chebyshev { max_degree } => max_degree.unwrap_or_else(|| default_max_degree(s)),
        };
        if !(1..=usize::from(limits::DEGREE)).contains(&max_degree) {
            return Err(out_of_range(
                "the degree",
                max_degree as f64,
                "1 to 64 is possible",
            ));
        }
        let can_join_slopes = s == 1 && matches!(settings.basis, Basis::Chebyshev { .. });
        let slopes = match settings.continuity {
            Some(Continuity::C1) if !can_join_slopes => {
                return Err(SettingsError::NoContinuousSlopes);
            }
            Some(Continuity::C1) => Slopes::Joined,
            // Equal terms in all boxes are faster, and the form `direct` has no forces from slopes.
            None if can_join_slopes
                && settings.objective == Objective::Size
                && settings.form != Some(Form::Direct) =>
            {
                Slopes::JoinedIfCheap
            }
            Some(Continuity::None | Continuity::C0) | None => Slopes::Free,
        };
        let default_continuity = matches!(settings.basis, Basis::Lagrange { .. })
            || (s == 1 && matches!(settings.basis, Basis::Chebyshev { .. }));
        Ok(Self {
            form: match settings.form {
                Some(Form::Direct) => ModelForm::Direct,
                Some(Form::Lagrangian) | None => ModelForm::Lagrangian,
            },
            dynamics_degree: max_degree,
            most_numbers: usize::MAX,
            budgets: settings.budgets,
            basis: settings.basis,
            objective: settings.objective,
            criterion: settings.criterion,
            largest: settings
                .largest
                .filter(|_| settings.criterion == Criterion::Mean && !thesis),
            tolerances,
            minimal_width,
            max_degree,
            continuous: settings
                .continuity
                .map_or(default_continuity, |c| c != Continuity::None),
            slopes,
            target: match settings.criterion {
                _ if thesis => 1.0,
                Criterion::Mean => 0.8,
                Criterion::Max => 0.85,
            },
            trimmed_target: match settings.criterion {
                _ if thesis => 1.0,
                Criterion::Mean | Criterion::Max => 0.85,
            },
            trimming: 0.1,
            thesis,
        })
    }

    /// A box is not done without a proof of definiteness, which the form `lagrangian` has by itself; the thesis asks for none.
    pub fn needs_proof(&self) -> bool {
        self.form == ModelForm::Direct && !self.thesis
    }

    /// Makes the targets stricter.
    pub fn tighten(&mut self, factor: f64) {
        self.target *= factor;
        self.trimmed_target *= factor;
    }

    /// Part of the tolerance that a part of the model may use after coefficients are dropped. Outputs take less,
    /// because what they give away would cost dynamics a stricter target.
    pub fn trimmed_target(&self, part: Part) -> f64 {
        match part {
            Part::Outputs => self.trimmed_target.min(0.9 * self.target),
            Part::Dynamics | Part::All => self.trimmed_target,
        }
    }

    /// Measure of the tolerance: the thesis's for the thesis's form.
    pub fn measure(&self) -> Measure {
        match self.form {
            ModelForm::Lagrangian => Measure::Whitened,
            ModelForm::Direct => Measure::Frobenius,
        }
    }

    /// Samples to which so many terms are fitted. Objective `speed` has few terms in many boxes: closer
    /// to the best approximation, the boxes are fewer by almost half.
    pub fn fit_points(&self, n_terms: usize) -> usize {
        match self.objective {
            Objective::Size => n_terms + n_terms.div_ceil(2),
            Objective::Speed => 4 * n_terms,
        }
    }

    pub fn is_adaptive_degree(&self) -> bool {
        matches!(self.basis, Basis::Chebyshev { .. })
    }

    /// Degree up to which it is raised where that is predicted to store less than two boxes of
    /// the preferred degree; a degree that the user chose is never exceeded.
    pub fn stretched_degree(&self, s: usize) -> usize {
        let preferred = self.dynamics_degree;
        match (self.basis, self.objective) {
            (Basis::Chebyshev { max_degree: None }, Objective::Size) if s > 1 => {
                let two_boxes = 2 * total_degree_count(s, preferred);
                (preferred..)
                    .find(|d| total_degree_count(s, d + 1) >= two_boxes)
                    .unwrap_or(preferred)
            }
            _ => preferred,
        }
    }

    /// Boxes that are bisected in search of what can be reduced, at most.
    pub fn most_searches(&self) -> usize {
        self.budgets.boxes / SEARCH_PART
    }

    /// The block with the largest error over its tolerance.
    pub fn lagging(&self, points: &[PointErrors], scales: &Scales) -> Option<Block> {
        let ratios = self.ratios(points, scales);
        let ratio = |b: &Block| ratios[*b as usize];
        Block::ALL
            .into_iter()
            .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
    }

    /// Error of each block over its tolerance.
    pub fn ratios(&self, points: &[PointErrors], scales: &Scales) -> [f64; N_BLOCKS] {
        let mut ratios = [0.0; N_BLOCKS];
        for block in Block::ALL.into_iter().filter(|b| scales.is_present(*b)) {
            let largest = || points.iter().map(|p| p[block as usize]).fold(0.0, f64::max);
            let error = match (self.criterion, self.largest) {
                (Criterion::Mean, None) => mean_error(points, block),
                (Criterion::Mean, Some(factor)) => {
                    mean_error(points, block).max(largest() / factor)
                }
                (Criterion::Max, _) => largest(),
            };
            ratios[block as usize] = error / self.tolerances[block as usize];
        }
        ratios
    }

    /// Bisection along this axis leaves boxes of the minimal width [T 5.171].
    pub fn may_bisect(&self, region: &Region, axis: usize) -> bool {
        region.width(axis) >= 2.0 * self.minimal_width[axis] * (1.0 - 1e-12)
    }

    /// Axis of the largest width in units of the minimal one, for boxes without error information.
    pub fn widest_axis(&self, region: &Region) -> Option<usize> {
        self.best_axis(region, |k| region.width(k) / self.minimal_width[k])
    }

    /// The axis that may be bisected and has the largest weight.
    pub fn best_axis(&self, region: &Region, weight: impl Fn(usize) -> f64) -> Option<usize> {
        (0..region.dimension())
            .filter(|&k| self.may_bisect(region, k))
            .fold(None, |best, k| match best {
                Some(b) if weight(b) >= weight(k) => Some(b),
                _ => Some(k),
            })
    }

    pub fn record(&self, scales: &Scales) -> SettingsRecord {
        let present = Block::ALL
            .into_iter()
            .filter(|b| scales.is_present(*b) && self.tolerances[*b as usize].is_finite());
        SettingsRecord {
            basis: match self.basis {
                Basis::Quadratic => BasisRecord::Quadratic,
                Basis::Lagrange { order } => BasisRecord::Lagrange { order },
                Basis::Chebyshev { .. } => BasisRecord::Chebyshev {
                    max_degree: self.max_degree,
                },
            },
            criterion: self.criterion,
            largest: self.largest,
            objective: self.objective,
            tolerances: present
                .map(|b| BlockTolerance {
                    block: b,
                    tolerance: self.tolerances[b as usize],
                })
                .collect(),
            minimal_width: self.minimal_width.clone(),
        }
    }
}

fn check_domain(layout: &ModelLayout) -> Result<(), SettingsError> {
    for k in 0..layout.n_rigid {
        let width = layout
            .domain
            .upper
            .get(k)
            .zip(layout.domain.lower.get(k))
            .map_or(f64::NAN, |(u, l)| u - l);
        if !(width > 0.0 && width.is_finite()) {
            let coordinate = layout
                .coordinates
                .get(k)
                .map_or_else(String::new, |c| c.name.clone());
            return Err(SettingsError::Unbounded { coordinate });
        }
    }
    Ok(())
}
