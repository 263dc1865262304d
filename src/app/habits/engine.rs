//! The words of `-engine` and `-each` in those of `--engine`.

use super::{
    error::HabitError,
    table::{Habit, Meaning, engine_word},
    values::{self, INFINITE},
};
use plan::Environment;
use std::path::Path;

/// Keys and values of `--engine`, in order; keys other than `arg` are unique.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    pairs: Vec<(String, String)>,
}

impl Engine {
    /// Reads the words of an engine that stand behind an option.
    pub fn read(option: &str, words: &[&str]) -> Result<Self, HabitError> {
        let mut engine = Self::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let fault = |advice| HabitError::NoCounterpart(format!("{option} {word}"), advice);
            let known = engine_word(key);
            if known.is_none_or(|known| !known.values.is_empty()) && !word.contains('=') {
                return Err(fault("expected KEY=VALUE; programs come before the options"));
            }
            let Some(Habit { here, meaning, .. }) = known else {
                engine.set(key, value.to_owned());
                continue;
            };
            match meaning {
                Meaning::Refused => return Err(fault(here)),
                Meaning::Is("ponder") if value.is_empty() => engine.set("ponder", "true".to_owned()),
                Meaning::Is("option") => engine.set(key, value.to_owned()),
                Meaning::Is(own) => engine.set(own, value.to_owned()),
                Meaning::Reads | Meaning::Always | Meaning::Noted => {
                    let (key, value) = values::translated(key, value).map_err(fault)?;
                    engine.set(key, value);
                }
            }
        }
        Ok(engine)
    }

    fn set(&mut self, key: &str, value: String) {
        match self.pairs.iter_mut().find(|(known, _)| known == key && key != "arg") {
            _ if key.is_empty() => {}
            Some((_, known)) => *known = value,
            None => self.pairs.push((key.to_owned(), value)),
        }
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Replaces the engine's own words by those for every engine.
    #[must_use]
    pub fn over(mut self, each: &Self) -> Self {
        each.pairs.iter().for_each(|(key, value)| self.set(key, value.clone()));
        self
    }

    /// The program, as it was typed.
    pub fn command(&self) -> Option<&str> {
        self.get("cmd")
    }

    pub fn is_named(&self) -> bool {
        self.get("name").is_some()
    }

    pub fn name(&mut self, name: String) {
        self.set("name", name);
    }

    /// Sets the directory as fastchess and cutechess-cli do: the current one unless `dir` names another, in which a relative
    /// path of the program begins. A program that is not on the path is also searched there.
    pub fn place(&mut self) {
        let dir = self.get("dir").unwrap_or(".").to_owned();
        let command = self.get("cmd").unwrap_or_default();
        let is_path = plan::is_path(command);
        let beside = Path::new(&dir).join(command);
        let searched = || Environment::here(Path::new(".")).is_ok_and(|here| here.finds(command));
        if is_path && Path::new(command).is_relative() && dir != "."
            || !is_path && beside.is_file() && !searched()
        {
            let beside = if beside.is_absolute() { beside } else { Path::new(".").join(beside) };
            self.set("cmd", beside.display().to_string());
        }
        self.set("dir", dir);
    }

    /// Its words for `--engine` or `--each`.
    pub fn words(&self) -> Result<Vec<String>, HabitError> {
        let endless = |(key, value): &&(String, String)| key == "time" && value == INFINITE;
        let limits = ["nodes", "depth", "fixed"];
        if self.pairs.iter().any(|pair| endless(&pair)) && !limits.iter().any(|key| self.get(key).is_some()) {
            return Err(HabitError::Endless);
        }
        let kept = self.pairs.iter().filter(|pair| !endless(pair));
        Ok(kept.map(|(key, value)| format!("{key}={value}")).collect())
    }
}
