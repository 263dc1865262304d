//! The commits that the players of an event were built of.

use crate::Language;
use crate::exhibit::{Cell, Column, Exhibit};
use plan::StoredPlan;
use serde::{Deserialize, Serialize};

/// Digits of a commit that people are shown.
const DIGITS: usize = 10;

/// The commits of an event, and how much they differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commits {
    /// The commits, in the order of the players.
    pub players: Vec<TestedCommit>,
    /// Size of the difference between the two commits of a test, in git's words; empty if there is none, and absent where
    /// it was not recorded.
    pub difference: Option<String>,
}

/// A player and its commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedCommit {
    /// Name of the player.
    pub name: String,
    /// Hash of the commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
}

impl Commits {
    /// The commits of a stored plan; `None` if there are none.
    pub fn of_stored(plan: &StoredPlan) -> Option<Self> {
        let players: Vec<TestedCommit> = plan
            .engines
            .iter()
            .filter_map(|engine| {
                let (commit, subject) = engine.commit()?;
                let [name, commit, subject] = [&engine.name, commit, subject].map(str::to_owned);
                Some(TestedCommit { name, commit, subject })
            })
            .collect();
        let difference = plan.difference().map(str::to_owned);
        (!players.is_empty()).then_some(Self { players, difference })
    }

    /// The difference in words.
    pub fn difference_words(&self) -> Option<&str> {
        self.difference_in(Language::English)
    }

    fn difference_in(&self, language: Language) -> Option<&str> {
        self.difference.as_deref().map(|size| if size.is_empty() { language.no_difference() } else { size })
    }

    /// The table of the commits, with the size of their difference below it.
    pub(crate) fn table(&self, words: Language) -> Exhibit {
        let columns = vec![
            Column::left(words.engine(), |row: &TestedCommit| Cell::words(&row.name)),
            Column::left(words.commit(), |row: &TestedCommit| Cell::words(row.short()).about(&row.commit)),
            Column::left(words.subject(), |row: &TestedCommit| Cell::words(&row.subject)),
        ];
        Exhibit::of(columns, &self.players).with_notes(self.difference_in(words).map(str::to_owned))
    }
}

impl TestedCommit {
    /// The first digits of its hash.
    pub fn short(&self) -> &str {
        self.commit.get(..DIGITS).unwrap_or(&self.commit)
    }
}
