//! What is changed about an event, also while it is played: its players, its sizes and its hours in one form, and its file.

use crate::{
    Asked, Desk, compose, confirmed,
    create::token,
    events::{hold, is_about, set_terms},
    fields::{Fields, version},
    form::shown as said,
    library::{Library, name_of},
    refused,
    wish::{AT_ONCE, BY, GAMES, OUT, PLAYER, Wish, Wrong, moment},
};
use arena::{dispatcher::RunError, joining, operations::command::Command, resume};
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use event::{Failure, hall::Order, reread::try_newcomers};
use maud::{Markup, html};
use plan::{EnginePlan, Event, Faults, HallConfig, LibraryEngine, Plan};
use referee::clock::TimeControl;
use std::ops::RangeInclusive;
use toml_edit::{DocumentMut, Item, Table, Value, value};
use web::{
    Hall,
    components::{Mood, alert, letter, prose, state},
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// An event as the page of its changes shows it.
#[derive(Default)]
pub struct Shown {
    pub name: String,
    pub text: String,
    pub players: Vec<Player>,
    /// The names of the engines of the library that may join it.
    pub others: Vec<String>,
    /// Why no engine may.
    pub closed: Option<&'static str>,
    /// Engines of the library that play in it under another name, with that name.
    pub twins: Vec<(String, String)>,
    /// Until when its games begin, as `hall.toml` has it.
    pub until: String,
    /// True if its games are arranged here.
    pub is_arranged: bool,
    pub is_played: bool,
    /// True if each of its engines may have played.
    pub has_games: bool,
    /// Games of an encounter, where one number says it.
    pub games: Option<u64>,
    pub at_once: Option<u64>,
    /// What is wrong with it as a whole.
    pub faults: Vec<String>,
}

/// A player as the file has it.
pub struct Player {
    pub name: String,
    /// Why it plays no more.
    pub left: Option<Message>,
    /// Why it cannot play.
    pub faults: Vec<String>,
    /// True if it has played no game, and the library has an engine of its name that is set up otherwise.
    pub differs: bool,
}

/// Games of an encounter: of one stage that no test ends.
fn games_of(plan: &Plan) -> Option<u64> {
    match &plan.stages[..] {
        [one] if plan.sprt.is_none() && plan.tune.is_none() => Some(u64::from(one.games)),
        _ => None,
    }
}

/// The player that an engine would be a second time, as far as their configurations show it.
fn twin<'a>(engine: &EnginePlan, players: &'a [EnginePlan]) -> Option<&'a str> {
    let real = |it: &EnginePlan| it.command.canonicalize().unwrap_or_else(|_| it.command.clone());
    let is_same = |it: &&EnginePlan| {
        let own = [&engine.time, &it.time].contains(&&TimeControl::default()) || engine.time == it.time;
        own && (real(engine), &engine.directory, &engine.args) == (real(it), &it.directory, &it.args)
            && (&engine.options, &engine.environment, engine.ponder)
                == (&it.options, &it.environment, it.ponder)
    };
    players.iter().find(is_same).map(|player| player.name.as_str())
}

/// The players of a file, with what is wrong with each by the faults of the file and by those of its last run.
fn players(tables: &[&Table], library: &Library, faults: Option<&Faults>, said: &[String]) -> Vec<Player> {
    let replaced = |name: &str| {
        let by = tables.iter().find(|table| table.get("replaces").and_then(Item::as_str) == Some(name))?;
        let by = name_of(by);
        Some(Message::of(|language| language.replaced_by(&by)))
    };
    let player = |(at, table): (usize, &&Table)| {
        let (name, key) = (name_of(table), format!("engines[{at}]"));
        let is_out = table.get("withdrawn").and_then(Item::as_bool) == Some(true);
        let out = is_out.then(|| Message::of(Language::plays_no_more));
        let of_file = faults.into_iter().flat_map(Faults::iter).filter(|fault| fault.key.starts_with(&key));
        let mut faults: Vec<String> = of_file.map(|fault| fault.message.clone()).collect();
        // The last run has said the same of what is still wrong in the file.
        if faults.is_empty() {
            faults.extend(said.iter().filter(|line| line.contains(&format!("`{name}`"))).cloned());
        }
        let is_other = |known: &Table| {
            let keys =
                known.iter().filter(|(key, _)| *key != "replaces").map(|(key, item)| (key, item.to_string()));
            let table = keys.map(|(key, item)| (key.to_owned(), item.trim().to_owned()));
            table.collect::<std::collections::BTreeMap<_, _>>()
        };
        let differs = library.for_event(&name).is_ok_and(|known| is_other(&known) != is_other(table));
        Player { left: out.or_else(|| replaced(&name)), faults, differs, name }
    };
    tables.iter().enumerate().map(player).collect()
}

