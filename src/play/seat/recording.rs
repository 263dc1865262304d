//! What one engine says and is told in a game, as raw bytes. Every ply pays for adding to it, so nothing is formatted
//! before it is known that it will be kept.

use crate::trace::is_info;
use referee::{Color, entry::GameId, sink::Direction};
use std::{
    mem,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::Instant;

/// Bytes kept of the start of a process, up to its first game.
const START: usize = 64 * 1024;
/// Bytes kept of the beginning of a game.
const FIRST: usize = 256 * 1024;
/// Bytes of each of the two blocks that hold the end of a game: with the others at most 1 MB.
const LAST: usize = 320 * 1024;
/// Bytes that are handed over to be written down.
const PIECE: usize = 32 * 1024;
/// Age at which fewer bytes are handed over.
const AGE: Duration = Duration::from_secs(1);
/// Bytes before each line: nanoseconds since the block's first clock, the mark of its way, the length, and the length of
/// the line before, for the way back.
const HEAD: usize = 8 + 1 + 4 + 4;

/// Consecutive lines.
#[derive(Clone, Debug)]
pub struct Block {
    /// The clock of the lines, and the time of day in microseconds since 1970-01-01 UTC at the same moment.
    began: (Instant, i64),
    bytes: Vec<u8>,
    lines: u64,
    /// Length of the last line.
    last: u32,
}

impl Default for Block {
    fn default() -> Self {
        Self::at(Instant::now())
    }
}

impl Block {
    fn at(now: Instant) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        Self { began: (now, micros), bytes: Vec::new(), lines: 0, last: 0 }
    }

    fn fits(&self, line: &[u8], most: usize) -> bool {
        self.bytes.len() + HEAD + line.len() <= most
    }

    fn push(&mut self, way: Direction, line: &[u8], at: Instant) {
        let since = at.saturating_duration_since(self.began.0);
        let nanos = since.as_secs().wrapping_mul(1_000_000_000) + u64::from(since.subsec_nanos());
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&nanos.to_le_bytes());
        head[8] = way.mark() as u8;
        let length = line.len() as u32; // lines are cut far below
        head[9..13].copy_from_slice(&length.to_le_bytes());
        head[13..].copy_from_slice(&self.last.to_le_bytes());
        self.last = length;
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(line);
        self.lines += 1;
    }

    /// Empties it for lines of the same clock.
    fn clear(&mut self) {
        self.bytes.clear();
        (self.lines, self.last) = (0, 0);
    }

    /// Its lines; it is empty afterwards.
    fn take(&mut self) -> Self {
        let (bytes, lines) = (mem::take(&mut self.bytes), mem::take(&mut self.lines));
        Self { began: self.began, bytes, lines, last: self.last }
    }

    /// True if the first line is as old as [`AGE`].
    fn is_old(&self, now: Instant) -> bool {
        let first =
            self.bytes.first_chunk::<8>().map(|nanos| Duration::from_nanos(u64::from_le_bytes(*nanos)));
        first.is_some_and(|first| now.saturating_duration_since(self.began.0) >= first + AGE)
    }

    /// True if it has no line.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes that it takes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Its lines: microseconds since 1970-01-01 UTC, the way, the bytes.
    pub fn lines(&self) -> impl Iterator<Item = (i64, Direction, &[u8])> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let (nanos, more) = rest.split_first_chunk::<8>()?;
            let (&mark, more) = more.split_first()?;
            let (length, more) = more.split_first_chunk::<4>()?;
            let (_before, more) = more.split_first_chunk::<4>()?;
            let (line, more) = more.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = more;
            let micros = i64::try_from(u64::from_le_bytes(*nanos) / 1000).unwrap_or(i64::MAX);
            let at = self.began.1.saturating_add(micros);
            Some((at, Direction::of(char::from(mark)).unwrap_or(Direction::Remark), line))
        })
    }
}

impl Block {
    /// Its lines, the last first.
    fn backwards(&self) -> impl Iterator<Item = (Direction, &[u8])> {
        let (mut end, mut length) = (self.bytes.len(), self.last as usize);
        std::iter::from_fn(move || {
            let head = end.checked_sub(HEAD + length)?;
            let (way, line) = (self.bytes.get(head + 8)?, self.bytes.get(head + HEAD..end)?);
            let before = self.bytes.get(head + 13..head + HEAD)?.first_chunk::<4>()?;
            (end, length) = (head, u32::from_le_bytes(*before) as usize);
            Some((Direction::of(char::from(*way))?, line))
        })
    }
}

/// A whole game of one engine, from the start of its process: of a long one the first lines and the last.
#[derive(Clone, Debug)]
pub struct RecordedGame {
    /// The start of the process, the first lines of the game, and its last.
    pub blocks: [Block; 4],
    /// Lines and bytes that were left out before the last lines.
    pub left_out: (u64, usize),
}

impl RecordedGame {
    /// Bytes that it takes.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(Block::len).sum()
    }
}

