//! How an event stands while it is played, as a line of text: score, Elo, the sequential test, the time to the end.

use super::{
    EventInfo, Language, Named,
    encounters::{alike_words, distinct_points, halves},
    precision::error_words,
};
use contest::standings::Standings;
use notation::printable;
use referee::{
    entry::{Entry, GameId, PlayerId, Stamped},
    operation::Action,
    rating::{Pentanomial, fit, signed},
    sprt::Sprt,
};
use std::collections::BTreeSet;

/// How often a line is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// After so many games; never for 0.
    Games(u64),
    /// After ten games, but at most once in two seconds, so that a fast event does not fill the terminal.
    Paced,
}

/// Games between two lines of [`Interval::Paced`].
const GAMES: u64 = 10;

/// Least milliseconds between two lines of [`Interval::Paced`].
const PACE: i64 = 2_000;

/// Milliseconds after which the end of a game is worth a line, however few games ended since the last.
const PAUSE: i64 = 60_000;

/// Milliseconds after which an entry is too old for a line: whoever reads late catches up first.
const LATE: i64 = 5_000;

/// Most players of a field in a line.
const SHOWN: usize = 8;

/// Follows an event and prints its score, every so many games and at least once a minute while games end.
#[derive(Debug)]
pub struct Progress {
    info: EventInfo,
    standings: Standings,
    test: Option<Sprt>,
    total: Option<u64>,
    interval: Interval,
    games: u64,
    /// Games that were discarded by the operator's order.
    discarded: BTreeSet<GameId>,
    /// When this run began, in ms since 1970, and with how many games.
    begun: Option<(i64, u64)>,
    /// When the last line was due, and at how many games.
    told: (i64, u64),
}

impl Progress {
    /// The progress of an event with a known number of games, if it has one, that stands like this now; a line at
    /// every `interval`.
    pub fn new(info: EventInfo, total: Option<u64>, standings: Standings, interval: Interval) -> Self {
        let most = info.stages.iter().find_map(|stage| stage.format.most_games());
        let games = standings.total().games();
        let test = info.sprt.and_then(|plan| plan.test().ok());
        let (total, begun, told) = (total.or(most), None, (0, games));
        let discarded = BTreeSet::new();
        Self { info, standings, test, total, interval, games, discarded, begun, told }
    }

    /// Takes an entry, `now` in ms since 1970; a line if one is due after it. The end is left to the report.
    pub fn take(&mut self, stamped: &Stamped, now: i64) -> Option<String> {
        self.standings.fold(&stamped.entry);
        if self.begun.is_none() {
            self.begun = Some((stamped.at, self.games));
            self.told.0 = stamped.at;
        }
        match &stamped.entry {
            Entry::Operator(operation) => self.correct(&operation.action),
            Entry::Entered { player, name } if player.index() == self.info.engines.len() => {
                self.info.engines.push(Named::whole(name));
            }
            _ => {}
        }
        let Entry::GameEnded(end) = &stamped.entry else { return None };
        if !end.outcome.counts() || end.replayed {
            return None;
        }
        self.games += 1;
        let over = self.total.is_some_and(|total| self.games >= total) || self.standings.verdict().is_some();
        if over || now - stamped.at > LATE || !self.is_due(stamped.at) {
            return None;
        }
        self.told = (stamped.at, self.games);
        Some(self.line(stamped.at))
    }

    fn is_due(&self, now: i64) -> bool {
        let (at, games) = self.told;
        let (since, passed) = (self.games.saturating_sub(games), now - at);
        if passed < self.rest() {
            return false;
        }
        match self.interval {
            Interval::Games(0) => false,
            Interval::Games(every) => since >= every || passed >= PAUSE,
            Interval::Paced => (since >= GAMES && passed >= PACE) || passed >= PAUSE,
        }
    }

    /// Least milliseconds between two lines of a field, many times what rating it takes.
    fn rest(&self) -> i64 {
        let players = i64::try_from(self.standings.players()).unwrap_or(i64::MAX);
        (players.saturating_mul(players) / 100).min(PAUSE)
    }

    /// Takes an order of the operator about games that are over: the standings count them anew.
    fn correct(&mut self, action: &Action) {
        if matches!(
            action,
            Action::Joined { .. }
                | Action::Withdrawn { .. }
                | Action::Disqualified { .. }
                | Action::ByeGiven { .. }
        ) {
            self.total = self.standings.games_to_play();
        }
        let Some((game, _, _, is)) = action.correction() else { return };
        match is {
            None => _ = self.discarded.insert(game),
            Some(_) => _ = self.discarded.remove(&game),
        }
        self.games = self.standings.total().games();
        self.told.1 = self.told.1.min(self.games);
    }

