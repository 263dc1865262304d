//! Training samples: packed positions with move, score and result; and the split into training and held-out
//! set.

use anyhow::{Result, anyhow, bail};
use opening_book::games::{Game as GameRecord, GameResult};
use rsshogi::{
    board::{MoveList, PackedSfen, Position},
    movegen::generate_legal_all,
    types::Move,
};
use std::{
    collections::{HashMap, HashSet},
    fmt::Display,
    hash::{DefaultHasher, Hash, Hasher},
};
use usi_shell::Game;

/// Plies that make a game another game.
const SAME_GAME: usize = 30;
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
    /// Hash of the game's first moves.
    pub game: u64,
    /// Index of the source.
    pub source: u8,
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
    /// The first game that was left out, with its file and number.
    pub first_fault: Option<String>,
}

/// Training set and held-out set.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// The training set by source, without duplicates of position and move.
    pub training: Vec<Sample>,
    /// The held-out set: other games, and no position of the training set.
    pub held_out: Vec<Sample>,
    /// Number of duplicates left out.
    pub duplicates: usize,
}

impl Corpus {
    /// Adds the samples of a game. An invalid one is counted, and the place of the first is kept.
    pub(crate) fn add(&mut self, game: &GameRecord, place: impl Display) {
        match samples(game) {
            Ok(samples) => {
                self.samples.extend(samples);
                self.games += 1;
            }
            Err(fault) => {
                self.broken += 1;
                self.first_fault.get_or_insert_with(|| format!("{place}: {fault}"));
            }
        }
    }

    /// Splits by game: `percent` of the games, selected by their hash and so reproducibly, are held out.
    /// Of duplicates one with a value target stays. Held-out positions that also occur in the training set are removed.
    pub fn split(mut self, percent: u64) -> Split {
        self.samples.sort_by_key(|sample| (!sample.has_target(), sample.source));
        let mut split = Split::default();
        let is_held_out = |sample: &Sample| sample.game % 100 < percent;
        let (held_out, training): (Vec<_>, Vec<_>) = self.samples.into_iter().partition(is_held_out);
        let known: HashSet<[u8; 32]> = training.iter().map(|sample| sample.position.data).collect();
        let all = held_out.len() + training.len();
        split.training = distinct(training);
        split.held_out =
            distinct(held_out.into_iter().filter(|one| !known.contains(&one.position.data)).collect());
        split.duplicates = all - split.training.len() - split.held_out.len();
        split.training.sort_by_key(|sample| sample.source);
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

    /// Pseudo-random hash of the position, so that the first thousand in its order come from all games, in every run the same.
    pub fn spread(&self) -> u64 {
        self.position.data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        })
    }

    /// True if its move can be played.
    pub(crate) fn is_legal(&self) -> bool {
        self.unpacked().is_some_and(|(_, legal)| legal.as_slice().contains(&self.mv))
    }

    /// True if the sample teaches a value, not the policy alone.
    pub(crate) const fn has_target(&self) -> bool {
        self.half_points.is_some() || self.score.is_some()
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

fn samples(source: &GameRecord) -> Result<Vec<Sample>> {
    let mut game =
        Game::from_sfen(&source.start).map_err(|fault| anyhow!("unreadable start position: {fault}"))?;
    let id = identity(source);
    let mut seen: HashMap<[u8; 32], u8> = HashMap::new();
    let mut samples = Vec::with_capacity(source.moves.len());
    for (ply, (mv, score)) in source.moves.iter().enumerate() {
        let (turn, position) = (game.position().turn(), game.position().try_to_packed_sfen().ok());
        let text = mv.to_usi();
        let Some(mv) = game.play(&text) else { bail!("illegal move `{text}` at ply {}", ply + 1) };
        // Positions with more or fewer pieces than a full set have no packed form.
        let Some(position) = position else { continue };
        let before = seen.entry(position.data).or_default();
        if ply >= source.opening {
            let score = score.map(|score| score.clamp(-MATE, MATE) as i16);
            let half_points = source.result.map(|result| match result {
                GameResult::Won(winner) => u8::from(winner == turn) * 2,
                GameResult::Drawn => 1,
            });
            samples.push(Sample {
                position,
                mv: mv.to_move(),
                seen: *before,
                score,
                half_points,
                game: id,
                source: 0,
            });
        }
        *before = before.saturating_add(1);
    }
    Ok(samples)
}

/// Games that begin alike have one identity, so that they are on the same side of a split.
fn identity(source: &GameRecord) -> u64 {
    let mut hasher = DefaultHasher::new();
    source.start.hash(&mut hasher);
    source.moves.iter().take(SAME_GAME).for_each(|(mv, _)| mv.to_usi().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests;
