//! The terminal screens of an event: while it is played, and afterwards.
//!
//! [`state::State`] is a fold of the same entries as standings, reports and resumed runs; [`input`] turns keys into
//! [`input::Action`]s, which change only the [`ui::Ui`]; [`view`] draws both, as pure functions. Only [`terminal`]
//! reads a clock, the keyboard and signals, on a thread of its own. The dashboard cannot delay the event: committed
//! entries wait in a [`feed::Feed`] until the next frame.

pub mod board;
pub mod feed;
pub mod input;
pub mod state;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod ui;
pub mod view;

pub use feed::{Feed, Inbox};
pub use report::{EventInfo, Language, Named};
pub use state::State;
pub use terminal::{Dashboard, Setting, Source};
