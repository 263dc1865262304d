//! Transcripts of games over a network: every line with its time, bounded, handed to the journal piece by piece.

use parking_lot::{Condvar, Mutex};
use referee::{
    Color,
    entry::GameId,
    sink::{Channel, Direction, SideRecord, Sink, TranscriptPiece},
};
use std::{
    io::Write,
    mem,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::Instant;

/// Size in bytes at which a piece is handed over.
const PIECE: usize = 4096;
/// Age at which a piece is handed over.
const AGE: Duration = Duration::from_secs(10);
/// Bytes kept of one player's lines in one game, unless whoever opens the transcript says otherwise.
const MAX_BYTES: usize = 256 * 1024;
/// Bytes that a line costs beside its text: its time, mark and end.
const LINE_COST: usize = 12;
/// The share of the bytes that is for lines which the game does not expect.
const ASIDES: usize = 16;
/// Bytes kept of a line; a longer one ends with `...`.
const LONGEST: usize = 1000;

/// Opens transcripts, and knows how many are open.
#[derive(Clone, Debug)]
pub struct Transcripts {
    sink: Arc<dyn Sink>,
    open: Arc<Open>,
}

#[derive(Debug, Default)]
struct Open {
    count: Mutex<usize>,
    closed: Condvar,
}

impl Transcripts {
    /// Transcripts whose pieces go to `sink`.
    pub fn new(sink: Arc<dyn Sink>) -> Self {
        Self { sink, open: Arc::default() }
    }

    /// The sink that the pieces go to.
    pub fn sink(&self) -> &Arc<dyn Sink> {
        &self.sink
    }

    /// Opens the transcript of one player's lines in a game.
    #[must_use]
    pub fn open(&self, game: GameId, color: Color) -> Transcript {
        self.open_within(game, color, MAX_BYTES)
    }

    /// Opens a transcript that keeps `most` bytes.
    #[must_use]
    pub fn open_within(&self, game: GameId, color: Color, most: usize) -> Transcript {
        *self.open.count.lock() += 1;
        let (part, began, lines) = (0, (Instant::now(), now_ms()), vec![]);
        let [all, asides] = [most, most / ASIDES].map(|left| Room { left, told: false });
        Transcript { game, color, part, began, lines, all, asides, of: self.clone() }
    }

    /// Waits until every transcript is closed, but no longer than `patience`.
    pub fn settle(&self, patience: Duration) {
        self.open.closed.wait_while_for(&mut self.open.count.lock(), |open| *open > 0, patience);
    }
}

/// The lines of one player in one game. Dropping it hands over the last piece.
#[derive(Debug)]
pub struct Transcript {
    game: GameId,
    color: Color,
    part: u32,
    /// The time of the piece's first line, by the monotonic clock and in ms since 1970-01-01 UTC.
    began: (Instant, i64),
    lines: Vec<u8>,
    /// Room for lines, and for those among them that the game does not expect.
    all: Room,
    asides: Room,
    of: Transcripts,
}

/// Bytes that may still be kept.
#[derive(Debug)]
struct Room {
    left: usize,
    /// True if it was said that there are none left.
    told: bool,
}

impl Room {
    /// Takes room for a line; false when it has none.
    fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.left;
        // What comes after a line that was left out is left out too, or a reader would miss lines in between.
        self.left = if fits { self.left - bytes } else { 0 };
        fits
    }

    /// True if it has to be said now that nothing more is kept.
    fn ends(&mut self) -> bool {
        !std::mem::replace(&mut self.told, true)
    }
}

impl Transcript {
    /// Adds a line that was read or written at that instant.
    pub fn line(&mut self, at: Instant, way: Direction, bytes: &[u8]) {
        match self.all.take(cost(bytes)) {
            true => self.add(at, way, bytes),
            false if self.all.ends() => {
                self.add(at, Direction::Remark, b"no more is kept of this player's lines")
            }
            false => {}
        }
    }

    /// Adds the beginning of a line that was read, whose rest is not kept.
    pub fn cut_line(&mut self, at: Instant, beginning: &[u8]) {
        self.line(at, Direction::Received, &[beginning, b"..."].concat());
    }

    /// Adds a line that was read and that the game does not expect.
    pub fn aside(&mut self, at: Instant, bytes: &[u8]) {
        match self.asides.take(cost(bytes)) {
            true => self.line(at, Direction::Received, bytes),
            false => self.end_asides(at),
        }
    }

    /// Says, once, that no more is kept of such lines.
    pub fn end_asides(&mut self, at: Instant) {
        if self.asides.ends() {
            self.add(at, Direction::Remark, b"no more is kept of lines that the game does not expect");
        }
        self.asides.left = 0;
    }

