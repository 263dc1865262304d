//! Training examples: the leaves of the principal variations of a position's moves, each stored as a difference
//! to the root, so that many fit in memory.

use rsshogi::board::{Legal, LegalAll, Move32List, Position};
use rsshogi::movegen::generate_moves_move32;
use rsshogi::types::{Color, HandPiece, Move32, PieceType};

use crate::evaluation::parameters::{in_hand, on_board};
use crate::evaluation::sharing::MATERIAL;
use crate::evaluation::{Accumulator, Weights};

use super::positions::Sample;
use super::search::{MATE, MATE_BOUND, Searcher};

/// The features of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// The piece list: indices of all pieces but kings.
    pub pieces: [u16; 40],
    /// Table rows of black's and white's king.
    pub kings: [u8; 2],
    /// Per material parameter, number of black's pieces minus white's.
    pub material: [i8; MATERIAL],
}

impl Features {
    /// The features of `position`.
    pub fn new(position: &Position, sums: &Accumulator) -> Self {
        let mut material = [0; MATERIAL];
        for color in [Color::BLACK, Color::WHITE] {
            let sign = if color == Color::BLACK { 1 } else { -1 };
            for kind in PieceType::iter().filter(|&kind| kind.raw() > 0 && kind != PieceType::KING) {
                material[on_board(kind)] += sign * position.pieces_for(kind, color).count() as i8;
            }
            for kind in HandPiece::iter() {
                material[in_hand(kind.to_piece_type())] += sign * position.hand(color).count(kind) as i8;
            }
        }
        let kings =
            [Color::BLACK, Color::WHITE].map(|color| position.king_square(color).to_index().min(81) as u8);
        Self { pieces: *sums.pieces(), kings, material }
    }
}

/// Ends of a leaf's changes in the lists of its example; they begin at the previous leaf's ends.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    kings: [u8; 2],
    changes: u32,
    material: u32,
}

/// The leaf of the teacher's move and those of the moves within the window.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The root position.
    pub root: Features,
    /// Side to move: 1 for black, -1 for white.
    pub sign: f32,
    leaves: Vec<Leaf>,
    changes: Vec<(u8, u16)>,
    material: Vec<(u8, i8)>,
}

/// A leaf as difference to the root.
#[derive(Clone, Copy, Debug)]
pub struct LeafView<'a> {
    /// Table rows of black's and white's king.
    pub kings: [u8; 2],
    /// Slots of the piece list that differ from the root, with their indices.
    pub changes: &'a [(u8, u16)],
    /// Material parameters whose counts differ from the root, with the differences.
    pub material: &'a [(u8, i8)],
}

impl Choice {
    fn new(root: Features, turn: Color) -> Self {
        let sign = if turn == Color::BLACK { 1.0 } else { -1.0 };
        Self { root, sign, leaves: Vec::new(), changes: Vec::new(), material: Vec::new() }
    }

    fn push(&mut self, leaf: &Features) {
        for (slot, (&before, &after)) in self.root.pieces.iter().zip(&leaf.pieces).enumerate() {
            if before != after {
                self.changes.push((slot as u8, after));
            }
        }
        for (at, (&before, &after)) in self.root.material.iter().zip(&leaf.material).enumerate() {
            if before != after {
                self.material.push((at as u8, after - before));
            }
        }
        let (changes, material) = (self.changes.len() as u32, self.material.len() as u32);
        self.leaves.push(Leaf { kings: leaf.kings, changes, material });
    }

    /// All leaves; the teacher's is the first.
    pub fn leaves(&self) -> impl Iterator<Item = LeafView<'_>> {
        let starts = self.leaves.iter().map(|leaf| (leaf.changes as usize, leaf.material as usize));
        std::iter::once((0, 0)).chain(starts).zip(&self.leaves).map(|((changes, material), leaf)| LeafView {
            kings: leaf.kings,
            changes: &self.changes[changes..leaf.changes as usize],
            material: &self.material[material..leaf.material as usize],
        })
    }

    /// Number of leaves.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }
}

