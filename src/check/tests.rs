//! Whole checks of real processes: puppets that misbehave, and engines of others where they are installed.

use super::*;
use clap::Parser as _;
use exam::Exam;
use positions::{Kind, Spot};
use std::time::Duration;

fn settings(arguments: &[&str]) -> Settings {
    let line = ["renmei", "check"].iter().chain(arguments);
    let crate::cli::Command::Check(args) = crate::cli::Cli::parse_from(line).command else {
        panic!("`check` is `check`");
    };
    Settings::of(&args).unwrap()
}

/// Makes `kifu/middlegames.sfen` anew:
/// `cargo test -p renmei --lib the_middle_games_are_written -- --ignored`
#[tokio::test]
#[ignore = "writes kifu/middlegames.sfen; needs fairy-stockfish"]
async fn the_middle_games_are_written() {
    let mut exam = begin(settings(&["fairy-stockfish"]), |_| {}).unwrap();
    assert!(handshake::greet(&mut exam).await);
    let mut text = "\
# Middle games that `renmei check` times engines in: fairy-stockfish 11.1 against itself at 4,000 nodes a move.
# Made by `cargo test -p renmei --lib the_middle_games_are_written -- --ignored`
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
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/kifu/middlegames.sfen"), text).unwrap();
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
