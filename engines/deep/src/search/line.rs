//! The positions of the game and of the line being looked at, and what it means that one comes back.

use rsshogi::board::{Position, zobrist::ZobristKey};
use usi_shell::Game;

use super::{Proven, proof::Proof};

#[derive(Clone, Copy, Debug)]
struct Seen {
    key: ZobristKey,
    /// The side to move is in check.
    check: bool,
}

/// The positions from the beginning of the game to the one being looked at.
#[derive(Clone, Debug)]
pub struct Line {
    seen: Vec<Seen>,
    /// Where the root is.
    root: usize,
}

impl Line {
    /// The line of a game so far.
    pub fn new(game: &Game) -> Self {
        let mut position = game.start().clone();
        let mut seen = vec![Seen::of(&position)];
        for &mv in game.moves() {
            if position.try_apply_move32(mv).is_err() {
                break;
            }
            seen.push(Seen::of(&position));
        }
        Self { root: seen.len() - 1, seen }
    }

    /// Adds the position after a move.
    pub fn push(&mut self, position: &Position) {
        self.seen.push(Seen::of(position));
    }

    /// Goes back to the root.
    pub fn rewind(&mut self) {
        self.seen.truncate(self.root + 1);
    }

    /// How often the last position was there before.
    pub fn times_before(&self) -> u8 {
        self.earlier().count().min(3) as u8
    }

    /// What the return of the last position means for the player to move, if it ends the game.
    ///
    /// The fourth occurrence ends it, by the rules: a draw, or a loss for the side that has given nothing but checks
    /// since the first. The first return of a position after the root is taken for that too: who can force one return
    /// can force the others, and all that could be done otherwise is in the tree. A position before the root may have
    /// been left otherwise by a choice that the tree does not have, so its return counts for what it is.
    pub fn ended(&self) -> Option<Proof> {
        let mut earlier = self.earlier();
        let latest = earlier.next()?;
        if latest >= self.root {
            return Some(Proof { result: self.judge(latest), by_return: true });
        }
        let first = earlier.nth(1)?;
        Some(Proof::firm(self.judge(first)))
    }

    /// Earlier occurrences of the last position, the latest first. Only every other position has the same side to move.
    fn earlier(&self) -> impl Iterator<Item = usize> + '_ {
        let last = self.seen.len() - 1;
        let key = self.seen[last].key;
        (0..last).rev().skip(1).step_by(2).filter(move |&index| self.seen[index].key == key)
    }

    fn judge(&self, from: usize) -> Proven {
        let only_checks = |from: usize| self.seen[from..].iter().step_by(2).all(|seen| seen.check);
        match (only_checks(from + 2), only_checks(from + 1)) {
            (true, false) => Proven::Win(0),
            (false, true) => Proven::Loss(0),
            _ => Proven::Draw,
        }
    }
}

impl Seen {
    fn of(position: &Position) -> Self {
        Self { key: position.key(), check: position.is_in_check() }
    }
}
