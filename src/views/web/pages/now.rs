//! What is played now.

use crate::{
    Site,
    archive::Search,
    components::letter,
    game::Game,
    layout::Page,
    lists::{Line, sign},
    live::Live,
    parts::{Json, embedded, to_json},
    visitor::Visitor,
};
use axum::{Extension, extract::State};
use journal::now;
use maud::{Markup, html};
use parking_lot::Mutex;
use report::{EventHistory, PlayerRow, exhibit::minus, plot::plain};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use words::Language;

/// Games whose boards are shown; of more the first, as nobody looks at more at once.
const BOARDS: usize = 200;
/// Players of the table beside the boards.
const TOP: usize = 10;
/// Least age of what is played before it is made anew.
const FRESH: Duration = Duration::from_millis(100);

/// What is played, as the page's script begins with it. Made once for all viewers who come at about the same time.
#[derive(Debug)]
pub struct Now {
    /// Without the time, which is each viewer's own.
    json: String,
    games: Vec<Game>,
    made: Instant,
    took: Duration,
}

/// What was played when it was shown last, in English and in Japanese.
pub type Kept = Arc<[Mutex<Option<Arc<Now>>>; 2]>;

#[derive(Serialize)]
struct Shown<'a> {
    since: String,
    event: String,
    closed: bool,
    causes: BTreeMap<&'static str, &'static str>,
    games: &'a [Game],
}

impl Now {
    /// What is played, and the id from which the stream goes on.
    pub fn of(site: &Site, kept: &Kept, language: Language) -> Arc<Self> {
        let mut kept = kept[language.pick(0, 1)].lock();
        // The stream tells what has happened since.
        let fresh = |now: &&Arc<Self>| now.made.elapsed() < FRESH.max(8 * now.took);
        if let Some(now) = kept.as_ref().filter(fresh) {
            return now.clone();
        }
        let now = Arc::new(Self::make(site, language));
        *kept = Some(now.clone());
        now
    }

    fn make(site: &Site, language: Language) -> Self {
        let made = Instant::now();
        // The id first: what comes in between is told twice rather than not at all.
        let since = site.0.relay.last().to_string();
        let read = |live: &Live| {
            let shown = |game| Game::listed(game, live.players(game));
            (live.games.values().take(BOARDS).map(shown).collect(), live.closed)
        };
        let (games, closed): (Vec<Game>, bool) = site.now(read).unwrap_or_default();
        let event = plain(site.event());
        let json =
            to_json(&Shown { since, event, closed, causes: language.causes().collect(), games: &games });
        Self { json, games, made, took: made.elapsed() }
    }

    /// The JSON with the server's time.
    pub fn text(&self) -> String {
        format!("{{\"now\":{},{}", now(), &self.json[1..])
    }
}

/// The page.
pub async fn page(State(site): State<Site>, Extension(kept): Extension<Kept>, visitor: Visitor) -> Page {
    let words = visitor.language;
    let shown = Now::of(&site, &kept, words);
    let recent =
        site.ask(|desk| desk.search(&Search::default())).await.map(|found| found.games).unwrap_or_default();
    let history = site.ask(|desk| desk.history()).await.ok();
    let is_over = site.now(|live| live.closed).unwrap_or(false);
    let over = history.as_ref().filter(|_| is_over).and_then(|history| history.report.outcome_words(words));
    let content = html! {
        div.head {
            h1 { (words.now()) }
            p.facts { span id="running" { (shown.games.len()) } span id="link" role="status" {} @if !is_over { " · " (words.side_of_evaluations()) } }
        }
        p id="told" role="status" { @if let Some(words) = &over { (words) } }
        form.filter {
            input id="filter" type="search" placeholder=(words.player_or_number()) aria-label=(words.filter_games()) autocomplete="off";
            select id="sort" aria-label=(words.sort_games()) {
                option value="number" { (words.in_their_order()) }
                option value="close" { (words.closest_first()) }
                option value="decided" { (words.most_decided_first()) }
                option value="long" { (words.longest_first()) }
            }
        }
        div.overview { div { div id="boards" {}
        @if !is_over && site.places().any(|(path, _)| path == "/register") { p.next { (words.next_game_waits()) " " a href="/register" { (words.take_part()) } } }
        noscript { ul { @for game in &shown.games { li { a href=(format!("/games/{}", game.number)) { (game.label()) " ☗ " (game.names[0]) " – ☖ " (game.names[1]) } } } } }
        } div.halves {
            @if let Some(history) = &history { (table(words, history)) }
            (last_results(words, &recent))
        } }
        (embedded(&shown.text()))
    };
    Page::new(words.now(), "/", content).with(&["board.js", "live.js", "now.js"])
}

