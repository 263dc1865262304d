//! Cost of an evaluation: incremental update per move, and computation from scratch.
//!
//! `cargo bench -p renmei-pairwise --bench evaluation`

use divan::{Bencher, black_box, counter::ItemsCount};
use pairwise::evaluation::{Accumulator, Weights};
use rsshogi::board::{self, Move32List, Position};
use rsshogi::movegen::generate_legal_all_move32;
use rsshogi::types::Move32;
use usi_shell::SplitMix64;

fn main() {
    divan::main();
}

/// Positions of random games, with their accumulators and a legal move in each.
fn steps(weights: &Weights) -> Vec<(Position, Accumulator, Move32)> {
    let mut random = SplitMix64::new(1);
    let mut steps = Vec::new();
    while steps.len() < 2000 {
        let mut position = board::hirate_position();
        for _ in 0..120 {
            let mut legal = Move32List::new();
            generate_legal_all_move32(&position, &mut legal);
            let Some(&mv) = random.choose(legal.as_slice()) else { break };
            steps.push((position.clone(), weights.accumulate(&position), mv));
            position.apply_move32(mv);
        }
    }
    steps
}

#[divan::bench]
fn kept_up_to_date(bencher: Bencher) {
    let weights = Weights::embedded();
    let steps = steps(&weights);
    bencher.counter(ItemsCount::new(steps.len())).bench(|| {
        for (position, sums, mv) in &steps {
            let next = weights.advance(black_box(sums), position, *mv);
            black_box(weights.value(&next, position));
        }
    });
}

#[divan::bench]
fn from_nothing(bencher: Bencher) {
    let weights = Weights::embedded();
    let steps = steps(&weights);
    bencher.counter(ItemsCount::new(steps.len())).bench(|| {
        for (position, _, _) in &steps {
            let sums = weights.accumulate(black_box(position));
            black_box(weights.value(&sums, position));
        }
    });
}

#[divan::bench]
fn weights_of_the_program(bencher: Bencher) {
    bencher.bench(Weights::embedded);
}
