//! How the events of a hall stand: a table of all of them.

use crate::gallery::total;
use contest::standings::Standings;
use notation::printable;
use plan::Plan;
use referee::entry::Stamped;
use report::{EventInfo, Report};

/// The standings of an event, as its entries have them by now.
pub(super) struct Score {
    info: EventInfo,
    total: Option<u64>,
    standings: Standings,
}

impl Score {
    pub fn new(plan: &Plan, standings: &Standings) -> Self {
        Self { info: EventInfo::of(plan), total: total(plan), standings: standings.clone() }
    }

    pub fn take(&mut self, batch: &[Stamped]) {
        batch.iter().for_each(|stamped| self.standings.fold(&stamped.entry));
    }
}

/// A row of the table.
pub(super) struct Standing([String; 5]);

impl Standing {
    /// How an event stands; without a score it has not begun.
    pub fn new(name: &str, state: &str, score: Option<&Score>) -> Self {
        let shown = |text: &str| printable(text.as_bytes());
        let [games, running, leader] = match score {
            None => ["–", "–", "–"].map(str::to_owned),
            Some(Score { info, total, standings }) => {
                let games = standings.total().games();
                let games = total.map_or(games.to_string(), |total| format!("{games}/{total}"));
                let report = Report::new(info, standings, false);
                let leader = report.standings.first().filter(|first| first.games > 0);
                let leader = leader.map_or("–".to_owned(), |leader| shown(&leader.name));
                [games, standings.running().count().to_string(), leader]
            }
        };
        Self([shown(name), state.to_owned(), games, running, leader])
    }
}

/// Prints the table.
pub(super) fn print(standings: impl Iterator<Item = Standing>) {
    let head = ["event", "state", "games", "running", "leader"].map(str::to_owned);
    let rows: Vec<[String; 5]> = standings.map(|Standing(row)| row).collect();
    if rows.is_empty() {
        return;
    }
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let blanks = " ".repeat(width(column) - cell.chars().count());
            if matches!(column, 2 | 3) { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
        });
        out_line!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
