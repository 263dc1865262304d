use super::*;
use crate::evaluator::{Answer, Desk, Encoding, Pending, Question, UniformEvaluator};
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

fn searcher() -> Searcher {
    searcher_of(64 << 20)
}

fn searcher_of(memory: usize) -> Searcher {
    Searcher::new(Arc::new(UniformEvaluator::new(16)), memory)
}

fn game(line: &str) -> Game {
    Game::parse(&format!("position {line}")).unwrap()
}

/// A search without mate solvers.
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

fn found(line: &str, task: &Task) -> Progress {
    think(&mut searcher(), &game(line), task).progress
}

fn of<'a>(progress: &'a Progress, mv: &str) -> &'a RootMove {
    progress.moves.iter().find(|root| root.mv.to_usi() == mv).unwrap()
}

fn root_of(searcher: &mut Searcher, game: &Game) -> u32 {
    searcher.tree.root_for(game).unwrap()
}

/// Counts inconsistencies below a node. After pruning, nodes that grew again have surplus visits.
fn inconsistencies(tree: &Tree, index: u32, pruned: bool) -> usize {
    let mut open = vec![index];
    let mut wrong = 0;
    while let Some(index) = open.pop() {
        let node = tree.node(index);
        let tally = node.tally();
        let children: Vec<u32> = tree.edges(node).filter_map(|edge| edge.child).collect();
        let below: u32 = children.iter().map(|&child| tree.node(child).tally().visits).sum();
        let ended = tree.proof(node).is_some();
        let grown = matches!(node.stage(), tree::Stage::Grown(_));
        wrong += usize::from(tally.pending != 0 || node.stage() == tree::Stage::Claimed);
        wrong += usize::from(grown && !ended && !pruned && tally.visits != below + 1);
        wrong += usize::from(grown && (ended || pruned) && tally.visits < below + 1);
        open.extend(children);
    }
    wrong
}

const MATE_IN_ONE: &str = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
const BARE_KINGS: &str = "sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1";

#[test]
fn a_mate_in_one_is_proven_by_visits_alone() {
    let progress = found(MATE_IN_ONE, &plain(2_000));
    let best = &progress.moves[0];
    assert_eq!((best.mv.to_usi().as_str(), best.proven), ("G*5b", Some(Proven::Win(1))));
    assert_eq!(best.value, 1.0);
    assert!(progress.playouts < 2_000);
}

#[test]
fn mates_at_leaves_prove_longer_mates_at_the_root() {
    for line in include_str!("../../../../kifu/tactics.sfen").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [sfen, "mate 3", solutions] = fields[..] else { continue };
        let task = Task { leaf_mate: 1, ..plain(100_000) };
        let progress = found(&format!("sfen {sfen}"), &task);
        let best = &progress.moves[0];
        assert!(matches!(best.proven, Some(Proven::Win(3..))), "{sfen} {best:?}");
        let shortest = best.proven == Some(Proven::Win(3));
        assert!(!shortest || solutions.split(' ').any(|mv| mv == best.mv.to_usi()), "{sfen}");
    }
}

#[test]
fn the_mate_solver_ends_the_search_with_its_line() {
    for line in include_str!("../../../../kifu/tactics.sfen").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [sfen, "mate 5", _] = fields[..] else { continue };
        let progress = found(&format!("sfen {sfen}"), &Task { root_mate: true, ..plain(100_000) });
        let best = &progress.moves[0];
        assert_eq!(best.proven, Some(Proven::Win(best.line.len() as u32)), "{sfen}");
        assert!(best.line.len() >= 5 && progress.playouts < 10);
    }
}

#[test]
fn a_mate_does_not_end_a_search_with_several_lines() {
    let task = Task { root_mate: true, lines: 3, ..plain(500) };
    let progress = found(MATE_IN_ONE, &task);
    assert_eq!(progress.playouts, 500);
    assert_eq!(progress.moves[0].proven, Some(Proven::Win(1)));
    assert!(progress.moves[1].line.len() > 1 && progress.moves[2].line.len() > 1);
    assert_eq!(progress.moves[3].line.len(), 1);
    assert!(progress.moves[1].visits >= progress.moves[2].visits);
}

