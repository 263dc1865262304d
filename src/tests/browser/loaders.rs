//! Records that the pages serve, in ShogiHome's own loader.

use crate::{
    site::Site,
    support::{Desk, program},
};
use serde_json::Value;
use std::{collections::BTreeSet, env, process::Command};

/// A position in which black may declare a win: king and fourteen pieces in the zone, thirty-two points.
const DECLARABLE: &str = "RBGGSS3/PPPPK4/4PPPP1/9/9/9/9/9/4k4 b RBp 1";

/// A league whose games end in every way that a player can bring about.
fn league() -> (Desk, Site) {
    let desk = Desk::new();
    desk.write("starts.sfen", &format!("startpos\nsfen {DECLARABLE}\nstartpos moves 7g7f 3c3d 2g2f\n"));
    let puppet = |name: &str, options: &str| {
        let program = program("renmei-puppet");
        format!("[[engines]]\nname = \"{name}\"\ncommand = \"{}\"\n{options}\n", program.display())
    };
    let other = |name: &str, file: &str, more: &str| {
        format!("[[engines]]\nname = \"{name}\"\ncommand = \"{}\"\n{more}\n", program(file).display())
    };
    let engines = [
        puppet("king", "options = { Mode = \"king\" }"),
        puppet("queen", "options = { Mode = \"king\" }"),
        puppet("resigner", "options = { Mode = \"resign\", Ply = 9 }"),
        puppet("nifu", "options = { Mode = \"nifu\", Ply = 21 }"),
        puppet("thinker", "options = { Mode = \"hang\", Ply = 11 }\ntime = \"300ms\""),
        puppet("winner", "options = { Mode = \"win\" }"),
        puppet("slow", "options = { Mode = \"late\", Delay = 1100, Ply = 38 }"),
        other("greedy 歩", "renmei-random", "options = { Style = \"greedy\" }"),
        other("pairwise", "renmei-pairwise", "time = \"nodes 200\""),
    ]
    .concat();
    desk.write(
        "league.toml",
        &format!(
            "[event]\nname = \"records\"\ngames = 3\ndatabase = \"event.db\"\nlook = false\nfault_limit = \"off\"\n[rules]\nmax_moves = 40\ndeclaration = \"27\"\n\
             [openings]\nfile = \"starts.sfen\"\npairs = false\n[time]\nmain = \"300s\"\n{engines}"
        ),
    );
    let played =
        desk.renmei(&["run", "league.toml", "--no-dashboard", "--oversubscribe", "--concurrency", "2"]);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let site = Site::of(&desk, None);
    (desk, site)
}

#[test]
#[ignore = "needs node and tsshogi; run by cargo xtask browser"]
fn tsshogi_reads_every_record_as_it_is_stored() {
    let modules = env::var("RENMEI_NODE_MODULES").expect("cargo xtask browser says where tsshogi is");
    let (desk, site) = league();
    let games = desk.query(
        "SELECT n.number, g.black, g.white, n.cause, n.start, coalesce(n.opening_moves, ''), n.winner, n.plies FROM game_list g \
         JOIN games n ON n.id = g.game ORDER BY n.number",
    );
    let causes: BTreeSet<&str> = games.iter().map(|game| &*game[3]).collect();
    println!("{} games: {causes:?}", games.len());
    let mut files = vec![];
    for game in &games {
        for ending in ["csa", "kifu", "jkf"] {
            let name = format!("{}.{ending}", game[0]);
            files.push(desk.write(&name, &site.get(&format!("/games/{name}"))));
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/browser/loader.mjs");
    let read = Command::new("node").arg(script).arg(&modules).args(&files).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout).unwrap();
    for line in read.lines() {
        let found: Value = serde_json::from_str(line).unwrap();
        let (number, format) = name_of(&found);
        let game = &games[number - 1];
        let what = format!("game {number} as {format}, {}: {found}", game[3]);
        assert!(found["error"].is_null(), "{what}");
        compare(&desk, game, &found, &what);
    }
    assert_eq!(read.lines().count(), files.len());
    let list = site.get("/games/list.txt");
    let addresses: BTreeSet<&str> = list.lines().filter(|line| line.starts_with("http")).collect();
    for game in &games {
        let address = site.at(&format!("/games/{}.csa", game[0]));
        assert!(addresses.contains(&*address), "{address} in {list}");
    }
    let wanted =
        ["declaration", "illegal-declaration", "mate", "max-moves", "resignation", "sennichite", "time"];
    assert!(wanted.iter().all(|cause| causes.contains(cause)), "every ending was tried: {causes:?}");
    println!("tsshogi read {} records of {} games as they are stored: {causes:?}", files.len(), games.len());
}

/// Number and format of the record that was read.
fn name_of(found: &Value) -> (usize, String) {
    let file = found["file"].as_str().unwrap().rsplit('/').next().unwrap();
    let (number, format) = file.split_once('.').unwrap();
    (number.parse().unwrap(), format.to_owned())
}

/// Compares what the loader found with the row of the game and its moves.
fn compare(desk: &Desk, game: &[String], found: &Value, what: &str) {
    let is_kif = name_of(found).1 == "kifu";
    assert_eq!(found["names"], serde_json::json!([game[1], game[2]]), "{what}");
    let sfen = |text: &str| text.split(' ').take(3).collect::<Vec<_>>().join(" ");
    assert_eq!(sfen(found["start"].as_str().unwrap()), sfen(&game[4]), "{what}");
    assert_eq!(found["ending"], ending(&game[3], is_kif), "{what}");
    let moves = desk.query(&format!(
        "SELECT m.move, m.charged_ms / 1000, m.color, m.score_cp FROM moves m JOIN games n ON n.id = m.game WHERE n.number = {} ORDER BY m.ply",
        game[0]
    ));
    let opening: Vec<&str> = game[5].split_whitespace().collect();
    let played: Vec<&str> = opening.iter().copied().chain(moves.iter().map(|row| &*row[0])).collect();
    assert_eq!(found["moves"], serde_json::json!(played), "{what}");
    for (at, row) in moves.iter().enumerate() {
        let at = at + opening.len();
        assert_eq!(
            (found["ms"][at].as_u64().unwrap() / 1000).to_string(),
            row[1],
            "time of ply {}: {what}",
            at + 1
        );
        if let Ok(score) = row[3].parse::<i64>() {
            // Records give scores from black's side.
            let score = if row[2] == "0" { score } else { -score };
            let comment = found["comments"][at].as_str().unwrap();
            assert!(comment.contains(&score.to_string()), "comment on ply {}: {what}", at + 1);
        }
    }
}

/// The ending as the loader names it.
fn ending(cause: &str, is_kif: bool) -> &'static str {
    match cause.split(':').next().unwrap() {
        "resignation" => "resign",
        "mate" => "mate",
        "time" => "timeout",
        "sennichite" => "repetitionDraw",
        // KIF has one word for every draw.
        "max-moves" if is_kif => "impass",
        "max-moves" => "maxMoves",
        "declaration" => "enteringOfKing",
        "illegal-move" | "illegal-declaration" => "foulLose",
        other => panic!("{other} has no name here"),
    }
}
