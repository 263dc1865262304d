//! How the players used their time.

use super::{Cell, Column, Exhibit};
use referee::usage::Usage;
use words::Language;

/// What a player's moves took.
#[derive(Debug)]
pub struct UsageRow<'a> {
    /// The cell of its name.
    pub name: Cell,
    /// What was measured.
    pub usage: &'a Usage,
    /// Games lost by faults.
    pub faults: u64,
}

/// The table of these players.
pub fn usage(rows: &[UsageRow<'_>], words: Language) -> Exhibit {
    let late = |row: &UsageRow<'_>, share| {
        Cell::known(row.usage.latency(share), |ms| Cell::number(format!("{ms:.1} ms")))
    };
    let mut columns: Vec<Column<'_, UsageRow<'_>>> = vec![
        Column::left(words.engine(), |row: &UsageRow<'_>| row.name.clone()),
        Column::right(words.move_column(), |row: &UsageRow<'_>| Cell::count(row.usage.moves)),
        Column::right(words.mean(), |row: &UsageRow<'_>| Cell::known(row.usage.mean(), lasting)),
        Column::right(words.longest(), |row: &UsageRow<'_>| {
            Cell::known((row.usage.moves > 0).then_some(row.usage.longest), lasting)
        }),
        Column::right(words.depth(), |row: &UsageRow<'_>| {
            Cell::known(row.usage.mean_depth(), |depth| Cell::number(format!("{depth:.1}")))
        }),
        Column::right(words.nodes_a_second(), |row: &UsageRow<'_>| Cell::known(row.usage.nps(), Cell::count)),
        Column::right(words.late(), move |row: &UsageRow<'_>| late(row, 0.5)).about(words.what_late_means()),
        Column::right("p99", move |row: &UsageRow<'_>| late(row, 0.99)).spare(),
        Column::right(words.faults(), |row: &UsageRow<'_>| Cell::faults(row.faults)),
    ];
    if rows.iter().any(|row: &UsageRow<'_>| row.usage.memory > 0) {
        let memory = |row: &UsageRow<'_>| Cell::known(row.usage.memory_words(), Cell::number);
        columns.push(Column::right(words.memory(), memory).about(words.what_memory_means()).spare());
    }
    Exhibit::of(columns, rows)
}

/// A duration in ms.
fn lasting(ms: u64) -> Cell {
    Cell::number(match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..100_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{}:{:02}", ms / 60_000, ms / 1000 % 60),
    })
}
