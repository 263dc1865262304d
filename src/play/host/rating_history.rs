//! The history of an event that ratings and rounds need: a fold of its entries, live or replayed.

use contest::{schedule::rounds::Seeker, standings::Scale};
use parking_lot::{Condvar, Mutex, MutexGuard};
use referee::{
    Color, Outcome,
    entry::{Entry, GameEnded, GameId, GameStarted, PlayerId, Stamped},
    operation::Action,
    rating::Estimate,
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Plies up to which an abandoned game is no measure of strength (the threshold of floodgate's `mk_rate`).
const ABANDONED: u32 = 30;

/// A rating as players are shown it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Elo.
    pub rate: f64,
    /// Half the 95 % interval, where the method has one.
    pub error: Option<f64>,
    /// Games it rests on.
    pub games: u64,
    /// When the last of them ended, in ms since 1970.
    pub at: i64,
}

/// A game that may be rated.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    /// The game.
    pub game: GameId,
    /// When it ended, in ms since 1970.
    pub at: i64,
    /// The players, black first.
    pub players: [PlayerId; 2],
    /// Twice black's points.
    pub half_points: u8,
    /// True if a player left it near its beginning.
    pub abandoned: bool,
}

/// The history, shared between the journal's reader, the rating thread and the lobby.
#[derive(Clone, Debug, Default)]
pub struct RatingHistory(Arc<(Mutex<PlayedGames>, Condvar)>);

/// The contents of a rating history.
#[derive(Debug, Default)]
pub struct PlayedGames {
    seekers: HashMap<PlayerId, Seeker>,
    /// All games that count, in the order of their ends.
    pub games: Vec<Played>,
    /// The last ratings.
    pub rates: HashMap<PlayerId, Rate>,
    /// The last round.
    pub round: u32,
    /// The players who are disqualified: their games rate nobody.
    out: BTreeSet<PlayerId>,
    /// Results, rulings and disqualifications so far.
    changes: usize,
    /// The event is closed: nothing more will be rated.
    pub over: bool,
}

impl RatingHistory {
    /// The contents; the lock must not be kept for long.
    pub fn read(&self) -> MutexGuard<'_, PlayedGames> {
        self.0.0.lock()
    }

    /// The last ratings, for screens.
    pub fn scale(&self) -> Scale {
        let rating = |rate: &Rate| Estimate::Measured { value: rate.rate, error: rate.error };
        let ratings = self.read().rates.iter().map(|(&player, rate)| (player, rating(rate))).collect();
        Scale { ratings, words: String::new() }
    }

    /// Folds a committed entry.
    pub fn fold(&self, stamped: &Stamped) {
        if matches!(
            stamped.entry,
            Entry::GameStarted(_) | Entry::GameEnded(_) | Entry::Operator(_) | Entry::Bye { .. }
        ) {
            self.read().fold(stamped);
            self.0.1.notify_all();
        }
    }

    /// Ends the rating thread: no entry follows.
    pub fn close(&self) {
        self.read().over = true;
        self.0.1.notify_all();
    }

    /// Waits until there are more results and rulings than `rated` or the event is closed; returns the games, the number
    /// of results and rulings, and whether it is closed.
    pub fn more_than(&self, rated: usize) -> (Vec<Played>, usize, bool) {
        let mut played = self.read();
        self.0.1.wait_while(&mut played, |played| played.changes <= rated && !played.over);
        let mut games = played.games.clone();
        games.retain(|game| !game.players.iter().any(|player| played.out.contains(player)));
        (games, played.changes, played.over)
    }

    /// Waits for `pause`, or until the event is closed.
    pub fn rest(&self, pause: std::time::Duration) {
        self.0.1.wait_while_for(&mut self.read(), |played| !played.over, pause);
    }
}

impl PlayedGames {
    fn fold(&mut self, stamped: &Stamped) {
        match &stamped.entry {
            Entry::GameStarted(GameStarted { pairing, .. }) => {
                self.round = self.round.max(pairing.round);
                self.met(pairing.black, pairing.white, Color::Black);
                self.met(pairing.white, pairing.black, Color::White);
            }
            Entry::GameEnded(end) => self.ended(stamped.at, end),
            Entry::Operator(operation) => self.corrected(stamped.at, &operation.action),
            Entry::Bye { round, player, .. } => {
                self.round = self.round.max(*round);
                let seeker = self.seekers.entry(*player).or_default();
                seeker.byes += 1;
                seeker.bye_last = true;
            }
            _ => {}
        }
    }

    fn met(&mut self, player: PlayerId, opponent: PlayerId, color: Color) {
        let seeker = self.seekers.entry(player).or_default();
        let color = if color == Color::Black { 1 } else { -1 };
        let again = if seeker.streak.0 == color { seeker.streak.1 + 1 } else { 1 };
        seeker.streak = (color, again);
        seeker.balance += color;
        seeker.last_opponent = Some(opponent.index());
        seeker.bye_last = false;
    }

    fn ended(&mut self, at: i64, end: &GameEnded) {
        let Some(half_points) = end.outcome.black_half_points().filter(|_| end.outcome.counts()) else {
            return;
        };
        let players = [end.pairing.black, end.pairing.white];
        for (player, earned) in players.into_iter().zip([half_points, 2 - half_points]) {
            self.seekers.entry(player).or_default().half_points += u32::from(earned);
        }
        let walked_out = matches!(end.outcome, Outcome::Win { by, .. } if by.is_walkout());
        let abandoned = walked_out && end.plies <= ABANDONED;
        self.changes += 1;
        self.games.push(Played { game: end.game, at, players, half_points, abandoned });
    }

    /// Gives a game another result, or takes it out.
    fn corrected(&mut self, at: i64, action: &Action) {
        self.changes += usize::from(action.disqualifies(&mut self.out));
        let Some((game, pairing, was, is)) = action.correction() else { return };
        let found = self.games.iter().rposition(|played| played.game == game);
        let at = found.map_or(at, |found| self.games.remove(found).at);
        self.changes += 1;
        let points = was.black_half_points().map(|black| [black, 2 - black]).unwrap_or_default();
        for (player, taken) in [pairing.black, pairing.white].into_iter().zip(points) {
            let seeker = self.seekers.entry(player).or_default();
            seeker.half_points = seeker.half_points.saturating_sub(u32::from(taken));
        }
        if let Some(outcome) = is {
            let pairing = *pairing;
            self.ended(at, &GameEnded::new(game, pairing, outcome, 0));
            // The ratings of old games count less by the order of their ends.
            self.games.sort_by_key(|played| played.at);
        }
    }

    /// A player as the pairing of a round needs it; a player without a rating has `unrated`.
    pub fn seeker(&self, player: PlayerId, unrated: f64) -> Seeker {
        let rating = self.rates.get(&player).map_or(unrated, |rate| rate.rate);
        let number = player.index();
        Seeker { rating, number, ..self.seekers.get(&player).cloned().unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::{WinBy, pairing::Pairing};

    #[test]
    fn a_player_who_left_or_never_came_is_not_rated_for_it() {
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        for &by in WinBy::ALL {
            let mut games = PlayedGames::default();
            games.ended(1, &GameEnded::new(GameId(1), pairing, Outcome::loss(Color::White, by), 3));
            let left = matches!(by, WinBy::Disconnection | WinBy::Default);
            assert_eq!(games.games[0].abandoned, left, "{}", by.name());
        }
    }
}
