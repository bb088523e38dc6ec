//! What generated source evaluates, in no particular language.
//!
//! Polynomials of a box whose gradients are needed are ordered in runs: coefficients that differ only
//! in the degree of the first θ. A kernel sums a run, folds the sum over the second θ, and so on, so
//! that values and gradients come from one pass over the table (see the comment of the generated
//! `polynomials`). Tables that can be written in powers of ξ without loss have their runs from the
//! highest degree down, as Horner's scheme wants them. Where values suffice, `terms` says how the
//! terms are evaluated.

use super::common::{common_first, n_common};
use super::grid::Grid;
use super::powers::in_powers;
use super::runs::{Run, n_rows, rows_of, runs_of, shape_degree};
use super::terms::TermList;
use crate::WriteError;
use reducer::reduced_model::{
    BoxModel, Component, Constant, ModelForm, ReducedModel, Table, TreeNode,
};
use std::collections::BTreeMap;

/// Largest numbers of things that generated code holds.
pub(super) mod limits {
    /// Coefficients of one table.
    pub const COEFFICIENTS: usize = 4_000_000;
    /// Values of one table: columns and constants.
    pub const VALUES: usize = 60_000;
    /// Nodes of the tree.
    pub const NODES: usize = 2_000_000;
}

/// Columns whose values fit into the registers of common processors.
const VALUE_LANES: usize = 28;

/// Terms, at most, that are written out for boxes that share them: their values fit into registers.
const WRITTEN_TERMS: usize = 20;

/// A model in the order in which generated code evaluates it.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub n: usize,
    pub n_rigid: usize,
    pub n_outputs: usize,
    pub n_loaded: usize,
    pub n_inequalities: usize,
    pub n_periodic: usize,
    pub form: ModelForm,
    pub nodes: Vec<PlanNode>,
    pub depth: usize,
    /// Where cells of a regular grid find the box.
    pub grid: Option<Grid>,
    pub boxes: Vec<PlanBox>,
    pub dynamics: PlanTable,
    /// Absent where a model has neither outputs nor a load map.
    pub motion: Option<PlanTable>,
    pub entries: BTreeMap<Group, Vec<Entry>>,
}

/// Node of the tree: a cut (`axis` ≥ 0), a box (`low` ≥ 0) or a region without a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanNode {
    pub axis: i64,
    pub at: f64,
    pub low: i64,
    pub high: i64,
}

#[derive(Debug, Clone)]
pub(super) struct PlanBox {
    pub centre: Vec<f64>,
    pub half_width: Vec<f64>,
}

/// A table with its coefficients in the order of the runs.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanTable {
    /// Stored columns, rounded up to a multiple of the lanes.
    pub columns: usize,
    /// Columns that are summed side by side.
    pub lanes: usize,
    /// Gradients are needed, not values alone.
    pub gradients: bool,
    /// Coefficients are those of powers, in falling order.
    pub powers: bool,
    pub constants: Vec<f64>,
    /// With gradients: the runs of boxes that differ in them.
    pub shapes: Vec<Vec<Run>>,
    /// Values alone: the terms of boxes that differ in them.
    pub term_lists: Vec<TermList>,
    /// Values alone: how many boxes, all in front, have the first list of terms, which is short.
    pub common: usize,
    /// Of every box: its shape or its list of terms.
    pub box_shapes: Vec<usize>,
    /// Of every box: where its coefficients start.
    pub starts: Vec<usize>,
    /// Of every box: the rows of as many columns as are summed side by side, then of the next ones;
    /// rows of all columns where values alone are needed.
    pub coefficients: Vec<f64>,
}

/// Which list of the generated source holds a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    MassFactor,
    MassSlope,
    StiffnessFactor,
    DampingFactor,
    Mass,
    Gyroscopic,
    Stiffness,
    Damping,
    Force,
    Potential,
    Gravity,
    GravityPotential,
    GravityForce,
    Position,
    Quaternion,
    Amplitude,
    LoadMap,
}

/// A stored value and its place in the equations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub value: usize,
    pub i: usize,
    pub j: usize,
    pub k: usize,
    /// For values that take four indices; no list has any yet.
    pub l: usize,
}

impl Group {
    pub const ALL: [Self; 17] = [
        Self::MassFactor,
        Self::MassSlope,
        Self::StiffnessFactor,
        Self::DampingFactor,
        Self::Mass,
        Self::Gyroscopic,
        Self::Stiffness,
        Self::Damping,
        Self::Force,
        Self::Potential,
        Self::Gravity,
        Self::GravityPotential,
        Self::GravityForce,
        Self::Position,
        Self::Quaternion,
        Self::Amplitude,
        Self::LoadMap,
    ];

