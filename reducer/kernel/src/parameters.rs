//! What may differ from call to call.
//!
//! Rotor inertia and friction act on θ; a payload is a point mass at an output. It moves as
//! x(η) = p(θ) + Ψ_x(θ) η_δ and, where it is stored, second-order motion; with J for the derivatives of x it adds m JᵀJ to M, m Jᵀ(J̇ rate) to the force and
//! m Jᵀg to gravity. What the nominal model holds of a parameter is taken off the given value.

use super::algebra::all_finite;
use super::curvature::{Curvature, bend_slope_at};
use super::model::{Group, Source};
use super::motion::{
    point_bias_by, point_bias_slope, point_jacobian, point_jacobian_by, point_jacobian_rate,
};
use super::number::{Load, Number};
use super::polynomials::{Fields, MOTION, Place, at};
use super::scaling::share;
use super::scratch::Scratch;

/// Parameters of a call.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a, R> {
    /// Point mass at each output.
    pub payload_mass: &'a [R],
    /// Acceleration of gravity, inertial axes.
    pub gravity: [R; 3],
    /// On the diagonal of M, one per θ.
    pub rotor_inertia: &'a [R],
    /// Viscous friction, one per θ.
    pub viscous: &'a [R],
    /// Magnitude of Coulomb friction, one per θ.
    pub coulomb: &'a [R],
    /// Rate below which it falls linearly to zero, one per θ.
    pub coulomb_rate: &'a [R],
}

/// What the stored numbers hold of parameters; empty where they hold nothing.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a, C> {
    /// Of payloads.
    pub payload_mass: &'a [C],
    /// Of rotor inertia.
    pub rotor_inertia: &'a [C],
    /// Of viscous friction.
    pub viscous: &'a [C],
    /// Nominal gravity.
    pub gravity: [C; 3],
}

/// A parameter beyond what the model holds of it.
#[inline(always)]
fn beyond<R: Load<C>, C: Copy>(given: &[R], held: &[C], i: usize) -> R {
    match held.get(i) {
        Some(held) => given[i] - R::load(*held),
        None => given[i],
    }
}

