//! The engines of the library.

use crate::{Asked, Desk, confirmed, engine::address, fields::Fields, lead, waiting};
use axum::{extract::State, response::Response};
use ledger::{Apart, Ledger, Row};
use maud::{Markup, html};
use plan::{EnginePlan, LibraryEngine};
use report::exhibit::minus;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};
use web::{
    Made,
    components::{Icon, Mood, alert, empty, icon, letter, prose, state},
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use words::{Language, Message};

/// Most programs that are added at once.
const MOST: usize = 50;
/// Engines from which on they can be searched.
const SEARCHED: usize = 8;
/// Least age of the ratings before others are made.
const FRESH: Duration = Duration::from_secs(60);

/// Ratings by the names of engines: Elo among those whom games connect, and its error.
pub type Ratings = BTreeMap<String, (f64, Option<f64>)>;

/// The ratings over all databases of a directory, made when somebody asks.
pub fn ratings(directory: PathBuf) -> Made<Ratings> {
    Made::new(
        FRESH,
        Box::new(move || {
            let mut ledger = Ledger::new(Apart { build: false, clock: false, machine: false }, None);
            for database in journal::databases_in(&directory) {
                // What cannot be read is reported where the event is.
                let _unreadable = ledger.read(&database);
            }
            let rated = ledger.rate(&[])?;
            let rows = rated.groups.first().into_iter().flat_map(|group| &group.rows);
            let rating = |row: &Row| {
                Some((ledger.nodes()[row.node].name.clone(), (row.elo.value()?, row.elo.error())))
            };
            Ok(rows.filter_map(rating).collect())
        }),
    )
}

/// The list.
pub(crate) async fn page(State(desk): State<Desk>, visitor: Visitor, query: Fields) -> Result<Page, Refusal> {
    let words = visitor.language;
    let (done, ratings) = (desk.confirmation(&query), desk.0.ratings.value().await?);
    let engines = waiting(move || LibraryEngine::load(desk.0.place.directory())).await?;
    let content = html! {
        div.top { h1 { (words.engines()) }
            a.button.main href="/engines/browse" { (icon(Icon::Add)) (words.add_engines()) }
            @if engines.as_ref().is_ok_and(|engines| engines.len() > 1) { a.button href="/new" { (words.new_event()) } }
        }
        (confirmed(words, done.as_ref()))
        @match &engines {
            Err(faults) => (alert(Mood::Bad, &html! { p { (prose(words.library_is_faulty())) } pre.faults { (words.fault(faults)) } })),
            Ok(engines) if engines.is_empty() => (empty(words.no_engine_yet(), words.first_add_engines(), &Markup::default())),
            Ok(engines) => (table(words, engines, &query, &ratings)),
        }
        form.order.line method="post" action="/engines/add" {
            label { span { (words.path_of_program()) } input name="program" required spellcheck="false"; }
            button { (words.add()) }
        }
    };
    Ok(Page::new(words.engines(), "/engines", content))
}

fn rating(ratings: &Ratings, name: &str) -> String {
    let Some((elo, error)) = ratings.get(name) else { return String::new() };
    let error = error.map(|error| format!(" ± {error:.0}")).unwrap_or_default();
    minus(&format!("{elo:+.0}{error}"))
}

/// The engines that a query asks for: those of a tag, those with some words in their names, tags or notes, by name or by
/// their ratings.
fn asked<'a>(engines: &'a [LibraryEngine], query: &Fields, ratings: &Ratings) -> Vec<&'a LibraryEngine> {
    let (tag, sought) = (query.text("tag"), query.text("find").to_lowercase());
    let has = |engine: &&LibraryEngine| {
        let texts = [&engine.plan.name, &engine.note];
        let is_found =
            texts.into_iter().chain(&engine.tags).any(|text| text.to_lowercase().contains(&sought));
        is_found && (tag.is_empty() || engine.tags.iter().any(|known| known == tag))
    };
    let mut shown: Vec<_> = engines.iter().filter(has).collect();
    if query.text("sort") == "elo" {
        let elo = |engine: &&LibraryEngine| {
            ratings.get(&engine.plan.name).map_or(f64::NEG_INFINITY, |(elo, _)| *elo)
        };
        shown.sort_by(|a, b| elo(b).total_cmp(&elo(a)));
    }
    shown
}