/// The current game of a recording.
#[derive(Debug)]
struct Running {
    game: GameId,
    color: Color,
    first: Block,
    /// True if the first lines are complete.
    full: bool,
    older: Block,
    newer: Block,
    left_out: (u64, usize),
    /// True if the engine failed, whatever the result.
    faulty: bool,
    /// Lines that have not been handed over yet, where every game is written down while it is played.
    fresh: Option<Block>,
}

impl Running {
    fn new(game: GameId, color: Color, buffers: [Vec<u8>; 3]) -> Self {
        let clock = Block::at(Instant::now());
        let [first, older, newer] = buffers.map(|bytes| Block { bytes, ..clock.clone() });
        Self { game, color, first, full: false, older, newer, left_out: (0, 0), faulty: false, fresh: None }
    }

    fn push(&mut self, way: Direction, line: &[u8], at: Instant) {
        if let Some(fresh) = &mut self.fresh {
            fresh.push(way, line, at);
        }
        if !self.full && self.first.fits(line, FIRST) {
            return self.first.push(way, line, at);
        }
        self.full = true;
        if !self.newer.fits(line, LAST) {
            self.left_out.0 += self.older.lines;
            self.left_out.1 += self.older.len();
            mem::swap(&mut self.older, &mut self.newer);
            self.newer.clear();
        }
        self.newer.push(way, line, at);
    }
}

/// What is recorded of one seat.
#[derive(Debug, Default)]
pub struct Recording {
    /// From the start of the process to its first game.
    start: Block,
    starting: bool,
    running: Option<Running>,
    /// The game that begins with the next `isready`.
    next: Option<(GameId, Color)>,
    /// Buffers of a game whose lines were dropped: to grow new ones in every game would cost more than the lines.
    spare: [Vec<u8>; 3],
    /// True if the lines of a game are also gathered to be written down at once.
    streams: bool,
}

/// A game whose lines are complete, with those that were not handed over yet.
#[derive(Debug)]
pub struct Complete {
    /// The game.
    pub game: GameId,
    /// The engine's colour.
    pub color: Color,
    /// All of it, if it is kept.
    pub recorded: Option<RecordedGame>,
    /// The lines since the last that were handed over, where they are written down.
    pub fresh: Option<Block>,
}

impl Recording {
    /// A recording; `streams` where lines are handed over while a game is played.
    pub fn new(streams: bool) -> Self {
        Self { streams, ..Self::default() }
    }

    /// A new process begins.
    pub fn process_started(&mut self) {
        (self.start, self.starting) = (Block::default(), true);
    }

    /// A game is announced. It begins now if no other is on, else with the next [`Recording::begin_next`].
    pub fn announce(&mut self, game: GameId, color: Color) {
        match &self.running {
            Some(running) if running.game == game => {}
            Some(_) => self.next = Some((game, color)),
            None => self.begin(game, color),
        }
    }

    fn begin(&mut self, game: GameId, color: Color) {
        let mut running = Running::new(game, color, mem::take(&mut self.spare));
        running.fresh = self.streams.then(|| self.start.clone());
        self.running = Some(running);
    }

    /// The announced game, if it has to wait for the end of another one.
    pub fn waits(&self) -> bool {
        self.next.is_some()
    }

    /// Begins the game that was announced while another was on.
    pub fn begin_next(&mut self) {
        if let Some((game, color)) = self.next.take() {
            self.begin(game, color);
        }
    }

    /// Adds a line, and returns whether it is one of the game that is on. What comes before the first game of a process
    /// belongs to each of its games.
    pub fn push(&mut self, way: Direction, line: &[u8], at: Instant) -> bool {
        if self.starting && self.start.fits(line, START) {
            self.starting = way != Direction::Sent || line != b"usinewgame";
            self.start.push(way, line, at);
            if let Some(Running { fresh: Some(fresh), .. }) = &mut self.running {
                fresh.push(way, line, at);
            }
            return false;
        }
        let running = self.running.as_mut().map(|running| running.push(way, line, at));
        running.is_some()
    }

    /// The last lines of the protocol in the game that is on, in their order; of consecutive `info` lines the last one.
    pub fn last(&self, most: usize) -> Vec<(Direction, &[u8])> {
        let blocks = self.running.iter().flat_map(|it| [&it.newer, &it.older, &it.first]);
        let protocol = blocks.flat_map(Block::backwards).filter(|(way, _)| *way != Direction::Stderr);
        let mut after_info = false;
        let protocol =
            protocol.filter(|(_, line)| !std::mem::replace(&mut after_info, is_info(line)) || !is_info(line));
        let mut last: Vec<_> = protocol.take(most).collect();
        last.reverse();
        last
    }

    /// Takes the lines that are to be written down, if they are many or old.
    pub fn fresh(&mut self, now: Instant) -> Option<(GameId, Color, Block)> {
        let running = self.running.as_mut()?;
        let fresh = running.fresh.as_mut().filter(|fresh| fresh.len() >= PIECE || fresh.is_old(now))?;
        Some((running.game, running.color, fresh.take()))
    }

    /// Notes that the engine has failed in the game that is on: on a server it may go on.
    pub fn failed(&mut self) {
        if let Some(running) = &mut self.running {
            running.faulty = true;
        }
    }

