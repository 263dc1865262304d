//! The search for a mate: by checks alone, depth first in the order of proof numbers (df-pn).

use rsshogi::{
    board::{
        LegalAll, Move32List, MoveList, Position, generate_moves, movegen::generate_checks_all_move32,
        zobrist::ZobristKey,
    },
    types::{Move, Move32},
};
use std::collections::HashMap;
use usi_shell::Checkmate;

/// A number that is never reached: the position is lost for its side to move, or cannot be.
const NEVER: u32 = u32::MAX / 4;
/// Positions that are remembered; beyond that all are forgotten.
const KNOWN: usize = 1 << 20;
/// Longest line.
const LONGEST: usize = 255;
/// Positions between two looks at the clock.
const GLANCE: u64 = 512;

/// Of the side to move: what is at least left to show that it succeeds, the attacker by a mate and the defender by none, and
/// that it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    succeeds: u32,
    fails: u32,
}

const UNKNOWN: Numbers = Numbers { succeeds: 1, fails: 1 };
const FAILED: Numbers = Numbers { succeeds: NEVER, fails: 0 };
const SUCCEEDED: Numbers = Numbers { succeeds: 0, fails: NEVER };

struct Solver<'a> {
    position: Position,
    /// The numbers of positions; of those that are decided, also how long they last.
    known: HashMap<ZobristKey, (Numbers, u16)>,
    /// The positions before this one.
    path: Vec<ZobristKey>,
    nodes: u64,
    is_stopped: &'a dyn Fn() -> bool,
    stopped: bool,
}

/// Searches for a mate by the side to move.
pub fn solve(position: &Position, is_stopped: &dyn Fn() -> bool) -> Checkmate {
    let known = HashMap::new();
    let mut solver =
        Solver { position: position.clone(), known, path: vec![], nodes: 0, is_stopped, stopped: false };
    let found = solver.search(true, Numbers { succeeds: NEVER, fails: NEVER });
    match found {
        SUCCEEDED => Checkmate::Moves(solver.line()),
        FAILED => Checkmate::NoMate,
        _ => Checkmate::Timeout,
    }
}

