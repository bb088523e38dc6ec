//! Derived quantities: matrix expressions of the coefficients at one configuration [M 7.9].
//!
//! Gradients by θ are exact where all that an expression holds has one: mass, stiffness, frequencies that
//! differ, rotations, and what is made of them.

use super::coefficients::{Coefficients, DerivedCoefficients};
use crate::description::matrix::{Function, Matrix, Operator, Part, Source};
use nalgebra::{DMatrix, Matrix3, SymmetricEigen, Vector3};
use thiserror::Error;

/// Smallest singular value over the largest, rows and columns scaled to equal size, below which nothing of an
/// inverse is left above rounding.
const SINGULAR: f64 = 1e-13;
/// Part of a matrix by which one that should be symmetric may differ from its transpose.
const ASYMMETRY: f64 = 1e-9;
/// Relative distance of squared frequencies below which the modes of each are not told apart.
const EQUAL: f64 = 1e-9;

/// Why a derived quantity has no value at a configuration.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DerivedFault {
    /// An inverse of a singular matrix.
    #[error("`{of}` has no inverse: its smallest singular value is {ratio:.1e} of its largest")]
    Singular {
        /// The matrix.
        of: String,
        /// Smallest over largest singular value, scaled.
        ratio: f64,
    },
    /// A root of a matrix that has none.
    #[error("`{of}` has no root: it is not symmetric and positive definite")]
    Indefinite {
        /// The matrix.
        of: String,
    },
    /// Numbers that are too large.
    #[error("`{of}` is not finite")]
    NotFinite {
        /// The matrix.
        of: String,
    },
}

/// Values and gradients of an expression whose sizes agree with the coefficients.
pub fn evaluate(of: &Matrix, c: &Coefficients) -> Result<DerivedCoefficients, DerivedFault> {
    let found = At { c }.value(of)?;
    let finite = |m: &DMatrix<f64>| m.iter().all(|v| v.is_finite());
    let value = found.value;
    if !finite(&value) {
        return Err(DerivedFault::NotFinite { of: of.to_string() });
    }
    let slopes = found.slopes.filter(|slopes| slopes.iter().all(finite));
    Ok(DerivedCoefficients {
        columns: value.ncols(),
        values: row_major(&value),
        gradient: slopes.map_or_else(Vec::new, |slopes| slopes.iter().map(row_major).collect()),
    })
}

fn row_major(m: &DMatrix<f64>) -> Vec<f64> {
    m.transpose().iter().copied().collect()
}

/// A matrix and, where they are known, its derivatives by every θ.
struct Value {
    value: DMatrix<f64>,
    slopes: Option<Vec<DMatrix<f64>>>,
}

impl Value {
    /// A linear function of the matrix.
    fn mapped(self, f: impl Fn(DMatrix<f64>) -> DMatrix<f64>) -> Self {
        Self {
            value: f(self.value),
            slopes: self.slopes.map(|all| all.into_iter().map(f).collect()),
        }
    }

    /// The derivatives of two matrices, where both have them.
    fn both<'a>(&'a self, other: &'a Self) -> Option<Slopes<'a>> {
        Some(self.slopes.as_ref()?.iter().zip(other.slopes.as_ref()?))
    }

    fn sum(self, other: &Self, sign: f64) -> Self {
        let both = self.both(other);
        let slopes = both.map(|both| both.map(|(a, b)| a + sign * b).collect());
        Self {
            value: self.value + sign * &other.value,
            slopes,
        }
    }

    fn product(&self, other: &Self) -> Self {
        let slope = |(da, db): (&DMatrix<f64>, &DMatrix<f64>)| da * &other.value + &self.value * db;
        Self {
            value: &self.value * &other.value,
            slopes: self.both(other).map(|both| both.map(slope).collect()),
        }
    }

    fn transposed(&self) -> Self {
        let slopes = self.slopes.as_ref();
        Self {
            value: self.value.transpose(),
            slopes: slopes.map(|all| all.iter().map(DMatrix::transpose).collect()),
        }
    }
}

type Slopes<'a> =
    std::iter::Zip<std::slice::Iter<'a, DMatrix<f64>>, std::slice::Iter<'a, DMatrix<f64>>>;

/// The configuration.
struct At<'c> {
    c: &'c Coefficients,
}

