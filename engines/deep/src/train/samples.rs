//! Positions with what was played in them, each in a few bytes, and which of them are held out.

use rsshogi::{
    board::{MoveList, PackedSfen, Position},
    movegen::generate_legal_all,
    types::{Color, Move},
};
use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};
use usi_shell::Game;

/// A score above this, or below its negative, is a mate. Centipawns.
pub(super) const MATE: i32 = 30_000;

/// A position and what came of it, seen by the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The position, packed by rsshogi.
    pub position: PackedSfen,
    /// The move that was played.
    pub mv: Move,
    /// How often the position occurred before in its game.
    pub seen: u8,
    /// What the player said it was worth, in centipawns, within +-30,000.
    pub score: Option<i16>,
    /// Points of the player to move, doubled: 2 for a win, 1 for a draw, 0 for a loss.
    pub half_points: Option<u8>,
    /// The game, by its moves.
    pub game: u64,
}

/// A game as sources tell it.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// SFEN of the first position.
    pub start: String,
    /// The moves, with scores from the mover's view, and whether they are to be learned: opening moves that nobody
    /// chose are not.
    pub moves: Vec<(String, Option<i32>, bool)>,
    /// Who won; `Some(None)` is a draw, `None` is not known.
    pub winner: Option<Option<Color>>,
}

/// All positions of some sources.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// The positions, in the order of the sources.
    pub samples: Vec<Sample>,
    /// Games they are from.
    pub games: usize,
    /// Games left out because a move was not legal or the start could not be read.
    pub broken: usize,
}

/// Positions to learn from and positions to be examined with.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// To learn from; no position comes twice with the same move.
    pub kept: Vec<Sample>,
    /// Of other games, and none of them among those to learn from.
    pub held_out: Vec<Sample>,
    /// Left out because they were there already.
    pub duplicates: usize,
}

impl Corpus {
    /// Adds a game; one that breaks the rules is only counted.
    pub(super) fn add(&mut self, told: &Told) {
        match samples(told) {
            Some(samples) => {
                self.games += 1;
                self.samples.extend(samples);
            }
            None => self.broken += 1,
        }
    }

    /// Divides by game: `percent` of the games, chosen by their hash and so always the same, are held out. Duplicates
    /// are dropped, and from the held-out ones what is also among the others.
    pub fn split(self, percent: u64) -> Split {
        let mut split = Split::default();
        let is_held_out = |sample: &Sample| sample.game % 100 < percent;
        let (held_out, kept): (Vec<_>, Vec<_>) = self.samples.into_iter().partition(is_held_out);
        let known: HashSet<[u8; 32]> = kept.iter().map(|sample| sample.position.data).collect();
        let all = held_out.len() + kept.len();
        split.kept = distinct(kept);
        split.held_out =
            distinct(held_out.into_iter().filter(|one| !known.contains(&one.position.data)).collect());
        split.duplicates = all - split.kept.len() - split.held_out.len();
        split
    }
}

fn distinct(samples: Vec<Sample>) -> Vec<Sample> {
    let mut met = HashSet::with_capacity(samples.len());
    samples.into_iter().filter(|sample| met.insert((sample.position.data, sample.mv))).collect()
}

impl Sample {
    /// The position, and its legal moves, non-promotions included.
    pub fn unpacked(&self) -> Option<(Position, MoveList)> {
        let mut position = Position::empty();
        position.set_packed_sfen(&self.position, false, 1).ok()?;
        let mut legal = MoveList::new();
        generate_legal_all(&position, &mut legal);
        Some((position, legal))
    }

    /// What the value is to come to: `blend` parts of the game's result and the rest of the score's winning
    /// probability, sigmoid(score / 600); whichever there is when one is missing. Between 0 and 1.
    pub fn target(&self, blend: f32) -> Option<f32> {
        let result = self.half_points.map(|half| f32::from(half) / 2.0);
        let scored = self.score.map(|score| 1.0 / (1.0 + (-f32::from(score) / 600.0).exp()));
        match (result, scored) {
            (Some(result), Some(scored)) => Some(blend * result + (1.0 - blend) * scored),
            (one, other) => one.or(other),
        }
    }
}

fn samples(told: &Told) -> Option<Vec<Sample>> {
    let mut game = Game::from_sfen(&told.start).ok()?;
    let id = identity(told);
    let mut seen: HashMap<[u8; 32], u8> = HashMap::new();
    let mut samples = Vec::with_capacity(told.moves.len());
    for (text, score, learn) in &told.moves {
        let (turn, position) = (game.position().turn(), game.position().try_to_packed_sfen().ok());
        let mv = game.play(text)?.to_move();
        // A position with pieces missing, or too many, does not fit into this packing.
        let Some(position) = position else { continue };
        let before = seen.entry(position.data).or_default();
        if *learn {
            let score = score.map(|score| score.clamp(-MATE, MATE) as i16);
            let half_points =
                told.winner.map(|winner| winner.map_or(1, |winner| u8::from(winner == turn) * 2));
            samples.push(Sample { position, mv, seen: *before, score, half_points, game: id });
        }
        *before = before.saturating_add(1);
    }
    Some(samples)
}

fn identity(told: &Told) -> u64 {
    let mut hasher = DefaultHasher::new();
    told.start.hash(&mut hasher);
    told.moves.iter().for_each(|(text, ..)| text.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests;
