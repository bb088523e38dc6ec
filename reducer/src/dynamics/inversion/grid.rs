//! Instants of the horizon, and what is wanted at them.

use super::InversionSettings;
use super::collocation::Node;
use super::wanted::{Tracked, Wanted};
use crate::dynamics::signal::Jet;
use std::f64::consts::PI;

/// Samples of a path where its rates and spectrum are asked for.
const SAMPLES: usize = 2000;

/// Times of nodes, from before the path to after it. Where a wanted acceleration jumps, two nodes have the
/// same time: the first knows what is wanted before, the second what is wanted after.
pub(super) struct Grid {
    places: Vec<Place>,
    duration: f64,
}

#[derive(Clone, Copy)]
struct Place {
    time: f64,
    /// Derivatives are those just before the time.
    before: bool,
}

/// What is wanted at a time.
pub(super) fn wanted(tracked: &[Tracked], duration: f64, time: f64, before: bool) -> Vec<Jet> {
    let each = tracked.iter();
    each.map(|t| t.wanted.at(time, duration, before)).collect()
}

/// Largest rate of a path.
pub(super) fn fastest(wanted: &Wanted, duration: f64) -> f64 {
    let rates = (0..=SAMPLES).map(|i| {
        let time = duration * i as f64 / SAMPLES as f64;
        wanted.at(time, duration, false).rate.abs()
    });
    rates.fold(0.0, f64::max)
}

/// Part of the root mean square of all wanted accelerations above a frequency (rad/s), by Parseval's theorem.
pub(super) fn content_beyond(tracked: &[Tracked], duration: f64, frequency: f64) -> f64 {
    let step = duration / SAMPLES as f64;
    let middle = |i: usize| (i as f64 + 0.5) * step;
    let (mut all, mut below) = (0.0, 0.0);
    // Several frequencies per lobe of the spectrum.
    let lines = (8.0 * frequency * duration / PI).clamp(50.0, 4000.0) as usize;
    for track in tracked {
        let accelerations: Vec<f64> = (0..SAMPLES)
            .map(|i| track.wanted.at(middle(i), duration, false).acceleration)
            .collect();
        all += accelerations.iter().map(|a| a * a).sum::<f64>() * step;
        let width = frequency / lines as f64;
        for line in 0..lines {
            let omega = (line as f64 + 0.5) * width;
            let (mut re, mut im) = (0.0, 0.0);
            for (i, a) in accelerations.iter().enumerate() {
                let (sine, cosine) = (omega * middle(i)).sin_cos();
                re += a * cosine * step;
                im += a * sine * step;
            }
            below += (re * re + im * im) * width / PI;
        }
    }
    if all > 0.0 {
        (1.0 - below / all).max(0.0).sqrt()
    } else {
        0.0
    }
}

impl Grid {
    /// Steps of equal length between the times at which something may jump.
    pub fn new(tracked: &[Tracked], settings: &InversionSettings, before: f64, after: f64) -> Self {
        let duration = settings.duration;
        let mut breaks = vec![-before, 0.0, duration, duration + after];
        for track in tracked {
            let mut own = Vec::new();
            track.wanted.add_breaks(&mut own);
            breaks.extend(own.into_iter().filter(|t| *t > 0.0 && *t < duration));
        }
        breaks.sort_by(f64::total_cmp);
        let whole = before + duration + after;
        breaks.dedup_by(|later, earlier| *later - *earlier <= 1e-9 * whole);
        let step = whole / settings.instants as f64;
        let mut grid = Self {
            places: Vec::new(),
            duration,
        };
        for pair in breaks.windows(2) {
            let count = ((pair[1] - pair[0]) / step - 1e-9).ceil().max(1.0) as usize;
            grid.add(tracked, pair[0]);
            let width = (pair[1] - pair[0]) / count as f64;
            let inner = (1..count).map(|i| Place {
                time: pair[0] + width * i as f64,
                before: false,
            });
            grid.places.extend(inner);
        }
        grid.add(tracked, breaks[breaks.len() - 1]);
        grid
    }