    fn line(&self, now: i64) -> String {
        let is_test = self.info.stages.iter().any(|stage| stage.format.is_sequential());
        let most = if is_test { "at most " } else { "" };
        let of = self.total.map(|total| format!(" of {most}{total}")).unwrap_or_default();
        let discarded = match self.discarded.len() {
            0 => String::new(),
            games => format!(" ({games} discarded)"),
        };
        let standing = if self.standings.players() == 2 { self.duel() } else { self.field() };
        let (test, left) = (self.test().unwrap_or_default(), self.left(now, most).unwrap_or_default());
        let distinct = match self.standings.total().distinct_games() {
            distinct if distinct < self.games => format!(", {distinct} distinct"),
            _ => String::new(),
        };
        format!("after {}{of} games{distinct}{discarded}: {standing}{test}{left}", self.games)
    }

    fn name(&self, player: PlayerId) -> String {
        printable(self.info.player(player).as_bytes())
    }

    /// The score of two players and the difference in their strength.
    fn duel(&self) -> String {
        let [first, second] = [PlayerId(0), PlayerId(1)];
        let total = self.standings.total();
        let [wins, losses] = halves(total.between(first, second));
        let distinct = distinct_points(total, [first, second], Language::English);
        let words = total.numbers(first, second).elo_words();
        let pairs = total.pentanomial(first, second).iter().sum();
        let games = total.between(first, second).games();
        let alike = alike_words(games, total.alike_pairs(first, second), pairs, Language::English);
        let alike = alike.map(|words| format!("; {words}")).unwrap_or_default();
        format!("{} {wins} : {losses} {}{distinct}, {words}{alike}", self.name(first), self.name(second))
    }

    /// The best players in the order of the standings, with their points.
    fn field(&self) -> String {
        let ratings = fit(&self.standings.cross_table());
        let order = self.standings.order(&ratings);
        let player = |(rank, player): &(u32, PlayerId)| {
            let played = self.standings.total().players[player.index()].games().games();
            let points = self.standings.points(*player).shortest();
            let elo = ratings.players[player.index()].elo;
            let error = elo.error().map(|error| format!(" +-{error:.0}")).unwrap_or_default();
            let mark = if elo.is_bounded() { "" } else { "~" };
            let elo = elo.value().map(|value| format!(" ({mark}{}{error} Elo)", signed(value, 0)));
            format!("{rank}. {} {points}/{played}{}", self.name(*player), elo.unwrap_or_default())
        };
        let shown = order.iter().take(SHOWN).map(player).collect::<Vec<_>>().join(", ");
        match order.len().saturating_sub(SHOWN) {
            0 => shown,
            others => format!("{shown}, and {others} more"),
        }
    }

    fn test(&self) -> Option<String> {
        let pairs = self.standings.sequence()?.in_order.pentanomial;
        if let Some(asked) = contest::stage::precision(&self.info.stages) {
            let error = asked.known(pairs).and_then(|known| known.error());
            return Some(format!("; known within {}, enough is {asked}", error_words(error)));
        }
        let test = self.test?;
        let standing = test.standing(&Pentanomial(pairs).into()).ok()?;
        Some(format!("; LLR {:.2} in [{:.2}, {:.2}]", standing.llr, standing.lower, standing.upper))
    }

