//! Small synthetic models: every kind of component, several forms, boxes, dropped regions.
#![allow(dead_code, unused_imports)]

mod recipes;

pub use recipes::{Recipe, recipes};
use reducer::reduced_model::*;

/// Deterministic numbers between -1 and 1.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, n: usize, scale: f64) -> Vec<f64> {
        (0..n).map(|_| scale * self.next()).collect()
    }
}

pub fn model(recipe: &Recipe) -> ReducedModel {
    let r = recipe;
    let n = r.s + r.modal;
    let mut numbers = Numbers::new(r.name.len() as u64 * 97 + r.s as u64);
    let mut components = components(r);
    if r.combined {
        combine(&mut components);
    }
    let domain = Domain {
        lower: (0..r.s).map(|k| -0.6 - 0.1 * k as f64).collect(),
        upper: (0..r.s).map(|k| 0.9 + 0.05 * k as f64).collect(),
        periodic: (0..r.s).map(|k| r.periodic && k == 0).collect(),
        inequalities: if r.inequality {
            vec![LinearInequality {
                coefficients: vec![1.0; r.s],
                bound: 1.6,
            }]
        } else {
            vec![]
        },
    };
    let (tree, boxes) = grow(r, &domain, &components, &mut numbers);
    let kinds = |i: usize| match i {
        i if i < r.s => CoordinateKind::Rigid,
        i if i == r.s => CoordinateKind::Constraint,
        _ => CoordinateKind::Internal,
    };
    let model = ReducedModel {
        format: components.format(),
        layout: ModelLayout {
            name: r.name.into(),
            coordinates: (0..n)
                .map(|i| CoordinateInfo {
                    name: format!("axis.{i}"),
                    kind: kinds(i),
                    unit: "rad".into(),
                })
                .collect(),
            n_rigid: r.s,
            outputs: (0..r.outputs).map(|o| format!("tip{o}")).collect(),
            loaded: (0..r.loaded).map(|o| format!("load{o}")).collect(),
            domain,
            full_dofs: 42,
            parameters: nominal(r),
            stiffening: if r.second_order {
                Stiffening::All
            } else {
                Stiffening::None
            },
            validity: r.second_order.then(|| Validity {
                rate: vec![Some(3.0); r.s],
                acceleration: vec![None; r.s],
                loads_change: 0.25,
                rate_change: 0.125,
                acceleration_change: 0.0,
                tolerance: 0.005,
                rate_at_tolerance: vec![Some(0.6); r.s],
                acceleration_at_tolerance: vec![None; r.s],
            }),
            derived: derived(r),
        },
        form: r.form,
        functions: (0..r.s)
            .map(|k| match r.waves.contains(&k) {
                true => Functions::Waves,
                false => Functions::Polynomials,
            })
            .collect(),
        components,
        continuity: if tree.len() == 1 {
            Continuity::Smooth
        } else {
            Continuity::Jumps { largest: 0.5 }
        },
        tree,
        boxes,
        provenance: Provenance {
            tool: "reduce 0.1.0".into(),
            input_hash: "0123456789abcdef".repeat(4),
            settings: SettingsRecord {
                basis: match r.form {
                    ModelForm::Lagrangian => BasisRecord::Chebyshev { max_degree: 9 },
                    ModelForm::Direct => BasisRecord::Quadratic,
                },
                criterion: Criterion::Mean,
                largest: Some(1e9),
                objective: Objective::Size,
                tolerances: vec![BlockTolerance {
                    block: Block::Mass,
                    tolerance: 1e-3,
                }],
                minimal_width: vec![0.01; r.s],
            },
            reached: !r.drop_first,
            routed_samples: 3,
            cut_short: r.drop_first.then_some(CutShort::Samples),
            errors: vec![BlockError {
                block: Block::Mass,
                mean: 1.25e-4,
                max: 3.5e-4,
            }],
            largest: largest(r),
            jumps: largest(r).split_off(1),
        },
    };
    model.validate().expect("a valid synthetic model");
    model
}

