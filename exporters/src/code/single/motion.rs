//! Motion of outputs in single precision.

use super::fields::Fields;
use reducer::reduced_model::Component;

type Vector = [f32; 3];

/// Row-major.
type Matrix = [Vector; 3];

fn cross(a: &Vector, b: &Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn times(m: &Matrix, v: &Vector) -> Vector {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// I + a [t×] + b [t×]².
fn about(turn: &Vector, a: f32, b: f32) -> Matrix {
    let mut out = [[0.0; 3]; 3];
    for j in 0..3 {
        let mut unit = [0.0; 3];
        unit[j] = 1.0;
        let once = cross(turn, &unit);
        let twice = cross(turn, &once);
        for i in 0..3 {
            out[i][j] = unit[i] + a * once[i] + b * twice[i];
        }
    }
    out
}

/// Σ (−x²)^k first! / (2k + first)!, k = 0, 1, …
fn series(square: f32, first: f32) -> f32 {
    (0..14).rev().fold(1.0, |rest, k| {
        let n = first + 2.0 * k as f32;
        1.0 - square / ((n + 1.0) * (n + 2.0)) * rest
    })
}

impl Fields {
    /// Position, rotation, velocity and Jacobian of one output, one after the other.
    pub fn output(&self, output: usize, eta: &[f32], rate: &[f32]) -> Vec<f32> {
        let (n, s) = (self.n, self.s);
        let mut position = [0.0; 3];
        let (mut q, mut dq) = ([0.0; 4], vec![[0.0; 4]; s]);
        let mut turn = [0.0; 3];
        // Translations and rates of the rotation vector per coordinate.
        let (mut linear, mut turning) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
        for x in &self.stored {
            match x.component {
                Component::Position { output: o, axis } if o == output => {
                    position[axis] += x.value;
                    for (column, d) in linear.iter_mut().zip(&x.slope) {
                        column[axis] += d;
                    }
                }
                Component::Quaternion { output: o, entry } if o == output => {
                    q[entry] = x.value;
                    for (column, d) in dq.iter_mut().zip(&x.slope) {
                        column[entry] = *d;
                    }
                }
                Component::Amplitude {
                    output: o,
                    row,
                    coordinate: d,
                } if o == output => {
                    let (sum, columns) = if row < 3 {
                        (&mut position[row], &mut linear)
                    } else {
                        (&mut turn[row - 3], &mut turning)
                    };
                    *sum += x.value * eta[d];
                    columns[d][row % 3] = x.value;
                    for (column, slope) in columns.iter_mut().zip(&x.slope) {
                        column[row % 3] += slope * eta[d];
                    }
                }
                _ => {}
            }
        }
        let square = turn.iter().map(|t| t * t).sum::<f32>();
        let [sine, versine, rest] = [
            series(square, 1.0),
            series(square, 2.0) / 2.0,
            series(square, 3.0) / 6.0,
        ];
        let elastic = about(&turn, sine, versine);
        let left = about(&turn, versine, rest);
        let (rigid, spins) = rigid_rotation(&q, &dq);
        let angular: Vec<Vector> = (0..n)
            .map(|c| {
                let bent = times(&left, &turning[c]);
                let turned = spins.get(c).map_or([0.0; 3], |w| times(&elastic, w));
                std::array::from_fn(|i| bent[i] + turned[i])
            })
            .collect();
        let mut out = position.to_vec();
        for row in &elastic {
            out.extend((0..3).map(|j| (0..3).map(|k| row[k] * rigid[k][j]).sum::<f32>()));
        }
        out.extend((0..3).map(|i| (0..n).map(|c| linear[c][i] * rate[c]).sum::<f32>()));
        for columns in [&linear, &angular] {
            for i in 0..3 {
                out.extend(columns.iter().map(|c| c[i]));
            }
        }
        out
    }
}

/// R₀ of the quaternion and its angular velocity per θ̇_k.
fn rigid_rotation(q: &[f32; 4], dq: &[[f32; 4]]) -> (Matrix, Vec<Vector>) {
    let square = q.iter().map(|v| v * v).sum::<f32>();
    if square <= 0.0 {
        return (about(&[0.0; 3], 0.0, 0.0), vec![[0.0; 3]; dq.len()]);
    }
    let (w, v) = (q[0], [q[1], q[2], q[3]]);
    // I + 2 (w [v×] + [v×]²)/|q|².
    let rotation = about(&v, 2.0 * w / square, 2.0 / square);
    let spin = |d: &[f32; 4]| -> Vector {
        let dv = [d[1], d[2], d[3]];
        let turned = cross(&dv, &v);
        std::array::from_fn(|i| (dv[i] * w - v[i] * d[0] - turned[i]) * (2.0 / square))
    };
    (rotation, dq.iter().map(spin).collect())
}
