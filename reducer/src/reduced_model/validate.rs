//! Refuses data that no approximation could have produced.

use super::{
    BasisRecord, BoxModel, Component, ComponentLists, Continuity, Domain, DropReason, FORMATS,
    Functions, LargestError, ModelForm, ModelLayout, Quantity, ReducedModel, TreeNode,
};
use kernel::Group;
use std::collections::BTreeSet;

/// Largest sizes that are accepted.
pub mod limits {
    /// Actuated coordinates.
    pub const RIGID: usize = 12;
    /// Generalised coordinates.
    pub const COORDINATES: usize = 64;
    /// Outputs, and loaded dofs.
    pub const OUTPUTS: usize = 256;
    /// Boxes.
    pub const BOXES: usize = 1_000_000;
    /// Degree of a polynomial in one coordinate, and waves in a turn of it.
    pub const DEGREE: u8 = 64;
    /// Characters of a name or text.
    pub const TEXT: usize = 1000;
}

/// Why data is not a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidModel {
    /// Written by another version.
    #[error(
        "the model has format {found}; this version reads formats {} and {}: reduce the mechanism again with this version, or use the version that wrote the model",
        FORMATS[0], FORMATS[1]
    )]
    Format {
        /// Format of the data.
        found: u32,
    },
    /// A size is wrong or beyond the limits.
    #[error(
        "{place}: {found} where {expected} was expected; the file is damaged or was changed by hand: make the model again"
    )]
    Inconsistent {
        /// Where.
        place: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
}

pub(super) type Checked = Result<(), InvalidModel>;

pub(super) fn require(
    holds: bool,
    place: &str,
    found: impl ToString,
    expected: impl ToString,
) -> Checked {
    if holds {
        return Ok(());
    }
    Err(InvalidModel::Inconsistent {
        place: place.to_owned(),
        found: found.to_string(),
        expected: expected.to_string(),
    })
}

pub(super) fn finite(values: &[f64], place: &str) -> Checked {
    let bad = values.iter().find(|v| !v.is_finite());
    require(
        bad.is_none(),
        place,
        bad.copied().unwrap_or(0.0),
        "a finite number",
    )
}

impl ReducedModel {
    /// Checks everything that evaluation and code generation rely on.
    pub fn validate(&self) -> Checked {
        if !FORMATS.contains(&self.format) {
            return Err(InvalidModel::Format { found: self.format });
        }
        require(
            self.format == self.components.format(),
            "format",
            self.format,
            self.components.format(),
        )?;
        self.layout.validate()?;
        self.components.validate(&self.layout, self.form)?;
        require(
            self.functions.len() == self.layout.n_rigid,
            "functions",
            self.functions.len(),
            self.layout.n_rigid,
        )?;
        require(
            self.form == ModelForm::Lagrangian || !self.functions.contains(&Functions::Waves),
            "functions",
            "waves in the form `direct`",
            "polynomials",
        )?;
        require(
            self.boxes.len() <= limits::BOXES,
            "boxes",
            self.boxes.len(),
            format!("at most {}", limits::BOXES),
        )?;
        for (i, b) in self.boxes.iter().enumerate() {
            b.validate(i, &self.functions, &self.components)?;
        }
        self.validate_tree()?;
        self.validate_provenance()
    }

    /// Every node is reached once, children follow their parent, and boxes are where the cuts say.
    fn validate_tree(&self) -> Checked {
        let domain = &self.layout.domain;
        let nodes = self.tree.len();
        require(
            (1..=4 * limits::BOXES).contains(&nodes),
            "tree",
            nodes,
            "at least one node",
        )?;
        let mut bounds: Vec<Option<(Vec<f64>, Vec<f64>)>> = vec![None; nodes];
        bounds[0] = Some((domain.lower.clone(), domain.upper.clone()));
        let mut next_box = 0;
        for (i, node) in self.tree.iter().enumerate() {
            let place = format!("tree node {i}");
            let Some((lower, upper)) = bounds[i].take() else {
                return require(false, &place, "a node without a parent", "a tree");
            };
            match node {
                TreeNode::Split {
                    axis,
                    at,
                    low,
                    high,
                } => {
                    require(
                        *axis < lower.len(),
                        &place,
                        axis,
                        format!("an axis below {}", lower.len()),
                    )?;
                    let inside = at.is_finite() && lower[*axis] < *at && *at < upper[*axis];
                    require(inside, &place, at, "a cut inside the node's box")?;
                    for (child, is_low) in [(*low, true), (*high, false)] {
                        let fresh = child > i && child < nodes && bounds[child].is_none();
                        require(fresh, &place, child, "a child after its parent, used once")?;
                        let (mut l, mut u) = (lower.clone(), upper.clone());
                        if is_low {
                            u[*axis] = *at
                        } else {
                            l[*axis] = *at
                        }
                        bounds[child] = Some((l, u));
                    }
                }
                TreeNode::Leaf { index } => {
                    require(
                        *index == next_box && *index < self.boxes.len(),
                        &place,
                        index,
                        "boxes in the order of the leaves",
                    )?;
                    let b = &self.boxes[*index];
                    require(
                        b.lower == lower && b.upper == upper,
                        &place,
                        "a box elsewhere",
                        "the box that the cuts leave",
                    )?;
                    next_box += 1;
                }
                TreeNode::Dropped { reason } => reason.validate(&place, &lower, &upper)?,
            }
        }
        require(
            next_box == self.boxes.len(),
            "boxes",
            self.boxes.len(),
            next_box,
        )
    }

