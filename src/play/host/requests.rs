//! What connections ask of the lobby, and its answers to logins.
//!
//! No connection touches the lobby itself: it would wait while the lobby is busy, and with it the game that is played on
//! its thread. Notes come before requests. Both queues are short by protocol: a connection has at most one request under
//! way, and a game causes a few notes.

use super::{
    mailbox::{Mailbox, Offer},
    places::Place,
    presence::{LoginId, Progress},
};
use arena::{actor_thread::ActorThread, play::Fixture};
use notation::csa::{game_name::Entry, wire::Command, wire::is_player_name};
use referee::entry::GameId;
use seat::Seat;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Bytes that a password may have.
pub const PASSWORD: usize = 256;

/// Bytes of a client's text, escapes included, that are sent on or sent back.
const CLIPPED: usize = 1000;

/// A client's text in printable form, with its end left out where it is too long.
pub fn clipped(text: &str) -> String {
    notation::clipped(text, CLIPPED)
}

/// The name of a login that was refused, for the log. What no name has, such as a comma and all behind it, is left out: it
/// may be the secret of a player who mistyped the line.
pub fn logged(name: &str) -> String {
    let end = |c: &char| !is_player_name(c.encode_utf8(&mut [0; 4])) && *c != '.';
    match name.find(|c| end(&c)) {
        Some(end) => format!("{}...", clipped(&name[..end])),
        None => clipped(name),
    }
}

/// A request to log in.
#[derive(Clone, Debug)]
pub struct LoginRequest {
    /// The name.
    pub name: String,
    /// The password as it was sent; in CSA mode it contains the name of the game.
    pub password: String,
    /// True if the request is for the extended mode.
    pub extended: bool,
    /// The trip of the name and the secret, where no password is checked.
    pub trip: Option<String>,
    /// True if the place is one of those kept for players who return to their game.
    pub returning_only: bool,
}

impl LoginRequest {
    /// The part of the password that identifies the player: in CSA mode what follows the name of the game.
    pub fn secret(&self) -> Option<String> {
        if self.extended { Some(self.password.clone()) } else { Entry::read(&self.password).trip }
    }

    /// What two logins of one player have in common; `None` for a player without a secret, whom nobody can tell from
    /// another.
    pub fn mark(&self) -> Option<String> {
        let secret = self.secret()?;
        Some(self.trip.clone().unwrap_or(secret))
    }
}

/// What a connection asks of the lobby.
#[derive(Debug)]
pub enum Request {
    /// To log in.
    Login {
        /// The name and the password.
        request: LoginRequest,
        /// The mailbox of the connection.
        mailbox: Mailbox,
        /// Its place.
        place: Arc<Place>,
        /// The way of the answer.
        answer: oneshot::Sender<Result<LoggedIn, Refusal>>,
    },
    /// To carry out a command.
    Command(LoginId, Command, Done),
    /// To answer a line that is not valid in the player's state: its word, and the states in which it is.
    Untimely(LoginId, &'static str, &'static str, Done),
}

/// Tells the connection that its request was answered, and the cost of the answer beside that of its line.
pub type Done = oneshot::Sender<u32>;

/// What the lobby is told of a player or a game.
#[derive(Debug)]
pub enum Note {
    /// The game of a player has come so far.
    Progressed(LoginId, Progress),
    /// The game of a player is over, and the player stays.
    Free(LoginId),
    /// A player's connection has ended in its game, which is held for the player.
    Dropped(LoginId),
    /// A player has left.
    Left(LoginId),
    /// A game could not be set up.
    Cancelled(GameId),
    /// The players of a scheduled game are to be seated; the connections come to the thread of the game.
    Seat(Box<Fixture>, ActorThread, oneshot::Sender<Option<[Option<Seat>; 2]>>),
}

/// The ways to the lobby.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Requests of connections.
    pub requests: mpsc::UnboundedSender<Request>,
    /// Notes.
    pub notes: mpsc::UnboundedSender<Note>,
}

/// The lobby's end of the ways to it.
#[derive(Debug)]
pub struct Arrivals {
    pub(super) requests: mpsc::UnboundedReceiver<Request>,
    pub(super) notes: mpsc::UnboundedReceiver<Note>,
}

/// The ways to a lobby, and their ends.
pub fn ways() -> (Ways, Arrivals) {
    let (requests, requests_end) = mpsc::unbounded_channel();
    let (notes, notes_end) = mpsc::unbounded_channel();
    (Ways { requests, notes }, Arrivals { requests: requests_end, notes: notes_end })
}

/// A login that was accepted.
#[derive(Debug)]
pub struct LoggedIn {
    /// The player's membership.
    pub membership: Membership,
    /// The lines of the answer.
    pub greeting: String,
    /// The player's seat in a game that goes on, once its former connection has handed it over.
    pub seat: Option<oneshot::Receiver<Box<Offer>>>,
}

/// That a player is logged in; dropping it logs the player out.
#[derive(Debug)]
pub struct Membership {
    /// The number of the login.
    pub login: LoginId,
    pub(super) notes: mpsc::UnboundedSender<Note>,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let _host_closed = self.notes.send(Note::Left(self.login));
    }
}

/// The answer to a login that was refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The lines of the answer.
    pub lines: String,
    /// True if the connection may try again.
    pub again: bool,
    /// True if the secret is not that of the player whose name was given.
    pub guessed: bool,
}

impl Refusal {
    /// The refusal of a login, with more lines for the client.
    pub fn new(more: &str, again: bool) -> Self {
        Self { lines: format!("LOGIN:incorrect\n{more}"), again, guessed: false }
    }

    /// The refusal of a login that may not try again, with its reason: a line of the extended mode, or for clients of the
    /// protocol one that they skip.
    pub fn because(request: &LoginRequest, why: &str) -> Self {
        let mark = if request.extended { "" } else { "##[ERROR] " };
        Self::new(&format!("{mark}{why}\n"), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_no_secret_that_stands_behind_a_comma_in_a_name() {
        assert_eq!(logged("kuma,game-600-10,SECRET"), "kuma...");
        assert_eq!(logged("kuma:SECRET"), "kuma...");
        assert_eq!(logged("Kuma_v1.2-a@b"), "Kuma_v1.2-a@b");
    }

    #[test]
    fn a_login_is_known_by_its_secret_and_its_refusal_is_a_line_that_its_client_skips() {
        let request = |password: &str, extended, trip: Option<&str>| LoginRequest {
            name: "kuma".to_owned(),
            password: password.to_owned(),
            extended,
            trip: trip.map(str::to_owned),
            returning_only: false,
        };
        let marks = [
            request("t-600-10,word", false, None),
            request("t-600-10,word", true, None),
            request("t-600-10,word", false, Some("trip")),
            request("t-600-10", false, Some("trip")),
        ]
        .map(|request| request.mark());
        let expected = [Some("word"), Some("t-600-10,word"), Some("trip"), None];
        assert_eq!(marks, expected.map(|mark| mark.map(str::to_owned)));
        let refusal = |extended| Refusal::because(&request("x", extended, None), "it is full");
        assert_eq!(refusal(true).lines, "LOGIN:incorrect\nit is full\n");
        assert_eq!(refusal(false).lines, "LOGIN:incorrect\n##[ERROR] it is full\n");
        assert!(!refusal(true).again && Refusal::new("", true).again);
        assert_eq!(clipped(&"x".repeat(CLIPPED)).len(), CLIPPED);
        assert!(clipped(&"x".repeat(2 * CLIPPED)).len() < CLIPPED + 10);
    }
}
