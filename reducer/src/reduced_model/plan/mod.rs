//! A model in the order in which it is evaluated.
//!
//! The evaluator of this library runs the kernel on a plan, and generated source is printed from one, so
//! that both do the same operations in the same order. Polynomials of a box whose gradients are needed are
//! ordered in runs: coefficients that differ only in the degree of the first θ. A kernel sums a run, folds
//! the sum over the second θ, and so on, so that values and gradients come from one pass over the table.
//! Columns with much the same terms stand side by side (`columns`), and every such group has its own runs.
//! Tables that can be written in powers of ξ without loss have their runs from the highest degree down, as
//! Horner's scheme wants them. Where values suffice, `terms` says how the terms are evaluated; `moving` does so for
//! tables with gradients where derivatives in time and one sum of gradients cost less than all of them.

mod columns;
mod combined;
mod common;
mod grid;
mod moving;
mod powers;
mod runs;
mod table;
mod terms;

pub use combined::PlanCombined;
pub use common::Common;
pub use grid::Grid;
pub use moving::PlanMoving;
pub use table::PlanTable;

use super::{
    BoxModel, Component, ComponentLists, Constant, ModelForm, ModelLayout, ReducedModel, Table,
    TreeNode,
};
use common::common_first;
use kernel::{Combining, Entry, Finder, Form, Group, Held, Model, Node};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Generated source: without what only energies need.
    Code,
    /// Evaluation in this library.
    Evaluation,
    /// A few evaluations of a model of one box: nothing is done that takes long to prepare.
    Trial,
}

/// What of a model a plan is made from.
struct Parts<'a> {
    layout: &'a ModelLayout,
    form: ModelForm,
    components: &'a ComponentLists,
    tree: Cow<'a, [TreeNode]>,
    boxes: Vec<&'a BoxModel>,
    waves: Vec<bool>,
}

/// A model in the order in which it is evaluated.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is stored.
    pub form: Form,
    /// Generalised coordinates.
    pub n: usize,
    /// Actuated coordinates.
    pub n_rigid: usize,
    /// Outputs.
    pub n_outputs: usize,
    /// Rows of the load map.
    pub n_loaded: usize,
    /// The tree of boxes.
    pub nodes: Vec<Node<f64>>,
    /// Where cells of a regular grid find the box.
    pub grid: Option<Grid>,
    /// Centre and inverse half width of one box after the other; of one that is never reached where a model
    /// has none, because tables need an entry.
    pub boxes: Vec<f64>,
    /// Polynomials of the dynamics.
    pub dynamics: PlanTable,
    /// Polynomials of outputs and load map; without values where there are none.
    pub motion: PlanTable,
    /// Polynomials of derived quantities, values alone; empty where there are none.
    pub derived: PlanTable,
    /// Meaning of the values, by [`Group`].
    pub entries: [Vec<Entry>; Group::COUNT],
    /// Rows and columns where the factor of the mass matrix may differ from zero, column by column.
    pub factor_places: Vec<[u8; 2]>,
    /// Of every row of that factor: where its columns that may differ from zero end.
    pub factor_ends: Vec<u8>,
    /// In which θ the functions are waves; empty where in none.
    pub waves: Vec<bool>,
    domain: DomainNumbers,
    held: HeldNumbers,
}

#[derive(Debug, Clone)]
struct DomainNumbers {
    lower: Vec<f64>,
    upper: Vec<f64>,
    periodic: Vec<bool>,
    /// Coefficients and bound of one inequality after the other.
    inequalities: Vec<f64>,
}

/// What the stored numbers hold of parameters; empty where they hold nothing.
#[derive(Debug, Clone)]
struct HeldNumbers {
    payload_mass: Vec<f64>,
    rotor_inertia: Vec<f64>,
    viscous: Vec<f64>,
    gravity: [f64; 3],
}

impl Plan {
    /// The plan of a valid model.
    pub fn new(model: &ReducedModel, purpose: Purpose) -> Self {
        let parts = Parts {
            layout: &model.layout,
            form: model.form,
            components: &model.components,
            tree: Cow::Borrowed(&model.tree),
            boxes: model.boxes.iter().collect(),
            waves: model.waves(),
        };
        Self::of_parts(parts, purpose)
    }

