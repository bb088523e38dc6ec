//! Everything that a model stores has a meaning, and every meaning is tried.

mod support;

use kernel::Group;
use reducer::reduced_model::plan::{Plan, Purpose};
use reducer::reduced_model::*;
use std::collections::BTreeSet;
use support::{model, recipes};

fn components(m: &ReducedModel) -> impl Iterator<Item = Component> {
    let lists = &m.components;
    let constants = lists.constants.iter().map(|c| c.component);
    let combined = lists.combined.iter().map(|c| c.component);
    lists
        .dynamics
        .iter()
        .chain(&lists.outputs)
        .copied()
        .chain(constants)
        .chain(combined)
}

/// The synthetic models, with which generated code is compared, hold every kind of component.
#[test]
fn synthetic_models_hold_every_group() {
    let models: Vec<ReducedModel> = recipes().iter().map(model).collect();
    let found: BTreeSet<Group> = models
        .iter()
        .flat_map(|m| components(m).map(|c| c.place().0))
        .collect();
    assert_eq!(found, BTreeSet::from(Group::ALL));
}

/// The model with every value of one group changed by a hundredth.
fn changed(m: &ReducedModel, group: Group) -> ReducedModel {
    let mut out = m.clone();
    let is_of = |c: &Component| c.place().0 == group;
    for constant in &mut out.components.constants {
        if is_of(&constant.component) {
            constant.value *= 1.01;
        }
    }
    for combination in &mut out.components.combined {
        if is_of(&combination.component) {
            combination.by.iter_mut().for_each(|x| *x *= 1.01);
        }
    }
    let lists = out.components.clone();
    for b in &mut out.boxes {
        for (table, list) in [
            (&mut b.dynamics, &lists.dynamics),
            (&mut b.outputs, &lists.outputs),
        ] {
            for row in table.coefficients.chunks_mut(list.len().max(1)) {
                for (c, _) in row.iter_mut().zip(list).filter(|(_, c)| is_of(c)) {
                    *c *= 1.01;
                }
            }
        }
    }
    out
}

/// All that the evaluator says of a model at one state.
fn said(m: &ReducedModel) -> Vec<f64> {
    let evaluator = Evaluator::new(m).unwrap();
    let mut work = Workspace::default();
    let (n, s) = (m.layout.n(), m.layout.n_rigid);
    let b = m.boxes.last().unwrap();
    let theta: Vec<f64> = (0..s)
        .map(|k| b.lower[k] + 0.4 * (b.upper[k] - b.lower[k]))
        .collect();
    let eta = [&theta[..], &vec![0.02; n - s]].concat();
    let (rate, accel) = (vec![0.3; n], vec![0.7; n]);
    let mut out = vec![0.0; n];
    evaluator
        .inverse_dynamics(&eta, &rate, &accel, &mut out, &mut work)
        .unwrap();
    let (kinetic, potential, _) = evaluator.energy(&eta, &rate, &mut work).unwrap();
    let c = evaluator.coefficients(&theta, &mut work).unwrap();
    let (motions, _) = evaluator.outputs(&eta, &rate, &mut work).unwrap();
    out.extend([kinetic, potential]);
    out.extend(c.derived.iter().flatten());
    out.extend(c.gravity.iter().chain(c.load_map.iter().flatten()));
    for o in &motions {
        out.extend(o.position.iter().chain(&o.rotation).chain(&o.velocity));
    }
    out
}

/// A group that the kernel forgot would change nothing.
#[test]
fn every_group_changes_what_a_model_says() {
    for recipe in recipes() {
        let m = model(&recipe);
        let groups: BTreeSet<Group> = components(&m).map(|c| c.place().0).collect();
        let before = said(&m);
        for group in groups {
            // A quaternion means the same with any length.
            if group != Group::Quaternion {
                assert_ne!(
                    said(&changed(&m, group)),
                    before,
                    "{} {group:?}",
                    recipe.name
                );
            }
        }
    }
}

/// Where no box has a definite mass, calls end early and do not show what memory they take.
#[test]
fn memory_suffices_where_calls_end_early() {
    let recipe = recipes().into_iter().find(|r| r.form == ModelForm::Direct);
    let mut m = model(&recipe.expect("a direct model"));
    let columns = m.components.dynamics.len();
    for b in &mut m.boxes {
        for row in b.dynamics.coefficients.chunks_mut(columns) {
            for (c, component) in row.iter_mut().zip(&m.components.dynamics) {
                *c *= if matches!(component, Component::Mass { .. }) {
                    -1.0
                } else {
                    1.0
                };
            }
        }
    }
    let plan = Plan::new(&m, Purpose::Code);
    for cost in call_costs(&plan, false) {
        assert_eq!(cost.memory, plan.memory(), "{}", cost.function);
    }
}
