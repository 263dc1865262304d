//! Tables as data: headings in the reader's language, and cells that know what they mean. A text, a page or a screen only
//! draws an [`Exhibit`], so that a column is declared once, with its heading and its cells, for all of them.
//!
//! The tables of an event's standings are made here from the types of the rules: [`standings`], [`ranking`], [`cross`],
//! [`usage`]. Other rooms make tables of their own rows by [`Exhibit::of`].

pub mod cross;
mod page;
mod paste;
pub mod ranking;
pub mod standings;
mod text;
pub mod usage;

pub use page::{SERIES, minus, plain, thousands};
pub use text::columns;

use referee::rating::{Estimate, digits, rounded, signed};

/// A table: its headings, its rows, and what is said below them.
#[derive(Clone, Debug, Default)]
pub struct Exhibit {
    /// The columns, from the left.
    pub headings: Vec<Heading>,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// Sentences below the table.
    pub notes: Vec<String>,
}

/// The heading of a column.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// Its words.
    pub words: String,
    /// What they mean, where that is not plain.
    pub about: Option<String>,
    /// True if its cells stand at the left, as names and sentences do; numbers stand at the right.
    pub is_left: bool,
    /// True if a narrow screen leaves the column out.
    pub is_spare: bool,
}

/// What a cell says.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing is known: a dash.
    #[default]
    Unknown,
    /// Nothing is to be said.
    Empty,
    /// Words, perhaps a stranger's.
    Words(String),
    /// A number of things, which a screen may shorten (`12.3k`).
    Count(u64),
    /// A number in ASCII as a terminal shows it (`-12.5`, `61.2%`, `~+30`, a rank); a page uses the signs of print for it.
    Number(String),
}

/// What a cell means beyond its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    #[default]
    Plain,
    /// A fault.
    Fault,
    /// Less than the others: what has gone.
    Quiet,
    /// Where a player meets itself.
    Own,
    /// A share of the points, in tenths.
    Tenths(u8),
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What it says.
    pub value: Value,
    /// What it means.
    pub mark: Mark,
    /// More about it, such as the whole of what is shortened.
    pub about: Option<String>,
    /// The page of what it names.
    pub link: Option<String>,
    /// The place of the player whom it names in the order of the standings, from 0: the colour of its curve.
    pub place: Option<usize>,
}

/// A column of tables whose rows are made from `R`.
pub struct Column<'a, R> {
    heading: Heading,
    cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

impl<'a, R> Column<'a, R> {
    /// A column of words.
    pub fn left(heading: impl Into<String>, cell: impl Fn(&R) -> Cell + 'a) -> Self {
        let heading = Heading { words: heading.into(), is_left: true, ..Heading::default() };
        Self { heading, cell: Box::new(cell) }
    }

    /// A column of numbers.
    pub fn right(heading: impl Into<String>, cell: impl Fn(&R) -> Cell + 'a) -> Self {
        let heading = Heading { words: heading.into(), ..Heading::default() };
        Self { heading, cell: Box::new(cell) }
    }

    /// The column with a word on what it means.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { heading: Heading { about: Some(about.into()), ..self.heading }, ..self }
    }

    /// The column, which a narrow screen leaves out.
    #[must_use]
    pub fn spare(self) -> Self {
        Self { heading: Heading { is_spare: true, ..self.heading }, ..self }
    }
}

impl Exhibit {
    /// The table of these columns and rows.
    pub fn of<'r, R: 'r>(columns: Vec<Column<'_, R>>, rows: impl IntoIterator<Item = &'r R>) -> Self {
        let row = |row: &R| columns.iter().map(|column| (column.cell)(row)).collect();
        let rows = rows.into_iter().map(row).collect();
        Self { rows, headings: columns.into_iter().map(|column| column.heading).collect(), notes: vec![] }
    }

    /// The table with these sentences below it.
    #[must_use]
    pub fn with_notes(self, notes: impl IntoIterator<Item = String>) -> Self {
        Self { notes: notes.into_iter().collect(), ..self }
    }
}

impl Cell {
    /// Words, perhaps a stranger's.
    pub fn words(words: impl Into<String>) -> Self {
        Self { value: Value::Words(words.into()), ..Self::default() }
    }

    /// A number of things.
    pub fn count(count: u64) -> Self {
        Self { value: Value::Count(count), ..Self::default() }
    }

    /// A number in ASCII.
    pub fn number(number: impl Into<String>) -> Self {
        Self { value: Value::Number(number.into()), ..Self::default() }
    }

    /// Nothing.
    pub fn empty() -> Self {
        Self { value: Value::Empty, ..Self::default() }
    }

    /// What `cell` makes of a value; a dash where nothing is known.
    pub fn known<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(Self::default, cell)
    }

    /// A share, as so many percent.
    pub fn share(share: Option<f64>, digits: usize) -> Self {
        Self::known(share, |share| Self::number(format!("{:.digits$}%", 100.0 * share)))
    }

    /// A difference in Elo, with as many digits as its error leaves to it.
    pub fn elo(elo: Estimate) -> Self {
        let mark = if elo.is_bounded() { "" } else { "~" };
        Self::known(elo.value(), |value| Self::number(format!("{mark}{}", signed(value, digits_of(elo)))))
    }

    /// The error of an estimate: half its 95 % interval.
    pub fn error(elo: Estimate) -> Self {
        Self::known(elo.error(), |error| Self::number(rounded(error, digits_of(elo))))
    }

    /// Faults: a dash where there is none.
    pub fn faults(faults: u64) -> Self {
        Self::known(Some(faults).filter(|faults| *faults > 0), |n| Self::count(n).marked(Mark::Fault))
    }

    /// The cell with a meaning.
    #[must_use]
    pub fn marked(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    /// The cell with more about it.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()), ..self }
    }
}

/// The digits after the point that an error leaves; that of an anchor is 0 and leaves none.
fn digits_of(elo: Estimate) -> usize {
    elo.error().filter(|error| *error > 0.0).map_or(0, digits)
}
