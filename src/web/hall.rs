//! Many events at one address: a list of them, and the pages of each below a path of its own.
//!
//! A request for `/e/NAME/...` is led to the pages of that event, which see the rest of the path as if they were alone;
//! `NAME` is looked up among the events that are here, and is never a path of the file system. The list can be searched
//! (`?find=`), and has what is still to be played, where the program says so. What strangers may cost is
//! counted once for all events: connections and requests by [`Limits`](crate::limits::Limits), work by [`Crowd`].

use crate::{
    Site, assets,
    crowd::Crowd,
    error::WebError,
    layout::{Frame, Page, percent, respond},
    pages::prefs,
    parts::{Json, time},
    refusals::Refusal,
    server::{Door, Front, Pages, Port, Room, Searched, Secure, limits, listeners},
    visitor::Visitor,
};
use axum::{
    Router,
    extract::{Path, Query, Request, State},
    http::{StatusCode, Uri, uri::PathAndQuery},
    middleware::{self, Next},
    response::{Redirect, Response},
    routing::get,
};
use maud::{Markup, html};
use parking_lot::{RwLock, RwLockReadGuard};
use percent_encoding::percent_decode_str;
use plan::HttpConfig;
use report::plot::plain;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};
use tokio::sync::mpsc;
use words::Language;

mod ledger;

use ledger::Ledger;
pub use ledger::MakeLedger;

/// What every path of an event begins with.
const EVENTS: &str = "/e/";
/// Most letters of a search.
const LETTERS: usize = 100;

/// The pages of many events at one address. Dropping it ends the connections.
#[derive(Debug)]
pub struct Hall {
    port: Port,
    rooms: Arc<Rooms>,
    crowd: Crowd,
    searched: mpsc::UnboundedSender<Searched>,
}

/// What an event does, beside what its entries say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Doing {
    /// Its games are played.
    Plays,
    /// Its games begin later.
    Waits,
    /// It was stopped before its end.
    Stopped,
}

/// An event without pages, as nothing of it was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Awaited {
    /// What it is called.
    pub title: String,
    /// What is to be known of it, in words; may be empty.
    pub note: String,
    /// Why it is not played yet.
    pub state: Awaits,
}

/// What an event without pages waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Awaits {
    /// Its turn.
    Turn,
    /// Somebody who approves it.
    Approval,
    /// The end of a pause.
    Resumption,
}

/// The events of an address.
#[derive(Debug)]
pub(crate) struct Rooms {
    name: String,
    events: RwLock<BTreeMap<String, Listed>>,
    awaited: RwLock<Vec<Awaited>>,
    ledger: Ledger,
    lobby: std::sync::OnceLock<Router>,
}

/// An event in the list.
#[derive(Clone, Debug)]
struct Listed {
    title: String,
    note: String,
    room: Room,
    total: Option<u64>,
    state: Doing,
}

impl Hall {
    /// Listens and serves a list without events; `name` is its title. `ledger` makes the ratings over all of them.
    ///
    /// # Errors
    /// When an address is taken, or a thread cannot be started.
    pub fn open(
        config: &HttpConfig,
        secure: Option<&Secure>,
        name: &str,
        ledger: MakeLedger,
    ) -> Result<Self, WebError> {
        let listeners = listeners(config, secure)?;
        let (events, awaited) = (RwLock::default(), RwLock::default());
        let ledger = Ledger::new(ledger);
        let rooms = Arc::new(Rooms { name: plain(name), events, awaited, ledger, lobby: Default::default() });
        // It cannot have been set before.
        let _first = rooms.lobby.set(lobby(&rooms));
        let (searched, inbox) = mpsc::unbounded_channel();
        let door = Door { limits: limits(config), front: Front::Hall(rooms.clone()) };
        let port = Port::open(listeners, door, inbox)?;
        Ok(Self { port, rooms, crowd: Crowd::default(), searched })
    }

    /// Addresses that the pages are on, and those by TLS.
    #[must_use]
    pub fn addresses(&self) -> (&[SocketAddr], &[SocketAddr]) {
        (&self.port.addresses, &self.port.secure)
    }

