//! Rounds of a league at fixed times: the players waiting when a round begins are paired.
//!
//! "Why was I paired so?" Of all possible pairings of the waiting players, the best by this list is chosen; a later
//! line decides only between pairings that are level by all lines before:
//!
//! 1. no bye for a player who had one in its last round;
//! 2. the bye goes to a player with the fewest byes;
//! 3. no player meets the opponent of its last game;
//! 4. no human player (`..._human`) meets another, because they come to play programs;
//! 5. the method's own line: the least sum of rating differences ([`Method::LeastDifference`]), the least sum of squares
//!    of differences in points ([`Method::Swiss`]), or nothing ([`Method::Random`]);
//! 6. colours are balanced: the least sum of squares of games as black less games as white after the round, and of
//!    colours three times in a row;
//! 7. the lot, from the seed.
//!
//! Least sums are found by an optimal matching, so no other pairing of up to 200 players costs less. More players are
//! matched among their neighbours in rating, in points or, for [`Method::Random`], in a shuffle; lines 1 to 4 hold
//! across the whole field. Within a pair, the colours are those that cost least by line 6; if both cost the same, the
//! lot decides.

use super::{
    lot::mixed,
    matching::{Cost, partners},
};
use serde::{Deserialize, Serialize};

/// The rule by which a round is paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Players of near rating.
    #[default]
    LeastDifference,
    /// Players of near points.
    Swiss,
    /// Any players.
    Random,
}

/// A player waiting for a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seeker {
    /// Rating, or an assumed value without one.
    pub rating: f64,
    /// Twice the points so far.
    pub half_points: u32,
    /// Games as black less games as white.
    pub balance: i32,
    /// The last colour (1 black, -1 white, 0 none) and how often in a row.
    pub streak: (i32, u32),
    /// Rounds without an opponent.
    pub byes: u32,
    /// True if the last round was a bye.
    pub bye_last: bool,
    /// The last opponent, by its `number`.
    pub last_opponent: Option<usize>,
    /// Any number that identifies the player.
    pub number: usize,
    /// True if the player is a human.
    pub human: bool,
}

/// A paired round, as indices into the list of waiting players.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paired {
    /// Black and white of each game.
    pub tables: Vec<(usize, usize)>,
    /// The player without an opponent.
    pub bye: Option<usize>,
}

/// Neighbours of a large field among whom partners are sought.
const NEIGHBOURS: usize = 128;
/// The same where any partner is as good as another.
const ANYBODY: usize = 16;

/// Pairs the waiting players; at most one has no opponent.
pub fn pair(seekers: &[Seeker], method: Method, seed: u64) -> Paired {
    let field = Field { seekers, method, seed, fewest: seekers.iter().map(|s| s.byes).min().unwrap_or(0) };
    let window = if method == Method::Random { ANYBODY } else { NEIGHBOURS };
    let mate = partners(field.order(), window, |a, b| field.cost(a, b));
    let mut paired = Paired::default();
    for (one, &other) in mate.iter().enumerate().take(seekers.len()) {
        if other == seekers.len() {
            paired.bye = Some(one);
        } else if one < other {
            paired.tables.push(field.colors(one, other));
        }
    }
    paired
}

struct Field<'a> {
    seekers: &'a [Seeker],
    method: Method,
    seed: u64,
    fewest: u32,
}

impl Field<'_> {
    /// The seekers, those side by side who cost each other least by line 5; the lot orders the others.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.seekers.len()).collect();
        order.sort_by_cached_key(|&at| mixed(self.seed, at as u64));
        match self.method {
            Method::LeastDifference => {
                order.sort_by(|&a, &b| self.seekers[a].rating.total_cmp(&self.seekers[b].rating));
            }
            Method::Swiss => order.sort_by_key(|&at| self.seekers[at].half_points),
            Method::Random => {}
        }
        order
    }

    /// The cost of pairing two players; the index after the last stands for the bye.
    fn cost(&self, one: usize, other: usize) -> Cost {
        let a = &self.seekers[one];
        let lot = i64::from(draw(self.seed, one, other) >> 12);
        let Some(b) = self.seekers.get(other) else {
            return Cost([i64::from(a.bye_last), i64::from(a.byes - self.fewest), 0, 0, 0, 0, lot]);
        };
        let rematch = a.last_opponent == Some(b.number) || b.last_opponent == Some(a.number);
        let humans = a.human && b.human;
        let colors = self.color_cost(one, other).min(self.color_cost(other, one));
        Cost([0, 0, rematch.into(), humans.into(), self.difference(a, b), colors, lot])
    }

    fn difference(&self, a: &Seeker, b: &Seeker) -> i64 {
        match self.method {
            // In hundredths of an Elo, because costs are whole numbers.
            Method::LeastDifference => ((a.rating - b.rating).abs() * 100.0).round() as i64,
            Method::Swiss => i64::from(a.half_points.abs_diff(b.half_points)).pow(2),
            Method::Random => 0,
        }
    }

    fn color_cost(&self, black: usize, white: usize) -> i64 {
        let cost = |seeker: &Seeker, color: i32| {
            let (last, streak) = seeker.streak;
            let third = i64::from(last == color && streak >= 2);
            i64::from(seeker.balance + color).pow(2) + 4 * third
        };
        cost(&self.seekers[black], 1) + cost(&self.seekers[white], -1)
    }

    fn colors(&self, one: usize, other: usize) -> (usize, usize) {
        let (straight, turned) = (self.color_cost(one, other), self.color_cost(other, one));
        let lot = draw(self.seed, other, one).is_multiple_of(2);
        if straight < turned || (straight == turned && lot) { (one, other) } else { (other, one) }
    }
}

/// The lot of an ordered pair of seekers.
fn draw(seed: u64, one: usize, other: usize) -> u32 {
    (mixed(seed, (one as u64) << 32 | other as u64) >> 32) as u32
}

#[cfg(test)]
mod tests;
