//! Tests of the journal on real files: round trips, crashes, and queries over the documented views.

mod beside;
mod defence;
mod durability;
mod opening;
mod prune;
mod resuming;
mod round_trip;
mod seals;
mod views;

use super::{EventHead, EventId, Journal, OpenedEvent, Reader, Store, StoreError, Writer};
use contest::schedule::Pairing;
use referee::{
    Color, DrawBy, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
};
use rsshogi::types::Move;
use std::{path::PathBuf, time::Duration};
use tempfile::TempDir;

/// A temporary directory and the path of a database in it.
fn temporary() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    (directory, path)
}

const HEAD: EventHead<'_> = EventHead { name: "league", kind: "run", plan: r#"{"a":1}"#, fingerprint: "{}" };

fn open(path: &PathBuf) -> (Writer, OpenedEvent) {
    let mut store = Writer::open(path).unwrap();
    let opened = store.open_event(&HEAD).unwrap();
    (store, opened)
}

/// Writes entries and closes the database.
fn write(path: &PathBuf, events: &[Stamped]) -> EventId {
    let (store, opened) = open(path);
    let journal = start(store, opened.event);
    journal.append(events.iter().cloned());
    journal.finish().unwrap();
    opened.event
}

/// A journal without readers.
fn start(store: Writer, event: EventId) -> Journal {
    Journal::start(Default::default(), store, event, vec![], || ()).unwrap()
}

/// A journal with one reader.
fn read_by(store: Writer, event: EventId, mut read: impl FnMut(&[Stamped]) + Send + 'static) -> Journal {
    Journal::start(
        Default::default(),
        store,
        event,
        vec![Reader::new("test", move |batch| read(batch))],
        || (),
    )
    .unwrap()
}

fn at(at: i64, entry: Entry) -> Stamped {
    Stamped { at, entry }
}

fn opening() -> Stamped {
    let players = ["Asa", "Bei", "Chie"].map(str::to_owned).to_vec();
    let format = "round robin".to_owned();
    at(1_800_000_000_000, Entry::Opened(Opened { name: "league".into(), players, format, resumed: false }))
}

/// Pairing of game `game`: `black` against `white`.
fn pairing(game: u64, black: u32, white: u32) -> Pairing {
    let (index, pair) = (game - 1, (game - 1) / 2);
    let (black, white) = (PlayerId(black), PlayerId(white));
    Pairing { stage: 0, index, attempt: 0, round: 1, pair, opening: pair, black, white }
}

fn started(game: u64, black: u32, white: u32) -> Stamped {
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1".to_owned();
    let (opening, pairing) = ("7g7f 3c3d".to_owned(), pairing(game, black, white));
    let started = GameStarted { game: GameId(game), pairing, start, opening, times: None };
    at(1_800_000_000_000 + game as i64 * 1000, Entry::GameStarted(started))
}

fn ended(game: u64, black: u32, white: u32, outcome: Outcome) -> Stamped {
    let pairing = pairing(game, black, white);
    let ended = GameEnded::new(GameId(game), pairing, outcome, 40);
    at(1_800_000_060_500 + game as i64 * 1000, Entry::GameEnded(ended))
}

/// Ply `ply` of a game, measured at `elapsed_ms`; the engine reports 10 ms.
fn moved(game: u64, ply: u32, elapsed_ms: u64) -> Stamped {
    let color = if ply % 2 == 1 { Color::Black } else { Color::White };
    let thought = Thought { time: Some(10), score: Some(Score::Cp(55)), ..Thought::default() };
    let moved = Moved {
        game: GameId(game),
        ply,
        color,
        mv: Move::from_usi("2g2f").unwrap(),
        charged: Duration::from_millis(elapsed_ms),
        elapsed: Duration::from_millis(elapsed_ms),
        left: Duration::from_secs(60),
        thought: Some(Box::new(thought)),
    };
    at(1_800_000_000_000 + i64::from(ply), Entry::Moved(moved))
}

fn win(winner: Color) -> Outcome {
    Outcome::Win { winner, by: WinBy::Resignation }
}

const SENNICHITE: Outcome = Outcome::Draw { by: DrawBy::Sennichite };
