//! Rigid motions SE(3): frames, velocities in the moving frame, exponential and tangent maps.
//!
//! A velocity (or small motion) is `[v; w]` in the moving frame's own axes: H' = H·hat(V)
//! [M 2.1]. The tangent map T(d) is defined by exp(d + δ) = exp(d)·exp(T(d)δ) to first order [M 2.2].

mod tangent;

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};
use tangent::inverse_rotation_coefficient;
pub use tangent::{
    inverse_tangent, inverse_tangent_derivative, inverse_tangent_product_gradient,
    inverse_tangent_second_derivative, rotation_tangent, rotation_tangent_derivative,
    rotation_tangent_product_gradient, tangent, tangent_derivative, tangent_product_gradient,
    tangent_second_derivative,
};

/// A velocity, small motion or force: linear part first, then angular part.
pub type Vector6 = SVector<f64, 6>;
/// A linear map between velocities.
pub type Matrix6 = SMatrix<f64, 6, 6>;

/// A frame: rotation and position with respect to another frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Columns are the frame's axes in the outer frame.
    pub rotation: Matrix3<f64>,
    /// Origin in the outer frame (m).
    pub position: Vector3<f64>,
}

impl Frame {
    /// The outer frame itself.
    pub fn identity() -> Self {
        Self {
            rotation: Matrix3::identity(),
            position: Vector3::zeros(),
        }
    }

    /// A frame from its axes and origin.
    pub fn new(rotation: Matrix3<f64>, position: Vector3<f64>) -> Self {
        Self { rotation, position }
    }

    /// A frame shifted but not turned.
    pub fn translation(position: Vector3<f64>) -> Self {
        Self {
            rotation: Matrix3::identity(),
            position,
        }
    }

    /// `self` followed by `inner`, a frame given in `self`.
    pub fn compose(&self, inner: &Self) -> Self {
        Self {
            rotation: self.rotation * inner.rotation,
            position: self.position + self.rotation * inner.position,
        }
    }

    /// The outer frame as seen from this one.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self {
            rotation,
            position: -(rotation * self.position),
        }
    }

    /// `other` as seen from this frame.
    pub fn relative(&self, other: &Self) -> Self {
        let transpose = self.rotation.transpose();
        Self {
            rotation: transpose * other.rotation,
            position: transpose * (other.position - self.position),
        }
    }

    /// Velocity of the outer frame's observer for a velocity given in this frame, Ad(H).
    pub fn adjoint(&self) -> Matrix6 {
        let mut ad = Matrix6::zeros();
        ad.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.rotation);
        ad.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.rotation);
        ad.fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&(skew(&self.position) * self.rotation));
        ad
    }

    /// Ad(H⁻¹)·V without forming the matrix: velocity of a frame fixed at H in a body moving with V.
    pub fn pull_back(&self, velocity: &Vector6) -> Vector6 {
        let w = angular(velocity);
        let v = linear(velocity) + w.cross(&self.position);
        join(&self.rotation.tr_mul(&v), &self.rotation.tr_mul(&w))
    }

    /// Force at this frame's origin as the force it exerts on the outer frame's origin: the
    /// transpose of [`Self::pull_back`].
    pub fn carry_force(&self, force: &Vector6) -> Vector6 {
        let f = self.rotation * linear(force);
        let m = self.rotation * angular(force) + self.position.cross(&f);
        join(&f, &m)
    }
}

/// Linear part.
pub fn linear(v: &Vector6) -> Vector3<f64> {
    v.fixed_rows::<3>(0).into_owned()
}

/// Angular part.
pub fn angular(v: &Vector6) -> Vector3<f64> {
    v.fixed_rows::<3>(3).into_owned()
}

/// A six-vector from its two parts.
pub fn join(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6 {
    Vector6::new(
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    )
}

/// Matrix of the cross product.
pub fn skew(a: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Lie bracket ad(a)·b.
pub fn bracket(a: &Vector6, b: &Vector6) -> Vector6 {
    let (va, wa) = (linear(a), angular(a));
    let (vb, wb) = (linear(b), angular(b));
    join(&(wa.cross(&vb) + va.cross(&wb)), &wa.cross(&wb))
}

/// Matrix of [`bracket`].
pub fn adjoint_algebra(a: &Vector6) -> Matrix6 {
    let w = skew(&angular(a));
    let mut m = Matrix6::zeros();
    m.fixed_view_mut::<3, 3>(0, 0).copy_from(&w);
    m.fixed_view_mut::<3, 3>(3, 3).copy_from(&w);
    m.fixed_view_mut::<3, 3>(0, 3).copy_from(&skew(&linear(a)));
    m
}

/// ad(a)ᵀ·f: how a force in moving axes changes with the motion.
pub fn coadjoint(a: &Vector6, f: &Vector6) -> Vector6 {
    let (v, w) = (linear(a), angular(a));
    let (force, moment) = (linear(f), angular(f));
    join(&force.cross(&w), &(force.cross(&v) + moment.cross(&w)))
}

/// (sin x / x, (1 − cos x)/x², (x − sin x)/x³).
fn sine_ratios(x: f64) -> (f64, f64, f64) {
    let x2 = x * x;
    if x2 < 1e-2 {
        (
            1.0 - x2 / 6.0 * (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0))),
            0.5 * (1.0 - x2 / 12.0 * (1.0 - x2 / 30.0 * (1.0 - x2 / 56.0 * (1.0 - x2 / 90.0)))),
            (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0 * (1.0 - x2 / 110.0)))) / 6.0,
        )
    } else {
        let (s, c) = x.sin_cos();
        (s / x, (1.0 - c) / x2, (x - s) / (x2 * x))
    }
}

