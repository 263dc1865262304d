//! What is ordered about an event as a whole, and its file as a text.

use crate::{Desk, compose, create::shown, engine::refused, fields::Fields, lead, place::Place, waiting};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use event::hall::Order;
use maud::html;
use plan::{Faults, hall::FILE};
use std::{
    io, thread,
    time::{Duration, Instant},
};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use words::{Language, Message};

/// Longest wait for an event to be on the list, or off it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Keeps in `hall.toml` whether an event is held, so that it is when the desk begins again.
pub(crate) fn hold(place: &Place, event: &str, held: bool) -> io::Result<()> {
    let path = place.directory().join(FILE);
    let text = match path.exists() {
        true => std::fs::read_to_string(&path)?,
        false if !held => return Ok(()),
        false => String::new(),
    };
    let faulty = |error: toml_edit::TomlError| io::Error::other(format!("`{FILE}` is faulty: {error}"));
    let mut document: DocumentMut = text.parse().map_err(faulty)?;
    let events = document.entry("event").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let events = events.as_array_of_tables_mut().ok_or_else(|| io::Error::other("`event` has no tables"))?;
    let file = format!("{event}.toml");
    let is_it = |table: &Table| table.get("file").and_then(Item::as_str) == Some(file.as_str());
    let known = events.iter().position(is_it);
    match known.and_then(|at| events.get_mut(at)) {
        Some(table) if held => _ = table.insert("held", value(true)),
        Some(table) => _ = table.remove("held"),
        None => {}
    }
    match (known, held) {
        (None, false) => return Ok(()),
        (None, true) => events.push(Table::from_iter([("file", value(&file)), ("held", value(true))])),
        (Some(_), _) => {}
    }
    place.write(FILE, &document.to_string())
}

/// Writes into the file of an event how many games are played at once; returns its text.
fn with_games(place: &Place, event: &str, most: usize) -> io::Result<String> {
    let name = format!("{event}.toml");
    let text = std::fs::read_to_string(place.directory().join(&name))?;
    let mut document: DocumentMut = text.parse().map_err(io::Error::other)?;
    let table = document.entry("event").or_insert(Item::Table(Table::new()));
    let table = table.as_table_mut().ok_or_else(|| io::Error::other("`event` is no table"))?;
    crate::library::set(table, "concurrency", Some(i64::try_from(most).unwrap_or(i64::MAX).into()));
    let text = document.to_string();
    place.write(&name, &text)?;
    Ok(text)
}

/// The fields of the form that make an event like this one, as far as the form knows them.
pub(crate) fn fields_of(place: &Place, event: &str) -> Option<Vec<(&'static str, String)>> {
    let text = std::fs::read_to_string(place.file(event)?).ok()?;
    let document: DocumentMut = text.parse().ok()?;
    let engines = document.get("engines").and_then(Item::as_array_of_tables).into_iter().flatten();
    let names = engines.filter_map(|table| Some(("engine", table.get("name")?.as_str()?.to_owned())));
    let of = |table: &str, key: &str| {
        let item = document.get(table)?.get(key)?;
        Some(item.as_str().map_or_else(|| item.to_string().trim().to_owned(), str::to_owned))
    };
    let keys = [
        ("name", "event", "name"),
        ("clock", "time", "control"),
        ("games", "event", "games"),
        ("openings", "openings", "file"),
        ("max_moves", "rules", "max_moves"),
    ];
    let values = keys.into_iter().filter_map(|(field, table, key)| Some((field, of(table, key)?)));
    Some(values.chain(names).collect())
}

impl Desk {
    /// True if an event is on the list, or there with pages.
    pub(crate) fn is_listed(&self, event: &str, has_pages: bool) -> bool {
        let listed = tokio::runtime::Handle::current().block_on(self.0.list.events(Language::English));
        listed.iter().any(|one| one.name == event && (one.path.is_some() || !has_pages))
    }

    /// Waits until an event is on the list with its pages, or off the list: it is not played then, and its pages have its
    /// database open no longer, which some systems do not move otherwise. False if that does not come.
    pub(crate) fn becomes(&self, event: &str, is_listed: bool) -> bool {
        let begun = Instant::now();
        while self.is_listed(event, is_listed) != is_listed {
            if begun.elapsed() >= PATIENCE {
                return false;
            }
            thread::sleep(Duration::from_millis(50));
        }
        true
    }
}

