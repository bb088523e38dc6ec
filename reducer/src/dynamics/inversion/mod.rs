//! Stable inversion: forces under which outputs of the flexible mechanism follow their paths.
//!
//! Outputs at the tip of a flexible link make the plant non-minimum phase: solved forward in time, the forces
//! that hold them on a path grow without bound. [`invert`] solves for the whole motion at once, with forces that
//! begin before the path and end after it, so that everything stays bounded.

mod banded;
mod collocation;
mod ends;
mod error;
mod feedforward;
mod grid;
mod plant;
mod table;
mod wanted;

pub use error::InversionError;
pub use wanted::{Tracked, TrackedPlace, Wanted};

use super::linear::Root;
use crate::reduced_model::Evaluator;
use collocation::{Conditions, Horizon, Node, motions};
use ends::RestPoint;
use grid::Grid;
use plant::{Motion, Plant, Work};

/// Time constants of the slowest zero for which forces begin before the path and go on after it.
const TIME_CONSTANTS: f64 = 8.0;
/// Zeros below this part of the highest kept natural frequency are those of the mechanism within about one
/// per cent.
const RESOLVED: f64 = 0.2;
/// Changes of modal coordinates (√kg m) below this are rounding.
const ROUNDING: f64 = 1e-15;
/// Most instants.
const MOST_INSTANTS: usize = 200_000;

/// What decides about motions that do not come from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// Nothing that is unbounded beyond the ends: conditions from the zeros at rest.
    #[default]
    Zeros,
    /// Of all motions, the one that is nearest to quasi-static modes in bending energy.
    LeastBending,
}

/// How a path is inverted.
#[derive(Debug, Clone, PartialEq)]
pub struct InversionSettings {
    /// How long the path lasts (s).
    pub duration: f64,
    /// Intervals of the horizon, about.
    pub instants: usize,
    /// How long before the path forces may begin (s); none: eight time constants of the slowest zero.
    pub before: Option<f64>,
    /// How long after the path forces may go on (s).
    pub after: Option<f64>,
    /// What decides at the ends.
    pub ends: Ends,
    /// Where to look for the beginning of the path.
    pub theta: Vec<f64>,
    /// Coulomb friction on each coordinate, which the model does not hold; empty for none.
    pub coulomb: Vec<f64>,
    /// Rate below which it falls linearly to zero.
    pub coulomb_rate: f64,
}

/// A motion of the coordinates and the forces for it, one list per instant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Feedforward {
    /// Coordinates.
    pub theta: Vec<Vec<f64>>,
    /// Forces.
    pub force: Vec<Vec<f64>>,
}

/// The model at rest at one end of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct AtRest {
    /// Zeros from forces to tracked outputs.
    pub zeros: Vec<Root>,
    /// Natural frequencies that the model keeps, coordinates held (rad/s).
    pub frequencies: Vec<f64>,
}

/// What the truncation of modes leaves of the zeros.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// Highest natural frequency that the model keeps (rad/s).
    pub kept: f64,
    /// Zeros up to here are those of the mechanism within about one per cent (rad/s).
    pub resolved: f64,
    /// Part of the wanted accelerations' root mean square above it.
    pub beyond: f64,
}

/// Motion and forces for a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Inversion {
    /// Times from the first force on (s).
    pub times: Vec<f64>,
    /// When the path begins and ends (s).
    pub path: [f64; 2],
    /// Where the outputs are wanted.
    pub wanted: Vec<Vec<f64>>,
    /// Coordinates and forces.
    pub exact: Feedforward,
    /// Rates of the coordinates.
    pub rate: Vec<Vec<f64>>,
    /// Modal coordinates.
    pub modal: Vec<Vec<f64>>,
    /// Their rates.
    pub modal_rate: Vec<Vec<f64>>,
    /// The same path without any bending.
    pub rigid: Feedforward,
    /// The same path with modes that follow the rigid motion quasi-statically.
    pub quasi_static: Feedforward,
    /// Zeros and frequencies where the path begins and ends.
    pub rests: [AtRest; 2],
    /// What they are worth; none without modes.
    pub truncation: Option<Truncation>,
    /// What decided at the ends.
    pub ends: Ends,
    /// Newton's iterations with all instants, and with twice as many.
    pub iterations: [usize; 2],
    /// Estimated error of the forces from steps in time, in parts of the largest change of force.
    pub error: f64,
    /// Largest deviation from rest at the first and the last instant, modes and their rates, in parts of
    /// their largest values.
    pub unrest: [f64; 2],
}

