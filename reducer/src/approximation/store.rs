//! The samples of one run, taken in waves.

use super::database::{DatabaseError, SampleDatabase, SampleResult};
use super::history::Counters;
use super::observer::Observer;
use super::region::Region;
use super::sample::Sample;
use super::source::{LocalModel, SampleFailure};
use crate::reduced_model::{CutShort, ModelForm, ModelLayout};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Configurations of every rank that are evaluated between two looks at whether to go on.
const PORTION: usize = 256;

/// All samples a run has asked for, in the order in which it asked.
///
/// The run sees nothing else of the database: a resumed run chooses the same points as an
/// uninterrupted one. Samples beyond the memory that the database allows are made ready anew where they are used.
pub(super) struct SampleStore<'a> {
    local: &'a dyn LocalModel,
    database: &'a mut SampleDatabase,
    form: ModelForm,
    layout: &'a ModelLayout,
    entries: Vec<Result<Entry, SampleFailure>>,
    index: BTreeMap<Vec<u64>, usize>,
    /// θ of every successful sample over the ranges of the domain, and its entry: kept apart because
    /// searches for a neighbour go through all of them.
    places: Vec<f64>,
    placed: Vec<usize>,
    /// Entries that are ready for use, the oldest first, and the bytes that they take.
    ready: VecDeque<usize>,
    bytes: usize,
    /// Where samples failed, and their entries.
    failures: Vec<(Vec<f64>, usize)>,
    counters: &'a Counters,
}

/// A successful sample.
struct Entry {
    theta: Vec<f64>,
    is_routed: bool,
    /// None where it is to be made ready anew.
    sample: Option<Arc<Sample>>,
    /// Their signs depend on the order of samples.
    quaternions: Vec<[f64; 4]>,
}

impl<'a> SampleStore<'a> {
    pub fn new(
        local: &'a dyn LocalModel,
        database: &'a mut SampleDatabase,
        form: ModelForm,
        layout: &'a ModelLayout,
        counters: &'a Counters,
    ) -> Self {
        Self {
            local,
            database,
            form,
            layout,
            entries: Vec::new(),
            index: BTreeMap::new(),
            places: Vec::new(),
            placed: Vec::new(),
            ready: VecDeque::new(),
            bytes: 0,
            failures: Vec::new(),
            counters,
        }
    }

    /// Number of configurations the run has used.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of them that were reached around what blocks the straight line from home.
    pub fn n_routed(&self) -> usize {
        self.entries
            .iter()
            .flatten()
            .filter(|e| e.is_routed)
            .count()
    }

