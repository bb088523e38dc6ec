//! How far a model is from exact coefficients, block by block.

use super::sample::Sample;
use crate::reduced_model::{Block, BlockError, ModelCoefficients, ModelLayout, OutputMotion};
use crate::reduction::{Coefficients, OutputCoefficients};
use std::borrow::Cow;
use std::ops::{Index, IndexMut};

/// Number of blocks.
pub(super) const N_BLOCKS: usize = Block::ALL.len();

/// Blocks of the table of outputs.
pub(super) const OF_OUTPUTS: [Block; 2] = [Block::Outputs, Block::Derived];

/// How an error is made relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// M̄ and K̄ by ‖L⁻¹(M̂−M)L⁻ᵀ‖, which is unit-free; other blocks as in `Frobenius`.
    Whitened,
    /// Norm of the difference over that of the exact value, at least a tenth of its root mean
    /// square over the domain.
    Frobenius,
}

/// Root mean squares over the domain, from the probes.
#[derive(Debug, Clone, Default)]
pub(super) struct Scales {
    blocks: [f64; N_BLOCKS],
    /// Root mean square of all conservative forces.
    conservative: f64,
    /// Per output: spread of the position, translational and rotational part of the Jacobian.
    outputs: Vec<[f64; 3]>,
    load_map: f64,
    /// Stiffness of gravity per axis, and second derivatives of the mass, both weighted.
    second: [f64; 2],
    /// Second derivatives of all positions.
    bends: f64,
    /// Per derived quantity: root mean square of its norm, and the smallest tolerance of all over its own.
    derived: Vec<[f64; 2]>,
    /// Weights of mass, gyroscopic tensor, gravity, stiffness and damping in the thesis's norm.
    combined: Option<[f64; 5]>,
}

/// Parts of a model that are fitted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Coefficients of the equations of motion.
    Dynamics,
    /// Outputs and load map.
    Outputs,
    /// Both.
    All,
}

/// Errors of one point, one per block.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointErrors {
    blocks: [f64; N_BLOCKS],
    /// Found by a search for large errors: it counts among the largest, not in the mean.
    pub is_peak: bool,
}

impl PointErrors {
    pub fn new(blocks: [f64; N_BLOCKS]) -> Self {
        Self {
            blocks,
            is_peak: false,
        }
    }
}

impl Index<usize> for PointErrors {
    type Output = f64;

    fn index(&self, block: usize) -> &f64 {
        &self.blocks[block]
    }
}

impl IndexMut<usize> for PointErrors {
    fn index_mut(&mut self, block: usize) -> &mut f64 {
        &mut self.blocks[block]
    }
}

/// Mean of a block's errors over points that were not searched for.
pub(super) fn mean_error(points: &[PointErrors], block: Block) -> f64 {
    let fair = || points.iter().filter(|p| !p.is_peak);
    fair().map(|p| p[block as usize]).sum::<f64>() / fair().count().max(1) as f64
}

