//! Mechanisms, and the full model on the second-order manifold [M 14.1].

use nalgebra::Vector3;
use reducer::approximation::{SampleDatabase, Silent};
use reducer::description;
use reducer::lie::{self, Frame};
use reducer::pipeline;
use reducer::reduced_model::ReducedModel;
use reducer::reduction::LocalReducer;
use reducer::sampling::MechanismModel;
use std::path::{Path, PathBuf};

pub fn root(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

pub fn read(file: &str) -> String {
    std::fs::read_to_string(root(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

pub fn reducer(text: &str) -> LocalReducer {
    let mechanism = description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    LocalReducer::new(&mechanism).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The mechanism reduced, where it can be.
pub fn try_reducer(text: &str) -> Option<LocalReducer> {
    let mechanism = description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    LocalReducer::new(&mechanism).ok()
}

/// The stored model of a mechanism.
pub fn stored(text: &str) -> ReducedModel {
    let mechanism = description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let local = MechanismModel::new(&mechanism).expect("a mechanism");
    let mut database = SampleDatabase::in_memory();
    pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
        .expect("a model")
        .0
}

/// Fixed pseudo-random numbers in [-1, 1] (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| size * self.next())
    }
}

/// Frames, shapes and second-order displacements at one θ.
pub struct Manifold {
    frames: Vec<Frame>,
    shapes: faer::Mat<f64>,
    displacements: Vec<faer::Mat<f64>>,
    /// Leaves second-order displacements out.
    pub flat: bool,
}

impl Manifold {
    pub fn new(reducer: &LocalReducer, theta: &[f64]) -> Self {
        let configuration = reducer.kinematics().solve(theta).expect("regular");
        let frames = reducer.model().node_frames(&configuration.frames);
        let found = reducer
            .second_order_shapes(&configuration)
            .expect("regular")
            .expect("something deforms");
        Self {
            frames,
            shapes: found.shapes,
            displacements: found.displacements,
            flat: false,
        }
    }

    pub fn n(&self) -> usize {
        self.shapes.ncols()
    }

    pub fn displacements(&self) -> &[faer::Mat<f64>] {
        &self.displacements
    }

    pub fn shapes(&self) -> &faer::Mat<f64> {
        &self.shapes
    }

    /// All of (u, φ) and scalars at η^δ.
    fn motion(&self, eta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.shapes.nrows()];
        for (d, x) in eta.iter().enumerate() {
            for (i, value) in out.iter_mut().enumerate() {
                *value += self.shapes[(i, d)] * x;
                if !self.flat {
                    for (e, y) in eta.iter().enumerate() {
                        *value += 0.5 * self.displacements[d][(i, e)] * x * y;
                    }
                }
            }
        }
        out
    }

    /// Node frames and deflections of flexible actuators at η^δ.
    pub fn at(&self, eta: &[f64]) -> (Vec<Frame>, Vec<f64>) {
        let motion = self.motion(eta);
        let vector = |first: usize| Vector3::from_column_slice(&motion[first..first + 3]);
        let frames = self.frames.iter().enumerate().map(|(node, frame)| {
            Frame::new(
                frame.rotation * lie::exp_rotation(&vector(6 * node + 3)),
                frame.position + frame.rotation * vector(6 * node),
            )
        });
        (frames.collect(), motion[6 * self.frames.len()..].to_vec())
    }
}

/// Largest difference over the largest size of the expected values.
#[track_caller]
pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64, floor: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(floor, |m, v| m.max(v.abs()));
    let worst = (found.iter().zip(expected)).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    if std::env::var("SHOW").is_ok() {
        eprintln!("{what}: {worst:.2e} of {size:.2e}");
    }
    assert!(
        worst <= tolerance * size,
        "{what}: {worst:.2e} of {size:.2e}\nfound    {found:?}\nexpected {expected:?}"
    );
}
