//! Discrete laws linearised: what a sample makes of memory and inputs.

use super::law::{Law, LocalSlopes, Pid};
use super::state_space::StateSpace;
use nalgebra::DMatrix;

impl Law {
    /// Slopes of memory and outputs after a sample by memory and inputs before; limits are not
    /// reached, a quantiser counts as 1, a delay is a row of numbers that move on. None for what the
    /// loop does not change: signals, noise, controllers of the user's own, observers.
    pub(super) fn discrete_slopes(&self, u: &[f64], period: f64) -> Option<LocalSlopes> {
        let row = |values: &[f64]| DMatrix::from_row_slice(1, values.len(), values);
        let static_law = |d: DMatrix<f64>| LocalSlopes {
            a: DMatrix::zeros(0, 0),
            b: DMatrix::zeros(0, d.ncols()),
            c: DMatrix::zeros(d.nrows(), 0),
            d,
        };
        Some(match self {
            Self::Source(..) | Self::Noise { .. } | Self::External(_) | Self::Observer(_) => {
                return None;
            }
            Self::Linear(system) if system.a.nrows() == 0 => static_law(system.d.clone()),
            Self::Linear(system) => tustin(system, period)?,
            Self::Integrator { gain, .. } => {
                let (one, step) = (row(&[1.0]), row(&[gain * period]));
                LocalSlopes {
                    a: one.clone(),
                    b: step.clone(),
                    c: one,
                    d: step,
                }
            }
            Self::Pid(pid) => pid_slopes(pid, period),
            Self::Quantiser(_) => static_law(row(&[1.0])),
            Self::Delay(samples) => delay(*samples),
            Self::Gain(_)
            | Self::Saturation(_)
            | Self::DeadZone(_)
            | Self::Lookup(_)
            | Self::Expression(_)
            | Self::Model(_) => static_law(self.slopes(&[], u, 0).d),
        })
    }
}

/// Memory: the state, then the input of the sample before.
fn tustin(system: &StateSpace, period: f64) -> Option<LocalSlopes> {
    let (n, m) = (system.a.nrows(), system.b.ncols());
    let identity = DMatrix::identity(n, n);
    let half = &system.a * (0.5 * period);
    let lu = (&identity - &half).lu();
    let next = lu.solve(&(identity + half))?;
    let driven = lu.solve(&(&system.b * (0.5 * period)))?;
    let mut a = DMatrix::zeros(n + m, n + m);
    a.view_mut((0, 0), (n, n)).copy_from(&next);
    a.view_mut((0, n), (n, m)).copy_from(&driven);
    let mut b = DMatrix::zeros(n + m, m);
    b.view_mut((0, 0), (n, m)).copy_from(&driven);
    b.view_mut((n, 0), (m, m)).fill_with_identity();
    let mut c = DMatrix::zeros(system.c.nrows(), n + m);
    c.view_mut((0, 0), (system.c.nrows(), n))
        .copy_from(&(&system.c * &next));
    c.view_mut((0, n), (system.c.nrows(), m))
        .copy_from(&(&system.c * &driven));
    let d = &system.c * driven + &system.d;
    Some(LocalSlopes { a, b, c, d })
}

/// Memory: integral, derivative, the input before.
fn pid_slopes(pid: &Pid, period: f64) -> LocalSlopes {
    let m = 1 + usize::from(pid.has_rate);
    let mut s = LocalSlopes {
        a: DMatrix::zeros(3, 3),
        b: DMatrix::zeros(3, m),
        c: DMatrix::zeros(1, 3),
        d: DMatrix::zeros(1, m),
    };
    s.a[(0, 0)] = 1.0;
    s.b[(0, 0)] = pid.ki * period;
    if pid.has_rate {
        s.b[(1, 1)] = pid.kd;
    } else {
        let whole = pid.filter + period;
        s.a[(1, 1)] = pid.filter / whole;
        s.a[(1, 2)] = -pid.kd / whole;
        s.b[(1, 0)] = pid.kd / whole;
    }
    s.b[(2, 0)] = 1.0;
    // The output is kp·e with integral and derivative after the sample.
    for j in 0..3 {
        s.c[(0, j)] = s.a[(0, j)] + s.a[(1, j)];
    }
    for j in 0..m {
        s.d[(0, j)] = s.b[(0, j)] + s.b[(1, j)];
    }
    s.d[(0, 0)] += pid.kp;
    s
}

/// Memory: inputs of the samples before, the latest first.
fn delay(samples: usize) -> LocalSlopes {
    let mut s = LocalSlopes {
        a: DMatrix::zeros(samples, samples),
        b: DMatrix::zeros(samples, 1),
        c: DMatrix::zeros(1, samples),
        d: DMatrix::zeros(1, 1),
    };
    for k in 1..samples {
        s.a[(k, k - 1)] = 1.0;
    }
    s.b[(0, 0)] = 1.0;
    s.c[(0, samples - 1)] = 1.0;
    s
}
