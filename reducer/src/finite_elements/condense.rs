//! Craig and Bampton: static shapes of the interface frames and modes of the body that they hold.

use super::body::FeBody;
use super::error::FeError;
use super::interface::{Interface, Tied};
use super::sparse::{Factor, Symmetric};
use crate::spectrum::{NaturalModes, NoSpectrum, lowest_modes};
use faer::Mat;
use nalgebra::{DMatrix, Vector3};

/// Most fixed-interface modes.
pub const MAX_MODES: usize = 200;

/// How many modes of the held body are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Modes {
    /// So many.
    Count(usize),
    /// All below a frequency (Hz).
    UpTo(f64),
}

/// A body condensed to its interface frames.
#[derive(Debug, Clone)]
pub struct Condensed {
    /// Names of the interfaces.
    pub names: Vec<String>,
    /// Their places, axes of the mesh (m).
    pub positions: Vec<Vector3<f64>>,
    /// Stiffness over the motions of the interfaces, six each, axes of the mesh; rigid motions cost
    /// nothing.
    pub stiffness: DMatrix<f64>,
    /// Angular frequencies of the kept modes of the held body (rad/s).
    pub omega: Vec<f64>,
    /// Motion of every dof of the body per motion of the interfaces.
    pub constraint: Mat<f64>,
    /// Modes of the held body with unit modal mass.
    pub modes: Mat<f64>,
    /// How far the static shapes were from containing rigid motions, before these were restored.
    pub rigid_gap: f64,
}

impl From<NoSpectrum> for FeError {
    fn from(_: NoSpectrum) -> Self {
        Self::Eigenproblem
    }
}

impl FeBody {
    /// Condenses the body.
    pub fn condense(&self, interfaces: &[Interface], modes: Modes) -> Result<Condensed, FeError> {
        crate::linalg::use_one_thread();
        let tied = self.tied(interfaces)?;
        let held = Held::new(&tied)?;
        let (shapes, stiffness, rigid_gap) = held.static_shapes(&tied);
        let natural = held.modes(modes)?;
        let n = tied.stiffness.n;
        let mut constraint = Mat::zeros(n, shapes.ncols());
        let mut kept = Mat::zeros(n, natural.shapes.ncols());
        for (dof, inner) in held.inner.iter().enumerate() {
            if let Some(i) = inner {
                for j in 0..shapes.ncols() {
                    constraint[(dof, j)] = shapes[(*i as usize, j)];
                }
                for j in 0..kept.ncols() {
                    kept[(dof, j)] = natural.shapes[(*i as usize, j)];
                }
            }
        }
        for (k, own) in tied.interfaces.iter().flatten().enumerate() {
            constraint[(*own as usize, k)] = 1.0;
        }
        for j in 0..kept.ncols() {
            let column = kept.col_as_slice_mut(j);
            let largest =
                (column.iter()).fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
            if largest < 0.0 {
                column.iter_mut().for_each(|v| *v = -*v);
            }
        }
        Ok(Condensed {
            names: interfaces.iter().map(|i| i.name.clone()).collect(),
            positions: tied.positions.clone(),
            stiffness,
            omega: natural.omega,
            constraint: expand(&tied, &constraint),
            modes: expand(&tied, &kept),
            rigid_gap,
        })
    }

    /// Lowest elastic frequencies of the body with its interfaces held (Hz).
    pub fn held_frequencies_hz(
        &self,
        interfaces: &[Interface],
        count: usize,
    ) -> Result<Vec<f64>, FeError> {
        crate::linalg::use_one_thread();
        let tied = self.tied(interfaces)?;
        let held = Held::new(&tied)?;
        Ok(held.modes(Modes::Count(count))?.frequencies_hz())
    }

    /// Lowest elastic frequencies of the free body with its interfaces tied (Hz).
    pub fn free_frequencies_hz(
        &self,
        interfaces: &[Interface],
        count: usize,
    ) -> Result<Vec<f64>, FeError> {
        crate::linalg::use_one_thread();
        let tied = self.tied(interfaces)?;
        // A small multiple of the mass makes rigid motions stiff; it is taken off again.
        let (k, m) = (tied.stiffness.diagonal(), tied.mass.diagonal());
        let ratio = |i: usize| {
            if m[i] > 0.0 {
                k[i] / m[i]
            } else {
                f64::INFINITY
            }
        };
        let shift = 1e-6 * (0..k.len()).map(ratio).fold(f64::INFINITY, f64::min);
        let factor = (tied.stiffness.plus(&tied.mass, shift).factor()).ok_or(FeError::Loose)?;
        let correction = Correction::new(&tied);
        let factor = Corrected::new(factor, &correction, correction.columns.clone());
        let found =
            lowest_modes::<FeError>(tied.stiffness.n, count + 6, &|q| tied.mass.times(q), &|f| {
                Ok(factor.solve(f.clone()))
            })?;
        let square = found.omega.iter().map(|w| (w * w - shift).max(0.0));
        let all: Vec<f64> = square.map(|v| v.sqrt() / std::f64::consts::TAU).collect();
        Ok(all.into_iter().skip(6).collect())
    }
}

