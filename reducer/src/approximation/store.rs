//! The samples of one run, taken in waves.

use super::database::{DatabaseError, SampleDatabase, SampleResult};
use super::history::Counters;
use super::region::Region;
use super::sample::Sample;
use super::source::{LocalModel, SampleFailure};
use crate::reduced_model::{ModelForm, ModelLayout};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All samples a run has asked for, in the order in which it asked.
///
/// The run sees nothing else of the database: a resumed run chooses the same points as an
/// uninterrupted one.
pub(super) struct SampleStore<'a> {
    local: &'a dyn LocalModel,
    database: &'a mut SampleDatabase,
    form: ModelForm,
    layout: &'a ModelLayout,
    entries: Vec<Result<Sample, SampleFailure>>,
    index: BTreeMap<Vec<u64>, usize>,
    /// θ of every successful sample over the ranges of the domain, and its entry: kept apart because
    /// searches for a neighbour go through all of them.
    places: Vec<f64>,
    placed: Vec<usize>,
    counters: &'a Counters,
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
            counters,
        }
    }

    /// Number of configurations the run has used.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of them that were reached around what blocks the straight line from home.
    pub fn n_routed(&self) -> usize {
        self.samples().filter(|s| s.exact.waypoints > 0).count()
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
        let mut wave: Vec<&Vec<f64>> = Vec::new();
        for point in points {
            let next = self.entries.len() + wave.len();
            self.index.entry(key(point)).or_insert_with(|| {
                wave.push(point);
                next
            });
        }
        let missing: Vec<&Vec<f64>> = wave
            .iter()
            .copied()
            .filter(|p| self.database.get(p).is_none())
            .collect();
        let evaluated: Vec<(Vec<f64>, SampleResult)> = missing
            .par_iter()
            .map(|p| ((*p).clone(), self.local.evaluate(p).map(Arc::new)))
            .collect();
        let used = wave.iter().map(|point| key(point));
        self.counters.count_samples(used, evaluated.len());
        self.database.append(evaluated)?;
        let (database, layout, form) = (&*self.database, self.layout, self.form);
        let prepared: Vec<Result<Sample, SampleFailure>> = wave
            .par_iter()
            .map(|p| match database.get(p) {
                Some(Ok(c)) => Sample::new(Arc::clone(c), layout, form),
                Some(Err(failure)) => Err(failure.clone()),
                None => Err(SampleFailure::Inadmissible {
                    theta: (*p).clone(),
                    reason: "no result".to_owned(),
                }),
            })
            .collect();
        for mut entry in prepared {
            if let Ok(sample) = &mut entry
                && !sample.exact.outputs.is_empty()
            {
                self.orient(sample);
            }
            self.entries.push(entry);
        }
        Ok(())
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
        if let Some(Ok(neighbour)) = nearest.1.map(|i| &self.entries[i]) {
            sample.continue_from(neighbour);
        }
        self.places.extend(place);
        self.placed.push(self.entries.len());
    }

    /// What is known at a point that was required before.
    pub fn get(&self, theta: &[f64]) -> Option<&Result<Sample, SampleFailure>> {
        self.index.get(&key(theta)).map(|&i| &self.entries[i])
    }

    /// Samples in a closed box, in order, at most `count`.
    pub fn inside(&self, region: &Region, count: usize) -> Vec<&Sample> {
        self.entries
            .iter()
            .flatten()
            .filter(|p| region.contains(p.theta()))
            .take(count)
            .collect()
    }

    /// All samples.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.entries.iter().flatten()
    }

    /// The first failure in a closed box, and where it is.
    pub fn failure_inside(&self, region: &Region) -> Option<(Vec<f64>, &SampleFailure)> {
        let failures = self
            .index
            .iter()
            .filter(|(_, i)| self.entries[**i].is_err());
        let theta = |key: &[u64]| key.iter().map(|b| f64::from_bits(*b)).collect::<Vec<f64>>();
        let (key, first) = failures
            .filter(|(k, _)| region.contains(&theta(k)))
            .min_by_key(|(_, i)| **i)?;
        Some((theta(key), self.entries[*first].as_ref().err()?))
    }
}

pub(super) fn key(theta: &[f64]) -> Vec<u64> {
    theta.iter().map(|t| t.to_bits()).collect()
}
