//! The internal dynamics over the whole horizon at once.
//!
//! Unknowns are z, ż and z̈ at all instants; between neighbours stand the trapezoidal relations
//! z₊ − z = ½h(ż + ż₊), ż₊ − ż = ½h(z̈ + z̈₊), at each instant F(z, ż, z̈, t) = 0, and at both ends what keeps the
//! motion bounded beyond them [M 17.2]. z̈ is eliminated instant by instant; what is left is banded.

use super::ROUNDING;
use super::banded::Banded;
use super::ends::{RestPoint, deviation};
use super::error::InversionError;
use super::plant::{Internal, Motion, Plant, Work};
use crate::dynamics::signal::Jet;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Most iterations.
const ITERATIONS: usize = 30;
/// A change this small, in parts of the largest modal coordinate, ends them.
const SETTLED: f64 = 1e-9;
/// Most halvings of a step that leaves the model.
const HALVINGS: usize = 6;

/// An instant of the horizon. Where a wanted acceleration jumps, two of them have the same time.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub time: f64,
    pub wanted: Vec<Jet>,
    pub theta: Vec<f64>,
    pub z: Vec<f64>,
    pub zd: Vec<f64>,
    pub zdd: Vec<f64>,
}

/// Conditions at both ends.
pub(super) enum Conditions {
    /// Rows for the first and the last instant, in (z − z₀, ż).
    Bounded([DMatrix<f64>; 2]),
    /// None: of all motions the one whose modes stay nearest to these, in bending energy.
    LeastBending(Vec<Vec<f64>>),
}

/// What is solved.
pub(super) struct Horizon<'a> {
    pub plant: &'a Plant<'a>,
    pub rests: &'a [RestPoint; 2],
    pub conditions: Conditions,
    /// Unit of ż.
    pub rate: f64,
}

/// What a linear step needs of an instant: A⁻¹F, A⁻¹C and A⁻¹B.
struct Local {
    rest: DVector<f64>,
    by_place: DMatrix<f64>,
    by_rate: DMatrix<f64>,
}

