//! All coefficients of the equations of motion at η = (θ, 0).

use super::algebra::{settle, upper_product};
use super::dynamics::dynamics_at;
use super::equations::{damping_matrix, equations, stiffness_matrix};
use super::locate::{Status, locate};
use super::model::{Form, Group, Source};
use super::motion::point_jacobian;
use super::number::{Load, Number};
use super::parameters::{Parameters, take_gravity};
use super::polynomials::{Fields, MOTION, Place, at};
use super::scratch::Scratch;
use super::{direct, lagrangian};

/// Where the coefficients go; matrices are row-major.
pub struct Coefficients<'a, R> {
    /// M.
    pub mass: &'a mut [R],
    /// h_ijk, index (i n + j) n + k, symmetric in j and k.
    pub gyroscopic: &'a mut [R],
    /// K.
    pub stiffness: &'a mut [R],
    /// D.
    pub damping: &'a mut [R],
    /// −∂V/∂η of gravity, springs and constant loads.
    pub force: &'a mut [R],
    /// −∂V/∂η of gravity.
    pub gravity: &'a mut [R],
    /// Displacement of each loaded dof per coordinate; may be empty where nobody asks.
    pub load_map: &'a mut [R],
}

impl<R: Number> Coefficients<'_, R> {
    fn clear(&mut self) {
        let all = [
            &mut *self.mass,
            &mut *self.gyroscopic,
            &mut *self.stiffness,
            &mut *self.damping,
            &mut *self.force,
            &mut *self.gravity,
            &mut *self.load_map,
        ];
        all.into_iter().for_each(|x| x.fill(R::ZERO));
    }
}

/// Coefficients at θ.
pub fn coefficients<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    theta: &[R],
    out: &mut Coefficients<'_, R>,
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    out.clear();
    let place = scratch.take(m.n_rigid);
    let (mut status, index) = locate(source, theta, place);
    if !p.is_none_or(Parameters::finite) {
        status = Status::NotFinite;
    }
    if status >= Status::Undefined {
        return status;
    }
    let place = Place {
        theta: place,
        index,
    };
    let f = dynamics_at(source, &place, &mut scratch);
    of_fields(source, p, &f, out, scratch.again());
    if !out.load_map.is_empty() {
        add_load_map(source, &place, out.load_map, scratch.again());
    }
    if let Some(p) = p {
        add_parameters(source, p, &place, out, scratch);
    }
    status = settle(status, out.mass);
    status = settle(status, out.gyroscopic);
    status = settle(status, out.force);
    if status >= Status::Undefined {
        out.clear();
    }
    status
}

/// What the stored functions of the dynamics say by themselves.
pub fn of_fields<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    f: &Fields<'_, R>,
    out: &mut Coefficients<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    match source.model().form {
        Form::Lagrangian => {
            lagrangian::inertia(source, f, out.mass, out.gyroscopic, scratch.again());
        }
        Form::Direct => direct::inertia(source, f, out.mass, out.gyroscopic),
    }
    stiffness_matrix(source, f, out.stiffness, scratch.again());
    add_gravity_stiffness(source, p, f, out.stiffness);
    damping_matrix(source, f, out.damping, scratch.again());
    static_forces(source, p, f, out, scratch);
}

/// The stiffness of gravity, where it is stored per inertial axis.
fn add_gravity_stiffness<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    f: &Fields<'_, R>,
    out: &mut [R],
) {
    let m = source.model();
    let gravity = p.map_or_else(|| m.held.gravity.map(R::load), |p| p.gravity);
    for (v, i, j, axis) in m.list(Group::GravityStiffness).iter().map(|e| e.get()) {
        out[i * m.n + j] += gravity[axis] * f.value[v];
        if i != j {
            out[j * m.n + i] += gravity[axis] * f.value[v];
        }
    }
}

