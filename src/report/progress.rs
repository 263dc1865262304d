//! How an event stands while it is played, as a line of text: score, Elo, the sequential test, the time to the end.

use super::EventInfo;
use notation::printable;
use referee::{
    entry::{Entry, PlayerId, Stamped},
    rating::{Pentanomial, fit, signed},
    sprt::Sprt,
    stage::Format,
    standings::Standings,
};

/// Games between two lines, where nobody says.
pub const GAMES: u64 = 10;

/// Milliseconds after which the end of a game is worth a line, however few games ended since the last.
const PAUSE: i64 = 60_000;

/// Most players of a field in a line.
const SHOWN: usize = 8;

/// Follows an event and says how it stands, every so many games and at least once a minute while games end.
#[derive(Debug)]
pub struct Progress {
    info: EventInfo,
    standings: Standings,
    test: Option<Sprt>,
    total: Option<u64>,
    every: u64,
    games: u64,
    /// When this run began, in ms since 1970, and with how many games.
    begun: Option<(i64, u64)>,
    /// When the last line was due, and at how many games.
    told: (i64, u64),
}

impl Progress {
    /// The progress of an event with a known number of games, if it has one, that stands like this now; a line every
    /// `every` games, and none for 0.
    #[must_use]
    pub fn new(info: EventInfo, total: Option<u64>, standings: Standings, every: u64) -> Self {
        let most = info.stages.iter().find_map(|stage| match stage.format {
            Format::Sprt { max_games } => Some(max_games),
            _ => None,
        });
        let games = standings.total().games();
        let test = info.sprt.and_then(|plan| plan.test().ok());
        let (total, begun, told) = (total.or(most), None, (0, games));
        Self { info, standings, test, total, every, games, begun, told }
    }

    /// Takes an entry; a line if one is due after it. The end is left to the report.
    pub fn take(&mut self, stamped: &Stamped) -> Option<String> {
        self.standings.fold(&stamped.entry);
        if self.begun.is_none() {
            self.begun = Some((stamped.at, self.games));
            self.told.0 = stamped.at;
        }
        let Entry::GameEnded(end) = &stamped.entry else { return None };
        if !end.outcome.counts() || end.replayed {
            return None;
        }
        self.games += 1;
        let over = self.total.is_some_and(|total| self.games >= total) || self.standings.verdict().is_some();
        let (at, games) = self.told;
        let due = self.games - games >= self.every || stamped.at - at >= PAUSE;
        if self.every == 0 || over || !due {
            return None;
        }
        self.told = (stamped.at, self.games);
        Some(self.line(stamped.at))
    }

    fn line(&self, now: i64) -> String {
        let most = if self.test.is_some() { "at most " } else { "" };
        let of = self.total.map(|total| format!(" of {most}{total}")).unwrap_or_default();
        let standing = if self.standings.players() == 2 { self.duel() } else { self.field() };
        let (test, left) = (self.test().unwrap_or_default(), self.left(now, most).unwrap_or_default());
        format!("after {}{of} games: {standing}{test}{left}", self.games)
    }

    fn name(&self, player: PlayerId) -> String {
        printable(self.info.player(player).as_bytes())
    }

    /// The score of two players and the difference in their strength.
    fn duel(&self) -> String {
        let [first, second] = [PlayerId(0), PlayerId(1)];
        let total = self.standings.total();
        let wdl = total.between(first, second);
        let half = |wins: u64| wins as f64 + wdl.draws as f64 / 2.0;
        let (wins, losses) = (half(wdl.wins), half(wdl.losses));
        let words = total.numbers(first, second).elo_words();
        format!("{} {wins} : {losses} {}, {words}", self.name(first), self.name(second))
    }

    /// The best players in the order of the standings, with their points.
    fn field(&self) -> String {
        let ratings = fit(&self.standings.cross_table());
        let order = self.standings.order(&ratings);
        let player = |(at, player): (usize, &PlayerId)| {
            let games = self.standings.total().players[player.index()].games();
            let (points, played) = (games.half_points() as f64 / 2.0, games.games());
            let elo = ratings.players[player.index()].elo;
            let error = elo.error().map(|error| format!(" +-{error:.0}")).unwrap_or_default();
            let mark = if elo.is_bounded() { "" } else { "~" };
            let elo = elo.value().map(|value| format!(" ({mark}{}{error} Elo)", signed(value, 0)));
            format!("{}. {} {points}/{played}{}", at + 1, self.name(*player), elo.unwrap_or_default())
        };
        let shown = order.iter().enumerate().take(SHOWN).map(player).collect::<Vec<_>>().join(", ");
        match order.len().saturating_sub(SHOWN) {
            0 => shown,
            others => format!("{shown}, and {others} more"),
        }
    }

    fn test(&self) -> Option<String> {
        let (test, pairs) = (self.test?, self.standings.sequence()?.in_order.pentanomial);
        let standing = test.standing(&Pentanomial(pairs).into()).ok()?;
        Some(format!("; LLR {:.2} in [{:.2}, {:.2}]", standing.llr, standing.lower, standing.upper))
    }

    /// The time to the end at the pace of this run.
    fn left(&self, now: i64, most: &str) -> Option<String> {
        let (begun, before) = self.begun?;
        let (played, left) = (self.games - before, self.total?.saturating_sub(self.games));
        let seconds = (now - begun).max(0) as f64 / 1000.0 / played as f64 * left as f64;
        let about = if most.is_empty() { "about " } else { most };
        Some(format!("; {about}{} to the end", time(seconds)))
    }
}

/// A time in the unit that a person would take.
fn time(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_the_unit_a_person_would_take() {
        let words = [0.0, 89.0, 90.0, 5399.0, 5400.0, 172_799.0, 300_000.0].map(time);
        assert_eq!(words, ["0 s", "89 s", "2 min", "90 min", "1.5 h", "48.0 h", "3.5 days"]);
    }
}