    /// Name of the list and what its indices mean.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::MassFactor => ("mass_factor", "Entries (i, j) of U0."),
            Self::MassSlope => (
                "mass_slope",
                "Entries (i, j) of U_k, which eta_k multiplies.",
            ),
            Self::StiffnessFactor => ("stiffness_factor", "Entries (i, j) of L, K = L L^T."),
            Self::DampingFactor => ("damping_factor", "Entries (i, j) of the factor of D."),
            Self::Mass => ("mass", "Entries (i, j) of M, j >= i."),
            Self::Gyroscopic => ("gyroscopic", "Entries h_ijk, k >= j."),
            Self::Stiffness => ("stiffness", "Entries (i, j) of K, j >= i."),
            Self::Damping => ("damping", "Entries (i, j) of D, j >= i."),
            Self::Force => ("force", "Static force on coordinate i."),
            Self::Potential => ("potential", "Potential energy at eta = (theta, 0)."),
            Self::Gravity => ("gravity", "Gravity's part of the force on coordinate i."),
            Self::GravityPotential => (
                "gravity_potential",
                "Potential per unit of gravity along axis k.",
            ),
            Self::GravityForce => (
                "gravity_force",
                "Force on coordinate i per unit of gravity along axis k.",
            ),
            Self::Position => ("position", "Axis i of the position of output k."),
            Self::Quaternion => ("quaternion", "Entry i of the quaternion of output k."),
            Self::Amplitude => ("amplitude", "Row i of output k per modal coordinate j."),
            Self::LoadMap => ("load_map", "Displacement of loaded dof i per coordinate j."),
        }
    }

    /// Models like this one may have such entries.
    pub fn belongs(self, plan: &Plan) -> bool {
        let lagrangian = plan.form == ModelForm::Lagrangian;
        match self {
            Self::MassFactor
            | Self::MassSlope
            | Self::StiffnessFactor
            | Self::DampingFactor
            | Self::Potential => lagrangian,
            Self::Mass | Self::Gyroscopic | Self::Stiffness => !lagrangian,
            Self::Damping | Self::Force => true,
            Self::Gravity => {
                let per_axis = [Self::GravityPotential, Self::GravityForce];
                per_axis.iter().all(|g| plan.list(*g).is_empty())
            }
            Self::Position | Self::Quaternion | Self::Amplitude => plan.n_outputs > 0,
            Self::LoadMap | Self::GravityPotential | Self::GravityForce => {
                !plan.list(self).is_empty()
            }
        }
    }

    fn of(component: Component) -> (Self, [usize; 3]) {
        match component {
            Component::MassFactor { row, column } => (Self::MassFactor, [row, column, 0]),
            Component::MassFactorSlope {
                coordinate,
                row,
                column,
            } => (Self::MassSlope, [row, column, coordinate]),
            Component::Potential => (Self::Potential, [0; 3]),
            Component::Force { row } => (Self::Force, [row, 0, 0]),
            Component::Gravity { row } => (Self::Gravity, [row, 0, 0]),
            Component::GravityPotential { axis } => (Self::GravityPotential, [0, 0, axis]),
            Component::GravityForce { row, axis } => (Self::GravityForce, [row, 0, axis]),
            Component::StiffnessFactor { row, column } => (Self::StiffnessFactor, [row, column, 0]),
            Component::DampingFactor { row, column } => (Self::DampingFactor, [row, column, 0]),
            Component::Damping { row, column } => (Self::Damping, [row, column, 0]),
            Component::Mass { row, column } => (Self::Mass, [row, column, 0]),
            Component::Gyroscopic { row, first, second } => {
                (Self::Gyroscopic, [row, first, second])
            }
            Component::Stiffness { row, column } => (Self::Stiffness, [row, column, 0]),
            Component::Position { output, axis } => (Self::Position, [axis, 0, output]),
            Component::Quaternion { output, entry } => (Self::Quaternion, [entry, 0, output]),
            Component::Amplitude {
                output,
                row,
                coordinate,
            } => (Self::Amplitude, [row, coordinate, output]),
            Component::LoadMap { loaded, coordinate } => (Self::LoadMap, [loaded, coordinate, 0]),
        }
    }
}

