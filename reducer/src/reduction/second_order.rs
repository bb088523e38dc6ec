//! What is of second order in the deformation: second derivatives of the mass on θ by η^δ, what
//! second-order displacements add to its first derivatives, and the stiffness of loads.
//!
//! Second-order displacements Θ_de cancel the second-order strain [M 14.2]. They enter linearly, so
//! none is computed: for every load ℓ that multiplies them one static solution gives ℓᵀΘ_de for all
//! pairs at once [M 14.5].

use super::ReductionError;
use super::centrifugal::Explicit;
use super::inertia::symmetrised;
use super::strain_products::{StrainProducts, WeightedForm};
use crate::kinematics::Configuration;
use crate::lie::{Vector6, coadjoint};
use crate::model::curvature::BilinearForm;
use crate::model::rows::{mount_frame, point_row};
use crate::model::{Mount, SaddleError};
use crate::modes::{Linearised, LocalModes};
use faer::Mat;
use nalgebra::{DVector, Vector3};

/// Second-order quantities at one configuration. Matrices over δ have n − s rows and columns.
#[derive(Debug, Clone)]
pub struct SecondOrder {
    /// ∂²M̄_jk/∂η_d∂η_e for j ≥ k in θ, in the order of [`pair_index`]: matrices over d and e; empty
    /// where only loads at rest were asked for.
    pub mass_curvature: Vec<Mat<f64>>,
    /// ρ_jᵀMΘ_de for every j in θ: what N_d gains in (θ_j, e) [M 14.7]; empty as above.
    pub coupling: Vec<Mat<f64>>,
    /// ψ_fᵀMΘ_de for every f in δ: N_d gains those of f and e in (e, f).
    pub elastic: Vec<Mat<f64>>,
    /// Stiffness K^f of gravity, constant loads and tensioned springs.
    pub load_stiffness: Mat<f64>,
    /// Its derivatives along θ.
    pub load_stiffness_gradient: Vec<Mat<f64>>,
    /// Stiffness of unit gravity along each inertial axis with its derivatives; empty where gravity
    /// is fixed.
    pub gravity_stiffness: Vec<(Mat<f64>, Vec<Mat<f64>>)>,
    /// Second derivatives of the position of each output along each inertial axis.
    pub positions: Vec<[Mat<f64>; 3]>,
}

/// Shapes of δ and their second-order displacements [M 14.1].
#[derive(Debug, Clone)]
pub struct SecondOrderShapes {
    /// One column per coordinate of δ.
    pub shapes: Mat<f64>,
    /// Θ_de: for every d one column per e.
    pub displacements: Vec<Mat<f64>>,
}

/// Place of (j, k) in lists of pairs.
pub fn pair_index(j: usize, k: usize) -> usize {
    let (low, high) = (j.min(k), j.max(k));
    high * (high + 1) / 2 + low
}

/// A load and its static response with joints and actuators alone.
struct LoadCase {
    motion: Mat<f64>,
    multipliers: Mat<f64>,
}

/// A uniform field of accelerations, alone or with constant loads and springs.
struct Field {
    acceleration: Vector3<f64>,
    with_loads: bool,
    /// The field as a motion in node axes.
    pull: Mat<f64>,
    load: Mat<f64>,
}

impl Field {
    /// How the field changes in node axes along θ_l.
    fn pull_rate(&self, at: &Linearised<'_>, l: usize) -> Mat<f64> {
        at.model
            .uniform_field_rate(&self.acceleration, &at.frames, &at.velocities[l])
    }
}

/// Columns of loads, to be solved for together.
#[derive(Default)]
struct Loads {
    columns: Vec<Vec<f64>>,
}

impl Loads {
    /// The places that the columns get.
    fn push(&mut self, loads: &Mat<f64>) -> std::ops::Range<usize> {
        let first = self.columns.len();
        let new = (0..loads.ncols()).map(|j| loads.col_as_slice(j).to_vec());
        self.columns.extend(new);
        first..self.columns.len()
    }

