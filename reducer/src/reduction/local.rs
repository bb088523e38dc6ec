//! The exact reduced model at one configuration.

use super::coefficients::{Coefficients, GravityAxis, OutputCoefficients};
use super::default_modes::ModeChoice;
use super::effects::Asked;
use super::inertia::{plus_transpose, reduced_inertia, symmetrised};
use super::rigid::{own_inertia, rigid_coefficients, rigid_gravity};
use super::tracking::Trail;
use super::{ReductionError, checks, damping};
use crate::description::mechanism::{Damping, Gauge, Mechanism, Origin, Stiffening};
use crate::kinematics::{Configuration, Kinematics, Rotation};
use crate::lie::{Frame, Vector6, angular, linear};
use crate::linalg;
use crate::model::rows::{mount_frame, point_row};
use crate::model::{FullModel, Node, Saddle, check_plane};
use crate::modes::{Linearised, LocalModes, ModesError, Reference, SMALLEST_OVERLAP};
use faer::Mat;
use nalgebra::Vector3;

/// Everything that does not change with θ: the full model, its kinematics, the reference shapes.
pub struct LocalReducer {
    kinematics: Kinematics,
    model: FullModel,
    pub(super) saddle: Option<Saddle>,
    pub(super) locked: Option<Saddle>,
    reference: Reference,
    mode_choice: Option<ModeChoice>,
    gauge: Gauge,
    pub(super) asked: Asked,
    damping: Damping,
    pub(super) rotor_inertia: Vec<f64>,
    viscous: Vec<f64>,
    coulomb: Vec<f64>,
    home_potential: f64,
    /// First moment of the masses at home, where gravity stays free.
    home_moment: Option<Vector3<f64>>,
    pub(super) reference_theta: Vec<f64>,
    /// Width of the domain per coordinate; 1 where unbounded.
    pub(super) widths: Vec<f64>,
    pub(super) trail: Trail,
    pub(super) origin: Origin,
}

impl LocalReducer {
    /// Builds the full model, assembles it and finds the reference shapes.
    pub fn new(mechanism: &Mechanism) -> Result<Self, ReductionError> {
        linalg::use_one_thread();
        check_plane(mechanism)?;
        let kinematics = Kinematics::new(mechanism)?;
        let home = kinematics.solve(kinematics.home())?;
        let elsewhere = || {
            let probes = kinematics.probes().into_iter();
            probes
                .filter_map(|theta| Some((theta.clone(), kinematics.solve(&theta).ok()?.frames)))
                .collect()
        };
        let length = kinematics.characteristic_length();
        let model = FullModel::new(mechanism, &home.frames, length, elsewhere)?;
        let frames = model.node_frames(&home.frames);
        let springs = model.spring_states(&frames, &home.hinge_angles);
        let saddle_for = |with_loaded: bool| -> Result<Option<Saddle>, ReductionError> {
            if !model.is_flexible() {
                return Ok(None);
            }
            let rows = model.constraint_rows(&frames, with_loaded);
            let saddle =
                Saddle::new(&model, &rows, &springs).map_err(|fault| ReductionError::Modes {
                    theta: home.theta.clone(),
                    fault: fault.into(),
                    origin: mechanism.reduction.origin.clone(),
                })?;
            Ok(Some(saddle))
        };
        let (saddle, locked) = (saddle_for(true)?, saddle_for(false)?);
        if saddle.is_none() && checks::wants_elastic_modes(mechanism) {
            return Err(ReductionError::NothingFlexible {
                origin: mechanism.reduction.origin.clone(),
            });
        }
        let mut reducer = Self {
            reference: Reference::empty(model.n_motion()),
            mode_choice: None,
            asked: Asked::new(mechanism, kinematics.probes()),
            kinematics,
            saddle,
            locked,
            gauge: mechanism.reduction.gauge,
            damping: mechanism.damping,
            rotor_inertia: mechanism
                .coordinates
                .iter()
                .map(|c| c.rotor_inertia)
                .collect(),
            viscous: mechanism.coordinates.iter().map(|c| c.viscous).collect(),
            coulomb: mechanism.coordinates.iter().map(|c| c.coulomb).collect(),
            home_potential: 0.0,
            home_moment: mechanism
                .gravity_at_runtime
                .then(|| model.first_moment(&home.frames)),
            reference_theta: home.theta.clone(),
            widths: mechanism
                .coordinates
                .iter()
                .map(|c| {
                    let width = c.upper - c.lower;
                    if width.is_finite() && width > 0.0 {
                        width
                    } else {
                        1.0
                    }
                })
                .collect(),
            trail: Trail::default(),
            origin: mechanism.reduction.origin.clone(),
            model,
        };
        reducer.home_potential = reducer.potential(&home);
        reducer.refuse_moments(mechanism)?;
        reducer.refuse_massless(mechanism, &home)?;
        reducer.refuse_free_modes(mechanism, &home)?;
        reducer.refuse_held_loads(mechanism, &home)?;
        if reducer.saddle.is_some() {
            let at = match &mechanism.reduction.reference {
                Some(theta) => reducer.kinematics.solve(theta)?,
                None => home,
            };
            let selection = match &mechanism.reduction.internal {
                Some(selection) => selection.clone(),
                None => {
                    let choice = reducer.default_modes(mechanism, &at)?;
                    let selection = choice.selection();
                    reducer.mode_choice = Some(choice);
                    selection
                }
            };
            let linearised = reducer.linearise(&at)?;
            let reference = Reference::select(&linearised, &selection)
                .map_err(|fault| reducer.fault(&at.theta, fault))?;
            drop(linearised);
            reducer.reference_theta = at.theta;
            reducer.reference = reference;
        }
        Ok(reducer)
    }

