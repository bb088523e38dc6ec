//! Energies and the power that damping takes; for the library, not in generated code.

use super::dynamics::{begin, dynamics_at};
use super::locate::Status;
use super::model::{Group, Source};
use super::motion::{point_jacobian, position};
use super::number::{Load, Number};
use super::parameters::Parameters;
use super::polynomials::{Fields, MOTION, Place, at};
use super::scaling::{scale_rates, share};
use super::scratch::Scratch;

/// Kinetic and potential energy.
pub fn energy<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    [eta, rate]: [&[R]; 2],
    mut scratch: Scratch<'_, R>,
) -> (Status, [R; 2]) {
    let m = source.model();
    let (status, place) = begin(source, p, [eta, rate, rate], &mut scratch);
    if status >= Status::Undefined {
        return (status, [R::ZERO; 2]);
    }
    let f = &dynamics_at(source, &place, &mut scratch);
    let gravity = p.map_or_else(|| m.held.gravity.map(R::load), |p| p.gravity);
    let half = R::of(0.5);
    let (momentum, strain) = (scratch.zeros(m.n), scratch.zeros(m.n));
    let nu = scratch.take(m.n);
    scale_rates(source, f, [eta, rate], nu);
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        momentum[j] += f.value[v] * nu[i];
    }
    for (v, i, j, k) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
        momentum[j] += f.value[v] * eta[k] * nu[i];
    }
    for (v, i, j, _) in m.list(Group::StiffnessFactor).iter().map(|e| e.get()) {
        strain[j] += f.value[v] * eta[i];
    }
    let mut kinetic = half * (square(momentum) + form(source, f, Group::Mass, rate));
    let mut potential = half * (square(strain) + form(source, f, Group::Stiffness, eta));
    for e in m.list(Group::Potential) {
        potential += f.value[e.value as usize];
    }
    for (v, _, _, axis) in m.list(Group::GravityPotential).iter().map(|e| e.get()) {
        potential += gravity[axis] * f.value[v];
    }
    for (v, i, j, axis) in m.list(Group::GravityStiffness).iter().map(|e| e.get()) {
        potential += gravity[axis] * f.value[v] * share::<R>(i, j) * eta[i] * eta[j];
    }
    // On θ the direct form stores forces beside the potential whose gradient they are.
    let modal = |i: usize| i >= m.n_rigid;
    for (v, i, _, _) in m.list(Group::Force).iter().map(|e| e.get()) {
        potential -= if modal(i) {
            f.value[v] * eta[i]
        } else {
            R::ZERO
        };
    }
    for (v, i, _, axis) in m.list(Group::GravityForce).iter().map(|e| e.get()) {
        potential -= if modal(i) {
            gravity[axis] * f.value[v] * eta[i]
        } else {
            R::ZERO
        };
    }
    if let Some(p) = p {
        let [t, v] = added(source, p, &place, [eta, rate], scratch);
        (kinetic, potential) = (kinetic + t, potential + v);
    }
    (status, [kinetic, potential])
}

fn square<R: Number>(x: &[R]) -> R {
    x.iter().fold(R::ZERO, |sum, x| sum + *x * *x)
}

/// xᵀA x of a stored symmetric matrix.
fn form<R: Load<M::Stored>, M: Source>(source: &M, f: &Fields<'_, R>, group: Group, x: &[R]) -> R {
    let m = source.model();
    let mut sum = R::ZERO;
    for (v, i, j, _) in m.list(group).iter().map(|e| e.get()) {
        let times = if i == j { R::ONE } else { R::TWO };
        sum += times * f.value[v] * x[i] * x[j];
    }
    sum
}

/// Kinetic and potential energy of what parameters add.
fn added<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: &Parameters<'_, R>,
    place: &Place<'_, R>,
    [eta, rate]: [&[R]; 2],
    mut scratch: Scratch<'_, R>,
) -> [R; 2] {
    let m = source.model();
    let half = R::of(0.5);
    let (mut kinetic, mut potential) = (R::ZERO, R::ZERO);
    for k in 0..m.n_rigid {
        kinetic += half * p.added_rotor(source, k) * rate[k] * rate[k];
    }
    if !p.any_payload(source) {
        return [kinetic, potential];
    }
    let mut f = Fields::of::<M, MOTION>(source, &mut scratch);
    at::<R, M, MOTION>(source, place, &mut f, scratch.again());
    let jacobian = scratch.take(3 * m.n);
    for output in 0..m.n_outputs {
        let mass = p.added_payload(source, output);
        point_jacobian(source, &f, output, eta, jacobian);
        let at = position(source, &f, output, eta);
        for (axis, row) in jacobian.chunks_exact(m.n).enumerate() {
            let velocity = row
                .iter()
                .zip(rate)
                .fold(R::ZERO, |sum, (j, r)| sum + *j * *r);
            kinetic += half * mass * velocity * velocity;
            potential -= mass * p.gravity[axis] * at[axis];
        }
    }
    [kinetic, potential]
}

/// Power rateᵀ D rate that damping and friction take out of the motion.
pub fn dissipated_power<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    [eta, rate]: [&[R]; 2],
    mut scratch: Scratch<'_, R>,
) -> R {
    let m = source.model();
    let (status, place) = begin(source, p, [eta, rate, rate], &mut scratch);
    if status >= Status::Undefined {
        return R::ZERO;
    }
    let f = &dynamics_at(source, &place, &mut scratch);
    let damper = scratch.zeros(m.n);
    for (v, i, j, _) in m.list(Group::DampingFactor).iter().map(|e| e.get()) {
        damper[j] += f.value[v] * rate[i];
    }
    let mut power = square(damper) + form(source, f, Group::Damping, rate);
    if let Some(p) = p {
        for k in 0..m.n_rigid {
            power += (p.added_viscous(source, k) * rate[k] + p.coulomb_force(k, rate[k])) * rate[k];
        }
    }
    power
}
