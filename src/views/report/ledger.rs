//! A ledger as text for a terminal, and as a page.

mod page;

pub use page::LedgerPage;

use crate::exhibit::{Cell, Column, Exhibit, plain};
use ledger::{Anchored, Counts, Group, Ledger, LeftOut, Node, Rated, Reason, Row, Suggestion};
use referee::rating::{Estimate, digits, rounded};
use std::{collections::HashMap, fmt, path::Path};
use words::Language;

/// Most characters of a player's arguments and options.
const SETTINGS: usize = 40;

/// The ratings of a ledger as text.
#[derive(Clone, Copy, Debug)]
pub struct LedgerText<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// Its ratings.
    pub rated: &'a Rated,
    /// The language of the text.
    pub language: Language,
}

impl fmt::Display for LedgerText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.language;
        writeln!(f, "{}", facts(self.ledger, self.rated, words))?;
        aging(self.ledger, words).map_or(Ok(()), |words| writeln!(f, "{words}"))?;
        let labels = labels(self.ledger.nodes());
        for (at, group) in self.rated.groups.iter().enumerate() {
            if at > 0 {
                writeln!(f, "\n{}", words.ledger_apart())?;
            }
            self.group(f, group, &labels)?;
        }
        writeln!(f, "{}", words.tilde_marks())?;
        let left_out = left_out(self.ledger, words);
        if !left_out.is_empty() {
            writeln!(f)?;
        }
        left_out.iter().try_for_each(|line| writeln!(f, "{}: {line}", words.left_out().to_lowercase()))
    }
}

/// How much is in a ledger: `14 players, 2500 games of 3 events in 2 databases`.
pub fn facts(ledger: &Ledger, rated: &Rated, language: Language) -> String {
    let Counts { databases, events, games, .. } = ledger.counts();
    let players = rated.groups.iter().map(|group| group.rows.len()).sum();
    language.ledger_facts(players, games, events, databases)
}

/// What is not in the ratings, and why.
pub fn left_out(ledger: &Ledger, language: Language) -> Vec<String> {
    let own = ledger.counts().own_games;
    let own = (own > 0).then(|| language.own_games(own));
    let repeats = ledger.counts().repeats;
    let repeats = (repeats > 0).then(|| language.repeated_games(repeats));
    own.into_iter().chain(repeats).chain(events_left_out(ledger, language)).collect()
}

/// The events that are not in a ledger, and why.
pub fn events_left_out(ledger: &Ledger, language: Language) -> Vec<String> {
    let event = |left: &LeftOut| {
        let printable = |text: &str| notation::printable(text.as_bytes());
        let path = |path: &Path| printable(&path.to_string_lossy());
        let (event, file) = (printable(&left.event), path(&left.file));
        match &left.reason {
            Reason::Tuning => language.left_out_as_tuning(&event, &file),
            Reason::Copy => language.left_out_as_copy(&event, &file),
            Reason::Repeat { of, more: 0 } => language.left_out_as_repeat(&event, &file, &path(of)),
            Reason::Repeat { of, more } => {
                language.left_out_as_longer_repeat(&event, &file, &path(of), *more)
            }
        }
    };
    ledger.left_out().iter().map(event).collect()
}

/// What is to be known of the ratings of a set of players: black's advantage, and what their Elo is relative to.
/// `signs` gives a number the signs of print, or leaves it.
fn notes(group: &Group, labels: &[String], words: Language, signs: fn(&str) -> String) -> Vec<String> {
    let advantage = signs(&estimate(&group.black_advantage));
    let mut notes = vec![match group.draw_ratio {
        Some(draws) => words.black_is_worth_with_draws(&advantage, 100.0 * draws),
        None => words.black_is_worth(&advantage),
    }];
    let relative =
        if group.anchors.is_empty() { words.relative_to_the_mean() } else { words.relative_to_anchors() };
    notes.push(relative.to_owned());
    let anchor = |anchor: &Anchored| {
        let off = signs(&referee::rating::signed(anchor.off, 0));
        words.anchor(&plain(&labels[anchor.node]), anchor.elo, &off)
    };
    notes.extend(group.anchors.iter().map(anchor));
    notes
}