/// The first of the table with the intervals of their Elo; of a test what it says by now.
fn table(words: Language, history: &EventHistory) -> Markup {
    let rows: Vec<&PlayerRow> =
        history.report.standings.iter().filter(|row| row.games > 0).take(TOP).collect();
    // A test has one Elo, which knows of its stop; ratings of its two players would be others.
    let is_test = history.report.sprt.is_some();
    let ends = |row: &&PlayerRow| Some((row.elo.value()?, row.elo.error()?)).filter(|_| !is_test);
    let known = || rows.iter().filter_map(ends);
    let low = known().map(|(elo, error)| elo - error).fold(0.0, f64::min);
    let high = known().map(|(elo, error)| elo + error).fold(0.0, f64::max);
    let verdict = report::html::verdict(history, words);
    if rows.is_empty() && verdict.is_none() {
        return html! { section id="standings" {} };
    }
    let at = |elo: f64| 100.0 * (elo - low) / (high - low).max(1.0);
    html! { section id="standings" {
        h2 { a href="/table" { (words.standings()) } }
        @if let Some((class, verdict)) = verdict { p.verdict.(class) { (verdict) } }
        @if let Some(prospect) = report::html::prospect(history, words) { p { (prospect) } }
        @if is_test { (report::html::duel(history, words)) }
        @if !rows.is_empty() { div.scroll.sheet tabindex="0" role="region" aria-label=(words.standings()) { table { tbody {
            @for row in &rows { tr {
                td.name { span.quiet { (row.rank) } " " (letter(&row.name)) " " a href=(format!("/players/{}", row.player.0)) { (plain(&row.name)) } }
                td { (row.points.shortest()) " / " (row.games) }
                @if let Some((elo, error)) = ends(row) {
                    td.interval { svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                        line.zero x1=(at(0.0)) x2=(at(0.0)) y1="0" y2="10" {}
                        line.whisker x1=(at(elo - error)) x2=(at(elo + error)) y1="5" y2="5" {}
                        line.value x1=(at(elo)) x2=(at(elo)) y1="1" y2="9" {}
                    } }
                    td { b { (minus(&format!("{elo:+.0}"))) } " " span.quiet { "±" (format!("{error:.0}")) } }
                } @else { td {} td {} }
            } }
        } } } }
        (report::html::digest(history, words))
    } }
}

fn last_results(words: Language, recent: &[Line]) -> Markup {
    html! {
        section id="recent" hidden[recent.is_empty()] {
            h2 { (words.last_results()) }
            div.scroll { table.games { tbody id="results" {
                @for game in recent.iter().take(20) { tr {
                    td { a href=(format!("/games/{}", game.number)) { "#" (game.number) } }
                    td.name.won[game.result == "black"] { "☗ " (game.names[0]) }
                    td.result { (sign(game.result)) }
                    td.name.won[game.result == "white"] { "☖ " (game.names[1]) }
                    td.name { (words.cause(&game.cause)) }
                    td { (game.plies) }
                } }
            } } }
        }
    }
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, Extension(kept): Extension<Kept>, visitor: Visitor) -> Json {
    Json::text(Now::of(&site, &kept, visitor.language).text())
}
