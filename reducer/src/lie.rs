//! Rigid motions SE(3): frames, velocities in the moving frame, exponential and tangent maps.
//!
//! A velocity (or small motion) is `[v; w]` in the moving frame's own axes: H' = H·hat(V)
//! [M 2.1]. The tangent map T(d) is defined by exp(d + δ) = exp(d)·exp(T(d)δ) to first order [M 2.2].

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

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
    let inverse = inverse_tangent(&join(&Vector3::zeros(), &(-phi)));
    let u = inverse.fixed_view::<3, 3>(3, 3) * h.position;
    join(&u, &phi)
}

/// |B₂ₖ|/(2k)! for k = 1, 2, …: (x/2)·cot(x/2) = 1 − Σ bₖ x²ᵏ.
const COTANGENT_SERIES: [f64; 10] = [
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30240.0,
    1.0 / 1209600.0,
    1.0 / 47900160.0,
    691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    3617.0 / 10670622842880000.0,
    43867.0 / 5109094217170944000.0,
    174611.0 / 802857662698291200000.0,
];

/// Coefficients α, β of T⁻¹ = I + ½ad + α ad² + β ad⁴ and their first and second derivatives with
/// respect to the squared angle. The polynomial is the Hermite interpolation of z/(1 − e⁻ᶻ) on the
/// spectrum of ad.
#[derive(Default)]
struct InverseTangentCoefficients {
    alpha: f64,
    beta: f64,
    d_alpha: f64,
    d_beta: f64,
    dd_alpha: f64,
    dd_beta: f64,
}

fn inverse_tangent_coefficients(angle: f64) -> InverseTangentCoefficients {
    let w = angle * angle;
    if w < 0.5 {
        let mut c = InverseTangentCoefficients::default();
        for (i, b) in COTANGENT_SERIES.iter().enumerate().rev() {
            let k = (i + 1) as f64;
            c.alpha = c.alpha * w + (2.0 - k) * b;
            if i >= 1 {
                c.beta = c.beta * w + (1.0 - k) * b;
                c.d_alpha = c.d_alpha * w + (2.0 - k) * (k - 1.0) * b;
            }
            if i >= 2 {
                c.d_beta = c.d_beta * w + (1.0 - k) * (k - 2.0) * b;
                c.dd_alpha = c.dd_alpha * w + (2.0 - k) * (k - 1.0) * (k - 2.0) * b;
            }
            if i >= 3 {
                c.dd_beta = c.dd_beta * w + (1.0 - k) * (k - 2.0) * (k - 3.0) * b;
            }
        }
        return c;
    }
    // g = (x/2)cot(x/2) and its derivatives by the angle x; α = a/x², β = b/x⁴.
    let c = 1.0 / (0.5 * angle).tan();
    let square = 1.0 + c * c;
    let g = 0.5 * angle * c;
    let g1 = 0.5 * c - 0.25 * angle * square;
    let g2 = square * (0.25 * angle * c - 0.5);
    let g3 = square * (0.75 * c - 0.125 * angle * (1.0 + 3.0 * c * c));
    let (a, a1, a2) = (
        2.0 * (1.0 - g) + 0.5 * g1 * angle,
        -1.5 * g1 + 0.5 * g2 * angle,
        -g2 + 0.5 * g3 * angle,
    );
    let (b, b1, b2) = (
        (1.0 - g) + 0.5 * g1 * angle,
        -0.5 * g1 + 0.5 * g2 * angle,
        0.5 * g3 * angle,
    );
    let alpha_1 = (a1 - 2.0 * a / angle) / w;
    let alpha_2 = (a2 - 4.0 * a1 / angle + 6.0 * a / w) / w;
    let beta_1 = (b1 - 4.0 * b / angle) / (w * w);
    let beta_2 = (b2 - 8.0 * b1 / angle + 20.0 * b / w) / (w * w);
    InverseTangentCoefficients {
        alpha: a / w,
        beta: b / (w * w),
        d_alpha: alpha_1 / (2.0 * angle),
        d_beta: beta_1 / (2.0 * angle),
        dd_alpha: (alpha_2 - alpha_1 / angle) / (4.0 * w),
        dd_beta: (beta_2 - beta_1 / angle) / (4.0 * w),
    }
}

/// T⁻¹(d); singular at angles of 2π.
pub fn inverse_tangent(d: &Vector6) -> Matrix6 {
    let c = inverse_tangent_coefficients(angular(d).norm());
    let a = adjoint_algebra(d);
    let a2 = a * a;
    Matrix6::identity() + a * 0.5 + a2 * c.alpha + a2 * a2 * c.beta
}

