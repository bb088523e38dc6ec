//! HDF5 without the HDF5 library.

use super::content::{Array, Content, Dataset as Data};
use super::{ReadWrite, affordable, check_format, refuse};
use crate::{ReadError, WriteError};
use hdf5_pure::{AttrValue, DType, Dataset, File, FileBuilder, Layout};
use reducer::reduced_model::FORMAT;
use std::collections::BTreeMap;

/// The crate `hdf5-pure`.
pub(super) struct PureRust;

impl ReadWrite for PureRust {
    fn write(&self, content: &Content) -> Result<Vec<u8>, WriteError> {
        let refused = |e: &dyn std::fmt::Display| WriteError::Hdf5 {
            fact: e.to_string(),
        };
        let mut file = FileBuilder::new();
        file.set_attr("format", AttrValue::I64(i64::from(FORMAT)));
        file.set_attr(
            "description",
            AttrValue::String("reduced dynamic model".to_owned()),
        );
        let mut groups: BTreeMap<&str, Vec<(&str, &Data)>> = BTreeMap::new();
        for (path, data) in content.iter().filter(|(_, d)| !d.array.is_empty()) {
            let (group, name) = path.split_once('/').unwrap_or(("", path));
            groups.entry(group).or_default().push((name, data));
        }
        for (group, members) in groups {
            let mut builder = file.create_group(group);
            for (name, data) in members {
                let dataset = builder.create_dataset(name);
                match &data.array {
                    Array::Real(v) => dataset.with_f64_data(v),
                    Array::Integer(v) => dataset.with_i64_data(v),
                    Array::Text(v) => {
                        let texts: Vec<&str> = v.iter().map(String::as_str).collect();
                        dataset.with_strings(&texts).map_err(|e| refused(&e))?
                    }
                };
                dataset.with_shape(&data.shape);
                dataset.set_attr("unit", AttrValue::String(data.unit.to_owned()));
                dataset.set_attr(
                    "description",
                    AttrValue::String(data.description.to_owned()),
                );
            }
            file.add_group(builder.finish());
        }
        file.finish().map_err(|e| refused(&e))
    }

    fn read(&self, bytes: Vec<u8>, wanted: &[(&'static str, Array)]) -> Result<Content, ReadError> {
        let mut budget = bytes.len() as u64;
        let file = File::from_bytes(bytes).map_err(|e| refuse("/", e))?;
        let attributes = file.root().attrs().map_err(|e| refuse("/", e))?;
        check_format(attributes.get("format").and_then(AttrValue::as_u64))?;
        let mut content = Content::new();
        for (path, kind) in wanted {
            if !holds(&file, path)? {
                continue;
            }
            let dataset = file.dataset(path).map_err(|e| refuse(path, e))?;
            content.insert(path, read_dataset(&dataset, path, kind, &mut budget)?);
        }
        Ok(content)
    }
}

/// The file has this dataset; empty arrays are not stored.
fn holds(file: &File, path: &str) -> Result<bool, ReadError> {
    let (group, name) = path.split_once('/').unwrap_or(("", path));
    let groups = file.root().groups().map_err(|e| refuse("/", e))?;
    if !groups.iter().any(|g| g == group) {
        return Ok(false);
    }
    let group = file.group(group).map_err(|e| refuse(path, e))?;
    let names = group.datasets().map_err(|e| refuse(path, e))?;
    Ok(names.iter().any(|n| n == name))
}

/// Reads an array after its place, size and type were found to be those of a model.
fn read_dataset(
    dataset: &Dataset,
    path: &str,
    kind: &Array,
    budget: &mut u64,
) -> Result<Data, ReadError> {
    let shape = dataset.shape().map_err(|e| refuse(path, e))?;
    let width = dataset.element_size().map_err(|e| refuse(path, e))?;
    let stored = match dataset.layout().map_err(|e| refuse(path, e))? {
        Layout::Compact { size }
        | Layout::Contiguous {
            size,
            address: Some(_),
        } => size,
        _ => return Err(refuse(path, "not stored in one piece")),
    };
    let elements = affordable(path, kind, &shape, width, stored, budget)?;
    let expected = match kind {
        Array::Real(_) => DType::F64,
        Array::Integer(_) => DType::I64,
        Array::Text(_) => DType::String,
    };
    if dataset.dtype().map_err(|e| refuse(path, e))? != expected {
        return Err(refuse(path, "another type of number or text"));
    }
    let array = match kind {
        Array::Real(_) => Array::Real(dataset.read_f64().map_err(|e| refuse(path, e))?),
        Array::Integer(_) => Array::Integer(dataset.read_i64().map_err(|e| refuse(path, e))?),
        Array::Text(_) => Array::Text(dataset.read_string().map_err(|e| refuse(path, e))?),
    };
    if array.len() as u64 != elements {
        return Err(refuse(path, "a shape that does not fit its data"));
    }
    Ok(Data {
        shape,
        array,
        unit: "",
        description: "",
    })
}
