//! The tables of the page: players with their colour and their own page.

use super::{Manner, plain, prose};
use crate::exhibit::{
    Cell,
    usage::{UsageRow, usage as usage_table},
};
use crate::{EventHistory, Language, PlayerRow, StageRow, StageTable};
use contest::standings::TieBreak;
use maud::{Markup, html};

/// The standings.
pub fn standings(history: &EventHistory, manner: Manner) -> Markup {
    let (report, words) = (&history.report, manner.language);
    let place = |row: &PlayerRow| report.standings.iter().position(|other| other.player == row.player);
    let table = report
        .standings_table(words, |row| manner.place(history, place(row).unwrap_or(usize::MAX), &row.name));
    html! {
        (table.page(words.standings()))
        @for warning in &report.warnings { p.note { (prose(&words.fault(&plain(warning)))) } }
        @for halted in &report.halted {
            p.note { (prose(&words.halted(&plain(&halted.name), &words.fault(&halted.reason)))) }
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
        @if history.report.stages.len() > 1 { h3 { (format) } }
        (stage.exhibit(words, |name| manner.cell(history, name)).page(&format))
        (ties(history, stage, words))
    } }
}

/// What each tie-break counts, and of players who are level in points whose points those were.
fn ties(history: &EventHistory, stage: &StageTable, words: Language) -> Markup {
    let used = stage.table.first().map_or(&[][..], |line| &line.row.tie_breaks);
    let is_level = |line: &&StageRow| {
        stage.table.iter().any(|other| other.name != line.name && other.row.points == line.row.points)
    };
    let counted = |line| Some((line, opponents(history, stage, line)?));
    let level: Vec<(&StageRow, String)> = stage.table.iter().filter(is_level).filter_map(counted).collect();
    html! { @if !used.is_empty() { details.tab {
        summary { (words.how_ties_are_broken()) }
        dl.facts { @for (tie_break, _) in used { dt { (words.tie_break(*tie_break)) } dd { (words.about_tie_break(*tie_break)) } } }
        @if !level.is_empty() {
            p { (words.tie_break(TieBreak::Buchholz)) }
            ul { @for (line, sum) in &level { li { strong { (plain(&line.name)) } ": " (plain(sum)) } } }
        }
    } } }
}

/// The opponents of a player with their points, where these make up its Buchholz score: in an event of one stage without byes.
fn opponents(history: &EventHistory, stage: &StageTable, line: &StageRow) -> Option<String> {
    let report = Some(&history.report).filter(|report| report.stages.len() == 1)?;
    let (buchholz, value) = line.row.tie_breaks.iter().find(|(rule, _)| *rule == TieBreak::Buchholz)?;
    let points = |line: &StageRow| line.row.points.to_string();
    let met = report
        .pairs
        .iter()
        .filter(|pair| pair.games > 0)
        .filter_map(|pair| Some(pair.seen_by(&line.name)?.0));
    let met: Vec<&StageRow> =
        met.filter_map(|name| stage.table.iter().find(|other| other.name == name)).collect();
    let sum: f64 = met.iter().filter_map(|other| points(other).parse::<f64>().ok()).sum();
    let is_whole = buchholz.text(*value).parse::<f64>().is_ok_and(|value| (value - sum).abs() < 0.01);
    let parts: Vec<String> = met.iter().map(|other| format!("{} {}", other.name, points(other))).collect();
    is_whole.then(|| format!("{} = {}", parts.join(" + "), buchholz.text(*value)))
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