#[test]
fn the_player_who_is_mated_has_no_moves() {
    let outcome = think(&mut searcher(), &game("sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"), &plain(100));
    assert_eq!((outcome.progress.moves.len(), outcome.reply), (0, None));
}

/// A repetition that cost Nene-shogi's first version a game.
#[test]
fn a_search_among_repetitions_values_a_draw() {
    for (threads, deterministic) in [(1, true), (4, false)] {
        let mut searcher = searcher();
        let task = Task { threads, deterministic, leaf_mate: 3, ..plain(20_000) };
        let outcome = think(&mut searcher, &game(BARE_KINGS), &task);
        let best = &outcome.progress.moves[0];
        assert!((best.value - 0.5).abs() < 0.01 && best.draw > 0.01, "{best:?}");
        let root = root_of(&mut searcher, &game(BARE_KINGS));
        assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
    }
}

#[test]
fn a_draw_has_the_value_of_the_terms_for_each_player() {
    let terms = Terms { draw_black: 0.9, draw_white: 0.2, ..Terms::default() };
    let task = Task { terms, ..plain(20_000) };
    assert!(found(BARE_KINGS, &task).moves[0].value > 0.51);
    let white = found(&BARE_KINGS.replace(" b ", " w "), &task);
    assert!(white.moves[0].value < 0.495, "{:?}", white.moves[0]);
}

#[test]
fn the_draw_value_decides_whether_a_repetition_is_sought() {
    let shuffle = "startpos moves ".to_owned() + &"5i5h 5a5b 5h5i 5b5a ".repeat(2) + "5i5h 5a5b 5h5i";
    let with = |draw_white| {
        let terms = Terms { draw_white, ..Terms::default() };
        let progress = found(&shuffle, &Task { terms, ..plain(2_000) });
        assert_eq!(of(&progress, "5b5a").proven, Some(Proven::Draw));
        progress.moves[0].mv.to_usi() == "5b5a"
    };
    assert!(with(1.0));
    assert!(!with(0.0));
}

const SETUP: &str = "startpos moves 7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a ";

#[test]
fn perpetual_check_is_a_loss_for_the_checker() {
    let thrice = SETUP.to_owned() + &"3c4c 5b5a 4c3c 5a5b ".repeat(3);
    let progress = found(&thrice, &plain(2_000));
    assert_eq!(of(&progress, "3c4c").proven, Some(Proven::Loss(1)));
    assert_eq!(of(&progress, "3c4c").value, 0.0);
    assert_ne!(progress.moves[0].mv.to_usi(), "3c4c");
}

#[test]
fn the_checker_does_not_win_by_perpetual_check() {
    // The cycle is played by hand: with a uniform evaluator no search would find it.
    let mut now = SETUP.to_owned();
    for mv in "3c4c 5b5a 4c3c 5a5b 3c4c 5b5a 4c3c".split(' ') {
        let progress = found(&now, &plain(3_000));
        let walked = of(&progress, mv);
        assert!(!matches!(walked.proven, Some(Proven::Win(_))), "{walked:?}");
        now = now + " " + mv;
    }
}

#[test]
fn a_win_may_be_declared_in_the_tree() {
    // Black has 28 points and 10 pieces in the camp; white can only shuffle.
    let line = "sfen +P+P+P+PK+P+P+P+P/1+R5+R1/9/9/9/9/9/9/4k4 w 2B 1";
    let progress = found(line, &plain(3_000));
    assert!(progress.moves.iter().all(|mv| mv.proven == Some(Proven::Loss(2))), "{:?}", progress.moves);
    let terms = Terms { declaration: EnteringKingRule::None, ..Terms::default() };
    let progress = found(line, &Task { terms, ..plain(100) });
    assert!(progress.moves.iter().any(|mv| mv.proven.is_none()));
}

