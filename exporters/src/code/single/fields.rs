//! Polynomials of a box in single precision.

use crate::code::powers::in_powers;
use reducer::reduced_model::{BoxModel, Component, ModelForm, ReducedModel, Table};

/// Tables that generated code holds in powers, one per box.
pub(super) struct Powers {
    dynamics: Option<Vec<Table>>,
    outputs: Option<Vec<Table>>,
}

impl Powers {
    pub fn new(model: &ReducedModel) -> Self {
        let (lists, s) = (&model.components, model.layout.n_rigid);
        let dynamics: Vec<&Table> = model.boxes.iter().map(|b| &b.dynamics).collect();
        let outputs: Vec<&Table> = model.boxes.iter().map(|b| &b.outputs).collect();
        Self {
            dynamics: match model.form {
                ModelForm::Lagrangian => in_powers(&dynamics, lists.dynamics.len(), s),
                ModelForm::Direct => None,
            },
            outputs: in_powers(&outputs, lists.outputs.len(), s),
        }
    }
}

/// A stored function at one θ: what it is, its value and where its gradient stands.
pub(super) struct Stored {
    pub component: Component,
    pub value: f32,
    pub slope: Vec<f32>,
}

/// All stored functions at one θ.
pub(super) struct Fields {
    pub n: usize,
    pub s: usize,
    pub form: ModelForm,
    pub gravity: [f32; 3],
    pub gravity_per_axis: bool,
    pub stored: Vec<Stored>,
}

impl Fields {
    pub fn new(model: &ReducedModel, powers: &Powers, index: usize, theta: &[f32]) -> Self {
        let b = &model.boxes[index];
        let lists = &model.components;
        let at = |table: &Table, powers: &Option<Vec<Table>>, components: &[Component]| match powers
        {
            Some(powers) => evaluate(&powers[index], &power, components, b, theta),
            None => evaluate(table, &chebyshev, components, b, theta),
        };
        let mut stored = at(&b.dynamics, &powers.dynamics, &lists.dynamics);
        stored.extend(at(&b.outputs, &powers.outputs, &lists.outputs));
        stored.extend(lists.constants.iter().map(|c| Stored {
            component: c.component,
            value: c.value as f32,
            slope: vec![0.0; theta.len()],
        }));
        let parameters = &model.layout.parameters;
        Self {
            n: model.layout.n(),
            s: model.layout.n_rigid,
            form: model.form,
            gravity: parameters.gravity.map(|g| g as f32),
            gravity_per_axis: parameters.gravity_at_runtime,
            stored,
        }
    }
}

/// Polynomials of degrees 0 … d at ξ with their derivatives by θ, whose scale is given.
type Basis = dyn Fn(f32, f32, usize) -> Vec<[f32; 2]>;

fn evaluate(
    table: &Table,
    basis: &Basis,
    components: &[Component],
    b: &BoxModel,
    theta: &[f32],
) -> Vec<Stored> {
    let s = theta.len();
    let degree = table.terms.iter().flatten().copied().max().unwrap_or(0);
    let basis: Vec<Vec<[f32; 2]>> = (0..s)
        .map(|k| {
            let centre = (0.5 * (b.lower[k] + b.upper[k])) as f32;
            let inverse = (2.0 / (b.upper[k] - b.lower[k])) as f32;
            basis((theta[k] - centre) * inverse, inverse, usize::from(degree))
        })
        .collect();
    let mut out: Vec<Stored> = components
        .iter()
        .map(|&component| Stored {
            component,
            value: 0.0,
            slope: vec![0.0; s],
        })
        .collect();
    let rows = table.coefficients.chunks_exact(components.len().max(1));
    for (term, row) in table.terms.iter().zip(rows) {
        let product = |derived: Option<usize>| -> f32 {
            let factor = |k: usize| basis[k][usize::from(term[k])][usize::from(derived == Some(k))];
            (0..s).map(factor).product()
        };
        let value = product(None);
        let slopes: Vec<f32> = (0..s).map(|k| product(Some(k))).collect();
        for (stored, c) in out.iter_mut().zip(row) {
            let c = *c as f32;
            stored.value += c * value;
            for (sum, slope) in stored.slope.iter_mut().zip(&slopes) {
                *sum += c * slope;
            }
        }
    }
    out
}

fn power(xi: f32, scale: f32, degree: usize) -> Vec<[f32; 2]> {
    let mut out = vec![[1.0, 0.0]];
    for k in 1..=degree {
        let [value, slope] = out[k - 1];
        out.push([xi * value, scale * value + xi * slope]);
    }
    out
}

fn chebyshev(xi: f32, scale: f32, degree: usize) -> Vec<[f32; 2]> {
    let mut out = vec![[1.0, 0.0], [xi, scale]];
    for k in 2..=degree {
        let [a, b] = [out[k - 1], out[k - 2]];
        let value = 2.0 * xi * a[0] - b[0];
        let slope = 2.0 * (scale * a[0] + xi * a[1]) - b[1];
        out.push([value, slope]);
    }
    out
}
