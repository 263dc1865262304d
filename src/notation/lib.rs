//! How things are spelled: the USI line protocol, CSA moves and boards, and game-record files.
//!
//! A pure crate: text and bytes come in as arguments and go out as values; it opens no file, reads no clock and
//! knows no socket. Moves, positions and legality are `rsshogi`'s.
//!
//! * [`usi`] is the protocol between a manager and an engine, one enum per direction.
//! * [`csa`] spells moves and boards as the CSA server protocol and CSA files do.
//! * [`date`] spells instants.
//! * [`printable`] makes text of strangers safe to show.
//! * [`record`] reads and writes game records (CSA, KIF, KI2, JKF, USI lines, USEN, PSV, hcpe).

pub mod csa;
pub mod date;
pub mod record;
mod text;
pub mod usi;

pub use text::printable;
