//! Random mechanisms as the user would write them.

use crate::support::Random;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::TAU;
use std::fmt::Write;

/// A random mechanism and what is known about it.
pub struct Drawn {
    pub text: String,
    /// Kinds of the joints that form its loops.
    pub kinds: Vec<&'static str>,
    /// Constraints that follow from the others, where known.
    pub redundant: Option<usize>,
}

/// Joints by their freedoms: all of them, and translations among them.
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

struct Draft {
    random: Random,
    text: String,
    points: usize,
}

impl Draft {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            text: "format = 1\ngravity = [0.4, 1.1, -9.7]\n".into(),
            points: 0,
        }
    }

    /// A number from `low` to `high`.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + 0.5 * (high - low) * (1.0 + self.random.next())
    }

    fn below(&mut self, n: usize) -> usize {
        (self.between(0.0, n as f64) as usize).min(n - 1)
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| size * self.random.next())
    }

    /// A rigid body made of four points of random mass, so that its inertia is possible.
    fn body(&mut self, name: &str, at: Vector3<f64>) {
        let points: Vec<(f64, Vector3<f64>)> = (0..4)
            .map(|_| (self.between(0.1, 0.6), self.vector(0.3)))
            .collect();
        let mass: f64 = points.iter().map(|p| p.0).sum();
        let center = points.iter().map(|p| p.1 * p.0).sum::<Vector3<f64>>() / mass;
        let inertia: Matrix3<f64> = points
            .iter()
            .map(|(m, p)| {
                let r = p - center;
                (Matrix3::identity() * r.norm_squared() - r * r.transpose()) * *m
            })
            .sum();
        let j = |r: usize, c: usize| inertia[(r, c)];
        let _ = writeln!(
            self.text,
            "[[body]]\nname = \"{name}\"\nat = {}\nrigid = {{ mass = {mass:e}, center_of_mass = {}, inertia = [{:e}, {:e}, {:e}, {:e}, {:e}, {:e}] }}",
            list(&at),
            list(&center),
            j(0, 0),
            j(1, 1),
            j(2, 2),
            j(0, 1),
            j(0, 2),
            j(1, 2),
        );
    }

    fn joint(&mut self, name: &str, kind: &str, bodies: [&str; 2], at: &Vector3<f64>) {
        let axis = self.vector(1.0).normalize();
        self.joint_about(name, kind, bodies, at, &axis);
    }

    fn joint_about(
        &mut self,
        name: &str,
        kind: &str,
        bodies: [&str; 2],
        at: &Vector3<f64>,
        axis: &Vector3<f64>,
    ) {
        let direction = match kind {
            "fixed" | "spherical" | "translation" => String::new(),
            "universal" => {
                let across = axis.cross(&self.vector(1.0)).normalize();
                format!("axes = [{}, {}]\n", list(axis), list(&across))
            }
            _ => format!("axis = {}\n", list(axis)),
        };
        let _ = write!(
            self.text,
            "[[joint]]\nname = \"{name}\"\n{kind} = {bodies:?}\nat = {}\n{direction}",
            list(at),
        );
    }

    /// An actuated coordinate with a small range about home; `home` is zero for joints.
    fn coordinate(&mut self, name: &str, drives: &str, home: f64, reach: f64) {
        let rotor = self.between(0.0, 0.02);
        let viscous = self.between(0.0, 1.0);
        let _ = writeln!(
            self.text,
            "[[coordinate]]\nname = \"{name}\"\n{drives}\nrange = [{:e}, {:e}]\nrotor_inertia = {rotor:e}\nviscous = {viscous:e}",
            home - reach,
            home + reach,
        );
    }

    /// Springs between points and across a joint, and a load.
    fn forces(&mut self, joint: Option<&str>, body: &str, at: &Vector3<f64>) {
        let tip = at + self.vector(0.2);
        let anchor = at + self.vector(1.0).normalize() * 1.5;
        let force = self.vector(20.0);
        self.points += 1;
        if let Some(joint) = joint {
            let rest = self.between(-0.4, 0.4);
            let _ = writeln!(
                self.text,
                "[[spring]]\njoint = \"{joint}\"\nstiffness = 15\nrest = {rest:e}\ndamping = 0.2"
            );
        }
        let _ = writeln!(
            self.text,
            "[ground.points]\nanchor = {}\n[[load]]\nat = {}\nbody = \"{body}\"\nforce = {}\n[[output]]\nname = \"tip\"\nat = {}\nbody = \"{body}\"",
            list(&anchor),
            list(&tip),
            list(&force),
            list(&tip),
        );
        let _ = writeln!(
            self.text,
            "[[spring]]\nbetween = [\"ground.anchor\", \"{body}\"]\nlength = 0.7\nstiffness = 40"
        );
    }
}

