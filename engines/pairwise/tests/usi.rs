//! The real binary, driven through its pipes.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../usi-shell/tests/driver/mod.rs"]
mod driver;

use driver::Talk;
use usi_shell::Game;

const MATE_IN_ONE: &str = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1";

fn pairwise(options: &[(&str, &str)]) -> Talk {
    let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-pairwise"), &[]);
    talk.ask("usi", "usiok");
    // Small, because clearing it is slow in a debug build.
    talk.send("setoption name USI_Hash value 4");
    talk.send("setoption name EvalFile value material");
    for (name, value) in options {
        talk.send(&format!("setoption name {name} value {value}"));
    }
    talk.ask("isready", "readyok");
    talk.send("usinewgame");
    talk
}

/// The number after `name` in an `info` line.
fn field(line: &str, name: &str) -> i64 {
    let mut words = line.split(' ').skip_while(|&word| word != name);
    words.nth(1).unwrap_or_else(|| panic!("no {name} in {line}")).parse().unwrap()
}

fn infos(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.starts_with("info depth")).collect()
}

#[test]
fn the_handshake_shows_who_it_is_and_what_can_be_set() {
    let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-pairwise"), &["usi"]);
    talk.send("usi");
    let lines = talk.until("usiok");
    assert!(lines[0].starts_with("id name Renmei pairwise "));
    for option in
        ["USI_Hash type spin default 64", "Threads type spin default 1", "MultiPV type spin default 1"]
    {
        assert!(lines.iter().any(|line| line.starts_with(&format!("option name {option}"))), "{option}");
    }
}

#[test]
fn a_node_limit_is_exact_and_the_search_can_be_repeated() {
    let mut talk = pairwise(&[]);
    let mut run = || {
        talk.send("usinewgame");
        let lines = talk.search("startpos moves 7g7f 3c3d", "go nodes 5000");
        assert_eq!(infos(&lines).last().map(|line| field(line, "nodes")), Some(5000));
        let what = |line: &String| line.split(" pv ").nth(1).map(str::to_owned);
        (lines.last().unwrap().clone(), infos(&lines).into_iter().map(what).collect::<Vec<_>>())
    };
    assert_eq!(run(), run());
}

#[test]
fn one_node_is_enough_for_a_legal_move() {
    let mut talk = pairwise(&[]);
    for nodes in ["1", "2", "0"] {
        let mv = talk.best_by("startpos", &format!("go nodes {nodes}"));
        assert!(Game::startpos().play(&mv).is_some(), "{mv}");
    }
}

#[test]
fn a_depth_limit_is_exact_on_the_wire_and_as_an_option() {
    let mut talk = pairwise(&[]);
    let deepest = |lines: &[String]| infos(lines).iter().map(|line| field(line, "depth")).max();
    assert_eq!(deepest(&talk.search("startpos", "go depth 4")), Some(4));
    talk.send("setoption name DepthLimit value 3");
    assert_eq!(deepest(&talk.search("startpos", "go btime 60000 wtime 60000")), Some(3));
}

#[test]
fn an_infinite_search_goes_on_until_stopped() {
    let mut talk = pairwise(&[]);
    talk.send("position startpos");
    talk.ask("go infinite", "info depth 3");
    talk.ask("stop", "bestmove");
    // Even if the search has nothing left to do.
    talk.send(&format!("position {MATE_IN_ONE}"));
    talk.send("go infinite");
    talk.until("info depth 2 ");
    assert!(talk.ask("stop", "bestmove").starts_with("bestmove G*5b"));
}

#[test]
fn pondering_lasts_until_the_hit_and_names_the_next_reply() {
    let mut talk = pairwise(&[]);
    talk.send("position startpos moves 7g7f 3c3d");
    talk.ask("go ponder btime 1000 wtime 1000 byoyomi 50", "info depth 3");
    let line = talk.ask("ponderhit", "bestmove");
    assert_eq!(line.split(' ').nth(2), Some("ponder"), "{line}");
    talk.send("setoption name USI_Ponder value false");
    let line = talk.search("startpos", "go depth 3").pop().unwrap();
    assert_eq!(line.split(' ').count(), 2, "{line}");
}

#[test]
fn several_lines_are_ranked_and_begin_with_different_moves() {
    let mut talk = pairwise(&[("MultiPV", "3")]);
    let lines = talk.search("startpos moves 7g7f 3c3d", "go depth 4");
    let last: Vec<&String> = infos(&lines).into_iter().filter(|line| field(line, "depth") == 4).collect();
    let ranks: Vec<i64> = last.iter().map(|line| field(line, "multipv")).collect();
    assert_eq!(ranks, [1, 2, 3]);
    let scores: Vec<i64> = last.iter().map(|line| field(line, "cp")).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let mut firsts: Vec<&str> =
        last.iter().map(|line| line.split(" pv ").nth(1).unwrap().split(' ').next().unwrap()).collect();
    assert_eq!(lines.last().unwrap().split(' ').nth(1), Some(firsts[0]));
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 3);
}

#[test]
fn two_threads_find_a_mate_and_obey_a_node_limit() {
    let mut talk = pairwise(&[("Threads", "2")]);
    assert_eq!(talk.best_by(MATE_IN_ONE, "go depth 5"), "G*5b");
    let lines = talk.search("startpos", "go nodes 3000");
    assert!(infos(&lines).iter().all(|line| field(line, "nodes") <= 3000), "{lines:?}");
}

