//! Several processes under `mpirun`: who leads, who follows, and who carries the post between them.
//!
//! Without the feature `mpi` a process is alone.

use reducer::distribution::{Leader, Post, RankError};
use reducer::error::{Explain, Origin};
use std::thread::JoinHandle;

/// Why processes do not work together.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// MPI does not start.
    #[error("MPI cannot be used here")]
    NoMpi,
    /// A process cannot take part.
    #[error(transparent)]
    Rank(#[from] RankError),
}

impl Explain for RanksError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::NoMpi => "try `mpirun -n 2 hostname`, or run it without mpirun".to_owned(),
            Self::Rank(_) => {
                "all machines need the same program and the same files at the same place".to_owned()
            }
        })
    }
}

/// What this process is among others.
pub enum Part {
    /// The one that decides and writes.
    Leads(Leads),
    /// One that evaluates what it is sent.
    Follows(Follows),
}

/// The first of several processes.
pub struct Leads {
    /// What the others are told; they end when it is dropped, before the post does.
    pub leader: Leader,
    /// Number of processes on this machine.
    pub neighbours: usize,
    _postman: Postman,
}

/// Another one.
pub struct Follows {
    /// Where its letters are.
    pub post: Post,
    /// Number of processes on this machine.
    pub neighbours: usize,
    _postman: Postman,
}

/// Carries letters on a thread of its own until the post is dropped; then its end is waited for.
#[cfg_attr(
    not(feature = "mpi"),
    allow(dead_code, reason = "nobody is to be joined")
)]
struct Postman(Option<JoinHandle<()>>);

impl Drop for Postman {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A postman that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// Joins the processes that were started together; nothing where there is one alone.
#[cfg(not(feature = "mpi"))]
pub fn join() -> Result<Option<Part>, RanksError> {
    Ok(None)
}

#[cfg(feature = "mpi")]
pub use by_mpi::join;

/// The same by MPI, which one thread alone speaks to.
#[cfg(feature = "mpi")]
mod by_mpi {
    use super::{Follows, Leader, Leads, Part, Post, Postman, RanksError};
    use mpi::Threading;
    use mpi::point_to_point::MatchedReceiveVec;
    use mpi::topology::SimpleCommunicator;
    use mpi::traits::{Communicator, Destination, Source};
    use reducer::distribution::Letter;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
    use std::time::Duration;

    /// Pauses between two looks for letters: the first after one came, and the longest. Receiving calls of MPI spin,
    /// which takes a core from those who compute.
    const SHORTEST: Duration = Duration::from_micros(20);
    const LONGEST: Duration = Duration::from_micros(200);

    /// Which of how many processes this is.
    struct Place {
        rank: usize,
        size: usize,
        neighbours: usize,
    }

    /// Joins the processes that were started together; nothing where there is one alone.
    pub fn join() -> Result<Option<Part>, RanksError> {
        let (post, out, arrived) = Post::new();
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
                return;
            };
            let world = universe.world();
            let place = Place {
                rank: number(world.rank()),
                size: number(world.size()),
                neighbours: number(world.split_shared(0).size()),
            };
            if tell.send(place).is_ok() {
                carry(&world, &out, &arrived);
            }
        });
        let postman = Postman(Some(thread));
        let Ok(place) = told.recv() else {
            return Err(RanksError::NoMpi);
        };
        Ok(match place {
            Place { size: 1, .. } => {
                // The postman ends with it, and is waited for.
                drop(post);
                None
            }
            Place {
                rank: 0,
                size,
                neighbours,
            } => Some(Part::Leads(Leads {
                leader: Leader::new(post, size),
                neighbours,
                _postman: postman,
            })),
            Place { neighbours, .. } => Some(Part::Follows(Follows {
                post,
                neighbours,
                _postman: postman,
            })),
        })
    }

    /// Carries letters until nobody can send any more.
    fn carry(world: &SimpleCommunicator, out: &Receiver<Letter>, arrived: &Sender<Letter>) {
        let mut pause = SHORTEST;
        loop {
            match out.recv_timeout(pause) {
                Ok(Letter { rank, bytes }) => {
                    let rank = i32::try_from(rank).unwrap_or(i32::MAX);
                    world.process_at_rank(rank).send(&bytes[..]);
                    pause = SHORTEST;
                }
                Err(RecvTimeoutError::Timeout) => pause = LONGEST.min(2 * pause),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Some(found) = world.any_process().immediate_matched_probe() {
                let (bytes, status) = found.matched_receive_vec::<u8>();
                let rank = number(status.source_rank());
                // Who does not listen any more is about to end.
                let _ = arrived.send(Letter { rank, bytes });
                pause = SHORTEST;
            }
        }
    }

    fn number(of_mpi: i32) -> usize {
        usize::try_from(of_mpi).unwrap_or(0)
    }
}
