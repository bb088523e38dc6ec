//! The reduced model with its outputs held on a path: what is left to move are the modes.
//!
//! With y = y_d, ẏ = ẏ_d and ÿ = ÿ_d, θ and its derivatives follow from z = η_δ and its derivatives, and the modal
//! rows r_δ(η, η̇, η̈) = 0 are the internal dynamics F(z, ż, z̈, t) = 0 [M 17.1].

use super::error::InversionError;
use super::wanted::{Tracked, TrackedPlace};
use crate::dynamics::signal::Jet;
use crate::reduced_model::{Bidual, Dual, Evaluator, Memory, Status, Workspace};
use kernel::Load;
use nalgebra::{DMatrix, DVector, Dyn, LU};

/// Most steps to a configuration.
const STEPS: usize = 60;
/// A step this small, in parts of the coordinate or of one, ends them.
const SMALL: f64 = 1e-11;
/// Largest step in parts of the domain's width.
const STRIDE: f64 = 0.1;
/// Rounding of a path that ends on the edge of the domain, in parts of its width.
const ROUNDING: f64 = 1e-9;
/// Smallest singular value of the outputs' Jacobian, in parts of the largest.
const INDEPENDENT: f64 = 1e-8;
/// Least part of what forces would change accelerations of outputs by, were the modes rigid, that they must change them by at
/// once. Behind an elastic drive it is zero but for the model's tolerances.
const REACHED: f64 = 1e-3;

/// A model and the outputs that are held.
pub(super) struct Plant<'a> {
    pub evaluator: &'a Evaluator<'a>,
    pub tracked: &'a [Tracked],
    pub n: usize,
    pub s: usize,
}

/// Memory of evaluations.
#[derive(Default)]
pub(super) struct Work {
    plain: Memory<f64>,
    dual: Memory<Dual>,
    bidual: Memory<Bidual>,
}

/// All coordinates, their rates and accelerations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Motion {
    pub eta: Vec<f64>,
    pub rate: Vec<f64>,
    pub accel: Vec<f64>,
}

/// Factors of the outputs' Jacobian by θ.
type Factors = LU<f64, Dyn, Dyn>;

/// Modal coordinates with their rates and accelerations.
pub(super) type Modal<'z> = [&'z [f64]; 3];

/// The internal dynamics at one instant.
pub(super) struct Internal {
    pub motion: Motion,
    /// F.
    pub rest: DVector<f64>,
    /// ∂F by z, ż and z̈.
    pub by: [DMatrix<f64>; 3],
    /// Modal block of ∂r/∂η with θ held, and of M.
    pub held: [DMatrix<f64>; 2],
}

/// Tracked outputs: positions, velocities, and the Jacobian row by row.
struct Measured<R> {
    position: Vec<R>,
    velocity: Vec<R>,
    jacobian: Vec<R>,
}

fn dual(values: &[f64], slopes: &[f64]) -> Vec<Dual> {
    let pairs = values.iter().zip(slopes);
    pairs.map(|(&v, &d)| Dual { v, d }).collect()
}

impl<'a> Plant<'a> {
    pub fn new(evaluator: &'a Evaluator<'a>, tracked: &'a [Tracked]) -> Self {
        Self {
            evaluator,
            tracked,
            n: evaluator.n(),
            s: evaluator.n_rigid(),
        }
    }

    /// Number of modal coordinates.
    pub fn m(&self) -> usize {
        self.n - self.s
    }

    fn measure<R: Load<f64>>(
        &self,
        eta: &[R],
        rate: &[R],
        memory: &mut Memory<R>,
    ) -> Option<Measured<R>> {
        let (motions, status) = self.evaluator.outputs_in(eta, rate, memory);
        if status >= Status::Undefined {
            return None;
        }
        let mut found = Measured {
            position: Vec::new(),
            velocity: Vec::new(),
            jacobian: Vec::new(),
        };
        for tracked in self.tracked {
            match tracked.place {
                TrackedPlace::Output { output, axis } => {
                    let motion = &motions[output];
                    found.position.push(motion.vectors[0][axis]);
                    found.velocity.push(motion.vectors[1][axis]);
                    let row = &motion.jacobian[axis * self.n..(axis + 1) * self.n];
                    found.jacobian.extend_from_slice(row);
                }
                TrackedPlace::Coordinate(k) => {
                    found.position.push(eta[k]);
                    found.velocity.push(rate[k]);
                    let row = (0..self.n).map(|j| if j == k { R::ONE } else { R::ZERO });
                    found.jacobian.extend(row);
                }
            }
        }
        Some(found)
    }