impl Scales {
    pub fn new(probes: &[Sample], layout: &ModelLayout) -> Self {
        let rms = |value: &dyn Fn(&Sample) -> f64| {
            let sum: f64 = probes.iter().map(|p| value(p).powi(2)).sum();
            (sum / probes.len().max(1) as f64).sqrt()
        };
        let forces = |p: &Sample| norm(&p.test.force);
        let n_outputs = probes.first().map_or(0, |p| p.exact.outputs.len());
        let outputs = (0..n_outputs)
            .map(|o| {
                let mean = |axis: usize| {
                    probes
                        .iter()
                        .map(|p| p.exact.outputs[o].position[axis])
                        .sum::<f64>()
                        / probes.len() as f64
                };
                let center = [mean(0), mean(1), mean(2)];
                let half = |p: &Sample| 3 * p.exact.n();
                [
                    rms(&|p| difference(&p.exact.outputs[o].position, &center)),
                    rms(&|p| norm(&p.exact.outputs[o].jacobian[..half(p)])),
                    rms(&|p| norm(&p.exact.outputs[o].jacobian[half(p)..])),
                ]
            })
            .collect();
        let second = [0, 1].map(|part| rms(&|p| norm(&weighted(p, part, &exact_second(p)))));
        Self {
            blocks: [
                rms(&|p| norm(&p.exact.mass)),
                rms(&|p| p.gyroscopic_size),
                rms(&|p| norm(&exact_gravity(&p.exact))),
                rms(&|p| norm(&p.exact.stiffness)),
                rms(&|p| norm(&p.exact.damping)),
                rms(&forces),
                if n_outputs > 0 || probes.first().is_some_and(|p| !p.exact.load_map.is_empty()) {
                    1.0
                } else {
                    0.0
                },
                0.0,
                second.iter().copied().fold(0.0, f64::max),
                if layout.derived.is_empty() { 0.0 } else { 1.0 },
            ],
            derived: (layout.derived.iter().enumerate())
                .map(|(i, info)| {
                    let size = rms(&|p| norm(&p.exact.derived[i].values));
                    let least = layout.derived_tolerance().unwrap_or(info.tolerance);
                    [size, least / info.tolerance]
                })
                .collect(),
            second,
            bends: rms(&|p| norm(&exact_bends(&p.exact))),
            combined: None,
            conservative: rms(&|p| norm(&p.exact.force)),
            outputs,
            load_map: rms(&|p| {
                p.exact
                    .load_map
                    .iter()
                    .map(|row| norm(row).powi(2))
                    .sum::<f64>()
                    .sqrt()
            }),
        }
    }

    /// Adds the thesis's norm. Its weights [T 5.166] make blocks comparable by their root mean
    /// squares, but count the gyroscopic tensor by the change of mass it stands for over a box of
    /// the minimal width, which gives it the unit of the mass.
    pub fn with_combined(mut self, minimal_width: &[f64]) -> Self {
        let [mass, gyroscopic, gravity, stiffness, damping, ..] = self.blocks;
        let width = minimal_width.iter().sum::<f64>() / minimal_width.len().max(1) as f64;
        let inverse = |rms: f64| if rms > 0.0 { 1.0 / rms } else { 0.0 };
        let gyroscopic_weight = if gyroscopic > 0.0 {
            width * inverse(mass)
        } else {
            0.0
        };
        let weights = [
            inverse(mass),
            gyroscopic_weight,
            inverse(gravity),
            inverse(stiffness),
            inverse(damping),
        ];
        self.combined = Some(weights);
        self.blocks[Block::Combined as usize] = 1.0;
        self
    }

    fn combined_error(
        &self,
        exact: &Coefficients,
        gyroscopic: &[f64],
        model: &ModelCoefficients,
    ) -> f64 {
        let Some(weights) = self.combined else {
            return 0.0;
        };
        let (gravity, exact_gravity) = (model_gravity(model), exact_gravity(exact));
        let pairs = [
            (&model.mass[..], &exact.mass[..]),
            (&model.gyroscopic, gyroscopic),
            (&gravity, &exact_gravity),
            (&model.stiffness, &exact.stiffness),
            (&model.damping, &exact.damping),
        ];
        let (mut error, mut size) = (0.0, 0.0);
        for ((found, of), weight) in pairs.into_iter().zip(weights) {
            error += (weight * difference(found, of)).powi(2);
            size += (weight * norm(of)).powi(2);
        }
        self.relative(error.sqrt(), size.sqrt(), 0.0)
    }

    /// The block is not zero everywhere.
    pub fn is_present(&self, block: Block) -> bool {
        self.blocks[block as usize] > 0.0
    }