/// Forces and motion under which the tracked outputs follow their paths.
pub fn invert(
    evaluator: &Evaluator<'_>,
    tracked: &[Tracked],
    settings: &InversionSettings,
) -> Result<Inversion, InversionError> {
    check(evaluator, tracked, settings)?;
    let plant = Plant::new(evaluator, tracked);
    let work = &mut Work::default();
    let duration = settings.duration;
    let first = grid::wanted(tracked, duration, 0.0, true);
    let last = grid::wanted(tracked, duration, duration, false);
    // The rigid mechanism leads along the path, so that its end is on the same branch as its beginning.
    let mut start = [&settings.theta[..], &vec![0.0; plant.m()]].concat();
    plant.place(0.0, &mut start, &first, work)?;
    plant.check_reach(&start, work)?;
    let begin = RestPoint::find(&plant, "beginning", 0.0, &start[..plant.s], &first, work)?;
    let coarse = Grid::new(tracked, settings, 0.0, 0.0);
    let led = feedforward::rigid(&plant, &coarse, &start[..plant.s], work)?;
    let end = &led[led.len() - 1].eta[..plant.s];
    let end = RestPoint::find(&plant, "end", duration, end, &last, work)?;
    let rests = [begin, end];
    let truncation = truncation(&rests, tracked, duration)?;

    let wait = |k: usize| rests[k].slowest(k == 1).map_or(0.0, |r| TIME_CONSTANTS / r);
    let before = settings.before.unwrap_or_else(|| wait(0));
    let after = settings.after.unwrap_or_else(|| wait(1));
    let grid = Grid::new(tracked, settings, before, after);
    let rigid = feedforward::rigid(&plant, &grid, &rests[0].theta, work)?;
    let quasi = feedforward::quasi_static(&plant, &grid, &rigid, work)?;
    let solved = solve(&plant, &rests, &grid, &quasi, settings.ends)?;
    let friction = Friction { settings };
    Assembly {
        plant: &plant,
        grid: &grid,
        friction,
        before,
        truncation,
    }
    .finish(rests, rigid, quasi, solved, work)
}

fn check(
    evaluator: &Evaluator<'_>,
    tracked: &[Tracked],
    settings: &InversionSettings,
) -> Result<(), InversionError> {
    let coordinates = evaluator.n_rigid();
    if tracked.len() != coordinates {
        return Err(InversionError::WrongCount {
            tracked: tracked.len(),
            coordinates,
        });
    }
    if settings.theta.len() != coordinates {
        return Err(crate::reduced_model::EvaluationError {
            argument: "theta",
            expected: coordinates,
            found: settings.theta.len(),
        }
        .into());
    }
    let positive = [
        ("duration", settings.duration),
        ("number of instants", settings.instants as f64),
        ("rate of Coulomb friction", settings.coulomb_rate),
    ];
    for (what, found) in positive {
        if !(found > 0.0 && found.is_finite()) {
            return Err(InversionError::NotPositive { what, found });
        }
    }
    if settings.instants > MOST_INSTANTS {
        return Err(InversionError::TooManyInstants {
            count: settings.instants,
            limit: MOST_INSTANTS,
        });
    }
    for track in tracked {
        let name = || track.name.clone();
        (track.wanted.check(settings.duration)).map_err(|fault| InversionError::Motion {
            name: name(),
            fault,
        })?;
        for (time, before) in [(0.0, false), (settings.duration, true)] {
            let jet = track.wanted.at(time, settings.duration, before);
            let size = grid::fastest(&track.wanted, settings.duration);
            if jet.rate.abs() > 1e-6 * size {
                return Err(InversionError::NotAtRest {
                    name: name(),
                    time,
                    rate: jet.rate,
                });
            }
        }
    }
    Ok(())
}

