//! One engine of the library: what it says of itself, and the form of its options.

use crate::{
    Asked, Desk, browse, confirmed,
    fields::{Fields, version},
    lead,
    library::{Library, LibraryError, set},
    options, refused,
};
use arena::{Say, preflight};
use axum::response::Response;
use maud::{Markup, html};
use parking_lot::Mutex;
use plan::{EnginePlan, LibraryEngine, Plan};
use platform::files::Stamp;
use seat::usi::Handshake;
use std::{collections::VecDeque, path::PathBuf, sync::Arc};
use toml_edit::{Array, Table, Value};
use web::{
    components::letter,
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// Handshakes kept at once; the oldest gives way.
const KEPT: usize = 64;

/// The latest handshakes of programs with their arguments.
#[derive(Default)]
pub struct Handshakes(Mutex<VecDeque<Known>>);

/// What a program with these arguments has said of itself, as it was then.
struct Known {
    command: PathBuf,
    args: Vec<String>,
    stamp: Option<Stamp>,
    handshake: Handshake,
}

impl Known {
    fn is(&self, engine: &EnginePlan) -> bool {
        (&self.command, &self.args) == (&engine.command, &engine.args)
    }
}

impl Handshakes {
    /// What an engine says of itself. It is started for it, unless its program has not changed since the last time.
    ///
    /// # Errors
    /// Why it says nothing, in words.
    pub fn of(&self, engine: &EnginePlan) -> Result<Handshake, String> {
        if let Some(known) = self.known(engine) {
            return Ok(known);
        }
        let (stamp, handshake) = (Stamp::at(&engine.command).ok(), shake_hands(engine)?);
        self.keep(engine, stamp, handshake.clone());
        Ok(handshake)
    }

    /// What an engine has said of itself, if its program has not changed since.
    pub fn known(&self, engine: &EnginePlan) -> Option<Handshake> {
        let stamp = Stamp::at(&engine.command).ok();
        let kept = self.0.lock();
        kept.iter()
            .find(|known| known.is(engine) && known.stamp == stamp)
            .map(|known| known.handshake.clone())
    }

    fn keep(&self, engine: &EnginePlan, stamp: Option<Stamp>, handshake: Handshake) {
        let (command, args) = (engine.command.clone(), engine.args.clone());
        let mut kept = self.0.lock();
        kept.retain(|known| !known.is(engine));
        kept.push_back(Known { command, args, stamp, handshake });
        let spare = kept.len().saturating_sub(KEPT);
        kept.drain(..spare);
    }
}

/// Starts an engine and reads what it says of itself.
fn shake_hands(engine: &EnginePlan) -> Result<Handshake, String> {
    // Without its options: this is about what it declares, and an option that it does not know would be a fault.
    let engine = EnginePlan { options: vec![], option_sources: vec![], ..engine.clone() };
    let plan = Plan { look: false, ..Plan::of_engines("desk", vec![engine], PathBuf::new()) };
    let silent: Say = Arc::new(|_: &str| {});
    let mut found = preflight::look(&plan, &silent).map_err(|error| error.to_string())?;
    match (found.faults.is_empty(), found.shown.pop()) {
        (true, Some(handshake)) => Ok(handshake),
        _ => Err(found.faults.join("\n")),
    }
}

/// An engine as the page shows it.
struct Shown {
    engine: LibraryEngine,
    /// What its table in the file is known by in the form.
    version: String,
    said: Result<Handshake, String>,
}

impl Desk {
    /// The engine of a name, with what it says of itself.
    fn look_at(&self, name: &str) -> Result<Shown, Refusal> {
        let (engine, version) = (self.engine(name)?, self.version_of(name)?);
        let said = match &engine.missing {
            Some(missing) => Err(missing.clone()),
            None => self.0.handshakes.of(&engine.plan),
        };
        Ok(Shown { engine, version, said })
    }

    /// What the table of an engine is known by.
    fn version_of(&self, name: &str) -> Result<String, Refusal> {
        let library = Library::open(&self.0.place).map_err(refused)?;
        Ok(version(&library.table(name).map_err(refused)?.to_string()))
    }

    /// The engines of the library.
    pub(crate) fn library(&self) -> Result<Vec<LibraryEngine>, Refusal> {
        LibraryEngine::load(self.0.place.directory()).map_err(refused)
    }

    /// The engine of a name, as the file has it.
    pub(crate) fn engine(&self, name: &str) -> Result<LibraryEngine, Refusal> {
        let found = self.library()?.into_iter().find(|engine| engine.plan.name == name);
        found.ok_or_else(|| refused(LibraryError::NoEngine(name.to_owned())))
    }

    /// Changes the library.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Library) -> Result<T, LibraryError>,
    ) -> Result<T, Refusal> {
        Library::change(&self.0.place, change).map_err(refused)
    }
}

/// The address of an engine's page.
pub(crate) fn address(name: &str) -> String {
    format!("/engine?name={}", percent(name))
}