/// Rotation of a rotation vector.
pub fn exp_rotation(phi: &Vector3<f64>) -> Matrix3<f64> {
    let (a, b, _) = sine_ratios(phi.norm());
    let s = skew(phi);
    Matrix3::identity() + s * a + s * s * b
}

/// Rotation vector of a rotation, of length at most π.
pub fn log_rotation(r: &Matrix3<f64>) -> Vector3<f64> {
    let axis = Vector3::new(
        r[(2, 1)] - r[(1, 2)],
        r[(0, 2)] - r[(2, 0)],
        r[(1, 0)] - r[(0, 1)],
    ) * 0.5;
    let sine = axis.norm();
    let cosine = 0.5 * (r.trace() - 1.0);
    let angle = sine.atan2(cosine);
    if cosine > -0.5 {
        let ratio = if sine < 1e-4 {
            1.0 + sine * sine / 6.0
        } else {
            angle / sine
        };
        return axis * ratio;
    }
    // Near π the axis comes from the symmetric part, its sign from the antisymmetric one.
    let symmetric = (r + r.transpose()) * 0.5 - Matrix3::identity() * cosine;
    let k = (0..3)
        .max_by(|&i, &j| symmetric[(i, i)].total_cmp(&symmetric[(j, j)]))
        .unwrap_or(0);
    let column = symmetric.column(k).into_owned();
    let unit = column / column.norm();
    if unit.dot(&axis) < 0.0 {
        unit * -angle
    } else {
        unit * angle
    }
}

/// Frame reached after moving with the constant velocity `d` for unit time.
pub fn exp(d: &Vector6) -> Frame {
    let phi = angular(d);
    let (a, b, c) = sine_ratios(phi.norm());
    let s = skew(&phi);
    let s2 = s * s;
    Frame {
        rotation: Matrix3::identity() + s * a + s2 * b,
        position: (Matrix3::identity() + s * b + s2 * c) * linear(d),
    }
}