    /// Errors of the blocks of one part of the model at one point; zero for the other part.
    pub fn point_errors(
        &self,
        sample: &Sample,
        model: &ModelCoefficients,
        measure: Measure,
        part: Part,
    ) -> PointErrors {
        let mut errors = match part {
            Part::Outputs => PointErrors::new([0.0; N_BLOCKS]),
            Part::Dynamics | Part::All => self.dynamics_errors(sample, model, measure),
        };
        if part != Part::Dynamics {
            errors[Block::Outputs as usize] = self.output_error(&sample.exact, model);
            let of =
                |entry| self.derived_error(entry, &sample.exact, model) * self.derived[entry][1];
            let worst = (0..self.derived.len()).map(of).fold(0.0, f64::max);
            errors[Block::Derived as usize] = worst;
        }
        errors
    }

    fn dynamics_errors(
        &self,
        sample: &Sample,
        model: &ModelCoefficients,
        measure: Measure,
    ) -> PointErrors {
        let (exact, gyroscopic) = (&sample.exact, &sample.gyroscopic);
        let relative = |block: Block, value: &[f64], of: &[f64]| {
            self.relative(difference(value, of), norm(of), self.blocks[block as usize])
        };
        let (mass, stiffness) = match measure {
            Measure::Frobenius => (
                relative(Block::Mass, &model.mass, &exact.mass),
                relative(Block::Stiffness, &model.stiffness, &exact.stiffness),
            ),
            Measure::Whitened => (
                sample.whitened_mass(&model.mass),
                sample.whitened_stiffness(&model.stiffness),
            ),
        };
        let test = &sample.test;
        let force = force(model, &test.rate, &test.accel, exact.n_rigid());
        PointErrors::new([
            mass,
            self.relative(
                difference(&model.gyroscopic, gyroscopic),
                sample.gyroscopic_size,
                self.blocks[Block::Gyroscopic as usize],
            ),
            relative(Block::Gravity, &model_gravity(model), &exact_gravity(exact)),
            stiffness,
            relative(Block::Damping, &model.damping, &exact.damping),
            self.relative_force(
                difference(&force, &test.force),
                norm(&test.force),
                test.typical,
            )
            .max(self.static_error(exact, model)),
            0.0,
            self.combined_error(exact, gyroscopic, model),
            self.second_order_error(sample, model),
            0.0,
        ])
    }

    /// Stiffness of gravity per axis and second derivatives of the mass, the larger error of both.
    fn second_order_error(&self, sample: &Sample, model: &ModelCoefficients) -> f64 {
        if self.second == [0.0; 2] {
            return 0.0;
        }
        let exact = exact_second(sample);
        let error = |part: usize| {
            // Without terms of motion, what the factor's slopes make of second order has nothing to be compared with.
            if self.second[part] == 0.0 {
                return 0.0;
            }
            let of = weighted(sample, part, &exact);
            let found = if model.second_order.is_empty() {
                vec![0.0; of.len()]
            } else {
                weighted(sample, part, &model.second_order)
            };
            self.relative(difference(&found, &of), norm(&of), self.second[part])
        };
        error(0).max(error(1))
    }

    /// Relative error of a derived quantity, by its norm.
    pub fn derived_error(
        &self,
        entry: usize,
        exact: &Coefficients,
        model: &ModelCoefficients,
    ) -> f64 {
        let of = &exact.derived[entry].values;
        let found = &model.derived[entry];
        self.relative(difference(found, of), norm(of), self.derived[entry][0])
    }

    /// Difference of a derived quantity between two models, over its root mean square.
    pub fn derived_difference(&self, entry: usize, models: [&ModelCoefficients; 2]) -> f64 {
        let [one, other] = models.map(|m| &m.derived[entry]);
        self.relative(difference(one, other), 0.0, 10.0 * self.derived[entry][0])
    }

    /// Springs and loads at rest, which a moving test would hide behind inertia.
    fn static_error(&self, exact: &Coefficients, model: &ModelCoefficients) -> f64 {
        if exact.force == exact.gravity {
            return 0.0;
        }
        self.relative(
            difference(&model.force, &exact.force),
            norm(&exact.force),
            self.conservative,
        )
    }

