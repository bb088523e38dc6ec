//! The model linearised at rest around an undeformed configuration, and how it changes along θ.

use crate::kinematics::Configuration;
use crate::lie::{Frame, Vector6};
use crate::model::rows::ConstraintRows;
use crate::model::{Factor, FullModel, Saddle, SaddleError, SpringState};
use faer::Mat;

/// Mass, stiffness and constraints at one configuration with their derivatives along θ.
///
/// Mass and structural stiffness are constant in node axes; only rows and springs change.
pub struct Linearised<'a> {
    /// The full model.
    pub model: &'a FullModel,
    /// The actuated coordinates.
    pub theta: Vec<f64>,
    /// Node frames.
    pub frames: Vec<Frame>,
    /// Node velocities per θ̇_k.
    pub velocities: Vec<Vec<Vector6>>,
    /// Rigid modes, one column per θ_k.
    pub rigid: Mat<f64>,
    /// ∂_l of the rigid modes.
    pub rigid_derivative: Vec<Mat<f64>>,
    /// Constraint rows; none where nothing can deform.
    pub rows: ConstraintRows,
    /// Their derivatives along θ_l.
    pub row_rates: Vec<ConstraintRows>,
    /// Springs.
    pub springs: Vec<SpringState>,
    spring_rates: Vec<Vec<ConstraintRows>>,
    factor: Option<Factor<'a>>,
}

impl<'a> Linearised<'a> {
    /// Linearises; `saddle` is absent where nothing can deform.
    pub fn new(
        model: &'a FullModel,
        configuration: &Configuration,
        saddle: Option<&'a Saddle>,
        with_loaded: bool,
    ) -> Result<Self, SaddleError> {
        let s = configuration.theta.len();
        let frames = model.node_frames(&configuration.frames);
        let node_velocity = |pick: &dyn Fn(usize) -> Vector6| -> Vec<Vector6> {
            model
                .nodes
                .iter()
                .map(|node| node.local.pull_back(&pick(node.body)))
                .collect()
        };
        let motion = &configuration.motion;
        let velocities: Vec<Vec<Vector6>> = (0..s)
            .map(|k| node_velocity(&|body| *motion.velocity(body, k)))
            .collect();
        let rigid_derivative = (0..s)
            .map(|l| {
                let columns: Vec<Vec<Vector6>> = (0..s)
                    .map(|k| node_velocity(&|body| *motion.derivative(body, k, l)))
                    .collect();
                motion_matrix(model, &columns)
            })
            .collect();
        let springs = model.spring_states(&frames, &configuration.hinge_angles);
        let (rows, row_rates, factor) = match saddle {
            Some(saddle) => {
                let rows = model.constraint_rows(&frames, with_loaded);
                let rates = velocities
                    .iter()
                    .map(|v| model.constraint_rates(&frames, v, with_loaded))
                    .collect();
                let factor = saddle.factor(&rows, &springs)?;
                (rows, rates, Some(factor))
            }
            None => (ConstraintRows::default(), Vec::new(), None),
        };
        Ok(Self {
            rigid: motion_matrix(model, &velocities),
            spring_rates: velocities
                .iter()
                .map(|v| model.spring_row_rates(&frames, v))
                .collect(),
            model,
            theta: configuration.theta.clone(),
            frames,
            velocities,
            rigid_derivative,
            rows,
            row_rates,
            springs,
            factor,
        })
    }

    /// Static response to forces f and prescribed row values g: motions and multipliers [M 4.2].
    pub fn static_response(
        &self,
        f: &Mat<f64>,
        g: Option<&Mat<f64>>,
    ) -> Result<(Mat<f64>, Mat<f64>), SaddleError> {
        match &self.factor {
            Some(factor) => factor.solve(f, g),
            None => Err(SaddleError::Singular),
        }
    }