    fn validate_provenance(&self) -> Checked {
        let p = &self.provenance;
        text(&p.tool, "provenance.tool")?;
        let hash = &p.input_hash;
        let hexadecimal = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        require(
            hexadecimal,
            "provenance.input_hash",
            hash.len(),
            "64 hexadecimal digits",
        )?;
        let s = &p.settings;
        let degree = match s.basis {
            BasisRecord::Quadratic => 2,
            BasisRecord::Lagrange { order } => order,
            BasisRecord::Chebyshev { max_degree } => max_degree,
        };
        require(
            (1..=usize::from(limits::DEGREE)).contains(&degree),
            "provenance.settings.basis",
            format!("degree {degree}"),
            format!("1 to {}", limits::DEGREE),
        )?;
        finite(&s.minimal_width, "provenance.settings.minimal_width")?;
        require(
            s.minimal_width.len() == self.layout.n_rigid,
            "provenance.settings.minimal_width",
            s.minimal_width.len(),
            self.layout.n_rigid,
        )?;
        let tolerances = s.tolerances.iter().map(|t| t.tolerance);
        for bound in tolerances.chain(s.largest) {
            finite(&[bound], "provenance.settings.tolerances")?;
        }
        for e in p
            .errors
            .iter()
            .chain(self.boxes.iter().flat_map(|b| &b.errors))
        {
            finite(&[e.mean, e.max], "errors")?;
        }
        for e in p.largest.iter().chain(&p.jumps) {
            self.validate_largest(e)?;
        }
        require(
            !p.reached || self.reaches(&p.errors, &p.largest),
            "provenance.reached",
            "true",
            "false where a region is missing, a box fell short or an error exceeds its tolerance",
        )?;
        if let Continuity::Jumps { largest } = self.continuity {
            finite(&[largest], "continuity")?;
        }
        let smooth = self.continuity != Continuity::Smooth || self.tree.len() == 1;
        require(
            smooth,
            "continuity",
            "smooth",
            "one box where a model is smooth",
        )
    }
}

impl ReducedModel {
    fn validate_largest(&self, e: &LargestError) -> Checked {
        let place = "provenance.largest";
        let layout = &self.layout;
        let (index, count) = match e.quantity {
            Quantity::Block { .. } => (0, 1),
            Quantity::Position { output } | Quantity::Orientation { output } => {
                (output, layout.outputs.len())
            }
            Quantity::Force { coordinate } => (coordinate, layout.n_rigid),
            Quantity::Derived { entry } => (entry, layout.derived.len()),
        };
        require(index < count, place, index, format!("below {count}"))?;
        finite(&[e.mean, e.largest], place)?;
        let moving = if e.quantity.has_motion() {
            layout.n_rigid
        } else {
            0
        };
        let sizes = [&e.theta, &e.rate, &e.accel].map(|v| (v, v.len()));
        for ((values, found), expected) in sizes.into_iter().zip([layout.n_rigid, moving, moving]) {
            finite(values, place)?;
            require(found == expected, place, found, expected)?;
        }
        Ok(())
    }
}

impl DropReason {
    fn validate(&self, place: &str, lower: &[f64], upper: &[f64]) -> Checked {
        match self {
            Self::Outside | Self::Cut { .. } | Self::Unfinished => Ok(()),
            Self::Singular { theta, message } | Self::Inadmissible { theta, message } => {
                text(message, place)?;
                let within = theta.len() == lower.len()
                    && (0..theta.len()).all(|k| (lower[k]..=upper[k]).contains(&theta[k]));
                require(
                    within,
                    place,
                    format!("a failure at {theta:?}"),
                    "a configuration of the region",
                )
            }
        }
    }
}

