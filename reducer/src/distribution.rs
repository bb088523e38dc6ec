//! The samples of a wave, shared out over processes.
//!
//! Every process, a rank, has read the same mechanism. Rank 0 leads: it decides and writes, and evaluates a part of the
//! samples itself. The others evaluate what they are sent. A sample depends on θ alone and goes back to the place that
//! asked for it, so a model is the same for any number of ranks. How messages travel is the caller's: a [`Post`] is two
//! channels.

use crate::approximation::{LocalModel, SampleFailure};
use crate::reduced_model::ModelLayout;
use crate::reduction::Coefficients;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Most samples in one message: those of the largest model then are less than what a message may have.
const MOST_SAMPLES: usize = 64;
/// A rank is sent so many parts of its share, so that all end at about the same time.
const PARTS: usize = 3;

/// A message to another rank, or from it.
#[derive(Debug)]
pub struct Letter {
    /// The other rank.
    pub rank: usize,
    /// What it is told or tells.
    pub bytes: Vec<u8>,
}

/// Where letters of one rank go out and come in.
#[derive(Debug)]
pub struct Post {
    out: Sender<Letter>,
    arrived: Receiver<Letter>,
}

impl Post {
    /// A post, and the ends of it that belong to whoever carries the letters.
    pub fn new() -> (Self, Receiver<Letter>, Sender<Letter>) {
        let (out, to_carry) = channel();
        let (carried, arrived) = channel();
        (Self { out, arrived }, to_carry, carried)
    }

    fn send(&self, rank: usize, message: &Message) -> Option<()> {
        let bytes = postcard::to_stdvec(message).ok()?;
        self.out.send(Letter { rank, bytes }).ok()
    }

    /// Waits for a message; one that cannot be read is none.
    fn receive(&self) -> Option<(usize, Option<Message>)> {
        let letter = self.arrived.recv().ok()?;
        Some((letter.rank, postcard::from_bytes(&letter.bytes).ok()))
    }
}

#[derive(Serialize, Deserialize)]
enum Message {
    /// A rank has read the mechanism.
    Ready {
        fingerprint: [u8; 32],
        threads: usize,
    },
    /// It has not.
    Unable(String),
    Points(Vec<Vec<f64>>),
    Results(Vec<Outcome>),
    Stop,
}

type Outcome = Result<Coefficients, SampleFailure>;

/// A rank that cannot take part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RankError {
    /// It has another mechanism, or is another version of the program.
    #[error("rank {rank} has another mechanism, or is another version of the program")]
    Differs {
        /// Its number.
        rank: usize,
    },
    /// It has no mechanism.
    #[error("rank {rank} cannot take part: {reason}")]
    Unable {
        /// Its number.
        rank: usize,
        /// Why.
        reason: String,
    },
    /// Messages do not arrive any more.
    #[error("the other ranks do not answer")]
    Silent,
}

/// Rank 0. The others end when it is dropped.
pub struct Leader {
    post: Mutex<Post>,
    ranks: usize,
    crew: Mutex<Vec<Follower>>,
}

#[derive(Debug, Clone, Copy)]
struct Follower {
    rank: usize,
    threads: usize,
}

impl Leader {
    /// The first of so many ranks.
    pub fn new(post: Post, ranks: usize) -> Self {
        Self {
            post: Mutex::new(post),
            ranks,
            crew: Mutex::new(Vec::new()),
        }
    }

    /// Waits until all others have read the mechanism with this fingerprint.
    pub fn gather(&self, fingerprint: [u8; 32]) -> Result<(), RankError> {
        let post = self.post();
        let mut crew = self.crew();
        while crew.len() + 1 < self.ranks {
            match post.receive() {
                None => return Err(RankError::Silent),
                Some((
                    rank,
                    Some(Message::Ready {
                        fingerprint: f,
                        threads,
                    }),
                )) if f == fingerprint => {
                    crew.push(Follower { rank, threads });
                }
                Some((rank, Some(Message::Unable(reason)))) => {
                    return Err(RankError::Unable { rank, reason });
                }
                Some((rank, _)) => return Err(RankError::Differs { rank }),
            }
        }
        crew.sort_by_key(|f| f.rank);
        Ok(())
    }

    /// A model whose samples all ranks share.
    pub fn share<'a>(&'a self, local: &'a dyn LocalModel) -> Shared<'a> {
        Shared {
            local,
            leader: self,
        }
    }

