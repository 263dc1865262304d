//! A ledger as text for a terminal, and as a page.

mod page;

pub use page::LedgerPage;

use super::text::{name_width, padded};
use ledger::{Group, Ledger, Node, Rated, Row, Suggestion};
use referee::{
    number::number,
    rating::{Estimate, digits},
};
use std::{collections::HashMap, fmt};

/// Most characters of a player's arguments and options.
const SETTINGS: usize = 40;

/// The ratings of a ledger as text.
#[derive(Clone, Copy, Debug)]
pub struct LedgerText<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// Its ratings.
    pub rated: &'a Rated,
}

impl fmt::Display for LedgerText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.ledger.counts();
        let [games, events, databases] =
            [(counts.games, "game"), (counts.events, "event"), (counts.databases, "database")]
                .map(|(count, what)| number(count, what));
        let players = number_of(self.rated);
        writeln!(f, "{players}, {games} of {events} in {databases}")?;
        aging(self.ledger).map_or(Ok(()), |words| writeln!(f, "{words}"))?;
        let labels = labels(self.ledger.nodes());
        for (at, group) in self.rated.groups.iter().enumerate() {
            if at > 0 {
                writeln!(
                    f,
                    "\nno game connects these players with those above: their Elo cannot be compared"
                )?;
            }
            self.group(f, group, &labels)?;
        }
        if counts.own_games > 0 || !self.ledger.left_out().is_empty() {
            writeln!(f)?;
        }
        if counts.own_games > 0 {
            writeln!(f, "left out: {} of a player against itself", number(counts.own_games, "game"))?;
        }
        for line in self.ledger.left_out() {
            writeln!(f, "left out: {}", notation::printable(line.as_bytes()))?;
        }
        Ok(())
    }
}

impl LedgerText<'_> {
    fn group(&self, f: &mut fmt::Formatter<'_>, group: &Group, labels: &[String]) -> fmt::Result {
        let nodes = self.ledger.nodes();
        let clock = |row: &Row| nodes[row.node].clock.as_str();
        let width = name_width(group.rows.iter().map(|row| labels[row.node].as_str()));
        let clocks = name_width(group.rows.iter().map(clock));
        let has_clocks = group.rows.iter().any(|row| !clock(row).is_empty());
        let clocked = |text: &str| if has_clocks { padded(text, clocks) + "  " } else { String::new() };
        let elos: Vec<String> = group.rows.iter().map(|row| estimate(&row.elo)).collect();
        let elo_width = elos.iter().map(String::len).max().unwrap_or_default().max(3);
        writeln!(
            f,
            "\n  #  {}  {}{:>elo_width$}  {:>9}  {:>6}  {:>6}",
            padded("player", width),
            clocked("clock"),
            "Elo",
            "games",
            "score",
            "events"
        )?;
        for (at, (row, elo)) in group.rows.iter().zip(elos).enumerate() {
            let score = row.score.map_or("n/a".to_owned(), |score| format!("{:.1}%", 100.0 * score));
            writeln!(
                f,
                "{:>3}  {}  {}{elo:>elo_width$}  {:>9.0}  {score:>6}  {:>6}",
                at + 1,
                padded(&labels[row.node], width),
                clocked(clock(row)),
                row.games,
                nodes[row.node].events
            )?;
        }
        let draws = group.draw_ratio.map_or(String::new(), |ratio| format!("; draws {:.1}%", 100.0 * ratio));
        writeln!(f, "\nblack's advantage {} Elo{draws} between equals", estimate(&group.black_advantage))?;
        match &group.anchors[..] {
            [] => writeln!(f, "Elo is relative to the mean of these players; +- is half a 95 % interval"),
            anchors => {
                for anchor in anchors {
                    let off = referee::rating::signed(anchor.off, 0);
                    writeln!(f, "anchor {} = {}; by its games {off}", labels[anchor.node], anchor.elo)?;
                }
                writeln!(f, "+- is half a 95 % interval of the difference to the anchors' mean")
            }
        }
    }
}

/// How games age, as a sentence without a period; `None` where they do not.
fn aging(ledger: &Ledger) -> Option<String> {
    let days = ledger.half_life()?;
    Some(format!(
        "A game loses half of its weight in {days} days: the ratings are those of late, and `games` is a sum of weights"
    ))
}

/// The number of players, in words.
fn number_of(rated: &Rated) -> String {
    number(rated.groups.iter().map(|group| group.rows.len()).sum::<usize>(), "player")
}

/// Encounters that are worth their time, as text.
#[must_use]
pub fn suggestions(ledger: &Ledger, suggestions: &[Suggestion]) -> String {
    let labels = labels(ledger.nodes());
    let pair = |players: [usize; 2]| players.map(|player| labels[player].as_str()).join(" against ");
    let pairs: Vec<String> = suggestions.iter().map(|suggestion| pair(suggestion.players)).collect();
    let width = name_width(pairs.iter().map(String::as_str));
    let Some(first) = suggestions.first() else {
        return "no encounter is known to shrink this error: the players have no chain of games between them, or no \
                clock in common\n"
            .to_owned();
    };
    let mut text = format!("the error is +-{:.1} Elo now; after 100 more games of\n", first.error);
    for (pair, suggestion) in pairs.iter().zip(suggestions) {
        let seconds = suggestion.seconds.map_or(String::new(), |seconds| format!("  {seconds:.2} s a game"));
        text += &format!("  {}  +-{:.1}{seconds}\n", padded(pair, width), suggestion.error_after);
    }
    text
}

/// An estimate with as many digits as its error allows; that of an anchor has no error.
fn estimate(estimate: &Estimate) -> String {
    let digits = estimate.error().filter(|error| *error > 0.0).map_or(0, digits);
    format!("{estimate:.digits$}")
}

/// Names of players, with what tells those of one name apart: digits of the build, settings, the machine.
fn labels(nodes: &[Node]) -> Vec<String> {
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