/// At rest and without accelerations the equations of motion leave minus the static force.
fn static_forces<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    f: &Fields<'_, R>,
    out: &mut Coefficients<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let (zero, u) = (scratch.zeros(m.n), scratch.take(m.n * m.n));
    equations(source, f, [zero, zero, zero], u, out.force, scratch);
    let (force, gravity) = (&mut *out.force, &mut *out.gravity);
    if m.has_gravity_terms() {
        take_gravity(source, p, f, zero, gravity);
        for (force, gravity) in force.iter_mut().zip(gravity) {
            *gravity = R::ZERO - *gravity;
            *force = *gravity - *force;
        }
        return;
    }
    for x in force.iter_mut() {
        *x = R::ZERO - *x;
    }
    if m.list(Group::Gravity).is_empty() {
        gravity.copy_from_slice(force);
    }
    for (v, i, _, _) in m.list(Group::Gravity).iter().map(|e| e.get()) {
        gravity[i] = f.value[v];
    }
}

fn add_load_map<R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    if m.list(Group::LoadMap).is_empty() {
        return;
    }
    let mut motion = Fields::of::<M, MOTION>(source, &mut scratch);
    at::<R, M, MOTION>(source, place, &mut motion, scratch);
    for (v, i, j, _) in m.list(Group::LoadMap).iter().map(|e| e.get()) {
        out[i * m.n + j] = motion.value[v];
    }
}

fn add_parameters<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: &Parameters<'_, R>,
    place: &Place<'_, R>,
    out: &mut Coefficients<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let n = m.n;
    let (zero, added) = (scratch.zeros(n), scratch.zeros(n));
    let extra = scratch.zeros(n * n);
    p.add(
        source,
        place,
        [zero, zero, zero],
        added,
        extra,
        scratch.again(),
    );
    for (m, e) in out.mass.iter_mut().zip(&*extra) {
        *m += *e;
    }
    for i in 0..n {
        out.force[i] -= added[i];
        out.gravity[i] -= added[i];
    }
    for k in 0..m.n_rigid {
        out.damping[k * n + k] += p.added_viscous(source, k);
    }
    if m.n_outputs > 0 {
        p.add_gyroscopic(source, place, zero, out.gyroscopic, scratch.again());
        p.add_payload_stiffness(source, place, out.stiffness, scratch);
    }
}

/// The load map at θ.
pub fn load_map<R: Load<M::Stored>, M: Source>(
    source: &M,
    theta: &[R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    out.fill(R::ZERO);
    let place = scratch.take(m.n_rigid);
    let (status, index) = locate(source, theta, place);
    if status < Status::Undefined {
        let place = Place {
            theta: place,
            index,
        };
        add_load_map(source, &place, out, scratch);
    }
    status
}

/// −∂V/∂η of the mechanism per unit of gravity along each inertial axis, three vectors.
pub fn add_gravity_axes<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    axes: &mut [R],
) {
    let m = source.model();
    for (v, _, _, axis) in m.list(Group::GravityPotential).iter().map(|e| e.get()) {
        for (sum, slope) in axes[axis * m.n..].iter_mut().zip(f.slopes()) {
            *sum -= slope[v];
        }
    }
    for (v, i, _, axis) in m.list(Group::GravityForce).iter().map(|e| e.get()) {
        axes[axis * m.n + i] += f.value[v];
    }
}

/// −∂V/∂η of mechanism and payloads per unit of gravity along each inertial axis at η = (θ, 0), three vectors.
pub fn gravity_axes<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    theta: &[R],
    axes: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let place = scratch.take(m.n_rigid);
    let (status, index) = locate(source, theta, place);
    axes.fill(R::ZERO);
    if status >= Status::Undefined {
        return status;
    }
    let place = Place {
        theta: place,
        index,
    };
    let f = dynamics_at(source, &place, &mut scratch);
    add_gravity_axes(source, &f, axes);
    if let Some(p) = p.filter(|p| p.any_payload(source)) {
        let mut motion = Fields::of::<M, MOTION>(source, &mut scratch);
        at::<R, M, MOTION>(source, &place, &mut motion, scratch.again());
        let (jacobian, zero) = (scratch.take(3 * m.n), scratch.zeros(m.n));
        for output in 0..m.n_outputs {
            let mass = p.added_payload(source, output);
            point_jacobian(source, &motion, output, zero, jacobian);
            for (sum, x) in axes.iter_mut().zip(&*jacobian) {
                *sum += mass * *x;
            }
        }
    }
    status
}