impl At<'_> {
    /// A number is a matrix of one entry here: operators ask the expression.
    fn value(&self, of: &Matrix) -> Result<Value, DerivedFault> {
        let s = self.c.n_rigid();
        Ok(match of {
            Matrix::Number(number) => Value {
                value: DMatrix::from_element(1, 1, *number),
                slopes: Some(vec![DMatrix::zeros(1, 1); s]),
            },
            Matrix::Block(source, rows, columns) => self.block(*source, *rows, *columns),
            Matrix::Frequencies => self.frequencies(of)?,
            Matrix::Jacobian {
                output: (output, _),
                body,
                rows,
                columns,
            } => Value {
                value: self.jacobian(*output, *body, rows, *columns),
                slopes: None,
            },
            Matrix::Rotation(output, _) => self.rotation(*output),
            Matrix::LoadMap(loaded, _, columns) => {
                let row = &self.c.load_map[*loaded][self.range(*columns)];
                Value {
                    value: DMatrix::from_row_slice(1, row.len(), row),
                    slopes: None,
                }
            }
            Matrix::Stack(rows) => self.stack(rows)?,
            Matrix::Function(function, of) => self.function(*function, of)?,
            Matrix::Binary(operator, left, right) => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                match (operator, &**left, &**right) {
                    (Operator::Sum, ..) => a.sum(&b, 1.0),
                    (Operator::Difference, ..) => a.sum(&b, -1.0),
                    (Operator::Product, Matrix::Number(factor), _) => b.mapped(|m| *factor * m),
                    (Operator::Product, _, Matrix::Number(factor)) => a.mapped(|m| *factor * m),
                    (Operator::Product, ..) => a.product(&b),
                    (Operator::Quotient, ..) => {
                        let divisor = b.value[(0, 0)];
                        a.mapped(|m| m / divisor)
                    }
                }
            }
        })
    }

    fn range(&self, part: Part) -> std::ops::Range<usize> {
        let (n, s) = (self.c.n(), self.c.n_rigid());
        match part {
            Part::All => 0..n,
            Part::Rigid => 0..s,
            Part::Modal => s..n,
        }
    }

    fn block(&self, source: Source, rows: Part, columns: Part) -> Value {
        let (c, n, s) = (self.c, self.c.n(), self.c.n_rigid());
        let (rows, columns) = (self.range(rows), self.range(columns));
        let pick = |all: &Vec<f64>| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
                all[(rows.start + i) * n + columns.start + j]
            })
        };
        let (all, gradient) = match source {
            Source::Mass => (&c.mass, Some(&c.mass_gradient[..s])),
            Source::Stiffness => (&c.stiffness, Some(&c.stiffness_gradient[..])),
            Source::Damping => (&c.damping, None),
        };
        Value {
            value: pick(all),
            slopes: gradient.map(|all| all.iter().map(pick).collect()),
        }
    }

    /// √eig(K, M) on δ, ascending.
    fn frequencies(&self, of: &Matrix) -> Result<Value, DerivedFault> {
        let block = |source| self.block(source, Part::Modal, Part::Modal);
        let (mass, stiffness) = (block(Source::Mass), block(Source::Stiffness));
        let indefinite = || DerivedFault::Indefinite { of: of.to_string() };
        let factor = mass.value.clone().cholesky().ok_or_else(indefinite)?.l();
        let whitened = |m: &DMatrix<f64>| {
            let half = factor.solve_lower_triangular(m)?;
            factor.solve_lower_triangular(&half.transpose())
        };
        let standard = whitened(&stiffness.value).ok_or_else(indefinite)?;
        let eigen = SymmetricEigen::new(standard);
        let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let squares: Vec<f64> = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
        if squares.iter().any(|square| *square <= 0.0) {
            return Err(indefinite());
        }
        let apart = squares
            .windows(2)
            .all(|pair| pair[1] - pair[0] > EQUAL * pair[1]);
        // ∂λ = φᵀ(∂K − λ ∂M)φ with φ = L⁻ᵀv.
        let slope = |(dm, dk): (&DMatrix<f64>, &DMatrix<f64>)| {
            let (dm, dk) = (whitened(dm)?, whitened(dk)?);
            let of_mode = |at: usize| {
                let v = eigen.eigenvectors.column(order[at]);
                let change = v.dot(&(&dk * v)) - squares[at] * v.dot(&(&dm * v));
                change / (2.0 * squares[at].sqrt())
            };
            Some(DMatrix::from_fn(squares.len(), 1, |at, _| of_mode(at)))
        };
        let slopes = mass.both(&stiffness).filter(|_| apart);
        Ok(Value {
            value: DMatrix::from_fn(squares.len(), 1, |i, _| squares[i].sqrt()),
            slopes: slopes.and_then(|both| both.map(slope).collect()),
        })
    }

    fn turn(&self, output: usize) -> Matrix3<f64> {
        Matrix3::from_row_slice(&self.c.outputs[output].rotation)
    }

    fn jacobian(&self, output: usize, body: bool, rows: &[u8], columns: Part) -> DMatrix<f64> {
        let (n, columns) = (self.c.n(), self.range(columns));
        let given = &self.c.outputs[output].jacobian;
        let turn = self.turn(output);
        let entry = |row: usize, column: usize| {
            let half = row / 3 * 3;
            let inertial = |row: usize| given[row * n + column];
            match body {
                true => (0..3)
                    .map(|a| turn[(a, row - half)] * inertial(half + a))
                    .sum(),
                false => inertial(row),
            }
        };
        let rows: Vec<usize> = match rows {
            [] => (0..6).collect(),
            rows => rows.iter().map(|row| usize::from(*row)).collect(),
        };
        DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
            entry(rows[i], columns.start + j)
        })
    }

    /// R, and ω × R for the angular velocity per rate of each θ.
    fn rotation(&self, output: usize) -> Value {
        let n = self.c.n();
        let jacobian = &self.c.outputs[output].jacobian;
        let turn = self.turn(output);
        let dynamic = |m: Matrix3<f64>| DMatrix::from_fn(3, 3, |i, j| m[(i, j)]);
        let slope = |k: usize| {
            let spin = Vector3::from_fn(|i, _| jacobian[(3 + i) * n + k]);
            dynamic(spin.cross_matrix() * turn)
        };
        Value {
            value: dynamic(turn),
            slopes: Some((0..self.c.n_rigid()).map(slope).collect()),
        }
    }

    fn stack(&self, rows: &[Vec<Matrix>]) -> Result<Value, DerivedFault> {
        let mut parts = Vec::new();
        let (mut top, mut width) = (0, 0);
        for row in rows {
            let (mut left, mut height) = (0, 0);
            for part in row {
                let value = self.value(part)?;
                let (place, size) = ((top, left), value.value.shape());
                (left, height) = (left + size.1, size.0);
                parts.push((place, value));
            }
            (top, width) = (top + height, left);
        }
        let put = |of: &dyn Fn(&Value) -> DMatrix<f64>| {
            let mut whole = DMatrix::zeros(top, width);
            for (place, part) in &parts {
                let part = of(part);
                whole.view_mut(*place, part.shape()).copy_from(&part);
            }
            whole
        };
        let known = parts.iter().all(|(_, part)| part.slopes.is_some());
        let slope = |k: usize| {
            put(&|part| {
                let slopes = part.slopes.as_ref();
                slopes.map_or_else(|| DMatrix::zeros(0, 0), |slopes| slopes[k].clone())
            })
        };
        Ok(Value {
            value: put(&|part| part.value.clone()),
            slopes: known.then(|| (0..self.c.n_rigid()).map(slope).collect()),
        })
    }

    fn function(&self, function: Function, of: &Matrix) -> Result<Value, DerivedFault> {
        let a = self.value(of)?;
        Ok(match function {
            Function::Negative => a.mapped(|m| -m),
            Function::Transpose => a.transposed(),
            Function::Diagonal => a.mapped(|m| {
                let count = m.len();
                DMatrix::from_fn(count, count, |i, j| if i == j { m[i] } else { 0.0 })
            }),
            Function::Inverse => inverse(a, of)?,
            Function::Root => root(a, of)?,
            Function::PseudoInverse => {
                let transposed = a.transposed();
                if a.value.nrows() < a.value.ncols() {
                    let inner = inverse(a.product(&transposed), of)?;
                    transposed.product(&inner)
                } else {
                    let inner = inverse(transposed.product(&a), of)?;
                    inner.product(&transposed)
                }
            }
        })
    }
}

