//! The rounding errors that single-precision headers state, against compiled single-precision C.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::ExportOptions;
use exporters::code::c_files;
use generated::{Generated, norm};
use reducer::reduced_model::*;
use std::collections::BTreeMap;
use support::{Numbers, configurations, model, recipes};

/// Function or block and its error, from the header.
fn stated(m: &ReducedModel) -> BTreeMap<String, f64> {
    let options = ExportOptions {
        single: true,
        prefix: None,
    };
    let header = c_files(m, &options).unwrap().remove(0).1;
    let header = String::from_utf8(header).unwrap();
    header
        .lines()
        .skip_while(|l| !l.contains("Rounding of single precision"))
        .skip_while(|l| !l.ends_with("their difference keeps fewer digits."))
        .skip(1)
        .map_while(|l| {
            let mut words = l.strip_prefix(" *   ")?.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        })
        .collect()
}

/// Worst difference and largest norm of a block.
type Worst = BTreeMap<&'static str, (f64, f64)>;

fn add(worst: &mut Worst, block: &'static str, found: &[f64], exact: &[f64]) {
    assert_eq!(found.len(), exact.len(), "{block}");
    let difference: Vec<f64> = found.iter().zip(exact).map(|(a, b)| a - b).collect();
    let entry = worst.entry(block).or_default();
    *entry = (entry.0.max(norm(&difference)), entry.1.max(norm(exact)));
}

/// The same measure from compiled C, at points of the tests' own.
fn measured(m: &ReducedModel) -> Worst {
    let c = Generated::new(m, "gcc", true, &[]);
    let evaluator = Evaluator::new(m).unwrap();
    let mut work = Workspace::default();
    let (n, s) = (m.layout.n(), m.layout.n_rigid);
    let single = |v: Vec<f64>| -> Vec<f64> { v.iter().map(|x| f64::from(*x as f32)).collect() };
    let mut numbers = Numbers::new(17);
    let mut worst = Worst::new();
    let domain = &m.layout.domain;
    let inside = (0..60).map(|_| {
        let part = |k: usize, r: f64| domain.lower[k] + r * (domain.upper[k] - domain.lower[k]);
        let mut eta: Vec<f64> = (0..s)
            .map(|k| part(k, 0.5 + 0.5 * numbers.next()))
            .collect();
        eta.extend(numbers.vector(n - s, 0.05));
        eta
    });
    let inside: Vec<Vec<f64>> = inside.collect();
    for eta in configurations(m).into_iter().chain(inside) {
        let mut eta = single(eta);
        eta[s..]
            .iter_mut()
            .for_each(|v| *v = f64::from((*v * 0.02) as f32));
        let (rate, accel) = (
            single(numbers.vector(n, 1.0)),
            single(numbers.vector(n, 1.0)),
        );
        let exact = evaluator.coefficients(&eta[..s], &mut work).unwrap();
        if exact.status != Status::Inside {
            continue;
        }
        let blocks = [
            ("mass", &exact.mass),
            ("gyroscopic", &exact.gyroscopic),
            ("stiffness", &exact.stiffness),
            ("damping", &exact.damping),
            ("force", &exact.force),
            ("gravity", &exact.gravity),
        ];
        let length: usize = blocks.iter().map(|b| b.1.len()).sum();
        let loads = n * m.layout.loaded.len();
        let (_, out) = c.call("coefficients", &[&eta[..s]], &[length + loads]);
        let mut rest = &out[0][..];
        for (block, of) in blocks {
            let (head, tail) = rest.split_at(of.len());
            add(&mut worst, block, head, of);
            rest = tail;
        }
        let mut force = vec![0.0; n];
        evaluator
            .inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
            .unwrap();
        let (_, out) = c.call("inverse_dynamics", &[&eta, &rate, &accel], &[n]);
        add(&mut worst, "inverse_dynamics", &out[0], &force);
        let mut force = single(force);
        force[s..].fill(0.0);
        let mut back = vec![0.0; n];
        evaluator
            .forward_dynamics(&eta, &rate, &force, &mut back, &mut work)
            .unwrap();
        let (_, out) = c.call("forward_dynamics", &[&eta, &rate, &force], &[n]);
        add(&mut worst, "forward_dynamics", &out[0], &back);
        if m.layout.outputs.is_empty() {
            continue;
        }
        let (motions, _) = evaluator.outputs(&eta, &rate, &mut work).unwrap();
        let each = 18 + 6 * n;
        let (_, out) = c.call("outputs", &[&eta, &rate], &[each * motions.len()]);
        for (o, of) in motions.iter().enumerate() {
            let mut flat = of.position.as_slice().to_vec();
            flat.extend(of.rotation.transpose().as_slice());
            flat.extend(of.velocity.as_slice());
            flat.extend(of.angular_velocity.as_slice());
            flat.extend(&of.jacobian);
            let found = &out[0][o * each..(o + 1) * each];
            add(&mut worst, "outputs", found, &flat);
        }
    }
    worst
}

/// Stated errors cover compiled code within a factor, at other points than they were measured at,
/// and do not overstate it by much more.
#[test]
fn headers_state_the_rounding_of_single_precision() {
    for recipe in recipes() {
        // Rounding at faces and ends of a period may lead elsewhere, which matters across jumps.
        let m = model(&support::Recipe {
            cuts: vec![],
            drop_first: false,
            periodic: false,
            ..recipe
        });
        let stated = stated(&m);
        for (block, (difference, size)) in measured(&m) {
            if size == 0.0 {
                assert!(!stated.contains_key(block), "{} {block}", m.layout.name);
                continue;
            }
            let found = difference / size;
            let claim = stated[block];
            println!(
                "{:<14} {block:<17} C {found:.1e} header {claim:.1e}",
                m.layout.name
            );
            assert!(
                found <= FACTOR * claim,
                "{} {block}: {found:e} {claim:e}",
                m.layout.name
            );
            assert!(
                claim <= FACTOR * found.max(6e-8),
                "{} {block}: {found:e} {claim:e}",
                m.layout.name
            );
        }
    }
}

/// Worst of some tens of points, in another order of additions.
const FACTOR: f64 = 4.0;

#[test]
fn double_precision_states_no_rounding() {
    let m = model(&recipes()[1]);
    let header = c_files(&m, &ExportOptions::default()).unwrap().remove(0).1;
    assert!(
        !String::from_utf8(header)
            .unwrap()
            .contains("Rounding of single")
    );
}
