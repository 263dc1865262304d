//! The options of an engine as a form, by what the engine declares.

use crate::{fields::Fields, library::set};
use maud::{Markup, html};
use notation::usi::{OptionDecl, OptionKind};
use toml_edit::{InlineTable, Item, Table, Value};
use web::components::{Mood, state};
use words::Language;

/// What the names of these fields begin with; the name of the option follows.
const HEAD: &str = "option:";
/// What the name of the field begins with that says that a box was there: one that is not ticked sends nothing.
const BOX: &str = "box:";

/// The options as rows: the name, the value, and the default to go back to where it is changed. Options that are set and not
/// declared are texts.
pub fn form(words: Language, declared: &[OptionDecl], given: &[(String, String)]) -> Markup {
    let value =
        |name: &str| given.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let unknown: Vec<_> =
        given.iter().filter(|(name, _)| declared.iter().all(|one| one.name != *name)).collect();
    let shown = || declared.iter().filter(|option| option.kind != OptionKind::Button);
    html! {
        @if shown().nth(FEW).is_some() { div.line.tools {
            input type="search" data-filter hidden placeholder=(words.filter_options()) aria-label=(words.filter_options());
            label.tick { input type="checkbox" id="only-changed"; span { (words.only_changed()) } }
        } }
        div.options {
            @for option in shown() { (row(words, option, value(&option.name))) }
            @for (name, value) in unknown {
                div.option.changed data-name=(name) {
                    label for={ "of-" (name) } { (name) }
                    input id={ "of-" (name) } name={ (HEAD) (name) } value=(value) maxlength="1000" spellcheck="false";
                    em { (words.not_declared()) }
                }
            }
        }
    }
}

/// Options up to which a list needs no filter.
const FEW: usize = 8;

/// True if an option names a file or a directory.
fn is_path(option: &OptionDecl) -> bool {
    let name = option.name.to_lowercase();
    let says_so = ["file", "dir", "path", "folder"].iter().any(|word| name.ends_with(word));
    matches!(option.kind, OptionKind::Filename { .. })
        || matches!(option.kind, OptionKind::String { .. }) && says_so
}

fn row(words: Language, option: &OptionDecl, given: Option<&str>) -> Markup {
    let (name, usual) = (&option.name, default(&option.kind));
    let value = given.unwrap_or(&usual);
    let is_changed = value != usual;
    let (field, id) = (format!("{HEAD}{name}"), format!("of-{name}"));
    html! {
        div.option.changed[is_changed] data-name=(name) {
            label for=(id) { (name) @if is_changed { " " (state(Mood::Wait, words.changed())) } }
            div.line {
                @match &option.kind {
                    OptionKind::Check { .. } => {
                        input type="hidden" name={ (BOX) (name) } value="1";
                        input id=(id) type="checkbox" name=(field) value="true" checked[value == "true"];
                    },
                    OptionKind::Spin { min, max, .. } =>
                        input id=(id) type="number" name=(field) value=(value) min=[*min] max=[*max] step="1";,
                    OptionKind::Combo { choices, .. } => select id=(id) name=(field) {
                        @if !choices.iter().any(|choice| choice == value) { option value=(value) selected { (value) } }
                        @for choice in choices { option value=(choice) selected[choice == value] { (choice) } }
                    },
                    _ => input id=(id) name=(field) value=(value) maxlength="1000" spellcheck="false";
                }
                @if is_path(option) { button name="choose" value=(name) formnovalidate aria-label={ (words.choose_file()) " " (name) } { (words.choose_file()) } }
            }
            @if is_changed { button.quiet name="reset" value=(name) formnovalidate { (words.back_to(if usual.is_empty() { "–" } else { &usual })) } }
            @else if let OptionKind::Spin { min: Some(min), max: Some(max), .. } = &option.kind { small.quiet { (min) " – " (max) } }
        }
    }
}

/// The default of an option as text.
fn default(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Check { default } => default.to_string(),
        OptionKind::Spin { default, .. } => default.to_string(),
        OptionKind::Combo { default, .. }
        | OptionKind::String { default }
        | OptionKind::Filename { default } => default.clone(),
        OptionKind::Button => String::new(),
    }
}

/// True if a form has options.
pub fn are_sent(fields: &Fields) -> bool {
    fields.beginning(HEAD).next().is_some()
}

/// The fields with an option as the engine has it.
pub fn reset(fields: Fields, declared: &[OptionDecl], name: &str) -> Fields {
    let option = declared.iter().find(|option| option.name == name);
    let usual = option.map(|option| default(&option.kind)).unwrap_or_default();
    let field = format!("{HEAD}{name}");
    fields.with(vec![(&field, usual)])
}

