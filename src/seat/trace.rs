//! The last lines to and from a player, for the record of a game that ends in a dispute.

use notation::printable;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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
        self.lines().stderr.push(STDERR, b'!', line);
    }

    /// Drops all lines, for a new process.
    pub fn clear(&self) {
        *self.lines() = Lines::default();
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
