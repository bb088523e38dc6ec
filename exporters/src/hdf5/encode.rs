//! The arrays of a model.

use super::content::{ARRAYS, Array, Content, Dataset, INDICES};
use reducer::reduced_model::*;
use serde::Serialize;

struct Writer(Content);

impl Writer {
    fn add(&mut self, path: &str, array: Array, columns: Option<usize>) {
        let Some((path, _, unit, description)) = ARRAYS.iter().find(|a| a.0 == path) else {
            unreachable!("{path} is not listed");
        };
        let len = array.len();
        let shape = match columns {
            Some(c) if c > 0 => vec![(len / c) as u64, c as u64],
            _ => vec![len as u64],
        };
        let dataset = Dataset {
            shape,
            array,
            unit,
            description,
        };
        self.0.insert(path, dataset);
    }

    fn real(&mut self, path: &str, values: Vec<f64>) {
        self.add(path, Array::Real(values), None);
    }

    fn integer(&mut self, path: &str, values: Vec<i64>) {
        self.add(path, Array::Integer(values), None);
    }

    fn text(&mut self, path: &str, values: Vec<String>) {
        self.add(path, Array::Text(values), None);
    }

    fn table(&mut self, paths: [&str; 3], tables: &[&Table], s: usize, columns: usize) {
        let mut first = vec![0];
        first.extend(tables.iter().scan(0, |sum, t| {
            *sum += t.terms.len() as i64;
            Some(*sum)
        }));
        let degrees = tables.iter().flat_map(|t| t.terms.iter().flatten());
        let degrees = degrees.map(|&d| i64::from(d)).collect();
        let coefficients = tables.iter().flat_map(|t| t.coefficients.clone()).collect();
        self.integer(paths[0], first);
        self.add(paths[1], Array::Integer(degrees), Some(s));
        self.add(paths[2], Array::Real(coefficients), Some(columns));
    }

    fn components(&mut self, paths: [&str; 2], components: &[Component]) {
        let mut quantities = Vec::new();
        let mut indices = Vec::new();
        for component in components {
            let value = serde_json::to_value(component).unwrap_or_default();
            quantities.push(value["quantity"].as_str().unwrap_or_default().to_owned());
            indices.extend(INDICES.map(|name| value[name].as_i64().unwrap_or(-1)));
        }
        self.text(paths[0], quantities);
        self.add(paths[1], Array::Integer(indices), Some(INDICES.len()));
    }

    fn combined(&mut self, combined: &[Combination]) {
        let components: Vec<Component> = combined.iter().map(|c| c.component).collect();
        let paths = ["components/combined_quantity", "components/combined_index"];
        self.components(paths, &components);
        let ends = combined.iter().scan(0, |sum, c| {
            *sum += c.by.len() as i64;
            Some(*sum)
        });
        self.integer("components/combined_end", ends.collect());
        let columns = combined.iter().flat_map(|c| &c.of);
        let columns = columns.map(|&c| i64::from(c)).collect();
        self.integer("components/combined_column", columns);
        let factors = combined.iter().flat_map(|c| c.by.clone()).collect();
        self.real("components/combined_factor", factors);
    }

    fn errors(&mut self, paths: [&str; 3], errors: &[&BlockError]) {
        self.text(paths[0], errors.iter().map(|e| variant(&e.block)).collect());
        self.real(paths[1], errors.iter().map(|e| e.mean).collect());
        self.real(paths[2], errors.iter().map(|e| e.max).collect());
    }
}

/// Paths of a list of largest errors.
pub(super) const LARGEST: [&str; 6] = [
    "provenance/largest_of",
    "provenance/largest_index",
    "provenance/largest_mean",
    "provenance/largest_error",
    "provenance/largest_theta",
    "provenance/largest_motion",
];
/// Paths of a list of jumps.
pub(super) const JUMPS: [&str; 6] = [
    "provenance/jump_of",
    "provenance/jump_index",
    "provenance/jump_mean",
    "provenance/jump_error",
    "provenance/jump_theta",
    "provenance/jump_motion",
];

