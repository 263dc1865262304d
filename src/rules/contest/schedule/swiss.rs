//! Swiss: players of equal score meet.
//!
//! "Why was I paired so": of all possible pairings of a round, the best by this list is chosen; a later line decides
//! only between pairings that are level by all lines before. The reason is therefore the first line by which another
//! pairing is worse:
//!
//! 1. The bye (with an odd number of players) goes to one of the players with the fewest byes. An encounter that was won by
//!    default counts as one, a half-point bye does not.
//! 2. As few meetings as possible have taken place before: no rematch until it cannot be avoided. Encounters without a
//!    game that was played, by default or left out, count neither as meetings nor for colours (FIDE Handbook C.04.1).
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
//! Scores are the points of `[scoring]` for games and byes of the rounds before, less penalties that arbiters gave in
//! them, and without the games of players who were disqualified in them; unless `[scoring]` says otherwise, a bye is worth a
//! win of every game of an encounter. A
//! round begins when the one before is complete. Everything follows from the results, the operations and the seed, so a
//! resumed run computes the same pairs.
//!
//! The rules of a stage ([`SwissRules`](super::SwissRules)) change this:
//!
//! - **Random rounds** are paired with everybody's score taken as zero and a lot in place of the order of entry.
//! - **Accelerated rounds** add virtual points to the scores by which a round is paired, as the Baku acceleration of FIDE
//!   does (FIDE Handbook C.04.5.1): of `n` players, the first `2 * ceil(n / 4)` by the order of entry have the points of a
//!   won encounter more in the first half of these rounds (rounded up), and half of that in the others. Tables and
//!   tie-breaks never see virtual points.
//! - **Forgotten rematches**: line 2 counts meetings since the last multiple of so many rounds.
//! - **Who sits out** (line 3): the lowest player, the lowest seed, or a lot.
//! - **Colours** by lot or by the order of entry: lines 4 and 6 do not apply.
//!
//! No other pairing of up to 200 players is better by this list. In a larger field a player's opponent is sought among its
//! neighbours in that order, and in the whole field only where it would break one of the first four lines.
//!
//! Pairings that an arbiter has given for a round are its first tables, with the colours that were given; all other players
//! are paired by the list above.
//!
//! A player who has withdrawn is not paired: a round has as many tables as the others need, and a bye if they are odd in
//! number. Nor is a player whom an arbiter has given a bye in the round: a half-point bye, worth half of one by these rules.

use super::{
    lot::{lot, mixed},
    matching::{Cost, partners},
    step::{Step, pick},
    table::Table,
};
use crate::{
    scoring::Scoring,
    stage::{Colours, SitsOut, Stage},
    standings::{Arbitration, Encounter, Progress, Ranges},
};
use referee::{ids::PlayerId, points::Points};
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
    /// Number of the first encounter of the round.
    first: u64,
    /// Tables of the round, best first; empty until it is paired.
    tables: Vec<Table<PlayerId>>,
    /// Player of the bye with its half points, until it is handed out.
    bye: Option<(PlayerId, u8)>,
}

/// What a round is paired from.
pub(super) struct Entered<'a> {
    pub stage: &'a Stage,
    /// The number of the stage, from 0.
    pub number: usize,
    pub entrants: &'a [PlayerId],
    pub progress: &'a Progress,
    pub scoring: &'a Scoring,
    pub arbitration: &'a Arbitration,
    pub seed: u64,
}

impl Entered<'_> {
    /// The stage and a round of it.
    pub(super) fn when(&self, round: u32) -> (u8, u32) {
        (u8::try_from(self.number).unwrap_or(u8::MAX), round)
    }

    /// Number of entrants who are paired in a round.
    fn playing(&self, round: u32) -> u64 {
        self.arbitration.playing(self.entrants, self.when(round))
    }

    /// A player whom an arbiter has given a bye in a round, which is not recorded yet.
    fn bye_given(&self, round: u32) -> Option<PlayerId> {
        let is_due = |player: &PlayerId| {
            self.entrants.contains(player) && !self.progress.byes.contains_key(&(round, *player))
        };
        self.arbitration.byes(self.when(round)).find(is_due)
    }

    /// True if the rules have given the bye of a round.
    fn has_bye(&self, round: u32) -> bool {
        let mut byes = self.progress.byes.range((round, PlayerId(0))..=(round, PlayerId(u32::MAX)));
        byes.any(|((_, player), _)| !self.arbitration.is_out(*player, self.when(round)))
    }

    /// Black and white of the pairings that arbiters have given for a round.
    fn given(&self, round: u32) -> Vec<[PlayerId; 2]> {
        let mut given = self.arbitration.pairings(self.when(round));
        given.retain(|players| players.iter().all(|player| self.entrants.contains(player)));
        given
    }

    /// Points that a player has more when an accelerated round is paired; `seat` is its place in the order of entry.
    fn virtual_points(&self, round: u32, seat: usize) -> Points {
        let accelerated = self.stage.pairing.accelerated;
        let is_ahead = seat < 2 * self.entrants.len().div_ceil(4);
        if round > accelerated || !is_ahead {
            return Points::ZERO;
        }
        let won = self.scoring.win[0] * self.stage.encounter_games();
        if round <= accelerated.div_ceil(2) { won } else { Points::thousandths(won.in_thousandths() / 2) }
    }

    /// A random order of the entrants by their seats, for one purpose in one round.
    fn lots(&self, round: u32, purpose: u64) -> Vec<usize> {
        let draw = mixed(mixed(self.seed, u64::from(round)), purpose);
        let mut order: Vec<usize> = (0..self.entrants.len()).collect();
        order.sort_by_key(|&seat| mixed(draw, u64::from(self.entrants[seat].0)));
        let mut lots = vec![0; order.len()];
        order.into_iter().zip(0..).for_each(|(seat, lot)| lots[seat] = lot);
        lots
    }
}

