//! Every misbehaviour is charged to the right side with the right reason, and leaves nothing behind.

use crate::support::{Desk, none_left, program};

/// How long the faulty engine has for a game in which it loses on time. In all others, and always for the honest one,
/// nobody loses on time, however slow the machine is.
const SHORT: &str = "500ms";
const LONG: &str = "600s";

/// Plays one faulty engine against an honest one, a game with each colour at once; `cause` is how it loses.
fn loses(mode: &str, cause: &str) {
    let desk = Desk::new();
    let mark = format!("--seed {}", 7_000_000 + u64::from(std::process::id()) * 100 + mode.len() as u64);
    let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
    let cmd = |path: &std::path::Path| format!("cmd={}", path.display());
    let args = format!("args=--mode {mode} --ply 3 --delay 900 {mark}");
    let time = format!("time={}", if cause == "time" { SHORT } else { LONG });
    let played = desk.play(
        &[&[&cmd(&puppet), "name=bad", &args, &time], &[&cmd(&honest), "name=good"]],
        &["--games", "2", "--concurrency", "2", "--time", LONG, "--margin", "100ms"],
    );
    let bad = played.standing("bad");
    assert_eq!(bad["losses"], 2, "{mode}: {}", played.text());
    assert_eq!(bad["lost_by"][cause], 2, "{mode}: {bad}");
    let games = desk.query("SELECT evidence, cause FROM games");
    assert!(games.iter().all(|game| game[1] == cause), "{games:?}");
    none_left(&mark);
}

#[test]
fn silence_in_all_its_forms_loses_on_time() {
    for mode in ["hang", "partial", "floodhang", "flood", "longline", "ignorestdin", "closein"] {
        loses(mode, "time");
    }
}

#[test]
fn a_late_reply_loses_on_time_whatever_it_says() {
    for mode in ["late", "lateillegal", "lateresign"] {
        loses(mode, "time");
    }
}

#[test]
fn an_engine_that_ends_loses_by_disconnection() {
    for mode in ["crash", "exit", "dieafter", "closeout", "crashready", "crashnewgame"] {
        loses(mode, "disconnection");
    }
}

#[test]
fn each_foul_is_named() {
    let fouls = [
        ("nifu", "nifu"),
        ("nopiece", "no-piece"),
        ("ownpiece", "own-piece-on-target"),
        ("unreachable", "unreachable"),
        ("incheck", "king-left-in-check"),
        ("deadpiece", "dead-piece"),
        ("badpromotion", "bad-promotion"),
        ("nothand", "not-in-hand"),
        ("occupied", "drop-on-piece"),
        ("opponentpiece", "opponents-piece"),
        ("garbage", "unreadable"),
        ("empty", "unreadable"),
        ("nullmove", "unreadable"),
        ("doublemove", "out-of-turn"),
    ];
    for (mode, foul) in fouls {
        loses(mode, &format!("illegal-move:{foul}"));
    }
}

#[test]
fn a_move_behind_a_misspelled_bestmove_is_not_played() {
    let desk = Desk::new();
    let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
    let played = desk.play(
        &[
            &[&format!("cmd={}", puppet.display()), "name=bad", "args=--mode misspelled"],
            &[&format!("cmd={}", honest.display()), "name=good"],
        ],
        &["--games", "2", "--time", "500ms"],
    );
    assert_eq!(played.standing("bad")["lost_by"]["time"], 2, "{}", played.text());
    let evidence = desk.query("SELECT evidence FROM games");
    assert!(evidence.iter().all(|row| row[0].contains("< bestmovefoo ")), "the trace has it: {evidence:?}");
}

#[test]
fn a_pawn_dropped_for_mate_is_named() {
    let desk = Desk::new();
    let openings = desk.write("mate.sfen", "sfen 8k/6G2/8G/9/9/9/9/9/4K4 b P 1\n");
    let openings = openings.display().to_string();
    let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
    let played = desk.play(
        &[
            &[&format!("cmd={}", puppet.display()), "name=bad", "args=--mode uchifuzume"],
            &[&format!("cmd={}", honest.display()), "name=good"],
        ],
        &["--games", "2", "--time", LONG, "--openings", &openings],
    );
    assert_eq!(played.standing("bad")["lost_by"]["illegal-move:uchifuzume"], 1, "{}", played.text());
}

