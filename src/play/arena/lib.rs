//! Games, the workers that run them, and the dispatcher that hands them out.
//!
//! A game's path: the [`dispatcher`] asks the schedule for a pairing and gives it as a [`play::Fixture`] to a
//! [`worker`]; the worker seats both players and [`play::play`]s; the game reports its entries to a
//! [`Sink`](referee::sink::Sink), which is the journal, by way of the dispatcher for what the schedule waits for.

mod absences;
pub mod actor_thread;
mod adjourned;
pub mod afterwards;
mod agenda;
mod arbitration;
mod away;
pub mod boards;
mod breaks;
pub mod cores;
pub mod desk;
pub mod disk;
pub mod dispatcher;
mod error;
pub mod identity;
pub mod joining;
pub mod lag;
pub mod note;
pub mod open_journal;
pub mod operations;
pub mod play;
pub mod preflight;
pub mod remote;
pub mod resting;
pub mod resume;
mod rulings;
mod shutdown;
mod slots;
pub mod spectators;
pub mod speed;
pub mod steering;
pub mod turnstile;
mod watchdog;
pub mod worker;

pub use arbitration::Past;
pub use error::{CannotPlay, IdentityError, IdentityFault, NoFile, NotRead, PlayFault, Unplayed};
pub use rulings::past;
pub use shutdown::Shutdown;

/// Shows a line to the people who follow an event, wherever they do.
pub type Say = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
