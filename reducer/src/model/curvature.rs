//! Second derivatives by the nodes' motions: of constraints, springs, strains, loads and gravity.
//!
//! A motion (u, φ) of a node is finite here: x = x_ρ + R_ρu, R = R_ρ·exp(φ). As a constant velocity
//! in node axes for unit time it is (u − ½φ×u, φ) to second order; that shift is [`shift_of_turn`].

use super::joint::{self, RelativeMotion};
use super::rows::{line, mount_frame, mount_velocity};
use super::{FullModel, ModelDrive, Mount, PlacedElement};
use crate::description::mechanism::JointKind;
use crate::lie::{Frame, Matrix6, Vector6, adjoint_algebra, angular, coadjoint, linear, skew};
use faer::Mat;
use nalgebra::{DMatrix, Matrix3, SMatrix, Vector3};

type Matrix3x6 = SMatrix<f64, 3, 6>;

/// A symmetric bilinear form over motions: blocks between two nodes.
#[derive(Debug, Clone, Default)]
pub struct BilinearForm {
    blocks: Vec<(usize, usize, Matrix6)>,
    /// Forms over local motions of elements.
    wide: Vec<(Vec<usize>, DMatrix<f64>)>,
}

impl BilinearForm {
    fn push(&mut self, row: Option<usize>, column: Option<usize>, block: &Matrix6) {
        if let (Some(row), Some(column)) = (row, column) {
            self.blocks.push((row, column, *block));
        }
    }

    /// Adds a form over the local motions of an element.
    pub fn push_element(&mut self, placed: &PlacedElement, form: DMatrix<f64>) {
        self.wide.push((placed.places.clone(), form));
    }

    /// Adds another form.
    pub fn extend(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
        self.wide.extend(other.wide);
    }

    /// The form as a map from motions to forces, column by column.
    pub fn times(&self, q: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(q.nrows(), q.ncols());
        for column in 0..q.ncols() {
            let x = q.col_as_slice(column);
            let y = out.col_as_slice_mut(column);
            for (row, from, block) in &self.blocks {
                let force = block * Vector6::from_column_slice(&x[6 * from..6 * from + 6]);
                for i in 0..6 {
                    y[6 * row + i] += force[i];
                }
            }
            for (places, form) in &self.wide {
                for (column, from) in form.column_iter().zip(places) {
                    for (value, to) in column.iter().zip(places) {
                        y[*to] += value * x[*from];
                    }
                }
            }
        }
        out
    }

    /// Values between all columns of `left` and of `right`.
    pub fn between(&self, left: &Mat<f64>, right: &Mat<f64>) -> Mat<f64> {
        left.transpose() * &self.times(right)
    }
}

/// The form f·(−½(φ₁×u₂ + φ₂×u₁)) of a force f in node axes.
pub fn shift_of_turn(force: &Vector3<f64>) -> Matrix6 {
    let mut out = Matrix6::zeros();
    let half = skew(force) * 0.5;
    out.fixed_view_mut::<3, 3>(3, 0).copy_from(&half);
    out.fixed_view_mut::<3, 3>(0, 3).copy_from(&-half);
    out
}

/// The form ½f·(φ₁×(φ₂×l) + φ₂×(φ₁×l)) over rotations: second-order path of a point at l.
fn turned_arm(force: &Vector3<f64>, arm: &Vector3<f64>) -> Matrix3<f64> {
    let product = force * arm.transpose();
    (product + product.transpose()) * 0.5 - Matrix3::identity() * force.dot(arm)
}

fn on_turns(block: &Matrix3<f64>) -> Matrix6 {
    let mut out = Matrix6::zeros();
    out.fixed_view_mut::<3, 3>(3, 3).copy_from(block);
    out
}

/// Matrix of a map of six-vectors.
fn matrix(map: impl Fn(&Vector6) -> Vector6) -> Matrix6 {
    let mut out = Matrix6::zeros();
    for j in 0..6 {
        out.set_column(j, &map(&Vector6::ith(j, 1.0)));
    }
    out
}

/// Two mounts whose relative motion a row measures: frames a and b as maps of their nodes' motions
/// into the axes of b, and how that of a changes.
struct Pair<'a> {
    a: &'a Mount,
    b: &'a Mount,
    d: Frame,
    of_a: Matrix6,
    of_b: Matrix6,
}

