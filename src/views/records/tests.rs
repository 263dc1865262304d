//! Tests with real files and a real database.

mod clocks;
mod export;
mod import;
mod verify;

use super::*;
use contest::schedule::Pairing;
use journal::{EventHead, Journal, Store};
use referee::{
    AbortBy, Color, DrawBy, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
};
use rsshogi::types::Move;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

/// A temporary directory with a database and record files.
struct Workspace {
    dir: TempDir,
}

/// 2026-11-21 09:36:11 UTC.
const STARTED: i64 = 1_795_253_771_000;
const LINE: &str = "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b";

impl Workspace {
    fn new() -> Self {
        rsshogi::board::init();
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn db(&self) -> PathBuf {
        self.path("games.db")
    }

    /// Stores an event of two players with a game for each outcome.
    fn played(&self, names: [&str; 2], outcomes: &[Outcome]) {
        self.played_as(names, (0..).zip(outcomes).map(|(index, outcome)| game(index, *outcome)));
    }

    /// Stores an event of two players, whose plan gives both 10 s a move, with these games.
    fn played_as(&self, names: [&str; 2], games: impl Iterator<Item = Vec<Stamped>>) {
        let engines = names.map(|name| {
            let time = referee::clock::TimeControl { byoyomi: Duration::from_secs(10), ..Default::default() };
            serde_json::json!({ "name": name, "time": time })
        });
        let plan = serde_json::json!({ "engines": engines }).to_string();
        let head = EventHead { name: "league", kind: "run", plan: &plan, fingerprint: "{}" };
        let journal = Journal::open(&self.db(), &head).unwrap().start(vec![], || ()).unwrap();
        let players = names.map(str::to_owned).to_vec();
        let opened = Opened { name: "league".into(), players, format: String::new(), resumed: false };
        journal.append([Stamped { at: STARTED, entry: Entry::Opened(opened) }]);
        games.for_each(|game| journal.append(game));
        journal.finish().unwrap();
    }

    fn export(&self, edit: impl FnOnce(&mut Export)) -> Result<ExportReport, RecordsError> {
        let mut args = Export {
            db: self.db(),
            event: None,
            game: vec![],
            all: false,
            format: Format::Csa3,
            output: self.path("out"),
            access: platform::files::Access::Shared,
        };
        edit(&mut args);
        export(&args)
    }

    fn import(&self, files: &[&Path], edit: impl FnOnce(&mut Import)) -> Result<ImportReport, RecordsError> {
        let mut args = Import {
            files: files.iter().map(|path| path.to_path_buf()).collect(),
            db: Some(self.db()),
            verify: false,
            event: "import".into(),
            rules: None,
        };
        edit(&mut args);
        import(&args)
    }
}

/// Two opening moves, then six moves of the players with times, scores and expected lines.
fn game(index: u64, outcome: Outcome) -> Vec<Stamped> {
    let (game, start) = (GameId(index + 1), STARTED + index as i64 * 60_000);
    let (black, white) = (PlayerId(0), PlayerId(1));
    let pairing = Pairing { stage: 0, index, attempt: 0, round: 1, pair: index, opening: 0, black, white };
    let started = GameStarted {
        game,
        pairing,
        start: referee::opening::EVEN.into(),
        opening: "7g7f 3c3d".into(),
        times: None,
    };
    let mut events = vec![Stamped { at: start, entry: Entry::GameStarted(started) }];
    let moves: Vec<_> = LINE.split(' ').collect();
    for ply in 3..=8_usize {
        let color = if ply % 2 == 1 { Color::Black } else { Color::White };
        let score = if ply == 8 { Score::Mate(-7) } else { Score::Cp(10 * ply as i32) };
        let pv = Some(moves[ply - 1..].join(" "));
        let spent = Duration::from_millis(1000 * ply as u64 + 250);
        let moved = Moved {
            game,
            ply: ply as u32,
            color,
            mv: Move::from_usi(moves[ply - 1]).unwrap(),
            charged: spent,
            elapsed: spent,
            left: Duration::ZERO,
            thought: (ply != 4).then(|| Box::new(Thought { score: Some(score), pv, ..Thought::default() })),
        };
        events.push(Stamped { at: start + ply as i64, entry: Entry::Moved(moved) });
    }
    let ended = GameEnded::new(game, pairing, outcome, 8);
    events.push(Stamped { at: start + 50_000, entry: Entry::GameEnded(ended) });
    events
}

const RESIGNED: Outcome = Outcome::Win { winner: Color::White, by: WinBy::Resignation };

/// Every outcome of a game.
fn outcomes() -> Vec<Outcome> {
    let wins = WinBy::ALL
        .iter()
        .flat_map(|&by| [Color::Black, Color::White].map(|winner| Outcome::Win { winner, by }));
    let draws = DrawBy::ALL.iter().map(|&by| Outcome::Draw { by });
    let aborted = AbortBy::ALL.iter().map(|&by| Outcome::Aborted { by });
    wins.chain(draws).chain(aborted).collect()
}

/// The sample records of the repository.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kifu/samples")
}
