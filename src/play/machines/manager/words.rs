//! Findings of a machine's look at its engines that are no faults: each is printed once, and shown as its last word.

use super::{COUNTED, Manager};
use crate::messages::{MOST_WORDS, WORD};
use notation::clipped;
use std::collections::{HashMap, HashSet};

/// What machines have said in this run, by worker: a machine that comes again says the same.
#[derive(Default)]
pub(super) struct Said(HashMap<String, HashSet<String>>);

impl Said {
    /// True if these words are to be said: they are new, and the machine has not said too much.
    fn is_news(&mut self, worker: &str, words: &str) -> bool {
        let key = if self.0.len() < COUNTED || self.0.contains_key(worker) { worker } else { "" };
        let said = self.0.entry(key.to_owned()).or_default();
        said.len() < MOST_WORDS && said.insert(words.to_owned())
    }
}

impl Manager {
    /// Prints what a machine has found. It is text of a stranger: shortened, and made printable.
    pub(super) fn words(&mut self, worker: &str, words: &[String]) {
        let name = self.registry.name_of(worker);
        for text in words.iter().take(MOST_WORDS).map(|line| clipped(line, WORD)) {
            self.registry.told(worker, &text, false);
            if self.said.is_news(worker, &text) {
                self.say(format!("machine `{name}`: {text}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_news_once_and_a_machine_that_says_more_and_more_is_not_heard() {
        let mut said = Said::default();
        assert!(said.is_news("ann", "a") && !said.is_news("ann", "a") && said.is_news("bob", "a"));
        let heard = (0..1000).filter(|at| said.is_news("ann", &at.to_string())).count();
        assert_eq!(heard, MOST_WORDS - 1);
    }
}
