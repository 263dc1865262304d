//! Answers to leases: judged, handed to the dispatcher, confirmed when they are stored.

use super::{Act, Manager, Played, Question, dropped_words};
use crate::hub::WorkerId;
use crate::{
    Moment,
    messages::{Answer, Reply, Taken},
    registry::{Found, Part},
    replay::{self, ReplayFault},
};
use arena::{desk::DeskNote, play::Fixture};
use journal::KnownLease;
use referee::{
    entry::{Entry, Stamped},
    lease::LeaseId,
};
use std::time::Duration;

impl Manager {
    /// True if this is an answer to a lease that its worker has. An answer begins with its lease: the rest is not read.
    pub(super) fn awaits(&self, worker: &str, payload: &[u8]) -> bool {
        const BEGINNING: &[u8] = b"{\"lease\":\"";
        let digits = payload.strip_prefix(BEGINNING).and_then(|rest| rest.get(..16));
        let lease = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        lease.is_some_and(|lease| self.registry.awaits(worker, lease))
    }

    /// Takes an answer; `None`: the reply follows when the games are stored, or the lease was looked up.
    pub(super) fn played(
        &mut self,
        now: Moment,
        id: &WorkerId,
        payload: &[u8],
        reply: &str,
    ) -> Option<Taken> {
        let worker = id.as_str();
        let Ok(answer) = serde_json::from_slice::<Answer>(payload) else {
            self.fault(worker, None, "an answer of it cannot be read");
            return Some(Taken::Refused { why: "it cannot be read".to_owned() });
        };
        let (lease, sha256) = (answer.lease, crate::hub::sha256(payload));
        // An answer that was on its way is no fault of a machine that was dropped meanwhile.
        if let Some(reason) = self.dropped.get(&self.registry.name_of(worker)) {
            return Some(Taken::Refused { why: dropped_words(reason) });
        }
        match self.registry.find(worker, lease) {
            Found::Answered(stored) if stored == sha256 => Some(Taken::Later),
            Found::Answered(_) => Some(self.contradicts(worker, lease)),
            // It was to be played again for an earlier manager, or is not wanted any more.
            Found::Unknown if answer.repeats => Some(Taken::Committed),
            Found::Unknown => {
                let (worker, reply) = (id.clone(), reply.to_owned());
                self.act(Act::LookUp(Question { lease, worker, sha256, reply }));
                None
            }
            Found::Open(fixtures) => {
                let taken = self.open_answer(now, id, answer, &fixtures, sha256);
                if taken.is_none() {
                    self.awaited.insert(lease, (id.clone(), reply.to_owned()));
                }
                taken
            }
        }
    }

    fn open_answer(
        &mut self,
        now: Moment,
        id: &WorkerId,
        answer: Answer,
        fixtures: &[Fixture],
        sha256: String,
    ) -> Option<Taken> {
        let (worker, lease) = (id.as_str(), answer.lease);
        if let Err(why) = check(&answer, fixtures) {
            let text = format!("{why}; not counted, played again, and this machine gets nothing more");
            self.fault(worker, None, &text);
            let mut lost = self.registry.bar(worker, Part::Lied);
            lost.extend(self.registry.lose(lease).then_some(lease));
            self.lost(lost);
            return Some(Taken::Refused { why: why.to_string() });
        }
        if let Some(repeat) = self.repeats.take(lease) {
            return Some(self.repeated(worker, &answer, &repeat));
        }
        self.repeats.keep(self.event.repeats, worker, &answer, fixtures);
        let in_our_time = |Stamped { at, entry }: Stamped| {
            let at = self.registry.our_time(worker, at);
            Stamped { at, entry }
        };
        let games: Vec<Vec<Stamped>> =
            answer.games.into_iter().map(|game| game.into_iter().map(in_our_time).collect()).collect();
        let took = games.iter().map(|game| duration(game)).sum();
        self.registry.answered(now.steady, lease, &sha256, took);
        let machine = self.registry.name_of(worker);
        self.act(Act::Played(Played { lease, machine, sha256, games }));
        None
    }

