//! Static evaluation: material and the relations of every two pieces (KK, KP and PP).
//!
//! [`Weights`] holds the tables, [`Accumulator`] the sums for one position. A search keeps one accumulator per
//! ply: [`Weights::accumulate`] at the root, [`Weights::advance`] before each move, the parent's again after
//! undoing it; a null move changes nothing. [`Weights::value`] computes the value from it in a few operations.
//!
//! Every table is from black's view. The position with colours swapped and the board rotated has exactly the
//! opposite value, the mirrored position the same.
//!
//! `index` numbers pieces, `sharing` maps weights to parameters, `parameters` expands them to tables, `file`
//! reads and writes them.

pub(crate) mod file;
pub(crate) mod index;
pub(crate) mod parameters;
mod piece;
pub(crate) mod sharing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::{fs, io};

use rsshogi::board::Position;
use rsshogi::types::{Color, HandPiece, Move32, Piece, PieceType, Square};

use index::{COUNT, NONE};
use parameters::Parameters;
use sharing::{KING_SQUARES, Sharing};

pub use file::FileFault;
pub use piece::{hand_value, piece_value};

/// Units per centipawn.
pub const SCALE: i32 = 32;

/// The default weights; `weights/README.md` describes their training.
const EMBEDDED: &[u8] = include_bytes!("../weights/default.kpw");

/// A full set has 38 pieces without kings; rounded up to whole SIMD vectors.
const PIECES: usize = 40;

/// The weight tables, about six megabytes, shared by all threads.
#[derive(Clone, PartialEq, Eq)]
pub struct Weights {
    /// By piece and square.
    board: Vec<i32>,
    /// By index of a piece in hand.
    hand: Vec<i32>,
    /// By black's and white's king square.
    kings: Vec<i32>,
    /// By colour of the king, then by king square and piece index.
    king: [Vec<i16>; 2],
    /// By two piece indices, in both orders.
    pair: Vec<i16>,
}

/// The sums for one position, updated by each move. It is small, as the search copies it at each ply.
#[derive(Clone, Copy, Debug)]
pub struct Accumulator {
    /// Piece list: indices of all pieces but kings, unordered; a piece keeps its slot when it moves.
    pieces: [u16; PIECES],
    single: i32,
    pair: i32,
    king: [i32; 2],
}

/// Weights of relations in the evaluation, in percent; 100 in the program for play.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// Of a king and a piece.
    pub king: i32,
    /// Of two pieces without kings.
    pub pair: i32,
}

impl Shares {
    const ALL: Self = Self { king: 100, pair: 100 };
}

/// Why weights cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be opened.
    #[error("evaluation file `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a weights file.
    #[error("evaluation file `{}`: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: FileFault,
    },
}

/// Change of one piece by a move: its slot, and its index before and after.
#[derive(Clone, Copy)]
struct Change {
    slot: usize,
    before: u16,
    after: u16,
}

impl Weights {
    /// Piece values only.
    pub fn material() -> Self {
        let sharing = Sharing::new();
        Parameters::material(&sharing).expand(&sharing)
    }

    /// The embedded weights.
    pub fn embedded() -> Self {
        let sharing = Sharing::new();
        embedded_parameters(&sharing).expand(&sharing)
    }

