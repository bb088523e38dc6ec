//! Points of bodies: by name, or where they are drawn.

use super::super::fault::FaultKind;
use super::super::format::{Located, PointOrName};
use super::super::mechanism::{Attachment, BodyKind, BodyRef};
use super::super::quantity::Dimension;
use super::bodies::{Bodies, Named};
use super::context::{Context, Scope};
use crate::lie::Frame;
use nalgebra::Vector3;
use std::ops::Range;

/// Relative distance within which a point is at a node.
const AT_NODE: f64 = 1e-9;

/// A named point of a body.
#[derive(Debug, Clone)]
pub struct Spot {
    /// Where it is fixed.
    pub attachment: Attachment,
    /// Its axes were given, not taken from the body.
    pub oriented: bool,
}

impl Spot {
    /// A point from its parts.
    pub fn new(body: BodyRef, node: usize, frame: Frame, oriented: bool) -> Self {
        Self {
            attachment: Attachment { body, node, frame },
            oriented,
        }
    }
}

/// A reference to a body, and to one of its points where the reference names one.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The body.
    pub body: BodyRef,
    /// The point.
    pub spot: Option<Spot>,
    /// Full path of the body.
    pub name: String,
}

impl Bodies {
    /// A body's frame as drawn, in the inertial frame.
    pub fn home(&self, body: BodyRef) -> Frame {
        match body {
            BodyRef::Ground => Frame::identity(),
            BodyRef::Body(id) => self
                .list
                .get(id.0)
                .map_or_else(Frame::identity, |body| body.frame),
        }
    }

    /// A node's frame as drawn, in the inertial frame.
    pub fn node_home(&self, body: BodyRef, node: usize) -> Frame {
        let home = self.home(body);
        (self.kind_of(body))
            .and_then(BodyKind::flexible_nodes)
            .and_then(|nodes| nodes.get(node))
            .map_or(home, |inner| home.compose(inner))
    }

    /// An attached frame as drawn, in the inertial frame.
    pub fn drawn(&self, at: &Attachment) -> Frame {
        self.node_home(at.body, at.node).compose(&at.frame)
    }

    /// What a body is made of; `None` for the ground.
    pub fn kind_of(&self, body: BodyRef) -> Option<&BodyKind> {
        match body {
            BodyRef::Ground => None,
            BodyRef::Body(id) => self.list.get(id.0).map(|body| &body.kind),
        }
    }

    /// Fixes a drawn frame to a body; on a flexible body it must be at a node, and is moved onto it.
    pub fn attach(
        &self,
        context: &mut Context,
        scope: &Scope,
        span: &Range<usize>,
        body: BodyRef,
        drawn: &Frame,
    ) -> Option<Attachment> {
        let Some(nodes) = self.kind_of(body).and_then(BodyKind::flexible_nodes) else {
            let frame = self.home(body).inverse().compose(drawn);
            return Some(Attachment {
                body,
                node: 0,
                frame,
            });
        };
        let home = self.home(body);
        let local = home.inverse().compose(drawn);
        let away = |index: usize| (nodes[index].position - local.position).norm();
        let nearest_but = |other: Option<usize>| {
            (0..nodes.len())
                .filter(|index| Some(*index) != other)
                .min_by(|a, b| away(*a).total_cmp(&away(*b)))
        };
        let node = nearest_but(None)?;
        let distance = away(node);
        let length = (nodes.iter()).fold(0.0_f64, |m, f| {
            m.max((f.position - nodes[0].position).norm())
        });
        if distance > self.home_tolerance.max(AT_NODE * length) {
            let nearest = [Some(node), nearest_but(Some(node))]
                .into_iter()
                .flatten()
                .filter_map(|index| {
                    let at = home.compose(nodes.get(index)?).position;
                    let at = scope
                        .frame
                        .inverse()
                        .compose(&Frame::new(drawn.rotation, at));
                    let name = match self.kind_of(body) {
                        Some(BodyKind::Superelement(body)) => body.names[index].clone(),
                        _ => format!("node{index}"),
                    };
                    Some(format!("`{name}` at {}", show(at.position)))
                })
                .collect();
            let name = match body {
                BodyRef::Body(id) => self.list.get(id.0).map(|body| body.name.clone()),
                BodyRef::Ground => None,
            };
            let kind = FaultKind::NotANode {
                body: name.unwrap_or_default(),
                distance,
                nearest,
            };
            context.fault(scope, span, kind);
            return None;
        }
        let rotation = nodes.get(node)?.rotation.transpose() * local.rotation;
        Some(Attachment {
            body,
            node,
            frame: Frame::new(rotation, Vector3::zeros()),
        })
    }

