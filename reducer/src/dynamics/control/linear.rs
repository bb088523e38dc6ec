//! The blocks linearised at an instant.

use super::diagram::Diagram;
use super::run::Held;
use nalgebra::DMatrix;

/// Slopes of all outputs and rates, loops solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Slopes {
    /// Outputs by states.
    pub y_x: DMatrix<f64>,
    /// Outputs by sensors.
    pub y_w: DMatrix<f64>,
    /// Outputs by what is added to outputs.
    pub y_y: DMatrix<f64>,
    /// Rates by states.
    pub f_x: DMatrix<f64>,
    /// Rates by sensors.
    pub f_w: DMatrix<f64>,
    /// Rates by what is added to outputs.
    pub f_y: DMatrix<f64>,
}

impl Diagram {
    /// Slopes where signals have these values; none where a loop is singular.
    pub(crate) fn slopes(&self, x: &[f64], signals: &[f64], held: &Held) -> Option<Slopes> {
        let (n, p, w) = (self.n_states(), self.n_outputs(), self.sensors.len());
        // Outputs and rates by states, and by all signals through the inputs.
        let mut g_x = DMatrix::zeros(p, n);
        let mut g_s = DMatrix::zeros(p, w + p);
        let mut f_x = DMatrix::zeros(n, n);
        let mut f_s = DMatrix::zeros(n, w + p);
        for (b, block) in self.blocks.iter().enumerate() {
            if block.sampled.is_some() {
                continue;
            }
            let u = self.inputs(b, signals);
            let local = block.law.slopes(self.states(b, x), &u, held.modes[b]);
            let (state, output) = (self.first_state[b], self.first_output[b]);
            g_x.view_mut((output, state), local.c.shape())
                .copy_from(&local.c);
            f_x.view_mut((state, state), local.a.shape())
                .copy_from(&local.a);
            for (j, terms) in block.inputs.iter().enumerate() {
                for term in terms {
                    for i in 0..local.d.nrows() {
                        g_s[(output + i, term.signal)] += local.d[(i, j)] * term.weight;
                    }
                    for i in 0..local.b.nrows() {
                        f_s[(state + i, term.signal)] += local.b[(i, j)] * term.weight;
                    }
                }
            }
        }
        let matrix = DMatrix::identity(p, p) - g_s.columns(w, p);
        let y_y = if p == 0 {
            matrix
        } else {
            matrix.try_inverse()?
        };
        let y_x = &y_y * g_x;
        let y_w = &y_y * g_s.columns(0, w);
        let by_outputs = f_s.columns(w, p);
        Some(Slopes {
            f_x: f_x + by_outputs * &y_x,
            f_w: f_s.columns(0, w) + by_outputs * &y_w,
            f_y: by_outputs * &y_y,
            y_x,
            y_w,
            y_y,
        })
    }
}

impl Slopes {
    /// Outputs by sensors where the states follow x = x̂ + κh·ẋ within a step; none where that is
    /// singular.
    pub(crate) fn outputs_in_step(&self, factor: f64) -> Option<DMatrix<f64>> {
        let n = self.f_x.nrows();
        if n == 0 || factor == 0.0 {
            return Some(self.y_w.clone());
        }
        let matrix = DMatrix::identity(n, n) - &self.f_x * factor;
        let x_w = matrix.lu().solve(&(&self.f_w * factor))?;
        Some(&self.y_w + &self.y_x * x_w)
    }
}
