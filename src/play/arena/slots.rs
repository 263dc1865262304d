//! The places for games on this machine: its workers, their free slots, and the turnstile that other events share.

use crate::{
    cores::ClaimedCores,
    error::RunError,
    play::Fixture,
    turnstile::{Lane, Permit},
    worker::{Worker, WorkerContext, WorkerSpec},
};
use contest::schedule::Pairing;
use std::{mem, sync::Arc, thread::JoinHandle};

/// The workers of an event.
pub(crate) struct Slots {
    workers: Vec<(Worker, usize)>,
    /// The way to the places of games, where other events have games on them too.
    lane: Option<Arc<Lane>>,
    /// The licences of the game that is to be played next.
    permit: Option<Permit>,
    /// Keeps the cores of the workers from other managers.
    _claimed: Option<ClaimedCores>,
    /// Cores that each game has to itself; `None`: games share those of the machine.
    pub cores: Option<usize>,
}

/// The answer to a request for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// This worker has one.
    Free(usize),
    /// Another event has the next one.
    NotYet,
    /// All are taken.
    Full,
}

impl Slots {
    /// Starts the workers.
    pub fn start(
        specs: Vec<WorkerSpec>,
        claimed: Option<ClaimedCores>,
        lane: Option<Arc<Lane>>,
        context: &WorkerContext,
    ) -> Result<Self, RunError> {
        let cores = specs.iter().map(|spec| spec.cores.len()).min().filter(|cores| *cores > 0);
        let free: Vec<usize> = specs.iter().map(|spec| spec.slots).collect();
        let workers =
            Worker::start_all(specs, context).map_err(|e| RunError::Io("its games".to_owned(), e))?;
        let workers = workers.into_iter().zip(free).collect();
        Ok(Self { workers, lane, permit: None, _claimed: claimed, cores })
    }

    /// True if every game is played elsewhere.
    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// True if a slot is free.
    pub fn has_free(&self) -> bool {
        self.workers.iter().any(|(_, free)| *free > 0)
    }

    /// True if another event has the next place.
    pub fn waits_for_turn(&self) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.waits())
    }

    /// Asks for a place. One that is free is used by [`Self::play`] or given back by [`Self::back_out`].
    pub fn enter(&self) -> Slot {
        let freest = self.workers.iter().enumerate().max_by_key(|(_, (_, free))| *free);
        match freest {
            Some((_, (_, 1..))) if self.lane.as_ref().is_some_and(|lane| !lane.enter()) => Slot::NotYet,
            Some((worker, (_, 1..))) => Slot::Free(worker),
            _ => Slot::Full,
        }
    }

    /// Takes the licences of the game that is to be played at a place. Without them the place is given back, and the event
    /// waits for its turn.
    pub fn license(&mut self, pairing: &Pairing) -> bool {
        let Some(lane) = &self.lane else { return true };
        self.permit = lane.license([pairing.black.index(), pairing.white.index()]);
        self.permit.is_some()
    }

    /// Gives back a place that there is no game for.
    pub fn back_out(&self) {
        self.lane.iter().for_each(|lane| lane.back_out());
    }

    /// Waits for no place any more, as no game is to begin.
    pub fn pass(&self) {
        self.lane.iter().for_each(|lane| lane.pass());
    }

    /// Gives a worker a game; false when the worker is gone.
    pub fn play(&mut self, worker: usize, fixture: Fixture) -> bool {
        let (worker, free) = &mut self.workers[worker];
        *free -= 1;
        worker.play(fixture, self.permit.take())
    }

    /// A game of this worker is over.
    pub fn leave(&mut self, worker: usize) {
        self.workers[worker].1 += 1;
        self.lane.iter().for_each(|lane| lane.leave());
    }

    /// Gives the workers no more games; their threads end after the games that they have.
    pub fn let_go(&mut self) -> Vec<JoinHandle<()>> {
        mem::take(&mut self.workers).into_iter().map(|(worker, _)| worker.let_go()).collect()
    }
}

#[cfg(test)]
#[allow(dead_code, reason = "the world of an event is simulated on one system")]
impl Slots {
    /// The slots of one worker.
    pub(crate) fn of(worker: Worker, slots: usize) -> Self {
        Self { workers: vec![(worker, slots)], lane: None, permit: None, _claimed: None, cores: None }
    }
}
