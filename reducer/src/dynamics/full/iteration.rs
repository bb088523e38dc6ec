//! The iteration matrix [S Cᵀ; C 0] and its sparse factorisation.
//!
//! S is divided by its largest entry and every constraint by its own, the multipliers accordingly,
//! and rotations count as displacements at the mechanism's length: the matrix then stays well
//! scaled however small the step is [Bottasso et al. 2008].

use super::control::Couplings;
use super::equations::{Equations, State, of_node};
use super::structure::Structure;
use crate::dynamics::excitation::Drive;
use crate::lie::{Matrix6, adjoint_algebra, inverse_tangent};
use crate::model::DofMap;
use crate::model::beam::motion::coadjoint_by_motion;
use crate::model::rows::ConstraintRows;
use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{Argsort, Pair, SparseColMat, SymbolicSparseColMat};
use faer::{Conj, Mat};
use nalgebra::{DMatrix, DVector};

/// How much mass, damping and stiffness enter S.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    pub mass: f64,
    pub damping: f64,
    pub stiffness: f64,
    /// κh of a step of the blocks' states; 0 where these do not move.
    pub control: f64,
}

impl Weights {
    /// The mass alone.
    pub const MASS: Self = Self {
        mass: 1.0,
        damping: 0.0,
        stiffness: 0.0,
        control: 0.0,
    };
}

/// The pattern, found once.
pub(super) struct Iteration {
    map: DofMap,
    pattern: SymbolicSparseColMat<usize>,
    order: Argsort<usize>,
    symbolic: SymbolicLu<usize>,
}

/// A factorised matrix.
pub(super) struct Factor {
    lu: Lu<usize, f64>,
    matrix: SparseColMat<usize, f64>,
    scale: f64,
    row_scale: Vec<f64>,
    low_rank: Option<LowRankFactor>,
}

/// What forces of low rank U·C·Vᵀ, of damping and of blocks, change in a solution [Woodbury].
struct LowRankFactor {
    /// V over the unknowns.
    rows: Mat<f64>,
    /// The response to U without those forces.
    responses: Mat<f64>,
    /// (I + C·Vᵀ·responses)⁻¹·C.
    core: DMatrix<f64>,
}

/// A correction of motion and multipliers.
pub(super) struct Correction {
    pub motion: Vec<f64>,
    pub multipliers: Vec<f64>,
    /// Largest displacement in parts of the mechanism's size.
    pub size: f64,
}

/// The equation farthest from being satisfied.
pub(super) enum Worst {
    Node(usize),
    Scalar(usize),
    Theta(usize),
    Row(usize),
}

impl Factor {
    /// Whether solutions have digits: a known one is found again.
    pub fn is_regular(&self) -> bool {
        let ones = Mat::<f64>::from_fn(self.matrix.ncols(), 1, |_, _| 1.0);
        let mut x = self.matrix.as_ref() * &ones;
        self.lu.solve_in_place_with_conj(Conj::No, x.as_mut());
        // Not-a-number must count as wrong.
        x.col_as_slice(0).iter().all(|v| (v - 1.0).abs() < 1e-4)
    }
}

impl LowRankFactor {
    /// Turns a solution without those forces into one with them.
    fn correct(&self, x: &mut Mat<f64>) {
        let along = self.rows.transpose() * &*x;
        let along = DVector::from_fn(along.nrows(), |i, _| along[(i, 0)]);
        let amounts = &self.core * along;
        let amounts = Mat::from_fn(amounts.len(), 1, |i, _| amounts[i]);
        *x -= &self.responses * amounts;
    }
}

type Entries = Vec<(usize, usize, f64)>;

