//! Quotas of an open league: how many games a player and an address may begin, have at once, and under how many new
//! names. Every game costs rows that stay; whoever plays against itself could otherwise fill the disk and hold places
//! for ever.

use super::{budget::ADDRESS, error::HostError};
use plan::serve::Limits;
use platform::limits::{Bucket, Budgets, Origin};
use referee::entry::GameId;
use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};
use tokio::time::Instant;

/// Newcomers that are remembered before those are forgotten who came an hour ago.
const KEPT: usize = 4096;
const HOUR: Duration = Duration::from_secs(3600);

/// Who asks for a game.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The player's name with its trip.
    pub id: &'a str,
    /// The address.
    pub origin: Origin,
    /// True if the player has never played in the event.
    pub is_new: bool,
}

/// The quotas, and what is used of them.
#[derive(Debug)]
pub struct Quotas {
    limits: Limits,
    /// Games of a player, and of an address.
    players: Budgets<String>,
    addresses: Budgets<Origin>,
    /// New names of an address.
    names: Budgets<Origin>,
    /// Names that are counted as new, and since when.
    newcomers: HashMap<String, Instant>,
    /// The addresses that play in each running game.
    running: HashMap<GameId, [Origin; 2]>,
    /// Games at once in which players of an address play.
    here: HashMap<Origin, usize>,
}

impl Quotas {
    /// Quotas of which nothing is used.
    pub fn new(limits: Limits) -> Self {
        let (newcomers, running, here) = Default::default();
        let games = |times: u32| Bucket::per_hour(limits.games_per_hour.saturating_mul(times).max(1).into());
        let (players, addresses) = (Budgets::new(games(1)), Budgets::new(games(ADDRESS)));
        let names = Budgets::new(Bucket::per_hour(limits.names().max(1).into()));
        Self { limits, players, addresses, names, newcomers, running, here }
    }

    /// Whether a player may begin a game now.
    ///
    /// # Errors
    /// The reason why not, for the player.
    pub fn admit(&mut self, asker: Asker<'_>, now: Instant) -> Result<(), HostError> {
        let Limits { games_per_hour, .. } = self.limits;
        if games_per_hour > 0 {
            let left = self.players.of(asker.id.to_owned(), now).wait(now);
            within(left, |wait| HostError::OwnGames { games: games_per_hour, wait })?;
            let left = self.addresses.of(asker.origin, now).wait(now);
            let games = games_per_hour.saturating_mul(ADDRESS);
            within(left, |wait| HostError::GamesFromHere { games, wait })?;
        }
        let here = self.here.get(&asker.origin).copied().unwrap_or(0);
        let most = self.limits.games_at_once();
        if here >= most {
            return Err(HostError::AtOnce { here, most });
        }
        if asker.is_new { self.newcomer(asker, now) } else { Ok(()) }
    }

    fn newcomer(&mut self, Asker { id, origin, .. }: Asker<'_>, now: Instant) -> Result<(), HostError> {
        let most = self.limits.names();
        if most == 0 || self.newcomers.contains_key(id) {
            return Ok(());
        }
        let names = self.names.of(origin, now);
        within(names.wait(now), |wait| HostError::NewNames { names: most, wait })?;
        names.spend(1, now);
        // At each doubling, so that a crowd of newcomers is not gone through for each of them.
        if self.newcomers.len() >= KEPT && self.newcomers.len().is_power_of_two() {
            self.newcomers.retain(|_, since| now.saturating_duration_since(*since) < HOUR);
        }
        self.newcomers.insert(id.to_owned(), now);
        Ok(())
    }

    /// Counts a game that begins.
    pub fn begun(&mut self, game: GameId, players: [(&str, Origin); 2], now: Instant) {
        let [black, white] = players.map(|(_, origin)| origin);
        self.running.insert(game, [black, white]);
        *self.here.entry(black).or_default() += 1;
        if white != black {
            *self.here.entry(white).or_default() += 1;
        }
        if self.limits.games_per_hour == 0 {
            return;
        }
        players.iter().for_each(|(id, _)| self.players.of((*id).to_owned(), now).spend(1, now));
        self.addresses.of(black, now).spend(1, now);
        if white != black {
            self.addresses.of(white, now).spend(1, now);
        }
    }

    /// Notes that a game is over.
    pub fn ended(&mut self, game: GameId) {
        let Some([black, white]) = self.running.remove(&game) else { return };
        for origin in [Some(black), Some(white).filter(|white| *white != black)].into_iter().flatten() {
            if let Entry::Occupied(mut here) = self.here.entry(origin) {
                *here.get_mut() -= 1;
                if *here.get() == 0 {
                    here.remove();
                }
            }
        }
    }
}

