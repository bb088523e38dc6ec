//! Points of rest at both ends of a path: zeros of the plant, and conditions that keep the motion bounded
//! beyond them.

use super::ROUNDING;
use super::error::InversionError;
use super::plant::{Internal, Plant, Work};
use crate::dynamics::linear::{Root, eigenvalues, sorted};
use crate::dynamics::signal::Jet;
use nalgebra::{DMatrix, DVector};

/// Zeros whose real part is below this part of their size count as imaginary.
const IMAGINARY: f64 = 1e-6;
/// Zeros with less damping than this ring for so long that the horizon does not wait for them.
const RINGING: f64 = 0.05;
/// Smallest singular value of A in parts of the modes' mass.
const REGULAR: f64 = 1e-8;
/// Most steps to a point of rest.
const STEPS: usize = 40;
/// Most steps to the sign of a matrix.
const SIGN_STEPS: usize = 100;

/// A point of rest.
pub(super) struct RestPoint {
    pub theta: Vec<f64>,
    pub modal: Vec<f64>,
    pub zeros: Vec<Root>,
    /// Natural frequencies with θ held (rad/s), rising.
    pub frequencies: Vec<f64>,
    pub stiffness: DMatrix<f64>,
    /// z and ż of the internal dynamics, as a first-order system.
    system: DMatrix<f64>,
}

impl RestPoint {
    /// The rest with the outputs where they are wanted; Newton's method on the modes from `theta` and
    /// undeformed ones.
    pub fn find(
        plant: &Plant<'_>,
        place: &'static str,
        time: f64,
        theta: &[f64],
        wanted: &[Jet],
        work: &mut Work,
    ) -> Result<Self, InversionError> {
        let (m, s) = (plant.m(), plant.s);
        let still = vec![0.0; m];
        let mut modal = vec![0.0; m];
        let mut theta = theta.to_vec();
        for _ in 0..STEPS {
            let motion = plant.complete(time, &theta, [&modal, &still, &still], wanted, work)?;
            theta.copy_from_slice(&motion.eta[..s]);
            let internal = plant.internal(time, motion, work)?;
            let step = internal.by[0].clone().lu().solve(&internal.rest);
            let step = step.ok_or(InversionError::NoRest { place })?;
            let size = modal.iter().fold(step.amax(), |most, z| most.max(z.abs()));
            if !size.is_finite() {
                break;
            }
            (0..m).for_each(|i| modal[i] -= step[i]);
            if step.amax() <= (1e-11 * size).max(ROUNDING) {
                return Self::linear(theta, modal, &internal, time);
            }
        }
        Err(InversionError::NoRest { place })
    }

    fn linear(
        theta: Vec<f64>,
        modal: Vec<f64>,
        internal: &Internal,
        time: f64,
    ) -> Result<Self, InversionError> {
        let m = modal.len();
        let [c, b, a] = &internal.by;
        let [stiffness, inertia] = &internal.held;
        if !is_regular(a, inertia) {
            return Err(InversionError::Singular { time });
        }
        let factors = a.clone().lu();
        let solve = |right: &DMatrix<f64>| factors.solve(right);
        let (Some(by_place), Some(by_rate)) = (solve(c), solve(b)) else {
            return Err(InversionError::Singular { time });
        };
        let mut system = DMatrix::zeros(2 * m, 2 * m);
        for i in 0..m {
            system[(i, m + i)] = 1.0;
        }
        system.view_mut((m, 0), (m, m)).copy_from(&-by_place);
        system.view_mut((m, m), (m, m)).copy_from(&-by_rate);
        let held = inertia.clone().lu().solve(stiffness);
        let mut frequencies: Vec<f64> = held.map_or(Vec::new(), |held| {
            let squares = eigenvalues(held).into_iter();
            squares.map(|square| square.re.max(0.0).sqrt()).collect()
        });
        frequencies.sort_by(f64::total_cmp);
        Ok(Self {
            theta,
            modal,
            zeros: sorted(eigenvalues(system.clone()).into_iter()),
            frequencies,
            stiffness: stiffness.clone(),
            system,
        })
    }