    /// The kinematics.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    /// The full model.
    pub fn model(&self) -> &FullModel {
        &self.model
    }

    /// The reference shapes of the gauge.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Which internal modes were chosen and why, where the file leaves it open.
    pub fn mode_choice(&self) -> Option<&ModeChoice> {
        self.mode_choice.as_ref()
    }

    /// The gauge of the internal modes.
    pub fn gauge(&self) -> Gauge {
        self.gauge
    }

    /// Structural damping.
    pub fn damping(&self) -> Damping {
        self.damping
    }

    /// Inertia added on each coordinate of θ.
    pub fn rotor_inertia(&self) -> &[f64] {
        &self.rotor_inertia
    }

    /// Viscous friction on each coordinate of θ.
    pub fn viscous(&self) -> &[f64] {
        &self.viscous
    }

    /// Coulomb friction on each coordinate of θ.
    pub fn coulomb(&self) -> &[f64] {
        &self.coulomb
    }

    /// Whether gravity is given at run time.
    pub(super) fn gravity_is_free(&self) -> bool {
        self.home_moment.is_some()
    }

    /// Number of actuated coordinates.
    pub fn n_rigid(&self) -> usize {
        self.model.drives.len()
    }

    /// Number of generalised coordinates.
    pub fn n(&self) -> usize {
        self.n_rigid() + self.model.loaded.len() + self.reference.shapes.ncols()
    }

    /// Names of the generalised coordinates in the order θ, γ, ι.
    pub fn coordinate_names(&self, mechanism: &Mechanism) -> Vec<String> {
        let rigid = mechanism.coordinates.iter().map(|c| c.name.clone());
        let loaded = mechanism.loaded.iter().map(|l| l.name.clone());
        let internal = (1..=self.reference.shapes.ncols()).map(|i| format!("internal_{i}"));
        rigid.chain(loaded).chain(internal).collect()
    }

