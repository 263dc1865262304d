//! A network that does not answer, and players that have to.

use super::*;
use crate::evaluator::{Desk, Encoding, Question, UniformEvaluator};
use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Instant,
};
use usi_shell::{Budget, Clock, Limits};

/// Far longer than any player needs, so that a test of a player that waits for its network fails and does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// An evaluator that answers some calls and is then stuck until it is let go.
struct Stuck {
    answered: usize,
    calls: AtomicUsize,
    open: Mutex<bool>,
    changed: Condvar,
}

impl Stuck {
    fn after(answered: usize) -> Arc<Self> {
        Arc::new(Self {
            answered,
            calls: AtomicUsize::new(0),
            open: Mutex::new(false),
            changed: Condvar::new(),
        })
    }

    fn is_stuck(&self) -> bool {
        self.calls.load(Relaxed) > self.answered
    }

    fn let_go(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

impl Evaluator for Stuck {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        if self.calls.fetch_add(1, Relaxed) >= self.answered {
            let open = self.open.lock().unwrap();
            drop(self.changed.wait_while(open, |open| !*open).unwrap());
        }
        UniformEvaluator::new(8).evaluate(questions)
    }

    fn batch(&self) -> usize {
        8
    }

    fn encoding(&self) -> Encoding {
        UniformEvaluator::new(8).encoding()
    }

    fn kind(&self) -> &str {
        "stuck"
    }
}

/// The answer of a player whose network gets stuck; `end` ends the search when it is.
fn answer(name: &'static str, network: &Arc<Stuck>, clock: Clock, end: impl FnOnce(&Clock)) -> BestMove {
    let options = Options::declare(options::declare());
    let search =
        Search { limits: Limits::parse("go nodes 5000"), clock: clock.clone(), options: Arc::new(options) };
    let desk: Arc<dyn Evaluator> = Arc::new(Desk::new(Arc::clone(network) as Arc<dyn Evaluator>, 1, false));
    let (sender, answers) = mpsc::channel();
    thread::spawn(move || {
        desk.attend(&search.clock);
        let mut player = create(name, desk, 16 << 20);
        let (game, out) = (Game::startpos(), Output::new(Box::new(std::io::sink())));
        let turn = Turn { game: &game, search: &search, out: &out };
        let best = player.think(&turn, &mut SplitMix64::new(1)).unwrap();
        let _ = sender.send(best);
    });
    let until = Instant::now() + PATIENCE;
    while !network.is_stuck() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(network.is_stuck(), "{name} asked its network nothing more");
    end(&clock);
    let best = answers.recv_timeout(PATIENCE);
    network.let_go();
    best.unwrap_or_else(|_| panic!("{name} waits for its network"))
}

fn is_legal(best: BestMove) -> bool {
    matches!(best, BestMove::Play { mv, .. } if legal(Game::startpos().position()).contains(&mv))
}

#[test]
fn a_player_answers_stop_while_its_network_is_stuck() {
    for name in ["mcts", "softmax", "policy", "value"] {
        // The policy player asks once.
        for answered in if name == "policy" { 0..1 } else { 0..2 } {
            let clock = Clock::start(Instant::now(), None);
            let best = answer(name, &Stuck::after(answered), clock, Clock::stop);
            assert!(is_legal(best), "{name} after {answered} evaluations: {best:?}");
        }
    }
}

#[test]
fn a_player_keeps_its_time_while_its_network_is_stuck() {
    for name in ["mcts", "softmax", "policy", "value"] {
        let time = Duration::from_millis(20);
        let clock = Clock::start(Instant::now(), Some(Budget { soft: time, hard: time }));
        // With its time over before it begins, a player may ask nothing.
        let network = Stuck::after(0);
        network.calls.store(1, Relaxed);
        let best = answer(name, &network, clock, |_| ());
        assert!(is_legal(best), "{name}: {best:?}");
    }
}

#[test]
fn a_search_after_one_that_was_given_up_is_answered_by_its_own_evaluations() {
    let network = Stuck::after(1);
    let desk = Desk::new(Arc::clone(&network) as Arc<dyn Evaluator>, 1, false);
    let ask = |moves: usize| {
        let question = Question { planes: crate::planes::Packed(Default::default()), labels: vec![0; moves] };
        desk.evaluate(&[question]).map(|answers| answers[0].priors.len())
    };
    assert_eq!(ask(3).unwrap(), 3);
    let stopped = Clock::start(Instant::now(), None);
    desk.attend(&stopped);
    stopped.stop();
    assert!(matches!(ask(4), Err(EvaluatorError::Stopped)));
    network.let_go();
    desk.attend(&Clock::start(Instant::now(), None));
    assert_eq!(ask(5).unwrap(), 5);
}
