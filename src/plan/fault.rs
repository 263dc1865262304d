//! Faults of a configuration, with file, line, column and key.

use std::{
    fmt,
    path::{Path, PathBuf},
};

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
    /// The given faults, sorted and each once; `None` if there are none.
    pub(crate) fn found(mut faults: Vec<Fault>) -> Option<Self> {
        faults.sort_by(|a, b| (a.place, &a.key).cmp(&(b.place, &b.key)));
        faults.dedup();
        (!faults.is_empty()).then_some(Self(faults))
    }

    /// A single fault of a whole file.
    #[must_use]
    pub fn of_file(file: &Path, message: String) -> Self {
        Self(vec![Fault { file: Some(file.to_path_buf()), place: None, key: String::new(), message }])
    }

    /// The faults, one by one.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

/// The line and column, from 1, of a byte of a text; columns count characters.
pub(crate) fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The known word nearest to a misspelt one, if it is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
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
        assert_eq!(place("a = 1\n", 0), (1, 1));
        assert_eq!(place("a = 1\nname = \"先手\" x", 6 + 15), (2, 12));
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
