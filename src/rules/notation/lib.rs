//! Text formats: the USI line protocol, the CSA server protocol, and game-record files.
//!
//! A pure crate: text and bytes are arguments and results, and no file, clock or socket is used. Moves, positions and
//! legality are `rsshogi`'s.
//!
//! * [`usi`] is the protocol between a manager and an engine, one enum per direction.
//! * [`csa`] is the CSA server protocol, with moves and boards in CSA notation.
//! * [`date`] formats and parses dates.
//! * [`proxy`] reads the PROXY protocol of reverse proxies.
//! * [`printable`], [`printable_lines`] and [`printable_json`] escape untrusted text for display; [`clipped`] bounds it as
//!   well.
//! * [`record`] reads and writes game records (CSA, KIF, KI2, JKF, USI lines, PSV, hcpe).

pub mod csa;
pub mod date;
pub mod proxy;
pub mod record;
mod text;
pub mod usi;

pub use text::{clipped, file_name, is_hidden, no_device, printable, printable_json, printable_lines};
