//! Many events at one address: a list of them, and the pages of each below a path of its own.
//!
//! A request for `/e/NAME/...` is led to the pages of that event, which see the rest of the path as if they were alone;
//! `NAME` is looked up among the events that are here, and is never a path of the file system. The list can be searched
//! (`?find=`). Where a queue is played, the list is that of its tests. What strangers may cost is
//! counted once for all events: connections and requests by [`Limits`](crate::limits::Limits), work by [`Crowd`].

use crate::{
    Site, assets,
    components::{Icon, Mood, state},
    crowd::Crowd,
    error::WebError,
    gate::Gate,
    layout::{Around, Frame, Page, Way, percent, respond},
    live::Live,
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
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    net::SocketAddr,
    sync::Arc,
};
use tokio::sync::mpsc;
use words::{Language, Phrase};

mod ledger;
mod made;
mod queue;

pub use ledger::MakeLedger;
use ledger::Sections;
pub use made::Made;
pub use queue::MakeTests;
use report::{PlayerRow, Report, TestHistory, exhibit::minus, plot::plain};

/// What every path of an event begins with.
pub(crate) const EVENTS: &str = "/e/";
/// Players of an event that are shown with it.
const FIRST: usize = 3;
/// Least number of games from which is told when an event ends.
const LEAST: u64 = 4;
/// Most letters of a search.
const LETTERS: usize = 100;

/// The pages of many events at one address. Dropping it ends the connections.
#[derive(Debug)]
pub struct Hall {
    port: Port,
    rooms: Arc<Rooms>,
    crowd: Crowd,
    searched: mpsc::UnboundedSender<Searched>,
    gate: Option<Arc<Gate>>,
}

/// Where an event is, beside what its entries say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventState {
    /// It begins later.
    Waits,
    /// It is prepared, or waits for its hours between two games.
    Begun,
    /// Its games are played.
    Plays,
    /// It was stopped before its end.
    Stopped,
    /// It is over, which its entries need not say.
    Over,
    /// Faults of its engines have ended it, and what can be done.
    Halted(Vec<String>),
    /// Its file is wrong, or it cannot be played, and why.
    Faulty(Vec<String>),
}

impl EventState {
    /// True if its games are played, or will be without another order.
    pub fn is_begun(&self) -> bool {
        matches!(self, Self::Begun | Self::Plays)
    }

    /// The state as programs read it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waits | Self::Begun => "waits",
            Self::Plays => "plays",
            Self::Stopped => "stopped",
            Self::Over => "over",
            Self::Halted(_) => "halted",
            Self::Faulty(_) => "faulty",
        }
    }
}

/// The events of an address.
pub(crate) struct Rooms {
    name: String,
    events: RwLock<BTreeMap<String, Listed>>,
    ledger: Made<Sections>,
    /// The tests, where a queue is played.
    tests: Option<Made<TestHistory>>,
    /// Entries of the navigation.
    entries: Arc<[Way]>,
    /// Draws what the owner of a desk can order about an event.
    orders: Option<Box<DrawOrders>>,
    lobby: std::sync::OnceLock<Router>,
}

impl std::fmt::Debug for Rooms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rooms").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Entries of the navigation where there is no desk.
const ENTRIES: [Way; 2] =
    [("/", Language::all_events, Icon::Events), ("/ledger", Language::ledger, Icon::Ratings)];

/// What makes a list of events the desk of one person.
pub struct Inside {
    /// What keeps others out.
    pub gate: Arc<Gate>,
    /// Entries of the navigation.
    pub entries: Vec<Way>,
    /// Draws what can be ordered about an event.
    pub orders: Box<DrawOrders>,
    /// Its pages; `/` is among them, and the list of events is at [`EVENTS_PAGE`].
    pub routes: Routes,
}

/// Makes the pages of a desk.
pub type Routes = Box<dyn FnOnce(List) -> Router + Send>;