/// Every second function that is no energy and no diagonal entry of a factor becomes a combination of one to three columns.
fn combine(lists: &mut ComponentLists) {
    let is_diagonal = |c: &Component| match c {
        Component::MassFactor { row, column }
        | Component::StiffnessFactor { row, column }
        | Component::DampingFactor { row, column }
        | Component::Mass { row, column }
        | Component::Stiffness { row, column } => row == column,
        _ => false,
    };
    let all = std::mem::take(&mut lists.dynamics);
    let mut combined = Vec::new();
    for (i, c) in all.into_iter().enumerate() {
        if i % 2 == 1 && !c.facts().is_energy && !is_diagonal(&c) {
            combined.push(c);
        } else {
            lists.dynamics.push(c);
        }
    }
    let columns: Vec<u32> = (lists.dynamics.iter().zip(0..))
        .filter(|(c, _)| !c.facts().is_energy)
        .map(|(_, column)| column)
        .collect();
    let mut numbers = Numbers::new(combined.len() as u64);
    for (i, component) in combined.into_iter().enumerate() {
        let mut of: Vec<u32> = (0..=i % 3)
            .map(|j| columns[(7 * i + 5 * j) % columns.len()])
            .collect();
        of.sort_unstable();
        of.dedup();
        // The columns may be large: what is made of them stays as small as other functions.
        let by = of.iter().map(|c| {
            let (mean, _) = size(lists.dynamics[*c as usize]);
            0.1 * (1.0 + 0.5 * numbers.next()) / mean.max(0.1)
        });
        let by: Vec<f64> = by.collect();
        lists.combined.push(Combination { component, by, of });
    }
}

/// Entries with and without a motion.
fn largest(r: &Recipe) -> Vec<LargestError> {
    let entry = |quantity: Quantity| LargestError {
        quantity,
        mean: 1e-3,
        largest: 0.125,
        theta: vec![0.25; r.s],
        rate: vec![1.5; if quantity.has_motion() { r.s } else { 0 }],
        accel: vec![-2.5; if quantity.has_motion() { r.s } else { 0 }],
    };
    let derived = (0..derived(r).len()).map(|entry| Quantity::Derived { entry });
    let outputs = (0..r.outputs).map(|output| Quantity::Position { output });
    let block = Quantity::Block { block: Block::Mass };
    let force = Quantity::Force { coordinate: 0 };
    [block, force]
        .into_iter()
        .chain(outputs)
        .chain(derived)
        .map(entry)
        .collect()
}

fn derived(r: &Recipe) -> Vec<DerivedInfo> {
    let info = |name: &str, rows, columns| DerivedInfo {
        name: name.into(),
        value: "inv(M.tt) * [M.tt, M.tt]".into(),
        rows,
        columns,
        tolerance: 0.01,
    };
    match r.derived {
        true => vec![info("Gf", 2, 4), info("at", 1, 1)],
        false => Vec::new(),
    }
}

fn nominal(r: &Recipe) -> NominalParameters {
    if !r.runtime {
        return NominalParameters::fixed(r.s, r.outputs);
    }
    let some = |n: usize| (0..n).map(|k| 0.3 + 0.1 * k as f64).collect();
    NominalParameters {
        gravity: [0.7, -1.1, -9.6],
        gravity_at_runtime: true,
        payload_mass: some(r.outputs),
        rotor_inertia: some(r.s),
        viscous: some(r.s),
        coulomb: some(r.s),
    }
}