impl Horizon<'_> {
    /// Newton's method; the number of iterations. θ of the nodes follows.
    pub fn solve(&self, nodes: &mut Vec<Node>) -> Result<usize, InversionError> {
        let mut internals = self.evaluate(nodes)?;
        let mut change = f64::INFINITY;
        for iteration in 1..=ITERATIONS {
            let steps = self.step(nodes, &internals)?;
            let size = self.size(nodes, &steps);
            change = steps
                .iter()
                .fold(0.0_f64, |most, [dz, _]| most.max(dz.amax()));
            if !change.is_finite() {
                break;
            }
            change = if change > ROUNDING {
                change / size
            } else {
                0.0
            };
            let mut part = 1.0;
            for halving in 0.. {
                let mut moved = self.moved(nodes, &internals, &steps, part);
                match self.evaluate(&mut moved) {
                    Ok(found) => {
                        (*nodes, internals) = (moved, found);
                        break;
                    }
                    Err(error) if halving == HALVINGS => return Err(error),
                    Err(_) => part *= 0.5,
                }
            }
            if change <= SETTLED && part == 1.0 {
                return Ok(iteration);
            }
        }
        Err(InversionError::NotConverged {
            iterations: ITERATIONS,
            change,
        })
    }

    /// How far the modes are from rest.
    fn size(&self, nodes: &[Node], steps: &[[DVector<f64>; 2]]) -> f64 {
        let rest = &self.rests[0].modal;
        let each = nodes.iter().zip(steps).flat_map(|(node, [dz, _])| {
            let places = node.z.iter().zip(rest).zip(dz.iter());
            places.map(|((z, at), dz)| (z + dz - at).abs())
        });
        each.fold(0.0, f64::max)
    }

    /// Completes the motion and differentiates the internal dynamics at all nodes.
    fn evaluate(&self, nodes: &mut [Node]) -> Result<Vec<Internal>, InversionError> {
        let plant = self.plant;
        let found: Vec<Result<Internal, InversionError>> = nodes
            .par_iter()
            .map_init(Work::default, |work, node| {
                let modal = [&node.z[..], &node.zd, &node.zdd];
                let motion = plant.complete(node.time, &node.theta, modal, &node.wanted, work)?;
                plant.internal(node.time, motion, work)
            })
            .collect();
        let found: Vec<Internal> = found.into_iter().collect::<Result<_, _>>()?;
        for (node, internal) in nodes.iter_mut().zip(&found) {
            let theta = &internal.motion.eta[..plant.s];
            node.theta.copy_from_slice(theta);
        }
        Ok(found)
    }

    fn locals(&self, nodes: &[Node], all: &[Internal]) -> Result<Vec<Local>, InversionError> {
        let pairs = nodes.iter().zip(all);
        pairs
            .map(|(node, internal)| {
                let [c, b, a] = &internal.by;
                let factors = a.clone().lu();
                let singular = InversionError::Singular { time: node.time };
                (|| {
                    Some(Local {
                        rest: factors.solve(&internal.rest)?,
                        by_place: factors.solve(c)?,
                        by_rate: factors.solve(b)?,
                    })
                })()
                .ok_or(singular)
            })
            .collect()
    }

    /// Changes of z and ż at all nodes that solve the linearised equations.
    fn step(
        &self,
        nodes: &[Node],
        internals: &[Internal],
    ) -> Result<Vec<[DVector<f64>; 2]>, InversionError> {
        let locals = self.locals(nodes, internals)?;
        let m = self.plant.m();
        let size = 2 * m;
        let first = match &self.conditions {
            Conditions::Bounded([start, _]) => start.nrows(),
            Conditions::LeastBending(_) => m,
        };
        let count = size * nodes.len();
        let mut matrix = Banded::zeros(count, first + size - 1, 2 * size - 1 - first);
        let mut right = vec![0.0; count];
        for i in 0..nodes.len() - 1 {
            let pair = [&nodes[i], &nodes[i + 1]];
            let near = [&locals[i], &locals[i + 1]];
            self.relations(
                pair,
                near,
                first + size * i,
                size * i,
                &mut matrix,
                &mut right,
            );
        }
        let last = count - size;
        let free = match &self.conditions {
            Conditions::Bounded(rows) => {
                let ends = [
                    (0, 0, &nodes[0]),
                    (last + first, last, &nodes[nodes.len() - 1]),
                ];
                for (k, (row, column, node)) in ends.into_iter().enumerate() {
                    let away = deviation(&self.rests[k], &node.z, &node.zd, self.rate);
                    let left = &rows[k] * away;
                    for i in 0..rows[k].nrows() {
                        right[row + i] = -left[i];
                        (0..size).for_each(|j| matrix.set(row + i, column + j, rows[k][(i, j)]));
                    }
                }
                None
            }
            // z at both ends is what is chosen.
            Conditions::LeastBending(near) => {
                for i in 0..m {
                    matrix.set(i, i, 1.0);
                    matrix.set(last + first + i, last + i, 1.0);
                }
                Some((near, (0..m).chain(last + first..count)))
            }
        };
        if !matrix.factor() {
            let time = nodes[0].time;
            return Err(InversionError::Singular { time });
        }
        matrix.solve(&mut right);
        if let Some((near, rows)) = free {
            let directions: Vec<Vec<f64>> = rows
                .map(|row| {
                    let mut direction = vec![0.0; count];
                    direction[row] = 1.0;
                    matrix.solve(&mut direction);
                    direction
                })
                .collect();
            self.bend_least(nodes, near, &directions, &mut right);
        }
        let each = right.chunks(size);
        Ok(each
            .map(|change| {
                let (dz, dw) = change.split_at(m);
                [
                    DVector::from_column_slice(dz),
                    DVector::from_column_slice(dw) * self.rate,
                ]
            })
            .collect())
    }

    /// The trapezoidal relations between two neighbours, z̈ eliminated.
    fn relations(
        &self,
        [left, right]: [&Node; 2],
        locals: [&Local; 2],
        row: usize,
        column: usize,
        matrix: &mut Banded,
        rest: &mut [f64],
    ) {
        let m = self.plant.m();
        let half = 0.5 * (right.time - left.time);
        for i in 0..m {
            rest[row + i] = left.z[i] - right.z[i] + half * (left.zd[i] + right.zd[i]);
            let bent = locals[0].rest[i] + locals[1].rest[i];
            let sum = left.zdd[i] + right.zdd[i];
            let jump = left.zd[i] - right.zd[i] + half * (sum - bent);
            rest[row + m + i] = jump / self.rate;
            for (k, local) in locals.into_iter().enumerate() {
                let (sign, at) = if k == 0 {
                    (-1.0, column)
                } else {
                    (1.0, column + 2 * m)
                };
                matrix.set(row + i, at + i, sign);
                matrix.set(row + i, at + m + i, -half * self.rate);
                for j in 0..m {
                    let by_place = half * local.by_place[(i, j)] / self.rate;
                    let same = if i == j { sign } else { 0.0 };
                    let by_rate = half * local.by_rate[(i, j)] + same;
                    matrix.set(row + m + i, at + j, by_place);
                    matrix.set(row + m + i, at + m + j, by_rate);
                }
            }
        }
    }

    /// Adds the combination of directions after which ∫(z − z₀)ᵀK(z − z₀) is least.
    fn bend_least(
        &self,
        nodes: &[Node],
        near: &[Vec<f64>],
        directions: &[Vec<f64>],
        change: &mut [f64],
    ) {
        let m = self.plant.m();
        let stiffness = &self.rests[0].stiffness;
        let count = directions.len();
        let mut normal = DMatrix::zeros(count, count);
        let mut load = DVector::zeros(count);
        for (i, node) in nodes.iter().enumerate() {
            let before = nodes[i.saturating_sub(1)].time;
            let after = nodes[(i + 1).min(nodes.len() - 1)].time;
            let weight = 0.5 * (after - before);
            let at = 2 * m * i..2 * m * i + m;
            let columns = DMatrix::from_fn(m, count, |k, j| directions[j][at.start + k]);
            let away = (0..m).map(|k| node.z[k] + change[at.start + k] - near[i][k]);
            let away = DVector::from_iterator(m, away);
            let stiff = stiffness * &columns * weight;
            normal += columns.transpose() * &stiff;
            load -= stiff.transpose() * away;
        }
        // Directions that bend nothing to speak of are left alone.
        let svd = normal.svd(true, true);
        let smallest = 1e-13 * svd.singular_values.max();
        if let Ok(weights) = svd.solve(&load, smallest) {
            for (direction, weight) in directions.iter().zip(weights.iter()) {
                for (x, d) in change.iter_mut().zip(direction) {
                    *x += weight * d;
                }
            }
        }
    }

    /// The nodes after a part of the step.
    fn moved(
        &self,
        nodes: &[Node],
        internals: &[Internal],
        steps: &[[DVector<f64>; 2]],
        part: f64,
    ) -> Vec<Node> {
        let each = nodes.iter().zip(internals).zip(steps);
        each.map(|((node, internal), [dz, dzd])| {
            let [c, b, a] = &internal.by;
            let left = &internal.rest + c * dz + b * dzd;
            let dzdd = a.clone().lu().solve(&left).unwrap_or_else(|| left * 0.0);
            let add = |values: &[f64], change: &DVector<f64>, sign: f64| {
                let pairs = values.iter().zip(change.iter());
                pairs.map(|(x, d)| x + sign * part * d).collect()
            };
            Node {
                z: add(&node.z, dz, 1.0),
                zd: add(&node.zd, dzd, 1.0),
                zdd: add(&node.zdd, &dzdd, -1.0),
                ..node.clone()
            }
        })
        .collect()
    }
}

/// Whole motions of nodes.
pub(super) fn motions(
    plant: &Plant<'_>,
    nodes: &[Node],
) -> Result<Vec<(Motion, Vec<f64>)>, InversionError> {
    let found: Vec<Result<(Motion, Vec<f64>), InversionError>> = nodes
        .par_iter()
        .map_init(Work::default, |work, node| {
            let modal = [&node.z[..], &node.zd, &node.zdd];
            let motion = plant.complete(node.time, &node.theta, modal, &node.wanted, work)?;
            let force = plant.forces(node.time, &motion, work)?;
            Ok((motion, force))
        })
        .collect();
    found.into_iter().collect()
}