fn list(v: &Vector3<f64>) -> String {
    format!("[{:e}, {:e}, {:e}]", v.x, v.y, v.z)
}

/// A loop of four to six bars whose hinges are parallel, in a plane that is turned at random.
pub fn planar_loop(seed: u64) -> Drawn {
    let mut draft = Draft::new(seed);
    let n = 4 + draft.below(3);
    let axis = draft.vector(1.0).normalize();
    let first = axis.cross(&draft.vector(1.0)).normalize();
    let second = axis.cross(&first);
    let corners: Vec<Vector3<f64>> = (0..n)
        .map(|k| {
            let angle = TAU * (k as f64 + draft.between(-0.25, 0.25)) / n as f64;
            let radius = draft.between(0.6, 1.0);
            (first * angle.cos() + second * angle.sin()) * radius
        })
        .collect();
    let name = |k: usize| {
        if k == 0 || k == n {
            "ground".into()
        } else {
            format!("bar{k}")
        }
    };
    for (k, corner) in corners.iter().enumerate().skip(1) {
        let offset = draft.vector(0.1);
        draft.body(&name(k), corner + offset);
    }
    for (k, corner) in corners.iter().enumerate() {
        let bodies = [name(k), name(k + 1)];
        draft.joint_about(
            &format!("j{k}"),
            "hinge",
            [&bodies[0], &bodies[1]],
            corner,
            &axis,
        );
    }
    // As many actuators as freedoms: from both ends of the loop.
    for (i, k) in [0, n - 1, 1].into_iter().take(n - 3).enumerate() {
        draft.coordinate(&format!("q{i}"), &format!("drives = \"j{k}\""), 0.0, 0.15);
    }
    let corner = corners[2];
    draft.forces(Some("j2"), "bar2", &corner);
    Drawn {
        text: draft.text,
        kinds: vec!["hinge"; n],
        redundant: Some(3),
    }
}

/// A spatial loop with joints of any kind and seven freedoms in all.
pub fn spatial_loop(seed: u64) -> Drawn {
    let mut draft = Draft::new(seed);
    let joints = loop {
        let mut joints = vec![JOINTS[draft.below(2)]];
        while joints.iter().map(|j| j.1).sum::<usize>() < 7 {
            joints.push(JOINTS[draft.below(JOINTS.len())]);
        }
        let freedoms: usize = joints.iter().map(|j| j.1).sum();
        let translations: usize = joints.iter().map(|j| j.2).sum();
        // A bar between two ball joints would spin.
        let moving: Vec<&str> = joints.iter().filter(|j| j.1 > 0).map(|j| j.0).collect();
        let spins = moving.windows(2).any(|w| w == ["spherical", "spherical"]);
        if freedoms == 7 && translations <= 3 && !spins && (3..=8).contains(&joints.len()) {
            break joints;
        }
    };
    let n = joints.len();
    let name = |k: usize| {
        if k == 0 || k == n {
            "ground".into()
        } else {
            format!("link{k}")
        }
    };
    let corners: Vec<Vector3<f64>> = (0..n)
        .map(|k| {
            let angle = TAU * k as f64 / n as f64;
            Vector3::new(angle.cos(), angle.sin(), 0.0) * 0.8 + draft.vector(0.25)
        })
        .collect();
    for (k, corner) in corners.iter().enumerate().skip(1) {
        draft.body(&name(k), *corner);
    }
    for (k, (corner, joint)) in corners.iter().zip(&joints).enumerate() {
        let bodies = [name(k), name(k + 1)];
        draft.joint(&format!("j{k}"), joint.0, [&bodies[0], &bodies[1]], corner);
    }
    draft.coordinate("q", "drives = \"j0\"", 0.0, 0.12);
    let sprung = (1..n).find(|&k| matches!(joints[k].0, "hinge" | "prismatic"));
    let sprung = sprung.map(|k| format!("j{k}"));
    let corner = corners[1];
    draft.forces(sprung.as_deref(), "link1", &corner);
    Drawn {
        text: draft.text,
        kinds: joints.iter().map(|j| j.0).collect(),
        redundant: Some(0),
    }
}