fn components(r: &Recipe) -> ComponentLists {
    let n = r.s + r.modal;
    let mut list = ComponentLists::default();
    let constant = |list: &mut ComponentLists, component, value| {
        list.constants.push(Constant { component, value })
    };
    for i in 0..n {
        for j in i..n {
            let internal = i > r.s;
            match r.form {
                ModelForm::Lagrangian if r.mass_entries => {
                    list.dynamics.push(Component::Mass { row: i, column: j })
                }
                ModelForm::Lagrangian if internal && i == j => {
                    constant(&mut list, Component::MassFactor { row: i, column: j }, 1.0)
                }
                ModelForm::Lagrangian if internal => {}
                ModelForm::Lagrangian => list
                    .dynamics
                    .push(Component::MassFactor { row: i, column: j }),
                ModelForm::Direct => list.dynamics.push(Component::Mass { row: i, column: j }),
            }
        }
    }
    match r.form {
        ModelForm::Lagrangian => {
            for d in r.s..n {
                for i in 0..r.s {
                    list.dynamics.push(Component::MassFactorSlope {
                        coordinate: d,
                        row: i,
                        column: n - 1,
                    });
                }
                constant(
                    &mut list,
                    Component::MassFactorSlope {
                        coordinate: d,
                        row: 0,
                        column: 0,
                    },
                    0.3,
                );
                for e in r.s..=d {
                    list.dynamics
                        .push(Component::StiffnessFactor { row: d, column: e });
                }
                list.dynamics.push(Component::Force { row: d });
                constant(
                    &mut list,
                    Component::DampingFactor { row: d, column: d },
                    0.7,
                );
            }
            list.dynamics.push(Component::Potential);
            constant(&mut list, Component::Damping { row: 0, column: 0 }, 0.25);
            if r.loaded > 0 {
                list.dynamics
                    .extend((0..n).map(|row| Component::Gravity { row }));
            }
        }
        ModelForm::Direct => {
            for row in 0..n {
                list.dynamics.push(Component::Force { row });
                for first in 0..n {
                    for second in first..n {
                        list.dynamics
                            .push(Component::Gyroscopic { row, first, second });
                    }
                }
            }
            list.dynamics.push(Component::Potential);
            for row in r.s..n {
                for column in row..n {
                    list.dynamics.push(Component::Stiffness { row, column });
                }
                list.dynamics.push(Component::Damping {
                    row: 0,
                    column: row,
                });
            }
        }
    }
    if r.runtime {
        list.dynamics
            .extend((0..3).map(|axis| Component::GravityPotential { axis }));
        let first = if r.form == ModelForm::Direct { 0 } else { r.s };
        for row in first..n {
            let pull = |axis| Component::GravityForce { row, axis };
            list.dynamics.extend([0, 2].map(pull));
            constant(&mut list, pull(1), 0.2);
        }
    }
    if r.second_order {
        add_second_order(r, &mut list);
    }
    for output in 0..r.outputs {
        for axis in 0..2 {
            list.outputs.push(Component::Position { output, axis });
        }
        constant(&mut list, Component::Position { output, axis: 2 }, 0.4);
        for entry in 0..4 {
            list.outputs.push(Component::Quaternion { output, entry });
        }
        for coordinate in r.s..n {
            for row in [0, 1, 3, 5] {
                list.outputs.push(Component::Amplitude {
                    output,
                    row,
                    coordinate,
                });
            }
        }
    }
    if r.derived {
        let entry = |row, column| Component::Derived {
            entry: 0,
            row,
            column,
        };
        let single = Component::Derived {
            entry: 1,
            row: 0,
            column: 0,
        };
        let places = [(0, 0), (0, 1), (0, 3), (1, 0), (1, 2)];
        let stored = places.map(|(row, column)| entry(row, column));
        let varying = stored.into_iter().chain([single]);
        match r.form {
            ModelForm::Lagrangian => list.outputs.extend(varying),
            ModelForm::Direct => varying.for_each(|c| constant(&mut list, c, 0.3)),
        }
        constant(&mut list, entry(1, 3), 0.6);
    }
    for loaded in 0..r.loaded {
        for coordinate in 0..n {
            list.outputs.push(Component::LoadMap { loaded, coordinate });
        }
    }
    list
}

/// What is of second order; the last pair is constant.
fn add_second_order(r: &Recipe, list: &mut ComponentLists) {
    let n = r.s + r.modal;
    let pairs =
        |from: usize, end: usize| (from..end).flat_map(move |i| (i..end).map(move |j| (i, j)));
    for (first, second) in pairs(r.s, n) {
        for (row, column) in pairs(0, r.s) {
            let component = match r.form {
                ModelForm::Lagrangian => Component::RateScale {
                    row,
                    column,
                    first,
                    second,
                },
                ModelForm::Direct => Component::MassCurvature {
                    row,
                    column,
                    first,
                    second,
                },
            };
            if first == n - 1 {
                list.constants.push(Constant {
                    component,
                    value: -0.4,
                });
            } else {
                list.dynamics.push(component);
            }
        }
        for axis in (0..3).filter(|_| r.runtime) {
            list.dynamics.push(Component::GravityStiffness {
                row: first,
                column: second,
                axis,
            });
        }
        for output in 0..r.outputs {
            for axis in 0..2 {
                list.outputs.push(Component::PositionCurvature {
                    output,
                    axis,
                    first,
                    second,
                });
            }
        }
    }
}

/// Mean value and size of variation of a component, so that M̄ and K̄ are definite.
fn size(component: Component) -> (f64, f64) {
    match component {
        Component::MassFactor { row, column } if row == column => (1.5 + 0.2 * row as f64, 0.1),
        Component::Mass { row, column } if row == column => (3.0 + row as f64, 0.1),
        Component::StiffnessFactor { row, column } if row == column => (30.0, 2.0),
        Component::Stiffness { row, column } if row == column => (900.0, 10.0),
        Component::Quaternion { entry: 0, .. } => (1.0, 0.05),
        Component::Potential => (0.0, 4.0),
        _ => (0.1, 0.15),
    }
}

