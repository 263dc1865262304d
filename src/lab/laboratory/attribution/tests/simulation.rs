//! Leagues with known effects, by which tests and the example `attribution` measure the intervals of effects.

use laboratory::attribution::{Effect, Field, Levels, design::Lots};
use nalgebra::DVector;
use referee::rating::{CrossTable, ELO_PER_NAT, Results};

/// What is true of a league.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Elo of each effect, in the order of [`Field::effects`].
    pub effects: Vec<f64>,
    /// Standard deviation of what a build has of its own, in Elo.
    pub own: f64,
    /// Black's advantage in Elo.
    pub black_advantage: f64,
    /// The probability of a draw between equals, below 1.
    pub draw_ratio: f64,
}

/// A league that was played.
#[derive(Clone, Debug)]
pub struct League {
    /// Results by the numbers of the builds.
    pub table: CrossTable,
    /// Elo of each build.
    pub elo: Vec<f64>,
}

/// A number from 0 to 1, without 1.
fn uniform(lots: &mut Lots) -> f64 {
    (lots.bits() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number (G. Box and M. Muller, 1958).
pub fn normal(lots: &mut Lots) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(lots)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(lots)).cos()
}

impl Truth {
    /// Effects drawn from a seed: those of parts with a standard deviation, those of pairs with another.
    #[must_use]
    pub fn drawn(field: &Field, parts: f64, pairs: f64, own: f64, seed: u64) -> Self {
        let mut lots = Lots::new(seed);
        let effects = field.effects().into_iter().map(|effect| match effect {
            Effect::Part { .. } => parts * normal(&mut lots),
            Effect::Pair { .. } => pairs * normal(&mut lots),
        });
        Self { effects: effects.collect(), own, black_advantage: 15.0, draw_ratio: 0.05 }
    }

    /// Elo of a build without what it has of its own.
    #[must_use]
    pub fn elo(&self, field: &Field, build: &[usize]) -> f64 {
        field.row(build).dot(&DVector::from_column_slice(&self.effects))
    }
}

impl League {
    /// Plays a league of so many games, two of each encounter, paired at random.
    #[must_use]
    pub fn play(field: &Field, truth: &Truth, builds: &[Levels], games: usize, seed: u64) -> Self {
        let mut lots = Lots::new(seed);
        let elo: Vec<f64> =
            builds.iter().map(|build| truth.elo(field, build) + truth.own * normal(&mut lots)).collect();
        let mut table = CrossTable::new(builds.len());
        let mut order: Vec<usize> = (0..builds.len()).collect();
        let mut played = 0;
        while played < games && builds.len() > 1 {
            for last in (1..order.len()).rev() {
                order.swap(last, lots.draw(last + 1));
            }
            for pair in order.chunks_exact(2).take((games - played).div_ceil(2)) {
                for (black, white) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                    let results = truth.game(elo[black] - elo[white], &mut lots);
                    // Both are players of the table, and two.
                    let _added = table.add(black, white, results);
                    played += 1;
                }
            }
        }
        Self { table, elo }
    }
}

impl Truth {
    fn game(&self, difference: f64, lots: &mut Lots) -> Results {
        let x = (difference + self.black_advantage) / (ELO_PER_NAT * (1.0 - self.draw_ratio));
        let (black, white) = ((x / 2.0).exp(), (-x / 2.0).exp());
        let draw = 2.0 * self.draw_ratio / (1.0 - self.draw_ratio);
        let lot = uniform(lots) * (black + white + draw);
        let mut results = Results::default();
        match () {
            () if lot < black => results.black_wins = 1.0,
            () if lot < black + white => results.white_wins = 1.0,
            () => results.draws = 1.0,
        }
        results
    }
}
