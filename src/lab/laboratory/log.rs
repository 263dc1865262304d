//! The end of a build's log.

use platform::files;
use std::{
    io::{Read, Seek, SeekFrom},
    path::Path,
};

/// Bytes of the log that are looked at.
const BYTES: u64 = 16 << 10;
/// Lines that people are shown.
const LINES: usize = 15;

/// The last lines of a log, each after a line break; empty if there are none.
pub fn tail(path: &Path) -> String {
    let mut bytes = vec![];
    let read = files::regular(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
        file.read_to_end(&mut bytes)
    });
    if read.is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let last = lines.iter().skip(lines.len().saturating_sub(LINES));
    last.map(|line| format!("\n  | {}", line.chars().map(shown).collect::<String>())).collect()
}