/// Second derivatives of the positions of outputs at θ: that of an axis by η_d and η_e, d ≤ e, at
/// ((3 output + axis) m + d) m + e for m modal coordinates counted from 0.
pub fn position_curvature<R: Load<M::Stored>, M: Source>(
    source: &M,
    theta: &[R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let (s, modal) = (m.n_rigid, m.n - m.n_rigid);
    let place = scratch.take(s);
    let (status, index) = locate(source, theta, place);
    out.fill(R::ZERO);
    let list = m.list(Group::PositionCurvature);
    if status < Status::Undefined && !list.is_empty() {
        let place = Place {
            theta: place,
            index,
        };
        let mut f = Fields::of::<M, MOTION>(source, &mut scratch);
        at::<R, M, MOTION>(source, &place, &mut f, scratch);
        for (v, [axis, d, output, e]) in list.iter().map(|e| e.all()) {
            out[((3 * output + axis) * modal + d - s) * modal + e - s] = f.value[v];
        }
    }
    status
}

/// What is of second order at θ, 3 + s² blocks over pairs of the m modal coordinates: the stiffness of gravity
/// along an axis at (axis m + d) m + e, and ∂²M_ij/∂η_d∂η_e at ((3 + i s + j) m + d) m + e, for i ≤ j and d ≤ e.
pub fn second_order<R: Load<M::Stored>, M: Source>(
    source: &M,
    theta: &[R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let place = scratch.take(m.n_rigid);
    let (status, index) = locate(source, theta, place);
    out.fill(R::ZERO);
    if status < Status::Undefined {
        let place = Place {
            theta: place,
            index,
        };
        let f = dynamics_at(source, &place, &mut scratch);
        fill_second_order(source, &f, out, scratch);
    }
    status
}

/// The same from fields.
pub fn fill_second_order<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let (n, s) = (m.n, m.n_rigid);
    let modal = n - s;
    let of_gravity = |axis: usize, d: usize, e: usize| (axis * modal + d) * modal + e;
    let of_mass =
        |i: usize, j: usize, d: usize, e: usize| ((3 + i * s + j) * modal + d) * modal + e;
    for (v, d, e, axis) in m.list(Group::GravityStiffness).iter().map(|e| e.get()) {
        out[of_gravity(axis, d - s, e - s)] = f.value[v];
    }
    for (v, [i, j, d, e]) in m.list(Group::MassCurvature).iter().map(|e| e.all()) {
        out[of_mass(i, j, d - s, e - s)] = f.value[v];
    }
    if m.form == Form::Direct {
        return;
    }
    let (mass, slopes) = (scratch.zeros(n * n), scratch.zeros(modal * s * n));
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        mass[i * n + j] = f.value[v];
    }
    upper_product(mass, n);
    for (v, i, j, k) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
        if i < s {
            slopes[((k - s) * s + i) * n + j] = f.value[v];
        }
    }
    // U_d U_eᵀ + U_e U_dᵀ on θ.
    for d in 0..modal {
        for e in d..modal {
            for i in 0..s {
                for j in i..s {
                    let row = |d: usize, i: usize| &slopes[(d * s + i) * n..(d * s + i + 1) * n];
                    let products = row(d, i).iter().zip(row(e, j));
                    let others = row(e, i).iter().zip(row(d, j));
                    for ((a, b), (c, g)) in products.zip(others) {
                        out[of_mass(i, j, d, e)] += (*a * *b) + (*c * *g);
                    }
                }
            }
        }
    }
    // B_de M + M B_deᵀ.
    for (v, [i, k, d, e]) in m.list(Group::RateScale).iter().map(|e| e.all()) {
        for j in 0..s {
            let part = f.value[v] * mass[k * n + j];
            let times = if i == j { R::TWO } else { R::ONE };
            out[of_mass(i.min(j), i.max(j), d - s, e - s)] += times * part;
        }
    }
}