    /// The games of a lease are on the disk.
    pub(super) fn stored(&mut self, lease: LeaseId) {
        self.registry.end(lease);
        // Its games have their numbers now.
        self.boards.end(lease);
        if let Some((worker, reply)) = self.awaited.remove(&lease) {
            self.reply(&worker, reply, Reply::Taken(Taken::Committed));
        }
        self.note(DeskNote::Free);
    }

    /// The event does not take the answer of a lease: its machine was dropped while the answer was on its way to the
    /// dispatcher. The lease is over here, so that a readmitted machine that sends the answer again hears so.
    pub(super) fn turned_down(&mut self, lease: LeaseId) {
        self.registry.end(lease);
        self.boards.end(lease);
        let Some((worker, reply)) = self.awaited.remove(&lease) else { return };
        let taken = match self.dropped.get(&self.registry.name_of(worker.as_str())) {
            Some(reason) => Taken::Refused { why: dropped_words(reason) },
            None => Taken::Later,
        };
        self.reply(&worker, reply, Reply::Taken(taken));
    }

    /// The database has been asked for a lease that is not of this run, or lost.
    pub(super) fn looked_up(&mut self, question: Question, known: Option<Option<KnownLease>>) {
        let Question { lease, worker: id, sha256, reply } = question;
        let worker = id.as_str();
        let taken = match known {
            None => Taken::Later,
            Some(Some(known)) if known.sha256.as_ref() == Some(&sha256) => Taken::Committed,
            Some(Some(known)) if known.sha256.is_some() => self.contradicts(worker, lease),
            Some(Some(known)) => {
                let places: Vec<String> =
                    known.lease.games.iter().map(|game| (game.index + 1).to_string()).collect();
                let word = if places.len() == 1 { "place" } else { "places" };
                let places = format!("{word} {} of the schedule", places.join(" and "));
                let why = format!("lease {lease} ({places}) was answered after it was lost: not counted");
                self.refused(worker, why)
            }
            Some(None) => {
                let why = format!("an answer to lease {lease}, which was never issued, does not count");
                self.refused(worker, why)
            }
        };
        self.reply(&id, reply, Reply::Taken(taken));
    }

    fn contradicts(&mut self, worker: &str, lease: LeaseId) -> Taken {
        let why = format!("lease {lease} was answered once more with other games: the first answer counts");
        self.refused(worker, why)
    }

    fn refused(&mut self, worker: &str, why: String) -> Taken {
        self.fault(worker, None, &why);
        Taken::Refused { why }
    }
}

/// Why an answer does not count.
#[derive(Debug, thiserror::Error)]
enum AnswerFault {
    /// Too many games, or too few.
    #[error("lease {lease} is answered with {games} of {of}")]
    Games { lease: LeaseId, games: usize, of: usize },
    /// A game that our referee rules otherwise; its place in the schedule.
    #[error("the game at place {0} is not one: {1}")]
    Game(u64, ReplayFault),
}

/// Checks the games of an answer.
fn check(answer: &Answer, fixtures: &[Fixture]) -> Result<(), AnswerFault> {
    let (lease, games, of) = (answer.lease, answer.games.len(), fixtures.len());
    if games != of {
        return Err(AnswerFault::Games { lease, games, of });
    }
    answer.games.iter().zip(fixtures).try_for_each(|(game, fixture)| {
        let place = fixture.pairing.index + 1;
        replay::check(fixture, game).map_err(|fault| AnswerFault::Game(place, fault))
    })
}

/// How long a game was.
fn duration(game: &[Stamped]) -> Duration {
    let ends =
        game.iter().filter(|stamped| matches!(stamped.entry, Entry::GameStarted(_) | Entry::GameEnded(_)));
    let times: Vec<i64> = ends.map(|stamped| stamped.at).collect();
    let span = times.last().zip(times.first()).map_or(0, |(last, first)| last.saturating_sub(*first));
    Duration::from_millis(span.max(0).unsigned_abs())
}