impl Iteration {
    /// None where the matrix is too large for its index type.
    pub fn new(equations: &Equations<'_>, state: &State, structure: &Structure) -> Option<Self> {
        let map = equations.model.dof_map();
        let (entries, rows) = entries(equations, &map, state, structure, Weights::MASS, None);
        let first_row = map.len() + equations.n_theta();
        let mut places: Vec<_> = entries.iter().map(|(i, j, _)| Pair::new(*i, *j)).collect();
        for (r, dof, _) in &rows {
            places.push(Pair::new(first_row + r, *dof));
            places.push(Pair::new(*dof, first_row + r));
        }
        let n = first_row + equations.n_rows();
        let (pattern, order) = SymbolicSparseColMat::try_new_from_indices(n, n, &places).ok()?;
        let symbolic = SymbolicLu::try_new(pattern.as_ref()).ok()?;
        Some(Self {
            map,
            pattern,
            order,
            symbolic,
        })
    }

    /// Factorises at a state; `increment` is the motion of the step that led there. None where the
    /// matrix is singular.
    pub fn factor(
        &self,
        equations: &Equations<'_>,
        state: &State,
        structure: &Structure,
        weights: Weights,
        increment: Option<&[f64]>,
    ) -> Option<Factor> {
        let (entries, rows) = entries(equations, &self.map, state, structure, weights, increment);
        let largest = entries.iter().fold(0.0_f64, |m, e| m.max(e.2.abs()));
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let mut row_scale = vec![0.0_f64; equations.n_rows()];
        for (r, _, value) in &rows {
            row_scale[*r] = row_scale[*r].max(value.abs());
        }
        for value in &mut row_scale {
            *value = if *value > 0.0 { 1.0 / *value } else { 1.0 };
        }
        let mut values: Vec<f64> = entries.iter().map(|e| e.2 / scale).collect();
        for (r, _, value) in &rows {
            let scaled = value * row_scale[*r];
            values.push(scaled);
            values.push(scaled);
        }
        let matrix =
            SparseColMat::new_from_argsort(self.pattern.clone(), &self.order, &values).ok()?;
        let lu = Lu::try_new_with_symbolic(self.symbolic.clone(), matrix.as_ref()).ok()?;
        let mut factor = Factor {
            lu,
            matrix,
            scale,
            row_scale,
            low_rank: None,
        };
        let mut couplings = equations.couplings(state, weights)?;
        if weights.damping != 0.0
            && let Some(damping) = structure.low_rank(equations, state)
        {
            couplings.add_damping(damping, weights.damping);
        }
        if !couplings.left.is_empty() {
            factor.low_rank = Some(self.low_rank_factor(equations, &factor, &couplings)?);
        }
        Some(factor)
    }

    fn low_rank_factor(
        &self,
        equations: &Equations<'_>,
        factor: &Factor,
        couplings: &Couplings,
    ) -> Option<LowRankFactor> {
        let rank = couplings.left.len();
        let gather = |list: &[Vec<f64>]| {
            let mut columns = Mat::zeros(factor.matrix.ncols(), rank);
            for (j, column) in list.iter().enumerate() {
                self.project(equations, column, columns.col_as_slice_mut(j));
            }
            columns
        };
        let rows = gather(&couplings.right);
        let mut responses = gather(&couplings.left);
        factor
            .lu
            .solve_in_place_with_conj(Conj::No, responses.as_mut());
        let product = rows.transpose() * &responses;
        let core = &couplings.core / factor.scale;
        let product = DMatrix::from_fn(rank, rank, |i, j| product[(i, j)]);
        let system = DMatrix::identity(rank, rank) + &core * product;
        Some(LowRankFactor {
            rows,
            responses,
            core: system.lu().solve(&core)?,
        })
    }

    /// Forces on motions as forces on the unknowns.
    pub fn project(&self, equations: &Equations<'_>, forces: &[f64], out: &mut [f64]) {
        for node in 0..equations.model.nodes.len() {
            for (dof, value) in self.map.project(node, &of_node(forces, node)) {
                out[dof] = value;
            }
        }
        for (i, force) in forces[equations.first_scalar()..].iter().enumerate() {
            out[self.map.first_scalar() + i] = *force;
        }
    }

    fn right_hand_side(
        &self,
        equations: &Equations<'_>,
        factor: &Factor,
        forces: &[f64],
        constraints: &[f64],
    ) -> Mat<f64> {
        let first_theta = self.map.len();
        let first_row = first_theta + equations.n_theta();
        let mut rhs = Mat::zeros(first_row + constraints.len(), 1);
        let values = rhs.col_as_slice_mut(0);
        self.project(equations, forces, values);
        for value in &mut values[..first_row] {
            *value /= -factor.scale;
        }
        for (r, value) in constraints.iter().enumerate() {
            values[first_row + r] = -value * factor.row_scale[r];
        }
        rhs
    }

