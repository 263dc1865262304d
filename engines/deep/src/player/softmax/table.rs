//! The transposition table: evaluations by position, independent of the path. Path-dependent results, such as
//! those of repetitions, are never stored.

use crate::{evaluator::Answer, search::Proven};
use rsshogi::{board::Position, types::Move32};
use std::collections::{HashMap, HashSet, hash_map::Entry};

impl Edge {
    /// `prior` is in the fixed-point format of a node.
    pub(super) fn new(mv: Move32, prior: u16, key: Key) -> Self {
        Self { mv, log_prior: ((f32::from(prior) + 0.5) / 65536.0).ln(), key }
    }
}

/// The key of a position.
pub(super) type Key = (u64, u64);

/// Bytes of a node with its hash table slot; after growing, half of the slots are empty.
const NODE_BYTES: usize = 2 * (size_of::<(Key, Node)>() + 1);

/// A move and the key of the position after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) mv: Move32,
    /// Logarithm of its prior.
    pub(super) log_prior: f32,
    pub(super) key: Key,
}

/// The entry of a position.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Win probability of the side to move; `None` while its evaluation is pending.
    pub(super) value: Option<f32>,
    /// A proven win or loss of the side to move.
    pub(super) proof: Option<Proven>,
    /// Priors of the legal moves, until the node is expanded.
    pub(super) priors: Box<[u16]>,
    /// The legal moves, once the node is expanded.
    pub(super) edges: Option<Box<[Edge]>>,
}

pub(super) struct Table {
    nodes: HashMap<Key, Node>,
    edges: usize,
    priors: usize,
    memory: usize,
}

pub(super) fn key(position: &Position) -> Key {
    let key = position.key();
    (key.low_u64(), key.high_u64())
}

impl Node {
    pub(super) fn proven(proof: Proven) -> Self {
        let value = if matches!(proof, Proven::Win(_)) { 1.0 } else { 0.0 };
        Self { value: Some(value), proof: Some(proof), ..Self::default() }
    }
}

impl Table {
    /// A table with this capacity in bytes.
    pub(super) fn new(memory: usize) -> Self {
        Self { nodes: HashMap::new(), edges: 0, priors: 0, memory }
    }

    pub(super) fn clear(&mut self) {
        self.nodes = HashMap::new();
        (self.edges, self.priors) = (0, 0);
    }

    pub(super) fn get(&self, key: Key) -> Option<&Node> {
        self.nodes.get(&key)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Node> {
        self.nodes.get_mut(&key)
    }

    /// Inserts an entry for a new position.
    pub(super) fn vacant(&mut self, key: Key) -> Option<&mut Node> {
        match self.nodes.entry(key) {
            Entry::Vacant(place) => Some(place.insert(Node::default())),
            Entry::Occupied(_) => None,
        }
    }

    pub(super) fn open(&mut self, key: Key, edges: Vec<Edge>) {
        if let Some(node) = self.nodes.get_mut(&key) {
            self.edges += edges.len();
            self.priors -= std::mem::take(&mut node.priors).len();
            node.edges = Some(edges.into_boxed_slice());
        }
    }

    /// Stores the evaluation of a position.
    pub(super) fn learn(&mut self, key: Key, answer: &Answer) {
        if let Some(node) = self.nodes.get_mut(&key) {
            node.value = Some(answer.value);
            if node.edges.is_none() {
                self.priors = self.priors + answer.priors.len() - node.priors.len();
                node.priors = answer.priors.iter().map(|prior| (prior * 65535.0) as u16).collect();
            }
        }
    }

    /// Occupancy in permille.
    pub(super) fn fullness(&self) -> u32 {
        let bytes = self.nodes.len() * NODE_BYTES + self.edges * size_of::<Edge>() + self.priors * 2;
        u32::try_from(bytes.saturating_mul(1000) / self.memory.max(1)).unwrap_or(u32::MAX)
    }

    /// Removes the entries whose evaluation was pending when the last search ended, and the moves of the positions before
    /// them, which grow again; all entries if the table is half full.
    pub(super) fn begin_search(&mut self) {
        if self.fullness() > 500 {
            return self.clear();
        }
        let all = &self.nodes;
        let pending: HashSet<Key> = all.keys().filter(|key| all[key].value.is_none()).copied().collect();
        self.nodes.retain(|key, node| {
            let waits = |edges: &mut Box<[Edge]>| edges.iter().any(|edge| pending.contains(&edge.key));
            self.edges -= node.edges.take_if(waits).map_or(0, |edges| edges.len());
            !pending.contains(key)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_with_pending_evaluations_is_unexpanded() {
        let mut table = Table::new(1 << 20);
        let answer = Answer { value: 0.5, priors: Vec::new() };
        for key in [1, 2, 3, 4] {
            table.vacant((key, 0)).unwrap();
        }
        for key in [1, 2, 4] {
            table.learn((key, 0), &answer);
        }
        let edge = |to| Edge::new(Move32::MOVE_NONE, 0, (to, 0));
        table.open((1, 0), vec![edge(2), edge(3)]);
        // 5 was cut.
        table.open((2, 0), vec![edge(4), edge(5)]);
        table.begin_search();
        assert!(table.get((1, 0)).unwrap().edges.is_none());
        assert!(table.get((2, 0)).unwrap().edges.is_some());
        assert!(table.get((3, 0)).is_none());
        assert_eq!(table.edges, 2);
    }

    #[test]
    fn a_table_that_is_half_full_begins_again() {
        let mut table = Table::new(100_000);
        let mut key = 0;
        while table.fullness() <= 500 {
            table.vacant((key, 0)).unwrap();
            table.learn((key, 0), &Answer { value: 0.5, priors: Vec::new() });
            key += 1;
        }
        table.begin_search();
        assert_eq!(table.fullness(), 0);
    }

    #[test]
    fn fullness_grows_with_what_is_kept() {
        let mut table = Table::new(100_000);
        assert!((0..500).all(|key| table.vacant((key, 0)).is_some()));
        let before = table.fullness();
        table.open((1, 0), vec![Edge::new(Move32::MOVE_NONE, 0, (2, 0)); 100]);
        assert!(before > 200 && table.fullness() > before + 20, "{before} {}", table.fullness());
    }
}
