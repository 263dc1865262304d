//! From bytes to lines.

use std::time::Duration;
use tokio::time::sleep;

/// Longest line kept; the rest of a longer one is dropped.
const LINE_CAP: usize = 64 * 1024;
/// After so many bytes without a pause, output is read more slowly, so that a flood does not slow other games.
const FLOOD: usize = 256 * 1024;

/// Cuts bytes into lines: bytes behind the last newline are carried over, long lines are cut.
pub struct Lines {
    /// Buffer for the next read.
    pub chunk: Box<[u8]>,
    carry: Vec<u8>,
    /// Bytes read since the last pause.
    unpaused: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self { chunk: vec![0; 8 * 1024].into_boxed_slice(), carry: Vec::new(), unpaused: 0 }
    }
}

impl Lines {
    /// Passes on each line that the last `bytes` read into the buffer complete.
    pub fn feed(&mut self, bytes: usize, mut line: impl FnMut(&[u8])) {
        self.unpaused = if bytes == self.chunk.len() { self.unpaused + bytes } else { 0 };
        let mut rest = &self.chunk[..bytes];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (head, tail) = (&rest[..end], &rest[end + 1..]);
            match self.carry.is_empty() {
                true => line(trimmed(head)),
                false => {
                    keep(&mut self.carry, head);
                    line(trimmed(&self.carry));
                    self.carry.clear();
                }
            }
            rest = tail;
        }
        keep(&mut self.carry, rest);
    }

    /// True if a line has begun and not ended; blanks are not the beginning of one.
    pub fn is_within_line(&self) -> bool {
        !trimmed(&self.carry).is_empty()
    }

    /// Gives way for a moment after a flood, and returns whether there was one; else returns at once.
    pub async fn pause(&mut self) -> bool {
        let flooded = self.unpaused > FLOOD;
        if flooded {
            self.unpaused = 0;
            sleep(Duration::from_millis(1)).await;
        }
        flooded
    }
}

fn keep(carry: &mut Vec<u8>, bytes: &[u8]) {
    let room = LINE_CAP.saturating_sub(carry.len());
    carry.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = Lines::default();
        let mut seen = vec![];
        for chunk in chunks {
            for part in chunk.chunks(lines.chunk.len()) {
                lines.chunk[..part.len()].copy_from_slice(part);
                lines.feed(part.len(), |line| seen.push(line.to_vec()));
            }
        }
        seen
    }

    #[test]
    fn bytes_behind_a_newline_belong_to_the_next_line() {
        let lines = fed(&[b"bestmove 7g7f\nin", b"fo depth 1\r\n", b"\n", b"bestmove 3"]);
        assert_eq!(lines, [b"bestmove 7g7f".to_vec(), b"info depth 1".to_vec(), vec![]]);
    }

    #[test]
    fn blanks_begin_no_line() {
        let mut lines = Lines::default();
        for (chunk, within) in [("ok\n\r", false), (" \r", false), ("b", true), ("m\n", false)] {
            lines.chunk[..chunk.len()].copy_from_slice(chunk.as_bytes());
            lines.feed(chunk.len(), |_| {});
            assert_eq!(lines.is_within_line(), within, "{chunk:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut_at_its_cap() {
        let endless = vec![b'x'; 3 * LINE_CAP];
        assert_eq!(fed(&[&endless, b"\nok\n"]), [vec![b'x'; LINE_CAP], b"ok".to_vec()]);
    }

    #[tokio::test(start_paused = true)]
    async fn whole_buffers_without_a_pause_are_a_flood_and_a_short_read_ends_it() {
        let mut lines = Lines::default();
        let whole = lines.chunk.len();
        let reads = |lines: &mut Lines, count: usize| (0..count).for_each(|_| lines.feed(whole, |_| {}));
        reads(&mut lines, FLOOD / whole);
        assert!(!lines.pause().await);
        reads(&mut lines, 1);
        assert!(lines.pause().await && !lines.pause().await);
        reads(&mut lines, FLOOD / whole);
        lines.feed(1, |_| {});
        reads(&mut lines, 1);
        assert!(!lines.pause().await);
    }
}