/// Motions of tied dofs as motions of the dofs of the body.
fn expand(tied: &Tied, shapes: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(tied.map.len(), shapes.ncols());
    for j in 0..shapes.ncols() {
        let from = shapes.col_as_slice(j);
        let to = out.col_as_slice_mut(j);
        for (value, row) in to.iter_mut().zip(&tied.map) {
            *value = row.iter().map(|(dof, v)| v * from[*dof as usize]).sum();
        }
    }
    out
}

/// The body with its interfaces held.
struct Held {
    /// Place among inner dofs.
    inner: Vec<Option<u32>>,
    /// Place among interface dofs.
    outer: Vec<Option<u32>>,
    n_inner: usize,
    mass: Symmetric,
    factor: Corrected,
    correction: Correction,
}

impl Held {
    fn new(tied: &Tied) -> Result<Self, FeError> {
        let n = tied.stiffness.n;
        let mut outer = vec![None; n];
        for (k, dof) in tied.interfaces.iter().flatten().enumerate() {
            outer[*dof as usize] = Some(k as u32);
        }
        let mut n_inner = 0;
        let inner: Vec<Option<u32>> = (outer.iter())
            .map(|outer| {
                outer.is_none().then(|| {
                    n_inner += 1;
                    n_inner - 1
                })
            })
            .collect();
        let n_inner = n_inner as usize;
        let stiffness = tied.stiffness.part(&inner, n_inner);
        let correction = Correction::new(tied);
        let factor = stiffness.factor().ok_or(FeError::Loose)?;
        let columns = rows_of(&correction.columns, &inner, n_inner);
        Ok(Self {
            factor: Corrected::new(factor, &correction, columns),
            correction,
            mass: tied.mass.part(&inner, n_inner),
            inner,
            outer,
            n_inner,
        })
    }

    /// Inner motion per motion of the interfaces [M 15.1], and the condensed stiffness [M 15.2].
    ///
    /// Printed digits disturb rigid motions a little; they are put back, for whatever the stiffness
    /// says of them would be felt by every motion of a mechanism.
    fn static_shapes(&self, tied: &Tied) -> (Mat<f64>, DMatrix<f64>, f64) {
        let n_outer = 6 * tied.interfaces.len();
        let mut coupling =
            (tied.stiffness).between(&self.inner, self.n_inner, &self.outer, n_outer);
        let u = rows_of(&self.correction.columns, &self.outer, n_outer);
        let weighted = Correction::core(&self.correction.force) * u.transpose();
        coupling += &self.factor.columns * &weighted;
        let mut shapes = self.factor.solve(-&coupling);
        let rigid_inner = rows_of(&tied.motions, &self.inner, self.n_inner);
        let rigid_outer = rows_of(&tied.motions, &self.outer, n_outer);
        let (outer, left_inverse) = left_inverse(&rigid_outer, tied);
        let gap = &rigid_inner - &shapes * &rigid_outer;
        let size = rigid_inner.norm_max().max(1e-300);
        let back = Mat::from_fn(6, n_outer, |i, j| left_inverse[(i, j)]);
        shapes += &gap * &back;
        let own = tied
            .stiffness
            .between(&self.outer, n_outer, &self.outer, n_outer);
        let condensed = own + u * weighted + coupling.transpose() * &shapes;
        let condensed = DMatrix::from_fn(n_outer, n_outer, |i, j| condensed[(i, j)]);
        let keep = DMatrix::identity(n_outer, n_outer) - outer * left_inverse;
        let projected = keep.transpose() * condensed * keep;
        let symmetric = (&projected + projected.transpose()) * 0.5;
        (shapes, symmetric, gap.norm_max() / size)
    }

    fn modes(&self, wanted: Modes) -> Result<NaturalModes, FeError> {
        let find = |count: usize| {
            lowest_modes::<FeError>(self.n_inner, count, &|q| self.mass.times(q), &|f| {
                Ok(self.factor.solve(f.clone()))
            })
        };
        match wanted {
            _ if self.n_inner == 0 => Ok(none(0)),
            Modes::Count(0) => Ok(none(self.n_inner)),
            Modes::Count(count) => find(count.min(self.n_inner).min(MAX_MODES)),
            Modes::UpTo(limit_hz) => {
                let limit = limit_hz * std::f64::consts::TAU;
                let mut count = 16.min(self.n_inner);
                loop {
                    let found = find(count)?;
                    let enough = found.omega.last().is_none_or(|w| *w > limit);
                    if enough || found.complete || count >= self.n_inner {
                        let below = found.omega.iter().take_while(|w| **w <= limit).count();
                        return Ok(first(found, below));
                    }
                    if count >= MAX_MODES {
                        return Err(FeError::ManyModes {
                            limit: MAX_MODES,
                            up_to_hz: limit_hz,
                        });
                    }
                    count = (2 * count).min(MAX_MODES).min(self.n_inner);
                }
            }
        }
    }
}

