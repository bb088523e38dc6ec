//! A model as named arrays, and back.

use crate::ReadError;
use reducer::reduced_model::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Arrays by their path in the file.
pub(super) type Content = BTreeMap<&'static str, Dataset>;

/// One array with its shape; the first index varies slowest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dataset {
    pub shape: Vec<u64>,
    pub array: Array,
    pub unit: &'static str,
    pub description: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Array {
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
const INDICES: [&str; 9] = [
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
const ARRAYS: &[(&str, Array, &str, &str)] = &[
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
    ("layout/inequality_coefficients", R, "", "coefficients . theta <= bound"),
    ("layout/inequality_bound", R, "", "right-hand sides"),
    ("components/constant_quantity", T, "", "quantities that are the same everywhere"),
    ("components/constant_index", I, "", INDEX_HELP),
    ("components/constant_value", R, "SI", "their values"),
    ("components/dynamics_quantity", T, "", "columns of boxes/dynamics_coefficients"),
    ("components/dynamics_index", I, "", INDEX_HELP),
    ("components/outputs_quantity", T, "", "columns of boxes/outputs_coefficients"),
    ("components/outputs_index", I, "", INDEX_HELP),
    ("tree/kind", I, "", "0: cut, 1: box, 2: region without a model"),
    ("tree/axis", I, "", "coordinate that is cut"),
    ("tree/at", R, "of the coordinate", "where it is cut"),
    ("tree/low", I, "", "node below the cut, or number of the box"),
    ("tree/high", I, "", "node above the cut"),
    ("tree/reason", T, "", "why regions have no model, in the order of the nodes"),
    ("boxes/lower", R, "of the coordinate", "smallest theta"),
    ("boxes/upper", R, "of the coordinate", "largest theta"),
    ("boxes/definite", R, "", "certified lower bound of definiteness, NaN where not certified"),
    ("boxes/reached", I, "", "1 where every tolerance was met"),
    ("boxes/dynamics_first", I, "", "first term of each box, and the number of terms"),
    ("boxes/dynamics_degrees", I, "", "Chebyshev degree of each term per theta"),
    ("boxes/dynamics_coefficients", R, "SI", "terms x components"),
    ("boxes/outputs_first", I, "", "first term of each box, and the number of terms"),
    ("boxes/outputs_degrees", I, "", "Chebyshev degree of each term per theta"),
    ("boxes/outputs_coefficients", R, "SI", "terms x components"),
    ("boxes/error_box", I, "", "box of each error at its validation points"),
    ("boxes/error_block", T, "", "block of the error"),
    ("boxes/error_mean", R, "1", "mean"),
    ("boxes/error_max", R, "1", "largest"),
    ("provenance/tool", T, "", "what made the model"),
    ("provenance/input_hash", T, "", "hash of full model and settings"),
    ("provenance/continuity", T, "", "smooth, continuous or jumps"),
    ("provenance/largest_jump", R, "1", "only where there are jumps"),
    ("provenance/reached", I, "", "1 where every tolerance was met"),
    ("provenance/settings", T, "", "basis, criterion, objective"),
    ("provenance/minimal_width", R, "of the coordinate", "smallest box width"),
    ("provenance/tolerance_block", T, "", "blocks with a tolerance"),
    ("provenance/tolerance", R, "1", "their tolerances"),
    ("provenance/error_block", T, "", "blocks measured at points never used in the fit"),
    ("provenance/error_mean", R, "1", "mean"),
    ("provenance/error_max", R, "1", "largest"),
];

/// Paths and kinds that a reader looks for.
pub(super) fn wanted() -> Vec<(&'static str, Array)> {
    ARRAYS
        .iter()
        .map(|(path, kind, ..)| (*path, kind.clone()))
        .collect()
}

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

    fn errors(&mut self, paths: [&str; 3], errors: &[&BlockError]) {
        self.text(paths[0], errors.iter().map(|e| e.block.clone()).collect());
        self.real(paths[1], errors.iter().map(|e| e.mean).collect());
        self.real(paths[2], errors.iter().map(|e| e.max).collect());
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
    write_tree(&mut w, &model.tree);
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
}

fn write_tree(w: &mut Writer, tree: &[TreeNode]) {
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
    let reason = |node: &TreeNode| match node {
        TreeNode::Dropped { reason } => Some(reason.clone()),
        _ => None,
    };
    w.text("tree/reason", tree.iter().filter_map(reason).collect());
}

fn write_provenance(w: &mut Writer, model: &ReducedModel) {
    let p = &model.provenance;
    let (class, jump) = match model.continuity {
        Continuity::Smooth => ("smooth", vec![]),
        Continuity::Continuous => ("continuous", vec![]),
        Continuity::Jumps { largest } => ("jumps", vec![largest]),
    };
    w.text("provenance/tool", vec![p.tool.clone()]);
    w.text("provenance/input_hash", vec![p.input_hash.clone()]);
    w.text("provenance/continuity", vec![class.to_owned()]);
    w.real("provenance/largest_jump", jump);
    w.integer("provenance/reached", vec![i64::from(p.reached)]);
    let s = &p.settings;
    w.text(
        "provenance/settings",
        vec![s.basis.clone(), s.criterion.clone(), s.objective.clone()],
    );
    w.real("provenance/minimal_width", s.minimal_width.clone());
    w.text(
        "provenance/tolerance_block",
        s.tolerances.iter().map(|t| t.block.clone()).collect(),
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
}

/// Takes arrays out of a file's content; what is absent is empty.
struct Reader(Content);

type Read<T> = Result<T, ReadError>;

fn refuse(object: &str, fact: impl Into<String>) -> ReadError {
    ReadError::Hdf5 {
        object: object.to_owned(),
        fact: fact.into(),
    }
}

impl Reader {
    fn real(&mut self, path: &str) -> Vec<f64> {
        match self.0.remove(path).map(|d| d.array) {
            Some(Array::Real(v)) => v,
            _ => Vec::new(),
        }
    }

    fn integer(&mut self, path: &str) -> Vec<i64> {
        match self.0.remove(path).map(|d| d.array) {
            Some(Array::Integer(v)) => v,
            _ => Vec::new(),
        }
    }

    fn text(&mut self, path: &str) -> Vec<String> {
        match self.0.remove(path).map(|d| d.array) {
            Some(Array::Text(v)) => v,
            _ => Vec::new(),
        }
    }

    /// Exactly K texts.
    fn texts<const K: usize>(&mut self, path: &str) -> Read<[String; K]> {
        let found = self.text(path);
        let count = found.len();
        found
            .try_into()
            .map_err(|_| refuse(path, format!("{count} texts where {K} belong")))
    }

    fn components(&mut self, paths: [&str; 2]) -> Read<Vec<Component>> {
        let quantities = self.text(paths[0]);
        let indices = self.integer(paths[1]);
        same_length(
            paths[1],
            indices.len(),
            quantities.len().saturating_mul(INDICES.len()),
        )?;
        quantities
            .into_iter()
            .zip(indices.chunks_exact(INDICES.len()))
            .map(|(quantity, row)| {
                let mut fields = serde_json::Map::new();
                fields.insert("quantity".to_owned(), quantity.into());
                for (name, &index) in INDICES.iter().zip(row).filter(|(_, i)| **i >= 0) {
                    fields.insert((*name).to_owned(), index.into());
                }
                serde_json::from_value(fields.into()).map_err(|e| refuse(paths[0], e.to_string()))
            })
            .collect()
    }

    /// Tables of all boxes; every box takes its share of terms.
    fn tables(
        &mut self,
        paths: [&str; 3],
        n_boxes: usize,
        s: usize,
        columns: usize,
    ) -> Read<Vec<Table>> {
        let first = counts(&self.integer(paths[0]), paths[0])?;
        let degrees = self.integer(paths[1]);
        let coefficients = self.real(paths[2]);
        same_length(paths[0], first.len(), n_boxes + 1)?;
        let terms = first.last().copied().unwrap_or(0);
        same_length(paths[1], degrees.len(), terms.saturating_mul(s))?;
        same_length(paths[2], coefficients.len(), terms.saturating_mul(columns))?;
        let ascending = first.first() == Some(&0) && first.is_sorted();
        if !ascending {
            return Err(refuse(paths[0], "numbers that do not ascend from 0"));
        }
        first
            .windows(2)
            .map(|w| {
                let degree =
                    |&d: &i64| u8::try_from(d).map_err(|_| refuse(paths[1], format!("degree {d}")));
                let rows = degrees[w[0] * s..w[1] * s].chunks_exact(s);
                let terms: Read<Vec<Vec<u8>>> =
                    rows.map(|row| row.iter().map(degree).collect()).collect();
                Ok(Table {
                    terms: terms?,
                    coefficients: coefficients[w[0] * columns..w[1] * columns].to_vec(),
                })
            })
            .collect()
    }

    fn errors(&mut self, paths: [&str; 3]) -> Read<Vec<BlockError>> {
        let (blocks, mean, max) = (
            self.text(paths[0]),
            self.real(paths[1]),
            self.real(paths[2]),
        );
        same_length(paths[1], mean.len(), blocks.len())?;
        same_length(paths[2], max.len(), blocks.len())?;
        let rows = blocks.into_iter().zip(mean).zip(max);
        Ok(rows
            .map(|((block, mean), max)| BlockError { block, mean, max })
            .collect())
    }

    fn tree(&mut self) -> Read<Vec<TreeNode>> {
        let (kind, axis, low, high) = (
            self.integer("tree/kind"),
            self.integer("tree/axis"),
            self.integer("tree/low"),
            self.integer("tree/high"),
        );
        let at = self.real("tree/at");
        let mut reasons = self.text("tree/reason").into_iter();
        for (path, len) in [
            ("tree/axis", axis.len()),
            ("tree/at", at.len()),
            ("tree/low", low.len()),
            ("tree/high", high.len()),
        ] {
            same_length(path, len, kind.len())?;
        }
        let index =
            |v: i64, path: &str| usize::try_from(v).map_err(|_| refuse(path, format!("index {v}")));
        (0..kind.len())
            .map(|i| match kind[i] {
                0 => Ok(TreeNode::Split {
                    axis: index(axis[i], "tree/axis")?,
                    at: at[i],
                    low: index(low[i], "tree/low")?,
                    high: index(high[i], "tree/high")?,
                }),
                1 => Ok(TreeNode::Leaf {
                    index: index(low[i], "tree/low")?,
                }),
                2 => {
                    let reason = reasons
                        .next()
                        .ok_or_else(|| refuse("tree/reason", "too few texts"))?;
                    Ok(TreeNode::Dropped { reason })
                }
                other => Err(refuse("tree/kind", format!("kind {other}"))),
            })
            .collect()
    }
}

fn same_length(path: &str, found: usize, expected: usize) -> Read<()> {
    if found == expected {
        return Ok(());
    }
    Err(refuse(
        path,
        format!("{found} values where {expected} belong"),
    ))
}

fn counts(values: &[i64], path: &str) -> Read<Vec<usize>> {
    let count = |&v: &i64| usize::try_from(v).map_err(|_| refuse(path, format!("count {v}")));
    values.iter().map(count).collect()
}

fn flag(value: i64, path: &str) -> Read<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(refuse(path, format!("{other} where 0 or 1 belongs"))),
    }
}

fn flags(values: &[i64], path: &str) -> Read<Vec<bool>> {
    values.iter().map(|&v| flag(v, path)).collect()
}

fn named<V: DeserializeOwned>(name: String, path: &str) -> Read<V> {
    serde_json::from_value(name.into()).map_err(|e| refuse(path, e.to_string()))
}

/// The model of arrays; sizes are consistent afterwards, the rest is for validation to judge.
pub(super) fn to_model(content: Content) -> Read<ReducedModel> {
    let mut r = Reader(content);
    let layout = read_layout(&mut r)?;
    let [form] = r.texts("layout/form")?;
    let constants = r.components(["components/constant_quantity", "components/constant_index"])?;
    let values = r.real("components/constant_value");
    same_length("components/constant_value", values.len(), constants.len())?;
    let components = ComponentLists {
        constants: constants
            .into_iter()
            .zip(values)
            .map(|(component, value)| Constant { component, value })
            .collect(),
        dynamics: r.components(["components/dynamics_quantity", "components/dynamics_index"])?,
        outputs: r.components(["components/outputs_quantity", "components/outputs_index"])?,
    };
    let tree = r.tree()?;
    let boxes = read_boxes(&mut r, layout.n_rigid, &components)?;
    let (continuity, provenance) = read_provenance(&mut r)?;
    Ok(ReducedModel {
        format: FORMAT,
        layout,
        form: named(form, "layout/form")?,
        components,
        tree,
        boxes,
        continuity,
        provenance,
    })
}

fn read_layout(r: &mut Reader) -> Read<ModelLayout> {
    let [name] = r.texts("layout/name")?;
    let sizes = counts(&r.integer("layout/sizes"), "layout/sizes")?;
    let &[n_rigid, full_dofs] = sizes.as_slice() else {
        return Err(refuse(
            "layout/sizes",
            format!("{} numbers where 2 belong", sizes.len()),
        ));
    };
    if !(1..=limits::RIGID).contains(&n_rigid) {
        return Err(refuse(
            "layout/sizes",
            format!("{n_rigid} actuated coordinates"),
        ));
    }
    let (names, kinds, units) = (
        r.text("layout/coordinate_name"),
        r.text("layout/coordinate_kind"),
        r.text("layout/coordinate_unit"),
    );
    same_length("layout/coordinate_kind", kinds.len(), names.len())?;
    same_length("layout/coordinate_unit", units.len(), names.len())?;
    let coordinates: Read<Vec<CoordinateInfo>> = names
        .into_iter()
        .zip(kinds)
        .zip(units)
        .map(|((name, kind), unit)| {
            Ok(CoordinateInfo {
                name,
                kind: named(kind, "layout/coordinate_kind")?,
                unit,
            })
        })
        .collect();
    let bounds = r.real("layout/inequality_bound");
    let coefficients = r.real("layout/inequality_coefficients");
    same_length(
        "layout/inequality_coefficients",
        coefficients.len(),
        bounds.len().saturating_mul(n_rigid),
    )?;
    let rows = coefficients.chunks_exact(n_rigid).zip(bounds);
    Ok(ModelLayout {
        name,
        coordinates: coordinates?,
        n_rigid,
        outputs: r.text("layout/output_name"),
        loaded: r.text("layout/loaded_name"),
        domain: Domain {
            lower: r.real("layout/lower"),
            upper: r.real("layout/upper"),
            periodic: flags(&r.integer("layout/periodic"), "layout/periodic")?,
            inequalities: rows
                .map(|(c, bound)| LinearInequality {
                    coefficients: c.to_vec(),
                    bound,
                })
                .collect(),
        },
        full_dofs,
    })
}

fn read_boxes(r: &mut Reader, s: usize, lists: &ComponentLists) -> Read<Vec<BoxModel>> {
    let reached = flags(&r.integer("boxes/reached"), "boxes/reached")?;
    let n = reached.len();
    let (lower, upper, definite) = (
        r.real("boxes/lower"),
        r.real("boxes/upper"),
        r.real("boxes/definite"),
    );
    same_length("boxes/lower", lower.len(), n.saturating_mul(s))?;
    same_length("boxes/upper", upper.len(), n.saturating_mul(s))?;
    same_length("boxes/definite", definite.len(), n)?;
    let paths = [
        "boxes/dynamics_first",
        "boxes/dynamics_degrees",
        "boxes/dynamics_coefficients",
    ];
    let dynamics = r.tables(paths, n, s, lists.dynamics.len())?;
    let paths = [
        "boxes/outputs_first",
        "boxes/outputs_degrees",
        "boxes/outputs_coefficients",
    ];
    let outputs = r.tables(paths, n, s, lists.outputs.len())?;
    let owners = counts(&r.integer("boxes/error_box"), "boxes/error_box")?;
    let errors = r.errors(["boxes/error_block", "boxes/error_mean", "boxes/error_max"])?;
    same_length("boxes/error_box", owners.len(), errors.len())?;
    let mut boxes: Vec<BoxModel> = dynamics
        .into_iter()
        .zip(outputs)
        .enumerate()
        .map(|(i, (dynamics, outputs))| BoxModel {
            lower: lower[i * s..(i + 1) * s].to_vec(),
            upper: upper[i * s..(i + 1) * s].to_vec(),
            dynamics,
            outputs,
            definite: Some(definite[i]).filter(|d| !d.is_nan()),
            reached: reached[i],
            errors: Vec::new(),
        })
        .collect();
    for (owner, error) in owners.into_iter().zip(errors) {
        let found = boxes
            .get_mut(owner)
            .ok_or_else(|| refuse("boxes/error_box", format!("box {owner}")))?;
        found.errors.push(error);
    }
    Ok(boxes)
}

fn read_provenance(r: &mut Reader) -> Read<(Continuity, Provenance)> {
    let [class] = r.texts("provenance/continuity")?;
    let jump = r.real("provenance/largest_jump");
    let continuity = match (class.as_str(), jump.as_slice()) {
        ("smooth", []) => Continuity::Smooth,
        ("continuous", []) => Continuity::Continuous,
        ("jumps", &[largest]) => Continuity::Jumps { largest },
        _ => return Err(refuse("provenance/continuity", format!("`{class}`"))),
    };
    let [tool] = r.texts("provenance/tool")?;
    let [input_hash] = r.texts("provenance/input_hash")?;
    let [basis, criterion, objective] = r.texts("provenance/settings")?;
    let reached = flags(&r.integer("provenance/reached"), "provenance/reached")?;
    let (blocks, tolerances) = (
        r.text("provenance/tolerance_block"),
        r.real("provenance/tolerance"),
    );
    same_length("provenance/reached", reached.len(), 1)?;
    same_length("provenance/tolerance", tolerances.len(), blocks.len())?;
    let tolerances = blocks.into_iter().zip(tolerances);
    let provenance = Provenance {
        tool,
        input_hash,
        settings: SettingsRecord {
            basis,
            criterion,
            objective,
            tolerances: tolerances
                .map(|(block, tolerance)| BlockTolerance { block, tolerance })
                .collect(),
            minimal_width: r.real("provenance/minimal_width"),
        },
        reached: reached[0],
        errors: r.errors([
            "provenance/error_block",
            "provenance/error_mean",
            "provenance/error_max",
        ])?,
    };
    Ok((continuity, provenance))
}
