//! Parameter sharing: maps about two million weights to fewer parameters, so that they can be learned from few
//! games.
//!
//! A relation has the same value on the board mirrored left to right, and the opposite value for the opponent;
//! all these images share one parameter. In addition, every weight is the sum of a *relative* part (for the
//! distance of two pieces, wherever they stand) and an *absolute* part (for these two squares). The relative
//! part learns from all occurrences; the absolute part corrects it where there is enough data.

use std::ops::Range;
use std::sync::OnceLock;

use super::index::{self, COUNT, GROUPS, Place};

/// Number of king squares, including one for a missing king.
pub const KING_SQUARES: usize = 82;
const SQUARES: usize = 81;

/// Number of piece values: by `PieceType`, on the board (14, from index 1) and in hand (7).
pub const MATERIAL: usize = 15 + 8;

/// A parameter and its sign, stored as its number plus 1, negative for the opponent's pieces; 0 for no
/// parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share(i32);

impl Share {
    fn new(number: usize, negative: bool) -> Self {
        let id = number as i32 + 1;
        Self(if negative { -id } else { id })
    }

    /// The share of the opponent's image.
    fn opposite(self) -> Self {
        Self(-self.0)
    }

    /// The parameter's number and sign.
    pub fn get(self) -> Option<(usize, f32)> {
        match self.0 {
            0 => None,
            id => Some((id.unsigned_abs() as usize - 1, if id > 0 { 1.0 } else { -1.0 })),
        }
    }

    /// Its contribution to a weight.
    pub fn of(self, values: &[f32]) -> f32 {
        self.get().map_or(0.0, |(number, sign)| sign * values[number])
    }
}

/// Groups of parameters; each has a learning rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Group {
    /// Piece values.
    Material,
    /// Piece-square values and values of further pieces in hand.
    Placement,
    /// Both kings' squares.
    Kings,
    /// King and piece, by distance.
    KingRelative,
    /// King and piece, by squares.
    KingAbsolute,
    /// Two pieces, by distance.
    PairRelative,
    /// Two pieces, by squares.
    PairAbsolute,
}

impl Group {
    /// All groups, in the order of their parameters.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;
}

/// The parameters of each weight of the flat tables.
pub struct Sharing {
    /// By piece index.
    pub placement: Vec<Share>,
    /// By both kings' squares, black's first.
    pub kings: Vec<Share>,
    /// By king square and piece index, from black's view: relative and absolute part.
    pub king: Vec<[Share; 2]>,
    /// The relative part of a pair, by [`relative_key`].
    relative: Vec<Share>,
    pair: OnceLock<Vec<[Share; 2]>>,
    ends: [usize; 7],
}

/// The images of one pair of pieces: one weight, which the opponent's images have with the opposite sign.
pub struct Pairs {
    /// The pair in either order, and mirrored.
    pub same: Images,
    /// The same from the opponent's view.
    pub opposite: Images,
    /// The relative and the absolute part of `same`.
    pub shares: [Share; 2],
}

/// Numbers equivalence classes of images, in order of first occurrence.
struct Classes {
    shares: Vec<Share>,
    seen: Vec<bool>,
    next: usize,
}

impl Classes {
    fn new(keys: usize, first: usize) -> Self {
        Self { shares: vec![Share::default(); keys], seen: vec![false; keys], next: first }
    }

    /// The share of the class of `same`; the images in `opposite` have the opposite sign.
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
        // A relation equal to its own opposite has the value 0.
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
    /// Computes the mapping, without the table of all pairs.
    pub fn new() -> Self {
        let mut ends = [0; 7];
        ends[0] = MATERIAL;
        let placement = placement(ends[0], &mut ends[1]);
        let kings = kings(ends[1], &mut ends[2]);
        let mut king = vec![[Share::default(); 2]; KING_SQUARES * COUNT];
        king_relative(&mut king, ends[2], &mut ends[3]);
        king_absolute(&mut king, ends[3], &mut ends[4]);
        let relative = pair_relative(ends[4], &mut ends[5]);
        ends[6] = ends[5];
        each_first(|i, j| ends[6] += usize::from(!is_own_opposite(&images(i, j))));
        Self { placement, kings, king, relative, pair: OnceLock::new(), ends }
    }

    /// By two piece indices: relative and absolute part. Only learning needs this table of 19 MB, so it is made when it
    /// is first asked for.
    pub fn pair(&self) -> &[[Share; 2]] {
        self.pair.get_or_init(|| {
            let mut pair = vec![[Share::default(); 2]; COUNT * COUNT];
            self.each_pair(|pairs| {
                let opposite = pairs.shares.map(Share::opposite);
                for (images, shares) in [(&pairs.same, pairs.shares), (&pairs.opposite, opposite)] {
                    images.iter().for_each(|&at| pair[pair_at(at)] = shares);
                }
            });
            pair
        })
    }

    /// Visits the pairs of two pieces, those that are images of each other together.
    pub fn each_pair(&self, mut visit: impl FnMut(&Pairs)) {
        let spots = spots();
        let mut next = self.ends[5];
        each_first(|i, j| {
            let (same, opposite) = images(i, j);
            let key = relative_key((i, spots[usize::from(i)]), (j, spots[usize::from(j)]));
            let relative = key.map_or(Share::default(), |key| self.relative[key]);
            let absolute = if is_own_opposite(&(same, opposite)) {
                Share::default()
            } else {
                next += 1;
                Share::new(next - 1, false)
            };
            visit(&Pairs { same, opposite, shares: [relative, absolute] });
        });
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.ends[6]
    }