    /// The plan of generated code for one box with the given terms, whatever its coefficients.
    pub(crate) fn of_terms(
        layout: &ModelLayout,
        form: ModelForm,
        components: &ComponentLists,
        terms: &[Vec<u8>],
    ) -> Self {
        // Coefficients that are not zero, and fall as those of smooth functions do.
        let size = |term: &Vec<u8>| {
            if term.iter().all(|d| *d == 0) {
                1.0
            } else {
                1e-3
            }
        };
        let table = |columns: usize| Table {
            coefficients: terms
                .iter()
                .flat_map(|t| std::iter::repeat_n(size(t), columns))
                .collect(),
            terms: terms.to_vec(),
        };
        let whole = BoxModel {
            lower: layout.domain.lower.clone(),
            upper: layout.domain.upper.clone(),
            dynamics: table(components.dynamics.len()),
            outputs: table(components.outputs.len()),
            definite: None,
            reached: false,
            errors: Vec::new(),
        };
        let parts = Parts {
            layout,
            form,
            components,
            tree: Cow::Owned(vec![TreeNode::Leaf { index: 0 }]),
            boxes: vec![&whole],
            waves: vec![false; layout.n_rigid],
        };
        Self::of_parts(parts, Purpose::Code)
    }

    fn of_parts(mut model: Parts, purpose: Purpose) -> Self {
        if purpose == Purpose::Code {
            common_first(&mut model);
        }
        let layout = model.layout;
        let mut entries = [const { Vec::new() }; Group::COUNT];
        let direct = model.form == ModelForm::Direct;
        let energies = !direct || purpose != Purpose::Code;
        let lists = &model.components;
        let waves = match model.waves.contains(&true) {
            true => std::mem::take(&mut model.waves),
            false => Vec::new(),
        };
        let (prepared, in_pairs) = (purpose != Purpose::Trial, !waves.is_empty());
        let mut table = |output: bool, gradients: bool| {
            let of_table = |c: &Component| c.is_output() == output && !c.is_derived();
            let used = |c: &Component| of_table(c) && (energies || !c.facts().is_energy);
            let constants: Vec<Constant> = lists
                .constants
                .iter()
                .filter(|c| used(&c.component))
                .copied()
                .collect();
            let tables: Vec<&Table> = model.boxes.iter().map(|b| b.table(output)).collect();
            let stored = if output {
                &lists.outputs
            } else {
                &lists.dynamics
            };
            let build = table::Build {
                stored,
                used: &used,
                constants: &constants,
                combined: if output { &[] } else { &lists.combined },
                n_rigid: layout.n_rigid,
                gradients,
                powers: prepared && !in_pairs,
                moving: prepared && !output,
                in_pairs,
            };
            build.table(&tables, &mut entries)
        };
        let dynamics = table(false, !direct);
        let motion = table(true, true);
        let derived = derived_table(&model, prepared && !in_pairs, in_pairs, &mut entries);
        let factor_places = factor_places(&entries);
        let end = |i: u8| {
            let of_row = factor_places.iter().filter(|p| p[0] == i);
            of_row.map(|p| p[1] + 1).max().unwrap_or(i)
        };
        let factor_ends = (0..layout.n() as u8).map(end).collect();
        Self {
            form: match model.form {
                ModelForm::Lagrangian => Form::Lagrangian,
                ModelForm::Direct => Form::Direct,
            },
            n: layout.n(),
            n_rigid: layout.n_rigid,
            n_outputs: layout.outputs.len(),
            n_loaded: layout.loaded.len(),
            nodes: model.tree.iter().map(plan_node).collect(),
            grid: Grid::new(&model),
            boxes: plan_boxes(&model),
            dynamics,
            motion,
            derived,
            factor_places,
            factor_ends,
            entries,
            waves,
            domain: DomainNumbers::new(layout),
            held: HeldNumbers::new(layout),
        }
    }

