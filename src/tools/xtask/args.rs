//! Command-line flags.

use anyhow::{Context, Result, bail};
use std::{collections::HashMap, str::FromStr};

/// The flags given; all are known.
#[derive(Debug, Default)]
pub struct Flags(HashMap<String, String>);

impl Flags {
    /// Parses `words`; a switch stands alone, a value follows its flag.
    ///
    /// # Errors
    /// When a flag is unknown or lacks its value.
    pub fn read(words: &[&str], switches: &[&str], valued: &[&str]) -> Result<Self> {
        let mut given = HashMap::new();
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let value = if switches.contains(&word) {
                ""
            } else if valued.contains(&word) {
                words.next().with_context(|| format!("`{word}` needs a value"))?
            } else {
                bail!("unknown flag `{word}`")
            };
            given.insert(word.to_owned(), value.to_owned());
        }
        Ok(Self(given))
    }

    /// True if the flag was given.
    pub fn has(&self, flag: &str) -> bool {
        self.0.contains_key(flag)
    }

    /// The value of the flag, if given.
    pub fn text(&self, flag: &str) -> Option<&str> {
        self.0.get(flag).map(String::as_str)
    }

    /// The number after the flag, or `default`.
    ///
    /// # Errors
    /// When it is not a number.
    pub fn number<T: FromStr>(&self, flag: &str, default: T) -> Result<T> {
        let Some(text) = self.text(flag) else { return Ok(default) };
        text.parse().ok().with_context(|| format!("`{flag} {text}` is not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_has_its_value_or_the_default() {
        let flags = Flags::read(&["--fast", "--games", "7"], &["--fast"], &["--games", "--kills"]).unwrap();
        assert!(flags.has("--fast"));
        assert_eq!(flags.number("--games", 1).unwrap(), 7);
        assert_eq!(flags.number("--kills", 50).unwrap(), 50);
    }

    #[test]
    fn an_unknown_flag_a_missing_value_and_a_word_for_a_number_are_refused() {
        let fault = |words: &[&str]| Flags::read(words, &[], &["--games"]).unwrap_err().to_string();
        assert_eq!(fault(&["--gmaes", "7"]), "unknown flag `--gmaes`");
        assert_eq!(fault(&["--games"]), "`--games` needs a value");
        let flags = Flags::read(&["--games", "many"], &[], &["--games"]).unwrap();
        assert_eq!(flags.number("--games", 1).unwrap_err().to_string(), "`--games many` is not a number");
    }
}
