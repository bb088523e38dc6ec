//! Second-order strains of all pairs of shapes, found once: every load case weighs the same ones.

use super::inertia::{plus_transpose, symmetrised};
use crate::model::curvature::BilinearForm;
use crate::model::{Element, FullModel};
use faer::Mat;

/// D2 of beams between shapes, and between their derivatives along θ and shapes [M 14.3]. Rows: strains of all beams, one
/// after the other; columns: pairs (d, e), d first.
pub(super) struct StrainProducts {
    n: usize,
    pairs: Mat<f64>,
    along: Vec<Mat<f64>>,
}

/// What weighs second derivatives: stresses of beams, and forms over motions for everything else.
pub(super) struct WeightedForm {
    pub stresses: Vec<f64>,
    pub form: BilinearForm,
}

impl WeightedForm {
    /// The same stresses of a motion; other elements than beams have forms of their own.
    pub fn of_motion(model: &FullModel, motion: &[f64]) -> Self {
        let mut out = Self {
            stresses: Vec::with_capacity(6 * model.placed.len()),
            form: BilinearForm::default(),
        };
        for placed in &model.placed {
            match model.element(placed) {
                Element::Beam(beam) => {
                    let strain = beam.strain_operator * placed.gather_beam(motion);
                    out.stresses.extend(beam.stress(&strain).iter());
                }
                element => {
                    let stress = element.stress(&element.strain(&placed.gather(motion)));
                    out.form
                        .push_element(placed, element.strain_curvature(&stress));
                }
            }
        }
        out
    }
}

impl StrainProducts {
    pub fn new(model: &FullModel, shapes: &Mat<f64>, derivatives: &[Mat<f64>]) -> Self {
        let n = shapes.ncols();
        let beams = (model.placed.iter()).filter_map(|placed| match model.element(placed) {
            Element::Beam(beam) => Some((placed, beam)),
            Element::Super(_) => None,
        });
        let rows = 6 * beams.clone().count();
        let mut pairs = Mat::zeros(rows, n * n);
        let mut along = vec![Mat::zeros(rows, n * n); derivatives.len()];
        for (b, (placed, beam)) in beams.enumerate() {
            let images = |of: &Mat<f64>| -> Vec<_> {
                (0..n)
                    .map(|d| beam.strain_image(&placed.gather_beam(of.col_as_slice(d))))
                    .collect()
            };
            let set = |to: &mut Mat<f64>, pair: usize, value: &[f64]| {
                to.col_as_slice_mut(pair)[6 * b..6 * b + 6].copy_from_slice(value);
            };
            let own = images(shapes);
            for d in 0..n {
                for e in 0..=d {
                    let value = beam.second_strain(&own[d], &own[e]);
                    set(&mut pairs, d * n + e, value.as_slice());
                    set(&mut pairs, e * n + d, value.as_slice());
                }
            }
            for (along, derivative) in along.iter_mut().zip(derivatives) {
                let rates = images(derivative);
                for (d, rate) in rates.iter().enumerate() {
                    for (e, own) in own.iter().enumerate() {
                        let value = beam.second_strain(rate, own);
                        set(along, d * n + e, value.as_slice());
                    }
                }
            }
        }
        Self { n, pairs, along }
    }

    fn weighed(&self, pairs: &Mat<f64>, stresses: &[f64]) -> Mat<f64> {
        Mat::from_fn(self.n, self.n, |d, e| {
            let column = pairs.col_as_slice(d * self.n + e);
            column.iter().zip(stresses).map(|(x, w)| x * w).sum()
        })
    }

    /// Values over shapes.
    pub fn between(&self, weights: &WeightedForm, shapes: &Mat<f64>) -> Mat<f64> {
        let values = weights.form.between(shapes, shapes);
        symmetrised(&(values + self.weighed(&self.pairs, &weights.stresses)))
    }

    /// What the change of shapes along θ_l does to the values.
    pub fn turned(
        &self,
        l: usize,
        weights: &WeightedForm,
        shapes: &Mat<f64>,
        derivative: &Mat<f64>,
    ) -> Mat<f64> {
        let values = weights.form.between(derivative, shapes);
        plus_transpose(&(values + self.weighed(&self.along[l], &weights.stresses)))
    }
}
