//! Mates and winning captures from Renmei's own games, solved within a node budget.

#![allow(clippy::unwrap_used)] // helpers of tests

use pairwise::evaluation::Weights;
use pairwise::search::{Searcher, Task, is_decided};
use usi_shell::Game;

const TACTICS: &str = include_str!("../../../kifu/tactics.sfen");

/// By kind: node budget, and number of positions that may be missed.
const BUDGETS: [(&str, u64, usize); 4] =
    [("mate 1", 100, 0), ("mate 3", 5_000, 0), ("mate 5", 20_000, 0), ("capture", 5_000, 1)];

fn solves(sfen: &str, kind: &str, moves: &str, nodes: u64) -> bool {
    let game = Game::from_sfen(sfen).unwrap();
    let task = Task { nodes: Some(nodes), ..Task::default() };
    let outcome = Searcher::new(4).think(&Weights::material(), &game, &task, |_| true);
    let best = &outcome.moves[0];
    let right = moves.split(' ').any(|mv| mv == best.line[0].to_string());
    // A mate longer than the shortest is accepted.
    right && (kind == "capture" || best.value > 0)
        || kind != "capture" && is_decided(best.value) && best.value > 0
}

#[test]
fn mates_and_won_pieces_are_found_within_a_budget() {
    for (kind, nodes, may_miss) in BUDGETS {
        let set: Vec<(&str, &str)> = TACTICS
            .lines()
            .filter_map(|line| {
                let mut fields = line.split('\t');
                let sfen = fields.next()?;
                (fields.next()? == kind).then_some((sfen, fields.next()?))
            })
            .collect();
        assert!(set.len() >= 8, "{} of {kind}", set.len());
        let missed: Vec<&str> = set
            .iter()
            .filter(|(sfen, moves)| !solves(sfen, kind, moves, nodes))
            .map(|(sfen, _)| *sfen)
            .collect();
        assert!(missed.len() <= may_miss, "{kind}: {missed:#?}");
    }
}
