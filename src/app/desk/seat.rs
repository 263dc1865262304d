//! An engine on a server: where it is, when the next round begins, and its opponents with their ratings.

use crate::{Asked, Desk, publish::report_of};
use event::hall::{Now, Seen, Stage};
use journal::now;
use maud::{Markup, html};
use notation::csa::game_name::GameName;
use plan::{ClientConfig, Event};
use report::{Encounter, Report};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
    time,
};
use words::Language;

/// Seconds after which the page is loaded anew.
const AGAIN: u32 = 5;
/// Time between two rounds of floodgate, in ms.
const HALF_AN_HOUR: i64 = 30 * 60 * 1000;

/// An opponent: name, games, wins, losses, draws, and the public rating.
type Opponent = (String, u64, [u64; 3], Option<f64>);

/// What is known of a seat.
struct Seat {
    config: ClientConfig,
    seen: Option<Seen>,
    opponents: Vec<Opponent>,
}

impl Desk {
    fn seat(&self, name: &str) -> Result<Seat, Refusal> {
        let Event::Seat(config) = self.event(name)? else {
            return Err(Refusal::bad(Language::no_such_event));
        };
        let (seen, ratings) = match self.0.running.of(name) {
            Some(Now::Seat { presence, ratings }) => (Some(presence.seen()), Some(ratings)),
            _ => (None, None),
        };
        let report = report_of(&config.database, &config.name)?;
        let rating = |name: &str| match &ratings {
            Some(ratings) => ratings.of(name),
            None => config.ratings.get(name).copied(),
        };
        let opponents =
            report.as_ref().map(|report| met(report, &config.login.name, rating)).unwrap_or_default();
        Ok(Seat { config: *config, seen, opponents })
    }
}

/// The opponents of a player, those who were met most often first.
fn met(report: &Report, us: &str, rating: impl Fn(&str) -> Option<f64>) -> Vec<Opponent> {
    let of = |pair: &Encounter| {
        let (opponent, [wins, losses]) = pair.seen_by(us)?;
        let rating = rating(opponent.split('+').next().unwrap_or(opponent));
        Some((opponent.to_owned(), pair.games, [wins, losses, pair.draws], rating))
    };
    let mut met: Vec<Opponent> = report.pairs.iter().filter_map(of).collect();
    met.sort_by_key(|(_, games, ..)| std::cmp::Reverse(*games));
    met
}

/// The next round after a time, where games wait for the half hour.
fn next_round(game: &str, now: i64) -> Option<i64> {
    let waits = game.parse::<GameName>().is_ok_and(|game| game.is_floodgate());
    waits.then(|| (now.div_euclid(HALF_AN_HOUR) + 1) * HALF_AN_HOUR)
}

/// The page.
pub(crate) fn page(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let name = fields.text("event");
    let seat = desk.seat(name)?;
    let title = seat.config.name.clone();
    let content = html! {
        div.head { h1 { (title) } a href={ "/e/" (percent(name)) "/" } { (words.boards_and_evaluations()) } }
        (seat.state(words))
        p.quiet { (words.keep_it_awake()) }
        h2 { (words.opponents()) }
        @if seat.opponents.is_empty() { p { (words.none()) } } @else { (seat.table(words)) }
        p { a href={ "/e/" (percent(name)) "/table" } { (words.standings()) } }
    };
    Ok(Page::new(title, "/", content).with(&["times.js"]).again(AGAIN))
}

/// What an engine does on its server; `None`: it is stopped.
pub(crate) fn stage(stage: Option<Stage>, words: Language) -> &'static str {
    match stage {
        None => words.seat_rests(),
        Some(Stage::Arrives) => words.seat_arrives(),
        Some(Stage::Waits) => words.seat_waits(),
        Some(Stage::Plays) => words.seat_plays(),
        Some(Stage::Away) => words.seat_is_away(),
    }
}

impl Seat {
    fn state(&self, words: Language) -> Markup {
        let ClientConfig { host, port, login, .. } = &self.config;
        let seen = self.seen.as_ref();
        let stage = stage(seen.map(|seen| seen.stage), words);
        let now = now();
        let plays = seen.is_some_and(|seen| seen.stage == Stage::Plays);
        html! {
            dl.facts {
                dt { (words.host()) } dd { code { (host) ":" (port) } }
                dt { (words.name_on_the_server()) } dd { code { (login.name) } " · " code { (login.game) } }
                dt { (words.state()) }
                dd { strong role="status" { (stage) } @if let Some(seen) = seen.filter(|seen| seen.since > 0) { " (" (time(seen.since)) " –)" } }
                @if let Some(at) = next_round(&login.game, now).filter(|_| seen.is_some() && !plays) {
                    dt { (words.next_round()) } dd { (time(at)) " – " (words.in_so_long((at - now) / 60_000, (at - now) / 1000 % 60)) }
                }
                @if let Some(seen) = seen.filter(|seen| seen.failures > 0) {
                    dt { (words.reconnections()) } dd { (seen.failures) @if let Some(why) = &seen.last_failure { " – " (words.fault(why)) } }
                }
            }
        }
    }

    fn table(&self, words: Language) -> Markup {
        html! { div.scroll tabindex="0" role="region" aria-label=(words.opponents()) { table.games {
            thead { tr { th.name { (words.opponent()) } th { (words.public_rating()) } th { (words.game_column()) } th { (words.wins_losses_draws()) } } }
            tbody { @for (name, games, [wins, losses, draws], rating) in &self.opponents { tr {
                td.name { (name) }
                td { @match rating { Some(rating) => (format!("{rating:.0}")), None => "–" } }
                td { (games) }
                td { (wins) " – " (losses) " – " (draws) }
            } } }
        } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_of_floodgate_begins_at_the_half_hour_and_other_games_when_two_are_there() {
        let at = |minutes: i64| minutes * 60_000;
        assert_eq!(next_round("floodgate-300-10F", at(60)), Some(at(90)), "not twice at the same instant");
        assert_eq!(next_round("floodgate-300-10F", at(119)), Some(at(120)));
        assert_eq!(next_round("test-600-10", at(60)), None);
    }
}