/// The page of an engine.
pub(crate) fn page(Asked { desk, words, fields, done }: Asked) -> Result<Page, Refusal> {
    let Shown { engine, version, said } = desk.look_at(fields.text("name"))?;
    let name = engine.plan.name.clone();
    let content = html! {
        a.crumb href="/engines" { (words.engines()) " ›" }
        div.top { (letter(&name)) h1 { (name) } }
        (confirmed(words, done.as_ref()))
        @if let Err(why) = &said { p role="alert" { (words.engine_says_nothing()) } pre { (words.fault(why)) } }
        div.form { form.order method="post" action="/engine" {
            input type="hidden" name="engine" value=(name);
            input type="hidden" name="version" value=(version);
            // What the return key does.
            button.unseen tabindex="-1" aria-hidden="true" {}
            (own_fields(words, &engine))
            h2 { (words.options()) }
            @match &said {
                Ok(said) => (options::form(words, &said.options, &engine.plan.options)),
                Err(_) => (options::form(words, &[], &engine.plan.options)),
            }
            p.buttons.kept { button.main { (words.save()) } }
        } aside.sheet {
            (introduced(words, &engine, &said))
            (checked(words, &desk, &name))
            form.order method="post" action="/engines/order" {
                input type="hidden" name="engine" value=(name);
                p.buttons { button name="order" value="copy" { (words.copy()) } }
                details { summary { (words.remove_from_library()) } p { (words.what_removing_does()) } button.danger name="order" value="remove" { (words.remove_from_library()) } }
            }
        } }
    };
    Ok(Page::new(name, "/engines", content).with(&["options.js"]))
}

/// What the engine says of itself, or why it says nothing.
fn introduced(words: Language, engine: &LibraryEngine, said: &Result<Handshake, String>) -> Markup {
    html! {
        dl.facts {
            dt { (words.program()) } dd { code { (engine.plan.command.display()) } }
            @if let Ok(said) = said {
                @if let Some(id) = &said.name { dt { (words.calls_itself()) } dd { (id) } }
                @if let Some(author) = &said.author { dt { (words.author()) } dd { (author) } }
            }
        }
    }
}

/// The order of a check, and how the last one went.
fn checked(words: Language, desk: &Desk, name: &str) -> Markup {
    let last = desk.0.jobs.latest(&crate::check::title(name));
    html! { form.order method="post" action="/engine/check" {
        input type="hidden" name="engine" value=(name);
        @if let Some((path, stand)) = last { p { a href=(path) { (words.last_check()) } ": " (stand.text(words)) } }
        p.quiet { (words.what_check_does()) }
        p.buttons { button { (words.check_engine()) } }
    } }
}

fn own_fields(words: Language, engine: &LibraryEngine) -> Markup {
    let plan = &engine.plan;
    let directory = plan.directory.as_ref().filter(|_| !plan.directory_by_default);
    html! {
        label { span { (words.name()) } input name="name" value=(plan.name) maxlength="60" required; }
        label { span { (words.note()) } input name="note" value=(engine.note) maxlength="500"; }
        label { span { (words.tags()) } input name="tags" value=(engine.tags.join(", ")) maxlength="200"; }
        label { span { (words.arguments()) } textarea name="args" rows="2" spellcheck="false" { (plan.args.join("\n")) } }
        label { span { (words.working_directory()) }
            input name="directory" value=(directory.map(|path| path.display().to_string()).unwrap_or_default()) spellcheck="false"; }
        label.tick { input type="checkbox" name="ponder" value="1" checked[plan.ponder]; span { (words.thinks_on_others_time()) } }
        label.tick { input type="checkbox" name="inactive" value="1" checked[engine.inactive]; span { (words.inactive()) } }
    }
}

/// Saves the form of an engine.
pub(crate) fn save(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let known = fields.text("engine");
    if !fields.is("name") && !options::are_sent(&fields) {
        return Err(Refusal::bad(|language| language.empty_field("name")));
    }
    let declared = desk.look_at(known)?.said.map(|said| said.options).unwrap_or_default();
    let (reset, choice) = (fields.text("reset").to_owned(), fields.text("choose").to_owned());
    let fields = if reset.is_empty() { fields } else { options::reset(fields, &declared, &reset) };
    let known = fields.text("engine");
    let _alone = desk.0.place.alone();
    if fields.is("version") && fields.text("version") != desk.version_of(known)? {
        return Err(Refusal::conflict(Language::engine_changed_meanwhile));
    }
    desk.change(|library| {
        let table = library.table_mut(known)?;
        save_own(table, &fields);
        options::save(table, &declared, &fields);
        Ok(())
    })?;
    let name = Some(fields.text("name")).filter(|name| !name.is_empty()).unwrap_or(known);
    if !choice.is_empty() {
        return Ok(lead(&browse::for_option(&desk.engine(name)?.plan, &choice)));
    }
    Ok(desk.confirm(&address(name), Message::of(Language::saved)))
}

fn save_own(table: &mut Table, fields: &Fields) {
    let text = |name: &str| Some(fields.text(name)).filter(|text| !text.is_empty()).map(Value::from);
    let list = |words: Vec<&str>| {
        let words: Array = words.into_iter().filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then_some(Value::Array(words))
    };
    let (lines, ticked) = (fields.lines("args"), |name: &str| fields.is(name).then(|| true.into()));
    // What was not sent stays. A box that is not ticked sends nothing: the form has a note beside it.
    for (key, sent, wanted) in [
        ("name", "name", Some(fields.text("name").into())),
        ("note", "note", text("note")),
        ("tags", "tags", list(fields.text("tags").split([',', '、']).map(str::trim).collect())),
        ("args", "args", list(lines.lines().map(str::trim).collect())),
        ("directory", "directory", text("directory")),
        ("ponder", "note", ticked("ponder")),
        ("inactive", "note", ticked("inactive")),
    ] {
        if fields.all(sent).next().is_some() {
            set(table, key, wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_engines_said_is_kept_for_the_latest_arguments_alone() {
        let said = Handshakes::default();
        let with = |args: &str| EnginePlan { args: vec![args.to_owned()], ..EnginePlan::default() };
        for number in 0..1000 {
            said.keep(&with(&number.to_string()), None, Handshake::default());
            said.keep(&with("again"), None, Handshake::default());
        }
        assert_eq!(said.0.lock().len(), KEPT);
        assert!(said.of(&with("again")).is_ok(), "it is not started for it");
    }
}