    fn no_model(&self, time: f64, eta: &[f64]) -> InversionError {
        InversionError::NoModel {
            time,
            theta: eta[..self.s].to_vec(),
        }
    }

    /// The Jacobian by θ, factorised, and by the modes.
    fn split(
        &self,
        eta: &[f64],
        jacobian: &[f64],
    ) -> Result<(Factors, DMatrix<f64>), InversionError> {
        let rows = DMatrix::from_row_slice(self.s, self.n, jacobian);
        let by_theta = rows.columns(0, self.s).into_owned();
        let values = by_theta.singular_values();
        let (least, most) = (values.min(), values.max());
        // Also false where a value is not a number.
        let is_regular = least > INDEPENDENT * most;
        if !is_regular {
            let norms: Vec<f64> = rows.row_iter().map(|row| row.norm()).collect();
            let largest = norms.iter().fold(0.0_f64, |m, x| m.max(*x));
            let names = |keep: &dyn Fn(f64) -> bool| {
                let pairs = self.tracked.iter().zip(&norms);
                let kept = pairs.filter(|(_, norm)| keep(**norm));
                let names = kept.map(|(tracked, _)| format!("`{}`", tracked.name));
                names.collect::<Vec<_>>()
            };
            let still = names(&|norm| norm <= INDEPENDENT * largest);
            return Err(InversionError::Uncontrollable {
                outputs: if still.is_empty() {
                    names(&|_| true)
                } else {
                    still
                },
                theta: eta[..self.s].to_vec(),
            });
        }
        let by_modes = rows.columns(self.s, self.m()).into_owned();
        Ok((by_theta.lu(), by_modes))
    }

    /// Refuses outputs whose accelerations do not depend on the forces at once: y_η M⁻¹ E_θ, in units of what it is with rigid
    /// modes, y_θ M_θθ⁻¹, has a singular value near zero where a spring stands between force and output.
    pub fn check_reach(&self, eta: &[f64], work: &mut Work) -> Result<(), InversionError> {
        let (n, s) = (self.n, self.s);
        let still = vec![0.0; n];
        let found = self
            .measure(eta, &still, &mut work.plain)
            .ok_or_else(|| self.no_model(0.0, eta))?;
        let workspace = &mut Workspace::default();
        let (linear, status) = self.evaluator.linearize(eta, &still, &still, workspace)?;
        if status >= Status::Undefined {
            return Err(self.no_model(0.0, eta));
        }
        let jacobian = DMatrix::from_row_slice(s, n, &found.jacobian);
        let inverse = DMatrix::from_row_slice(n, n, &linear.b[n * n..]);
        let reached = &jacobian * inverse.columns(0, s);
        let singular = InversionError::Singular { time: 0.0 };
        let mass = inverse.clone().try_inverse().ok_or(singular.clone())?;
        let of_theta = mass.view((0, 0), (s, s)).into_owned().try_inverse();
        let rigid = jacobian.columns(0, s) * of_theta.ok_or(singular.clone())?;
        let parts = rigid.lu().solve(&reached).ok_or(singular)?;
        let least = parts.singular_values().min();
        if least > REACHED {
            return Ok(());
        }
        let names = self.tracked.iter().map(|t| format!("`{}`", t.name));
        Err(InversionError::ElasticDrive {
            outputs: names.collect(),
            part: least,
        })
    }

    /// Moves θ so that the outputs are where they are wanted, by Newton's method.
    pub fn place(
        &self,
        time: f64,
        eta: &mut [f64],
        wanted: &[Jet],
        work: &mut Work,
    ) -> Result<(), InversionError> {
        let still = vec![0.0; self.n];
        let domain = &self.evaluator.model().layout.domain;
        let mut last = 0.0;
        for _ in 0..STEPS {
            let found = self
                .measure(eta, &still, &mut work.plain)
                .ok_or_else(|| self.no_model(time, eta))?;
            let (factors, _) = self.split(eta, &found.jacobian)?;
            let left = wanted.iter().zip(&found.position).map(|(w, p)| w.value - p);
            let left = DVector::from_iterator(self.s, left);
            last = left.amax();
            let mut step = factors
                .solve(&left)
                .ok_or(InversionError::Singular { time })?;
            let mut part = 1.0_f64;
            for k in 0..self.s {
                let width = domain.upper[k] - domain.lower[k];
                if width > 0.0 && width.is_finite() && step[k].abs() > STRIDE * width {
                    part = part.min(STRIDE * width / step[k].abs());
                }
            }
            step *= part;
            let mut is_small = true;
            for k in 0..self.s {
                eta[k] += step[k];
                is_small &= step[k].abs() <= SMALL * eta[k].abs().max(1.0);
            }
            if is_small {
                return self.inside(time, eta);
            }
            if eta.iter().any(|x| !x.is_finite()) {
                break;
            }
        }
        self.inside(time, eta)?;
        let names = self.tracked.iter().map(|t| t.name.as_str());
        Err(InversionError::OutOfReach {
            time,
            name: names.collect::<Vec<_>>().join(", "),
            distance: last,
        })
    }

