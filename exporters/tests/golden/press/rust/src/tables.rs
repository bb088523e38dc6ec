// SPDX-License-Identifier: 0BSD
//! The model's numbers.

use crate::kernel::{Entry, Finder, Form, Held, Model, Moving, Source, Table};
use crate::Real;

/// The model; the compiler knows all of it.
pub struct Generated;

impl Source for Generated {
    type Stored = Real;
    #[inline(always)]
    fn model(&self) -> &Model<'_, Real> {
        &MODEL
    }
}

/// Numbers of memory that a call takes; `_P`: with parameters.
pub mod memory {
    pub const COEFFICIENTS: usize = 50;
    pub const INVERSE_DYNAMICS: usize = 48;
    pub const FORWARD_DYNAMICS: usize = 50;
    pub const OUTPUTS: usize = 27;
    pub const STATE_DERIVATIVE: usize = 50;
    pub const LINEARIZE: usize = 168;
    pub const FEEDFORWARD: usize = 94;
    pub const STEP: usize = 62;
    pub const COEFFICIENTS_P: usize = 120;
    pub const INVERSE_DYNAMICS_P: usize = 120;
    pub const FORWARD_DYNAMICS_P: usize = 122;
    pub const OUTPUTS_P: usize = 27;
    pub const STATE_DERIVATIVE_P: usize = 122;
    pub const LINEARIZE_P: usize = 251;
    pub const FEEDFORWARD_P: usize = 174;
    pub const STEP_P: usize = 134;
}

static MODEL: Model<'static, Real> = Model {
    form: Form::Lagrangian,
    n: 2,
    n_rigid: 1,
    n_outputs: 1,
    n_loaded: 0,
    theta_min: &crate::THETA_MIN,
    theta_max: &crate::THETA_MAX,
    periodic: &[false],
    waves: &[],
    inequalities: &[],
    finder: Finder::Single,
    boxes: &BOXES,
    dynamics: Table {
        columns: 8,
        values: 11,
        lanes: 4,
        gradients: true,
        powers: true,
        n_terms: 4,
        groups: 2,
        places: &DYNAMICS_PLACES,
        shapes: &DYNAMICS_SHAPES,
        runs: &DYNAMICS_RUNS,
        lists: &DYNAMICS_LISTS,
        products: &DYNAMICS_PRODUCTS,
        coefficients: &DYNAMICS_COEFFICIENTS,
        constants: &DYNAMICS_CONSTANTS,
        moving: Moving { lists: &DYNAMICS_MOVING_LISTS, rows: &DYNAMICS_MOVING_ROWS, terms: &DYNAMICS_MOVING_TERMS },
    },
    motion: Table {
        columns: 12,
        values: 13,
        lanes: 4,
        gradients: true,
        powers: true,
        n_terms: 4,
        groups: 3,
        places: &MOTION_PLACES,
        shapes: &MOTION_SHAPES,
        runs: &MOTION_RUNS,
        lists: &MOTION_LISTS,
        products: &MOTION_PRODUCTS,
        coefficients: &MOTION_COEFFICIENTS,
        constants: &MOTION_CONSTANTS,
        moving: Moving { lists: &MOTION_MOVING_LISTS, rows: &MOTION_MOVING_ROWS, terms: &MOTION_MOVING_TERMS },
    },
    derived: Table {
        columns: 0,
        values: 0,
        lanes: 0,
        gradients: false,
        powers: false,
        n_terms: 0,
        groups: 0,
        places: &[],
        shapes: &[],
        runs: &[],
        lists: &[],
        products: &[],
        coefficients: &[],
        constants: &[],
        moving: Moving { lists: &[], rows: &[], terms: &[] },
    },
    degrees: 4,
    entries: [
        // Entries (i, j) of U0.
        &MASS_FACTOR,
        // Entries (i, j) of U_k, which eta_k multiplies.
        &MASS_SLOPE,
        // Entries (i, j) of B per eta_k eta_l, l >= k.
        &RATE_SCALE,
        // Entries (i, j) of L, K = L L^T.
        &STIFFNESS_FACTOR,
        // Entries (i, j) of the factor of D.
        &DAMPING_FACTOR,
        // Entries (i, j) of M, j >= i.
        &MASS,
        // Entries h_ijk, k >= j.
        &GYROSCOPIC,
        // Second derivatives of M_ij by eta_k and eta_l, j >= i, l >= k.
        &MASS_CURVATURE,
        // Entries (i, j) of K, j >= i.
        &STIFFNESS,
        // Entries (i, j) of D, j >= i.
        &DAMPING,
        // Static force on coordinate i.
        &FORCE,
        // Potential energy at eta = (theta, 0).
        &POTENTIAL,
        // Gravity's part of the force on coordinate i.
        &GRAVITY,
        // Potential per unit of gravity along axis k.
        &GRAVITY_POTENTIAL,
        // Force on coordinate i per unit of gravity along axis k.
        &GRAVITY_FORCE,
        // Entries (i, j) of the stiffness per unit of gravity along axis k, j >= i.
        &GRAVITY_STIFFNESS,
        // Axis i of the position of output k.
        &POSITION,
        // Entry i of the quaternion of output k.
        &QUATERNION,
        // Row i of output k per modal coordinate j.
        &AMPLITUDE,
        // Axis i of the position of output k per eta_j eta_l, l >= j.
        &POSITION_CURVATURE,
        // Displacement of loaded dof i per coordinate j.
        &LOAD_MAP,
        // Entries (i, j) of derived quantity k.
        &QUANTITY_ENTRIES,
    ],
    factor_ends: &[    2, 2],
    has_turn: true,
    held: Held {
        payload_mass: &[],
        rotor_inertia: &[],
        viscous: &[],
        gravity: [0.0, 0.0, 0.0],
    },
};

