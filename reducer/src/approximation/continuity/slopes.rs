//! One coordinate: equal slopes on both sides of every face, so that forces do not jump.
//!
//! Both sides get the mean of their slopes, by terms of a function that its box has already, the highest ones, which change
//! slopes at the ends most and all else least; T₀ and T₁ keep the values at the ends [M 9.8].

use super::super::region::Region;
use super::super::rules::Slopes;
use super::super::store::SampleStore;
use super::super::trial::Context;
use super::{TableOf, assess, dynamics, one_period_on, outputs};
use crate::reduced_model::{BoxModel, Component, Table};

/// Part of the numbers that equal slopes may take where they are not asked for.
const CHEAP: f64 = 0.25;
/// Jumps of slopes below this, relative to what adds up to them, are rounding.
const ROUNDING: f64 = 1e-13;

/// Makes slopes equal where the rules ask for it; false where that was not done.
pub(super) fn join(context: &Context, store: &SampleStore, boxes: &mut [BoxModel]) -> bool {
    if context.rules.slopes == Slopes::Free {
        return false;
    }
    let faces = faces(context, boxes);
    let mut joined = boxes.to_vec();
    let lists = context.components;
    join_table(&mut joined, &faces, &lists.dynamics, dynamics);
    join_table(&mut joined, &faces, &lists.outputs, outputs);
    for b in &mut joined {
        assess(context, store, b);
    }
    let numbers = |boxes: &[BoxModel]| -> usize {
        let of_box = |b: &BoxModel| b.dynamics.stored() + b.outputs.stored();
        boxes.iter().map(of_box).sum()
    };
    let keeps = boxes.iter().zip(&joined).all(|(b, j)| {
        let proof = b.definite.is_none() || j.definite.is_some();
        proof && (j.reached || !b.reached)
    });
    let is_cheap = numbers(&joined) as f64 <= (1.0 + CHEAP) * numbers(boxes) as f64;
    let is_wanted = context.rules.slopes == Slopes::Joined || is_cheap;
    if keeps && is_wanted {
        boxes.clone_from_slice(&joined);
    }
    keeps && is_wanted
}

/// Boxes below and above every face; both ends of a turn are one.
fn faces(context: &Context, boxes: &[BoxModel]) -> Vec<[usize; 2]> {
    let domain = &context.layout.domain;
    let regions: Vec<Region> = boxes.iter().map(Region::of_box).collect();
    let mut faces = Vec::new();
    for (a, below) in regions.iter().enumerate() {
        for (b, above) in regions.iter().enumerate() {
            let beyond = domain.periodic[0]
                .then(|| one_period_on(above, 0, domain.lower[0], domain.upper[0]))
                .flatten();
            let meets = |above: &Region| below.upper[0] == above.lower[0];
            if meets(above) || beyond.as_ref().is_some_and(meets) {
                faces.push([a, b]);
            }
        }
    }
    faces
}

/// Value, slope by θ, and the sum of the sizes that add up to the slope, at both ends of a box.
#[derive(Clone, Copy, Default)]
struct Ends {
    value: [f64; 2],
    slope: [f64; 2],
    size: f64,
}

fn ends(b: &mut BoxModel, table: TableOf, n: usize) -> Vec<Ends> {
    let half = 0.5 * (b.upper[0] - b.lower[0]);
    let table = table(b);
    let mut all = vec![Ends::default(); n];
    for (term, row) in table.terms.iter().zip(table.coefficients.chunks_exact(n)) {
        let degree = f64::from(term[0]);
        // T_k(±1) = (±1)^k and T_k′(±1) = (±1)^(k+1) k².
        let sign = if term[0] % 2 == 0 { 1.0 } else { -1.0 };
        let by = degree * degree / half;
        for (ends, c) in all.iter_mut().zip(row) {
            ends.value[0] += sign * c;
            ends.value[1] += c;
            ends.slope[0] -= sign * by * c;
            ends.slope[1] += by * c;
            ends.size += by * c.abs();
        }
    }
    all
}

fn join_table(
    boxes: &mut [BoxModel],
    faces: &[[usize; 2]],
    components: &[Component],
    table: TableOf,
) {
    let n = components.len();
    if n == 0 {
        return;
    }
    let ends: Vec<Vec<Ends>> = boxes.iter_mut().map(|b| ends(b, table, n)).collect();
    // What slopes at both ends are to change by.
    let mut changes = vec![vec![[0.0; 2]; n]; boxes.len()];
    for &[a, b] in faces {
        for (i, component) in components.iter().enumerate() {
            let (below, above) = (&ends[a][i], &ends[b][i]);
            let sign = sign(*component, components, [&ends[a], &ends[b]]);
            let (low, high) = (below.slope[1], sign * above.slope[0]);
            if (high - low).abs() > ROUNDING * (below.size + above.size) {
                let mean = 0.5 * (low + high);
                changes[a][i][1] = mean - low;
                changes[b][i][0] = sign * (mean - high);
            }
        }
    }
    for (b, changes) in boxes.iter_mut().zip(&changes) {
        let half = 0.5 * (b.upper[0] - b.lower[0]);
        change_slopes(table(b), half, changes);
    }
}