impl Writer {
    fn largest(&mut self, paths: [&str; 6], entries: &[LargestError], s: usize) {
        let place = |e: &LargestError| match e.quantity {
            Quantity::Block { block } => ("block", block as usize),
            Quantity::Position { output } => ("position", output),
            Quantity::Orientation { output } => ("orientation", output),
            Quantity::Force { coordinate } => ("force", coordinate),
            Quantity::Derived { entry } => ("derived", entry),
        };
        let motion = |e: &LargestError| match e.quantity.has_motion() {
            true => [&e.rate[..], &e.accel[..]].concat(),
            false => vec![0.0; 2 * s],
        };
        let of = entries.iter().map(place);
        self.text(paths[0], of.clone().map(|p| p.0.to_owned()).collect());
        self.integer(paths[1], of.map(|p| p.1 as i64).collect());
        self.real(paths[2], entries.iter().map(|e| e.mean).collect());
        self.real(paths[3], entries.iter().map(|e| e.largest).collect());
        let theta = entries.iter().flat_map(|e| e.theta.clone()).collect();
        self.add(paths[4], Array::Real(theta), Some(s));
        let motions = entries.iter().flat_map(motion).collect();
        self.add(paths[5], Array::Real(motions), Some(2 * s));
    }
}

/// Serialised name of an enum's variant.
fn variant(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Arrays of a valid model.
pub(super) fn from_model(model: &ReducedModel) -> Content {
    let mut w = Writer(Content::new());
    let (layout, lists) = (&model.layout, &model.components);
    let s = layout.n_rigid;
    write_layout(&mut w, model);
    let constants: Vec<Component> = lists.constants.iter().map(|c| c.component).collect();
    w.components(
        ["components/constant_quantity", "components/constant_index"],
        &constants,
    );
    w.real(
        "components/constant_value",
        lists.constants.iter().map(|c| c.value).collect(),
    );
    w.components(
        ["components/dynamics_quantity", "components/dynamics_index"],
        &lists.dynamics,
    );
    w.components(
        ["components/outputs_quantity", "components/outputs_index"],
        &lists.outputs,
    );
    if !lists.combined.is_empty() {
        w.combined(&lists.combined);
    }
    write_tree(&mut w, &model.tree, s);
    let bounds = |side: fn(&BoxModel) -> &Vec<f64>| -> Array {
        Array::Real(model.boxes.iter().flat_map(|b| side(b).clone()).collect())
    };
    w.add("boxes/lower", bounds(|b| &b.lower), Some(s));
    w.add("boxes/upper", bounds(|b| &b.upper), Some(s));
    w.real(
        "boxes/definite",
        model
            .boxes
            .iter()
            .map(|b| b.definite.unwrap_or(f64::NAN))
            .collect(),
    );
    w.integer(
        "boxes/reached",
        model.boxes.iter().map(|b| i64::from(b.reached)).collect(),
    );
    let tables: Vec<&Table> = model.boxes.iter().map(|b| &b.dynamics).collect();
    let paths = [
        "boxes/dynamics_first",
        "boxes/dynamics_degrees",
        "boxes/dynamics_coefficients",
    ];
    w.table(paths, &tables, s, lists.dynamics.len());
    let tables: Vec<&Table> = model.boxes.iter().map(|b| &b.outputs).collect();
    let paths = [
        "boxes/outputs_first",
        "boxes/outputs_degrees",
        "boxes/outputs_coefficients",
    ];
    w.table(paths, &tables, s, lists.outputs.len());
    let errors: Vec<(usize, &BlockError)> = model
        .boxes
        .iter()
        .enumerate()
        .flat_map(|(i, b)| b.errors.iter().map(move |e| (i, e)))
        .collect();
    w.integer(
        "boxes/error_box",
        errors.iter().map(|e| e.0 as i64).collect(),
    );
    let errors: Vec<&BlockError> = errors.iter().map(|e| e.1).collect();
    w.errors(
        ["boxes/error_block", "boxes/error_mean", "boxes/error_max"],
        &errors,
    );
    write_provenance(&mut w, model);
    w.0
}

fn write_layout(w: &mut Writer, model: &ReducedModel) {
    let layout = &model.layout;
    let domain = &layout.domain;
    w.text("layout/name", vec![layout.name.clone()]);
    w.text("layout/form", vec![variant(&model.form)]);
    w.integer(
        "layout/sizes",
        vec![layout.n_rigid as i64, layout.full_dofs as i64],
    );
    let coordinates = &layout.coordinates;
    w.text(
        "layout/coordinate_name",
        coordinates.iter().map(|c| c.name.clone()).collect(),
    );
    w.text(
        "layout/coordinate_kind",
        coordinates.iter().map(|c| variant(&c.kind)).collect(),
    );
    w.text(
        "layout/coordinate_unit",
        coordinates.iter().map(|c| c.unit.clone()).collect(),
    );
    w.text("layout/output_name", layout.outputs.clone());
    w.text("layout/loaded_name", layout.loaded.clone());
    w.real("layout/lower", domain.lower.clone());
    w.real("layout/upper", domain.upper.clone());
    w.integer(
        "layout/periodic",
        domain.periodic.iter().map(|&p| i64::from(p)).collect(),
    );
    w.text(
        "layout/functions",
        model.functions.iter().map(variant).collect(),
    );
    let inequalities = &domain.inequalities;
    let coefficients = inequalities
        .iter()
        .flat_map(|i| i.coefficients.clone())
        .collect();
    w.add(
        "layout/inequality_coefficients",
        Array::Real(coefficients),
        Some(layout.n_rigid),
    );
    w.real(
        "layout/inequality_bound",
        inequalities.iter().map(|i| i.bound).collect(),
    );
    let stiffening = Some(layout.stiffening).filter(|s| !s.is_none());
    w.text(
        "layout/stiffening",
        stiffening.iter().map(variant).collect(),
    );
    write_validity(w, layout.validity.as_ref());
    write_derived(w, &layout.derived);
    let p = &layout.parameters;
    w.real("layout/gravity", p.gravity.to_vec());
    w.integer(
        "layout/gravity_at_runtime",
        vec![i64::from(p.gravity_at_runtime)],
    );
    w.real("layout/payload_mass", p.payload_mass.clone());
    w.real("layout/rotor_inertia", p.rotor_inertia.clone());
    w.real("layout/viscous", p.viscous.clone());
    w.real("layout/coulomb", p.coulomb.clone());
}

fn write_validity(w: &mut Writer, validity: Option<&Validity>) {
    let rows = validity.into_iter().flat_map(|v| {
        let lists = [
            &v.rate,
            &v.acceleration,
            &v.rate_at_tolerance,
            &v.acceleration_at_tolerance,
        ];
        (0..v.rate.len()).flat_map(move |k| lists.map(|list| list[k].unwrap_or(f64::NAN)))
    });
    w.add("layout/motion", Array::Real(rows.collect()), Some(4));
    let changes = validity.into_iter().flat_map(|v| {
        [
            v.loads_change,
            v.rate_change,
            v.acceleration_change,
            v.tolerance,
        ]
    });
    w.real("layout/stiffness_change", changes.collect());
}

fn write_derived(w: &mut Writer, derived: &[DerivedInfo]) {
    let texts = |of: fn(&DerivedInfo) -> &String| derived.iter().map(of).cloned().collect();
    w.text("layout/derived_name", texts(|d| &d.name));
    w.text("layout/derived_value", texts(|d| &d.value));
    let sizes = derived
        .iter()
        .flat_map(|d| [d.rows as i64, d.columns as i64]);
    let sizes = Array::Integer(sizes.collect());
    w.add("layout/derived_size", sizes, Some(2));
    let tolerances = derived.iter().map(|d| d.tolerance);
    w.real("layout/derived_tolerance", tolerances.collect());
}

fn write_tree(w: &mut Writer, tree: &[TreeNode], s: usize) {
    let fields: Vec<(i64, i64, f64, i64, i64)> = tree
        .iter()
        .map(|node| match node {
            TreeNode::Split {
                axis,
                at,
                low,
                high,
            } => (0, *axis as i64, *at, *low as i64, *high as i64),
            TreeNode::Leaf { index } => (1, -1, 0.0, *index as i64, -1),
            TreeNode::Dropped { .. } => (2, -1, 0.0, -1, -1),
        })
        .collect();
    w.integer("tree/kind", fields.iter().map(|f| f.0).collect());
    w.integer("tree/axis", fields.iter().map(|f| f.1).collect());
    w.real("tree/at", fields.iter().map(|f| f.2).collect());
    w.integer("tree/low", fields.iter().map(|f| f.3).collect());
    w.integer("tree/high", fields.iter().map(|f| f.4).collect());
    let dropped = tree.iter().filter_map(|node| match node {
        TreeNode::Dropped { reason } => Some(reason),
        _ => None,
    });
    write_reasons(w, dropped, s);
}

fn write_reasons<'m>(w: &mut Writer, reasons: impl Iterator<Item = &'m DropReason>, s: usize) {
    let (mut names, mut samples) = (Vec::new(), Vec::new());
    let (mut places, mut messages) = (Vec::new(), Vec::new());
    for reason in reasons {
        let (name, counts, failure) = match reason {
            DropReason::Outside => ("outside", None, None),
            DropReason::Unfinished => ("unfinished", None, None),
            DropReason::Cut {
                samples,
                needed,
                checks,
            } => ("cut", Some([*samples, *needed, *checks]), None),
            DropReason::Singular { theta, message } => ("singular", None, Some((theta, message))),
            DropReason::Inadmissible { theta, message } => {
                ("inadmissible", None, Some((theta, message)))
            }
        };
        names.push(name.to_owned());
        samples.extend(counts.map_or([-1; 3], |c| c.map(|n| i64::try_from(n).unwrap_or(i64::MAX))));
        places.extend(failure.map_or_else(|| vec![f64::NAN; s], |(theta, _)| theta.clone()));
        messages.push(failure.map_or_else(String::new, |(_, message)| message.clone()));
    }
    w.text("tree/reason", names);
    w.add("tree/reason_samples", Array::Integer(samples), Some(3));
    w.add("tree/reason_theta", Array::Real(places), Some(s));
    w.text("tree/reason_message", messages);
}

