//! Reads a Game_Summary as the client needs it to play the game.

use notation::csa::{
    game_name::GameName,
    move_from_csa,
    summary::{Span, Summary, TimeBlock, Times},
};
use plan::client::ClientConfig;
use referee::{
    Color,
    clock::{Accounting, TimeControl},
    rules::{Declaration, Rules},
    running::play,
};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::Move,
};
use seat::csa_client::Count;
use std::time::Duration;

/// Overrun of a move in a game without clocks before the engine counts as hung.
const UNTIMED_PATIENCE: Duration = Duration::from_secs(60);

/// An announced game.
#[derive(Clone, Debug)]
pub struct Announced {
    /// Its id on the server.
    pub id: Option<String>,
    /// Our side.
    pub color: Color,
    /// The players, black first.
    pub names: [String; 2],
    /// The start position as SFEN.
    pub start: String,
    /// Moves made before the game starts or goes on.
    pub opening: Vec<Move>,
    /// Times that the server charged for them, where the summary has them.
    pub opening_times: Vec<Option<Duration>>,
    /// The clocks, black first.
    pub times: [TimeControl; 2],
    /// Main time left, black first.
    pub left: [Duration; 2],
    /// The server's counting of time.
    pub count: Count,
    /// The rules by which our referee judges our own moves.
    pub rules: Rules,
}

/// Reason why an announced game cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotPlay {
    /// The summary does not name our side.
    #[error("the summary does not name our side")]
    Side,
    /// A move of the position block is illegal.
    #[error("move {0} of the summary, `{1}`, is illegal")]
    Move(usize, String),
}

impl Announced {
    /// Reads a summary for the player `name`.
    ///
    /// # Errors
    /// When the game cannot be played.
    pub fn read(summary: &Summary, name: &str, config: &ClientConfig) -> Result<Self, CannotPlay> {
        let color = match (summary.your_turn, summary.names.each_ref().map(|n| n == name)) {
            (Some(color), _) => color,
            (None, [true, false]) => Color::Black,
            (None, [false, true]) => Color::White,
            (None, _) => return Err(CannotPlay::Side),
        };
        let stop_watch = game_name(summary).is_some_and(|game| game.is_stop_watch());
        let blocks = blocks(&summary.times);
        let units = blocks.each_ref().map(|block| unit(block, stop_watch));
        let times = [0, 1].map(|side| {
            let time = control(&blocks[side], units[side], config.untimed);
            if stop_watch { TimeControl { accounting: Accounting::StopWatch, ..time } } else { time }
        });
        let (opening, opening_times) = (opening(summary)?, opening_times(summary, units));
        let ours = color.index();
        Ok(Self {
            id: summary.game_id.clone(),
            color,
            names: summary.names.clone(),
            start: summary.start.clone(),
            left: left(summary, &blocks, &times, &opening_times, units),
            opening,
            opening_times,
            count: Count {
                unit: units[ours],
                least: times[ours].least,
                roundup: blocks[ours].roundup == Some(true),
            },
            times,
            rules: rules(summary, config),
        })
    }
}

/// The name of the game, which shogi-server and servers like it put second into its id.
pub fn game_name(summary: &Summary) -> Option<GameName> {
    summary.game_id.as_deref()?.split('+').nth(1)?.parse().ok()
}

fn blocks(times: &Times) -> [TimeBlock; 2] {
    match times {
        Times::Unlimited => Default::default(),
        Times::Same(block) => [block.clone(), block.clone()],
        Times::Each(blocks) => (**blocks).clone(),
    }
}

/// shogi-server announces `1min` for its stop-watch games, but counts in seconds.
fn unit(block: &TimeBlock, stop_watch: bool) -> Duration {
    let Some(unit) = block.unit else { return Duration::from_secs(1) };
    let of = match unit.of {
        Span::Msec => Duration::from_millis(1),
        Span::Min if !stop_watch => Duration::from_secs(60),
        Span::Sec | Span::Min => Duration::from_secs(1),
    };
    of.saturating_mul(unit.count.max(1))
}

