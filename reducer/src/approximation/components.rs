//! Which functions of θ must be stored: what varies, what is constant, what is zero.

use super::sample::Sample;
use crate::reduced_model::{
    Component, ComponentLists, Constant, DerivedInfo, ModelForm, ModelLayout, Stiffening,
};
use kernel::Group;
use std::ops::Range;

/// Relative to the largest entry of its block: below this an entry is rounding.
const ROUNDING: f64 = 1e-10;

/// How the form `lagrangian` stores the mass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mass {
    /// By its factor, and the factor's slopes.
    Factor,
    /// By its entries; without modal coordinates.
    Entries,
}

/// Sorts all possible components by what they do at the probes.
pub(super) fn find_components(
    layout: &ModelLayout,
    form: ModelForm,
    mass: Mass,
    probes: &[Sample],
) -> ComponentLists {
    let mut lists = ComponentLists::default();
    for block in blocks(layout, form, mass, probes) {
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
fn blocks(
    layout: &ModelLayout,
    form: ModelForm,
    mass: Mass,
    probes: &[Sample],
) -> Vec<Vec<Component>> {
    let (n, s) = (layout.n(), layout.n_rigid);
    let candidates = Candidates {
        layout,
        n,
        s,
        lagrangian: form == ModelForm::Lagrangian,
        mass_factored: form == ModelForm::Lagrangian && mass == Mass::Factor,
        damping_factored: form == ModelForm::Lagrangian && has_damping_factor(n, s, probes),
        gravity_differs: gravity_differs(probes),
    };
    Group::ALL.iter().flat_map(|g| candidates.of(*g)).collect()
}

/// What decides which components a model can have.
struct Candidates<'a> {
    layout: &'a ModelLayout,
    n: usize,
    s: usize,
    lagrangian: bool,
    /// The mass is stored by its factor.
    mass_factored: bool,
    /// Damping is stored as a factor on δ.
    damping_factored: bool,
    /// Gravity is not all of the static force.
    gravity_differs: bool,
}

impl Candidates<'_> {
    /// Blocks of a group; none where the model has no such thing.
    fn of(&self, group: Group) -> Vec<Vec<Component>> {
        use Component as C;
        let (n, s) = (self.n, self.s);
        let per_axis = self.layout.parameters.gravity_at_runtime;
        let stiffening = self.layout.stiffening;
        // Where gravity stays free and nothing else pulls, only rounding would be left.
        let has_rest = self.gravity_differs || !per_axis;
        let first_force = if self.lagrangian { s } else { 0 };
        let outputs = 0..self.layout.outputs.len();
        let (present, blocks) = match group {
            Group::MassFactor => (
                self.mass_factored,
                vec![entries(0..n, |row, column| C::MassFactor { row, column })],
            ),
            Group::MassSlope => {
                let of = |coordinate| {
                    entries(0..n, |row, column| C::MassFactorSlope {
                        coordinate,
                        row,
                        column,
                    })
                };
                (self.mass_factored, (s..n).map(of).collect())
            }
            Group::RateScale => {
                let of = |row, column| {
                    entries(s..n, move |first, second| C::RateScale {
                        row,
                        column,
                        first,
                        second,
                    })
                };
                (
                    self.lagrangian && stiffening == Stiffening::All,
                    vec![pairs(0..s, of)],
                )
            }
            Group::MassCurvature => {
                let of = |row, column| {
                    entries(s..n, move |first, second| C::MassCurvature {
                        row,
                        column,
                        first,
                        second,
                    })
                };
                (
                    !self.lagrangian && stiffening == Stiffening::All,
                    vec![pairs(0..s, of)],
                )
            }
            Group::GravityStiffness => {
                let of = |axis| {
                    entries(s..n, move |row, column| C::GravityStiffness {
                        row,
                        column,
                        axis,
                    })
                };
                (
                    per_axis && stiffening != Stiffening::None,
                    vec![(0..3).flat_map(of).collect()],
                )
            }
            Group::StiffnessFactor => (
                self.lagrangian,
                vec![entries(s..n, |column, row| C::StiffnessFactor {
                    row,
                    column,
                })],
            ),
            Group::DampingFactor => (
                self.damping_factored,
                vec![entries(s..n, |column, row| C::DampingFactor {
                    row,
                    column,
                })],
            ),
            Group::Mass => (
                !self.mass_factored,
                vec![entries(0..n, |row, column| C::Mass { row, column })],
            ),
            Group::Gyroscopic => {
                let of = |row| {
                    entries(0..n, move |first, second| C::Gyroscopic {
                        row,
                        first,
                        second,
                    })
                };
                (!self.lagrangian, vec![(0..n).flat_map(of).collect()])
            }
            Group::Stiffness => (
                !self.lagrangian,
                vec![entries(s..n, |row, column| C::Stiffness { row, column })],
            ),
            Group::Damping => {
                let end = if self.damping_factored { s } else { n };
                (
                    true,
                    vec![entries(0..end, |row, column| C::Damping { row, column })],
                )
            }
            Group::Force => (
                has_rest,
                vec![(first_force..n).map(|row| C::Force { row }).collect()],
            ),
            Group::Potential => (has_rest, vec![vec![C::Potential]]),
            Group::Gravity => (
                self.gravity_differs && !per_axis,
                vec![(0..n).map(|row| C::Gravity { row }).collect()],
            ),
            Group::GravityPotential => (
                per_axis,
                vec![(0..3).map(|axis| C::GravityPotential { axis }).collect()],
            ),
            Group::GravityForce => {
                let axes = |row| (0..3).map(move |axis| C::GravityForce { row, axis });
                (per_axis, vec![(first_force..n).flat_map(axes).collect()])
            }
            Group::Position => {
                let of = |output| (0..3).map(|axis| C::Position { output, axis }).collect();
                (true, outputs.map(of).collect())
            }
            Group::Quaternion => {
                let of = |output| {
                    (0..4)
                        .map(|entry| C::Quaternion { output, entry })
                        .collect()
                };
                (true, outputs.map(of).collect())
            }
            Group::Amplitude => {
                let of = |output| [0..3, 3..6].map(|rows| amplitudes(output, rows, s..n));
                (true, outputs.flat_map(of).collect())
            }
            Group::PositionCurvature => {
                let of = |output| {
                    let of_axis = |axis| {
                        entries(s..n, move |first, second| C::PositionCurvature {
                            output,
                            axis,
                            first,
                            second,
                        })
                    };
                    (0..3).flat_map(of_axis).collect()
                };
                (stiffening != Stiffening::None, outputs.map(of).collect())
            }
            Group::LoadMap => {
                let of = |loaded| {
                    (0..n)
                        .map(|coordinate| C::LoadMap { loaded, coordinate })
                        .collect()
                };
                (true, (0..self.layout.loaded.len()).map(of).collect())
            }
            Group::Derived => {
                let of = |(entry, d): (usize, &DerivedInfo)| {
                    let columns = d.columns;
                    let row = |row| (0..columns).map(move |column| (row, column));
                    let places = (0..d.rows).flat_map(row);
                    places
                        .map(|(row, column)| C::Derived { entry, row, column })
                        .collect()
                };
                (
                    true,
                    self.layout.derived.iter().enumerate().map(of).collect(),
                )
            }
        };
        if present { blocks } else { Vec::new() }
    }
}