    /// The correction that removes residuals of forces and constraints.
    pub fn solve(
        &self,
        equations: &Equations<'_>,
        factor: &Factor,
        forces: &[f64],
        constraints: &[f64],
    ) -> Correction {
        let rhs = self.right_hand_side(equations, factor, forces, constraints);
        let mut x = rhs;
        factor.lu.solve_in_place_with_conj(Conj::No, x.as_mut());
        if let Some(damping) = &factor.low_rank {
            damping.correct(&mut x);
        }
        let y = x.col_as_slice(0);
        let first_row = self.map.len() + equations.n_theta();
        let mut motion = vec![0.0; equations.len()];
        for node in 0..equations.model.nodes.len() {
            let v = self.map.expand(node, y);
            motion[6 * node..6 * node + 6].copy_from_slice(v.as_slice());
        }
        motion[equations.first_scalar()..].copy_from_slice(&y[self.map.first_scalar()..first_row]);
        let length = equations.model.length;
        let nodes = y[..self.map.first_scalar()].iter();
        let mut size = nodes.fold(0.0_f64, |m, v| m.max(v.abs() / length));
        for (k, drive) in equations.model.drives.iter().enumerate() {
            let unit = if drive.coordinate.is_some_and(|row| row[5] != 0.0) {
                1.0
            } else {
                length
            };
            size = size.max(y[self.map.len() + k].abs() / unit);
        }
        if y.iter().any(|v| !v.is_finite()) {
            size = f64::INFINITY;
        }
        Correction {
            motion,
            multipliers: (y[first_row..].iter().zip(&factor.row_scale))
                .map(|(value, row)| value * factor.scale * row)
                .collect(),
            size,
        }
    }

    /// The largest of the scaled residuals.
    pub fn worst(
        &self,
        equations: &Equations<'_>,
        factor: &Factor,
        forces: &[f64],
        constraints: &[f64],
    ) -> (Worst, f64) {
        let rhs = self.right_hand_side(equations, factor, forces, constraints);
        let values = rhs.col_as_slice(0);
        // Not-a-number counts as largest.
        let at = (0..values.len())
            .max_by(|i, j| values[*i].abs().total_cmp(&values[*j].abs()))
            .unwrap_or(0);
        let first_theta = self.map.len();
        let first_row = first_theta + equations.n_theta();
        let worst = if at >= first_row {
            Worst::Row(at - first_row)
        } else if at >= first_theta {
            Worst::Theta(at - first_theta)
        } else if at >= self.map.first_scalar() {
            Worst::Scalar(at - self.map.first_scalar())
        } else {
            let node = (0..equations.model.nodes.len())
                .find(|node| self.map.range(*node).contains(&at))
                .unwrap_or(0);
            Worst::Node(node)
        };
        (worst, values.get(at).map_or(0.0, |v| v.abs()))
    }
}

/// Entries of S over the unknowns and of the constraint rows, at the same places for every state.
pub(super) fn entries(
    equations: &Equations<'_>,
    map: &DofMap,
    state: &State,
    structure: &Structure,
    weights: Weights,
    increment: Option<&[f64]>,
) -> (Entries, Entries) {
    let mut out = Vec::new();
    // Dampers parallel to the stiffness act like more of it.
    let elastic = weights.stiffness + weights.damping * structure.strain_rate_factor();
    let inverse = |node: usize| match increment {
        Some(increment) => inverse_tangent(&of_node(increment, node)),
        None => Matrix6::identity(),
    };
    let weights = Weights {
        mass: weights.mass + weights.damping * structure.mass_factor(),
        ..weights
    };
    mass_entries(equations, map, state, weights, &inverse, &mut out);
    element_entries(equations, map, state, weights, elastic, &inverse, &mut out);
    for (i, (stiffness, damping)) in equations.model.scalars.iter().enumerate() {
        let dof = map.first_scalar() + i;
        out.push((dof, dof, elastic * stiffness + weights.damping * damping));
    }
    for k in 0..equations.n_theta() {
        let dof = map.len() + k;
        out.push((dof, dof, theta_entry(equations, state, weights, k)));
    }
    for spring in equations.springs(state) {
        let value = elastic * spring.stiffness + weights.damping * spring.damping;
        let mut flat = Vec::new();
        map.each_row_entry(&spring.row, |_, dof, value| flat.push((dof, value)));
        for &(i, a) in &flat {
            for &(j, b) in &flat {
                out.push((i, j, value * a * b));
            }
        }
    }
    let rows = equations.model.constraint_rows(&state.frames, false);
    (out, row_entries(equations, map, &rows))
}

