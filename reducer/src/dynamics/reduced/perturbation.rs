//! Small motions about a large one: the reduced model linearised along a nominal motion of θ with η^δ = 0 [M 19.1].

use super::error::ReducedError;
use crate::dynamics::excitation::{Drive, Excitation};
use crate::linalg::{cholesky, solve_lower, symmetric_eigen, to_faer};
use crate::reduced_model::{Dual, Evaluator, Memory, Status};
use nalgebra::{DMatrix, DVector};
use std::cell::RefCell;
use std::f64::consts::TAU;

/// The equations of small motions at an instant, M₀δη̈ + C₀δη̇ + K₀δη = f − r₀.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// The nominal θ, its rate and its acceleration.
    pub nominal: [Vec<f64>; 3],
    /// r₀, forces of the nominal motion: u₀ on θ, −σ₀ on the modes.
    pub force: DVector<f64>,
    /// M₀ = ∂r/∂η̈.
    pub mass: DMatrix<f64>,
    /// C₀ = ∂r/∂η̇: gyroscopic terms and damping.
    pub damping: DMatrix<f64>,
    /// K₀ = ∂r/∂η at the nominal rate and acceleration.
    pub stiffness: DMatrix<f64>,
}

impl Perturbation {
    /// Forces u₀ on θ that the rigid motion takes.
    pub fn nominal_force(&self) -> &[f64] {
        &self.force.as_slice()[..self.nominal[0].len()]
    }

    /// σ₀, what the nominal motion excites the modes with.
    pub fn excitation(&self) -> Vec<f64> {
        let s = self.nominal[0].len();
        self.force.iter().skip(s).map(|r| -r).collect()
    }

    /// Modal coordinates that σ₀ holds with θ on its motion, K₀^δδ η^δ = σ₀; none where K₀^δδ is singular.
    pub fn quasi_static(&self) -> Option<Vec<f64>> {
        let s = self.nominal[0].len();
        let m = self.force.len() - s;
        let stiffness = self.stiffness.view((s, s), (m, m)).into_owned();
        let found = stiffness.lu().solve(&DVector::from(self.excitation()))?;
        Some(found.as_slice().to_vec())
    }
}

impl Perturbation {
    /// Frequencies (Hz, ascending) of the symmetric part of K₀^δδ and M₀^δδ, θ on its motion; none where a direction is
    /// unstable.
    pub fn frequencies_hz(&self) -> Option<Vec<f64>> {
        let s = self.nominal[0].len();
        let m = self.force.len() - s;
        let block = |matrix: &DMatrix<f64>| matrix.view((s, s), (m, m)).into_owned();
        let l = cholesky(&to_faer(&block(&self.mass)))?;
        let stiffness = block(&self.stiffness);
        let symmetric = to_faer(&(0.5 * (&stiffness + stiffness.transpose())));
        let half = solve_lower(&l, &symmetric);
        let (squares, _) = symmetric_eigen(&solve_lower(&l, &half.transpose().to_owned()))?;
        let stable = squares.first().is_none_or(|lowest| *lowest > 0.0);
        stable.then(|| squares.iter().map(|w| w.sqrt() / TAU).collect())
    }
}

/// Where the matrices of small motions come from.
pub trait Perturbations {
    /// At a time.
    fn at(&self, time: f64) -> Result<Perturbation, ReducedError>;
}

/// What of C₀ and K₀ counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stiffness {
    /// All of it: the motion stiffens, softens and turns.
    #[default]
    InMotion,
    /// That of the mechanism at rest in the same place: no dynamic and no geometric stiffness of the motion.
    AtRest,
}

/// Exact derivatives of the reduced model along a motion that is prescribed for every coordinate.
pub struct AlongMotion<'a> {
    evaluator: &'a Evaluator<'a>,
    trajectory: &'a dyn Excitation,
    stiffness: Stiffness,
    memory: RefCell<(Memory<f64>, Memory<Dual>)>,
}