fn terms(s: usize, degree: u8) -> Vec<Vec<u8>> {
    let mut all = vec![vec![]];
    for _ in 0..s {
        all = all
            .into_iter()
            .flat_map(|t: Vec<u8>| (0..=degree).map(move |d| [t.clone(), vec![d]].concat()))
            .collect();
    }
    all.retain(|t| t.iter().map(|&d| u32::from(d)).sum::<u32>() <= u32::from(degree));
    all.sort_by_key(|t| (t.iter().map(|&d| u32::from(d)).sum::<u32>(), t.clone()));
    all
}

/// Three of four, without a pattern that columns share.
fn is_left_out(term: usize, column: usize) -> bool {
    let mixed = (term as u64 * 977 + column as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    !((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40).is_multiple_of(4)
}

fn table(r: &Recipe, columns: &[Component], thin: bool, numbers: &mut Numbers) -> Table {
    let mut terms = terms(r.s, r.degree);
    if thin {
        terms.retain(|t| {
            t.iter().sum::<u8>() == 0 || t.iter().map(|&d| d as usize).sum::<usize>() % 3 != 1
        });
    }
    let decay = |t: &[u8]| 0.5_f64.powi(t.iter().map(|&d| i32::from(d)).sum());
    let coefficients = terms
        .iter()
        .enumerate()
        .flat_map(|(m, t)| {
            let (constant, decay) = (t.iter().all(|&d| d == 0), decay(t));
            let row: Vec<f64> = columns
                .iter()
                .enumerate()
                .map(|(column, &c)| {
                    let (mean, variation) = size(c);
                    if constant {
                        mean
                    } else if r.sparse && is_left_out(m, column) {
                        0.0
                    } else {
                        variation * decay * numbers.next()
                    }
                })
                .collect();
            row
        })
        .collect();
    Table {
        terms,
        coefficients,
    }
}

fn grow(
    r: &Recipe,
    domain: &Domain,
    lists: &ComponentLists,
    numbers: &mut Numbers,
) -> (Vec<TreeNode>, Vec<BoxModel>) {
    let mut tree = Vec::new();
    let mut boxes = Vec::new();
    // Breadth first: children follow their parent and leaves come in the order of the nodes.
    let mut level = vec![(domain.lower.clone(), domain.upper.clone())];
    for &axis in &r.cuts {
        let first_child = tree.len() + level.len();
        let mut next = Vec::new();
        for (i, (lower, upper)) in level.iter().enumerate() {
            let at = lower[axis] + 0.4 * (upper[axis] - lower[axis]);
            tree.push(TreeNode::Split {
                axis,
                at,
                low: first_child + 2 * i,
                high: first_child + 2 * i + 1,
            });
            let (mut low, mut high) = (
                (lower.clone(), upper.clone()),
                (lower.clone(), upper.clone()),
            );
            low.1[axis] = at;
            high.0[axis] = at;
            next.extend([low, high]);
        }
        level = next;
    }
    for (i, (lower, upper)) in level.into_iter().enumerate() {
        if i == 0 && r.drop_first {
            tree.push(TreeNode::Dropped {
                reason: DropReason::Singular {
                    theta: lower,
                    message: "a singularity".into(),
                },
            });
            continue;
        }
        tree.push(TreeNode::Leaf { index: boxes.len() });
        boxes.push(BoxModel {
            lower,
            upper,
            dynamics: table(r, &lists.dynamics, r.holes && i == 1, numbers),
            outputs: table(r, &lists.outputs, false, numbers),
            definite: Some(0.5),
            reached: true,
            errors: vec![],
        });
    }
    (tree, boxes)
}

/// θ inside boxes, on faces and corners, outside, and in a dropped region if there is one.
pub fn configurations(model: &ReducedModel) -> Vec<Vec<f64>> {
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let mut numbers = Numbers::new(11);
    let domain = &model.layout.domain;
    let mut thetas = Vec::new();
    for b in &model.boxes {
        thetas.push(b.lower.clone());
        thetas.push(b.upper.clone());
        for _ in 0..3 {
            thetas.push(
                (0..s)
                    .map(|k| b.lower[k] + (0.5 + 0.5 * numbers.next()) * (b.upper[k] - b.lower[k]))
                    .collect(),
            );
        }
    }
    thetas.push(domain.lower.clone());
    thetas.push(domain.upper.iter().map(|u| u + 0.7).collect());
    thetas.push(domain.lower.iter().map(|l| l - 3.0).collect());
    thetas.push((0..s).map(|k| if k == 0 { 100.0 } else { 0.0 }).collect());
    thetas
        .into_iter()
        .map(|mut eta| {
            eta.extend(numbers.vector(n - s, 0.05));
            eta
        })
        .collect()
}