    /// What those who ask may cost, for the pages of every event.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        self.crowd.clone()
    }

    /// The path that the pages of an event are below.
    #[must_use]
    pub fn base(name: &str) -> String {
        format!("{EVENTS}{}", percent(name).replace('/', "%2F"))
    }

    /// Adds an event, or shows it anew; `title` is what it is called, `note` what is to be known of it, `total` the number of
    /// its games, if it is known.
    pub fn add(&self, name: &str, (title, note): (&str, &str), pages: &Pages, total: Option<u64>) {
        pages.search(&self.searched);
        let (title, note, room) = (title.to_owned(), note.to_owned(), pages.room.clone());
        let listed = Listed { title, note, room, total, state: Doing::Plays };
        self.rooms.events.write().insert(name.to_owned(), listed);
    }

    /// Takes an event off the list.
    pub fn remove(&self, name: &str) {
        self.rooms.events.write().remove(name);
    }

    /// Changes the note of an event.
    pub fn note(&self, name: &str, note: &str) {
        let mut events = self.rooms.events.write();
        events.get_mut(name).into_iter().for_each(|listed| note.clone_into(&mut listed.note));
    }

    /// Lists what is still to be played.
    pub fn awaits(&self, events: Vec<Awaited>) {
        *self.rooms.awaited.write() = events;
    }

    /// Tells what an event does now.
    pub fn tell(&self, name: &str, state: Doing) {
        let mut events = self.rooms.events.write();
        events.get_mut(name).into_iter().for_each(|listed| listed.state = state);
    }
}

impl Rooms {
    fn events(&self) -> RwLockReadGuard<'_, BTreeMap<String, Listed>> {
        self.events.read()
    }

    /// The pages of no event.
    pub(crate) fn lobby(&self) -> Router {
        self.lobby.get().cloned().unwrap_or_default()
    }

    /// The pages that an address asks for, with the rest of its path; `None`: the list, or an event that is not here.
    pub(crate) fn enter(&self, uri: &mut Uri) -> Option<Room> {
        let asked = uri.path_and_query()?.as_str();
        let (name, rest) = parted(asked)?;
        let name = percent_decode_str(name).decode_utf8().ok()?;
        let room = self.events().get(&*name)?.room.clone();
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
        *uri = Uri::from_parts(parts).ok()?;
        Some(room)
    }
}

/// The name of an event in a path, escaped, and the rest of the path, which begins with `/`.
pub(crate) fn parted(path: &str) -> Option<(&str, &str)> {
    let after = path.strip_prefix(EVENTS)?;
    let slash = after.find('/')?;
    Some(after.split_at(slash)).filter(|(name, _)| !name.contains('?'))
}

fn lobby(rooms: &Arc<Rooms>) -> Router {
    let dress = middleware::from_fn_with_state(rooms.clone(), dress);
    Router::new()
        .route("/", get(page))
        .route("/api/events", get(api))
        .route("/api/awaited", get(awaited_api))
        .route("/ledger", get(ledger::page))
        .route("/e/{name}", get(enter))
        .route("/prefs", get(prefs::choose))
        .route("/static/{name}", get(assets::serve))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, Language::no_page))
        .layer(dress)
        .with_state(rooms.clone())
}

async fn dress(State(rooms): State<Arc<Rooms>>, visitor: Visitor, request: Request, next: Next) -> Response {
    let (name, base, places, notice) = (rooms.name.clone(), String::new(), vec![], Markup::default());
    respond(request, next, &visitor, || Frame { name, base, places, notice, has_feed: false }).await
}

/// An event as the list shows it, as far as viewers may see it.
#[derive(Serialize)]
struct Row {
    name: String,
    path: String,
    event: String,
    note: String,
    format: String,
    state: &'static str,
    games: u64,
    total: Option<u64>,
    running: usize,
    leader: Option<String>,
    /// Time of the last entry, in ms since 1970-01-01 UTC.
    last: Option<i64>,
    #[serde(skip)]
    words: &'static str,
    #[serde(skip)]
    format_shown: String,
    #[serde(skip)]
    players: Vec<String>,
}

