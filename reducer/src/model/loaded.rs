//! The full model at rest relative to a prescribed motion of its actuators: equilibrium under
//! gravity, loads, springs and inertia forces, and the equations linearised about it [M 14.12].

use super::constrained::{ConstrainedFactor, Entries};
use super::dofs::DofMap;
use super::rows::{ConstraintRows, mount_frame};
use super::{Equilibrium, FullModel, PlacedElement, SpringState, StaticsError};
use crate::lie::{
    Frame, Matrix6, Vector6, adjoint_algebra, angular, coadjoint, join, linear, skew,
};
use crate::model::beam::motion::coadjoint_by_motion;
use faer::Mat;
use nalgebra::{DVector, Vector3};

/// A prescribed motion of the actuators at one instant.
#[derive(Debug, Clone, Copy)]
pub struct ActuatorMotion<'a> {
    /// Rates of θ.
    pub rate: &'a [f64],
    /// Accelerations of θ.
    pub acceleration: &'a [f64],
}

/// The model at rest relative to the motion of its actuators.
#[derive(Debug, Clone)]
pub struct LoadedState {
    /// Frames, deflections of flexible actuators and multipliers.
    pub equilibrium: Equilibrium,
    /// Velocities of the nodes, their own axes.
    pub velocities: Vec<Vector6>,
    /// Rates of these.
    pub accelerations: Vec<Vector6>,
    /// Rates of scalar dofs.
    pub scalar_rates: Vec<f64>,
    /// Rates of these.
    pub scalar_accelerations: Vec<f64>,
    /// Nothing changes in node axes while the actuators move on: a true steady state.
    pub steady: bool,
    hinge_angles: Vec<f64>,
}

/// M·δ̈ + G·δ̇ + K·δ + Cᵀλ = 0, C·δ = 0 about a loaded state.
pub struct LoadedOperators {
    /// Mass.
    pub mass: Entries,
    /// Coriolis and gyroscopic terms.
    pub gyroscopic: Entries,
    /// Tangent stiffness: elastic, of loads, of multipliers and of inertia forces.
    pub stiffness: Entries,
    /// Its factors.
    pub factor: ConstrainedFactor,
    /// Stiffness of material and springs alone: definite.
    pub elastic: Entries,
    /// Its factors.
    pub elastic_factor: ConstrainedFactor,
    /// Number of unknowns.
    pub n: usize,
}

/// Smallest part of the load that is tried as one step.
const SHORTEST_STEP: f64 = 1.0 / 1024.0;
const ITERATIONS: usize = 40;

impl FullModel {
    /// Equilibrium relative to a motion of the actuators, held at θ as in `start`.
    ///
    /// Gravity, loads, tensions of springs and inertia forces grow together, in steps that are halved
    /// where Newton's method fails. Nodes follow the actuators without storing elastic energy as far
    /// as joints allow.
    pub fn loaded_state(
        &self,
        start: &[Frame],
        hinge_angles: &[f64],
        motion: ActuatorMotion<'_>,
    ) -> Result<LoadedState, StaticsError> {
        let held: Vec<f64> = (self.drives.iter())
            .map(|drive| self.coordinate_value(drive, start, 0.0))
            .collect();
        let rows = self.constraint_rows(start, false);
        let zero = vec![Vector6::zeros(); self.nodes.len()];
        let mut state = LoadedState {
            equilibrium: Equilibrium {
                frames: start.to_vec(),
                scalars: vec![0.0; self.scalars.len()],
                multipliers: vec![0.0; rows.n_rows],
                iterations: 0,
            },
            velocities: zero.clone(),
            accelerations: zero,
            scalar_rates: vec![0.0; self.scalars.len()],
            scalar_accelerations: vec![0.0; self.scalars.len()],
            steady: false,
            hinge_angles: hinge_angles.to_vec(),
        };
        let (mut done, mut step) = (0.0, 1.0);
        while done < 1.0 {
            let load = if done + step >= 1.0 { 1.0 } else { done + step };
            match self.follow(&state, &held, motion, load) {
                Ok(next) => {
                    state = next;
                    done = load;
                    step *= 1.5;
                }
                Err(error) => {
                    step *= 0.5;
                    if step < SHORTEST_STEP {
                        return Err(error);
                    }
                }
            }
        }
        state.steady = self.is_steady(&state);
        Ok(state)
    }