impl Plan {
    /// The plan of a model; the model is validated first.
    pub fn new(model: &ReducedModel) -> Result<Self, WriteError> {
        model.validate()?;
        let model = common_first(model);
        let model = model.as_ref();
        let layout = &model.layout;
        let mut entries = BTreeMap::new();
        let direct = model.form == ModelForm::Direct;
        // The direct form's forces are stored: its potentials serve energies only.
        let is_energy =
            |c: &Component| matches!(c, Component::Potential | Component::GravityPotential { .. });
        let used = |c: &Component| !(direct && is_energy(c));
        let constants = |output: bool| {
            let of_table = move |c: &&Constant| c.component.is_output() == output;
            model.components.constants.iter().filter(of_table)
        };
        let dynamics = PlanTable::new(
            model,
            |b| &b.dynamics,
            &model.components.dynamics,
            constants(false),
            used,
            !direct,
            &mut entries,
        )?;
        let lists = &model.components;
        let is_load_map = |c: &Component| matches!(c, Component::LoadMap { .. });
        let has_load_map = lists.outputs.iter().any(is_load_map)
            || constants(true).any(|c| is_load_map(&c.component));
        let motion = (has_load_map || !layout.outputs.is_empty())
            .then(|| {
                PlanTable::new(
                    model,
                    |b| &b.outputs,
                    &model.components.outputs,
                    constants(true),
                    |_| true,
                    true,
                    &mut entries,
                )
            })
            .transpose()?;
        within("nodes of the tree", model.tree.len(), limits::NODES)?;
        Ok(Self {
            n: layout.n(),
            n_rigid: layout.n_rigid,
            n_outputs: layout.outputs.len(),
            n_loaded: layout.loaded.len(),
            n_inequalities: layout.domain.inequalities.len(),
            n_periodic: layout.domain.periodic.iter().filter(|p| **p).count(),
            form: model.form,
            nodes: model.tree.iter().map(PlanNode::new).collect(),
            depth: tree_depth(&model.tree),
            grid: Grid::new(model),
            boxes: plan_boxes(model),
            dynamics,
            motion,
            entries,
        })
    }

    /// Entries of one list.
    pub fn list(&self, group: Group) -> &[Entry] {
        self.entries.get(&group).map_or(&[], Vec::as_slice)
    }

    pub fn tables(&self) -> impl Iterator<Item = &PlanTable> {
        std::iter::once(&self.dynamics).chain(&self.motion)
    }

    /// The basis is needed: for sums of Chebyshev polynomials, or for second derivatives.
    pub fn has_basis(&self) -> bool {
        let second = self.form == ModelForm::Lagrangian || self.n_outputs > 0;
        second || self.tables().any(|t| t.gradients && !t.powers)
    }

    /// Degrees that the basis must hold, at least two.
    pub fn degrees(&self) -> usize {
        let shapes = self.tables().flat_map(|t| &t.shapes);
        shapes
            .map(|s| shape_degree(s) + 1)
            .max()
            .unwrap_or(2)
            .max(2)
    }

    /// An output's elastic rotation is stored.
    pub fn has_turn(&self) -> bool {
        self.list(Group::Amplitude).iter().any(|e| e.i >= 3)
    }
}

/// The boxes; one that is never reached where a model has none, because tables need an entry.
fn plan_boxes(model: &ReducedModel) -> Vec<PlanBox> {
    if model.boxes.is_empty() {
        let s = model.layout.n_rigid;
        return vec![PlanBox {
            centre: vec![0.0; s],
            half_width: vec![1.0; s],
        }];
    }
    model.boxes.iter().map(PlanBox::new).collect()
}

fn within(what: &'static str, found: usize, largest: usize) -> Result<(), WriteError> {
    if found > largest {
        return Err(WriteError::TooLarge {
            what,
            found,
            largest,
        });
    }
    Ok(())
}

fn tree_depth(tree: &[TreeNode]) -> usize {
    let mut depth = vec![0; tree.len()];
    for (i, node) in tree.iter().enumerate() {
        if let TreeNode::Split { low, high, .. } = node {
            depth[*low] = depth[i] + 1;
            depth[*high] = depth[i] + 1;
        }
    }
    depth.into_iter().max().unwrap_or(0)
}

impl PlanNode {
    fn new(node: &TreeNode) -> Self {
        let end = |low: i64| Self {
            axis: -1,
            at: 0.0,
            low,
            high: -1,
        };
        match node {
            TreeNode::Split {
                axis,
                at,
                low,
                high,
            } => Self {
                axis: *axis as i64,
                at: *at,
                low: *low as i64,
                high: *high as i64,
            },
            TreeNode::Leaf { index } => end(*index as i64),
            TreeNode::Dropped { .. } => end(-1),
        }
    }
}

impl PlanBox {
    fn new(b: &BoxModel) -> Self {
        let pairs = || b.lower.iter().zip(&b.upper);
        Self {
            centre: pairs().map(|(l, u)| 0.5 * (l + u)).collect(),
            half_width: pairs().map(|(l, u)| 0.5 * (u - l)).collect(),
        }
    }
}

