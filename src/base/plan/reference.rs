//! The configuration reference of `guide/configuration.md`, printed from the list of keys.

use crate::{
    keys::{Fallback, Key, Kind, REFERENCE, Section},
    reader::listed,
};

/// The reference of every key, as Markdown: a headline and a table of keys for each table of a file.
pub fn reference() -> String {
    REFERENCE.iter().map(|section| printed(section)).collect::<Vec<_>>().join("\n")
}

fn printed(section: &Section) -> String {
    let about = if section.about.is_empty() { String::new() } else { format!("{}\n\n", section.about) };
    let rows: String = section.keys[0].iter().map(row).collect();
    format!("### {}\n\n{about}| key | type | default | meaning |\n|---|---|---|---|\n{rows}", section.title)
}

fn row(key: &'static Key) -> String {
    format!("| `{}` | {} | {} | {} |\n", key.name, kind(key.kind), default(key.default), key.meaning)
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Path => "path".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Duration { zero: true } => "duration".to_owned(),
        Kind::Duration { zero: false } => "duration above 0".to_owned(),
        Kind::Integer(least, most) => integer(least, most),
        Kind::IntegerOr(least, most, word) => format!("{} or `\"{word}\"`", integer(least, most)),
        Kind::Number(f64::MIN, f64::MAX) => "number".to_owned(),
        Kind::Number(least, f64::MAX) => format!("number from {least}"),
        Kind::Number(least, most) => format!("number, {least} to {most}"),
        Kind::Words(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            listed(words.iter().map(String::as_str), "or")
        }
        Kind::Other(words) => words.to_owned(),
    }
}

fn integer(least: i64, most: i64) -> String {
    match most {
        i64::MAX => format!("whole number from {least}"),
        most => format!("whole number, {least} to {most}"),
    }
}

fn default(default: Fallback) -> String {
    match default {
        Fallback::Is(value) => format!("`{value}`"),
        Fallback::Says(words) => words.to_owned(),
        Fallback::Needed => "needed".to_owned(),
    }
}
