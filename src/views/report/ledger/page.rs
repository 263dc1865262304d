//! A ledger as one self-contained page.

use super::{aging, facts, labels, left_out, notes, ratings, suggested};
use crate::{
    html::{both, minus, prose, shell},
    plot::{self, Bar, plain},
};
use ledger::{Group, Ledger, Rated, Row, Suggestion};
use maud::{Markup, html};
use referee::rating::rounded;
use words::Language;

/// A ledger and what is shown of it.
#[derive(Clone, Copy, Debug)]
pub struct LedgerPage<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// Its ratings.
    pub rated: &'a Rated,
    /// Encounters that are worth their time, the best first.
    pub suggestions: &'a [Suggestion],
    /// The language of the page.
    pub language: Language,
}

impl LedgerPage<'_> {
    /// Renders the page. It needs no network and no other file.
    pub fn render(&self) -> String {
        let body = html! {
            header {
                h1 { "Ledger" }
                p { "Every player of all events in one rating" }
            }
            main { (self.sections()) }
            footer { "Made by Renmei." }
        };
        shell(Language::English, "Ledger", &body, "")
    }

    /// The content of the page, for other pages with its styles.
    pub fn sections(&self) -> Markup {
        let labels = labels(self.ledger.nodes());
        let words = self.language;
        html! {
            p.facts { (facts(self.ledger, self.rated, words)) }
            @if let Some(aging) = aging(self.ledger, words) { p.note { (prose(&aging)) } }
            @for (at, group) in self.rated.groups.iter().enumerate() {
                @if at == 0 { h2 { (words.ledger_ratings()) } } @else {
                    h2 { (words.ledger_ratings_of_others()) }
                    p.note { (words.ledger_apart()) }
                }
                (self.group(group, &labels))
            }
            (self.next(&labels))
            (self.left_out())
            p.note { (words.ledger_marks()) }
        }
    }

    fn group(&self, group: &Group, labels: &[String]) -> Markup {
        let bar = |(place, row): (usize, &Row)| {
            let (name, elo) = (labels[row.node].clone(), row.elo.value()?);
            Some(Bar { place, name, elo, error: row.elo.error(), is_loose: !row.elo.is_bounded() })
        };
        let bars: Vec<Bar> = group.rows.iter().enumerate().filter_map(bar).collect();
        let origin = match &group.anchors[..] {
            [] => 0.0,
            anchors => anchors.iter().map(|anchor| anchor.elo).sum::<f64>() / anchors.len() as f64,
        };
        html! {
            (both(|size| plot::elo_bars(self.language.ledger(), &bars, origin, size)))
            (ratings(self.ledger, group, labels, self.language).page(self.language.ledger()))
            p.note { @for note in notes(group, labels, self.language, minus) { (note) " " } }
        }
    }

    fn next(&self, labels: &[String]) -> Markup {
        let Some(first) = self.suggestions.first() else { return html! {} };
        let words = self.language;
        html! {
            h2 { (words.what_to_play_next()) }
            p.note { (words.what_it_takes_off(&rounded(first.error, 1))) }
            (suggested(self.suggestions, labels, words).page(words.what_to_play_next()))
        }
    }

    fn left_out(&self) -> Markup {
        let lines = left_out(self.ledger, self.language);
        html! {
            @if !lines.is_empty() {
                h2 { (self.language.left_out()) }
                ul { @for line in lines { li { (plain(&line)) } } }
            }
        }
    }
}