    fn post(&self) -> MutexGuard<'_, Post> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn crew(&self) -> MutexGuard<'_, Vec<Follower>> {
        self.crew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends points out until none is left and all results are back. What a rank that is lost had is left without
    /// a result.
    fn share_out(&self, queue: &Queue, points: &[&[f64]], results: &[OnceLock<Outcome>]) {
        let (post, mut crew) = (self.post(), self.crew());
        let threads = rayon::current_num_threads() + crew.iter().map(|f| f.threads).sum::<usize>();
        let mut away: Vec<(usize, Range<usize>)> = Vec::new();
        let send = |follower: &Follower| -> Option<(usize, Range<usize>)> {
            let range = queue.take(|left| {
                let share = left * follower.threads / (PARTS * threads);
                share.max(follower.threads).min(MOST_SAMPLES)
            })?;
            let part = points[range.clone()].iter().map(|p| p.to_vec()).collect();
            post.send(follower.rank, &Message::Points(part))?;
            Some((follower.rank, range))
        };
        away.extend(crew.iter().filter_map(send));
        while !away.is_empty() {
            let Some((rank, message)) = post.receive() else {
                crew.clear();
                return;
            };
            let Some(place) = away.iter().position(|(r, _)| *r == rank) else {
                continue;
            };
            let (_, range) = away.swap_remove(place);
            match message {
                Some(Message::Results(found)) if found.len() == range.len() => {
                    for (i, outcome) in range.zip(found) {
                        let _ = results[i].set(outcome);
                    }
                    away.extend(crew.iter().find(|f| f.rank == rank).and_then(send));
                }
                _ => crew.retain(|f| f.rank != rank),
            }
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        for rank in 1..self.ranks {
            // Who is gone needs no word.
            let _ = self.post().send(rank, &Message::Stop);
        }
    }
}

/// Which points are taken.
struct Queue {
    next: Mutex<usize>,
    len: usize,
}

impl Queue {
    /// The next points, as many as `count` says of those that are left.
    fn take(&self, count: impl Fn(usize) -> usize) -> Option<Range<usize>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.len - *next;
        let start = *next;
        *next += count(left).min(left);
        (left > 0).then_some(start..*next)
    }
}

/// A local model whose samples all ranks share.
pub struct Shared<'a> {
    local: &'a dyn LocalModel,
    leader: &'a Leader,
}

impl LocalModel for Shared<'_> {
    fn layout(&self) -> ModelLayout {
        self.local.layout()
    }

    fn evaluate(&self, theta: &[f64]) -> Outcome {
        self.local.evaluate(theta)
    }

    fn evaluate_all(&self, points: &[&[f64]]) -> Vec<Outcome> {
        let queue = Queue {
            next: Mutex::new(0),
            len: points.len(),
        };
        let results: Vec<OnceLock<Outcome>> = points.iter().map(|_| OnceLock::new()).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| self.leader.share_out(&queue, points, &results));
            let threads = rayon::current_num_threads();
            (0..threads).into_par_iter().for_each(|_| {
                while let Some(range) = queue.take(|_| 1) {
                    for i in range {
                        let _ = results[i].set(self.local.evaluate(points[i]));
                    }
                }
            });
        });
        let complete = |(found, point): (OnceLock<Outcome>, &&[f64])| {
            let found = found.into_inner();
            found.unwrap_or_else(|| self.local.evaluate(point))
        };
        results.into_par_iter().zip(points).map(complete).collect()
    }

    fn ranks(&self) -> usize {
        self.leader.ranks
    }

    fn own_inertia(&self) -> Option<Vec<f64>> {
        self.local.own_inertia()
    }

    fn is_tree(&self) -> bool {
        self.local.is_tree()
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.local.fingerprint()
    }
}

/// Evaluates what rank 0 sends until it says that nothing more comes, or where it is gone. Without a model, says why.
pub fn follow(post: &Post, local: Result<&dyn LocalModel, String>) {
    let hello = match &local {
        Ok(local) => Message::Ready {
            fingerprint: local.fingerprint(),
            threads: rayon::current_num_threads(),
        },
        Err(reason) => Message::Unable(reason.clone()),
    };
    let mut going = post.send(0, &hello);
    while going.is_some()
        && let Some((_, Some(Message::Points(points)))) = post.receive()
    {
        going = local.as_ref().ok().and_then(|local| {
            let at: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
            post.send(0, &Message::Results(local.evaluate_all(&at)))
        });
    }
}
