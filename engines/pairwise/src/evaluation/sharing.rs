//! Which parameters make up a weight: what few games can teach about two million relations.
//!
//! A relation is the same knowledge on the board mirrored left to right, and the opposite knowledge for the
//! opponent; so all its images share one parameter. On top, every weight is a sum of a *relative* part (what
//! two pieces are to each other at this distance, wherever they stand) and an *absolute* one (these two
//! squares). The relative part learns from everything, the absolute one corrects it where there is enough
//! to learn from.

use std::ops::Range;

use super::index::{self, COUNT, GROUPS, Place};

/// Kings' squares, with one more for a king that is not there.
pub const KING_SQUARES: usize = 82;
const SQUARES: usize = 81;

/// Piece values on the board by `PieceType` (14 of them, from 0), then in hand (7).
pub const MATERIAL: usize = 15 + 8;

/// A parameter and the sign with which it counts: its number plus 1, negative where it is the opponent's
/// knowledge; 0 where there is nothing to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share(i32);

impl Share {
    fn new(number: usize, negative: bool) -> Self {
        let id = number as i32 + 1;
        Self(if negative { -id } else { id })
    }

    /// The number and the sign.
    pub fn get(self) -> Option<(usize, f32)> {
        match self.0 {
            0 => None,
            id => Some((id.unsigned_abs() as usize - 1, if id > 0 { 1.0 } else { -1.0 })),
        }
    }

    /// Its part of a weight.
    pub fn of(self, values: &[f32]) -> f32 {
        self.get().map_or(0.0, |(number, sign)| sign * values[number])
    }
}

/// The kinds of parameters; each is learned at its own rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What a piece is worth.
    Material,
    /// What a square is worth to a piece, or a further piece to a hand.
    Placement,
    /// Two kings.
    Kings,
    /// A king and a piece at a distance.
    KingRelative,
    /// A king and a piece on their squares.
    KingAbsolute,
    /// Two pieces at a distance.
    PairRelative,
    /// Two pieces on their squares.
    PairAbsolute,
}

impl Group {
    /// All of them, in the order of their parameters.
    pub const ALL: [Self; 7] = [
        Self::Material,
        Self::Placement,
        Self::Kings,
        Self::KingRelative,
        Self::KingAbsolute,
        Self::PairRelative,
        Self::PairAbsolute,
    ];
}

/// For each weight of the flat tables, its parameters.
pub struct Sharing {
    /// By index.
    pub placement: Vec<Share>,
    /// By both kings' squares, black's first.
    pub kings: Vec<Share>,
    /// By the king's square and index, black's view: relative and absolute part.
    pub king: Vec<[Share; 2]>,
    /// By two indices: relative and absolute part.
    pub pair: Vec<[Share; 2]>,
    ends: [usize; 7],
}

/// Numbers classes of images: a class gets its number when the first of it is met.
struct Classes {
    shares: Vec<Share>,
    seen: Vec<bool>,
    next: usize,
}

impl Classes {
    fn new(keys: usize, first: usize) -> Self {
        Self { shares: vec![Share::default(); keys], seen: vec![false; keys], next: first }
    }

    /// The share of the first of `same`; `opposite` are its images with the other sign.
    fn share(&mut self, same: &[usize], opposite: &[usize]) -> Share {
        if !self.seen[same[0]] {
            self.number(same, opposite);
        }
        self.shares[same[0]]
    }

    fn number(&mut self, same: &[usize], opposite: &[usize]) {
        for &key in same.iter().chain(opposite) {
            self.seen[key] = true;
        }
        // What equals its own opposite is worth nothing to either side.
        if same.iter().any(|key| opposite.contains(key)) {
            return;
        }
        for &key in same {
            self.shares[key] = Share::new(self.next, false);
        }
        for &key in opposite {
            self.shares[key] = Share::new(self.next, true);
        }
        self.next += 1;
    }
}