impl<'a> Pair<'a> {
    fn new(a: &'a Mount, b: &'a Mount, frames: &[Frame]) -> Self {
        let d = mount_frame(a, frames).relative(&mount_frame(b, frames));
        Self {
            a,
            b,
            of_a: matrix(|z| d.pull_back(&a.frame.pull_back(z))),
            of_b: matrix(|z| b.frame.pull_back(z)),
            d,
        }
    }

    fn relative_velocity(&self, velocities: &[Vector6]) -> Vector6 {
        RelativeMotion { d: self.d }.velocity(
            &mount_velocity(self.a, velocities),
            &mount_velocity(self.b, velocities),
        )
    }

    /// The second-order part of c·log of the relative motion [M 14.4]; `of_a` in place of the pair's
    /// own, and without the part of b alone where only a's map changes.
    fn push_logarithm(&self, out: &mut BilinearForm, c: &Vector6, of_a: &Matrix6, with_b: bool) {
        if with_b {
            let pull = linear(&self.of_b.tr_mul(c));
            out.push(self.b.node, self.b.node, &shift_of_turn(&pull));
        }
        let pull = linear(&of_a.tr_mul(c));
        out.push(self.a.node, self.a.node, &-shift_of_turn(&pull));
        // c·[α, β] = (ad(α)ᵀc)·β.
        let bracket = matrix(|alpha| coadjoint(alpha, c)).transpose();
        let cross = of_a.transpose() * bracket * self.of_b * -0.5;
        out.push(self.a.node, self.b.node, &cross);
        out.push(self.b.node, self.a.node, &cross.transpose());
    }

    /// The form ωᵀSω over the relative rotation ω.
    fn push_turns(&self, out: &mut BilinearForm, s: &Matrix3<f64>, of_a: &Matrix6, rate: bool) {
        let turn = |m: &Matrix6| -> Matrix3x6 { m.fixed_view::<3, 6>(3, 0).into_owned() };
        let (a, b, a_now) = (turn(of_a), turn(&self.of_b), turn(&self.of_a));
        let cross = a.tr_mul(&(s * b));
        if rate {
            // Product rule on the map of a alone.
            let own = a.tr_mul(&(s * a_now));
            out.push(self.a.node, self.a.node, &(own + own.transpose()));
        } else {
            out.push(self.b.node, self.b.node, &b.tr_mul(&(s * b)));
            out.push(self.a.node, self.a.node, &a.tr_mul(&(s * a)));
        }
        out.push(self.a.node, self.b.node, &-cross);
        out.push(self.b.node, self.a.node, &-cross.transpose());
    }

    fn push_row(&self, out: &mut BilinearForm, c: &Vector6) {
        self.push_logarithm(out, c, &self.of_a, true);
    }

    /// Rate of [`Self::push_row`] while the row changes at `c_rate`.
    fn push_row_rate(&self, out: &mut BilinearForm, c: &Vector6, c_rate: &Vector6, v: &Vector6) {
        self.push_logarithm(out, c_rate, &self.of_a, true);
        self.push_logarithm(out, c, &(adjoint_algebra(v) * self.of_a * -1.0), false);
    }
}

/// One end of a distance: how its node's motion moves it, inertial axes.
struct End {
    node: Option<usize>,
    arm: Vector3<f64>,
    rotation: Matrix3<f64>,
    map: Matrix3x6,
    spin: Vector3<f64>,
}

impl End {
    fn new(mount: &Mount, frames: &[Frame], velocities: Option<&[Vector6]>) -> Self {
        let arm = mount.frame.position;
        let (rotation, spin) = match mount.node {
            Some(node) => (
                frames[node].rotation,
                velocities.map_or(Vector3::zeros(), |v| angular(&v[node])),
            ),
            None => (Matrix3::identity(), Vector3::zeros()),
        };
        let mut map = Matrix3x6::zeros();
        map.fixed_view_mut::<3, 3>(0, 0).copy_from(&rotation);
        map.fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&(rotation * -skew(&arm)));
        Self {
            node: mount.node,
            arm,
            rotation,
            map,
            spin,
        }
    }

    fn map_rate(&self) -> Matrix3x6 {
        self.rotation * skew(&self.spin) * self.rotation.transpose() * self.map
    }
}

