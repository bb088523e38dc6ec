//! Condensed bodies on disk, by the hash of what they were made of. A cache: whatever cannot be read, or was not
//! written whole by this program, is as if it were not there.

use super::body::MassProperties;
use super::picture::Picture;
use super::superelement::Superelement;
use crate::lie::Frame;
use nalgebra::{DMatrix, Matrix3, Vector3};
use std::path::{Path, PathBuf};

/// Raised with every change of the content or of what is computed.
const MAGIC: &[u8; 8] = b"MRBODY01";
const HASH: usize = 32;
/// Largest file that is read.
const MAX_BYTES: u64 = 4 << 30;

/// A folder of condensed bodies.
#[derive(Debug, Clone)]
pub struct BodyStore {
    folder: PathBuf,
}

impl BodyStore {
    /// A store in a folder, which is made when the first body is put into it.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    fn path(&self, key: &[u8; HASH]) -> PathBuf {
        let name = blake3::Hash::from_bytes(*key).to_hex();
        self.folder.join(format!("{}.body", &name[..32]))
    }

    /// The body with this key.
    pub fn get(&self, key: &[u8; HASH]) -> Option<Superelement> {
        let path = self.path(key);
        let about = std::fs::metadata(&path).ok()?;
        if !about.is_file() || about.len() > MAX_BYTES {
            return None;
        }
        decode(&std::fs::read(&path).ok()?, key)
    }

    /// Keeps a body. A disk that is full or must not be written to is no error: the body is computed again.
    pub fn put(&self, key: &[u8; HASH], body: &Superelement) {
        let path = self.path(key);
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&draft, encode(body, key)))
            .and_then(|()| std::fs::rename(&draft, &path));
        if written.is_err() {
            let _ = std::fs::remove_file(&draft);
        }
    }
}

/// Magic, key, content, and the hash of all this.
fn encode(body: &Superelement, key: &[u8; HASH]) -> Vec<u8> {
    let mut out = Writer(Vec::new());
    out.0.extend(MAGIC);
    out.0.extend(key);
    let MassProperties {
        mass,
        center,
        inertia,
    } = &body.properties;
    out.count(body.names.len());
    for (name, node) in body.names.iter().zip(&body.nodes) {
        out.count(name.len());
        out.0.extend(name.as_bytes());
        out.numbers(node.position.as_slice());
    }
    out.numbers(&[*mass]);
    out.numbers(center.as_slice());
    out.numbers(inertia.as_slice());
    out.list(&body.frequencies_hz);
    out.list(body.stiffness.as_slice());
    out.list(body.constant.as_slice());
    for linear in &body.linear {
        out.numbers(linear.as_slice());
    }
    for quadratic in &body.quadratic {
        out.numbers(quadratic.as_slice());
    }
    let picture = &body.picture;
    out.count(picture.points.len());
    out.numbers(picture.points.as_flattened());
    out.count(picture.shapes.len());
    let shapes = picture.shapes.iter();
    out.0.extend(shapes.flat_map(|v| v.to_le_bytes()));
    out.count(picture.cells.len());
    for (kind, nodes) in &picture.cells {
        out.0.push(*kind);
        out.count(nodes.len());
        out.indices(nodes);
    }
    out.count(picture.outline.len());
    out.indices(picture.outline.as_flattened());
    let hash = blake3::hash(&out.0);
    out.0.extend(hash.as_bytes());
    out.0
}

fn decode(bytes: &[u8], key: &[u8; HASH]) -> Option<Superelement> {
    let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
    if blake3::hash(content).as_bytes() != hash {
        return None;
    }
    let mut from = Reader(content);
    if from.bytes(8)? != MAGIC || from.bytes(HASH)? != key {
        return None;
    }
    let n_nodes = from.count()?;
    let (mut names, mut nodes) = (Vec::new(), Vec::new());
    for _ in 0..n_nodes {
        let length = from.count()?;
        names.push(String::from_utf8(from.bytes(length)?.to_vec()).ok()?);
        let at = Vector3::from_column_slice(&from.numbers(3)?);
        nodes.push(Frame::new(Matrix3::identity(), at));
    }
    let properties = MassProperties {
        mass: from.numbers(1)?[0],
        center: Vector3::from_column_slice(&from.numbers(3)?),
        inertia: Matrix3::from_column_slice(&from.numbers(9)?),
    };
    let frequencies_hz = from.list()?;
    let n = (6 * n_nodes.checked_sub(1)?).checked_add(frequencies_hz.len())?;
    let square = |values: Vec<f64>, n: usize| {
        let fits = Some(values.len()) == n.checked_mul(n);
        fits.then(|| DMatrix::from_vec(n, n, values))
    };
    let stiffness = square(from.list()?, n)?;
    let constant = square(from.list()?, 6 + n)?;
    let linear = (0..n)
        .map(|_| Some(DMatrix::from_vec(3, 6 + n, from.numbers(3 * (6 + n))?)))
        .collect::<Option<_>>()?;
    let quadratic = (0..n * n)
        .map(|_| Some(Matrix3::from_column_slice(&from.numbers(9)?)))
        .collect::<Option<_>>()?;
    let picture = picture(&mut from, n)?;
    from.0.is_empty().then_some(Superelement {
        names,
        nodes,
        properties,
        frequencies_hz,
        stiffness,
        constant,
        linear,
        quadratic,
        picture,
    })
}

fn picture(from: &mut Reader<'_>, n: usize) -> Option<Picture> {
    let n_points = from.count()?;
    let points = from.numbers(n_points.checked_mul(3)?)?;
    let n_shapes = from.count()?;
    if n_shapes != points.len().checked_mul(n)? {
        return None;
    }
    let shapes = from.words(n_shapes)?.map(f32::from_le_bytes).collect();
    let n_cells = from.count()?;
    let mut cells = Vec::new();
    let mut inside = true;
    let mut indices = |from: &mut Reader<'_>, count: usize| -> Option<Vec<u32>> {
        let found: Vec<u32> = from.words(count)?.map(u32::from_le_bytes).collect();
        inside &= found.iter().all(|index| (*index as usize) < n_points);
        Some(found)
    };
    for _ in 0..n_cells {
        let kind = from.bytes(1)?[0];
        let count = from.count()?;
        cells.push((kind, indices(from, count)?));
    }
    let n_lines = from.count()?;
    let lines = indices(from, n_lines.checked_mul(2)?)?;
    inside.then(|| Picture {
        points: points.as_chunks().0.to_vec(),
        shapes,
        cells,
        outline: lines.as_chunks().0.to_vec(),
    })
}

struct Writer(Vec<u8>);

impl Writer {
    fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }

    fn numbers(&mut self, values: &[f64]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }

    fn indices(&mut self, values: &[u32]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }

    fn list(&mut self, values: &[f64]) {
        self.count(values.len());
        self.numbers(values);
    }
}

/// What is left to read; nothing is reserved for counts that the file does not hold.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        let bytes = self.bytes(8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    }

    fn words(&mut self, count: usize) -> Option<impl Iterator<Item = [u8; 4]> + use<'a>> {
        let bytes = self.bytes(count.checked_mul(4)?)?;
        Some(bytes.as_chunks().0.iter().copied())
    }

    fn numbers(&mut self, count: usize) -> Option<Vec<f64>> {
        let bytes = self.bytes(count.checked_mul(8)?)?;
        let values = bytes.as_chunks().0.iter();
        Some(values.map(|v| f64::from_le_bytes(*v)).collect())
    }

    fn list(&mut self) -> Option<Vec<f64>> {
        let count = self.count()?;
        self.numbers(count)
    }
}
