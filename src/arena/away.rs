//! Games of an event that are away: handed to a machine by a lease, and not yet stored.
//!
//! A game gets its number when it comes back. Games that are lost are handed out again before all others, as the same
//! attempt, so that an event ends with the same games wherever they were played.

use crate::{
    desk::{Closing, DeskNote, PlayedJob, RemoteDesk},
    dispatcher::{Dispatcher, RunError, option_records},
    worker::Note,
};
use journal::now;
use referee::{
    clock::Scale,
    entry::{Entry, GameId, Stamped},
    lease::{Committed, Lease, LeaseId},
    schedule::{Format, Next, Pairing},
    sink::{GameOptions, SideRecord},
};
use std::{
    collections::{HashMap, HashSet},
    io,
    sync::mpsc::{Sender, channel},
    time::{Duration, Instant},
};

/// Pairs that a sequential test may be ahead of the first one that is not complete, for each slot of every machine: a
/// slow machine holds up the others only when they have played so many.
const WINDOW: u64 = 4;
/// Least of these pairs.
const LEAST_WINDOW: u64 = 32;
/// Most games that are taken from the schedule to find those of earlier leases.
const SEARCHED: usize = 100_000;

/// The machines of an event, and the games that they have.
pub(crate) struct Away {
    desk: Box<dyn RemoteDesk>,
    /// The games of each lease.
    leases: HashMap<LeaseId, Vec<Pairing>>,
    /// Whether the machines know that no further pair begins.
    stopped: bool,
    /// When the games that are played here have begun, and how long the longest was.
    begun_here: HashMap<GameId, Instant>,
    longest_here: Duration,
}

impl Away {
    pub(crate) fn new(desk: Box<dyn RemoteDesk>) -> Self {
        let (begun_here, longest_here) = (HashMap::new(), Duration::ZERO);
        Self { desk, leases: HashMap::new(), stopped: false, begun_here, longest_here }
    }

    fn games(&self) -> impl Iterator<Item = &Pairing> {
        self.leases.values().flatten()
    }
}