impl Sharing {
    /// Works all of it out (some ten milliseconds).
    pub fn new() -> Self {
        let mut ends = [0; 7];
        ends[0] = MATERIAL;
        let placement = placement(ends[0], &mut ends[1]);
        let kings = kings(ends[1], &mut ends[2]);
        let mut king = vec![[Share::default(); 2]; KING_SQUARES * COUNT];
        king_relative(&mut king, ends[2], &mut ends[3]);
        king_absolute(&mut king, ends[3], &mut ends[4]);
        let mut pair = vec![[Share::default(); 2]; COUNT * COUNT];
        pair_relative(&mut pair, ends[4], &mut ends[5]);
        pair_absolute(&mut pair, ends[5], &mut ends[6]);
        Self { placement, kings, king, pair, ends }
    }

    /// How many parameters there are.
    pub fn parameters(&self) -> usize {
        self.ends[6]
    }

    /// The numbers of a group's parameters.
    pub fn range(&self, group: Group) -> Range<usize> {
        let at = group as usize;
        (if at == 0 { 0 } else { self.ends[at - 1] })..self.ends[at]
    }
}

impl Default for Sharing {
    fn default() -> Self {
        Self::new()
    }
}

fn indices() -> Range<u16> {
    1..(COUNT as u16 - 1)
}

fn placement(first: usize, end: &mut usize) -> Vec<Share> {
    let mut classes = Classes::new(COUNT, first);
    for i in indices() {
        let (m, f) = (index::mirror(i), index::flip(i));
        classes.share(&[i.into(), m.into()], &[f.into(), index::flip(m).into()]);
    }
    *end = classes.next;
    classes.shares
}

fn kings(first: usize, end: &mut usize) -> Vec<Share> {
    let key = |black: usize, white: usize| black * KING_SQUARES + white;
    let mut classes = Classes::new(KING_SQUARES * KING_SQUARES, first);
    for b in 0..SQUARES {
        for w in 0..SQUARES {
            let (mb, mw) = (index::mirror_square(b), index::mirror_square(w));
            let flipped = |b, w| key(index::flip_square(w), index::flip_square(b));
            classes.share(&[key(b, w), key(mb, mw)], &[flipped(b, w), flipped(mb, mw)]);
        }
    }
    *end = classes.next;
    classes.shares
}

/// From the king to a piece: ranks apart and files apart, or for a hand the king's rank.
fn king_relative(king: &mut [[Share; 2]], first: usize, end: &mut usize) {
    let mut classes = Classes::new(COUNT * 2 * 17, first);
    for square in 0..SQUARES {
        for i in indices() {
            let key = match index::place(i) {
                Place::Board { color, group, square: at } => {
                    let files = (at / 9).abs_diff(square / 9);
                    let ranks = at % 9 + 8 - square % 9;
                    76 * 9 + ((color * GROUPS + group) * 9 + files) * 17 + ranks
                }
                _ => usize::from(i - 1) * 9 + square % 9,
            };
            king[square * COUNT + usize::from(i)][0] = classes.share(&[key], &[]);
        }
    }
    *end = classes.next;
}

fn king_absolute(king: &mut [[Share; 2]], first: usize, end: &mut usize) {
    let key = |square: usize, i: u16| square * COUNT + usize::from(i);
    let mut classes = Classes::new(SQUARES * COUNT, first);
    for square in 0..SQUARES {
        for i in indices() {
            let image = key(index::mirror_square(square), index::mirror(i));
            king[key(square, i)][1] = classes.share(&[key(square, i), image], &[]);
        }
    }
    *end = classes.next;
}

type Images = [(u16, u16); 4];

/// The eight images of a pair, those with the opposite sign apart.
fn images(i: u16, j: u16) -> (Images, Images) {
    let (mi, mj) = (index::mirror(i), index::mirror(j));
    let same = [(i, j), (j, i), (mi, mj), (mj, mi)];
    (same, same.map(|(a, b)| (index::flip(a), index::flip(b))))
}

