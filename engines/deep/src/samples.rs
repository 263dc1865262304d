//! Training samples: packed positions with move, score and result; and the split into training and held-out
//! set.

use opening_book::games::{Game as GameRecord, GameResult};
use rsshogi::{
    board::{MoveList, PackedSfen, Position},
    movegen::generate_legal_all,
    types::Move,
};
use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};
use usi_shell::Game;

/// Scores beyond this are mates, in centipawns.
pub(crate) const MATE: i32 = 30_000;

/// A position from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The position, packed by rsshogi.
    pub position: PackedSfen,
    /// The move played.
    pub mv: Move,
    /// Number of earlier occurrences of the position in its game.
    pub seen: u8,
    /// The player's score in centipawns, within +-30,000.
    pub score: Option<i16>,
    /// Twice the points of the side to move: 2 for a win, 1 for a draw, 0 for a loss.
    pub half_points: Option<u8>,
    /// Hash of the game's moves.
    pub game: u64,
}

/// The samples of some sources.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// The samples, in the order of the sources.
    pub samples: Vec<Sample>,
    /// Number of games used.
    pub games: usize,
    /// Number of games left out because of an illegal move or an unreadable start position.
    pub broken: usize,
}

/// Training set and held-out set.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// The training set, without duplicates of position and move.
    pub training: Vec<Sample>,
    /// The held-out set: other games, and no position of the training set.
    pub held_out: Vec<Sample>,
    /// Number of duplicates left out.
    pub duplicates: usize,
}

impl Corpus {
    /// Adds the samples of a game; an invalid game is only counted.
    pub(crate) fn add(&mut self, game: &GameRecord) {
        match samples(game) {
            Some(samples) => {
                self.games += 1;
                self.samples.extend(samples);
            }
            None => self.broken += 1,
        }
    }

    /// Splits by game: `percent` of the games, selected by their hash and so reproducibly, are held out.
    /// Duplicates are removed, and so are held-out positions that also occur in the training set.
    pub fn split(self, percent: u64) -> Split {
        let mut split = Split::default();
        let is_held_out = |sample: &Sample| sample.game % 100 < percent;
        let (held_out, training): (Vec<_>, Vec<_>) = self.samples.into_iter().partition(is_held_out);
        let known: HashSet<[u8; 32]> = training.iter().map(|sample| sample.position.data).collect();
        let all = held_out.len() + training.len();
        split.training = distinct(training);
        split.held_out =
            distinct(held_out.into_iter().filter(|one| !known.contains(&one.position.data)).collect());
        split.duplicates = all - split.training.len() - split.held_out.len();
        split
    }
}

fn distinct(samples: Vec<Sample>) -> Vec<Sample> {
    let mut met = HashSet::with_capacity(samples.len());
    samples.into_iter().filter(|sample| met.insert((sample.position.data, sample.mv))).collect()
}

impl Sample {
    /// The position and its legal moves, including non-promotions.
    pub fn unpacked(&self) -> Option<(Position, MoveList)> {
        let mut position = Position::empty();
        position.set_packed_sfen(&self.position, false, 1).ok()?;
        let mut legal = MoveList::new();
        generate_legal_all(&position, &mut legal);
        Some((position, legal))
    }

    /// The value target, 0 to 1: `blend` times the result plus (1 - `blend`) times the score's win probability
    /// sigmoid(score / 600). If one is missing, the other; `None` if both are.
    pub fn target(&self, blend: f32) -> Option<f32> {
        let result = self.half_points.map(|half| f32::from(half) / 2.0);
        let scored = self.score.map(|score| 1.0 / (1.0 + (-f32::from(score) / 600.0).exp()));
        match (result, scored) {
            (Some(result), Some(scored)) => Some(blend * result + (1.0 - blend) * scored),
            (one, other) => one.or(other),
        }
    }
}

/// `None` for a game with an illegal move or an unreadable start position.
fn samples(source: &GameRecord) -> Option<Vec<Sample>> {
    let mut game = Game::from_sfen(&source.start).ok()?;
    let id = identity(source);
    let mut seen: HashMap<[u8; 32], u8> = HashMap::new();
    let mut samples = Vec::with_capacity(source.moves.len());
    for (ply, (mv, score)) in source.moves.iter().enumerate() {
        let (turn, position) = (game.position().turn(), game.position().try_to_packed_sfen().ok());
        let mv = game.play(&mv.to_usi())?.to_move();
        // Positions with more or fewer pieces than a full set have no packed form.
        let Some(position) = position else { continue };
        let before = seen.entry(position.data).or_default();
        if ply >= source.opening {
            let score = score.map(|score| score.clamp(-MATE, MATE) as i16);
            let half_points = source.result.map(|result| match result {
                GameResult::Won(winner) => u8::from(winner == turn) * 2,
                GameResult::Drawn => 1,
            });
            samples.push(Sample { position, mv, seen: *before, score, half_points, game: id });
        }
        *before = before.saturating_add(1);
    }
    Some(samples)
}

fn identity(source: &GameRecord) -> u64 {
    let mut hasher = DefaultHasher::new();
    source.start.hash(&mut hasher);
    source.moves.iter().for_each(|(mv, _)| mv.to_usi().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests;
