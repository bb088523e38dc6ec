//! The order in which outputs are found, and the loops in it.

use super::diagram::Block;

/// Blocks whose outputs are found together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub blocks: Vec<usize>,
    /// They depend on each other at the same instant.
    pub is_loop: bool,
}

/// Strongly connected blocks in the order of dependence [Tarjan 1972].
pub(super) fn order(blocks: &[Block], first_output: &[usize], n_sensors: usize) -> Vec<Group> {
    let owner = |signal: usize| {
        let output = signal.checked_sub(n_sensors)?;
        Some(first_output.partition_point(|first| *first <= output) - 1)
    };
    let needs: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| {
            if !block.feeds_through() {
                return Vec::new();
            }
            let terms = block.inputs.iter().flatten();
            terms.filter_map(|term| owner(term.signal)).collect()
        })
        .collect();
    let mut search = Search {
        needs: &needs,
        index: vec![None; blocks.len()],
        low: vec![0; blocks.len()],
        on_stack: vec![false; blocks.len()],
        stack: Vec::new(),
        next: 0,
        groups: Vec::new(),
    };
    for block in 0..blocks.len() {
        search.visit(block);
    }
    search.groups
}

struct Search<'n> {
    needs: &'n [Vec<usize>],
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    groups: Vec<Group>,
}

impl Search<'_> {
    /// Goes down from a block, with a list of its own instead of recursion: chains may be long.
    fn visit(&mut self, start: usize) {
        if self.index[start].is_some() {
            return;
        }
        let mut way = vec![(start, 0)];
        self.enter(start);
        while let Some((block, child)) = way.pop() {
            match self.needs[block].get(child) {
                Some(&needed) => {
                    way.push((block, child + 1));
                    if self.index[needed].is_none() {
                        self.enter(needed);
                        way.push((needed, 0));
                    } else if self.on_stack[needed] {
                        let index = self.index[needed].unwrap_or(0);
                        self.low[block] = self.low[block].min(index);
                    }
                }
                None => {
                    if let Some((parent, _)) = way.last() {
                        self.low[*parent] = self.low[*parent].min(self.low[block]);
                    }
                    self.leave(block);
                }
            }
        }
    }

    fn enter(&mut self, block: usize) {
        self.index[block] = Some(self.next);
        self.low[block] = self.next;
        self.next += 1;
        self.stack.push(block);
        self.on_stack[block] = true;
    }

    /// A block from which nothing earlier is reached closes a group.
    fn leave(&mut self, block: usize) {
        if Some(self.low[block]) != self.index[block] {
            return;
        }
        let at = self.stack.iter().rposition(|b| *b == block).unwrap_or(0);
        let mut blocks = self.stack.split_off(at);
        for b in &blocks {
            self.on_stack[*b] = false;
        }
        blocks.sort_unstable();
        let is_loop = blocks.len() > 1 || self.needs[block].contains(&block);
        self.groups.push(Group { blocks, is_loop });
    }
}