    /// Ends the game that is on, if one is; its lines are kept if it ended by a fault or the engine failed in it.
    pub fn complete(&mut self, ended_by_fault: bool) -> Option<Complete> {
        let Running { game, color, first, older, newer, left_out, faulty, fresh, .. } =
            self.running.take()?;
        let recorded = match ended_by_fault || faulty {
            true => Some(RecordedGame { blocks: [self.start.clone(), first, older, newer], left_out }),
            false => {
                self.spare = [first, older, newer].map(|mut block| {
                    block.clear();
                    block.bytes
                });
                None
            }
        };
        Some(Complete { game, color, recorded, fresh })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::rating::mix::mix;

    fn bytes(lines: &[(Direction, Vec<u8>)]) -> usize {
        lines.iter().map(|(_, line)| HEAD + line.len()).sum()
    }

    fn owned((_, way, line): (i64, Direction, &[u8])) -> (Direction, Vec<u8>) {
        (way, line.to_vec())
    }

    /// Lines of any length and way, one each millisecond, against a plain list of them.
    #[test]
    fn of_a_game_the_first_and_the_last_lines_are_kept_as_they_came_and_the_others_are_counted() {
        for seed in 0..8_u64 {
            let mut recording = Recording::new(true);
            recording.process_started();
            recording.announce(GameId(1), Color::Black);
            let begun = Instant::now();
            let (mut said, mut streamed): (Vec<(Direction, Vec<u8>)>, Vec<_>) = (vec![], vec![]);
            for number in 0..1500_u64 {
                let draw = mix(seed << 32 | number);
                let way = [Direction::Sent, Direction::Received, Direction::Stderr][draw as usize % 3];
                let size = (draw >> 8) as usize % if seed % 2 == 0 { 10 } else { 3000 };
                let line = match number {
                    0 => b"usi".to_vec(),
                    1 => b"usinewgame".to_vec(),
                    _ => format!("{number} {}", "x".repeat(size)).into_bytes(),
                };
                let way = if number < 2 { Direction::Sent } else { way };
                let at = begun + Duration::from_millis(number);
                assert_eq!(
                    recording.push(way, &line, at),
                    number > 1,
                    "what is said first is of the process"
                );
                said.push((way, line));
                let waiting = &said[streamed.len()..];
                let is_due = bytes(waiting) >= PIECE || waiting.len() > 1000;
                let fresh = recording.fresh(at);
                assert_eq!(fresh.is_some(), is_due, "line {number} of seed {seed}");
                streamed.extend(fresh.iter().flat_map(|(.., block)| block.lines()).map(owned));
            }
            let last: Vec<_> =
                recording.last(24).into_iter().map(|(way, line)| (way, line.to_vec())).collect();
            let mut protocol = said[2..].to_vec();
            protocol.retain(|(way, _)| *way != Direction::Stderr);
            assert_eq!(last, protocol[protocol.len() - 24..]);
            let complete = recording.complete(seed > 3 || seed % 2 == 1);
            let Some(Complete { recorded, fresh: Some(fresh), .. }) = complete else { panic!("no game") };
            streamed.extend(fresh.lines().map(owned));
            assert_eq!(streamed, said);
            let Some(recorded) = recorded else { continue };
            let kept: Vec<_> = recorded.blocks.iter().flat_map(Block::lines).collect();
            let left_out = said.len() - kept.len();
            assert_eq!(recorded.left_out.0, left_out as u64);
            assert_eq!(left_out > 0, seed % 2 == 1);
            let before = kept.iter().zip(&said).take_while(|(kept, said)| kept.2 == said.1).count();
            let gap = &said[before..before + left_out];
            assert_eq!((recorded.left_out.1, recorded.len()), (bytes(gap), bytes(&said) - bytes(gap)));
            let rest = [&said[..before], &said[before + left_out..]].concat();
            assert_eq!(kept.iter().copied().map(owned).collect::<Vec<_>>(), rest);
            assert!(kept.is_sorted_by_key(|line| line.0));
            assert!(recorded.blocks.iter().all(|block| block.len() <= LAST));
            if left_out > 0 {
                let [_, first, older, _] = &recorded.blocks;
                assert!(
                    first.len() > FIRST - 3100 && older.len() > LAST - 3100,
                    "no more than there must be"
                );
            }
        }
    }

    #[test]
    fn a_failure_keeps_the_lines_of_a_game_whose_result_is_no_fault() {
        let mut recording = Recording::new(false);
        recording.announce(GameId(1), Color::Black);
        recording.announce(GameId(1), Color::Black);
        assert!(!recording.waits());
        recording.announce(GameId(2), Color::White);
        assert!(recording.waits());
        recording.push(Direction::Sent, b"go", Instant::now());
        recording.failed();
        let complete = recording.complete(false).unwrap();
        assert_eq!(
            (complete.game, complete.recorded.is_some(), complete.fresh.is_none()),
            (GameId(1), true, true)
        );
        recording.begin_next();
        recording.push(Direction::Sent, b"go", Instant::now());
        let complete = recording.complete(false).unwrap();
        let of = (complete.game, complete.color, complete.recorded.is_none(), recording.waits());
        assert_eq!(of, (GameId(2), Color::White, true, false));
    }
}
