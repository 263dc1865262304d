//! Each mode of the real binary, tested for its documented behaviour.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../../../engines/usi-shell/tests/driver/mod.rs"]
mod driver;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use driver::Talk;
use usi_shell::Game;

const PUPPET: &str = env!("CARGO_BIN_EXE_renmei-puppet");
const SIGABRT: i32 = 6;

/// A puppet after `usi` and `isready`, started with `--mode MODE` and `arguments`.
fn puppet(mode: &str, arguments: &[&str]) -> Talk {
    let mut talk = start(mode, arguments);
    talk.greet();
    talk
}

fn start(mode: &str, arguments: &[&str]) -> Talk {
    Talk::start(PUPPET, &[&["--mode", mode], arguments].concat())
}

fn go(talk: &mut Talk) {
    talk.send("position startpos");
    talk.send("go btime 1000 wtime 1000");
}

fn is_legal(position: &str, bestmove: &str) -> bool {
    Game::parse(&format!("position {position}")).unwrap().play(bestmove).is_some()
}

#[test]
fn an_honest_puppet_plays_legal_games_that_depend_on_the_seed() {
    let game = |seed: &str| {
        let mut talk = puppet("honest", &["--seed", seed]);
        let mut moves: Vec<String> = Vec::new();
        for _ in 0..60 {
            let position = format!("startpos moves {}", moves.join(" "));
            moves.push(talk.best(&position));
            assert!(is_legal(&position, moves.last().unwrap()) || moves.last().unwrap() == "resign");
        }
        moves
    };
    assert_eq!(game("3"), game("3"));
    assert_ne!(game("3"), game("4"));
}

#[test]
fn settings_may_be_options_and_their_faults_are_reported() {
    let mut talk = puppet("honest", &[]);
    talk.send("setoption name Mode value resign");
    assert_eq!(talk.best("startpos"), "resign");
    let fault = talk.ask("setoption name Mode value unheard", "info string");
    assert!(fault.starts_with("info string option `Mode` needs one of honest, king, rook"), "{fault}");
    assert_eq!(start("unheard", &[]).exit().code(), Some(2));
}

#[test]
fn a_fault_waits_for_its_ply_its_colour_and_its_game() {
    let mut talk = puppet("resign", &["--ply", "3", "--color", "black", "--game", "2"]);
    let third = "startpos moves 7g7f 3c3d";
    assert_ne!(talk.best(third), "resign", "game 1");
    talk.greet();
    assert_ne!(talk.best("startpos"), "resign", "ply 1");
    assert_ne!(talk.best("startpos moves 7g7f 3c3d 2g2f"), "resign", "white to move");
    assert_eq!(talk.best(third), "resign");
}

#[test]
fn dying_modes_die_as_they_say() {
    for mode in ["crash", "crashready", "crashnewgame"] {
        let mut talk = start(mode, &[]);
        for line in ["usi", "isready", "usinewgame", "position startpos", "go byoyomi 1"] {
            talk.send(line);
        }
        assert_eq!(talk.exit().signal(), Some(SIGABRT), "{mode}");
        let printed = std::iter::from_fn(|| talk.line()).last().unwrap();
        assert_eq!(printed, if mode == "crashready" { "usiok" } else { "readyok" }, "{mode}");
    }
    let mut talk = puppet("exit", &[]);
    go(&mut talk);
    assert_eq!(talk.exit().code(), Some(3));
    assert_eq!(talk.line(), None);
    let mut talk = puppet("dieafter", &[]);
    assert!(is_legal("startpos", &talk.best("startpos")));
    assert!(talk.exit().success());
}

#[test]
fn silent_modes_say_nothing_until_quit() {
    for (mode, printed) in [("hang", None), ("partial", Some("bestmove 7g7"))] {
        let mut talk = puppet(mode, &[]);
        go(&mut talk);
        talk.send("stop");
        talk.send("isready");
        talk.send("quit");
        assert!(talk.exit().success());
        let bytes = talk.bytes();
        assert_eq!(bytes.as_deref(), printed.map(str::as_bytes), "{mode}");
        assert_eq!(talk.line(), None, "{mode}");
    }
}