/// Engines as a table; two of them can be compared.
fn table(words: Language, engines: &[LibraryEngine], query: &Fields, ratings: &Ratings) -> Markup {
    let (tag, shown) = (query.text("tag"), asked(engines, query, ratings));
    html! {
        @if engines.len() > SEARCHED { form.filter method="get" action="/engines" role="search" {
            input type="search" name="find" value=(query.text("find")) maxlength="100" placeholder=(words.name_or_tag()) aria-label=(words.name_or_tag());
            button { (words.search()) }
        } }
        form method="get" action="/engines/compare" {
        @if !tag.is_empty() { p { (words.tags_column()) ": " (tag) " · " a href="/engines" { (words.all_engines()) } } }
        div.scroll.sheet tabindex="0" role="region" aria-label=(words.engines()) { table.games.library {
            thead { tr {
                th.name { (words.name()) } th.name { (words.state()) } th title=(words.rating_of_library()) { a href="/engines?sort=elo" { "Elo" } }
                th.name { (words.tags_column()) } th.name { (words.note()) } th.name { (words.compare()) }
            } }
            tbody { @for engine in shown { (row(words, engine, &rating(ratings, &engine.plan.name))) } }
        } }
        @if engines.len() > 1 { p.buttons { button { (words.compare_two()) } } }
    } }
}

fn row(words: Language, engine: &LibraryEngine, rating: &str) -> Markup {
    let name = &engine.plan.name;
    html! { tr {
        td.name {
            div.who { (letter(name)) span { a href=(address(name)) { (name) }
                small.note { (plan::program_name(&engine.plan.command.to_string_lossy())) } } }
        }
        td.name {
            @if engine.missing.is_some() { (state(Mood::Bad, words.engine_lacks_a_file())) }
            @else if engine.inactive { (state(Mood::Rest, words.inactive())) }
            @else { (state(Mood::Good, words.engine_is_ready())) }
            @if let Some(missing) = &engine.missing { div.note { (missing) } }
        }
        td { (rating) }
        td.name { @for tag in &engine.tags { a.tag href={ "/engines?tag=" (percent(tag)) } { (tag) } " " } }
        td.name { (engine.note) }
        td.name { input type="checkbox" name="engine" value=(name) aria-label={ (words.compare()) ": " (name) }; }
    } }
}

/// Adds programs, each under the name that it gives itself.
pub(crate) fn add(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let programs: Vec<PathBuf> = fields.all("program").take(MOST).map(|path| bare(path).into()).collect();
    if programs.is_empty() {
        return Err(Refusal::bad(|language| language.empty_field("program")));
    }
    let (mut added, mut silent) = (vec![], vec![]);
    // Each may take as long to start as any engine.
    let shaken = thread::scope(|scope| {
        let shaking: Vec<_> = programs.iter().map(|program| scope.spawn(|| desk.shake(program))).collect();
        shaking.into_iter().map(|hand| hand.join().unwrap_or_else(|_| Err(String::new()))).collect::<Vec<_>>()
    });
    for (program, name) in programs.iter().zip(shaken) {
        match name.and_then(|name| desk.add(&name, program)) {
            Ok(name) => added.push(name),
            Err(why) => silent.push(unanswered(program, &why)),
        }
    }
    if !silent.is_empty() && added.is_empty() {
        return Err(Refusal::bad(|language| {
            format!("{}\n{}", language.fault(&silent.join("\n")), language.what_answers())
        }));
    }
    let (names, silent) = (added.join(", "), silent.join("\n"));
    let is_complete = silent.is_empty();
    let done = Message::of(|language| match is_complete {
        true => language.engines_were_added(&names),
        false => {
            let silent = language.fault(&silent);
            format!("{}\n{silent}\n{}", language.engines_were_added(&names), language.what_answers())
        }
    });
    let to = match &added[..] {
        [one] if is_complete => address(one),
        _ => "/engines".to_owned(),
    };
    Ok(desk.confirm(&to, done))
}

