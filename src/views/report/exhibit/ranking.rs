//! The table of a stage: points, tie-breaks, and how far a player came in a knock-out.

use super::{Cell, Column, Exhibit};
use contest::standings::Row;
use words::Language;

/// A player's row with the cell of its name.
pub type NamedRow<'a> = (Cell, &'a Row);

/// The table of a stage.
pub fn ranking(rows: &[NamedRow<'_>], words: Language) -> Exhibit {
    let has = |is: fn(&Row) -> bool| rows.iter().any(|(_, row)| is(row));
    let column =
        |heading, cell: fn(&Row) -> Cell| Column::right(heading, move |(_, row): &NamedRow<'_>| cell(row));
    let mut columns = vec![
        column("#", |row| Cell::number(row.rank.to_string())),
        Column::left(words.engine(), |(name, _): &NamedRow<'_>| name.clone()),
        column(words.game_column(), |row| Cell::count(row.games.games())),
        column(words.points(), |row| Cell::number(row.points.to_string())),
    ];
    if has(|row| row.round.is_some()) {
        columns.push(column(words.round_column(), |row| Cell::known(row.round, |n| Cell::count(n.into()))));
    }
    let tie_breaks = rows.first().map_or(&[][..], |(_, row)| &row.tie_breaks);
    for (at, (tie_break, _)) in tie_breaks.iter().enumerate() {
        let value = move |(_, row): &NamedRow<'_>| {
            Cell::known(row.tie_breaks.get(at), |(tie_break, value)| Cell::number(tie_break.text(*value)))
        };
        let column =
            Column::right(words.tie_break(*tie_break), value).about(words.about_tie_break(*tie_break));
        // In a narrow panel a penalty says more than the tie-breaks.
        columns.push(if has(|row| row.penalty().is_some()) { column.spare() } else { column });
    }
    if has(|row| row.penalty().is_some()) {
        columns.push(column(words.penalty(), |row| {
            row.penalty().map_or_else(Cell::empty, |points| Cell::number(points.to_string()))
        }));
    }
    Exhibit::of(columns, rows)
}