    /// The parameter numbers of a group.
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

/// Relative part of king and piece: by difference of ranks and files, or for a piece in hand by the king's
/// rank.
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

/// The images of a pair with the same sign.
pub type Images = [(u16, u16); 4];

/// The eight images of a pair; those with opposite sign are separate.
fn images(i: u16, j: u16) -> (Images, Images) {
    let (mi, mj) = (index::mirror(i), index::mirror(j));
    let same = [(i, j), (j, i), (mi, mj), (mj, mi)];
    (same, same.map(|(a, b)| (index::flip(a), index::flip(b))))
}

/// The place of a pair in a table of all pairs.
pub fn pair_at((i, j): (u16, u16)) -> usize {
    usize::from(i) * COUNT + usize::from(j)
}

/// A relation equal to its own opposite has the value 0.
fn is_own_opposite((same, opposite): &(Images, Images)) -> bool {
    same.iter().any(|pair| opposite.contains(pair))
}

/// The shares by [`relative_key`]. A class is numbered at its first pair, which is the first of its images too.
fn pair_relative(first: usize, end: &mut usize) -> Vec<Share> {
    let mut classes = Classes::new(RELATIVE_KEYS, first);
    let spots = spots();
    let key_of = |(i, j): (u16, u16)| relative_key((i, spots[usize::from(i)]), (j, spots[usize::from(j)]));
    each_first(|i, j| {
        let Some(key) = key_of((i, j)) else { return };
        if !classes.seen[key] {
            let (same, opposite) = images(i, j);
            let keys = |pairs: Images| pairs.map(|pair| key_of(pair).unwrap_or_default());
            classes.number(&keys(same), &keys(opposite));
        }
    });
    *end = classes.next;
    classes.shares
}

/// The relative part of an index.
#[derive(Clone, Copy)]
enum Spot {
    Nowhere,
    Hand,
    Board { piece: u8, file: u8, rank: u8 },
}

impl Spot {
    fn of(index: u16) -> Self {
        match index::place(index) {
            Place::Nowhere => Self::Nowhere,
            Place::Hand { .. } => Self::Hand,
            Place::Board { color, group, square } => {
                let [piece, file, rank] = [color * GROUPS + group, square / 9, square % 9].map(|it| it as u8);
                Self::Board { piece, file, rank }
            }
        }
    }
}

fn spots() -> Vec<Spot> {
    (0..COUNT as u16).map(Spot::of).collect()
}

/// Visits of all pairs that are images of each other the first in the order of the tables: an eighth of them. Every
/// engine does this when it starts.
fn each_first(mut visit: impl FnMut(u16, u16)) {
    let views = |i: u16| [index::mirror(i), index::flip(i), index::flip(index::mirror(i))];
    let lowest: Vec<u16> = (0..COUNT as u16).map(|i| views(i).into_iter().fold(i, u16::min)).collect();
    for i in indices().filter(|&i| lowest[usize::from(i)] == i) {
        let own = views(i);
        for j in (i + 1..indices().end).filter(|&j| lowest[usize::from(j)] >= i) {
            let images = own.into_iter().zip(views(j));
            if images.into_iter().all(|(a, b)| (a, b) >= (i, j) && (b, a) >= (i, j)) {
                visit(i, j);
            }
        }
    }
}

const BOARD_PAIRS: usize = (2 * GROUPS) * (2 * GROUPS) * 17 * 17;
const HAND_BOARD: usize = COUNT * 2 * GROUPS * 9;
const RELATIVE_KEYS: usize = BOARD_PAIRS + 2 * HAND_BOARD;

/// Class of the relative part: for two pieces on the board their kinds and distance, for a piece in hand and
/// one on the board the rank. Two pieces in hand have no distance, hence no relative part.
fn relative_key((i, from): (u16, Spot), (j, to): (u16, Spot)) -> Option<usize> {
    let hand_board = |hand: u16, piece: u8, rank: u8| {
        (usize::from(hand) * 2 * GROUPS + usize::from(piece)) * 9 + usize::from(rank)
    };
    match (from, to) {
        (Spot::Board { piece: p, file, rank }, Spot::Board { piece: q, file: to_file, rank: to_rank }) => {
            let (files, ranks) = (usize::from(to_file + 8 - file), usize::from(to_rank + 8 - rank));
            Some(((usize::from(p) * 2 * GROUPS + usize::from(q)) * 17 + files) * 17 + ranks)
        }
        (Spot::Hand, Spot::Board { piece, rank, .. }) => Some(BOARD_PAIRS + hand_board(i, piece, rank)),
        (Spot::Board { piece, rank, .. }, Spot::Hand) => {
            Some(BOARD_PAIRS + HAND_BOARD + hand_board(j, piece, rank))
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
        let at = |i: u16, j: u16| sharing.pair()[pair_at((i, j))];
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
        let flat = sharing.king.iter().chain(sharing.pair()).flatten();
        for share in sharing.placement.iter().chain(&sharing.kings).chain(flat) {
            if let Some((number, _)) = share.get() {
                used[number] = true;
            }
        }
        for &group in Group::ALL {
            assert!(!sharing.range(group).is_empty(), "{group:?}");
        }
        assert!(used[MATERIAL..].iter().all(|&used| used));
    }
}
