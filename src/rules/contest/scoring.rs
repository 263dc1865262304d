//! Points: what games and byes are worth in the tables of an event.

use crate::standings::{Record, Wdl};
use referee::{Color, points::Points};
use serde::{Deserialize, Serialize};

/// What games and byes are worth. A lost game is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scoring {
    /// A won game, as black and as white.
    pub win: [Points; 2],
    /// A drawn game, as black and as white.
    pub draw: [Points; 2],
    /// A bye, for each game of an encounter.
    pub bye: Points,
}

impl Default for Scoring {
    fn default() -> Self {
        Self { win: [Points::ONE; 2], draw: [Points::thousandths(500); 2], bye: Points::ONE }
    }
}

impl Scoring {
    /// What games with this colour are worth.
    pub fn games(&self, color: Color, games: Wdl) -> Points {
        self.win[color.index()] * games.wins + self.draw[color.index()] * games.draws
    }

    /// What a game with this colour is worth that brings so many half points.
    pub fn half_points(&self, color: Color, half_points: u8) -> Points {
        let mut games = Wdl::default();
        *games.of(half_points) += 1;
        self.games(color, games)
    }

    /// What byes are worth that stand in the records with so many half points, two for each game of an encounter.
    pub fn byes(&self, half_points: u64) -> Points {
        Points::thousandths(self.bye.in_thousandths().saturating_mul(half_points.cast_signed()) / 2)
    }

    /// The points of a player.
    pub fn record(&self, record: &Record) -> Points {
        self.games(Color::Black, record.black)
            + self.games(Color::White, record.white)
            + self.byes(record.bye_half_points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_may_be_worth_more_to_white() {
        let [black, white] = [400, 600].map(Points::thousandths);
        let scoring = Scoring { draw: [black, white], ..Scoring::default() };
        let games = Wdl { wins: 2, draws: 1, losses: 3 };
        let record = Record { black: games, white: games, bye_half_points: 4, ..Record::default() };
        assert_eq!(scoring.record(&record).to_string(), "7.0");
        assert_eq!(scoring.games(Color::White, games).to_string(), "2.6");
    }
}
