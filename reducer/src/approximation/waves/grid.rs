//! Points on a grid, and coefficients of products of functions from values there.

use super::axis::{Axis, Span};
use nalgebra::DMatrix;

/// A grid with as many points along every θ as there are functions of it, the last θ fastest.
pub(super) struct Grid {
    nodes: Vec<Vec<f64>>,
    /// Numbers of the functions of every θ in a table.
    numbers: Vec<Vec<usize>>,
    inverses: Vec<DMatrix<f64>>,
}

impl Grid {
    /// Nothing where functions cannot be told apart.
    pub fn new(axes: &[Axis], spans: &[Span], is_output: bool) -> Option<Self> {
        let pairs = || axes.iter().zip(spans);
        let nodes: Vec<Vec<f64>> = pairs().map(|(a, span)| a.nodes(span.count)).collect();
        let inverses = pairs().zip(&nodes);
        Some(Self {
            inverses: inverses
                .map(|((a, span), nodes)| a.inverse(nodes, *span))
                .collect::<Option<_>>()?,
            numbers: spans.iter().map(|s| s.numbers(is_output)).collect(),
            nodes,
        })
    }

    pub fn points(&self) -> Vec<Vec<f64>> {
        self.all(&self.nodes, |x| x)
    }

    pub fn terms(&self) -> Vec<Vec<u8>> {
        self.all(&self.numbers, |i| i as u8)
    }

    /// A neighbour that comes before a point, the θ in which they differ, and by how much.
    pub fn before(&self, place: usize) -> Option<(usize, usize, f64)> {
        (0..self.nodes.len()).find_map(|k| {
            let (stride, nodes) = (self.stride(k), &self.nodes[k]);
            let at = (place / stride) % nodes.len();
            (at > 0).then(|| (k, place - stride, nodes[at] - nodes[at - 1]))
        })
    }

    /// Coefficients of all terms in place of values at all points.
    pub fn transform(&self, numbers: &mut [f64]) {
        for (k, inverse) in self.inverses.iter().enumerate() {
            self.transform_along(numbers, k, inverse);
        }
    }

    fn len(&self) -> usize {
        (self.nodes.iter()).fold(1, |count, nodes| count.saturating_mul(nodes.len()))
    }

    fn all<T: Copy, U>(&self, lists: &[Vec<T>], of: impl Fn(T) -> U) -> Vec<Vec<U>> {
        let at = |mut place: usize| {
            let mut item: Vec<U> = Vec::with_capacity(lists.len());
            for list in lists.iter().rev() {
                item.push(of(list[place % list.len()]));
                place /= list.len();
            }
            item.reverse();
            item
        };
        (0..self.len()).map(at).collect()
    }

    /// Distance of neighbours along θ_k.
    fn stride(&self, k: usize) -> usize {
        self.nodes[k + 1..].iter().map(Vec::len).product()
    }

    /// Multiplies every line of numbers along θ_k by a matrix.
    fn transform_along(&self, numbers: &mut [f64], k: usize, matrix: &DMatrix<f64>) {
        let (stride, length) = (self.stride(k), self.nodes[k].len());
        let mut line = vec![0.0; length];
        for start in (0..numbers.len()).filter(|i| (i / stride).is_multiple_of(length)) {
            for (i, x) in line.iter_mut().enumerate() {
                *x = numbers[start + i * stride];
            }
            for i in 0..length {
                numbers[start + i * stride] = (0..length).map(|j| matrix[(i, j)] * line[j]).sum();
            }
        }
    }
}
