//! The words of `-engine` and `-each` in those of `--engine`.

use super::{
    table::{EngineMeaning, EngineWord, engine_word},
    values::INFINITE,
};
use plan::Environment;
use std::path::Path;

/// Keys and values of `--engine`, in order; a key stands once, but for `arg`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    pairs: Vec<(String, String)>,
}

impl Engine {
    /// Reads the words of an engine.
    ///
    /// # Errors
    /// The first word that has no meaning here.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let mut engine = Self::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let fault = |reason: String| format!("{word}: {reason}");
            let known = engine_word(key);
            if known.is_none_or(|known| !known.value.is_empty()) && !word.contains('=') {
                return Err(fault("is not KEY=VALUE; programs stand before the options".to_owned()));
            }
            match known.map(|EngineWord { here, meaning, .. }| (here, meaning)) {
                Some((here, EngineMeaning::Refused)) => return Err(fault((*here).to_owned())),
                Some((_, EngineMeaning::Reads(read))) => {
                    let (key, value) = read(value).map_err(fault)?;
                    engine.set(key, value);
                }
                Some((_, EngineMeaning::Is("ponder"))) if value.is_empty() => {
                    engine.set("ponder", "true".to_owned())
                }
                Some((_, EngineMeaning::Is("option"))) | None => engine.set(key, value.to_owned()),
                Some((_, EngineMeaning::Is(own))) => engine.set(own, value.to_owned()),
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

    /// With the words for every engine, which stand instead of its own.
    #[must_use]
    pub fn over(mut self, each: &Self) -> Self {
        each.pairs.iter().for_each(|(key, value)| self.set(key, value.clone()));
        self
    }

    /// The name of its program's file.
    pub fn program(&self) -> Option<&str> {
        Path::new(self.get("cmd")?).file_name()?.to_str()
    }

    /// Whether it has a name.
    pub fn is_named(&self) -> bool {
        self.get("name").is_some()
    }

    /// Gives it a name.
    pub fn name(&mut self, name: String) {
        self.set("name", name);
    }

    /// Says the directory as fastchess and cutechess-cli have it: the current one unless `dir` names another, in which the
    /// path of the program begins. A program that is on no path is looked for there, too.
    pub fn place(&mut self) {
        let dir = self.get("dir").unwrap_or(".").to_owned();
        let command = self.get("cmd").unwrap_or_default();
        let is_path = command.contains('/');
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
    ///
    /// # Errors
    /// A clock without an end, and no other limit.
    pub fn words(&self) -> Result<Vec<String>, String> {
        let endless = |(key, value): &&(String, String)| key == "time" && value == INFINITE;
        let limits = ["nodes", "depth", "fixed"];
        if self.pairs.iter().any(|pair| endless(&pair)) && !limits.iter().any(|key| self.get(key).is_some()) {
            return Err("tc=inf: a move needs an end here; add nodes=N, depth=N or st=SECONDS".to_owned());
        }
        let kept = self.pairs.iter().filter(|pair| !endless(pair));
        Ok(kept.map(|(key, value)| format!("{key}={value}")).collect())
    }
}