impl<R: Number> Parameters<'_, R> {
    /// All are finite numbers.
    pub fn finite(&self) -> bool {
        let lists = [
            self.rotor_inertia,
            self.viscous,
            self.coulomb,
            self.coulomb_rate,
            self.payload_mass,
            &self.gravity,
        ];
        lists.into_iter().all(all_finite)
    }

    /// Coulomb friction: its magnitude times −1 to 1, linear below `coulomb_rate`.
    pub fn coulomb_force(&self, k: usize, rate: R) -> R {
        let width = self.coulomb_rate[k];
        let part = if rate < width && rate > -width {
            rate / width
        } else if rate > R::ZERO {
            R::ONE
        } else if rate < R::ZERO {
            -R::ONE
        } else {
            R::ZERO
        };
        self.coulomb[k] * part
    }

    /// Slope of Coulomb friction.
    pub fn coulomb_slope(&self, k: usize, rate: R) -> R {
        let width = self.coulomb_rate[k];
        if rate < width && rate > -width {
            self.coulomb[k] / width
        } else {
            R::ZERO
        }
    }

    /// Rotor inertia beyond what the model holds.
    #[inline(always)]
    pub fn added_rotor<M: Source>(&self, source: &M, k: usize) -> R
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        beyond(self.rotor_inertia, m.held.rotor_inertia, k)
    }

    /// Viscous friction beyond what the model holds.
    #[inline(always)]
    pub fn added_viscous<M: Source>(&self, source: &M, k: usize) -> R
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        beyond(self.viscous, m.held.viscous, k)
    }

    /// Payload beyond what the model holds.
    #[inline(always)]
    pub fn added_payload<M: Source>(&self, source: &M, output: usize) -> R
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        beyond(self.payload_mass, m.held.payload_mass, output)
    }

    /// Some output carries a mass that the model does not hold.
    pub fn any_payload<M: Source>(&self, source: &M) -> bool
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        // All of them, so that a call takes as long for one as for another.
        let mut any = false;
        for output in 0..m.n_outputs {
            any |= self.added_payload(source, output) != R::ZERO;
        }
        any
    }

    /// Adds everything but Coulomb friction to `force`, and the masses to `mass`.
    pub fn add<M: Source>(
        &self,
        source: &M,
        place: &Place<'_, R>,
        [eta, rate, accel]: [&[R]; 3],
        force: &mut [R],
        mass: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        for k in 0..m.n_rigid {
            force[k] += (self.added_rotor(source, k) * accel[k])
                + (self.added_viscous(source, k) * rate[k]);
            mass[k * n + k] += self.added_rotor(source, k);
        }
        if !self.any_payload(source) {
            return;
        }
        let (fields, along, _) = both(source, place, rate, &mut scratch);
        let (jacobian, jacobian_rate) = (scratch.take(3 * n), scratch.take(3 * n));
        for output in 0..m.n_outputs {
            let payload = self.added_payload(source, output);
            point_jacobian(source, &fields, output, eta, jacobian);
            point_jacobian_rate(source, &fields, &along, output, [eta, rate], jacobian_rate);
            for (i, row) in jacobian.chunks_exact(n).enumerate() {
                let mut a = -self.gravity[i];
                for k in 0..n {
                    a += (row[k] * accel[k]) + (jacobian_rate[i * n + k] * rate[k]);
                }
                for k in 0..n {
                    let part = payload * row[k];
                    force[k] += part * a;
                    for l in 0..n {
                        mass[k * n + l] += part * row[l];
                    }
                }
            }
        }
    }

    /// Adds the gyroscopic tensor of the payloads at η = (θ, 0): m J_i · ∂_k J_j.
    pub fn add_gyroscopic<M: Source>(
        &self,
        source: &M,
        place: &Place<'_, R>,
        eta: &[R],
        h: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        let mut fields = Fields::of::<M, MOTION>(source, &mut scratch);
        let mut along = Fields::of::<M, MOTION>(source, &mut scratch);
        at::<R, M, MOTION>(source, place, &mut fields, scratch.again());
        let curvature = Curvature::at::<M, MOTION>(source, place, &mut scratch);
        let (jacobian, slope) = (scratch.take(3 * n), scratch.take(3 * n));
        for k in 0..m.n_rigid {
            curvature.along_one(&fields, k, &mut along);
            for output in 0..m.n_outputs {
                point_jacobian(source, &fields, output, eta, jacobian);
                point_jacobian(source, &along, output, eta, slope);
                for i in 0..n {
                    for j in 0..n {
                        let mut value = R::ZERO;
                        for axis in 0..3 {
                            value += jacobian[axis * n + i] * slope[axis * n + j];
                        }
                        value *= self.added_payload(source, output);
                        h[(i * n + j) * n + k] += value;
                        if j >= m.n_rigid {
                            h[(i * n + k) * n + j] += value;
                        }
                    }
                }
            }
        }
        // Where positions are of second order, columns of δ change with η too.
        for (v, [axis, d, output, e]) in m.list(Group::PositionCurvature).iter().map(|e| e.all()) {
            point_jacobian(source, &fields, output, eta, jacobian);
            for i in 0..n {
                let value =
                    self.added_payload(source, output) * jacobian[axis * n + i] * fields.value[v];
                h[(i * n + d) * n + e] += value;
                if d != e {
                    h[(i * n + e) * n + d] += value;
                }
            }
        }
    }

    /// Adds the derivative by θ_column of the payloads' share of the force.
    pub fn add_payload_by_theta<M: Source>(
        &self,
        source: &M,
        place: &Place<'_, R>,
        [eta, rate, accel]: [&[R]; 3],
        column: usize,
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        let (fields, along, curvature) = both(source, place, rate, &mut scratch);
        let mut aside = Fields::of::<M, MOTION>(source, &mut scratch);
        curvature.along_one(&fields, column, &mut aside);
        let bend = scratch.take(m.motion.values);
        bend_slope_at::<R, M, MOTION>(source, place, rate, column, bend, scratch.again());
        let (jacobian, jacobian_rate) = (scratch.take(3 * n), scratch.take(3 * n));
        let slope = scratch.take(3 * n);
        for output in 0..m.n_outputs {
            let payload = self.added_payload(source, output);
            point_jacobian(source, &fields, output, eta, jacobian);
            point_jacobian_rate(source, &fields, &along, output, [eta, rate], jacobian_rate);
            point_jacobian(source, &aside, output, eta, slope);
            let both = [&fields, &along];
            let bias = point_bias_slope(source, both, bend, output, column, [eta, rate]);
            let of = PayloadSlope {
                payload,
                jacobian,
                jacobian_rate,
                slope,
                bias,
            };
            of.add(self.gravity, [rate, accel], out);
        }
    }

    /// Adds the derivative by a modal coordinate of the payloads' share of the force.
    pub fn add_payload_by_modal<M: Source>(
        &self,
        source: &M,
        place: &Place<'_, R>,
        [eta, rate, accel]: [&[R]; 3],
        column: usize,
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        let (fields, along, _) = both(source, place, rate, &mut scratch);
        let (jacobian, jacobian_rate) = (scratch.take(3 * n), scratch.take(3 * n));
        let slope = scratch.take(3 * n);
        for output in 0..m.n_outputs {
            point_jacobian(source, &fields, output, eta, jacobian);
            point_jacobian_rate(source, &fields, &along, output, [eta, rate], jacobian_rate);
            point_jacobian_by(source, &fields, output, eta, column, slope);
            let of = PayloadSlope {
                payload: self.added_payload(source, output),
                jacobian,
                jacobian_rate,
                slope,
                bias: point_bias_by(source, &along, output, [eta, rate], column),
            };
            of.add(self.gravity, [rate, accel], out);
        }
    }

    /// Adds the stiffness of the payloads' weight at η = (θ, 0).
    pub fn add_payload_stiffness<M: Source>(
        &self,
        source: &M,
        place: &Place<'_, R>,
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let list = m.list(Group::PositionCurvature);
        if list.is_empty() {
            return;
        }
        let mut fields = Fields::of::<M, MOTION>(source, &mut scratch);
        at::<R, M, MOTION>(source, place, &mut fields, scratch);
        for (v, [axis, d, output, e]) in list.iter().map(|e| e.all()) {
            let part = self.added_payload(source, output) * self.gravity[axis] * fields.value[v];
            out[d * m.n + e] -= part;
            if d != e {
                out[e * m.n + d] -= part;
            }
        }
    }
}

