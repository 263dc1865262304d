//! New events: the kinds as cards, the form of one kind, and the text that it makes.

use crate::{
    Asked, Desk,
    clock::in_words,
    compose::{self, CLOCKS, Kind, MOVES, PRESETS},
    events::{fields_of, hold},
    fields::Fields,
    form::{Form, field, offered, shown, wrong},
    hosted,
    library::{Library, LibraryError},
    publish::is_free,
    refused,
};
use axum::response::{IntoResponse, Response};
use event::hall::Order;
use maud::{Markup, html};
use parking_lot::Mutex;
use plan::{EnginePlan, Event, Faults, LibraryEngine, time_text::time_control};
use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message, Phrase};

/// Plies of a game of programs, where an estimate needs them.
const PLIES: u32 = 120;
/// Forms that are remembered, so that one that is sent again makes nothing.
const SUBMITS: usize = 1000;

/// The cards.
pub(crate) fn kinds(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let from = fields.text("from");
    fields_of(&desk.0.place, from)?;
    let like = if from.is_empty() { String::new() } else { format!("&from={}", percent(from)) };
    let content = html! {
        h1 { (words.new_event()) @if !from.is_empty() { ": " (words.like_event(from)) } }
        @if !from.is_empty() { p { a href={ "/events/text?event=" (percent(from)) } { (words.same_file_again()) } } }
        div.kinds {
            @for kind in Kind::ALL {
                a.card href={ "/new/event?kind=" (kind.word()) (like) } {
                    strong { ((kind.name())(words)) }
                    span { ((kind.about())(words)) }
                }
            }
        }
        h2 { (words.like_a_real_event()) }
        p { @for (preset, name, _) in PRESETS { a href={ "/new/event?preset=" (preset) } { ((name)(words)) } " · " } }
    };
    Ok(Page::new(words.new_event(), "/new", content))
}

/// The form of a kind, with nothing filled in but what an event has that it is a copy of.
pub(crate) fn blank(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let engines = desk.library()?;
    let known = fields_of(&desk.0.place, fields.text("from"))?;
    Ok(page(words, &Form { words, fields: fields.with(known), engines, made: None }))
}

/// Shows what the fields make, or has it played.
pub(crate) fn show(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    fields.one_of("kind", &Kind::ALL.iter().map(|kind| kind.word()).collect::<Vec<_>>())?;
    let engines = desk.library()?;
    let alone = desk.0.place.alone();
    let library = Library::open(&desk.0.place).map_err(refused)?;
    let file = desk.0.place.new_name(fields.text("name"));
    let text = compose::text(&fields, &library, &file).map_err(|error: LibraryError| refused(error))?;
    let kind = Kind::of(fields.text("kind"));
    if matches!(kind, Kind::Match | Kind::Sprt) && fields.all("engine").count() > 2 {
        return Err(Refusal::bad(Language::two_engines_play));
    }
    let event = compose::check(&desk.0.place, &text);
    let port = fields.text("port").parse().ok();
    let begins = fields.text("do") == "begin";
    if let Some(port) = port.filter(|port| begins && kind == Kind::Guests && !is_free(*port)) {
        return Err(Refusal::conflict(move |words| words.port_is_taken(port)));
    }
    if event.is_ok() && (begins || fields.text("do") == "keep") {
        let name = desk.create(&fields, fields.text("name"), &text, begins)?;
        drop(alone);
        return Ok(desk.leads_to(&name, begins));
    }
    let made = Some((text, event));
    Ok(page(words, &Form { words, fields, engines, made }).into_response())
}

/// Keeps a text that was written by hand as a new event, or shows what is wrong with it.
pub(crate) fn keep(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let (text, begins) = (fields.lines("text"), fields.one_of("do", &["begin", "keep"])? == "begin");
    match compose::check(&desk.0.place, &text) {
        Ok(event) => {
            let name = desk.create(&fields, event.name(), &text, begins)?;
            Ok(desk.leads_to(&name, begins))
        }
        Err(faults) => {
            let content = html! { h1 { (words.new_event()) } (by_hand(words, &text, Some(&faults))) };
            Ok(Page::new(words.new_event(), "/new", content).into_response())
        }
    }
}

impl Desk {
    /// Writes a new event, which begins at once or waits; returns its name. A form that is sent twice makes it once.
    fn create(&self, form: &Fields, title: &str, text: &str, begins: bool) -> Result<String, Refusal> {
        let place = &self.0.place;
        let _alone = place.alone();
        if let Some(name) = self.0.submits.made_by(form.text("submit")) {
            return Ok(name);
        }
        let name = place.new_name(title);
        // What waits is held before its file is there.
        hold(place, &name, !begins).map_err(refused)?;
        place.write(&format!("{name}.toml"), text).map_err(refused)?;
        self.0.submits.note(form.text("submit"), &name);
        self.order(if begins { Order::Begin(name.clone()) } else { Order::Finish(name.clone()) })?;
        Ok(name)
    }

