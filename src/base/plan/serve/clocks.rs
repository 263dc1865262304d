//! Clocks of an open league: from the name of the game, or from a player's own time, to what both players are told.

use super::{Compat, DAY, ServeConfig};
use crate::{
    keys::{
        Fallback::Needed,
        Kind::{Integer, Text},
    },
    settings::settings,
};
use notation::csa::{
    game_name::GameName,
    summary::{Span, TimeUnit, Times},
};
use referee::clock::{Accounting, TimeControl};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Longest silence in a game without clocks.
const UNTIMED: Duration = Duration::from_secs(24 * 3600);

/// Unit of clocks and announced times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Whole seconds.
    #[default]
    Sec,
    /// Whole milliseconds.
    Msec,
}

impl Counted {
    /// How clocks are counted that are announced in this unit.
    pub(crate) fn accounting(self) -> Accounting {
        match self {
            Self::Sec => Accounting::Seconds,
            Self::Msec => Accounting::Milliseconds,
        }
    }
}

settings! {
    /// `[[serve.time]]`: a time that one player has in all its games, whatever their names say.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct PlayerTime in "`[[serve.time]]`", "A time that one player has in all its games, whatever their names say. At \
        least one of the three times is above 0.";

    player: String = (String::new()) shown Needed, Text, "name of the player, or name and trip as `%%WHO` shows them";
    total: u32 = 0, Integer(0, 365 * DAY), "main time in seconds";
    byoyomi: u32 = 0, Integer(0, DAY), "byoyomi in seconds";
    increment: u32 = 0, Integer(0, DAY), "Fischer increment in seconds";
}

impl ServeConfig {
    /// Unit of announced times.
    pub fn unit(&self) -> TimeUnit {
        match self.time_unit {
            Counted::Sec => TimeUnit::SECOND,
            Counted::Msec => TimeUnit::MILLISECOND,
        }
    }

    /// Clock of a player in a game of that name.
    pub fn clock(&self, game: &GameName, name: &str, id: &str) -> TimeControl {
        let own = self.time.iter().find(|own| own.player == name || own.player == id);
        let time = match own {
            Some(own) => {
                let times = [own.total, own.byoyomi, own.increment];
                let [main, byoyomi, increment] = times.map(|time| Duration::from_secs(time.into()));
                TimeControl { main, byoyomi, increment, ..TimeControl::default() }
            }
            None => game.time(),
        };
        let accounting = match time.accounting {
            Accounting::StopWatch => Accounting::StopWatch,
            _ => self.time_unit.accounting(),
        };
        let patience = if time.is_timed() { Duration::ZERO } else { UNTIMED };
        TimeControl { accounting, patience, least: self.least(), ..time }
    }

    /// The clocks as they are announced.
    ///
    /// shogi-server announces a stop-watch with the unit `1min` and counts that are seconds nevertheless. The
    /// protocol's text has no field for it, so only the main time is announced: a player who keeps to that never loses
    /// on time.
    pub fn announced(&self, times: &[TimeControl; 2]) -> Times {
        let mut announced = Times::counted(times, self.unit());
        let last = times.len() - 1;
        for (at, block) in announced.blocks_mut().iter_mut().enumerate() {
            if times[at.min(last)].accounting == Accounting::StopWatch {
                match self.compat {
                    Compat::ShogiServer => block.unit = Some(TimeUnit { count: 1, of: Span::Min }),
                    Compat::Protocol => block.byoyomi = Some(0),
                }
            }
        }
        announced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(config: &ServeConfig, game: &str) -> String {
        let name = game.parse().unwrap();
        let times = ["a", "b"].map(|player| config.clock(&name, player, player));
        let summary = "BEGIN Game_Summary\nProtocol_Version:1.2\nFormat:Shogi 1.0\nName+:a\nName-:b\nTo_Move:+\n\
                       BEGIN Position\nPI\n+\nEND Position\nEND Game_Summary\n";
        let mut summary: notation::csa::summary::Summary = summary.parse().unwrap();
        summary.times = config.announced(&times);
        let text = summary.to_string();
        let from = text.find("BEGIN Time").unwrap();
        text[from..text.find("BEGIN Position").unwrap()].replace('\n', " ").trim_end().to_owned()
    }

    #[test]
    fn a_player_with_a_time_of_its_own_has_it_beside_an_opponent_with_that_of_the_game() {
        let own = PlayerTime { player: "b".to_owned(), total: 0, byoyomi: 30, increment: 0 };
        let config = ServeConfig { time: vec![own], ..ServeConfig::default() };
        assert_eq!(
            told(&config, "t-600-10"),
            "BEGIN Time+ Time_Unit:1sec Total_Time:600 Byoyomi:10 Increment:0 Least_Time_Per_Move:0 END Time+ \
             BEGIN Time- Time_Unit:1sec Total_Time:0 Byoyomi:30 Increment:0 Least_Time_Per_Move:0 END Time-"
        );
    }

    #[test]
    fn milliseconds_are_told_and_counted() {
        let config = ServeConfig { time_unit: Counted::Msec, least_time: 1, ..ServeConfig::default() };
        assert_eq!(
            told(&config, "t-60-1F"),
            "BEGIN Time Time_Unit:1msec Total_Time:60000 Byoyomi:0 Increment:1000 Least_Time_Per_Move:1000 END Time"
        );
        let time = config.clock(&"t-60-1F".parse().unwrap(), "a", "a");
        let mut clock = referee::clock::Clock::new(time);
        let charged = clock.charge(Duration::from_micros(1_234_900)).unwrap();
        assert_eq!(charged.0, Duration::from_millis(1234));
    }

    #[test]
    fn a_stop_watch_is_told_as_shogi_server_does_or_without_its_byoyomi() {
        let config = ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() };
        assert!(told(&config, "t-600-060").contains("Time_Unit:1min Total_Time:600 Byoyomi:60"));
        let told = told(&ServeConfig::default(), "t-600-060");
        assert!(told.contains("Time_Unit:1sec Total_Time:600 Byoyomi:0"), "{told}");
    }

    #[test]
    fn a_game_without_clocks_ends_after_a_day_of_silence() {
        let time = ServeConfig::default().clock(&"t-0-0".parse().unwrap(), "a", "a");
        assert_eq!((time.is_timed(), time.patience), (false, UNTIMED));
    }
}