    /// Number of different `points` that are new to the run.
    pub fn n_new<'p>(&self, points: impl IntoIterator<Item = &'p Vec<f64>>) -> usize {
        let keys: BTreeSet<Vec<u64>> = points
            .into_iter()
            .map(|point| key(point))
            .filter(|key| !self.index.contains_key(key))
            .collect();
        keys.len()
    }

    /// Makes all `points` known: those that are new to the run are looked up or evaluated in
    /// parallel, and combined in the order given.
    pub fn require<'p>(
        &mut self,
        points: impl IntoIterator<Item = &'p Vec<f64>>,
    ) -> Result<(), DatabaseError> {
        self.require_while(points, &|_| None).map(|_| ())
    }

    /// The same, unless the observer wants an end before all are known: then nothing of them is.
    pub fn require_watched<'p>(
        &mut self,
        points: impl IntoIterator<Item = &'p Vec<f64>>,
        observer: &dyn Observer,
    ) -> Result<Option<CutShort>, DatabaseError> {
        self.require_while(points, &|left| {
            observer.sampling(left);
            observer.cut_short()
        })
    }

    fn require_while<'p>(
        &mut self,
        points: impl IntoIterator<Item = &'p Vec<f64>>,
        ends: &dyn Fn(usize) -> Option<CutShort>,
    ) -> Result<Option<CutShort>, DatabaseError> {
        let mut new = BTreeSet::new();
        let is_new = |p: &&Vec<f64>| {
            let key = key(p);
            !self.index.contains_key(&key) && new.insert(key)
        };
        let wave: Vec<&Vec<f64>> = points.into_iter().filter(is_new).collect();
        let missing: Vec<&Vec<f64>> = (wave.iter().copied())
            .filter(|p| !self.database.knows(p))
            .collect();
        let mut left = missing.len();
        for portion in missing.chunks(PORTION * self.local.ranks()) {
            if let Some(reason) = ends(left) {
                return Ok(Some(reason));
            }
            let at: Vec<&[f64]> = portion.iter().map(|p| p.as_slice()).collect();
            let results = self.local.evaluate_all(&at).into_iter();
            let evaluated: Vec<(Vec<f64>, SampleResult)> = (portion.iter().zip(results))
                .map(|(p, result)| ((*p).clone(), result.map(Arc::new)))
                .collect();
            self.database.append(evaluated)?;
            left -= portion.len();
        }
        let used = wave.iter().map(|point| key(point));
        self.counters.count_samples(used, missing.len());
        for portion in wave.chunks(PORTION) {
            let this = &*self;
            let prepared: Vec<Result<Sample, SampleFailure>> =
                portion.par_iter().map(|p| this.prepare(p)).collect();
            for (point, prepared) in portion.iter().zip(prepared) {
                let entry = self.entries.len();
                self.index.insert(key(point), entry);
                if prepared.is_err() {
                    self.failures.push(((*point).clone(), entry));
                }
                self.add(prepared);
            }
        }
        Ok(None)
    }

    /// The sample at a point, ready for use but for the signs of quaternions.
    fn prepare(&self, point: &[f64]) -> Result<Sample, SampleFailure> {
        // A file of samples that went away meanwhile costs time, not the run.
        let known = self.database.get(point);
        let exact = known.unwrap_or_else(|| self.local.evaluate(point).map(Arc::new))?;
        Sample::new(exact, self.layout, self.form)
    }

    fn add(&mut self, prepared: Result<Sample, SampleFailure>) {
        let entry = prepared.map(|mut sample| {
            if !sample.exact.outputs.is_empty() {
                self.orient(&mut sample);
            }
            self.bytes += sample.bytes();
            self.ready.push_back(self.entries.len());
            Entry {
                theta: sample.theta().to_vec(),
                is_routed: sample.exact.waypoints > 0,
                quaternions: sample.quaternions().to_vec(),
                sample: Some(Arc::new(sample)),
            }
        });
        self.entries.push(entry);
        while self.bytes > self.database.bytes_for_use() {
            let Some(oldest) = self.ready.pop_front() else {
                break;
            };
            let entry = self.entries[oldest].as_mut().ok();
            if let Some(sample) = entry.and_then(|e| e.sample.take()) {
                self.bytes -= sample.bytes();
            }
        }
    }

    /// An entry ready for use.
    fn load(&self, entry: &Entry) -> Option<Arc<Sample>> {
        let anew = || {
            let mut sample = self.prepare(&entry.theta).ok()?;
            sample.set_quaternions(&entry.quaternions);
            Some(Arc::new(sample))
        };
        entry.sample.clone().or_else(anew)
    }

    /// Continues the signs of quaternions from the nearest earlier sample.
    fn orient(&mut self, sample: &mut Sample) {
        let domain = &self.layout.domain;
        let scaled = |(k, t): (usize, &f64)| t / (domain.upper[k] - domain.lower[k]);
        let place: Vec<f64> = sample.theta().iter().enumerate().map(scaled).collect();
        let mut nearest = (f64::INFINITY, None);
        for (other, &entry) in self.places.chunks_exact(place.len()).zip(&self.placed) {
            let mut found = 0.0;
            for (a, b) in place.iter().zip(other) {
                found += (a - b).powi(2);
                if found >= nearest.0 {
                    break;
                }
            }
            if found < nearest.0 {
                nearest = (found, Some(entry));
            }
        }
        if let Some(Ok(entry)) = nearest.1.map(|i| &self.entries[i])
            && let Some(neighbour) = self.load(entry)
        {
            sample.continue_from(&neighbour);
        }
        self.places.extend(place);
        self.placed.push(self.entries.len());
    }

    /// The sample at a point that was required before; none where it failed.
    pub fn get(&self, theta: &[f64]) -> Option<Arc<Sample>> {
        let entry = &self.entries[*self.index.get(&key(theta))?];
        self.load(entry.as_ref().ok()?)
    }

    /// θ of samples in a closed box, in order, at most `count`.
    pub fn inside(&self, region: &Region, count: usize) -> Vec<&[f64]> {
        let all = self.entries.iter().flatten().map(|e| e.theta.as_slice());
        all.filter(|t| region.contains(t)).take(count).collect()
    }

    /// All samples.
    pub fn samples(&self) -> impl Iterator<Item = Arc<Sample>> {
        let entries = self.entries.iter().flatten();
        entries.filter_map(|entry| self.load(entry))
    }

    /// The first failure in a closed box, and where it is.
    pub fn failure_inside(&self, region: &Region) -> Option<(Vec<f64>, &SampleFailure)> {
        let mut failures = self.failures.iter();
        let (theta, entry) = failures.find(|(theta, _)| region.contains(theta))?;
        Some((theta.clone(), self.entries[*entry].as_ref().err()?))
    }
}

pub(super) fn key(theta: &[f64]) -> Vec<u64> {
    theta.iter().map(|t| t.to_bits()).collect()
}