/// Longest time accepted from a server, 24 days: engines count milliseconds in 32 bits, and unbounded sums overflow.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

fn times(count: u64, unit: Duration) -> Duration {
    unit.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX)).min(LONGEST)
}

fn control(block: &TimeBlock, unit: Duration, untimed: Duration) -> TimeControl {
    let span = |count: Option<u64>| times(count.unwrap_or(0), unit);
    let whole = unit >= Duration::from_secs(1);
    let time = TimeControl {
        main: span(block.total),
        byoyomi: span(block.byoyomi),
        increment: span(block.increment),
        delay: span(block.delay),
        least: span(block.least),
        accounting: if whole { Accounting::Seconds } else { Accounting::Milliseconds },
        ..TimeControl::default()
    };
    match time.is_timed() {
        true => time,
        // No flag falls, but an engine that never answers must not hold its opponent for ever.
        false => TimeControl { fixed: Some(untimed), margin: untimed.max(UNTIMED_PATIENCE), ..time },
    }
}

fn opening(summary: &Summary) -> Result<Vec<Move>, CannotPlay> {
    rsshogi::board::init();
    let mut position: Position = position_from_sfen(&summary.start).unwrap_or_default();
    position.init_stack();
    let mut moves = vec![];
    for (at, (text, _)) in summary.moves.iter().enumerate() {
        let illegal = || CannotPlay::Move(at + 1, text.clone());
        let mv = move_from_csa(&position, text).ok_or_else(illegal)?;
        if !play(&mut position, mv) {
            return Err(illegal());
        }
        moves.push(mv);
    }
    Ok(moves)
}

/// The times charged for the moves of a summary.
///
/// shogi-server deducts nothing for the moves of a buoy, although it sends `T1` or the times of the forked game. Such a game
/// starts with all its time.
fn opening_times(summary: &Summary, units: [Duration; 2]) -> Vec<Option<Duration>> {
    if game_name(summary).is_some_and(|game| game.is_buoy()) {
        return vec![None; summary.moves.len()];
    }
    let moves = summary.moves.iter();
    moves.map(|(text, time)| Some(time.as_ref()?.with_unit(units[side(text)]).min(LONGEST))).collect()
}

fn side(text: &str) -> usize {
    usize::from(text.starts_with('-'))
}

/// What is left of both main times: as the summary states it, else computed from the times of its moves. Moves at the head
/// of the list that took no time earn no increment: they are an opening that was set up, not played.
fn left(
    summary: &Summary,
    blocks: &[TimeBlock; 2],
    controls: &[TimeControl; 2],
    took: &[Option<Duration>],
    units: [Duration; 2],
) -> [Duration; 2] {
    if let Some(standing) = blocks.iter().find_map(|block| block.standing.as_ref()) {
        return [0, 1].map(|side| times(standing.remaining[side], units[side]));
    }
    let mut left = controls.each_ref().map(|time| time.main);
    let moves = summary.moves.iter().zip(took.iter().map(|took| took.unwrap_or_default()));
    for ((text, _), took) in moves.skip_while(|(_, took)| took.is_zero()) {
        let side = side(text);
        left[side] = (left[side] + controls[side].increment).saturating_sub(took);
    }
    left
}

/// The server rules; these rules only decide when the client declares, and the start of the position command.
fn rules(summary: &Summary, config: &ClientConfig) -> Rules {
    let announced = summary.declaration.as_deref().is_some_and(|rule| rule.starts_with("Jishogi"));
    let default = if announced { Declaration::Csa27 } else { Declaration::None };
    Rules {
        max_moves: summary.max_moves.filter(|max| *max > 0),
        declaration: config.declaration.unwrap_or(default),
        handicap_credit: false,
        mate_ends_game: false,
        ..Rules::default()
    }
}

#[cfg(test)]
#[path = "announced_tests.rs"]
mod tests;
