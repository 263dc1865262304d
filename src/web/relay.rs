//! The stream of what happens, to all viewers: each frame is built once, and whoever is slow misses frames and is told to
//! look at the whole again. Nothing waits for a viewer.

use crate::live::Item;
use referee::entry::GameId;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast;

/// Frames that a viewer may be behind.
const BEHIND: usize = 256;
/// Bytes of frames that are kept for viewers who return.
const KEPT: usize = 4 << 20;

/// What happened since the last frame.
#[derive(Debug)]
pub struct Frame {
    /// Number of the last entry in it.
    #[cfg(test)]
    seq: u64,
    number: u64,
    all: String,
    /// The same for viewers of one game, with everything that was said.
    games: BTreeMap<GameId, String>,
}

/// The frame for a viewer; empty if nothing in it is for it.
impl Frame {
    /// The text of the frame for viewers of a game, or of all.
    #[must_use]
    pub fn text(&self, game: Option<GameId>) -> &str {
        match game {
            None => &self.all,
            Some(game) => self.games.get(&game).map_or("", String::as_str),
        }
    }
}

/// The id of a frame: the number of its last entry in the log, and its own number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameId {
    /// Number of the last entry.
    pub seq: u64,
    /// Number of the frame.
    pub number: u64,
}

impl FrameId {
    /// Reads an id as it is written.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (seq, number) = text.split_once('-')?;
        Some(Self { seq: seq.parse().ok()?, number: number.parse().ok()? })
    }
}

impl std::fmt::Display for FrameId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.seq, self.number)
    }
}

/// Sends frames, and keeps the last of them.
#[derive(Debug)]
pub struct Relay {
    kept: Mutex<Kept>,
    frames: broadcast::Sender<Arc<Frame>>,
}

#[derive(Debug)]
struct Kept {
    ring: VecDeque<Arc<Frame>>,
    bytes: usize,
    last: FrameId,
}

/// How a viewer goes on who has seen a frame.
#[derive(Debug)]
pub enum Missed {
    /// With these frames.
    Frames(Vec<Arc<Frame>>),
    /// With what the store has after this entry.
    Since(u64),
}

impl Relay {
    /// A relay whose frames are numbered from `first`, which is greater than all numbers of earlier runs.
    pub fn new(first: u64) -> Self {
        let last = FrameId { seq: 0, number: first };
        Self {
            kept: Mutex::new(Kept { ring: VecDeque::new(), bytes: 0, last }),
            frames: broadcast::Sender::new(BEHIND),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of the last frame.
    pub fn last(&self) -> FrameId {
        self.kept().last
    }

    /// Number of viewers who follow.
    pub fn viewers(&self) -> usize {
        self.frames.receiver_count()
    }

    /// Notes that everything up to an entry is known without a frame: viewers come later.
    pub fn begin(&self, seq: u64) {
        self.kept().last.seq = seq;
    }

    /// Sends what happened.
    pub fn send(&self, items: &[Item], seq: u64, now: i64) {
        let mut kept = self.kept();
        let last = FrameId { seq, number: kept.last.number + 1 };
        let frame = Arc::new(frame(items, last, now));
        kept.last = last;
        kept.bytes += frame.all.len();
        kept.ring.push_back(frame.clone());
        while kept.bytes > KEPT
            && let Some(oldest) = kept.ring.pop_front()
        {
            kept.bytes -= oldest.all.len();
        }
        // Nobody may be there.
        let _nobody = self.frames.send(frame);
    }

    /// Follows from now on; `seen` is the last frame that the viewer has seen.
    pub fn follow(&self, seen: Option<FrameId>) -> (broadcast::Receiver<Arc<Frame>>, Missed) {
        // Under the lock, so that no frame is neither missed nor received.
        let kept = self.kept();
        let receiver = self.frames.subscribe();
        let missed = match seen {
            None => Missed::Frames(vec![]),
            Some(seen) if seen.number == kept.last.number => Missed::Frames(vec![]),
            Some(seen) => match kept.ring.iter().position(|frame| frame.number == seen.number + 1) {
                Some(at) => Missed::Frames(kept.ring.range(at..).cloned().collect()),
                None => Missed::Since(seen.seq),
            },
        };
        (receiver, missed)
    }
}

/// The text of an event of the stream.
#[must_use]
pub fn event(kind: &str, id: FrameId, data: &str) -> String {
    format!("event: {kind}\nid: {id}\ndata: {data}\n\n")
}

/// Items as the data of an event.
#[must_use]
pub fn data(now: i64, items: &[Item]) -> String {
    let mut text = format!("{{\"now\":{now},\"items\":[");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        // Every item serializes; line ends in strings are escaped, so that the data is one line.
        let _never_fails =
            write!(text, "{}", serde_json::to_string(item).unwrap_or_else(|_| "null".to_owned()));
    }
    text + "]}"
}

fn frame(items: &[Item], id: FrameId, now: i64) -> Frame {
    let short: Vec<Item> = items.iter().map(Item::short).collect();
    let mut by_game: BTreeMap<GameId, Vec<Item>> = BTreeMap::new();
    for item in items {
        if let Some(game) = item.game() {
            by_game.entry(game).or_default().push(item.clone());
        }
    }
    let games =
        by_game.into_iter().map(|(game, items)| (game, event("news", id, &data(now, &items)))).collect();
    Frame {
        #[cfg(test)]
        seq: id.seq,
        number: id.number,
        all: event("news", id, &data(now, &short)),
        games,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(seq: u64) -> Item {
        Item::Told { seq, g: None, words: "line\nend".to_owned() }
    }

    #[test]
    fn whoever_returns_gets_the_frames_in_between_or_is_sent_to_the_store() {
        let relay = Relay::new(1000);
        relay.begin(5);
        (6..9).for_each(|seq| relay.send(&[told(seq)], seq, 0));
        let id = |text| FrameId::read(text);
        let Missed::Frames(frames) = relay.follow(id("6-1001")).1 else { panic!("the frames are kept") };
        assert_eq!(frames.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [7, 8]);
        assert!(matches!(relay.follow(id("8-1003")).1, Missed::Frames(frames) if frames.is_empty()));
        assert!(matches!(relay.follow(id("4-77")).1, Missed::Since(4)), "a frame of an earlier run");
    }

    #[test]
    fn an_event_is_one_line_whatever_it_tells() {
        let relay = Relay::new(0);
        relay.send(&[told(1)], 1, 0);
        let Missed::Frames(frames) = relay.follow(FrameId::read("0-0")).1 else { panic!() };
        assert_eq!(frames[0].text(None).lines().filter(|line| line.starts_with("data: ")).count(), 1);
        assert_eq!(frames[0].text(None).trim_end().lines().count(), 3);
    }
}
