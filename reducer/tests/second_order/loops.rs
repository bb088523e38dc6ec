//! Closed loops of flexible links with joints of every kind: constraints hold to second order, and
//! load cases give what second-order displacements themselves give [M 14.5].

use crate::support::{Manifold, Random, assert_close, try_reducer};
use nalgebra::Vector3;
use reducer::lie::Frame;
use reducer::model::joint;
use reducer::model::rows::{line, mount_frame};
use reducer::reduction::LocalReducer;
use std::fmt::Write;

/// Joints with their freedoms and translations among them.
const JOINTS: [(&str, usize, usize); 8] = [
    ("hinge", 1, 0),
    ("prismatic", 1, 1),
    ("cylindrical", 2, 1),
    ("universal", 2, 0),
    ("spherical", 3, 0),
    ("planar", 3, 2),
    ("translation", 3, 3),
    ("fixed", 0, 0),
];

fn list(v: &Vector3<f64>) -> String {
    format!("[{:e}, {:e}, {:e}]", v.x, v.y, v.z)
}

/// A loop of beams whose joints have seven freedoms in all; a spring across one joint, one between
/// points, a load, gravity; every second loop is moved by a distance instead of its first joint.
fn flexible_loop(seed: u64) -> (String, Vec<&'static str>) {
    let mut random = Random(seed);
    let mut below = |n: usize| ((0.5 * (1.0 + random.next()) * n as f64) as usize).min(n - 1);
    let joints = loop {
        let mut joints = vec![JOINTS[below(2)]];
        while joints.iter().map(|j| j.1).sum::<usize>() < 7 {
            joints.push(JOINTS[below(JOINTS.len())]);
        }
        let freedoms: usize = joints.iter().map(|j| j.1).sum();
        let translations: usize = joints.iter().map(|j| j.2).sum();
        let moving: Vec<&str> = joints.iter().filter(|j| j.1 > 0).map(|j| j.0).collect();
        let spins = moving.windows(2).any(|w| w == ["spherical", "spherical"]);
        if freedoms == 7 && translations <= 3 && !spins && (3..=7).contains(&joints.len()) {
            break joints;
        }
    };
    let n = joints.len();
    let corners: Vec<Vector3<f64>> = (0..n)
        .map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / n as f64;
            Vector3::new(angle.cos(), angle.sin(), 0.0) * 0.8 + random.vector(0.25)
        })
        .collect();
    let mut text = "format = 1\ngravity = [0.4, 1.1, -9.7]\n".to_string();
    let end = |k: usize, last: &str| {
        if k == 0 || k == n {
            "ground".into()
        } else {
            format!("link{k}.{last}")
        }
    };
    for k in 1..n {
        let _ = writeln!(
            text,
            "[[body]]\nname = \"link{k}\"\nbeam = {{ from = {}, to = {}, elements = 2, section = {{ rectangle = {{ height = 0.02, width = 0.012 }} }}, material = \"aluminium\" }}",
            list(&corners[k - 1]),
            list(&corners[k]),
        );
    }
    for (k, (corner, (kind, _, _))) in corners.iter().zip(&joints).enumerate() {
        // Joint 0 holds the start of link 1 to the ground, joint k the end of link k.
        let (first, second) = if k + 1 == n {
            (end(k, "to"), "ground".to_string())
        } else {
            (end(k, "to"), end(k + 1, "from"))
        };
        let at = if k == 0 { corners[0] } else { *corner };
        let axis = random.vector(1.0).normalize();
        let direction = match *kind {
            "fixed" | "spherical" | "translation" => String::new(),
            "universal" => {
                let across = axis.cross(&random.vector(1.0)).normalize();
                format!("axes = [{}, {}]\n", list(&axis), list(&across))
            }
            _ => format!("axis = {}\n", list(&axis)),
        };
        let _ = write!(
            text,
            "[[joint]]\nname = \"j{k}\"\n{kind} = [\"{first}\", \"{second}\"]\nat = {}\n{direction}",
            list(&at),
        );
    }
    let anchor = corners[1] + random.vector(0.4) + Vector3::new(0.0, 0.0, 0.9);
    let _ = writeln!(text, "[ground.points]\nanchor = {}", list(&anchor));
    if seed.is_multiple_of(2) {
        let length = (corners[1] - anchor).norm();
        let _ = writeln!(
            text,
            "[[coordinate]]\nname = \"q\"\ndistance = [\"ground.anchor\", \"link1.to\"]\nrange = [{:e}, {:e}]\nstiffness = 2e5",
            length - 0.05,
            length + 0.05
        );
    } else {
        let _ = writeln!(
            text,
            "[[coordinate]]\nname = \"q\"\ndrives = \"j0\"\nrange = [-0.1, 0.1]\nstiffness = 3e3"
        );
    }
    let sprung = (1..n).find(|&k| matches!(joints[k].0, "hinge" | "prismatic"));
    if let Some(k) = sprung {
        let _ = writeln!(
            text,
            "[[spring]]\njoint = \"j{k}\"\nstiffness = 150\nrest = 0.3"
        );
    }
    let _ = writeln!(
        text,
        "[[spring]]\nbetween = [\"ground.anchor\", \"link1.to\"]\nlength = 0.5\nstiffness = 400\n[[load]]\nat = \"link1.to\"\nforce = {}\n[reduction]\ninternal_modes = 4",
        list(&random.vector(20.0)),
    );
    (text, joints.iter().map(|j| j.0).collect())
}

