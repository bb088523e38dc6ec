//! The tree of boxes while it grows.

use super::region::Region;
use crate::reduced_model::{BoxModel, DropReason, TreeNode};

/// Index of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(usize);

enum Node {
    Open,
    Split {
        axis: usize,
        at: f64,
        low: NodeId,
        high: NodeId,
    },
    Leaf(Box<BoxModel>),
    Dropped(DropReason),
}

/// A binary tree; node 0 is the domain.
pub(super) struct BoxTree {
    nodes: Vec<Node>,
}

impl BoxTree {
    pub fn new() -> (Self, NodeId) {
        (
            Self {
                nodes: vec![Node::Open],
            },
            NodeId(0),
        )
    }

    pub fn split(&mut self, node: NodeId, region: &Region, axis: usize) -> (NodeId, NodeId) {
        let (low, high) = (NodeId(self.nodes.len()), NodeId(self.nodes.len() + 1));
        self.nodes.extend([Node::Open, Node::Open]);
        self.nodes[node.0] = Node::Split {
            axis,
            at: region.middle(axis),
            low,
            high,
        };
        (low, high)
    }

    pub fn close(&mut self, node: NodeId, leaf: BoxModel) {
        self.nodes[node.0] = Node::Leaf(Box::new(leaf));
    }

    pub fn drop_region(&mut self, node: NodeId, reason: DropReason) {
        self.nodes[node.0] = Node::Dropped(reason);
    }

    /// Number of finished boxes.
    pub fn n_leaves(&self) -> usize {
        self.nodes
            .iter()
            .filter(|n| matches!(n, Node::Leaf(_)))
            .count()
    }

    /// Number of nodes that are not split.
    pub fn n_ends(&self) -> usize {
        let is_end = |n: &&Node| !matches!(n, Node::Split { .. });
        self.nodes.iter().filter(is_end).count()
    }

    /// The same below a node.
    pub fn n_ends_below(&self, node: NodeId) -> usize {
        match &self.nodes[node.0] {
            Node::Split { low, high, .. } => self.n_ends_below(*low) + self.n_ends_below(*high),
            _ => 1,
        }
    }

    /// Coefficients of finished boxes.
    pub fn stored_numbers(&self) -> usize {
        let stored = |node: &Node| match node {
            Node::Leaf(b) => b.dynamics.stored() + b.outputs.stored(),
            _ => 0,
        };
        self.nodes.iter().map(stored).sum()
    }

    /// Finished boxes.
    pub fn leaves(&self) -> Vec<(NodeId, Region)> {
        let leaf = |(i, node): (usize, &Node)| match node {
            Node::Leaf(b) => Some((
                NodeId(i),
                Region {
                    lower: b.lower.clone(),
                    upper: b.upper.clone(),
                },
            )),
            _ => None,
        };
        self.nodes.iter().enumerate().filter_map(leaf).collect()
    }

    /// Nodes whose two children are both leaves, with those leaves.
    pub fn pairs(&self) -> Vec<(NodeId, &BoxModel, &BoxModel)> {
        let pair = |(i, node): (usize, &Node)| match node {
            Node::Split { low, high, .. } => match (&self.nodes[low.0], &self.nodes[high.0]) {
                (Node::Leaf(a), Node::Leaf(b)) => Some((NodeId(i), a.as_ref(), b.as_ref())),
                _ => None,
            },
            _ => None,
        };
        self.nodes.iter().enumerate().filter_map(pair).collect()
    }

    /// Plain nodes and boxes, breadth first; nodes that were merged away are left out. No node is
    /// open any more.
    pub fn into_parts(mut self) -> (Vec<TreeNode>, Vec<BoxModel>) {
        let mut order = vec![0];
        let (mut tree, mut boxes) = (Vec::new(), Vec::new());
        let mut next = 0;
        while next < order.len() {
            match std::mem::replace(&mut self.nodes[order[next]], Node::Open) {
                Node::Split {
                    axis,
                    at,
                    low,
                    high,
                } => {
                    tree.push(TreeNode::Split {
                        axis,
                        at,
                        low: order.len(),
                        high: order.len() + 1,
                    });
                    order.extend([low.0, high.0]);
                }
                Node::Leaf(leaf) => {
                    tree.push(TreeNode::Leaf { index: boxes.len() });
                    boxes.push(*leaf);
                }
                Node::Dropped(reason) => tree.push(TreeNode::Dropped { reason }),
                Node::Open => unreachable!("refinement ends when no box is open"),
            }
            next += 1;
        }
        (tree, boxes)
    }
}
