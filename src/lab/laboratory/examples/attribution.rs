//! How often the 95 % intervals of effects hold the truth, on simulated leagues with known effects, and how often those of
//! predictions do.
//!
//! `cargo run --release -p laboratory --example attribution -- [LEAGUES] [PARTS] [BUILDS] [GAMES] [OWN ELO]`
#![allow(clippy::unwrap_used)]

#[path = "../attribution/tests/simulation.rs"]
mod simulation;

use laboratory::attribution::{Field, Predictor, design, effects};
use simulation::{League, Truth};

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let at = |place: usize, default: f64| numbers.get(place).copied().unwrap_or(default);
    let (leagues, parts, builds) = (at(0, 200.0) as u64, at(1, 8.0) as usize, at(2, 64.0) as usize);
    let (games, own) = (at(3, 20_000.0) as usize, at(4, 10.0));
    println!("{leagues} leagues, {parts} parts, {builds} builds, {games} games, {own} Elo of a build's own");
    let field = Field::new(vec![2; parts], true);
    let builds = design(&field, Some(builds), 1).unwrap();
    let effects_of_parts = parts;
    let (mut inside, mut all, mut width) = ([0_u64; 2], [0_u64; 2], [0.0; 2]);
    let (mut predicted, mut predictions) = (0, 0);
    for seed in 0..leagues {
        let truth = Truth::drawn(&field, 60.0, 15.0, own, seed);
        let league = League::play(&field, &truth, &builds, games, 1_000_000 + seed);
        let found = effects(&field, &builds, &league.table).unwrap();
        for (at, (estimated, elo)) in found.all.iter().zip(&truth.effects).enumerate() {
            let kind = usize::from(at >= effects_of_parts);
            all[kind] += 1;
            width[kind] += estimated.error;
            inside[kind] += u64::from((estimated.elo - elo).abs() <= estimated.error);
        }
        let predictor = Predictor::new(&field, &builds, &found);
        let mean = league.elo.iter().sum::<f64>() / builds.len() as f64;
        let unplayed = (0..field.builds()).map(|number| field.build(number)).filter(|b| !builds.contains(b));
        let unplayed: Vec<_> = unplayed.take(40).collect();
        // A league of these builds alone draws what each has of its own.
        let their = League::play(&field, &truth, &unplayed, 0, 2_000_000 + seed);
        for (build, elo) in unplayed.iter().zip(&their.elo) {
            let expected = predictor.predict(build);
            predictions += 1;
            predicted += u64::from((expected.elo - (elo - mean)).abs() <= expected.error);
        }
    }
    let share = |inside: u64, all: u64| 100.0 * inside as f64 / all.max(1) as f64;
    for (kind, name) in ["parts", "pairs"].iter().enumerate() {
        println!(
            "{name}: {:.1} % of {} intervals hold the truth, +-{:.1} Elo on average",
            share(inside[kind], all[kind]),
            all[kind],
            width[kind] / all[kind].max(1) as f64
        );
    }
    println!("all: {:.2} %", share(inside[0] + inside[1], all[0] + all[1]));
    println!(
        "builds never played: {:.1} % of {predictions} predictions hold the truth",
        share(predicted, predictions)
    );
}