/// Centre and inverse half width of one box after the other.
static BOXES: [Real; 2] = [
    0.15000000000000002, 1.3333333333333333
];

static DYNAMICS_PLACES: [[u32; 2]; 2] = [
    [0, 0],
    [16, 0]
];
static DYNAMICS_SHAPES: [[u32; 4]; 1] = [
    [0, 1, 4, 3]
];
static DYNAMICS_RUNS: [u8; 2] = [
    4, 0
];
static DYNAMICS_LISTS: [[u32; 3]; 0] = [

];
static DYNAMICS_PRODUCTS: [[u32; 2]; 0] = [

];
static DYNAMICS_MOVING_LISTS: [u32; 0] = [

];
static DYNAMICS_MOVING_ROWS: [[u32; 2]; 0] = [

];
static DYNAMICS_MOVING_TERMS: [u16; 0] = [

];
static DYNAMICS_CONSTANTS: [Real; 3] = [
    0.3, 0.7, 0.25
];
static DYNAMICS_COEFFICIENTS: [Real; 32] = [
    -0.035608516315539365, 0.06569645723732306, 0.03864797179906607, -0.06762619321731561, 0.031364327443477905, 0.012905495276172718, 0.019015280289777593, -0.04276411698783793,
    0.024052342009015078, -0.027754973955245083, -0.02317939030349523, 0.07429862002670605, 1.484317836278261, 0.09354725236191365, 1.6904923598551111, 0.12138205849391898,
    -0.20571604500849183, 0.0050177674435931685, 1.0065613527406345, 0.0, -0.1400589130537222, 0.022752203005220538, -1.3475424340669875, 0.0,
    0.9871274118985647, -0.05017537164678355, 0.2672258474950877, 0.0, 30.07002945652686, 0.08862389849738973, 0.6737712170334937, 0.0
];

