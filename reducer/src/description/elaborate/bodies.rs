//! Bodies, their inertia and their named points.

use super::super::fault::FaultKind;
use super::super::files::Units;
use super::super::format::{
    self, Entries, InertiaAbout, Located, NamedPoint, NumberOrList, Products,
};
use super::super::mechanism::{Body, BodyId, BodyKind, BodyRef, RigidInertia};
use super::super::quantity::Dimension;
use super::attachment::Spot;
use super::context::{Context, Scope};
use super::expand::{Part, Placed};
use super::placement::axes_about;
use super::sections::Library;
use super::superelement::Files;
use crate::lie::Frame;
use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use std::collections::BTreeMap;
use std::ops::Range;

/// Relative violation of the triangle inequality that rounded data may have.
const TRIANGLE_SLACK: f64 = 1e-6;
/// Most nodes of all beams together.
pub(super) const MAX_NODES: usize = 20_000;
const MAX_POINTS: usize = 500;

/// A body's frame, what it is made of, and the points it has without being asked: name, node and
/// position in the node's frame.
type Made = (Frame, BodyKind, Vec<(String, usize, Vector3<f64>)>);

/// A body's named points; the body itself may be at fault.
#[derive(Debug, Default)]
pub struct Named {
    /// The body; `None` for one at fault.
    pub body: Option<BodyRef>,
    /// Its points in order of name.
    pub points: BTreeMap<String, Option<Spot>>,
}

/// All bodies, by index and by name.
#[derive(Debug)]
pub struct Bodies {
    /// Bodies without fault.
    pub list: Vec<Body>,
    /// All names, `ground` among them.
    pub named: BTreeMap<String, Named>,
    /// How far assembly may move a drawn point (m).
    pub home_tolerance: f64,
    pub(super) nodes: usize,
}

impl Bodies {
    /// The ground with its points, no bodies yet.
    pub fn new(context: &mut Context, input: &Units, file: &Scope, home_tolerance: f64) -> Self {
        let mut bodies = Self {
            list: Vec::new(),
            named: BTreeMap::new(),
            home_tolerance,
            nodes: 0,
        };
        let mut ground = Named {
            body: Some(BodyRef::Ground),
            points: BTreeMap::new(),
        };
        for unit in &input.units {
            let scope = Scope {
                source: unit.source,
                ..file.clone()
            };
            let points = &unit.file.ground.points;
            bodies.points(context, &scope, points, BodyRef::Ground, &mut ground);
        }
        bodies.named.insert("ground".to_owned(), ground);
        bodies
    }

