//! A ledger as one self-contained page.

use super::{aging, estimate, labels, number_of};
use crate::{
    html::{both, minus, shell},
    plot::{self, Bar, plain},
};
use ledger::{Group, Ledger, Rated, Row, Suggestion};
use maud::{Markup, html};
use referee::{
    number::number,
    rating::{digits, rounded, signed},
};

/// A ledger and what is shown of it.
#[derive(Clone, Copy, Debug)]
pub struct LedgerPage<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// Its ratings.
    pub rated: &'a Rated,
    /// Encounters that are worth their time, the best first.
    pub suggestions: &'a [Suggestion],
}

impl LedgerPage<'_> {
    /// Renders the page. It needs no network and no other file.
    #[must_use]
    pub fn render(&self) -> String {
        let body = html! {
            header {
                h1 { "Ledger" }
                p { "Every player of all events in one rating" }
            }
            main { (self.sections()) }
            footer { "Made by Renmei." }
        };
        shell("Ledger", &body)
    }

    /// The content of the page, for other pages with its styles.
    #[must_use]
    pub fn sections(&self) -> Markup {
        let labels = labels(self.ledger.nodes());
        let counts = self.ledger.counts();
        html! {
            p.facts { (number_of(self.rated)) " · " (number(counts.games, "game")) " of " (number(counts.events, "event"))
                " in " (number(counts.databases, "database")) }
            @if let Some(words) = aging(self.ledger) { p.note { (words) "." } }
            @for (at, group) in self.rated.groups.iter().enumerate() {
                @if at == 0 { h2 { "Ratings" } } @else {
                    h2 { "Ratings of others" }
                    p.note { "No game connects these players with those above: their Elo cannot be compared." }
                }
                (self.group(group, &labels))
            }
            (self.next(&labels))
            (self.left_out())
            p.note { "± is half the 95 % interval; ~ marks a value that the games alone do not bound." }
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
        let draws = group.draw_ratio.map_or(String::new(), |ratio| format!("; draws {:.1} %", 100.0 * ratio));
        html! {
            (both(|size| plot::elo_bars("Ledger", &bars, origin, size)))
            (self.table(group, labels))
            p.note {
                "Black's advantage is worth " (minus(&estimate(&group.black_advantage))) " Elo" (draws) " between equals. "
                @if group.anchors.is_empty() { "Elo is relative to the mean of these players." } @else {
                    "± is that of the difference to the anchors' mean. "
                    @for anchor in &group.anchors {
                        "Anchor " (plain(&labels[anchor.node])) " = " (anchor.elo) ", by its games "
                        (minus(&signed(anchor.off, 0))) ". "
                    }
                }
            }
        }
    }

    fn table(&self, group: &Group, labels: &[String]) -> Markup {
        let nodes = self.ledger.nodes();
        let has_clocks = group.rows.iter().any(|row| !nodes[row.node].clock.is_empty());
        html! {
            div.scroll { table {
                thead { tr {
                    th { "#" } th.name { "player" } @if has_clocks { th.name { "clock" } }
                    th { "Elo" } th { "±" } th { "games" } th { "score" } th { "events" }
                } }
                tbody { @for (at, row) in group.rows.iter().enumerate() {
                    tr {
                        td { (at + 1) }
                        td.name title=(plain(&nodes[row.node].also.join(", "))) { (plain(&labels[row.node])) }
                        @if has_clocks { td.name { span.note { (plain(&nodes[row.node].clock)) } } }
                        (elo(row))
                        td { (rounded(row.games, 0)) }
                        td { (row.score.map_or("n/a".to_owned(), |score| format!("{:.1} %", 100.0 * score))) }
                        td { (nodes[row.node].events) }
                    }
                } }
            } }
        }
    }

    fn next(&self, labels: &[String]) -> Markup {
        let Some(first) = self.suggestions.first() else { return html! {} };
        let pair = |[a, b]: [usize; 2]| format!("{} against {}", plain(&labels[a]), plain(&labels[b]));
        html! {
            h2 { "What to play next" }
            p.note {
                "The error is ±" (rounded(first.error, 1)) " Elo on average now. These encounters take most off it for each \
                 second of playing:"
            }
            div.scroll { table {
                thead { tr { th.name { "encounter" } th { "± after 100 games" } th { "seconds a game" } } }
                tbody { @for suggestion in self.suggestions {
                    tr {
                        td.name { (pair(suggestion.players)) }
                        td { (rounded(suggestion.error_after, 1)) }
                        td { (suggestion.seconds.map_or("n/a".to_owned(), |seconds| rounded(seconds, 2))) }
                    }
                } }
            } }
        }
    }

    fn left_out(&self) -> Markup {
        let (own, lines) = (self.ledger.counts().own_games, self.ledger.left_out());
        html! {
            @if own > 0 || !lines.is_empty() {
                h2 { "Left out" }
                ul {
                    @if own > 0 { li { (number(own, "game")) " of a player against itself" } }
                    @for line in lines { li { (plain(line)) } }
                }
            }
        }
    }
}

/// The Elo of a row and its error, as two cells.
fn elo(row: &Row) -> Markup {
    let digits = row.elo.error().filter(|error| *error > 0.0).map_or(0, digits);
    let mark = if row.elo.is_bounded() { "" } else { "~" };
    let value = row.elo.value().map_or("n/a".to_owned(), |elo| format!("{mark}{}", signed(elo, digits)));
    html! {
        td { (minus(&value)) }
        td { (row.elo.error().map_or(String::new(), |error| rounded(error, digits))) }
    }
}