impl FullModel {
    /// The second-order part of a joint coordinate or a distance, times `weight`; with `velocities`
    /// its rate while nodes move.
    fn push_coordinate(
        &self,
        out: &mut BilinearForm,
        drive: &ModelDrive,
        frames: &[Frame],
        velocities: Option<&[Vector6]>,
        weight: f64,
    ) {
        if weight == 0.0 {
            return;
        }
        match &drive.coordinate {
            Some(c) => {
                let pair = Pair::new(&drive.a, &drive.b, frames);
                let c = c * weight;
                match velocities {
                    None => pair.push_row(out, &c),
                    Some(v) => {
                        let v = pair.relative_velocity(v);
                        pair.push_row_rate(out, &c, &Vector6::zeros(), &v);
                    }
                }
            }
            None => push_distance(out, drive, frames, velocities, weight),
        }
    }

    /// Σ weight·Φ₂ of the rows of joints and actuated coordinates [M 14.4]; with `velocities` its
    /// rate while nodes move.
    pub fn row_curvature(
        &self,
        frames: &[Frame],
        velocities: Option<&[Vector6]>,
        weights: &[f64],
    ) -> BilinearForm {
        let mut out = BilinearForm::default();
        let mut candidate = 0;
        for model_joint in &self.joints {
            let count = joint::n_rows(model_joint.kind);
            let kept = &self.kept_rows[candidate..candidate + count];
            candidate += count;
            let weights: Vec<f64> = (kept.iter())
                .map(|row| row.map_or(0.0, |row| weights[row]))
                .collect();
            if weights.iter().all(|w| *w == 0.0) {
                continue;
            }
            let pair = Pair::new(&model_joint.a, &model_joint.b, frames);
            let sum = |rows: &joint::Rows| -> Vector6 {
                (rows.as_slice().iter().zip(&weights))
                    .map(|(row, w)| row * *w)
                    .sum()
            };
            let c = sum(&joint::gradient(model_joint.kind, &pair.d));
            let v = velocities.map(|v| pair.relative_velocity(v));
            match &v {
                None => pair.push_row(&mut out, &c),
                Some(v) => {
                    let c_rate = sum(&joint::gradient_rate(model_joint.kind, &pair.d, v));
                    pair.push_row_rate(&mut out, &c, &c_rate, v);
                }
            }
            if model_joint.kind == JointKind::Universal {
                push_universal(&mut out, &pair, v.as_ref(), weights[3]);
            }
        }
        for (k, drive) in self.drives.iter().enumerate() {
            let weight = weights[self.n_joint_rows + k];
            self.push_coordinate(&mut out, drive, frames, velocities, weight);
        }
        out
    }

    /// Σ weight·(second-order part of a spring's coordinate); with `velocities` its rate.
    pub fn spring_curvature(
        &self,
        frames: &[Frame],
        velocities: Option<&[Vector6]>,
        weights: &[f64],
    ) -> BilinearForm {
        let mut out = BilinearForm::default();
        for (spring, weight) in self.springs.iter().zip(weights) {
            self.push_coordinate(&mut out, &spring.drive, frames, velocities, *weight);
        }
        out
    }

    /// Explicit second derivatives of the potential of a uniform field of accelerations (node
    /// axes, as a motion), undeformed; linear in the field.
    pub fn gravity_curvature(&self, field: &[f64]) -> BilinearForm {
        let pull = |node: usize| Vector6::from_column_slice(&field[6 * node..6 * node + 6]);
        // Field in the axes of a turned node, by its rotation.
        let turned = |node: usize| {
            let mut out = Matrix6::zeros();
            out.fixed_view_mut::<3, 3>(0, 3)
                .copy_from(&-skew(&linear(&pull(node))));
            out
        };
        let mut out = BilinearForm::default();
        for (node, mass) in &self.masses {
            let image = mass * turned(*node);
            let block =
                (image + image.transpose()) * 0.5 - shift_of_turn(&linear(&(mass * pull(*node))));
            out.push(Some(*node), Some(*node), &block);
        }
        for placed in &self.placed {
            let form = self
                .element(placed)
                .gravity_curvature(&placed.gather(field));
            out.push_element(placed, form);
        }
        out
    }