    /// Entries of a group.
    pub fn list(&self, group: Group) -> &[Entry] {
        &self.entries[group as usize]
    }

    /// Tables with values: dynamics, and motion and derived quantities where there are any.
    pub fn tables(&self) -> impl Iterator<Item = &PlanTable> {
        self.named_tables().map(|(_, table)| table)
    }

    /// The same with the names of their fields.
    pub fn named_tables(&self) -> impl Iterator<Item = (&'static str, &PlanTable)> {
        let motion = Some(("motion", &self.motion)).filter(|_| self.has_motion());
        let derived = Some(("derived", &self.derived)).filter(|_| self.has_derived());
        let dynamics = std::iter::once(("dynamics", &self.dynamics));
        dynamics.chain(motion).chain(derived)
    }

    /// There are derived quantities that are not zero.
    pub fn has_derived(&self) -> bool {
        !self.list(Group::Derived).is_empty()
    }

    /// There are outputs or a load map.
    pub fn has_motion(&self) -> bool {
        self.n_outputs > 0 || !self.list(Group::LoadMap).is_empty()
    }

    /// Number of boxes.
    pub fn n_boxes(&self) -> usize {
        self.boxes.len() / (2 * self.n_rigid)
    }

    /// Degrees that the basis must hold, at least two; with waves an odd number.
    pub fn degrees(&self) -> usize {
        let shapes = self.tables().flat_map(|t| &t.shapes);
        let most = shapes.map(|[.., degree]| *degree as usize + 1).max();
        match (most.unwrap_or(2).max(2), self.waves.is_empty()) {
            (most, true) => most,
            // Cosines and sines come in pairs.
            (most, false) => (most / 2) * 2 + 1,
        }
    }

    /// An output's elastic rotation is stored.
    pub fn has_turn(&self) -> bool {
        self.list(Group::Amplitude).iter().any(|e| e.i >= 3)
    }

    /// Number of inequalities.
    pub fn n_inequalities(&self) -> usize {
        self.domain.inequalities.len() / (self.n_rigid + 1)
    }

    /// Numbers of memory that suffice for any call of the kernel.
    pub fn memory(&self) -> usize {
        let (n, s) = (self.n, self.n_rigid);
        let fields: usize = self
            .tables()
            .map(|t| (1 + s) * t.values() + 2 * t.n_terms)
            .sum();
        let pairs = s * (s + 1) / 2;
        let curvatures: usize = self.tables().map(|t| pairs * t.values()).sum();
        let level = 4 * s * (1 + s + pairs);
        6 * fields + curvatures + level + 12 * n * n + 40 * n + 12 * s * self.degrees() + 16 * s
    }

    /// The model as the kernel wants it.
    pub fn model(&self) -> Combining<'_, f64> {
        let (domain, held) = (&self.domain, &self.held);
        let model = Model {
            form: self.form,
            n: self.n,
            n_rigid: self.n_rigid,
            n_outputs: self.n_outputs,
            n_loaded: self.n_loaded,
            theta_min: &domain.lower,
            theta_max: &domain.upper,
            periodic: &domain.periodic,
            waves: &self.waves,
            inequalities: &domain.inequalities,
            finder: self.finder(),
            boxes: &self.boxes,
            dynamics: self.dynamics.view(),
            motion: self.motion.view(),
            derived: self.derived.view(),
            degrees: self.degrees(),
            entries: self.entries.each_ref().map(Vec::as_slice),
            factor_ends: &self.factor_ends,
            has_turn: self.has_turn(),
            held: Held {
                payload_mass: &held.payload_mass,
                rotor_inertia: &held.rotor_inertia,
                viscous: &held.viscous,
                gravity: held.gravity,
            },
        };
        Combining {
            model,
            combined: self.dynamics.combined.view(),
        }
    }

    /// How a box is found.
    pub fn finder(&self) -> Finder<'_, f64> {
        match (&self.grid, &self.nodes[..]) {
            (Some(grid), _) => grid.finder(),
            (None, [only]) if only.low < 0 => Finder::Nowhere,
            (None, [_]) => Finder::Single,
            (None, nodes) => Finder::Tree(nodes),
        }
    }
}

