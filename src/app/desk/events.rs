//! What is ordered about an event as a whole.

use crate::{Desk, fields::Fields, lead, library::set, place::Place, refused, waiting};
use arena::operations::{command::Command, request::Request};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use event::hall::Order;
use journal::{EventSummary, Store};
use maud::html;
use plan::{Environment, HallConfig, hall::FILE};
use std::{
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Handle;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};
use web::{Listing, components::prose, layout::Page, refusals::Refusal, visitor::Visitor};
use words::{Language, Message};

/// Longest wait for an event to be on the list, or off it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Keeps in `hall.toml` whether an event is held, so that it is when the desk begins again.
pub(crate) fn hold(place: &Place, event: &str, held: bool) -> io::Result<()> {
    set_terms(place, event, "held", held.then(|| true.into()))
}

/// True if a table of `hall.toml` is about an event.
pub(crate) fn is_about(table: &Table, event: &str) -> bool {
    let file = table.get("file").and_then(Item::as_str);
    file.and_then(|file| file.strip_suffix(".toml")) == Some(event)
}

/// Sets a key of what `hall.toml` says of an event, or takes it away. A value that makes the file wrong is not written.
pub(crate) fn set_terms(place: &Place, event: &str, key: &str, wanted: Option<Value>) -> io::Result<()> {
    let _alone = place.alone();
    let path = place.directory().join(FILE);
    let text = match path.exists() {
        true => plan::text_of(&path).map_err(io::Error::other)?,
        false if wanted.is_none() => return Ok(()),
        false => String::new(),
    };
    let faulty = |error: toml_edit::TomlError| io::Error::other(format!("`{FILE}` is faulty: {error}"));
    let mut document: DocumentMut = text.parse().map_err(faulty)?;
    let events = document.entry("event").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let events = events.as_array_of_tables_mut().ok_or_else(|| io::Error::other("`event` has no tables"))?;
    let known = events.iter().position(|table| is_about(table, event));
    if known.is_none() && wanted.is_none() {
        return Ok(());
    }
    let at = known.unwrap_or(events.len());
    if known.is_none() {
        events.push(Table::from_iter([("file", value(format!("{event}.toml")))]));
    }
    events.get_mut(at).into_iter().for_each(|table| set(table, key, wanted.clone()));
    let text = document.to_string();
    let environment = Environment::here(place.directory())?;
    HallConfig::parse(&text, Some(Path::new(FILE)), &environment, true).map_err(io::Error::other)?;
    place.write(FILE, &text)
}

/// The fields of the form that make an event like this one, as far as the form knows them; none for no event.
///
/// # Errors
/// When there is no such event.
pub(crate) fn fields_of(place: &Place, event: &str) -> Result<Vec<(&'static str, String)>, Refusal> {
    if event.is_empty() {
        return Ok(vec![]);
    }
    let text = plan::text_of(&place.existing(event)?).map_err(refused)?;
    let document: DocumentMut = text.parse().unwrap_or_default();
    let engines = document.get("engines").and_then(Item::as_array_of_tables).into_iter().flatten();
    let names = engines.map(|table| ("engine", crate::library::name_of(table)));
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
    Ok(values.chain(names).collect())
}

impl Desk {
    /// Carries out a command of the operator in an event that is played.
    pub(crate) fn carry_out(&self, event: &str, command: Command) -> Result<(), Refusal> {
        let operations = self.0.running.operations(event);
        let operations = operations.ok_or_else(|| Refusal::conflict(Language::event_is_not_played))?;
        let is_reasoned = matches!(command, Command::Withdraw { .. });
        let reason = is_reasoned.then(|| "taken out on the desk".to_owned());
        let request = Request { named: None, reason, event: None, command };
        let done = operations.carry_out("desk", &request);
        done.map(drop).map_err(|why| Refusal::bad(move |language| why.text(language).to_owned()))
    }

    /// An event as the list has it now.
    pub(crate) fn listing(&self, event: &str) -> Option<Listing> {
        let listed = Handle::current().block_on(self.0.list.events(Language::English));
        listed.into_iter().find(|one| one.name == event)
    }

    /// True if an event is on the list with its pages.
    pub(crate) fn has_pages(&self, event: &str) -> bool {
        self.listing(event).is_some_and(|one| one.path.is_some())
    }

