//! From home to any θ: a straight path in θ, followed with fixed rules so that the result depends
//! on θ alone.

use super::assembly::{Kinematics, Named};
use super::closure::Posture;
use super::{KinematicsError, Motion, SingularityKind};
use crate::lie::Frame;
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
/// faster than at home for the same actuator speed.
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
        let mut posture = self.home.clone();
        let mut done = 0.0;
        let mut step = if self.skeleton.cuts.is_empty() && self.is_open_tree() {
            self.skeleton
                .advance(&mut posture, &self.direct_step(theta));
            done = 1.0;
            0.0
        } else {
            1.0
        };
        let mut factors = None;
        while done < 1.0 {
            let next = if done + step >= 1.0 { 1.0 } else { done + step };
            let known = factors.as_ref().unwrap_or(&self.home_factors);
            match self.advance_to(&posture, known, &self.between(theta, next)) {
                Some((reached, lu)) => {
                    posture = reached;
                    factors = Some(lu);
                    done = next;
                    step *= 2.0;
                }
                None => {
                    step *= 0.5;
                    if step < SHORTEST_STEP {
                        return Err(self.blocked(&posture, theta, done));
                    }
                }
            }
        }
        self.finish(posture, theta)
    }

    fn between(&self, theta: &[f64], part: f64) -> Vec<f64> {
        if part >= 1.0 {
            return theta.to_vec();
        }
        self.home_theta
            .iter()
            .zip(theta)
            .map(|(home, target)| home + part * (target - home))
            .collect()
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

    /// Residual of [closure; θ], unit-free.
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

    fn factor(&self, posture: &Posture) -> LU<f64, Dyn, Dyn> {
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
        })
    }

    fn singularity(&self, posture: &Posture) -> (SingularityKind, Vec<f64>) {
        let jacobians = self.skeleton.link_jacobians(posture);
        let closure = self
            .skeleton
            .cut_rows(posture, &jacobians)
            .select_rows(&self.rows);
        let kind = if crate::linalg::smallest_singular_value(&closure)
            < 1e-2 * crate::linalg::smallest_singular_value(&self.home_closure())
        {
            SingularityKind::ConfigurationSpace
        } else {
            SingularityKind::Actuator
        };
        let rates = crate::linalg::null_direction(&self.closure_system(posture));
        (kind, rates.as_slice().to_vec())
    }

    fn home_closure(&self) -> nalgebra::DMatrix<f64> {
        let jacobians = self.skeleton.link_jacobians(&self.home);
        self.skeleton
            .cut_rows(&self.home, &jacobians)
            .select_rows(&self.rows)
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
            reached: self.between(theta, done),
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
