//! Cost of the page of a large league. `cargo bench --bench report [DIRECTORY]` writes ten thousand games into a
//! database in DIRECTORY (by default a temporary one) and renders the page beside it; a given DIRECTORY keeps both.

use contest::schedule::Pairing;
use journal::{EventHead, Journal, Store};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
    opening::EVEN,
};
use report::Language;
use rsshogi::types::Move;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Sample games, one per line; those that are long enough are repeated.
const LINES: &str = include_str!("../../../kifu/samples/quickstart.usi");
const SHORTEST: usize = 90;
const PLAYERS: u64 = 10;
const PLAN: &str = r#"{"name":"bench","sprt":null,"engines":[],
    "stages":[{"format":{"format":"round-robin","cycles":200},"games":2,"entrants":null}]}"#;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` runs benches without `--bench`; then a hundredth of the games shows that they work.
    let games = if arguments.iter().any(|arg| arg == "--bench") { 10_000 } else { 100 };
    let given: Option<PathBuf> = arguments.into_iter().find(|arg| !arg.starts_with('-')).map(Into::into);
    let scratch = tempfile::tempdir()?;
    let directory = given.as_deref().unwrap_or(scratch.path());
    let path = directory.join("report.db");
    let plies = write(&path, games)?;
    let begun = Instant::now();
    let store = Store::read(&path)?;
    let event = store.events()?.remove(0);
    let frozen = web::freeze(&store, &event, "report.html", Language::English)?;
    for (file, page) in &frozen.files {
        std::fs::write(directory.join(file), page)?;
    }
    let (pages, bytes) = (frozen.files.len(), frozen.files.iter().map(|(_, page)| page.len()).sum::<usize>());
    let (all, megabytes) = (begun.elapsed(), bytes as f64 / 1e6);
    println!("{games} games, {plies} plies: {pages} pages of {megabytes:.1} MB in {all:.2?}");
    Ok(())
}

/// Writes the games and returns their number of plies.
fn write(path: &Path, games: u64) -> Result<u64> {
    let head = EventHead { name: "bench", kind: "run", plan: PLAN, fingerprint: "{}" };
    let journal = Journal::open(path, &head)?.start(vec![], || ())?;
    let lines: Vec<Vec<Move>> = LINES.lines().map(line).filter(|line| line.len() >= SHORTEST).collect();
    let players = (0..PLAYERS).map(|player| format!("engine {player}")).collect();
    let opened = Opened { name: "bench".to_owned(), players, format: String::new(), resumed: false };
    journal.append([Stamped { at: 0, entry: Entry::Opened(opened) }]);
    let mut plies = 0;
    for game in 1..=games {
        let line = &lines[game as usize % lines.len()];
        plies += line.len() as u64;
        let at = 1_790_000_000_000 + 60_000 * game as i64;
        journal.append(events(game, line).into_iter().map(|entry| Stamped { at, entry }));
    }
    journal.finish()?;
    Ok(plies)
}

fn line(text: &str) -> Vec<Move> {
    text.split_whitespace().filter_map(Move::from_usi).collect()
}

fn events(number: u64, line: &[Move]) -> Vec<Entry> {
    let game = GameId(number);
    let (black, white) = (number % PLAYERS, (number + 1 + number / PLAYERS % (PLAYERS - 1)) % PLAYERS);
    let [black, white] = [black, white].map(|player| PlayerId(player as u32));
    let (index, pair) = (number - 1, (number - 1) / 2);
    let pairing = Pairing { stage: 0, index, attempt: 0, round: 1, pair, opening: pair, black, white };
    let start = GameStarted { game, pairing, start: EVEN.to_owned(), opening: String::new(), times: None };
    let mut events = vec![Entry::GameStarted(start)];
    events.extend((1..).zip(line).map(|(ply, mv)| moved(game, ply, *mv)));
    // The player listed first wins slightly more often.
    let strong = if black < white { Color::Black } else { Color::White };
    let winner = if number.is_multiple_of(5) { !strong } else { strong };
    let outcome = Outcome::Win { winner, by: WinBy::Resignation };
    let plies = line.len() as u32;
    events.push(Entry::GameEnded(GameEnded::new(game, pairing, outcome, plies)));
    events
}

fn moved(game: GameId, ply: u32, mv: Move) -> Entry {
    let sign = if ply % 2 == 1 { 1 } else { -1 };
    let score = sign * (25 * ply as i32 - 600 + (ply as i32 * 7919) % 200);
    let thought = Thought {
        depth: Some(12 + ply % 9),
        score: Some(Score::Cp(score)),
        nodes: Some(1_234_567),
        nps: Some(987_654),
        time: Some(990),
        pv: Some("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b".to_owned()),
        ..Thought::default()
    };
    let time = Duration::from_millis(u64::from(400 + ply * 7919 % 1200));
    Entry::Moved(Moved {
        game,
        ply,
        color: if ply % 2 == 1 { Color::Black } else { Color::White },
        mv,
        charged: time,
        elapsed: time,
        left: Duration::from_secs(60),
        thought: Some(Box::new(thought)),
    })
}