    /// The weights named by the option `EvalFile`: empty or `default` for the embedded ones, `material` for
    /// piece values only, else a file.
    ///
    /// # Errors
    /// When the file is missing or is not a weights file.
    pub fn choose(name: &str) -> Result<Self, WeightsError> {
        match name {
            "" | "default" => Ok(Self::embedded()),
            "material" => Ok(Self::material()),
            path => Self::load(Path::new(path)),
        }
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// When it is missing or is not a weights file.
    pub fn load(path: &Path) -> Result<Self, WeightsError> {
        let sharing = Sharing::new();
        Ok(load_parameters(path, &sharing)?.expand(&sharing))
    }

    /// All zero.
    fn empty() -> Self {
        Self {
            board: vec![0; Piece::COUNT * KING_SQUARES],
            hand: vec![0; COUNT],
            kings: vec![0; KING_SQUARES * KING_SQUARES],
            king: [vec![0; KING_SQUARES * COUNT], vec![0; KING_SQUARES * COUNT]],
            pair: vec![0; COUNT * COUNT],
        }
    }

    /// Computes the sums of `position` from scratch.
    pub fn accumulate(&self, position: &Position) -> Accumulator {
        let mut sums = Accumulator { pieces: [NONE; PIECES], single: 0, pair: 0, king: [0; 2] };
        let mut count = 0;
        let mut add = |index: u16, single: i32| {
            sums.single += single;
            // A position with more pieces than a full set is invalid; the rest is ignored instead of panicking.
            if count < PIECES {
                sums.pieces[count] = index;
                count += 1;
            }
        };
        for (square, piece) in position.board_array().iter() {
            if !piece.is_empty() && piece.piece_type() != PieceType::KING {
                add(index::board(piece, square), self.board_single(piece, square));
            }
        }
        for color in [Color::BLACK, Color::WHITE] {
            for (kind, held) in HandPiece::iter().map(|kind| (kind, position.hand(color).count(kind))) {
                for index in (1..=held).map(|nth| index::hand(color, kind.to_piece_type(), nth)) {
                    add(index, self.hand[usize::from(index)]);
                }
            }
        }
        sums.pair = (1..PIECES).map(|at| self.pair_sum(sums.pieces[at], &sums.pieces[..at])).sum();
        for color in [Color::BLACK, Color::WHITE] {
            sums.king[color.to_index()] = self.king_sum(color, position.king_square(color), &sums.pieces);
        }
        sums
    }

    /// The sums after the legal move `mv`. Must be called before the move is made: `sums` belongs to
    /// `position`.
    pub fn advance(&self, sums: &Accumulator, position: &Position, mv: Move32) -> Accumulator {
        let (us, to) = (position.turn(), mv.to_sq());
        let mut next = *sums;
        if mv.is_drop() {
            let kind = mv.dropped_piece().unwrap_or(PieceType::PAWN);
            let held = held(position, us, kind);
            let before = index::hand(us, kind, held);
            let piece = Piece::from_parts(us, kind);
            next.single += self.board_single(piece, to) - self.hand[usize::from(before)];
            self.change(&mut next, position, &[(before, index::board(piece, to))]);
            return next;
        }
        let piece = position.piece_on(mv.from_sq());
        let captured = position.piece_on(to);
        let moved = if mv.is_promotion() { piece.promote() } else { piece };
        let is_king = piece.piece_type() == PieceType::KING;
        let step = if is_king {
            (NONE, NONE)
        } else {
            next.single += self.board_single(moved, to) - self.board_single(piece, mv.from_sq());
            (index::board(piece, mv.from_sq()), index::board(moved, to))
        };
        if captured.is_empty() {
            self.change(&mut next, position, &[step]);
        } else {
            let kind = captured.piece_type().demote();
            let after = index::hand(us, kind, held(position, us, kind) + 1);
            next.single += self.hand[usize::from(after)] - self.board_single(captured, to);
            self.change(&mut next, position, &[step, (index::board(captured, to), after)]);
        }
        if is_king {
            next.king[us.to_index()] = self.king_sum(us, to, &next.pieces);
        }
        next
    }

    /// The value of `position` for the side to move, in centipawns (a pawn is about 100). There is no tempo
    /// bonus.
    pub fn value(&self, sums: &Accumulator, position: &Position) -> i32 {
        self.value_with(sums, position, Shares::ALL)
    }

    /// The same with shares of the relations.
    #[inline]
    pub(crate) fn value_with(&self, sums: &Accumulator, position: &Position, shares: Shares) -> i32 {
        let value = self.units(sums, position, shares) / SCALE;
        if position.turn() == Color::BLACK { value } else { -value }
    }

    /// The value for black, in units.
    #[inline]
    fn units(&self, sums: &Accumulator, position: &Position, shares: Shares) -> i32 {
        let [black, white] = [Color::BLACK, Color::WHITE].map(|color| row(position.king_square(color)));
        sums.single
            + percent(sums.pair, shares.pair)
            + percent(sums.king[0] + sums.king[1], shares.king)
            + self.kings[black * KING_SQUARES + white]
    }

    /// Moves pieces in the list and updates the sums, except those of a king that has moved.
    #[inline]
    fn change<const N: usize>(&self, sums: &mut Accumulator, position: &Position, steps: &[(u16, u16); N]) {
        let changes = steps.map(|(before, after)| {
            let slot = slot_of(&sums.pieces, before);
            // Removed first, so that the relation between two moved pieces is counted once.
            sums.pieces[slot] = NONE;
            Change { slot, before, after }
        });
        for color in [Color::BLACK, Color::WHITE] {
            let table = &self.king[color.to_index()][row(position.king_square(color)) * COUNT..][..COUNT];
            sums.king[color.to_index()] += changes
                .iter()
                .map(|change| {
                    i32::from(table[usize::from(change.after)]) - i32::from(table[usize::from(change.before)])
                })
                .sum::<i32>();
        }
        for (at, change) in changes.iter().enumerate() {
            sums.pair += self.pair_difference(change, &sums.pieces);
            for earlier in &changes[..at] {
                sums.pair += i32::from(self.pair_row(change.after)[usize::from(earlier.after)])
                    - i32::from(self.pair_row(change.before)[usize::from(earlier.before)]);
            }
        }
        for change in changes {
            sums.pieces[change.slot] = change.after;
        }
    }

    fn pair_row(&self, index: u16) -> &[i16; COUNT] {
        let row = self.pair[usize::from(index) * COUNT..].first_chunk();
        row.unwrap_or(&[0; COUNT])
    }

    #[inline]
    fn pair_difference(&self, change: &Change, pieces: &[u16; PIECES]) -> i32 {
        let (before, after) = (self.pair_row(change.before), self.pair_row(change.after));
        pieces
            .iter()
            .map(|&other| i32::from(after[usize::from(other)]) - i32::from(before[usize::from(other)]))
            .sum()
    }

    /// The sum of the relations of `index` with `pieces`, in units.
    pub(crate) fn pair_sum(&self, index: u16, pieces: &[u16]) -> i32 {
        let row = self.pair_row(index);
        pieces.iter().map(|&other| i32::from(row[usize::from(other)])).sum()
    }

    fn king_sum(&self, color: Color, square: Square, pieces: &[u16; PIECES]) -> i32 {
        let table = &self.king[color.to_index()][row(square) * COUNT..][..COUNT];
        pieces.iter().map(|&index| i32::from(table[usize::from(index)])).sum()
    }

    /// By black's and white's king square, in units.
    pub(crate) fn kings_table(&self) -> &[i32] {
        &self.kings
    }

    /// By king square and piece index, for a king of this colour, in units.
    pub(crate) fn king_table(&self, color: usize) -> &[i16] {
        &self.king[color]
    }

    fn board_single(&self, piece: Piece, square: Square) -> i32 {
        self.board[piece.to_index() * KING_SQUARES + square.to_index()]
    }
}

/// The embedded parameters.
pub(crate) fn embedded_parameters(sharing: &Sharing) -> Parameters {
    file::read(EMBEDDED, sharing).expect("a test reads the embedded weights")
}

/// Reads the parameters of a weights file.
///
/// # Errors
/// When it is missing or is not a weights file.
pub(crate) fn load_parameters(path: &Path, sharing: &Sharing) -> Result<Parameters, WeightsError> {
    let unreadable = |source| WeightsError::Unreadable { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(unreadable)?;
    file::read(io::BufReader::new(file), sharing)
        .map_err(|source| WeightsError::Malformed { path: path.to_owned(), source })
}

impl Accumulator {
    /// The piece list as indices; 0 in unused slots.
    pub fn pieces(&self) -> &[u16; PIECES] {
        &self.pieces
    }
}

/// A share of a sum. All of it costs nothing where the compiler knows that it is all.
#[inline]
const fn percent(sum: i32, share: i32) -> i32 {
    if share == 100 { sum } else { (sum as i64 * share as i64 / 100) as i32 }
}

/// The row of a king square. A missing king has a row of zeros.
fn row(king: Square) -> usize {
    king.to_index().min(KING_SQUARES - 1)
}

fn held(position: &Position, color: Color, kind: PieceType) -> u32 {
    HandPiece::from_piece_type(kind).map_or(0, |kind| position.hand(color).count(kind))
}

/// Slot of a piece, without a branch per slot, so that it compiles to vector compares. For a piece not in the
/// list the result is arbitrary; this does not occur with a full set, and two slots are always unused.
#[inline]
fn slot_of(pieces: &[u16; PIECES], index: u16) -> usize {
    let mut found = 0;
    for (slot, &piece) in pieces.iter().enumerate() {
        if piece == index {
            found = slot;
        }
    }
    found
}