fn text(value: &str, place: &str) -> Checked {
    require(
        value.len() <= limits::TEXT,
        place,
        value.len(),
        format!("at most {} characters", limits::TEXT),
    )
}

impl ModelLayout {
    fn validate(&self) -> Checked {
        let (n, s) = (self.n(), self.n_rigid);
        require(
            (1..=limits::RIGID).contains(&s),
            "layout.n_rigid",
            s,
            format!("1 to {}", limits::RIGID),
        )?;
        require(
            (s..=limits::COORDINATES).contains(&n),
            "layout.coordinates",
            n,
            format!("{s} to {}", limits::COORDINATES),
        )?;
        for names in [&self.outputs, &self.loaded] {
            require(
                names.len() <= limits::OUTPUTS,
                "layout",
                names.len(),
                format!("at most {} names", limits::OUTPUTS),
            )?;
        }
        text(&self.name, "layout.name")?;
        for name in self.outputs.iter().chain(&self.loaded) {
            text(name, "layout")?;
        }
        let distinct: BTreeSet<_> = self.outputs.iter().collect();
        require(
            distinct.len() == self.outputs.len(),
            "layout.outputs",
            "a name used twice",
            "distinct names",
        )?;
        for (i, c) in self.coordinates.iter().enumerate() {
            text(&c.name, "layout.coordinates")?;
            text(&c.unit, "layout.coordinates")?;
            let rigid = c.kind == super::CoordinateKind::Rigid;
            require(
                rigid == (i < s),
                "layout.coordinates",
                &c.name,
                "rigid coordinates first",
            )?;
        }
        let valid = self.validity.as_ref().is_none_or(|v| v.fits(s));
        require(
            valid,
            "layout.validity",
            "other",
            "positive numbers per theta",
        )?;
        self.parameters.validate(s, self.outputs.len())?;
        self.validate_derived()?;
        self.domain.validate(s)
    }
}

impl Domain {
    fn validate(&self, s: usize) -> Checked {
        for (len, place) in [
            (self.lower.len(), "domain.lower"),
            (self.upper.len(), "domain.upper"),
            (self.periodic.len(), "domain.periodic"),
        ] {
            require(len == s, place, len, s)?;
        }
        finite(&self.lower, "domain.lower")?;
        finite(&self.upper, "domain.upper")?;
        for k in 0..s {
            let width = self.upper[k] - self.lower[k];
            require(
                width > 0.0 && width.is_finite(),
                "domain",
                width,
                "an interval of positive width",
            )?;
        }
        require(
            self.inequalities.len() <= 10_000,
            "domain.inequalities",
            self.inequalities.len(),
            "at most 10000",
        )?;
        for i in &self.inequalities {
            require(
                i.coefficients.len() == s,
                "domain.inequalities",
                i.coefficients.len(),
                s,
            )?;
            finite(&i.coefficients, "domain.inequalities")?;
            finite(&[i.bound], "domain.inequalities")?;
        }
        Ok(())
    }
}

impl ComponentLists {
    fn validate(&self, layout: &ModelLayout, form: ModelForm) -> Checked {
        let constants = self.constants.iter().map(|c| c.component);
        let mut seen = BTreeSet::new();
        let mut damping_factor = false;
        let mut damping_coupled = false;
        let combined = self.combined.iter().map(|c| c.component);
        for c in self
            .dynamics
            .iter()
            .chain(&self.outputs)
            .copied()
            .chain(constants)
            .chain(combined)
        {
            require(
                c.fits(layout, form),
                "components",
                format!("{c:?}"),
                "indices and quantities of this model",
            )?;
            require(
                seen.insert(c),
                "components",
                format!("{c:?} twice"),
                "each component once",
            )?;
            let (group, [_, column, ..]) = c.place();
            damping_factor |= group == Group::DampingFactor;
            damping_coupled |= group == Group::Damping && column >= layout.n_rigid;
        }
        require(
            !(damping_factor && damping_coupled),
            "components",
            "a factor and entries of damping",
            "one of them",
        )?;
        for (list, output) in [(&self.dynamics, false), (&self.outputs, true)] {
            require(
                list.iter().all(|c| c.is_output() == output),
                "components",
                "a component",
                "dynamics and outputs apart",
            )?;
        }
        for c in &self.constants {
            finite(&[c.value], "components.constants")?;
        }
        self.validate_combined()?;
        if form == ModelForm::Lagrangian {
            let is_of = |group: Group| seen.iter().any(|c| c.place().0 == group);
            require(
                !(is_of(Group::MassFactor) && is_of(Group::Mass)),
                "components",
                "a factor and entries of mass",
                "one of them",
            )?;
            for i in 0..layout.n() {
                let factor = Component::MassFactor { row: i, column: i };
                let entry = Component::Mass { row: i, column: i };
                require(
                    seen.contains(&factor) || seen.contains(&entry),
                    "components",
                    format!("no diagonal entry {i} of the mass or its factor"),
                    "one",
                )?;
            }
        }
        Ok(())
    }
}