    /// The time to the end at the pace of this run.
    fn left(&self, now: i64, most: &str) -> Option<String> {
        let (begun, before) = self.begun?;
        let (played, left) =
            (self.games.saturating_sub(before).max(1), self.total?.saturating_sub(self.games));
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
    use contest::{
        schedule::Pairing,
        stage::{Format, Stage},
        standings::RankingRules,
    };
    use referee::{
        Color, Outcome, WinBy,
        entry::GameEnded,
        operation::{NamedGame, Operation},
    };

    fn progress(interval: Interval) -> Progress {
        let stages = vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 2, ..Stage::default() }];
        let info = EventInfo {
            name: "event".to_owned(),
            stages,
            ranking: RankingRules::default(),
            sprt: None,
            fault_limits: vec![],
            engines: ["a", "b"].map(crate::Named::whole).into(),
            format: String::new(),
            open: false,
            tuning: None,
            commits: None,
        };
        let standings = info.standings();
        Progress::new(info, Some(1_000_000), standings, interval)
    }

    fn pairing(game: u64) -> Pairing {
        let (black, white) = (PlayerId(0), PlayerId(1));
        Pairing { stage: 0, index: game, attempt: 0, round: 1, pair: game / 2, opening: 0, black, white }
    }

    const WON: Outcome = Outcome::Win { winner: Color::Black, by: WinBy::Mate };

    fn end(game: u64, at: i64) -> Stamped {
        let pairing = pairing(game);
        let ended = GameEnded::new(GameId(game), pairing, WON, 9);
        Stamped { at, entry: Entry::GameEnded(ended) }
    }

    /// Takes an entry when it happens.
    fn take(progress: &mut Progress, stamped: &Stamped) -> Option<String> {
        progress.take(stamped, stamped.at)
    }

    #[test]
    fn a_thousand_games_in_ten_seconds_are_four_lines_and_a_hundred_where_ten_games_were_asked_for() {
        let lines = |interval| {
            let mut progress = progress(interval);
            (1..=1000).filter_map(|game| take(&mut progress, &end(game, 10 * game as i64))).count()
        };
        assert_eq!(lines(Interval::Paced), 4, "one in two seconds");
        assert_eq!(lines(Interval::Games(10)), 100);
        assert_eq!(lines(Interval::Games(0)), 0);
    }

    #[test]
    fn slow_games_have_a_line_a_minute() {
        let mut progress = progress(Interval::Paced);
        let lines = (1..=10).filter_map(|game| take(&mut progress, &end(game, 60_000 * game as i64))).count();
        assert_eq!(lines, 9);
    }

    #[test]
    fn whoever_reads_late_skips_the_lines_that_were_due_and_tells_how_it_stands_when_it_has_caught_up() {
        let mut progress = progress(Interval::Games(10));
        let late = (1..=1000).filter_map(|game| progress.take(&end(game, 10 * game as i64), 60_000)).count();
        assert_eq!(late, 0);
        let line = progress.take(&end(1001, 59_000), 60_000).unwrap();
        assert!(line.starts_with("after 1001 of"), "{line}");
    }

    #[test]
    fn the_more_players_there_are_to_rate_the_rarer_are_the_lines() {
        let lines = |players: usize| {
            let mut progress = progress(Interval::Games(1));
            progress.info.engines = (0..players).map(|player| Named::whole(&player.to_string())).collect();
            progress.standings = progress.info.standings();
            (1..=100).filter_map(|game| take(&mut progress, &end(game, 100 * game as i64))).count()
        };
        assert_eq!([2, 8, 400].map(lines), [100, 100, 6]);
    }

    #[test]
    fn games_that_were_discarded_leave_the_count_and_are_told() {
        let mut progress = progress(Interval::Games(1));
        (1..=4).for_each(|game| _ = take(&mut progress, &end(game, 1000)));
        for game in [2, 3] {
            let names = ["a", "b"].map(str::to_owned);
            let [black, white] = names;
            let named = NamedGame { game: GameId(game), black, white, round: 1 };
            let action = Action::Replayed { game: named, pairing: pairing(game), was: WON };
            let operation =
                Operation { number: game, by: "op".to_owned(), reason: String::new(), undoes: None, action };
            take(&mut progress, &Stamped { at: 1000, entry: Entry::Operator(Box::new(operation)) });
        }
        let line = take(&mut progress, &end(5, 2000)).unwrap();
        assert!(line.starts_with("after 3 of 1000000 games (2 discarded): a 3 : 0 b"), "{line}");
    }

    #[test]
    fn points_of_distinct_games_stand_beside_those_of_all_and_builds_that_play_alike_are_told() {
        let mut progress = progress(Interval::Games(4));
        let swapped = |game: u64| match pairing(game) {
            second if game % 2 == 1 => Pairing { black: second.white, white: second.black, ..second },
            first => first,
        };
        let played = |game: u64| {
            let ended =
                GameEnded { moves_hash: Some(7), ..GameEnded::new(GameId(game), swapped(game), WON, 9) };
            Stamped { at: 1000, entry: Entry::GameEnded(ended) }
        };
        let line = (0..4).find_map(|game| take(&mut progress, &played(game))).unwrap();
        assert!(line.contains("2 distinct: a 2 : 2 b (1 : 1 in distinct games), +0 Elo"), "{line}");
        assert!(!line.contains("both played the same moves"), "too few games for that: {line}");
        let line = (4..8).find_map(|game| take(&mut progress, &played(game))).unwrap();
        assert!(line.contains("both played the same moves in 1 of 1 pairs"), "{line}");
    }

    #[test]
    fn a_time_is_told_in_the_unit_a_person_would_take() {
        let words = [0.0, 89.0, 90.0, 5399.0, 5400.0, 172_799.0, 300_000.0].map(time);
        assert_eq!(words, ["0 s", "89 s", "2 min", "90 min", "1.5 h", "48.0 h", "3.5 days"]);
    }
}