/// Carries out an order about an event.
pub(crate) async fn order(State(desk): State<Desk>, fields: Fields) -> Result<Response, Refusal> {
    let name = fields.text("event").to_owned();
    let listed = desk.0.list.events(Language::English).await;
    // One that waits may be prepared just now.
    let may_play = listed.iter().any(|event| event.name == name && matches!(event.state, "plays" | "waits"));
    waiting(move || {
        let place = &desk.0.place;
        if place.file(&name).is_none_or(|file| !file.exists()) {
            return Err(Refusal::bad(Language::no_such_event));
        }
        let held = |held| hold(place, &name, held).map_err(refused);
        match fields.text("order") {
            "begin" => {
                held(false)?;
                desk.order(Order::Begin(name.clone()))?;
                desk.confirm(Message::of(|language| language.event_begins(&name)));
            }
            "finish" => {
                held(true)?;
                desk.order(Order::Finish(name.clone()))?;
                desk.confirm(Message::of(|language| language.event_finishes(&name)));
            }
            "adjourn" => {
                held(true)?;
                desk.order(Order::Adjourn(name.clone()))?;
                desk.confirm(Message::of(|language| language.event_is_adjourned(&name)));
            }
            "games" => {
                let most = fields.text("games").parse().ok().filter(|most| (1..=10_000).contains(most));
                let most = most.ok_or_else(|| Refusal::bad(Language::games_are_a_number))?;
                let text = with_games(place, &name, most).map_err(refused)?;
                desk.order(Order::Games(name.clone(), most, text))?;
                desk.confirm(Message::of(|language| language.games_at_once_now(&name, most)));
            }
            "delete" if may_play => return Err(Refusal::conflict(Language::stop_it_first)),
            "delete" => {
                desk.order(Order::Forget(name.clone()))?;
                if !desk.becomes(&name, false) {
                    return Err(Refusal::conflict(Language::stop_it_first));
                }
                held(false)?;
                let bin = place.remove(&name, now()).map_err(refused)?;
                let bin = bin.display().to_string();
                desk.confirm(Message::of(|language| language.event_is_in_bin(&name, &bin)));
            }
            _ => return Err(Refusal::bad(Language::unknown_order)),
        }
        Ok(lead("/"))
    })
    .await?
}

/// Seconds since 1970-01-01 UTC.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// The file of an event as a text; as a copy it becomes a new event.
pub(crate) async fn text(State(desk): State<Desk>, visitor: Visitor, query: Fields) -> Result<Page, Refusal> {
    let words = visitor.language;
    let name = query.text("event").to_owned();
    let file = desk.0.place.file(&name).ok_or_else(|| Refusal::bad(Language::no_such_event))?;
    let text =
        waiting(move || plan::text_of(&file)).await?.map_err(|_| Refusal::bad(Language::no_such_event))?;
    if query.is("copy") {
        let content =
            html! { h1 { (words.copy()) ": " (name) } (crate::create::by_hand(words, &text, None)) };
        return Ok(Page::new(words.copy(), "/new", content));
    }
    Ok(edited(words, &name, &text, None))
}

fn edited(words: Language, name: &str, text: &str, faults: Option<&Faults>) -> Page {
    let content = html! {
        h1 { (name) }
        form.order.line method="post" action="/events/order" {
            input type="hidden" name="event" value=(name);
            label { span { (words.games_at_once_short()) } input type="number" name="games" min="1" max="10000" required; }
            button name="order" value="games" { (words.change()) }
        }
        h2 { (words.text_of_event()) }
        p { (words.change_counts_when_begun()) }
        @if let Some(faults) = faults { pre.faults role="alert" { @for fault in faults.iter() { (shown(fault)) "\n" } } }
        form.order.wide method="post" action="/events/text" {
            input type="hidden" name="event" value=(name);
            textarea name="text" rows="28" spellcheck="false" aria-label=(words.text_of_event()) { (text) }
            p.buttons { button { (words.save()) } }
        }
        p { a href={ "/events/text?copy=1&event=" (percent(name)) } { (words.copy()) } }
    };
    Page::new(name, "/", content)
}

/// Saves the text of an event, if it is right.
pub(crate) async fn save(
    State(desk): State<Desk>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Response, Refusal> {
    let words = visitor.language;
    waiting(move || {
        let (name, text) = (fields.text("event"), fields.lines("text"));
        if desk.0.place.file(name).is_none_or(|file| !file.exists()) {
            return Err(Refusal::bad(Language::no_such_event));
        }
        if let Err(faults) = compose::check(&desk.0.place, &text) {
            return Ok(edited(words, name, &text, Some(&faults)).into_response());
        }
        desk.0.place.write(&format!("{name}.toml"), &text).map_err(refused)?;
        desk.confirm(Message::of(Language::saved));
        Ok(lead("/"))
    })
    .await?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_stands_in_the_file_of_the_hall_beside_what_somebody_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        hold(&place, "cup", false).unwrap();
        assert!(!dir.path().join(FILE).exists());
        place.write(FILE, "# ours\n[[event]]\nfile = \"cup.toml\"\npriority = 3 # first\n").unwrap();
        hold(&place, "cup", true).unwrap();
        hold(&place, "other", true).unwrap();
        let held = || {
            let config = plan::HallConfig::load(dir.path(), false).unwrap();
            config.event.iter().filter(|event| event.held).map(|event| event.file.clone()).collect::<Vec<_>>()
        };
        assert_eq!(held(), ["cup.toml", "other.toml"]);
        hold(&place, "cup", false).unwrap();
        assert_eq!(held(), ["other.toml"]);
        let text = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(text.contains("# ours\n") && text.contains("priority = 3 # first"), "{text}");
    }
}
