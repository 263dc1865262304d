//! What is known of the opponents' strength: from the configuration, and from the server where it tells.

use super::performance::{Against, Performance};
use crate::store::EventSummary;
use referee::{event::PlayerId, standings::Standings};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt};

/// Ratings by the names of players.
#[derive(Clone, Debug, Default)]
pub struct Ratings {
    given: BTreeMap<String, f64>,
    told: BTreeMap<String, f64>,
}

/// Names a server may tell; floodgate rates a few hundred.
const MOST: usize = 10_000;

impl Ratings {
    /// Those of the configuration.
    #[must_use]
    pub fn new(given: BTreeMap<String, f64>) -> Self {
        Self { given, told: BTreeMap::new() }
    }

    /// A line of the answer to `%%RATING`: `##[RATING] name+trip  2850 @2026-11-21`. Of one name's several trips the
    /// strongest counts.
    pub fn hear(&mut self, line: &str) {
        let Some(said) = line.strip_prefix("##[RATING] ") else { return };
        let mut words = said.split_ascii_whitespace();
        let (Some(id), Some(Ok(rating))) = (words.next(), words.next().map(str::parse::<f64>)) else {
            return;
        };
        let name = id.split('+').next().unwrap_or_default();
        if rating.is_finite() && !name.is_empty() && self.told.len() < MOST {
            let known = self.told.entry(name.to_owned()).or_insert(rating);
            *known = known.max(rating);
        }
    }

    /// All of them; what the configuration says stands.
    #[must_use]
    pub fn all(&self) -> BTreeMap<String, f64> {
        let mut all = self.told.clone();
        all.extend(self.given.clone());
        all
    }

    /// Of one player.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<f64> {
        self.given.get(name).or_else(|| self.told.get(name)).copied()
    }
}

/// What the stored plan of a client says of ratings.
#[derive(Debug, Deserialize)]
struct Stored {
    #[serde(default)]
    us: String,
    #[serde(default)]
    ratings: BTreeMap<String, f64>,
}

/// How we stand on the server's scale, with the games it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Who.
    pub name: String,
    /// The performance.
    pub performance: Performance,
    /// Games against rated opponents.
    pub games: u64,
    /// Those opponents.
    pub opponents: usize,
}

/// The performance in a stored event; `None` where no opponent met has a known rating.
#[must_use]
pub fn measured(event: &EventSummary, standings: &Standings) -> Option<Measured> {
    let Stored { us, ratings } = serde_json::from_str(&event.plan).ok()?;
    let number = |at: usize| u16::try_from(at).ok().map(PlayerId);
    let ours = event.players.iter().position(|name| *name == us).and_then(number)?;
    let mut games = vec![];
    for (at, name) in event.players.iter().enumerate() {
        let (Some(rating), Some(opponent)) = (ratings.get(name), number(at)) else { continue };
        let wdl = standings.total().between(ours, opponent);
        if opponent != ours && wdl.games() > 0 {
            let points = wdl.half_points() as f64 / 2.0;
            games.push(Against { rating: *rating, games: wdl.games() as f64, points });
        }
    }
    let performance = Performance::of(&games)?;
    let total = games.iter().map(|one| one.games).sum::<f64>() as u64;
    Some(Measured { name: us, performance, games: total, opponents: games.len() })
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, performance, games, opponents } = self;
        write!(
            f,
            "{name} on the scale of its rated opponents: {performance} ({games} games, {opponents} opponents)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_list_is_read_and_the_configuration_stands_above_it() {
        let mut ratings = Ratings::new(BTreeMap::from([("known".to_owned(), 3000.0)]));
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
}
