//! Frequency responses of the full model about rest: sparse, without any reduction [M 16.2].

use super::control::place_of;
use super::equations::{Equations, State};
use super::initial::initial_state;
use super::iteration::{Iteration, Weights, entries};
use super::structure::{LowRank, Structure};
use super::{FullError, FullSettings, Initial, Start};
use crate::dynamics::control::{ControlRun, Feedback, Place, Sensed, Slopes};
use crate::dynamics::excitation::Excitation;
use crate::lie::join;
use crate::model::rows::mount_frame;
use crate::model::{ActuatorMotion, LoadedOperators};
use crate::reduction::{LocalReducer, ReductionError};
use faer::linalg::solvers::SolveCore;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, Mat};
use nalgebra::{Complex, DMatrix, Vector3};
use std::f64::consts::TAU;

type Number = Complex<f64>;
type Small = DMatrix<Number>;

/// Responses at frequencies (Hz), about the static equilibrium with θ as in `initial`, loops of
/// continuous blocks closed and outputs of sampled ones held.
///
/// Rows and columns are those of the reduced model's linear system: coordinates, positions of outputs
/// and signals, by forces on free coordinates and by what is added to outputs of blocks. None where a
/// frequency meets an undamped resonance.
pub fn frequency_response(
    model: &LocalReducer,
    excitation: &dyn Excitation,
    initial: &Initial,
    settings: &FullSettings,
    frequencies_hz: &[f64],
) -> Result<Vec<Option<DMatrix<Complex<f64>>>>, FullError> {
    let blocks = excitation
        .control()
        .map(|(diagram, _)| ControlRun::new(diagram));
    if let Some(run) = &blocks {
        run.hold_controllers();
    }
    let at_rest = Initial {
        theta: initial.theta.clone(),
        rate: vec![0.0; initial.theta.len()],
        start: Start::Undeformed,
    };
    let (equations, mut state) =
        initial_state(model, excitation, blocks.as_ref(), &at_rest, settings)?;
    let singular = || FullError::Singular { time: 0.0 };
    let zero = vec![0.0; at_rest.theta.len()];
    let motion = ActuatorMotion {
        rate: &zero,
        acceleration: &zero,
    };
    let loaded = model
        .model()
        .loaded_state(&state.frames, &state.hinge_angles, motion)?;
    let operators = (model.model().loaded_operators(&loaded)).ok_or_else(singular)?;
    state.frames.clone_from(&loaded.equilibrium.frames);
    let scalars = loaded.equilibrium.scalars.len();
    state.scalars[..scalars].copy_from_slice(&loaded.equilibrium.scalars);
    if let Some(run) = &blocks {
        equations.read_blocks(&mut state, 0.0);
        run.sample(0.0, &state.control.x, &equations.sensors(&state));
        equations.read_blocks(&mut state, 0.0);
    }
    let mut structure = Structure::new(
        model.damping(),
        settings.damped_modes,
        settings.mode_refresh,
    );
    structure
        .prepare(model, &at_rest.theta)
        .map_err(|fault: ReductionError| FullError::Reference { time: 0.0, fault })?;
    let iteration = Iteration::new(&equations, &state, &structure).ok_or_else(singular)?;
    let plant = Plant::new(&equations, &iteration, &state, &structure, &operators);
    let slopes = blocks.as_ref().and_then(|run| run.slopes(&state.control));
    Ok(frequencies_hz
        .iter()
        .map(|f| {
            let s = Complex::new(0.0, TAU * f);
            closed(&plant, &plant.response(s)?, slopes.as_ref(), s)
        })
        .collect())
}

/// An entry of a sparse matrix.
type Entry = (usize, usize, f64);

/// A row over the unknowns, how often it is differentiated, and a row of what tilt adds.
type Reading = (Vec<f64>, u8, Vec<f64>);

/// The mechanism linearised, and what goes in and comes out.
struct Plant<'a> {
    /// Mass, damping and stiffness over the unknowns.
    terms: [Vec<Entry>; 3],
    /// Constraint rows.
    rows: Vec<Entry>,
    /// Damping of low rank: columns over the unknowns, and its core.
    damping: Option<(Mat<f64>, DMatrix<f64>)>,
    /// Unit forces on the unknowns: on free coordinates, then where blocks act.
    forces: Mat<f64>,
    n_free: usize,
    /// Readings per unknown and their derivative by time: coordinates and outputs, then sensors.
    readings: Vec<Reading>,
    n_sensors: usize,
    feedback: &'a [Feedback],
    n: usize,
    n_rows: usize,
}

