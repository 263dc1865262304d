//! What is played now.

use super::{embedded, json_text};
use crate::{
    Site,
    archive::{self, Search},
    game::Game,
    layout::Page,
    visitor::{Lang, Visitor},
};
use axum::{extract::State, response::Response};
use journal::now;
use maud::html;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

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
    pub fn of(site: &Site, lang: Lang) -> Arc<Self> {
        let place = &site.0.now[usize::from(lang == Lang::Ja)];
        let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
        // The stream tells what has happened since.
        let fresh = |now: &&Arc<Self>| now.made.elapsed() < FRESH.max(8 * now.took);
        if let Some(now) = kept.as_ref().filter(fresh) {
            return now.clone();
        }
        let now = Arc::new(Self::make(site, lang));
        *kept = Some(now.clone());
        now
    }

    fn make(site: &Site, lang: Lang) -> Self {
        let made = Instant::now();
        // The id first: what comes in between is told twice rather than not at all.
        let since = site.0.relay.last().to_string();
        let read = |live: &crate::live::Live| {
            (
                live.games.values().take(BOARDS).map(|game| Game::listed(game, live.players(game))).collect(),
                live.closed,
            )
        };
        let (games, closed): (Vec<Game>, bool) = site.now(read).unwrap_or_default();
        let event = report::plot::plain(site.event());
        let shown = Shown { since, event, closed, causes: archive::causes(lang), games: &games };
        // It always serializes.
        let json = serde_json::to_string(&shown).unwrap_or_else(|_| "{}".to_owned());
        Self { json, games, made, took: made.elapsed() }
    }

    /// The JSON with the server's time.
    fn text(&self) -> String {
        format!("{{\"now\":{},{}", now(), &self.json[1..])
    }
}

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Response {
    let shown = Now::of(&site, visitor.lang);
    let recent =
        site.ask(|desk| desk.search(&Search::default())).await.map(|found| found.games).unwrap_or_default();
    let recent = &recent[..recent.len().min(20)];
    let over = site.now(|live| live.closed).unwrap_or(false);
    let over = if over { outcome(&site, visitor.lang).await } else { None };
    let title = visitor.say("Now", "対局中");
    let say = |en, ja| visitor.say(en, ja);
    let content = html! {
        div.head {
            h1 { (title) }
            p.facts { span id="running" { (shown.games.len()) } span id="link" role="status" {} }
        }
        p id="told" role="status" { @if let Some(words) = &over { (words) } }
        form.filter {
            input id="filter" type="search" placeholder=(say("player, number", "対局者、番号")) aria-label=(say("Filter the games", "絞り込み")) autocomplete="off";
            select id="sort" aria-label=(say("Sort the games", "並べ替え")) {
                option value="number" { (say("in their order", "番号順")) }
                option value="close" { (say("closest first", "接戦順")) }
                option value="decided" { (say("most decided first", "大差順")) }
                option value="long" { (say("longest first", "手数順")) }
            }
        }
        p.note { (say("eval for ☗: + is good for black, − for white", "評価値は☗側から: + は先手良し、− は後手良し")) }
        div id="boards" {}
        noscript { ul { @for game in &shown.games { li { a href=(format!("/games/{}", game.number)) { (game.label()) " ☗ " (game.names[0]) " – ☖ " (game.names[1]) } } } } }
        section id="recent" hidden[recent.is_empty()] {
            h2 { (say("Last results", "最近の結果")) }
            div.scroll { table.games { tbody id="results" {
                @for game in recent { tr {
                    td { a href=(format!("/games/{}", game.number)) { "#" (game.number) } }
                    td.name.won[game.result == "black"] { "☗ " (game.names[0]) }
                    td.result { (archive::sign(game.result)) }
                    td.name.won[game.result == "white"] { "☖ " (game.names[1]) }
                    td.name { (crate::game::cause_words(visitor.lang, &game.cause)) }
                    td { (game.plies) }
                } }
            } } }
        }
        (embedded(&shown.text()))
    };
    Page { title, place: "/", scripts: &["board.js", "live.js", "now.js"], content }.show(&site, &visitor)
}

/// The result of an event that is over, in words.
async fn outcome(site: &Site, lang: Lang) -> Option<String> {
    let history = site.ask(|desk| desk.history()).await.ok()?;
    history.report.outcome_words(lang.into())
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, visitor: Visitor) -> Response {
    json_text(Now::of(&site, visitor.lang).text())
}
