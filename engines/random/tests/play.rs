//! The real binary, driven through its pipes.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../usi-shell/tests/driver/mod.rs"]
mod driver;

use driver::Talk;
use usi_shell::Game;

fn random() -> Talk {
    let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-random"), &[]);
    talk.greet();
    talk
}

/// Plays until a player resigns or `plies` are played; returns the moves, each checked for legality.
fn play(players: &mut [Talk; 2], plies: usize) -> Vec<String> {
    let mut game = Game::startpos();
    let mut moves: Vec<String> = Vec::new();
    while moves.len() < plies {
        let position = format!("startpos moves {}", moves.join(" "));
        let best = players[moves.len() % 2].best(&position);
        if best == "resign" {
            assert!(game.position().is_mated(), "resigned without being mated after {position}");
            break;
        }
        if best == "win" {
            break;
        }
        assert!(game.play(&best).is_some(), "illegal move {best} after {position}");
        moves.push(best);
    }
    moves
}

#[test]
fn the_handshake_shows_who_it_is_and_what_can_be_set() {
    let mut talk = Talk::start(env!("CARGO_BIN_EXE_renmei-random"), &[]);
    talk.send("usi");
    let lines = talk.until("usiok");
    assert!(lines[0].starts_with("id name Renmei random "));
    assert!(
        lines.contains(&"option name Style type combo default uniform var uniform var greedy".to_owned())
    );
    assert!(lines.iter().any(|line| line.starts_with("option name Seed type spin default 1 min 0 max ")));
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("option name EnteringKingRule type combo default CSARule27"))
    );
}

#[test]
fn every_move_of_whole_games_is_legal() {
    let mut players = [random(), random()];
    let plies: usize = [1, 2]
        .iter()
        .map(|seed| {
            players[0].send(&format!("setoption name Seed value {seed}"));
            play(&mut players, 300).len()
        })
        .sum();
    assert!(plies > 100, "{plies}");
}

#[test]
fn equal_seeds_give_equal_games_and_other_seeds_others() {
    let game = |seed: u64| {
        let mut players = [random(), random()];
        players[0].send(&format!("setoption name Seed value {seed}"));
        play(&mut players, 40)
    };
    assert_eq!(game(7), game(7));
    assert_ne!(game(7), game(8));
}

#[test]
fn a_second_game_of_one_process_is_another_game() {
    let mut players = [random(), random()];
    let first = play(&mut players, 20);
    players.iter_mut().for_each(Talk::greet);
    assert_ne!(first, play(&mut players, 20));
}

#[test]
fn greed_beats_chance() {
    for (seed, greedy) in [(1, 0), (2, 1)] {
        let mut players = [random(), random()];
        players[greedy].send("setoption name Style value greedy");
        players[greedy].send(&format!("setoption name Seed value {seed}"));
        let moves = play(&mut players, 400);
        assert!(moves.len() < 400);
        assert_eq!(moves.len() % 2, 1 - greedy, "the greedy side made the last move");
    }
}

#[test]
fn a_mated_engine_resigns() {
    let mated = "sfen 4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1";
    assert_eq!(random().best(mated), "resign");
}

#[test]
fn a_mate_problem_without_the_own_king_is_played_on() {
    let mut talk = random();
    let problem = "sfen 4k4/9/4P4/9/9/9/9/9/9 b G 1";
    assert!(Game::parse(&format!("position {problem}")).unwrap().play(&talk.best(problem)).is_some());
    talk.send("setoption name Style value greedy");
    assert_eq!(talk.best(problem), "G*5b");
}

#[test]
fn a_win_is_declared_when_the_rule_in_force_allows_it() {
    let mut talk = random();
    // 28 points: 5 each for two dragons and two horses, 1 each for six pawns in the camp and two golds in hand.
    let entered = "sfen +R+R+B+BK4/PPPPPP3/9/9/9/9/9/9/4k4 b 2G 1";
    assert_eq!(talk.best(entered), "win");
    talk.send("setoption name EnteringKingRule value CSARule24");
    assert_ne!(talk.best(entered), "win");
    talk.send("setoption name EnteringKingRule value NoEnteringKing");
    assert_ne!(talk.best(entered), "win");
    talk.send("setoption name EnteringKingRule value TryRule");
    assert_eq!(talk.best("sfen 9/4K4/9/9/9/9/9/9/1k7 b - 1"), "5b5a");
}

#[test]
fn each_move_is_reported_with_the_material_balance() {
    let mut talk = random();
    talk.send("position sfen 4k4/9/9/9/9/9/9/9/4K4 b P 1");
    talk.send("go byoyomi 1000");
    let info = talk.until("bestmove").remove(0);
    assert!(info.starts_with("info depth 1 score cp 100 nodes "), "{info}");
    assert!(info.contains(" pv "), "{info}");
}

#[test]
fn a_faulty_option_is_reported() {
    assert_eq!(
        random().ask("setoption name ThinkTime value -1", "info"),
        "info string option `ThinkTime` needs a number from 0 to 600000, not `-1`"
    );
}

#[test]
fn a_long_think_is_cut_short_by_stop_and_withheld_while_pondering() {
    let mut talk = random();
    talk.send("setoption name ThinkTime value 600000");
    talk.ask("go depth 1", "info depth");
    talk.expect_silence();
    talk.ask("stop", "bestmove");
    talk.send("setoption name ThinkTime value 0");
    talk.ask("go ponder btime 1000 wtime 1000", "info depth");
    talk.expect_silence();
    talk.ask("ponderhit", "bestmove");
}

#[test]
fn the_end_of_stdin_and_quit_end_the_process() {
    let mut talk = random();
    talk.close();
    assert!(talk.exit().success());
    let mut talk = random();
    talk.send("setoption name ThinkTime value 600000");
    talk.ask("go infinite", "info depth");
    talk.send("quit");
    assert!(talk.exit().success());
}
