//! Habits of fastchess and cutechess-cli: the meaning of their options on the command line of `renmei match`.
//!
//! The reader follows one table ([`table::OPTIONS`], [`table::ENGINE_WORDS`]), and `renmei match --help` prints it.
//! [`translate`] turns such a command line into one of Renmei's, which is printed. An option without a counterpart is an
//! error, never dropped.

// With their paths, as the crate of the fuzz targets compiles this file from another place.
#[path = "habits/engine.rs"]
mod engine;
#[path = "habits/error.rs"]
mod error;
#[path = "habits/reading.rs"]
mod reading;
#[path = "habits/table.rs"]
mod table;
#[path = "habits/values.rs"]
mod values;

pub use error::{HabitError, HabitErrors};
pub use table::help;
pub use values::{INFINITE, translated};

use reading::Reading;
use std::{collections::BTreeSet, ffi::OsString, path::Path};

/// A command line of Renmei.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The words, the program's name first.
    pub words: Vec<OsString>,
    /// Lines for the user.
    pub notes: Vec<String>,
}

/// Translates a command line with options of fastchess or cutechess-cli; any other is returned as it is. The word
/// `match` may be absent.
///
/// # Errors
/// All options without a counterpart or with a wrong value, and advice.
pub fn translate(words: Vec<OsString>) -> Result<Translation, HabitErrors> {
    let is_global = |word: &&OsString| is_short_flags(word) || *word == "--verbose";
    let at = 1 + words.iter().skip(1).take_while(is_global).count();
    let command = words.get(at).map(OsString::as_os_str).unwrap_or_default();
    let rest = if command == "match" { at + 1 } else { at };
    let translates = match command == "match" {
        true => words[rest..].iter().any(is_option),
        false => table::habit(&command.to_string_lossy()).is_some(),
    };
    if !translates {
        return Ok(Translation { words, notes: vec![] });
    }
    let (own, notes) = Reading::of(&words[rest..])?.own_words()?;
    if let Some(value) = own.iter().find(|word| is_option(word)) {
        return Err(HabitErrors(vec![HabitError::LooksLikeOption(value.display().to_string())]));
    }
    let words = words[..at].iter().cloned().chain([OsString::from("match")]).chain(own).collect();
    Ok(Translation { words, notes })
}

/// Names after programs. Those of the same name are named after the directories that tell them apart (`new` and `old` for
/// `./new/fs` and `./old/fs`), or numbered.
pub fn names_of(programs: &[String]) -> Vec<String> {
    let names: Vec<_> = programs.iter().map(|program| plan::program_name(program)).collect();
    let named = |(at, name): (usize, &&str)| {
        let alike: Vec<_> = (0..names.len()).filter(|other| names[*other] == *name).collect();
        let number = alike.iter().position(|other| *other == at).unwrap_or_default();
        let apart = || directories_apart(alike.iter().map(|other| programs[*other].as_str())).nth(number);
        match alike.len() {
            1 => (*name).to_owned(),
            _ => apart().unwrap_or_else(|| format!("{name}-{}", number + 1)),
        }
    };
    names.iter().enumerate().map(named).collect()
}

/// The names of the innermost directories in which no two of these paths agree; nothing if there are none.
fn directories_apart<'a>(paths: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let directories = |path: &'a str| {
        let directories = Path::new(path).ancestors().skip(1);
        directories
            .map(|it| it.file_name().map(|name| name.to_string_lossy().into_owned()))
            .collect::<Vec<_>>()
    };
    let paths: Vec<_> = paths.map(directories).collect();
    let level = |at: usize| paths.iter().map(|path| path.get(at)?.clone()).collect::<Option<Vec<_>>>();
    let differ = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let shortest = paths.iter().map(Vec::len).min().unwrap_or_default();
    (0..shortest).filter_map(level).find(differ).unwrap_or_default().into_iter()
}

/// True if a word has the form of their options: one dash and a name of several letters.
fn is_option(word: &OsString) -> bool {
    let Some((b'-', name)) = word.as_encoded_bytes().split_first() else { return false };
    let is_name = name.len() > 1 && name[0].is_ascii_alphabetic();
    is_name && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') && !is_short_flags(word)
}

/// True if a word is a cluster of Renmei's own short flags, such as `-v` or `-qv`.
fn is_short_flags(word: &OsString) -> bool {
    let flags = word.as_encoded_bytes().strip_prefix(b"-").unwrap_or_default();
    !flags.is_empty() && flags.iter().all(|byte| b"vqhV".contains(byte))
}

#[cfg(test)]
#[path = "habits/tests.rs"]
mod tests;
