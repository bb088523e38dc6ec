//! Positions and velocities that the initial conditions ask for.

use super::control::check_sensors;
use super::equations::{Equations, State, add_to_node};
use super::{FullError, FullSettings, Initial, Start};
use crate::dynamics::control::{ControlRun, Running};
use crate::dynamics::excitation::{Drive, Excitation};
use crate::reduction::{LocalReducer, ReductionError};

/// A prescribed coordinate may start this far from the initial state.
const START_TOLERANCE: f64 = 1e-9;

/// Positions at t = 0 and velocities of the undeformed mechanism.
pub(super) fn initial_state<'a>(
    reducer: &'a LocalReducer,
    excitation: &'a dyn Excitation,
    blocks: Option<&'a ControlRun<'a>>,
    initial: &Initial,
    settings: &FullSettings,
) -> Result<(Equations<'a>, State), FullError> {
    let model = reducer.model();
    let s = model.drives.len();
    let finite = |values: &[f64]| values.len() == s && values.iter().all(|v| v.is_finite());
    if !finite(&initial.theta) || !finite(&initial.rate) {
        return Err(FullError::BadInitial {
            expected: s,
            theta: initial.theta.clone(),
            rate: initial.rate.clone(),
        });
    }
    let undeformed = reducer
        .kinematics()
        .solve(&initial.theta)
        .map_err(ReductionError::from)?;
    let prescribed = (0..s).filter(|k| excitation.is_prescribed(*k)).collect();
    let equations = Equations::new(
        reducer,
        excitation,
        blocks,
        prescribed,
        &undeformed,
        settings.coulomb_rate,
    );
    let mut frames = model.node_frames(&undeformed.frames);
    let mut scalars = vec![0.0; model.scalars.len()];
    if initial.start == Start::Equilibrium {
        let found = model.equilibrium(&frames)?;
        frames = found.frames;
        scalars = found.scalars;
    }
    scalars.extend(&initial.theta);
    let mut velocity = vec![0.0; equations.len()];
    for (i, node) in model.nodes.iter().enumerate() {
        // Deformed bodies first move as rigid ones.
        let in_body = undeformed.frames[node.body].relative(&frames[i]);
        for (k, rate) in initial.rate.iter().enumerate() {
            let own = in_body.pull_back(undeformed.motion.velocity(node.body, k));
            add_to_node(&mut velocity, i, &(own * *rate));
        }
    }
    velocity[equations.first_theta()..].copy_from_slice(&initial.rate);
    let n = equations.len();
    check_sensors(&equations)?;
    let x = blocks.map_or(Vec::new(), |run| run.diagram.initial());
    let state = State {
        time: 0.0,
        frames,
        scalars,
        velocity,
        acceleration: vec![0.0; n],
        algorithmic: vec![0.0; n],
        multipliers: vec![0.0; equations.n_rows()],
        hinge_angles: undeformed.hinge_angles,
        control_algorithmic: vec![0.0; x.len()],
        control: Running {
            x,
            ..Running::default()
        },
    };
    check_start(&equations, &state)?;
    Ok((equations, state))
}

/// Prescribed coordinates must start where the initial state has them.
fn check_start(equations: &Equations<'_>, state: &State) -> Result<(), FullError> {
    for &k in &equations.prescribed {
        let Drive::Motion { position, .. } = equations.drive(k, 0.0, state) else {
            continue;
        };
        let given = equations.theta(state)[k];
        let apart = (position - given).abs();
        if apart.is_nan() || apart > START_TOLERANCE * (1.0 + given.abs()) {
            let (name, origin) = equations.reducer.kinematics().coordinate_place(k);
            return Err(FullError::StartsElsewhere {
                coordinate: name.to_owned(),
                prescribed: position,
                given,
                origin: origin.clone(),
            });
        }
    }
    Ok(())
}