/// Refuses what has to wait.
fn within(wait: Duration, refused: impl FnOnce(Duration) -> HostError) -> Result<(), HostError> {
    if wait.is_zero() { Ok(()) } else { Err(refused(wait)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(address: &str) -> Origin {
        Origin::of(address.parse().unwrap())
    }

    fn asker(id: &str, address: &str) -> (String, Origin) {
        (id.to_owned(), origin(address))
    }

    fn admit(
        quotas: &mut Quotas,
        (id, origin): &(String, Origin),
        is_new: bool,
        at: Instant,
    ) -> Result<(), String> {
        quotas.admit(Asker { id, origin: *origin, is_new }, at).map_err(|why| why.to_string())
    }

    #[test]
    fn a_player_may_begin_so_many_games_in_an_hour_and_an_address_four_times_as_many() {
        let limits = Limits { games_per_hour: 3, ..Limits::default() };
        let (mut quotas, now) = (Quotas::new(limits), Instant::now());
        let (a, b, other) = (asker("a", "10.0.0.1"), asker("b", "10.0.0.1"), asker("c", "10.0.0.2"));
        for game in 0..3 {
            admit(&mut quotas, &a, false, now).unwrap();
            quotas.begun(GameId(game), [(&a.0, a.1), (&other.0, other.1)], now);
            quotas.ended(GameId(game));
        }
        let why = admit(&mut quotas, &a, false, now).unwrap_err();
        assert_eq!(why, "you have begun 3 games in an hour; ask again in 1201 s");
        admit(&mut quotas, &b, false, now).unwrap();
        for game in 3..12 {
            let id = format!("d{game}");
            quotas.begun(GameId(game), [(&id, a.1), (&id, a.1)], now);
        }
        (3..12).for_each(|game| quotas.ended(GameId(game)));
        assert!(admit(&mut quotas, &b, false, now).unwrap_err().contains("have begun 12 games in an hour"));
        let later = now + HOUR / 3 + Duration::from_secs(1);
        admit(&mut quotas, &a, false, later).unwrap();
    }

    #[test]
    fn games_at_once_count_by_address_and_end_with_the_game() {
        let limits = Limits { games_per_address: Some(2), ..Limits::default() };
        let (mut quotas, now) = (Quotas::new(limits), Instant::now());
        let (here, there) = (asker("a", "2001:db8::1"), asker("b", "2001:db8:0:1::1"));
        quotas.begun(GameId(1), [("x", here.1), ("y", origin("2001:db8::ffff"))], now);
        admit(&mut quotas, &here, false, now).unwrap();
        quotas.begun(GameId(2), [("a", here.1), ("b", there.1)], now);
        let why = admit(&mut quotas, &here, false, now).unwrap_err();
        assert_eq!(why, "2 games are played from your address, and there may be 2 at once");
        admit(&mut quotas, &there, false, now).unwrap();
        quotas.ended(GameId(1));
        admit(&mut quotas, &here, false, now).unwrap();
        quotas.ended(GameId(2));
        assert!(quotas.here.is_empty());
    }

    #[test]
    fn new_names_have_a_quota_and_those_who_have_played_are_let_in() {
        let limits = Limits { names_per_hour: Some(2), ..Limits::default() };
        let (mut quotas, now) = (Quotas::new(limits), Instant::now());
        for name in ["a", "b", "a"] {
            admit(&mut quotas, &asker(name, "10.0.0.1"), true, now).unwrap();
        }
        let why = admit(&mut quotas, &asker("c", "10.0.0.1"), true, now).unwrap_err();
        assert!(why.starts_with("2 new names have come from your address in an hour"), "{why}");
        admit(&mut quotas, &asker("known", "10.0.0.1"), false, now).unwrap();
        admit(&mut quotas, &asker("c", "10.0.0.2"), true, now).unwrap();
    }

    #[test]
    fn a_host_without_a_limit_of_games_lets_everybody_begin_as_many_as_it_likes() {
        let limits = Limits { games_per_hour: 0, names_per_hour: Some(0), ..Limits::default() };
        let (mut quotas, now) = (Quotas::new(limits), Instant::now());
        let a = asker("a", "10.0.0.1");
        for game in 0..50 {
            admit(&mut quotas, &asker(&format!("n{game}"), "10.0.0.1"), true, now).unwrap();
            admit(&mut quotas, &a, false, now).unwrap();
            quotas.begun(GameId(game), [(&a.0, a.1), (&a.0, a.1)], now);
            quotas.ended(GameId(game));
        }
    }

    #[test]
    fn newcomers_of_the_last_hour_are_remembered_and_of_a_crowd_those_before_are_forgotten() {
        let limits = Limits { names_per_hour: Some(1), ..Limits::default() };
        let (mut quotas, now) = (Quotas::new(limits), Instant::now());
        let crowd: Vec<_> =
            (0..=KEPT).map(|n| asker(&format!("n{n}"), &format!("10.{}.{}.1", n / 250, n % 250))).collect();
        for newcomer in &crowd[..KEPT] {
            admit(&mut quotas, newcomer, true, now).unwrap();
        }
        admit(&mut quotas, &crowd[0], true, now).unwrap();
        assert_eq!(quotas.newcomers.len(), KEPT);
        let later = now + HOUR;
        admit(&mut quotas, &crowd[KEPT], true, later).unwrap();
        assert_eq!(quotas.newcomers.len(), 1, "all others came an hour ago");
    }
}
