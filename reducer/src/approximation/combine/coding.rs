//! Which few functions others are combinations of: sparse coding by orthogonal matching pursuit.

use rayon::prelude::*;

/// Functions that one combination has, at most.
const MOST_TERMS: usize = 48;
/// Square of what is left of a function's norm beyond those taken already, at least: factors stay small, and with them
/// what they make of errors of the fit.
const APART: f64 = 1e-4;

/// Functions at a number of places each, in units in which the sum of squares is an error.
pub(super) type Functions = Vec<Vec<f64>>;

/// A target takes one more atom.
struct Step {
    target: usize,
    /// What that takes off the sum of squares.
    gain: f64,
    /// The least that it and the steps on the way to it take off.
    useful: f64,
}

/// In which order functions take up others, the most useful ones first.
pub(super) struct Coding {
    /// Products of atoms of norm one.
    gram: Vec<Vec<f64>>,
    norms: Vec<f64>,
    /// Of every target its products with the atoms.
    products: Vec<Vec<f64>>,
    /// Of every target the atoms that it takes, in this order.
    chosen: Vec<Vec<usize>>,
    /// Steps at which a target takes one more atom, the most useful first.
    steps: Vec<Step>,
    /// Sum of squares of all targets.
    whole: f64,
}

impl Coding {
    /// Of targets by atoms, down to errors of which all together have the square `least`.
    pub fn new(targets: &Functions, atoms: &Functions, least: f64) -> Self {
        let norms: Vec<f64> = atoms.iter().map(|a| dot(a, a).sqrt()).collect();
        let unit = |value: f64, norm: f64| if norm > 0.0 { value / norm } else { 0.0 };
        let gram = (atoms.par_iter().zip(&norms))
            .map(|(a, n)| {
                let pairs = atoms.iter().zip(&norms);
                pairs.map(|(b, m)| unit(dot(a, b), n * m)).collect()
            })
            .collect();
        let products: Vec<Vec<f64>> = targets
            .par_iter()
            .map(|t| {
                let pairs = atoms.iter().zip(&norms);
                pairs.map(|(a, n)| unit(dot(t, a), *n)).collect()
            })
            .collect();
        let squares: Vec<f64> = targets.iter().map(|t| dot(t, t)).collect();
        let mut coding = Self {
            gram,
            norms,
            products,
            chosen: Vec::new(),
            steps: Vec::new(),
            whole: squares.iter().sum(),
        };
        let enough = least / targets.len().max(1) as f64;
        let paths: Vec<Vec<(usize, f64)>> = (0..targets.len())
            .into_par_iter()
            .map(|t| coding.pursue(t, squares[t], enough))
            .collect();
        for (target, path) in paths.iter().enumerate() {
            let mut useful = f64::INFINITY;
            for &(_, gain) in path {
                useful = useful.min(gain);
                coding.steps.push(Step {
                    target,
                    gain,
                    useful,
                });
            }
        }
        let by_use = |a: &Step, b: &Step| b.useful.total_cmp(&a.useful);
        coding
            .steps
            .sort_by(|a, b| by_use(a, b).then(a.target.cmp(&b.target)));
        coding.chosen = paths
            .into_iter()
            .map(|path| path.into_iter().map(|(atom, _)| atom).collect())
            .collect();
        coding
    }

    /// Atoms of one target, and what each takes off the square of what is left.
    fn pursue(&self, target: usize, square: f64, enough: f64) -> Vec<(usize, f64)> {
        let mut pursuit = Pursuit::new(&self.gram, self.products[target].clone());
        let (mut left, mut path) = (square, Vec::new());
        while left > enough && path.len() < MOST_TERMS {
            let Some((atom, gain)) = pursuit.best() else {
                break;
            };
            pursuit.take(atom);
            left -= gain;
            path.push((atom, gain));
        }
        path
    }

    /// How many atoms every target takes until errors of all together have this square; nothing where they never do.
    pub fn within(&self, square: f64) -> Option<Vec<usize>> {
        let mut counts = vec![0; self.chosen.len()];
        let mut left = self.whole;
        for step in &self.steps {
            if left <= square {
                break;
            }
            left -= step.gain;
            counts[step.target] += 1;
        }
        (left <= square).then_some(counts)
    }

    /// The first `count` atoms of a target, ascending, and their factors.
    pub fn factors(&self, target: usize, count: usize) -> Vec<(usize, f64)> {
        let mut pursuit = Pursuit::new(&self.gram, self.products[target].clone());
        let chosen = &self.chosen[target][..count];
        for atom in chosen {
            pursuit.take(*atom);
        }
        let factors = pursuit.factors();
        let scaled = chosen.iter().zip(factors);
        let mut all: Vec<(usize, f64)> = scaled.map(|(&a, x)| (a, x / self.norms[a])).collect();
        all.sort_by_key(|(atom, _)| *atom);
        all
    }
}

/// One target on its way: atoms that it took span what they explain, and are looked at by products alone.
struct Pursuit<'a> {
    gram: &'a [Vec<f64>],
    /// Products of the atoms with what is left of the target.
    left: Vec<f64>,
    /// Squares of what is left of the atoms themselves.
    apart: Vec<f64>,
    /// Products of the atoms with each direction, one by one.
    directions: Vec<Vec<f64>>,
    taken: Vec<usize>,
    /// What each direction holds of the target.
    along: Vec<f64>,
}

impl<'a> Pursuit<'a> {
    fn new(gram: &'a [Vec<f64>], left: Vec<f64>) -> Self {
        Self {
            apart: gram.iter().enumerate().map(|(i, row)| row[i]).collect(),
            gram,
            left,
            directions: Vec::new(),
            taken: Vec::new(),
            along: Vec::new(),
        }
    }

