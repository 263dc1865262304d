//! What is known of positions, by position: lines that meet share it. What depends on how a position came about, as
//! repetition does, is never kept here.

use rsshogi::{board::Position, types::Move32};
use std::collections::{HashMap, hash_map::Entry};

/// A position.
pub(super) type Key = (u64, u64);

/// Bytes of a node with its place in the table, half of which is free when it has just grown.
const NODE_BYTES: usize = 2 * (size_of::<(Key, Node)>() + 1);

/// A proven result for the player to move, in so many plies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Win(u32),
    Loss(u32),
}

/// A move, and the position that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) mv: Move32,
    pub(super) key: Key,
}

/// What is known of one position.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The chance to win of the player to move; `None` while the network is being asked.
    pub(super) value: Option<f32>,
    pub(super) proof: Option<Proof>,
    /// All legal moves, once somebody looked beyond.
    pub(super) edges: Option<Box<[Edge]>>,
}

/// All positions that are known.
pub(super) struct Table {
    nodes: HashMap<Key, Node>,
    edges: usize,
    memory: usize,
}

pub(super) fn key(position: &Position) -> Key {
    let key = position.key();
    (key.low_u64(), key.high_u64())
}

impl Node {
    pub(super) fn proven(proof: Proof) -> Self {
        let value = if matches!(proof, Proof::Win(_)) { 1.0 } else { 0.0 };
        Self { value: Some(value), proof: Some(proof), edges: None }
    }
}

impl Table {
    /// A table that takes so many bytes.
    pub(super) fn new(memory: usize) -> Self {
        Self { nodes: HashMap::new(), edges: 0, memory }
    }

    pub(super) fn clear(&mut self) {
        self.nodes = HashMap::new();
        self.edges = 0;
    }

    pub(super) fn get(&self, key: Key) -> Option<&Node> {
        self.nodes.get(&key)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Node> {
        self.nodes.get_mut(&key)
    }

    /// The place of a position that is not known yet.
    pub(super) fn vacant(&mut self, key: Key) -> Option<&mut Node> {
        match self.nodes.entry(key) {
            Entry::Vacant(place) => Some(place.insert(Node::default())),
            Entry::Occupied(_) => None,
        }
    }

    pub(super) fn open(&mut self, key: Key, edges: Vec<Edge>) {
        if let Some(node) = self.nodes.get_mut(&key) {
            self.edges += edges.len();
            node.edges = Some(edges.into_boxed_slice());
        }
    }

    /// How full it is, in permille.
    pub(super) fn fullness(&self) -> u32 {
        let bytes = self.nodes.len() * NODE_BYTES + self.edges * size_of::<Edge>();
        u32::try_from(bytes.saturating_mul(1000) / self.memory.max(1)).unwrap_or(u32::MAX)
    }

    /// Forgets what cannot be reached from `root` any more, and what was being asked when a search ended.
    pub(super) fn keep_from(&mut self, root: Key) {
        let mut all = std::mem::take(&mut self.nodes);
        self.edges = 0;
        all.retain(|_, node| node.value.is_some());
        let mut ahead = vec![root];
        while let Some(key) = ahead.pop() {
            let Some(mut node) = all.remove(&key) else { continue };
            let whole = |edges: &[Edge]| {
                edges.iter().all(|edge| {
                    all.contains_key(&edge.key) || self.nodes.contains_key(&edge.key) || edge.key == key
                })
            };
            match node.edges.as_deref().filter(|edges| whole(edges)) {
                Some(edges) => {
                    self.edges += edges.len();
                    ahead.extend(edges.iter().map(|edge| edge.key));
                }
                None => node.edges = None,
            }
            self.nodes.insert(key, node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(edges: &[u64]) -> Node {
        let edge = |&to: &u64| Edge { mv: Move32::MOVE_NONE, key: (to, 0) };
        let edges = (!edges.is_empty()).then(|| edges.iter().map(edge).collect());
        Node { value: Some(0.5), proof: None, edges }
    }

    fn table(nodes: &[(u64, &[u64])]) -> Table {
        let mut table = Table::new(1 << 20);
        for (key, edges) in nodes {
            *table.vacant((*key, 0)).unwrap() = node(edges);
        }
        table
    }

    #[test]
    fn what_the_game_has_left_behind_is_forgotten() {
        let mut table = table(&[(1, &[2, 3]), (2, &[4, 1]), (3, &[]), (4, &[])]);
        table.keep_from((2, 0));
        // 1 can be reached again, and with it 3.
        assert_eq!((1..=4).filter(|&key| table.get((key, 0)).is_some()).count(), 4);
        table.keep_from((4, 0));
        assert_eq!((1..=4).filter(|&key| table.get((key, 0)).is_some()).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn a_position_whose_moves_were_still_being_asked_is_closed_again() {
        let mut table = table(&[(1, &[2, 3]), (2, &[])]);
        table.vacant((3, 0)).unwrap();
        table.keep_from((1, 0));
        assert!(table.get((1, 0)).unwrap().edges.is_none());
        assert!(table.get((3, 0)).is_none());
        assert_eq!(table.edges, 0);
    }

    #[test]
    fn fullness_grows_with_what_is_kept() {
        let mut table = Table::new(100_000);
        assert!((0..500).all(|key| table.vacant((key, 0)).is_some()));
        let before = table.fullness();
        table.open((1, 0), vec![Edge { mv: Move32::MOVE_NONE, key: (2, 0) }; 100]);
        assert!(before > 200 && table.fullness() > before + 20, "{before} {}", table.fullness());
    }
}
