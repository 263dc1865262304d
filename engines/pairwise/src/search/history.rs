//! History heuristics: scores of moves by their success in earlier cutoffs.

use rsshogi::types::{Color, Move, Move32, PieceType, Square};

/// Index of a piece (after the move, promotion included) and its target square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(usize);

impl PieceTo {
    /// Used where there is no preceding move.
    pub const NONE: Self = Self(0);
    const COUNT: usize = 32 * Square::COUNT;

    /// The index of `mv`.
    pub fn of(mv: Move32) -> Self {
        Self(mv.piece_after_move().to_index() * Square::COUNT + mv.to_index())
    }
}

/// Bound of the scores' absolute value.
pub const LIMIT: i32 = 8192;

/// A table of scores. An update moves a score towards its bound, by less the closer it is.
struct Scores(Vec<i16>);

impl Scores {
    fn new(size: usize) -> Self {
        Self(vec![0; size])
    }

    fn get(&self, index: usize) -> i32 {
        i32::from(self.0[index])
    }

    fn add(&mut self, index: usize, bonus: i32) {
        let old = i32::from(self.0[index]);
        self.0[index] = (old + bonus - old * bonus.abs() / LIMIT) as i16;
    }
}

/// The history tables of one thread.
pub struct History {
    from_to: Scores,
    captures: Scores,
    /// Continuation history: by an earlier move and the current one.
    continuation: Scores,
    /// True for the earlier moves that have a score there.
    continued: Vec<bool>,
    /// Counter moves: the last refutation of each move.
    refutations: Vec<Move>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            from_to: Scores::new(2 * Move32::FROM_TO_TABLE_SIZE),
            captures: Scores::new(PieceTo::COUNT * PieceType::COUNT),
            continuation: Scores::new(PieceTo::COUNT * PieceTo::COUNT),
            continued: vec![false; PieceTo::COUNT],
            refutations: vec![Move::MOVE_NONE; PieceTo::COUNT],
        }
    }
}

/// The moves one, two and four plies before a node.
pub type Before = [PieceTo; 3];

fn from_to(mv: Move32, side: Color) -> usize {
    side.to_index() * Move32::FROM_TO_TABLE_SIZE + mv.from_to_index().unwrap_or_default()
}

fn capture(mv: Move32, taken: PieceType) -> usize {
    PieceTo::of(mv).0 * PieceType::COUNT + taken.to_index()
}

const fn continuation(before: PieceTo, mv: PieceTo) -> usize {
    before.0 * PieceTo::COUNT + mv.0
}

impl History {
    /// Resets all tables.
    pub fn clear(&mut self) {
        for scores in [&mut self.from_to, &mut self.captures] {
            scores.0.fill(0);
        }
        // A short game uses little of its 13 MB; the system gives memory when it is written to.
        let rows = self.continuation.0.chunks_mut(PieceTo::COUNT);
        for (row, continued) in rows.zip(&mut self.continued) {
            if std::mem::take(continued) {
                row.fill(0);
            }
        }
        self.refutations.fill(Move::MOVE_NONE);
    }

    /// Ordering score of a quiet move.
    pub fn quiet(&self, mv: Move32, side: Color, before: &Before) -> i32 {
        let to = PieceTo::of(mv);
        let continued: i32 =
            before.iter().map(|&earlier| self.continuation.get(continuation(earlier, to))).sum();
        self.from_to.get(from_to(mv, side)) + continued
    }

    /// Ordering score of a capture.
    pub fn capture(&self, mv: Move32, taken: PieceType) -> i32 {
        self.captures.get(capture(mv, taken))
    }

    /// The counter move of the preceding move.
    pub fn refutation(&self, before: PieceTo) -> Move {
        self.refutations[before.0]
    }

    /// Updates the score of a quiet move: `bonus` > 0 after a cutoff, else < 0.
    pub fn note_quiet(&mut self, mv: Move32, side: Color, before: &Before, bonus: i32) {
        self.from_to.add(from_to(mv, side), bonus);
        self.note_continuation(mv, before, bonus);
    }

    /// Updates the continuation history of a quiet move.
    pub fn note_continuation(&mut self, mv: Move32, before: &Before, bonus: i32) {
        let to = PieceTo::of(mv);
        for &earlier in before.iter().filter(|&&earlier| earlier != PieceTo::NONE) {
            self.continuation.add(continuation(earlier, to), bonus);
            self.continued[earlier.0] = true;
        }
    }

    /// Updates the score of a capture: `bonus` > 0 after a cutoff, else < 0.
    pub fn note_capture(&mut self, mv: Move32, taken: PieceType, bonus: i32) {
        self.captures.add(capture(mv, taken), bonus);
    }

    /// Stores the counter move of the preceding move.
    pub fn note_refutation(&mut self, before: PieceTo, mv: Move32) {
        self.refutations[before.0] = mv.to_move();
    }
}

#[cfg(test)]
mod tests {
    use rsshogi::board::hirate_position;

    use super::*;

    #[test]
    fn bonuses_raise_and_lower_a_score_within_its_limit() {
        let mut history = History::default();
        let position = hirate_position();
        let good = position.move32_from_usi("7g7f").unwrap();
        let bad = position.move32_from_usi("1g1f").unwrap();
        let before = [PieceTo::of(bad), PieceTo::NONE, PieceTo::NONE];
        for _ in 0..1000 {
            history.note_quiet(good, Color::BLACK, &before, 1500);
            history.note_quiet(bad, Color::BLACK, &before, -1500);
        }
        let score = |mv| history.quiet(mv, Color::BLACK, &before);
        assert!(score(good) > LIMIT && score(good) <= 2 * LIMIT, "{}", score(good));
        assert!(score(bad) < -LIMIT && score(bad) >= -2 * LIMIT);
        assert_eq!(history.quiet(good, Color::WHITE, &[PieceTo::NONE; 3]), 0);
        history.clear();
        assert_eq!(history.quiet(good, Color::BLACK, &before), 0);
    }
}