    /// The model linearised at a configuration, loaded dofs held.
    pub fn linearise(
        &self,
        configuration: &Configuration,
    ) -> Result<Linearised<'_>, ReductionError> {
        Linearised::new(&self.model, configuration, self.saddle.as_ref(), true)
            .map_err(|fault| self.fault(&configuration.theta, fault))
    }

    pub(super) fn fault(&self, theta: &[f64], fault: impl Into<ModesError>) -> ReductionError {
        ReductionError::Modes {
            theta: theta.to_vec(),
            fault: fault.into(),
            origin: self.origin.clone(),
        }
    }

    /// Local modes at a configuration.
    pub fn modes(&self, at: &Linearised<'_>) -> Result<LocalModes, ReductionError> {
        if self.n() == self.n_rigid() {
            return Ok(LocalModes::rigid(at));
        }
        let modes = match self.gauge {
            Gauge::Track => {
                let reference = self.tracked_reference(&at.theta)?;
                LocalModes::new(at, &reference, self.gauge)
            }
            Gauge::Filtered { .. } | Gauge::Subspace => {
                LocalModes::new(at, &self.reference, self.gauge)
            }
        };
        let modes = modes.map_err(|fault| self.fault(&at.theta, fault))?;
        if modes.overlap < SMALLEST_OVERLAP {
            let overlap = modes.overlap;
            return Err(self.fault(&at.theta, ModesError::GaugeLost { overlap }));
        }
        Ok(modes)
    }

    /// Coefficients at θ.
    pub fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, ReductionError> {
        self.evaluate_with(theta, self.stiffening())
    }

    /// Coefficients at θ with what changes the stiffness.
    pub(super) fn evaluate_with(
        &self,
        theta: &[f64],
        stiffening: Stiffening,
    ) -> Result<Coefficients, ReductionError> {
        let configuration = self.kinematics.solve(theta)?;
        if self.is_plainly_rigid() {
            return self.finite(self.rigid(&configuration));
        }
        self.on_mesh(&configuration, stiffening)
    }

    /// Coefficients from the full model; for rigid mechanisms a second route to the same numbers.
    pub fn evaluate_on_mesh(
        &self,
        configuration: &Configuration,
    ) -> Result<Coefficients, ReductionError> {
        self.on_mesh(configuration, self.stiffening())
    }

    fn on_mesh(
        &self,
        configuration: &Configuration,
        stiffening: Stiffening,
    ) -> Result<Coefficients, ReductionError> {
        let at = self.linearise(configuration)?;
        let modes = self.modes(&at)?;
        let mut found = self.coefficients(configuration, &at, &modes);
        if stiffening != Stiffening::None {
            let with_motion = stiffening == Stiffening::All;
            self.stiffen(configuration, &at, &modes, with_motion, &mut found)?;
        }
        self.finite(found)
    }

    /// Inertia that every θ moves by itself, with its rotor: of a rigid tree all of whose joints are actuated. It
    /// does not depend on θ, and is a lower bound of the articulated inertia [M 9.5].
    pub fn own_inertia(&self) -> Option<Vec<f64>> {
        if !self.is_plainly_rigid() || !self.kinematics.is_tree() {
            return None;
        }
        let home = self.kinematics.solve(self.kinematics.home()).ok()?;
        let mut own = own_inertia(&self.model, &home);
        own.iter_mut()
            .zip(&self.rotor_inertia)
            .for_each(|(own, rotor)| *own += rotor);
        own.iter().all(|own| *own > 0.0).then_some(own)
    }

    /// Only rigid modes, and no forces but gravity and friction of actuators.
    fn is_plainly_rigid(&self) -> bool {
        self.n() == self.n_rigid() && self.model.springs.is_empty() && self.model.loads.is_empty()
    }

    fn rigid(&self, configuration: &Configuration) -> Coefficients {
        let s = self.n_rigid();
        let mut found = rigid_coefficients(&self.model, configuration);
        let gravity = rigid_gravity(&self.model, configuration, &self.model.gravity);
        let gravity_axes = self.gravity_axes(configuration, |axis| {
            let pull = rigid_gravity(&self.model, configuration, axis);
            (pull.force, pull.gradient)
        });
        let mut damping = vec![0.0; s * s];
        for k in 0..s {
            found.mass[(k, k)] += self.rotor_inertia[k];
            damping[k * s + k] = self.viscous[k];
        }
        let outputs = self.model.outputs.iter().map(|mount| {
            let Some(node) = mount.node else {
                return self.output(&mount.frame, s, |_| Vector6::zeros());
            };
            let Node { body, local, .. } = &self.model.nodes[node];
            let in_body = local.compose(&mount.frame);
            let frame = configuration.frames[*body].compose(&in_body);
            self.output(&frame, s, |j| {
                in_body.pull_back(configuration.motion.velocity(*body, j))
            })
        });
        Coefficients {
            theta: configuration.theta.clone(),
            mass: row_major(&found.mass),
            mass_gradient: found.gradient.iter().map(row_major).collect(),
            stiffness: vec![0.0; s * s],
            stiffness_gradient: vec![vec![0.0; s * s]; s],
            damping,
            potential: self.model.gravity_potential(&configuration.frames) - self.home_potential,
            force: gravity.force.clone(),
            force_gradient: gravity.gradient,
            gravity: gravity.force,
            gravity_axes,
            outputs: outputs.collect(),
            gauge_overlap: 1.0,
            waypoints: configuration.waypoints,
            ..Coefficients::default()
        }
    }

    /// Gravity along each inertial axis where it stays free; `pull` gives force and gradient of a
    /// uniform field.
    fn gravity_axes(
        &self,
        configuration: &Configuration,
        pull: impl Fn(&Vector3<f64>) -> (Vec<f64>, Vec<Vec<f64>>),
    ) -> Vec<GravityAxis> {
        let Some(home) = &self.home_moment else {
            return Vec::new();
        };
        let moment = self.model.first_moment(&configuration.frames);
        (0..3)
            .map(|axis| {
                let mut unit = Vector3::zeros();
                unit[axis] = 1.0;
                let (force, force_gradient) = pull(&unit);
                GravityAxis {
                    potential: home[axis] - moment[axis],
                    force,
                    force_gradient,
                    stiffness: Vec::new(),
                    stiffness_gradient: Vec::new(),
                }
            })
            .collect()
    }

    /// Potential of gravity, springs and constant loads of the undeformed mechanism.
    fn potential(&self, configuration: &Configuration) -> f64 {
        let frames = self.model.node_frames(&configuration.frames);
        let springs: f64 = self
            .model
            .spring_states(&frames, &configuration.hinge_angles)
            .iter()
            .map(|s| s.energy)
            .sum();
        let moments: f64 = self
            .model
            .loads
            .iter()
            .filter_map(|load| {
                let body = self.model.nodes[load.at.node?].body;
                match self.kinematics.rotation(body) {
                    Rotation::About(axis) => {
                        Some(-load.moment.dot(&axis) * configuration.turns[body])
                    }
                    Rotation::None | Rotation::Free => None,
                }
            })
            .sum();
        self.model.gravity_potential(&configuration.frames)
            + self.model.load_potential(&frames)
            + moments
            + springs
    }

    fn coefficients(
        &self,
        configuration: &Configuration,
        at: &Linearised<'_>,
        modes: &LocalModes,
    ) -> Coefficients {
        let s = self.n_rigid();
        let mut inertia = reduced_inertia(at, modes);
        for (k, rotor) in self.rotor_inertia.iter().enumerate() {
            inertia.mass[(k, k)] += rotor;
        }
        let (stiffness, stiffness_gradient) = self.stiffness(at, modes);
        let damping = self.damping_matrix(at, modes, &inertia.mass, &stiffness);
        let gravity_force = self.model.mass_times(&self.model.gravity_field(&at.frames));
        let gravity = modes.shapes.transpose() * &gravity_force;
        let force_field = &gravity_force + &at.applied_forces();
        let force = modes.shapes.transpose() * &force_field;
        let field_rate = |field: &Vector3<f64>, l: usize| {
            let moved = self
                .model
                .uniform_field_rate(field, &at.frames, &at.velocities[l]);
            self.model.mass_times(&moved)
        };
        // Derivative along θ_l of what a field of forces with the given rate does to the modes.
        let gradient = |l: usize, forces: &Mat<f64>, rate: &Mat<f64>| {
            column(&(modes.derivatives[l].transpose() * forces + modes.shapes.transpose() * rate))
        };
        let force_gradient = (0..s)
            .map(|l| {
                let rate = &field_rate(&self.model.gravity, l) + &at.applied_forces_rate(l);
                gradient(l, &force_field, &rate)
            })
            .collect();
        let gravity_axes = self.gravity_axes(configuration, |axis| {
            let pull = self.model.uniform_field(axis, &at.frames);
            let pull = self.model.mass_times(&pull);
            let slope = |l| gradient(l, &pull, &field_rate(axis, l));
            let force = column(&(modes.shapes.transpose() * &pull));
            (force, (0..s).map(slope).collect())
        });
        Coefficients {
            theta: configuration.theta.clone(),
            mass: row_major(&inertia.mass),
            mass_gradient: inertia.gradient.iter().map(row_major).collect(),
            stiffness: row_major(&stiffness),
            stiffness_gradient: stiffness_gradient.iter().map(row_major).collect(),
            damping: row_major(&damping),
            potential: self.potential(configuration) - self.home_potential,
            force: column(&force),
            force_gradient,
            gravity: column(&gravity),
            gravity_axes,
            outputs: self.outputs(at, modes),
            load_map: self.load_map(at, modes),
            gauge_overlap: modes.overlap,
            waypoints: configuration.waypoints,
            ..Coefficients::default()
        }
    }

    /// K̄ and ∂K̄/∂θ_l; rows and columns of θ are zero, springs on θ live in the potential.
    pub(super) fn stiffness(
        &self,
        at: &Linearised<'_>,
        modes: &LocalModes,
    ) -> (Mat<f64>, Vec<Mat<f64>>) {
        let s = self.n_rigid();
        let image = at.stiffness_times(&modes.shapes);
        let elastic = |m: Mat<f64>| {
            Mat::from_fn(m.nrows(), m.ncols(), |i, j| {
                if i < s || j < s { 0.0 } else { m[(i, j)] }
            })
        };
        let gradient = (0..s)
            .map(|l| {
                let mut rate = Mat::zeros(image.nrows(), image.ncols());
                at.add_stiffness_rate(l, &modes.shapes, 1.0, &mut rate);
                let change = plus_transpose(&(modes.derivatives[l].transpose() * &image))
                    + symmetrised(&(modes.shapes.transpose() * &rate));
                elastic(change)
            })
            .collect();
        (
            elastic(symmetrised(&(modes.shapes.transpose() * &image))),
            gradient,
        )
    }

    fn damping_matrix(
        &self,
        at: &Linearised<'_>,
        modes: &LocalModes,
        mass: &Mat<f64>,
        stiffness: &Mat<f64>,
    ) -> Mat<f64> {
        let s = self.n_rigid();
        let mut forces = Mat::zeros(modes.shapes.nrows(), modes.shapes.ncols());
        self.model
            .add_damping(&at.springs, &modes.shapes, &mut forces);
        let mut out = symmetrised(&(modes.shapes.transpose() * &forces));
        for (k, viscous) in self.viscous.iter().enumerate() {
            out[(k, k)] += viscous;
        }
        let n = mass.nrows();
        let block = |m: &Mat<f64>| Mat::from_fn(n - s, n - s, |i, j| m[(s + i, s + j)]);
        let structural = damping::structural(self.damping, &block(mass), &block(stiffness));
        for i in 0..n - s {
            for j in 0..n - s {
                out[(s + i, s + j)] += structural[(i, j)];
            }
        }
        out
    }

    fn outputs(&self, at: &Linearised<'_>, modes: &LocalModes) -> Vec<OutputCoefficients> {
        let n = modes.shapes.ncols();
        self.model
            .outputs
            .iter()
            .map(|mount| {
                let frame = mount_frame(mount, &at.frames);
                self.output(&frame, n, |j| match mount.node {
                    Some(node) => {
                        let motion = Vector6::from_fn(|i, _| modes.shapes[(6 * node + i, j)]);
                        mount.frame.pull_back(&motion)
                    }
                    None => Vector6::zeros(),
                })
            })
            .collect()
    }

    /// An output frame whose velocity in its own axes is `motion(j)` per generalised velocity j.
    fn output(
        &self,
        frame: &Frame,
        n: usize,
        motion: impl Fn(usize) -> Vector6,
    ) -> OutputCoefficients {
        let mut jacobian = vec![0.0; 6 * n];
        for j in 0..n {
            let own = motion(j);
            let v = frame.rotation * linear(&own);
            let w = frame.rotation * angular(&own);
            for i in 0..3 {
                jacobian[i * n + j] = v[i];
                jacobian[(3 + i) * n + j] = w[i];
            }
        }
        let r = &frame.rotation;
        OutputCoefficients {
            position: frame.position.into(),
            rotation: std::array::from_fn(|i| r[(i / 3, i % 3)]),
            jacobian,
            curvature: Vec::new(),
        }
    }

    fn load_map(&self, at: &Linearised<'_>, modes: &LocalModes) -> Vec<Vec<f64>> {
        self.model
            .loaded
            .iter()
            .map(|loaded| {
                let frame = mount_frame(&loaded.at, &at.frames);
                let row = point_row(&loaded.at, &frame, &loaded.direction);
                (0..modes.shapes.ncols())
                    .map(|j| match loaded.at.node {
                        Some(node) => (0..6)
                            .map(|i| row[i] * modes.shapes[(6 * node + i, j)])
                            .sum(),
                        None => 0.0,
                    })
                    .collect()
            })
            .collect()
    }
}

pub(super) fn row_major(m: &Mat<f64>) -> Vec<f64> {
    (0..m.nrows())
        .flat_map(|i| (0..m.ncols()).map(move |j| m[(i, j)]))
        .collect()
}

fn column(m: &Mat<f64>) -> Vec<f64> {
    m.col_as_slice(0).to_vec()
}