#[test]
fn the_last_ply_draws_unless_it_mates() {
    let terms = |max_moves| Terms { max_moves, ..Terms::default() };
    let progress = found("startpos", &Task { terms: terms(1), ..plain(1_000) });
    assert!(progress.moves.iter().all(|mv| mv.proven == Some(Proven::Draw) && mv.value == 0.5));
    let progress = found(MATE_IN_ONE, &Task { terms: terms(1), ..plain(1_000) });
    assert_eq!(progress.moves[0].proven, Some(Proven::Win(1)));
    // A mate in three is too late in a game that is drawn in two plies.
    let sfen = include_str!("../../../../kifu/tactics.sfen").lines().find(|line| line.contains("mate 3"));
    let sfen = sfen.unwrap().split('\t').next().unwrap();
    let ply: u32 = sfen.rsplit(' ').next().unwrap().parse().unwrap();
    let task = Task { terms: terms(ply + 1), root_mate: true, leaf_mate: 3, ..plain(3_000) };
    let progress = found(&format!("sfen {sfen}"), &task);
    assert!(!matches!(progress.moves[0].proven, Some(Proven::Win(_))), "{:?}", progress.moves[0]);
}

#[test]
fn visits_are_consistent_after_a_search_of_many_threads() {
    let mut searcher = searcher_of(256 << 20);
    let task = Task { threads: 4, batch: 8, deterministic: false, ..plain(100_000) };
    let outcome = think(&mut searcher, &Game::startpos(), &task);
    assert_eq!((outcome.progress.playouts, outcome.progress.visits), (100_000, 100_000));
    let root = root_of(&mut searcher, &Game::startpos());
    assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
}

#[test]
#[ignore = "takes a minute"]
fn a_million_playouts_of_many_threads_are_consistent() {
    let mut searcher = searcher_of(900 << 20);
    let task = Task { threads: 6, batch: 8, leaf_mate: 1, deterministic: false, ..plain(1_000_000) };
    let game = game(SETUP);
    let outcome = think(&mut searcher, &game, &task);
    assert_eq!(outcome.progress.playouts, 1_000_000);
    let root = root_of(&mut searcher, &game);
    assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
    assert!(searcher.bytes().0 <= searcher.bytes().1);
}

#[test]
fn memory_stays_within_its_bounds_and_the_search_goes_on() {
    let mut searcher = searcher_of(8 << 20);
    let task = Task { threads: 2, deterministic: false, ..plain(60_000) };
    let mut most = 0;
    let outcome = searcher
        .think(&Game::startpos(), &task, &mut |progress| {
            most = most.max(progress.fullness);
            true
        })
        .unwrap();
    assert_eq!(outcome.progress.playouts, 60_000);
    let (taken, allowed) = searcher.bytes();
    assert!(taken <= allowed && taken > allowed / 2, "{taken} of {allowed}");
    let root = root_of(&mut searcher, &Game::startpos());
    assert_eq!(inconsistencies(&searcher.tree, root, true), 0);
    assert!(most > 500 && most <= 1_000, "{most}");
}

#[test]
fn the_tree_is_reused_for_the_next_move() {
    let mut searcher = searcher();
    let outcome = think(&mut searcher, &Game::startpos(), &plain(20_000));
    let best = outcome.progress.moves[0].mv;
    let (one, other) = (outcome.reply.unwrap().to_usi(), "9a9b");
    let next = |reply: &str| game(&format!("startpos moves {} {reply}", best.to_usi()));
    // After pondering on the wrong reply, the subtrees of the other replies are still there.
    let pondered = think(&mut searcher, &next(&one), &plain(100)).progress;
    assert!(pondered.visits > 110, "{}", pondered.visits);
    let missed = think(&mut searcher, &next(other), &plain(1)).progress;
    assert!(missed.visits > 5, "{}", missed.visits);
    let root = root_of(&mut searcher, &next(other));
    assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
}

#[test]
fn another_game_begins_a_new_tree() {
    let mut searcher = searcher();
    think(&mut searcher, &Game::startpos(), &plain(1_000));
    assert_eq!(think(&mut searcher, &game(BARE_KINGS), &plain(10)).progress.visits, 10);
    assert_eq!(think(&mut searcher, &Game::startpos(), &plain(10)).progress.visits, 10);
    think(&mut searcher, &Game::startpos(), &plain(1_000));
    searcher.new_game();
    let again = think(&mut searcher, &Game::startpos(), &plain(10)).progress;
    assert_eq!((again.visits, again.evaluations > 0), (10, true));
}

