//! A league: players log in over the network by the CSA server protocol, meet, and are refereed here.
//!
//! Everything that waits lives on one thread: a task for each connection, a task for each game. The lobby is plain
//! state behind a lock that is never held across a wait; the store has its own thread behind the bus.
//!
//! # Where it departs from shogi-server, whatever `compat` says
//!
//! * `#TIME_UP` is told at the instant, not when the mover speaks or a minute is over.
//! * Who drops the line loses, also while the opponent is to move: at once, or after the `grace` time, in which the
//!   same player may log in again and go on.
//! * Both players are let go at the end of a CSA-mode game; a refused login is closed at once and stalls nobody.
//! * `%%FORK` takes the number of moves it is given.
//! * Spectators see the board after the move that completes a repetition.
//! * Rounds by the clock are paired by an optimal matching, players without a trip among them; byes and colours are
//!   shared out. shogi-server tries some hundred ways, gives byes by chance, and does not call who shows no trip.
//! * A stop-watch game (`-060`) without a main time is refused with a word.
//!
//! `compat = "protocol"` besides: `%TORYO` and `%KACHI` are told once and with their time, a buoy's moves took no
//! time, a stop-watch's byoyomi is not told, `To_Move` is the side to move before the moves listed, and the start
//! position counts for sennichite. An illegal move is not sent on, against the text, as no client can play it: it is
//! kept as evidence.

mod admission;
mod arrange;
mod bookkeeping;
mod buoys;
mod commands;
mod connection;
mod context;
mod entrants;
pub mod event;
mod game_view;
mod games;
mod league;
mod listener;
mod lobby;
mod presence;
mod rating_history;
pub mod ratings;
mod record_files;
mod roster;
pub mod rounds;

pub use league::{League, plan};
pub use rating_history::RatingHistory;