    /// The answer to the form of an event that is new: the next page has its card, if the hall has seen the file by then.
    fn leads_to(&self, name: &str, begins: bool) -> Response {
        self.comes(|| self.listing(name).is_some());
        let done = match begins {
            true => Message::of(|language| language.event_begins(name)),
            false => Message::of(|language| language.event_is_kept(name)),
        };
        self.confirm("/", done)
    }
}

/// The newest forms that have made an event, by their tokens, each with the name of the event.
#[derive(Default)]
pub(crate) struct Submits(Mutex<VecDeque<(String, String)>>);

impl Submits {
    /// The event that a form has made before.
    fn made_by(&self, token: &str) -> Option<String> {
        let made = self.0.lock();
        made.iter().find(|(known, _)| known == token).map(|(_, name)| name.clone())
    }

    /// Notes what a form has made. One without a token makes an event each time.
    fn note(&self, token: &str, name: &str) {
        let mut made = self.0.lock();
        made.extend((!token.is_empty()).then(|| (token.to_owned(), name.to_owned())));
        while made.len() > SUBMITS {
            made.pop_front();
        }
    }
}

/// The token of a form that makes an event.
fn token() -> Markup {
    html! { input type="hidden" name="submit" value=(web::accounts::random()); }
}

fn page(words: Language, form: &Form) -> Page {
    let kind = Kind::of(form.fields.text("kind"));
    let preset = PRESETS.iter().find(|(word, ..)| *word == form.fields.text("preset"));
    let (name, about) = match preset {
        Some((_, name, _)) => (*name, Language::about_preset as Phrase),
        None => (kind.name(), kind.about()),
    };
    let title = name(words);
    let content = html! {
        h1 { (title) }
        p { (about(words)) }
        @if form.engines.is_empty() && kind != Kind::Guests { p role="alert" { (words.no_engine_yet()) " " a href="/engines/browse" { (words.add_engines()) } } }
        form.order.wide method="post" action="/new/event" {
            input type="hidden" name="kind" value=(kind.word());
            (token())
            @match preset {
                Some((word, ..)) => {
                    input type="hidden" name="preset" value=(word);
                    (field(form, "name", words.name_of_event(), title, true))
                    (engines(words, form, kind))
                },
                None if kind == Kind::Floodgate => (hosted::fields_of_seat(words, form)),
                None if kind.is_hosted() => (hosted::fields_of_league(words, form)),
                None => (arranged(words, form, kind)),
            }
            p.buttons {
                button name="do" value="begin" { (words.begin()) }
                button name="do" value="keep" { (words.keep_for_later()) }
                button name="do" value="show" { (words.show_text()) }
            }
        }
        @if let Some((text, event)) = &form.made {
            @if let Some((games, minutes)) = event.as_ref().ok().and_then(lasts) {
                p { (words.so_long_in_all(games, minutes / 60, minutes % 60, PLIES)) }
            }
            @for clock in event.iter().flat_map(|event| clocks(words, event)) { p { (clock) } }
            (by_hand(words, text, event.as_ref().err()))
        }
    };
    Page::new(title, "/new", content)
}

fn arranged(words: Language, form: &Form, kind: Kind) -> Markup {
    html! {
        (field(form, "name", words.name_of_event(), (kind.name())(words), true))
        (engines(words, form, kind))
        (clock(words, form))
        div.columns { (numbers(words, form, kind)) }
        (openings(words, form))
        label.tick { input type="checkbox" name="adjudicate" value="1" checked[form.fields.is("adjudicate")]; span { (words.ends_decided_games()) } }
    }
}

/// The games of an event, and the minutes that they take if the players use their clocks; `None` without a number or clocks.
fn lasts(event: &Event) -> Option<(u64, u64)> {
    let Event::Arranged { plan, .. } = event else { return None };
    let used = |engine: &EnginePlan| {
        let time = &engine.time;
        let turns = PLIES / 2;
        let used =
            time.fixed.map_or(time.main + (time.byoyomi + time.increment) * turns, |fixed| fixed * turns);
        time.is_timed().then_some(used)
    };
    let (games, used) = (event::total(plan)?, plan.engines.iter().map(used).sum::<Option<Duration>>()?);
    let of_a_game = used.as_secs_f64() * 2.0 / plan.engines.len() as f64;
    let seconds = games as f64 * of_a_game / plan.concurrency.max(1) as f64;
    Some((games, (seconds / 60.0).ceil() as u64))
}

/// The clocks of the engines in words, each once.
fn clocks(words: Language, event: &Event) -> BTreeSet<String> {
    let Event::Arranged { plan, .. } = event else { return BTreeSet::new() };
    plan.engines.iter().flat_map(|engine| engine.times()).map(|time| in_words(words, time)).collect()
}

