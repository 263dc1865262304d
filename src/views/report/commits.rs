//! The commits that the players of an event were built of.

use crate::{
    Language,
    plot::plain,
    text::{padded, width},
};
use maud::{Markup, html};
use plan::{Plan, StoredPlan};
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// The commits of a plan whose engines were built; `None` if none was.
    #[must_use]
    pub fn of(plan: &Plan) -> Option<Self> {
        Self::of_stored(&StoredPlan::of_event(plan))
    }

    /// The commits of a stored plan; `None` if there are none.
    #[must_use]
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
    #[must_use]
    pub fn difference_words(&self) -> Option<&str> {
        self.difference_in(Language::English)
    }

    fn difference_in(&self, language: Language) -> Option<&str> {
        self.difference.as_deref().map(|size| if size.is_empty() { language.no_difference() } else { size })
    }

    /// A table of the page.
    pub(crate) fn table(&self, words: Language) -> Markup {
        html! {
            div.scroll { table {
                thead { tr { th.name { (words.engine()) } th.name { (words.commit()) } th.name { (words.subject()) } } }
                tbody { @for row in &self.players { tr {
                    th.name scope="row" { (plain(&row.name)) }
                    td.name title=(row.commit) { (row.short()) }
                    td.name { (plain(&row.subject)) }
                } } }
            } }
            @if let Some(difference) = self.difference_in(words) { p.note { (plain(difference)) } }
        }
    }
}

impl TestedCommit {
    /// The first digits of its hash.
    #[must_use]
    pub fn short(&self) -> &str {
        self.commit.get(..DIGITS).unwrap_or(&self.commit)
    }
}

/// As lines of a text.
impl fmt::Display for Commits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| notation::printable(text.as_bytes());
        let width = width(self.players.iter().map(|row| row.name.as_str()));
        writeln!(f, "commits")?;
        for row in &self.players {
            writeln!(f, "{}  {} {}", padded(&row.name, width), row.short(), shown(&row.subject))?;
        }
        match self.difference_words() {
            Some(words) => writeln!(f, "    {}", shown(words)),
            None => Ok(()),
        }
    }
}