    /// Whether θ is in the domain.
    fn inside(&self, time: f64, eta: &[f64]) -> Result<(), InversionError> {
        let layout = &self.evaluator.model().layout;
        let domain = &layout.domain;
        for (k, &value) in eta[..self.s].iter().enumerate() {
            let (lower, upper) = (domain.lower[k], domain.upper[k]);
            let slack = ROUNDING * (upper - lower);
            let is_free = domain.periodic[k] || !value.is_finite();
            if !is_free && !(lower - slack..=upper + slack).contains(&value) {
                return Err(InversionError::LeftDomain {
                    time,
                    coordinate: layout.coordinates[k].name.clone(),
                    value,
                    lower,
                    upper,
                });
            }
        }
        Ok(())
    }

    /// The whole motion from that of the modes; `theta` is where to begin.
    pub fn complete(
        &self,
        time: f64,
        theta: &[f64],
        [z, zd, zdd]: Modal<'_>,
        wanted: &[Jet],
        work: &mut Work,
    ) -> Result<Motion, InversionError> {
        let mut eta = [theta, z].concat();
        self.place(time, &mut eta, wanted, work)?;
        let mut rate = [&vec![0.0; self.s][..], zd].concat();
        let found = self
            .measure(&eta, &rate, &mut work.plain)
            .ok_or_else(|| self.no_model(time, &eta))?;
        let (factors, by_modes) = self.split(&eta, &found.jacobian)?;
        let singular = InversionError::Singular { time };
        let wanted_rate = DVector::from_iterator(self.s, wanted.iter().map(|w| w.rate));
        let own = DVector::from_column_slice(&found.velocity);
        let theta_rate = factors
            .solve(&(wanted_rate - own))
            .ok_or(singular.clone())?;
        rate[..self.s].copy_from_slice(theta_rate.as_slice());
        // What accelerates the outputs without any acceleration of coordinates.
        let still = vec![0.0; self.n];
        let along = self
            .measure(&dual(&eta, &rate), &dual(&rate, &still), &mut work.dual)
            .ok_or_else(|| self.no_model(time, &eta))?;
        let bias = along.velocity.iter().map(|v| v.d);
        let bias = DVector::from_iterator(self.s, bias);
        let wanted_accel = wanted.iter().map(|w| w.acceleration);
        let wanted_accel = DVector::from_iterator(self.s, wanted_accel);
        let own = by_modes * DVector::from_column_slice(zdd);
        let theta_accel = factors
            .solve(&(wanted_accel - bias - own))
            .ok_or(singular)?;
        let accel = [theta_accel.as_slice(), zdd].concat();
        Ok(Motion { eta, rate, accel })
    }

    /// Forces r(η, η̇, η̈), in any numbers.
    fn forces_in<R: Load<f64>>(
        &self,
        [eta, rate, accel]: [&[R]; 3],
        memory: &mut Memory<R>,
    ) -> Option<Vec<R>> {
        let given = vec![true; self.n];
        let (mut accel, mut force) = (accel.to_vec(), vec![R::ZERO; self.n]);
        let motion = [eta, rate];
        let status = self
            .evaluator
            .hybrid_in(motion, &given, &mut accel, &mut force, memory);
        (status < Status::Undefined).then_some(force)
    }

    /// Forces of a motion.
    pub fn forces(
        &self,
        time: f64,
        motion: &Motion,
        work: &mut Work,
    ) -> Result<Vec<f64>, InversionError> {
        let Motion { eta, rate, accel } = motion;
        self.forces_in([eta, rate, accel], &mut work.plain)
            .ok_or_else(|| self.no_model(time, eta))
    }

