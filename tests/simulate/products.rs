//! A reduced model with one moved coordinate, integrated with a fixed step by a second route, in which
//! the θ-δ terms of h̄ can be left out.

use reducer::dynamics::excitation::{Drive, Excitation};
use reducer::dynamics::record::Record;
use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};

/// Steps of the integration per row of the record.
const STEPS: u32 = 40;

/// State and required force at one instant.
struct Found {
    eta: Vec<f64>,
    rate: Vec<f64>,
    accel: Vec<f64>,
    force: f64,
}

struct Mover<'a> {
    evaluator: &'a Evaluator<'a>,
    drives: &'a dyn Excitation,
    part: f64,
    work: Workspace,
}

impl Mover<'_> {
    /// Accelerations of the modes and the force on θ; the terms of h̄ with θ̇ times a modal rate count
    /// by `part`.
    fn at(&mut self, time: f64, modes: &[f64]) -> Found {
        let n = self.evaluator.n();
        let Drive::Motion {
            position,
            rate,
            acceleration,
        } = self.drives.drive(0, time, 0.0, 0.0)
        else {
            panic!("θ is not moved");
        };
        let eta = [&[position], &modes[..n - 1]].concat();
        let all = [&[rate], &modes[n - 1..]].concat();
        let theta_alone: Vec<f64> = (0..n).map(|i| if i == 0 { rate } else { 0.0 }).collect();
        let modes_alone = [&[0.0], &modes[n - 1..]].concat();
        let (h, h_theta) = (self.forces(&eta, &all), self.forces(&eta, &theta_alone));
        let (h_modes, rest) = (
            self.forces(&eta, &modes_alone),
            self.forces(&eta, &vec![0.0; n]),
        );
        let mut force: Vec<f64> = (0..n)
            .map(|i| (1.0 - self.part) * (h[i] - h_theta[i] - h_modes[i] + rest[i]))
            .collect();
        let product = std::mem::take(&mut force[0]);
        let prescribed: Vec<bool> = (0..n).map(|i| i == 0).collect();
        let mut accel = vec![0.0; n];
        accel[0] = acceleration;
        self.evaluator
            .hybrid_dynamics(
                &eta,
                &all,
                &prescribed,
                &mut accel,
                &mut force,
                &mut self.work,
            )
            .unwrap();
        Found {
            eta,
            rate: all,
            accel,
            force: force[0] - product,
        }
    }

    /// All generalised forces that do not depend on accelerations.
    fn forces(&mut self, eta: &[f64], rate: &[f64]) -> Vec<f64> {
        let still = vec![0.0; eta.len()];
        let mut out = still.clone();
        self.evaluator
            .inverse_dynamics(eta, rate, &still, &mut out, &mut self.work)
            .unwrap();
        out
    }

    fn derivative(&mut self, time: f64, modes: &[f64]) -> Vec<f64> {
        let found = self.at(time, modes);
        [&found.rate[1..], &found.accel[1..]].concat()
    }

    /// One step of the classical Runge-Kutta method.
    fn step(&mut self, time: f64, h: f64, modes: &mut [f64]) {
        let moved = |modes: &[f64], slope: &[f64], h: f64| -> Vec<f64> {
            modes.iter().zip(slope).map(|(m, s)| m + h * s).collect()
        };
        let a = self.derivative(time, modes);
        let b = self.derivative(time + h / 2.0, &moved(modes, &a, h / 2.0));
        let c = self.derivative(time + h / 2.0, &moved(modes, &b, h / 2.0));
        let d = self.derivative(time + h, &moved(modes, &c, h));
        for (i, mode) in modes.iter_mut().enumerate() {
            *mode += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
        }
    }
}

/// Largest errors of the first output's deflection and of the force on θ, in parts of their peaks in
/// the full model; `part` of the θ-δ terms of h̄ is kept.
pub fn errors(
    full: &Record,
    drives: &dyn Excitation,
    model: &ReducedModel,
    part: f64,
) -> (f64, f64) {
    let evaluator = Evaluator::new(model).unwrap();
    let n = evaluator.n();
    assert_eq!(evaluator.n_rigid(), 1);
    let mut mover = Mover {
        evaluator: &evaluator,
        drives,
        part,
        work: Workspace::default(),
    };
    let columns = |name: &str| {
        let group = full.groups.iter().find(|g| g.name == name).unwrap();
        group.columns.clone()
    };
    let (deflection, force) = (columns("deflection_B"), columns("force.theta").start);
    let output = model.layout.outputs.iter().position(|o| o == "B").unwrap();
    let mut modes = vec![0.0; 2 * (n - 1)];
    let mut outputs = Workspace::default();
    let mut worst = [0.0_f64; 4];
    for (i, row) in full.rows.iter().enumerate() {
        let found = mover.at(row[0], &modes);
        let mut place = |eta: &[f64]| {
            let still = vec![0.0; n];
            let (all, _) = evaluator.outputs(eta, &still, &mut outputs).unwrap();
            all[output].position
        };
        let rigid: Vec<f64> = [&found.eta[..1], &vec![0.0; n - 1]].concat();
        let bent = place(&found.eta) - place(&rigid);
        let exact = nalgebra::Vector3::from_column_slice(&row[deflection.clone()]);
        let now = [
            (bent - exact).norm(),
            exact.norm(),
            (found.force - row[force]).abs(),
            row[force].abs(),
        ];
        for (worst, now) in worst.iter_mut().zip(now) {
            *worst = worst.max(now);
        }
        if let Some(next) = full.rows.get(i + 1) {
            let h = (next[0] - row[0]) / f64::from(STEPS);
            for k in 0..STEPS {
                mover.step(row[0] + h * f64::from(k), h, &mut modes);
            }
        }
    }
    (worst[0] / worst[1], worst[2] / worst[3])
}
