//! Swiss: players of equal score meet.
//!
//! "Why was I paired so": of all possible pairings of a round, the best by this list is chosen; a later line decides
//! only between pairings that are level by all lines before. The reason is therefore the first line by which another
//! pairing is worse:
//!
//! 1. The bye (with an odd number of players) goes to one of the players with the fewest byes.
//! 2. As few meetings as possible have taken place before: no rematch until it cannot be avoided.
//! 3. The bye goes to the lowest player: by score, then by the order of entry.
//! 4. As few players as possible get a colour three times more often than the other.
//! 5. The squares of the differences in score between opponents have the least sum: equal scores meet, and floaters
//!    float as little as possible.
//! 6. Colours are equalised, then alternate: the least sum over all players of four times the square of (blacks -
//!    whites) plus the square of the number of times the colour is now repeated in a row.
//! 7. Within equal scores, the best of the upper half meets the best of the lower half and so on; between different
//!    scores, the last of the upper meets the first of the lower: the least sum of squares of how far opponents are
//!    from that, in places.
//!
//! Lines 4 and 6 apply if an encounter has an odd number of games; with an even number both players have both
//! colours. In a pair, the colours are those that cost least by the same two lines; if both cost the same, the higher
//! player gets the colour that it had less often, or else the one that it did not have last. In round 1 the lot from
//! the event's seed decides for the first table, and colours alternate from there. So round 1 pairs the upper half of
//! the entry list against the lower half.
//!
//! Scores are the points of `[scoring]` for games and byes of the rounds before; unless it says otherwise, a bye is worth a
//! win of every game of an encounter. A
//! round begins when the one before is complete. Everything follows from the results and the seed, so a resumed run
//! computes the same pairs.

use super::{
    lot::lot,
    matching::{Cost, least_cost},
    step::{Step, pick},
    table::Table,
};
use crate::{
    ids::PlayerId,
    scoring::{Points, Scoring},
    stage::Stage,
    standings::{Encounter, Progress, Ranges},
};
use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

pub(super) fn encounters(entrants: usize, rounds: u32) -> u64 {
    (entrants as u64 / 2).saturating_mul(u64::from(rounds))
}

/// A bye counts as winning every game of an encounter.
fn bye_half_points(stage: &Stage) -> u8 {
    u8::try_from(stage.encounter_games().saturating_mul(2)).unwrap_or(u8::MAX)
}

/// The current round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Number of complete rounds.
    complete: u32,
    /// Tables of the round, best first; empty until it is paired.
    tables: Vec<Table<PlayerId>>,
    /// Player of the bye, until it is handed out.
    bye: Option<PlayerId>,
}

fn has_bye(progress: &Progress, round: u32) -> bool {
    progress.byes.range((round, PlayerId(0))..=(round, PlayerId(u32::MAX))).next().is_some()
}

/// What a round is paired from.
pub(super) struct Entered<'a> {
    pub stage: &'a Stage,
    pub entrants: &'a [PlayerId],
    pub progress: &'a Progress,
    pub scoring: &'a Scoring,
}

impl Round {
    pub(super) fn step(&mut self, rounds: u32, of: &Entered<'_>, issued: &Ranges, seed: u64) -> Step {
        let Entered { stage, entrants, progress, .. } = *of;
        let games = entrants.len() as u64 / 2 * stage.stride();
        while self.complete < rounds && games > 0 {
            let round = self.complete + 1;
            let window = u64::from(self.complete) * games..u64::from(round) * games;
            let bye_told = entrants.len().is_multiple_of(2) || has_bye(progress, round);
            let played = progress.finished.first_absent(window.start) >= window.end;
            if played && bye_told {
                *self = Self { complete: round, ..Self::default() };
                continue;
            }
            if self.tables.is_empty() {
                self.pair(of, seed);
            }
            return match (self.bye.take().filter(|_| !bye_told), pick(window, issued, progress)) {
                (Some(player), _) => Step::Bye { round, player, half_points: bye_half_points(stage) },
                (None, Some(index)) => Step::Play(index),
                (None, None) => Step::Wait,
            };
        }
        Step::Over
    }

    pub(super) fn table(&self, encounter: u64) -> Option<Table<PlayerId>> {
        let tables = self.tables.len() as u64;
        let at = encounter.checked_sub(u64::from(self.complete) * tables)?;
        self.tables.get(usize::try_from(at).ok()?).copied()
    }

    fn pair(&mut self, of: &Entered<'_>, seed: u64) {
        let round = self.complete + 1;
        let field = Field::new(of, round);
        let size = field.players.len();
        let mate = least_cost(size.next_multiple_of(2), |high, low| field.cost(high, low));
        let initial = lot(seed, 0);
        for (high, &low) in mate.iter().enumerate().take(size) {
            if low == size {
                self.bye = Some(field.players[high].id);
            } else if high < low {
                let (black, white) = field.colors(high, low, initial);
                let (black, white) = (field.players[black].id, field.players[white].id);
                self.tables.push(Table { round, black, white });
            }
        }
    }
}