    /// F and its derivatives, exact but for rounding.
    pub fn internal(
        &self,
        time: f64,
        motion: Motion,
        work: &mut Work,
    ) -> Result<Internal, InversionError> {
        let (n, s, m) = (self.n, self.s, self.m());
        let force = self.forces(time, &motion, work)?;
        let mass = DMatrix::from_row_slice(n, n, work.plain.mass());
        let missing = || self.no_model(time, &motion.eta);
        let found = self
            .measure(&motion.eta, &motion.rate, &mut work.plain)
            .ok_or_else(missing)?;
        let (factors, by_modes) = self.split(&motion.eta, &found.jacobian)?;
        // θ per mode while the outputs stay where they are.
        let follow = factors.solve(&by_modes);
        let follow = -follow.ok_or(InversionError::Singular { time })?;
        let near = Near {
            plant: self,
            motion: &motion,
            factors: &factors,
        };
        let [mut by_place, mut by_rate, mut by_accel, mut stiffness] =
            [(); 4].map(|()| DMatrix::zeros(m, m));
        for j in 0..m {
            let mut alone = vec![0.0; n];
            alone[s + j] = 1.0;
            let mut direction = alone.clone();
            (0..s).for_each(|k| direction[k] = follow[(k, j)]);
            let still = vec![0.0; n];
            let columns = [
                (&mut by_place, near.by_place(&direction, work)),
                (&mut by_rate, near.by_rate(&direction, work)),
                (&mut stiffness, near.forces([&alone, &still, &still], work)),
            ];
            for (matrix, column) in columns {
                let column = column.ok_or_else(missing)?;
                (0..m).for_each(|i| matrix[(i, j)] = column[s + i]);
            }
            for i in 0..m {
                by_accel[(i, j)] = (0..n).map(|k| mass[(s + i, k)] * direction[k]).sum();
            }
        }
        let inertia = mass.view((s, s), (m, m)).into_owned();
        Ok(Internal {
            rest: DVector::from_column_slice(&force[s..]),
            motion,
            by: [by_place, by_rate, by_accel],
            held: [stiffness, inertia],
        })
    }
}

/// Derivatives at a motion; none where there is no model.
struct Near<'a> {
    plant: &'a Plant<'a>,
    motion: &'a Motion,
    factors: &'a Factors,
}

impl Near<'_> {
    /// Change of θ, and of nothing else, that takes back these changes of outputs.
    fn answer(&self, changes: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
        let changes = DVector::from_iterator(self.plant.s, changes);
        let theta = self.factors.solve(&changes)?;
        let mut whole = vec![0.0; self.plant.n];
        (0..self.plant.s).for_each(|k| whole[k] = -theta[k]);
        Some(whole)
    }

    /// Changes of forces along changes of coordinates, rates and accelerations.
    fn forces(
        &self,
        [by_place, by_rate, by_accel]: [&[f64]; 3],
        work: &mut Work,
    ) -> Option<Vec<f64>> {
        let Motion { eta, rate, accel } = self.motion;
        let motion = [
            &dual(eta, by_place)[..],
            &dual(rate, by_rate),
            &dual(accel, by_accel),
        ];
        let changed = self.plant.forces_in(motion, &mut work.dual)?;
        Some(changed.iter().map(|f| f.d).collect())
    }

    /// Along a change of coordinates that leaves the outputs; rates and accelerations of θ keep ẏ and ÿ.
    fn by_place(&self, direction: &[f64], work: &mut Work) -> Option<Vec<f64>> {
        let Motion { eta, rate, accel } = self.motion;
        let n = self.plant.n;
        let turned = self.plant.measure(
            &dual(eta, direction),
            &dual(rate, &vec![0.0; n]),
            &mut work.dual,
        )?;
        let by_rate = self.answer(turned.velocity.iter().map(|v| v.d))?;
        let number = |v, a, b, ab| Bidual { v, a, b, ab };
        let places: Vec<Bidual> = (0..n)
            .map(|k| number(eta[k], rate[k], direction[k], by_rate[k]))
            .collect();
        let rates: Vec<Bidual> = (0..n)
            .map(|k| number(rate[k], accel[k], by_rate[k], 0.0))
            .collect();
        let bent = self.plant.measure(&places, &rates, &mut work.bidual)?;
        let by_accel = self.answer(bent.velocity.iter().map(|v| v.ab))?;
        self.forces([direction, &by_rate, &by_accel], work)
    }

    /// Along a change of rates that leaves ẏ; accelerations of the outputs are quadratic in rates.
    fn by_rate(&self, direction: &[f64], work: &mut Work) -> Option<Vec<f64>> {
        let Motion { eta, rate, .. } = self.motion;
        let still = vec![0.0; self.plant.n];
        let mixed =
            self.plant
                .measure(&dual(eta, rate), &dual(direction, &still), &mut work.dual)?;
        let by_accel = self.answer(mixed.velocity.iter().map(|v| 2.0 * v.d))?;
        self.forces([&still, direction, &by_accel], work)
    }
}