fn pair_relative(pair: &mut [[Share; 2]], first: usize, end: &mut usize) {
    let mut classes = Classes::new(RELATIVE_KEYS, first);
    each_pair(|i, j| {
        if relative_key(i, j).is_none() {
            return;
        }
        let keys = |pairs: Images| pairs.map(|(a, b)| relative_key(a, b).unwrap_or_default());
        let (same, opposite) = images(i, j);
        let key = keys(same);
        pair[usize::from(i) * COUNT + usize::from(j)][0] =
            if classes.seen[key[0]] { classes.shares[key[0]] } else { classes.share(&key, &keys(opposite)) };
    });
    *end = classes.next;
}

fn pair_absolute(pair: &mut [[Share; 2]], first: usize, end: &mut usize) {
    let key = |(i, j): (u16, u16)| usize::from(i) * COUNT + usize::from(j);
    let mut classes = Classes::new(COUNT * COUNT, first);
    each_pair(|i, j| {
        if !classes.seen[key((i, j))] {
            let (same, opposite) = images(i, j);
            classes.number(&same.map(key), &opposite.map(key));
        }
        pair[key((i, j))][1] = classes.shares[key((i, j))];
    });
    *end = classes.next;
}

fn each_pair(mut visit: impl FnMut(u16, u16)) {
    for i in indices() {
        for j in indices() {
            if i != j {
                visit(i, j);
            }
        }
    }
}

const BOARD_PAIRS: usize = (2 * GROUPS) * (2 * GROUPS) * 17 * 17;
const HAND_BOARD: usize = COUNT * 2 * GROUPS * 9;
const RELATIVE_KEYS: usize = BOARD_PAIRS + 2 * HAND_BOARD;

/// Two pieces on the board: who they are and how far apart. A hand and a piece: its rank. Two pieces in
/// hand are nowhere, so they are never near.
fn relative_key(i: u16, j: u16) -> Option<usize> {
    let hand_board = |hand: u16, color: usize, group: usize, square: usize| {
        (usize::from(hand) * 2 * GROUPS + color * GROUPS + group) * 9 + square % 9
    };
    match (index::place(i), index::place(j)) {
        (Place::Board { color: c, group: g, square: s }, Place::Board { color: d, group: h, square: t }) => {
            let (files, ranks) = (t / 9 + 8 - s / 9, t % 9 + 8 - s % 9);
            Some((((c * GROUPS + g) * 2 * GROUPS + d * GROUPS + h) * 17 + files) * 17 + ranks)
        }
        (Place::Hand { .. }, Place::Board { color, group, square }) => {
            Some(BOARD_PAIRS + hand_board(i, color, group, square))
        }
        (Place::Board { color, group, square }, Place::Hand { .. }) => {
            Some(BOARD_PAIRS + HAND_BOARD + hand_board(j, color, group, square))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_share_a_parameter_and_the_opponents_have_the_other_sign() {
        let sharing = Sharing::new();
        let at = |i: u16, j: u16| sharing.pair[usize::from(i) * COUNT + usize::from(j)];
        let mut values: Vec<f32> = (0..sharing.parameters()).map(|number| number as f32).collect();
        values[0] = 0.5;
        for (i, j) in (1..1535).step_by(7).flat_map(|i| (1..1535).step_by(11).map(move |j| (i, j))) {
            if i == j {
                continue;
            }
            let (same, opposite) = images(i, j);
            for part in [0, 1] {
                let value = |(i, j)| at(i, j)[part].of(&values);
                assert!(same.iter().all(|&image| value(image) == value((i, j))), "{i} {j}");
                assert!(opposite.iter().all(|&image| value(image) == -value((i, j))), "{i} {j}");
            }
        }
    }

    #[test]
    fn every_group_has_parameters_and_none_is_without_a_weight() {
        let sharing = Sharing::new();
        let mut used = vec![false; sharing.parameters()];
        let flat = sharing.king.iter().chain(&sharing.pair).flatten();
        for share in sharing.placement.iter().chain(&sharing.kings).chain(flat) {
            if let Some((number, _)) = share.get() {
                used[number] = true;
            }
        }
        for group in Group::ALL {
            assert!(!sharing.range(group).is_empty(), "{group:?}");
        }
        assert!(used[MATERIAL..].iter().all(|&used| used));
    }
}
