//! Repetition detection (sennichite, perpetual check) over the positions of the game and of the line being
//! searched.

use rsshogi::board::Position;

/// The result of a repetition, from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Sennichite without perpetual check: a draw at the fourth occurrence.
    Draw,
    /// Every move of the opponent in the cycle was a check, so the opponent loses.
    Win,
    /// Every move of the side to move in the cycle was a check, so it loses.
    Loss,
}

/// A repetition as the search scores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The result.
    pub means: Repetition,
    /// True if the rules end the game here (fourth occurrence). Otherwise the search scores an earlier
    /// occurrence as the fourth, which holds only for searches from the same root: once the game itself has
    /// passed the position, its first repetition ends nothing.
    pub by_rule: bool,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    key: u64,
    /// True if the side to move is in check.
    check: bool,
}

/// The positions from the start of the game to the node being searched.
///
/// A search scores the first repetition of a position as if it were the fourth occurrence: a side that can
/// force the first repetition can force the others, and a side that has something better finds it before. After
/// [`mark_root`](Self::mark_root) this holds only for positions from the root on: at a position before the root
/// the players had choices that are not in the search tree, so its repetitions are counted as the rules count
/// them.
#[derive(Clone, Debug)]
pub struct Path {
    seen: Vec<Seen>,
    /// Number of positions of the path per value of the low key bits. It is nearly always 0, and then the scan
    /// for an earlier occurrence is skipped.
    crowd: Vec<u8>,
    /// Index of the first position after the last null move; earlier positions cannot be repeated.
    floor: usize,
    /// Index of the first position whose first repetition is scored as the fourth occurrence.
    root: usize,
}

const CROWD: usize = 1 << 14;