    /// Adds every body among the parts.
    pub fn add_all(
        &mut self,
        context: &mut Context,
        parts: &[Placed<'_>],
        library: &Library,
        files: &Files<'_>,
    ) {
        for placed in parts {
            if let Part::Body(body) = placed.part {
                self.add(context, &placed.scope, body, library, files);
            }
        }
    }

    fn add(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        body: &Located<format::Body>,
        library: &Library,
        files: &Files<'_>,
    ) {
        let name = scope.path(&body.name);
        if !context.name(scope, &body.name) {
            // References to it need no second message.
            self.named.entry(name).or_default();
            return;
        }
        if self.named.contains_key(&name) {
            let what = "body";
            let kind = FaultKind::DuplicateName { what, name };
            return context.fault(scope, &body.name.span, kind);
        }
        let mut named = Named::default();
        if let Some((frame, kind, ends)) = self.kind(context, scope, body, &name, library, files) {
            let id = BodyRef::Body(BodyId(self.list.len()));
            self.list.push(Body {
                name: name.clone(),
                origin: scope.origin(&body.name.span),
                frame,
                kind,
            });
            named.body = Some(id);
            for (name, node, position) in ends {
                let frame = Frame::new(Matrix3::identity(), position);
                let spot = Spot::new(id, node, frame, false);
                named.points.insert(name, Some(spot));
            }
            self.points(context, scope, &body.points, id, &mut named);
        }
        self.named.insert(name, named);
    }

    fn kind(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        body: &Located<format::Body>,
        name: &str,
        library: &Library,
        files: &Files<'_>,
    ) -> Option<Made> {
        let given = [
            (body.rigid.is_some(), "rigid"),
            (body.rod.is_some(), "rod"),
            (body.point.is_some(), "point"),
            (body.beam.is_some(), "beam"),
            (body.superelement.is_some(), "superelement"),
        ];
        let found: Vec<&'static str> = given
            .into_iter()
            .filter_map(|(is_given, name)| is_given.then_some(name))
            .collect();
        if found.len() != 1 {
            let kind = FaultKind::ExactlyOne {
                what: format!("body `{name}`"),
                options: "`rigid`, `rod`, `point`, `beam`, `superelement`",
                found,
            };
            context.fault(scope, &body.span, kind);
            return None;
        }
        if body.rigid.is_none() && body.superelement.is_none() {
            let misplaced = [(body.at.is_some(), "at"), (body.frame.is_some(), "frame")];
            for (_, key) in misplaced.into_iter().filter(|(present, _)| *present) {
                let context_words = "here: the frame of a rod, point or beam follows from its ends";
                let kind = FaultKind::Meaningless {
                    key,
                    context: context_words,
                };
                context.fault(scope, &body.name.span, kind);
            }
        }
        if let Some(rigid) = &body.rigid {
            let frame = context.placement_or_at(scope, &body.frame, &body.at, &body.span);
            let inertia = context.rigid(scope, rigid, name);
            let frame = scope.frame.compose(&frame?);
            let ends = vec![("origin".into(), 0, Vector3::zeros())];
            return Some((frame, BodyKind::Rigid(inertia?), ends));
        }
        if let Some(superelement) = &body.superelement {
            let frame = context.placement_or_at(scope, &body.frame, &body.at, &body.span);
            let made = context.superelement(scope, superelement, &body.interface, files)?;
            let ends = (made.names.iter().enumerate())
                .map(|(node, name)| (name.clone(), node, Vector3::zeros()))
                .collect();
            let frame = scope.frame.compose(&frame?);
            return Some((frame, BodyKind::Superelement(made), ends));
        }
        if let Some(rod) = &body.rod {
            return context.rod(scope, rod);
        }
        if let Some(point) = &body.point {
            let at = context.position(scope, &point.at);
            let mass = match &point.mass {
                Some(mass) => context.positive(scope, mass, Dimension::MASS, "the mass"),
                None => Some(0.0),
            };
            let frame = Frame::new(scope.frame.rotation, scope.place(at?));
            let ends = vec![("center".into(), 0, Vector3::zeros())];
            return Some((frame, BodyKind::Point { mass: mass? }, ends));
        }
        let beam = body.beam.as_ref()?;
        let (frame, chain) = self.beam(context, scope, beam, library)?;
        let last = chain.nodes.len() - 1;
        let ends = vec![
            ("from".into(), 0, Vector3::zeros()),
            ("start".into(), 0, Vector3::zeros()),
            ("to".into(), last, Vector3::zeros()),
            ("end".into(), last, Vector3::zeros()),
        ];
        Some((frame, BodyKind::Beam(chain), ends))
    }

    /// Adds named points, given in the body's frame.
    fn points(
        &self,
        context: &mut Context,
        scope: &Scope,
        points: &Entries<Located<NamedPoint>>,
        body: BodyRef,
        named: &mut Named,
    ) {
        for (index, (name, point)) in points.0.iter().enumerate() {
            if index >= MAX_POINTS {
                let (what, limit) = ("named points of a body", MAX_POINTS);
                return context.fault(scope, &name.span, FaultKind::Limit { what, limit });
            }
            if !context.name(scope, name) {
                continue;
            }
            let (local, oriented) = match &point.value {
                NamedPoint::Position(values) => {
                    let position = context.triple(scope, values, Dimension::LENGTH);
                    let frame = position.map(|at| Frame::new(Matrix3::identity(), at));
                    (frame, false)
                }
                NamedPoint::Table(table) => (
                    context.placement(scope, table, &point.span),
                    has_orientation(table),
                ),
            };
            let spot = local.and_then(|local| {
                let home = self.home(body).compose(&local);
                let attachment = self.attach(context, scope, &point.span, body, &home)?;
                Some(Spot {
                    attachment,
                    oriented,
                })
            });
            if named.points.insert(name.value.clone(), spot).is_some() {
                let kind = FaultKind::DuplicateName {
                    what: "point",
                    name: name.value.clone(),
                };
                context.fault(scope, &name.span, kind);
            }
        }
    }
}

fn has_orientation(placement: &format::Placement) -> bool {
    placement.quaternion.is_some()
        || placement.axis.is_some()
        || placement.rpy.is_some()
        || placement.x.is_some()
        || placement.y.is_some()
        || placement.z.is_some()
}

impl Context {
    fn rod(&mut self, scope: &Scope, rod: &format::Rod) -> Option<Made> {
        let from = self.position(scope, &rod.from);
        let to = self.position(scope, &rod.to);
        let mass = self.positive(scope, &rod.mass, Dimension::MASS, "the mass");
        let (from, to) = (from?, to?);
        let length = (to - from).norm();
        if length == 0.0 {
            let what = "the length of the rod";
            self.fault(scope, &rod.to.span, FaultKind::ZeroVector { what });
            return None;
        }
        let mass = mass?;
        let along = axes_about((to - from) / length);
        let axes = Matrix3::from_columns(&[along.column(2), along.column(0), along.column(1)]);
        let frame = scope.frame.compose(&Frame::new(axes, from));
        let transverse = mass * length * length / 12.0;
        let inertia = RigidInertia {
            mass,
            center_of_mass: Vector3::new(length / 2.0, 0.0, 0.0),
            inertia: Matrix3::from_diagonal(&Vector3::new(0.0, transverse, transverse)),
        };
        let far = Vector3::new(length, 0.0, 0.0);
        let ends = vec![
            ("from".into(), 0, Vector3::zeros()),
            ("start".into(), 0, Vector3::zeros()),
            ("to".into(), 0, far),
            ("end".into(), 0, far),
            ("center".into(), 0, far / 2.0),
        ];
        Some((frame, BodyKind::Rigid(inertia), ends))
    }

