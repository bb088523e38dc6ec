//! HDF5 by the HDF5 C library.
//!
//! The library works on files, so every call goes through one in a folder that is gone afterwards.
//! Types, shapes and attributes are those of [`super::pure`]; only the order of the bytes in the file is
//! the library's own.

use super::content::{Array, Content, Dataset as Data};
use super::{ReadWrite, TEXT_WIDTH, affordable, check_format, refuse};
use crate::{ReadError, WriteError};
use hdf5_metno::dataset::Layout;
use hdf5_metno::types::{FixedUnicode, StringError, TypeDescriptor};
use hdf5_metno::{Dataset, Datatype, File, Group, H5Type, IndexType, IterationOrder, LinkType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The crate `hdf5-metno`.
pub(super) struct HdfLibrary;

/// Bytes of text in memory at a time: texts are as wide there as the widest of a class of widths.
const PIECE: usize = 1 << 20;
const NARROW: usize = 64;
const MIDDLE: usize = 512;
const WIDE: usize = TEXT_WIDTH as usize;

impl ReadWrite for HdfLibrary {
    fn write(&self, content: &Content) -> Result<Vec<u8>, WriteError> {
        let folder = tempfile::tempdir().map_err(|source| WriteError::Io {
            path: std::env::temp_dir(),
            source,
        })?;
        let path = folder.path().join("model.h5");
        write_file(&path, content).map_err(|e| WriteError::Hdf5 {
            fact: without_path(&e, &path),
        })?;
        std::fs::read(&path).map_err(|source| WriteError::Io { path, source })
    }

    fn read(&self, bytes: Vec<u8>, wanted: &[(&'static str, Array)]) -> Result<Content, ReadError> {
        let io = |path: PathBuf| move |source| ReadError::Io { path, source };
        let folder = tempfile::tempdir().map_err(io(std::env::temp_dir()))?;
        let path = folder.path().join("model.h5");
        std::fs::write(&path, &bytes).map_err(io(path.clone()))?;
        let length = bytes.len() as u64;
        drop(bytes);
        let file = File::open(&path).map_err(|e| refuse("/", without_path(&e, &path)))?;
        check_format(format_of(&file)?)?;
        read_arrays(&file, length, wanted)
    }
}

/// What the library says, without the name of the passing file.
fn without_path(error: &hdf5_metno::Error, path: &Path) -> String {
    error
        .to_string()
        .replace(&*path.to_string_lossy(), "model.h5")
}

fn write_file(path: &Path, content: &Content) -> hdf5_metno::Result<()> {
    let file = File::create_excl(path)?;
    let format = file.new_attr::<i64>().create("format")?;
    format.write_scalar(&content::format(content))?;
    write_attribute(&file, "description", "reduced dynamic model")?;
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (path, data) in content.iter().filter(|(_, d)| !d.array.is_empty()) {
        let (group, name) = path.split_once('/').unwrap_or(("", path));
        if !groups.contains_key(group) {
            let builder = file.create_group_builder().obj_track_times(false);
            groups.insert(group, builder.create(group)?);
        }
        write_dataset(&groups[group], name, data)?;
    }
    drop(groups);
    file.close()
}

fn refused(error: StringError) -> hdf5_metno::Error {
    error.to_string().into()
}

fn write_attribute(place: &hdf5_metno::Location, name: &str, text: &str) -> hdf5_metno::Result<()> {
    let kind = TypeDescriptor::FixedUnicode(text.len().max(1));
    let text: FixedUnicode<MIDDLE> = text.parse().map_err(refused)?;
    let attribute = place.new_attr_builder().empty_as(kind).create(name)?;
    attribute.write_scalar(&text)
}

fn write_dataset(group: &Group, name: &str, data: &Data) -> hdf5_metno::Result<()> {
    let kind = match &data.array {
        Array::Real(_) => f64::type_descriptor(),
        Array::Integer(_) => i64::type_descriptor(),
        Array::Text(v) => TypeDescriptor::FixedUnicode(width(v)),
    };
    let shape: Vec<usize> = data.shape.iter().map(|&n| n as usize).collect();
    let dataset = group
        .new_dataset_builder()
        .obj_track_times(false)
        .empty_as(kind)
        .shape(shape)
        .create(name)?;
    match &data.array {
        Array::Real(v) => dataset.write_raw(v)?,
        Array::Integer(v) => dataset.write_raw(v)?,
        Array::Text(v) => match width(v) {
            n if n <= NARROW => write_texts::<NARROW>(&dataset, v)?,
            n if n <= MIDDLE => write_texts::<MIDDLE>(&dataset, v)?,
            _ => write_texts::<WIDE>(&dataset, v)?,
        },
    }
    write_attribute(&dataset, "unit", data.unit)?;
    write_attribute(&dataset, "description", data.description)
}

/// Bytes of the longest text; HDF5 has no texts of width zero.
fn width(texts: &[String]) -> usize {
    texts.iter().map(String::len).max().unwrap_or(0).max(1)
}

fn write_texts<const N: usize>(dataset: &Dataset, texts: &[String]) -> hdf5_metno::Result<()> {
    let mut first = 0;
    for piece in texts.chunks(PIECE / N) {
        let fixed: Result<Vec<FixedUnicode<N>>, _> = piece.iter().map(|t| t.parse()).collect();
        let fixed = fixed.map_err(refused)?;
        dataset.write_slice(&fixed, first..first + piece.len())?;
        first += piece.len();
    }
    Ok(())
}

/// The version of the layout; opened by name, because listing the attributes of a damaged file can make
/// the binding allocate without bounds.
fn format_of(file: &File) -> Result<Option<u64>, ReadError> {
    let Ok(attribute) = file.attr("format") else {
        return Ok(None);
    };
    let found: i64 = attribute.read_scalar().map_err(|e| refuse("/", e))?;
    Ok(u64::try_from(found).ok())
}

fn read_arrays(
    file: &File,
    length: u64,
    wanted: &[(&'static str, Array)],
) -> Result<Content, ReadError> {
    let top = members(file, "/")?;
    let mut groups: BTreeMap<&str, Option<(Group, Vec<String>)>> = BTreeMap::new();
    let mut budget = length;
    let mut content = Content::new();
    for (path, kind) in wanted {
        let (group, name) = path.split_once('/').unwrap_or(("", path));
        if !groups.contains_key(group) {
            let opened = if top.iter().any(|t| t == group) {
                let opened = file.group(group).map_err(|e| refuse(group, e))?;
                let names = members(&opened, group)?;
                Some((opened, names))
            } else {
                None
            };
            groups.insert(group, opened);
        }
        // Empty arrays are not stored.
        let Some((group, names)) = &groups[group] else {
            continue;
        };
        if names.iter().any(|n| n == name) {
            let dataset = group.dataset(name).map_err(|e| refuse(path, e))?;
            content.insert(
                path,
                read_dataset(&dataset, path, kind, length, &mut budget)?,
            );
        }
    }
    Ok(content)
}

/// Names of what a group holds itself: links to other places or files are not followed.
fn members(group: &Group, path: &str) -> Result<Vec<String>, ReadError> {
    let links = group
        .links(IndexType::Name, IterationOrder::Native)
        .map_err(|e| refuse(path, e))?;
    Ok(links
        .into_iter()
        .filter(|(_, link)| link.link_type == LinkType::Hard)
        .map(|(name, _)| name)
        .collect())
}

/// Reads an array after its place, size and type were found to be those of a model.
fn read_dataset(
    dataset: &Dataset,
    path: &str,
    kind: &Array,
    length: u64,
    budget: &mut u64,
) -> Result<Data, ReadError> {
    let failed = |e: hdf5_metno::Error| refuse(path, e);
    let space = dataset.space().map_err(failed)?;
    if !space.is_simple() {
        return Err(refuse(path, "no shape"));
    }
    let shape: Vec<u64> = space.shape().iter().map(|&n| n as u64).collect();
    let stored = stored_bytes(dataset, path, length)?;
    let found = dataset.dtype().map_err(failed)?;
    let elements = affordable(path, kind, &shape, found.size() as u64, stored, budget)?;
    let other = || refuse(path, "another type of number or text");
    let array = match kind {
        Array::Real(_) if is::<f64>(&found) => Array::Real(dataset.read_raw().map_err(failed)?),
        Array::Integer(_) if is::<i64>(&found) => {
            Array::Integer(dataset.read_raw().map_err(failed)?)
        }
        Array::Text(_) => match found.to_descriptor().map_err(failed)? {
            TypeDescriptor::FixedUnicode(n) if n <= NARROW => read_texts::<NARROW>(dataset, path)?,
            TypeDescriptor::FixedUnicode(n) if n <= MIDDLE => read_texts::<MIDDLE>(dataset, path)?,
            TypeDescriptor::FixedUnicode(_) => read_texts::<WIDE>(dataset, path)?,
            _ => return Err(other()),
        },
        _ => return Err(other()),
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

/// Bytes that the array has in this very file, in one piece.
fn stored_bytes(dataset: &Dataset, path: &str, length: u64) -> Result<u64, ReadError> {
    let layout = dataset.dcpl().map_err(|e| refuse(path, e))?;
    let stored = dataset.storage_size();
    let inside = match layout.layout() {
        Layout::Compact => true,
        Layout::Contiguous if layout.external().is_empty() => {
            let end = dataset.offset().and_then(|o| o.checked_add(stored));
            end.is_some_and(|end| end <= length)
        }
        _ => false,
    };
    if inside {
        Ok(stored)
    } else {
        Err(refuse(path, "not stored in one piece"))
    }
}

fn is<T: H5Type>(found: &Datatype) -> bool {
    Datatype::from_type::<T>().is_ok_and(|expected| expected == *found)
}

fn read_texts<const N: usize>(dataset: &Dataset, path: &str) -> Result<Array, ReadError> {
    let shape = dataset.shape();
    let &[count] = shape.as_slice() else {
        return Err(refuse(path, "texts in more than one row"));
    };
    let mut texts = Vec::new();
    for first in (0..count).step_by(PIECE / N) {
        let end = count.min(first + PIECE / N);
        let piece = dataset
            .read_slice_1d::<FixedUnicode<N>, _>(first..end)
            .map_err(|e| refuse(path, e))?;
        for text in piece {
            // The bytes come from the file: nothing has checked yet that they are UTF-8.
            let text = String::from_utf8(text.as_bytes().to_vec());
            texts.push(text.map_err(|_| refuse(path, "text that is not UTF-8"))?);
        }
    }
    Ok(Array::Text(texts))
}