/// What truncated zeros allow; an error where the zeros that matter are the truncation's.
fn truncation(
    rests: &[RestPoint; 2],
    tracked: &[Tracked],
    duration: f64,
) -> Result<Option<Truncation>, InversionError> {
    let mut kept = f64::INFINITY;
    for rest in rests {
        let Some(&highest) = rest.frequencies.last() else {
            return Ok(None);
        };
        let lowest = rest.unstable().map(|root| root.at.norm());
        let zero = lowest.fold(f64::INFINITY, f64::min);
        if zero.is_finite() && zero > highest {
            let kept = highest;
            return Err(InversionError::BeyondBand { zero, kept });
        }
        kept = kept.min(highest);
    }
    let resolved = RESOLVED * kept;
    Ok(Some(Truncation {
        kept,
        resolved,
        beyond: grid::content_beyond(tracked, duration, resolved),
    }))
}

/// Nodes after Newton's method on two grids, extrapolated.
struct Solved {
    nodes: Vec<Node>,
    /// Those of the finer grid, before extrapolation.
    fine: Vec<Node>,
    iterations: [usize; 2],
    ends: Ends,
}

fn solve(
    plant: &Plant<'_>,
    rests: &[RestPoint; 2],
    grid: &Grid,
    quasi: &[Motion],
    asked: Ends,
) -> Result<Solved, InversionError> {
    let (s, m) = (plant.s, plant.m());
    let modal: Vec<Vec<f64>> = quasi.iter().map(|q| q.eta[s..].to_vec()).collect();
    let theta = quasi.iter().map(|q| q.eta[..s].to_vec());
    let mut nodes = grid.nodes(theta, &modal, plant.tracked);
    if m == 0 {
        return Ok(Solved {
            fine: nodes.clone(),
            nodes,
            iterations: [0, 0],
            ends: asked,
        });
    }
    let sizes = rests.iter().flat_map(|rest| &rest.zeros);
    let sizes: Vec<f64> = sizes.map(|z| z.at.norm()).filter(|x| *x > 0.0).collect();
    let rate = (sizes.iter().map(|x| x.ln()).sum::<f64>() / sizes.len().max(1) as f64).exp();
    let rows = || {
        let start = rests[0].condition(false, rate)?;
        let end = rests[1].condition(true, rate)?;
        (start.nrows() + end.nrows() == 2 * m).then_some([start, end])
    };
    let bounded = match asked {
        Ends::Zeros => rows(),
        Ends::LeastBending => None,
    };
    let ends = match bounded {
        Some(_) => Ends::Zeros,
        None => Ends::LeastBending,
    };
    let horizon = |near: Vec<Vec<f64>>| Horizon {
        plant,
        rests,
        conditions: match &bounded {
            Some(rows) => Conditions::Bounded(rows.clone()),
            None => Conditions::LeastBending(near),
        },
        rate,
    };
    let coarse = horizon(modal.clone()).solve(&mut nodes)?;
    let (mut fine, kept) = grid.refined(&nodes, plant.tracked);
    let near = grid::between(&modal, &kept, fine.len());
    let finer = horizon(near).solve(&mut fine)?;
    let fine: Vec<Node> = kept.iter().map(|&i| fine[i].clone()).collect();
    // Errors of the trapezoidal rule fall to a quarter.
    let better = |fine: &[f64], coarse: &[f64]| -> Vec<f64> {
        let pairs = fine.iter().zip(coarse);
        pairs.map(|(f, c)| f + (f - c) / 3.0).collect()
    };
    for (node, fine) in nodes.iter_mut().zip(&fine) {
        node.z = better(&fine.z, &node.z);
        node.zd = better(&fine.zd, &node.zd);
        node.zdd = better(&fine.zdd, &node.zdd);
    }
    Ok(Solved {
        nodes,
        fine,
        iterations: [coarse, finer],
        ends,
    })
}

/// Coulomb friction that the forces have to overcome.
struct Friction<'a> {
    settings: &'a InversionSettings,
}

impl Friction<'_> {
    /// Actuator forces from all forces of the model.
    fn add(&self, force: &[f64], rate: &[f64], s: usize) -> Vec<f64> {
        let each = (0..s).map(|k| {
            let size = self.settings.coulomb.get(k).copied().unwrap_or(0.0);
            force[k] + size * (rate[k] / self.settings.coulomb_rate).clamp(-1.0, 1.0)
        });
        each.collect()
    }
}

/// From solutions at nodes to what is told.
struct Assembly<'a> {
    plant: &'a Plant<'a>,
    grid: &'a Grid,
    friction: Friction<'a>,
    before: f64,
    truncation: Option<Truncation>,
}