/// An arm that carries a platform on a joint with several freedoms, moved by struts whose lengths
/// are actuated.
pub fn strut_platform(seed: u64) -> Drawn {
    let mut draft = Draft::new(seed);
    let (kind, freedoms, _) = JOINTS[2 + draft.below(5)];
    let pivot = draft.vector(0.2);
    let home = Vector3::new(0.2, -0.1, 0.9);
    draft.body("arm", pivot);
    draft.body("platform", home);
    draft.joint("waist", "hinge", ["ground", "arm"], &pivot);
    draft.joint("carrier", kind, ["arm", "platform"], &home);
    draft.coordinate("waist_angle", "drives = \"waist\"", 0.0, 0.15);
    let mut points = String::new();
    for k in 0..freedoms {
        let angle = TAU * k as f64 / 3.0;
        let foot = Vector3::new(angle.cos(), angle.sin(), 0.0) * 0.9 + draft.vector(0.2);
        let turned = Vector3::new((angle + 0.9).cos(), (angle + 0.9).sin(), 0.3);
        let head = home + turned * 0.5 + draft.vector(0.15);
        let _ = writeln!(points, "foot{k} = {}", list(&(foot - pivot)));
        let _ = writeln!(points, "head{k} = {}", list(&(head - home)));
        let length = (head - foot).norm();
        draft.coordinate(
            &format!("strut{k}"),
            &format!("distance = [\"arm.foot{k}\", \"platform.head{k}\"]"),
            length,
            0.06,
        );
    }
    draft.forces(None, "platform", &home);
    let text = with_points(&draft.text, &points);
    Drawn {
        text,
        kinds: vec!["hinge", kind],
        redundant: Some(0),
    }
}

/// Gives both bodies of a strut platform the points of its struts.
fn with_points(text: &str, points: &str) -> String {
    let pick = |prefix: &str| {
        let own: Vec<&str> = points.lines().filter(|l| l.starts_with(prefix)).collect();
        format!("points = {{ {} }}\n", own.join(", "))
    };
    let mut out = String::new();
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        match line {
            "name = \"arm\"" => out.push_str(&pick("foot")),
            "name = \"platform\"" => out.push_str(&pick("head")),
            _ => {}
        }
    }
    out
}

/// A platform on six legs, each a universal joint, a slide and a ball joint.
pub fn hexapod(seed: u64) -> Drawn {
    let mut draft = Draft::new(seed);
    let center = Vector3::new(0.0, 0.0, 1.0);
    draft.body("platform", center);
    for k in 0..6 {
        let pair = TAU * (k / 2) as f64 / 3.0;
        let side = if k % 2 == 0 { -1.0 } else { 1.0 };
        let (low, high) = (pair + 0.25 * side, pair + (TAU / 6.0 - 0.2) * side);
        let foot = Vector3::new(low.cos(), low.sin(), 0.0) * 0.9 + draft.vector(0.06);
        let head = center + Vector3::new(high.cos(), high.sin(), 0.0) * 0.5 + draft.vector(0.06);
        let along = (head - foot).normalize();
        let across = along.cross(&draft.vector(1.0)).normalize();
        draft.body(&format!("lower{k}"), foot + along * 0.2);
        draft.body(&format!("upper{k}"), head - along * 0.2);
        let (lower, upper) = (format!("lower{k}"), format!("upper{k}"));
        draft.joint_about(
            &format!("u{k}"),
            "universal",
            ["ground", &lower],
            &foot,
            &across,
        );
        draft.joint_about(
            &format!("p{k}"),
            "prismatic",
            [&lower, &upper],
            &head,
            &along,
        );
        draft.joint(&format!("s{k}"), "spherical", [&upper, "platform"], &head);
        draft.coordinate(&format!("q{k}"), &format!("drives = \"p{k}\""), 0.0, 0.05);
    }
    draft.forces(None, "platform", &center);
    Drawn {
        text: draft.text,
        kinds: ["universal", "prismatic", "spherical"].repeat(6),
        redundant: Some(0),
    }
}