    /// Error of forces of this size, relative [M 10.3]. Some motion needs hardly any force, in every place: what motions
    /// typically need there counts instead.
    pub fn relative_force(&self, error: f64, size: f64, typical: f64) -> f64 {
        let size = size.max(0.5 * typical);
        self.relative(error, size, self.blocks[Block::Force as usize])
    }

    fn relative(&self, error: f64, size: f64, rms: f64) -> f64 {
        if error == 0.0 {
            0.0
        } else {
            error / size.max(0.1 * rms).max(f64::MIN_POSITIVE)
        }
    }

    fn output_error(&self, exact: &Coefficients, model: &ModelCoefficients) -> f64 {
        let mut worst = 0.0_f64;
        for ((o, m), scale) in exact.outputs.iter().zip(&model.outputs).zip(&self.outputs) {
            worst = worst.max(self.one_output_error(o, m, scale));
        }
        worst = worst.max(self.bend_error(exact, model));
        let mut squares = (0.0, 0.0);
        for (row, of) in model.load_map.iter().zip(&exact.load_map) {
            squares = (
                squares.0 + difference(row, of).powi(2),
                squares.1 + norm(of).powi(2),
            );
        }
        worst.max(self.relative(squares.0.sqrt(), squares.1.sqrt(), self.load_map))
    }

    /// Second derivatives of all positions.
    fn bend_error(&self, exact: &Coefficients, model: &ModelCoefficients) -> f64 {
        if self.bends == 0.0 {
            return 0.0;
        }
        let of = exact_bends(exact);
        let error = difference(&model.position_curvature, &of);
        if error <= 1e-12 * self.bends {
            0.0
        } else {
            self.relative(error, norm(&of), self.bends)
        }
    }

    /// Position over its spread in the domain; Jacobian, translations and rotations apart;
    /// orientation by the angle in radians.
    fn one_output_error(
        &self,
        exact: &OutputCoefficients,
        model: &OutputMotion,
        scale: &[f64; 3],
    ) -> f64 {
        let half = exact.jacobian.len() / 2;
        let position = difference(model.position.as_slice(), &exact.position);
        let rotation: f64 = (0..9)
            .map(|i| (model.rotation[(i / 3, i % 3)] - exact.rotation[i]).powi(2))
            .sum();
        let part = |range: std::ops::Range<usize>, rms: f64| {
            let of = &exact.jacobian[range.clone()];
            let error = difference(&model.jacobian[range], of);
            if error <= 1e-12 * rms {
                0.0
            } else {
                self.relative(error, norm(of), rms)
            }
        };
        let noise = |error: f64| if error <= 1e-12 { 0.0 } else { error };
        self.relative(noise(position), scale[0], scale[0])
            .max(noise(rotation.sqrt() / std::f64::consts::SQRT_2))
            .max(part(0..half, scale[1]))
            .max(if scale[2] > 1e-12 {
                part(half..2 * half, scale[2])
            } else {
                0.0
            })
    }
}

/// Force of gravity; per inertial axis, one after the other, where gravity stays free, so that the
/// error is bounded for every direction.
fn exact_gravity(c: &Coefficients) -> Cow<'_, [f64]> {
    if c.gravity_axes.is_empty() {
        return Cow::Borrowed(&c.gravity);
    }
    let forces = c.gravity_axes.iter().flat_map(|a| &a.force);
    Cow::Owned(forces.copied().collect())
}

/// The same of a model.
fn model_gravity(c: &ModelCoefficients) -> Cow<'_, [f64]> {
    if c.gravity_axes.is_empty() {
        return Cow::Borrowed(&c.gravity);
    }
    Cow::Owned(c.gravity_axes.concat())
}

/// Inverse dynamics from coefficients at η^δ = 0, for a motion of the first `s` coordinates.
pub(super) fn force(model: &ModelCoefficients, rate: &[f64], accel: &[f64], s: usize) -> Vec<f64> {
    let n = rate.len();
    (0..n)
        .map(|i| {
            let mut f = -model.force[i];
            for j in 0..s {
                f += model.mass[i * n + j] * accel[j] + model.damping[i * n + j] * rate[j];
                for k in 0..s {
                    f += model.gyroscopic[(i * n + j) * n + k] * rate[j] * rate[k];
                }
            }
            f
        })
        .collect()
}