/// Sets the options of a table to what the form says: those that are as the engine has them anyway are left out.
pub fn save(table: &mut Table, declared: &[OptionDecl], fields: &Fields) {
    let boxes = fields.beginning(BOX).filter(|(name, _)| !fields.is(&format!("{HEAD}{name}")));
    let unticked: Vec<(&str, &str)> = boxes.map(|(name, _)| (name, "false")).collect();
    let mut options = match table.remove("options") {
        Some(Item::Value(Value::InlineTable(options))) => options,
        Some(Item::Table(options)) => options.into_inline_table(),
        _ => InlineTable::new(),
    };
    // Browsers drop control characters or change them, and no file has an option with one.
    let plain = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
    let sent = fields.beginning(HEAD).chain(unticked).filter(|(name, _)| !name.contains(char::is_control));
    for (name, wanted) in sent {
        let (kind, wanted) = (declared.iter().find(|option| option.name == name), plain(wanted));
        let kind = kind.map(|option| &option.kind);
        let is_usual = kind.map_or(wanted.is_empty(), |kind| plain(&default(kind)) == wanted);
        if is_usual {
            options.remove(name);
        } else {
            options.insert(name, typed(kind, &wanted));
        }
    }
    if !options.is_empty() {
        set(table, "options", Some(Value::InlineTable(options)));
    }
}

/// A value as a person would write it.
fn typed(kind: Option<&OptionKind>, text: &str) -> Value {
    match kind {
        Some(OptionKind::Check { .. }) if text == "true" || text == "false" => (text == "true").into(),
        Some(OptionKind::Spin { .. }) => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> Vec<OptionDecl> {
        let option = |name: &str, kind| OptionDecl { name: name.to_owned(), kind };
        vec![
            option("Ponder", OptionKind::Check { default: true }),
            option("Threads", OptionKind::Spin { default: 1, min: Some(1), max: Some(64) }),
            option(
                "Style",
                OptionKind::Combo {
                    default: "normal".to_owned(),
                    choices: vec!["normal".to_owned(), "wild".to_owned()],
                },
            ),
            option("BookFile", OptionKind::String { default: String::new() }),
        ]
    }

    #[test]
    fn only_what_differs_from_the_default_is_written_with_its_type() {
        let mut table: Table = "options = { Old = \"kept\", Threads = 8 }"
            .parse::<toml_edit::DocumentMut>()
            .unwrap()
            .as_table()
            .clone();
        let fields = Fields::of(&[
            ("box:Ponder", "1"),
            ("option:Threads", "4"),
            ("option:Style", "normal"),
            ("option:BookFile", "a \"b\".db"),
        ]);
        save(&mut table, &declared(), &fields);
        assert_eq!(
            table.to_string().trim(),
            r#"options = { Old = "kept", Threads = 4, BookFile = 'a "b".db', Ponder = false }"#
        );
        let usual = Fields::of(&[
            ("option:Threads", "1"),
            ("option:Ponder", "true"),
            ("option:Old", ""),
            ("option:BookFile", ""),
        ]);
        save(&mut table, &declared(), &usual);
        assert_eq!(table.to_string().trim(), "");
    }

    #[test]
    fn an_option_with_a_control_character_keeps_its_engine_from_nothing() {
        let declared = ["Path", "Odd\u{1}"].map(|name| OptionDecl {
            name: name.to_owned(),
            kind: OptionKind::String { default: "a\tb\u{1}".to_owned() },
        });
        let mut table = Table::new();
        let saved = |table: &mut Table, path: &str| {
            save(table, &declared, &Fields::of(&[("option:Path", path), ("option:Odd\u{1}", "x")]));
            table.to_string().trim().to_owned()
        };
        assert_eq!(saved(&mut table, "a\tb\u{1}"), "");
        assert_eq!(saved(&mut table, "ab"), "", "as a browser sends it");
        assert_eq!(saved(&mut table, "c\r\nd"), "options = { Path = \"cd\" }");
    }

    #[test]
    fn an_option_goes_back_to_the_default_of_its_engine() {
        let options = "options = { Threads = 8, Ponder = false, BookFile = \"a.db\" }";
        let mut table = options.parse::<toml_edit::DocumentMut>().unwrap().as_table().clone();
        let sent =
            || Fields::of(&[("box:Ponder", "1"), ("option:Threads", "8"), ("option:BookFile", "b.db")]);
        for name in ["Ponder", "Threads"] {
            save(&mut table, &declared(), &reset(sent(), &declared(), name));
        }
        assert!(
            !table.to_string().contains("Threads") && table.to_string().contains("BookFile = \"b.db\""),
            "{table}"
        );
        let page =
            form(Language::English, &declared(), &[("Threads".to_owned(), "8".to_owned())]).into_string();
        assert!(
            page.contains("name=\"reset\" value=\"Threads\"")
                && page.contains("name=\"choose\" value=\"BookFile\"")
        );
    }

    #[test]
    fn names_of_a_hostile_engine_are_text() {
        let name = "<script>alert(1)</script>".to_owned();
        let hostile = OptionDecl { name, kind: OptionKind::String { default: "\" onfocus=\"x".to_owned() } };
        let page = form(Language::English, &[hostile], &[]).into_string();
        assert!(!page.contains("<script>") && !page.contains("\" onfocus"), "{page}");
    }
}
