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
    use referee::{
        AbortBy, DrawBy, WinBy,
        operation::{NamedGame, Operation},
        pairing::Pairing,
        rating::mix::mix,
    };
    use std::collections::BTreeMap;

    fn pairing(round: u32, [black, white]: [u32; 2]) -> Pairing {
        let (black, white) = (PlayerId(black), PlayerId(white));
        Pairing { stage: 0, index: 0, attempt: 0, round, pair: 0, opening: 0, black, white }
    }

    fn any_outcome(draw: u64) -> Outcome {
        match draw {
            0 => Outcome::Draw { by: DrawBy::MaxMoves },
            1 => Outcome::Aborted { by: AbortBy::Annulled },
            odd if odd % 2 == 1 => Outcome::loss(Color::Black, WinBy::Mate),
            _ => Outcome::loss(Color::White, WinBy::Mate),
        }
    }

    /// The players of a league by their games, byes and rulings, against plain counts over the whole list of them.
    #[test]
    fn a_player_brings_to_a_round_what_its_games_byes_and_rulings_come_to() {
        for seed in 0..60_u64 {
            let mut state = mix(seed);
            let mut draw = |of: u64| {
                state = mix(state);
                state % of
            };
            let history = RatingHistory::default();
            // What each player met, a bye being nothing; and what each game came to.
            let mut met: Vec<Vec<Option<(usize, i32)>>> = vec![vec![]; 4];
            let mut results: BTreeMap<u64, (i64, Pairing, Outcome)> = BTreeMap::new();
            let (mut last_round, mut changes) = (0, 0);
            for at in 1..50_i64 {
                let (number, round) = (at.unsigned_abs(), 1 + draw(9) as u32);
                let ruled = draw(number);
                let entry = match (draw(5), results.get(&ruled).copied()) {
                    (0, _) => {
                        let player = draw(4) as usize;
                        met[player].push(None);
                        last_round = round.max(last_round);
                        Entry::Bye { stage: 0, round, player: PlayerId::at(player), half_points: 2 }
                    }
                    (1, Some((then, pairing, was))) => {
                        let game = GameId(ruled);
                        let (black, white) = Default::default();
                        // A game that did not count has no place among the others: it has the time of the ruling.
                        let then = if was.counts() { then } else { at };
                        let named = NamedGame { game, black, white, round };
                        let outcome = any_outcome(draw(6));
                        let action = if draw(3) == 0 {
                            results.remove(&ruled);
                            Action::Replayed { game: named, pairing, was }
                        } else {
                            results.insert(ruled, (then, pairing, outcome));
                            Action::Ruled { game: named, pairing, was: Some(was), outcome }
                        };
                        changes +=
                            1 + usize::from(action.correction().unwrap().3.is_some_and(Outcome::counts));
                        let (by, reason) = Default::default();
                        Entry::Operator(Box::new(Operation { number, by, reason, undoes: None, action }))
                    }
                    _ => {
                        let black = draw(4) as usize;
                        let white = (black + 1 + draw(3) as usize) % 4;
                        let (pairing, game) = (pairing(round, [black as u32, white as u32]), GameId(number));
                        let (start, opening) = Default::default();
                        let started = GameStarted { game, pairing, start, opening, times: None };
                        history.fold(&Stamped { at, entry: Entry::GameStarted(started) });
                        met[black].push(Some((white, 1)));
                        met[white].push(Some((black, -1)));
                        last_round = round.max(last_round);
                        let outcome = any_outcome(draw(6));
                        changes += usize::from(outcome.counts());
                        results.insert(number, (at, pairing, outcome));
                        Entry::GameEnded(GameEnded::new(game, pairing, outcome, 80))
                    }
                };
                history.fold(&Stamped { at, entry });
            }
            let counted = || results.iter().filter(|(_, (_, _, outcome))| outcome.counts());
            let played = history.read();
            assert_eq!((played.round, played.changes), (last_round, changes), "seed {seed}");
            let games: Vec<_> =
                played.games.iter().map(|it| (it.game.0, it.at, it.players, it.half_points)).collect();
            let mut expected: Vec<_> = counted()
                .map(|(game, (at, pairing, outcome))| {
                    (*game, *at, [pairing.black, pairing.white], outcome.black_half_points().unwrap())
                })
                .collect();
            expected.sort_by_key(|game| game.1);
            assert_eq!(games, expected, "seed {seed}");
            for (player, met) in met.iter().enumerate() {
                let colors: Vec<(usize, i32)> = met.iter().flatten().copied().collect();
                let last = colors.last().map_or(0, |last| last.1);
                let points = counted().flat_map(|(_, (_, pairing, outcome))| {
                    [(pairing.black, Color::Black), (pairing.white, Color::White)]
                        .into_iter()
                        .filter(|(own, _)| own.index() == player)
                        .map(|(_, color)| u32::from(outcome.half_points(color).unwrap()))
                });
                let expected = Seeker {
                    rating: 1500.0,
                    half_points: points.sum(),
                    balance: colors.iter().map(|(_, color)| color).sum(),
                    streak: (last, colors.iter().rev().take_while(|it| it.1 == last).count() as u32),
                    byes: met.iter().filter(|met| met.is_none()).count() as u32,
                    bye_last: met.last().is_some_and(Option::is_none),
                    last_opponent: colors.last().map(|last| last.0),
                    number: player,
                    human: false,
                };
                assert_eq!(played.seeker(PlayerId::at(player), 1500.0), expected, "seed {seed}");
            }
        }
    }

    #[test]
    fn a_game_that_was_left_after_thirty_plies_is_rated_and_a_rating_is_brought_to_a_round() {
        let mut games = PlayedGames::default();
        for plies in [30, 31] {
            let left = Outcome::loss(Color::White, WinBy::Disconnection);
            games.ended(1, &GameEnded::new(GameId(1), pairing(1, [0, 1]), left, plies));
        }
        assert_eq!(games.games.iter().map(|game| game.abandoned).collect::<Vec<_>>(), [true, false]);
        games.rates.insert(PlayerId(0), Rate { rate: 1234.0, error: Some(7.0), games: 2, at: 1 });
        assert_eq!([0, 1].map(|player| games.seeker(PlayerId(player), 1500.0).rating), [1234.0, 1500.0]);
        let history = RatingHistory(Arc::new((Mutex::new(games), Condvar::new())));
        let rating = Estimate::Measured { value: 1234.0, error: Some(7.0) };
        assert_eq!(history.scale().ratings, [(PlayerId(0), rating)].into());
        history.close();
        assert!(history.more_than(99).2, "a closed league waits for no further game");
    }

    #[test]
    fn a_player_who_left_or_never_came_is_not_rated_for_it() {
        let pairing = pairing(1, [0, 1]);
        for &by in WinBy::ALL {
            let mut games = PlayedGames::default();
            games.ended(1, &GameEnded::new(GameId(1), pairing, Outcome::loss(Color::White, by), 3));
            let left = matches!(by, WinBy::Disconnection | WinBy::Default);
            assert_eq!(games.games[0].abandoned, left, "{}", by.name());
        }
    }
}