#[test]
fn declaring_without_the_right_to_loses_and_resigning_is_no_fault() {
    loses("win", "illegal-declaration");
    loses("resign", "resignation");
}

#[test]
fn a_nuisance_that_plays_on_is_no_loss() {
    for mode in ["noise", "stderrflood", "memory", "slowready", "grandchild", "zombie"] {
        let desk = Desk::new();
        let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
        let args = format!("args=--mode {mode} --delay 300");
        let played = desk.play(
            &[
                &[&format!("cmd={}", puppet.display()), "name=odd", &args],
                &[&format!("cmd={}", honest.display())],
            ],
            &["--games", "2", "--time", LONG, "--max-moves", "60"],
        );
        let odd = played.standing("odd");
        assert_eq!(odd["games"], 2, "{mode}: {}", played.text());
        assert!(
            odd["lost_by"].get("disconnection").is_none() && odd["lost_by"].get("time").is_none(),
            "{mode}: {odd}"
        );
    }
}

#[test]
fn the_record_of_a_crash_holds_the_signal_and_the_last_lines() {
    let desk = Desk::new();
    let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
    desk.play(
        &[
            &[&format!("cmd={}", puppet.display()), "name=bad", "args=--mode crash --ply 3"],
            &[&format!("cmd={}", honest.display()), "name=good"],
        ],
        &["--games", "2", "--time", LONG],
    );
    let evidence = &desk.query("SELECT evidence FROM games")[0][0];
    assert!(evidence.contains("it was killed by SIGABRT"), "{evidence}");
    assert!(evidence.contains("> go btime") && evidence.contains("< readyok"), "{evidence}");
}

#[test]
fn what_an_engine_prints_reaches_the_record_escaped() {
    let desk = Desk::new();
    let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
    let played = desk.play(
        &[
            &[&format!("cmd={}", puppet.display()), "name=\u{1b}[31mred", "args=--mode noise"],
            &[&format!("cmd={}", honest.display()), "name=good"],
        ],
        &["--games", "2", "--time", LONG, "--max-moves", "20"],
    );
    assert!(!played.output.stderr.contains(&0x1b), "{}", played.text());
}

#[test]
fn an_engine_that_never_says_usiok_is_told_of_before_anything_starts() {
    let desk = Desk::new();
    let config = format!(
        "[event]\nname = 'x'\ndatabase = '{}'\n[time]\nbyoyomi = '1s'\n\
         [[engines]]\nname = 'bad'\ncommand = '{}'\nargs = ['--mode', 'nousi']\nlimits = {{ start = '300ms' }}\n\
         [[engines]]\nname = 'good'\ncommand = '{}'\n",
        desk.db().display(),
        program("renmei-puppet").display(),
        program("renmei-random").display()
    );
    let file = desk.write("x.toml", &config).display().to_string();
    let output = desk.renmei(&["run", &file]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("engine `bad` cannot play: no `usiok` within 300 ms"), "{told}");
}

#[test]
fn an_option_the_engine_does_not_offer_is_told_with_file_line_and_the_nearest_name() {
    let desk = Desk::new();
    let config = format!(
        "[event]\nname = 'x'\n[time]\nbyoyomi = '1s'\n\
         [[engines]]\nname = 'a'\ncommand = '{0}'\n[engines.options]\nSeeed = 3\nStyle = 'bold'\n\
         [[engines]]\nname = 'b'\ncommand = '{0}'\n",
        program("renmei-random").display()
    );
    let file = desk.write("x.toml", &config).display().to_string();
    let output = desk.renmei(&["run", &file]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("x.toml:9: engine `a` offers no option `Seeed`; did you mean `Seed`?"), "{told}");
    assert!(told.contains("x.toml:10: engine `a`: ") && told.contains("bold"), "{told}");
    assert!(!desk.path("x.db").exists(), "nothing was begun");
}
