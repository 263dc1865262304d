//! The pairs of a worker: those that wait, and those that are played, one game of a pair after the other.

use crate::messages::{Answer, Job, Terms};
use arena::{Unplayed, play::Fixture};
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameEnded, GameId, Stamped},
    lease::LeaseId,
};
use std::{
    collections::{BTreeMap, VecDeque},
    mem,
};

/// What follows for a pair.
#[derive(Debug)]
pub(super) enum Done {
    /// A game of it begins on this thread.
    Begins(usize, Box<Fixture>),
    /// Its games were played.
    Played(Answer),
    /// They were not, and why; empty: because it was wished so.
    NotPlayed(LeaseId, String),
}

/// A game that is over, or could not be set up.
#[derive(Debug)]
pub struct GameOver {
    /// Its number.
    pub game: GameId,
    /// Its entries before the end.
    pub entries: Vec<Stamped>,
    /// Its end.
    pub ended: Option<GameEnded>,
    /// Its ending; an error when it could not be set up.
    pub outcome: Result<Outcome, Unplayed>,
}

/// The pairs that a worker has.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Free slots of each thread.
    free: Vec<usize>,
    waiting: VecDeque<Job>,
    playing: BTreeMap<GameId, Pair>,
    next: u64,
}

/// A pair that is played.
#[derive(Debug)]
struct Pair {
    job: Job,
    /// The thread on which its games are played.
    thread: usize,
    /// The entries of those that are over.
    played: Vec<Vec<Stamped>>,
    /// True if its lease is lost.
    dropped: bool,
}

impl Pairs {
    /// No pair yet; `slots`: those of each thread.
    pub fn new(slots: Vec<usize>) -> Self {
        Self { free: slots, waiting: VecDeque::new(), playing: BTreeMap::new(), next: 1 }
    }

    /// Leases that it has.
    pub fn leases(&self) -> Vec<LeaseId> {
        let playing = self.playing.values().filter(|pair| !pair.dropped).map(|pair| pair.job.lease);
        self.waiting.iter().map(|job| job.lease).chain(playing).collect()
    }

    /// True if no game is played and none waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.playing.is_empty()
    }

    /// The oldest games that count, of so many at most: number, lease, and place in the pair.
    pub fn shown(&self, most: usize) -> Vec<(GameId, LeaseId, usize)> {
        let counts = self.playing.iter().filter(|(_, pair)| !pair.dropped && !pair.job.repeats);
        counts.take(most).map(|(game, pair)| (*game, pair.job.lease, pair.played.len())).collect()
    }

    /// Takes a job.
    pub fn take(&mut self, terms: &Terms, job: Job) -> Vec<Done> {
        if self.leases().contains(&job.lease) {
            return vec![];
        }
        self.waiting.push_back(job);
        self.fill(terms)
    }

    /// Gives every free slot a pair.
    fn fill(&mut self, terms: &Terms) -> Vec<Done> {
        let mut done = vec![];
        while !self.waiting.is_empty() {
            let freest = self.free.iter().enumerate().max_by_key(|(_, free)| **free);
            let Some((thread, 1..)) = freest else { break };
            let Some(job) = self.waiting.pop_front() else { break };
            self.free[thread] -= 1;
            done.push(self.go_on(terms, Pair { job, thread, played: vec![], dropped: false }));
        }
        done
    }

    /// Plays the next game of a pair; what it is done with otherwise.
    fn go_on(&mut self, terms: &Terms, pair: Pair) -> Done {
        let (lease, thread) = (pair.job.lease, pair.thread);
        let Some(next) = pair.job.games.get(pair.played.len()) else {
            self.free[thread] += 1;
            return Done::Played(Answer { lease, repeats: pair.job.repeats, games: pair.played });
        };
        let game = GameId(self.next);
        self.next += 1;
        match next.fixture(game, terms.rules, terms.adjudication) {
            Ok(fixture) => {
                self.playing.insert(game, pair);
                Done::Begins(thread, Box::new(fixture))
            }
            Err(why) => {
                self.free[thread] += 1;
                Done::NotPlayed(lease, why.to_string())
            }
        }
    }

    /// A game is over: the next of its pair begins, or another pair. `now`: in ms since 1970-01-01 UTC.
    pub fn over(&mut self, terms: &Terms, now: i64, over: GameOver) -> Vec<Done> {
        let GameOver { game, mut entries, ended, outcome } = over;
        let Some(mut pair) = self.playing.remove(&game) else { return vec![] };
        let not_played = match (outcome, ended) {
            (Ok(Outcome::Aborted { by: AbortBy::Stopped }), _) => Some(String::new()),
            (Ok(Outcome::Aborted { .. }), _) => Some("a game could not begin".to_owned()),
            (Err(why), _) => Some(why.to_string()),
            (Ok(_), None) => Some("a game has no end".to_owned()),
            (Ok(_), Some(ended)) => {
                entries.push(Stamped { at: now, entry: Entry::GameEnded(ended) });
                pair.played.push(entries);
                None
            }
        };
        let mut all = vec![];
        match not_played {
            None if !pair.dropped => all.push(self.go_on(terms, pair)),
            not_played => {
                self.free[pair.thread] += 1;
                let why = not_played.filter(|_| !pair.dropped);
                all.extend(why.map(|why| Done::NotPlayed(pair.job.lease, why)));
            }
        }
        all.extend(self.fill(terms));
        all
    }

    /// Takes pairs back that have not begun.
    pub fn not_begun(&mut self) -> Vec<LeaseId> {
        mem::take(&mut self.waiting).into_iter().map(|job| job.lease).collect()
    }

    /// Gives leases up that are lost; returns the games that are to be stopped.
    pub fn drop_leases(&mut self, leases: &[LeaseId]) -> Vec<GameId> {
        self.waiting.retain(|job| !leases.contains(&job.lease));
        for pair in self.playing.values_mut().filter(|pair| leases.contains(&pair.job.lease)) {
            pair.dropped = true;
        }
        self.dropped()
    }

    /// Games whose leases are lost. One that is only being set up does not hear the order to stop: it is repeated.
    pub fn dropped(&self) -> Vec<GameId> {
        self.playing.iter().filter(|(_, pair)| pair.dropped).map(|(game, _)| *game).collect()
    }
}