/// Derivative of [`inverse_tangent`] in a direction.
pub fn inverse_tangent_derivative(d: &Vector6, direction: &Vector6) -> Matrix6 {
    let phi = angular(d);
    let c = inverse_tangent_coefficients(phi.norm());
    let dw = 2.0 * phi.dot(&angular(direction));
    let a = adjoint_algebra(d);
    let e = adjoint_algebra(direction);
    let a2 = a * a;
    let e2 = e * a + a * e;
    e * 0.5
        + a2 * (c.d_alpha * dw)
        + e2 * c.alpha
        + a2 * a2 * (c.d_beta * dw)
        + (e2 * a2 + a2 * e2) * c.beta
}

/// Second derivative of [`inverse_tangent`] in two directions.
pub fn inverse_tangent_second_derivative(d: &Vector6, one: &Vector6, two: &Vector6) -> Matrix6 {
    let phi = angular(d);
    let c = inverse_tangent_coefficients(phi.norm());
    let (w1, w2) = (2.0 * phi.dot(&angular(one)), 2.0 * phi.dot(&angular(two)));
    let w12 = 2.0 * angular(one).dot(&angular(two));
    let (a, e, f) = (
        adjoint_algebra(d),
        adjoint_algebra(one),
        adjoint_algebra(two),
    );
    // S = ad², and its derivatives.
    let s = a * a;
    let (s1, s2, s12) = (e * a + a * e, f * a + a * f, e * f + f * e);
    s * (c.dd_alpha * w1 * w2 + c.d_alpha * w12)
        + s2 * (c.d_alpha * w1)
        + s1 * (c.d_alpha * w2)
        + s12 * c.alpha
        + s * s * (c.dd_beta * w1 * w2 + c.d_beta * w12)
        + (s2 * s + s * s2) * (c.d_beta * w1)
        + (s1 * s + s * s1) * (c.d_beta * w2)
        + (s12 * s + s1 * s2 + s2 * s1 + s * s12) * c.beta
}

/// Rotational block of the tangent map: angular velocity in moving axes for a rotation vector's rate.
pub fn rotation_tangent(phi: &Vector3<f64>) -> Matrix3<f64> {
    let (_, b, c) = sine_ratios(phi.norm());
    let s = skew(phi);
    Matrix3::identity() - s * b + s * s * c
}

/// T(d).
pub fn tangent(d: &Vector6) -> Matrix6 {
    let inverse = inverse_tangent(d);
    let r = rotation_tangent(&angular(d));
    let coupling = inverse.fixed_view::<3, 3>(0, 3).into_owned();
    let mut t = Matrix6::zeros();
    t.fixed_view_mut::<3, 3>(0, 0).copy_from(&r);
    t.fixed_view_mut::<3, 3>(3, 3).copy_from(&r);
    t.fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&(-(r * coupling * r)));
    t
}

/// Derivative of [`tangent`] in a direction.
pub fn tangent_derivative(d: &Vector6, direction: &Vector6) -> Matrix6 {
    let t = tangent(d);
    -(t * inverse_tangent_derivative(d, direction) * t)
}

/// Second derivative of [`tangent`] in two directions.
pub fn tangent_second_derivative(d: &Vector6, one: &Vector6, two: &Vector6) -> Matrix6 {
    let t = tangent(d);
    let first = inverse_tangent_derivative(d, one) * t;
    let second = inverse_tangent_derivative(d, two) * t;
    t * (first * second + second * first - inverse_tangent_second_derivative(d, one, two) * t)
}

/// Gradient with respect to d of aᵀ·T⁻¹(d)·b, without forming matrices.
pub fn inverse_tangent_product_gradient(d: &Vector6, a: &Vector6, b: &Vector6) -> Vector6 {
    let phi = angular(d);
    let c = inverse_tangent_coefficients(phi.norm());
    let b1 = bracket(d, b);
    let b2 = bracket(d, &b1);
    let b3 = bracket(d, &b2);
    let a1 = coadjoint(d, a);
    let a2 = coadjoint(d, &a1);
    let a3 = coadjoint(d, &a2);
    // aᵀ·ad(e)·b = −(ad(b)ᵀ·a)·e for each factor of the powers of ad(d).
    let second = coadjoint(&b1, a) + coadjoint(b, &a1);
    let fourth = coadjoint(&b3, a) + coadjoint(&b2, &a1) + coadjoint(&b1, &a2) + coadjoint(b, &a3);
    let by_square = c.d_alpha * a.dot(&b2) + c.d_beta * a2.dot(&b2);
    join(&Vector3::zeros(), &(phi * (2.0 * by_square)))
        - coadjoint(b, a) * 0.5
        - second * c.alpha
        - fourth * c.beta
}

/// Gradient with respect to d of aᵀ·T(d)·b, for given T(d).
pub fn tangent_product_gradient(d: &Vector6, t: &Matrix6, a: &Vector6, b: &Vector6) -> Vector6 {
    -inverse_tangent_product_gradient(d, &t.tr_mul(a), &(t * b))
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