/// What a viewer looks for in the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Search {
    find: String,
}

impl Search {
    /// The words in small letters.
    fn words(&self) -> Result<Vec<String>, Refusal> {
        if self.find.chars().count() > LETTERS {
            return Err(Refusal::bad(|language| language.too_many_letters("find", LETTERS)));
        }
        Ok(self.find.split_whitespace().map(str::to_lowercase).collect())
    }
}

/// True if every word is a part of one of the texts.
fn fits<'a>(words: &[String], texts: impl Iterator<Item = &'a String> + Clone) -> bool {
    words.iter().all(|word| texts.clone().any(|text| text.to_lowercase().contains(word)))
}

async fn rows(rooms: &Rooms, search: &Search, language: Language) -> Result<Vec<Row>, Refusal> {
    let (words, events) = (search.words()?, rooms.events().clone());
    let mut rows = vec![];
    for (name, listed) in events {
        let row = row(&name, &listed, language).await;
        if fits(&words, [&row.name, &row.event, &row.note].into_iter().chain(&row.players)) {
            rows.push(row);
        }
    }
    Ok(rows)
}

fn awaited(rooms: &Rooms, search: &Search) -> Result<Vec<Awaited>, Refusal> {
    let words = search.words()?;
    let mut awaited = rooms.awaited.read().clone();
    awaited.retain(|event| fits(&words, [&event.title, &event.note].into_iter()));
    Ok(awaited)
}

async fn row(name: &str, Listed { title, note, room, total, state }: &Listed, language: Language) -> Row {
    let site: &Site = &room.site;
    let closed = site.now(|live| live.closed).unwrap_or(false);
    let (state, words) = match state {
        _ if closed => ("over", language.event_has_ended()),
        Doing::Plays => ("plays", language.event_plays()),
        Doing::Waits => ("waits", language.event_waits()),
        Doing::Stopped => ("stopped", language.event_stopped()),
    };
    // One that is too busy to say how it stands, or has not begun, is listed all the same.
    let history = site.ask(|desk| desk.history()).await.ok();
    let report = history.as_ref().map(|history| &history.report);
    let leader = report.and_then(|report| report.standings.first()).filter(|first| first.games > 0);
    let format = report.map(|report| report.format.clone()).unwrap_or_default();
    let japanese = report.map(|report| report.format_japanese.clone()).unwrap_or_default();
    Row {
        name: name.to_owned(),
        path: Hall::base(name) + "/",
        event: title.clone(),
        note: note.clone(),
        state,
        games: report.map_or(0, |report| report.games),
        total: *total,
        running: site.now(|live| live.games.len()).unwrap_or(0),
        leader: leader.map(|leader| leader.name.clone()),
        last: history.as_ref().and_then(|history| history.span).map(|(_, last)| last),
        words,
        players: report
            .map(|report| report.standings.iter().map(|row| row.name.clone()).collect())
            .unwrap_or_default(),
        format_shown: language.pick(format.clone(), japanese),
        format,
    }
}

/// Leads to the pages of an event, whose path ends with a slash.
async fn enter(State(rooms): State<Arc<Rooms>>, Path(name): Path<String>) -> Result<Redirect, Refusal> {
    match rooms.events().contains_key(&name) {
        true => Ok(Redirect::to(&(Hall::base(&name) + "/"))),
        false => Err(Refusal::new(StatusCode::NOT_FOUND, Language::no_page)),
    }
}

/// The list as JSON.
async fn api(State(rooms): State<Arc<Rooms>>, Query(search): Query<Search>) -> Result<Json, Refusal> {
    Ok(Json::of(&rows(&rooms, &search, Language::English).await?))
}

/// What is still to be played as JSON.
async fn awaited_api(State(rooms): State<Arc<Rooms>>, Query(search): Query<Search>) -> Result<Json, Refusal> {
    Ok(Json::of(&awaited(&rooms, &search)?))
}