impl Solver<'_> {
    /// Checks of the attacker, or all moves of the defender.
    fn moves(&self, attacks: bool) -> Vec<Move32> {
        if attacks {
            let mut checks = Move32List::new();
            generate_checks_all_move32(&self.position, &mut checks);
            return checks.iter().copied().filter(|mv| self.position.is_legal_move32(*mv)).collect();
        }
        let mut moves = MoveList::new();
        generate_moves::<LegalAll>(&self.position, &mut moves);
        moves.iter().map(|mv| self.position.move32_from_move(*mv)).collect()
    }

    /// What is known of the position after a move, from the side that moves there. One that comes again is no mate.
    fn after(&self, key: ZobristKey, attacks: bool) -> Numbers {
        match self.path.contains(&key) {
            true if attacks => SUCCEEDED,
            true => FAILED,
            false => self.known.get(&key).map_or(UNKNOWN, |(numbers, _)| *numbers),
        }
    }

    /// Searches the position until one of its numbers reaches its limit.
    fn search(&mut self, attacks: bool, limits: Numbers) -> Numbers {
        self.nodes += 1;
        self.stopped |= self.nodes.is_multiple_of(GLANCE) && (self.is_stopped)();
        let key = self.position.key();
        if self.stopped {
            return UNKNOWN;
        }
        if self.path.len() >= LONGEST {
            // A line that is too long shows no mate.
            return self.keep(key, if attacks { FAILED } else { SUCCEEDED }, 0);
        }
        let children: Vec<(Move32, ZobristKey)> = self
            .moves(attacks)
            .into_iter()
            .map(|mv| (mv, self.with(mv, |solver| solver.position.key())))
            .collect();
        self.path.push(key);
        let found = loop {
            let (mut found, mut best, mut second) = (FAILED, None, NEVER);
            for (mv, child) in &children {
                let after = self.after(*child, attacks);
                found.fails = found.fails.saturating_add(after.succeeds).min(NEVER);
                if after.fails < found.succeeds {
                    second = found.succeeds;
                    (found.succeeds, best) = (after.fails, Some((*mv, after)));
                } else {
                    second = second.min(after.fails);
                }
            }
            let Some((mv, after)) = best else { break found };
            if found.succeeds >= limits.succeeds
                || found.fails >= limits.fails
                || found.succeeds == 0
                || self.stopped
            {
                break found;
            }
            let limits = Numbers {
                succeeds: limits.fails.saturating_sub(found.fails - after.succeeds).min(NEVER),
                fails: limits.succeeds.min(second.saturating_add(1)),
            };
            self.with(mv, |solver| solver.search(!attacks, limits));
        };
        self.path.pop();
        if self.stopped {
            return found;
        }
        let lengths = |decided: Numbers| {
            let of = |(_, child): &(Move32, ZobristKey)| self.known.get(child).copied();
            children
                .iter()
                .filter_map(of)
                .filter(move |(numbers, _)| *numbers == decided)
                .map(|(_, length)| length + 1)
        };
        let length = match found {
            SUCCEEDED => lengths(FAILED).min(),
            FAILED => lengths(SUCCEEDED).max(),
            _ => None,
        };
        self.keep(key, found, length.unwrap_or(0))
    }

    fn keep(&mut self, key: ZobristKey, numbers: Numbers, length: u16) -> Numbers {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(key, (numbers, length));
        numbers
    }

    /// Does something after a move.
    fn with<T>(&mut self, mv: Move32, work: impl FnOnce(&mut Self) -> T) -> T {
        self.position.apply_move32(mv);
        let done = work(self);
        let undone = self.position.undo_move32(mv);
        debug_assert!(undone.is_ok(), "a move that was just played is taken back");
        done
    }

    /// The mating line of a position whose mate was found: the shortest that is known for the attacker, the longest for the
    /// defender.
    fn line(&mut self) -> Vec<Move> {
        let (mut line, mut attacks) = (vec![], true);
        while line.len() < LONGEST {
            let mut decided = vec![];
            for mv in self.moves(attacks) {
                let key = self.with(mv, |solver| solver.position.key());
                let wanted = if attacks { FAILED } else { SUCCEEDED };
                let length = self.known.get(&key).filter(|(numbers, _)| *numbers == wanted);
                decided.extend(length.map(|(_, length)| (*length, mv)));
            }
            let by_length = |(length, _): &(u16, Move32)| *length;
            let next = match attacks {
                true => decided.into_iter().min_by_key(by_length),
                false => decided.into_iter().max_by_key(by_length),
            };
            let Some((_, mv)) = next else { break };
            line.push(Move::from(mv));
            self.position.apply_move32(mv);
            attacks = !attacks;
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(sfen: &str) -> Checkmate {
        rsshogi::board::init();
        solve(&Position::from_sfen(sfen).unwrap(), &|| false)
    }

    /// Plays a line, and says whether it ends in mate with checks alone.
    fn mates(sfen: &str, moves: &[Move]) -> bool {
        let mut position = Position::from_sfen(sfen).unwrap();
        for (at, mv) in moves.iter().enumerate() {
            let mv = position.move32_from_move(*mv);
            assert!(position.is_legal_move32(mv));
            position.apply_move32(mv);
            assert!(at % 2 == 1 || position.is_in_check());
        }
        position.is_mated()
    }

    #[test]
    fn a_mate_is_found_and_none_where_there_is_none() {
        for (sfen, plies) in [
            ("7k1/9/7G1/9/9/9/9/9/4K4 b G 1", 1),
            ("8k/9/9/7P1/9/9/9/9/4K4 b R2G 1", 3),
            ("7nl/5k1p1/6p2/7P1/4G4/9/9/9/4K4 b R2G 1", 7),
        ] {
            let Checkmate::Moves(line) = solved(sfen) else { panic!("{sfen}: {}", solved(sfen)) };
            assert!(mates(sfen, &line) && line.len() == plies, "{sfen}: {line:?}");
        }
        for sfen in [
            "4k4/9/9/9/9/9/9/9/4K4 b P 1",
            "4k4/9/4P4/9/9/9/9/9/4K4 b - 1",
            // A mate by the drop of a pawn is no move.
            "7nk/7sl/9/8L/9/9/9/9/4K4 b P 1",
        ] {
            assert_eq!(solved(sfen), Checkmate::NoMate, "{sfen}");
        }
        let far = Position::from_sfen("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b 2R2B4G 1")
            .unwrap();
        assert_eq!(solve(&far, &|| true), Checkmate::Timeout);
    }
}
