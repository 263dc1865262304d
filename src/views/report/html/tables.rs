//! The tables of the page: players with their colour and their own page.

use super::{Manner, plain};
use crate::exhibit::{
    Cell,
    usage::{UsageRow, usage as usage_table},
};
use crate::{EventHistory, Language, PlayerRow};
use maud::{Markup, html};

/// The standings.
pub fn standings(history: &EventHistory, manner: Manner) -> Markup {
    let (report, words) = (&history.report, manner.language);
    let place = |row: &PlayerRow| report.standings.iter().position(|other| other.player == row.player);
    let table = report
        .standings_table(words, |row| manner.place(history, place(row).unwrap_or(usize::MAX), &row.name));
    html! {
        (table.page(words.standings()))
        @for warning in &report.warnings { p.note { (plain(warning)) } }
        @for halted in &report.halted {
            p.note { (words.halted(&plain(&halted.name), &halted.reason)) }
        }
    }
}

/// The cross table.
pub fn cross(history: &EventHistory, manner: Manner) -> Markup {
    let name = |place, name: &str| manner.place(history, place, name);
    history.report.cross_table(manner.language, name).page(manner.language.cross_table())
}

/// Tables of stages that say more than the results of their players do.
pub fn stages(history: &EventHistory, manner: Manner) -> Markup {
    let words = manner.language;
    html! { @for stage in history.report.stages.iter().filter(|stage| stage.is_ranked) {
        @let format = plain(words.pick(&stage.format, &stage.format_japanese));
        h3 { (format) }
        (stage.exhibit(words, |name| manner.cell(history, name)).page(&format))
    } }
}

/// How the players used their time.
pub fn usage(history: &EventHistory, words: Language) -> Markup {
    let manner = Manner { language: words, ..Manner::default() };
    let row = |(place, row): (usize, &PlayerRow)| UsageRow {
        name: manner.place(history, place, &row.name),
        usage: &history.usage[row.player.index()],
        faults: row.faults,
    };
    let rows: Vec<UsageRow<'_>> = history.report.standings.iter().enumerate().map(row).collect();
    usage_table(&rows, words).page(words.time())
}

impl Manner {
    /// The cell of a player, with its page if it has one.
    fn cell(self, history: &EventHistory, name: &str) -> Cell {
        let number = if self.links { history.number(name) } else { None };
        Cell { link: number.map(|number| format!("/players/{number}")), ..Cell::words(name) }
    }

    /// The cell of a player with its place in the standings.
    fn place(self, history: &EventHistory, place: usize, name: &str) -> Cell {
        Cell { place: Some(place), ..self.cell(history, name) }
    }
}