fn row_entries(equations: &Equations<'_>, map: &DofMap, rows: &ConstraintRows) -> Entries {
    let mut out = Vec::new();
    map.each_row_entry(rows, |r, dof, value| out.push((r, dof, value)));
    for k in 0..equations.n_theta() {
        out.push((equations.first_drive_row() + k, map.len() + k, -1.0));
    }
    for (p, k) in equations.prescribed.iter().enumerate() {
        out.push((equations.first_prescribed_row() + p, map.len() + k, 1.0));
    }
    out
}

fn theta_entry(equations: &Equations<'_>, state: &State, weights: Weights, k: usize) -> f64 {
    let reducer = equations.reducer;
    let mut damping = reducer.viscous()[k] + equations.coulomb(k, equations.rate(state)[k]).0;
    let mut stiffness = 0.0;
    if !equations.prescribed.contains(&k)
        && let Drive::Force {
            by_position,
            by_rate,
            ..
        } = equations.drive(k, state.time, state)
    {
        damping -= by_rate;
        stiffness -= by_position;
    }
    weights.mass * reducer.rotor_inertia()[k]
        + weights.damping * damping
        + weights.stiffness * stiffness
}

fn mass_entries(
    equations: &Equations<'_>,
    map: &DofMap,
    state: &State,
    weights: Weights,
    inverse: &dyn Fn(usize) -> Matrix6,
    out: &mut Entries,
) {
    for (node, mass) in &equations.model.masses {
        let v = of_node(&state.velocity, *node);
        let gyroscopic =
            -(adjoint_algebra(&v).transpose() * mass) - coadjoint_by_motion(&(mass * v));
        let block = (mass * weights.mass + gyroscopic * weights.damping) * inverse(*node);
        map.each_entry(*node, *node, &block, |i, j, v| out.push((i, j, v)));
    }
}

fn element_entries(
    equations: &Equations<'_>,
    map: &DofMap,
    state: &State,
    weights: Weights,
    elastic: f64,
    inverse: &dyn Fn(usize) -> Matrix6,
    out: &mut Entries,
) {
    for placed in &equations.model.placed {
        let element = equations.model.element(placed);
        let d = equations.deformation(placed, state);
        let mut matrix = if weights.damping == 0.0 {
            element.mass_at(&d) * weights.mass
        } else {
            let tangent = element.inertia_tangent(&d, &placed.gather(&state.velocity));
            tangent.mass * weights.mass + tangent.gyroscopic * weights.damping
        };
        for (k, node) in placed.nodes.iter().enumerate() {
            let inverse = inverse(*node);
            for row in 0..placed.nodes.len() {
                let mut block = matrix.fixed_view_mut::<6, 6>(6 * row, 6 * k);
                let turned = block.clone_owned() * inverse;
                block.copy_from(&turned);
            }
            for row in 6 * placed.nodes.len()..matrix.nrows() {
                let mut part = matrix.fixed_view_mut::<1, 6>(row, 6 * k);
                let turned = part.clone_owned() * inverse;
                part.copy_from(&turned);
            }
        }
        if elastic != 0.0 {
            matrix += element.elastic_forces(&d).1 * elastic;
        }
        placed.each_entry(map, matrix.as_slice(), |i, j, v| out.push((i, j, v)));
    }
}