    /// The body, or point of a body, that a name means.
    pub fn find(
        &self,
        context: &mut Context,
        scope: &Scope,
        written: &Located<String>,
    ) -> Option<Reference> {
        let point = written.value.rsplit_once('.');
        for path in candidates(scope, &written.value) {
            if let Some(named) = self.named.get(&path) {
                return self.whole(named, path);
            }
            let Some((body, point)) = point.and_then(|_| path.rsplit_once('.')) else {
                continue;
            };
            if let Some(named) = self.named.get(body) {
                return self.point(context, scope, &written.span, named, body, point);
            }
        }
        let mut known: Vec<String> = self.named.keys().cloned().collect();
        if !scope.prefix.is_empty() {
            let own = known
                .iter()
                .filter_map(|name| name.strip_prefix(&scope.prefix));
            known = own.map(str::to_owned).collect();
            known.push("ground".to_owned());
        }
        let wanted = written.value.as_str();
        context.unknown(scope, &written.span, "body", wanted, known)
    }

    fn whole(&self, named: &Named, name: String) -> Option<Reference> {
        let body = named.body?;
        let spot = match self.kind_of(body) {
            Some(BodyKind::Point { .. }) => Some(Spot::new(body, 0, Frame::identity(), false)),
            _ => None,
        };
        Some(Reference { body, spot, name })
    }

    fn point(
        &self,
        context: &mut Context,
        scope: &Scope,
        span: &Range<usize>,
        named: &Named,
        name: &str,
        point: &str,
    ) -> Option<Reference> {
        let body = named.body?;
        let reference = |spot| {
            Some(Reference {
                body,
                spot: Some(spot),
                name: name.to_owned(),
            })
        };
        if let Some(spot) = named.points.get(point) {
            return reference(spot.clone()?);
        }
        let node: Option<usize> = point.strip_prefix("node").and_then(|n| n.parse().ok());
        if let (Some(BodyKind::Beam(chain)), Some(node)) = (self.kind_of(body), node)
            && node < chain.nodes.len()
        {
            return reference(Spot::new(body, node, Frame::identity(), false));
        }
        let mut known: Vec<String> = named.points.keys().cloned().collect();
        if let Some(BodyKind::Beam(chain)) = self.kind_of(body) {
            known.push("node0".to_owned());
            known.push(format!("node{}", chain.nodes.len() - 1));
        }
        let what = if known.is_empty() {
            "point (the body has none)"
        } else {
            "point"
        };
        context.unknown(scope, span, what, &format!("{name}.{point}"), known)
    }

    /// An attachment from `at`, and `body` where `at` is given by coordinates.
    pub fn locate(
        &self,
        context: &mut Context,
        scope: &Scope,
        at: &Located<PointOrName>,
        body: &Option<Located<String>>,
    ) -> Option<Attachment> {
        match (&at.value, body) {
            (PointOrName::Name(name), None) => {
                let written = Located {
                    span: at.span.clone(),
                    value: name.clone(),
                };
                let found = self.find(context, scope, &written)?;
                Some(found.spot.map_or_else(
                    || Attachment {
                        body: found.body,
                        node: 0,
                        frame: Frame::identity(),
                    },
                    |spot| spot.attachment,
                ))
            }
            (PointOrName::Name(_), Some(body)) => {
                let (first, second) = ("at", "body");
                context.fault(scope, &body.span, FaultKind::Conflict { first, second });
                None
            }
            (PointOrName::Position(_), None) => {
                let kind = FaultKind::MissingKey {
                    key: "body".to_owned(),
                    table: "this table, since `at` is given by coordinates".to_owned(),
                };
                context.fault(scope, &at.span, kind);
                None
            }
            (PointOrName::Position(values), Some(body)) => {
                let position = context.triple(scope, values, Dimension::LENGTH);
                let found = self.find(context, scope, body)?;
                // Axes of the body, at the drawn point.
                let rotation = self.home(found.body).rotation;
                let drawn = Frame::new(rotation, scope.place(position?));
                let mut attachment = self.attach(context, scope, &at.span, found.body, &drawn)?;
                attachment.frame.rotation = nalgebra::Matrix3::identity();
                Some(attachment)
            }
        }
    }
}

/// Paths under which a body or point may be meant; the ground is the same everywhere.
fn candidates(scope: &Scope, name: &str) -> Vec<String> {
    if name == "ground" || name.starts_with("ground.") {
        vec![name.to_owned()]
    } else {
        scope.candidates(name)
    }
}

fn show(position: Vector3<f64>) -> String {
    // Rounded to a nanometre: enough to recognise it, without noise in the last digits.
    let round = |value: f64| (value * 1e9).round() / 1e9 + 0.0;
    format!(
        "[{}, {}, {}]",
        round(position.x),
        round(position.y),
        round(position.z)
    )
}
