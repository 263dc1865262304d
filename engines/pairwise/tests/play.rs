//! Whole games, checked against the referee's rules.

#![allow(clippy::unwrap_used)] // helpers of tests

use pairwise::evaluation::Weights;
use pairwise::search::{Searcher, Task};
use referee::history::{History, Repetition};
use rsshogi::board::MoveList;
use rsshogi::movegen::generate_legal_all;
use rsshogi::types::Color;
use usi_shell::{Game, SplitMix64};

const PLIES: usize = 200;

#[derive(Debug, PartialEq)]
enum End {
    Mated(Color),
    Repeated(Repetition),
    Long,
}

struct Player {
    searcher: Searcher,
    weights: Weights,
    task: Task,
}

impl Player {
    fn new(nodes: u64) -> Self {
        let task = Task { nodes: Some(nodes), ..Task::default() };
        Self { searcher: Searcher::new(1), weights: Weights::material(), task }
    }

    fn choose(&mut self, game: &Game) -> Option<String> {
        let outcome = self.searcher.think(&self.weights, game, &self.task, |_| true);
        assert!(outcome.nodes <= self.task.nodes.unwrap());
        Some(outcome.moves.first()?.line.first()?.to_string())
    }
}

fn random(game: &Game, rng: &mut SplitMix64) -> Option<String> {
    let mut moves = MoveList::new();
    generate_legal_all(game.position(), &mut moves);
    rng.choose(moves.as_slice()).map(ToString::to_string)
}

/// Plays a game; fails on an illegal move or a panic.
fn play(mut choose: impl FnMut(&Game) -> Option<String>) -> End {
    let mut game = Game::startpos();
    let mut history = History::new(game.position(), true);
    for _ in 0..PLIES {
        let Some(mv) = choose(&game) else {
            assert!(game.position().is_mated(), "gave up in {}", game.position().to_sfen(None));
            return End::Mated(game.position().turn());
        };
        assert!(game.play(&mv).is_some(), "illegal {mv} in {}", game.position().to_sfen(None));
        if let Some(repetition) = history.push(game.position()) {
            return End::Repeated(repetition);
        }
    }
    End::Long
}

#[test]
fn every_game_against_a_random_mover_is_won_by_mate() {
    let mut player = Player::new(400);
    for seed in 0..6 {
        let mut rng = SplitMix64::new(seed);
        let side = if seed % 2 == 0 { Color::BLACK } else { Color::WHITE };
        let end =
            play(
                |game| {
                    if game.position().turn() == side { player.choose(game) } else { random(game, &mut rng) }
                },
            );
        assert_eq!(end, End::Mated(side.flip()), "seed {seed}");
    }
}

#[test]
fn games_of_the_engine_against_itself_are_legal_from_many_openings() {
    let (mut black, mut white) = (Player::new(150), Player::new(100));
    for seed in 0..4 {
        let mut rng = SplitMix64::new(seed);
        play(|game| {
            if game.moves().len() < 12 {
                return random(game, &mut rng);
            }
            if game.position().turn() == Color::BLACK { black.choose(game) } else { white.choose(game) }
        });
    }
}

#[test]
fn no_game_is_lost_by_perpetual_check() {
    let (mut one, mut other) = (Player::new(250), Player::new(250));
    for seed in 10..14 {
        let mut rng = SplitMix64::new(seed);
        let end = play(|game| {
            if game.moves().len() < 8 {
                return random(game, &mut rng);
            }
            if game.position().turn() == Color::BLACK { one.choose(game) } else { other.choose(game) }
        });
        assert!(!matches!(end, End::Repeated(Repetition::PerpetualCheck(_))), "seed {seed}");
    }
}
