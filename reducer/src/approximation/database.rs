//! Samples on disk: an append-only log that survives a kill at any moment.
//!
//! Every process writes its own segment file, so concurrent runs never share one; all segments
//! with the same fingerprint are read on opening. A record is its length, its payload
//! (postcard) and the BLAKE3 hash of both; reading a segment stops at the first record that is not whole. A process
//! never appends to another one's segment, so a torn tail stays where it is and harms nothing. Segments are
//! read record by record, and no more of them than a run can hold.
//!
//! Samples beyond a share of memory stay on disk alone and are read again where they are needed.

use super::source::SampleFailure;
use crate::reduction::Coefficients;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, create_dir_all, read_dir};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of one configuration; runs share it.
pub type SampleResult = Result<Arc<Coefficients>, SampleFailure>;

const MAGIC: &[u8; 8] = b"GMPSMPL4";
const HASH: usize = 32;
const HEADER: usize = 8 + HASH;
/// Most bytes of one sample; one of the largest model has less than a third.
const LARGEST_RECORD: usize = 16 << 20;
/// Of the memory for samples the database takes one part in so many: a sample that is ready for use is larger.
const SHARE: usize = 4;
/// Most bytes of samples that are read.
pub(crate) const MOST_BYTES: usize = 512 << 20;

/// The database cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the sample database `{path}`: {action}: {source}")]
pub struct DatabaseError {
    /// File or folder.
    pub path: String,
    /// What was tried.
    pub action: &'static str,
    /// What the system said.
    source: std::io::Error,
}

/// Where a sample is.
#[derive(Debug)]
enum Known {
    Memory(SampleResult),
    /// Its record: a segment, the place of the payload there and its length.
    Disk {
        segment: usize,
        offset: u64,
        length: usize,
    },
}

/// Samples by exact θ. A cache: results of a run never depend on what it holds.
#[derive(Debug)]
pub struct SampleDatabase {
    known: BTreeMap<Vec<u64>, Known>,
    folder: Option<PathBuf>,
    fingerprint: [u8; 32],
    /// Segments that are read or written.
    segments: Vec<Segment>,
    /// The one of them that is this process's own.
    own: Option<usize>,
    left_out: bool,
    /// Nothing is to be left on disk.
    forgets: bool,
    /// Bytes of samples that may be in memory, and that are.
    most_bytes: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: Mutex<File>,
    length: u64,
    /// It is removed in the end.
    forgets: bool,
}

impl Default for SampleDatabase {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            folder: None,
            fingerprint: [0; 32],
            segments: Vec::new(),
            own: None,
            left_out: false,
            forgets: false,
            most_bytes: usize::MAX,
            bytes: 0,
        }
    }
}

impl SampleDatabase {
    /// A database that forgets.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// A database that forgets, of whose samples a run has about so many bytes in memory and the rest in `folder`.
    pub fn scratch(folder: &Path, bytes: usize) -> Self {
        Self {
            folder: Some(folder.to_owned()),
            forgets: true,
            most_bytes: bytes / SHARE,
            ..Self::default()
        }
    }

    /// Bytes of samples that a run may have ready for use.
    pub(super) fn bytes_for_use(&self) -> usize {
        self.most_bytes.saturating_mul(SHARE - 1)
    }

    /// Opens or creates the database of one model in `folder`.
    pub fn open(folder: &Path, fingerprint: [u8; 32]) -> Result<Self, DatabaseError> {
        Self::open_within(folder, fingerprint, usize::MAX)
    }