#[test]
fn a_transposition_is_evaluated_once() {
    let mut searcher = searcher();
    let first = think(&mut searcher, &game(BARE_KINGS), &plain(5_000)).progress;
    assert!(first.evaluations < first.playouts / 2, "{} {}", first.evaluations, first.playouts);
}

#[test]
fn the_same_search_gives_the_same_result() {
    let task = Task { root_mate: true, leaf_mate: 1, lines: 5, ..plain(3_000) };
    let one = found(SETUP, &task);
    let two = found(SETUP, &task);
    assert_eq!(Progress { elapsed: Duration::ZERO, ..one }, Progress { elapsed: Duration::ZERO, ..two });
}

#[test]
fn a_stopped_clock_or_the_caller_ends_the_search() {
    let clock = Clock::start(Instant::now(), None);
    clock.stop();
    for deterministic in [true, false] {
        let task = Task { clock: Some(clock.clone()), playouts: None, deterministic, ..plain(0) };
        let progress = found("startpos", &task);
        assert_eq!((progress.moves.len(), progress.visits), (30, 1));
        let task = Task { report_interval: Duration::ZERO, playouts: None, deterministic, ..plain(0) };
        let outcome = searcher().think(&Game::startpos(), &task, &mut |_| false).unwrap();
        assert_eq!(outcome.progress.moves.len(), 30);
    }
}

#[test]
fn the_search_ends_at_its_depth() {
    let progress = found("startpos", &Task { depth: Some(2), ..plain(100_000) });
    assert!(progress.playouts < 100_000);
}

/// An evaluator that fails when the flag is set.
struct Fragile(AtomicBool);

impl Evaluator for Fragile {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        if self.0.load(Relaxed) {
            return Err(EvaluatorError::Device("cuda:0".to_owned()));
        }
        UniformEvaluator::new(1).evaluate(questions)
    }

    fn batch(&self) -> usize {
        1
    }

    fn encoding(&self) -> Encoding {
        UniformEvaluator::new(1).encoding()
    }

    fn kind(&self) -> &str {
        "fragile"
    }
}

#[test]
fn a_failing_network_is_an_error_and_the_tree_stays_whole() {
    let evaluator = Arc::new(Fragile(AtomicBool::new(true)));
    let mut searcher = Searcher::new(evaluator.clone(), 64 << 20);
    let task = Task { threads: 3, deterministic: false, ..plain(10_000) };
    let fails = |searcher: &mut Searcher| searcher.think(&Game::startpos(), &task, &mut |_| true).is_err();
    assert!(fails(&mut searcher));
    evaluator.0.store(false, Relaxed);
    assert!(!fails(&mut searcher));
    evaluator.0.store(true, Relaxed);
    assert!(fails(&mut searcher));
    let root = root_of(&mut searcher, &Game::startpos());
    assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
}

/// A device whose answers come only after three batches more were handed over, or when the search has ended.
struct Late {
    desk: Desk,
    handed: Arc<AtomicUsize>,
}

/// What [`Late`] computes with.
struct Patient(Arc<AtomicUsize>);

impl Evaluator for Patient {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        // The first question is that of the root.
        while (2..4).contains(&self.0.load(Relaxed)) {
            std::thread::yield_now();
        }
        UniformEvaluator::new(4).evaluate(questions)
    }

    fn batch(&self) -> usize {
        4
    }

    fn encoding(&self) -> Encoding {
        UniformEvaluator::new(4).encoding()
    }

    fn kind(&self) -> &str {
        "patient"
    }
}

