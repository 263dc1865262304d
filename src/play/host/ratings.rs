//! Live ratings, estimated on a thread of their own whenever games have ended.

use super::{
    rating_history::{Played, Rate, RatingHistory},
    roster::Roster,
};
use journal::now;
use journal::{EventId, RatingRow, Store, Writer};
use plan::serve::{Login, Method, RatingConfig, ServeConfig};
use referee::{
    entry::PlayerId,
    rating::{Aged, CrossTable, Decay, Results, fit, fit_aged},
};
use std::{
    collections::HashMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// Least time from one estimate to the next.
const PAUSE: Duration = Duration::from_millis(500);
/// The thread rests this many times as long as it works.
const SHARE: u32 = 20;
const DAY_MS: f64 = 86_400_000.0;

/// True if the games of a player are rated. The player must be identified, by admission or by a trip, and must not have
/// opted out (`name@NORATE`).
pub fn is_rated(id: &str, login: Login) -> bool {
    let (name, trip) = id.split_once('+').unwrap_or((id, ""));
    (login != Login::Open || !trip.is_empty()) && !name.contains("@NORATE")
}

/// Rates the players whenever games have ended, until the event is closed, and writes the ratings into the database.
/// `event` finds the event there, once it has games.
pub fn keep(
    config: &ServeConfig,
    history: &RatingHistory,
    roster: &Arc<Roster>,
    path: &Path,
    event: impl Fn(&Store) -> Option<EventId>,
) {
    super::game_threads::yield_to_games();
    let mut rated = 0;
    let mut store = None;
    loop {
        let (games, changes, over) = history.more_than(rated);
        if changes > rated {
            let begun = Instant::now();
            rated = changes;
            let names = roster.names();
            let rates = estimate(config, &games, &names, now());
            let rows: Vec<RatingRow> = rates.iter().map(|(&player, rate)| row(player, rate)).collect();
            history.read().rates = rates;
            // The next estimate writes them all again; a failed disk ends the event by way of the journal.
            store = store.or_else(|| Writer::open(path).ok());
            let _later = store.as_ref().and_then(|store| Some(store.set_ratings(event(store)?, &rows)));
            history.rest(PAUSE.max(begun.elapsed() * SHARE));
        }
        if over {
            return;
        }
    }
}

fn row(player: PlayerId, rate: &Rate) -> RatingRow {
    let Rate { rate, error, games, at } = *rate;
    RatingRow { player, rate, error, games, at }
}

/// The ratings of all players who have one; `now` is in ms since 1970.
pub fn estimate(
    serve: &ServeConfig,
    games: &[Played],
    names: &[String],
    now: i64,
) -> HashMap<PlayerId, Rate> {
    let config = &serve.rating;
    let rated = |player: PlayerId| names.get(player.index()).is_some_and(|id| is_rated(id, serve.login));
    let counts = |game: &&Played| !game.abandoned && game.players.into_iter().all(rated);
    let games: Vec<&Played> = games.iter().filter(counts).collect();
    let elo = match config.method {
        Method::MaximumLikelihood => by_likelihood(&games, names.len()),
        Method::Floodgate => by_age(config, &games, names.len(), now),
    };
    let fixed = config.fixed.as_ref().and_then(|fixed| {
        let is = |id: &String| id == fixed || id.split('+').next() == Some(fixed);
        elo[names.iter().position(is)?].map(|(elo, _)| elo)
    });
    let shift = config.mean - fixed.unwrap_or(0.0);
    let mut counted = vec![(0, 0); names.len()];
    for game in games {
        for player in game.players {
            let (count, last): &mut (u64, i64) = &mut counted[player.index()];
            (*count, *last) = (*count + 1, game.at.max(*last));
        }
    }
    let mut rates = HashMap::new();
    for (index, elo) in elo.into_iter().enumerate() {
        let Some((elo, error)) = elo else { continue };
        let player = PlayerId::at(index);
        let (count, at) = counted[index];
        rates.insert(player, Rate { rate: elo + shift, error, games: count, at });
    }
    rates
}

type Elo = Vec<Option<(f64, Option<f64>)>>;

fn by_likelihood(games: &[&Played], players: usize) -> Elo {
    // Players who are not rated stay out of the table: the mean is that of the others.
    let mut members: Vec<usize> = games.iter().flat_map(|game| game.players).map(PlayerId::index).collect();
    members.sort_unstable();
    members.dedup();
    let mut table = CrossTable::new(members.len());
    for game in games {
        let place = |player: PlayerId| members.binary_search(&player.index()).unwrap_or(usize::MAX);
        let results = match game.half_points {
            2 => Results { black_wins: 1.0, ..Results::default() },
            1 => Results { draws: 1.0, ..Results::default() },
            _ => Results { white_wins: 1.0, ..Results::default() },
        };
        // Only a game of a player against itself is refused.
        let _no_game = table.add(place(game.players[0]), place(game.players[1]), results);
    }
    let mut elo = vec![None; players];
    for (rating, member) in fit(&table).players.iter().zip(members) {
        elo[member] = rating.elo.value().map(|value| (value, rating.elo.error()));
    }
    elo
}

fn by_age(config: &RatingConfig, games: &[&Played], players: usize, now: i64) -> Elo {
    let aged: Vec<Aged> = games
        .iter()
        .map(|game| Aged {
            black: game.players[0].index(),
            white: game.players[1].index(),
            half_points: game.half_points,
            days: (now - game.at) as f64 / DAY_MS,
        })
        .collect();
    let decay = Decay {
        half_life: config.half_life_days,
        fresh: config.fresh_days,
        least: config.least_games,
        ..Decay::default()
    };
    fit_aged(players, &aged, &decay).into_iter().map(|elo| elo.map(|elo| (elo, None))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::rating::MOST_RATED;

    #[test]
    fn games_of_a_disqualified_player_rate_nobody_until_that_is_taken_back() {
        use referee::{
            entry::{Entry, GameEnded, GameId, Stamped},
            operation::{Action, Operation},
            pairing::Pairing,
        };
        let history = RatingHistory::default();
        let fold = |entry| history.fold(&Stamped { at: 1, entry });
        let [black, white] = [0, 1].map(PlayerId);
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let won = referee::Outcome::loss(referee::Color::White, referee::WinBy::Resignation);
        fold(Entry::GameEnded(GameEnded::new(GameId(1), pairing, won, 80)));
        for (number, holds) in [(1, true), (2, false)] {
            let [name, by, reason] = ["a", "kai", "by proof"].map(str::to_owned);
            let action = Action::Disqualified { player: white, name, stage: 0, round: 1, holds };
            fold(Entry::Operator(Box::new(Operation { number, by, reason, undoes: None, action })));
            let (games, changes, _) = history.more_than(0);
            assert_eq!((games.len(), changes), (usize::from(!holds), 1 + number as usize));
        }
    }

    #[test]
    fn strangers_with_ever_new_names_do_not_crowd_out_those_who_play() {
        let names: Vec<String> = (0..2 * MOST_RATED + 2).map(|index| format!("p{index}+trip")).collect();
        let game = |black: usize, white: usize, at: i64| Played {
            game: referee::entry::GameId(1),
            at,
            players: [black, white].map(PlayerId::at),
            half_points: 2,
            abandoned: false,
        };
        let regulars = (0..3).map(|at| game(0, 1, at));
        let strangers = (1..=MOST_RATED).map(|pair| game(2 * pair, 2 * pair + 1, 100));
        let games: Vec<Played> = regulars.chain(strangers).collect();
        let rates = estimate(&ServeConfig::default(), &games, &names, 1000);
        assert_eq!(rates.len(), MOST_RATED);
        assert_eq!(rates[&PlayerId(0)].games, 3);
    }
}
