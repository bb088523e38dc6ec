//! The model of arrays.

mod layout;

use super::content::{Array, Content, INDICES};
use super::refuse;
use crate::ReadError;
use layout::read_layout;
use reducer::reduced_model::*;
use serde::de::DeserializeOwned;

/// Takes arrays out of a file's content; what is absent is empty.
struct Reader(Content);

type Read<T> = Result<T, ReadError>;

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
        rows.map(|((block, mean), max)| {
            Ok(BlockError {
                block: named(block, paths[0])?,
                mean,
                max,
            })
        })
        .collect()
    }

    fn largest(&mut self, paths: [&str; 6], s: usize) -> Read<Vec<LargestError>> {
        let (of, index) = (self.text(paths[0]), self.integer(paths[1]));
        let index = counts(&index, paths[1])?;
        let [mean, error, theta, motion] = [2, 3, 4, 5].map(|i| self.real(paths[i]));
        for (path, found, width) in [
            (paths[1], index.len(), 1),
            (paths[2], mean.len(), 1),
            (paths[3], error.len(), 1),
            (paths[4], theta.len(), s),
            (paths[5], motion.len(), 2 * s),
        ] {
            same_length(path, found, width.saturating_mul(of.len()))?;
        }
        of.into_iter()
            .enumerate()
            .map(|(i, of)| {
                let (output, coordinate) = (index[i], index[i]);
                let block = Block::ALL.get(index[i]).copied();
                let quantity = match (of.as_str(), block) {
                    ("block", Some(block)) => Quantity::Block { block },
                    ("position", _) => Quantity::Position { output },
                    ("orientation", _) => Quantity::Orientation { output },
                    ("force", _) => Quantity::Force { coordinate },
                    ("derived", _) => Quantity::Derived { entry: index[i] },
                    _ => return Err(refuse(paths[0], format!("`{of}`"))),
                };
                let moving = |at: usize| match quantity.has_motion() {
                    true => motion[at..at + s].to_vec(),
                    false => Vec::new(),
                };
                Ok(LargestError {
                    quantity,
                    mean: mean[i],
                    largest: error[i],
                    theta: theta[i * s..(i + 1) * s].to_vec(),
                    rate: moving(2 * s * i),
                    accel: moving(2 * s * i + s),
                })
            })
            .collect()
    }

    fn tree(&mut self, s: usize) -> Read<Vec<TreeNode>> {
        let (kind, axis, low, high) = (
            self.integer("tree/kind"),
            self.integer("tree/axis"),
            self.integer("tree/low"),
            self.integer("tree/high"),
        );
        let at = self.real("tree/at");
        let mut reasons = self.reasons(s)?.into_iter();
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

    /// Combinations; none where the file has none.
    fn combined(&mut self) -> Read<Vec<Combination>> {
        let components =
            self.components(["components/combined_quantity", "components/combined_index"])?;
        let ends = counts(
            &self.integer("components/combined_end"),
            "components/combined_end",
        )?;
        let columns = self.integer("components/combined_column");
        let factors = self.real("components/combined_factor");
        same_length("components/combined_end", ends.len(), components.len())?;
        same_length("components/combined_column", columns.len(), factors.len())?;
        let last = ends.last().copied().unwrap_or(0);
        same_length("components/combined_factor", factors.len(), last)?;
        let column = |&c: &i64| {
            u32::try_from(c)
                .map_err(|_| refuse("components/combined_column", format!("column {c}")))
        };
        let columns: Vec<u32> = columns.iter().map(column).collect::<Read<_>>()?;
        let mut first = 0;
        let one = |(component, end): (Component, usize)| {
            let (of, by) = columns
                .get(first..end)
                .zip(factors.get(first..end))
                .ok_or_else(|| {
                    refuse(
                        "components/combined_end",
                        format!("an end {end} behind {first}"),
                    )
                })?;
            first = end;
            Ok(Combination {
                component,
                of: of.to_vec(),
                by: by.to_vec(),
            })
        };
        components.into_iter().zip(ends).map(one).collect()
    }

    fn reasons(&mut self, s: usize) -> Read<Vec<DropReason>> {
        let names = self.text("tree/reason");
        let samples = self.integer("tree/reason_samples");
        let places = self.real("tree/reason_theta");
        let messages = self.text("tree/reason_message");
        let n = names.len();
        same_length("tree/reason_samples", samples.len(), n.saturating_mul(3))?;
        same_length("tree/reason_theta", places.len(), n.saturating_mul(s))?;
        same_length("tree/reason_message", messages.len(), n)?;
        let facts = samples.chunks_exact(3).zip(places.chunks_exact(s));
        names
            .into_iter()
            .zip(messages)
            .zip(facts)
            .map(|((name, message), (samples, place))| {
                let theta = place.to_vec();
                match name.as_str() {
                    "outside" => Ok(DropReason::Outside),
                    "unfinished" => Ok(DropReason::Unfinished),
                    "cut" => {
                        let counts = counts(samples, "tree/reason_samples")?;
                        Ok(DropReason::Cut {
                            samples: counts[0],
                            needed: counts[1],
                            checks: counts[2],
                        })
                    }
                    "singular" => Ok(DropReason::Singular { theta, message }),
                    "inadmissible" => Ok(DropReason::Inadmissible { theta, message }),
                    other => Err(refuse("tree/reason", format!("`{other}`"))),
                }
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
        combined: r.combined()?,
    };
    let functions: Read<_> = r
        .text("layout/functions")
        .into_iter()
        .map(|name| named(name, "layout/functions"))
        .collect();
    let tree = r.tree(layout.n_rigid)?;
    let boxes = read_boxes(&mut r, layout.n_rigid, &components)?;
    let (continuity, provenance) = read_provenance(&mut r, layout.n_rigid)?;
    Ok(ReducedModel {
        format: components.format(),
        layout,
        form: named(form, "layout/form")?,
        functions: functions?,
        components,
        tree,
        boxes,
        continuity,
        provenance,
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

fn read_settings(r: &mut Reader) -> Read<SettingsRecord> {
    let [basis, criterion, objective] = r.texts("provenance/settings")?;
    let degree = counts(
        &r.integer("provenance/basis_degree"),
        "provenance/basis_degree",
    )?;
    let (blocks, tolerances) = (
        r.text("provenance/tolerance_block"),
        r.real("provenance/tolerance"),
    );
    same_length("provenance/tolerance", tolerances.len(), blocks.len())?;
    let tolerances: Read<Vec<BlockTolerance>> = blocks
        .into_iter()
        .zip(tolerances)
        .map(|(block, tolerance)| {
            Ok(BlockTolerance {
                block: named(block, "provenance/tolerance_block")?,
                tolerance,
            })
        })
        .collect();
    Ok(SettingsRecord {
        basis: match (basis.as_str(), degree.as_slice()) {
            ("quadratic", []) => BasisRecord::Quadratic,
            ("lagrange", &[order]) => BasisRecord::Lagrange { order },
            ("chebyshev", &[max_degree]) => BasisRecord::Chebyshev { max_degree },
            _ => return Err(refuse("provenance/settings", format!("basis `{basis}`"))),
        },
        criterion: named(criterion, "provenance/settings")?,
        largest: r.real("provenance/largest_factor").first().copied(),
        objective: named(objective, "provenance/settings")?,
        tolerances: tolerances?,
        minimal_width: r.real("provenance/minimal_width"),
    })
}

fn read_provenance(r: &mut Reader, s: usize) -> Read<(Continuity, Provenance)> {
    let [class] = r.texts("provenance/continuity")?;
    let jump = r.real("provenance/largest_jump");
    let continuity = match (class.as_str(), jump.as_slice()) {
        ("smooth", []) => Continuity::Smooth,
        ("continuous", []) => Continuity::Continuous,
        ("differentiable", []) => Continuity::Differentiable,
        ("jumps", &[largest]) => Continuity::Jumps { largest },
        _ => return Err(refuse("provenance/continuity", format!("`{class}`"))),
    };
    let [tool] = r.texts("provenance/tool")?;
    let [input_hash] = r.texts("provenance/input_hash")?;
    let reached = flags(&r.integer("provenance/reached"), "provenance/reached")?;
    let routed = counts(
        &r.integer("provenance/routed_samples"),
        "provenance/routed_samples",
    )?;
    same_length("provenance/reached", reached.len(), 1)?;
    let cut = r.text("provenance/cut_short").into_iter().next();
    let provenance = Provenance {
        tool,
        input_hash,
        settings: read_settings(r)?,
        reached: reached[0],
        routed_samples: routed.first().copied().unwrap_or(0),
        cut_short: cut.map(|c| named(c, "provenance/cut_short")).transpose()?,
        errors: r.errors([
            "provenance/error_block",
            "provenance/error_mean",
            "provenance/error_max",
        ])?,
        largest: r.largest(super::encode::LARGEST, s)?,
        jumps: r.largest(super::encode::JUMPS, s)?,
    };
    Ok((continuity, provenance))
}
