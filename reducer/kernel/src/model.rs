//! A reduced model in the order in which it is evaluated.

use super::parameters::Held;
use core::ops::Deref;

/// Actuated coordinates that a model may have.
pub const LARGEST_RIGID: usize = 12;

/// Where a model comes from. A generated crate answers with a constant, so that its compiler knows all sizes.
pub trait Source {
    /// How coefficients are stored.
    type Stored: Copy;
    /// The model.
    fn model(&self) -> &Model<'_, Self::Stored>;

    /// Values of the dynamics that are combinations of its columns.
    #[inline(always)]
    fn combined(&self) -> Combined<'_, Self::Stored> {
        Combined::NONE
    }
}

/// Values of the dynamics that are the same combination of its columns in every box; they stand behind columns and
/// constants.
#[derive(Debug, Clone, Copy)]
pub struct Combined<'a, C> {
    /// Where the terms of every combination end, which has at least one.
    pub ends: &'a [u32],
    /// Column of every term.
    pub columns: &'a [u16],
    /// Factor of every term.
    pub factors: &'a [C],
}

impl<C> Combined<'_, C> {
    /// No combination.
    pub const NONE: Self = Self {
        ends: &[],
        columns: &[],
        factors: &[],
    };
}

/// A model with its combinations.
#[derive(Debug, Clone, Copy)]
pub struct Combining<'a, C> {
    /// The model.
    pub model: Model<'a, C>,
    /// Its combinations.
    pub combined: Combined<'a, C>,
}

impl<'a, C> Deref for Combining<'a, C> {
    type Target = Model<'a, C>;
    #[inline(always)]
    fn deref(&self) -> &Model<'a, C> {
        &self.model
    }
}

impl<C: Copy> Source for Combining<'_, C> {
    type Stored = C;
    #[inline(always)]
    fn model(&self) -> &Model<'_, C> {
        &self.model
    }

    #[inline(always)]
    fn combined(&self) -> Combined<'_, C> {
        self.combined
    }
}

/// What is stored and what is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Energies are stored, forces are their derivatives.
    Lagrangian,
    /// Every block of the equations of motion is stored by itself.
    Direct,
}

/// A model. Its makers guarantee that sizes agree, indices are in range and widths are positive.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a, C> {
    /// What is stored.
    pub form: Form,
    /// Generalised coordinates η.
    pub n: usize,
    /// Actuated coordinates θ, the first of them; at most [`LARGEST_RIGID`].
    pub n_rigid: usize,
    /// Outputs.
    pub n_outputs: usize,
    /// Rows of the load map.
    pub n_loaded: usize,
    /// Smallest θ.
    pub theta_min: &'a [C],
    /// Largest θ.
    pub theta_max: &'a [C],
    /// Which θ repeat after their range.
    pub periodic: &'a [bool],
    /// In which θ the stored functions are waves, not polynomials; none where there are no such.
    pub waves: &'a [bool],
    /// coefficients · θ ≤ bound: coefficients and bound of one after the other.
    pub inequalities: &'a [C],
    /// How a box is found.
    pub finder: Finder<'a, C>,
    /// Centre and inverse half width of one box after the other.
    pub boxes: &'a [C],
    /// Polynomials of the dynamics.
    pub dynamics: Table<'a, C>,
    /// Polynomials of outputs and load map; no values where there are none.
    pub motion: Table<'a, C>,
    /// Polynomials of derived quantities, without gradients; no values where there are none.
    pub derived: Table<'a, C>,
    /// Degrees that a basis must hold, at least two; with waves an odd number, at least three.
    pub degrees: usize,
    /// Meaning of the values, by [`Group`].
    pub entries: [&'a [Entry]; Group::COUNT],
    /// Of every row of the factor of the mass matrix: where its columns that may differ from zero end.
    pub factor_ends: &'a [u8],
    /// An output's elastic rotation is stored.
    pub has_turn: bool,
    /// What the stored numbers hold of parameters.
    pub held: Held<'a, C>,
}

/// How the box of a configuration is found.
#[derive(Debug, Clone, Copy)]
pub enum Finder<'a, C> {
    /// There is none.
    Nowhere,
    /// There is one.
    Single,
    /// Cells of a regular grid.
    Grid {
        /// Cells per unit of each coordinate, a little less, so that the quotient is never beyond the cell.
        per_unit: &'a [C],
        /// Number of cells of each coordinate.
        counts: &'a [usize],
        /// Upper ends of the cells of one coordinate after the other; the last one is beyond the domain.
        ends: &'a [C],
        /// Box of every cell, the last coordinate fastest; −1: none.
        boxes: &'a [i16],
    },
    /// A binary tree; node 0 is its root.
    Tree(&'a [Node<C>]),
}

/// A cut of the domain, or (axis < 0) a box; low < 0: a region without a model.
#[derive(Debug, Clone, Copy)]
pub struct Node<C> {
    /// Where.
    pub at: C,
    /// Coordinate that is cut.
    pub axis: i32,
    /// Lower child, or the box.
    pub low: i32,
    /// Upper child.
    pub high: i32,
}

