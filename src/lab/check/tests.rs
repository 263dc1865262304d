//! Complete checks of real processes: misbehaving puppets, and public engines where they are installed.

use super::*;
use exam::Exam;
use positions::{Kind, Spot};
use std::time::Duration;

/// Builds a request from command-line words: `--option NAME=VALUE` before the engine's command, its arguments after
/// it.
pub(super) fn request(arguments: &[&str]) -> Request {
    match arguments {
        ["--option", option, rest @ ..] => {
            let mut request = request(rest);
            request.option.insert(0, (*option).to_owned());
            request
        }
        ["--ready", ready, rest @ ..] => Request { ready: (*ready).to_owned(), ..request(rest) },
        [command, args @ ..] => {
            Request { args: args.iter().map(ToString::to_string).collect(), ..Request::new(command) }
        }
        [] => panic!("no command"),
    }
}

fn settings(arguments: &[&str]) -> Settings {
    Settings::of(&request(arguments)).unwrap()
}

/// Rewrites `kifu/middlegames.sfen`: `cargo test -p check the_middle_games_are_written -- --ignored`
#[tokio::test]
#[ignore = "writes kifu/middlegames.sfen; needs fairy-stockfish"]
async fn the_middle_games_are_written() {
    let mut exam = begin(settings(&["fairy-stockfish"]), Box::new(|_| {})).await.unwrap();
    assert!(handshake::greet(&mut exam).await);
    let mut text = "\
# Middle games that `renmei check` times engines in: fairy-stockfish 11.1 against itself at 4,000 nodes a move.
# Made by `cargo test -p check the_middle_games_are_written -- --ignored`
"
    .to_owned();
    let firsts = [
        "7g7f 3c3d",
        "2g2f 8c8d",
        "7g7f 8c8d",
        "2g2f 3c3d",
        "5g5f 8c8d",
        "7g7f 4a3b",
        "6g6f 3c3d",
        "3g3f 8c8d",
    ];
    for (i, moves) in firsts.iter().enumerate() {
        text += &format!("{}\n", middle_game(&mut exam, moves, 45 + 3 * i).await);
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../kifu/middlegames.sfen"), text).unwrap();
}

async fn middle_game(exam: &mut Exam, moves: &str, plies: usize) -> String {
    let mut at = Spot::read(&format!("startpos moves {moves}")).unwrap();
    for _ in 0..plies {
        let answer = exam.ask(&at.line, "go nodes 4000", Duration::from_secs(5)).await.unwrap();
        let next = at.after(&answer.mv).unwrap();
        if next.kind() != Kind::Ordinary {
            break;
        }
        at = next;
    }
    at.position.to_sfen(None)
}

/// Settings for a puppet in this mode; `None` where it has not been built.
fn puppet(mode: &str) -> Option<Settings> {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("renmei-puppet");
    if !testing::has("renmei-puppet, built beside it", program.is_file()) {
        return None;
    }
    let mut settings = settings(&["--ready", "60s", program.to_str().unwrap(), "--mode", mode]);
    settings.plan.limits.start = Duration::from_secs(60);
    Some(settings)
}

/// The same for a puppet that never becomes ready, with a short limit.
fn unready_puppet(mode: &str) -> Option<Settings> {
    let mut settings = puppet(mode)?;
    settings.plan.limits.start = Duration::from_millis(300);
    settings.plan.limits.ready = Duration::from_millis(300);
    Some(settings)
}

/// Verdict of the row of that name.
fn verdict(report: &Report, check: &str) -> Option<Verdict> {
    report.rows.iter().find(|row| row.check == check).map(|row| row.verdict)
}

/// Runs the checks up to the idle engine, and the report of missing answers.
async fn short_check(settings: Settings) -> Report {
    let mut exam = begin(settings, Box::new(|_| {})).await.unwrap();
    if handshake::greet(&mut exam).await {
        forms::others(&mut exam).await;
        moves::positions(&mut exam).await;
        life::rest(&mut exam).await;
    }
    exam.report()
}

#[tokio::test]
async fn an_honest_engine_passes_from_its_handshake_to_its_end() {
    let Some(settings) = puppet("honest") else { return };
    let report = examine(settings, Box::new(|_| {})).await.unwrap();
    assert!(report.passed(), "{report}");
    for check in ["usi", "options", "legal moves", "mated", "long games", "byoyomi 1000 ms", "quit"] {
        assert_eq!(verdict(&report, check), Some(Verdict::Pass), "{check}: {report}");
    }
    assert!(report.toml.starts_with("[[engines]]\nname = \"Renmei puppet"), "{}", report.toml);
}

#[tokio::test]
async fn illegal_moves_are_faults_and_named() {
    for mode in ["nifu", "uchifuzume", "incheck", "deadpiece", "unreachable"] {
        let Some(settings) = puppet(mode) else { return };
        let report = short_check(settings).await;
        assert_eq!(verdict(&report, "legal moves"), Some(Verdict::Fault), "{mode}: {report}");
        assert!(!report.passed());
    }
}

#[tokio::test]
async fn an_engine_that_is_never_ready_is_a_fault_and_the_check_ends() {
    for (mode, check) in [("nousi", "usi"), ("noready", "isready"), ("crashready", "isready")] {
        let Some(settings) = unready_puppet(mode) else { return };
        let report = short_check(settings).await;
        assert_eq!(verdict(&report, check), Some(Verdict::Fault), "{mode}: {report}");
    }
}

#[tokio::test]
async fn an_engine_that_dies_on_a_form_of_go_gets_a_configuration_without_it() {
    let Some(settings) = puppet("crash") else { return };
    let mut exam = begin(settings, Box::new(|_| {})).await.unwrap();
    assert!(handshake::greet(&mut exam).await);
    forms::others(&mut exam).await;
    let report = exam.report();
    let row = report.rows.iter().find(|row| row.check == "go nodes").unwrap();
    assert_eq!(row.verdict, Verdict::Warn);
    assert!(row.seen.contains("SIGABRT") && row.lines.contains(&"> go nodes 1000".to_owned()), "{report}");
    assert!(report.toml.contains("go = \"byoyomi-only\""), "{}", report.toml);
}

#[tokio::test]
async fn a_second_answer_to_one_question_is_a_fault() {
    let Some(settings) = puppet("doublemove") else { return };
    let report = short_check(settings).await;
    assert_eq!(verdict(&report, "unasked answers"), Some(Verdict::Fault), "{report}");
}

#[tokio::test]
async fn processes_left_by_an_engine_are_named_and_killed() {
    let Some(mut settings) = puppet("grandchild") else { return };
    settings.plan.args.extend(["--delay".to_owned(), "60000".to_owned()]);
    let mut exam = begin(settings, Box::new(|_| {})).await.unwrap();
    assert!(handshake::greet(&mut exam).await);
    life::end(&mut exam).await;
    let report = exam.report();
    let row = report.rows.iter().find(|row| row.check == "quit").unwrap();
    assert_eq!(row.verdict, Verdict::Warn, "{report}");
    assert!(row.seen.contains("left processes running: renmei-puppet"), "{report}");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error_without_a_report() {
    let error = examine(settings(&["/nonexistent/engine"]), Box::new(|_| {})).await.unwrap_err();
    assert!(error.to_string().starts_with("`/nonexistent/engine` could not be started: "), "{error}");
}

#[tokio::test]
async fn fairy_stockfish_knows_the_protocol_and_the_rules() {
    if !testing::has("fairy-stockfish", testing::program("fairy-stockfish").is_some()) {
        return;
    }
    let report = short_check(settings(&["--option", "Skill Level=5", "fairy-stockfish"])).await;
    assert!(report.passed(), "{report}");
    for check in ["usi", "options", "option Skill Level", "go nodes", "legal moves", "mated"] {
        assert_eq!(verdict(&report, check), Some(Verdict::Pass), "{check}: {report}");
    }
    assert!(report.toml.contains("options = { \"Skill Level\" = 5 }"), "{}", report.toml);
}

#[cfg(unix)]
#[tokio::test]
async fn the_last_words_of_an_engine_are_shown_though_they_come_after_its_end() {
    let late = "(exec >/dev/null; sleep 0.5; echo 'timed out during banner exchange' >&2) & exit 255";
    let mut exam = begin(settings(&["sh", "-c", late]), Box::new(|_| {})).await.unwrap();
    let failure = exam.usi(|_| {}).await.unwrap_err();
    assert!(failure.what.contains("255"), "{}", failure.what);
    assert!(failure.lines.iter().any(|line| line.contains("timed out during banner")), "{:?}", failure.lines);
}