impl<'a> Plant<'a> {
    fn new(
        equations: &'a Equations<'a>,
        iteration: &Iteration,
        state: &State,
        structure: &Structure,
        operators: &LoadedOperators,
    ) -> Self {
        let map = equations.model.dof_map();
        let n = map.len() + equations.n_theta();
        let with = |mass: f64, damping: f64| Weights {
            mass,
            damping,
            stiffness: 0.0,
            control: 0.0,
        };
        let (mass, rows) = entries(equations, &map, state, structure, with(1.0, 0.0), None);
        let (damping, _) = entries(equations, &map, state, structure, with(0.0, 1.0), None);
        let mut stiffness = Vec::new();
        operators
            .stiffness
            .each(|i, j, v| stiffness.push((i, j, v)));
        let gather = |list: &[Vec<f64>]| {
            let mut columns = Mat::zeros(n, list.len());
            for (j, column) in list.iter().enumerate() {
                iteration.project(equations, column, columns.col_as_slice_mut(j));
            }
            columns
        };
        let feedback = equations.feedback();
        let free: Vec<usize> = (0..equations.n_theta())
            .filter(|k| !equations.prescribed.contains(k))
            .collect();
        let places = free.iter().map(|k| Place::Coordinate(*k));
        let places = places.chain(feedback.iter().map(place_of));
        let forces: Vec<Vec<f64>> = places.map(|p| equations.force_column(&p, state)).collect();
        let damped = structure.low_rank(equations, state);
        let damped = damped.map(|LowRank { columns, core }| (gather(&columns), core));
        let (readings, n_sensors) = readings(equations, iteration, state, n);
        Self {
            terms: [mass, damping, stiffness],
            rows,
            damping: damped,
            forces: gather(&forces),
            n_free: free.len(),
            readings,
            n_sensors,
            feedback,
            n,
            n_rows: equations.n_rows(),
        }
    }

    /// Readings per unit force; none at a resonance.
    fn response(&self, s: Number) -> Option<Small> {
        let weights = [s * s, s, Complex::new(1.0, 0.0)];
        let mut largest = 0.0_f64;
        let mut all: Vec<Triplet<usize, usize, Number>> = Vec::new();
        for (weight, list) in weights.iter().zip(&self.terms) {
            for (i, j, v) in list {
                largest = largest.max((weight * v).norm());
                all.push(Triplet::new(*i, *j, weight * v));
            }
        }
        for entry in &mut all {
            entry.val /= largest;
        }
        let mut scale = vec![0.0_f64; self.n_rows];
        for (r, _, v) in &self.rows {
            scale[*r] = scale[*r].max(v.abs());
        }
        for (r, dof, v) in &self.rows {
            let value = Complex::new(v / scale[*r].max(f64::MIN_POSITIVE), 0.0);
            all.push(Triplet::new(self.n + r, *dof, value));
            all.push(Triplet::new(*dof, self.n + r, value));
        }
        let size = self.n + self.n_rows;
        let matrix = SparseColMat::try_new_from_triplets(size, size, &all).ok()?;
        let lu = matrix.sp_lu().ok()?;
        let solve = |columns: &Mat<f64>| {
            let mut x = Mat::from_fn(size, columns.ncols(), |i, j| {
                let value = if i < self.n { columns[(i, j)] } else { 0.0 };
                Complex::new(value / largest, 0.0)
            });
            lu.solve_in_place_with_conj(Conj::No, x.as_mut());
            x
        };
        let mut x = solve(&self.forces);
        if let Some((columns, core)) = &self.damping {
            let reached = solve(columns);
            let rank = columns.ncols();
            let along = |x: &Mat<Number>| {
                Small::from_fn(rank, x.ncols(), |i, j| {
                    (0..self.n).map(|r| x[(r, j)] * columns[(r, i)]).sum()
                })
            };
            let core = core.map(|v| s * v);
            let system = Small::identity(rank, rank) + &core * along(&reached);
            let amounts = system.lu().solve(&(core * along(&x)))?;
            for j in 0..x.ncols() {
                for k in 0..rank {
                    for r in 0..self.n {
                        let change = reached[(r, k)] * amounts[(k, j)];
                        x[(r, j)] -= change;
                    }
                }
            }
        }
        let read = |i: usize, j: usize| {
            let (row, order, tilt) = &self.readings[i];
            let sum = |row: &[f64]| -> Number { (0..row.len()).map(|r| x[(r, j)] * row[r]).sum() };
            sum(row) * s.powu(u32::from(*order)) + sum(tilt)
        };
        let found = Small::from_fn(self.readings.len(), x.ncols(), read);
        let finite = found.iter().all(|v| v.re.is_finite() && v.im.is_finite());
        finite.then_some(found)
    }
}