    fn together(&self) -> Mat<f64> {
        let columns: Vec<&[f64]> = self.columns.iter().map(Vec::as_slice).collect();
        side_by_side(&columns)
    }
}

fn side_by_side(columns: &[&[f64]]) -> Mat<f64> {
    let rows = columns.first().map_or(0, |column| column.len());
    Mat::from_fn(rows, columns.len(), |i, j| columns[j][i])
}

/// One case per column.
fn split(q: &Mat<f64>, lambda: &Mat<f64>) -> Vec<LoadCase> {
    let column = |m: &Mat<f64>, j: usize| Mat::from_fn(m.nrows(), 1, |i, _| m[(i, j)]);
    let case = |j: usize| LoadCase {
        motion: column(q, j),
        multipliers: column(lambda, j),
    };
    (0..q.ncols()).map(case).collect()
}

/// Computes second-order quantities; `at` holds no loaded dof.
pub(super) struct SecondOrderTerms<'a> {
    pub at: &'a Linearised<'a>,
    pub modes: &'a LocalModes,
    /// Shapes of δ.
    shapes: Mat<f64>,
    /// Their derivatives along θ.
    derivatives: Vec<Mat<f64>>,
    strains: StrainProducts,
}

impl<'a> SecondOrderTerms<'a> {
    pub fn new(at: &'a Linearised<'a>, modes: &'a LocalModes) -> Self {
        let s = at.velocities.len();
        let elastic = |m: &Mat<f64>| Mat::from_fn(m.nrows(), m.ncols() - s, |i, j| m[(i, s + j)]);
        let shapes = elastic(&modes.shapes);
        let derivatives: Vec<Mat<f64>> = modes.derivatives.iter().map(elastic).collect();
        Self {
            at,
            modes,
            strains: StrainProducts::new(at.model, &shapes, &derivatives),
            shapes,
            derivatives,
        }
    }

    /// All of them; `axes` asks for the stiffness of gravity per axis.
    pub fn all(&self, axes: bool) -> Result<SecondOrder, SaddleError> {
        self.found(axes, true)
    }

    /// What loads at rest need: load stiffness with its derivatives along θ, the elastic part, positions of
    /// outputs.
    pub fn of_loads(&self, axes: bool) -> Result<SecondOrder, SaddleError> {
        self.found(axes, false)
    }

    /// All load cases are solved for together, and so are their derivatives along each θ.
    fn found(&self, axes: bool, with_motion: bool) -> Result<SecondOrder, SaddleError> {
        let (s, n) = (self.at.velocities.len(), self.shapes.ncols());
        let fields = self.fields(axes);
        let mut loads = Loads::default();
        let elastic = loads.push(&self.at.model.mass_times(&self.shapes));
        let outputs = &self.at.model.outputs;
        let forces = outputs.iter().map(|mount| self.unit_forces(mount));
        let positions: Vec<_> = forces.map(|f| loads.push(&f)).collect();
        // From here on derivatives along θ are needed too.
        let first_moved = loads.columns.len();
        let of_fields: Vec<_> = fields.iter().map(|f| loads.push(&f.load)).collect();
        let momenta = self.at.model.mass_times(&self.modes.shapes);
        let (mut of_rigid, mut centripetal) = (0..0, 0..0);
        let mut last_moved = loads.columns.len();
        if with_motion {
            of_rigid = loads.push(&momenta.subcols(0, s).to_owned());
            last_moved = loads.columns.len();
            centripetal = loads.push(&self.centripetal_loads(&momenta));
        }
        let cases = self.cases(&loads.together())?;
        let moved = first_moved..last_moved;
        let mut rates = Vec::with_capacity(s);
        for l in 0..s {
            rates.push(self.case_rates(l, &cases[moved.clone()], &fields)?);
        }
        let rate = |l: usize, case: usize| &rates[l][case - first_moved];
        let positions = (outputs.iter().zip(positions))
            .map(|(mount, place)| match place.is_empty() {
                true => std::array::from_fn(|_| Mat::zeros(n, n)),
                false => self.position_curvature(mount, &cases[place]),
            })
            .collect();
        let mut stiffness = (fields.iter().zip(&of_fields)).map(|(field, place)| {
            let case = place.start;
            let moved: Vec<&LoadCase> = (0..s).map(|l| rate(l, case)).collect();
            self.load_stiffness(field, &cases[case], &moved)
        });
        let (load_stiffness, load_stiffness_gradient) =
            stiffness.next().expect("the field of the mechanism");
        let mut found = SecondOrder {
            mass_curvature: Vec::new(),
            coupling: Vec::new(),
            elastic: (cases[elastic].iter())
                .map(|case| negative(self.of(&self.form(case, None))))
                .collect(),
            load_stiffness,
            load_stiffness_gradient,
            gravity_stiffness: stiffness.collect(),
            positions,
        };
        if with_motion {
            // ρ_jᵀM∂_kΘ_de, index j·s + k.
            let mut drift = Vec::with_capacity(s * s);
            for j in of_rigid {
                let form = self.form(&cases[j], None);
                found.coupling.push(negative(self.of(&form)));
                for k in 0..s {
                    drift.push(negative(self.form_gradient(
                        k,
                        &cases[j],
                        rate(k, j),
                        &form,
                        None,
                    )));
                }
            }
            found.mass_curvature = self.mass_curvature(&momenta, &cases[centripetal], &drift);
        }
        Ok(found)
    }