/// What is of second order, as [`ModelCoefficients::second_order`] holds it.
fn exact_second(sample: &Sample) -> Vec<f64> {
    let (c, s) = (&sample.exact, sample.exact.n_rigid());
    let modal = c.n() - s;
    let of_gravity = |axis: usize, at: usize| {
        let axis = c.gravity_axes.get(axis);
        axis.and_then(|a| a.stiffness.get(at).copied())
            .unwrap_or(0.0)
    };
    let mut out = Vec::with_capacity((3 + s * s) * modal * modal);
    for block in 0..3 + s * s {
        for at in 0..modal * modal {
            let (d, e) = (at / modal, at % modal);
            out.push(match block.checked_sub(3) {
                _ if d > e => 0.0,
                None => of_gravity(block, at),
                Some(pair) if pair / s > pair % s => 0.0,
                Some(pair) => sample.mass_curvature(pair / s, pair % s, d, e),
            });
        }
    }
    out
}

/// Second derivatives of the positions of all outputs, as [`ModelCoefficients::position_curvature`] holds them.
fn exact_bends(c: &Coefficients) -> Vec<f64> {
    let modal = c.n() - c.n_rigid();
    let upper = |(at, value): (usize, &f64)| {
        let pair = at % (modal * modal);
        if pair / modal > pair % modal {
            0.0
        } else {
            *value
        }
    };
    let outputs = c.outputs.iter();
    outputs
        .flat_map(|o| o.curvature.iter().enumerate().map(upper))
        .collect()
}

/// One part of it free of units: stiffness over that of the coordinates, or masses over those of all four.
fn weighted(sample: &Sample, part: usize, values: &[f64]) -> Vec<f64> {
    let (c, n, s) = (&sample.exact, sample.exact.n(), sample.exact.n_rigid());
    let modal = n - s;
    let root = |a: &[f64], i: usize| a[i * n + i].abs().max(f64::MIN_POSITIVE).sqrt();
    let square = modal * modal;
    let blocks = if part == 0 { 0..3 } else { 3..3 + s * s };
    let blocks = blocks.flat_map(|block| (0..square).map(move |at| (block, at)));
    blocks
        .map(|(block, at)| {
            let (d, e) = (s + at / modal, s + at % modal);
            let size = match block.checked_sub(3) {
                None => root(&c.stiffness, d) * root(&c.stiffness, e),
                Some(pair) => {
                    let on_theta = root(&c.mass, pair / s) * root(&c.mass, pair % s);
                    on_theta * root(&c.mass, d) * root(&c.mass, e)
                }
            };
            values[block * square + at] / size
        })
        .collect()
}

pub(super) fn norm(a: &[f64]) -> f64 {
    a.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// ‖a − b‖; four sums side by side, which the processor adds at once.
pub(super) fn difference(a: &[f64], b: &[f64]) -> f64 {
    let (a_fours, a_rest) = a.as_chunks::<4>();
    let (b_fours, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a_fours.iter().zip(b_fours) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += (x - y).powi(2);
        }
    }
    let rest: f64 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(x, y)| (x - y).powi(2))
        .sum();
    (sums.iter().sum::<f64>() + rest).sqrt()
}

/// Mean and largest error per block that is present.
pub(super) fn summarize(points: &[PointErrors], scales: &Scales) -> Vec<BlockError> {
    Block::ALL
        .into_iter()
        .filter(|b| scales.is_present(*b) && !points.is_empty())
        .map(|b| {
            let of = |p: &PointErrors| p[b as usize];
            BlockError {
                block: b,
                mean: mean_error(points, b).min(f64::MAX),
                max: points.iter().map(of).fold(0.0, f64::max),
            }
        })
        .collect()
}