fn none(n: usize) -> NaturalModes {
    NaturalModes {
        omega: Vec::new(),
        shapes: Mat::zeros(n, 0),
        complete: false,
    }
}

fn first(found: NaturalModes, count: usize) -> NaturalModes {
    NaturalModes {
        omega: found.omega[..count].to_vec(),
        shapes: Mat::from_fn(found.shapes.nrows(), count, |i, j| found.shapes[(i, j)]),
        complete: false,
    }
}

/// Rows of a matrix at given places.
fn rows_of(matrix: &Mat<f64>, places: &[Option<u32>], n: usize) -> Mat<f64> {
    let mut out = Mat::zeros(n, matrix.ncols());
    for (dof, place) in places.iter().enumerate() {
        if let Some(place) = place {
            for k in 0..matrix.ncols() {
                out[(*place as usize, k)] = matrix[(dof, k)];
            }
        }
    }
    out
}

/// What makes the stiffness free of force for rigid motions: PᵀKP = K + USUᵀ with P = I − RR⁺ and
/// R⁺ = (RᵀMR)⁻¹RᵀM, U = [KR, R⁺ᵀ] and S = [0 −I; −I RᵀKR]. With ten printed digits it is worth three decimals in the
/// frequencies of a mechanism.
struct Correction {
    /// U.
    columns: Mat<f64>,
    /// RᵀKR.
    force: Mat<f64>,
}

impl Correction {
    fn new(tied: &Tied) -> Self {
        let (r, forces) = (&tied.motions, tied.stiffness.times(&tied.motions));
        // Weighted by the mass: lengths and angles cannot be compared otherwise.
        let momenta = tied.mass.times(r);
        let gram = r.transpose() * &momenta;
        let gram = DMatrix::from_fn(6, 6, |i, j| gram[(i, j)]);
        let inverse = gram.try_inverse().unwrap_or_else(|| DMatrix::zeros(6, 6));
        let inverse = Mat::from_fn(6, 6, |i, j| inverse[(i, j)]);
        let left = momenta * inverse;
        let columns = Mat::from_fn(r.nrows(), 12, |i, k| {
            if k < 6 {
                forces[(i, k)]
            } else {
                left[(i, k - 6)]
            }
        });
        Self {
            force: r.transpose() * forces,
            columns,
        }
    }

    /// S.
    fn core(force: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(12, 12, |i, j| match (i / 6, j / 6) {
            (1, 1) => force[(i - 6, j - 6)],
            (0, 1) | (1, 0) if i % 6 == j % 6 => -1.0,
            _ => 0.0,
        })
    }
}

/// Factors of a part of the corrected stiffness, by the formula of Woodbury.
struct Corrected {
    factor: Factor,
    /// Rows of U.
    columns: Mat<f64>,
    /// K⁻¹U.
    solved: Mat<f64>,
    /// (S⁻¹ + UᵀK⁻¹U)⁻¹.
    core: Mat<f64>,
}

impl Corrected {
    fn new(factor: Factor, correction: &Correction, columns: Mat<f64>) -> Self {
        let force = &correction.force;
        let solved = factor.solve(columns.clone());
        let gram = columns.transpose() * &solved;
        // S⁻¹ = [−RᵀKR −I; −I 0].
        let sum = DMatrix::from_fn(12, 12, |i, j| {
            gram[(i, j)]
                + match (i / 6, j / 6) {
                    (0, 0) => -force[(i, j)],
                    (0, 1) | (1, 0) if i % 6 == j % 6 => -1.0,
                    _ => 0.0,
                }
        });
        let inverse = sum.try_inverse().unwrap_or_else(|| DMatrix::zeros(12, 12));
        Self {
            core: Mat::from_fn(12, 12, |i, j| inverse[(i, j)]),
            factor,
            columns,
            solved,
        }
    }

    fn solve(&self, rhs: Mat<f64>) -> Mat<f64> {
        let plain = self.factor.solve(rhs);
        let weights = &self.core * (self.columns.transpose() * &plain);
        plain - &self.solved * weights
    }
}

/// Rigid motions of the interfaces, and (RᵀR)⁻¹Rᵀ with rotations measured at the body's size.
fn left_inverse(rigid: &Mat<f64>, tied: &Tied) -> (DMatrix<f64>, DMatrix<f64>) {
    let center = tied.positions.iter().sum::<Vector3<f64>>() / tied.positions.len() as f64;
    let size = (tied.positions.iter())
        .fold(0.0_f64, |m, p| m.max((p - center).norm()))
        .max(1e-3 * center.norm())
        .max(1e-6);
    let weight = |row: usize| if row % 6 < 3 { 1.0 } else { size };
    let plain = DMatrix::from_fn(rigid.nrows(), 6, |i, k| rigid[(i, k)]);
    let weighted = DMatrix::from_fn(rigid.nrows(), 6, |i, k| {
        weight(i) * weight(i) * rigid[(i, k)]
    });
    let normal = weighted.transpose() * &plain;
    let inverse = normal.try_inverse().unwrap_or_else(|| DMatrix::zeros(6, 6));
    (plain, inverse * weighted.transpose())
}
