use super::*;
use crate::evaluator::UniformEvaluator;
use usi_shell::Budget;

fn searcher() -> Searcher {
    searcher_of(64 << 20)
}

fn searcher_of(memory: usize) -> Searcher {
    Searcher::new(Arc::new(UniformEvaluator::new(16)), memory)
}

fn game(line: &str) -> Game {
    Game::parse(&format!("position {line}")).unwrap()
}

/// A search without help from solvers.
fn plain(playouts: u64) -> Task {
    Task {
        playouts: Some(playouts),
        threads: 1,
        batch: 16,
        leaf_mate: 0,
        root_mate: false,
        deterministic: true,
        ..Task::default()
    }
}

fn think(searcher: &mut Searcher, game: &Game, task: &Task) -> Outcome {
    searcher.think(game, task, &mut |_| true).unwrap()
}

fn best(line: &str, task: &Task) -> RootMove {
    think(&mut searcher(), &game(line), task).progress.moves.swap_remove(0)
}

fn words(line: &[Move]) -> String {
    line.iter().map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ")
}

const MATE_IN_ONE: &str = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1";

#[test]
fn a_mate_in_one_is_proven_by_visits_alone() {
    let best = best(MATE_IN_ONE, &plain(2_000));
    assert_eq!((best.mv.to_usi().as_str(), best.proven), ("G*5b", Some(Proven::Win(1))));
    assert_eq!(best.value, 1.0);
}

/// Counts what does not add up below a node.
fn inconsistencies(tree: &Tree, index: u32) -> usize {
    let mut open = vec![index];
    let mut wrong = 0;
    while let Some(index) = open.pop() {
        let node = tree.node(index);
        let tally = node.tally();
        let children: Vec<u32> = tree.edges(node).filter_map(tree::Edge::child).collect();
        let below: u32 = children.iter().map(|&child| tree.node(child).tally().visits).sum();
        let ended = tree.proof(node).is_some();
        let grown = matches!(node.stage(), tree::Stage::Grown(_));
        wrong += usize::from(tally.pending != 0 || node.stage() == tree::Stage::Claimed);
        wrong += usize::from(grown && !ended && tally.visits != below + 1);
        wrong += usize::from(grown && ended && tally.visits < below + 1);
        open.extend(children);
    }
    wrong
}

fn nodes_of(searcher: &mut Searcher, game: &Game) -> u32 {
    searcher.tree.root_for(game).unwrap()
}

#[test]
fn visits_add_up_and_no_playout_is_left_over_after_many_threads() {
    let mut searcher = searcher_of(256 << 20);
    let game = game("startpos");
    let task = Task { threads: 4, batch: 8, deterministic: false, ..plain(100_000) };
    let outcome = think(&mut searcher, &game, &task);
    assert_eq!(outcome.progress.playouts, 100_000);
    assert_eq!(outcome.progress.visits, 100_000);
    let root = nodes_of(&mut searcher, &game);
    assert_eq!(inconsistencies(&searcher.tree, root), 0);
}