fn write_provenance(w: &mut Writer, model: &ReducedModel) {
    let p = &model.provenance;
    let (class, jump) = match model.continuity {
        Continuity::Smooth => ("smooth", vec![]),
        Continuity::Continuous => ("continuous", vec![]),
        Continuity::Differentiable => ("differentiable", vec![]),
        Continuity::Jumps { largest } => ("jumps", vec![largest]),
    };
    w.text("provenance/tool", vec![p.tool.clone()]);
    w.text("provenance/input_hash", vec![p.input_hash.clone()]);
    w.text("provenance/continuity", vec![class.to_owned()]);
    w.real("provenance/largest_jump", jump);
    w.integer("provenance/reached", vec![i64::from(p.reached)]);
    let routed = Some(p.routed_samples).filter(|count| *count > 0);
    w.integer(
        "provenance/routed_samples",
        routed
            .map(|count| i64::try_from(count).unwrap_or(i64::MAX))
            .into_iter()
            .collect(),
    );
    let cut = p.cut_short.iter().map(|c| c.name().to_owned());
    w.text("provenance/cut_short", cut.collect());
    let s = &p.settings;
    let (basis, degree) = match s.basis {
        BasisRecord::Quadratic => ("quadratic", None),
        BasisRecord::Lagrange { order } => ("lagrange", Some(order)),
        BasisRecord::Chebyshev { max_degree } => ("chebyshev", Some(max_degree)),
    };
    w.text(
        "provenance/settings",
        vec![basis.into(), variant(&s.criterion), variant(&s.objective)],
    );
    w.real("provenance/largest_factor", s.largest.into_iter().collect());
    w.integer(
        "provenance/basis_degree",
        degree.map(|d| d as i64).into_iter().collect(),
    );
    w.real("provenance/minimal_width", s.minimal_width.clone());
    w.text(
        "provenance/tolerance_block",
        s.tolerances.iter().map(|t| variant(&t.block)).collect(),
    );
    w.real(
        "provenance/tolerance",
        s.tolerances.iter().map(|t| t.tolerance).collect(),
    );
    let errors: Vec<&BlockError> = p.errors.iter().collect();
    w.errors(
        [
            "provenance/error_block",
            "provenance/error_mean",
            "provenance/error_max",
        ],
        &errors,
    );
    w.largest(LARGEST, &p.largest, model.layout.n_rigid);
    w.largest(JUMPS, &p.jumps, model.layout.n_rigid);
}