    /// Second derivatives of the mass on θ [M 14.6].
    fn mass_curvature(
        &self,
        momenta: &Mat<f64>,
        centripetal: &[LoadCase],
        drift: &[Mat<f64>],
    ) -> Vec<Mat<f64>> {
        let s = self.at.velocities.len();
        let mut out = Explicit::new(self, momenta).all();
        for j in 0..s {
            for k in 0..=j {
                let index = pair_index(j, k);
                out[index] -= self.of(&self.form(&centripetal[index], None));
                out[index] += &drift[j * s + k] + &drift[k * s + j];
            }
        }
        out
    }

    /// The mechanism's own gravity with loads and springs and, if asked for, unit gravity along each axis.
    fn fields(&self, axes: bool) -> Vec<Field> {
        let units = (0..3).map(|axis| (Vector3::ith(axis, 1.0), false));
        let own = std::iter::once((self.at.model.gravity, true));
        let all = own.chain(units.take(if axes { 3 } else { 0 }));
        all.map(|(acceleration, with_loads)| {
            let model = self.at.model;
            let pull = model.uniform_field(&acceleration, &self.at.frames);
            let mut load = model.mass_times(&pull);
            if with_loads {
                load += &self.at.applied_forces();
            }
            Field {
                acceleration,
                with_loads,
                pull,
                load,
            }
        })
        .collect()
    }

    /// Loads of a unit force at a point along each inertial axis; none where it does not move.
    fn unit_forces(&self, mount: &Mount) -> Mat<f64> {
        let Some(node) = mount.node else {
            return Mat::zeros(self.shapes.nrows(), 0);
        };
        let frame = mount_frame(mount, &self.at.frames);
        let mut loads = Mat::zeros(self.shapes.nrows(), 3);
        for axis in 0..3 {
            let row = point_row(mount, &frame, &Vector3::ith(axis, 1.0));
            for i in 0..6 {
                loads[(6 * node + i, axis)] = row[i];
            }
        }
        loads
    }

    /// Second derivatives of a point's position along each inertial axis: what a unit force there does to
    /// second-order displacements [M 14.5], and turns of the point's arm [M 14.11].
    fn position_curvature(&self, mount: &Mount, cases: &[LoadCase]) -> [Mat<f64>; 3] {
        let at = self.at;
        std::array::from_fn(|axis| {
            let mut form = self.form(&cases[axis], None);
            let force = Vector3::ith(axis, 1.0);
            form.form
                .extend(at.model.force_curvature(mount, &force, &at.frames, None));
            negative(self.of(&form))
        })
    }

