//! Selects training samples from games, and the held-out set.

use std::collections::{BTreeSet, HashSet};

use opening_book::games::{Game, GameResult};
use rsshogi::board::Position;
use rsshogi::types::{Color, Move};

/// A position with the teacher's move.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position, without a move number.
    pub sfen: String,
    /// The teacher's move.
    pub mv: Move,
    /// The score given by the player who moved, in centipawns.
    pub score: Option<i32>,
    /// The result for the player who moved: 1, 1/2 or 0.
    pub outcome: Option<f32>,
}

/// Filters for games and positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Only moves of the player with this name.
    pub player: Option<String>,
    /// Games with fewer moves after the opening are left out as trivial.
    pub min_plies: usize,
    /// Moves with a score beyond this are left out, in centipawns.
    pub max_score: i32,
    /// Percentage of the games in the held-out set.
    pub held_out: u64,
}

/// The samples, divided by game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The training set.
    pub training: Vec<Sample>,
    /// The held-out set; it shares no position with `training`.
    pub held_out: Vec<Sample>,
    /// Number of games in each set.
    pub games: [usize; 2],
    /// Number of games left out as trivial.
    pub trivial: usize,
    /// Number of repeated samples left out.
    pub repeated: usize,
}

/// The samples of `games`, sorted, without repeated pairs of position and move.
pub fn select(games: &[Game], selection: &Selection) -> Samples {
    let mut samples = Samples::default();
    for game in games {
        if !game.loose && game.moves.len().saturating_sub(game.opening) < selection.min_plies {
            samples.trivial += 1;
            continue;
        }
        let taken = positions(game, selection);
        let aside = fingerprint(game) % 100 < selection.held_out;
        samples.games[usize::from(aside)] += usize::from(!taken.is_empty());
        if aside { &mut samples.held_out } else { &mut samples.training }.extend(taken);
    }
    samples.repeated = sort(&mut samples.training) + sort(&mut samples.held_out);
    let known: HashSet<&str> = samples.training.iter().map(|sample| sample.sfen.as_str()).collect();
    let before = samples.held_out.len();
    // Positions known from training, such as openings, would measure memory instead of generalisation.
    samples.held_out.retain(|sample| !known.contains(sample.sfen.as_str()));
    samples.repeated += before - samples.held_out.len();
    samples
}

/// All player names in `games`, for the message about an unknown name.
pub fn names(games: &[Game]) -> BTreeSet<&str> {
    games.iter().flat_map(|game| game.names.iter().flatten()).map(String::as_str).collect()
}

fn sort(samples: &mut Vec<Sample>) -> usize {
    let before = samples.len();
    samples.sort_by(|a, b| (&a.sfen, a.mv.raw()).cmp(&(&b.sfen, b.mv.raw())));
    samples.dedup_by(|a, b| a.sfen == b.sfen && a.mv == b.mv);
    before - samples.len()
}

fn positions(game: &Game, selection: &Selection) -> Vec<Sample> {
    let Ok(mut position) = Position::from_sfen(&game.start) else { return Vec::new() };
    // The last move may leave a king in check or may have been sent after the flag fall.
    let last = if game.loose { game.moves.len() } else { game.moves.len().saturating_sub(1) };
    let mut taken = Vec::new();
    for (at, &(mv, score)) in game.moves[..last].iter().enumerate() {
        let turn = position.turn();
        let wanted = at >= game.opening
            && score.is_none_or(|score| score.abs() <= selection.max_score)
            && selection
                .player
                .as_deref()
                .is_none_or(|name| game.names[turn.to_index()].as_deref() == Some(name));
        let sfen = position.to_sfen(Some(-1));
        if position.try_apply_move32(position.move32_from_move(mv)).is_err() {
            break;
        }
        if wanted {
            taken.push(Sample { sfen, mv, score, outcome: game.result.map(|result| outcome(result, turn)) });
        }
    }
    taken
}

fn outcome(result: GameResult, mover: Color) -> f32 {
    match result {
        GameResult::Won(winner) if winner == mover => 1.0,
        GameResult::Won(_) => 0.0,
        GameResult::Drawn => 0.5,
    }
}

/// Hash of a game that is the same on every machine (FNV-1a of its start and moves).
fn fingerprint(game: &Game) -> u64 {
    let moves = game.moves.iter().flat_map(|(mv, _)| mv.raw().to_le_bytes());
    let hash = game.start.bytes().chain(moves).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The low bits of FNV-1a depend mostly on the last bytes.
    hash ^ (hash >> 32)
}