/// Constant velocity that leads to `h` in unit time, by an angle of at most π.
pub fn log(h: &Frame) -> Vector6 {
    let phi = log_rotation(&h.rotation);
    // The tangent map of −φ inverts the left Jacobian that exp applies to the position.
    let (value, _) = inverse_rotation_coefficient(&phi);
    let w = skew(&phi);
    let u = h.position - w * h.position * 0.5 + w * (w * h.position) * value;
    join(&u, &phi)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Vector6> {
        let mut out = Vec::new();
        for scale in [0.0, 1e-9, 1e-3, 0.05, 0.3, 0.69, 0.72, 1.5, 2.9] {
            for (k, axis) in [[0.3, -0.5, 0.8], [1.0, 0.0, 0.0], [-0.2, 0.9, 0.1]]
                .iter()
                .enumerate()
            {
                let axis = Vector3::from_row_slice(axis).normalize();
                let u = Vector3::new(0.7, -0.4 + k as f64, 0.2);
                out.push(join(&u, &(axis * scale)));
            }
        }
        out
    }

    #[test]
    fn log_inverts_exp() {
        for d in samples() {
            assert!((log(&exp(&d)) - d).norm() < 2e-14 * (1.0 + d.norm()), "{d}");
        }
        for angle in [3.0, 3.13, std::f64::consts::PI] {
            let phi = Vector3::new(0.3, -0.5, 0.8).normalize() * angle;
            let back = log_rotation(&exp_rotation(&phi));
            assert!((exp_rotation(&back) - exp_rotation(&phi)).norm() < 1e-14);
            assert!((back.norm() - angle).abs() < 1e-13);
        }
    }

    #[test]
    fn tangent_is_the_derivative_of_exp() {
        let h = 1e-5;
        for d in samples() {
            let t = tangent(&d);
            for i in 0..6 {
                let e = Vector6::ith(i, h);
                let forward = log(&exp(&d).relative(&exp(&(d + e))));
                let backward = log(&exp(&d).relative(&exp(&(d - e))));
                let difference = (forward - backward) / (2.0 * h);
                assert!((difference - t.column(i)).norm() < 2e-9, "{d} {i}");
            }
            assert!((t * inverse_tangent(&d) - Matrix6::identity()).norm() < 1e-13);
        }
    }

    #[test]
    fn tangent_derivatives_match_differences() {
        let h = 1e-5;
        for d in samples() {
            for i in 0..6 {
                let e = Vector6::ith(i, 1.0);
                let inverse =
                    (inverse_tangent(&(d + e * h)) - inverse_tangent(&(d - e * h))) / (2.0 * h);
                assert!((inverse - inverse_tangent_derivative(&d, &e)).norm() < 1e-9);
                let direct = (tangent(&(d + e * h)) - tangent(&(d - e * h))) / (2.0 * h);
                assert!((direct - tangent_derivative(&d, &e)).norm() < 1e-9);
            }
        }
    }

    #[test]
    fn second_derivatives_match_differences_of_first_ones() {
        let h = 1e-5;
        let e = Vector6::new(0.3, -0.8, 0.5, 1.2, -0.4, 0.7);
        for d in samples() {
            for i in 0..6 {
                let f = Vector6::ith(i, 1.0);
                let (plus, minus) = (d + f * h, d - f * h);
                let difference = (inverse_tangent_derivative(&plus, &e)
                    - inverse_tangent_derivative(&minus, &e))
                    / (2.0 * h);
                let found = inverse_tangent_second_derivative(&d, &e, &f);
                assert!((difference - found).norm() < 1e-8, "{d} {i}");
                let difference =
                    (tangent_derivative(&plus, &e) - tangent_derivative(&minus, &e)) / (2.0 * h);
                let found = tangent_second_derivative(&d, &e, &f);
                assert!((difference - found).norm() < 1e-8, "{d} {i}");
            }
        }
    }

    #[test]
    fn gradients_of_products_collect_the_derivatives() {
        let a = Vector6::new(0.3, -0.8, 0.5, 1.2, -0.4, 0.7);
        let b = Vector6::new(-0.6, 0.2, 0.9, -0.3, 1.1, 0.4);
        for d in samples() {
            let t = tangent(&d);
            let inverse = inverse_tangent_product_gradient(&d, &a, &b);
            let direct = tangent_product_gradient(&d, &t, &a, &b);
            for m in 0..6 {
                let e = Vector6::ith(m, 1.0);
                let expected = a.dot(&(inverse_tangent_derivative(&d, &e) * b));
                assert!((inverse[m] - expected).abs() < 1e-12, "{d} {m}");
                let expected = a.dot(&(tangent_derivative(&d, &e) * b));
                assert!((direct[m] - expected).abs() < 1e-12, "{d} {m}");
            }
        }
    }

    #[test]
    fn rotational_blocks_are_those_of_the_whole() {
        let (a, b) = (Vector3::new(0.5, 1.2, -0.4), Vector3::new(-0.3, 1.1, 0.4));
        for d in samples() {
            let phi = angular(&d);
            let t = tangent(&d).fixed_view::<3, 3>(3, 3).into_owned();
            let gradient = rotation_tangent_product_gradient(&phi, &t, &a, &b);
            for m in 0..3 {
                let e = Vector3::ith(m, 1.0);
                let whole = tangent_derivative(&d, &join(&Vector3::zeros(), &e));
                let found = rotation_tangent_derivative(&phi, &e);
                assert!((whole.fixed_view::<3, 3>(3, 3) - found).norm() < 1e-13);
                assert!((gradient[m] - a.dot(&(found * b))).abs() < 1e-13, "{d} {m}");
            }
        }
    }

    #[test]
    fn pull_back_is_the_inverse_adjoint() {
        let h = exp(&samples()[20]);
        let v = Vector6::new(0.1, -2.0, 0.3, 0.7, -0.2, 1.1);
        assert!((h.adjoint() * h.pull_back(&v) - v).norm() < 1e-14);
        assert!((h.inverse().adjoint() * v - h.pull_back(&v)).norm() < 1e-14);
        let f = Vector6::new(-0.4, 0.3, 2.0, 0.1, 0.8, -0.6);
        assert!((h.carry_force(&f).dot(&v) - f.dot(&h.pull_back(&v))).abs() < 1e-14);
        let u = samples()[11];
        assert!((coadjoint(&u, &f).dot(&v) - f.dot(&bracket(&u, &v))).abs() < 1e-14);
    }
}