/// −1 where a quaternion has the other sign on the other side of a face; all its entries tell, because some may vanish.
fn sign(component: Component, all: &[Component], [below, above]: [&[Ends]; 2]) -> f64 {
    let Component::Quaternion { output, .. } = component else {
        return 1.0;
    };
    let belongs =
        |c: &Component| matches!(c, Component::Quaternion { output: o, .. } if *o == output);
    let products = (all.iter().zip(below.iter().zip(above)))
        .filter(|(c, _)| belongs(c))
        .map(|(_, (below, above))| below.value[1] * above.value[0]);
    if products.sum::<f64>() < 0.0 {
        -1.0
    } else {
        1.0
    }
}

/// Changes slopes at the ends of a box, and no values there.
fn change_slopes(table: &mut Table, half: f64, changes: &[[f64; 2]]) {
    let n = changes.len();
    for (i, [low, high]) in changes.iter().enumerate() {
        // Slopes by ξ of T_b − T₀ are ∓b² at the ends, of T_a − T₁ a² − 1 at both.
        let (even, odd) = (0.5 * half * (high - low), 0.5 * half * (high + low));
        for (part, least, sunk) in [(even, 2, 0), (odd, 3, 1)] {
            if part == 0.0 {
                continue;
            }
            let top = highest(table, i, n, least);
            let steepness = f64::from(u32::from(top).pow(2) - u32::from(sunk));
            for (degree, part) in [(top, part / steepness), (sunk, -part / steepness)] {
                let row = row_of(table, degree, n);
                table.coefficients[row * n + i] += part;
            }
        }
    }
}

/// The highest degree of a function with the parity of `least`, and at least that.
fn highest(table: &Table, column: usize, n: usize, least: u8) -> u8 {
    let rows = table.terms.iter().zip(table.coefficients.chunks_exact(n));
    rows.filter(|(term, row)| term[0] % 2 == least % 2 && row[column] != 0.0)
        .map(|(term, _)| term[0])
        .fold(least, u8::max)
}

/// The row of T_degree, which is added where it is missing; terms stay in order.
fn row_of(table: &mut Table, degree: u8, n: usize) -> usize {
    let row = table.terms.partition_point(|t| t[0] < degree);
    if table.terms.get(row).is_none_or(|t| t[0] != degree) {
        table.terms.insert(row, vec![degree]);
        table
            .coefficients
            .splice(row * n..row * n, std::iter::repeat_n(0.0, n));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_change_and_values_at_ends_do_not() {
        let table = Table {
            terms: vec![vec![0], vec![1], vec![5]],
            coefficients: vec![0.3, 1.0, -0.2],
        };
        let make = |table: Table| BoxModel {
            lower: vec![0.5],
            upper: vec![1.3],
            outputs: table.clone(),
            dynamics: table,
            definite: None,
            reached: true,
            errors: Vec::new(),
        };
        let mut before = make(table);
        let was = ends(&mut before, dynamics, 1)[0];
        let mut after = before.clone();
        change_slopes(&mut after.dynamics, 0.4, &[[0.7, -0.2]]);
        let is = ends(&mut after, dynamics, 1)[0];
        assert_eq!(after.dynamics.terms, [[0], [1], [2], [5]]);
        for (end, change) in [0.7, -0.2].into_iter().enumerate() {
            assert!((is.value[end] - was.value[end]).abs() < 1e-15);
            assert!((is.slope[end] - was.slope[end] - change).abs() < 1e-13);
        }
    }

    /// An output that turns about z, halfway: q_w = cos, q_z = sin of θ/2. At the face one entry vanishes, and its sign is
    /// noise.
    #[test]
    fn the_sign_of_a_quaternion_is_that_of_all_its_entries() {
        let entry = |index| Component::Quaternion {
            output: 0,
            entry: index,
        };
        let components = [entry(0), entry(3)];
        let half = |lower: f64, upper: f64, sign: f64, noise: f64| {
            let table = Table {
                terms: vec![vec![0], vec![1]],
                // q_w = 1 and a straight q_z that is noise at θ = 0.
                coefficients: vec![
                    sign,
                    sign * 0.25 * (lower + upper) + noise,
                    0.0,
                    sign * 0.25 * (upper - lower),
                ],
            };
            BoxModel {
                lower: vec![lower],
                upper: vec![upper],
                dynamics: table.clone(),
                outputs: table,
                definite: None,
                reached: true,
                errors: Vec::new(),
            }
        };
        for sign in [1.0, -1.0] {
            let mut boxes = [
                half(-1.0, 0.0, 1.0, 1e-17),
                half(0.0, 0.5, sign, -1e-17 * sign),
            ];
            join_table(&mut boxes, &[[0, 1]], &components, outputs);
            let [below, above] = boxes.each_mut().map(|b| ends(b, outputs, 2)[1].slope);
            assert!((below[1] - 0.5).abs() < 1e-12, "{below:?}");
            assert!((above[0] - 0.5 * sign).abs() < 1e-12, "{above:?}");
        }
    }
}
