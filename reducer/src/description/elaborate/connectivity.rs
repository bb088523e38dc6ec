//! Every body must hang on the ground by a chain of joints.

use super::super::fault::FaultKind;
use super::super::mechanism::{Body, BodyRef, Joint, Origin};
use super::super::parameters::report;
use super::context::Context;

/// Reports bodies that no chain of joints connects to the ground, and what is missing altogether.
pub fn check(context: &mut Context, bodies: &[Body], joints: &[Joint], any_coordinate: bool) {
    let nothing = [
        (bodies.is_empty(), "body"),
        (!bodies.is_empty() && !any_coordinate, "coordinate"),
    ];
    for (_, what) in nothing.into_iter().filter(|(missing, _)| *missing) {
        report(
            &mut context.faults,
            Origin::default(),
            FaultKind::Nothing { what },
        );
    }
    // Index 0 is the ground.
    let index = |body: BodyRef| match body {
        BodyRef::Ground => 0,
        BodyRef::Body(id) => id.0 + 1,
    };
    let mut neighbours = vec![Vec::new(); bodies.len() + 1];
    for joint in joints {
        let (a, b) = (index(joint.a.body), index(joint.b.body));
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut reached = vec![false; bodies.len() + 1];
    let mut open = vec![0];
    while let Some(body) = open.pop() {
        if !std::mem::replace(&mut reached[body], true) {
            open.extend(&neighbours[body]);
        }
    }
    for (body, reached) in bodies.iter().zip(reached.iter().skip(1)) {
        if !reached {
            let kind = FaultKind::Disconnected {
                body: body.name.clone(),
            };
            report(&mut context.faults, body.origin.clone(), kind);
        }
    }
}