    /// Explicit second derivatives of the potential of constant forces; with `velocities` their
    /// rate. Those of a constant moment are antisymmetric and belong to no potential.
    pub fn load_curvature(&self, frames: &[Frame], velocities: Option<&[Vector6]>) -> BilinearForm {
        let mut out = BilinearForm::default();
        for load in &self.loads {
            out.extend(self.force_curvature(&load.at, &load.force, frames, velocities));
        }
        out
    }

    /// The same of one constant force at a point.
    pub fn force_curvature(
        &self,
        at: &Mount,
        force: &Vector3<f64>,
        frames: &[Frame],
        velocities: Option<&[Vector6]>,
    ) -> BilinearForm {
        let mut out = BilinearForm::default();
        if let Some(node) = at.node {
            let mut force = frames[node].rotation.tr_mul(force);
            if let Some(v) = velocities {
                force = force.cross(&angular(&v[node]));
            }
            let block = on_turns(&-turned_arm(&force, &at.frame.position));
            out.push(Some(node), Some(node), &block);
        }
        out
    }
}

/// What the turning row of a universal joint, z of a perpendicular to x of b, adds to its logarithm.
fn push_universal(out: &mut BilinearForm, pair: &Pair<'_>, v: Option<&Vector6>, weight: f64) {
    let z = pair.d.rotation.tr_mul(&Vector3::z()) * weight;
    let s = turned_arm(&z, &Vector3::x());
    match v {
        None => pair.push_turns(out, &s, &pair.of_a, false),
        Some(v) => {
            let s_rate = turned_arm(&z.cross(&angular(v)), &Vector3::x());
            pair.push_turns(out, &s_rate, &pair.of_a, false);
            let of_a_rate = -(adjoint_algebra(v) * pair.of_a);
            pair.push_turns(out, &s, &of_a_rate, true);
        }
    }
}

fn push_distance(
    out: &mut BilinearForm,
    drive: &ModelDrive,
    frames: &[Frame],
    velocities: Option<&[Vector6]>,
    weight: f64,
) {
    let l = line(&drive.a, &drive.b, frames, velocities);
    let ends = [
        (End::new(&drive.b, frames, velocities), 1.0),
        (End::new(&drive.a, frames, velocities), -1.0),
    ];
    let n = l.direction;
    let across = (Matrix3::identity() - n * n.transpose()) * (weight / l.distance);
    let tilt = n * l.direction_rate.transpose();
    let across_rate = -(tilt + tilt.transpose()) * (weight / l.distance)
        - across * (l.distance_rate / l.distance);
    for (end, sign) in &ends {
        let local = end.rotation.tr_mul(&n);
        let along = match velocities {
            None => local,
            Some(_) => end.rotation.tr_mul(&l.direction_rate) + local.cross(&end.spin),
        };
        let block = on_turns(&(turned_arm(&along, &end.arm) * (sign * weight)));
        out.push(end.node, end.node, &block);
    }
    for (p, sign_p) in &ends {
        for (q, sign_q) in &ends {
            let mut block = match velocities {
                None => p.map.tr_mul(&(across * q.map)),
                Some(_) => {
                    p.map.tr_mul(&(across_rate * q.map))
                        + p.map_rate().tr_mul(&(across * q.map))
                        + p.map.tr_mul(&(across * q.map_rate()))
                }
            };
            block *= sign_p * sign_q;
            out.push(p.node, q.node, &block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lie::join;

    #[test]
    fn a_turned_arm_is_the_second_order_path_of_its_point() {
        let (f, l) = (Vector3::new(0.3, -1.0, 0.7), Vector3::new(0.9, 0.2, -0.4));
        let (p, q) = (Vector3::new(0.1, 0.8, -0.5), Vector3::new(-0.6, 0.3, 0.2));
        let expected = 0.5 * f.dot(&(p.cross(&q.cross(&l)) + q.cross(&p.cross(&l))));
        assert!((p.dot(&(turned_arm(&f, &l) * q)) - expected).abs() < 1e-15);
        let (u, w) = (Vector3::new(1.1, -0.3, 0.4), Vector3::new(0.2, 0.5, 0.9));
        let expected = -0.5 * f.dot(&(p.cross(&w) + q.cross(&u)));
        let found = join(&u, &p).dot(&(shift_of_turn(&f) * join(&w, &q)));
        assert!((found - expected).abs() < 1e-15);
    }
}