/// A player before a round.
#[derive(Debug)]
struct Player {
    id: PlayerId,
    score: Points,
    byes: u32,
    met: BTreeMap<PlayerId, u32>,
    /// Games as black less games as white.
    balance: i64,
    /// The last colour (1 black, -1 white, 0 none) and how often in a row.
    last: i64,
    streak: i64,
}

impl Player {
    fn new(id: PlayerId) -> Self {
        Self { id, score: Points::ZERO, byes: 0, met: BTreeMap::new(), balance: 0, last: 0, streak: 0 }
    }

    fn meet(&mut self, encounter: &Encounter, scoring: &Scoring) {
        let at = usize::from(encounter.players[0] != self.id);
        self.score += encounter.points(scoring)[at];
        *self.met.entry(encounter.players[1 - at]).or_default() += 1;
        let blacks = encounter.blacks();
        let surplus = blacks[at] as i64 - blacks[1 - at] as i64;
        self.balance += surplus;
        if surplus != 0 {
            self.streak = if surplus.signum() == self.last { self.streak + 1 } else { 1 };
            self.last = surplus.signum();
        }
    }

    /// The cost of giving this player a colour (1 black, -1 white), by lines 4 and 6.
    fn color_cost(&self, color: i64) -> (i64, i64) {
        let balance = self.balance + color;
        let repeats = if color == self.last { self.streak } else { 0 };
        (i64::from(balance.abs() > 2), 4 * balance * balance + repeats * repeats)
    }

    /// The colour that is due, 0 for none.
    fn due(&self) -> i64 {
        if self.balance == 0 { -self.last } else { -self.balance.signum() }
    }
}

/// All players before a round, best first.
struct Field {
    players: Vec<Player>,
    /// For each player, the number of players with the same score.
    equals: Vec<i64>,
    fewest_byes: u32,
    colors_matter: bool,
}

impl Field {
    fn new(&Entered { stage, entrants, progress, scoring }: &Entered<'_>, round: u32) -> Self {
        let mut players: Vec<Player> = entrants.iter().map(|&id| Player::new(id)).collect();
        let seats: BTreeMap<PlayerId, usize> = entrants.iter().copied().zip(0..).collect();
        let before = u64::from(round - 1) * (entrants.len() as u64 / 2);
        for (_, encounter) in progress.encounters.range(..before) {
            for seat in encounter.players.iter().filter_map(|player| seats.get(player)) {
                players[*seat].meet(encounter, scoring);
            }
        }
        for ((_, player), half_points) in progress.byes.range(..(round, PlayerId(0))) {
            if let Some(&seat) = seats.get(player) {
                players[seat].byes += 1;
                players[seat].score += scoring.byes(u64::from(*half_points));
            }
        }
        players.sort_by_key(|player| Reverse(player.score));
        let mut equals = Vec::with_capacity(players.len());
        for group in players.chunk_by(|a, b| a.score == b.score) {
            equals.resize(equals.len() + group.len(), group.len() as i64);
        }
        Self {
            fewest_byes: players.iter().map(|player| player.byes).min().unwrap_or(0),
            colors_matter: !stage.encounter_games().is_multiple_of(2),
            players,
            equals,
        }
    }

    /// The cost of pairing two players, the higher first; the index after the last stands for the bye.
    fn cost(&self, high: usize, low: usize) -> Cost {
        let (size, a) = (self.players.len(), &self.players[high]);
        let Some(b) = self.players.get(low) else {
            return Cost([i64::from(a.byes - self.fewest_byes), 0, (size - 1 - high) as i64, 0, 0, 0, 0]);
        };
        let meetings = i64::from(a.met.get(&b.id).copied().unwrap_or(0));
        let difference = (a.score - b.score).in_thousandths();
        let (excess, imbalance) = self.color_cost(high, low).min(self.color_cost(low, high));
        let ideal = if difference == 0 { self.equals[high] / 2 } else { 1 };
        let off = (low - high) as i64 - ideal;
        Cost([0, meetings, 0, excess, difference * difference, imbalance, off * off])
    }

    fn color_cost(&self, black: usize, white: usize) -> (i64, i64) {
        if !self.colors_matter {
            return (0, 0);
        }
        let (b, w) = (self.players[black].color_cost(1), self.players[white].color_cost(-1));
        (b.0 + w.0, b.1 + w.1)
    }

    /// Black and white of a pair.
    fn colors(&self, high: usize, low: usize, initial: bool) -> (usize, usize) {
        let high_is_black = match self.color_cost(high, low).cmp(&self.color_cost(low, high)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => match self.players[high].due() {
                0 => initial == high.is_multiple_of(2),
                due => due > 0,
            },
        };
        if high_is_black { (high, low) } else { (low, high) }
    }
}
