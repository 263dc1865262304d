//! Prepared answers for benchmarks, chosen by the number of moves played.

use std::time::Duration;

use crate::mode::Mode;

// Each side repeats a cycle of its own without captures, so the position repeats when both cycles are
// completed: king cycles of 2 and 2 moves, every 4 plies; rook cycles of 7 and 6 moves, every 84 plies. The
// fourth occurrence of the first position follows after three rounds.
const KING_BLACK: &[&str] = &["5i5h", "5h5i"];
const KING_WHITE: &[&str] = &["5a5b", "5b5a"];
const ROOK_BLACK: &[&str] = &["2h3h", "3h4h", "4h5h", "5h6h", "6h7h", "7h1h", "1h2h"];
const ROOK_WHITE: &[&str] = &["8b7b", "7b6b", "6b5b", "5b4b", "4b9b", "9b8b"];

/// The answers of both sides' cycles, prepared as bytes.
pub struct Instant {
    answers: [Vec<Vec<u8>>; 2],
    /// Number of moves in the last `position` line.
    plies: usize,
    /// Sleep before each answer.
    pub pause: Duration,
}

impl Instant {
    /// The cycles of `mode`, if it is a benchmark mode.
    pub fn of(mode: Mode, pause: Duration) -> Option<Self> {
        let circles = match mode {
            Mode::King => [KING_BLACK, KING_WHITE],
            Mode::Rook => [ROOK_BLACK, ROOK_WHITE],
            _ => return None,
        };
        let answer = |mv: &&str| format!("info depth 1 score cp 0 nodes 1 time 0 pv {mv}\nbestmove {mv}\n");
        let answers = circles.map(|circle| circle.iter().map(|mv| answer(mv).into_bytes()).collect());
        Some(Self { answers, plies: 0, pause })
    }

    /// Stores the number of moves of a `position` line.
    pub fn note(&mut self, line: &[u8]) {
        // The moves extend to the end of the line, with one space before each.
        let spaces = |text: &[u8]| text.trim_ascii_end().iter().filter(|&&byte| byte == b' ').count();
        let marker = b" moves ";
        let behind = line.windows(marker.len()).position(|window| window == marker);
        self.plies = behind.map_or(0, |at| spaces(&line[at + marker.len() - 1..]));
    }

    /// The answer for the side to move.
    pub fn answer(&self) -> &[u8] {
        let circle = &self.answers[self.plies % 2];
        &circle[self.plies / 2 % circle.len()]
    }
}