impl PlanTable {
    fn new<'a>(
        model: &'a ReducedModel,
        table_of: impl Fn(&'a BoxModel) -> &'a Table,
        components: &[Component],
        constants: impl Iterator<Item = &'a Constant>,
        used: impl Fn(&Component) -> bool,
        gradients: bool,
        entries: &mut BTreeMap<Group, Vec<Entry>>,
    ) -> Result<Self, WriteError> {
        let mut kept: Vec<usize> = (0..components.len())
            .filter(|&c| used(&components[c]))
            .collect();
        if !gradients {
            kept.sort_by_key(|&c| by_factor(components[c]));
        }
        let lanes = lanes(kept.len(), gradients);
        let columns = kept.len().next_multiple_of(lanes).max(lanes);
        let mut add = |component: Component, value: usize| {
            let (group, [i, j, k]) = Group::of(component);
            let list: &mut Vec<Entry> = entries.entry(group).or_default();
            list.push(Entry {
                value,
                i,
                j,
                k,
                l: 0,
            });
        };
        for (value, &c) in kept.iter().enumerate() {
            add(components[c], value);
        }
        let mut out = Self {
            columns,
            lanes,
            gradients,
            ..Self::default()
        };
        for constant in constants.filter(|c| used(&c.component)) {
            add(constant.component, columns + out.constants.len());
            out.constants.push(constant.value);
        }
        within(
            "values of a table",
            columns + out.constants.len(),
            limits::VALUES,
        )?;
        let empty = Table {
            terms: Vec::new(),
            coefficients: Vec::new(),
        };
        let mut tables: Vec<&Table> = model.boxes.iter().map(table_of).collect();
        if tables.is_empty() {
            tables.push(&empty);
        }
        let s = model.layout.n_rigid;
        let powers = if gradients {
            in_powers(&tables, components.len(), s)
        } else {
            None
        };
        if let Some(powers) = &powers {
            out.powers = true;
            tables = powers.iter().collect();
        }
        let mut known_shapes = BTreeMap::new();
        let mut known_lists = BTreeMap::new();
        for table in tables {
            let rows = if gradients {
                let runs = runs_of(&table.terms, s, out.powers);
                let rows = rows_of(&runs, out.powers);
                let shape = place(runs, &mut known_shapes, &mut out.shapes);
                out.box_shapes.push(shape);
                rows
            } else {
                let list = TermList::new(&table.terms, s);
                let rows = list.rows.clone();
                let list = place(list, &mut known_lists, &mut out.term_lists);
                out.box_shapes.push(list);
                rows
            };
            out.add_box(&rows, table, components.len(), &kept)?;
        }
        out.common = n_common(&out.term_lists, &out.box_shapes, WRITTEN_TERMS);
        Ok(out)
    }

    /// Largest number of rows of a box.
    pub fn n_terms(&self) -> usize {
        let of_runs = |runs: &Vec<Run>| n_rows(runs);
        let of_lists = self.term_lists.iter().map(|l| l.rows.len());
        let all = self.shapes.iter().map(of_runs).chain(of_lists);
        all.max().unwrap_or(1)
    }

    /// Appends the coefficients of a box in the order of its rows.
    fn add_box(
        &mut self,
        rows: &[Vec<u8>],
        table: &Table,
        n_components: usize,
        kept: &[usize],
    ) -> Result<(), WriteError> {
        let terms: BTreeMap<&[u8], usize> = table
            .terms
            .iter()
            .enumerate()
            .map(|(m, t)| (t.as_slice(), m))
            .collect();
        let total = self.coefficients.len() + rows.len() * self.columns;
        within("coefficients of a table", total, limits::COEFFICIENTS)?;
        self.starts.push(self.coefficients.len());
        let width = if self.gradients {
            self.lanes
        } else {
            self.columns
        };
        for first in (0..self.columns).step_by(width) {
            for row in rows {
                let stored = terms.get(row.as_slice());
                let value = |column: usize| match (stored, kept.get(column)) {
                    (Some(m), Some(c)) => table.coefficients[m * n_components + c],
                    _ => 0.0,
                };
                self.coefficients.extend((first..first + width).map(value));
            }
        }
        Ok(())
    }
}

/// The place of an order of rows in a list; equal ones are stored once.
fn place<T: Ord + Clone>(order: T, known: &mut BTreeMap<T, usize>, list: &mut Vec<T>) -> usize {
    let next = list.len();
    let found = *known.entry(order.clone()).or_insert(next);
    if found == next {
        list.push(order);
    }
    found
}

/// Values that the same factor multiplies in the equations stand together, in the order of rows.
fn by_factor(component: Component) -> (Group, [usize; 3]) {
    let (group, [i, j, k]) = Group::of(component);
    (group, [j, k, i])
}

/// Columns side by side: sums of values alone need one register each, gradients several.
fn lanes(columns: usize, gradients: bool) -> usize {
    match columns {
        0..=2 => 2,
        _ if gradients => 4,
        _ => columns
            .div_ceil(columns.div_ceil(VALUE_LANES))
            .next_multiple_of(4),
    }
}
