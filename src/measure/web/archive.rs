//! An archive that is searched: every kind of query, again and again.

use super::{figures::Figure, viewers::get};
use crate::{measure::percentile, process::Process};
use anyhow::{Context, Result, ensure};
use notation::csa::move_to_csa;
use rsshogi::{board::MoveList, movegen::generate_legal_all, types::Move};
use std::{
    fmt::Write as _,
    fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};
use usi_shell::SplitMix64;
use xtask::workspace::Scratch;

/// Answers of one kind of query that are timed.
const TIMES: usize = 200;
/// Time in which all but one of 100 have to be there, in ms.
const IN_TIME: f64 = 50.0;
/// Players of the archive.
const PLAYERS: u64 = 40;

/// Kinds of queries; `{}` is another number each time.
const QUERIES: [(&str, &str); 14] = [
    ("newest games", "/games"),
    ("a page far back", "/games?page=150"),
    ("by player", "/games?player=player{}"),
    ("by player and opponent", "/games?player=player{}&opponent=player7"),
    ("by part of a name", "/games?player=er{}"),
    ("by days", "/games?from=2026-02-01&to=2026-11-30&page={}"),
    ("by result", "/games?result=white&page={}"),
    ("by ending", "/games?ending=resignation&page={}"),
    ("by length", "/games?least=40&most=1{}"),
    ("by opening", "/games?opening=7g7f+3c3d"),
    ("by an opening that is rare", "/games?opening=1g1f+9c9d+2g2f&player=player{}"),
    ("a game", "/games/{}"),
    ("a record", "/games/{}.kif"),
    ("a player", "/players/{}"),
];

/// Imports so many games, and times the answers of `renmei web`.
///
/// # Errors
/// When a program fails, or an answer is refused.
pub fn search(program: &Path, games: usize) -> Result<Vec<Figure>> {
    let scratch = Scratch::new("bench-archive")?;
    let (records, db) = (scratch.file("games.csa"), scratch.file("archive.db"));
    eprintln!("an archive of {games} games");
    fs::write(&records, collection(games))?;
    let mut import = Command::new(program);
    import.arg("import").arg(&records).arg("--db").arg(&db).stdout(Stdio::null());
    ensure!(import.status().context("`renmei import`")?.success(), "the games were not imported");
    fs::remove_file(&records)?;
    let log = scratch.file("web.log");
    let mut web = Command::new(program);
    let mut web = Process::start(web.arg("web").arg(&db).args(["--http", "127.0.0.1:0"]), &log)?;
    let pages: SocketAddr = web.logged("pages on http://")?.trim_end_matches('/').parse()?;
    await_games(pages, games)?;
    let before = web.time()?;
    let timed = QUERIES.iter().enumerate().map(|(kind, query)| time(pages, (kind, query), games));
    let mut figures = timed.collect::<Result<Vec<_>>>()?;
    let taken = web.time()?.saturating_sub(before);
    let each = taken.as_secs_f64() * 1e3 / (QUERIES.len() * TIMES) as f64;
    figures.push(Figure::plain("archive: processor time of an answer, mean", each, "ms"));
    Ok(figures)
}

/// Waits until the pages know all games.
fn await_games(pages: SocketAddr, games: usize) -> Result<()> {
    let since = Instant::now();
    loop {
        let found = get([127, 4, 0, 1], pages, "/api/games").unwrap_or_default();
        if String::from_utf8_lossy(&found).contains(&format!("\"total\":{games},")) {
            return Ok(());
        }
        ensure!(since.elapsed().as_secs() < 60, "the archive does not have {games} games");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

/// The time of all but one of 100 answers, by one client after the other.
fn time(pages: SocketAddr, (kind, (what, path)): (usize, &(&str, &str)), games: usize) -> Result<Figure> {
    let mut took = vec![];
    for at in 0..TIMES {
        // So few requests of an address that none is refused.
        let from = [127, 4, (kind + 1) as u8, (at % 200 + 1) as u8];
        let path = path.replace("{}", &(at * 31 % (PLAYERS as usize - 1).min(games) + 1).to_string());
        let begun = Instant::now();
        get(from, pages, &path)?;
        took.push(i64::try_from(begun.elapsed().as_micros()).unwrap_or(i64::MAX));
    }
    took.sort_unstable();
    let p99 = percentile(&took, 99) as f64 / 1e3;
    Ok(Figure::at_most(&format!("archive: {what}, p99 of {TIMES}"), IN_TIME, p99, "ms"))
}

/// Games of random moves between many players over a year, as one collection of records.
fn collection(games: usize) -> String {
    rsshogi::board::init();
    let mut random = SplitMix64::new(1);
    let mut text = String::new();
    for game in 0..games {
        if game > 0 {
            text.push_str("/\n");
        }
        let black = below(&mut random, PLAYERS);
        let white = (black + 1 + below(&mut random, PLAYERS - 1)) % PLAYERS;
        let minutes = game as u64 * 365 * 24 * 60 / games as u64;
        let (day, minute) = (minutes / 1440, minutes % 1440);
        let _never_fails = write!(
            text,
            "V2.2\nN+player{black}\nN-player{white}\n$START_TIME:2026/{:02}/{:02} {:02}:{:02}:00\nPI\n+\n",
            day / 28 % 12 + 1,
            day % 28 + 1,
            minute / 60,
            minute % 60
        );
        play(&mut random, &mut text);
    }
    text
}

/// Writes the moves and the ending of a game.
fn play(random: &mut SplitMix64, text: &mut String) {
    let mut position = rsshogi::board::hirate_position();
    let plies = 40 + below(random, 100);
    for ply in 0..plies {
        let known = OPENINGS[below(random, 3) as usize].get(ply as usize).copied();
        let mv = match known.filter(|_| ply < 2) {
            Some(known) => Move::from_usi(known),
            None => {
                let mut legal = MoveList::new();
                generate_legal_all(&position, &mut legal);
                let legal = legal.as_slice();
                (!legal.is_empty()).then(|| legal[below(random, legal.len() as u64) as usize])
            }
        };
        let Some(mv) = mv else { break };
        let Some(line) = move_to_csa(&position, mv) else { break };
        let mv = position.move32_from_move(mv);
        if position.try_apply_move32(mv).is_err() {
            break;
        }
        let _never_fails = writeln!(text, "{line}\nT{}", below(random, 20));
    }
    text.push_str(["%TORYO\n", "%TIME_UP\n", "%CHUDAN\n", "%TORYO\n"][below(random, 4) as usize]);
}

/// First moves of most games.
const OPENINGS: [[&str; 2]; 3] = [["7g7f", "3c3d"], ["7g7f", "8c8d"], ["2g2f", "3c3d"]];

fn below(random: &mut SplitMix64, bound: u64) -> u64 {
    random.next_u64() % bound
}