    fn rigid(&mut self, scope: &Scope, rigid: &format::Rigid, body: &str) -> Option<RigidInertia> {
        let mass = match &rigid.mass {
            Some(mass) => self.positive(scope, mass, Dimension::MASS, "the mass"),
            None => Some(0.0),
        };
        let center_of_mass = self.position_or_origin(scope, &rigid.center_of_mass);
        let (tensor, span) = match &rigid.inertia {
            Some(inertia) => (
                self.tensor(scope, inertia, rigid.products),
                inertia.span.clone(),
            ),
            None => (Some(Matrix3::zeros()), 0..0),
        };
        let (mass, center_of_mass, mut inertia) = (mass?, center_of_mass?, tensor?);
        if rigid.inertia_about == InertiaAbout::Origin && rigid.inertia.is_some() {
            let c = center_of_mass;
            let shift = Matrix3::identity() * c.norm_squared() - c * c.transpose();
            inertia -= shift * mass;
        }
        self.check_inertia(scope, &inertia, &span, body)?;
        Some(RigidInertia {
            mass,
            center_of_mass,
            inertia,
        })
    }

    fn tensor(
        &mut self,
        scope: &Scope,
        written: &Located<Vec<Located<NumberOrList>>>,
        products: Products,
    ) -> Option<Matrix3<f64>> {
        let mut values = Vec::new();
        let mut rows = 0;
        for entry in &written.value {
            match &entry.value {
                NumberOrList::Number(number) => {
                    let scalar = Located {
                        span: entry.span.clone(),
                        value: number.clone(),
                    };
                    values.push(self.number(scope, &scalar, Dimension::INERTIA));
                }
                NumberOrList::List(row) => {
                    rows += 1;
                    for scalar in row {
                        values.push(self.number(scope, scalar, Dimension::INERTIA));
                    }
                }
            }
        }
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let sign = match products {
            Products::Tensor => 1.0,
            Products::Cad => -1.0,
        };
        let full = |d: [f64; 3], [xy, xz, yz]: [f64; 3]| {
            let (xy, xz, yz) = (sign * xy, sign * xz, sign * yz);
            Matrix3::new(d[0], xy, xz, xy, d[1], yz, xz, yz, d[2])
        };
        match (rows, values.as_slice()) {
            (0, &[xx, yy, zz]) => Some(full([xx, yy, zz], [0.0; 3])),
            (0, &[xx, yy, zz, xy, xz, yz]) => Some(full([xx, yy, zz], [xy, xz, yz])),
            (3, &[xx, xy, xz, yx, yy, yz, zx, zy, zz]) => {
                let scale = xx.abs() + yy.abs() + zz.abs();
                let pairs = [(1, 2, xy, yx), (1, 3, xz, zx), (2, 3, yz, zy)];
                let uneven = pairs
                    .into_iter()
                    .find(|(_, _, upper, lower)| (upper - lower).abs() > 1e-9 * scale);
                if let Some((row, column, ..)) = uneven {
                    let kind = FaultKind::AsymmetricInertia { row, column };
                    self.fault(scope, &written.span, kind);
                    return None;
                }
                let even = [(xy + yx) / 2.0, (xz + zx) / 2.0, (yz + zy) / 2.0];
                Some(full([xx, yy, zz], even))
            }
            _ => {
                let kind = FaultKind::WrongCount {
                    what: "the inertia",
                    expected: 3,
                    found: values.len(),
                };
                self.fault(scope, &written.span, kind);
                None
            }
        }
    }

    fn check_inertia(
        &mut self,
        scope: &Scope,
        inertia: &Matrix3<f64>,
        span: &Range<usize>,
        body: &str,
    ) -> Option<()> {
        let mut moments: Vec<f64> = SymmetricEigen::new(*inertia)
            .eigenvalues
            .iter()
            .copied()
            .collect();
        moments.sort_by(f64::total_cmp);
        let [smallest, middle, largest] = moments.try_into().ok()?;
        let slack = TRIANGLE_SLACK * largest.abs();
        let body = body.to_owned();
        if smallest < -slack {
            self.fault(scope, span, FaultKind::IndefiniteInertia { body, smallest });
            None
        } else if largest > middle + smallest + slack {
            let kind = FaultKind::TriangleInequality {
                body,
                smallest,
                middle,
                largest,
            };
            self.fault(scope, span, kind);
            None
        } else {
            Some(())
        }
    }
}