/// A payload with the derivative of its Jacobian and of its acceleration without accelerations of η.
struct PayloadSlope<'a, R> {
    payload: R,
    jacobian: &'a [R],
    jacobian_rate: &'a [R],
    slope: &'a [R],
    bias: [R; 3],
}

impl<R: Number> PayloadSlope<'_, R> {
    /// Adds the derivative of its force.
    fn add(&self, gravity: [R; 3], [rate, accel]: [&[R]; 2], out: &mut [R]) {
        let n = out.len();
        for (i, bias) in self.bias.into_iter().enumerate() {
            let (mut a, mut by) = (-gravity[i], bias);
            for k in 0..n {
                let at = i * n + k;
                a += (self.jacobian[at] * accel[k]) + (self.jacobian_rate[at] * rate[k]);
                by += self.slope[at] * accel[k];
            }
            for k in 0..n {
                let at = i * n + k;
                out[k] += self.payload * ((self.slope[at] * a) + (self.jacobian[at] * by));
            }
        }
    }
}

/// Fields of the outputs, their derivatives along the rates of θ, and their second derivatives.
fn both<'f, R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    scratch: &mut Scratch<'f, R>,
) -> (Fields<'f, R>, Fields<'f, R>, Curvature<'f, R>) {
    let (mut fields, mut along) = (
        Fields::of::<M, MOTION>(source, scratch),
        Fields::of::<M, MOTION>(source, scratch),
    );
    at::<R, M, MOTION>(source, place, &mut fields, scratch.again());
    let curvature = Curvature::at::<M, MOTION>(source, place, scratch);
    curvature.along(&fields, &rate[..source.model().n_rigid], &mut along);
    (fields, along, curvature)
}

/// Gravity on the mechanism where it is stored per inertial axis.
#[inline(always)]
pub fn stored_gravity<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
) -> Option<[R; 3]> {
    let m = source.model();
    let given = || p.map_or_else(|| m.held.gravity.map(R::load), |p| p.gravity);
    m.has_gravity_terms().then(given)
}

/// The same as [`take_gravity`] of stored energies, whose gradients are left to `weight`.
pub fn weigh_gravity<R: Load<M::Stored>, M: Source>(
    source: &M,
    gravity: [R; 3],
    value: &[R],
    eta: &[R],
    weight: &mut [R],
    out: &mut [R],
) {
    let m = source.model();
    for (v, _, _, axis) in m.list(Group::GravityPotential).iter().map(|e| e.get()) {
        weight[v] = gravity[axis];
    }
    for (v, i, _, axis) in m.list(Group::GravityForce).iter().map(|e| e.get()) {
        out[i] -= gravity[axis] * value[v];
        weight[v] = -(gravity[axis] * eta[i]);
    }
    for (v, i, j, axis) in m.list(Group::GravityStiffness).iter().map(|e| e.get()) {
        let part = gravity[axis] * share::<R>(i, j);
        out[i] += part * value[v] * eta[j];
        out[j] += part * value[v] * eta[i];
        weight[v] = part * eta[i] * eta[j];
    }
}

/// Takes the force of gravity on the mechanism, which is stored per inertial axis, off `out`.
pub fn take_gravity<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    f: &Fields<'_, R>,
    eta: &[R],
    out: &mut [R],
) {
    let m = source.model();
    let gravity = p.map_or_else(|| m.held.gravity.map(R::load), |p| p.gravity);
    for (v, _, _, axis) in m.list(Group::GravityPotential).iter().map(|e| e.get()) {
        for (sum, slope) in out.iter_mut().zip(f.slopes()) {
            *sum += gravity[axis] * slope[v];
        }
    }
    for (v, i, _, axis) in m.list(Group::GravityForce).iter().map(|e| e.get()) {
        out[i] -= gravity[axis] * f.value[v];
        for (sum, slope) in out.iter_mut().zip(f.slopes()) {
            *sum -= gravity[axis] * eta[i] * slope[v];
        }
    }
    for (v, i, j, axis) in m.list(Group::GravityStiffness).iter().map(|e| e.get()) {
        let part = gravity[axis] * share::<R>(i, j);
        out[i] += part * f.value[v] * eta[j];
        out[j] += part * f.value[v] * eta[i];
        for (sum, slope) in out.iter_mut().zip(f.slopes()) {
            *sum += part * eta[i] * eta[j] * slope[v];
        }
    }
}