/// A⁻¹ and −A⁻¹ ∂A A⁻¹.
fn inverse(a: Value, of: &Matrix) -> Result<Value, DerivedFault> {
    let ratio = smallest_over_largest(&a.value);
    let singular = || DerivedFault::Singular {
        of: of.to_string(),
        ratio,
    };
    let inverse = a.value.try_inverse().filter(|_| ratio > SINGULAR);
    let inverse = inverse.ok_or_else(singular)?;
    let slopes = a.slopes.map(|all| {
        let slope = |da: &DMatrix<f64>| -(&inverse * da * &inverse);
        all.iter().map(slope).collect()
    });
    Ok(Value {
        value: inverse,
        slopes,
    })
}

/// Smallest over largest singular value of a square matrix whose rows and columns are scaled to equal size, so
/// that units do not matter; 0 where it has none.
fn smallest_over_largest(a: &DMatrix<f64>) -> f64 {
    let mut scaled = a.clone();
    for mut row in scaled.row_iter_mut() {
        let largest = row.amax();
        if !(largest > 0.0 && largest.is_finite()) {
            return 0.0;
        }
        row /= largest;
    }
    for mut column in scaled.column_iter_mut() {
        let largest = column.amax();
        if largest == 0.0 {
            return 0.0;
        }
        column /= largest;
    }
    let values = scaled.singular_values();
    values.min() / values.max()
}