    /// Derivative along θ_l of a static response (q, λ) whose force has the derivative `df` [M 4.3].
    pub fn static_response_rate(
        &self,
        l: usize,
        df: Mat<f64>,
        q: &Mat<f64>,
        lambda: &Mat<f64>,
    ) -> Result<(Mat<f64>, Mat<f64>), SaddleError> {
        let n = self.model.nodes.len();
        let mut f = df;
        self.row_rates[l].apply_transposed(n, lambda, -1.0, &mut f);
        self.add_stiffness_rate(l, q, -1.0, &mut f);
        let mut g = Mat::zeros(self.rows.n_rows, q.ncols());
        self.row_rates[l].apply(n, q, -1.0, &mut g);
        self.static_response(&f, Some(&g))
    }

    /// K·q with springs.
    pub fn stiffness_times(&self, q: &Mat<f64>) -> Mat<f64> {
        let mut out = self.model.stiffness_times(q);
        self.model.add_spring_stiffness(&self.springs, q, &mut out);
        out
    }

    /// `out += factor · ∂_l K · q`: only springs change with the configuration.
    pub fn add_stiffness_rate(&self, l: usize, q: &Mat<f64>, factor: f64, out: &mut Mat<f64>) {
        let n = self.model.nodes.len();
        for (spring, rate) in self.springs.iter().zip(&self.spring_rates[l]) {
            let k = factor * spring.stiffness;
            if k == 0.0 {
                continue;
            }
            let mut along = Mat::zeros(1, q.ncols());
            rate.apply(n, q, k, &mut along);
            spring.row.apply_transposed(n, &along, 1.0, out);
            let mut across = Mat::zeros(1, q.ncols());
            spring.row.apply(n, q, k, &mut across);
            rate.apply_transposed(n, &across, 1.0, out);
        }
    }

    /// Stiffness times (change of each spring's row along θ_l)·q, for one motion q.
    pub fn spring_row_products(&self, l: usize, q: &Mat<f64>) -> Vec<f64> {
        let n = self.model.nodes.len();
        (self.springs.iter().zip(&self.spring_rates[l]))
            .map(|(spring, rate)| {
                let mut product = Mat::zeros(1, 1);
                rate.apply(n, q, spring.stiffness, &mut product);
                product[(0, 0)]
            })
            .collect()
    }

    /// Forces of springs and constant loads on the motion, one column.
    pub fn applied_forces(&self) -> Mat<f64> {
        let n = self.model.nodes.len();
        let mut out = Mat::zeros(self.model.n_motion(), 1);
        for spring in &self.springs {
            let tension = Mat::from_fn(1, 1, |_, _| -spring.tension);
            spring.row.apply_transposed(n, &tension, 1.0, &mut out);
        }
        self.model.add_loads(&self.frames, &mut out);
        out
    }

    /// Derivative of [`Self::applied_forces`] along θ_l.
    pub fn applied_forces_rate(&self, l: usize) -> Mat<f64> {
        let n = self.model.nodes.len();
        let mut out = Mat::zeros(self.model.n_motion(), 1);
        for (spring, rate) in self.springs.iter().zip(&self.spring_rates[l]) {
            let tension = Mat::from_fn(1, 1, |_, _| -spring.tension);
            rate.apply_transposed(n, &tension, 1.0, &mut out);
            let column = Mat::from_fn(self.rigid.nrows(), 1, |i, _| self.rigid[(i, l)]);
            let mut stretch = Mat::zeros(1, 1);
            spring
                .row
                .apply(n, &column, -spring.stiffness, &mut stretch);
            spring.row.apply_transposed(n, &stretch, 1.0, &mut out);
        }
        self.model
            .add_load_rates(&self.frames, &self.velocities[l], &mut out);
        out
    }
}

fn motion_matrix(model: &FullModel, columns: &[Vec<Vector6>]) -> Mat<f64> {
    let mut out = Mat::zeros(model.n_motion(), columns.len());
    for (k, column) in columns.iter().enumerate() {
        for (node, v) in column.iter().enumerate() {
            for i in 0..6 {
                out[(6 * node + i, k)] = v[i];
            }
        }
    }
    out
}
