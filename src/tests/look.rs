//! The look before the start: an engine that cannot play is named before any game.

use crate::support::{Desk, program};
use std::{os::unix::fs::PermissionsExt, process::Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn puppet(arguments: &str) -> [String; 2] {
    [format!("cmd={}", program("renmei-puppet").display()), format!("args={arguments}")]
}

/// A match of a puppet `bad` with these arguments and an honest engine.
fn play(desk: &Desk, arguments: &str, more: &[&str]) -> Output {
    let [cmd, args] = puppet(arguments);
    let honest = format!("cmd={}", program("renmei-random").display());
    let engines: [&[&str]; 2] = [&[&cmd, "name=bad", &args], &[&honest, "name=good"]];
    let base = ["--games", "2", "--time", "600s", "--max-moves", "12"];
    desk.play(&engines, &[&base, more].concat()).output
}

/// Asserts that nothing was started, and returns what was said.
fn refused(desk: &Desk, output: &Output) -> String {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(!desk.db().exists(), "no event was begun");
    said
}

#[test]
fn an_engine_that_cannot_get_ready_or_move_is_named_with_its_step_and_its_last_lines() {
    for (mode, why) in [
        ("crashready", "it was killed by SIGABRT, after its options and `isready`"),
        ("crashnewgame", "it was killed by SIGABRT, after `usinewgame` and `go`"),
        ("exit", "it exited with code 3, after `usinewgame` and `go`"),
        ("garbage", "its answer is no move: bestmove hello"),
        ("nopiece", "in the start position is illegal (no-piece)"),
        ("win", "it declares a win in the start position"),
    ] {
        let desk = Desk::new();
        let said = refused(&desk, &play(&desk, &format!("--mode {mode}"), &[]));
        assert!(said.contains("engine `bad` cannot play: ") && said.contains(why), "{mode}: {said}");
        assert!(said.contains("  > isready"), "its last lines are shown: {said}");
    }
}

#[test]
fn an_engine_that_had_to_be_killed_after_its_look_is_named_and_plays() {
    let desk = Desk::new();
    let output = play(&desk, "--mode ignorequit", &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("warning: engine `bad` does not end after `quit`, not even at SIGTERM"), "{said}");
}

#[test]
fn a_missing_evaluation_file_is_told_in_the_words_of_the_engine() {
    let desk = Desk::new();
    let script = "#!/bin/sh\nwhile read -r line; do case \"$line\" in\n usi) echo 'id name Hollow'; \
                  echo 'option name EvalDir type string default eval'; echo usiok;;\n isready) \
                  echo 'info string Error! failed to read nn.bin'; echo 'no such file: eval/nn.bin' >&2; exit 1;;\n \
                  esac; done\n";
    let path = desk.write("hollow.sh", script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cmd = format!("cmd={}", path.display());
    let engines: [&[&str]; 2] = [&[&cmd, "name=a", "option.EvalDir=eval"], &[&cmd, "name=b"]];
    let output = desk.play(&engines, &["--games", "10"]).output;
    let said = refused(&desk, &output);
    for line in [
        "engine `a` cannot play: it exited with code 1, after its options and `isready`",
        "  > setoption name EvalDir value eval",
        "  < info string Error! failed to read nn.bin",
        "  ! no such file: eval/nn.bin",
        "engine `b` cannot play",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn the_device_that_an_engine_computes_on_is_told_before_the_first_game_and_by_check() {
    let desk = Desk::new();
    let random = program("renmei-random").display().to_string();
    let script = format!(
        "#!/bin/sh\necho 'info string device too early'\n{random} | sed -u 's/^readyok/info string \
                          device cuda:0 Some GPU, f16\\nreadyok/'\n"
    );
    let path = desk.write("gpu.sh", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cmd = format!("cmd={}", path.display());
    let engines: [&[&str]; 2] = [&[&cmd, "name=a"], &[&format!("cmd={random}"), "name=b"]];
    let said =
        stderr(&desk.play(&engines, &["--games", "2", "--max-moves", "6", "--openings", "none"]).output);
    assert!(said.contains("engine `a` computes on cuda:0 Some GPU, f16"), "{said}");
    assert!(!said.contains("too early") && !said.contains("engine `b` computes"), "{said}");
    let checked = desk.renmei(&["check", "--json", &path.display().to_string()]);
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["check"] == "device").unwrap_or_else(|| panic!("{report}"));
    assert_eq!(row["seen"], "cuda:0 Some GPU, f16");
}

#[test]
fn what_takes_long_is_told_while_it_is_waited_for() {
    let desk = Desk::new();
    let output = play(&desk, "--mode slowready --delay 3500", &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("engine `bad`: waiting for `readyok`"), "{said}");
}

#[test]
fn a_look_that_is_not_wanted_is_left_out() {
    let desk = Desk::new();
    let output = play(&desk, "--mode ignorequit", &["--no-look"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_host_looks_at_its_own_engines_before_it_listens() {
    let desk = Desk::new();
    let config = format!(
        "[event]\nname = 'x'\ndatabase = '{}'\n[time]\nmain = '600s'\n[serve]\nlisten = ['127.0.0.1:0']\n\
         [[engines]]\nname = 'far'\nremote = true\n\
         [[engines]]\nname = 'bad'\ncommand = '{}'\nargs = ['--mode', 'crashready']\n",
        desk.db().display(),
        program("renmei-puppet").display(),
    );
    let file = desk.write("x.toml", &config).display().to_string();
    let said = refused(&desk, &desk.renmei(&["serve", &file]));
    assert!(said.contains("engine `bad` cannot play: it was killed by SIGABRT"), "{said}");
    assert!(!said.contains("listening"), "{said}");
}

#[test]
fn an_engine_that_cannot_play_does_not_log_in_to_a_server() {
    let desk = Desk::new();
    let config = format!(
        "[floodgate]\nhost = '127.0.0.1'\nport = 9\nlogin = 'x'\npassword = 'floodgate-300-10F,secret'\n\
         database = '{}'\n[engine]\ncommand = '{}'\nargs = ['--mode', 'crashready']\n",
        desk.db().display(),
        program("renmei-puppet").display(),
    );
    let file = desk.write("x.toml", &config).display().to_string();
    let said = refused(&desk, &desk.renmei(&["floodgate", &file]));
    assert!(
        said.contains("cannot play: it was killed by SIGABRT, after its options and `isready`"),
        "{said}"
    );
}

#[test]
fn an_engine_that_computes_at_rest_or_scores_for_black_is_named_by_match_report_and_check_with_what_mends_it()
{
    let desk = Desk::new();
    let [cmd, busy] = puppet("--mode busy");
    let [_, black] = puppet("--mode blackview");
    let engines: [&[&str]; 2] = [&[&cmd, "name=busy", &busy], &[&cmd, "name=black", &black]];
    let played = desk.play(
        &engines,
        &["--games", "2", "--max-moves", "6", "--openings", "none", "--resign", "score=1000", "moves=3"],
    );
    let said = stderr(&played.output);
    let report = desk.renmei(&["report", desk.db().to_str().unwrap()]);
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    for text in [&said, &report] {
        for words in [
            ("warning: engine `busy` keeps ", "`cores = 2` gives its opponent a core"),
            (
                "warning: engine `black` evaluates a position that White, to move, wins",
                "`scores = \"black\"`",
            ),
        ] {
            let line =
                text.lines().find(|line| line.starts_with(words.0)).unwrap_or_else(|| panic!("{text}"));
            assert!(line.contains(words.1), "{line}");
        }
        assert_eq!(text.matches("warning: ").count(), 2, "{text}");
    }
    let check = |mode: &str| {
        let puppet = program("renmei-puppet").display().to_string();
        let checked = desk.renmei(&["check", &puppet, "--", "--mode", mode]);
        String::from_utf8_lossy(&checked.stdout).into_owned()
    };
    assert!(check("busy").contains("of a core while idle"), "{}", check("busy"));
    let black = check("blackview");
    assert!(black.contains("info scores") && black.contains("scores = \"black\""), "{black}");
}