/// One component for every pair of indices, the second not below the first.
fn entries(range: Range<usize>, of: impl Fn(usize, usize) -> Component) -> Vec<Component> {
    let end = range.end;
    range
        .flat_map(|i| (i..end).map(move |j| (i, j)))
        .map(|(i, j)| of(i, j))
        .collect()
}

/// Several components for every pair of indices, the second not below the first.
fn pairs(range: Range<usize>, of: impl Fn(usize, usize) -> Vec<Component>) -> Vec<Component> {
    let end = range.end;
    range
        .flat_map(|i| (i..end).map(move |j| (i, j)))
        .flat_map(|(i, j)| of(i, j))
        .collect()
}

fn amplitudes(output: usize, rows: Range<usize>, modes: Range<usize>) -> Vec<Component> {
    let of_row = |row| {
        modes.clone().map(move |coordinate| Component::Amplitude {
            output,
            row,
            coordinate,
        })
    };
    rows.flat_map(of_row).collect()
}

/// D̄ is definite on δ and does not couple θ to δ.
fn has_damping_factor(n: usize, s: usize, probes: &[Sample]) -> bool {
    let largest = probes
        .iter()
        .flat_map(|p| &p.exact.damping)
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    let coupled = |p: &Sample| {
        (0..s).any(|i| (s..n).any(|j| p.exact.damping[i * n + j].abs() > ROUNDING * largest))
    };
    n > s
        && probes
            .iter()
            .all(|p| p.damping_factor.is_some() && !coupled(p))
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
