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
    let lines = fs::read_to_string(golden::repository().join("kifu/openings.sfen")).unwrap();
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
            // The order of pieces in hand is not always the same.
            let board = |sfen: &str| sfen.split(' ').take(2).collect::<String>();
            let (moves, made) = (moves.trim(), made.trim());
            // A fault ends its game: a longer one with the same moves is another.
            let is_made = if words[0] == "fault" { moves == made } else { moves.starts_with(made) };
            board(&game[1]) == board(words[1]) && is_made
        };
        let found = games.iter().filter(is_it).map(|game| game[0].parse::<u64>().unwrap());
        for game in found.filter(|game| words[0] != "rules" || !known.contains_key(game)).collect::<Vec<_>>()
        {
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
        // Where nothing was planted, the engine lost by mistakes of its own, whose causes nobody knows.
        let Some(truth) = truth.get(&game["game"].as_u64().unwrap()) else { continue };
        *score.claimed.entry(cause.clone()).or_default() += 1;
        *score.planted.entry(truth.kind.clone()).or_default() += 1;
        if cause != truth.kind || game["ply"] != truth.ply {
            println!(
                "game {}: {} at {}, not {cause} at {}",
                game["game"], truth.kind, truth.ply, game["ply"]
            );
        }
        let is_near = game["ply"].as_u64().unwrap().abs_diff(truth.ply) <= 2;
        score.near += usize::from(is_near);
        if cause == truth.kind {
            *score.right.entry(cause).or_default() += 1;
        } else {
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
    assert!(score.planted.values().sum::<usize>() >= 8, "{score:?}");
    assert!(score.of_plies() >= 0.7 && score.of_causes() >= 0.7, "{score:?}");
}

const SUITE: &str = "\
# a mate in one, and a move to avoid
8k/9/8P/9/9/9/9/9/4K4 b G 1 bm G*1b; id \"mate\";
lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - am 5i5h; id \"start\";
";

#[test]
fn a_suite_is_solved_or_its_exit_code_says_that_it_is_not() {
    let desk = Desk::new();
    let engine = program("renmei-pairwise").display().to_string();
    desk.write("suite.sfen", SUITE);
    let words = ["suite", &engine, "suite.sfen", "--nodes", "3000", "--option", "USI_Hash=8"];
    let solved = printed(&desk.renmei(&words));
    assert!(solved.contains("2 of 2 solved") && solved.contains("am 5i5h  start"), "{solved}");
    desk.write("wrong.sfen", &SUITE.replace("bm G*1b", "bm 5i5h"));
    let words = ["suite", &engine, "wrong.sfen", "--nodes", "3000", "--json"];
    let failed = desk.renmei(&words);
    assert_eq!(failed.status.code(), Some(20));
    let rows: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!((rows[0]["solved"].as_bool(), rows[1]["solved"].as_bool()), (Some(false), Some(true)));
    assert_eq!(desk.renmei(&[&words[..], &["--least", "1"]].concat()).status.code(), Some(0));
    desk.write("faulty.sfen", "4k4/9/9/9/9/9/9/9/4K4 b - 1 bm 7g7f;");
    for (engine, file, why) in [
        (engine.as_str(), "faulty.sfen", "line 1: move `7g7f` is not legal"),
        (&engine, "nowhere.sfen", "nowhere.sfen"),
        ("/nowhere/engine", "suite.sfen", "there is no program"),
    ] {
        let refused = desk.renmei(&["suite", engine, file]);
        assert!(text(&refused.stderr).contains(why), "{}", text(&refused.stderr));
        assert_eq!(refused.status.code(), Some(2));
    }
}

#[test]
fn an_engine_that_hangs_ends_the_search_with_its_name() {
    let desk = Desk::new();
    desk.write("suite.sfen", SUITE);
    let hung = format!("{} --mode hang", program("renmei-puppet").display());
    let done = desk.renmei(&["suite", &hung, "suite.sfen", "--patience", "1", "--jobs", "1"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("has not answered within 1 s"), "{}", text(&done.stderr));
}

#[test]
fn records_come_out_with_evaluations_and_a_second_run_searches_nothing() {
    let desk = Desk::new();
    let engine = format!("{} usi", program("renmei-pairwise").display());
    fs::create_dir(desk.path("games")).unwrap();
    desk.write("games/a.usi", "startpos moves 7g7f 3c3d 2g2f\nstartpos moves 2g2f 8c8d\n");
    desk.write("games/b.csa", "PI\n+\n+7776FU\n-3334FU\n%TORYO\n");
    desk.write("games/c.csa", "PI\n+\n+7775FU\n");
    let search = [
        "analyze",
        "games",
        "--engine",
        &engine,
        "--option",
        "USI_Hash=8",
        "--nodes",
        "500",
        "--jobs",
        "1",
        "-o",
        "out",
    ];
    let done = desk.renmei(&search);
    assert_eq!(done.status.code(), Some(1), "a record that cannot be read: {}", text(&done.stderr));
    assert!(text(&done.stderr).contains("left out: games/c.csa"), "{}", text(&done.stderr));
    for name in ["a", "a-2", "b"] {
        let record = fs::read_to_string(desk.path(&format!("out/{name}.kifu"))).unwrap();
        assert!(record.contains("*renmei-pairwise: ") && record.contains("**評価値="), "{record}");
        assert!(desk.path(&format!("out/{name}.svg")).is_file());
    }
    let searches = || fs::read_to_string(desk.path("out/searches.jsonl")).unwrap();
    let before = searches();
    assert_eq!(before.lines().count(), 6, "positions that games have in common are searched once");
    desk.renmei(&[&search[..], &["--format", "jkf"]].concat());
    assert_eq!(searches(), before);
    assert!(fs::read_to_string(desk.path("out/b.jkf")).unwrap().contains("renmei-pairwise: "));
}

#[test]
fn what_cannot_be_explained_is_refused_with_its_reason() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let engines = [["name=anna", "option.Seed=1"], ["name=berta", "option.Seed=2"]];
    let [a, b] = engines.map(|[name, seed]| [random.as_str(), name, seed]);
    desk.play(&[&a, &b], &["--games", "2", "--time", "300s", "--max-moves", "20"]);
    for (words, why) in [
        (&["7"][..], "has no game 7"),
        (&["1"], "nobody has lost game 1"),
        (&["--losses", "dora"], "has no player `dora`; it has: anna, berta"),
        (&["--losses", "anna"], "has lost no game"),
        (&["1", "--judge", "/nowhere"], "there is no program `/nowhere`"),
    ] {
        let refused = desk.renmei(&[&["explain", "event.db"], words].concat());
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        assert!(text(&refused.stderr).contains(why), "{words:?}: {}", text(&refused.stderr));
    }
}

/// The figures of the guide: `RENMEI_EXPLAIN_GAMES=500 cargo test --test e2e -- --ignored --nocapture precision`.
#[test]
#[ignore = "takes long"]
fn precision_and_recall_of_planted_mistakes() {
    let games = std::env::var("RENMEI_EXPLAIN_GAMES").ok().and_then(|games| games.parse().ok());
    let desk = league(games.unwrap_or(500));
    compared(&desk, "20000").print();
}
