//! The gradient of the loss by every weight of the flat tables, and from it by every parameter.

use crate::evaluation::index::{self, COUNT};
use crate::evaluation::parameters::Parameters;
use crate::evaluation::sharing::{KING_SQUARES, MATERIAL, Sharing};
use crate::evaluation::{SCALE, Weights};

use super::training_example::{Choice, Features, LeafView, Score};

/// The gradient by weight. There is a king table per colour, both from black's view.
pub struct Gradient {
    material: [f32; MATERIAL],
    placement: Vec<f32>,
    kings: Vec<f32>,
    king: [Vec<f32>; 2],
    pair: Vec<f32>,
}

/// The current tables and parameters.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    /// The flat tables.
    pub weights: &'a Weights,
    /// The parameters they were expanded from.
    pub parameters: &'a Parameters,
    /// The mapping from weights to parameters.
    pub sharing: &'a Sharing,
}

/// A visitor of evaluation terms, each with its factor.
trait Terms {
    fn material(&mut self, at: usize, factor: f32);
    fn placement(&mut self, index: u16, factor: f32);
    fn kings(&mut self, at: usize, factor: f32);
    fn king(&mut self, color: usize, at: usize, factor: f32);
    /// A row of pair terms: `index` with each of `others`.
    fn pairs(&mut self, index: u16, others: &[u16], factor: f32);
}

/// Sums the values of terms.
struct Sum<'a> {
    of: Model<'a>,
    units: i32,
    centipawns: f32,
}

impl Terms for Sum<'_> {
    fn material(&mut self, at: usize, factor: f32) {
        self.centipawns += factor * self.of.parameters.values[at];
    }

    fn placement(&mut self, index: u16, factor: f32) {
        let share = self.of.sharing.placement[usize::from(index)];
        self.centipawns += factor * share.of(&self.of.parameters.values);
    }

    fn kings(&mut self, at: usize, factor: f32) {
        self.units += factor as i32 * self.of.weights.kings_table()[at];
    }

    fn king(&mut self, color: usize, at: usize, factor: f32) {
        self.units += factor as i32 * i32::from(self.of.weights.king_table(color)[at]);
    }

    fn pairs(&mut self, index: u16, others: &[u16], factor: f32) {
        self.units += factor as i32 * self.of.weights.pair_sum(index, others);
    }
}

/// Adds gradients to the weights of terms.
struct Slopes<'a> {
    to: &'a mut Gradient,
    slope: f32,
}

impl Terms for Slopes<'_> {
    fn material(&mut self, at: usize, factor: f32) {
        self.to.material[at] += factor * self.slope;
    }

    fn placement(&mut self, index: u16, factor: f32) {
        self.to.placement[usize::from(index)] += factor * self.slope;
    }

    fn kings(&mut self, at: usize, factor: f32) {
        self.to.kings[at] += factor * self.slope;
    }

    fn king(&mut self, color: usize, at: usize, factor: f32) {
        self.to.king[color][at] += factor * self.slope;
    }

    fn pairs(&mut self, index: u16, others: &[u16], factor: f32) {
        let (row, slope) = (&mut self.to.pair[usize::from(index) * COUNT..][..COUNT], factor * self.slope);
        for &other in others {
            row[usize::from(other)] += slope;
        }
    }
}

/// Visits the terms of a leaf that its root lacks (factor 1), and those of the root that the leaf lacks (factor
/// -1).
fn difference(root: &Features, leaf: &LeafView<'_>, terms: &mut impl Terms) {
    for &(at, count) in leaf.material {
        terms.material(at.into(), f32::from(count));
    }
    let mut after = root.pieces;
    for &(slot, index) in leaf.changes {
        terms.placement(root.pieces[usize::from(slot)], -1.0);
        terms.placement(index, 1.0);
        after[usize::from(slot)] = index;
    }
    if root.kings != leaf.kings {
        terms.kings(both(root.kings), -1.0);
        terms.kings(both(leaf.kings), 1.0);
    }
    king_difference(root, leaf, &after, terms);
    pair_difference(root, leaf, terms);
}

fn king_difference(root: &Features, leaf: &LeafView<'_>, after: &[u16; 40], terms: &mut impl Terms) {
    for color in [0, 1] {
        let row = |kings: [u8; 2]| usize::from(kings[color]) * COUNT;
        let (from, to) = (row(root.kings), row(leaf.kings));
        let mut turn = |before: u16, after: u16| {
            terms.king(color, from + usize::from(before), -1.0);
            terms.king(color, to + usize::from(after), 1.0);
        };
        if from == to {
            leaf.changes.iter().for_each(|&(slot, index)| turn(root.pieces[usize::from(slot)], index));
        } else {
            root.pieces.iter().zip(after).for_each(|(&before, &after)| turn(before, after));
        }
    }
}