    /// Zeros in the right half-plane.
    pub fn unstable(&self) -> impl Iterator<Item = &Root> {
        let is_unstable = |root: &&Root| root.at.re > IMAGINARY * root.at.norm();
        self.zeros.iter().filter(is_unstable)
    }

    /// Slowest growth before the path, or decay after it, for which the horizon waits; none where nothing
    /// grows or decays so.
    pub fn slowest(&self, after: bool) -> Option<f64> {
        let sign = if after { -1.0 } else { 1.0 };
        let rates = self.zeros.iter().map(|root| {
            let is_clear = sign * root.at.re > RINGING * root.at.norm();
            is_clear.then_some(root.at.re.abs())
        });
        rates.flatten().min_by(f64::total_cmp)
    }

    /// Rows W with W(z − z₀, ż) = 0 where the motion has no part that grows (`after`) or, before the path,
    /// none that does not: a basis of the left invariant subspace.
    ///
    /// The projector is ½(1 ± sign(S − σ)), σ between the imaginary axis and the first zero to the right of
    /// it, so that imaginary zeros count as stable. ż is in units of `rate`.
    pub fn condition(&self, after: bool, rate: f64) -> Option<DMatrix<f64>> {
        let size = self.system.nrows();
        let unstable = self.unstable().count();
        let rank = if after { unstable } else { size - unstable };
        if rank == 0 || rank == size {
            return Some(DMatrix::identity(rank, size));
        }
        let nearest = self.unstable().map(|root| root.at.re);
        let shift = 0.5 * nearest.fold(f64::INFINITY, f64::min);
        let mut moved = self.system.clone();
        let m = size / 2;
        moved.view_mut((0, m), (m, m)).scale_mut(rate);
        moved.view_mut((m, 0), (m, m)).scale_mut(1.0 / rate);
        for k in 0..size {
            moved[(k, k)] -= shift;
        }
        let sign = sign_of(moved)?;
        let one = DMatrix::identity(size, size);
        let projector = if after { one + sign } else { one - sign };
        let svd = (0.5 * projector).svd(false, true);
        let rows = svd.v_t?;
        // nalgebra sorts singular values in falling order.
        let found = svd.singular_values.iter().filter(|v| **v > 0.5).count();
        (found == rank).then(|| rows.rows(0, rank).into_owned())
    }
}

/// Whether accelerations of the modes follow from the path: A in parts of the modes' mass.
fn is_regular(a: &DMatrix<f64>, inertia: &DMatrix<f64>) -> bool {
    let Some(factor) = inertia.clone().cholesky() else {
        return false;
    };
    let lower = factor.l();
    let scaled = lower.solve_lower_triangular(a).and_then(|half| {
        let other = lower.solve_lower_triangular(&half.transpose());
        other.map(|whole| whole.singular_values().min())
    });
    scaled.is_some_and(|least| least > REGULAR)
}

/// sign(S) by Newton's iteration with scaling by the determinant.
fn sign_of(mut matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let size = matrix.nrows() as f64;
    for _ in 0..SIGN_STEPS {
        let lu = matrix.clone().lu();
        let inverse = lu.try_inverse()?;
        let upper = lu.u();
        let logarithm: f64 = upper.diagonal().iter().map(|v| v.abs().ln()).sum();
        let scale = (-logarithm / size).exp();
        let next = 0.5 * (&matrix * scale + inverse / scale);
        let change = (&next - &matrix).norm();
        let is_settled = change <= 1e-12 * next.norm();
        matrix = next;
        if !matrix.iter().all(|v| v.is_finite()) {
            return None;
        }
        if is_settled {
            break;
        }
    }
    Some(matrix)
}

/// z and ż relative to a rest, ż in units of `rate`.
pub(super) fn deviation(rest: &RestPoint, z: &[f64], zd: &[f64], rate: f64) -> DVector<f64> {
    let places = z.iter().zip(&rest.modal).map(|(z, at)| z - at);
    let all = places.chain(zd.iter().map(|v| v / rate));
    DVector::from_vec(all.collect())
}