static MOTION_PLACES: [[u32; 2]; 3] = [
    [0, 0],
    [16, 0],
    [32, 0]
];
static MOTION_SHAPES: [[u32; 4]; 1] = [
    [0, 1, 4, 3]
];
static MOTION_RUNS: [u8; 2] = [
    4, 0
];
static MOTION_LISTS: [[u32; 3]; 0] = [

];
static MOTION_PRODUCTS: [[u32; 2]; 0] = [

];
static MOTION_MOVING_LISTS: [u32; 0] = [

];
static MOTION_MOVING_ROWS: [[u32; 2]; 0] = [

];
static MOTION_MOVING_TERMS: [u16; 0] = [

];
static MOTION_CONSTANTS: [Real; 1] = [
    0.4
];
static MOTION_COEFFICIENTS: [Real; 48] = [
    0.004786771557768621, -0.05251726683116099, -0.0033867805703415746, 0.018218448431909433, -0.05680149965582944, 0.0020802784309205567, -8.727693557977756e-4, -0.06012393623981452,
    0.005758288975423534, 0.09095898464202146, 0.023629091985544193, 0.03368767020655145, 0.12840074982791472, 0.09895986078453972, 1.000436384677899, 0.13006196811990728,
    -0.011703663770628875, -0.03158176829958686, -0.022480824305870284, -0.015056590863756186, 0.06119558482056203, 0.006578452538429741, -0.02922235946696227, -0.0737926919919684,
    -0.02779517879715217, 0.04564158425900887, -0.02503090240208789, -0.03326197753422677, 0.06940220758971899, 0.09671077373078514, 0.11461117973348114, 0.13689634599598421,
    0.03675072294000927, 0.008018492238627412, 0.0, 0.0, 0.06574866489861024, 0.0580369169853219, 0.0, 0.0,
    -0.04269504314733716, -0.0678952789767677, 0.0, 0.0, 0.06712566755069488, 0.07098154150733905, 0.0, 0.0
];

const fn entry(value: u32, [i, j, k, l]: [u8; 4]) -> Entry {
    Entry { value, i, j, k, l }
}

static MASS_FACTOR: [Entry; 3] = [
    entry(0, [0, 0, 0, 0]),
    entry(1, [0, 1, 0, 0]),
    entry(2, [1, 1, 0, 0])
];

static MASS_SLOPE: [Entry; 2] = [
    entry(3, [0, 1, 1, 0]),
    entry(8, [0, 0, 1, 0])
];

static RATE_SCALE: [Entry; 0] = [

];

static STIFFNESS_FACTOR: [Entry; 1] = [
    entry(4, [1, 1, 0, 0])
];

static DAMPING_FACTOR: [Entry; 1] = [
    entry(9, [1, 1, 0, 0])
];

static MASS: [Entry; 0] = [

];

static GYROSCOPIC: [Entry; 0] = [

];

static MASS_CURVATURE: [Entry; 0] = [

];

static STIFFNESS: [Entry; 0] = [

];

static DAMPING: [Entry; 1] = [
    entry(10, [0, 0, 0, 0])
];

static FORCE: [Entry; 1] = [
    entry(5, [1, 0, 0, 0])
];

static POTENTIAL: [Entry; 1] = [
    entry(6, [0, 0, 0, 0])
];

static GRAVITY: [Entry; 0] = [

];

static GRAVITY_POTENTIAL: [Entry; 0] = [

];

static GRAVITY_FORCE: [Entry; 0] = [

];

static GRAVITY_STIFFNESS: [Entry; 0] = [

];

static POSITION: [Entry; 3] = [
    entry(0, [0, 0, 0, 0]),
    entry(1, [1, 0, 0, 0]),
    entry(12, [2, 0, 0, 0])
];

static QUATERNION: [Entry; 4] = [
    entry(2, [0, 0, 0, 0]),
    entry(3, [1, 0, 0, 0]),
    entry(4, [2, 0, 0, 0]),
    entry(5, [3, 0, 0, 0])
];

static AMPLITUDE: [Entry; 4] = [
    entry(6, [0, 1, 0, 0]),
    entry(7, [1, 1, 0, 0]),
    entry(8, [3, 1, 0, 0]),
    entry(9, [5, 1, 0, 0])
];

static POSITION_CURVATURE: [Entry; 0] = [

];

static LOAD_MAP: [Entry; 0] = [

];

static QUANTITY_ENTRIES: [Entry; 0] = [

];
