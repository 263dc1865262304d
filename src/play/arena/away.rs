//! Games of an event that are away: handed to a machine by a lease, and not yet stored.
//!
//! A game gets its number when it comes back. Games that are lost are handed out again before all others, as the same
//! attempt, so that an event ends with the same games wherever they were played.

use crate::{
    desk::{Closing, RemoteDesk},
    error::RunError,
    note::Note,
    play::Fixture,
};
use contest::schedule::Pairing;
use referee::{
    clock::Scale,
    entry::{Entry, GameId},
    lease::{Lease, LeaseId},
    sink::Sink,
};
use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    time::{Duration, Instant},
};

/// The machines of an event, and the games that they have.
pub(crate) struct Away {
    pub desk: Box<dyn RemoteDesk>,
    /// The games of each lease.
    leases: HashMap<LeaseId, Vec<Pairing>>,
    /// True if the machines know that no further pair begins.
    stopped: bool,
    /// When the games that are played here have begun, and how long the longest was.
    begun_here: HashMap<GameId, Instant>,
    longest_here: Duration,
}

impl Away {
    pub fn new(desk: Box<dyn RemoteDesk>) -> Self {
        let (begun_here, longest_here) = (HashMap::new(), Duration::ZERO);
        Self { desk, leases: HashMap::new(), stopped: false, begun_here, longest_here }
    }

    /// Opens the desk; returns the leases of earlier runs that may still be answered.
    pub fn open(&mut self, notes: Sender<Note>, sink: Arc<dyn Sink>) -> Result<Vec<Lease>, RunError> {
        self.desk.open(notes, sink)
    }

    /// Takes over a lease of an earlier run.
    pub fn adopt(&mut self, lease: Lease, fixtures: Vec<Fixture>) {
        self.leases.insert(lease.lease, lease.games.clone());
        self.desk.adopt(lease, fixtures);
    }

    /// Begins to talk to machines, after all leases were adopted.
    pub fn begin(&mut self) -> Result<(), RunError> {
        self.desk.begin()
    }

    /// Gives the games of a pair to a machine; false when none has a place.
    pub fn give(&mut self, games: &[Pairing], fixtures: Vec<Fixture>) -> bool {
        let lease = self.desk.give(fixtures);
        lease.map(|lease| self.leases.insert(lease, games.to_vec())).is_some()
    }

    /// Takes back the games of a lease that was played or lost. The desk says so once.
    pub fn take(&mut self, lease: LeaseId) -> Option<Vec<Pairing>> {
        self.leases.remove(&lease)
    }

    /// The games that machines have.
    pub fn games(&self) -> impl Iterator<Item = &Pairing> {
        self.leases.values().flatten()
    }

    /// The machine that has a game of this pair of a stage, and for how long.
    pub fn holder(&self, stage: u8, pair: u64) -> Option<String> {
        let has = |games: &[Pairing]| games.iter().any(|game| (game.stage, game.pair) == (stage, pair));
        let (lease, _) = self.leases.iter().find(|(_, games)| has(games))?;
        self.desk.holder(*lease)
    }

    /// Has pairs taken back that machines hoard. `is_free`: whether a slot is free here, too.
    pub fn tell_that_others_wait(&mut self, is_free: bool) {
        if !self.leases.is_empty() {
            let longest = Some(self.longest_here).filter(|longest| is_free && !longest.is_zero());
            self.desk.others_wait(longest);
        }
    }

    /// Notes that a game begins here.
    pub fn begins_here(&mut self, game: GameId) {
        self.begun_here.insert(game, Instant::now());
    }

    /// Notes that a game that was played here is over.
    pub fn ended_here(&mut self, game: GameId) {
        let took = self.begun_here.remove(&game).map(|begun| begun.elapsed());
        self.longest_here = self.longest_here.max(took.unwrap_or_default());
    }

    /// Tells the machines that no further pair begins, once.
    pub fn stop(&mut self) {
        if !mem::replace(&mut self.stopped, true) {
            self.desk.stop();
        }
    }

    /// By how much the clocks of games that are played here are longer than those of the plan.
    pub fn scale_here(&self) -> Scale {
        self.desk.scale_here()
    }

    /// Ends the desk; what was stored until now is told to the machines first.
    pub fn close(mut self, sink: &dyn Sink, closing: Closing) {
        let (kept, stored) = channel();
        sink.when_kept(Box::new(move || _ = kept.send(())));
        // An error: the journal has failed, and nobody waits for it.
        let _stored_or_failed = stored.recv();
        self.desk.close(closing);
    }
}

/// An entry of a game under its number in the event.
pub(crate) fn numbered(entry: Entry, number: GameId) -> Entry {
    match entry {
        Entry::GameStarted(mut started) => {
            started.game = number;
            Entry::GameStarted(started)
        }
        Entry::Moved(mut moved) => {
            moved.game = number;
            Entry::Moved(moved)
        }
        Entry::GameEnded(mut ended) => {
            ended.game = number;
            Entry::GameEnded(ended)
        }
        Entry::Fault { player, text } => Entry::Fault { player, text: renumbered(text, number) },
        other => other,
    }
}

/// The text of a fault in a game, which begins with the number of the game.
fn renumbered(text: String, number: GameId) -> String {
    let rest = text.strip_prefix("game ").and_then(|rest| rest.split_once(':'));
    match rest.filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_digit())) {
        Some((_, rest)) => format!("game {}:{rest}", number.0),
        None => text,
    }
}