#[test]
fn the_mated_side_resigns_and_a_hopeless_one_if_told_to() {
    let mut talk = pairwise(&[]);
    assert_eq!(talk.best_by("sfen 4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1", "go depth 3"), "resign");
    let behind = "sfen 4k4/9/9/9/9/9/9/9/R3K3R w B 1";
    assert_ne!(talk.best_by(behind, "go depth 3"), "resign");
    talk.send("setoption name ResignValue value 1000");
    assert_eq!(talk.best_by(behind, "go depth 3"), "resign");
}

#[test]
fn a_win_is_declared_when_the_rule_in_force_allows_it() {
    let mut talk = pairwise(&[]);
    // 28 points: 5 each for two dragons and two horses, 1 each for six pawns in the camp and two golds in hand.
    let entered = "sfen +R+R+B+BK4/PPPPPP3/9/9/9/9/9/9/4k4 b 2G 1";
    assert_eq!(talk.best_by(entered, "go byoyomi 100"), "win");
    talk.send("setoption name EnteringKingRule value NoEnteringKing");
    assert_ne!(talk.best_by(entered, "go depth 2"), "win");
    talk.send("setoption name EnteringKingRule value TryRule");
    assert_eq!(talk.best_by("sfen 9/4K4/9/9/9/9/9/9/1k7 b - 1", "go byoyomi 100"), "5b5a");
}

#[test]
fn a_declaration_is_foreseen() {
    // Black can declare after every move of white.
    let before = "sfen +R+R+B+B5/PPPPPPK2/9/9/9/9/9/9/4k4 w 2G 1";
    let lines = pairwise(&[]).search(before, "go depth 3");
    let last = infos(&lines).pop().unwrap();
    assert!(field(last, "cp") <= -30_000, "{last}");
}

#[test]
fn perpetual_check_is_left_before_it_loses() {
    let setup = "startpos moves 7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a";
    let cycle = " 3c4c 5b5a 4c3c 5a5b".repeat(3);
    let mv = pairwise(&[]).best_by(&format!("{setup}{cycle}"), "go nodes 3000");
    assert_ne!(mv, "3c4c");
}

#[test]
fn a_long_history_of_repetitions_is_no_trouble() {
    let mut talk = pairwise(&[]);
    let shuffle = " 2h3h 8b7b 3h2h 7b8b".repeat(60);
    let mv = talk.best_by(&format!("startpos moves{shuffle}"), "go nodes 2000");
    assert!(Game::startpos().play(&mv).is_some(), "{mv}");
}

#[test]
fn the_side_that_is_ahead_does_not_repeat() {
    // Black is a rook ahead, and the position has occurred before; repeating further would be a draw.
    let ahead = "sfen lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b R 1";
    let moves = " moves".to_owned() + &" 2h3h 5a5b 3h2h 5b5a".repeat(2);
    let mv = pairwise(&[]).best_by(&(ahead.to_owned() + &moves), "go nodes 3000");
    assert_ne!(mv, "2h3h");
}

#[test]
fn a_mate_problem_without_the_own_king_is_solved() {
    assert_eq!(pairwise(&[]).best_by("sfen 4k4/9/4P4/9/9/9/9/9/9 b G 1", "go nodes 1000"), "G*5b");
}

#[test]
fn go_mate_is_answered_with_a_mate_or_without_one() {
    let mut talk = pairwise(&[]);
    talk.send(&format!("position {MATE_IN_ONE}"));
    assert_eq!(talk.ask("go mate 1000", "checkmate"), "checkmate G*5b");
    talk.send("position startpos");
    assert_eq!(talk.ask("go mate 1000", "checkmate"), "checkmate nomate");
}

#[test]
fn the_book_is_played_from_and_then_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("book.db");
    let start = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    std::fs::write(&path, format!("#YANEURAOU-DB2016 1.00\n{start}\n5g5f 8c8d 0 0 1\n")).unwrap();
    let mut talk = pairwise(&[("BookFile", path.to_str().unwrap())]);
    let line = talk.search("startpos", "go byoyomi 100").pop().unwrap();
    assert_eq!(line, "bestmove 5g5f ponder 8c8d");
    assert!(infos(&talk.search("startpos moves 5g5f", "go depth 2")).len() >= 2);
    talk.send("setoption name BookMoves value 0");
    assert!(infos(&talk.search("startpos", "go depth 2")).len() >= 2);
}

#[test]
fn missing_weights_and_books_are_named_and_end_the_engine() {
    for (option, what) in [("EvalFile", "evaluation file"), ("BookFile", "opening book")] {
        let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-pairwise"), &[]);
        talk.ask("usi", "usiok");
        talk.send(&format!("setoption name {option} value /nowhere/it.bin"));
        let line = talk.ask("isready", "info string");
        assert!(line.contains(&format!("{what} `/nowhere/it.bin`")), "{line}");
        assert!(!talk.exit().success());
    }
}

#[test]
fn the_bench_prints_its_figures_as_json() {
    let program = env!("CARGO_BIN_EXE_renmei-pairwise");
    let arguments = ["bench", "--json", "--nodes", "200", "--hash", "1", "--eval", "material"];
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(figures["nodes"], 1600);
    assert!(figures["nodes_per_s"].as_u64().unwrap() > 0);
    assert!(figures["incremental_over_scratch"].as_f64().unwrap() > 1.0);
}
