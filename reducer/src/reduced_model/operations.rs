//! Operations of one evaluation, counted as generated code does them: products that are added up.

use super::{Component, ModelForm};
use std::collections::BTreeSet;

/// Products to evaluate `columns` polynomials with the given terms (degrees of each θ), one of them
/// constant: values alone from terms that are products of two others, or values and gradients by
/// sums that are folded over one θ after the other.
pub fn table_operations(terms: &[Vec<u8>], columns: usize, gradients: bool) -> usize {
    let Some(s) = terms.first().map(Vec::len) else {
        return 0;
    };
    if !gradients {
        let is_product = |t: &&Vec<u8>| t.iter().filter(|d| **d > 0).count() > 1;
        return (terms.len() - 1) * columns + terms.iter().filter(is_product).count();
    }
    let runs = distinct_tails(terms, 1);
    let folds: usize = (1..s)
        .map(|level| (level + 2) * distinct_tails(terms, level))
        .sum();
    columns * (2 * (terms.len() - runs) + folds)
}

/// Sums that remain once the first `level` coordinates are summed over.
fn distinct_tails(terms: &[Vec<u8>], level: usize) -> usize {
    let tails: BTreeSet<&[u8]> = terms.iter().map(|t| &t[level..]).collect();
    tails.len()
}

/// Products of an inverse dynamics on a box with the given terms.
pub fn inverse_dynamics_operations(
    form: ModelForm,
    terms: &[Vec<u8>],
    components: &[Component],
) -> usize {
    let s = terms.first().map_or(0, Vec::len);
    let is_energy =
        |c: &Component| matches!(c, Component::Potential | Component::GravityPotential { .. });
    let stored = |c: &&Component| !(form == ModelForm::Direct && is_energy(c));
    let columns = components.iter().filter(stored).count();
    let equations: usize = components.iter().map(|c| in_equations(*c)).sum();
    let polynomials = table_operations(terms, columns, form == ModelForm::Lagrangian);
    // The derivative along θ̇ and the weighted sum of the gradients.
    let gradients = match form {
        ModelForm::Lagrangian => 2 * s * columns,
        ModelForm::Direct => 0,
    };
    polynomials + gradients + equations
}

/// Products in which the equations of motion use a component.
fn in_equations(component: Component) -> usize {
    match component {
        Component::MassFactor { .. } => 6,
        Component::MassFactorSlope { .. } => 7,
        Component::StiffnessFactor { .. } => 3,
        Component::DampingFactor { .. } => 2,
        Component::Mass { row, column }
        | Component::Stiffness { row, column }
        | Component::Damping { row, column } => 1 + usize::from(row != column),
        Component::Gyroscopic { .. } | Component::GravityForce { .. } => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quadratic() -> Vec<Vec<u8>> {
        let mut terms = Vec::new();
        for i in 0..3_u8 {
            for j in 0..3 - i {
                terms.extend((0..3 - i - j).map(|k| vec![k, j, i]));
            }
        }
        terms
    }

    /// Ten terms in six runs: 1, 1, 1, … of every degree of the last coordinate.
    #[test]
    fn sums_and_folds_are_counted() {
        assert_eq!(quadratic().len(), 10);
        assert_eq!(table_operations(&quadratic(), 1, false), 9 + 3);
        assert_eq!(
            table_operations(&quadratic(), 1, true),
            2 * (10 - 6) + 3 * 6 + 4 * 3
        );
        assert_eq!(table_operations(&[], 5, true), 0);
    }

    /// Three rigid coordinates: stored blocks of degree 2 beat energies of degree 2 and 3.
    #[test]
    fn forms_compare_by_their_operations() {
        let pairs = || (0..3).flat_map(|row| (row..3).map(move |column| (row, column)));
        let mut energies: Vec<Component> = pairs()
            .map(|(row, column)| Component::MassFactor { row, column })
            .collect();
        energies.push(Component::Potential);
        let mut blocks: Vec<Component> = pairs()
            .map(|(row, column)| Component::Mass { row, column })
            .collect();
        blocks.extend((0..3).flat_map(|row| {
            pairs().map(move |(first, second)| Component::Gyroscopic { row, first, second })
        }));
        blocks.extend((0..3).map(|row| Component::Force { row }));
        let direct = inverse_dynamics_operations(ModelForm::Direct, &quadratic(), &blocks);
        let lagrangian =
            inverse_dynamics_operations(ModelForm::Lagrangian, &quadratic(), &energies);
        assert_eq!(
            (direct, lagrangian),
            (9 * 27 + 3 + 9 + 18, 7 * 38 + 42 + 36)
        );
    }
}
