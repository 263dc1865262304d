//! Staged move generation: yields the moves of a node in order of promise and generates each stage only when
//! needed.

use rsshogi::board::{Bitboard, Position};
use rsshogi::movegen::{
    CapturePlusPro, Evasions, Move32Sink, MoveGenType, QuietChecks, QuietsProMinus,
    generate_moves_move32_into,
};
use rsshogi::types::{Color, Move, Move32, PieceType};

use super::exchange::{exchange_gains, gain};
use super::history::{Before, History};

/// A generated move with its ordering score.
#[derive(Clone, Copy)]
pub struct Scored {
    mv: Move32,
    score: i32,
}

/// Moves of all nodes on the current path, the deepest last. One allocation per thread.
pub type Arena = Vec<Scored>;

struct Filler<'a>(&'a mut Arena, usize);

impl Move32Sink for Filler<'_> {
    fn push_move32(&mut self, mv: Move32) {
        self.0.push(Scored { mv, score: 0 });
    }

    fn retain_unordered<F: FnMut(Move32) -> bool>(&mut self, mut f: F) {
        let mut kept = self.1;
        for index in self.1..self.0.len() {
            if f(self.0[index].mv) {
                self.0[kept] = self.0[index];
                kept += 1;
            }
        }
        self.0.truncate(kept);
    }

    fn push_drop_targets(&mut self, kind: PieceType, mut targets: Bitboard, color: Color) {
        while let Some(to) = targets.pop_lsb() {
            self.push_move32(Move32::drop(kind, to, color));
        }
    }
}

fn generate<T: MoveGenType>(position: &Position, arena: &mut Arena) {
    let from = arena.len();
    generate_moves_move32_into::<T, _>(position, &mut Filler(arena, from));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Known,
    GenerateCaptures,
    Captures,
    Killers,
    GenerateQuiets,
    Quiets,
    BadCaptures,
    GenerateEvasions,
    Evasions,
    GenerateChecks,
    Checks,
    End,
}

/// The moves to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All legal moves.
    All,
    /// For quiescence search: captures and pawn promotions.
    Captures,
    /// Captures, pawn promotions and quiet checks.
    CapturesAndChecks,
}

/// Yields the moves of one node. The table move and the killers come first, without move generation.
pub struct Picker {
    stage: Stage,
    wanted: Wanted,
    known: Move32,
    killers: [Move32; 3],
    before: Before,
    /// Positions in the arena: losing captures from `start` to `bad`, moves still to be yielded from `next`.
    start: usize,
    bad: usize,
    next: usize,
    killer: usize,
}

/// Inputs of move ordering.
pub struct Hints {
    /// The move from the transposition table, or none.
    pub known: Move,
    /// Killer moves, or none.
    pub killers: [Move; 3],
    /// The preceding moves.
    pub before: Before,
}

/// `mv` with its piece, if it is legal in `position`.
fn playable(position: &Position, mv: Move) -> Option<Move32> {
    (mv.is_normal() && position.is_pseudo_legal_move(mv, true))
        .then(|| position.move32_from_move(mv))
        .filter(|&mv| position.is_legal_promote(mv) && position.is_legal_after_pseudo_move32(mv))
}

fn is_quiet(position: &Position, mv: Move32) -> bool {
    mv.is_drop() || position.piece_on(mv.to_sq()).is_empty() && !is_pawn_promotion(mv)
}

fn is_pawn_promotion(mv: Move32) -> bool {
    mv.is_promotion() && mv.piece_after_move().piece_type() == PieceType::PRO_PAWN
}

impl Picker {
    /// A picker for `position`. It appends its moves to `arena`; [`close`](Self::close) removes them.
    pub fn new(position: &Position, wanted: Wanted, hints: &Hints, arena: &Arena) -> Self {
        let in_check = position.is_in_check();
        let known = playable(position, hints.known)
            .filter(|&mv| in_check || wanted == Wanted::All || !is_quiet(position, mv));
        let killers = if wanted == Wanted::All && !in_check { hints.killers } else { [Move::MOVE_NONE; 3] };
        Self {
            stage: Stage::Known,
            wanted,
            known: known.unwrap_or(Move32::MOVE_NONE),
            killers: killers.map(|mv| Move32::from_raw(u32::from(mv.raw()))),
            before: hints.before,
            start: arena.len(),
            bad: arena.len(),
            next: arena.len(),
            killer: 0,
        }
    }

    /// Removes this node's moves from the arena.
    pub fn close(&self, arena: &mut Arena) {
        arena.truncate(self.start);
    }

    /// The move from the transposition table, if it is legal here.
    pub fn known(&self) -> Option<Move32> {
        self.known.is_normal().then_some(self.known)
    }