/// Neighbours of a large field among whom opponents are sought.
const NEIGHBOURS: usize = 128;

/// What a lot decides.
const ORDER: u64 = 1;
const BYE: u64 = 2;
const COLOURS: u64 = 3;

impl Round {
    pub(super) fn step(&mut self, rounds: u32, of: &Entered<'_>, issued: &Ranges) -> Step {
        let Entered { stage, entrants, progress, .. } = *of;
        let tables = entrants.len() as u64 / 2;
        while self.complete < rounds && tables > 0 {
            let (round, playing) = (self.complete + 1, of.playing(self.complete + 1));
            if let Some(player) = of.bye_given(round) {
                return Step::Bye { round, player, half_points: bye_half_points(stage) / 2 };
            }
            // Encounters are numbered as if all entrants played, so that numbers do not depend on withdrawals.
            self.first = u64::from(self.complete) * tables;
            let window = self.first * stage.stride()..(self.first + playing / 2) * stage.stride();
            let bye_told = playing.is_multiple_of(2) || of.has_bye(round);
            let played = progress.finished.first_absent(window.start) >= window.end;
            if played && bye_told {
                *self = Self { complete: round, ..Self::default() };
                continue;
            }
            if self.tables.is_empty() {
                self.pair(of);
            }
            return match (self.bye.take().filter(|_| !bye_told), pick(window, issued, progress)) {
                (Some((player, half_points)), _) => Step::Bye { round, player, half_points },
                (None, Some(index)) => Step::Play(index),
                (None, None) => Step::Wait,
            };
        }
        Step::Over
    }

    pub(super) fn table(&self, encounter: u64) -> Option<Table<PlayerId>> {
        let at = encounter.checked_sub(self.first)?;
        self.tables.get(usize::try_from(at).ok()?).copied()
    }

