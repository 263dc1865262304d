//! The last lines to and from a player, for the record of a game that ends in a dispute.

use crate::{
    recording::{Complete, Recording},
    waits::Waits,
};
use notation::printable;
use parking_lot::Mutex;
use referee::sink::Direction;
use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};

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
    /// For how long it waits for a processor.
    waits: Waits,
    /// All lines of a game, where they may be kept.
    recording: Option<Recording>,
}

/// A bounded list of lines; the buffers are reused.
#[derive(Clone, Debug, Default)]
struct Ring(VecDeque<Vec<u8>>);

impl Ring {
    fn push(&mut self, capacity: usize, mark: u8, line: &[u8]) {
        // Of a flood of `info` lines the last one shows enough, and the lines before it stay.
        let follows_info =
            mark == b'<' && is_info(line) && self.0.back().is_some_and(|last| is_info(&last[2..]));
        let mut slot = if follows_info {
            self.0.pop_back().unwrap_or_default()
        } else if self.0.len() < capacity {
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
            // Escapes make a byte up to ten: a stranger's lines must not become long evidence.
            let shown = printable(line);
            let end = shown.floor_char_boundary(2 * LINE);
            text.push_str(&shown[..end]);
            text.push_str(if end < shown.len() { "..." } else { "" });
            text.push('\n');
        }
    }
}

/// True for a line with which an engine reports on its search.
pub(crate) fn is_info(line: &[u8]) -> bool {
    line.starts_with(b"info ")
}

impl Trace {
    /// Adds a line that was sent to the player.
    pub fn sent(&self, line: &[u8]) {
        self.0.lock().protocol.push(PROTOCOL, b'>', line);
    }

    /// Adds a line of the player.
    pub fn received(&self, line: &[u8]) {
        self.0.lock().protocol.push(PROTOCOL, b'<', line);
    }

    /// Adds a line of the player's stderr.
    pub fn stderr(&self, line: &[u8]) {
        let mut lines = self.0.lock();
        lines.stderr.push(STDERR, b'!', line);
        if let Some(recording) = &mut lines.recording {
            recording.push(Direction::Stderr, line, Instant::now());
        }
    }

    /// Adds a line of the protocol that was read or written at that instant. A recorded line is not kept twice: every ply
    /// would pay for it.
    pub(crate) fn line(&self, way: Direction, line: &[u8], at: Instant) {
        let mut lines = self.0.lock();
        if !lines.recording.as_mut().is_some_and(|recording| recording.push(way, line, at)) {
            lines.protocol.push(PROTOCOL, way.mark() as u8, line);
        }
    }

    /// Ends the recorded game and begins the next; its last lines stay with the trace.
    pub(crate) fn complete(&self, ended_by_fault: bool) -> Option<Complete> {
        let mut lines = self.0.lock();
        let Lines { protocol, recording, .. } = &mut *lines;
        let recording = recording.as_mut()?;
        for (way, line) in recording.last(PROTOCOL) {
            protocol.push(PROTOCOL, way.mark() as u8, line);
        }
        let complete = recording.complete(ended_by_fault);
        recording.begin_next();
        complete
    }

    /// Records all lines from now on.
    pub(crate) fn record(&self, recording: Recording) {
        self.0.lock().recording = Some(recording);
    }

    /// Calls `step` with the recording, if there is one.
    pub(crate) fn recording<T>(&self, step: impl FnOnce(&mut Recording) -> T) -> Option<T> {
        self.0.lock().recording.as_mut().map(step)
    }

    /// Notes that the player has failed in the game that is on, so that its lines are kept.
    pub fn failed(&self) {
        self.recording(Recording::failed);
    }

    /// Drops the last lines, for a new process.
    pub fn clear(&self) {
        let mut lines = self.0.lock();
        (lines.protocol, lines.stderr) = (Ring::default(), Ring::default());
        lines.waits = Waits::default();
    }

    /// Notes the process that leads the player, with what that has started.
    pub(crate) fn runs_as(&self, process: Option<u32>) {
        self.0.lock().waits = Waits::of(process);
    }

    /// Notes that a turn of the player begins, or that something else is asked of it.
    pub fn turn_begins(&self) {
        self.0.lock().waits.begin();
    }

    /// For how long a thread of the player has waited for a processor in the turn that began then, at least. Zero for a player
    /// elsewhere and where the system does not count it.
    pub fn waited_since(&self, turn: Instant) -> Duration {
        self.0.lock().waits.since(turn)
    }