/// The text of an event, to be changed by hand, with what is wrong with it.
pub(crate) fn by_hand(words: Language, text: &str, faults: Option<&Faults>) -> Markup {
    html! {
        h2 { (words.text_of_event()) }
        @if let Some(faults) = faults { pre.faults role="alert" { @for fault in faults.iter() { (words.fault(&shown(fault))) "\n" } } }
        form.order.wide method="post" action="/new/text" {
            (token())
            textarea name="text" rows="24" spellcheck="false" aria-label=(words.text_of_event()) { (text) }
            p.buttons {
                button name="do" value="begin" { (words.begin_with_text()) }
                button name="do" value="keep" { (words.keep_for_later()) }
            }
        }
    }
}

/// Which engines play: by their tags, and which of them is the candidate.
fn engines(words: Language, form: &Form, kind: Kind) -> Markup {
    let chosen: Vec<&str> = form.fields.all("engine").collect();
    let tag = form.fields.text("tag");
    let tags: BTreeSet<&str> = offered(form).flat_map(|engine| &engine.tags).map(String::as_str).collect();
    let with_tag = |tag: &str| {
        let (kind, preset) = (form.fields.text("kind"), form.fields.text("preset"));
        format!("/new/event?kind={}&preset={}&tag={}", percent(kind), percent(preset), percent(tag))
    };
    let is_chosen = |engine: &LibraryEngine| {
        chosen.contains(&engine.plan.name.as_str()) || engine.tags.iter().any(|known| known == tag)
    };
    html! {
        fieldset {
            legend { (words.engines()) }
            (wrong(form, "engine"))
            @if !tags.is_empty() { p { (words.choose_by_tag()) @for tag in &tags { " " a href=(with_tag(tag)) { (tag) } } } }
            @for name in chosen.iter().filter(|name| offered(form).all(|engine| engine.plan.name != **name)) {
                em.wrong role="alert" { (words.copied_engine_missing(name)) }
            }
            @for engine in offered(form) {
                label.tick {
                    input type="checkbox" name="engine" value=(engine.plan.name) checked[is_chosen(engine)];
                    span { (engine.plan.name) @if !engine.tags.is_empty() { small { " " (engine.tags.join(", ")) } } }
                }
            }
        }
        @if kind.has_candidate() {
            label { span { (if kind == Kind::Sprt { words.candidate() } else { words.challenger() }) }
                select name="candidate" { @for engine in offered(form) {
                    option value=(engine.plan.name) selected[form.fields.text("candidate") == engine.plan.name] { (engine.plan.name) }
                } }
            }
        }
    }
}

fn clock(words: Language, form: &Form) -> Markup {
    let given = form.fields.text("clock");
    let value = if given.is_empty() { CLOCKS[0] } else { given };
    html! {
        label { span { (words.clock()) }
            input name="clock" value=(value) list="clocks" maxlength="100" autocomplete="off" required;
            (wrong(form, "clock"))
        }
        datalist id="clocks" { @for clock in CLOCKS { option value=(clock) { (time_control(clock).map(|time| in_words(words, &time)).unwrap_or_default()) } } }
    }
}

fn numbers(words: Language, form: &Form, kind: Kind) -> Markup {
    html! {
        @if kind == Kind::Sprt {
            (field(form, "elo0", words.elo_of_h0(), "0", true))
            (field(form, "elo1", words.elo_of_h1(), "10", true))
        } @else { (field(form, "games", words.games_of_encounter(), kind.games(), true)) }
        @if kind == Kind::Swiss { (field(form, "rounds", words.rounds(), "5", true)) }
        (field(form, "concurrency", words.games_at_once(), "", false))
        (field(form, "max_moves", words.draw_after(), MOVES, true))
    }
}

fn openings(words: Language, form: &Form) -> Markup {
    let given = form.fields.text("openings");
    let is_file = !["", "built-in", "none"].contains(&given);
    html! {
        label { span { (words.openings()) }
            input name="openings" list="openings" value=(if given.is_empty() { "built-in" } else { given }) maxlength="500" spellcheck="false" autocomplete="off";
            (wrong(form, "openings"))
        }
        datalist id="openings" {
            option value="built-in" { (words.openings_built_in()) }
            option value="none" { (words.openings_none()) }
            @if is_file { option value=(given) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_is_sent_again_leads_to_the_event_that_it_has_made() {
        let submits = Submits::default();
        assert_eq!(submits.made_by("one"), None);
        submits.note("one", "cup");
        submits.note("", "of a script");
        assert_eq!((submits.made_by("one").as_deref(), submits.made_by("")), (Some("cup"), None));
        (0..SUBMITS).for_each(|number| submits.note(&number.to_string(), "other"));
        assert_eq!(submits.made_by("one"), None, "what is remembered is bounded");
    }
}
