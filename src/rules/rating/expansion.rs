//! The likelihood of a field's games around given strengths, for models of what strengths are made of.

use super::likelihood::{Likelihood, Meeting};
use super::{CrossTable, Results};
use nalgebra::{DMatrix, DVector};

/// Steps of Newton's method for black's advantage and the odds of a draw.
const STEPS: usize = 50;
/// The last step.
const LAST: f64 = 1e-10;

/// The games of a field.
#[derive(Clone, Debug)]
pub struct FieldGames {
    likelihood: Likelihood,
}

/// The likelihood around given strengths, with black's advantage and the odds of a draw at their best for these.
///
/// Strengths are in natural logarithms of odds, before the [`scale`](Self::scale) to Elo.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// Gradient by the strengths.
    pub gradient: DVector<f64>,
    /// Information about the strengths: the negated second derivatives, less what is spent on black's advantage and the
    /// odds of a draw. Equal shifts of all strengths are its null space.
    pub information: DMatrix<f64>,
    /// Black's advantage, in natural logarithms of odds.
    pub advantage: f64,
    /// The probability of a draw between equals.
    pub draw_ratio: f64,
}

impl Expansion {
    /// Elo of one unit of strength, as in [`Ratings`](super::Ratings).
    pub fn scale(&self) -> f64 {
        super::ELO_PER_NAT * (1.0 - self.draw_ratio)
    }
}

impl FieldGames {
    /// The games of a table, in Davidson's model, as [`fit`](super::fit) rates them. Half a game that each colour wins
    /// between equals keeps black's advantage finite.
    pub fn new(table: &CrossTable) -> Self {
        let cells = table.cells().map(|(black, white, &results)| Meeting { black, white, results });
        let equal = Results { black_wins: 0.5, draws: 0.0, white_wins: 0.5 };
        let equal = (table.players() > 0).then_some(Meeting { black: 0, white: 0, results: equal });
        let draws = table.cells().any(|(_, _, results)| results.draws > 0.0);
        let likelihood = Likelihood {
            players: table.players(),
            meetings: cells.chain(equal).collect(),
            advantage: Some(table.players()),
            draw: draws.then_some(table.players() + 1),
        };
        Self { likelihood }
    }

    /// The likelihood around these strengths.
    pub fn around(&self, strengths: &DVector<f64>) -> Expansion {
        let (likelihood, n) = (&self.likelihood, self.likelihood.players);
        let others = likelihood.parameters() - n;
        let mut at = DVector::zeros(likelihood.parameters());
        at.rows_mut(0, n).copy_from(strengths);
        let (mut gradient, mut information) = likelihood.derivatives(&at);
        for _ in 0..STEPS {
            let own = information.view((n, n), (others, others)).into_owned();
            let Some(step) = own.cholesky().map(|own| own.solve(&gradient.rows(n, others).into_owned()))
            else {
                break;
            };
            let step = &step * (1.0 / step.amax()).min(1.0);
            let mut rest = at.rows_mut(n, others);
            rest += &step;
            (gradient, information) = likelihood.derivatives(&at);
            if step.amax() < LAST {
                break;
            }
        }
        let across = information.view((0, n), (n, others)).into_owned();
        let own = information.view((n, n), (others, others)).into_owned();
        let mut about = information.view((0, 0), (n, n)).into_owned();
        if let Some(own) = own.cholesky() {
            about -= &across * own.solve(&across.transpose());
        }
        Expansion {
            gradient: gradient.rows(0, n).into_owned(),
            information: about,
            advantage: at[n],
            draw_ratio: likelihood.draw.map_or(0.0, |i| 1.0 / (1.0 + 2.0 * (-at[i]).exp())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit;

    #[test]
    fn at_the_ratings_of_a_field_the_gradient_is_nothing_and_the_rest_is_the_ratings_own() {
        let mut table = CrossTable::new(3);
        let results = |black_wins, draws, white_wins| Results { black_wins, draws, white_wins };
        table.add(0, 1, results(60.0, 20.0, 30.0)).unwrap();
        table.add(1, 2, results(50.0, 10.0, 40.0)).unwrap();
        table.add(2, 0, results(35.0, 25.0, 45.0)).unwrap();
        let (ratings, games) = (fit(&table), FieldGames::new(&table));
        let scale = games.around(&DVector::zeros(3)).scale();
        let elo = |player: usize| ratings.players[player].elo.value().unwrap() / scale;
        let at = games.around(&DVector::from_fn(3, |player, _| elo(player)));
        // The half games between equals move the odds of a draw by a part in a thousand.
        assert!(at.gradient.amax() < 0.5, "{}", at.gradient);
        assert!((at.draw_ratio - ratings.draw_ratio.unwrap()).abs() < 2e-3);
        let advantage = ratings.black_advantage.value().unwrap();
        assert!((at.advantage * at.scale() - advantage).abs() < 1.0, "{}", at.advantage * at.scale());
        assert!((at.information * DVector::from_element(3, 1.0)).amax() < 1e-9, "a shift says nothing");
    }
}
