//! Fields of a form with what is wrong with each.

use crate::fields::Fields;
use maud::{Markup, html};
use plan::{Event, Faults, LibraryEngine};
use web::components::prose;
use words::Language;

/// What the form shows beside its fields.
pub struct Form {
    pub words: Language,
    pub fields: Fields,
    pub engines: Vec<LibraryEngine>,
    /// The text that the fields make, and the event that it describes, or what is wrong with it.
    pub made: Option<(String, Result<Event, Faults>)>,
}

impl Form {
    /// What is wrong with a field.
    pub fn faults<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        let faults = self.made.iter().filter_map(|(_, event)| event.as_ref().err()).flat_map(Faults::iter);
        faults.filter(move |fault| field_of(&fault.key) == field).map(|fault| fault.message.as_str())
    }
}

pub fn wrong(form: &Form, name: &str) -> Markup {
    html! { @for fault in form.faults(name) { em.wrong role="alert" { (form.words.fault(fault)) } } }
}

pub fn field(form: &Form, name: &str, label: &str, usual: &str, required: bool) -> Markup {
    let given = form.fields.text(name);
    let value = if given.is_empty() { usual } else { given };
    html! { label { span { (prose(label)) } input name=(name) value=(value) maxlength="200" required[required]; (wrong(form, name)) } }
}

/// A field of a number; without a value the words of `otherwise` stand in it.
pub fn number(form: &Form, name: &str, label: &str, usual: &str, otherwise: &str) -> Markup {
    let given = form.fields.text(name);
    let value = if given.is_empty() { usual } else { given };
    html! { label { span { (label) }
        input.number name=(name) value=(value) placeholder=(otherwise) inputmode="numeric" maxlength="20" required[otherwise.is_empty()];
        (wrong(form, name))
    } }
}

/// A choice of words; the first one is the usual one.
pub fn choice(form: &Form, name: &str, label: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        label { span { (label) }
            select name=(name) { @for (value, words) in options {
                option value=(value) selected[form.fields.text(name) == *value] { (words) }
            } }
            (wrong(form, name))
        }
    }
}

/// The engines of the library that events are offered.
pub fn offered(form: &Form) -> impl Iterator<Item = &LibraryEngine> {
    form.engines.iter().filter(|engine| !engine.inactive && engine.missing.is_none())
}

/// A fault with its line, without the name of a file that is not there yet.
pub fn shown(fault: &plan::Fault) -> String {
    let line = fault.place.map(|(line, _)| format!("{line}: ")).unwrap_or_default();
    let key = if fault.key.is_empty() { String::new() } else { format!("{}: ", fault.key) };
    format!("{line}{key}{}", fault.message)
}

/// A field by the key of a fault, so that the fault stands there.
pub fn field_of(key: &str) -> &'static str {
    const FIELDS: [(&str, &str); 31] = [
        ("event.name", "name"),
        ("event.games", "games"),
        ("event.rounds", "rounds"),
        ("event.concurrency", "concurrency"),
        ("event.format", "engine"),
        ("event.challengers", "engine"),
        ("event.tie", "tie"),
        ("event.replay_draws", "replay_draws"),
        ("stage[0].games", "games"),
        ("stage[0].rounds", "rounds"),
        ("stage[1]", "final"),
        ("tiebreaks", "tiebreaks"),
        ("engines", "engine"),
        ("time", "clock"),
        ("openings", "openings"),
        ("sprt.elo0", "elo0"),
        ("sprt.elo1", "elo1"),
        ("rules", "max_moves"),
        ("engine", "engine"),
        ("serve.name", "name"),
        ("serve.listen", "port"),
        ("serve.invited", "invited"),
        ("serve.max_moves", "max_moves"),
        ("serve.rounds[0].game", "game"),
        ("serve.rounds", "minutes"),
        ("floodgate.host", "host"),
        ("floodgate.port", "port"),
        ("floodgate.login", "login"),
        ("floodgate.password", "secret"),
        ("floodgate.games", "games"),
        ("floodgate.game", "game"),
    ];
    FIELDS.iter().find(|(head, _)| key.starts_with(head)).map_or("", |(_, field)| field)
}
