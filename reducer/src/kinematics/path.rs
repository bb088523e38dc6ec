//! From home to any θ: a straight path in θ, followed with fixed rules so that the result depends
//! on θ alone. Where that path is blocked, `route` knows a way around.

use super::assembly::{Kinematics, Named};
use super::closure::Posture;
use super::{KinematicsError, Motion, SingularityKind};
use crate::lie::Frame;
use crate::linalg;
use nalgebra::{DVector, Dyn, LU};

/// Largest unit-free joint motion of one predictor step.
const LARGEST_STEP: f64 = 0.6;
/// The corrector may not move joints by more than this part of the predictor's step.
const LARGEST_CORRECTION: f64 = 0.5;
/// Corrections of this size are rounding, whatever the step: too small to change the branch.
const ROUNDING: f64 = 1e-10;
/// Shortest step as a part of the whole path.
const SHORTEST_STEP: f64 = 1.0 / 16384.0;
/// Regularity below which a configuration counts as singular: joints then run a hundred times
/// faster than at home for the same actuator speed [M 5.2].
const SINGULAR: f64 = 1e-2;

/// An undeformed configuration with its motion.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// The actuated coordinates.
    pub theta: Vec<f64>,
    /// Frame of every body.
    pub frames: Vec<Frame>,
    /// Angle of every hinge since the drawing, full turns counted; zero for other joints.
    pub hinge_angles: Vec<f64>,
    /// Angle since the drawing of every body that turns about a fixed direction; zero for others.
    pub turns: Vec<f64>,
    /// Velocities of every body and their derivatives.
    pub motion: Motion,
    /// Joint coordinates: unit-free closeness to a singularity, 1 at home and 0 there.
    pub regularity: f64,
    /// Box centres through which it was reached; zero: on the straight line from home.
    pub waypoints: usize,
}

/// A straight line in θ.
pub(super) struct Leg<'a> {
    pub from: &'a [f64],
    pub to: &'a [f64],
    /// Shortest step as a part of the line: below it the line counts as blocked.
    pub shortest_step: f64,
}

impl Leg<'_> {
    /// The point after a part of the line; exactly the end for the whole.
    fn at(&self, part: f64) -> Vec<f64> {
        if part >= 1.0 {
            return self.to.to_vec();
        }
        self.from
            .iter()
            .zip(self.to)
            .map(|(from, to)| from + part * (to - from))
            .collect()
    }
}

/// Where a line is blocked.
pub(super) struct DeadEnd {
    pub posture: Posture,
    /// Part of the line that was followed.
    done: f64,
}

impl Kinematics {
    /// The undeformed configuration at θ.
    pub fn solve(&self, theta: &[f64]) -> Result<Configuration, KinematicsError> {
        let s = self.home_theta.len();
        if theta.len() != s || theta.iter().any(|t| !t.is_finite()) {
            return Err(KinematicsError::BadCoordinates {
                expected: s,
                found: theta.to_vec(),
                origin: self.first_coordinate().origin,
            });
        }
        if self.skeleton.cuts.is_empty() && self.is_open_tree() {
            let mut posture = self.home.clone();
            self.skeleton
                .advance(&mut posture, &self.direct_step(theta));
            return self.finish(posture, theta, 0);
        }
        let leg = Leg {
            from: &self.home_theta,
            to: theta,
            shortest_step: SHORTEST_STEP,
        };
        match self.walk(&self.home, &self.home_factors, &leg) {
            Ok(posture) => self.finish(posture, theta, 0),
            Err(end) => self.detour(theta, self.blocked(&end.posture, theta, end.done)),
        }
    }

    /// Around what blocks the straight line; `error` where there is no way.
    fn detour(
        &self,
        theta: &[f64],
        error: KinematicsError,
    ) -> Result<Configuration, KinematicsError> {
        if !matches!(error, KinematicsError::Blocked { .. }) {
            return Err(error);
        }
        let (posture, waypoints) = self.route_to(theta).ok_or(error)?;
        self.finish(posture, theta, waypoints)
    }

