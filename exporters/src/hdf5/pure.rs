//! HDF5 without the HDF5 library.

use super::content::{Array, Content, Dataset as Data, format};
use super::{ReadWrite, affordable, check_format, refuse};
use crate::results::{Content as Held, Entry};
use crate::{ReadError, WriteError};
use hdf5_pure::{
    AttrValue, DType, Dataset, File, FileBuilder, FormatError, GroupBuilder, Layout, Source,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The crate `hdf5-pure`.
pub(super) struct PureRust;

impl ReadWrite for PureRust {
    fn write(&self, content: &Content) -> Result<Vec<u8>, WriteError> {
        let refused = |e: &dyn std::fmt::Display| WriteError::Hdf5 {
            fact: e.to_string(),
        };
        let mut file = FileBuilder::new();
        file.set_attr("format", AttrValue::I64(format(content)));
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
        let (source, allowance) = Metered::new(bytes);
        let file = File::from_source(source).map_err(|e| refuse("/", e))?;
        let attributes = file.root().attrs().map_err(|e| refuse("/", e))?;
        check_format(attributes.get("format").and_then(AttrValue::as_u64))?;
        let mut groups = BTreeMap::new();
        for (name, group) in file.root().iter_groups().map_err(|e| refuse("/", e))? {
            groups.insert(name, group);
        }
        let mut datasets: BTreeMap<String, Dataset> = BTreeMap::new();
        for (path, _) in wanted {
            let (group, _) = path.split_once('/').unwrap_or(("", path));
            // Every group is listed once, when its first array is wanted.
            if let Some(found) = groups.remove(group) {
                for (name, dataset) in found.iter_datasets().map_err(|e| refuse(group, e))? {
                    datasets.insert(format!("{group}/{name}"), dataset);
                }
            }
        }
        let mut content = Content::new();
        for (path, kind) in wanted {
            // Empty arrays are not stored.
            if let Some(dataset) = datasets.get(*path) {
                let data = read_dataset(dataset, path, kind, &mut budget, &allowance)?;
                content.insert(path, data);
            }
        }
        Ok(content)
    }
}

/// Attribute `description` of files with results; `is_ours` looks for it.
const RESULTS: &str = "results of an analysis, written by reduce";

/// Results as one group.
pub(super) fn write_results(name: &str, entries: &[Entry]) -> Result<Vec<u8>, WriteError> {
    let refused = |e: FormatError| WriteError::Hdf5 {
        fact: e.to_string(),
    };
    let mut file = FileBuilder::new();
    file.set_attr("description", AttrValue::String(RESULTS.to_owned()));
    let mut group = file.create_group(name);
    add_results(&mut group, entries).map_err(refused)?;
    file.add_group(group.finish());
    file.finish().map_err(|e| WriteError::Hdf5 {
        fact: e.to_string(),
    })
}

fn add_results(group: &mut GroupBuilder, entries: &[Entry]) -> Result<(), FormatError> {
    for entry in entries {
        let dataset = match &entry.content {
            Held::Group(inner) => {
                let mut below = group.create_group(&entry.name);
                add_results(&mut below, inner)?;
                let description = AttrValue::String(entry.description.clone());
                below.set_attr("description", description);
                group.add_group(below.finish());
                continue;
            }
            Held::Numbers { shape, values } => {
                let sizes: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
                let dataset = group.create_dataset(&entry.name);
                dataset.with_f64_data(&Held::by_rows(shape, values));
                dataset.with_shape(&sizes)
            }
            Held::Text(text) => group.create_dataset(&entry.name).with_strings(&[text])?,
            Held::Texts(list) => {
                let texts: Vec<&str> = list.iter().map(String::as_str).collect();
                group.create_dataset(&entry.name).with_strings(&texts)?
            }
        };
        let unit = match &entry.unit[..] {
            [one] => AttrValue::String(one.clone()),
            each => AttrValue::StringArray(each.to_vec()),
        };
        dataset.set_attr("unit", unit);
        let description = AttrValue::String(entry.description.clone());
        dataset.set_attr("description", description);
    }
    Ok(())
}

/// Whether a file begins as those of [`write_results`].
pub(super) fn holds_results(bytes: Vec<u8>) -> bool {
    let (source, _) = Metered::new(bytes);
    let attributes = File::from_source(source).and_then(|file| file.root().attrs());
    attributes.is_ok_and(
        |all| matches!(all.get("description"), Some(AttrValue::String(text)) if text == RESULTS),
    )
}

/// Bytes that headers, names and attributes of all arrays together may have; those of a model have
/// less than a tenth.
const METADATA: u64 = 1 << 20;

/// The bytes of a file, of which a reader gets no more than it is allowed: a file whose parts refer to
/// one another can make it read the same ones without end.
struct Metered {
    bytes: Vec<u8>,
    left: Arc<AtomicU64>,
}

impl Metered {
    /// With an allowance for metadata, which can be raised.
    fn new(bytes: Vec<u8>) -> (Self, Arc<AtomicU64>) {
        let left = Arc::new(AtomicU64::new(METADATA));
        let allowance = Arc::clone(&left);
        (Self { bytes, left }, allowance)
    }
}

impl Source for Metered {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), FormatError> {
        let needed = buf.len() as u64;
        let spend = |left: u64| left.checked_sub(needed.max(1));
        if self.left.fetch_update(Relaxed, Relaxed, spend).is_err() {
            return Err(FormatError::Source(
                "more metadata than a model has".to_owned(),
            ));
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let Some(found) = rest.get(..buf.len()) else {
            return Err(FormatError::UnexpectedEof {
                expected: buf.len(),
                available: rest.len(),
            });
        };
        buf.copy_from_slice(found);
        Ok(())
    }
}

/// Reads an array after its place, size and type were found to be those of a model.
fn read_dataset(
    dataset: &Dataset,
    path: &str,
    kind: &Array,
    budget: &mut u64,
    allowance: &AtomicU64,
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
    allowance.fetch_add(stored, Relaxed);
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