    /// Takes an event that is not played off the list, and its files to the bin.
    fn delete(&self, name: &str) -> Result<Message, Refusal> {
        let place = &self.0.place;
        self.order(Order::Forget(name.to_owned()))?;
        // Its pages have its database open no longer then, which some systems do not move otherwise.
        if !self.comes(|| self.listing(name).is_none()) {
            return Err(Refusal::conflict(Language::stop_it_first));
        }
        let (bin, stays) = self.move_to_bin(name).inspect_err(|_| {
            // It is on the list again, and does not begin by itself.
            let _ends = self.order(Order::Finish(name.to_owned()));
        })?;
        // A new event of this name says itself whether it is held.
        let _held_no_more = hold(place, name, false);
        Ok(Message::of(|language| match &stays {
            None => language.event_is_in_bin(name, &bin),
            Some(database) => language.event_is_in_bin_without_games(name, &bin, database),
        }))
    }

    /// Moves what belongs to an event by its file; returns where it is, and the database that stays.
    fn move_to_bin(&self, name: &str) -> Result<(String, Option<String>), Refusal> {
        let place = &self.0.place;
        let _alone = place.alone();
        let database = place.own_database(name);
        if database.as_ref().is_ok_and(|database| database.exists() && is_played(database)) {
            return Err(Refusal::conflict(Language::another_process_plays_it));
        }
        let bin = place.remove(name, database.as_deref().ok(), now()).map_err(refused)?;
        Ok((bin.display().to_string(), database.err().map(|database| database.display().to_string())))
    }

    /// Waits until something is so. False if that does not come.
    pub(crate) fn comes(&self, is_so: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while !is_so() {
            if begun.elapsed() >= PATIENCE {
                return false;
            }
            thread::sleep(Duration::from_millis(50));
        }
        true
    }
}

/// True if a process has an event of a database open to play it, or its queue.
fn is_played(database: &Path) -> bool {
    let Ok(store) = Store::read(database) else { return false };
    let is_played = |event: &EventSummary| store.is_played(event.id);
    store.queue_holder().is_some() || store.events().is_ok_and(|events| events.iter().any(is_played))
}

/// Carries out an order about an event.
pub(crate) async fn order(
    State(desk): State<Desk>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Response, Refusal> {
    let (words, name) = (visitor.language, fields.text("event").to_owned());
    let listed = desk.0.list.events(Language::English).await;
    // One that waits may be prepared just now.
    let may_play = listed.iter().any(|event| event.name == name && matches!(event.state, "plays" | "waits"));
    waiting(move || {
        let (place, order) = (&desk.0.place, fields.text("order"));
        // An order that was given on the pages of the event leads back there.
        let back = if fields.is("here") { web::Hall::base(&name) + "/" } else { "/".to_owned() };
        // One that is played goes on without its file and can be ended; nothing is kept for another file of its name.
        let is_gone = place.file(&name).is_none_or(|file| !file.exists());
        if is_gone && !(may_play && ["finish", "adjourn", "pause", "resume"].contains(&order)) {
            return Err(Refusal::bad(Language::no_such_event));
        }
        // The file and the hall hear of orders in the same sequence.
        let ordered = |held, order: fn(String) -> Order, done: fn(Language, &str) -> String| {
            let _alone = place.alone();
            let kept = if is_gone { Ok(()) } else { hold(place, &name, held) };
            // Where the disk is full an event can be stopped all the same, until the desk begins again.
            let is_sent = if held || kept.is_ok() { desk.order(order(name.clone())) } else { Ok(()) };
            kept.map_err(refused).and(is_sent).map(|()| Message::of(|language| done(language, &name)))
        };
        let done = match order {
            "begin" => ordered(false, Order::Begin, Language::event_begins)?,
            "finish" => ordered(true, Order::Finish, Language::event_finishes)?,
            "adjourn" => ordered(true, Order::Adjourn, Language::event_is_adjourned)?,
            "pause" => return desk.carry_out(&name, Command::Pause).map(|()| lead(&back)),
            "resume" => return desk.carry_out(&name, Command::Resume).map(|()| lead(&back)),
            "delete" if may_play => return Err(Refusal::conflict(Language::stop_it_first)),
            "delete" if !fields.is("sure") => return Ok(ask(words, &name).into_response()),
            "delete" => desk.delete(&name)?,
            _ => return Err(Refusal::bad(Language::unknown_order)),
        };
        Ok(desk.confirm("/", done))
    })
    .await?
}

/// Asks whether an event is to be deleted.
fn ask(words: Language, name: &str) -> Page {
    let content = html! {
        h1 { (words.delete()) ": " (name) }
        p { (prose(words.what_delete_does())) }
        form.order method="post" action="/events/order" {
            input type="hidden" name="event" value=(name);
            input type="hidden" name="sure" value="1";
            p.buttons { button name="order" value="delete" { (words.delete()) } }
        }
        p { a href="/" { (words.back()) } }
    };
    Page::new(words.delete(), "/", content)
}

/// Seconds since 1970-01-01 UTC.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
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