impl DomainNumbers {
    fn new(layout: &ModelLayout) -> Self {
        let domain = &layout.domain;
        let inequalities = domain.inequalities.iter();
        Self {
            lower: domain.lower.clone(),
            upper: domain.upper.clone(),
            periodic: domain.periodic.clone(),
            inequalities: inequalities
                .flat_map(|i| i.coefficients.iter().copied().chain([i.bound]))
                .collect(),
        }
    }
}

impl HeldNumbers {
    fn new(layout: &ModelLayout) -> Self {
        let p = &layout.parameters;
        let held = |values: &[f64]| match values.iter().any(|v| *v != 0.0) {
            true => values.to_vec(),
            false => Vec::new(),
        };
        Self {
            payload_mass: held(&p.payload_mass),
            rotor_inertia: held(&p.rotor_inertia),
            viscous: held(&p.viscous),
            gravity: p.gravity,
        }
    }
}

impl BoxModel {
    fn table(&self, output: bool) -> &Table {
        if output {
            &self.outputs
        } else {
            &self.dynamics
        }
    }
}

/// The table of derived quantities: their columns of the table of outputs, with the terms that they have.
fn derived_table(
    model: &Parts,
    powers: bool,
    in_pairs: bool,
    entries: &mut [Vec<Entry>; Group::COUNT],
) -> PlanTable {
    let lists = model.components;
    let (columns, stored): (Vec<usize>, Vec<Component>) = (lists.outputs.iter().enumerate())
        .filter(|(_, c)| c.is_derived())
        .unzip();
    let constants: Vec<Constant> = (lists.constants.iter())
        .filter(|c| c.component.is_derived())
        .copied()
        .collect();
    if stored.is_empty() && constants.is_empty() {
        return PlanTable::default();
    }
    let own = |b: &&BoxModel| b.outputs.of_columns(lists.outputs.len(), &columns);
    let tables: Vec<Table> = model.boxes.iter().map(own).collect();
    let build = table::Build {
        stored: &stored,
        used: &|_| true,
        constants: &constants,
        combined: &[],
        n_rigid: model.layout.n_rigid,
        gradients: false,
        powers,
        moving: false,
        in_pairs,
    };
    build.table(&tables.iter().collect::<Vec<_>>(), entries)
}

fn plan_boxes(model: &Parts) -> Vec<f64> {
    let s = model.layout.n_rigid;
    if model.boxes.is_empty() {
        return [vec![0.0; s], vec![1.0; s]].concat();
    }
    let numbers = |b: &BoxModel| {
        let pairs = || b.lower.iter().zip(&b.upper);
        let centre = pairs().map(|(l, u)| 0.5 * (l + u));
        let inverse = pairs().map(|(l, u)| 1.0 / (0.5 * (u - l)));
        centre.chain(inverse).collect::<Vec<_>>()
    };
    model.boxes.iter().copied().flat_map(numbers).collect()
}

fn plan_node(node: &TreeNode) -> Node<f64> {
    let end = |low: i32| Node {
        at: 0.0,
        axis: -1,
        low,
        high: -1,
    };
    match node {
        TreeNode::Split {
            axis,
            at,
            low,
            high,
        } => Node {
            at: *at,
            axis: *axis as i32,
            low: *low as i32,
            high: *high as i32,
        },
        TreeNode::Leaf { index } => end(*index as i32),
        TreeNode::Dropped { .. } => end(-1),
    }
}

fn factor_places(entries: &[Vec<Entry>; Group::COUNT]) -> Vec<[u8; 2]> {
    let lists = [Group::MassFactor, Group::MassSlope];
    let stored = lists.iter().flat_map(|&g| &entries[g as usize]);
    let places: BTreeSet<(u8, u8)> = stored.map(|e| (e.j, e.i)).collect();
    places.into_iter().map(|(j, i)| [i, j]).collect()
}