#[test]
fn floods_never_answer_and_end_when_stdout_is_closed() {
    for mode in ["floodhang", "flood"] {
        let mut talk = puppet(mode, &[]);
        go(&mut talk);
        talk.send("stop");
        for _ in 0..100 {
            assert_eq!(talk.line().unwrap(), "info depth 1 score cp 0 nodes 1 pv 7g7f", "{mode}");
        }
    }
    let mut child = Command::new(PUPPET)
        .args(["--mode", "longline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go byoyomi 1\n").unwrap();
    let mut bytes = [0; 200_000];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut bytes).unwrap();
    assert!(bytes.starts_with(b"info string xxx") && !bytes.contains(&b'\n'));
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn late_modes_keep_the_delay() {
    for (mode, fault) in [("late", None), ("lateillegal", Some("illegal")), ("lateresign", Some("resign"))] {
        let mut talk = puppet(mode, &["--delay", "60"]);
        let begun = Instant::now();
        let best = talk.best("startpos");
        assert!(begun.elapsed() >= Duration::from_millis(60), "{mode}");
        assert_eq!(is_legal("startpos", &best), fault.is_none(), "{mode}: {best}");
        assert_eq!(best == "resign", fault == Some("resign"), "{mode}: {best}");
    }
}

#[test]
fn faulty_answers_are_printed_as_named() {
    let expected =
        [("garbage", "hello"), ("empty", ""), ("nullmove", "0000"), ("resign", "resign"), ("win", "win")];
    for (mode, answer) in expected {
        assert_eq!(puppet(mode, &[]).best("startpos"), answer, "{mode}");
    }
}

#[test]
fn illegal_moves_are_played_where_the_position_offers_them() {
    let positions = [
        ("nifu", "sfen 4k4/9/9/9/9/9/4P4/9/4K4 b P 1"),
        ("uchifuzume", "sfen 7nk/9/7G1/9/9/9/9/9/4K4 b P 1"),
        ("incheck", "sfen 4k4/4r4/9/9/9/9/9/4G4/4K4 b - 1"),
        ("deadpiece", "sfen 4k4/9/9/9/9/9/9/9/4K4 b N 1"),
        ("badpromotion", "startpos"),
        ("nothand", "startpos"),
        ("occupied", "sfen 4k4/9/9/9/9/9/9/9/4K4 b G 1"),
        ("nopiece", "startpos"),
        ("ownpiece", "startpos"),
        ("opponentpiece", "startpos"),
        ("unreachable", "startpos moves 7g7f"),
    ];
    for (mode, position) in positions {
        let best = puppet(mode, &[]).best(position);
        assert!(!is_legal(position, &best), "{mode}: {best}");
        assert!(["+", "*"].iter().any(|mark| best.contains(mark)) || best.len() == 4, "{mode}: {best}");
    }
    assert_eq!(puppet("uchifuzume", &[]).best("sfen 7nk/9/7G1/9/9/9/9/9/4K4 b P 1"), "P*1b");
}

#[test]
fn a_fault_the_position_does_not_offer_waits_for_a_later_move() {
    let mut talk = puppet("nifu", &[]);
    assert!(is_legal("startpos", &talk.best("startpos")));
    let later = "sfen 4k4/9/9/9/9/9/4P4/9/4K4 b P 1";
    let best = talk.best(later);
    assert!(best.starts_with("P*5"), "{best}");
}

#[test]
fn two_moves_come_at_once_or_one_in_the_opponents_time() {
    let mut talk = puppet("doublemove", &[]);
    go(&mut talk);
    talk.until("bestmove");
    assert!(talk.line().unwrap().starts_with("bestmove"));
    let mut talk = puppet("outofturn", &["--delay", "60"]);
    let begun = Instant::now();
    go(&mut talk);
    talk.until("bestmove");
    assert!(talk.line().unwrap().starts_with("bestmove"));
    assert!(begun.elapsed() >= Duration::from_millis(60));
}

#[test]
fn noise_surrounds_a_legal_move() {
    let mut talk = puppet("noise", &[]);
    go(&mut talk);
    let mut before = Vec::new();
    let best = loop {
        let line = talk.bytes().unwrap();
        if line.starts_with(b"bestmove") {
            break String::from_utf8(line).unwrap();
        }
        before.extend(line);
    };
    assert!(is_legal("startpos", best["bestmove ".len()..].trim()));
    assert!(String::from_utf8(before.clone()).is_err());
    assert!(before.contains(&0x1b) && before.contains(&0));
    for line in 1..=50 {
        assert_eq!(talk.line().unwrap(), format!("info string behind the move {line}"));
    }
    talk.expect_silence();
}

#[test]
fn stderr_is_flooded_by_the_megabyte() {
    let mut child = Command::new(PUPPET)
        .args(["--mode", "stderrflood", "--megabytes", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go byoyomi 1\nquit\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stderr.len(), 2 << 20);
}

#[test]
fn memory_is_taken_and_kept() {
    let mut talk = puppet("memory", &["--megabytes", "100"]);
    talk.best("startpos");
    let pages = std::fs::read_to_string(format!("/proc/{}/statm", talk.child.as_ref().unwrap().id()));
    if !testing::has("/proc", pages.is_ok()) {
        return;
    }
    let pages = pages.unwrap();
    let resident: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(resident * 4096 > 100 << 20, "{resident} pages");
}

/// True if the process still runs after all lines were processed, given time to end.
fn outlives(talk: &mut Talk) -> bool {
    std::thread::sleep(Duration::from_millis(100));
    talk.child.as_mut().unwrap().try_wait().unwrap().is_none()
}

fn terminate(talk: &Talk) {
    let pid = nix::unistd::Pid::from_raw(talk.child.as_ref().unwrap().id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
}

#[test]
fn modes_that_ignore_quit_keep_running() {
    for mode in ["ignorestdin", "closein", "floodhang"] {
        let mut talk = puppet(mode, &[]);
        go(&mut talk);
        talk.send("quit");
        talk.close();
        assert!(outlives(&mut talk), "{mode}");
        terminate(&talk);
        assert_eq!(talk.exit().signal(), Some(15), "{mode}");
    }
}

#[test]
fn only_sigkill_ends_what_ignores_quit() {
    let mut talk = puppet("ignorequit", &[]);
    assert!(is_legal("startpos", &talk.best("startpos")));
    talk.send("quit");
    talk.expect_silence();
    terminate(&talk);
    talk.expect_silence();
    talk.close();
    assert!(outlives(&mut talk));
}

#[test]
fn a_closed_stdin_breaks_the_pipe_and_a_closed_stdout_ends_the_output() {
    let mut talk = puppet("closein", &[]);
    let mut stdin = talk.take_stdin();
    stdin.write_all(b"go byoyomi 1\n").unwrap();
    while stdin.write_all(b"isready\n").is_ok() {
        std::thread::yield_now();
    }
    let mut talk = puppet("closeout", &[]);
    go(&mut talk);
    assert_eq!(talk.line(), None);
    assert!(outlives(&mut talk));
    talk.send("quit");
    assert!(talk.exit().success());
}

#[test]
fn a_grandchild_outlives_the_engine_and_holds_its_stdout() {
    let mut command = Command::new(PUPPET);
    command.args(["--mode", "grandchild", "--delay", "600000"]).process_group(0);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let group = nix::unistd::Pid::from_raw(child.id().cast_signed());
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut talk = Talk::over(stdin, stdout);
    talk.greet();
    assert!(is_legal("startpos", &talk.best("startpos")));
    talk.send("quit");
    assert!(child.wait().unwrap().success());
    assert!(!talk.is_at_end());
    nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_eq!(talk.line(), None);
}

#[test]
fn a_zombie_stays_with_an_engine_that_plays_on() {
    let mut talk = puppet("zombie", &[]);
    assert!(is_legal("startpos", &talk.best("startpos")));
    let pid = talk.child.as_ref().unwrap().id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    if !testing::has("children of processes in /proc", children.is_ok()) {
        return;
    }
    let children = children.unwrap();
    let zombie = children.trim().to_owned();
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{zombie}/stat")).unwrap();
        stat[stat.rfind(')').unwrap()..].chars().nth(2)
    };
    let deadline = Instant::now() + testing::PATIENCE;
    while state() != Some('Z') {
        assert!(Instant::now() < deadline, "the child did not end");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn slow_starts_are_slow_and_missing_answers_are_missing() {
    for (mode, ask, answer) in [("slowstart", "usi", "usiok"), ("slowready", "isready", "readyok")] {
        let mut talk = start(mode, &["--delay", "60"]);
        let begun = Instant::now();
        talk.ask(ask, answer);
        assert!(begun.elapsed() >= Duration::from_millis(60), "{mode}");
    }
    for (mode, ask) in [("nousi", "usi"), ("noready", "isready")] {
        let mut talk = start(mode, &[]);
        talk.send(ask);
        talk.send("quit");
        assert!(talk.exit().success());
        assert_eq!(talk.line(), None, "{mode}");
    }
}

#[test]
fn pondering_ends_by_ponderhit_and_by_stop_which_may_come_stale() {
    let mut talk = puppet("ponderstale", &["--delay", "60"]);
    talk.send("position startpos");
    talk.send("go ponder btime 1000 wtime 1000");
    talk.expect_silence();
    talk.ask("ponderhit", "bestmove");
    talk.send("go ponder btime 1000 wtime 1000");
    let begun = Instant::now();
    talk.ask("stop", "bestmove");
    assert!(begun.elapsed() >= Duration::from_millis(60));
}

/// Lets one puppet play both sides and returns the ply at which the first position occurs for the fourth time.
fn sennichite(mode: &str) -> usize {
    let mut talk = puppet(mode, &[]);
    let mut game = Game::startpos();
    let board = |game: &Game| game.position().to_sfen(Some(1));
    let first = board(&game);
    let (mut moves, mut seen) = (Vec::new(), 1);
    while seen < 4 && moves.len() < 1000 {
        let list = if moves.is_empty() { String::new() } else { format!(" moves {}", moves.join(" ")) };
        let best = talk.best(&format!("startpos{list}"));
        assert!(game.play(&best).is_some(), "{best} after {moves:?}");
        moves.push(best);
        seen += usize::from(board(&game) == first);
    }
    moves.len()
}

#[test]
fn instant_modes_repeat_the_first_position_after_12_and_252_plies() {
    assert_eq!(sennichite("king"), 12);
    assert_eq!(sennichite("rook"), 252);
}

#[test]
fn an_instant_answer_is_one_info_line_and_the_move() {
    let mut talk = puppet("king", &["--sleep-us", "100"]);
    talk.send("position startpos moves 5i5h");
    talk.send("go byoyomi 0");
    assert_eq!(talk.until("bestmove"), ["info depth 1 score cp 0 nodes 1 time 0 pv 5a5b", "bestmove 5a5b"]);
}