/// Draws what the owner of a desk can order about an event, by its name and where it is, as [`Listing::state`] has it.
pub type DrawOrders = dyn Fn(&str, &'static str, Language) -> Markup + Send + Sync;

/// Where the list of events is on a desk.
pub const EVENTS_PAGE: &str = "/events";
/// Where a desk studies a game: `?event=NAME&game=NUMBER`.
pub const STUDY_PAGE: &str = "/study/game";

/// Asks for pages behind the gate of a desk: its owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner;

/// The list of events, for the pages of a desk. A clone is cheap.
#[derive(Clone, Debug)]
pub struct List(Arc<Rooms>);

impl List {
    /// The events as they stand now, by the names of their files.
    pub async fn events(&self, language: Language) -> Vec<Listing> {
        rows(&self.0, &Search::default(), language).await.unwrap_or_default()
    }

    /// True if games of an event are played.
    pub fn plays(&self) -> bool {
        self.0.events().values().any(|listed| listed.state == EventState::Plays && !listed.is_closed())
    }
}

/// An event in the list.
#[derive(Clone, Debug)]
struct Listed {
    title: String,
    note: String,
    /// Its pages, if it has any yet.
    room: Option<Room>,
    total: Option<u64>,
    state: EventState,
}

impl Listed {
    /// Where it is: as programs read it, what that is like, and in words.
    fn stage(&self) -> (&'static str, Mood, Phrase) {
        match self.state.word() {
            "halted" | "faulty" => ("faulty", Mood::Bad, Language::event_faulty),
            state if self.is_closed() || state == "over" => ("over", Mood::Rest, Language::event_has_ended),
            "waits" => ("waits", Mood::Wait, Language::event_waits),
            "stopped" => ("stopped", Mood::Wait, Language::event_stopped),
            state if self.is_open() => (state, Mood::Good, Language::event_awaits_games),
            state => (state, Mood::Good, Language::event_plays),
        }
    }

    /// True if the last entry of the event is stored.
    fn is_closed(&self) -> bool {
        self.is(|live| live.closed)
    }

    /// True if players of an open league may come, and none plays.
    fn is_open(&self) -> bool {
        self.is(|live| live.facts.open && live.games.is_empty())
    }

    fn is(&self, so: fn(&Live) -> bool) -> bool {
        self.room.as_ref().and_then(|room| room.site.now(so)).unwrap_or(false)
    }
}

impl Hall {
    /// Listens and serves a list without events; `name` is its title. `ledger` makes the ratings over all of them, `tests`
    /// the list of a queue.
    ///
    /// # Errors
    /// When an address is taken, or a thread cannot be started.
    pub fn open(
        config: &HttpConfig,
        secure: Option<&Secure>,
        name: &str,
        ledger: MakeLedger,
        tests: Option<MakeTests>,
        inside: Option<Inside>,
    ) -> Result<Self, WebError> {
        let listeners = listeners(config, secure)?;
        let (name, events, lobby_of) = (plain(name), RwLock::default(), Default::default());
        let ledger = Made::new(ledger::FRESH, ledger);
        let tests = tests.map(|tests| Made::new(queue::FRESH, tests));
        let (entries, orders, gate, own) = match inside {
            None => (ENTRIES.into(), None, None, None),
            Some(Inside { gate, entries, orders, routes }) => {
                (entries.into(), Some(orders), Some(gate), Some(routes))
            }
        };
        let rooms = Arc::new(Rooms { name, events, ledger, tests, entries, orders, lobby: lobby_of });
        // It cannot have been set before.
        let _first = rooms.lobby.set(lobby(&rooms, own));
        let (searched, inbox) = mpsc::unbounded_channel();
        let door = Door { limits: limits(config), front: Front::Hall(rooms.clone()), gate: gate.clone() };
        let port = Port::open(listeners, door, inbox)?;
        Ok(Self { port, rooms, crowd: Crowd::default(), searched, gate })
    }

    /// Addresses that the pages are on, and those by TLS.
    pub fn addresses(&self) -> (&[SocketAddr], &[SocketAddr]) {
        (&self.port.addresses, &self.port.secure)
    }

    /// What those who ask may cost, for the pages of every event.
    pub fn crowd(&self) -> Crowd {
        self.crowd.clone()
    }

    /// What keeps everybody out but the owner of a desk.
    pub fn gate(&self) -> Option<Arc<Gate>> {
        self.gate.clone()
    }

    /// The path that the pages of an event are below.
    pub fn base(name: &str) -> String {
        format!("{EVENTS}{}", percent(name).replace('/', "%2F"))
    }

    /// Adds an event, or shows it anew; `title` is what it is called, `note` what is to be known of it, `total` the number of
    /// its games, if it is known.
    pub fn add(&self, name: &str, (title, note): (&str, &str), pages: &Pages, total: Option<u64>) {
        pages.search(&self.searched);
        let (title, note, room) = (title.to_owned(), note.to_owned(), Some(pages.room.clone()));
        let listed = Listed { title, note, room, total, state: EventState::Plays };
        self.rooms.events.write().insert(name.to_owned(), listed);
    }

    /// Takes an event off the list.
    pub fn remove(&self, name: &str) {
        self.rooms.events.write().remove(name);
    }

    /// Sets where an event is; one that has no pages yet is listed by its name.
    pub fn tell(&self, name: &str, state: EventState) {
        let (title, note) = (name.to_owned(), String::new());
        match self.rooms.events.write().entry(name.to_owned()) {
            Entry::Occupied(mut listed) => listed.get_mut().state = state,
            Entry::Vacant(place) => _ = place.insert(Listed { title, note, room: None, total: None, state }),
        }
    }

    /// Sets the number of games of an event that is listed.
    pub fn set_total(&self, name: &str, total: Option<u64>) {
        self.rooms.events.write().get_mut(name).into_iter().for_each(|listed| listed.total = total);
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

    /// The path of the list of events.
    fn list(&self) -> &'static str {
        if self.orders.is_some() { EVENTS_PAGE } else { "/" }
    }

    /// What is around the page that a path asks for, in a language.
    pub(crate) fn around(&self, path: &str, language: Language) -> Around {
        let name = parted(path).and_then(|(name, _)| percent_decode_str(name).decode_utf8().ok());
        let listed = name.and_then(|name| Some((self.events().get(&*name)?.clone(), name)));
        let (entries, events) = (self.entries.clone(), self.list());
        let of = |listed: &Listed| listed.room.as_ref()?.site.now(|live| live.games.len());
        let running = self.orders.is_some().then(|| self.events().values().filter_map(of).sum());
        let Some((listed, name)) = listed else {
            return Around { entries, events, running, ..Around::default() };
        };
        let (state, mood, words) = listed.stage();
        let orders = self.orders.as_ref().map(|draw| draw(&name, state, language)).unwrap_or_default();
        Around { entries, events, stage: Some((mood, words)), orders, running }
    }

    /// The pages that an address asks for, with the rest of its path; `None`: the list, or an event that is not here.
    pub(crate) fn enter(&self, uri: &mut Uri) -> Option<Room> {
        let asked = uri.path_and_query()?.as_str();
        let (name, rest) = parted(asked)?;
        let name = percent_decode_str(name).decode_utf8().ok()?;
        let room = self.events().get(&*name)?.room.clone()?;
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

fn lobby(rooms: &Arc<Rooms>, own: Option<Routes>) -> Router {
    let dress = middleware::from_fn_with_state(rooms.clone(), dress);
    let own = own.map(|routes| routes(List(rooms.clone()))).unwrap_or_default();
    Router::new()
        .route(rooms.list(), get(page))
        .route("/api/events", get(api))
        .route("/api/tests", get(queue::api))
        .route("/ledger", get(ledger::page))
        .route("/e/{name}", get(enter))
        .route("/prefs", get(prefs::choose))
        .route("/static/{name}", get(assets::serve))
        .with_state(rooms.clone())
        .merge(own)
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, Language::no_page))
        .layer(dress)
}

async fn dress(State(rooms): State<Arc<Rooms>>, visitor: Visitor, request: Request, next: Next) -> Response {
    let name = rooms.name.clone();
    respond(request, next, &visitor, || Frame { name, orders: "/", ..Frame::default() }).await
}

/// An event as the list shows it, as far as viewers may see it.
#[derive(Debug, Serialize)]
pub struct Listing {
    /// The name of its file without `.toml`, and in its path.
    pub name: String,
    /// Of its pages; absent before they are opened.
    pub path: Option<String>,
    /// What it is called.
    pub event: String,
    note: String,
    format: String,
    /// `plays`, `waits`, `stopped`, `faulty` or `over`.
    pub state: &'static str,
    /// Games that are over.
    pub games: u64,
    /// Games of the event, if their number is known.
    pub total: Option<u64>,
    /// Games that are played now.
    pub running: usize,
    /// Who is first in the table.
    pub leader: Option<String>,
    /// Time of the last entry, in ms since 1970-01-01 UTC.
    pub last: Option<i64>,
    /// Why it is not played.
    pub faults: Vec<String>,
    /// Its state in words.
    #[serde(skip)]
    pub words: &'static str,
    /// What its state is like.
    #[serde(skip)]
    pub mood: Mood,
    /// Who is first in the table, each with the points where these decide, or else with its Elo and its error.
    #[serde(skip)]
    pub first: Vec<(String, String)>,
    /// When its games are over if they go on as they did, in ms since 1970-01-01 UTC.
    #[serde(skip)]
    pub ends: Option<i64>,
    /// Its format in words.
    #[serde(skip)]
    pub format_shown: String,
    /// What a sequential test says by now.
    #[serde(skip)]
    pub verdict: Option<String>,
    /// Who of a test without a verdict is probably stronger, and how many games it takes still.
    #[serde(skip)]
    pub prospect: Option<String>,
    /// Games that were lost because a player failed.
    #[serde(skip)]
    pub failures: usize,
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

async fn rows(rooms: &Rooms, search: &Search, language: Language) -> Result<Vec<Listing>, Refusal> {
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

async fn row(name: &str, listed: &Listed, language: Language) -> Listing {
    let Listed { title, note, room, total, state } = listed;
    let site: Option<&Site> = room.as_ref().map(|room| &room.site);
    let ((state, mood, words), known) = (listed.stage(), state);
    let faults = match known {
        EventState::Halted(faults) | EventState::Faulty(faults) => faults.clone(),
        _ => vec![],
    };
    // One that is too busy to say how it stands, or has not begun, is listed all the same.
    let history = match site {
        Some(site) => site.ask(|desk| desk.history()).await.ok(),
        None => None,
    };
    let report = history.as_ref().map(|history| &history.report);
    let leader = report.and_then(|report| report.standings.first()).filter(|first| first.games > 0);
    let span = history.as_ref().and_then(|history| history.span);
    let games = report.map_or(0, |report| report.games);
    let format = report.map(|report| report.format.clone()).unwrap_or_default();
    let japanese = report.map(|report| report.format_japanese.clone()).unwrap_or_default();
    Listing {
        name: name.to_owned(),
        path: room.is_some().then(|| Hall::base(name) + "/"),
        event: title.clone(),
        note: note.clone(),
        state,
        games,
        total: *total,
        running: site.and_then(|site| site.now(|live| live.games.len())).unwrap_or(0),
        leader: leader.map(|leader| leader.name.clone()),
        last: span.map(|(_, last)| last),
        faults,
        words: words(language),
        mood,
        first: report.map(first).unwrap_or_default(),
        ends: span.zip(*total).and_then(|(span, total)| ends(span, games, total)),
        failures: report.map_or(0, |report| report.failures.len()),
        verdict: history.as_ref().and_then(|history| Some(report::html::verdict(history, language)?.1)),
        prospect: history.as_ref().and_then(|history| report::html::prospect(history, language)),
        players: report
            .map(|report| report.standings.iter().map(|row| row.name.clone()).collect())
            .unwrap_or_default(),
        format_shown: language.pick(format.clone(), japanese),
        format,
    }
}

/// The first of the table, who have played: with points where these decide, or else with Elo.
fn first(report: &Report) -> Vec<(String, String)> {
    let has_points = report.stages.iter().any(|stage| stage.is_ranked);
    let elo = |row: &PlayerRow| {
        let error = row.elo.error().map(|error| format!(" ±{error:.0}")).unwrap_or_default();
        row.elo.value().map(|elo| minus(&format!("{elo:+.0}{error}"))).unwrap_or_default()
    };
    let shown = |row: &PlayerRow| if has_points { row.points.to_string() } else { elo(row) };
    let played = report.standings.iter().filter(|row| row.games > 0).take(FIRST);
    played.map(|row| (row.name.clone(), shown(row))).collect()
}

/// When the games of an event are over that were played in a span of time, if the others take as long.
fn ends((begun, last): (i64, i64), games: u64, total: u64) -> Option<i64> {
    let (played, left) = (i64::try_from(games).ok()?, i64::try_from(total.checked_sub(games)?).ok()?);
    (games >= LEAST).then(|| last + (last - begun).max(0) / played * left)
}

/// Leads to the pages of an event, whose path ends with a slash.
async fn enter(State(rooms): State<Arc<Rooms>>, Path(name): Path<String>) -> Result<Redirect, Refusal> {
    match rooms.events().get(&name).is_some_and(|listed| listed.room.is_some()) {
        true => Ok(Redirect::to(&(Hall::base(&name) + "/"))),
        false => Err(Refusal::new(StatusCode::NOT_FOUND, Language::no_page)),
    }
}

/// The list as JSON.
async fn api(State(rooms): State<Arc<Rooms>>, Query(search): Query<Search>) -> Result<Json, Refusal> {
    Ok(Json::of(&rows(&rooms, &search, Language::English).await?))
}

/// The list.
async fn page(
    State(rooms): State<Arc<Rooms>>,
    visitor: Visitor,
    Query(search): Query<Search>,
) -> Result<Page, Refusal> {
    if let Some(page) = queue::page(&rooms, &visitor, &search).await? {
        return Ok(page);
    }
    let words = visitor.language;
    let rows = rows(&rooms, &search, words).await?;
    let is_empty = rows.is_empty();
    let content = html! {
        h1 { (words.all_events()) }
        @if !rows.is_empty() {
            p { a href="/ledger" { (words.ledger()) } " · " (words.ledger_about()) }
        }
        @if !is_empty || !search.find.is_empty() { (form(words, &search)) }
        @if is_empty && search.find.is_empty() { p { (words.no_event_yet()) } }
        @else if is_empty { p { (words.nothing_found()) } }
        @if !rows.is_empty() { (table(words, &rows)) }
    };
    Ok(Page::new(words.all_events(), rooms.list(), content).with(&["times.js"]))
}

fn form(words: Language, search: &Search) -> Markup {
    html! {
        form.search method="get" role="search" {
            label {
                span { (words.event_or_player()) }
                input type="search" name="find" value=(search.find) maxlength=(LETTERS) autocomplete="off";
            }
            button { (words.search()) }
        }
    }
}

fn table(words: Language, rows: &[Listing]) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(words.all_events()) { table.games {
        thead { tr {
            th.name { (words.the_event()) }
            th.name { (words.state()) }
            th { (words.progress()) }
            th.name { (words.leader()) }
            th.name { (words.last_news()) }
        } }
        tbody { @for row in rows { tr {
            td.name {
                @if let Some(path) = &row.path { a href=(path) { (plain(&row.event)) } } @else { (plain(&row.event)) }
                @if !row.format_shown.is_empty() { " · " (plain(&row.format_shown)) }
                @if !row.note.is_empty() { div.note { (plain(&row.note)) } }
                @for fault in &row.faults { div.wrong { (words.fault(&plain(fault))) } }
            }
            td.name { (state(row.mood, row.words)) }
            td { (row.games) @if let Some(total) = row.total { " / " (total) } }
            td.name { (plain(row.leader.as_deref().unwrap_or("–"))) }
            td.name { @if let Some(last) = row.last { (time(last)) } }
        } } }
    } } }
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
    fn an_event_ends_when_its_games_have_taken_as_long_as_those_before() {
        assert_eq!(ends((1_000, 9_000), 8, 12), Some(13_000));
        assert_eq!(ends((1_000, 9_000), 12, 12), Some(9_000));
        assert_eq!(ends((1_000, 9_000), 3, 12), None, "too few to tell");
        assert_eq!(ends((1_000, 9_000), 13, 12), None, "some were played again");
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
