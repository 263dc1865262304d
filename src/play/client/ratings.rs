//! Ratings of the opponents, from the configuration and from the server's answer to `%%RATING`.

use super::performance::{Against, Performance};
use contest::standings::{Scale, Standings};
use parking_lot::{Mutex, MutexGuard};
use plan::StoredPlan;
use referee::{entry::PlayerId, number::number as counted, rating::Estimate};
use std::{collections::BTreeMap, sync::Arc};
use words::Language;

/// Ratings by the names of players; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Ratings(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    given: BTreeMap<String, f64>,
    of_server: BTreeMap<String, f64>,
}

/// Most names taken from a server; floodgate rates a few hundred.
const MAX_NAMES: usize = 10_000;

impl Ratings {
    /// The ratings of the configuration.
    pub fn new(given: BTreeMap<String, f64>) -> Self {
        Self(Arc::new(Mutex::new(Known { given, of_server: BTreeMap::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }

    /// Reads a line of the answer to `%%RATING`: `##[RATING] name+trip  2850 @2026-11-21`. If a name has several trips,
    /// the strongest counts.
    pub fn hear(&self, line: &str) {
        let Some(rated) = line.strip_prefix("##[RATING] ") else { return };
        let mut words = rated.split_ascii_whitespace();
        let (Some(id), Some(Ok(rating))) = (words.next(), words.next().map(str::parse::<f64>)) else {
            return;
        };
        let name = id.split('+').next().unwrap_or_default();
        let known = &mut self.lock().of_server;
        if !rating.is_finite() || name.is_empty() {
            return;
        }
        if let Some(best) = known.get_mut(name) {
            *best = best.max(rating);
        } else if known.len() < MAX_NAMES {
            known.insert(name.to_owned(), rating);
        }
    }

    /// All ratings; those of the configuration take precedence.
    pub fn all(&self) -> BTreeMap<String, f64> {
        let known = self.lock();
        let mut all = known.of_server.clone();
        all.extend(known.given.clone());
        all
    }

    /// The rating of a player.
    pub fn of(&self, name: &str) -> Option<f64> {
        let known = self.lock();
        known.given.get(name).or_else(|| known.of_server.get(name)).copied()
    }
}

/// Our performance on the server's scale, with the games it is based on.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Our name.
    pub name: String,
    /// The performance.
    pub performance: Performance,
    /// Games against rated opponents.
    pub games: u64,
    /// The number of those opponents.
    pub opponents: usize,
}

/// The performance in a stored event among its `players`; `None` where it was not played on a server, or no opponent
/// has a known rating.
pub fn measured(plan: &StoredPlan, players: &[String], standings: &Standings) -> Option<Measured> {
    measure(plan.us.clone()?, players, standings, |name| plan.rating(name))
}

/// The performance of `us` among `players`; `rating` gives the ratings that are known.
fn measure(
    us: String,
    players: &[String],
    standings: &Standings,
    rating: impl Fn(&str) -> Option<f64>,
) -> Option<Measured> {
    let ours = PlayerId::at(players.iter().position(|name| *name == us)?);
    let mut games = vec![];
    for (at, name) in players.iter().enumerate() {
        let (Some(rating), opponent) = (rating(name), PlayerId::at(at)) else { continue };
        let wdl = standings.total().between(ours, opponent);
        if opponent != ours && wdl.games() > 0 {
            let points = wdl.half_points() as f64 / 2.0;
            games.push(Against { rating, games: wdl.games() as f64, points });
        }
    }
    let performance = Performance::of(&games)?;
    let total = games.iter().map(|one| one.games).sum::<f64>() as u64;
    Some(Measured { name: us, performance, games: total, opponents: games.len() })
}

/// The known ratings of `players`, with ours measured against them.
pub fn scale(
    us: &str,
    players: &[String],
    standings: &Standings,
    words: Language,
    rating: impl Fn(&str) -> Option<f64>,
) -> Scale {
    let known = |(at, name): (usize, &String)| {
        Some((PlayerId::at(at), Estimate::Measured { value: rating(name)?, error: None }))
    };
    let mut ratings: BTreeMap<PlayerId, Estimate> =
        players.iter().enumerate().filter(|(_, name)| *name != us).filter_map(known).collect();
    let Some(measured) = measure(us.to_owned(), players, standings, &rating) else {
        return Scale { ratings, words: String::new() };
    };
    if let Some(ours) = players.iter().position(|name| name == us).map(PlayerId::at) {
        ratings.insert(ours, measured.performance.into());
    }
    Scale { ratings, words: measured.text(words) }
}

/// The ratings of a stored event.
pub fn stored_scale(plan: &StoredPlan, players: &[String], standings: &Standings, words: Language) -> Scale {
    let Some(us) = &plan.us else { return Scale::default() };
    scale(us, players, standings, words, |name| plan.rating(name))
}

impl From<Performance> for Estimate {
    fn from(performance: Performance) -> Self {
        match performance {
            Performance::Rating { value, error } => Self::Measured { value, error: Some(error) },
            Performance::Above(value) => Self::AtLeast { value },
            Performance::Below(value) => Self::AtMost { value },
        }
    }
}

impl Measured {
    /// The measurement in a sentence.
    pub fn text(&self, words: Language) -> String {
        let Self { name, performance, games, opponents } = self;
        let opponents = words.pick(counted(*opponents, "opponent"), format!("相手 {opponents} 名"));
        words.measured_on_server(name, &performance.to_string(), &words.of_games(*games), &opponents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_list_is_read_and_the_configuration_stands_above_it() {
        let ratings = Ratings::new(BTreeMap::from([("known".to_owned(), 3000.0)]));
        for line in [
            "##[RATING] strong+97d76f4c5 \t 2850 @2026-11-21",
            "##[RATING] strong+123456789 \t 2100 @2026-11-20",
            "##[RATING] known+97d76f4c5 \t 1000 @2026-11-21",
            "##[RATING] +OK",
            "##[RATING] odd",
            "##[WHO] x 1",
        ] {
            ratings.hear(line);
        }
        assert_eq!(
            (ratings.of("strong"), ratings.of("known"), ratings.of("odd")),
            (Some(2850.0), Some(3000.0), None)
        );
        assert_eq!(ratings.all().len(), 2);
    }

    #[test]
    fn a_player_who_is_known_is_heard_of_again_though_there_is_room_for_no_other() {
        let ratings = Ratings::new(BTreeMap::new());
        (0..MAX_NAMES).for_each(|at| ratings.hear(&format!("##[RATING] p{at}+x 1000 @2026-11-21")));
        ratings.hear("##[RATING] p7+y 2000 @2026-11-22");
        ratings.hear("##[RATING] late+x 2500 @2026-11-22");
        assert_eq!((ratings.of("p7"), ratings.of("late")), (Some(2000.0), None));
    }
}
