//! The last lines to and from a player, for the record of a game that ends in a dispute.

use crate::recording::Recording;
use notation::printable;
use referee::sink::Way;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::time::Instant;

/// Protocol lines kept.
const PROTOCOL: usize = 24;
/// Lines of stderr kept.
const STDERR: usize = 20;
/// Bytes kept of a line; of a longer one, the beginning and the end.
const LINE: usize = 200;

/// A handle to the last lines of one player; bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    protocol: Ring,
    stderr: Ring,
    /// All lines of a game, where they may be kept.
    recording: Option<Recording>,
}

/// A bounded list of lines; the buffers are reused.
#[derive(Debug, Default)]
struct Ring(VecDeque<Vec<u8>>);

impl Ring {
    fn push(&mut self, capacity: usize, mark: u8, line: &[u8]) {
        let mut slot = if self.0.len() < capacity {
            Vec::with_capacity(64)
        } else {
            self.0.pop_front().unwrap_or_default()
        };
        slot.clear();
        slot.extend_from_slice(&[mark, b' ']);
        match line.len() > LINE {
            false => slot.extend_from_slice(line),
            true => {
                slot.extend_from_slice(&line[..LINE / 4]);
                slot.extend_from_slice(b" ... ");
                slot.extend_from_slice(&line[line.len() - LINE * 3 / 4..]);
            }
        }
        self.0.push_back(slot);
    }

    fn write(&self, text: &mut String) {
        for line in &self.0 {
            text.push_str("  ");
            text.push_str(&printable(line));
            text.push('\n');
        }
    }
}

impl Trace {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line that was sent to the player.
    pub fn sent(&self, line: &[u8]) {
        self.lines().protocol.push(PROTOCOL, b'>', line);
    }

    /// Adds a line of the player.
    pub fn received(&self, line: &[u8]) {
        self.lines().protocol.push(PROTOCOL, b'<', line);
    }

    /// Adds a line of the player's stderr.
    pub fn stderr(&self, line: &[u8]) {
        let mut lines = self.lines();
        lines.stderr.push(STDERR, b'!', line);
        if let Some(recording) = &mut lines.recording {
            recording.push(Way::Stderr, line, Instant::now());
        }
    }

    /// Adds a line of the protocol that was read or written at that instant.
    pub(crate) fn line(&self, way: Way, line: &[u8], at: Instant) {
        let mut lines = self.lines();
        lines.protocol.push(PROTOCOL, way.mark() as u8, line);
        if let Some(recording) = &mut lines.recording {
            recording.push(way, line, at);
        }
    }

    /// Records all lines from now on.
    pub(crate) fn record(&self, recording: Recording) {
        self.lines().recording = Some(recording);
    }

    /// Calls `step` with the recording, if there is one.
    pub(crate) fn recording<T>(&self, step: impl FnOnce(&mut Recording) -> T) -> Option<T> {
        self.lines().recording.as_mut().map(step)
    }

    /// Drops the last lines, for a new process.
    pub fn clear(&self) {
        let mut lines = self.lines();
        (lines.protocol, lines.stderr) = (Ring::default(), Ring::default());
    }

    /// The last lines of the protocol (`>` sent, `<` received) and of stderr (`!`), made printable.
    #[must_use]
    pub fn report(&self) -> String {
        let lines = self.lines();
        let mut text = String::new();
        lines.protocol.write(&mut text);
        lines.stderr.write(&mut text);
        text
    }

    /// The last lines of stderr alone.
    #[must_use]
    pub fn stderr_report(&self) -> String {
        let mut text = String::new();
        self.lines().stderr.write(&mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept_and_long_ones_are_cut_in_the_middle() {
        let trace = Trace::default();
        for n in 0..100 {
            trace.received(format!("info depth {n}").as_bytes());
        }
        trace.sent(&[b'x'; 10_000]);
        let report = trace.report();
        assert_eq!(report.lines().count(), PROTOCOL);
        assert!(report.contains("< info depth 99") && !report.contains("depth 70"));
        assert!(report.len() < PROTOCOL * (LINE + 20));
    }
}
