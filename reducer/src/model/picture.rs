//! Points of finite-element bodies for pictures: where they are and how they move with the full model.

use super::FullModel;
use super::element::{Element, PlacedElement};
use super::superelement::SuperElement;
use crate::lie::Frame;
use nalgebra::{DVector, Vector3};
use std::collections::BTreeMap;

/// A finite-element body among the elements.
pub struct Pictured<'a> {
    placed: &'a PlacedElement,
    element: &'a SuperElement,
}

impl FullModel {
    /// All finite-element bodies.
    pub fn pictured(&self) -> Vec<Pictured<'_>> {
        (self.placed.iter())
            .filter_map(|placed| match &self.elements[placed.element] {
                Element::Super(element) => Some(Pictured { placed, element }),
                Element::Beam(_) => None,
            })
            .collect()
    }

    /// Names of the finite-element bodies: how a state of stress stiffens or softens them inside is in neither their
    /// stiffness nor their mass, and so not in terms of second order.
    pub fn without_geometric_stiffness(&self) -> Vec<String> {
        let name =
            |body: Pictured<'_>| self.bodies[self.nodes[body.first_node()].body].name.clone();
        self.pictured().into_iter().map(name).collect()
    }

    /// Lines between nodes: beams, and bodies without a picture of their own.
    pub fn element_lines(&self) -> Vec<[usize; 2]> {
        let plain = |placed: &&PlacedElement| match &self.elements[placed.element] {
            Element::Super(element) => element.body.picture.outline.is_empty(),
            Element::Beam(_) => true,
        };
        let placed = self.placed.iter().filter(plain);
        placed.flat_map(PlacedElement::lines).collect()
    }
}

impl Pictured<'_> {
    /// Its first node, whose frame carries the undeformed body.
    pub fn first_node(&self) -> usize {
        self.placed.nodes[0]
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.element.body.picture.points.len()
    }

    /// Elements of its mesh: VTK's number of the kind, and points.
    pub fn cells(&self) -> &[(u8, Vec<u32>)] {
        &self.element.body.picture.cells
    }

    /// Points of its outline, in order of their number, and its lines between them.
    pub fn outline(&self) -> (Vec<usize>, Vec<[usize; 2]>) {
        let lines = &self.element.body.picture.outline;
        let mut places: BTreeMap<u32, usize> =
            lines.iter().flatten().map(|point| (*point, 0)).collect();
        for (i, place) in places.values_mut().enumerate() {
            *place = i;
        }
        let points = places.keys().map(|point| *point as usize).collect();
        let lines = lines.iter().map(|line| line.map(|point| places[&point]));
        (points, lines.collect())
    }

    /// A point in the axes of the mesh.
    pub fn point(&self, point: usize) -> Vector3<f64> {
        self.element.body.picture.points[point].into()
    }

    /// A point of the undeformed body whose first node is at `first`.
    pub fn place(&self, point: usize, first: &Frame) -> Vector3<f64> {
        let arm = self.point(point) - self.element.body.nodes[0].position;
        first.position + first.rotation * arm
    }

    /// How all of a body moves with a motion of the model from the undeformed state.
    pub fn motion(&self, motion: &[f64]) -> PicturedMotion<'_> {
        let local = self.placed.gather(motion);
        let rates = &self.element.strain_operator * &local;
        PicturedMotion {
            element: self.element,
            local,
            rates,
        }
    }
}

/// Motion of a finite-element body.
pub struct PicturedMotion<'a> {
    element: &'a SuperElement,
    local: DVector<f64>,
    rates: DVector<f64>,
}

impl PicturedMotion<'_> {
    /// Motion of a point, axes of the mesh.
    pub fn of(&self, point: usize) -> Vector3<f64> {
        let body = &self.element.body;
        let arm = Vector3::from(body.picture.points[point]) - body.nodes[0].position;
        let (shift, turn) = (self.local.fixed_rows::<3>(0), self.local.fixed_rows::<3>(3));
        let deformed = body.picture.displacement(point, self.rates.as_slice());
        shift + turn.cross(&arm) + deformed
    }
}
