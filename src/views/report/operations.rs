//! What the operator did, as reports show it.

use crate::Language;
use maud::{Markup, html};
use notation::{date, printable};
use referee::operation::Operation;
use serde::Serialize;

/// Most operations that people are shown; JSON and the database have all.
const SHOWN: usize = 30;

/// An action of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationRow {
    /// Its number.
    pub number: u64,
    /// Its time, in ms since 1970-01-01 UTC.
    pub at: i64,
    /// Who did it.
    pub by: String,
    /// What was done, in a word.
    pub action: &'static str,
    /// The game that it is about.
    pub game: Option<u64>,
    /// The operation that it takes back.
    pub undoes: Option<u64>,
    /// Why.
    pub reason: String,
    /// All of it in words.
    pub words: String,
    /// All of it in Japanese.
    #[serde(skip)]
    pub japanese: String,
}

impl OperationRow {
    pub(super) fn of((at, operation): (i64, Operation)) -> Self {
        let words = printable(operation.to_string().as_bytes());
        let japanese = printable(Language::Japanese.operation(&operation).as_bytes());
        let Operation { number, by, reason, undoes, action } = operation;
        let game = action.game().map(|game| game.0);
        Self { number, at, by, action: action.word(), game, undoes, reason, words, japanese }
    }

    fn line(&self, language: Language) -> String {
        format!("{}  {}", date::text(self.at), language.pick(&self.words, &self.japanese))
    }
}

fn shown(rows: &[OperationRow]) -> (usize, &[OperationRow]) {
    let left_out = rows.len().saturating_sub(SHOWN);
    (left_out, &rows[left_out..])
}

/// The list in a text.
pub(super) fn text(rows: &[OperationRow], words: Language) -> Option<String> {
    let (left_out, last) = shown(rows);
    let mut lines = vec![format!("{} (UTC)", words.operators_actions().to_lowercase())];
    lines.extend((left_out > 0).then(|| words.earlier_operations(left_out)));
    lines.extend(last.iter().map(|row| row.line(words)));
    (!rows.is_empty()).then(|| lines.join("\n  ") + "\n")
}

/// The list on a page.
pub(super) fn page(rows: &[OperationRow], language: Language) -> Markup {
    let (left_out, last) = shown(rows);
    html! {
        @if !rows.is_empty() {
            h2 { (language.operators_actions()) }
            ul {
                @if left_out > 0 { li { (language.earlier_operations(left_out)) } }
                @for row in last { li { (crate::plot::plain(&row.line(language))) } }
            }
        }
    }
}
