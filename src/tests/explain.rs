//! Why games were lost, through the real binary: `renmei-planted` makes a mistake of a known kind at a known move.

use crate::support::{Desk, program};
use serde_json::Value;
use std::{collections::BTreeMap, fs, process::Output};

/// Nodes of a move in the games.
const NODES: u64 = 1500;
/// Positions in which black can declare: the pieces in black's camp and hand are worth 28 points.
const DECLARABLE: [&str; 4] = [
    "+P+P+P+PK+P+P+P+P/1+R5+R1/9/9/9/pppp1pppp/9/4g4/3gkg3 b 2BP4s4n4lg 1",
    "+P+P+P+PK+P+P+P+P/1+R5+R1/9/9/9/9/pppp1pppp/4g4/2g1k1g2 b 2BP4s4n4lg 1",
    "+P+P+P+PK+P+P+P+P/2+R3+R2/9/9/9/pppp1pppp/9/3g1g3/4k4 b 2BP4s4n4l2g 1",
    "+P+P+P+PK+P+P+P+P/3+R1+R3/9/9/9/9/pppp1pppp/9/3gkg3 b 2BP4s4n4l2g 1",
];

/// What was planted in a game.
struct Truth {
    kind: String,
    ply: u64,
}

/// Planted and found, by kind.
#[derive(Debug, Default)]
struct Score {
    planted: BTreeMap<String, usize>,
    claimed: BTreeMap<String, usize>,
    right: BTreeMap<String, usize>,
    near: usize,
    lost: usize,
    confused: BTreeMap<(String, String), usize>,
}

impl Score {
    fn ratio(part: usize, of: usize) -> f64 {
        part as f64 / of.max(1) as f64
    }

    fn of_plies(&self) -> f64 {
        Self::ratio(self.near, self.planted.values().sum())
    }

    fn of_causes(&self) -> f64 {
        Self::ratio(self.right.values().sum(), self.planted.values().sum())
    }

    fn print(&self) {
        let planted: usize = self.planted.values().sum();
        println!("{} games lost, {planted} of them with a planted mistake", self.lost);
        println!("ply within two: {} of {planted}, {:.3}", self.near, self.of_plies());
        println!("cause: {:.3}", self.of_causes());
        for (kind, planted) in &self.planted {
            let right = self.right.get(kind).copied().unwrap_or(0);
            let claimed = self.claimed.get(kind).copied().unwrap_or(0);
            let (recall, precision) = (Self::ratio(right, *planted), Self::ratio(right, claimed));
            println!("{kind:<10} planted {planted:>3}  recall {recall:.3}  precision {precision:.3}");
        }
        println!("planted as, explained as: {:?}", self.confused);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn printed(done: &Output) -> String {
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// Plays games with planted mistakes.
fn league(games: usize) -> Desk {
    let desk = Desk::new();
    let lines = fs::read_to_string(golden::file("kifu/openings.sfen")).unwrap();
    let lines = lines.lines().filter(|line| line.contains("moves")).take(games / 2);
    let mut openings: Vec<String> = lines.map(str::to_owned).collect();
    let declarable = DECLARABLE.iter().map(|sfen| format!("sfen {sfen}"));
    openings.extend(declarable.take((games / 20).clamp(1, DECLARABLE.len())));
    desk.write("openings.sfen", &openings.join("\n"));
    let [planted, honest] = ["renmei-planted", "renmei-pairwise"].map(program);
    let target = desk.path("truth");
    desk.write(
        "league.toml",
        &format!(
            "[event]\nname = \"league\"\ngames = {}\nfault_limit = \"off\"\noversubscribe = true\n\
             [openings]\nfile = \"openings.sfen\"\norder = \"sequential\"\n[time]\nmain = \"1h\"\n[rules]\nmax_moves = 320\n\
             [[engines]]\nname = \"planted\"\ncommand = {planted:?}\n\
             options = {{ Nodes = {NODES}, Target = {target:?} }}\n\
             [[engines]]\nname = \"honest\"\ncommand = {honest:?}\ntime = \"nodes {NODES}\"\n\
             options = {{ ResignValue = 3000, USI_Hash = 8 }}\n",
            2 * openings.len()
        ),
    );
    printed(&desk.renmei(&["run", "league.toml", "--quiet", "--no-dashboard", "--db", "event.db"]));
    desk
}

/// What was planted, by the number of the game.
fn truth(desk: &Desk) -> BTreeMap<u64, Truth> {
    let games = desk.query(
        "SELECT number, start, coalesce(opening_moves, ''), (SELECT group_concat(move, ' ' ORDER BY ply) FROM moves \
         WHERE game = games.id) FROM games WHERE state = 'counted'",
    );
    let mut known = BTreeMap::new();
    for line in fs::read_to_string(desk.path("truth")).unwrap().lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let before = words[2].split_whitespace().count();
        let made = match words[0] {
            "fault" | "rules" => words[2].to_owned(),
            _ => format!("{} {}", words[2], words[3]),
        };
        let is_it = |game: &&Vec<String>| {
            let moves = format!("{} {}", game[2], game[3]);
            game[1].starts_with(words[1]) && moves.trim_start().starts_with(made.trim())
        };
        let found = games.iter().filter(is_it).map(|game| game[0].parse::<u64>().unwrap());
        for game in found.filter(|game| words[0] != "rules" || !known.contains_key(game)).collect::<Vec<_>>() {
            known.insert(game, Truth { kind: words[0].to_owned(), ply: before as u64 + 1 });
        }
    }
    known
}

/// Explains all losses of the engine with the mistakes, and compares.
fn compared(desk: &Desk, nodes: &str) -> Score {
    let judge = ["--judge-option", "USI_Hash=8", "--nodes", nodes];
    let words = [&["explain", "event.db", "--losses", "planted", "--trust", "--json"], &judge[..]].concat();
    let json: Value = serde_json::from_str(&printed(&desk.renmei(&words))).unwrap();
    let truth = truth(desk);
    let mut score = Score::default();
    for game in json["games"].as_array().unwrap() {
        score.lost += 1;
        let cause = game["cause"].as_str().unwrap().to_owned();
        *score.claimed.entry(cause.clone()).or_default() += 1;
        let Some(truth) = truth.get(&game["game"].as_u64().unwrap()) else { continue };
        *score.planted.entry(truth.kind.clone()).or_default() += 1;
        let is_near = game["ply"].as_u64().unwrap().abs_diff(truth.ply) <= 2;
        score.near += usize::from(is_near);
        if cause == truth.kind {
            *score.right.entry(cause).or_default() += 1;
        } else {
            println!("game {}: {} at {}, not {cause} at {}", game["game"], truth.kind, truth.ply, game["ply"]);
            *score.confused.entry((truth.kind.clone(), cause)).or_default() += 1;
        }
    }
    score
}

#[test]
fn planted_mistakes_are_found_with_their_ply_and_their_cause() {
    let desk = league(24);
    let score = compared(&desk, "20000");
    score.print();
    assert!(score.planted.values().sum::<usize>() >= 10, "{score:?}");
    assert!(score.of_plies() >= 0.7 && score.of_causes() >= 0.7, "{score:?}");
}

/// The figures of the guide: `RENMEI_EXPLAIN_GAMES=500 cargo test --test e2e -- --ignored --nocapture precision`.
#[test]
#[ignore = "takes long"]
fn precision_and_recall_of_planted_mistakes() {
    let games = std::env::var("RENMEI_EXPLAIN_GAMES").ok().and_then(|games| games.parse().ok());
    let desk = league(games.unwrap_or(500));
    compared(&desk, "20000").print();
}
