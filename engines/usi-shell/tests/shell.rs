//! The shell as a manager sees it, with an engine controlled by its options.

#![allow(clippy::unwrap_used)] // helpers of tests

mod driver;

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use driver::Talk;
use usi_shell::{
    BestMove, Checkmate, Engine, Game, GameResult, NotReady, OptionSpec, Options, Output, Search,
};
use usi_shell::{ShellError, serve};

/// Reports each call. With the option `Patient` it searches until stopped.
struct Probe(Sender<String>);

impl Probe {
    fn note(&self, what: impl Into<String>) {
        let _ = self.0.send(what.into());
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.note("dropped");
    }
}

impl Engine for Probe {
    fn name(&self) -> String {
        "Probe".to_owned()
    }

    fn author(&self) -> String {
        "tests".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![
            OptionSpec::check("Patient", true),
            OptionSpec::check("Broken", false),
            OptionSpec::spin("Big Number", 1, 1..=9),
        ]
    }

    fn set_option(&mut self, name: &str, options: &Options) {
        self.note(format!("{name} {}", options.spin("Big Number")));
    }

    fn ready(&mut self, options: &Options, _: &Output) -> Result<(), NotReady> {
        self.note("ready");
        if options.check("Broken") { Err("no network file".into()) } else { Ok(()) }
    }

    fn new_game(&mut self) {
        self.note("new game");
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        out.say("thinking");
        if search.limits.depth == Some(13) {
            panic!("unlucky");
        }
        while search.options.check("Patient") && !search.clock.is_stopped() {
            thread::yield_now();
        }
        let mv = if game.moves().is_empty() { "7g7f" } else { "3c3d" };
        BestMove::Play { mv: mv.parse().unwrap(), ponder: "2g2f".parse().ok() }
    }

    fn solve_mate(&mut self, _: &Game, _: &Search, _: &Output) -> Checkmate {
        Checkmate::NoMate
    }

    fn game_over(&mut self, result: GameResult) {
        self.note(format!("{result:?}"));
    }
}

struct Session {
    talk: Talk,
    notes: Receiver<String>,
    shell: JoinHandle<Result<(), ShellError>>,
}

fn session() -> Session {
    let (stdin_end, stdin) = std::io::pipe().unwrap();
    let (stdout, stdout_end) = std::io::pipe().unwrap();
    let (sender, notes) = mpsc::channel();
    let shell = thread::spawn(move || serve(Probe(sender), stdin_end, stdout_end));
    Session { talk: Talk::over(stdin, stdout), notes, shell }
}

#[test]
fn the_handshake_declares_the_engines_options_and_the_shells() {
    let mut session = session();
    session.talk.send("usi");
    assert_eq!(
        session.talk.until("usiok"),
        [
            "id name Probe",
            "id author tests",
            "option name Patient type check default true",
            "option name Broken type check default false",
            "option name Big Number type spin default 1 min 1 max 9",
            "option name NetworkDelay type spin default 50 min 0 max 10000",
            "option name TimePolicy type string default <empty>",
            "usiok"
        ]
    );
}

#[test]
fn the_engine_receives_options_games_and_results_in_order() {
    let mut session = session();
    for line in ["setoption name big number value 7", "isready", "usinewgame", "gameover win", "gameover"] {
        session.talk.send(line);
    }
    session.talk.close();
    assert!(session.shell.join().unwrap().is_ok());
    let notes: Vec<String> = session.notes.iter().collect();
    assert_eq!(notes, ["Big Number 7", "ready", "new game", "Win", "Unknown", "dropped"]);
}

#[test]
fn a_faulty_option_is_answered_and_the_old_value_stays() {
    let Session { mut talk, notes, .. } = session();
    assert_eq!(
        talk.ask("setoption name Big Number value 10", "info"),
        "info string option `Big Number` needs a number from 1 to 9, not `10`"
    );
    assert_eq!(talk.ask("setoption name Nonsense value 1", "info"), "info string no option `Nonsense`");
    talk.send("setoption name USI_Hash value 64");
    talk.ask("isready", "readyok");
    assert_eq!(notes.recv().unwrap(), "ready");
}

#[test]
fn an_engine_is_not_ready_with_a_faulty_time_policy_and_ready_with_a_mended_one() {
    const FAULT: &str = "option `TimePolicy`: `moves=0` needs a number of moves from 1 to 1000";
    let mut talk = session().talk;
    let faulty = "setoption name TimePolicy value moves=0";
    assert_eq!(talk.ask(faulty, "info"), format!("info string {FAULT}"));
    talk.send("setoption name TimePolicy value moves=40");
    talk.ask("isready", "readyok");
    let mut session = session();
    session.talk.ask(faulty, "info");
    assert_eq!(session.talk.ask("isready", "info"), format!("info string engine not ready: {FAULT}"));
    assert!(matches!(session.shell.join().unwrap(), Err(ShellError::NotReady(_))));
}

