//! Adjourned games: their positions and clocks, from which they are played on; and the clocks that replayed draws leave.

use contest::schedule::Pairing;
use journal::{EventId, FullGame, Store, StoreError};
use plan::Plan;
use referee::{Color, clock::TimeControl, entry::GameId, game::Setup, opening::Opening};
use rsshogi::types::Move;
use std::{path::Path, time::Duration};

/// What is left to a player whose clock has nothing but main time, and stood at zero.
const MIN_TIME: Duration = Duration::from_millis(1);

/// Why a game does not go on from an earlier one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotKept {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The moves are gone.
    #[error("the moves of game {} were dropped by `renmei prune`", .0.0)]
    Pruned(GameId),
}

/// Where an adjourned game is played on.
struct Kept {
    opening: Opening,
    times: [TimeControl; 2],
}

/// Sets an adjourned game up with its position and its clocks, or those that the operator has stated; false if there is
/// none at this place of the schedule.
///
/// # Errors
/// When the database cannot be read, or has the moves of the game no more.
pub(crate) fn play_on(
    database: &Path,
    event: EventId,
    pairing: &Pairing,
    setup: &mut Setup,
    stated: impl FnOnce(GameId) -> [Option<Duration>; 2],
) -> Result<bool, NotKept> {
    let store = Store::read(database)?;
    let Some(game) = store.adjourned_at(event, pairing)? else { return Ok(false) };
    let Some(Kept { opening, mut times }) = kept(&game, setup.times)? else { return Ok(false) };
    for (time, left) in times.iter_mut().zip(stated(game.row.game)) {
        *time = left.map_or(*time, |left| with(*time, left));
    }
    (setup.start, setup.opening, setup.times) = (opening.start, opening.moves, times);
    let before = store.moves_before(event, &game.row)?;
    setup.scores = before.iter().chain(&game.moves).map(|(_, moved)| moved.score()).collect();
    Ok(true)
}

/// Gives the players of a game the time that the replayed draw before it left them; false if there is no such draw.
///
/// # Errors
/// When the database cannot be read, or has the moves of the game no more.
pub(crate) fn take_clocks_over(
    database: &Path,
    event: EventId,
    pairing: &Pairing,
    setup: &mut Setup,
    plan: &Plan,
) -> Result<bool, NotKept> {
    let Some(drawn) = Store::read(database)?.replayed_at(event, pairing)? else { return Ok(false) };
    let players = [drawn.row.pairing.black, drawn.row.pairing.white];
    let Some(Kept { times, .. }) = kept(&drawn, plan.times(&drawn.row.pairing))? else { return Ok(false) };
    // The players may have swapped colours; a clock that differs by colour is that of the new one.
    for (color, player) in [pairing.black, pairing.white].into_iter().enumerate() {
        let Some(before) = players.iter().position(|other| *other == player) else { return Ok(false) };
        setup.times[color] = with(setup.times[color], times[before].main);
    }
    Ok(true)
}

/// The position and the clocks of a game; `None` for one that never began.
fn kept(game: &FullGame, plan: [TimeControl; 2]) -> Result<Option<Kept>, NotKept> {
    let (Some(start), Some(opening)) = (game.row.start.clone(), game.row.opening.clone()) else {
        return Ok(None);
    };
    if game.row.pruned_at.is_some() {
        return Err(NotKept::Pruned(game.row.game));
    }
    let played = game.moves.iter().map(|(_, moved)| moved.mv);
    let moves = opening.split_whitespace().filter_map(Move::from_usi).chain(played).collect();
    let times = game.row.times.as_deref().copied().unwrap_or(plan);
    let times = Color::BOTH.map(|color| {
        let last = game.moves.iter().rev().find(|(_, moved)| moved.color == color);
        let control = times[color.index()];
        last.map_or(control, |(_, moved)| with(control, moved.left))
    });
    Ok(Some(Kept { opening: Opening { start, moves }, times }))
}

/// The clock with so much of its main time left.
fn with(control: TimeControl, left: Duration) -> TimeControl {
    let rest = TimeControl { main: left, ..control };
    if control.is_timed() && !rest.is_timed() { TimeControl { main: MIN_TIME, ..control } } else { rest }
}
