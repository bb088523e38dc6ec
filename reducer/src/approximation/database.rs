//! Samples on disk: an append-only log that survives a kill at any moment.
//!
//! Every process writes its own segment file, so concurrent runs never share one; all segments
//! with the same fingerprint are read on opening. A record is its length, its payload
//! (postcard) and the BLAKE3 hash of both; reading a segment stops at the first record that is not whole. A process
//! never appends to another one's segment, so a torn tail stays where it is and harms nothing. Segments are
//! read record by record, and no more of them than a run can hold.

use super::source::SampleFailure;
use crate::reduction::Coefficients;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, create_dir_all, read_dir};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is known of one configuration; runs share it.
pub type SampleResult = Result<Arc<Coefficients>, SampleFailure>;

const MAGIC: &[u8; 8] = b"GMPSMPL3";
const HASH: usize = 32;
const HEADER: usize = 8 + HASH;
/// Most bytes of one sample; one of the largest model has less than a third.
const LARGEST_RECORD: usize = 16 << 20;
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

/// Samples by exact θ. A cache: results of a run never depend on what it holds.
#[derive(Debug, Default)]
pub struct SampleDatabase {
    known: BTreeMap<Vec<u64>, SampleResult>,
    folder: Option<PathBuf>,
    fingerprint: [u8; 32],
    segment: Option<(PathBuf, File)>,
    left_out: bool,
}

impl SampleDatabase {
    /// A database that forgets.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Opens or creates the database of one model in `folder`.
    pub fn open(folder: &Path, fingerprint: [u8; 32]) -> Result<Self, DatabaseError> {
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
        let mut known = BTreeMap::new();
        let mut budget = MOST_BYTES;
        let mut left_out = false;
        for path in segments {
            let file = File::open(&path).map_err(failed("cannot be read"))?;
            let mut file = BufReader::new(file);
            left_out |= read_segment(&mut file, &fingerprint, &mut known, &mut budget)
                .map_err(failed("cannot be read"))?;
        }
        Ok(Self {
            known,
            folder: Some(folder.to_owned()),
            fingerprint,
            segment: None,
            left_out,
        })
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

    /// What is known of a configuration.
    pub fn get(&self, theta: &[f64]) -> Option<&SampleResult> {
        self.known.get(&key(theta))
    }

    /// Adds the results of one wave and hands them to the operating system: they outlive the process,
    /// however it ends. What a loss of power tears, reading recognises.
    pub fn append(&mut self, wave: Vec<(Vec<f64>, SampleResult)>) -> Result<(), DatabaseError> {
        self.write(&wave)?;
        for (theta, result) in wave {
            self.known.insert(key(&theta), result);
        }
        Ok(())
    }

    fn write(&mut self, wave: &[(Vec<f64>, SampleResult)]) -> Result<(), DatabaseError> {
        let Some(folder) = self.folder.as_ref().filter(|_| !wave.is_empty()) else {
            return Ok(());
        };
        if self.segment.is_none() {
            self.segment = Some(new_segment(folder, &self.fingerprint)?);
        }
        if let Some((path, file)) = &mut self.segment {
            records(wave)
                .and_then(|bytes| file.write_all(&bytes))
                .map_err(|source| DatabaseError {
                    path: path.display().to_string(),
                    action: "cannot be written",
                    source,
                })?;
        }
        Ok(())
    }
}

/// Creates the next segment; creation is exclusive, so two processes never get the same.
fn new_segment(folder: &Path, fingerprint: &[u8; 32]) -> Result<(PathBuf, File), DatabaseError> {
    let mut number = 0_u32;
    loop {
        let path = folder.join(format!("{number:06}.samples"));
        let failed = |source| DatabaseError {
            path: path.display().to_string(),
            action: "cannot be created",
            source,
        };
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(MAGIC).map_err(failed)?;
                file.write_all(fingerprint).map_err(failed)?;
                return Ok((path, file));
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(failed(e)),
        }
    }
}

/// The records of a wave, one after the other.
fn records(wave: &[(Vec<f64>, SampleResult)]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (theta, result) in wave {
        let record = (theta, result.as_ref().map(Arc::as_ref));
        let payload = postcard::to_stdvec(&record).map_err(std::io::Error::other)?;
        let start = bytes.len();
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        let hash = blake3::hash(&bytes[start..]);
        bytes.extend_from_slice(hash.as_bytes());
    }
    Ok(bytes)
}

fn key(theta: &[f64]) -> Vec<u64> {
    theta.iter().map(|t| t.to_bits()).collect()
}

/// What the payload of a record holds.
type Record = (Vec<f64>, Result<Coefficients, SampleFailure>);

/// Reads whole records of a segment with this fingerprint; ignores everything from the first
/// record that is torn, damaged or no sample. True where records are left because of the budget.
fn read_segment(
    file: &mut impl Read,
    fingerprint: &[u8; 32],
    known: &mut BTreeMap<Vec<u64>, SampleResult>,
    budget: &mut usize,
) -> std::io::Result<bool> {
    let mut header = [0; HEADER];
    let is_ours = fill(file, &mut header)?;
    if !is_ours || &header[..8] != MAGIC || &header[8..] != fingerprint {
        return Ok(false);
    }
    let mut record = vec![0; 8];
    loop {
        record.truncate(8);
        if !fill(file, &mut record)? {
            return Ok(false);
        }
        let length = record
            .first_chunk()
            .map_or(0, |head| u64::from_le_bytes(*head));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > LARGEST_RECORD {
            return Ok(false);
        }
        let Some(left) = budget.checked_sub(length + 8 + HASH) else {
            return Ok(true);
        };
        *budget = left;
        record.resize(8 + length + HASH, 0);
        if !fill(file, &mut record[8..])? {
            return Ok(false);
        }
        let (told, hash) = record.split_at(8 + length);
        if blake3::hash(told).as_bytes()[..] != *hash {
            return Ok(false);
        }
        let found: Result<(Record, &[u8]), _> = postcard::take_from_bytes(&told[8..]);
        let Ok(((theta, result), [])) = found else {
            return Ok(false);
        };
        if result.as_ref().is_ok_and(|sample| !sample.has_own_sizes()) {
            return Ok(false);
        }
        known.insert(key(&theta), result.map(Arc::new));
    }
}

/// Fills the buffer; false where the file ends before.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match file.read_exact(buffer) {
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