    /// Follows a straight line in θ from a closed posture with its factors. The first attempt is
    /// the whole line; a refused step is halved, an accepted one doubled.
    pub(super) fn walk(
        &self,
        from: &Posture,
        from_factors: &LU<f64, Dyn, Dyn>,
        leg: &Leg<'_>,
    ) -> Result<Posture, DeadEnd> {
        let mut posture = from.clone();
        let (mut done, mut step) = (0.0, 1.0);
        let mut factors = None;
        while done < 1.0 {
            let next = if done + step >= 1.0 { 1.0 } else { done + step };
            let known = factors.as_ref().unwrap_or(from_factors);
            match self.advance_to(&posture, known, &leg.at(next)) {
                Some((reached, lu)) => {
                    posture = reached;
                    factors = Some(lu);
                    done = next;
                    step *= 2.0;
                }
                None => {
                    step *= 0.5;
                    if step < leg.shortest_step {
                        return Err(DeadEnd { posture, done });
                    }
                }
            }
        }
        Ok(posture)
    }

    fn is_open_tree(&self) -> bool {
        use super::skeleton::Gauge;
        self.skeleton
            .gauges
            .iter()
            .all(|gauge| matches!(gauge, Gauge::Coordinate(_)))
    }

    /// In an open tree every actuated coordinate is a joint coordinate.
    fn direct_step(&self, theta: &[f64]) -> DVector<f64> {
        use super::skeleton::Gauge;
        let mut z = DVector::zeros(self.skeleton.n_coordinates);
        for ((gauge, home), target) in self.skeleton.gauges.iter().zip(&self.home_theta).zip(theta)
        {
            if let Gauge::Coordinate(c) = gauge {
                z[*c] = (target - home) / self.skeleton.gauge_scale(gauge);
            }
        }
        z
    }

    /// Residual of [closure; θ], unit-free [M 5.1].
    fn residual(&self, posture: &Posture, theta: &[f64]) -> DVector<f64> {
        let closure = self.skeleton.cut_residuals(posture);
        let measured = self.skeleton.measured(posture);
        let n = self.rows.len();
        DVector::from_fn(n + theta.len(), |r, _| {
            if r < n {
                closure[self.rows[r]]
            } else {
                let k = r - n;
                (self.home_theta[k] + measured[k] - theta[k])
                    / self.skeleton.gauge_scale(&self.skeleton.gauges[k])
            }
        })
    }

    pub(super) fn factor(&self, posture: &Posture) -> LU<f64, Dyn, Dyn> {
        LU::new(self.closure_system(posture))
    }

    /// Predictor and corrector from a closed posture with its factors to θ; none if the step is
    /// too long.
    fn advance_to(
        &self,
        from: &Posture,
        factors: &LU<f64, Dyn, Dyn>,
        theta: &[f64],
    ) -> Option<(Posture, LU<f64, Dyn, Dyn>)> {
        let mut posture = from.clone();
        let predictor = -factors.solve(&self.residual(&posture, theta))?;
        let size = predictor.amax();
        if size.is_nan() || size > LARGEST_STEP {
            return None;
        }
        self.skeleton.advance(&mut posture, &predictor);
        let mut allowed = LARGEST_CORRECTION * size + ROUNDING;
        for _ in 0..8 {
            let lu = self.factor(&posture);
            let residual = self.residual(&posture, theta);
            let step = -lu.solve(&residual)?;
            let length = step.amax();
            if length.is_nan() || length > allowed {
                return None;
            }
            self.skeleton.advance(&mut posture, &step);
            // Quadratic convergence: the rest is rounding's, see `finish`.
            if length < 1e-6 {
                let sign = lu.determinant().signum();
                return (sign == self.orientation).then_some((posture, lu));
            }
            allowed = 0.5 * length + ROUNDING;
        }
        None
    }

