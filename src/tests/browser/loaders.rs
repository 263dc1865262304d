//! Records that the pages serve, in ShogiHome's own loader.

use crate::{
    site::Site,
    support::{Desk, program},
};
use serde_json::Value;
use std::{collections::BTreeSet, env, process::Command};

/// A position in which black may declare a win: king and twelve pieces in the zone, thirty points.
const DECLARABLE: &str = "RBGGSSNL1/PPPPK4/9/9/9/9/9/9/4k4 b RB2p 1";

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
        other("greedy 歩", "renmei-random", "options = { Style = \"greedy\" }"),
        other("pairwise", "renmei-pairwise", "time = \"nodes 200\""),
    ]
    .concat();
    desk.write(
        "league.toml",
        &format!(
            "[event]\nname = \"records\"\ngames = 3\ndatabase = \"event.db\"\nlook = false\nfault_limit = 0\n[rules]\nmax_moves = 60\ndeclaration = \"27\"\n\
             [openings]\nfile = \"starts.sfen\"\npairs = false\n[time]\nmain = \"300s\"\n{engines}"
        ),
    );
    let played = desk.renmei(&["run", "league.toml", "--no-dashboard", "--oversubscribe", "--concurrency", "2"]);
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
        for ending in ["csa", "kif", "jkf"] {
            let name = format!("{}.{ending}", game[0]);
            files.push(desk.write(&name, &site.get(&format!("/games/{name}"))));
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/browser/loader.mjs");
    let read = Command::new("node").arg(script).arg(&modules).args(&files).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout).unwrap();
    let mut shown = BTreeSet::new();
    for line in read.lines() {
        let v: Value = serde_json::from_str(line).unwrap();
        let file = v["file"].as_str().unwrap();
        let (stem, ext) = file.rsplit('/').next().unwrap().split_once('.').unwrap();
        let g = &games[stem.parse::<usize>().unwrap() - 1];
        if shown.insert((g[3].clone(), ext.to_owned())) {
            println!("{} {} {}", g[3], g[6], line);
        }
    }
}