    fn pair(&mut self, of: &Entered<'_>) {
        let round = self.complete + 1;
        let given = of.given(round);
        self.tables.extend(given.iter().map(|&[black, white]| Table { round, black, white }));
        let field = Field::new(of, round, given.as_flattened());
        let size = field.players.len();
        let mate = partners(field.order(), NEIGHBOURS, |high, low| field.cost(high, low));
        let drawn = of.stage.pairing.colours == Colours::Lot;
        let by_lot = drawn.then(|| mixed(mixed(of.seed, u64::from(round)), COLOURS));
        let initial = lot(of.seed, 0);
        for (high, &low) in mate.iter().enumerate().take(size) {
            if low == size {
                self.bye = Some((field.players[high].id, bye_half_points(of.stage)));
            } else if high < low {
                let (black, white) = match by_lot.map(|draw| lot(draw, field.players[high].id.0.into())) {
                    Some(true) => (high, low),
                    Some(false) => (low, high),
                    None => field.colors(high, low, initial),
                };
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
    /// Its place among players of equal score.
    order: usize,
    /// How far it is from having the bye, by line 3.
    bye_cost: i64,
    met: BTreeMap<PlayerId, u32>,
    /// Games as black less games as white.
    balance: i64,
    /// The last colour (1 black, -1 white, 0 none) and how often in a row.
    last: i64,
    streak: i64,
}

impl Player {
    fn new(id: PlayerId) -> Self {
        Self {
            id,
            score: Points::ZERO,
            byes: 0,
            order: 0,
            bye_cost: 0,
            met: BTreeMap::new(),
            balance: 0,
            last: 0,
            streak: 0,
        }
    }

    fn meet(&mut self, encounter: &Encounter, scoring: &Scoring, is_remembered: bool) {
        let at = usize::from(encounter.players[0] != self.id);
        self.score += encounter.points(scoring)[at];
        if !encounter.was_played() {
            self.byes += u32::from(encounter.defaults[at] > 0);
            return;
        }
        if is_remembered {
            *self.met.entry(encounter.players[1 - at]).or_default() += 1;
        }
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

/// The players before a round whom the rules pair, best first.
struct Field {
    players: Vec<Player>,
    /// For each player, the number of players with the same score.
    equals: Vec<i64>,
    fewest_byes: u32,
    colors_matter: bool,
}

/// The entrants before a round by their seats, with what they have done so far.
fn before(of: &Entered<'_>, round: u32) -> Vec<Player> {
    let &Entered { stage, entrants, progress, scoring, arbitration, .. } = of;
    let mut players: Vec<Player> = entrants.iter().map(|&id| Player::new(id)).collect();
    let seats: BTreeMap<PlayerId, usize> = entrants.iter().copied().zip(0..).collect();
    let tables = entrants.len() as u64 / 2;
    let out = arbitration.disqualified(of.when(round));
    let until = u64::from(round - 1) * tables;
    let forgets = stage.pairing.forget_rematches;
    let remembered = (round - 1).checked_rem(forgets).map_or(0, |rest| u64::from(round - 1 - rest) * tables);
    for (number, encounter) in progress.encounters.range(..until) {
        for seat in encounter.players.iter().filter_map(|player| seats.get(player)) {
            players[*seat].meet(encounter, scoring, *number >= remembered);
            if encounter.players.iter().any(|player| out.contains(player)) {
                let at = usize::from(encounter.players[0] != players[*seat].id);
                players[*seat].score = players[*seat].score - encounter.points(scoring)[at];
            }
        }
    }
    for ((_, player), half_points) in progress.byes.range(..(round, PlayerId(0))) {
        if let Some(&seat) = seats.get(player) {
            players[seat].byes += u32::from(*half_points >= bye_half_points(stage));
            players[seat].score += scoring.byes(u64::from(*half_points));
        }
    }
    for (player, points) in arbitration.before(of.when(round)) {
        seats.get(&player).into_iter().for_each(|&seat| players[seat].score = players[seat].score - points);
    }
    players
}

impl Field {
    /// `given`: the players whom an arbiter has paired.
    fn new(of: &Entered<'_>, round: u32, given: &[PlayerId]) -> Self {
        let rules = of.stage.pairing;
        let mut players = before(of, round);
        let is_random = round <= rules.random_rounds;
        let orders = is_random.then(|| of.lots(round, ORDER));
        let byes = (rules.sits_out == SitsOut::Lot).then(|| of.lots(round, BYE));
        for (seat, player) in players.iter_mut().enumerate() {
            let score = player.score + of.virtual_points(round, seat);
            player.score = if is_random { Points::ZERO } else { score };
            player.order = orders.as_ref().map_or(seat, |lots| lots[seat]);
            player.bye_cost = byes.as_ref().map_or(of.entrants.len() - 1 - seat, |lots| lots[seat]) as i64;
        }
        let is_out = |player: PlayerId| of.arbitration.is_out(player, of.when(round));
        players.retain(|player| !is_out(player.id) && !given.contains(&player.id));
        players.sort_by_key(|player| (Reverse(player.score), player.order));
        if rules.sits_out == SitsOut::LowestScore {
            players.iter_mut().rev().zip(0..).for_each(|(player, place)| player.bye_cost = place);
        }
        let mut equals = Vec::with_capacity(players.len());
        for group in players.chunk_by(|a, b| a.score == b.score) {
            equals.resize(equals.len() + group.len(), group.len() as i64);
        }
        Self {
            fewest_byes: players.iter().map(|player| player.byes).min().unwrap_or(0),
            colors_matter: !of.stage.encounter_games().is_multiple_of(2)
                && rules.colours == Colours::Balanced,
            players,
            equals,
        }
    }

    /// The players, each beside the one whom it meets by line 7.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.players.len());
        while let Some(&group) = self.equals.get(order.len()) {
            let (first, size) = (order.len(), group as usize);
            let half = size / 2;
            order.extend((0..half).flat_map(|at| [first + at, first + half + at]));
            order.extend((2 * half..size).map(|last| first + last));
        }
        order
    }

    /// The cost of pairing two players, the higher first; the index after the last stands for the bye.
    fn cost(&self, high: usize, low: usize) -> Cost {
        let a = &self.players[high];
        let Some(b) = self.players.get(low) else {
            return Cost([i64::from(a.byes - self.fewest_byes), 0, a.bye_cost, 0, 0, 0, 0]);
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
