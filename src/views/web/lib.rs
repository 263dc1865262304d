//! An event in the browser, live: pages, the stream of what happens, records.
//!
//! A few threads at lower priority, none of which a game waits for. `web-feed` reads what was committed from the store,
//! woken by the journal after each commit, and folds it into what the pages show (`live`); it builds each frame of the
//! stream once. `web-store` answers questions that need the store, by turns of addresses (`turns`). `web` serves HTTP.
//!
//! Other rooms add pages of their own: a [`Router`](axum::Router) of handlers with the [`Site`] as their state, laid out
//! by [`layout::Page`].

pub mod accounts;
pub mod arbiter;
mod archive;
mod assets;
pub mod board;
mod catalogue;
pub mod components;
mod crowd;
mod desk;
mod error;
mod feed;
mod forwarded;
mod frozen;
mod game;
pub mod gate;
mod hall;
mod hold;
pub mod layout;
mod limits;
mod lists;
mod live;
mod opening;
mod origins;
mod pages;
mod parts;
mod questions;
pub mod refusals;
mod relay;
mod server;
mod site;
mod stream;
mod turns;
pub mod visitor;

pub use accounts::{Office, Registers};
pub use crowd::Crowd;
pub use error::WebError;
pub use frozen::{Frozen, freeze};
pub use gate::Gate;
pub use hall::{
    EVENTS_PAGE, EventState, Hall, Inside, List, Listing, Made, MakeLedger, MakeTests, STUDY_PAGE,
};
pub use limits::Peer;
pub use parts::time;
pub use server::{Pages, Secure, Server, Setup};
pub use site::Site;
