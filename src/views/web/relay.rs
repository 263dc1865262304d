//! The stream of what happens, to all viewers: each frame is built once, and whoever is slow misses frames and is told to
//! look at the whole again. Nothing waits for a viewer.

use crate::{live::Item, parts::to_json};
use axum::body::Bytes;
use parking_lot::{Mutex, MutexGuard};
use referee::entry::GameId;
use serde::Serialize;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::broadcast;

/// Frames that a viewer may be behind.
const BEHIND: usize = 256;
/// Bytes of frames that are kept for viewers who return.
const KEPT: usize = 8 << 20;
/// Bytes that an item takes, roughly.
const ITEM: usize = 256;
/// Bytes of a move's text, roughly.
const MOVE: usize = 110;
/// Bytes a second that are sent to all viewers together; of more than that, frames become rarer.
const FLOW: usize = 24 << 20;

/// What happened since the last frame. Its texts are built once, by whoever needs them first.
#[derive(Debug)]
pub struct Frame {
    id: FrameId,
    now: i64,
    items: Vec<Item>,
    /// What viewers of all games are told, where that is less than every move.
    thinned: Option<Vec<Item>>,
    all: OnceLock<Bytes>,
    /// The same for viewers of one game, with every move and everything that was said.
    games: OnceLock<BTreeMap<GameId, Bytes>>,
}

impl Frame {
    /// Its id.
    pub fn id(&self) -> FrameId {
        self.id
    }

    /// True if it only says that the past was read, once or anew: nothing of that is in a frame.
    pub fn is_beginning(&self) -> bool {
        self.items.is_empty()
    }

    /// The text of the frame for viewers of a game, or of all; empty if nothing in it is for them.
    pub fn text(&self, game: Option<GameId>) -> Bytes {
        match game {
            None => self.all.get_or_init(|| self.of_all()).clone(),
            Some(game) => self.games.get_or_init(|| self.of_games()).get(&game).cloned().unwrap_or_default(),
        }
    }

    fn of_all(&self) -> Bytes {
        let items = self.thinned.as_deref().unwrap_or(&self.items);
        let short: Vec<Item> = items.iter().map(Item::short).collect();
        event("news", self.id, &data(self.now, &short)).into()
    }

    fn of_games(&self) -> BTreeMap<GameId, Bytes> {
        let mut by_game: BTreeMap<GameId, Vec<Item>> = BTreeMap::new();
        for item in &self.items {
            if let Some(game) = item.game() {
                by_game.entry(game).or_default().push(item.clone());
            }
        }
        let text = |items: Vec<Item>| event("news", self.id, &data(self.now, &items)).into();
        by_game.into_iter().map(|(game, items)| (game, text(items))).collect()
    }

    /// Roughly the memory that it takes.
    fn size(&self) -> usize {
        (self.items.len() + self.thinned.as_ref().map_or(0, Vec::len)) * ITEM
    }
}

/// What the stream is written in. Fields may be added; one that changes its meaning, or goes, is another version.
const VERSION: u32 = 1;

/// The id of a frame: the event, the number of its last entry in the log, and its own number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameId {
    /// When the event was created, which tells it from another one of its name or at its address.
    pub event: i64,
    /// Number of the last entry.
    pub seq: u64,
    /// Number of the frame.
    pub number: u64,
}

impl FrameId {
    /// Reads an id as it is written.
    pub fn read(text: &str) -> Option<Self> {
        let (event, place) = text.split_once('-')?;
        let (seq, number) = place.split_once('-')?;
        Some(Self { event: event.parse().ok()?, seq: seq.parse().ok()?, number: number.parse().ok()? })
    }
}

impl std::fmt::Display for FrameId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.event, self.seq, self.number)
    }
}

/// Sends frames, and keeps the last of them.
#[derive(Debug)]
pub struct Relay {
    /// Number of the frame before the first one of this run.
    first: u64,
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
    /// With the whole: the frame was one of another event.
    Whole,
}