impl Assembly<'_> {
    fn finish(
        &self,
        rests: [RestPoint; 2],
        rigid: Vec<Motion>,
        quasi: Vec<Motion>,
        solved: Solved,
        work: &mut Work,
    ) -> Result<Inversion, InversionError> {
        let s = self.plant.s;
        let exact = motions(self.plant, &solved.nodes)?;
        let fine = motions(self.plant, &solved.fine)?;
        let forces = |list: &[(Motion, Vec<f64>)]| -> Vec<Vec<f64>> {
            let each = list.iter();
            let each = each.map(|(motion, force)| self.friction.add(force, &motion.rate, s));
            self.grid.last_of_each(each)
        };
        let (force, before) = (forces(&exact), forces(&fine));
        let take = |pick: &dyn Fn(&Motion) -> Vec<f64>, list: &[&Motion]| -> Vec<Vec<f64>> {
            self.grid
                .last_of_each(list.iter().map(|motion| pick(motion)))
        };
        let theta = |motion: &Motion| motion.eta[..s].to_vec();
        let own: Vec<&Motion> = exact.iter().map(|(motion, _)| motion).collect();
        let modal = take(&|motion| motion.eta[s..].to_vec(), &own);
        let modal_rate = take(&|motion| motion.rate[s..].to_vec(), &own);
        let mut simple = |list: &[Motion]| -> Result<Feedforward, InversionError> {
            let mut force = Vec::new();
            for (motion, time) in list.iter().zip(self.grid.times()) {
                let all = self.plant.forces(time, motion, work)?;
                force.push(self.friction.add(&all, &motion.rate, s));
            }
            Ok(Feedforward {
                theta: take(&theta, &list.iter().collect::<Vec<_>>()),
                force: self.grid.last_of_each(force.into_iter()),
            })
        };
        let (rigid, quasi_static) = (simple(&rigid)?, simple(&quasi)?);
        let wanted = solved.nodes.iter();
        let wanted = wanted.map(|node| node.wanted.iter().map(|jet| jet.value).collect());
        let unrest = [0, 1].map(|k| unrest(&rests[k], k == 1, &modal, &modal_rate));
        Ok(Inversion {
            times: (self.grid.last_of_each(self.grid.times()).into_iter())
                .map(|time| time + self.before)
                .collect(),
            path: [self.before, self.before + self.friction.settings.duration],
            wanted: self.grid.last_of_each(wanted),
            error: difference(&force, &before),
            exact: Feedforward {
                theta: take(&theta, &own),
                force,
            },
            rate: take(&|motion| motion.rate[..s].to_vec(), &own),
            modal,
            modal_rate,
            rigid,
            quasi_static,
            rests: rests.map(|rest| AtRest {
                zeros: rest.zeros,
                frequencies: rest.frequencies,
            }),
            truncation: self.truncation,
            ends: solved.ends,
            iterations: solved.iterations,
            unrest,
        })
    }
}

/// Largest difference between lists in parts of the largest change.
fn difference(lists: &[Vec<f64>], others: &[Vec<f64>]) -> f64 {
    let Some(first) = lists.first() else {
        return 0.0;
    };
    let (mut most, mut change) = (vec![0.0_f64; first.len()], vec![0.0_f64; first.len()]);
    for (list, other) in lists.iter().zip(others) {
        for k in 0..first.len() {
            most[k] = most[k].max((list[k] - other[k]).abs());
            change[k] = change[k].max((list[k] - first[k]).abs());
        }
    }
    let largest = change.iter().fold(0.0_f64, |m, x| m.max(*x));
    let most = most.iter().fold(0.0_f64, |m, x| m.max(*x));
    if largest > 0.0 { most / largest } else { 0.0 }
}

/// Deviation from rest at the first or last instant in parts of the largest one.
fn unrest(rest: &RestPoint, last: bool, modal: &[Vec<f64>], rate: &[Vec<f64>]) -> f64 {
    let still = vec![0.0; rest.modal.len()];
    let part = |lists: &[Vec<f64>], at: &[f64]| {
        let away = |list: &Vec<f64>| {
            let pairs = list.iter().zip(at);
            pairs.fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
        };
        let end = if last { lists.last() } else { lists.first() };
        let most = lists.iter().map(away).fold(0.0, f64::max);
        let here = end.map_or(0.0, away);
        if most > 0.0 { here / most } else { 0.0 }
    };
    part(modal, &rest.modal).max(part(rate, &still))
}
