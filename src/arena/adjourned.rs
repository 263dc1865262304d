//! Adjourned games: their positions and clocks, from which they are played on.

use crate::dispatcher::Dispatcher;
use journal::{FullGame, Store};
use referee::{Color, clock::TimeControl, entry::GameId, game::Setup, opening::Opening, schedule::Pairing};
use rsshogi::types::Move;
use std::{mem, time::Duration};

/// What is left to a player whose clock has nothing but main time, and stood at zero.
const LEAST: Duration = Duration::from_millis(1);

/// Where an adjourned game is played on.
struct Kept {
    opening: Opening,
    times: [TimeControl; 2],
}

impl Dispatcher<'_> {
    /// Whether the game at this place waits for the operator since it was adjourned.
    pub(crate) fn is_held(&self, pairing: &Pairing) -> bool {
        pairing.attempt > 0 && self.operations.held_at(pairing).is_some()
    }

    /// Whether the game at this place may be an adjourned one. Such a game is played here, where its clocks ran.
    pub(crate) fn may_be_played_on(&self, pairing: &Pairing) -> bool {
        pairing.attempt > 0 && !self.has_no_slots() && self.operations.has_adjourned()
    }

    /// Takes the games that wait no longer for the operator among those that can begin.
    pub(crate) fn take_up_adjourned(&mut self) {
        let (held, free): (Vec<_>, Vec<_>) =
            mem::take(&mut self.held).into_iter().partition(|pairing| self.is_held(pairing));
        self.held = held;
        self.pending.splice(0..0, free);
    }

    /// Sets an adjourned game up with its position and its clocks; false for every other game.
    pub(crate) fn play_on(&self, pairing: &Pairing, setup: &mut Setup) -> bool {
        if !self.may_be_played_on(pairing) {
            return false;
        }
        match self.kept(pairing, setup.times) {
            Ok(Some(Kept { opening, times })) => {
                (setup.start, setup.opening, setup.times) = (opening.start, opening.moves, times);
                true
            }
            Ok(None) => false,
            Err(why) => {
                let game = setup.game.0;
                (self.say)(&format!(
                    "game {game} begins from its opening, not where it was adjourned: {why}"
                ));
                false
            }
        }
    }

    fn kept(&self, pairing: &Pairing, plan: [TimeControl; 2]) -> Result<Option<Kept>, String> {
        // The moves of the adjourned game are on the disk before the operation that adjourned it.
        self.operations.await_all()?;
        let store = Store::read(&self.plan.database);
        let found = store.and_then(|store| store.adjourned_at(self.journal.event(), pairing));
        found.map(|found| found.and_then(|game| kept(&game, plan))).map_err(|error| error.to_string())
    }
}

/// The position and the clocks of a game; `None` for one that never began.
fn kept(game: &FullGame, plan: [TimeControl; 2]) -> Option<Kept> {
    let (start, opening) = (game.row.start.clone()?, game.row.opening.clone()?);
    let played = game.moves.iter().map(|(_, moved)| moved.mv);
    let moves = opening.split_whitespace().filter_map(Move::from_usi).chain(played).collect();
    let times = game.row.times.as_deref().copied().unwrap_or(plan);
    let times = Color::BOTH.map(|color| {
        let last = game.moves.iter().rev().find(|(_, moved)| moved.color == color);
        let control = times[color.index()];
        last.map_or(control, |(_, moved)| with(control, moved.left))
    });
    Some(Kept { opening: Opening { start, moves }, times })
}

/// The clock with so much of its main time left.
fn with(control: TimeControl, left: Duration) -> TimeControl {
    let rest = TimeControl { main: left, ..control };
    match control.is_timed() && !rest.is_timed() {
        true => TimeControl { main: LEAST, ..control },
        false => rest,
    }
}

/// The order about a game that is held.
pub(crate) fn not_held(game: GameId) -> String {
    format!("game {} does not wait to be played on; `list` shows those that do", game.0)
}