/// Rows over the unknowns of coordinates, positions of outputs and sensors: how often each is
/// differentiated, and what gravity adds where the axes of an accelerometer tilt.
fn readings(
    equations: &Equations<'_>,
    iteration: &Iteration,
    state: &State,
    n: usize,
) -> (Vec<Reading>, usize) {
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let mut all: Vec<Sensed> = (0..equations.n_theta()).map(Sensed::Coordinate).collect();
    for output in 0..equations.model.outputs.len() {
        all.extend(axes.map(|axis| Sensed::Position { output, axis }));
    }
    let sensors = equations.blocks.map_or(&[][..], |run| &run.diagram.sensors);
    all.extend(sensors.iter().map(|sensor| sensor.sensed));
    let ones = Weights {
        mass: 1.0,
        damping: 1.0,
        stiffness: 1.0,
        control: 0.0,
    };
    let project = |row: &[f64]| {
        let mut out = vec![0.0; n];
        iteration.project(equations, row, &mut out);
        out
    };
    let rows = all.iter().map(|sensed| {
        let order = match sensed {
            Sensed::Coordinate(_) | Sensed::Modal(_) | Sensed::Position { .. } => 0,
            Sensed::CoordinateAcceleration(_) | Sensed::Acceleration { .. } => 2,
            _ => 1,
        };
        let row = project(&equations.sensor_row(sensed, state, ones));
        (row, order, project(&tilt(equations, sensed, state)))
    });
    (rows.collect(), sensors.len())
}

/// Axes that turn by δφ show weight from another side: δφ·(Rᵀg × axis).
fn tilt(equations: &Equations<'_>, sensed: &Sensed, state: &State) -> Vec<f64> {
    let mut row = vec![0.0; equations.len()];
    if let Sensed::Acceleration {
        output,
        axis,
        body: true,
        gravity: true,
    } = sensed
    {
        let mount = &equations.model.outputs[*output];
        if let Some(node) = mount.node {
            let frame = mount_frame(mount, &state.frames);
            let weight = frame.rotation.tr_mul(&equations.model.gravity);
            let local = join(&Vector3::zeros(), &weight.cross(axis));
            super::equations::add_to_node(&mut row, node, &mount.frame.carry_force(&local));
        }
    }
    row
}

/// Loops of continuous blocks closed around the mechanism.
fn closed(plant: &Plant<'_>, p: &Small, slopes: Option<&Slopes>, s: Number) -> Option<Small> {
    let w = plant.n_sensors;
    let seen = plant.readings.len() - w;
    let (free, fed) = (plant.n_free, plant.feedback.len());
    let Some(slopes) = slopes else {
        return Some(p.columns(0, free).into_owned());
    };
    let complex = |m: &DMatrix<f64>| m.map(|v| Complex::new(v, 0.0));
    let n = slopes.f_x.nrows();
    let moving = Small::from_diagonal_element(n, n, s) - complex(&slopes.f_x);
    let by = |rate: &DMatrix<f64>, through: &DMatrix<f64>| {
        let x = if n == 0 {
            Small::zeros(0, rate.ncols())
        } else {
            moving.clone().lu().solve(&complex(rate))?
        };
        Some(complex(&slopes.y_x) * x + complex(through))
    };
    // Outputs of blocks by sensors and by what is added to them.
    let (y_w, y_r) = (by(&slopes.f_w, &slopes.y_w)?, by(&slopes.f_y, &slopes.y_y)?);
    let outputs = y_w.nrows();
    // Forces of blocks by sensors and by what is added.
    let mut f_w = Small::zeros(fed, w);
    let mut f_r = Small::zeros(fed, outputs);
    for (i, feedback) in plant.feedback.iter().enumerate() {
        let weight = Complex::new(feedback.term.weight, 0.0);
        match feedback.term.signal.checked_sub(w) {
            None => f_w[(i, feedback.term.signal)] += weight,
            Some(output) => {
                f_w.row_mut(i).copy_from(&(y_w.row(output) * weight));
                f_r.row_mut(i).copy_from(&(y_r.row(output) * weight));
            }
        }
    }
    let of = |first: usize, count: usize, columns: usize, width: usize| {
        p.view((first, columns), (count, width)).into_owned()
    };
    // Sensors by forces on coordinates and by what is added, the loop closed.
    let around = Small::identity(w, w) - of(seen, w, free, fed) * &f_w;
    let mut right = Small::zeros(w, free + outputs);
    right.columns_mut(0, free).copy_from(&of(seen, w, 0, free));
    right
        .columns_mut(free, outputs)
        .copy_from(&(of(seen, w, free, fed) * &f_r));
    let sensed = if w == 0 {
        right
    } else {
        around.lu().solve(&right)?
    };
    let mut force = &f_w * &sensed;
    let mut added = force.columns_mut(free, outputs);
    added += f_r;
    let mut all = Small::zeros(seen + w + outputs, free + outputs);
    let mut top = of(0, seen, free, fed) * force;
    let mut direct = top.columns_mut(0, free);
    direct += of(0, seen, 0, free);
    all.rows_mut(0, seen).copy_from(&top);
    all.rows_mut(seen, w).copy_from(&sensed);
    let mut y = y_w * sensed;
    let mut added = y.columns_mut(free, outputs);
    added += y_r;
    all.rows_mut(seen + w, outputs).copy_from(&y);
    Some(all)
}