    /// Derivatives along θ_l of load cases, of which the first are those of fields and the loads of others are fixed.
    fn case_rates(
        &self,
        l: usize,
        cases: &[LoadCase],
        fields: &[Field],
    ) -> Result<Vec<LoadCase>, SaddleError> {
        let at = self.at;
        let mut load_rates = Mat::zeros(self.shapes.nrows(), cases.len());
        for (c, field) in fields.iter().enumerate() {
            let pull = field.pull_rate(at, l);
            let mut rate = at.model.mass_times(&pull);
            if field.with_loads {
                rate += &at.applied_forces_rate(l);
            }
            load_rates
                .col_as_slice_mut(c)
                .copy_from_slice(rate.col_as_slice(0));
        }
        let (motions, multipliers): (Vec<&[f64]>, Vec<&[f64]>) = (cases.iter())
            .map(|case| {
                (
                    case.motion.col_as_slice(0),
                    case.multipliers.col_as_slice(0),
                )
            })
            .unzip();
        let (q, lambda) = (side_by_side(&motions), side_by_side(&multipliers));
        let (q, lambda) = at.static_response_rate(l, load_rates, &q, &lambda)?;
        Ok(split(&q, &lambda))
    }

    /// Values over the shapes of δ.
    pub fn of(&self, form: &WeightedForm) -> Mat<f64> {
        self.strains.between(form, &self.shapes)
    }

    /// Values of a form without stresses.
    fn of_form(&self, form: &BilinearForm) -> Mat<f64> {
        symmetrised(&form.between(&self.shapes, &self.shapes))
    }

    fn cases(&self, loads: &Mat<f64>) -> Result<Vec<LoadCase>, SaddleError> {
        let (q, lambda) = self.at.static_response(loads, None)?;
        Ok(split(&q, &lambda))
    }

    /// Stretch forces of springs in a motion.
    fn spring_forces(&self, motion: &Mat<f64>) -> Vec<f64> {
        let n = self.at.model.nodes.len();
        (self.at.springs.iter())
            .map(|spring| {
                let mut force = Mat::zeros(1, 1);
                spring.row.apply(n, motion, spring.stiffness, &mut force);
                force[(0, 0)]
            })
            .collect()
    }

    /// The geometric stiffness of a load case [M 14.5], as a form; `tensions` of springs are added.
    fn form(&self, case: &LoadCase, tensions: Option<&[f64]>) -> WeightedForm {
        let at = self.at;
        let mut weights = self.spring_forces(&case.motion);
        for (weight, tension) in weights.iter_mut().zip(tensions.unwrap_or_default()) {
            *weight += tension;
        }
        let mut out = WeightedForm::of_motion(at.model, case.motion.col_as_slice(0));
        let form = &mut out.form;
        form.extend(at.model.spring_curvature(&at.frames, None, &weights));
        let multipliers = case.multipliers.col_as_slice(0);
        form.extend(at.model.row_curvature(&at.frames, None, multipliers));
        out
    }

    /// Derivative along θ_l of the values of a load case's form, where the case itself changes by `moved`; `tensions`
    /// with their rates as in [`Self::form`].
    fn form_gradient(
        &self,
        l: usize,
        case: &LoadCase,
        moved: &LoadCase,
        form: &WeightedForm,
        tensions: Option<(&[f64], &[f64])>,
    ) -> Mat<f64> {
        let at = self.at;
        let mut rates = at.spring_row_products(l, &case.motion);
        let mut weights = self.spring_forces(&case.motion);
        if let Some((tension, rate)) = tensions {
            for i in 0..weights.len() {
                weights[i] += tension[i];
                rates[i] += rate[i];
            }
        }
        let velocities = Some(at.velocities[l].as_slice());
        let model = at.model;
        let mut change = self.form(moved, Some(&rates));
        let more = &mut change.form;
        more.extend(model.spring_curvature(&at.frames, velocities, &weights));
        let multipliers = case.multipliers.col_as_slice(0);
        more.extend(model.row_curvature(&at.frames, velocities, multipliers));
        let turned = (self.strains).turned(l, form, &self.shapes, &self.derivatives[l]);
        self.of(&change) + turned
    }

