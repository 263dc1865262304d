//! New events: the kinds as cards, the form of one kind, and the text that it makes.

use crate::{
    Asked, Desk, clock,
    compose::{self, Kind, MOVES, PRESETS},
    events::{fields_of, hold},
    fields::Fields,
    forecast::forecast,
    form::{Form, choice, field, number, offered, shown, wrong},
    hosted,
    library::{Library, LibraryError},
    publish::is_free,
    refused,
};
use axum::response::{Html, IntoResponse, Response};
use event::hall::Order;
use maud::{Markup, html};
use parking_lot::Mutex;
use plan::{Event, Faults, LibraryEngine};
use std::collections::{BTreeSet, VecDeque};
use web::{
    components::{icon, letter, prose},
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message, Phrase};

/// Forms that are remembered, so that one that is sent again makes nothing.
const SUBMITS: usize = 1000;

/// The cards.
pub(crate) fn kinds(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let from = fields.text("from");
    fields_of(&desk.0.place, from)?;
    let like = if from.is_empty() { String::new() } else { format!("&from={}", percent(from)) };
    let content = html! {
        h1 { (words.new_event()) @if !from.is_empty() { ": " (prose(&words.like_event(from))) } }
        @if !from.is_empty() { p { a href={ "/events/text?event=" (percent(from)) } { (words.same_file_again()) } } }
        (cards(words, Kind::ALL, &like))
        p.buttons { a.button href={ (web::STUDY_PAGE) "?position=startpos#play-here" } { (words.play_against_engine()) } }
        h2 { (words.like_a_real_event()) }
        div.buttons { @for (preset, name, _) in PRESETS { a.button href={ "/new/event?preset=" (preset) } { ((name)(words)) } } }
    };
    Ok(Page::new(words.new_event(), "/", content))
}

/// Kinds of events, each with a picture; `like` is what the next page is to know.
pub(crate) fn cards(words: Language, kinds: &[Kind], like: &str) -> Markup {
    html! { div.kinds { @for kind in kinds {
        a.card href={ "/new/event?kind=" (kind.word()) (like) } {
            (icon(kind.icon()))
            strong { ((kind.name())(words)) }
            span { ((kind.about())(words)) }
        }
    } } }
}

/// The form of a kind, with nothing filled in but what an event has that it is a copy of.
pub(crate) fn blank(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let engines = desk.library()?;
    let known = fields_of(&desk.0.place, fields.text("from"))?;
    let form = Form { words, fields: fields.with(known), engines, made: None };
    let event = desk.described(&form.fields).and_then(|(_, event)| event.ok());
    Ok(page(words, &desk, &form, event.as_ref()))
}

/// What the fields of a form make, as it stands beside them.
pub(crate) fn sum(Asked { desk, words, fields, .. }: Asked) -> Result<Html<String>, Refusal> {
    let event = desk.described(&fields).and_then(|(_, event)| event.ok());
    Ok(Html(forecast(words, &desk, event.as_ref()).into_string()))
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
    let form = Form { words, fields, engines, made: Some((text, event)) };
    let event = form.made.as_ref().and_then(|(_, event)| event.as_ref().ok());
    Ok(page(words, &desk, &form, event).into_response())
}

/// The engines that come with this program, the stronger one first.
const BUILT_IN: [&str; 2] = ["renmei-pairwise", "renmei-random"];

/// Adds the engines that come with this program, and has them play a first match.
pub(crate) fn first(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let beside = std::env::current_exe().map_err(refused)?;
    let programs =
        BUILT_IN.map(|name| beside.with_file_name(name).with_extension(std::env::consts::EXE_EXTENSION));
    if !programs.iter().all(|program| program.is_file()) {
        return Err(Refusal::bad(Language::no_engine_comes_with_this_program));
    }
    let names = programs.iter().map(|program| desk.shake(program)).collect::<Result<Vec<_>, _>>();
    let names = names.map_err(refused)?;
    // A second click finds what the first one has made.
    let alone = desk.0.place.alone();
    if let Some(name) = desk.0.submits.made_by(fields.text("submit")) {
        drop(alone);
        return Ok(desk.leads_to(&name, true));
    }
    let engines = desk.library()?;
    let mut known = vec![("kind", Kind::Match.word().to_owned()), ("name", words.first_match().to_owned())];
    known.extend(
        [("minutes", "1"), ("manner", "byoyomi"), ("amount", "1"), ("games", "4")]
            .map(|(key, value)| (key, value.to_owned())),
    );
    for (program, name) in programs.iter().zip(&names) {
        let here = engines.iter().find(|engine| engine.plan.command == *program);
        let name = match here {
            Some(engine) => engine.plan.name.clone(),
            None => desk.add(name, program).map_err(refused)?,
        };
        known.push(("engine", name));
    }
    let name = desk.make_event(&fields.with(known))?;
    drop(alone);
    Ok(desk.leads_to(&name, true))
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
            Ok(Page::new(words.new_event(), "/", content).into_response())
        }
    }
}