/// The list.
async fn page(
    State(rooms): State<Arc<Rooms>>,
    visitor: Visitor,
    Query(search): Query<Search>,
) -> Result<Page, Refusal> {
    let words = visitor.language;
    let (rows, awaited) = (rows(&rooms, &search, words).await?, awaited(&rooms, &search)?);
    let is_empty = rows.is_empty() && awaited.is_empty();
    let content = html! {
        h1 { (words.all_events()) }
        @if !rows.is_empty() {
            p { a href="/ledger" { (words.ledger()) } " · " (words.ledger_about()) }
        }
        @if !is_empty || !search.find.is_empty() { (form(words, &search)) }
        @if is_empty && search.find.is_empty() { p { (words.no_event_yet()) } }
        @else if is_empty { p { (words.nothing_found()) } }
        @if !rows.is_empty() { (table(words, &rows)) }
        @if !awaited.is_empty() { (awaited_table(words, &awaited)) }
    };
    Ok(Page::new(words.all_events(), "/", content).with(&["times.js"]))
}

fn form(words: Language, search: &Search) -> Markup {
    html! {
        form.search action="/" method="get" role="search" {
            label {
                span { (words.event_or_player()) }
                input type="search" name="find" value=(search.find) maxlength=(LETTERS) autocomplete="off";
            }
            button { (words.search()) }
        }
    }
}

fn table(words: Language, rows: &[Row]) -> Markup {
    html! { div.scroll { table.games {
        thead { tr {
            th.name { (words.the_event()) }
            th.name { (words.state()) }
            th { (words.progress()) }
            th.name { (words.leader()) }
            th.name { (words.last_news()) }
        } }
        tbody { @for row in rows { tr {
            td.name {
                a href=(row.path) { (plain(&row.event)) } @if !row.format_shown.is_empty() { " · " (plain(&row.format_shown)) }
                @if !row.note.is_empty() { div.note { (plain(&row.note)) } }
            }
            td.name { (row.words) }
            td { (row.games) @if let Some(total) = row.total { " / " (total) } }
            td.name { (plain(row.leader.as_deref().unwrap_or("–"))) }
            td.name { @if let Some(last) = row.last { (time(last)) } }
        } } }
    } } }
}

fn awaited_table(words: Language, awaited: &[Awaited]) -> Markup {
    let state = |state| match state {
        Awaits::Turn => words.event_waits(),
        Awaits::Approval => words.event_unapproved(),
        Awaits::Resumption => words.event_paused(),
    };
    html! {
        h2 { (words.still_to_be_played()) }
        div.scroll { table.games {
            thead { tr { th.name { (words.the_event()) } th.name { (words.state()) } } }
            tbody { @for event in awaited { tr {
                td.name { (plain(&event.title)) @if !event.note.is_empty() { div.note { (plain(&event.note)) } } }
                td.name { (state(event.state)) }
            } } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_events_by_each_of_its_words_in_any_letters() {
        let search = |text: &str| Search { find: text.to_owned() }.words();
        let event = ["test-7", "Faster TT", "after the fix", "new 1a2b", "ポナンザ"].map(str::to_owned);
        for found in ["", "faster", "TT fix", "1A2B", "ポナ", "  test-7  "] {
            assert!(fits(&search(found).unwrap(), event.iter()), "{found}");
        }
        assert!(!fits(&search("faster slower").unwrap(), event.iter()));
        assert!(search(&"x".repeat(LETTERS)).is_ok() && search(&"x".repeat(LETTERS + 1)).is_err());
    }

    #[test]
    fn a_path_names_an_event_and_what_is_asked_of_it() {
        assert_eq!(parted("/e/cup/games/7?x=1"), Some(("cup", "/games/7?x=1")));
        assert_eq!(parted("/e/cup/"), Some(("cup", "/")));
        assert_eq!(parted("/e/../etc/passwd"), Some(("..", "/etc/passwd")), "a name that no event has");
        for other in ["/e/cup", "/e/", "/", "/games/7", "/e/cup?x=/e/", "/static/e/cup/"] {
            assert_eq!(parted(other), None, "{other}");
        }
        assert_eq!(Hall::base("a/b <x>"), "/e/a%2Fb%20%3Cx%3E");
    }
}
