//! Repetition: the positions of the game and of the line being searched, for engines that search.

use rsshogi::board::Position;

/// What it means that a position comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Nobody forces it by checks: sennichite, once it has come back often enough.
    Draw,
    /// The side not to move has given nothing but checks, which loses.
    Win,
    /// The side to move has given nothing but checks, which loses.
    Loss,
}

#[derive(Clone, Copy)]
struct Seen {
    key: u64,
    /// The side to move is in check.
    check: bool,
}

/// The positions from the beginning of the game to the one being searched.
///
/// A search takes the first return of a position for what its fourth would be: who can force the first
/// can force the others, and who can do better will find that out before.
#[derive(Clone)]
pub struct Path {
    seen: Vec<Seen>,
    /// How many positions of the path share the low bits of a key: nearly always none, and then there is
    /// nothing to look for.
    crowd: Vec<u8>,
    /// Positions before this one cannot come back: a null move lies between.
    floor: usize,
}

const CROWD: usize = 1 << 14;

impl Path {
    /// A path that begins with `start`.
    #[must_use]
    pub fn new(start: &Position) -> Self {
        let mut path = Self { seen: Vec::with_capacity(512), crowd: vec![0; CROWD], floor: 0 };
        path.push(start);
        path
    }

    /// Adds the position after a move.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        let key = position.key().low_u64();
        self.seen.push(Seen { key, check: position.is_in_check() });
        let crowd = &mut self.crowd[key as usize % CROWD];
        *crowd = crowd.saturating_add(1);
    }

    /// Adds the position after a null move. The value is to be given back to [`pop_null`](Self::pop_null).
    #[inline]
    pub fn push_null(&mut self, position: &Position) -> usize {
        let floor = std::mem::replace(&mut self.floor, self.seen.len());
        self.push(position);
        floor
    }

    /// Takes back the last position.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(seen) = self.seen.pop() {
            let crowd = &mut self.crowd[seen.key as usize % CROWD];
            // One that has been full no longer knows its number, and stays full.
            if *crowd != u8::MAX {
                *crowd -= 1;
            }
        }
    }

    /// Takes back a null move.
    #[inline]
    pub fn pop_null(&mut self, floor: usize) {
        self.pop();
        self.floor = floor;
    }

    /// Whether a position with these low bits of its key is on the path.
    #[must_use]
    #[inline]
    pub fn meets(&self, key: u64) -> bool {
        self.crowd[key as usize % CROWD] > 0 && self.seen[self.floor..].iter().any(|seen| seen.key == key)
    }

    /// How often the last position was there before.
    #[must_use]
    pub fn seen(&self) -> usize {
        let last = self.seen.len() - 1;
        self.seen[self.floor..last].iter().filter(|seen| seen.key == self.seen[last].key).count()
    }

    /// Whether the last position was there before, and what that means for the side to move.
    #[must_use]
    #[inline]
    pub fn repetition(&self) -> Option<Repetition> {
        let last = self.seen.len() - 1;
        let key = self.seen[last].key;
        if self.crowd[key as usize % CROWD] < 2 {
            return None;
        }
        let before =
            (self.floor..last).rev().skip(1).step_by(2).find(|&index| self.seen[index].key == key)?;
        let only_checks = |from: usize| (from..=last).step_by(2).all(|index| self.seen[index].check);
        Some(match (only_checks(before + 2), only_checks(before + 1)) {
            (true, false) => Repetition::Win,
            (false, true) => Repetition::Loss,
            _ => Repetition::Draw,
        })
    }
}

#[cfg(test)]
mod tests {
    use rsshogi::board::hirate_position;

    use super::*;

    fn after(moves: &str) -> (Position, Path) {
        let mut position = hirate_position();
        position.init_stack();
        let mut path = Path::new(&position);
        for mv in moves.split_whitespace() {
            let mv = position.move32_from_usi(mv).unwrap();
            position.try_apply_move32(mv).unwrap();
            path.push(&position);
        }
        (position, path)
    }

    fn kind(moves: &str) -> Option<Repetition> {
        after(moves).1.repetition()
    }

    const SETUP: &str = "7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a ";

    #[test]
    fn a_position_that_comes_back_is_a_draw() {
        assert_eq!(kind("5i5h 5a5b 5h5i"), None);
        assert_eq!(kind("5i5h 5a5b 5h5i 5b5a"), Some(Repetition::Draw));
        assert_eq!(after("5i5h 5a5b 5h5i").1.seen(), 0);
        assert_eq!(after("5i5h 5a5b 5h5i 5b5a 5i5h 5a5b 5h5i 5b5a").1.seen(), 2);
    }

    #[test]
    fn perpetual_check_loses_for_the_side_that_gives_it_whoever_completes_the_cycle() {
        // The cycle closes with the king's move: the checking side is to move.
        let closed = SETUP.to_owned() + "3c4c 5b5a 4c3c 5a5b 3c4c 5b5a 4c3c 5a5b ";
        assert_eq!(kind(&closed), Some(Repetition::Loss));
        assert_eq!(kind(&(closed + "3c4c")), Some(Repetition::Win));
    }

    #[test]
    fn one_quiet_move_makes_it_a_draw() {
        let cycle = SETUP.to_owned() + "3c4c 5b5a 4c3c 5a5b 6i6h 6a6b 3c4c 5b5a 4c3c 5a5b 6h6i 6b6a ";
        assert_eq!(kind(&cycle), Some(Repetition::Draw));
    }

    #[test]
    fn nothing_comes_back_across_a_null_move() {
        let (mut position, mut path) = after("5i5h 5a5b 5h5i");
        position.apply_null_move().unwrap();
        let floor = path.push_null(&position);
        assert_eq!(path.repetition(), None);
        position.undo_null_move().unwrap();
        path.pop_null(floor);
        let mv = position.move32_from_usi("5b5a").unwrap();
        position.try_apply_move32(mv).unwrap();
        path.push(&position);
        assert_eq!(path.repetition(), Some(Repetition::Draw));
    }

    #[test]
    fn what_is_taken_back_does_not_count() {
        let (_, mut path) = after("5i5h 5a5b 5h5i 5b5a");
        path.pop();
        assert_eq!(path.repetition(), None);
    }
}
