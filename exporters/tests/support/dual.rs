//! Linear models by dual numbers: the oracle for those of the kernel.
#![allow(dead_code)]

use kernel::{Number, Output, Scratch, Status};
use reducer::reduced_model::Dual;
use reducer::reduced_model::plan::Plan;

fn dual(v: f64, d: f64) -> Dual {
    Dual { v, d }
}

/// A, B and C of the kernel's own functions, differentiated; rows of small rotations are left zero.
pub fn linear_model(
    plan: &Plan,
    p: Option<&reducer::reduced_model::Parameters>,
    [eta, rate, force]: [&[f64]; 3],
) -> [Vec<f64>; 3] {
    let (n, outputs) = (plan.n, plan.n_outputs);
    let m = plan.model();
    let still = |v: &[f64]| -> Vec<Dual> { v.iter().map(|v| dual(*v, 0.0)).collect() };
    let parts = p.map(|p| {
        [
            &p.payload_mass,
            &p.rotor_inertia,
            &p.viscous,
            &p.coulomb,
            &p.coulomb_rate,
        ]
        .map(|v| still(v))
    });
    let parameters = p.zip(parts.as_ref()).map(|(p, parts)| kernel::Parameters {
        payload_mass: &parts[0],
        gravity: p.gravity.map(|g| dual(g, 0.0)),
        rotor_inertia: &parts[1],
        viscous: &parts[2],
        coulomb: &parts[3],
        coulomb_rate: &parts[4],
    });
    let mut memory = vec![Dual::ZERO; plan.memory()];
    let mut out = [
        vec![0.0; 4 * n * n],
        vec![0.0; 2 * n * n],
        vec![0.0; 9 * outputs * 2 * n],
    ];
    for column in 0..3 * n {
        let mut state = still(&[eta, rate, force].concat());
        state[column].d = 1.0;
        let arguments = [&state[..n], &state[n..2 * n], &state[2 * n..]];
        let mut accel = vec![Dual::ZERO; n];
        let scratch = Scratch::new(&mut memory);
        let status =
            kernel::forward_dynamics(&m, parameters.as_ref(), arguments, &mut accel, scratch);
        assert!(status < Status::Undefined);
        for i in 0..n {
            if column < 2 * n {
                out[0][i * 2 * n + column] = state[n + i].d;
                out[0][(n + i) * 2 * n + column] = accel[i].d;
            } else {
                out[1][(n + i) * n + column - 2 * n] = accel[i].d;
            }
        }
        if column < 2 * n && outputs > 0 {
            let one = (
                [[Dual::ZERO; 3]; 3],
                [Dual::ZERO; 9],
                vec![Dual::ZERO; 6 * n],
            );
            let mut motion = vec![one; outputs];
            let state = [arguments[0], arguments[1]];
            let scratch = Scratch::new(&mut memory);
            let status =
                kernel::outputs(&m, parameters.as_ref(), state, &mut motion, view, scratch);
            assert!(status < Status::Undefined);
            for (o, (vectors, ..)) in motion.iter().enumerate() {
                let mut set = |row: usize, x: Dual| out[2][(9 * o + row) * 2 * n + column] = x.d;
                for (axis, (position, velocity)) in vectors[0].iter().zip(&vectors[1]).enumerate() {
                    set(axis, *position);
                    set(6 + axis, *velocity);
                }
            }
        }
    }
    out
}

type Motion = ([[Dual; 3]; 3], [Dual; 9], Vec<Dual>);

fn view((vectors, rotation, jacobian): &mut Motion) -> Output<'_, Dual> {
    let [position, velocity, angular_velocity] = vectors;
    Output {
        position,
        rotation,
        velocity,
        angular_velocity,
        jacobian,
    }
}

/// A linear model without the rows of small rotations, which the derivatives above leave out.
pub fn without_rotations(c: &[f64], n: usize) -> Vec<f64> {
    let rows = c.chunks(2 * n).enumerate();
    rows.flat_map(|(row, values)| {
        let kept = !(3..6).contains(&(row % 9));
        values.iter().map(move |v| if kept { *v } else { 0.0 })
    })
    .collect()
}