impl Component {
    /// Indices are in range and in order, and the quantity belongs to the form.
    fn fits(self, layout: &ModelLayout, form: ModelForm) -> bool {
        let (n, s) = (layout.n(), layout.n_rigid);
        let (n_outputs, n_loaded) = (layout.outputs.len(), layout.loaded.len());
        let lagrangian = form == ModelForm::Lagrangian;
        let per_axis = layout.parameters.gravity_at_runtime;
        let pair = |d: usize, e: usize| s <= d && d <= e && e < n;
        match self {
            Self::MassFactor { row, column } => lagrangian && row <= column && column < n,
            Self::MassFactorSlope {
                coordinate,
                row,
                column,
            } => lagrangian && (s..n).contains(&coordinate) && row <= column && column < n,
            Self::RateScale {
                row,
                column,
                first,
                second,
            } => lagrangian && row <= column && column < s && pair(first, second),
            Self::MassCurvature {
                row,
                column,
                first,
                second,
            } => !lagrangian && row <= column && column < s && pair(first, second),
            Self::GravityStiffness { row, column, axis } => {
                per_axis && axis < 3 && pair(row, column)
            }
            Self::PositionCurvature {
                output,
                axis,
                first,
                second,
            } => output < n_outputs && axis < 3 && pair(first, second),
            Self::Potential => true,
            Self::Force { row } => row < n && (!lagrangian || row >= s),
            Self::Gravity { row } => row < n && !per_axis,
            Self::GravityPotential { axis } => per_axis && axis < 3,
            Self::GravityForce { row, axis } => {
                per_axis && axis < 3 && row < n && (!lagrangian || row >= s)
            }
            Self::StiffnessFactor { row, column } => {
                lagrangian && s <= column && column <= row && row < n
            }
            Self::DampingFactor { row, column } => {
                lagrangian && s <= column && column <= row && row < n
            }
            Self::Damping { row, column } => row <= column && column < n,
            Self::Mass { row, column } => (!lagrangian || n == s) && row <= column && column < n,
            Self::Stiffness { row, column } => {
                !lagrangian && s <= row && row <= column && column < n
            }
            Self::Gyroscopic { row, first, second } => {
                !lagrangian && row < n && first <= second && second < n
            }
            Self::Position { output, axis } => output < n_outputs && axis < 3,
            Self::Quaternion { output, entry } => output < n_outputs && entry < 4,
            Self::Amplitude {
                output,
                row,
                coordinate,
            } => output < n_outputs && row < 6 && (s..n).contains(&coordinate),
            Self::LoadMap { loaded, coordinate } => loaded < n_loaded && coordinate < n,
            Self::Derived { entry, row, column } => {
                (layout.derived.get(entry)).is_some_and(|d| row < d.rows && column < d.columns)
            }
        }
    }
}

impl BoxModel {
    fn validate(
        &self,
        index: usize,
        functions: &[Functions],
        components: &ComponentLists,
    ) -> Checked {
        let place = format!("box {index}");
        let s = functions.len();
        require(
            self.lower.len() == s && self.upper.len() == s,
            &place,
            self.lower.len(),
            s,
        )?;
        let proper = (0..s).all(|k| self.lower[k] < self.upper[k]);
        require(proper, &place, "no extent", "lower below upper")?;
        if let Some(bound) = self.definite {
            require(
                bound > 0.0 && bound.is_finite(),
                &place,
                bound,
                "a positive bound",
            )?;
        }
        self.dynamics
            .validate(&place, functions, components.dynamics.len())?;
        self.outputs
            .validate(&place, functions, components.outputs.len())
    }
}
