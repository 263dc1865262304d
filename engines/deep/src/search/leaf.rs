//! Evaluation of a leaf by rules, short mate search and cache, before the network.

use rsshogi::{
    board::{MoveList, Position, zobrist::ZobristKey},
    movegen::{Legal, generate_moves},
    types::{Move, Move32},
};
use usi_shell::Path;

use super::{
    Proven, Terms,
    cache::{Cache, Known},
    mate,
    proof::Proof,
};

pub enum LeafResult {
    /// A terminal or proven position.
    Ended(Proof),
    /// The evaluation is in the cache.
    Known(Known),
    /// The network has to evaluate it; its moves were written into the buffer.
    Open {
        /// Number of earlier occurrences of the position.
        seen: u8,
        /// Its cache key.
        key: ZobristKey,
    },
}

/// Evaluates leaves below the root.
#[derive(Clone, Copy)]
pub struct LeafEvaluator<'a> {
    /// The rules.
    pub terms: &'a Terms,
    /// Depth of the mate search in plies.
    pub mate: u32,
    /// The evaluation cache.
    pub cache: &'a Cache,
}

impl LeafEvaluator<'_> {
    /// Evaluates the last position of the path. `moves` is a buffer for its legal moves, without useless non-promotions.
    pub fn evaluate(&self, position: &mut Position, line: &Path, moves: &mut Vec<Move>) -> LeafResult {
        if let Some(returned) = line.returned() {
            return LeafResult::Ended(Proof::of_return(returned));
        }
        let left = self.plies_left(position);
        let seen = line.seen();
        let key = cache_key(position, seen);
        if left > 0
            && let Some(known) = self.cache.get(key)
        {
            return LeafResult::Known(known);
        }
        if position.declaration_win_move() != Move32::MOVE_NONE {
            return LeafResult::Ended(Proof::firm(Proven::Win(1)));
        }
        legal(position, moves);
        if moves.is_empty() {
            return LeafResult::Ended(Proof::firm(Proven::Loss(0)));
        }
        if left == 0 {
            return LeafResult::Ended(Proof::firm(Proven::Draw));
        }
        match mate::short(position, self.mate.min(left)) {
            Some(plies) => LeafResult::Ended(Proof::firm(Proven::Win(plies))),
            None => LeafResult::Open { seen, key },
        }
    }

    /// Plies until the game is drawn by the maximum number of moves.
    fn plies_left(&self, position: &Position) -> u32 {
        match self.terms.max_moves {
            0 => u32::MAX,
            most => most.saturating_sub(u32::from(position.game_ply()).saturating_sub(1)),
        }
    }
}

/// Writes the moves that the search considers into a buffer.
pub fn legal(position: &Position, into: &mut Vec<Move>) {
    let mut moves = MoveList::new();
    generate_moves::<Legal>(position, &mut moves);
    into.clear();
    into.extend_from_slice(moves.as_slice());
}

/// The cache key of an evaluation: everything the network sees.
pub fn cache_key(position: &Position, seen: u8) -> ZobristKey {
    position.key() ^ ZobristKey::new(u64::from(seen).wrapping_mul(0x9e37_79b9_7f4a_7c15), u64::from(seen))
}

/// An evaluation in the format of tree and cache, sorted by descending prior, so that unvisited moves come
/// last.
pub fn known(moves: &[Move], priors: &[f32], value: f32) -> Known {
    let scale = f32::from(u16::MAX);
    // To the nearest: exact in 64 bits, and without a call of a library.
    let prior = |prior: &f32| ((f64::from(prior * scale) + 0.5) as u16).max(1);
    // Equal priors keep the order of the moves: their numbers are the lower halves of what is sorted.
    let mut order: Vec<u32> = priors
        .iter()
        .take(moves.len())
        .zip(0..)
        .map(|(number, nth)| u32::from(u16::MAX - prior(number)) << 16 | nth)
        .collect();
    order.sort_unstable();
    let ranked = |packed: &u32| (moves[(packed & 0xffff) as usize], u16::MAX - (packed >> 16) as u16);
    Known { value, moves: order.iter().map(ranked).collect() }
}
