//! Messages to the dispatcher, from workers, machines and the operator.

use crate::{
    Unplayed,
    operations::{Asked, GamesDesk},
};
use contest::schedule::Pairing;
use referee::{
    Outcome,
    entry::{GameEnded, GameId, GameStarted, PlayerId, Stamped},
    lease::LeaseId,
};
use std::sync::mpsc::Sender;

/// A message to the dispatcher.
pub enum Note {
    /// A game has ended, and its players elsewhere receive the end once it is stored.
    Ended(Box<Ended>),
    /// A game is over, or never began, and its slot is free.
    Over(Box<Over>),
    /// The wish to end has changed.
    Shutdown,
    /// The operator gives an order about games.
    Asked(Box<Asked>),
    /// The operator has paused or resumed the event.
    Switched,
    /// It may be this event's turn to begin a game; see [`crate::turnstile`].
    Turn,
    /// A machine that plays games of the event.
    Desk(DeskNote),
    /// The database has failed.
    Failed,
    /// The engine of a player is not the one any more that the event is played by: what has changed, in words. It is
    /// not started again.
    Replaced(PlayerId, Vec<String>),
}

/// A game that has ended and is not announced yet.
pub struct Ended {
    /// Its entries for the schedule; the journal has the first one already.
    pub entries: Entries,
    /// Called when the end is kept.
    pub kept: Box<dyn FnOnce() + Send>,
}

/// A game that is over.
pub struct Over {
    /// The worker whose slot is free.
    pub worker: usize,
    /// The game.
    pub game: GameId,
    /// Its pairing.
    pub pairing: Pairing,
    /// How often it had been drawn before without counting.
    pub draws: u32,
    /// Its entries for the schedule; the journal has the first one already.
    pub started: Option<GameStarted>,
    /// Its end, unless the journal has it already.
    pub ended: Option<GameEnded>,
    /// Its ending; an error when it could not be set up.
    pub outcome: Result<Outcome, Unplayed>,
}

/// The entries of a game that the schedule waits for.
pub type Entries = (Option<GameStarted>, Option<GameEnded>);

/// What the dispatcher hears from a desk.
pub enum DeskNote {
    /// A machine has a place for a pair.
    Free,
    /// The games of a lease were played, and our referee gives them the same results.
    Played(Box<PlayedJob>),
    /// The games of a lease will not be played by the machine that has it.
    Lost(LeaseId),
    /// A machine hinders the event, and why: it is dropped as by the operator.
    Hinders(String, String),
    /// Something about a machine goes on record.
    Fault(Option<PlayerId>, String),
}

/// The games of a lease, played.
pub struct PlayedJob {
    /// The lease.
    pub lease: LeaseId,
    /// Name of the machine.
    pub machine: String,
    /// SHA-256 of the machine's answer in hexadecimal digits.
    pub sha256: String,
    /// The entries of each game, in order, under whatever number.
    pub games: Vec<Vec<Stamped>>,
    /// Called when the games are stored.
    pub kept: Box<dyn FnOnce() + Send>,
}

/// The dispatcher's mailbox, for the operator.
pub(crate) struct NotesDesk(pub Sender<Note>);

impl GamesDesk for NotesDesk {
    fn ask(&self, asked: Asked) {
        let _event_over = self.0.send(Note::Asked(Box::new(asked)));
    }

    fn changed(&self) {
        let _event_over = self.0.send(Note::Switched);
    }
}
