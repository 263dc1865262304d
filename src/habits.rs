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

pub use error::HabitError;
pub use table::help;

use reading::Reading;
use std::ffi::OsString;

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
/// An option without a counterpart or with a wrong value, and advice.
pub fn translate(words: Vec<OsString>) -> Result<Translation, HabitError> {
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
        return Err(HabitError::LooksLikeOption(value.display().to_string()));
    }
    let words = words[..at].iter().cloned().chain([OsString::from("match")]).chain(own).collect();
    Ok(Translation { words, notes })
}

/// Names after programs; programs of the same name are numbered.
pub fn names_of(programs: &[String]) -> Vec<String> {
    let named = |at: usize, program: &String| {
        let alike = |others: &[String]| others.iter().filter(|other| *other == program).count();
        match alike(programs) {
            1 => program.clone(),
            _ => format!("{program}-{}", 1 + alike(&programs[..at])),
        }
    };
    programs.iter().enumerate().map(|(at, program)| named(at, program)).collect()
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
