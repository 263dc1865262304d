//! The learned parameters, and their expansion into flat tables.

use rsshogi::types::{Color, Piece, PieceType, Square};

use super::index::{self, COUNT};
use super::sharing::{Group, KING_SQUARES, MATERIAL, Sharing, pair_at};
use super::{SCALE, Weights, hand_value, piece_value};

/// The learned values in centipawns, one per parameter of [`Sharing`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The values, in the order of [`Group::ALL`].
    pub values: Vec<f32>,
}

/// The index of the value of a kind on the board.
pub fn on_board(kind: PieceType) -> usize {
    kind.to_index()
}

/// The index of the value of a kind in hand.
pub fn in_hand(kind: PieceType) -> usize {
    15 + kind.to_index()
}

impl Parameters {
    /// Initial piece values, all relations zero.
    pub fn material(sharing: &Sharing) -> Self {
        let mut values = vec![0.0; sharing.parameters()];
        for kind in PieceType::iter() {
            values[on_board(kind)] = piece_value(kind) as f32;
            if kind.is_hand_piece() {
                values[in_hand(kind)] = hand_value(kind) as f32;
            }
        }
        Self { values }
    }

    /// The tables used by the search.
    pub fn expand(&self, sharing: &Sharing) -> Weights {
        let mut weights = Weights::empty();
        self.expand_into(sharing, &mut weights);
        weights
    }

    /// Expands the parameters into existing `weights`.
    pub fn expand_into(&self, sharing: &Sharing, weights: &mut Weights) {
        let values = &self.values;
        self.expand_single(sharing, weights);
        for (weight, share) in weights.kings.iter_mut().zip(&sharing.kings) {
            *weight = fine(share.of(values));
        }
        self.expand_king(sharing, weights);
        sharing.each_pair(|pairs| {
            let [relative, absolute] = pairs.shares;
            let weight = narrow(relative.of(values) + absolute.of(values));
            pairs.same.iter().for_each(|&at| weights.pair[pair_at(at)] = weight);
            pairs.opposite.iter().for_each(|&at| weights.pair[pair_at(at)] = -weight);
        });
    }

    fn expand_single(&self, sharing: &Sharing, weights: &mut Weights) {
        let placed = |index: u16| sharing.placement[usize::from(index)].of(&self.values);
        for color in [Color::BLACK, Color::WHITE] {
            let sign = if color == Color::BLACK { 1.0 } else { -1.0 };
            for kind in PieceType::iter().filter(|&kind| kind.raw() > 0 && kind != PieceType::KING) {
                let piece = Piece::from_parts(color, kind);
                for square in Square::iter() {
                    let value = sign * self.values[on_board(kind)] + placed(index::board(piece, square));
                    weights.board[piece.to_index() * KING_SQUARES + square.to_index()] = fine(value);
                }
            }
            for kind in PieceType::hand_pieces() {
                for at in (1..=18).map(|nth| index::hand(color, kind, nth)).filter(|&at| at != index::NONE) {
                    weights.hand[usize::from(at)] = fine(sign * self.values[in_hand(kind)] + placed(at));
                }
            }
        }
    }

    fn expand_king(&self, sharing: &Sharing, weights: &mut Weights) {
        for (at, [relative, absolute]) in sharing.king.iter().enumerate() {
            let (square, index) = (at / COUNT, (at % COUNT) as u16);
            if square == KING_SQUARES - 1 {
                continue;
            }
            let weight = narrow(relative.of(&self.values) + absolute.of(&self.values));
            weights.king[Color::BLACK.to_index()][at] = weight;
            let flipped = index::flip_square(square) * COUNT + usize::from(index::flip(index));
            weights.king[Color::WHITE.to_index()][flipped] = -weight;
        }
    }

    /// The parameters rounded to whole units, material first, as stored in a file.
    pub(super) fn whole_units(&self) -> Vec<i32> {
        let narrowed = self.values[MATERIAL..].iter().map(|&value| i32::from(narrow(value)));
        self.values[..MATERIAL].iter().map(|&value| fine(value)).chain(narrowed).collect()
    }

    /// The inverse of [`whole_units`](Self::whole_units).
    pub(super) fn from_units(units: &[i32]) -> Self {
        Self { values: units.iter().map(|&unit| unit as f32 / SCALE as f32).collect() }
    }

    /// Rescales the piece values on the board to the sum they have in [`material`](Self::material). Without
    /// this, learning could reduce the loss by shrinking all values.
    pub fn restore_material_sum(&mut self) {
        let kinds = PieceType::iter().filter(|&kind| piece_value(kind) > 0);
        let (mut wanted, mut found) = (0.0, 0.0);
        for kind in kinds {
            wanted += piece_value(kind) as f32;
            found += self.values[on_board(kind)];
        }
        if found > 0.0 {
            self.values[..MATERIAL].iter_mut().for_each(|value| *value *= wanted / found);
        }
    }

    /// Number of parameters of a group that are not zero after rounding.
    pub fn used(&self, sharing: &Sharing, group: Group) -> usize {
        self.values[sharing.range(group)].iter().filter(|&&value| narrow(value) != 0).count()
    }
}

fn fine(centipawns: f32) -> i32 {
    (centipawns * SCALE as f32).round() as i32
}

fn narrow(centipawns: f32) -> i16 {
    // The cast saturates, but -32768 has no negation in 16 bits.
    (centipawns * SCALE as f32).round().clamp(-32767.0, 32767.0) as i16
}
