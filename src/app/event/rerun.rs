//! Games that are to be played again in an event that nobody plays now. What they were stays on record, as after an order
//! of the arbiter, which it is.

use crate::Failure;
use arena::open_journal::OpenJournal;
use contest::fault_limit::is_faulted;
use journal::{EventHead, EventSummary, GameRow, Store};
use platform::account::User;
use referee::{
    entry::GameId,
    operation::{Action, NamedGame},
};
use report::{event_info, plan};
use words::Language;

/// What became of the games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rerun {
    /// Games that are played again when the event goes on.
    pub again: Vec<GameId>,
    /// Why games stay as they are.
    pub stay: Vec<String>,
}

/// The games of an event that count and that a player lost by a fault of its own.
///
/// # Errors
/// When the database cannot be read.
pub fn faulted(store: &Store, event: &EventSummary) -> Result<Vec<GameRow>, Failure> {
    let mut games = vec![];
    store.lost_by_fault(event.id, |row| {
        if row.outcome.is_some_and(is_faulted) {
            games.push(row);
        }
    })?;
    Ok(games)
}

/// Opens the places of games in the schedule again, each by an operation on record. An event that was over goes on when it
/// is played the next time.
///
/// # Errors
/// When another process plays the event, or the database cannot be written.
pub fn reopen(
    store: &Store,
    event: &EventSummary,
    games: &[GameRow],
    named: Option<&str>,
    reason: &str,
) -> Result<Rerun, Failure> {
    let fingerprint = store.fingerprint(&event.name)?.unwrap_or_default();
    let EventSummary { name, kind, plan: stored, .. } = event;
    let head = EventHead { name, kind, plan: stored, fingerprint: &fingerprint };
    let begun = |_: &_| Ok::<_, Failure>(event_info(event, plan(event)?).standings());
    let (open, standings) = OpenJournal::open(store.path(), &head, begun, |standings, stamped| {
        standings.fold(&stamped.entry);
    })?;
    let mut rerun = Rerun::default();
    let mut actions = vec![];
    for row in games {
        let Some(was) = row.outcome else { continue };
        match standings.settled(&row.pairing) {
            Some(why) => {
                let why = Language::English.settled(why);
                rerun.stay.push(format!("game {} stays as it is: {why}", row.game.0));
            }
            None => {
                rerun.again.push(row.game);
                let (black, white) = (row.black.clone(), row.white.clone());
                let game = NamedGame { game: row.game, black, white, round: row.pairing.round };
                actions.push(Action::Replayed { game, pairing: row.pairing, was });
            }
        }
    }
    if actions.is_empty() {
        return Ok(rerun);
    }
    let by = by(named)?;
    open.opening.writer().reopen(event.id)?;
    for action in actions {
        open.operations.record(&by, reason, None, action);
    }
    open.start(vec![], || ())?.finish()?;
    Ok(rerun)
}

/// The person: the system's user name, and the name that was given beside it.
fn by(named: Option<&str>) -> Result<String, Failure> {
    let user = User::own().map_err(|error| Failure::Other(format!("your user: {error}")))?;
    let user = user.name().unwrap_or_else(|| format!("user {user}"));
    Ok(named.map_or(user.clone(), |named| format!("{user} as {named}")))
}