#[test]
fn stop_brings_the_answer_of_an_infinite_search() {
    let mut talk = session().talk;
    talk.ask("go infinite", "info string thinking");
    talk.expect_silence();
    assert_eq!(talk.ask("stop", "bestmove"), "bestmove 7g7f ponder 2g2f");
}

#[test]
fn an_early_answer_to_go_infinite_waits_for_stop() {
    let mut talk = session().talk;
    talk.send("setoption name Patient value false");
    talk.ask("go infinite", "info string thinking");
    talk.expect_silence();
    talk.send("stop");
    assert_eq!(talk.line().as_deref(), Some("bestmove 7g7f ponder 2g2f"));
}

#[test]
fn pondering_ends_by_ponderhit_and_the_time_or_by_stop() {
    let mut talk = session().talk;
    talk.send("position startpos moves 7g7f");
    talk.ask("go ponder btime 0 wtime 0 byoyomi 20", "info string thinking");
    talk.expect_silence();
    assert_eq!(talk.ask("ponderhit", "bestmove"), "bestmove 3c3d ponder 2g2f");
    talk.ask("go ponder btime 0 wtime 0 byoyomi 20", "info string thinking");
    assert_eq!(talk.ask("stop", "bestmove"), "bestmove 3c3d ponder 2g2f");
    talk.ask("go ponder", "info string thinking");
    assert_eq!(talk.ask("ponderhit wtime 40", "bestmove"), "bestmove 3c3d ponder 2g2f");
}

#[test]
fn the_time_ends_a_search_and_the_next_one_begins() {
    let mut talk = session().talk;
    for _ in 0..3 {
        assert_eq!(talk.ask("go byoyomi 20", "bestmove"), "bestmove 7g7f ponder 2g2f");
    }
}

#[test]
fn a_running_search_refuses_what_needs_an_idle_engine() {
    let mut talk = session().talk;
    talk.ask("go infinite", "info string thinking");
    for command in ["setoption name Big Number value 3", "position startpos", "go depth 1", "usinewgame"] {
        talk.send(command);
        let word = command.split(' ').next().unwrap();
        let refusal = format!("info string `{word}` refused: a search is running");
        assert_eq!(talk.line().as_deref(), Some(refusal.as_str()));
    }
    talk.ask("stop", "bestmove");
}

#[test]
fn lines_after_a_stop_wait_for_its_answer() {
    let mut talk = session().talk;
    talk.ask("go infinite", "info string thinking");
    for line in ["stop", "position startpos moves 7g7f", "go infinite", "stop"] {
        talk.send(line);
    }
    assert_eq!(talk.until("bestmove 3c3d").iter().filter(|line| line.starts_with("bestmove")).count(), 2);
}

#[test]
fn an_unusable_position_is_reported_and_the_next_go_resigns() {
    let mut talk = session().talk;
    assert_eq!(
        talk.ask("position startpos moves 7g7e", "info"),
        "info string illegal move `7g7e` at move 1 of the position line"
    );
    talk.send("go byoyomi 10");
    assert_eq!(talk.line().as_deref(), Some("info string no position to search"));
    assert_eq!(talk.line().as_deref(), Some("bestmove resign"));
    assert_eq!(talk.best("startpos"), "7g7f ponder 2g2f");
}

#[test]
fn stray_and_unknown_lines_are_ignored() {
    let mut talk = session().talk;
    for line in ["stop", "ponderhit", "", "  ", "hello", "bestmove 7g7f", "\u{1b}[2J"] {
        talk.send(line);
    }
    talk.expect_silence();
}

#[test]
fn a_mate_question_is_answered_as_such() {
    let mut talk = session().talk;
    assert_eq!(talk.ask("go mate 1000", "checkmate"), "checkmate nomate");
}

#[test]
fn quit_during_a_search_ends_and_drops_the_engine() {
    let mut session = session();
    session.talk.ask("go infinite", "info string thinking");
    session.talk.send("quit");
    assert!(session.shell.join().unwrap().is_ok());
    assert_eq!(session.notes.iter().last().unwrap(), "dropped");
}

#[test]
fn gameover_stops_a_search() {
    let mut talk = session().talk;
    talk.ask("go ponder", "info string thinking");
    assert_eq!(talk.ask("gameover lose", "bestmove"), "bestmove 7g7f ponder 2g2f");
}

#[test]
fn an_engine_that_cannot_get_ready_reports_why_and_ends() {
    let mut session = session();
    session.talk.send("setoption name Broken value true");
    let line = session.talk.ask("isready", "info string");
    assert_eq!(line, "info string engine not ready: no network file");
    assert!(matches!(session.shell.join().unwrap(), Err(ShellError::NotReady(_))));
}

#[test]
fn a_panic_of_the_engine_ends_the_shell() {
    let mut session = session();
    session.talk.send("go depth 13");
    assert_eq!(session.talk.ask("", "info string engine"), "info string engine panicked");
    assert!(matches!(session.shell.join().unwrap(), Err(ShellError::Panicked)));
}