    /// What the change of the shapes along θ_l does to the values of a form without stresses.
    fn turned(&self, l: usize, form: &BilinearForm) -> Mat<f64> {
        let half = form.between(&self.derivatives[l], &self.shapes);
        super::inertia::plus_transpose(&half)
    }

    /// Stiffness of a uniform field and, where it has them, of constant loads and tensioned springs, with derivatives
    /// along θ [M 14.8]; `moved` are those of its load case.
    fn load_stiffness(
        &self,
        field: &Field,
        case: &LoadCase,
        moved: &[&LoadCase],
    ) -> (Mat<f64>, Vec<Mat<f64>>) {
        let at = self.at;
        let model = at.model;
        let mut explicit = model.gravity_curvature(field.pull.col_as_slice(0));
        let mut tensions = vec![0.0; at.springs.len()];
        if field.with_loads {
            explicit.extend(model.load_curvature(&at.frames, None));
            tensions = at.springs.iter().map(|s| s.tension).collect();
        }
        let form = self.form(case, Some(&tensions));
        let gradient = (moved.iter().enumerate()).map(|(l, moved)| {
            let pull_rate = field.pull_rate(at, l);
            let mut explicit_rate = model.gravity_curvature(pull_rate.col_as_slice(0));
            let mut tension_rates = vec![0.0; tensions.len()];
            if field.with_loads {
                explicit_rate.extend(model.load_curvature(&at.frames, Some(&at.velocities[l])));
                let rigid = Mat::from_fn(at.rigid.nrows(), 1, |i, _| at.rigid[(i, l)]);
                tension_rates = self.spring_forces(&rigid);
            }
            let both = Some((tensions.as_slice(), tension_rates.as_slice()));
            let change = self.form_gradient(l, case, moved, &form, both);
            change + self.of_form(&explicit_rate) + self.turned(l, &explicit)
        });
        let gradient = gradient.collect();
        (self.of(&form) + self.of_form(&explicit), gradient)
    }

    /// Loads that multiply Θ_de in the second derivatives of the mass on θ [M 14.6], one column per
    /// pair of θ: how momenta change with displacement.
    fn centripetal_loads(&self, momenta: &Mat<f64>) -> Mat<f64> {
        let s = self.at.velocities.len();
        let model = self.at.model;
        let mut out = Mat::zeros(momenta.nrows(), s * (s + 1) / 2);
        for j in 0..s {
            for k in 0..=j {
                let column = pair_index(j, k);
                for node in 0..model.nodes.len() {
                    let momentum = |c: usize| Vector6::from_fn(|i, _| momenta[(6 * node + i, c)]);
                    let (v_j, v_k) = (self.at.velocities[j][node], self.at.velocities[k][node]);
                    let load = coadjoint(&v_k, &momentum(j)) + coadjoint(&v_j, &momentum(k));
                    for i in 0..6 {
                        out[(6 * node + i, column)] += load[i];
                    }
                }
                for placed in &model.placed {
                    let element = model.element(placed);
                    let rigid = |c: usize| placed.gather(self.at.rigid.col_as_slice(c));
                    let weights = element.mass_gradient_between(&rigid(j), &rigid(k));
                    let load = element.forces_of_stress(&weights);
                    placed.scatter(&load, out.col_as_slice_mut(column));
                }
            }
        }
        out
    }

    /// Shapes of δ.
    pub fn shapes(&self) -> &Mat<f64> {
        &self.shapes
    }

    /// Derivatives of the shapes of δ along θ_l.
    pub fn derivative(&self, l: usize) -> &Mat<f64> {
        &self.derivatives[l]
    }

