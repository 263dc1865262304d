//! Games as they are played on machines, for those who look on. Of what a machine shows nothing is believed but its moves,
//! and these only as far as they are legal; an answer has to stand without it.

use crate::{messages::Sight, registry::Registry, wire::BOARD};
use arena::{
    boards::{LiveBoard, LiveBoards},
    play::Fixture,
};
use referee::{
    Color,
    entry::{Entry, GameId, GameStarted, Moved, Stamped},
    lease::LeaseId,
    legality,
};
use rsshogi::board::Position;
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
    position: Position,
    /// Moves since the opening, and with it.
    moves: usize,
    plies: u32,
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
            let news = shown.news(sight, time);
            if !news.is_empty() {
                self.boards.extend(shown.game, news);
            }
        }
    }

    fn begin(&mut self, worker: &str, machine: &str, sight: &Sight, fixture: &Fixture, begun: i64) {
        self.end(sight.lease);
        let Some(position) = position(fixture) else { return };
        let game = GameId(self.next);
        self.next += 1;
        let setup = &fixture.setup;
        let opening: Vec<String> = setup.opening.iter().map(|mv| mv.to_usi()).collect();
        let started = Entry::GameStarted(GameStarted {
            game,
            pairing: fixture.pairing,
            start: setup.start.clone(),
            opening: opening.join(" "),
            times: Some(Box::new(setup.times)),
        });
        let entries = vec![Stamped { at: begun, entry: started }];
        self.boards.begin(game, LiveBoard { machine: machine.to_owned(), entries });
        let plies = u32::try_from(opening.len()).unwrap_or(u32::MAX);
        let (worker, place) = (worker.to_owned(), sight.game);
        self.shown.insert(sight.lease, Shown { worker, place, game, position, moves: 0, plies });
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

/// The position after the opening of a game.
fn position(fixture: &Fixture) -> Option<Position> {
    let mut position = Position::from_sfen(&fixture.setup.start).ok()?;
    for mv in &fixture.setup.opening {
        let mv = position.move32_from_move(*mv);
        position.try_apply_move32(mv).ok()?;
    }
    Some(position)
}

impl Shown {
    /// The moves of a sight that are new, as entries of this board: up to the first that cannot be the next.
    fn news(&mut self, sight: Sight, time: impl Fn(i64) -> i64) -> Vec<Stamped> {
        if sight.from > self.moves {
            return vec![];
        }
        let known = self.moves - sight.from;
        let new = sight.moves.into_iter().skip(known);
        new.map_while(|(at, moved)| Some(Stamped { at: time(at), entry: Entry::Moved(self.next(moved)?) }))
            .collect()
    }

    /// A move as the next one of this board.
    fn next(&mut self, mut moved: Moved) -> Option<Moved> {
        if let Some(thought) =
            moved.thought.as_mut().filter(|t| t.pv.as_ref().is_some_and(|pv| pv.len() > LINE))
        {
            thought.pv = None;
        }
        let color =
            if self.position.turn() == rsshogi::types::Color::BLACK { Color::Black } else { Color::White };
        if self.moves >= LONGEST
            || moved.ply != self.plies + 1
            || moved.color != color
            || legality::foul(&self.position, moved.mv).is_some()
        {
            return None;
        }
        let mv = self.position.move32_from_move(moved.mv);
        self.position.try_apply_move32(mv).ok()?;
        (self.moves, self.plies) = (self.moves + 1, moved.ply);
        Some(Moved { game: self.game, ..moved })
    }
}