/// A quiet position with its target value.
#[derive(Clone, Debug)]
pub struct Score {
    /// The leaf of the quiescence search.
    pub leaf: Features,
    /// Side whose view the target has: 1 for black, -1 for white.
    pub sign: f32,
    /// Target win probability, from 0 to 1.
    pub target: f32,
}

/// Search parameters of training.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// Plies before quiescence search, 1 or 2.
    pub depth: usize,
    /// Maximum difference in value between the teacher's move and another for the other to be part of the
    /// example, in centipawns.
    pub window: i32,
}

/// Result of searching every move of a sample.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The training example, if any move is within the window.
    pub choice: Option<Choice>,
    /// The probability that a search plays the teacher's move: 1, a share among equal moves, or 0.
    pub agreement: f32,
}

/// Searches every legal move of a sample. `None` if there are fewer than two moves or the position is unusable.
pub fn compare(weights: &Weights, sample: &Sample, search: SearchSettings, keep: bool) -> Option<Comparison> {
    let mut position = Position::from_sfen(&sample.sfen).ok()?;
    let teacher = position.move32_from_move(sample.mv);
    let moves = candidates(&position, teacher)?;
    let sums = weights.accumulate(&position);
    let mut searcher = Searcher::new(weights);
    let aim = searcher.value_of(&mut position, &sums, teacher, (-MATE, MATE), search.depth);
    let keep = keep && aim.abs() < MATE_BOUND;
    let mut choice = Choice::new(Features::new(&position, &sums), position.turn());
    if keep {
        choice.push(&end(weights, &mut position, &sums, teacher, searcher.line()));
    }
    let window = if keep { search.window } else { 1 };
    let (alpha, beta) = (aim - window, aim + window);
    let (mut better, mut equal) = (false, 1);
    for &mv in moves.as_slice().iter().filter(|&&mv| mv != teacher) {
        let value = searcher.value_of(&mut position, &sums, mv, (alpha, beta), search.depth);
        better |= value > aim;
        equal += usize::from(value == aim);
        if keep && alpha < value && value < beta {
            choice.push(&end(weights, &mut position, &sums, mv, searcher.line()));
        } else if better && !keep {
            break;
        }
    }
    let agreement = if better { 0.0 } else { 1.0 / equal as f32 };
    Some(Comparison { choice: (keep && choice.len() > 1).then_some(choice), agreement })
}

/// The moves to compare. Useless non-promotions are included only if the teacher plays one.
fn candidates(position: &Position, teacher: Move32) -> Option<Move32List> {
    let mut moves = Move32List::new();
    generate_moves_move32::<Legal>(position, &mut moves);
    if !moves.as_slice().contains(&teacher) {
        generate_moves_move32::<LegalAll>(position, &mut moves);
    }
    (moves.len() > 1 && moves.as_slice().contains(&teacher)).then_some(moves)
}

/// The features of the position at the end of a line.
fn end(
    weights: &Weights,
    position: &mut Position,
    sums: &Accumulator,
    first: Move32,
    rest: &[Move32],
) -> Features {
    let mut sums = *sums;
    let line = || std::iter::once(first).chain(rest.iter().copied());
    for mv in line() {
        sums = weights.advance(&sums, position, mv);
        position.apply_move32(mv);
    }
    let features = Features::new(position, &sums);
    let moves: Vec<Move32> = line().collect();
    for &mv in moves.iter().rev() {
        let undone = position.undo_move32(mv);
        debug_assert!(undone.is_ok());
    }
    features
}

/// The quiescence leaf of a sample, for regression on scores. `None` if it is a mate.
pub fn quiet_score(weights: &Weights, sample: &Sample, target: f32) -> Option<Score> {
    let mut position = Position::from_sfen(&sample.sfen).ok()?;
    let sums = weights.accumulate(&position);
    let mut searcher = Searcher::new(weights);
    if searcher.quiet_value(&mut position, &sums).abs() >= MATE_BOUND {
        return None;
    }
    let sign = if position.turn() == Color::BLACK { 1.0 } else { -1.0 };
    let leaf = match searcher.line() {
        [] => Features::new(&position, &sums),
        [first, rest @ ..] => end(weights, &mut position, &sums, *first, rest),
    };
    Some(Score { leaf, sign, target })
}