/// A^½ and its derivative: in the axes of the eigenvectors entry (i, j) of ∂A over √λ_i + √λ_j.
fn root(a: Value, of: &Matrix) -> Result<Value, DerivedFault> {
    let indefinite = || DerivedFault::Indefinite { of: of.to_string() };
    let m = &a.value;
    let lopsided = (m - m.transpose()).norm() > ASYMMETRY * m.norm();
    if lopsided || m.iter().any(|v| !v.is_finite()) {
        return Err(indefinite());
    }
    let eigen = SymmetricEigen::new(0.5 * (m + m.transpose()));
    if eigen.eigenvalues.iter().any(|value| *value <= 0.0) {
        return Err(indefinite());
    }
    let (roots, v) = (eigen.eigenvalues.map(f64::sqrt), &eigen.eigenvectors);
    let slope = |da: &DMatrix<f64>| {
        let mut inner = v.transpose() * da * v;
        for i in 0..roots.len() {
            for j in 0..roots.len() {
                inner[(i, j)] /= roots[i] + roots[j];
            }
        }
        v * inner * v.transpose()
    };
    Ok(Value {
        value: v * DMatrix::from_diagonal(&roots) * v.transpose(),
        slopes: a.slopes.as_ref().map(|all| all.iter().map(slope).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::matrix::{Names, parse};
    use crate::reduction::OutputCoefficients;

    /// Coefficients whose blocks are smooth functions of one θ, with two δ and an output.
    fn coefficients(theta: f64) -> Coefficients {
        let (sine, cosine) = theta.sin_cos();
        let mass = vec![
            3.0 + cosine,
            0.4 * sine,
            0.7,
            0.4 * sine,
            1.0,
            0.0,
            0.7,
            0.0,
            1.2,
        ];
        let mass_slope = vec![
            -sine,
            0.4 * cosine,
            0.0,
            0.4 * cosine,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ];
        let stiffness = vec![0.0, 0.0, 0.0, 0.0, 50.0, 9.0 * sine, 0.0, 9.0 * sine, 90.0];
        let stiffness_slope = vec![
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            9.0 * cosine,
            0.0,
            9.0 * cosine,
            0.0,
        ];
        // The output turns about z with θ; its third column is a rotation by the second δ.
        let mut jacobian = vec![0.0; 18];
        (jacobian[0], jacobian[3], jacobian[15]) = (-sine, cosine, 1.0);
        (jacobian[1], jacobian[4], jacobian[17]) = (cosine, sine, 0.5);
        Coefficients {
            theta: vec![theta],
            mass,
            mass_gradient: vec![mass_slope],
            damping: vec![0.0; 9],
            stiffness,
            stiffness_gradient: vec![stiffness_slope],
            force: vec![0.0; 3],
            outputs: vec![OutputCoefficients {
                position: [cosine, sine, 0.0],
                rotation: [cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0],
                jacobian,
                curvature: Vec::new(),
            }],
            load_map: vec![vec![1.0, 2.0, 3.0]],
            ..Coefficients::default()
        }
    }

    fn read(text: &str) -> Matrix {
        let [outputs, loaded] = ["tip", "push"].map(|name| vec![name.to_owned()]);
        let names = Names {
            outputs: &outputs,
            loaded: &loaded,
        };
        parse(text, names, &|_| None).expect("an expression")
    }

    fn at(text: &str, theta: f64) -> DerivedCoefficients {
        evaluate(&read(text), &coefficients(theta)).expect("a value")
    }

    #[test]
    fn values_are_those_of_the_mathematics() {
        let near = |text: &str, expected: &[f64]| {
            let found = at(text, 0.3).values;
            assert_eq!(found.len(), expected.len(), "{text}");
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-12, "{text}: {found:?}");
            }
        };
        near("M.dt", &[0.4 * 0.3f64.sin(), 0.7]);
        near("M.td", &[0.4 * 0.3f64.sin(), 0.7]);
        near("J(tip, body, vx, vy)", &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
        near("J(tip, wz)", &[1.0, 0.0, 0.5]);
        near("J(tip, vx).t + J(tip, vx).t", &[-2.0 * 0.3f64.sin()]);
        near(
            "R(tip)' * R(tip)",
            &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        );
        near("L(push).d", &[2.0, 3.0]);
        near(
            "[L(push).d; 2 * L(push).d] - [2 * L(push).d; L(push).d]",
            &[-2.0, -3.0, 2.0, 3.0],
        );
        near("inv(M) * M", &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        near("sqrt(K.dd) * sqrt(K.dd) - K.dd", &[0.0; 4]);
        near("pinv(M.dt) * M.dt", &[1.0]);
        near("M.td * pinv(M.td)", &[1.0]);
        near("diag(L(push).d)", &[2.0, 0.0, 0.0, 3.0]);
        // Frequencies: the trace and the determinant of M⁻¹K.
        let omega = at("omega", 0.3).values;
        let sine = 0.3f64.sin();
        let squares = [omega[0].powi(2), omega[1].powi(2)];
        assert!((squares[0] + squares[1] - (50.0 + 75.0)).abs() < 1e-10);
        let determinant = (50.0 * 90.0 - 81.0 * sine * sine) / 1.2;
        assert!((squares[0] * squares[1] - determinant).abs() < 1e-8);
        assert!(omega[0] < omega[1]);
    }

    #[test]
    fn gradients_are_exact() {
        for text in [
            "M",
            "inv(M)",
            "sqrt(K.dd)",
            "omega",
            "diag(omega) * M.dt",
            "pinv(M.dt)",
            "pinv(M.td)",
            "R(tip)",
            "[M.dd, M.dt; M.td, M.tt] / 3",
            "-M.tt * M.td + 2 * M.td'' - M.td",
        ] {
            let (h, middle) = (1e-5, at(text, 0.3));
            let (above, below) = (at(text, 0.3 + h), at(text, 0.3 - h));
            let size = middle.gradient[0]
                .iter()
                .fold(1e-3_f64, |m, v| m.max(v.abs()));
            for (i, slope) in middle.gradient[0].iter().enumerate() {
                let difference = (above.values[i] - below.values[i]) / (2.0 * h);
                assert!((slope - difference).abs() < 1e-7 * size, "{text} {i}");
            }
        }
        for text in ["J(tip)", "M.tt * J(tip, vx).t", "[D.tt, M.tt]"] {
            assert!(at(text, 0.3).gradient.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_told() {
        let refused = |text: &str| evaluate(&read(text), &coefficients(0.0)).unwrap_err();
        // Without its units such a matrix would seem singular.
        let units = at("inv([1e-9 * M.tt, M.td * 0; 0 * M.dt, M.dd])", 0.3);
        assert!(units.values.iter().all(|v| v.is_finite()));
        let singular = refused("inv(J(tip, vx, vy, vz))").to_string();
        assert!(
            singular.starts_with("`J(tip, vx, vy, vz)` has no inverse: its smallest singular"),
            "{singular}"
        );
        assert!(matches!(
            refused("inv(M.tt - M.tt)"),
            DerivedFault::Singular { ratio: 0.0, .. }
        ));
        assert!(matches!(
            refused("sqrt(-K.dd)"),
            DerivedFault::Indefinite { .. }
        ));
        assert!(matches!(
            refused("sqrt([M.tt, M.tt; 2 * M.tt, M.tt])"),
            DerivedFault::Indefinite { .. }
        ));
    }
}
