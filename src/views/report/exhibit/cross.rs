//! The cross table: points and games of the row's player against the column's.

use super::{Cell, Column, Exhibit, Mark};

/// What two players have made of their games, from the side of one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// Its points, in words.
    pub points: String,
    /// Its share of them, from 0 to 1.
    pub share: f64,
    /// Games that count.
    pub games: u64,
}

/// A player with its place in the order, from 0.
pub type Placed<P> = (usize, P);

/// The table of these players against those in the columns; a player's number is its place. `name` gives the cell of a
/// player, `met` what the first has made of its games against the second.
pub fn cross<P: PartialEq>(
    rows: &[Placed<P>],
    columns: &[Placed<P>],
    heading: &str,
    name: impl Fn(&Placed<P>) -> Cell,
    met: impl Fn(&Placed<P>, &Placed<P>) -> Option<Met>,
) -> Exhibit {
    let against = |own: &Placed<P>, other: &Placed<P>| match met(own, other) {
        _ if own.1 == other.1 => Cell::words("■").marked(Mark::Own),
        Some(Met { points, share, games: games @ 1.. }) => {
            Cell::number(format!("{points}/{games}")).marked(Mark::Tenths((10.0 * share).round() as u8))
        }
        _ => Cell::words("·"),
    };
    let mut all: Vec<Column<'_, Placed<P>>> = vec![
        Column::right("#", |(at, _): &Placed<P>| Cell::number((at + 1).to_string())),
        Column::left(heading, &name),
    ];
    all.extend(columns.iter().map(|other| {
        let column = Column::right((other.0 + 1).to_string(), |own| against(own, other));
        column.about(name(other).text())
    }));
    Exhibit::of(all, rows)
}
