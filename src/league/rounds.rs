//! Rounds by the clock: at its times, everybody who waits for a game of that name is paired.

use super::{
    connection::Hall,
    ledger::Pages,
    lobby::{Key, Lobby, Status},
};
use crate::{
    bus::{self, Bus},
    config::time_text,
};
use notation::csa::game_name::{GameName, Wish};
use referee::{
    event::{Event, PlayerId},
    schedule::rounds::{Method, Paired, Seeker, pair},
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

/// `[[serve.rounds]]`: when rounds of a game begin, and how they are paired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsConfig {
    /// The name of the game, with its time: `floodgate-300-10F`.
    pub game: String,
    /// The minutes of an hour at which rounds begin.
    #[serde(default)]
    pub minutes: Vec<u8>,
    /// The hours of the day (UTC) in which they do; empty: all.
    #[serde(default)]
    pub hours: Vec<u8>,
    /// Instead of `minutes`: from one round to the next, beginning with the start of the league.
    #[serde(default)]
    pub every: Option<String>,
    /// Who is paired with whom.
    #[serde(default)]
    pub pairing: Method,
}

impl RoundsConfig {
    /// What is wrong with it.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let every = self.every.as_deref().map(time_text::duration);
        match () {
            () if !self.game.parse::<GameName>().is_ok_and(|game| game.is_floodgate()) => {
                Some("`game` must be a name such as floodgate-300-10F: only those wait for a round")
            }
            () if every.as_ref().is_some_and(|every| every.as_ref().is_ok_and(|every| !every.is_zero())) => {
                (!self.minutes.is_empty() || !self.hours.is_empty())
                    .then_some("has `every` beside `minutes` or `hours`")
            }
            () if every.is_some() => Some("`every` must be a duration above 0"),
            () if self.minutes.is_empty() => Some("needs `minutes` or `every`"),
            () if self.minutes.iter().any(|minute| *minute > 59) => Some("`minutes` must be 0 to 59"),
            () if self.hours.iter().any(|hour| *hour > 23) => Some("`hours` must be 0 to 23"),
            () => None,
        }
    }

    /// When the next round begins after `now`, both in ms since 1970; `begun` is when the league did.
    #[must_use]
    pub fn next(&self, begun: i64, now: i64) -> Option<i64> {
        if let Some(Ok(every)) = self.every.as_deref().map(time_text::duration) {
            let every = i64::try_from(every.as_millis()).ok()?.max(1);
            return Some(begun + ((now - begun).div_euclid(every) + 1) * every);
        }
        let from = now.div_euclid(HOUR_MS) * HOUR_MS;
        let hours = (0..=24).map(|hour| from + hour * HOUR_MS);
        let open = |at: &i64| {
            let hour = at.div_euclid(HOUR_MS).rem_euclid(24);
            self.hours.is_empty() || self.hours.iter().any(|open| i64::from(*open) == hour)
        };
        let times = hours
            .filter(open)
            .flat_map(|hour| self.minutes.iter().map(move |minute| hour + i64::from(*minute) * MINUTE_MS));
        times.filter(|at| *at > now).min()
    }
}

/// Begins the rounds of a schedule, until the league closes.
pub(super) async fn keep(rounds: RoundsConfig, hall: Hall, bus: Arc<Bus>) {
    let Ok(game) = rounds.game.parse::<GameName>() else { return };
    let begun = bus::now();
    while let Some(next) = rounds.next(begun, bus::now()) {
        let left = u64::try_from(next - bus::now()).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(left)).await;
        if bus::now() < next {
            continue;
        }
        let (keys, seekers) = hall.lobby().waiting_for(&game);
        let (method, seed) = (rounds.pairing, rand::random());
        // Many who wait take a while to pair; the games of this thread go on meanwhile.
        let paired = tokio::task::spawn_blocking(move || pair(&seekers, method, seed)).await;
        if let Ok(paired) = paired {
            hall.lobby().begin_round(&game, &keys, &paired, &bus);
        }
    }
}

impl Lobby {
    fn waiting_for(&self, game: &GameName) -> (Vec<Key>, Vec<Seeker>) {
        let pages = self.ledger.read();
        let waiting = self
            .players
            .iter()
            .filter(|(_, player)| matches!(&player.status, Status::GameWaiting(name, _) if name == game));
        let seeker = |name: &str, id: &str| self.seeker(&pages, name, id);
        waiting.map(|(key, player)| (*key, seeker(&player.name, &player.id))).unzip()
    }

    fn seeker(&self, pages: &Pages, name: &str, id: &str) -> Seeker {
        let player = self.roster.player(id);
        Seeker { human: name.ends_with("_human"), ..pages.seeker(player, self.config.rating.mean) }
    }

    /// Begins the games of a round; who has left meanwhile is missed by its opponent, who waits for the next.
    fn begin_round(&mut self, game: &GameName, keys: &[Key], paired: &Paired, bus: &Bus) {
        if self.closing || paired.tables.is_empty() {
            return;
        }
        let round = self.ledger.read().round + 1;
        let waits = |lobby: &Self, key: Key| {
            let status = lobby.players.get(&key).map(|player| &player.status);
            matches!(status, Some(Status::GameWaiting(name, Wish::Either)) if name == game)
        };
        for &(black, white) in &paired.tables {
            let players = [keys[black], keys[white]];
            if players.into_iter().all(|key| waits(self, key)) {
                self.begin(game, players, round);
            }
        }
        if let Some(player) = paired.bye.and_then(|bye| self.players.get(&keys[bye])) {
            let player: PlayerId = self.roster.player(&player.id);
            bus.happened(Event::Bye { stage: 0, round, player, half_points: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(text: &str) -> RoundsConfig {
        toml::from_str(&format!("game = \"floodgate-300-10F\"\n{text}")).unwrap()
    }

    #[test]
    fn rounds_begin_at_their_minutes_in_their_hours() {
        let half_hours = rounds("minutes = [0, 30]");
        assert_eq!(half_hours.next(0, 0), Some(30 * MINUTE_MS), "not twice at the same instant");
        assert_eq!(half_hours.next(0, 30 * MINUTE_MS), Some(HOUR_MS));
        let nightly = rounds("minutes = [15]\nhours = [3, 22]");
        assert_eq!(nightly.next(0, 4 * HOUR_MS), Some(22 * HOUR_MS + 15 * MINUTE_MS));
        assert_eq!(nightly.next(0, 23 * HOUR_MS), Some(27 * HOUR_MS + 15 * MINUTE_MS));
        assert_eq!(rounds("every = \"90s\"").next(1000, 91_000), Some(181_000));
    }

    #[test]
    fn a_schedule_that_cannot_be_kept_is_refused() {
        assert_eq!(rounds("minutes = [0]").fault(), None);
        assert_eq!(rounds("every = \"90s\"").fault(), None);
        for bad in ["", "minutes = [60]", "hours = [24]\nminutes = [0]", "every = \"0s\"", "every = \"x\""] {
            assert!(rounds(bad).fault().is_some(), "{bad}");
        }
        assert!(rounds("minutes = [0]\nevery = \"90s\"").fault().is_some());
        let other = RoundsConfig { game: "test-300-0".to_owned(), ..rounds("minutes = [0]") };
        assert!(other.fault().unwrap().contains("floodgate-300-10F"));
    }
}