/// Polynomials on all boxes.
///
/// Where gradients are needed, columns that have much the same terms stand side by side in groups of `lanes`,
/// and every group of every box has runs of its own: coefficients that differ only in the degree of the first
/// coordinate form a run; a run is summed over the first coordinate, the sums are folded over the second one,
/// and so on. Otherwise terms are listed: 1; degree 1 of every coordinate, degree 2 and so on; products of two terms
/// before.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a, C> {
    /// Stored columns, a multiple of `lanes`.
    pub columns: usize,
    /// Columns, then constants, then combinations of columns.
    pub values: usize,
    /// Columns that are summed side by side, with gradients: 1, 2 or 4.
    pub lanes: usize,
    /// Gradients are needed, not values alone.
    pub gradients: bool,
    /// Coefficients are those of powers, runs from the highest degree down; otherwise of Chebyshev
    /// polynomials, from the lowest degree up.
    pub powers: bool,
    /// Terms of a group of columns, or of a list, at most.
    pub n_terms: usize,
    /// Groups of columns; 1 without gradients.
    pub groups: usize,
    /// Of every group of every box: where its coefficients start, and its shape or list of terms.
    pub places: &'a [[u32; 2]],
    /// Runs: first, end, rows, largest degree.
    pub shapes: &'a [[u32; 4]],
    /// Of every run: degrees of the first coordinate, coordinates that are summed over when it is done, and
    /// the degrees of the other coordinates.
    pub runs: &'a [u8],
    /// Lists of terms: largest degree, first and end of their products.
    pub lists: &'a [[u32; 3]],
    /// Products of two terms.
    pub products: &'a [[u32; 2]],
    /// With gradients: rows of `lanes` columns, group by group. Otherwise rows of all columns.
    pub coefficients: &'a [C],
    /// The same everywhere.
    pub constants: &'a [C],
    /// With gradients: how values and their derivatives in time are summed where nobody needs whole gradients.
    pub moving: Moving<'a>,
}

/// Terms of a table with gradients, listed as where values suffice; nothing where whole gradients cost less.
#[derive(Debug, Clone, Copy)]
pub struct Moving<'a> {
    /// List of every box.
    pub lists: &'a [u32],
    /// Of every group of every box: first and end of its rows in `terms`.
    pub rows: &'a [[u32; 2]],
    /// Term of every row.
    pub terms: &'a [u16],
}

/// A stored value and its place in the equations; groups say what the indices mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Value of its table.
    pub value: u32,
    /// First index.
    pub i: u8,
    /// Second index.
    pub j: u8,
    /// Third index.
    pub k: u8,
    /// Fourth index.
    pub l: u8,
}

impl Entry {
    /// Value and first indices.
    #[inline(always)]
    pub fn get(&self) -> (usize, usize, usize, usize) {
        let index = |x: u8| x as usize;
        (
            self.value as usize,
            index(self.i),
            index(self.j),
            index(self.k),
        )
    }

    /// Value and all indices.
    #[inline(always)]
    pub fn all(&self) -> (usize, [usize; 4]) {
        let indices = [self.i, self.j, self.k, self.l];
        (self.value as usize, indices.map(|x| x as usize))
    }
}

/// The enum and the list of its values.
macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What the values of a list of entries are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Group {
            $($(#[$doc])* $name,)*
        }

        impl Group {
            /// All of them, in order.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];
            /// Their number.
            pub const COUNT: usize = Self::ALL.len();
        }
    };
}

groups! {
    /// (i, j) of U₀.
    MassFactor,
    /// (i, j) of U_k, which η_k multiplies.
    MassSlope,
    /// (i, j) of B per η_k η_l, l ≥ k: how rates of θ are scaled.
    RateScale,
    /// (i, j) of L, K = L Lᵀ.
    StiffnessFactor,
    /// (i, j) of the factor of D.
    DampingFactor,
    /// (i, j) of M, j ≥ i; where energies are stored, in place of U₀.
    Mass,
    /// h_ijk, k ≥ j.
    Gyroscopic,
    /// Second derivative of (i, j) of M by η_k and η_l, j ≥ i, l ≥ k.
    MassCurvature,
    /// (i, j) of K, j ≥ i.
    Stiffness,
    /// (i, j) of D, j ≥ i.
    Damping,
    /// Static force on coordinate i.
    Force,
    /// Potential at η = (θ, 0).
    Potential,
    /// Gravity's part of the force on coordinate i.
    Gravity,
    /// Potential per unit of gravity along axis k.
    GravityPotential,
    /// Force on coordinate i per unit of gravity along axis k.
    GravityForce,
    /// (i, j) of the stiffness per unit of gravity along axis k, j ≥ i.
    GravityStiffness,
    /// Axis i of the position of output k.
    Position,
    /// Entry i of the quaternion of output k.
    Quaternion,
    /// Row i of output k per modal coordinate j.
    Amplitude,
    /// Axis i of the position of output k per η_j η_l, l ≥ j.
    PositionCurvature,
    /// Displacement of loaded dof i per coordinate j.
    LoadMap,
    /// (i, j) of derived quantity k.
    Derived,
}

impl<C> Table<'_, C> {
    /// Derivatives in time and weighted sums of gradients come from the terms.
    #[inline(always)]
    pub fn moves(&self) -> bool {
        !self.moving.lists.is_empty()
    }
}

impl<'a, C> Model<'a, C> {
    /// Entries of a group.
    #[inline(always)]
    pub fn list(&self, group: Group) -> &'a [Entry] {
        self.entries[group as usize]
    }

    /// The stored functions are waves in θ_k.
    #[inline(always)]
    pub fn is_wave(&self, k: usize) -> bool {
        !self.waves.is_empty() && self.waves[k]
    }

    /// The mass is stored by its factor, not by its entries.
    #[inline(always)]
    pub fn has_mass_factor(&self) -> bool {
        matches!(self.form, Form::Lagrangian) && self.list(Group::Mass).is_empty()
    }

    /// Gravity on the mechanism is stored per inertial axis.
    #[inline(always)]
    pub fn has_gravity_terms(&self) -> bool {
        let groups = [
            Group::GravityPotential,
            Group::GravityForce,
            Group::GravityStiffness,
        ];
        groups.into_iter().any(|g| !self.list(g).is_empty())
    }
}
