//! Damaged and invented data is refused, never a panic.

use crate::flexible::Flexible;
use crate::{reduced, settings};
use proptest::prelude::*;
use reducer::reduced_model::{
    BasisRecord, DropReason, Evaluator, InvalidModel, ReducedModel, TreeNode, Workspace,
};
use serde_json::Value;
use std::sync::OnceLock;

fn model() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut local = Flexible::new(1, 1);
        local.wildness = 12.0;
        local.singular_above = 1.2;
        let mut settings = settings(&[0.1]);
        settings.tolerance = 0.05;
        reduced(&local, &settings).0
    })
}

#[test]
fn json_reads_back_bit_for_bit() {
    let text = serde_json::to_string(model()).expect("plain data");
    let back: ReducedModel = serde_json::from_str(&text).expect("the same data");
    assert_eq!(&back, model());
    assert_eq!(back.validate(), Ok(()));
    assert!(model().boxes.len() > 1);
}

#[test]
fn other_versions_are_refused() {
    for found in [1, 2, 3] {
        let mut other = model().clone();
        other.format = found;
        assert_eq!(other.validate(), Err(InvalidModel::Format { found }));
    }
}

/// Paths to all values inside a document.
fn paths(value: &Value, prefix: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    all.push(prefix.clone());
    let children: Vec<(String, &Value)> = match value {
        Value::Array(a) => a
            .iter()
            .enumerate()
            .map(|(i, v)| (i.to_string(), v))
            .collect(),
        Value::Object(o) => o.iter().map(|(k, v)| (k.clone(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        prefix.push(name);
        paths(child, prefix, all);
        prefix.pop();
    }
}

fn mutate(value: &mut Value, kind: u8) {
    match (value, kind) {
        (Value::Array(a), 0) => drop(a.pop()),
        (Value::Array(a), 1) if !a.is_empty() => a.push(a[0].clone()),
        (Value::Array(a), 2) => a.reverse(),
        (v @ Value::Number(_), 0) => *v = Value::from(1_000_000_000_u64),
        (v @ Value::Number(_), 1) => *v = Value::from(-1),
        (v @ Value::Number(_), 2) => *v = Value::from(1e300),
        (v @ Value::Number(_), 3) => *v = Value::from(0),
        (Value::Object(o), 0) => {
            let first = o.keys().next().cloned();
            first.map(|k| o.remove(&k));
        }
        (v, _) => *v = Value::Null,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn mutated_models_are_refused_or_evaluate(choice in any::<prop::sample::Index>(), kind in 0_u8..5) {
        static DOCUMENT: OnceLock<(Value, Vec<Vec<String>>)> = OnceLock::new();
        let (document, all) = DOCUMENT.get_or_init(|| {
            let document = serde_json::to_value(model()).expect("plain data");
            let mut all = Vec::new();
            paths(&document, &mut Vec::new(), &mut all);
            (document, all)
        });
        let mut changed = document.clone();
        let path = &all[choice.index(all.len())];
        let target = path.iter().try_fold(&mut changed, |v, name| match v {
            Value::Array(a) => name.parse::<usize>().ok().and_then(|i| a.get_mut(i)),
            Value::Object(o) => o.get_mut(name),
            _ => None,
        });
        mutate(target.expect("the path exists"), kind);
        if let Ok(read) = serde_json::from_value::<ReducedModel>(changed)
            && let Ok(evaluator) = Evaluator::new(&read)
        {
            let n = read.layout.n();
            let mut work = Workspace::default();
            for theta in [-5.0, -1.75, 0.1, 1.0, 1.75] {
                let mut eta = vec![0.01; n];
                eta[0] = theta;
                let mut force = vec![0.0; n];
                let _ = evaluator.document(&eta[..read.layout.n_rigid], &mut work);
                let _ = evaluator.inverse_dynamics(&eta, &vec![0.5; n], &vec![0.5; n], &mut force, &mut work);
                let _ = evaluator.forward_dynamics(&eta, &vec![0.5; n], &vec![0.5; n], &mut force, &mut work);
                let _ = evaluator.outputs(&eta, &vec![0.5; n], &mut work);
                let _ = evaluator.energy(&eta, &vec![0.5; n], &mut work);
            }
        }
    }
}

#[test]
fn structural_faults_are_named() {
    let broken = |change: &dyn Fn(&mut ReducedModel)| {
        let mut other = model().clone();
        change(&mut other);
        other.validate().expect_err("refused").to_string()
    };
    assert!(broken(&|m| m.boxes[1].dynamics.coefficients[0] = f64::NAN).contains("box 1"));
    assert!(broken(&|m| drop(m.boxes.pop())).contains("tree node"));
    assert!(
        broken(&|m| m.tree.push(m.tree[m.tree.len() - 1].clone())).contains("without a parent")
    );
    assert!(broken(&|m| m.layout.domain.upper[0] = f64::INFINITY).contains("domain.upper"));
    assert!(
        broken(&|m| m.components.dynamics[0] = m.components.dynamics[1]).contains("components")
    );
    assert!(broken(&|m| m.layout.n_rigid = 7).contains("layout"));
    assert!(broken(&|m| m.provenance.reached = true).contains("provenance.reached"));
    let elsewhere = DropReason::Singular {
        theta: vec![100.0],
        message: "far away".to_owned(),
    };
    let node = |m: &ReducedModel| {
        let leaf = |n: &TreeNode| matches!(n, TreeNode::Leaf { .. });
        m.tree.iter().position(leaf).expect("a box")
    };
    let dropped = broken(&|m| {
        let node = node(m);
        m.tree[node] = TreeNode::Dropped {
            reason: elsewhere.clone(),
        };
    });
    assert!(dropped.contains("a failure at [100.0]"), "{dropped}");
    let basis = BasisRecord::Chebyshev { max_degree: 0 };
    assert!(broken(&|m| m.provenance.settings.basis = basis).contains("settings.basis"));
}

#[test]
fn what_fell_short_cannot_claim_its_tolerances() {
    let (good, _) = reduced(&Flexible::new(1, 1), &settings(&[0.1]));
    assert!(good.provenance.reached);
    let refused = |change: &dyn Fn(&mut ReducedModel)| {
        let mut other = good.clone();
        change(&mut other);
        let said = other.validate().expect_err("refused").to_string();
        assert!(said.contains("provenance.reached"), "{said}");
        other.provenance.reached = false;
        assert_eq!(other.validate(), Ok(()));
    };
    refused(&|m| m.boxes[0].reached = false);
    refused(&|m| m.provenance.errors[0].mean = 1.0);
    refused(&|m| {
        m.boxes.clear();
        m.tree = vec![TreeNode::Dropped {
            reason: DropReason::Cut {
                samples: 1,
                needed: 3,
                checks: 0,
            },
        }];
    });
}
