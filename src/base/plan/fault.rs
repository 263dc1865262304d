//! Faults of a configuration, with file, line, column and key.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

/// Faults of a text that are listed; the others are counted.
const LISTED: usize = 50;
/// Letters of a name or a value from the file in a message.
const NAME_SHOWN: usize = 100;
/// Letters of a message.
const MESSAGE_SHOWN: usize = 1000;

/// One fault of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file; `None` for a configuration that was not read from one (a command line).
    pub file: Option<PathBuf>,
    /// Line and column, both from 1; `None` for a fault without a place in the file.
    pub place: Option<(usize, usize)>,
    /// The key, as in `engines[1].time.byoyomi`; empty for a fault of the whole file.
    pub key: String,
    /// What is wrong and what to write instead.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
            if let Some((line, column)) = self.place {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// All faults of a configuration, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// A single fault of a whole file.
    pub fn of_file(file: &Path, message: String) -> Self {
        Self(vec![Fault { file: Some(file.to_path_buf()), place: None, key: String::new(), message }])
    }

    /// The faults, one by one.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

/// The faults of a text while it is read, each once: those that come first in it, and the number of all others.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    first: BTreeSet<(usize, String, String)>,
    others: usize,
    notes: usize,
}

impl Noted {
    /// Notes a fault at a byte of the text.
    pub fn note(&mut self, at: usize, key: &str, message: &str) {
        self.notes += 1;
        let clipped = |text: &str| shortened(text, MESSAGE_SHOWN).into_owned();
        self.first.insert((at, clipped(key), clipped(message)));
        if self.first.len() > LISTED {
            self.first.pop_last();
            self.others += 1;
        }
    }

    /// True if a fault at a byte of the text, or behind it, would not be listed.
    pub fn is_full(&self, at: usize) -> bool {
        self.first.len() >= LISTED && self.first.last().is_some_and(|(last, ..)| *last < at)
    }

    /// Counts faults that are not listed.
    pub fn pass_over(&mut self, faults: usize) {
        self.notes += faults;
        self.others += faults;
    }

    /// How often a fault was noted by now.
    pub fn notes(&self) -> usize {
        self.notes
    }

    /// What was noted so far; `None` if nothing was. Without a `file` faults have no place.
    pub fn take(&mut self, file: Option<&Path>, lines: &Lines<'_>) -> Option<Faults> {
        let Self { first, others, .. } = std::mem::take(self);
        let fault = |place, key, message| Fault { file: file.map(Path::to_path_buf), place, key, message };
        let listed =
            first.into_iter().map(|(at, key, message)| fault(file.map(|_| lines.place(at)), key, message));
        let mut faults: Vec<Fault> = listed.collect();
        if others > 0 {
            faults.push(fault(
                None,
                String::new(),
                format!("at least {others} more faults after these are not listed"),
            ));
        }
        (!faults.is_empty()).then_some(Faults(faults))
    }
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Looks for the lines of a text, once.
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }

    /// The line and column of a byte, both from 1; columns count characters.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let line = self.line(byte);
        let before = self.starts.get(line - 1).and_then(|start| self.text.get(*start..byte));
        (line, before.map_or(0, |before| before.chars().count()) + 1)
    }
}

/// A name or a value from the file, as messages show it.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    shortened(name, NAME_SHOWN)
}

fn shortened(text: &str, letters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The known word nearest to a misspelt one, if it is near enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word as long as a whole file resembles none, and comparing it would take seconds.
    let word = Some(word).filter(|word| word.len() <= NAME_SHOWN)?.to_lowercase();
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&word, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= known.len().min(word.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_lines_and_characters_from_one() {
        assert_eq!(Lines::of("a = 1\n").place(0), (1, 1));
        assert_eq!(Lines::of("a = 1\nname = \"先手\" x").place(6 + 15), (2, 12));
        assert_eq!(Lines::of("a\n\nb").place(2), (2, 1));
        assert_eq!(Lines::of("a\n").place(2), (2, 1), "the end of the text");
    }

    #[test]
    fn the_first_faults_of_a_text_are_listed_once_each_and_the_others_are_counted() {
        let text = "x\n".repeat(1000);
        let mut noted = Noted::default();
        for at in (0..1000).rev() {
            noted.note(2 * at, "x", "is wrong");
        }
        noted.note(0, "x", "is wrong");
        let faults = noted.take(Some(Path::new("a.toml")), &Lines::of(&text)).unwrap().to_string();
        let lines: Vec<_> = faults.lines().collect();
        assert_eq!(lines.len(), LISTED + 1);
        assert_eq!(lines[0], "a.toml:1:1: x: is wrong");
        assert_eq!(lines[LISTED - 1], "a.toml:50:1: x: is wrong");
        assert_eq!(lines[LISTED], "a.toml: at least 950 more faults after these are not listed");
        assert_eq!(noted.take(None, &Lines::of(&text)), None);
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["main", "byoyomi", "increment", "margin"];
        assert_eq!(nearest("byoyommi", known), Some("byoyomi"));
        assert_eq!(nearest("mian", known), Some("main"));
        assert_eq!(nearest("Increment", known), Some("increment"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("28", ["27", "24"]), None, "short words are all alike");
    }
}
