//! The terminal screens of an event: while it is played, and afterwards.
//!
//! [`state::State`] is a fold of the same events that standings, reports and a resumed run fold; [`input`] turns keys
//! into [`input::Action`]s, which change the reader's [`ui::Ui`] and nothing else; [`view`] draws both, as pure
//! functions. Only [`terminal`] reads a clock, the keyboard and signals, on a thread of its own. Nothing here can hold
//! up the event: what is committed waits in a [`feed::Feed`] until the next frame.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Renmei runs on Linux only: its screens take stderr by pipe2 and dup2, its seats engines by prctl; on Windows it runs in WSL 2, on macOS in a Linux container"
);

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
pub use state::{Head, State};
pub use terminal::{Screen, Setting};
