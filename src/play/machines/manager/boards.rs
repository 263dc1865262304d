//! Games as they are played on machines, for those who look on. Of what a machine shows nothing is believed but its moves,
//! and these only as far as they are legal; an answer has to stand without it.

use crate::{messages::Sight, registry::Registry, wire::BOARD};
use arena::{boards::LiveBoards, play::Fixture};
use referee::{
    entry::{GameId, GameStarted, Moved},
    lease::LeaseId,
    running::RunningGame,
};
use std::{collections::HashMap, sync::Arc};

/// Messages of a machine in the time between two looks that are read, for each board that it may show.
const MESSAGES: usize = 4;

/// The boards that are shown.
pub(super) struct Boards {
    boards: Arc<LiveBoards>,
    shown: HashMap<LeaseId, Shown>,
    /// Messages of each machine since the last look.
    heard: HashMap<String, usize>,
    next: u64,
}

/// Most moves that are shown of a game.
const LONGEST: usize = 2000;
/// Most bytes of an expected line.
const LINE: usize = 2000;

/// A board.
struct Shown {
    worker: String,
    /// The place of the game in its pair.
    place: usize,
    game: GameId,
    /// Moves since the opening.
    moves: usize,
}

impl Boards {
    pub(super) fn of(boards: Arc<LiveBoards>) -> Self {
        Self { boards, shown: HashMap::new(), heard: HashMap::new(), next: GameId::ELSEWHERE }
    }

    /// Boards that a machine is asked for.
    pub(super) fn asked(&self, registry: &Registry, worker: &str) -> usize {
        registry.boards_of(worker, self.boards.wanted())
    }

    /// Takes what a machine shows; more of it than was asked for, and what is none, is left alone.
    pub(super) fn take(&mut self, registry: &Registry, worker: &str, now: i64, payload: &[u8]) {
        let asked = self.asked(registry, worker);
        if asked == 0 || payload.len() > BOARD {
            return;
        }
        // A machine that may show something is known, so there are no more counters than machines.
        let heard = self.heard.entry(worker.to_owned()).or_default();
        *heard += 1;
        if *heard > MESSAGES * asked {
            return;
        }
        let Ok(sight) = serde_json::from_slice::<Sight>(payload) else { return };
        let Some((fixture, machine)) = registry.game_of(worker, sight.lease, sight.game) else { return };
        let time = |at: i64| registry.our_time(worker, at).min(now);
        if self.shown.get(&sight.lease).is_none_or(|shown| shown.place != sight.game) {
            let others = |(lease, shown): (&LeaseId, &Shown)| *lease != sight.lease && shown.worker == worker;
            if sight.from > 0 || self.shown.iter().filter(|board| others(*board)).count() >= asked {
                return;
            }
            let begun = sight.moves.first().map_or(now, |(at, moved)| {
                time(*at).saturating_sub(i64::try_from(moved.charged.as_millis()).unwrap_or(0))
            });
            self.begin(worker, machine, &sight, fixture, begun);
        }
        if let Some(shown) = self.shown.get_mut(&sight.lease) {
            self.boards.extend(shown.game, |board| shown.extend(board, sight, time));
        }
    }

    fn begin(&mut self, worker: &str, machine: &str, sight: &Sight, fixture: &Fixture, begun: i64) {
        self.end(sight.lease);
        let game = GameId(self.next);
        self.next += 1;
        let setup = &fixture.setup;
        let opening: Vec<String> = setup.opening.iter().map(|mv| mv.to_usi()).collect();
        let (pairing, start, opening) = (fixture.pairing, setup.start.clone(), opening.join(" "));
        let started = GameStarted { game, pairing, start, opening, times: None };
        let board = RunningGame::new(&started, setup.times, begun);
        self.boards.begin(board.on_machine(machine));
        let (worker, place) = (worker.to_owned(), sight.game);
        self.shown.insert(sight.lease, Shown { worker, place, game, moves: 0 });
    }

    /// Takes the board of a lease away.
    pub(super) fn end(&mut self, lease: LeaseId) {
        self.shown.remove(&lease).into_iter().for_each(|shown| self.boards.end(shown.game));
    }

    /// Takes the boards of pairs away that nobody plays any more.
    pub(super) fn look(&mut self, registry: &Registry) {
        self.heard.clear();
        let gone = self.shown.iter().filter(|(lease, _)| !registry.has(**lease));
        let gone: Vec<LeaseId> = gone.map(|(lease, _)| *lease).collect();
        gone.into_iter().for_each(|lease| self.end(lease));
    }

    /// Takes all boards away.
    pub(super) fn clear(&mut self) {
        self.shown.drain().for_each(|(_, shown)| self.boards.end(shown.game));
    }
}

impl Shown {
    /// Adds the moves of a sight that are new to a board, up to the first that cannot be the next; returns whether there
    /// were any.
    fn extend(&mut self, board: &mut RunningGame, sight: Sight, time: impl Fn(i64) -> i64) -> bool {
        let Some(known) = self.moves.checked_sub(sight.from) else { return false };
        let before = self.moves;
        for (at, moved) in sight.moves.into_iter().skip(known) {
            if self.moves >= LONGEST || !board.moved(&bounded(moved), time(at)) {
                break;
            }
            self.moves += 1;
        }
        self.moves > before
    }
}

/// A move without an expected line that is too long.
fn bounded(mut moved: Moved) -> Moved {
    if let Some(thought) = &mut moved.thought {
        thought.pv.take_if(|pv| pv.len() > LINE);
    }
    moved
}