    /// Skips the remaining quiet moves.
    pub fn skip_quiets(&mut self) {
        match self.stage {
            Stage::Killers | Stage::GenerateQuiets | Stage::Quiets => self.begin_bad_captures(),
            _ => {}
        }
    }

    fn begin_bad_captures(&mut self) {
        self.stage = Stage::BadCaptures;
        self.next = self.start;
    }

    /// The next legal move, or `None` at the end.
    pub fn next(&mut self, position: &Position, history: &History, arena: &mut Arena) -> Option<Move32> {
        loop {
            let found = match self.stage {
                Stage::Known => self.hand_out_known(position),
                Stage::GenerateCaptures => self.generate_captures(position, history, arena),
                Stage::Captures => self.next_capture(position, arena),
                Stage::Killers => self.next_killer(position),
                Stage::GenerateQuiets => self.generate_quiets::<QuietsProMinus>(position, history, arena),
                Stage::GenerateChecks => self.generate_quiets::<QuietChecks>(position, history, arena),
                Stage::Quiets => self.next_best(position, arena, Self::begin_bad_captures),
                Stage::BadCaptures => self.next_bad_capture(arena),
                Stage::GenerateEvasions => self.generate_evasions(position, history, arena),
                Stage::Evasions | Stage::Checks => {
                    self.next_best(position, arena, |picker| picker.stage = Stage::End)
                }
                Stage::End => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn hand_out_known(&mut self, position: &Position) -> Option<Move32> {
        let evading = position.is_in_check();
        self.stage = if evading { Stage::GenerateEvasions } else { Stage::GenerateCaptures };
        self.known()
    }

    fn generate_captures(
        &mut self,
        position: &Position,
        history: &History,
        arena: &mut Arena,
    ) -> Option<Move32> {
        generate::<CapturePlusPro>(position, arena);
        for scored in &mut arena[self.start..] {
            scored.score = capture_score(position, scored.mv, history);
        }
        self.stage = Stage::Captures;
        None
    }

    fn next_capture(&mut self, position: &Position, arena: &mut Arena) -> Option<Move32> {
        while let Some(best) = take_best(arena, self.next) {
            let slot = self.next;
            self.next += 1;
            if best.mv == self.known || !position.is_legal_after_pseudo_move32(best.mv) {
                continue;
            }
            if exchange_gains(position, best.mv, 0) {
                return Some(best.mv);
            }
            arena.swap(self.bad, slot);
            self.bad += 1;
        }
        self.stage = match self.wanted {
            Wanted::All => Stage::Killers,
            Wanted::CapturesAndChecks => Stage::GenerateChecks,
            Wanted::Captures => Stage::End,
        };
        None
    }

    fn next_killer(&mut self, position: &Position) -> Option<Move32> {
        while let Some(&killer) = self.killers.get(self.killer) {
            let seen = self.killers[..self.killer].iter().any(|mv| mv.to_move() == killer.to_move());
            let slot = self.killer;
            self.killer += 1;
            if seen || killer.to_move() == self.known.to_move() {
                continue;
            }
            if let Some(mv) = playable(position, killer.to_move()).filter(|&mv| is_quiet(position, mv)) {
                self.killers[slot] = mv;
                return Some(mv);
            }
        }
        self.stage = Stage::GenerateQuiets;
        None
    }

    fn generate_quiets<T: MoveGenType>(
        &mut self,
        position: &Position,
        history: &History,
        arena: &mut Arena,
    ) -> Option<Move32> {
        self.next = arena.len();
        generate::<T>(position, arena);
        let side = position.turn();
        for scored in &mut arena[self.next..] {
            scored.score = history.quiet(scored.mv, side, &self.before);
        }
        self.stage = if self.wanted == Wanted::All { Stage::Quiets } else { Stage::Checks };
        None
    }

    fn generate_evasions(
        &mut self,
        position: &Position,
        history: &History,
        arena: &mut Arena,
    ) -> Option<Move32> {
        generate::<Evasions>(position, arena);
        let side = position.turn();
        for scored in &mut arena[self.start..] {
            scored.score = if is_quiet(position, scored.mv) {
                history.quiet(scored.mv, side, &self.before)
            } else {
                // The offset puts captures before all quiet evasions.
                (1 << 20) + capture_score(position, scored.mv, history)
            };
        }
        self.stage = Stage::Evasions;
        None
    }

    fn next_best(&mut self, position: &Position, arena: &mut Arena, then: fn(&mut Self)) -> Option<Move32> {
        while let Some(best) = take_best(arena, self.next) {
            self.next += 1;
            // Pawn promotions were already yielded with the captures.
            let twice = self.stage == Stage::Checks && is_pawn_promotion(best.mv);
            if best.mv != self.known
                && !twice
                && !self.killers[..self.killer].contains(&best.mv)
                && position.is_legal_after_pseudo_move32(best.mv)
            {
                return Some(best.mv);
            }
        }
        then(self);
        None
    }

    fn next_bad_capture(&mut self, arena: &Arena) -> Option<Move32> {
        if self.next < self.bad {
            self.next += 1;
            return Some(arena[self.next - 1].mv);
        }
        self.stage = Stage::End;
        None
    }
}

/// Most valuable victim first; history breaks ties.
fn capture_score(position: &Position, mv: Move32, history: &History) -> i32 {
    let taken = position.piece_on(mv.to_sq()).piece_type();
    gain(position, mv) * 8 + history.capture(mv, taken)
}

/// Swaps the best move at or after `from` to `from`.
fn take_best(arena: &mut Arena, from: usize) -> Option<Scored> {
    let rest = arena.get_mut(from..)?;
    let (first, others) = rest.split_first_mut()?;
    for other in others {
        if other.score > first.score {
            std::mem::swap(first, other);
        }
    }
    Some(*first)
}

#[cfg(test)]
mod tests {
    use rsshogi::board::{Move32List, position_from_sfen};
    use rsshogi::movegen::{Legal, generate_moves_move32};

    use super::*;
    use crate::search::history::PieceTo;

    const POSITIONS: [&str; 4] = [
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
        "ln1gk2nl/1rs3gb1/p1ppppspp/1p4p2/7P1/2P1P4/PPSP1PP1P/1BG1G2R1/LN2K1SNL b - 1",
        "4k4/4R4/9/9/9/9/9/9/4K4 w 2b2g 1",
        "8k/6G2/7B1/9/9/9/9/9/K8 b 2r2b4s4n4l18p 1",
    ];

    fn all(position: &Position, wanted: Wanted, known: Move, killers: [Move; 3]) -> Vec<Move32> {
        let (history, mut arena) = (History::default(), Arena::new());
        let hints = Hints { known, killers, before: [PieceTo::NONE; 3] };
        let mut picker = Picker::new(position, wanted, &hints, &arena);
        let moves = std::iter::from_fn(|| picker.next(position, &history, &mut arena)).collect();
        picker.close(&mut arena);
        assert!(arena.is_empty());
        moves
    }

    fn legal(position: &Position) -> Vec<u32> {
        let mut moves = Move32List::new();
        generate_moves_move32::<Legal>(position, &mut moves);
        let mut raw: Vec<u32> = moves.iter().map(|mv| mv.raw()).collect();
        raw.sort_unstable();
        raw
    }

    #[test]
    fn every_legal_move_comes_once_whatever_is_known_beforehand() {
        for sfen in POSITIONS {
            let position = position_from_sfen(sfen).unwrap();
            let expected = legal(&position);
            let some = |index: usize| Move32::from_raw(expected[index % expected.len()]).to_move();
            for (known, killers) in [
                (Move::MOVE_NONE, [Move::MOVE_NONE; 3]),
                (some(0), [some(1), some(0), some(1)]),
                (some(5), [some(7), some(11), some(200)]),
                ("5e5d".parse().unwrap(), ["1a1b".parse().unwrap(); 3]),
            ] {
                let mut found: Vec<u32> =
                    all(&position, Wanted::All, known, killers).iter().map(|mv| mv.raw()).collect();
                found.sort_unstable();
                assert_eq!(found, expected, "{sfen} {known} {killers:?}");
            }
        }
    }

    #[test]
    fn the_move_from_the_table_comes_first_and_a_losing_capture_last() {
        let position = position_from_sfen("4k4/9/9/4p4/4p4/9/9/9/4R3K b P 1").unwrap();
        let known = "1i2i".parse().unwrap();
        let moves = all(&position, Wanted::All, known, [Move::MOVE_NONE; 3]);
        assert_eq!(moves[0].to_string(), "1i2i");
        assert_eq!(moves.last().unwrap().to_string(), "5i5e");
    }

    #[test]
    fn quiescence_sees_captures_promotions_and_if_wanted_checks() {
        let position = position_from_sfen("4k4/9/1P7/4p4/9/9/9/9/4R3K b G 1").unwrap();
        let none = Move::MOVE_NONE;
        let texts = |wanted| {
            let moves = all(&position, wanted, none, [none; 3]);
            moves.iter().map(Move32::to_string).collect::<Vec<_>>()
        };
        assert_eq!(texts(Wanted::Captures), ["8c8b+", "5i5d"]);
        assert!(texts(Wanted::CapturesAndChecks).contains(&"G*5b".to_owned()));
    }
}