fn pair_difference(root: &Features, leaf: &LeafView<'_>, terms: &mut impl Terms) {
    let mut others = root.pieces;
    for &(slot, _) in leaf.changes {
        others[usize::from(slot)] = index::NONE;
    }
    for (at, &(slot, index)) in leaf.changes.iter().enumerate() {
        let before = root.pieces[usize::from(slot)];
        terms.pairs(before, &others, -1.0);
        terms.pairs(index, &others, 1.0);
        for &(earlier_slot, earlier) in &leaf.changes[..at] {
            terms.pairs(before, &[root.pieces[usize::from(earlier_slot)]], -1.0);
            terms.pairs(index, &[earlier], 1.0);
        }
    }
}

/// Visits all terms of a position.
fn whole(features: &Features, terms: &mut impl Terms) {
    for (at, &count) in features.material.iter().enumerate() {
        terms.material(at, f32::from(count));
    }
    terms.kings(both(features.kings), 1.0);
    for (at, &index) in features.pieces.iter().enumerate() {
        terms.placement(index, 1.0);
        for color in [0, 1] {
            terms.king(color, usize::from(features.kings[color]) * COUNT + usize::from(index), 1.0);
        }
        terms.pairs(index, &features.pieces[..at], 1.0);
    }
}

fn both(kings: [u8; 2]) -> usize {
    usize::from(kings[0]) * KING_SQUARES + usize::from(kings[1])
}

impl Model<'_> {
    fn sum(&self, visit: impl FnOnce(&mut Sum<'_>)) -> f32 {
        let mut sum = Sum { of: *self, units: 0, centipawns: 0.0 };
        visit(&mut sum);
        sum.centipawns + sum.units as f32 / SCALE as f32
    }

    /// The values of all leaves for the side to move, relative to the root, in centipawns.
    pub fn values(&self, choice: &Choice) -> Vec<f32> {
        let value = |leaf| choice.sign * self.sum(|sum| difference(&choice.root, &leaf, sum));
        choice.leaves().map(value).collect()
    }

    /// The value of a quiet position for its side, in centipawns.
    pub fn value(&self, score: &Score) -> f32 {
        score.sign * self.sum(|sum| whole(&score.leaf, sum))
    }
}

impl Gradient {
    /// A zero gradient.
    pub fn new() -> Self {
        Self {
            material: [0.0; MATERIAL],
            placement: vec![0.0; COUNT],
            kings: vec![0.0; KING_SQUARES * KING_SQUARES],
            king: [vec![0.0; KING_SQUARES * COUNT], vec![0.0; KING_SQUARES * COUNT]],
            pair: vec![0.0; COUNT * COUNT],
        }
    }

    /// Adds an example; `slopes` are the derivatives of the loss by each leaf's value for the side to move.
    pub fn add_choice(&mut self, choice: &Choice, slopes: &[f32]) {
        for (leaf, &slope) in choice.leaves().zip(slopes) {
            if slope != 0.0 {
                let mut terms = Slopes { to: self, slope: slope * choice.sign };
                difference(&choice.root, &leaf, &mut terms);
            }
        }
    }

    /// Adds a position with the given derivative of the loss by its value.
    pub fn add_score(&mut self, score: &Score, slope: f32) {
        whole(&score.leaf, &mut Slopes { to: self, slope: slope * score.sign });
    }

    /// Converts the gradient to parameters, adds it to `slopes`, and resets it to zero.
    pub fn drain_into(&mut self, sharing: &Sharing, slopes: &mut [f32]) {
        for (slope, taken) in slopes.iter_mut().zip(&mut self.material) {
            *slope += std::mem::take(taken);
        }
        let mut add = |share: crate::evaluation::sharing::Share, value: f32| {
            if let Some((number, sign)) = share.get() {
                slopes[number] += sign * value;
            }
        };
        for (share, value) in sharing.placement.iter().zip(&mut self.placement) {
            add(*share, std::mem::take(value));
        }
        for (share, value) in sharing.kings.iter().zip(&mut self.kings) {
            add(*share, std::mem::take(value));
        }
        let pairs = sharing.pair().iter().zip(&mut self.pair).filter(|(_, value)| **value != 0.0);
        for (shares, value) in pairs {
            let value = std::mem::take(value);
            shares.iter().for_each(|share| add(*share, value));
        }
        self.fold_kings();
        for (shares, value) in sharing.king.iter().zip(&mut self.king[0]) {
            let value = std::mem::take(value);
            if value != 0.0 {
                shares.iter().for_each(|share| add(*share, value));
            }
        }
    }

    /// The relation of a piece to white's king is the opposite of the flipped relation to black's.
    fn fold_kings(&mut self) {
        let [black, white] = &mut self.king;
        for (at, value) in white.iter_mut().enumerate().filter(|(_, value)| **value != 0.0) {
            let (square, index) = (at / COUNT, (at % COUNT) as u16);
            let value = std::mem::take(value);
            if square < KING_SQUARES - 1 {
                black[index::flip_square(square) * COUNT + usize::from(index::flip(index))] -= value;
            }
        }
    }
}