impl<'a> AlongMotion<'a> {
    /// Along what moves the coordinates of `trajectory`; refused where it forces one.
    pub fn new(
        evaluator: &'a Evaluator<'a>,
        trajectory: &'a dyn Excitation,
        stiffness: Stiffness,
    ) -> Result<Self, ReducedError> {
        let names = &evaluator.model().layout.coordinates;
        let forced = (0..evaluator.n_rigid()).find(|k| !trajectory.is_prescribed(*k));
        if let Some(k) = forced {
            return Err(ReducedError::NotPrescribed {
                coordinate: names[k].name.clone(),
            });
        }
        Ok(Self {
            evaluator,
            trajectory,
            stiffness,
            memory: RefCell::default(),
        })
    }

    /// θ, its rate and its acceleration.
    pub fn nominal(&self, time: f64) -> [Vec<f64>; 3] {
        let mut motion = [(); 3].map(|()| Vec::with_capacity(self.evaluator.n_rigid()));
        for k in 0..self.evaluator.n_rigid() {
            let values = match self.trajectory.drive(k, time, 0.0, 0.0) {
                Drive::Motion {
                    position,
                    rate,
                    acceleration,
                } => [position, rate, acceleration],
                // `new` has refused it.
                Drive::Force { .. } => [f64::NAN; 3],
            };
            for (list, value) in motion.iter_mut().zip(values) {
                list.push(value);
            }
        }
        motion
    }

    /// Changes of r along a unit change of one coordinate (place 0), rate (1) or acceleration (2).
    fn column(
        &self,
        motion: &[Vec<f64>; 3],
        place: usize,
        index: usize,
        memory: &mut Memory<Dual>,
    ) -> Option<DVector<f64>> {
        let mut numbers: [Vec<Dual>; 3] = [0, 1, 2].map(|k| {
            let values = motion[k].iter();
            values.map(|&v| Dual { v, d: 0.0 }).collect()
        });
        numbers[place][index].d = 1.0;
        let [eta, rate, mut accel] = numbers;
        let n = eta.len();
        let (moved, mut force) = (vec![true; n], vec![Dual { v: 0.0, d: 0.0 }; n]);
        let status =
            self.evaluator
                .hybrid_in([&eta, &rate], &moved, &mut accel, &mut force, memory);
        (status < Status::Undefined).then(|| DVector::from_iterator(n, force.iter().map(|f| f.d)))
    }

    fn derivatives(
        &self,
        motion: &[Vec<f64>; 3],
        place: usize,
        memory: &mut Memory<Dual>,
    ) -> Option<DMatrix<f64>> {
        let n = motion[0].len();
        let columns: Option<Vec<DVector<f64>>> = (0..n)
            .map(|j| self.column(motion, place, j, memory))
            .collect();
        Some(DMatrix::from_columns(&columns?))
    }
}

impl Perturbations for AlongMotion<'_> {
    fn at(&self, time: f64) -> Result<Perturbation, ReducedError> {
        let nominal = self.nominal(time);
        let n = self.evaluator.n();
        let whole = |list: &Vec<f64>| {
            let mut whole = list.clone();
            whole.resize(n, 0.0);
            whole
        };
        let motion = nominal.each_ref().map(whole);
        let at_rest = [motion[0].clone(), vec![0.0; n], vec![0.0; n]];
        let about = match self.stiffness {
            Stiffness::InMotion => &motion,
            Stiffness::AtRest => &at_rest,
        };
        let (plain, dual) = &mut *self.memory.borrow_mut();
        let (moved, mut force) = (vec![true; n], vec![0.0; n]);
        let mut accel = motion[2].clone();
        let rates = [&motion[0][..], &motion[1]];
        let status = self
            .evaluator
            .hybrid_in(rates, &moved, &mut accel, &mut force, plain);
        let mass = DMatrix::from_row_slice(n, n, plain.mass());
        let found = (status < Status::Undefined)
            .then(|| {
                Some([
                    self.derivatives(about, 0, dual)?,
                    self.derivatives(about, 1, dual)?,
                ])
            })
            .flatten();
        let Some([stiffness, damping]) = found else {
            let theta = nominal[0].clone();
            return Err(ReducedError::NoModel { time, theta });
        };
        Ok(Perturbation {
            nominal,
            force: DVector::from(force),
            mass,
            damping,
            stiffness,
        })
    }
}