impl Dispatcher<'_> {
    /// Opens the desk, and takes over what machines still have of an earlier run, before anything is handed out.
    pub(crate) fn open_desk(&mut self, notes: Sender<Note>) -> Result<(), RunError> {
        let Some(away) = &mut self.away else { return Ok(()) };
        let opened = away.desk.open(notes, self.journal.sink());
        let leases = opened.map_err(|why| RunError::Io("machines".to_owned(), io::Error::other(why)))?;
        let leases = unfinished(leases, |game| {
            self.standings.finished(game.stage.into()).is_some_and(|finished| finished.contains(game.index))
        });
        let games = leases.iter().flat_map(|lease| &lease.games);
        let mut wanted: HashSet<(u8, u64)> = games.map(|game| (game.stage, game.index)).collect();
        let mut found = vec![];
        while !wanted.is_empty() && found.len() < SEARCHED {
            match self.schedule.next(&self.standings) {
                Next::Game(pairing) => {
                    wanted.remove(&(pairing.stage, pairing.index));
                    found.push(pairing);
                }
                Next::Bye { stage, round, player, half_points } => {
                    self.happened(Entry::Bye { stage, round, player, half_points });
                }
                Next::Wait | Next::Done => break,
            }
        }
        for lease in leases {
            self.adopt(lease, &mut found);
        }
        self.pending.extend(found);
        let Some(away) = &mut self.away else { return Ok(()) };
        away.desk.begin().map_err(|why| RunError::Io("machines".to_owned(), io::Error::other(why)))
    }

    /// Takes over a lease whose games are all still to be played.
    fn adopt(&mut self, lease: Lease, found: &mut Vec<Pairing>) {
        if !lease.games.iter().all(|game| found.contains(game)) {
            return;
        }
        found.retain(|game| !lease.games.contains(game));
        let fixtures = lease.games.iter().map(|game| self.fixture(GameId(0), *game)).collect();
        let Some(away) = &mut self.away else { return };
        away.leases.insert(lease.lease, lease.games.clone());
        away.desk.adopt(lease, fixtures);
    }

    /// Whether games are away whose results are awaited.
    pub(crate) fn awaits_machines(&self) -> bool {
        let away = self.away.as_ref().is_some_and(|away| !away.leases.is_empty());
        away && !self.is_adjourning()
    }

    /// Whether a machine has a place.
    pub(crate) fn has_places_elsewhere(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.desk.places() > 0)
    }

    /// The second game of a pair whose first is played here stays here.
    fn stays_here(&self, pairing: &Pairing) -> bool {
        self.may_be_played_on(pairing)
            || !self.has_no_slots()
                && self
                    .running
                    .values()
                    .any(|other| (other.stage, other.pair) == (pairing.stage, pairing.pair))
    }

    /// Gives a pair to a machine; false if there is none to give.
    pub(crate) fn send_away(&mut self) -> bool {
        let Some(first) = self.next_game_where(&|this, pairing| !this.stays_here(pairing)) else {
            return false;
        };
        let mut games = vec![first];
        let partner = |this: &Self, pairing: &Pairing| {
            (pairing.stage, pairing.pair) == (first.stage, first.pair) && !this.stays_here(pairing)
        };
        games.extend(self.next_game_where(&partner));
        let fixtures = games.iter().map(|game| self.fixture(GameId(0), *game)).collect();
        let given = self.away.as_mut().and_then(|away| Some((away.desk.give(fixtures)?, away)));
        match given {
            Some((lease, away)) => {
                away.leases.insert(lease, games);
                self.watchdog.calm();
                true
            }
            None => {
                self.pending.splice(0..0, games);
                false
            }
        }
    }

    /// Whether a game of a sequential test is too far ahead of the first one that is neither played nor left out. That one
    /// is never too far ahead itself, so somebody plays it, or it is the next to begin.
    pub(crate) fn is_far_ahead(&self, pairing: &Pairing) -> bool {
        let Some(away) = &self.away else { return false };
        let stage = self.plan.stages.get(usize::from(pairing.stage));
        if !stage.is_some_and(|stage| matches!(stage.format, Format::Sprt { .. })) {
            return false;
        }
        let slots = (away.desk.slots() + self.plan.concurrency) as u64;
        pairing.pair >= self.first_unfinished(pairing) / 2 + (slots * WINDOW).max(LEAST_WINDOW)
    }

    /// The first index of the stage of this game that is neither played nor left out.
    pub(crate) fn first_unfinished(&self, of: &Pairing) -> u64 {
        self.standings.finished(of.stage.into()).map_or(0, |finished| finished.first_absent(0))
    }

    /// Hands games back to the schedule that are too far ahead: a correction of an early result may have brought the test
    /// back, and games that wait must not keep those from beginning that it waits for.
    pub(crate) fn withdraw_far_ahead(&mut self) {
        if self.away.is_none() {
            return;
        }
        for game in std::mem::take(&mut self.pending) {
            match self.is_far_ahead(&game) {
                true => self.schedule.withdrawn(&game),
                false => self.pending.push(game),
            }
        }
    }

    /// The machine that has a game of this kind, and for how long.
    pub(crate) fn machine_with(&self, is_it: impl Fn(&Pairing) -> bool) -> Option<String> {
        let away = self.away.as_ref()?;
        let (lease, _) = away.leases.iter().find(|(_, games)| games.iter().any(&is_it))?;
        away.desk.holder(*lease)
    }

    /// Has pairs taken back that machines hoard, while places are free.
    pub(crate) fn tell_that_others_wait(&mut self) {
        let is_free = self.has_free_slot();
        let Some(away) = self.away.as_mut().filter(|away| !away.leases.is_empty()) else { return };
        away.desk.others_wait(Some(away.longest_here).filter(|longest| is_free && !longest.is_zero()));
    }

    /// Notes that a game begins here.
    pub(crate) fn begins_here(&mut self, game: GameId) {
        self.watchdog.calm();
        self.away.iter_mut().for_each(|away| _ = away.begun_here.insert(game, Instant::now()));
    }

    /// Notes that a game that was played here is over.
    pub(crate) fn ended_here(&mut self, game: GameId) {
        let Some(away) = &mut self.away else { return };
        let took = away.begun_here.remove(&game).map(|begun| begun.elapsed());
        away.longest_here = away.longest_here.max(took.unwrap_or_default());
    }

    /// Tells the machines that no further pair begins, once.
    pub(crate) fn stop_machines(&mut self) {
        let ends = self.standings.verdict().is_some() || !self.goes_on();
        if let Some(away) = self.away.as_mut().filter(|away| ends && !away.stopped) {
            away.stopped = true;
            away.desk.stop();
        }
    }

    pub(crate) fn heard(&mut self, note: DeskNote) {
        match note {
            DeskNote::Free => {}
            DeskNote::Played(job) => self.came_back(*job),
            DeskNote::Lost(lease) => self.lost(lease),
            DeskNote::Hinders(machine, why) => self.drop_hindering(&machine, &why),
            DeskNote::Fault(player, text) => self.happened(Entry::Fault { player, text }),
        }
    }

    /// Hands the games of a lease out again, before all others; after a verdict they are not played any more.
    fn lost(&mut self, lease: LeaseId) {
        let Some(games) = self.away.as_mut().and_then(|away| away.leases.remove(&lease)) else { return };
        self.pending.splice(0..0, games);
    }

    /// By how much the clocks of games that are played here are longer than those of the plan.
    pub(crate) fn scale_here(&self) -> Scale {
        self.away.as_ref().map_or(Scale::ONE, |away| away.desk.scale_here())
    }

    /// Whether machines may play games of the event.
    pub(crate) fn has_machines(&self) -> bool {
        self.away.is_some()
    }

    /// After a verdict, hands games back to the schedule that nobody has begun: it completes pairs, and begins none.
    pub(crate) fn drop_needless(&mut self) {
        if self.away.is_some() && self.standings.verdict().is_some() {
            self.pending.drain(..).for_each(|game| self.schedule.withdrawn(&game));
        }
    }

    /// Whether a machine of that name is here.
    pub(crate) fn knows_machine(&self, machine: &str) -> bool {
        self.away.as_ref().is_some_and(|away| away.desk.knows(machine))
    }

    /// Gives a machine nothing more.
    pub(crate) fn bar_machine(&mut self, machine: &str, why: &str) {
        self.away.iter_mut().for_each(|away| away.desk.bar(machine, why));
    }

    /// Lets a machine that was given nothing more join again.
    pub(crate) fn unbar_machine(&mut self, machine: &str) {
        self.away.iter_mut().for_each(|away| away.desk.readmit(machine));
    }

    /// Stores the games of a lease in one transaction with the lease itself.
    fn came_back(&mut self, job: PlayedJob) {
        let PlayedJob { lease, machine, sha256, games, kept } = job;
        // Its answer was on the way when the operator dropped it.
        if self.operations.dropped_machines().iter().any(|(name, _)| *name == machine) {
            return self.lost(lease);
        }
        // The desk says of each lease only once that it was played or lost.
        let Some(pairings) = self.away.as_mut().and_then(|away| away.leases.remove(&lease)) else { return };
        let draws: Vec<u32> = pairings.iter().map(|pairing| self.standings.replays(pairing)).collect();
        let options: Vec<[GameOptions; 2]> = pairings.iter().map(|pairing| self.options(pairing)).collect();
        let (mut batch, mut numbers, mut records) = (vec![], vec![], vec![]);
        for (entries, options) in games.into_iter().zip(&options) {
            let number = self.number();
            numbers.push(number);
            records.extend(option_records(number, options));
            for Stamped { at, entry } in entries {
                let entry = numbered(entry, number);
                self.fold_into(Stamped { at: at.min(now()), entry }, &mut batch);
            }
        }
        let committed = Committed { lease, machine, sha256, games: numbers };
        records.push(SideRecord::Committed(Box::new(committed)));
        self.journal.append_with(batch, records);
        self.journal.sink().when_kept(kept);
        for (pairing, draws) in pairings.into_iter().zip(draws) {
            if self.standings.replays(&pairing) > draws {
                self.schedule.returned(pairing);
            }
        }
    }

    /// Ends the desk; what was stored until now is told to the machines first.
    pub(crate) fn close_desk(&mut self, closing: Closing) {
        let Some(mut away) = self.away.take() else { return };
        let (kept, stored) = channel();
        self.journal.sink().when_kept(Box::new(move || _ = kept.send(())));
        // An error: the journal has failed, and nobody waits for it.
        let _stored_or_failed = stored.recv();
        away.desk.close(closing);
    }

    /// Whether a game follows a result that may be changed.
    pub(crate) fn away_games(&self) -> impl Iterator<Item = &Pairing> {
        self.away.iter().flat_map(Away::games)
    }
}

/// Leases whose games are still to be played. The others were lost, and others have played their games since: whoever
/// looked for these in the schedule would take all of it.
fn unfinished(leases: Vec<Lease>, is_finished: impl Fn(&Pairing) -> bool) -> Vec<Lease> {
    leases.into_iter().filter(|lease| !lease.games.iter().any(&is_finished)).collect()
}

/// An entry of a game under its number in the event.
fn numbered(entry: Entry, number: GameId) -> Entry {
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

#[cfg(test)]
#[path = "away_tests.rs"]
mod tests;
