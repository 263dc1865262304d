//! Compares the database after the soak with what the clients saw.

use super::{
    host::Host,
    ledger::{Ended, Ledger},
};
use crate::database::{Database, RatedGame};
use anyhow::{Context, Result, ensure};
use referee::rating::{CrossTable, Results, fit};
use std::collections::{BTreeSet, HashMap};

/// The mean of all ratings, the default of `[serve.rating]`.
const MEAN: f64 = 1000.0;
/// Elo by which two ratings of the same games may differ.
const ROUNDING: f64 = 0.01;

/// The counts.
pub struct Checked {
    /// Games in the database.
    pub games: usize,
    /// Games that were seen to be broken off.
    pub broken_off: usize,
    /// Games with a result whose end no client saw.
    pub unseen: usize,
    /// Players with a rating.
    pub ratings: usize,
    /// Games that the ratings rest on.
    pub rated_games: usize,
}

/// Compares everything.
///
/// # Errors
/// With the first difference.
pub fn check(host: &Host, ledger: &Ledger) -> Result<Checked> {
    let database = Database::open(&host.database())?;
    ensure!(ledger.contradictions.is_empty(), "two ends of a game: {:?}", ledger.contradictions);
    ensure!(database.running()? == 0, "{} games never ended", database.running()?);
    let named = database.named_results()?;
    let count = named.len();
    let kept: HashMap<String, String> = named.into_iter().collect();
    ensure!(kept.len() == count, "{} games share a Game_ID with another", count - kept.len());
    for (id, ended) in ledger.games() {
        let result = kept.get(id).with_context(|| format!("{id} was seen to end and is not there"))?;
        ensure!(result == ended.word(), "{id} was seen to end as {ended:?} and is kept as {result}");
    }
    let unseen = kept.iter().filter(|(id, result)| *result != "aborted" && !ledger.contains(id)).count();
    let (ratings, rated_games) = expect_ratings(&database)?;
    let broken_off = ledger.games().filter(|(_, ended)| *ended == Ended::BrokenOff).count();
    Ok(Checked { games: count, broken_off, unseen, ratings, rated_games })
}

/// Rates all players anew, from the games alone.
fn expect_ratings(database: &Database) -> Result<(usize, usize)> {
    let (games, kept) = (database.rated_games()?, database.ratings()?);
    let members: BTreeSet<i64> = games.iter().flat_map(|game| [game.black, game.white]).collect();
    let members: Vec<i64> = members.into_iter().collect();
    let mut table = CrossTable::new(members.len());
    let place = |player: i64| members.binary_search(&player).unwrap_or(usize::MAX);
    for RatedGame { black, white, result } in &games {
        let results = match result.as_str() {
            "black" => Results { black_wins: 1.0, ..Results::default() },
            "white" => Results { white_wins: 1.0, ..Results::default() },
            _ => Results { draws: 1.0, ..Results::default() },
        };
        table.add(place(*black), place(*white), results)?;
    }
    let anew: Vec<(i64, f64)> = fit(&table)
        .players
        .iter()
        .zip(&members)
        .filter_map(|(rating, member)| Some((*member, rating.elo.value()? + MEAN)))
        .collect();
    ensure!(anew.len() == kept.len(), "{} players are rated, and {} by their games", kept.len(), anew.len());
    for ((player, rate), (member, anew)) in kept.iter().zip(&anew) {
        let equal = player == member && (rate - anew).abs() <= ROUNDING;
        ensure!(equal, "player {player} is rated {rate}, and {anew} by the games of {member}");
    }
    Ok((kept.len(), games.len()))
}