impl Evaluator for Late {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        self.desk.evaluate(questions)
    }

    fn submit(&self, questions: Vec<Question>) -> Pending {
        self.handed.fetch_add(1, Relaxed);
        self.desk.submit(questions)
    }

    fn ahead(&self) -> usize {
        self.desk.ahead()
    }

    fn batch(&self) -> usize {
        self.desk.batch()
    }

    fn encoding(&self) -> Encoding {
        self.desk.encoding()
    }

    fn kind(&self) -> &str {
        self.desk.kind()
    }
}

#[test]
fn a_thread_gathers_on_while_two_of_its_batches_are_out() {
    let handed = Arc::<AtomicUsize>::default();
    let desk = Desk::new(Arc::new(Patient(Arc::clone(&handed))), 1, true);
    let mut searcher = Searcher::new(Arc::new(Late { desk, handed: Arc::clone(&handed) }), 64 << 20);
    let game = game("startpos");
    let task = Task { deterministic: false, ..plain(300) };
    let progress = think(&mut searcher, &game, &task).progress;
    // It would wait for ever if it waited for the first batch before it hands over the third.
    assert!(handed.load(Relaxed) >= 4);
    assert_eq!((progress.playouts, progress.visits), (300, 300));
    let root = root_of(&mut searcher, &game);
    assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
}

#[test]
fn threads_that_share_a_device_leave_the_tree_whole() {
    let desk = Desk::new(Arc::new(UniformEvaluator::new(16)), 2, true);
    let mut searcher = Searcher::new(Arc::new(desk), 64 << 20);
    let game = game("startpos moves 7g7f 3c3d");
    let task = Task { threads: 4, deterministic: false, ..plain(20_000) };
    let progress = think(&mut searcher, &game, &task).progress;
    assert_eq!((progress.playouts, progress.visits), (20_000, 20_000));
    let root = root_of(&mut searcher, &game);
    assert_eq!(inconsistencies(&searcher.tree, root, false), 0);
}

/// Priors and values by a hash of what it is asked: positions differ as with a network.
struct Hashed;

impl Evaluator for Hashed {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        let mixed = |hash: u64, part: u64| (hash ^ part).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        let share = |hash: u64| (hash >> 40) as f32 / (1 << 24) as f32;
        let answer = |question: &Question| {
            let seed = question.planes.0.iter().fold(1, |hash, &byte| mixed(hash, u64::from(byte)));
            let weights =
                question.labels.iter().map(|&label| share(mixed(mixed(seed, u64::from(label)), 5)).powi(6));
            let weights: Vec<f32> = weights.collect();
            let sum: f32 = weights.iter().sum();
            let priors = weights.iter().map(|weight| weight / sum).collect();
            Answer { priors, value: 0.3 + 0.4 * share(mixed(seed, 77)) }
        };
        Ok(questions.iter().map(answer).collect())
    }

    fn batch(&self) -> usize {
        16
    }

    fn encoding(&self) -> Encoding {
        UniformEvaluator::new(16).encoding()
    }

    fn kind(&self) -> &str {
        "hashed"
    }
}

/// What a change for speed alone must leave as it is.
#[test]
fn a_search_on_one_thread_visits_what_it_always_has() {
    let positions: Vec<&str> = include_str!("../../../../kifu/bench.sfen").lines().collect();
    let found = [(3, 0), (33, 1), (66, 3), (99, 3)].map(|(nth, leaf_mate)| {
        let mut searcher = Searcher::new(Arc::new(Hashed), 64 << 20);
        let task = Task { leaf_mate, ..plain(4_000) };
        let first = think(&mut searcher, &game(&format!("sfen {}", positions[nth])), &task).progress;
        let best = first.moves.iter().max_by_key(|mv| mv.visits).unwrap();
        format!(
            "{} {} of {}, {} asked, {} deep",
            best.mv.to_usi(),
            best.visits,
            first.visits,
            first.evaluations,
            first.deepest
        )
    });
    let always = [
        "L*1c 546 of 4000, 3993 asked, 7 deep",
        "B*8g 328 of 4000, 3991 asked, 7 deep",
        "7a8b 727 of 4000, 3985 asked, 7 deep",
        "B*7b 338 of 4000, 3992 asked, 7 deep",
    ];
    assert_eq!(found, always);
}
