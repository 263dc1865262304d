//! Every misbehaviour is charged to the right side with the right cause, and no process survives.

use crate::support::{Desk, none_left, program};

/// Time of a faulty engine in games that it should lose on time. All other players have so much time that they never
/// lose on time on a slow machine.
const SHORT: &str = "500ms";
const LONG: &str = "600s";

/// Plays a faulty engine against an honest one, a game with each colour in parallel; `cause` is the expected cause of
/// its losses.
fn loses(mode: &str, cause: &str) {
    let desk = Desk::new();
    let mark = format!("--seed {}", 7_000_000 + u64::from(std::process::id()) * 100 + mode.len() as u64);
    let (puppet, honest) = (program("renmei-puppet"), program("renmei-random"));
    let cmd = |path: &std::path::Path| format!("cmd={}", path.display());
    let args = format!("args=--mode {mode} --ply 3 --delay 900 {mark}");
    // The look before the start would refuse an engine that fails before its first move.
    let look = if mode.starts_with("crash") && mode != "crash" { "--no-look" } else { "--quiet" };
    let time = format!("time={}", if cause == "time" { SHORT } else { LONG });
    let played = desk.play(
        &[&[&cmd(&puppet), "name=bad", &args, &time], &[&cmd(&honest), "name=good"]],
        &["--games", "2", "--concurrency", "2", "--time", LONG, "--margin", "100ms", look],
    );
    let bad = played.standing("bad");
    assert_eq!(bad["losses"], 2, "{mode}: {}", played.text());
    assert_eq!(bad["lost_by"][cause], 2, "{mode}: {bad}");
    let games = desk.query("SELECT evidence, cause FROM games");
    assert!(games.iter().all(|game| game[1] == cause), "{games:?}");
    none_left(&mark);
}

#[test]
fn every_form_of_silence_loses_on_time() {
    for mode in ["hang", "partial", "floodhang", "flood", "longline", "ignorestdin", "closein"] {
        loses(mode, "time");
    }
}

#[test]
fn any_late_reply_loses_on_time() {
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
            &[&format!("cmd={}", puppet.display()), "name=bad", "args=--mode misspelled --ply 3"],
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
fn an_invalid_declaration_loses_and_resigning_is_no_fault() {
    loses("win", "illegal-declaration");
    loses("resign", "resignation");
}

#[test]
fn harmless_misbehaviour_is_no_loss() {
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
fn engine_output_is_escaped_in_the_evidence() {
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
fn an_engine_without_usiok_is_reported_before_any_game_starts() {
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
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("engine `bad` cannot play: no `usiok` within 300 ms"), "{stderr}");
}

#[test]
fn an_unknown_option_is_reported_with_file_line_and_the_nearest_name() {
    let desk = Desk::new();
    let config = format!(
        "[event]\nname = 'x'\n[time]\nbyoyomi = '1s'\n\
         [[engines]]\nname = 'a'\ncommand = '{0}'\n[engines.options]\nSeeed = 3\nStyle = 'bold'\n\
         [[engines]]\nname = 'b'\ncommand = '{0}'\n",
        program("renmei-random").display()
    );
    let file = desk.write("x.toml", &config).display().to_string();
    let output = desk.renmei(&["run", &file]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("x.toml:9: engine `a` offers no option `Seeed`; did you mean `Seed`?"),
        "{stderr}"
    );
    assert!(stderr.contains("x.toml:10: engine `a`: ") && stderr.contains("bold"), "{stderr}");
    assert!(!desk.path("x.db").exists(), "no event was begun");
}
