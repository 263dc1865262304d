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
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use words::{Language, Message};

/// Most programs that are added at once.
const MOST: usize = 50;
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
    let tag = query.text("tag");
    let engines = waiting(move || LibraryEngine::load(desk.0.place.directory())).await?;
    let content = html! {
        h1 { (words.engines()) }
        (confirmed(words, done.as_ref()))
        p.buttons { a.button href="/engines/browse" { (words.add_engines()) } }
        form.order.line method="post" action="/engines/add" {
            label { span { (words.path_of_program()) } input name="program" required spellcheck="false"; }
            button { (words.add()) }
        }
        @match &engines {
            Err(_) => p role="alert" { (words.library_is_faulty()) },
            Ok(engines) if engines.is_empty() => p { (words.no_engine_yet()) },
            Ok(engines) => (table(words, engines, tag, &ratings)),
        }
        @if let Err(faults) = &engines { pre { (words.fault(faults)) } }
    };
    Ok(Page::new(words.engines(), "/engines", content))
}

fn rating(ratings: &Ratings, name: &str) -> String {
    let Some((elo, error)) = ratings.get(name) else { return String::new() };
    let error = error.map(|error| format!(" ± {error:.0}")).unwrap_or_default();
    minus(&format!("{elo:+.0}{error}"))
}

/// The engines of a tag, or all; two of them can be compared.
fn table(words: Language, engines: &[LibraryEngine], tag: &str, ratings: &Ratings) -> Markup {
    let shown =
        engines.iter().filter(|engine| tag.is_empty() || engine.tags.iter().any(|known| known == tag));
    html! { form method="get" action="/engines/compare" {
        @if !tag.is_empty() { p { (words.tags()) ": " (tag) " · " a href="/engines" { (words.all_engines()) } } }
        div.scroll tabindex="0" role="region" aria-label=(words.engines()) { table.games {
            thead { tr {
                th.name { (words.name()) } th title=(words.rating_of_library()) { "Elo" } th.name { (words.tags()) }
                th.name { (words.note()) } th.name { (words.program()) } th.name { (words.compare()) }
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
            a href=(address(name)) { (name) }
            @if engine.inactive { " · " (words.inactive()) }
            @if let Some(missing) = &engine.missing { div.note { (missing) } }
        }
        td { (rating) }
        td.name { @for tag in &engine.tags { a href={ "/engines?tag=" (percent(tag)) } { (tag) } " " } }
        td.name { (engine.note) }
        td.name { code { (plan::program_name(&engine.plan.command.to_string_lossy())) } }
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
    fn shake(&self, program: &Path) -> Result<String, String> {
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
    fn add(&self, name: &str, program: &Path) -> Result<String, String> {
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
    fn an_engine_that_nobody_has_played_has_no_rating() {
        let ratings =
            Ratings::from([("one".to_owned(), (-12.4, Some(30.6))), ("two".to_owned(), (12.4, None))]);
        let shown = ["one", "two", "three"].map(|name| rating(&ratings, name));
        assert_eq!(shown, ["−12 ± 31", "+12", ""]);
    }
}
