//! The named arrays of a file.

use reducer::reduced_model::{FORMAT, FORMAT_COMBINED};
use std::collections::BTreeMap;

/// Arrays by their path in the file.
pub(super) type Content = BTreeMap<&'static str, Dataset>;

/// One array with its shape; the first index varies slowest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dataset {
    pub shape: Vec<u64>,
    pub array: Array,
    pub unit: &'static str,
    pub description: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Array {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Text(Vec<String>),
}

impl Array {
    pub fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Integer(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Columns of the index tables of components; −1 where an index does not apply.
pub(super) const INDICES: [&str; 9] = [
    "row",
    "column",
    "first",
    "second",
    "coordinate",
    "output",
    "axis",
    "entry",
    "loaded",
];
const INDEX_HELP: &str = "columns: row, column, first, second, coordinate, output, axis, entry, loaded; -1 where one does not apply";

const R: Array = Array::Real(Vec::new());
const I: Array = Array::Integer(Vec::new());
const T: Array = Array::Text(Vec::new());

/// Path, kind, unit and description of every array.
#[rustfmt::skip]
pub(super) const ARRAYS: &[(&str, Array, &str, &str)] = &[
    ("layout/name", T, "", "name of the mechanism"),
    ("layout/form", T, "", "lagrangian: energies are stored; direct: every block is stored"),
    ("layout/sizes", I, "", "actuated coordinates, dofs of the full model"),
    ("layout/coordinate_name", T, "", "generalised coordinates, actuated ones first"),
    ("layout/coordinate_kind", T, "", "rigid, constraint, attachment or internal"),
    ("layout/coordinate_unit", T, "", "unit of each coordinate"),
    ("layout/output_name", T, "", "output points"),
    ("layout/loaded_name", T, "", "dofs on which loads act"),
    ("layout/lower", R, "of the coordinate", "smallest theta of the domain"),
    ("layout/upper", R, "of the coordinate", "largest theta of the domain"),
    ("layout/periodic", I, "", "1 where theta repeats after upper - lower"),
    ("layout/functions", T, "", "polynomials: Chebyshev polynomials of each theta; waves: 1, cos, sin, cos 2, sin 2, ..."),
    ("layout/inequality_coefficients", R, "", "coefficients . theta <= bound"),
    ("layout/inequality_bound", R, "", "right-hand sides"),
    ("layout/stiffening", T, "", "what changes the stiffness: loads, or all (loads and motion); absent: nothing"),
    ("layout/motion", R, "of theta per s or s^2", "columns: declared rate, declared acceleration, rate and acceleration of each theta alone that change the stiffness by its tolerance; NaN where there is none"),
    ("layout/stiffness_change", R, "1", "largest change of the stiffness by loads, declared rates, declared accelerations; its tolerance"),
    ("layout/gravity", R, "m/s^2", "acceleration of gravity, inertial axes"),
    ("layout/gravity_at_runtime", I, "", "1 where gravity is stored per axis and may be changed"),
    ("layout/payload_mass", R, "kg", "free mass at each output that the model holds"),
    ("layout/rotor_inertia", R, "kg or kg m^2", "free inertia on each theta that the model holds"),
    ("layout/viscous", R, "N s/m or N m s/rad", "free viscous friction on each theta that the model holds"),
    ("layout/coulomb", R, "N or N m", "Coulomb friction of the mechanism, which the model does not hold"),
    ("layout/derived_name", T, "", "matrices of theta that are made of the others"),
    ("layout/derived_value", T, "", "their expressions, as the mechanism file has them"),
    ("layout/derived_size", I, "", "columns: rows, columns of each"),
    ("layout/derived_tolerance", R, "1", "tolerance of the relative error of each"),
    ("components/constant_quantity", T, "", "quantities that are the same everywhere"),
    ("components/constant_index", I, "", INDEX_HELP),
    ("components/constant_value", R, "SI", "their values"),
    ("components/dynamics_quantity", T, "", "columns of boxes/dynamics_coefficients"),
    ("components/dynamics_index", I, "", INDEX_HELP),
    ("components/combined_quantity", T, "", "quantities that are combinations of columns of boxes/dynamics_coefficients; absent: none"),
    ("components/combined_index", I, "", INDEX_HELP),
    ("components/combined_end", I, "", "where the terms of each combination end"),
    ("components/combined_column", I, "", "column of each term"),
    ("components/combined_factor", R, "SI", "what multiplies it"),
    ("components/outputs_quantity", T, "", "columns of boxes/outputs_coefficients"),
    ("components/outputs_index", I, "", INDEX_HELP),
    ("tree/kind", I, "", "0: cut, 1: box, 2: region without a model"),
    ("tree/axis", I, "", "coordinate that is cut"),
    ("tree/at", R, "of the coordinate", "where it is cut"),
    ("tree/low", I, "", "node below the cut, or number of the box"),
    ("tree/high", I, "", "node above the cut"),
    ("tree/reason", T, "", "why regions have no model, in the order of the nodes: outside, cut, singular or inadmissible"),
    ("tree/reason_samples", I, "", "columns: samples left for a fit, samples it needs, samples left to check it; -1 but where the reason is cut"),
    ("tree/reason_theta", R, "of the coordinate", "where a sample failed, NaN where none did"),
    ("tree/reason_message", T, "", "what failed there, for people"),
    ("boxes/lower", R, "of the coordinate", "smallest theta"),
    ("boxes/upper", R, "of the coordinate", "largest theta"),
    ("boxes/definite", R, "", "certified lower bound of definiteness, NaN where not certified"),
    ("boxes/reached", I, "", "1 where every tolerance was met"),
    ("boxes/dynamics_first", I, "", "first term of each box, and the number of terms"),
    ("boxes/dynamics_degrees", I, "", "Chebyshev degree of each term per theta"),
    ("boxes/dynamics_coefficients", R, "SI", "terms x components; zero where a component does not have the term"),
    ("boxes/outputs_first", I, "", "first term of each box, and the number of terms"),
    ("boxes/outputs_degrees", I, "", "Chebyshev degree of each term per theta"),
    ("boxes/outputs_coefficients", R, "SI", "terms x components; zero where a component does not have the term"),
    ("boxes/error_box", I, "", "box of each error at its validation points"),
    ("boxes/error_block", T, "", "block of the error"),
    ("boxes/error_mean", R, "1", "mean"),
    ("boxes/error_max", R, "1", "largest"),
    ("provenance/tool", T, "", "what made the model"),
    ("provenance/input_hash", T, "", "hash of full model and settings"),
    ("provenance/continuity", T, "", "smooth, continuous or jumps"),
    ("provenance/largest_jump", R, "1", "only where there are jumps"),
    ("provenance/reached", I, "", "1 where every tolerance was met"),
    ("provenance/routed_samples", I, "", "number of samples reached around what blocks the straight line from home; absent: none"),
    ("provenance/cut_short", T, "", "what ended the refinement before it was done: numbers, boxes, samples, time or memory; absent: nothing"),
    ("provenance/settings", T, "", "basis, criterion, objective"),
    ("provenance/largest_factor", R, "1", "how many times the tolerance the largest error that is found may be; absent: any"),
    ("provenance/basis_degree", I, "", "order of basis lagrange, largest degree of chebyshev; absent: quadratic"),
    ("provenance/minimal_width", R, "of the coordinate", "smallest box width"),
    ("provenance/tolerance_block", T, "", "blocks with a tolerance"),
    ("provenance/tolerance", R, "1", "their tolerances"),
    ("provenance/error_block", T, "", "blocks measured at points never used in the fit"),
    ("provenance/error_mean", R, "1", "mean"),
    ("provenance/error_max", R, "1", "largest"),
    ("provenance/largest_of", T, "", "what a search for the largest error looked at: block, position, orientation or force"),
    ("provenance/largest_index", I, "", "number of the block in the order of the tolerances' names (mass, gyroscopic, gravity, stiffness, damping, force, outputs, combined), of the output or of the coordinate"),
    ("provenance/largest_mean", R, "1, m, rad, N or N m", "mean"),
    ("provenance/largest_error", R, "1, m, rad, N or N m", "largest"),
    ("provenance/largest_theta", R, "of the coordinate", "where the largest is, a row each"),
    ("provenance/largest_motion", R, "of the coordinate, per s and s^2", "rates, then accelerations that go with it, a row each; zero where no motion matters"),
    ("provenance/jump_of", T, "", "what jumps across faces of boxes: block, position, orientation or force"),
    ("provenance/jump_index", I, "", "number of the block in the order of the tolerances' names (mass, gyroscopic, gravity, stiffness, damping, force, outputs, combined), of the output or of the coordinate"),
    ("provenance/jump_mean", R, "1, m, rad, N or N m", "mean"),
    ("provenance/jump_error", R, "1, m, rad, N or N m", "largest"),
    ("provenance/jump_theta", R, "of the coordinate", "where the largest is, a row each"),
    ("provenance/jump_motion", R, "of the coordinate, per s and s^2", "rates, then accelerations that go with it, a row each; zero where no motion matters"),
];

/// Version of the layout that arrays need.
pub(super) fn format(content: &Content) -> i64 {
    let combined = content.get("components/combined_factor");
    i64::from(match combined.is_some_and(|c| !c.array.is_empty()) {
        true => FORMAT_COMBINED,
        false => FORMAT,
    })
}

/// Paths and kinds that a reader looks for.
pub(super) fn wanted() -> Vec<(&'static str, Array)> {
    ARRAYS
        .iter()
        .map(|(path, kind, ..)| (*path, kind.clone()))
        .collect()
}