impl Path {
    /// A path that begins with `start`.
    #[must_use]
    pub fn new(start: &Position) -> Self {
        let mut path = Self { seen: Vec::with_capacity(512), crowd: vec![0; CROWD], floor: 0, root: 0 };
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

    /// Makes the last position the root of a search.
    pub fn mark_root(&mut self) {
        self.root = self.seen.len() - 1;
    }

    /// Adds the position after a null move. Returns the value to pass to [`pop_null`](Self::pop_null).
    #[inline]
    pub fn push_null(&mut self, position: &Position) -> usize {
        let floor = std::mem::replace(&mut self.floor, self.seen.len());
        self.push(position);
        floor
    }

    /// Removes the last position.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(seen) = self.seen.pop() {
            let crowd = &mut self.crowd[seen.key as usize % CROWD];
            // A saturated counter has lost its exact value, so it stays saturated.
            if *crowd != u8::MAX {
                *crowd -= 1;
            }
        }
    }

    /// Removes the position after a null move.
    #[inline]
    pub fn pop_null(&mut self, floor: usize) {
        self.pop();
        self.floor = floor;
    }

    /// True if the path has a position with these low key bits.
    #[must_use]
    #[inline]
    pub fn meets(&self, key: u64) -> bool {
        self.crowd[key as usize % CROWD] > 0 && self.seen[self.floor..].iter().any(|seen| seen.key == key)
    }

    /// Number of earlier occurrences of the last position, at most 255.
    #[must_use]
    pub fn seen(&self) -> u8 {
        if self.is_new() { 0 } else { self.earlier().count().min(255) as u8 }
    }

    /// True if no other position of the path has the low key bits of the last one, so that it is no repetition.
    #[inline]
    fn is_new(&self) -> bool {
        self.seen.last().is_none_or(|last| self.crowd[last.key as usize % CROWD] < 2)
    }

    /// The repetition at the last position, from the side to move, or `None` if there is none that counts.
    #[must_use]
    #[inline]
    pub fn returned(&self) -> Option<Return> {
        if self.is_new() {
            return None;
        }
        let mut earlier = self.earlier();
        let latest = earlier.next()?;
        if latest >= self.root {
            return Some(Return { means: self.judge(latest), by_rule: false });
        }
        let first = earlier.nth(1)?;
        Some(Return { means: self.judge(first), by_rule: true })
    }

    /// Indices of earlier occurrences of the last position, latest first. Every second position has the same
    /// side to move.
    fn earlier(&self) -> impl Iterator<Item = usize> + '_ {
        let last = self.seen.len() - 1;
        let key = self.seen[last].key;
        (self.floor..last).rev().skip(1).step_by(2).filter(move |&index| self.seen[index].key == key)
    }

    /// The result of the cycle from the occurrence at `from` to the last position.
    fn judge(&self, from: usize) -> Repetition {
        let only_checks = |from: usize| self.seen[from..].iter().step_by(2).all(|seen| seen.check);
        match (only_checks(from + 2), only_checks(from + 1)) {
            (true, false) => Repetition::Win,
            (false, true) => Repetition::Loss,
            _ => Repetition::Draw,
        }
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

    /// The repetition after `moves` of a search from the start.
    fn kind(moves: &str) -> Option<Repetition> {
        let found = after(moves).1.returned();
        assert!(found.is_none_or(|found| !found.by_rule));
        found.map(|found| found.means)
    }

    /// The repetition after moves of a game and moves of a search from there.
    fn returned(game: &str, search: &str) -> Option<Return> {
        let (mut position, mut path) = after(game);
        path.mark_root();
        for mv in search.split_whitespace() {
            position.try_apply_move32(position.move32_from_usi(mv).unwrap()).unwrap();
            path.push(&position);
        }
        let found = path.returned();
        search.split_whitespace().for_each(|_| path.pop());
        let mut root = after(game).1;
        root.mark_root();
        assert_eq!((path.returned(), path.seen()), (root.returned(), root.seen()));
        found
    }

    fn by_rule(means: Repetition) -> Option<Return> {
        Some(Return { means, by_rule: true })
    }

    fn early(means: Repetition) -> Option<Return> {
        Some(Return { means, by_rule: false })
    }

    /// The first round of checks captures a pawn, so it is not part of a cycle.
    const SETUP: &str = "7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a 3c4c 5b5a 4c3c 5a5b ";
    const CHECKS: &str = "3c4c 5b5a 4c3c 5a5b ";
    const SHUFFLE: &str = "5i5h 5a5b 5h5i 5b5a ";

    #[test]
    fn a_repeated_position_is_a_draw() {
        assert_eq!(kind("5i5h 5a5b 5h5i"), None);
        assert_eq!(kind(SHUFFLE), Some(Repetition::Draw));
        assert_eq!(returned("7g7f", "5a5b 5i5h 5b5a"), None);
        assert_eq!(returned("7g7f", "5a5b 5i5h 5b5a 5h5i"), early(Repetition::Draw));
    }

    #[test]
    fn earlier_occurrences_are_counted() {
        assert_eq!(after("5i5h 5a5b 5h5i").1.seen(), 0);
        assert_eq!(after(SHUFFLE).1.seen(), 1);
        assert_eq!(after(&SHUFFLE.repeat(2)).1.seen(), 2);
        assert_eq!(after(&SHUFFLE.repeat(300)).1.seen(), 255);
    }

    #[test]
    fn before_the_root_only_the_fourth_occurrence_counts() {
        assert_eq!(returned(&(SHUFFLE.to_owned() + "5i5h 5a5b 5h5i"), "5b5a"), None);
        assert_eq!(returned(&(SHUFFLE.repeat(2) + "5i5h 5a5b 5h5i"), "5b5a"), by_rule(Repetition::Draw));
    }

    #[test]
    fn perpetual_check_loses_for_the_checking_side_whichever_move_completes_the_cycle() {
        // The cycle is completed by the king's move: the checking side is to move.
        assert_eq!(returned(SETUP, CHECKS), early(Repetition::Loss));
        assert_eq!(returned(&(SETUP.to_owned() + "3c4c"), "5b5a 4c3c 5a5b 3c4c"), early(Repetition::Win));
        assert_eq!(returned(&(SETUP.to_owned() + &CHECKS.repeat(2)), "3c4c"), by_rule(Repetition::Win));
        assert_eq!(kind(&(SETUP.to_owned() + CHECKS)), Some(Repetition::Loss));
    }

    #[test]
    fn one_quiet_move_makes_it_a_draw() {
        let quiet = SETUP.to_owned() + "3c4c 5b5a 4c3c 5a5b 6i6h 6a6b";
        assert_eq!(returned(&quiet, "3c4c 5b5a 4c3c 5a5b 6h6i 6b6a 6i6h 6a6b"), early(Repetition::Draw));
    }

    #[test]
    fn repetitions_do_not_cross_a_null_move() {
        let (mut position, mut path) = after("5i5h 5a5b 5h5i");
        position.apply_null_move().unwrap();
        let floor = path.push_null(&position);
        assert_eq!(path.returned(), None);
        position.undo_null_move().unwrap();
        path.pop_null(floor);
        let mv = position.move32_from_usi("5b5a").unwrap();
        position.try_apply_move32(mv).unwrap();
        path.push(&position);
        assert_eq!(path.returned(), early(Repetition::Draw));
    }

    #[test]
    fn undone_positions_do_not_count() {
        let (_, mut path) = after("5i5h 5a5b 5h5i 5b5a");
        path.pop();
        assert_eq!(path.returned(), None);
    }
}