    /// Newton until rounding stops it, the checks of a valid configuration, and its motion.
    fn finish(
        &self,
        mut posture: Posture,
        theta: &[f64],
        waypoints: usize,
    ) -> Result<Configuration, KinematicsError> {
        let mut last = f64::INFINITY;
        let mut lu = self.factor(&posture);
        for _ in 0..6 {
            let Some(step) = lu.solve(&(-self.residual(&posture, theta))) else {
                break;
            };
            let length = step.amax();
            if length.is_nan() || length >= last || length == 0.0 {
                break;
            }
            self.skeleton.advance(&mut posture, &step);
            // Once the update is lost in rounding the factors are those of the final posture.
            if length < 1e-12 {
                break;
            }
            last = length;
            lu = self.factor(&posture);
        }
        let motion = self.skeleton.motion(&posture, &self.rows, &lu);
        let regularity = motion
            .as_ref()
            .map_or(0.0, |m| self.home_amplification / m.amplification);
        let (Some(motion), true) = (motion, regularity > SINGULAR || theta.is_empty()) else {
            return Err(self.singular_at(&posture, theta));
        };
        if let Some((joint, gap)) = self.open_joint(&posture) {
            return Err(KinematicsError::Inconsistent {
                theta: theta.to_vec(),
                joint: self.joints[joint].name.clone(),
                gap,
                origin: self.joints[joint].origin.clone(),
            });
        }
        Ok(Configuration {
            theta: theta.to_vec(),
            frames: self
                .skeleton
                .body_link
                .iter()
                .map(|&link| posture.frames[link])
                .collect(),
            hinge_angles: self.skeleton.hinge_angles(&posture),
            turns: self.skeleton.turns(&posture),
            motion,
            regularity,
            waypoints,
        })
    }

    fn singularity(&self, posture: &Posture) -> (SingularityKind, Vec<f64>) {
        let all = self.closure_rows(posture);
        let kept = all.select_rows(&self.rows);
        let home = self.closure_rows(&self.home).select_rows(&self.rows);
        let lost =
            linalg::smallest_singular_value(&kept) < 1e-2 * linalg::smallest_singular_value(&home);
        let kind = if !lost {
            SingularityKind::Actuator
        } else if linalg::independence(&all, &self.rows) < 1e-2 {
            SingularityKind::KeptEquations
        } else {
            SingularityKind::ConfigurationSpace
        };
        let rates = linalg::null_direction(&self.closure_system(posture));
        (kind, rates.as_slice().to_vec())
    }

    fn singular_at(&self, posture: &Posture, theta: &[f64]) -> KinematicsError {
        let (kind, rates) = self.singularity(posture);
        let coordinate = self.farthest_coordinate(theta);
        KinematicsError::Singular {
            kind,
            theta: theta.to_vec(),
            coordinate: coordinate.name,
            joint: self.largest_joint(&rates).unwrap_or_default().name,
            origin: coordinate.origin,
        }
    }

    fn blocked(&self, posture: &Posture, theta: &[f64], done: f64) -> KinematicsError {
        let coordinate = self.farthest_coordinate(theta);
        let pairs = theta
            .iter()
            .zip(&self.home_theta)
            .zip(&self.skeleton.gauges);
        let farthest = pairs
            .map(|((t, home), gauge)| (t - home).abs() / self.skeleton.gauge_scale(gauge))
            .fold(0.0, f64::max);
        if farthest * SHORTEST_STEP > LARGEST_STEP {
            return KinematicsError::TooFar {
                theta: theta.to_vec(),
                coordinate: coordinate.name,
                origin: coordinate.origin,
            };
        }
        let (kind, rates) = self.singularity(posture);
        KinematicsError::Blocked {
            kind,
            theta: theta.to_vec(),
            reached: Leg {
                from: &self.home_theta,
                to: theta,
                shortest_step: SHORTEST_STEP,
            }
            .at(done),
            coordinate: coordinate.name,
            joint: self.largest_joint(&rates).unwrap_or_default().name,
            origin: coordinate.origin,
        }
    }

    /// The coordinate that goes farthest on the way from home to θ.
    fn farthest_coordinate(&self, theta: &[f64]) -> Named {
        theta
            .iter()
            .zip(&self.home_theta)
            .map(|(t, h)| (t - h).abs())
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(k, _)| self.coordinates[k].clone())
            .unwrap_or_default()
    }
}
