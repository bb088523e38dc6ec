//! Which functions of θ must be stored: what varies, what is constant, what is zero.

use super::sample::Sample;
use crate::reduced_model::{Component, ComponentLists, Constant, ModelForm, ModelLayout};

/// Relative to the largest entry of its block: below this an entry is rounding.
const ROUNDING: f64 = 1e-10;

/// Sorts all possible components by what they do at the probes.
pub(super) fn find_components(
    layout: &ModelLayout,
    form: ModelForm,
    probes: &[Sample],
) -> ComponentLists {
    let mut lists = ComponentLists::default();
    for block in blocks(layout, form, probes) {
        let mut largest = 0.0_f64;
        let spans: Vec<(f64, f64)> = block
            .iter()
            .map(|&c| {
                let mut span = (f64::INFINITY, f64::NEG_INFINITY);
                for probe in probes {
                    let v = probe.value(c);
                    span = (span.0.min(v), span.1.max(v));
                    largest = largest.max(v.abs());
                }
                span
            })
            .collect();
        for (&component, (low, high)) in block.iter().zip(spans) {
            let middle = 0.5 * (low + high);
            if high - low > ROUNDING * largest {
                let list = if component.is_output() {
                    &mut lists.outputs
                } else {
                    &mut lists.dynamics
                };
                list.push(component);
            } else if middle.abs() > ROUNDING * largest {
                let value = rounded(middle);
                lists.constants.push(Constant { component, value });
            }
        }
    }
    lists
}

/// A whole number where the value is one but for rounding.
fn rounded(value: f64) -> f64 {
    if (value - value.round()).abs() < 1e-12 * value.abs() {
        value.round()
    } else {
        value
    }
}

/// All components that a model of this form can have, by blocks of one unit of comparison: what the
/// energies [M 8.1, 8.3] or, in the `direct` form, the equations of motion [M 1.1] are made of.
fn blocks(layout: &ModelLayout, form: ModelForm, probes: &[Sample]) -> Vec<Vec<Component>> {
    let (n, s) = (layout.n(), layout.n_rigid);
    let pairs = |from: usize| {
        move || (from..n).flat_map(move |row| (row..n).map(move |column| (row, column)))
    };
    let mut blocks: Vec<Vec<Component>> = match form {
        ModelForm::Lagrangian => {
            let mut blocks = vec![
                pairs(0)()
                    .map(|(row, column)| Component::MassFactor { row, column })
                    .collect(),
            ];
            blocks.extend((s..n).map(|coordinate| {
                pairs(0)()
                    .map(|(row, column)| Component::MassFactorSlope {
                        coordinate,
                        row,
                        column,
                    })
                    .collect()
            }));
            let lower = |(column, row)| Component::StiffnessFactor { row, column };
            blocks.push(pairs(s)().map(lower).collect());
            blocks
        }
        ModelForm::Direct => vec![
            pairs(0)()
                .map(|(row, column)| Component::Mass { row, column })
                .collect(),
            (0..n)
                .flat_map(|row| {
                    pairs(0)().map(move |(first, second)| Component::Gyroscopic {
                        row,
                        first,
                        second,
                    })
                })
                .collect(),
            pairs(s)()
                .map(|(row, column)| Component::Stiffness { row, column })
                .collect(),
        ],
    };
    blocks.extend(damping_blocks(n, s, form, probes));
    let first_force = if form == ModelForm::Lagrangian { s } else { 0 };
    // Where gravity stays free and nothing else pulls, only rounding would be left.
    let differs = gravity_differs(probes);
    if differs || !layout.parameters.gravity_at_runtime {
        blocks.push(vec![Component::Potential]);
        blocks.push(
            (first_force..n)
                .map(|row| Component::Force { row })
                .collect(),
        );
    }
    if layout.parameters.gravity_at_runtime {
        blocks.push(
            (0..3)
                .map(|axis| Component::GravityPotential { axis })
                .collect(),
        );
        let axes = |row| (0..3).map(move |axis| Component::GravityForce { row, axis });
        blocks.push((first_force..n).flat_map(axes).collect());
    } else if differs {
        blocks.push((0..n).map(|row| Component::Gravity { row }).collect());
    }
    blocks.extend(output_blocks(layout));
    blocks
}

/// A factor on δ where D̄ is definite there and does not couple θ to δ; entries otherwise.
fn damping_blocks(n: usize, s: usize, form: ModelForm, probes: &[Sample]) -> Vec<Vec<Component>> {
    let largest = probes
        .iter()
        .flat_map(|p| &p.exact.damping)
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    let coupled = |p: &Sample| {
        (0..s).any(|i| (s..n).any(|j| p.exact.damping[i * n + j].abs() > ROUNDING * largest))
    };
    let factored = form == ModelForm::Lagrangian
        && n > s
        && probes
            .iter()
            .all(|p| p.damping_factor.is_some() && !coupled(p));
    let entries = |upper: usize| {
        (0..upper)
            .flat_map(|row| (row..upper).map(move |column| Component::Damping { row, column }))
            .collect::<Vec<_>>()
    };
    if !factored {
        return vec![entries(n)];
    }
    let factor = (s..n)
        .flat_map(|row| (s..=row).map(move |column| Component::DampingFactor { row, column }))
        .collect();
    vec![entries(s), factor]
}

fn gravity_differs(probes: &[Sample]) -> bool {
    let largest = probes
        .iter()
        .flat_map(|p| &p.exact.force)
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    probes.iter().any(|p| {
        p.exact
            .force
            .iter()
            .zip(&p.exact.gravity)
            .any(|(f, g)| (f - g).abs() > ROUNDING * largest)
    })
}

fn output_blocks(layout: &ModelLayout) -> Vec<Vec<Component>> {
    let (n, s) = (layout.n(), layout.n_rigid);
    let mut blocks = Vec::new();
    for output in 0..layout.outputs.len() {
        blocks.push(
            (0..3)
                .map(|axis| Component::Position { output, axis })
                .collect(),
        );
        blocks.push(
            (0..4)
                .map(|entry| Component::Quaternion { output, entry })
                .collect(),
        );
        for rows in [0..3, 3..6] {
            blocks.push(
                rows.flat_map(|row| {
                    (s..n).map(move |coordinate| Component::Amplitude {
                        output,
                        row,
                        coordinate,
                    })
                })
                .collect(),
            );
        }
    }
    for loaded in 0..layout.loaded.len() {
        blocks.push(
            (0..n)
                .map(|coordinate| Component::LoadMap { loaded, coordinate })
                .collect(),
        );
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn only_rounding_is_rounded() {
        assert_eq!(rounded(1.0 + 1e-15), 1.0);
        assert_eq!(rounded(1.0 + 1e-9), 1.0 + 1e-9);
        assert_eq!(rounded(0.25), 0.25);
    }
}