    /// Second-order displacements Θ_de themselves [M 14.2]: for every d one column per e.
    pub fn displacements(&self) -> Result<Vec<Mat<f64>>, SaddleError> {
        let at = self.at;
        let model = at.model;
        let n = self.shapes.ncols();
        let mut load: Vec<Mat<f64>> = (0..n).map(|_| Mat::zeros(self.shapes.nrows(), n)).collect();
        let mut gaps: Vec<Mat<f64>> = (0..n).map(|_| Mat::zeros(at.rows.n_rows, n)).collect();
        for placed in &model.placed {
            let element = model.element(placed);
            let local: Vec<_> = (0..n)
                .map(|d| placed.gather(self.shapes.col_as_slice(d)))
                .collect();
            for m in 0..element.n_strains() {
                let mut unit = DVector::zeros(element.n_strains());
                unit[m] = 1.0;
                let form = element.strain_curvature(&unit);
                let force = element.forces_of_stress(&element.stress(&unit));
                for (d, load) in load.iter_mut().enumerate() {
                    for e in 0..n {
                        let strain = local[d].dot(&(&form * &local[e]));
                        placed.scatter(&(&force * -strain), load.col_as_slice_mut(e));
                    }
                }
            }
        }
        let mut weights = vec![0.0; at.springs.len()];
        for (i, spring) in at.springs.iter().enumerate() {
            weights[i] = spring.stiffness;
            let stretch = self.of_form(&model.spring_curvature(&at.frames, None, &weights));
            weights[i] = 0.0;
            for (d, load) in load.iter_mut().enumerate() {
                let force = Mat::from_fn(1, n, |_, e| -stretch[(d, e)]);
                spring
                    .row
                    .apply_transposed(model.nodes.len(), &force, 1.0, load);
            }
        }
        let mut weights = vec![0.0; at.rows.n_rows];
        for row in 0..at.rows.n_rows {
            weights[row] = 1.0;
            let gap = self.of_form(&model.row_curvature(&at.frames, None, &weights));
            weights[row] = 0.0;
            for (d, gaps) in gaps.iter_mut().enumerate() {
                for e in 0..n {
                    gaps[(row, e)] = -gap[(d, e)];
                }
            }
        }
        (load.iter().zip(&gaps))
            .map(|(load, gaps)| Ok(at.static_response(load, Some(gaps))?.0))
            .collect()
    }
}

fn negative(m: Mat<f64>) -> Mat<f64> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| -m[(i, j)])
}

impl super::LocalReducer {
    /// Second-order quantities at a configuration; none where nothing can deform or no shape is kept.
    pub fn second_order(
        &self,
        configuration: &Configuration,
    ) -> Result<Option<SecondOrder>, ReductionError> {
        self.with_second_order(configuration, |terms| terms.all(self.gravity_is_free()))
    }

    /// Shapes of δ at a configuration with their second-order displacements; none where nothing can
    /// deform or no shape is kept.
    pub fn second_order_shapes(
        &self,
        configuration: &Configuration,
    ) -> Result<Option<SecondOrderShapes>, ReductionError> {
        self.with_second_order(configuration, |terms| {
            Ok(SecondOrderShapes {
                shapes: terms.shapes.clone(),
                displacements: terms.displacements()?,
            })
        })
    }

    fn with_second_order<T>(
        &self,
        configuration: &Configuration,
        ask: impl Fn(&SecondOrderTerms<'_>) -> Result<T, SaddleError>,
    ) -> Result<Option<T>, ReductionError> {
        let (Some(locked), true) = (self.locked.as_ref(), self.n() > self.n_rigid()) else {
            return Ok(None);
        };
        let fault = |fault: SaddleError| self.fault(&configuration.theta, fault);
        let at = self.linearise(configuration)?;
        let modes = self.modes(&at)?;
        let free =
            Linearised::new(self.model(), configuration, Some(locked), false).map_err(fault)?;
        let terms = SecondOrderTerms::new(&free, &modes);
        Ok(Some(ask(&terms).map_err(fault)?))
    }
}