/// How far all joints and the actuated coordinate are from where they belong.
fn gaps(reducer: &LocalReducer, frames: &[Frame], scalars: &[f64]) -> Vec<f64> {
    let model = reducer.model();
    let mut out = Vec::new();
    for j in &model.joints {
        let d = mount_frame(&j.a, frames).relative(&mount_frame(&j.b, frames));
        out.extend_from_slice(&joint::residual(j.kind, &d)[..joint::n_rows(j.kind)]);
    }
    for drive in &model.drives {
        let value = match &drive.coordinate {
            None => line(&drive.a, &drive.b, frames, None).distance,
            Some(row) => {
                let d = mount_frame(&drive.a, frames).relative(&mount_frame(&drive.b, frames));
                if row[5] != 0.0 {
                    joint::hinge_angle(&d, 0.0)
                } else {
                    d.position.z
                }
            }
        };
        out.push(value - drive.scalar.map_or(0.0, |i| scalars[i]));
    }
    out
}

/// A product of columns, and the sum of the sizes of its terms, in which rounding is measured.
fn dot(m: &faer::Mat<f64>, i: usize, n: &faer::Mat<f64>, j: usize) -> (f64, f64) {
    let terms = (m.col_as_slice(i).iter()).zip(n.col_as_slice(j));
    terms.fold((0.0, 0.0), |(sum, size), (a, b)| {
        (sum + a * b, size + (a * b).abs())
    })
}

/// Returns whether constraints would bend without second-order displacements.
fn check(reducer: &LocalReducer, theta: &[f64], what: &str) -> bool {
    let s = theta.len();
    let mut manifold = Manifold::new(reducer, theta);
    let n = manifold.n();
    // Second differences of the constraints along a random direction: zero with, not without Θ.
    let mut random = Random(77);
    let direction: Vec<f64> = (0..n).map(|_| random.next()).collect();
    let reach = (0..n).fold(0.0_f64, |m, d| {
        let column = manifold.shapes().col_as_slice(d);
        m.max(column.iter().fold(0.0, |m: f64, v| m.max(v.abs())))
    });
    let h = 2e-3 / reach;
    let bend = |manifold: &Manifold| -> Vec<f64> {
        let at = |t: f64| {
            let eta: Vec<f64> = direction.iter().map(|x| x * t).collect();
            let (frames, scalars) = manifold.at(&eta);
            gaps(reducer, &frames, &scalars)
        };
        let (zero, near, far) = (at(0.0), [at(h), at(-h)], [at(2.0 * h), at(-2.0 * h)]);
        (0..zero.len())
            .map(|i| {
                let one = near[0][i] + near[1][i] - 2.0 * zero[i];
                let two = far[0][i] + far[1][i] - 2.0 * zero[i];
                (16.0 * one - two) / (12.0 * h * h)
            })
            .collect()
    };
    let curved = bend(&manifold);
    manifold.flat = true;
    let size = bend(&manifold).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let floor = 1e-2 * reach * reach;
    let none = vec![0.0; curved.len()];
    assert_close(
        &format!("{what} constraints"),
        &curved,
        &none,
        1e-6,
        size.max(floor),
    );

    let configuration = reducer.kinematics().solve(theta).expect("regular");
    let found = reducer
        .second_order(&configuration)
        .expect("regular")
        .expect("flexible");
    let at = reducer.linearise(&configuration).expect("regular");
    let modes = reducer.modes(&at).expect("modes");
    let momenta = reducer.model().mass_times(&modes.shapes);
    let loads = reducer
        .model()
        .mass_times(&reducer.model().gravity_field(&at.frames))
        + at.applied_forces();
    for (case, matrix) in found.coupling.iter().chain(&found.elastic).enumerate() {
        let (mut expected, mut values, mut size) = (Vec::new(), Vec::new(), 0.0_f64);
        for d in 0..n {
            for e in 0..n {
                let (sum, terms) = dot(&momenta, case, &manifold.displacements()[d], e);
                expected.push(sum);
                values.push(matrix[(d, e)]);
                size = size.max(terms);
            }
        }
        let kind = if case < s { "rigid" } else { "elastic" };
        let what = format!("{what} {kind} case {case}");
        assert_close(&what, &values, &expected, 1e-9, size);
    }
    // Symmetry of Θ is no assumption of the direct route.
    for d in 0..n {
        for e in 0..d {
            let (a, terms) = dot(&loads, 0, &manifold.displacements()[d], e);
            let (b, _) = dot(&loads, 0, &manifold.displacements()[e], d);
            assert!((a - b).abs() < 1e-9 * terms, "{what}: {a} {b}");
        }
    }
    size > floor
}

#[test]
fn load_cases_give_second_order_displacements_on_random_closed_loops() {
    let mut seen: Vec<&str> = Vec::new();
    let (mut tried, mut bent) = (0, 0);
    for seed in 1..=60 {
        let (text, kinds) = flexible_loop(seed);
        // Some of these loops move although their actuator is locked.
        let Some(reducer) = try_reducer(&text) else {
            continue;
        };
        tried += 1;
        let home = reducer.kinematics().home().to_vec();
        for step in [0.0, 0.03] {
            if reducer.kinematics().solve(&[home[0] + step]).is_err() {
                continue;
            }
            let what = format!("loop {seed} {kinds:?}");
            bent += usize::from(check(&reducer, &[home[0] + step], &what));
        }
        seen.extend(kinds);
    }
    assert!(tried >= 12 && bent > tried, "{bent} of {tried} loops twice");
    for (kind, _, _) in JOINTS {
        assert!(seen.contains(&kind), "no loop has a {kind} joint");
    }
}
