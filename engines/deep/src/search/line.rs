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

#[cfg(test)]
mod tests {
    use super::*;

    /// The first round of checks takes a pawn, so it is no cycle yet.
    const SETUP: &str = "7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a 3c4c 5b5a 4c3c 5a5b ";
    const CHECKS: &str = "3c4c 5b5a 4c3c 5a5b ";

    /// What the last position means after moves of a game and moves of a search.
    fn ended(game: &str, search: &str) -> Option<Proof> {
        let game = Game::parse(&format!("position startpos moves {game}")).unwrap();
        let mut line = Line::new(&game);
        let mut position = game.position().clone();
        for mv in search.split_whitespace() {
            position.try_apply_move32(position.move32_from_usi(mv).unwrap()).unwrap();
            line.push(&position);
        }
        let found = line.ended();
        line.rewind();
        assert_eq!(line.ended().is_some(), Line::new(&game).ended().is_some());
        found
    }

    fn by_return(result: Proven) -> Option<Proof> {
        Some(Proof { result, by_return: true })
    }

    #[test]
    fn a_position_that_comes_back_in_the_search_is_a_draw() {
        assert_eq!(ended("7g7f", "5a5b 5i5h 5b5a"), None);
        assert_eq!(ended("7g7f", "5a5b 5i5h 5b5a 5h5i"), by_return(Proven::Draw));
    }

    #[test]
    fn of_the_game_only_the_fourth_occurrence_counts() {
        let shuffle = "5i5h 5a5b 5h5i 5b5a ";
        assert_eq!(ended(&(shuffle.to_owned() + "5i5h 5a5b 5h5i"), "5b5a"), None);
        let thrice = shuffle.repeat(2) + "5i5h 5a5b 5h5i";
        assert_eq!(ended(&thrice, "5b5a"), Some(Proof::firm(Proven::Draw)));
    }

    #[test]
    fn perpetual_check_loses_for_the_side_that_gives_it_whoever_completes_the_cycle() {
        // Black, to move again, has given check with every move.
        assert_eq!(ended(SETUP, CHECKS), by_return(Proven::Loss(0)));
        let checked = SETUP.to_owned() + "3c4c";
        assert_eq!(ended(&checked, "5b5a 4c3c 5a5b 3c4c"), by_return(Proven::Win(0)));
        let thrice = SETUP.to_owned() + &CHECKS.repeat(2);
        assert_eq!(ended(&thrice, "3c4c"), Some(Proof::firm(Proven::Win(0))));
    }

    #[test]
    fn one_quiet_move_makes_it_a_draw() {
        let after = SETUP.to_owned() + "3c4c 5b5a 4c3c 5a5b 6i6h 6a6b";
        assert_eq!(ended(&after, "3c4c 5b5a 4c3c 5a5b 6h6i 6b6a 6i6h 6a6b"), by_return(Proven::Draw));
    }

    #[test]
    fn earlier_occurrences_are_counted_for_the_network() {
        let game = Game::parse("position startpos moves 5i5h 5a5b 5h5i 5b5a").unwrap();
        assert_eq!(Line::new(&game).times_before(), 1);
        assert_eq!(Line::new(&Game::startpos()).times_before(), 0);
    }
}
