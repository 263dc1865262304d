//! The CSA server: players log in over the network by the CSA server protocol, meet, and are refereed here.
//!
//! There are two kinds of host. In a [`League`] the players who ask for the same game meet, and games are played on
//! threads of the host. In an [event](event::EventNetwork) the dispatcher pairs the players of a plan, and workers play
//! the games. In both the connections live on the thread of the network, and while their players are in a game on the
//! thread of that game; the lobby has a thread of its own.
//!
//! The lobby is a policy over plain registries. Neither a game nor a connection ever waits for it: connections ask and
//! get their answers into their mailboxes, and a game puts what spectators can see into a queue, which every access to
//! the lobby takes in first.
//!
//! # Where it departs from shogi-server, whatever `compat` says
//!
//! * `#TIME_UP` is sent at the instant, not when the mover sends a line or a minute is over.
//! * A player whose connection drops loses, also while the opponent is to move: at once, or after the `grace` time, in
//!   which the same player may log in again and go on.
//! * Both connections are closed at the end of a CSA-mode game; a refused login is closed at once and delays nobody.
//! * `AGREE` and `REJECT` with the id of another game are errors, and the offer stands.
//! * `%%FORK` heeds the number of moves.
//! * Spectators see the board after the move that completes a repetition.
//! * Rounds by the clock are paired by an optimal matching, players without a trip included; byes and colours are
//!   balanced. shogi-server tries some hundred pairings, gives byes by chance, and leaves out players without a trip.
//! * A stop-watch game (`-060`) without a main time is refused with an error.
//!
//! With `compat = "protocol"` also: `%TORYO` and `%KACHI` are sent once and with their time, a buoy's moves took no
//! time, a stop-watch's byoyomi is not announced, `To_Move` is the side to move before the moves listed, and the start
//! position counts for sennichite. Secrets are shown as trips, see [`plan::trip`], and not as MD5. An illegal move is not sent on, against the text, as no client can play it; it is
//! kept as evidence.

mod admission;
mod arrange;
mod bookkeeping;
mod budget;
mod buoys;
mod certificates;
mod channel;
mod commands;
mod connection;
mod context;
mod entrants;
mod error;
pub mod event;
mod game_threads;
mod game_view;
mod games;
mod league;
mod listener;
mod lobby;
mod lobby_thread;
mod mailbox;
mod operator;
mod places;
mod presence;
mod quotas;
mod rating_history;
pub mod ratings;
pub mod reception;
mod record_files;
mod requests;
mod retention;
mod roster;
pub mod rounds;
mod socket;
#[cfg(test)]
mod tests;
mod trips;
mod vestibule;
pub mod visits;

pub use certificates::{CertificateError, Certificates};
pub use league::League;
pub use listener::Port;
pub use rating_history::RatingHistory;
pub use trips::warnings as trip_warnings;
pub use vestibule::DESCRIPTORS as VESTIBULE_DESCRIPTORS;
