//! What is changed about an event, also while it is played: its file, and the hours in which its games begin.

use crate::{
    Asked, Desk, compose, confirmed,
    create::token,
    events::{is_about, set_terms},
    fields::{Fields, version},
    form::shown as said,
    library::{Library, name_of, set},
    refused,
};
use arena::operations::command::Command;
use axum::response::{IntoResponse, Response};
use event::hall::Order;
use maud::{Markup, html};
use plan::{Event, Faults, HallConfig, Plan};
use std::ops::RangeInclusive;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};
use web::{
    components::{letter, prose},
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// Most games that a field takes.
const GAMES: RangeInclusive<usize> = 1..=1_000_000;
/// Most games at once that a field takes.
const AT_ONCE: RangeInclusive<usize> = 1..=10_000;

/// An event as the page of its changes shows it.
struct Shown {
    name: String,
    text: String,
    /// The names of its engines, and of those that may join it.
    engines: Vec<String>,
    others: Vec<String>,
    /// Until when its games begin, as `hall.toml` has it.
    until: String,
    /// True if its games are arranged here.
    is_arranged: bool,
    /// True if an engine can be taken out: none has played, and nobody logs in.
    may_shrink: bool,
    /// Games of an encounter, where one number says it.
    games: Option<u64>,
    at_once: Option<u64>,
}

/// Games of an encounter: of one stage that no test ends.
fn games_of(plan: &Plan) -> Option<u64> {
    match &plan.stages[..] {
        [one] if plan.sprt.is_none() && plan.tune.is_none() => Some(u64::from(one.games)),
        _ => None,
    }
}

impl Desk {
    fn shown(&self, name: &str) -> Result<Shown, Refusal> {
        let text = self.text_of(name)?;
        let document: DocumentMut = text.parse().map_err(refused)?;
        let tables = document.get("engines").and_then(Item::as_array_of_tables).into_iter().flatten();
        let engines: Vec<String> =
            tables.filter_map(|table| table.get("name")?.as_str().map(str::to_owned)).collect();
        let others =
            self.library()?.into_iter().filter(|engine| !engine.inactive && engine.missing.is_none());
        let others = others.map(|engine| engine.plan.name).filter(|name| !engines.contains(name)).collect();
        // One whose file is faulty has its text alone.
        let plan = self.plan(name).ok();
        let (is_arranged, games) = (plan.is_some(), plan.as_ref().and_then(games_of));
        let may_shrink = engines.len() > 2 && !self.has_games(name);
        let at_once = plan.as_ref().map(|plan| plan.concurrency as u64);
        let (name, until) = (name.to_owned(), self.until(name));
        Ok(Shown { name, text, engines, others, until, is_arranged, may_shrink, games, at_once })
    }

    /// The plan of an event whose games are arranged here: nobody else decides when they begin.
    fn plan(&self, name: &str) -> Result<Plan, Refusal> {
        match self.event(name)? {
            Event::Arranged { plan, .. } => Ok(*plan),
            Event::League(_) | Event::Seat(_) => Err(Refusal::bad(Language::others_begin_its_games)),
        }
    }

    /// The text of the file of an event.
    pub(crate) fn text_of(&self, name: &str) -> Result<String, Refusal> {
        plan::text_of(&self.0.place.existing(name)?).map_err(refused)
    }

    /// What stands in `hall.toml` for the end of an event's hours.
    fn until(&self, name: &str) -> String {
        let text = plan::text_of(&self.0.place.directory().join(plan::hall::FILE)).unwrap_or_default();
        let document: DocumentMut = text.parse().unwrap_or_default();
        let mut tables = document.get("event").and_then(Item::as_array_of_tables).into_iter().flatten();
        let found = tables.find(|table| is_about(table, name));
        found.and_then(|table| table.get("until")?.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// True if an event has a database, so that each of its engines may have played.
    fn has_games(&self, name: &str) -> bool {
        self.0.place.own_database(name).unwrap_or_else(|other| other).exists()
    }

    /// Takes an engine out of the file of an event that has not begun: one that cannot start would keep it from beginning.
    fn remove_engine(&self, name: &str, fields: &Fields) -> Result<Message, Refusal> {
        let _alone = self.0.place.alone();
        let engine = fields.text("engine");
        if self.has_games(name) {
            return Err(Refusal::conflict(Language::it_has_played));
        }
        self.edit(name, None, |document| {
            let engines = document.get_mut("engines").and_then(Item::as_array_of_tables_mut);
            let engines = engines.ok_or_else(|| Refusal::bad(Language::change_the_file))?;
            let known = engines.len();
            engines.retain(|table| name_of(table) != engine);
            if engines.len() == known { Err(Refusal::bad(Language::no_such_engine_here)) } else { Ok(()) }
        })?;
        Ok(Message::of(|language| language.engine_is_out(engine, name)))
    }

    /// Changes the file of an event, which stays as it was if the change makes it wrong.
    fn edit(
        &self,
        name: &str,
        at_once: Option<usize>,
        change: impl FnOnce(&mut DocumentMut) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let _alone = self.0.place.alone();
        let mut document: DocumentMut = self.text_of(name)?.parse().map_err(refused)?;
        change(&mut document)?;
        let text = document.to_string();
        compose::check(&self.0.place, &text).map_err(refused)?;
        self.0.place.write(&format!("{name}.toml"), &text).map_err(refused)?;
        self.order(Order::Changed(name.to_owned(), text, at_once))
    }

    fn set_games_at_once(&self, name: &str, fields: &Fields) -> Result<Message, Refusal> {
        let most = number(fields, &AT_ONCE)?;
        self.plan(name)?;
        self.edit(name, Some(most), |document| set_in_event(document, "concurrency", most))?;
        let name = name.to_owned();
        Ok(Message::of(move |language| language.games_at_once_now(&name, most)))
    }

    /// More games of an encounter: the event is begun anew with its file, once the running games are over. One that was stopped
    /// waits until it is begun.
    fn set_games(&self, name: &str, fields: &Fields) -> Result<Message, Refusal> {
        let _alone = self.0.place.alone();
        let plan = self.plan(name)?;
        let known = games_of(&plan).ok_or_else(|| Refusal::bad(Language::change_the_file))?;
        // What was played cannot become too much.
        let least = if plan.database.exists() { usize::try_from(known).unwrap_or(1) } else { *GAMES.start() };
        let games = number(fields, &(least..=*GAMES.end()))?;
        let terms = HallConfig::load(self.0.place.directory(), true).map_err(refused)?;
        self.edit(name, None, |document| set_in_event(document, "games", games))?;
        if terms.of(&format!("{name}.toml")).held {
            return Ok(Message::of(|language| language.event_is_kept(name)));
        }
        self.order(Order::Finish(name.to_owned()))?;
        self.order(Order::Begin(name.to_owned()))?;
        Ok(Message::of(|language| language.file_is_taken_up(name)))
    }

    /// Adds an engine of the library to the end of the file, in the place of another one if that is wanted. An event that
    /// is played takes it in at once, after a look at it.
    fn add_engine(&self, name: &str, fields: &Fields) -> Result<Message, Refusal> {
        let (engine, replaced) = (fields.text("engine"), fields.text("replaces"));
        self.plan(name)?;
        let library = Library::open(&self.0.place).map_err(refused)?;
        let mut table = library.for_event(engine).map_err(refused)?;
        if !replaced.is_empty() {
            table.insert("replaces", value(replaced));
        }
        table.set_position(None);
        self.edit(name, None, |document| {
            let engines = document.entry("engines").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
            let engines =
                engines.as_array_of_tables_mut().ok_or_else(|| Refusal::bad(Language::change_the_file))?;
            engines.push(table);
            Ok(())
        })?;
        if self.0.running.operations(name).is_some() {
            // One that cannot play would keep the event from being begun again.
            self.carry_out(name, Command::Reload).or_else(|why| {
                self.edit(name, None, |document| {
                    let engines = document.get_mut("engines").and_then(Item::as_array_of_tables_mut);
                    engines.into_iter().for_each(|engines| engines.retain(|table| name_of(table) != engine));
                    Ok(())
                })?;
                Err(why)
            })?;
        }
        Ok(Message::of(|language| language.engine_is_added(engine, name)))
    }

    fn set_until(&self, name: &str, fields: &Fields) -> Result<Message, Refusal> {
        // As browsers write a time, and the difference from UTC that a script has added.
        self.plan(name)?;
        let until = fields.all("until").next().ok_or_else(|| Refusal::bad(Language::unknown_order))?;
        let (time, offset) = (until.replace('T', " "), fields.text("offset"));
        let wanted = (!time.is_empty()).then(|| Value::from(format!("{time} {offset}").trim()));
        let said = wanted.as_ref().and_then(Value::as_str).map(str::to_owned);
        let _alone = self.0.place.alone();
        set_terms(&self.0.place, name, "until", wanted).map_err(refused)?;
        self.order(Order::Terms(name.to_owned()))?;
        let name = name.to_owned();
        Ok(Message::of(move |language| match &said {
            Some(until) => language.no_game_after(&name, until),
            None => language.no_deadline(&name),
        }))
    }
}

fn number(fields: &Fields, range: &RangeInclusive<usize>) -> Result<usize, Refusal> {
    let (least, most) = (*range.start(), *range.end());
    let number = fields.text("games").parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| Refusal::bad(move |language| language.number_from_to(least, most)))
}

fn set_in_event(document: &mut DocumentMut, key: &str, number: usize) -> Result<(), Refusal> {
    let table = document.entry("event").or_insert(Item::Table(Table::new()));
    let table = table.as_table_mut().ok_or_else(|| Refusal::bad(Language::change_the_file))?;
    set(table, key, Some(i64::try_from(number).unwrap_or(i64::MAX).into()));
    Ok(())
}

/// The page.
pub(crate) fn page(Asked { desk, words, fields, done }: Asked) -> Result<Page, Refusal> {
    Ok(drawn(words, &desk.shown(fields.text("event"))?, done.as_ref(), None))
}

/// Makes a change.
pub(crate) fn change(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("event");
    let done = match fields.text("change") {
        "at-once" => desk.set_games_at_once(name, &fields),
        "games" => desk.set_games(name, &fields),
        "engine" => desk.add_engine(name, &fields),
        "remove" => desk.remove_engine(name, &fields),
        "until" => desk.set_until(name, &fields),
        _ => Err(Refusal::bad(Language::unknown_order)),
    }?;
    Ok(desk.confirm(&address(name), done))
}

/// The address of the page of an event.
pub(crate) fn address(name: &str) -> String {
    format!("/events/change?event={}", percent(name))
}

/// A form with one button, which makes a change.
fn form(name: &str, change: &str, label: &str, fields: &Markup) -> Markup {
    html! { form.order.line method="post" action="/events/change" {
        input type="hidden" name="event" value=(name);
        (fields)
        button name="change" value=(change) { (label) }
    } }
}

/// A text that was sent and not taken: it is faulty, or the file was changed since the form was shown.
struct Typed {
    text: String,
    /// The version of the file that the text takes the place of.
    version: String,
    faults: Option<Faults>,
}

fn drawn(words: Language, shown: &Shown, done: Option<&Message>, typed: Option<&Typed>) -> Page {
    let name = shown.name.as_str();
    let (text, version) = match typed {
        Some(typed) => (typed.text.as_str(), typed.version.clone()),
        None => (shown.text.as_str(), version(&shown.text)),
    };
    let faults = typed.and_then(|typed| typed.faults.as_ref());
    let content = html! {
        h1 { (name) }
        (confirmed(words, done))
        @if shown.is_arranged { (forms(words, shown)) }
        @if shown.may_shrink { (players(words, shown)) }
        h2 { (words.text_of_event()) }
        p { (words.change_counts_when_begun()) }
        @if let Some(faults) = faults { pre.faults role="alert" { @for fault in faults.iter() { (words.fault(&said(fault))) "\n" } } }
        @if typed.is_some() && faults.is_none() { p role="alert" { (words.changed_meanwhile()) } pre.faults { (shown.text) } }
        form.order.wide method="post" action="/events/text" {
            input type="hidden" name="event" value=(name);
            input type="hidden" name="version" value=(version);
            textarea name="text" rows="28" spellcheck="false" aria-label=(words.text_of_event()) { (text) }
            p.buttons { button.main { (words.save()) } }
        }
        p { a href={ "/events/text?event=" (percent(name)) } { (words.copy()) } }
    };
    Page::new(name, "/", content).with(&["times.js"])
}

/// The engines, each of which can be taken out before the event has begun.
fn players(words: Language, shown: &Shown) -> Markup {
    html! {
        h2 { (words.players()) }
        div.pick { @for engine in &shown.engines { form.taken method="post" action="/events/change" {
            input type="hidden" name="event" value=(shown.name);
            input type="hidden" name="engine" value=(engine);
            (letter(engine)) span { (engine) }
            button.quiet name="change" value="remove" aria-label={ (words.take_out()) ": " (engine) } title=(words.take_out()) { "✕" }
        } } }
    }
}

/// The forms of what can be changed while the event is played.
fn forms(words: Language, shown: &Shown) -> Markup {
    let name = shown.name.as_str();
    let games = |label: &str, known: Option<u64>, range: &RangeInclusive<usize>| {
        html! {
            label { span { (label) } input type="number" name="games" value=[known] min=(range.start()) max=(range.end()) required; }
        }
    };
    html! {
        (form(name, "at-once", words.change(), &games(words.games_at_once_short(), shown.at_once, &AT_ONCE)))
        @if let Some(known) = shown.games {
            (form(name, "games", words.change(), &games(words.games_of_encounter(), Some(known), &GAMES)))
        }
        @if !shown.others.is_empty() {
            (form(name, "engine", words.add(), &html! {
                label { span { (words.engine_that_joins()) } select name="engine" { @for other in &shown.others { option { (other) } } } }
                label { span { (words.in_place_of()) } select name="replaces" { option value="" { (words.nobody()) } @for engine in &shown.engines { option { (engine) } } } }
            }))
        } @else { p.note { (words.all_engines_play()) } }
        (form(name, "until", words.change(), &html! {
            label { span { (words.no_new_game_after()) } input type="datetime-local" name="until"; }
            input type="hidden" name="offset" value="+00:00";
            @if !shown.until.is_empty() { small { (shown.until) } }
        }))
    }
}

/// Keys by which two events would write into the same files, or listen at the same address.
const OWN: [(&str, &[&str]); 4] = [
    ("event", &["database", "log"]),
    ("http", &["listen", "tls"]),
    ("serve", &["database", "listen", "tls", "records"]),
    ("floodgate", &["database", "log", "records", "record_name", "record_formats"]),
];

/// The text of an event without what two events cannot share, and the keys that are left out; a league gets a database of
/// this name.
fn copied(text: &str, league: Option<&str>) -> (String, Vec<String>) {
    // A faulty text is mended by hand.
    let Ok(mut document) = text.parse::<DocumentMut>() else { return (text.to_owned(), vec![]) };
    let mut left_out = vec![];
    for (name, keys) in OWN {
        let Some(table) = document.get_mut(name).and_then(Item::as_table_like_mut) else { continue };
        for key in keys {
            let word = table.get(key).and_then(Item::as_str).unwrap_or_default();
            if !["faults", "off"].contains(&word) && table.remove(key).is_some() {
                left_out.push(format!("{name}.{key}"));
            }
        }
        if name == "serve" {
            // Without a key it still says that players log in.
            league.into_iter().for_each(|file| _ = table.insert("database", value(format!("{file}.db"))));
        } else if table.is_empty() {
            document.remove(name);
        }
    }
    (document.to_string(), left_out)
}

/// The text of an event, to become another one.
pub(crate) fn copy(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let name = fields.text("event");
    let event = desk.event(name).ok().filter(|event| matches!(event, Event::League(_)));
    let league = event.map(|event| desk.0.place.new_name(event.name()));
    let (text, left_out) = copied(&desk.text_of(name)?, league.as_deref());
    let content = html! {
        h1 { (words.copy()) ": " (name) }
        p { (words.copy_is_whole()) }
        @if !left_out.is_empty() { p { (prose(&words.left_out_of_copy(&left_out.join("`, `")))) } }
        form.order.wide method="post" action="/new/text" {
            (token())
            details.tab { summary { (words.text_of_event()) }
                textarea name="text" rows="24" spellcheck="false" aria-label=(words.text_of_event()) { (text) }
            }
            p.buttons {
                button.main name="do" value="begin" { (words.begin()) }
                button name="do" value="keep" { (words.keep_for_later()) }
                a.button href={ "/new?from=" (percent(name)) } { (words.as_another_kind()) }
            }
        }
    };
    Ok(Page::new(words.copy(), "/", content))
}

/// Saves the text of an event, if it is right.
pub(crate) fn save(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let (name, text) = (fields.text("event"), fields.lines("text"));
    let _alone = desk.0.place.alone();
    let known = desk.shown(name)?;
    if let Err(faults) = compose::check(&desk.0.place, &text) {
        let typed = Typed { text, version: fields.text("version").to_owned(), faults: Some(faults) };
        return Ok(drawn(words, &known, None, Some(&typed)).into_response());
    }
    if fields.is("version") && fields.text("version") != version(&known.text) {
        let typed = Typed { text, version: version(&known.text), faults: None };
        return Ok(drawn(words, &known, None, Some(&typed)).into_response());
    }
    desk.0.place.write(&format!("{name}.toml"), &text).map_err(refused)?;
    Ok(desk.confirm("/", Message::of(Language::saved)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_its_range_is_refused_with_the_range() {
        let of = |text: &str| number(&Fields::of(&[("games", text)]), &AT_ONCE);
        assert_eq!(of(" 12 ").ok(), Some(12));
        for wrong in ["", "0", "10001", "-1", "many"] {
            assert!(of(wrong).is_err_and(|why| why.message.to_string().contains("1 to 10000")), "{wrong}");
        }
    }

    #[test]
    fn a_copy_has_neither_the_addresses_nor_the_files_of_the_other_event() {
        let (head, rest) = ("# mine\n[event]\nname = \"cup\"\n", "[rules]\nmax_moves = 20\n");
        let own = format!(
            "{head}database = \"x.db\"\nlog = \"logs\"\n[http]\nlisten = [\"0.0.0.0:8080\"]\n\
             [http.tls]\ncertificate = \"x\"\n{rest}"
        );
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        let left_out = keys(&["event.database", "event.log", "http.listen", "http.tls"]);
        assert_eq!(copied(&own, None), (format!("{head}{rest}"), left_out));
        let kept = "[event]\nlog = \"off\"\n[serve]\n[http]\ndelay = \"5 moves\"\n";
        let open = format!("{kept}listen = [\"0.0.0.0:8080\"]\n")
            .replace("[serve]\n", "[serve]\nlisten = [\"0.0.0.0:4081\"]\n");
        assert_eq!(copied(&open, None), (kept.to_owned(), keys(&["http.listen", "serve.listen"])));
        for text in [head, "[event\n"] {
            assert_eq!(copied(text, None), (text.to_owned(), vec![]));
        }
        let league = "[serve]\nname = \"evening\"\n";
        let own = format!("{league}listen = [\"0.0.0.0:4081\"]\nrecords = \"games\"\n");
        let new = format!("{league}database = \"evening-2.db\"\n");
        let copy = copied(&own, Some("evening-2"));
        assert_eq!(copy, (new.clone(), keys(&["serve.listen", "serve.records"])));
        let copy = copied(&format!("{own}database = \"evening.db\"\n"), Some("evening-2"));
        assert_eq!(copy, (new, keys(&["serve.database", "serve.listen", "serve.records"])));
        let seat = "[floodgate]\nhost = \"wdoor\"\n";
        let own = format!(
            "{seat}database = \"x.db\"\nrecords = \"r\"\nrecord_name = \"{{number}}\"\nlog = \"logs\"\n"
        );
        let left_out = ["database", "log", "records", "record_name"].map(|key| format!("floodgate.{key}"));
        assert_eq!(copied(&own, None), (seat.to_owned(), left_out.to_vec()));
    }

    #[test]
    fn a_number_is_written_into_the_event_and_what_stands_around_it_stays() {
        let mut document: DocumentMut = "[event]\nname = \"cup\" # ours\ngames = 2 # each\n".parse().unwrap();
        set_in_event(&mut document, "games", 8).unwrap();
        assert_eq!(document.to_string(), "[event]\nname = \"cup\" # ours\ngames = 8 # each\n");
    }
}