    /// One node, or two where an acceleration jumps.
    fn add(&mut self, tracked: &[Tracked], time: f64) {
        let [low, high] = [true, false].map(|before| wanted(tracked, self.duration, time, before));
        let jumps = low.iter().zip(&high).any(|(low, high)| {
            let size = low.acceleration.abs() + high.acceleration.abs();
            (low.acceleration - high.acceleration).abs() > 1e-6 * size && !self.places.is_empty()
        });
        if jumps {
            let before = true;
            self.places.push(Place { time, before });
        }
        let before = false;
        self.places.push(Place { time, before });
    }

    /// Times of the nodes.
    pub fn times(&self) -> impl Iterator<Item = f64> {
        self.places.iter().map(|place| place.time)
    }

    /// What is wanted at the nodes.
    pub fn wanted(&self, tracked: &[Tracked]) -> impl Iterator<Item = Vec<Jet>> {
        let each = self.places.iter();
        each.map(move |place| wanted(tracked, self.duration, place.time, place.before))
    }

    /// One value per time: of two nodes with the same time the second.
    pub fn last_of_each<T>(&self, values: impl Iterator<Item = T>) -> Vec<T> {
        let mut kept: Vec<T> = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for (place, value) in self.places.iter().zip(values) {
            if place.time == last {
                kept.pop();
            }
            last = place.time;
            kept.push(value);
        }
        kept
    }

    /// Nodes with these modal coordinates, without rates.
    pub fn nodes(
        &self,
        theta: impl Iterator<Item = Vec<f64>>,
        modal: &[Vec<f64>],
        tracked: &[Tracked],
    ) -> Vec<Node> {
        let each = self.times().zip(self.wanted(tracked)).zip(theta).zip(modal);
        each.map(|(((time, wanted), theta), modal)| Node {
            time,
            wanted,
            theta,
            z: modal.clone(),
            zd: vec![0.0; modal.len()],
            zdd: vec![0.0; modal.len()],
        })
        .collect()
    }

    /// Nodes with one more in the middle of every interval, and which of them are the old ones.
    pub fn refined(&self, nodes: &[Node], tracked: &[Tracked]) -> (Vec<Node>, Vec<usize>) {
        let mut fine: Vec<Node> = Vec::new();
        let mut kept = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            if i > 0 && nodes[i - 1].time < node.time {
                fine.push(self.middle(&nodes[i - 1], node, tracked));
            }
            kept.push(fine.len());
            fine.push(node.clone());
        }
        (fine, kept)
    }

    fn middle(&self, left: &Node, right: &Node, tracked: &[Tracked]) -> Node {
        let time = 0.5 * (left.time + right.time);
        let width = right.time - left.time;
        let mean = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| 0.5 * (a + b)).collect()
        };
        let bent = |values: Vec<f64>, a: &[f64], b: &[f64]| -> Vec<f64> {
            let each = values.into_iter().zip(a).zip(b);
            each.map(|((value, a), b)| value + width / 8.0 * (a - b))
                .collect()
        };
        Node {
            time,
            wanted: wanted(tracked, self.duration, time, false),
            theta: mean(&left.theta, &right.theta),
            z: bent(mean(&left.z, &right.z), &left.zd, &right.zd),
            zd: bent(mean(&left.zd, &right.zd), &left.zdd, &right.zdd),
            zdd: mean(&left.zdd, &right.zdd),
        }
    }
}

/// Values at old nodes, and means between them.
pub(super) fn between(values: &[Vec<f64>], kept: &[usize], count: usize) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new(); count];
    for (value, &i) in values.iter().zip(kept) {
        all[i].clone_from(value);
    }
    for i in 1..count.saturating_sub(1) {
        if all[i].is_empty() {
            let pairs = all[i - 1].iter().zip(&all[i + 1]);
            all[i] = pairs.map(|(a, b)| 0.5 * (a + b)).collect();
        }
    }
    all
}
