//! `renmei doctor`: what a machine has and lacks for events, and the command that mends each.
//!
//! A row is a fault where no event could run, a warning where games would suffer, and a note where a part of Renmei stays
//! unused. What a system does not answer is a note that says so.

mod equipment;
mod measured;

use crate::{Row, Verdict};
use plan::Environment;
use serde::Serialize;
use std::{path::Path, time::Duration};

/// Memory that an event with several engines should find free, in bytes.
const MEMORY: u64 = 1 << 30;
/// Room on the disk for about a million games of a few plies, or some thousand long ones, in bytes.
const ROOM: u64 = 1 << 30;
/// Files and sockets that a host with many thousand connections has open.
const FILES: u64 = 65_536;
/// The share of the cores that other programs may use before engines suffer.
const BUSY: f64 = 0.15;
/// Lateness of a timer that is well within the default margin of a clock.
const LATE: Duration = Duration::from_millis(10);
/// Time of a commit to the disk that slows no event down.
const COMMIT: Duration = Duration::from_millis(50);
/// Time that reading the clock may take.
const READING: Duration = Duration::from_micros(1);

/// The result of all checks of a machine.
#[derive(Clone, Debug, Serialize)]
pub struct MachineReport {
    /// Operating system and processor, such as `linux x86_64`.
    pub platform: String,
    /// True if events can run here: no row is a fault.
    pub passed: bool,
    /// The checks, in order.
    pub rows: Vec<Row>,
}

/// Checks this machine for events whose databases are written to `place`, a directory, and passes each row to `progress` as
/// it is found. Takes about a second, of which the machine's load is watched.
pub fn machine(place: &Path, progress: impl Fn(&Row)) -> MachineReport {
    let environment = Environment::here(place);
    let mut rows = vec![];
    let mut add = |row: Row| {
        progress(&row);
        rows.push(row);
    };
    add(Row::note("system", system()));
    measured::all(place, &mut add);
    match &environment {
        Ok(environment) => equipment::all(environment, &mut add),
        Err(error) => add(Row::fault("directory", format!("`{}`: {error}", place.display()))),
    }
    let passed = rows.iter().all(|row| row.verdict != Verdict::Fault);
    MachineReport { platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH), passed, rows }
}

fn system() -> String {
    let host = platform::usage::host_name().unwrap_or_else(|| "without a name".to_owned());
    format!("{} {}, {}", std::env::consts::OS, std::env::consts::ARCH, notation::printable(host.as_bytes()))
}

/// The row of something that this system does not answer.
fn unknown(check: &str) -> Row {
    Row::note(check, "not known here: the system does not say")
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1_u64 << 30) as f64)
}