    /// The atom that explains most of what is left, and the square of that.
    fn best(&self) -> Option<(usize, f64)> {
        let gain = |i: usize| self.left[i] * self.left[i] / self.apart[i];
        (0..self.left.len())
            .filter(|&i| self.apart[i] > APART)
            .map(|i| (i, gain(i)))
            .filter(|(_, gain)| *gain > 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    fn take(&mut self, atom: usize) {
        let norm = self.apart[atom].max(f64::MIN_POSITIVE).sqrt();
        let mut direction = self.gram[atom].clone();
        for before in &self.directions {
            let part = before[atom];
            for (d, b) in direction.iter_mut().zip(before) {
                *d -= part * b;
            }
        }
        let along = self.left[atom] / norm;
        for (i, d) in direction.iter_mut().enumerate() {
            *d /= norm;
            self.left[i] -= along * *d;
            self.apart[i] -= *d * *d;
        }
        self.directions.push(direction);
        self.taken.push(atom);
        self.along.push(along);
    }

    /// Factors of the atoms that were taken: the directions are triangular in them.
    fn factors(&self) -> Vec<f64> {
        let mut x = self.along.clone();
        for m in (0..x.len()).rev() {
            for j in m + 1..x.len() {
                x[m] -= self.directions[m][self.taken[j]] * x[j];
            }
            x[m] /= self.directions[m][self.taken[m]];
        }
        x
    }
}

/// Functions that explain all others to errors of which all together have the square `least`, each the one of which
/// most is left beyond those before it; then `more` times as many of the largest that resemble none of these.
pub(super) fn skeleton(targets: &Functions, least: f64, more: usize) -> Vec<usize> {
    let mut left = targets.clone();
    let mut chosen: Vec<usize> = Vec::new();
    let largest = |left: &Functions| {
        let squares: Vec<f64> = left.par_iter().map(|t| dot(t, t)).collect();
        let sum: f64 = squares.iter().sum();
        let best =
            (0..squares.len()).max_by(|&a, &b| squares[a].total_cmp(&squares[b]).then(b.cmp(&a)));
        best.filter(|_| sum > least)
    };
    while let Some(next) = largest(&left) {
        if chosen.len() == targets.len() || chosen.contains(&next) {
            break;
        }
        let norm = dot(&left[next], &left[next]).sqrt();
        let direction: Vec<f64> = left[next].iter().map(|x| x / norm).collect();
        left.par_iter_mut().for_each(|t| {
            let part = dot(t, &direction);
            t.iter_mut()
                .zip(&direction)
                .for_each(|(x, d)| *x -= part * d);
        });
        chosen.push(next);
    }
    let wanted = (chosen.len() * (1 + more)).min(targets.len());
    let mut order: Vec<(f64, usize)> = targets.iter().map(|t| dot(t, t)).zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (square, next) in order {
        if chosen.len() >= wanted {
            break;
        }
        let resembles = |&c: &usize| {
            let other = &targets[c];
            dot(&targets[next], other).powi(2) > ALIKE * square * dot(other, other)
        };
        if square > 0.0 && !chosen.contains(&next) && !chosen.iter().any(resembles) {
            chosen.push(next);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Square of the cosine between functions that resemble one another.
const ALIKE: f64 = 0.81;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions of three others, which are not orthogonal, with one, two and three of them.
    fn example() -> (Functions, Functions) {
        let at = |i: usize| f64::from(i as u8) / 20.0;
        let atom = |f: fn(f64) -> f64| (0..20).map(|i| f(at(i))).collect::<Vec<f64>>();
        let atoms = vec![atom(|_| 1.0), atom(f64::cos), atom(|x| x * x * x - 0.3)];
        let mixed = |factors: [f64; 3]| {
            let value = |i: usize| (0..3).map(|a| factors[a] * atoms[a][i]).sum();
            (0..20).map(value).collect()
        };
        let targets = vec![
            mixed([0.0, 2.0, 0.0]),
            mixed([0.5, 0.0, -1.0]),
            mixed([1e-3, 2e-3, 3e-3]),
        ];
        (targets, atoms)
    }

    #[test]
    fn combinations_are_found_again() {
        let (targets, atoms) = example();
        let coding = Coding::new(&targets, &atoms, 1e-24);
        let counts = coding.within(1e-20).expect("atoms that span the targets");
        assert_eq!(counts[0], 1);
        for (t, count) in counts.iter().enumerate() {
            let factors = coding.factors(t, *count);
            for (i, value) in targets[t].iter().enumerate() {
                let sum: f64 = factors.iter().map(|(a, x)| x * atoms[*a][i]).sum();
                assert!((sum - value).abs() < 1e-9, "{t} {i}: {sum} {value}");
            }
        }
    }

    #[test]
    fn what_matters_least_takes_no_atom() {
        let (targets, atoms) = example();
        let coding = Coding::new(&targets, &atoms, 1e-24);
        let small: f64 = targets[2].iter().map(|x| x * x).sum();
        let counts = coding
            .within(1.5 * small)
            .expect("atoms that span the targets");
        assert_eq!(counts[2], 0);
        assert!(coding.within(-1.0).is_none());
    }

    #[test]
    fn a_skeleton_explains_the_rest() {
        let (targets, atoms) = example();
        let all: Functions = targets.iter().chain(&atoms).cloned().collect();
        let chosen = skeleton(&all, 1e-12, 0);
        assert_eq!(chosen.len(), 3);
        let kept: Functions = chosen.iter().map(|c| all[*c].clone()).collect();
        assert!(Coding::new(&all, &kept, 1e-20).within(1e-11).is_some());
    }
}
