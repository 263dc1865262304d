//! The one stream that everything that happens goes through on its way to the dispatcher.
//!
//! A move is pushed without waking anybody; the dispatcher looks every few milliseconds, or at once when something
//! urgent happened. A wake-up per move would cost more than the move.

use referee::{
    Outcome,
    event::{Event, GameId, Stamped},
    schedule::Pairing,
};
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// How long moves may lie unread.
const TICK: Duration = Duration::from_millis(50);
/// Notes that may lie unread before those who push them have to wait.
const CAPACITY: usize = 256 * 1024;

/// Something for the dispatcher.
#[derive(Debug)]
pub enum Note {
    /// For the record.
    Event(Stamped),
    /// A game is over and its place is free.
    Free(Freed),
    /// The person at the terminal, or the system, wants it to end.
    Stop {
        /// At once: the running games are adjourned.
        adjourn: bool,
    },
}

/// A place that became free.
#[derive(Debug)]
pub struct Freed {
    /// Which worker it belongs to.
    pub worker: usize,
    /// The game that was played there.
    pub game: GameId,
    /// Its pairing.
    pub pairing: Pairing,
    /// How often it had been drawn without counting before.
    pub pairing_replays: u32,
    /// Its ending; `None` if it could not be set up, for the reason given.
    pub outcome: Result<Outcome, String>,
}

#[derive(Debug, Default)]
struct Pile {
    notes: Vec<Note>,
    urgent: bool,
}

/// The stream.
#[derive(Debug, Default)]
pub struct Bus {
    pile: Mutex<Pile>,
    urgent: Condvar,
    room: Condvar,
}

impl Bus {
    /// An event that happened now. What the schedule may wait for is urgent; moves are not.
    pub fn happened(&self, event: Event) {
        use Event::{GameEnded, GameStarted, Memory, Moved};
        let urgent = !matches!(event, Moved(_) | GameStarted(_) | GameEnded(_) | Memory { .. });
        self.push(Note::Event(Stamped { at: now(), event }), urgent);
    }

    /// Anything else, always urgent.
    pub fn note(&self, note: Note) {
        self.push(note, true);
    }

    fn push(&self, note: Note, urgent: bool) {
        let mut pile = self.lock();
        while pile.notes.len() >= CAPACITY {
            pile.urgent = true;
            self.urgent.notify_one();
            pile = self.room.wait(pile).unwrap_or_else(PoisonError::into_inner);
        }
        pile.notes.push(note);
        if urgent && !std::mem::replace(&mut pile.urgent, true) {
            self.urgent.notify_one();
        }
    }

    /// Everything that was pushed; waits a tick for it if there is nothing urgent.
    pub fn drain(&self, into: &mut Vec<Note>) {
        into.clear();
        let waited = self.urgent.wait_timeout_while(self.lock(), TICK, |pile| !pile.urgent);
        let (mut pile, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut pile.notes, into);
        pile.urgent = false;
        drop(pile);
        self.room.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Pile> {
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Now, in milliseconds since 1970-01-01 UTC.
#[must_use]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
