//! The table: each option of fastchess and cutechess-cli, and each word of their `-engine`, with its meaning here.

use std::{fmt::Write as _, sync::LazyLock};

/// An option with its dash, or a word of `-engine` and `-each`.
pub struct Habit {
    pub name: &'static str,
    /// Its values, for the help; empty for an option or word without a value.
    pub values: &'static str,
    /// The equivalent; for a refused one, advice.
    pub here: &'static str,
    pub meaning: Meaning,
}

/// The reader's treatment of an option or word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The same as a flag of `renmei match` or a key of `--engine`, with the same value.
    Is(&'static str),
    /// A function translates its values.
    Reads,
    /// Always on.
    Always,
    /// Renmei differs; a note explains how.
    Noted,
    Refused,
}

/// The options.
pub static OPTIONS: LazyLock<Vec<Habit>> = LazyLock::new(|| rows(include_str!("options.txt")));
/// The words of an engine. Others are those of `--engine`.
pub static ENGINE_WORDS: LazyLock<Vec<Habit>> = LazyLock::new(|| rows(include_str!("engine_words.txt")));

/// Reads lines of the form `NAME VALUES | MEANING | HERE`; malformed lines are left out.
fn rows(text: &'static str) -> Vec<Habit> {
    let row = |line: &'static str| {
        let mut columns = line.splitn(3, " | ");
        let (left, meaning, here) = (columns.next()?, columns.next()?, columns.next()?);
        let (name, values) = left.split_once(' ').unwrap_or((left, ""));
        let meaning = match meaning {
            "reads" => Meaning::Reads,
            "always" => Meaning::Always,
            "noted" => Meaning::Noted,
            "refused" => Meaning::Refused,
            flag => Meaning::Is(flag.strip_prefix("= ")?),
        };
        Some(Habit { name, values, here, meaning })
    };
    text.lines().filter_map(row).collect()
}

/// The option of this name.
pub fn habit(name: &str) -> Option<&'static Habit> {
    OPTIONS.iter().find(|habit| habit.name == name)
}

/// The word of an engine with this key.
pub fn engine_word(key: &str) -> Option<&'static Habit> {
    let key = if key.starts_with("option.") { "option.NAME" } else { key };
    ENGINE_WORDS.iter().find(|word| word.name == key)
}

/// The table as the help of `renmei match` prints it.
pub fn help() -> String {
    let mut text =
        "Renmei understands the options of fastchess and cutechess-cli; `renmei -engine ...` is `renmei match -engine ...`.\n\
         Their meanings here:\n"
            .to_owned();
    for Habit { name, values, here, meaning } in OPTIONS.iter() {
        line(&mut text, &format!("{name} {values}"), here, *meaning);
    }
    text += "\nWords of -engine and -each; the words of --engine are allowed too:\n";
    for Habit { name, values, here, meaning } in ENGINE_WORDS.iter() {
        let word = if values.is_empty() { (*name).to_owned() } else { format!("{name}={values}") };
        line(&mut text, &word, here, *meaning);
    }
    text
}

fn line(text: &mut String, theirs: &str, here: &str, meaning: Meaning) {
    let here = if meaning == Meaning::Refused { format!("refused: {here}") } else { here.to_owned() };
    let mut row = format!("  {}", theirs.trim_end());
    // The meaning of a long option begins in the next line.
    let mut width = if row.len() + 2 > MEANINGS { LINE } else { row.len() };
    for word in here.split(' ') {
        if width + 1 + word.len() > LINE {
            row += &format!("\n{:MEANINGS$}{word}", "");
            width = MEANINGS + word.len();
            continue;
        }
        let gap = MEANINGS.saturating_sub(width).max(1);
        row += &format!("{:gap$}{word}", "");
        width += gap + word.len();
    }
    let _in_memory = writeln!(text, "{row}");
}

/// Column of the meanings in the help.
const MEANINGS: usize = 32;
/// Width of the help.
const LINE: usize = 99;