impl Desk {
    /// The text that the fields of a form make, and the event that it describes, or what is wrong with it.
    fn described(&self, fields: &Fields) -> Option<(String, Result<Event, Faults>)> {
        let library = Library::open(&self.0.place).ok()?;
        let text = compose::text(fields, &library, &self.0.place.new_name(fields.text("name"))).ok()?;
        let event = compose::check(&self.0.place, &text);
        Some((text, event))
    }

    /// Writes a new event, which begins at once or waits; returns its name. A form that is sent twice makes it once.
    pub(crate) fn create(
        &self,
        form: &Fields,
        title: &str,
        text: &str,
        begins: bool,
    ) -> Result<String, Refusal> {
        let place = &self.0.place;
        let _alone = place.alone();
        if let Some(name) = self.0.submits.made_by(form.text("submit")) {
            return Ok(name);
        }
        let name = place.new_name(title);
        // What waits is held before its file is there.
        hold(place, &name, !begins).map_err(refused)?;
        place.write(&format!("{name}.toml"), &crate::play::seated(place, &name, text)).map_err(refused)?;
        self.0.submits.note(form.text("submit"), &name);
        self.order(if begins { Order::Begin(name.clone()) } else { Order::Finish(name.clone()) })?;
        Ok(name)
    }

    /// Makes an event of fields that nobody has seen as a form, and begins it; returns its name.
    pub(crate) fn make_event(&self, fields: &Fields) -> Result<String, Refusal> {
        let _alone = self.0.place.alone();
        let library = Library::open(&self.0.place).map_err(refused)?;
        let text = compose::text(fields, &library, &self.0.place.new_name(fields.text("name")));
        let text = text.map_err(|error: LibraryError| refused(error))?;
        compose::check(&self.0.place, &text).map_err(refused)?;
        self.create(fields, fields.text("name"), &text, true)
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
pub(crate) fn token() -> Markup {
    html! { input type="hidden" name="submit" value=(web::accounts::random()); }
}

fn page(words: Language, desk: &Desk, form: &Form, event: Option<&Event>) -> Page {
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
        div.form { form.order.wide id="event" method="post" action="/new/event" {
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
                button.main name="do" value="begin" { (words.begin()) }
                button name="do" value="keep" { (words.keep_for_later()) }
                button.quiet name="do" value="show" { (words.show_text()) }
            }
        } @if !kind.is_hosted() { aside id="summary" data-from="/new/summary" role="status" { (forecast(words, desk, event)) } } }
        @if let Some((text, event)) = &form.made { (by_hand(words, text, event.as_ref().err())) }
    };
    let page = Page::new(title, "/", content);
    if kind.is_hosted() { page } else { page.with(&["times.js", "summary.js"]) }
}

fn arranged(words: Language, form: &Form, kind: Kind) -> Markup {
    html! {
        (field(form, "name", words.name_of_event(), (kind.name())(words), true))
        (engines(words, form, kind))
        (clock::fields(words, form))
        (numbers(words, form, kind))
        (openings(words, form))
        (rules(words, form, kind))
    }
}

/// Rules that are as usual in most events.
fn rules(words: Language, form: &Form, kind: Kind) -> Markup {
    let is_wrong =
        ["max_moves", "replay_draws", "tiebreaks"].iter().any(|field| form.faults(field).next().is_some());
    let fields = &form.fields;
    let is_other = ["replay_draws", "tiebreaks", "adjudicate"].iter().any(|field| fields.is(field))
        || !["", MOVES].contains(&fields.text("max_moves"));
    html! { details.tab open[is_wrong || is_other] {
        summary { (words.more_rules()) }
        (number(form, "max_moves", words.draw_after(), MOVES, ""))
        @if kind != Kind::Sprt { (choice(form, "replay_draws", words.drawn_games(), &[
            ("", words.draws_count()), ("same", words.draws_again_same()), ("swap", words.draws_again_swapped()),
        ])) }
        @if kind.has_table() { (choice(form, "tiebreaks", words.order_of_the_level(), &[
            ("", words.tie_breaks_as_usual()), ("direct", words.tie_breaks_direct()), ("japan", words.tie_breaks_of_japan()),
        ])) }
        label.tick { input type="checkbox" name="adjudicate" value="1" checked[fields.is("adjudicate")]; span { (words.ends_decided_games()) } }
    } }
}