impl Desk {
    fn shown(&self, name: &str) -> Result<Shown, Refusal> {
        let text = self.text_of(name)?;
        // One that is no TOML has its text alone.
        let document: DocumentMut = text.parse().unwrap_or_default();
        let tables: Vec<&Table> =
            document.get("engines").and_then(Item::as_array_of_tables).into_iter().flatten().collect();
        let read = Event::load(&self.0.place.existing(name)?);
        let plan = match &read {
            Ok(Event::Arranged { plan, .. }) => Some(plan),
            _ => None,
        };
        let listed = self.listing(name).map(|event| event.faults).unwrap_or_default();
        let library = Library::open(&self.0.place).map_err(refused)?;
        let mut players = players(&tables, &library, read.as_ref().err(), &listed);
        let has_games = self.has_games(name);
        if has_games {
            players.iter_mut().for_each(|player| player.differs = false);
        }
        let begun = plan.filter(|_| has_games);
        let (closed, known) = (
            begun.and_then(|plan| joining::forbidden(plan, true)),
            begun.map_or(&[][..], |plan| &plan.engines),
        );
        let (mut others, mut twins) = (vec![], vec![]);
        let is_free = |name: &str| players.iter().all(|player| player.name != name);
        for LibraryEngine { plan: engine, inactive, missing, .. } in self.library()? {
            match twin(&engine, known) {
                _ if inactive || missing.is_some() || closed.is_some() || !is_free(&engine.name) => {}
                Some(player) => twins.push((engine.name, player.to_owned())),
                None => others.push(engine.name),
            }
        }
        let in_event = |key: &str| document.get("event")?.get(key)?.as_integer()?.try_into().ok();
        let has_own_sizes = ["stage", "sprt", "tune"].iter().any(|key| document.contains_key(key));
        let faults = match &read {
            // What is wrong with a player stands at the player.
            Err(faults) => {
                let others = faults.iter().filter(|fault| !fault.key.starts_with("engines["));
                others.map(said).collect()
            }
            Ok(_) => listed
                .into_iter()
                .filter(|line| players.iter().all(|one| !one.faults.contains(line)))
                .collect(),
        };
        Ok(Shown {
            is_arranged: plan.is_some()
                || document.contains_key("event") && !document.contains_key("floodgate"),
            is_played: self.0.running.operations(name).is_some(),
            has_games,
            games: match plan {
                Some(plan) => games_of(plan),
                None => in_event("games").filter(|_| !has_own_sizes),
            },
            at_once: plan.map(|plan| plan.concurrency as u64).or_else(|| in_event("concurrency")),
            until: self.until(name),
            name: name.to_owned(),
            text,
            players,
            others,
            closed,
            twins,
            faults,
        })
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

    /// Changes an event as its form says: all of it, or nothing.
    fn make(&self, name: &str, fields: &Fields) -> Result<Message, Wrong> {
        let _alone = self.0.place.alone();
        let shown = self.shown(name)?;
        let is_form =
            ["at-once", "games", "joins", "until"].iter().any(|name| fields.all(name).next().is_some());
        if !is_form && fields.beginning(PLAYER).next().is_none() {
            return Err(Refusal::bad(Language::unknown_order).into());
        }
        if fields.is("version") && fields.text("version") != version(&shown.text) {
            return Err(Refusal::conflict(Language::event_changed_meanwhile).into());
        }
        if !shown.is_arranged {
            return Err(Refusal::bad(Language::others_begin_its_games).into());
        }
        let wish = Wish::of(fields, &shown)?;
        let library = Library::open(&self.0.place).map_err(refused)?;
        let text = wish.written(&shown, &library)?;
        if text != shown.text {
            let file = self.0.place.existing(name)?;
            may_go_on(&compose::check_as(&self.0.place, &file, &text).map_err(refused)?, shown.is_played)?;
            self.put(name, text, wish.at_once)?;
            if shown.is_played {
                let back = |_: &Refusal| drop(self.put(name, shown.text.clone(), None));
                // One that cannot play would keep the event from being begun again.
                self.tell(name, &wish).inspect_err(back)?;
            }
        }
        self.set_until(name, wish.until.as_deref())?;
        let terms = HallConfig::load(self.0.place.directory(), true).map_err(refused)?;
        let is_held = terms.of(&format!("{name}.toml")).held;
        if wish.games.is_some() && !is_held {
            // It is begun anew with its file, once the running games are over.
            self.order(Order::Finish(name.to_owned()))?;
            self.order(Order::Begin(name.to_owned()))?;
        }
        Ok(wish.done(name, is_held))
    }

    fn put(&self, name: &str, text: String, at_once: Option<usize>) -> Result<(), Refusal> {
        self.0.place.write(&format!("{name}.toml"), &text).map_err(refused)?;
        self.order(Order::Changed(name.to_owned(), text, at_once))
    }

    /// Has an event that is played hear of its players.
    fn tell(&self, name: &str, wish: &Wish) -> Result<(), Refusal> {
        if wish.brings_engines() {
            self.carry_out(name, Command::Reload)?;
        }
        wish.out
            .iter()
            .try_for_each(|player| self.carry_out(name, Command::Withdraw { player: player.clone() }))
    }

    fn set_until(&self, name: &str, until: Option<&str>) -> Result<(), Refusal> {
        let Some(until) = until else { return Ok(()) };
        let wanted = (!until.is_empty()).then(|| Value::from(until));
        set_terms(&self.0.place, name, "until", wanted).map_err(refused)?;
        self.order(Order::Terms(name.to_owned()))
    }
}

/// Refuses what an event that has begun could not go on with. One that is played tries its newcomers itself.
fn may_go_on(event: &Event, is_played: bool) -> Result<(), Refusal> {
    let tried = match event {
        Event::Arranged { plan, .. } if plan.database.exists() => match is_played {
            true => resume::newcomers(plan).map(drop).map_err(Failure::from),
            false => try_newcomers(plan),
        },
        _ => Ok(()),
    };
    tried.map_err(|failure| match failure {
        Failure::Run(RunError::Joining { why, .. }) => refused(why),
        Failure::Run(RunError::Changed { changes, .. }) => {
            let changes = changes.join("\n");
            Refusal::bad(|words| format!("{}\n{}", words.games_would_not_compare(), words.fault(&changes)))
        }
        other => refused(other),
    })
}

/// The page.
pub(crate) fn page(Asked { desk, words, fields, done }: Asked) -> Result<Page, Refusal> {
    Ok(drawn(words, &desk.shown(fields.text("event"))?, done.as_ref(), &Sent::Nothing))
}

/// Makes the changes of the form.
pub(crate) fn change(Asked { desk, words, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("event");
    let begins = fields.text("do") == "begin";
    match desk.make(name, &fields) {
        Ok(_) if begins => {
            hold(&desk.0.place, name, false).map_err(refused)?;
            desk.order(Order::Begin(name.to_owned()))?;
            Ok(desk.confirm("/", Message::of(|language| language.event_begins(name))))
        }
        Ok(done) => Ok(desk.confirm(&address(name), done)),
        Err(wrong) => {
            let page = drawn(words, &desk.shown(name)?, None, &Sent::Form(&fields, &wrong));
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

/// The address of the page of an event.
pub(crate) fn address(name: &str) -> String {
    format!("/events/change?event={}", percent(name))
}

/// What was sent and not taken.
enum Sent<'a> {
    Nothing,
    Form(&'a Fields, &'a Wrong),
    Text(Typed),
}

/// A text that is faulty, or whose file was changed since the form was shown.
struct Typed {
    text: String,
    /// The version of the file that the text takes the place of.
    version: String,
    faults: Option<Faults>,
    /// Why the event could not go on with it.
    why: Option<Message>,
}

fn drawn(words: Language, shown: &Shown, done: Option<&Message>, sent: &Sent<'_>) -> Page {
    let name = shown.name.as_str();
    let typed = if let Sent::Text(typed) = sent { Some(typed) } else { None };
    let title = format!("{}: {name}", words.change());
    let content = html! {
        @if shown.has_games { a.crumb href={ (Hall::base(name)) "/" } { (name) " ›" } } @else { a.crumb href="/" { (words.home()) " ›" } }
        h1 { (title) }
        (confirmed(words, done))
        @if !shown.faults.is_empty() && typed.is_none() { (alert(Mood::Bad, &html! { pre.faults { (words.fault(&shown.faults.join("\n"))) } })) }
        @if shown.is_arranged { (form(words, shown, sent)) }
        details.tab open[typed.is_some() || !shown.is_arranged] {
            summary { (words.text_of_event()) }
            (text(words, shown, typed))
        }
    };
    Page::new(title, "/", content).with(&["times.js"])
}

/// The text of the file, to be changed by hand.
fn text(words: Language, shown: &Shown, typed: Option<&Typed>) -> Markup {
    let (text, version) = match typed {
        Some(typed) => (typed.text.as_str(), typed.version.clone()),
        None => (shown.text.as_str(), version(&shown.text)),
    };
    let faults = typed.and_then(|typed| typed.faults.as_ref());
    html! {
        p { (words.change_counts_when_begun()) }
        @if let Some(faults) = faults { pre.faults role="alert" { @for fault in faults.iter() { (words.fault(&said(fault))) "\n" } } }
        @if let Some(why) = typed.and_then(|typed| typed.why.as_ref()) { (alert(Mood::Bad, &html! { pre.faults { (why.text(words)) } })) }
        @else if typed.is_some() && faults.is_none() { p role="alert" { (words.changed_meanwhile()) } pre.faults { (shown.text) } }
        form.order.wide method="post" action="/events/text" {
            input type="hidden" name="event" value=(shown.name);
            input type="hidden" name="version" value=(version);
            textarea name="text" rows="28" spellcheck="false" aria-label=(words.text_of_event()) { (text) }
            p.buttons { button { (words.save()) } a.button href={ "/events/text?event=" (percent(&shown.name)) } { (words.copy()) } }
        }
    }
}

/// The form of what can be changed, also while the event is played.
fn form(words: Language, shown: &Shown, sent: &Sent<'_>) -> Markup {
    let (fields, wrong) = match sent {
        Sent::Form(fields, wrong) => (Some(*fields), Some(*wrong)),
        _ => (None, None),
    };
    let at = |field: &str| wrong.filter(|wrong| wrong.field == field).map(|wrong| wrong.why.text(words));
    let sent = |field: &str| fields.map_or("", |fields| fields.text(field));
    let number = |field: &'static str, label: &str, known: Option<u64>, range: &RangeInclusive<usize>| {
        let value = Some(sent(field)).filter(|sent| !sent.is_empty()).map(str::to_owned);
        let value = value.or_else(|| known.map(|known| known.to_string()));
        html! { label { span { (label) }
            input.number type="number" name=(field) value=[value] min=(range.start()) max=(range.end()) autofocus[at(field).is_some()];
            @if let Some(why) = at(field) { em.wrong role="alert" { (why) } }
        } }
    };
    let known = moment(&shown.until);
    let until = Some(sent("until")).filter(|sent| !sent.is_empty()).map(str::to_owned);
    html! { form.order.wide method="post" action="/events/change" {
        input type="hidden" name="event" value=(shown.name);
        input type="hidden" name="version" value=(version(&shown.text));
        @if let Some(why) = at("") { (alert(Mood::Bad, &html! { p { (prose(&words.fault(why))) } })) }
        fieldset {
            legend { (words.players()) }
            ul.roster { @for player in &shown.players { (player.row(words, shown, sent(&format!("{PLAYER}{}", player.name)))) } }
            @if let Some(why) = shown.closed { p.note { (prose(&words.fault(why))) } }
            @else if shown.others.is_empty() { p.note { (words.all_engines_play()) } }
            @else { label { span { (words.engine_that_joins()) } select name="joins" {
                option value="" { (words.nobody()) }
                @for other in &shown.others { option value=(other) selected[sent("joins") == other] { (other) } }
            } } }
            @for (engine, player) in &shown.twins { p.note { (prose(&words.plays_already_as(engine, player))) } }
            p.quiet { (if shown.has_games { words.what_leaving_does() } else { words.nobody_has_played() }) }
        }
        (number("at-once", words.games_at_once_short(), shown.at_once, &AT_ONCE))
        @if shown.games.is_some() { (number("games", words.games_of_encounter(), shown.games, &GAMES)) }
        label { span { (words.no_new_game_after()) }
            input type="datetime-local" name="until" value=[until.or_else(|| known.as_ref().map(|(time, _)| time.clone()))];
            @if !shown.until.is_empty() { small { (shown.until) } }
        }
        input type="hidden" name="offset" value=(known.as_ref().map_or("+00:00", |(_, offset)| offset));
        p.buttons.kept {
            button.main { (words.save()) }
            @if !shown.is_played { button name="do" value="begin" { (words.save_and_go_on()) } }
        }
    } }
}

impl Player {
    /// The player, and what may become of it.
    fn row(&self, words: Language, shown: &Shown, sent: &str) -> Markup {
        let by = |name: &str| format!("{BY}{name}");
        html! { li {
            (letter(&self.name)) span.name { (self.name) }
            @match &self.left {
                Some(left) => (state(Mood::Rest, left.text(words))),
                None => select name={ (PLAYER) (self.name) } aria-label={ (self.name) ": " (words.change()) } {
                    option value="" { (words.plays_on()) }
                    option value=(OUT) selected[sent == OUT] { (words.take_out()) }
                    @if self.differs { option value=(by(&self.name)) selected[sent == by(&self.name)] { (words.as_the_library_has_it()) } }
                    @for other in &shown.others { option value=(by(other)) selected[sent == by(other)] { (words.replace_by(other)) } }
                },
            }
            @if self.left.is_none() { @for fault in &self.faults { em.wrong { (prose(&words.fault(fault))) } } }
        } }
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
pub(crate) fn copied(text: &str, league: Option<&str>) -> (String, Vec<String>) {
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
    let (sent, now) = (fields.text("version").to_owned(), version(&known.text));
    let checked = compose::check_as(&desk.0.place, &desk.0.place.existing(name)?, &text);
    let is_other = checked.is_ok() && !sent.is_empty() && sent != now;
    let (faults, why) = match checked {
        Err(faults) => (Some(faults), None),
        Ok(_) if is_other => (None, None),
        Ok(event) => (None, may_go_on(&event, known.is_played).err().map(|refusal| refusal.message)),
    };
    if faults.is_some() || why.is_some() || is_other {
        let typed = Typed { text, version: if is_other { now } else { sent }, faults, why };
        return Ok(drawn(words, &known, None, &Sent::Text(typed)).into_response());
    }
    desk.0.place.write(&format!("{name}.toml"), &text).map_err(refused)?;
    Ok(desk.confirm("/", Message::of(Language::saved)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
