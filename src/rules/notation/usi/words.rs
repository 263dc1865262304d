//! The words of a line.

use std::str::FromStr;

/// Bytes kept of an unknown line: enough for a log, too few for a flood of output to use much memory.
pub const UNKNOWN_KEPT: usize = 256;

/// The first [`UNKNOWN_KEPT`] bytes of a line, or fewer, so that no character is split and no blank is left at the end.
pub(super) fn shortened(line: &str) -> &str {
    let mut end = line.len().min(UNKNOWN_KEPT);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end].trim_ascii_end()
}

/// The words of a line of bytes, separated by blanks: whatever is cut off at the ends of a line.
pub(super) fn bytes_words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Words separated by blanks, with the unread rest of the line at hand.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(pub &'a str);

impl<'a> Words<'a> {
    pub fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The unread rest, without leading blanks.
    pub fn rest(&self) -> &'a str {
        self.0.trim_ascii_start()
    }

    pub fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next word as a number; `None` if it is not a number.
    pub fn number<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }
}