impl LedgerText<'_> {
    fn group(&self, f: &mut fmt::Formatter<'_>, group: &Group, labels: &[String]) -> fmt::Result {
        write!(f, "\n{}", ratings(self.ledger, group, labels, self.language))?;
        writeln!(f)?;
        notes(group, labels, self.language, str::to_owned).iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// How games age; `None` where they do not.
pub fn aging(ledger: &Ledger, language: Language) -> Option<String> {
    ledger.half_life().map(|days| language.ledger_aging(days))
}

/// The table of the players of a group.
fn ratings(ledger: &Ledger, group: &Group, labels: &[String], words: Language) -> Exhibit {
    let nodes = ledger.nodes();
    let rows: Vec<(usize, &Row)> = group.rows.iter().enumerate().collect();
    let node = |(_, row): &(usize, &Row)| &nodes[row.node];
    let mut columns = vec![
        Column::right("#", |(at, _): &(usize, &Row)| Cell::number((at + 1).to_string())),
        Column::left(words.player(), |row: &(usize, &Row)| {
            Cell::words(&labels[row.1.node]).about(node(row).also.join(", "))
        }),
    ];
    if rows.iter().any(|row| !node(row).clock.is_empty()) {
        columns.push(Column::left(words.ledger_clock(), |row: &(usize, &Row)| {
            Cell::words(words.clock_text(&node(row).clock))
        }));
    }
    columns.extend([
        Column::right(words.elo(), |(_, row): &(usize, &Row)| Cell::elo(row.elo)),
        Column::right("+-", |(_, row): &(usize, &Row)| Cell::error(row.elo)),
        Column::right(words.game_column(), |(_, row): &(usize, &Row)| Cell::number(rounded(row.games, 0))),
        Column::right(words.score(), |(_, row): &(usize, &Row)| Cell::share(row.score, 1)),
        Column::right(words.ledger_events(), move |row: &(usize, &Row)| Cell::count(node(row).events)),
    ]);
    Exhibit::of(columns, &rows)
}

/// The table of encounters that are worth their time.
fn suggested(suggestions: &[Suggestion], labels: &[String], words: Language) -> Exhibit {
    let pair = |[a, b]: [usize; 2]| Cell::words(words.against(&labels[a], &labels[b]));
    let columns = vec![
        Column::left(words.encounter(), |row: &Suggestion| pair(row.players)),
        Column::right(words.error_after(), |row: &Suggestion| Cell::number(rounded(row.error_after, 1))),
        Column::right(words.seconds_a_game(), |row: &Suggestion| {
            Cell::known(row.seconds, |seconds| Cell::number(rounded(seconds, 2)))
        }),
    ];
    Exhibit::of(columns, suggestions)
}

/// Encounters that are worth their time, as text.
pub fn suggestions(ledger: &Ledger, suggestions: &[Suggestion], words: Language) -> String {
    let Some(first) = suggestions.first() else { return words.nothing_shrinks_it().to_owned() };
    let table = suggested(suggestions, &labels(ledger.nodes()), words);
    format!("{}\n{table}", words.what_it_takes_off(&rounded(first.error, 1)))
}

/// An estimate with as many digits as its error allows; that of an anchor has no error.
fn estimate(estimate: &Estimate) -> String {
    let digits = estimate.error().filter(|error| *error > 0.0).map_or(0, digits);
    format!("{estimate:.digits$}")
}

/// Names of players, with what tells those of one name apart: digits of the build, settings, the machine.
pub fn labels(nodes: &[Node]) -> Vec<String> {
    let mut of_name: HashMap<&str, Vec<&Node>> = HashMap::new();
    for node in nodes {
        of_name.entry(&node.name).or_default().push(node);
    }
    let label = |node: &Node| {
        let others = &of_name[node.name.as_str()];
        let mut label = notation::printable(node.name.as_bytes());
        if others.iter().any(|other| other.build != node.build) {
            label +=
                &format!(" {}", node.build.as_deref().map_or("?", |build| build.get(..8).unwrap_or(build)));
        }
        if others.iter().any(|other| other.build == node.build && other.settings != node.settings) {
            let settings = notation::printable(node.settings.as_bytes());
            label += &format!(" [{}]", notation::clipped(&settings, SETTINGS));
        }
        if others.iter().any(|other| other.machine != node.machine) && !node.machine.is_empty() {
            label += &format!(" on {}", notation::printable(node.machine.as_bytes()));
        }
        label
    };
    nodes.iter().map(label).collect()
}
