//! Two set-ups of the library side by side: what differs between them.

use crate::{Asked, compose::Kind, engine::address, library::Library, refused};
use maud::html;
use std::collections::{BTreeMap, BTreeSet};
use toml_edit::{Item, Table, Value};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
};
use words::Language;

/// The keys of a set-up with their values, options each by itself.
fn values(table: &Table) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (key, item) in table.iter().filter(|(key, _)| *key != "name") {
        match item {
            Item::Value(Value::InlineTable(inner)) => {
                values.extend(inner.iter().map(|(name, value)| (format!("{key}.{name}"), plain(value))));
            }
            Item::Table(inner) => {
                let known = inner.iter().filter_map(|(name, item)| Some((name, item.as_value()?)));
                values.extend(known.map(|(name, value)| (format!("{key}.{name}"), plain(value))));
            }
            item => values.extend(item.as_value().map(|value| (key.to_owned(), plain(value)))),
        }
    }
    values
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string().trim().to_owned(), str::to_owned)
}

/// The keys whose values differ, with both of them; `None`: the engine has none.
fn differences(one: &Table, other: &Table) -> Vec<(String, [Option<String>; 2])> {
    let (one, other) = (values(one), values(other));
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let both = keys.into_iter().map(|key| (key.clone(), [one.get(key).cloned(), other.get(key).cloned()]));
    both.filter(|(_, [one, other])| one != other).collect()
}

/// The page.
pub(crate) fn page(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let names: Vec<&str> = fields.all("engine").collect();
    let [one, other] = names[..] else { return Err(Refusal::bad(Language::compare_two)) };
    let library = Library::open(&desk.0.place).map_err(refused)?;
    let table = |name: &str| library.table(name).map_err(refused);
    let rows = differences(table(one)?, table(other)?);
    let content = html! {
        h1 { (words.compared()) }
        @if rows.is_empty() { p { (words.set_up_alike()) } }
        div.scroll tabindex="0" role="region" aria-label=(words.compared()) { table.games {
            thead { tr { th.name {} @for name in &names { th.name { a href=(address(name)) { (name) } } } } }
            tbody { @for (key, values) in &rows { tr {
                td.name { (key) }
                @for value in values { td.name { (value.as_deref().unwrap_or("–")) } }
            } } }
        } }
        @let both = names.iter().map(|name| format!("&engine={}", percent(name))).collect::<String>();
        p.buttons { @for kind in [Kind::Match, Kind::Sprt] {
            a.button href={ "/new/event?kind=" (kind.word()) (both) } { ((kind.name())(words)) }
        } }
    };
    Ok(Page::new(words.compared(), "/engines", content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_option_by_option() {
        let table = |text: &str| text.parse::<toml_edit::DocumentMut>().unwrap().as_table().clone();
        let one = table("name = \"a\"\ncommand = \"x\"\noptions = { Hash = 16, Book = \"b\" }\n");
        let other =
            table("name = \"b\"\ncommand = \"x\"\nponder = true\n[options]\nHash = 64\nBook = \"b\"\n");
        let some = |text: &str| Some(text.to_owned());
        let expected = [("options.Hash", [some("16"), some("64")]), ("ponder", [None, some("true")])];
        assert_eq!(differences(&one, &other), expected.map(|(key, values)| (key.to_owned(), values)));
    }
}