impl Relay {
    /// A relay whose frames are numbered from `first`, which is greater than all numbers of earlier runs.
    pub fn new(first: u64) -> Self {
        let last = FrameId { event: 0, seq: 0, number: first };
        Self {
            first,
            kept: Mutex::new(Kept { ring: VecDeque::new(), bytes: 0, last }),
            frames: broadcast::Sender::new(BEHIND),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }

    /// The id of the last frame.
    pub fn last(&self) -> FrameId {
        self.kept().last
    }

    /// Keeps no frame any longer: whoever returns is told the rest from the store.
    pub fn settle(&self) {
        let mut kept = self.kept();
        (kept.bytes, kept.ring) = Default::default();
    }

    /// Number of viewers who follow.
    pub fn viewers(&self) -> usize {
        self.frames.receiver_count()
    }

    /// True if it takes the viewers long to be told of so many moves.
    pub fn is_crowded(&self, moves: usize) -> bool {
        moves.saturating_mul(MOVE).saturating_mul(self.viewers()) > FLOW / 4
    }

    /// Sends what happened; `thinned` is what viewers of all games are told of it, where that is less. A frame without
    /// anything is a beginning, from which everybody is led to the store. `event` and `seq` are those of its id. Returns the
    /// time that the viewers have to take it.
    pub fn send(
        &self,
        items: Vec<Item>,
        thinned: Option<Vec<Item>>,
        (event, seq): (i64, u64),
        now: i64,
    ) -> Duration {
        let mut kept = self.kept();
        let id = FrameId { event, seq, number: kept.last.number + 1 };
        let (all, games) = Default::default();
        let frame = Arc::new(Frame { id, now, items, thinned, all, games });
        kept.last = id;
        if frame.items.is_empty() {
            (kept.bytes, kept.ring) = Default::default();
        } else {
            kept.bytes += frame.size();
            kept.ring.push_back(frame.clone());
        }
        while kept.bytes > KEPT
            && let Some(oldest) = kept.ring.pop_front()
        {
            kept.bytes -= oldest.size();
        }
        drop(kept);
        let viewers = self.viewers();
        if viewers == 0 {
            return Duration::ZERO;
        }
        let bytes = frame.text(None).len().saturating_mul(viewers);
        // The last of them may have left.
        let _nobody = self.frames.send(frame);
        Duration::from_millis(u64::try_from(bytes.saturating_mul(1000) / FLOW).unwrap_or(u64::MAX))
    }

    /// True if a viewer who has seen a frame can go on with one of that event. Before the first look of this run no event was
    /// known; `0-0-0` is the id of a viewer who has seen nothing.
    pub fn leads_to(&self, seen: FrameId, event: i64) -> bool {
        let of_none = seen.event == 0 && seen.seq == 0 && (seen.number == 0 || seen.number >= self.first);
        seen.event == event || of_none
    }

    /// Follows from now on; `seen` is the last frame that the viewer has seen, or an id that cannot be read.
    pub fn follow(&self, seen: Option<Option<FrameId>>) -> (broadcast::Receiver<Arc<Frame>>, Missed) {
        // Under the lock, so that no frame is neither missed nor received.
        let kept = self.kept();
        let receiver = self.frames.subscribe();
        let missed = match seen {
            None => Missed::Frames(vec![]),
            Some(None) => Missed::Whole,
            Some(Some(seen)) if kept.last.seq > 0 && !self.leads_to(seen, kept.last.event) => Missed::Whole,
            // The past was still being read then, and the frame after that has none of it.
            Some(Some(seen)) if seen.seq == 0 => Missed::Since(0),
            Some(Some(seen)) if seen.number == kept.last.number => Missed::Frames(vec![]),
            Some(Some(seen)) => match kept.ring.iter().position(|frame| frame.id.number == seen.number + 1) {
                Some(at) => Missed::Frames(kept.ring.range(at..).cloned().collect()),
                None => Missed::Since(seen.seq),
            },
        };
        (receiver, missed)
    }
}

/// The text of an event of the stream.
pub fn event(kind: &str, id: FrameId, data: &str) -> String {
    format!("event: {kind}\nid: {id}\ndata: {data}\n\n")
}

/// Items as the data of an event: one line, as the line ends in strings are escaped.
pub fn data(now: i64, items: &[Item]) -> String {
    #[derive(Serialize)]
    struct News<'a> {
        version: u32,
        now: i64,
        items: &'a [Item],
    }
    to_json(&News { version: VERSION, now, items })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(seq: u64) -> Item {
        Item::Told { seq, g: None, words: "line\nend".to_owned(), ja: String::new() }
    }

