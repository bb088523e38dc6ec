//! Tangent maps: T(d) of exp(d + δ) = exp(d)·exp(T(d)δ) [M 2.2], its inverse and their derivatives.

use super::{
    Matrix6, Vector6, adjoint_algebra, angular, bracket, coadjoint, join, linear, sine_ratios, skew,
};
use nalgebra::{Matrix3, Vector3};

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

/// A matrix [turn, coupling; 0, turn], as ad, its powers and the tangent maps are.
#[derive(Clone, Copy)]
struct Upper {
    turn: Matrix3<f64>,
    coupling: Matrix3<f64>,
}

impl Upper {
    fn times(&self, other: &Self) -> Self {
        Self {
            turn: self.turn * other.turn,
            coupling: self.turn * other.coupling + self.coupling * other.turn,
        }
    }

    fn matrix(&self) -> Matrix6 {
        let mut m = Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.turn);
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.turn);
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&self.coupling);
        m
    }
}

/// A matrix and its transpose.
fn with_transpose(m: Matrix3<f64>) -> Matrix3<f64> {
    m + m.transpose()
}

/// T⁻¹(d) in blocks: skew matrices make ad² symmetric in both, and ω̂⁴ = −|φ|²ω̂².
fn inverse_tangent_blocks(d: &Vector6) -> Upper {
    let phi = angular(d);
    let square = phi.norm_squared();
    let c = inverse_tangent_coefficients(phi.norm());
    let (w, v) = (skew(&phi), skew(&linear(d)));
    let w2 = w * w;
    let x = with_transpose(w * v);
    Upper {
        turn: Matrix3::identity() + w * 0.5 + w2 * (c.alpha - c.beta * square),
        coupling: v * 0.5 + x * c.alpha + with_transpose(w2 * x) * c.beta,
    }
}

fn inverse_tangent_derivative_blocks(d: &Vector6, direction: &Vector6) -> Upper {
    let phi = angular(d);
    let square = phi.norm_squared();
    let c = inverse_tangent_coefficients(phi.norm());
    let d_square = 2.0 * phi.dot(&angular(direction));
    let (w, v) = (skew(&phi), skew(&linear(d)));
    let (e, f) = (skew(&angular(direction)), skew(&linear(direction)));
    // ad² and its derivative.
    let (w2, x) = (w * w, with_transpose(w * v));
    let (turned, coupled) = (with_transpose(e * w), with_transpose(e * v + f * w));
    let by_square = c.d_alpha - c.beta - c.d_beta * square;
    Upper {
        turn: e * 0.5 + turned * (c.alpha - c.beta * square) + w2 * (by_square * d_square),
        coupling: f * 0.5
            + x * (c.d_alpha * d_square)
            + coupled * c.alpha
            + with_transpose(w2 * x) * (c.d_beta * d_square)
            + with_transpose(turned * x + coupled * w2) * c.beta,
    }
}

fn tangent_blocks(d: &Vector6) -> Upper {
    let r = rotation_tangent(&angular(d));
    Upper {
        turn: r,
        coupling: -(r * inverse_tangent_blocks(d).coupling * r),
    }
}

/// T⁻¹(d); singular at angles of 2π.
pub fn inverse_tangent(d: &Vector6) -> Matrix6 {
    inverse_tangent_blocks(d).matrix()
}

/// Derivative of [`inverse_tangent`] in a direction.
pub fn inverse_tangent_derivative(d: &Vector6, direction: &Vector6) -> Matrix6 {
    inverse_tangent_derivative_blocks(d, direction).matrix()
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

/// Derivative of [`rotation_tangent`] in a direction.
pub fn rotation_tangent_derivative(phi: &Vector3<f64>, direction: &Vector3<f64>) -> Matrix3<f64> {
    let (value, by_square) = inverse_rotation_coefficient(phi);
    let (w, e) = (skew(phi), skew(direction));
    let inverse =
        e * 0.5 + with_transpose(e * w) * value + w * w * (by_square * 2.0 * phi.dot(direction));
    let r = rotation_tangent(phi);
    -(r * inverse * r)
}

/// κ of I + ½ω̂ + κω̂², the inverse of [`rotation_tangent`], and its derivative by |φ|².
pub(super) fn inverse_rotation_coefficient(phi: &Vector3<f64>) -> (f64, f64) {
    let square = phi.norm_squared();
    let c = inverse_tangent_coefficients(phi.norm());
    (
        c.alpha - c.beta * square,
        c.d_alpha - c.beta - c.d_beta * square,
    )
}

/// Gradient with respect to φ of aᵀ·T(φ)·b, for given rotational T(φ).
pub fn rotation_tangent_product_gradient(
    phi: &Vector3<f64>,
    t: &Matrix3<f64>,
    a: &Vector3<f64>,
    b: &Vector3<f64>,
) -> Vector3<f64> {
    let (a, b) = (t.tr_mul(a), t * b);
    let (value, by_square) = inverse_rotation_coefficient(phi);
    let (along_a, along_b, both) = (a.dot(phi), b.dot(phi), a.dot(&b));
    let twice = along_a * along_b - phi.norm_squared() * both;
    -(b.cross(&a) * 0.5
        + (a * along_b + b * along_a - phi * (2.0 * both)) * value
        + phi * (2.0 * by_square * twice))
}

/// T(d).
pub fn tangent(d: &Vector6) -> Matrix6 {
    tangent_blocks(d).matrix()
}

/// Derivative of [`tangent`] in a direction.
pub fn tangent_derivative(d: &Vector6, direction: &Vector6) -> Matrix6 {
    let t = tangent_blocks(d);
    let middle = inverse_tangent_derivative_blocks(d, direction);
    -t.times(&middle).times(&t).matrix()
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