    /// The same; a run then has about so many bytes of samples in memory, and reads others when it needs them.
    pub fn open_within(
        folder: &Path,
        fingerprint: [u8; 32],
        bytes: usize,
    ) -> Result<Self, DatabaseError> {
        let failed = |action| {
            move |source| DatabaseError {
                path: folder.display().to_string(),
                action,
                source,
            }
        };
        create_dir_all(folder).map_err(failed("cannot be created"))?;
        let mut segments: Vec<PathBuf> = read_dir(folder)
            .map_err(failed("cannot be listed"))?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "samples") && path.is_file())
            .collect();
        segments.sort();
        let mut found = Self {
            folder: Some(folder.to_owned()),
            fingerprint,
            most_bytes: bytes / SHARE,
            ..Self::default()
        };
        let mut budget = MOST_BYTES;
        for path in segments {
            let file = File::open(&path).map_err(failed("cannot be read"))?;
            found
                .read_segment(path, file, &mut budget)
                .map_err(failed("cannot be read"))?;
        }
        Ok(found)
    }

    /// There are more stored samples than are read: what they say is computed again.
    pub fn is_partly_read(&self) -> bool {
        self.left_out
    }

    /// Number of configurations known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What is known of a configuration. What cannot be read any more is not known.
    pub fn get(&self, theta: &[f64]) -> Option<SampleResult> {
        match self.known.get(&key(theta))? {
            Known::Memory(result) => Some(result.clone()),
            Known::Disk {
                segment,
                offset,
                length,
            } => {
                let mut payload = vec![0; *length];
                let file = &self.segments[*segment].file;
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(*offset)).ok()?;
                file.read_exact(&mut payload).ok()?;
                let (found, result) = decoded(&payload)?;
                (key(&found) == key(theta)).then_some(result)
            }
        }
    }

    /// Something is known of a configuration.
    pub fn knows(&self, theta: &[f64]) -> bool {
        self.known.contains_key(&key(theta))
    }

    /// Adds the results of one wave and hands them to the operating system: they outlive the process,
    /// however it ends. What a loss of power tears, reading recognises.
    pub fn append(&mut self, wave: Vec<(Vec<f64>, SampleResult)>) -> Result<(), DatabaseError> {
        let Some(folder) = self.folder.clone() else {
            for (theta, result) in wave {
                self.known.insert(key(&theta), Known::Memory(result));
            }
            return Ok(());
        };
        let mut bytes = Vec::new();
        for (theta, result) in wave {
            let start = bytes.len();
            let payload = put_record(&theta, &result, &mut bytes).map_err(|source| {
                let path = folder.display().to_string();
                let action = "cannot be written";
                DatabaseError {
                    path,
                    action,
                    source,
                }
            })?;
            let fits = self.bytes.saturating_add(payload) <= self.most_bytes;
            if self.forgets && fits {
                bytes.truncate(start);
            }
            if fits {
                self.bytes += payload;
                self.known.insert(key(&theta), Known::Memory(result));
                continue;
            }
            let segment = self.own_segment(&folder)?;
            let place = Known::Disk {
                segment,
                offset: self.segments[segment].length + start as u64 + 8,
                length: payload,
            };
            self.known.insert(key(&theta), place);
        }
        self.write(&folder, &bytes)
    }

    /// Appends records to the own segment.
    fn write(&mut self, folder: &Path, bytes: &[u8]) -> Result<(), DatabaseError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let own = self.own_segment(folder)?;
        let segment = &mut self.segments[own];
        let mut file = segment.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(bytes).map_err(|source| DatabaseError {
            path: segment.path.display().to_string(),
            action: "cannot be written",
            source,
        })?;
        segment.length += bytes.len() as u64;
        Ok(())
    }

    fn own_segment(&mut self, folder: &Path) -> Result<usize, DatabaseError> {
        if let Some(own) = self.own {
            return Ok(own);
        }
        let segment = new_segment(folder, &self.fingerprint, self.forgets)?;
        self.segments.push(segment);
        self.own = Some(self.segments.len() - 1);
        Ok(self.segments.len() - 1)
    }

    /// Reads whole records of a segment with this fingerprint; ignores everything from the first
    /// record that is torn, damaged or no sample, and what is beyond the budget.
    fn read_segment(
        &mut self,
        path: PathBuf,
        file: File,
        budget: &mut usize,
    ) -> std::io::Result<()> {
        let index = self.segments.len();
        let mut reader = BufReader::new(file.try_clone()?);
        let mut header = [0; HEADER];
        let is_ours = fill(&mut reader, &mut header)?;
        if !is_ours || &header[..8] != MAGIC || header[8..] != self.fingerprint {
            return Ok(());
        }
        let mut offset = HEADER as u64;
        let mut record = vec![0; 8];
        let kept = |database: &mut Self| {
            let file = Mutex::new(file);
            database.segments.push(Segment {
                path,
                file,
                length: 0,
                forgets: false,
            });
            Ok(())
        };
        loop {
            record.truncate(8);
            if !fill(&mut reader, &mut record)? {
                return kept(self);
            }
            let length = record
                .first_chunk()
                .map_or(0, |head| u64::from_le_bytes(*head));
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length > LARGEST_RECORD {
                return kept(self);
            }
            let Some(left) = budget.checked_sub(length + 8 + HASH) else {
                self.left_out = true;
                return kept(self);
            };
            *budget = left;
            record.resize(8 + length + HASH, 0);
            if !fill(&mut reader, &mut record[8..])? {
                return kept(self);
            }
            let (told, hash) = record.split_at(8 + length);
            if blake3::hash(told).as_bytes()[..] != *hash {
                return kept(self);
            }
            let Some((theta, result)) = decoded(&told[8..]) else {
                return kept(self);
            };
            let fits = self.bytes.saturating_add(length) <= self.most_bytes;
            let known = if fits {
                self.bytes += length;
                Known::Memory(result)
            } else {
                Known::Disk {
                    segment: index,
                    offset: offset + 8,
                    length,
                }
            };
            self.known.insert(key(&theta), known);
            offset += record.len() as u64;
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if self.forgets {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates the next segment; creation is exclusive, so two processes never get the same. One that is to be forgotten
/// has a name that no run reads.
fn new_segment(
    folder: &Path,
    fingerprint: &[u8; 32],
    forgets: bool,
) -> Result<Segment, DatabaseError> {
    let ending = if forgets { "scratch" } else { "samples" };
    let mut number = 0_u32;
    loop {
        let path = folder.join(format!("{number:06}.{ending}"));
        let failed = |action| {
            let path = path.display().to_string();
            move |source| DatabaseError {
                path,
                action,
                source,
            }
        };
        create_dir_all(folder).map_err(failed("cannot be created"))?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        match options.open(&path) {
            Ok(mut file) => {
                let mut start = MAGIC.to_vec();
                start.extend(fingerprint);
                file.write_all(&start)
                    .map_err(failed("cannot be written"))?;
                return Ok(Segment {
                    path,
                    file: Mutex::new(file),
                    length: start.len() as u64,
                    forgets,
                });
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(failed("cannot be created")(e)),
        }
    }
}

/// Appends a record; the length of its payload.
fn put_record(theta: &[f64], result: &SampleResult, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    let record = (theta, result.as_ref().map(Arc::as_ref));
    let payload = postcard::to_stdvec(&record).map_err(std::io::Error::other)?;
    let start = bytes.len();
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&payload);
    let hash = blake3::hash(&bytes[start..]);
    bytes.extend_from_slice(hash.as_bytes());
    Ok(payload.len())
}

fn key(theta: &[f64]) -> Vec<u64> {
    theta.iter().map(|t| t.to_bits()).collect()
}

/// What the payload of a record holds; nothing where it is no sample.
fn decoded(payload: &[u8]) -> Option<(Vec<f64>, SampleResult)> {
    type Record = (Vec<f64>, Result<Coefficients, SampleFailure>);
    let (record, rest): (Record, &[u8]) = postcard::take_from_bytes(payload).ok()?;
    let (theta, result) = record;
    let misfits = result.as_ref().is_ok_and(|sample| !sample.has_own_sizes());
    (rest.is_empty() && !misfits).then(|| (theta, result.map(Arc::new)))
}

/// Fills the buffer; false where the file ends before.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match file.read_exact(buffer) {
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