    #[test]
    fn whoever_returns_gets_the_frames_in_between_or_is_sent_to_the_store() {
        let (relay, id) = (Relay::new(1000), |text: &str| Some(FrameId::read(text)));
        relay.send(vec![], None, (9, 5), 0);
        assert!(
            matches!(relay.follow(id("0-0-1000")).1, Missed::Since(0)),
            "it came before the event was shown"
        );
        for seq in 6..9 {
            relay.send(vec![told(seq)], None, (9, seq), 0);
        }
        let Missed::Frames(frames) = relay.follow(id("9-6-1002")).1 else { panic!("the frames are kept") };
        assert_eq!(frames.iter().map(|frame| frame.id.seq).collect::<Vec<_>>(), [7, 8]);
        assert!(matches!(relay.follow(id("9-8-1004")).1, Missed::Frames(frames) if frames.is_empty()));
        assert!(matches!(relay.follow(id("9-4-77")).1, Missed::Since(4)), "a frame of an earlier run");
        for foreign in ["8-6-1002", "8-8-1004", "8-4-77", "0-0-999", "0-6-1002", "8-0-1000"] {
            let missed = relay.follow(id(foreign)).1;
            assert!(matches!(missed, Missed::Whole), "another event at this address: {missed:?}");
        }
        assert!(matches!(relay.follow(id("0-0-0")).1, Missed::Since(0)), "nothing was seen");
        let early = relay.follow(id("0-0-1000")).1;
        assert!(matches!(early, Missed::Since(0)), "a page from before the past was read: {early:?}");
        relay.settle();
        assert!(relay.kept().ring.is_empty() && relay.kept().bytes == 0, "an event that is over keeps none");
        assert!(matches!(relay.follow(id("9-6-1002")).1, Missed::Since(6)));
        assert!(matches!(relay.follow(id("9-8-1004")).1, Missed::Frames(frames) if frames.is_empty()));
    }

    #[test]
    fn an_event_is_one_line_whatever_it_tells() {
        let relay = Relay::new(0);
        relay.send(vec![], None, (9, 1), 0);
        relay.send(vec![told(2)], None, (9, 2), 0);
        let Missed::Frames(frames) = relay.follow(Some(FrameId::read("9-1-1"))).1 else { panic!() };
        let text = String::from_utf8(frames[0].text(None).to_vec()).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("data: ")).count(), 1);
        assert_eq!(text.trim_end().lines().count(), 3);
    }

    #[test]
    fn a_crowd_is_sent_large_frames_more_rarely_and_an_empty_room_costs_no_text() {
        let relay = Relay::new(0);
        let many: Vec<Item> = (0..10_000).map(told).collect();
        assert_eq!(relay.send(many.clone(), None, (9, 1), 0), Duration::ZERO);
        let crowd: Vec<_> = (0..100).map(|_| relay.follow(None)).collect();
        let breath = relay.send(many.clone(), None, (9, 2), 0);
        assert!(breath > Duration::from_millis(500), "{breath:?}");
        assert!(relay.send(many, Some(vec![told(3)]), (9, 3), 0) < breath, "what was thinned takes less");
        assert!(relay.is_crowded(1000) && !relay.is_crowded(50));
        drop(crowd);
        assert!(!relay.is_crowded(100_000), "nobody is there");
    }
}