    /// For how much longer to wait for the answer of a player whose flag has fallen: while it waits for a processor, and a
    /// moment longer. `None` when there is nothing to wait for.
    pub fn a_moment(&self, turn: Instant, allowed: Duration) -> Option<Duration> {
        self.0.lock().waits.a_moment(turn, allowed)
    }

    /// For how much longer to wait for an engine that was asked at that moment and whose limit is over: it waited for a
    /// processor, or may be waiting for one. `None` when its time is up.
    pub(crate) fn patience(&self, asked: Instant, limit: Duration) -> Option<Duration> {
        self.0.lock().waits.more(asked, limit)
    }

    /// The output of `work` within a limit of time that leaves out the player's waits for a processor.
    pub(crate) async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let (asked, mut rest, mut work) = (Instant::now(), limit, pin!(work));
        self.turn_begins();
        loop {
            if let Ok(done) = timeout(rest, work.as_mut()).await {
                return Some(done);
            }
            rest = self.patience(asked, limit)?;
        }
    }

    /// A clause for the fault of a player that was too late since then, where this machine has its share in it.
    pub(crate) fn excuse(&self, asked: Instant) -> String {
        let waited = self.waited_since(asked);
        if waited < asked.elapsed() / 2 {
            return String::new();
        }
        format!(
            ", not counting {} ms in which it waited for a processor: this machine is too busy; leave other work to another \
             one, or play fewer games at once (`concurrency`)",
            waited.as_millis()
        )
    }

    /// The last lines of the protocol (`>` sent, `<` received) and of stderr (`!`), made printable.
    pub fn report(&self) -> String {
        let lines = self.0.lock();
        let mut protocol = lines.protocol.clone();
        for (way, line) in lines.recording.iter().flat_map(|recording| recording.last(PROTOCOL)) {
            protocol.push(PROTOCOL, way.mark() as u8, line);
        }
        let mut text = String::new();
        protocol.write(&mut text);
        lines.stderr.write(&mut text);
        text
    }

    /// The last lines of stderr alone.
    pub fn stderr_report(&self) -> String {
        let mut text = String::new();
        self.0.lock().stderr.write(&mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_the_same_whether_a_game_is_recorded_or_not() {
        let [plain, recorded] = [(); 2].map(|()| Trace::default());
        recorded.record(Recording::new(false));
        recorded.recording(Recording::process_started);
        recorded.recording(|it| it.announce(referee::entry::GameId(1), referee::Color::Black));
        let now = Instant::now();
        let both = |way, line: &str| {
            plain.line(way, line.as_bytes(), now);
            recorded.line(way, line.as_bytes(), now);
        };
        for line in ["usi", "isready", "usinewgame"] {
            both(Direction::Sent, line);
        }
        assert_eq!(recorded.report(), plain.report());
        for number in 0..10_000 {
            both(Direction::Received, &format!("info string {number} {}", "x".repeat(number % 300)));
            if number == 3 || number == 9_999 {
                recorded.stderr(b"a word");
                plain.stderr(b"a word");
                assert_eq!(recorded.report(), plain.report());
            }
        }
        assert!(recorded.complete(false).is_some());
        both(Direction::Sent, "quit");
        assert_eq!(recorded.report(), plain.report());
        assert!(recorded.report().contains("< info string 9999 ") && recorded.report().contains("> quit"));
    }

    #[test]
    fn a_flood_of_info_lines_leaves_the_question_and_its_last_line() {
        for recorded in [false, true] {
            let (trace, now) = (Trace::default(), Instant::now());
            if recorded {
                trace.record(Recording::new(false));
                trace.recording(Recording::process_started);
                trace.recording(|it| it.announce(referee::entry::GameId(1), referee::Color::Black));
            }
            trace.line(Direction::Sent, b"go byoyomi 100", now);
            (0..5000)
                .for_each(|n| trace.line(Direction::Received, format!("info depth {n}").as_bytes(), now));
            trace.line(Direction::Received, b"bestmove 7g7f", now);
            let report = trace.report();
            let lines: Vec<_> = report.lines().map(str::trim).collect();
            assert_eq!(lines, ["> go byoyomi 100", "< info depth 4999", "< bestmove 7g7f"]);
        }
    }

    #[test]
    fn only_the_last_lines_are_kept_and_long_ones_are_cut_in_the_middle() {
        let trace = Trace::default();
        for n in 0..100 {
            trace.received(format!("option name {n}").as_bytes());
        }
        trace.sent(&[b'x'; 10_000]);
        let report = trace.report();
        assert_eq!(report.lines().count(), PROTOCOL);
        assert!(report.contains("< option name 99") && !report.contains("name 70"));
        assert!(report.len() < PROTOCOL * (LINE + 20));
    }
}