    fn follow(
        &self,
        from: &LoadedState,
        held: &[f64],
        motion: ActuatorMotion<'_>,
        load: f64,
    ) -> Result<LoadedState, StaticsError> {
        let map = self.dof_map();
        let singular = || StaticsError::Singular { load: 100.0 * load };
        let mut state = from.clone();
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let rows = self.constraint_rows(&state.equilibrium.frames, false);
            self.set_motion(&map, &rows, &mut state, motion, load)
                .ok_or_else(singular)?;
            let stiffness = self.stiffness_entries(&map, &state, load);
            let factor = ConstrainedFactor::new(&stiffness, &rows, &map).ok_or_else(singular)?;
            let forces = self.unbalanced(&map, &rows, &state, load);
            let gaps = self.constraint_residuals(&state.equilibrium, held);
            let gaps = Mat::from_fn(gaps.len(), 1, |r, _| -gaps[r]);
            let (x, lambda) = factor.solve(&forces, Some(&gaps)).ok_or_else(singular)?;
            let size = x.norm_max() / self.length;
            if size > 0.5 {
                return Err(StaticsError::NotConverged {
                    load: 100.0 * load,
                    update: size,
                });
            }
            self.advance(&map, &mut state.equilibrium, &x, &lambda);
            if size < 1e-13 || (size < 1e-9 && size >= 0.5 * last) {
                return Ok(state);
            }
            last = size;
        }
        Err(StaticsError::NotConverged {
            load: 100.0 * load,
            update: last,
        })
    }

    fn advance(&self, map: &DofMap, at: &mut Equilibrium, x: &Mat<f64>, lambda: &Mat<f64>) {
        let y = x.col_as_slice(0);
        for (node, frame) in at.frames.iter_mut().enumerate() {
            *frame = frame.compose(&crate::lie::exp(&map.expand(node, y)));
        }
        for (i, scalar) in at.scalars.iter_mut().enumerate() {
            *scalar += y[map.first_scalar() + i];
        }
        for (r, multiplier) in at.multipliers.iter_mut().enumerate() {
            *multiplier += lambda[(r, 0)];
        }
        at.iterations += 1;
    }

    /// Velocities and accelerations that follow the actuators; inertia forces are `load` times those
    /// of the full motion.
    fn set_motion(
        &self,
        map: &DofMap,
        rows: &ConstraintRows,
        state: &mut LoadedState,
        motion: ActuatorMotion<'_>,
        load: f64,
    ) -> Option<()> {
        if motion
            .rate
            .iter()
            .chain(motion.acceleration)
            .all(|v| *v == 0.0)
        {
            return Some(());
        }
        let factor = ConstrainedFactor::new(&self.elastic_entries(map, state), rows, map)?;
        let zero = Mat::zeros(map.len(), 1);
        let prescribed = |values: &[f64], factor: f64| {
            let mut g = Mat::zeros(rows.n_rows, 1);
            for (k, value) in values.iter().enumerate() {
                g[(self.n_joint_rows + k, 0)] = value * factor;
            }
            g
        };
        let nodes = |x: &Mat<f64>| -> Vec<Vector6> {
            (0..self.nodes.len())
                .map(|node| map.expand(node, x.col_as_slice(0)))
                .collect()
        };
        let scalars = |x: &Mat<f64>| x.col_as_slice(0)[map.first_scalar()..].to_vec();
        let rates = prescribed(motion.rate, load.sqrt());
        let found = factor.solve(&zero, Some(&rates))?.0;
        (state.velocities, state.scalar_rates) = (nodes(&found), scalars(&found));
        let mut second = prescribed(motion.acceleration, load);
        let frames = &state.equilibrium.frames;
        let changes = self.constraint_rates(frames, &state.velocities, false);
        for entry in &changes.entries {
            second[(entry.row, 0)] -= entry.values.dot(&state.velocities[entry.node]);
        }
        let found = factor.solve(&zero, Some(&second))?.0;
        (state.accelerations, state.scalar_accelerations) = (nodes(&found), scalars(&found));
        Some(())
    }

    fn springs_of(&self, state: &LoadedState) -> Vec<SpringState> {
        self.spring_states(&state.equilibrium.frames, &state.hinge_angles)
    }

    /// Gravity at a node, its own axes.
    fn gravity_at(&self, frame: &Frame, load: f64) -> Vector3<f64> {
        frame.rotation.tr_mul(&self.gravity) * load
    }

    /// Velocities, and accelerations less gravity, of an element.
    fn local_motion(
        &self,
        placed: &PlacedElement,
        state: &LoadedState,
        load: f64,
    ) -> (DVector<f64>, DVector<f64>) {
        let frames = &state.equilibrium.frames;
        let rates = |node: usize| {
            let gravity = self.gravity_at(&frames[node], load);
            state.accelerations[node] - join(&gravity, &Vector3::zeros())
        };
        (
            placed.of_nodes(|node| state.velocities[node], &state.scalar_rates),
            placed.of_nodes(rates, &state.scalar_accelerations),
        )
    }

    /// Forces that remain, with the sign of a right-hand side.
    fn unbalanced(
        &self,
        map: &DofMap,
        rows: &ConstraintRows,
        state: &LoadedState,
        load: f64,
    ) -> Mat<f64> {
        let frames = &state.equilibrium.frames;
        let mut out = Mat::<f64>::zeros(self.n_motion(), 1);
        let mut add = |node: usize, force: &Vector6| {
            for i in 0..6 {
                out[(6 * node + i, 0)] += force[i];
            }
        };
        let rates = |node: usize| {
            let gravity = self.gravity_at(&frames[node], load);
            state.accelerations[node] - join(&gravity, &Vector3::zeros())
        };
        for (node, mass) in &self.masses {
            let v = &state.velocities[*node];
            add(*node, &(coadjoint(v, &(mass * v)) - mass * rates(*node)));
        }
        for spring in self.springs_of(state) {
            for entry in &spring.row.entries {
                add(entry.node, &(entry.values * (-spring.tension * load)));
            }
        }
        for placed in &self.placed {
            let element = self.element(placed);
            let d = self.deformation(placed, frames, &state.equilibrium.scalars);
            let (v, rates) = self.local_motion(placed, state, load);
            let force = element.inertia_forces(&d, &v, &rates) + element.stress_forces(&d);
            placed.scatter(&-force, out.col_as_slice_mut(0));
        }
        for (i, (stiffness, _)) in self.scalars.iter().enumerate() {
            out[(6 * self.nodes.len() + i, 0)] -= stiffness * state.equilibrium.scalars[i];
        }
        let mut loads = Mat::zeros(self.n_motion(), 1);
        self.add_loads(frames, &mut loads);
        for i in 0..out.nrows() {
            out[(i, 0)] += load * loads[(i, 0)];
        }
        let lambda = Mat::from_fn(rows.n_rows, 1, |r, _| state.equilibrium.multipliers[r]);
        rows.apply_transposed(self.nodes.len(), &lambda, -1.0, &mut out);
        let mut projected = Mat::zeros(map.len(), 1);
        for node in 0..self.nodes.len() {
            let force = Vector6::from_fn(|i, _| out[(6 * node + i, 0)]);
            for (dof, value) in map.project(node, &force) {
                projected[(dof, 0)] = value;
            }
        }
        for i in 0..self.scalars.len() {
            projected[(map.first_scalar() + i, 0)] = out[(6 * self.nodes.len() + i, 0)];
        }
        projected
    }

    /// Stiffness of material, flexible actuators and springs at a deformed state.
    fn elastic_entries(&self, map: &DofMap, state: &LoadedState) -> Entries {
        let frames = &state.equilibrium.frames;
        let mut out = Entries::default();
        for placed in &self.placed {
            let d = self.deformation(placed, frames, &state.equilibrium.scalars);
            let stiffness = self.element(placed).material_stiffness(&d);
            out.push_element(map, placed, &stiffness);
        }
        self.push_scalars(map, &mut out);
        self.push_springs(map, state, 1.0, 0.0, &mut out);
        out
    }

    fn push_scalars(&self, map: &DofMap, out: &mut Entries) {
        for (i, (stiffness, _)) in self.scalars.iter().enumerate() {
            let dof = map.first_scalar() + i;
            out.push(dof, dof, *stiffness);
        }
    }

    /// Springs: `along` times stiffness along their rows, `across` times tension by the rows' change.
    fn push_springs(
        &self,
        map: &DofMap,
        state: &LoadedState,
        along: f64,
        across: f64,
        out: &mut Entries,
    ) {
        let frames = &state.equilibrium.frames;
        let mut velocities = vec![Vector6::zeros(); self.nodes.len()];
        for (spring, now) in self.springs.iter().zip(self.springs_of(state)) {
            let mut flat = Vec::new();
            map.each_row_entry(&now.row, |_, dof, value| flat.push((dof, value)));
            for &(i, a) in &flat {
                for &(j, b) in &flat {
                    out.push(i, j, along * now.stiffness * a * b);
                }
            }
            if across == 0.0 || now.tension == 0.0 {
                continue;
            }
            for node in [spring.drive.a.node, spring.drive.b.node]
                .into_iter()
                .flatten()
            {
                for dof in map.range(node) {
                    velocities[node] = map.unit(node, dof);
                    let rates = self.coordinate_entries(&spring.drive, frames, Some(&velocities));
                    for entry in &rates.entries {
                        for (i, value) in map.project(entry.node, &entry.values) {
                            out.push(i, dof, across * now.tension * value);
                        }
                    }
                }
                velocities[node] = Vector6::zeros();
            }
        }
    }

    /// The tangent stiffness: how what must balance changes with the nodes' positions while they
    /// keep following the actuators.
    fn stiffness_entries(&self, map: &DofMap, state: &LoadedState, load: f64) -> Entries {
        let frames = &state.equilibrium.frames;
        let mut out = Entries::default();
        // Acceleration less gravity changes with the rotation of the node by this.
        let turned = |node: usize| {
            let mut m = adjoint_algebra(&state.accelerations[node]);
            let mut block = m.fixed_view_mut::<3, 3>(0, 3);
            block -= skew(&self.gravity_at(&frames[node], load));
            m
        };
        for (node, mass) in &self.masses {
            let v = &state.velocities[*node];
            let gyroscopic = node_gyroscopic(mass, v);
            let block = mass * turned(*node) + gyroscopic * adjoint_algebra(v);
            out.push_block(map, *node, *node, &block);
        }
        for placed in &self.placed {
            let element = self.element(placed);
            let d = self.deformation(placed, frames, &state.equilibrium.scalars);
            let (v, rates) = self.local_motion(placed, state, load);
            let tangent = element.inertia_tangent(&d, &v);
            let spin = placed.on_nodes(|node| adjoint_algebra(&state.velocities[node]));
            let block = element.elastic_forces(&d).1
                + tangent.mass * placed.on_nodes(turned)
                + tangent.gyroscopic * spin
                + element.inertia_by_motion(&d, &v, &rates);
            out.push_element(map, placed, &block);
        }
        self.push_scalars(map, &mut out);
        self.push_springs(map, state, load, load, &mut out);
        for point in &self.loads {
            let Some(node) = point.at.node else { continue };
            let frame = mount_frame(&point.at, frames);
            let (f, m) = (
                frame.rotation.tr_mul(&point.force),
                frame.rotation.tr_mul(&point.moment),
            );
            let mut block = Matrix6::zeros();
            for j in 0..6 {
                let spin = angular(&point.at.frame.pull_back(&Vector6::ith(j, 1.0)));
                let rate = join(&f.cross(&spin), &m.cross(&spin));
                block.set_column(j, &(-point.at.frame.carry_force(&rate) * load));
            }
            out.push_block(map, node, node, &block);
        }
        self.each_constraint_stiffness(map, &state.equilibrium, |i, j, v| out.push(i, j, v));
        out
    }

    /// The equations linearised about a loaded state; none where the stiffness is singular.
    pub fn loaded_operators(&self, state: &LoadedState) -> Option<LoadedOperators> {
        let map = self.dof_map();
        let frames = &state.equilibrium.frames;
        let rows = self.constraint_rows(frames, false);
        let (mut mass, mut gyroscopic) = (Entries::default(), Entries::default());
        for (node, own) in &self.masses {
            let v = &state.velocities[*node];
            mass.push_block(&map, *node, *node, own);
            let block = own * adjoint_algebra(v) + node_gyroscopic(own, v);
            gyroscopic.push_block(&map, *node, *node, &block);
        }
        for placed in &self.placed {
            let d = self.deformation(placed, frames, &state.equilibrium.scalars);
            let (v, _) = self.local_motion(placed, state, 1.0);
            let tangent = self.element(placed).inertia_tangent(&d, &v);
            mass.push_element(&map, placed, &tangent.mass);
            let spin = placed.on_nodes(|node| adjoint_algebra(&state.velocities[node]));
            let block = tangent.mass * spin + tangent.gyroscopic;
            gyroscopic.push_element(&map, placed, &block);
        }
        let stiffness = self.stiffness_entries(&map, state, 1.0);
        let elastic = self.elastic_entries(&map, state);
        Some(LoadedOperators {
            factor: ConstrainedFactor::new(&stiffness, &rows, &map)?,
            elastic_factor: ConstrainedFactor::new(&elastic, &rows, &map)?,
            n: map.len(),
            mass,
            gyroscopic,
            stiffness,
            elastic,
        })
    }

    /// Whether all that the linearised equations are made of stays as it is while time goes on.
    fn is_steady(&self, state: &LoadedState) -> bool {
        let (v, a) = (&state.velocities, &state.accelerations);
        let speed = (v.iter()).fold(0.0_f64, |m, v| {
            m.max(linear(v).amax() / self.length).max(angular(v).amax())
        });
        let push = (a.iter()).fold(0.0_f64, |m, a| {
            m.max(linear(a).amax() / self.length).max(angular(a).amax())
        });
        let spin = v.iter().fold(0.0_f64, |m, v| m.max(angular(v).amax()));
        let twist = a.iter().fold(0.0_f64, |m, a| m.max(angular(a).amax()));
        let small = |value: f64, of: f64| value <= 1e-9 * of;
        // A uniform acceleration without rotation changes nothing that can be felt.
        let pushed = small(push, speed * speed)
            || (small(spin * spin, push) && small(twist, push) && small(spin, speed.max(1e-300)));
        if !pushed {
            return false;
        }
        if speed == 0.0 {
            return true;
        }
        let frames = &state.equilibrium.frames;
        let rows = self.constraint_rows(frames, false);
        let size = |rows: &ConstraintRows| {
            (rows.entries.iter()).fold(0.0_f64, |m, e| {
                m.max(linear(&e.values).amax())
                    .max(angular(&e.values).amax() / self.length)
            })
        };
        let turning = |force: &Vector3<f64>, node: usize| {
            let local = frames[node].rotation.tr_mul(force);
            local.cross(&angular(&v[node])).amax()
        };
        let nodes = 0..self.nodes.len();
        let gravity = nodes.fold(0.0_f64, |m, node| m.max(turning(&self.gravity, node)));
        let loads = self.loads.iter().all(|load| match load.at.node {
            Some(node) => {
                small(turning(&load.force, node), speed * load.force.norm())
                    && small(turning(&load.moment, node), speed * load.moment.norm())
            }
            None => true,
        });
        let springs = self.springs.iter().all(|spring| {
            let row = self.coordinate_entries(&spring.drive, frames, None);
            let rate = self.coordinate_entries(&spring.drive, frames, Some(v));
            let stretch: f64 = (row.entries.iter()).map(|e| e.values.dot(&v[e.node])).sum();
            small(size(&rate), speed * size(&row)) && small(stretch.abs(), speed * self.length)
        });
        let strain = self.placed.iter().all(|placed| {
            let d = self.deformation(placed, frames, &state.equilibrium.scalars);
            let local = placed.of_nodes(|node| v[node], &state.scalar_rates);
            let rate = self.element(placed).deformation_rate(&d, &local);
            small(rate.amax(), speed * self.length)
        });
        small(
            size(&self.constraint_rates(frames, v, false)),
            speed * size(&rows),
        ) && small(gravity, speed * self.gravity.norm())
            && loads
            && springs
            && strain
    }
}

/// ∂/∂v of −ad(v)ᵀMv at a node.
fn node_gyroscopic(mass: &Matrix6, v: &Vector6) -> Matrix6 {
    -(adjoint_algebra(v).transpose() * mass) - coadjoint_by_motion(&(mass * v))
}