    fn add(&mut self, at: Instant, way: Direction, bytes: &[u8]) {
        if self.lines.is_empty() {
            self.began = (at, now_ms() - age_ms(at));
        }
        let after = at.saturating_duration_since(self.began.0);
        let _infallible = write!(self.lines, "{} {} ", after.as_micros(), way.mark());
        self.lines.extend_from_slice(&bytes[..bytes.len().min(LONGEST)]);
        self.lines.extend_from_slice(if bytes.len() > LONGEST { b"...\n" } else { b"\n" });
        if self.lines.len() >= PIECE || after >= AGE {
            self.cut();
        }
    }

    /// Hands over the lines since the last piece.
    pub fn cut(&mut self) {
        if !self.lines.is_empty() {
            let Self { game, color, part, began: (_, at), .. } = *self;
            let lines = mem::take(&mut self.lines);
            self.of.sink.keep(SideRecord::Transcript(TranscriptPiece {
                game,
                color,
                channel: Channel::Network,
                part,
                at,
                lines,
            }));
            self.part += 1;
        }
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        self.cut();
        *self.of.open.count.lock() -= 1;
        self.of.open.closed.notify_all();
    }
}

/// Bytes that a line takes.
fn cost(line: &[u8]) -> usize {
    line.len().min(LONGEST) + LINE_COST
}

/// Milliseconds since 1970-01-01 UTC.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn age_ms(at: Instant) -> i64 {
    i64::try_from(at.elapsed().as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::entry::Entry;

    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<TranscriptPiece>>);

    impl Sink for Kept {
        fn happened(&self, _: Entry) {}

        fn keep(&self, record: SideRecord) {
            let SideRecord::Transcript(piece) = record else { panic!("{record:?}") };
            self.0.lock().push(piece);
        }
    }

    #[test]
    fn a_transcript_keeps_bytes_unchanged_and_is_bounded() {
        let kept = Arc::new(Kept::default());
        let mut transcript = Transcripts::new(kept.clone()).open(GameId(7), Color::White);
        let at = Instant::now();
        transcript.line(at, Direction::Received, b"+7776FU,'* 1 \xff\x1b[2J < x");
        transcript.line(at + Duration::from_micros(1500), Direction::Sent, b"");
        transcript.cut();
        transcript.cut();
        let taken = mem::take(&mut *kept.0.lock());
        let [piece] = &taken[..] else { panic!("{taken:?}") };
        let lines: Vec<_> = piece.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (lines[0].way, &lines[0].bytes[..]),
            (Direction::Received, &b"+7776FU,'* 1 \xff\x1b[2J < x"[..])
        );
        assert_eq!(
            (lines[1].way, &lines[1].bytes[..], lines[1].at - lines[0].at),
            (Direction::Sent, &b""[..], 1500)
        );
        for _ in 0..1000 {
            transcript.line(at, Direction::Received, &[b'x'; 1000]);
        }
        drop(transcript);
        let pieces = kept.0.lock();
        let size: usize = pieces.iter().map(|piece| piece.lines.len()).sum();
        assert!((MAX_BYTES - 3000..MAX_BYTES + 100).contains(&size), "{size}");
        assert!(pieces.last().unwrap().lines.ends_with(b"# no more is kept of this player's lines\n"));
    }

    #[test]
    fn lines_that_the_game_does_not_expect_leave_room_for_those_that_it_does() {
        let kept = Arc::new(Kept::default());
        let mut transcript = Transcripts::new(kept.clone()).open_within(GameId(7), Color::White, 48 * 1024);
        let at = Instant::now();
        for _ in 0..100 {
            transcript.aside(at, &[b'x'; 8000]);
            transcript.line(at, Direction::Received, b"+7776FU");
        }
        drop(transcript);
        let pieces = mem::take(&mut *kept.0.lock());
        let lines: Vec<_> = pieces.iter().flat_map(TranscriptPiece::lines).map(|line| line.bytes).collect();
        let moves = lines.iter().filter(|line| *line == b"+7776FU").count();
        let asides = lines.iter().filter(|line| line.starts_with(b"xxx")).count();
        assert_eq!((moves, asides), (100, 3));
        assert_eq!(lines.len(), 104, "what is left out is said once");
        assert!(lines.iter().all(|line| line.len() <= LONGEST + 3), "no line is longer");
    }

    #[test]
    fn settling_waits_for_the_last_transcript() {
        let transcripts = Transcripts::new(Arc::new(Kept::default()));
        let open = transcripts.open(GameId(1), Color::Black);
        let closing = std::thread::spawn(move || drop(open));
        transcripts.settle(Duration::from_secs(60));
        closing.join().unwrap();
        assert_eq!(*transcripts.open.count.lock(), 0);
    }
}