/// A program that did not answer as an engine does, with the first line of what it said.
fn unanswered(program: &Path, why: &str) -> String {
    let shown = |c: char| if c.is_control() || c == char::REPLACEMENT_CHARACTER { ' ' } else { c };
    let why: String = why.lines().next().unwrap_or_default().chars().map(shown).collect();
    format!("{}: {}", plan::program_name(&program.to_string_lossy()), why.trim())
}

/// A path without the quotation marks that file managers put around it.
fn bare(path: &str) -> &str {
    path.trim_matches('"')
}

impl Desk {
    /// The name that a program gives itself, if it answers as an engine does.
    pub(crate) fn shake(&self, program: &Path) -> Result<String, String> {
        let shown = program.display();
        if !program.is_absolute() || !platform::files::is_program(program) {
            return Err(format!("`{shown}` is not the path of a program"));
        }
        let directory = program.parent().map(Path::to_path_buf);
        let engine = EnginePlan {
            name: plan::program_name(&program.to_string_lossy()).to_owned(),
            command: program.to_owned(),
            directory,
            directory_by_default: true,
            cores: 1.0,
            ..EnginePlan::default()
        };
        let said = self.0.handshakes.of(&engine)?;
        let name: String =
            said.name.unwrap_or(engine.name).chars().filter(|c| !notation::is_hidden(*c)).take(60).collect();
        Ok(name.trim().to_owned())
    }

    /// Adds an engine under a name, or one like it; returns the name.
    pub(crate) fn add(&self, name: &str, program: &Path) -> Result<String, String> {
        let added = self.change(|library| Ok(library.add(name, program)));
        added.map_err(|refusal| refusal.message.to_string())
    }
}

/// What is ordered with an engine.
pub(crate) fn order(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let name = fields.text("engine");
    match fields.text("order") {
        "copy" => desk.change(|library| library.copy(name)).map(|copy| lead(&address(&copy))),
        "remove" => {
            desk.change(|library| library.remove(name))?;
            let done = Message::of(|language| language.engine_was_removed(name));
            Ok(desk.confirm("/engines", done))
        }
        _ => Err(Refusal::bad(Language::unknown_order)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_found_by_name_tag_and_note_and_sorted_by_their_ratings() {
        let engine = |name: &str, tag: &str, note: &str| LibraryEngine {
            plan: EnginePlan { name: name.to_owned(), ..EnginePlan::default() },
            tags: vec![tag.to_owned()],
            note: note.to_owned(),
            inactive: false,
            missing: None,
        };
        let engines =
            [engine("Suisho 9", "nnue", ""), engine("gps", "old", "Debian"), engine("dl", "gpu", "")];
        let ratings = Ratings::from([("gps".to_owned(), (-90.0, None)), ("dl".to_owned(), (71.0, None))]);
        let names = |query: &[(&str, &str)]| -> Vec<&str> {
            let shown = asked(&engines, &Fields::of(query), &ratings);
            shown.iter().map(|engine| engine.plan.name.as_str()).collect()
        };
        assert_eq!(names(&[]), ["Suisho 9", "gps", "dl"]);
        assert_eq!(names(&[("find", "SUISHO")]), ["Suisho 9"]);
        assert_eq!((names(&[("find", "debian")]), names(&[("tag", "gpu")])), (vec!["gps"], vec!["dl"]));
        assert_eq!(names(&[("sort", "elo")]), ["dl", "gps", "Suisho 9"], "one without a rating is the last");
        assert!(names(&[("find", "nobody")]).is_empty());
    }

    #[test]
    fn an_engine_that_nobody_has_played_has_no_rating() {
        let ratings =
            Ratings::from([("one".to_owned(), (-12.4, Some(30.6))), ("two".to_owned(), (12.4, None))]);
        let shown = ["one", "two", "three"].map(|name| rating(&ratings, name));
        assert_eq!(shown, ["−12 ± 31", "+12", ""]);
    }
}