/// The text of an event, to be changed by hand, with what is wrong with it.
fn by_hand(words: Language, text: &str, faults: Option<&Faults>) -> Markup {
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

/// Most engines of a library of which all play where nobody has chosen.
const ALL: usize = 8;

/// The two engines of a match or of a test.
fn pair(words: Language, form: &Form, kind: Kind) -> Markup {
    let chosen: Vec<&str> = form.fields.all("engine").collect();
    let names: Vec<&str> = offered(form).map(|engine| engine.plan.name.as_str()).collect();
    // The newest engine of the library is tested against the one before.
    let (labels, usual): (_, Vec<&str>) = match kind {
        Kind::Sprt => ([words.new_engine(), words.old_engine()], names.iter().rev().copied().collect()),
        _ => ([words.one_engine(), words.other_engine()], names.clone()),
    };
    let is_chosen = |at: usize, name: &str| chosen.get(at).or_else(|| usual.get(at)) == Some(&name);
    html! {
        @for (at, label) in labels.into_iter().enumerate() {
            label { span { (label) } select name="engine" { @for name in &names {
                option value=(name) selected[is_chosen(at, name)] { (name) }
            } } }
        }
        (wrong(form, "engine"))
        (missing(words, form, &chosen))
    }
}

/// Engines that were chosen and are not here.
fn missing(words: Language, form: &Form, chosen: &[&str]) -> Markup {
    html! { @for name in chosen.iter().filter(|name| offered(form).all(|engine| engine.plan.name != **name)) {
        em.wrong role="alert" { (prose(&words.copied_engine_missing(name))) }
    } }
}

/// Which engines play: by their tags, and which of them is the challenger.
fn engines(words: Language, form: &Form, kind: Kind) -> Markup {
    if matches!(kind, Kind::Match | Kind::Sprt) {
        return pair(words, form, kind);
    }
    let chosen: Vec<&str> = form.fields.all("engine").collect();
    let tag = form.fields.text("tag");
    let tags: BTreeSet<&str> = offered(form).flat_map(|engine| &engine.tags).map(String::as_str).collect();
    let with_tag = |tag: &str| {
        let (kind, preset) = (form.fields.text("kind"), form.fields.text("preset"));
        format!("/new/event?kind={}&preset={}&tag={}", percent(kind), percent(preset), percent(tag))
    };
    let is_blank = form.made.is_none() && chosen.is_empty() && tag.is_empty();
    let all_play = is_blank && offered(form).count() <= ALL;
    let is_chosen = |engine: &LibraryEngine| {
        all_play
            || chosen.contains(&engine.plan.name.as_str())
            || engine.tags.iter().any(|known| known == tag)
    };
    html! {
        fieldset {
            legend { (words.engines()) }
            (wrong(form, "engine"))
            @if !tags.is_empty() { p { (words.choose_by_tag()) @for tag in &tags { " " a href=(with_tag(tag)) { (tag) } } } }
            (missing(words, form, &chosen))
            div.pick { @for engine in offered(form) {
                label.tick {
                    input type="checkbox" name="engine" value=(engine.plan.name) checked[is_chosen(engine)];
                    (letter(&engine.plan.name))
                    span { (engine.plan.name) @if !engine.tags.is_empty() { small { " " (engine.tags.join(", ")) } } }
                }
            } }
        }
        @if kind.has_candidate() {
            label { span { (words.challenger()) }
                select name="candidate" { @for engine in offered(form) {
                    option value=(engine.plan.name) selected[form.fields.text("candidate") == engine.plan.name] { (engine.plan.name) }
                } }
            }
        }
    }
}

fn numbers(words: Language, form: &Form, kind: Kind) -> Markup {
    let only = "";
    html! {
        @if kind == Kind::Sprt {
            (number(form, "elo0", words.elo_of_h0(), "0", only))
            (number(form, "elo1", words.elo_of_h1(), "10", only))
            p.quiet { (words.what_a_test_answers()) }
        } @else { (number(form, "games", words.games_of_encounter(), kind.games(), only)) }
        @if kind == Kind::Swiss { (number(form, "rounds", words.number_of_rounds(), "5", only)) }
        @if kind == Kind::Knockout { (choice(form, "tie", words.level_encounter(), &[("", words.higher_seed_goes_on()), ("more-games", words.more_games_decide())])) }
        @if kind.may_have_final() { (choice(form, "final", words.knock_out_final(), &[
            ("", words.no_final()), ("2", words.final_of_two()), ("4", words.final_of_four()), ("8", words.final_of_eight()),
        ])) }
        (number(form, "concurrency", words.games_at_once_short(), "", words.as_many_as_cores_carry()))
    }
}

/// Where games begin: a choice, or a file.
fn openings(words: Language, form: &Form) -> Markup {
    let given = form.fields.text("openings");
    let typed = form.fields.text("openings_file");
    let is_file = typed.is_empty() && !["", "built-in", "none"].contains(&given);
    html! {
        label { span { (words.openings()) } select name="openings" {
            option value="built-in" { (words.openings_built_in()) }
            option value="none" selected[given == "none"] { (words.openings_none()) }
            @if is_file { option value=(given) selected { (given) } }
        } }
        label { span { (words.openings_of_a_file()) }
            input name="openings_file" value=(typed) placeholder="openings.sfen" maxlength="500" spellcheck="false" autocomplete="off";
            (wrong(form, "openings"))
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
