//! What is played now.

use crate::{
    Site,
    archive::Search,
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
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use words::Language;

/// Games whose boards are shown; of more the first, as nobody looks at more at once.
const BOARDS: usize = 200;
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
        let event = report::plot::plain(site.event());
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
    let over = site.now(|live| live.closed).unwrap_or(false);
    let over = if over { outcome(&site, words).await } else { None };
    let content = html! {
        div.head {
            h1 { (words.now()) }
            p.facts { span id="running" { (shown.games.len()) } span id="link" role="status" {} }
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
        p.note { (words.side_of_evaluations()) }
        div id="boards" {}
        noscript { ul { @for game in &shown.games { li { a href=(format!("/games/{}", game.number)) { (game.label()) " ☗ " (game.names[0]) " – ☖ " (game.names[1]) } } } } }
        (last_results(words, &recent))
        (embedded(&shown.text()))
    };
    Page::new(words.now(), "/", content).with(&["board.js", "live.js", "now.js"])
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

/// The result of an event that is over, in words.
async fn outcome(site: &Site, language: Language) -> Option<String> {
    let history = site.ask(|desk| desk.history()).await.ok()?;
    history.report.outcome_words(language)
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, Extension(kept): Extension<Kept>, visitor: Visitor) -> Json {
    Json::text(Now::of(&site, &kept, visitor.language).text())
}
