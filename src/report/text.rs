//! Reports as text for a terminal: numbers right-aligned, names left-aligned.

use super::{Encounter, Failure, PlayerRow, Report, StageTable, TestReport};
use referee::number::number;
use referee::rating::{rounded, signed};
use std::fmt;

/// Greatest number of encounters listed one by one; more become a cross table.
const FEW: usize = 10;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.complete { "" } else { ", not complete" };
        writeln!(f, "{} · {} · {}{state}\n", self.event, self.format, number(self.games, "game"))?;
        for skipped in &self.skipped {
            writeln!(f, "skipped: {skipped}")?;
        }
        standings(f, &self.standings)?;
        first_move(f, self)?;
        if self.stages.iter().any(StageTable::has_tie_breaks) {
            self.stages.iter().try_for_each(|stage| stage_table(f, stage))?;
        }
        match self.pairs.len() {
            0..=FEW => pairs(f, &self.pairs)?,
            _ => cross_table(f, self)?,
        }
        failures(f, &self.failures)?;
        if let Some(test) = &self.sprt {
            write!(f, "\n{test}")?;
        }
        let width = name_width(self.played_by.iter().map(|player| player.name.as_str()));
        super::builds::text(f, &self.played_by, &|name| padded(name, width))
    }
}

fn standings(f: &mut fmt::Formatter<'_>, lines: &[PlayerRow]) -> fmt::Result {
    let width = name_width(lines.iter().map(|line| line.name.as_str()));
    writeln!(f, " #  {:width$}  games  wins  loss  draw   score     Elo    +-    LOS  faults", "engine")?;
    for line in lines {
        writeln!(
            f,
            "{:>2}  {}  {:>5} {:>5} {:>5} {:>5}  {:>6}  {:>6} {:>5}  {:>5}  {:>6}",
            line.rank,
            padded(&line.name, width),
            line.games,
            line.wins,
            line.losses,
            line.draws,
            percent(line.score, 1),
            elo(line.elo, line.elo_kind),
            line.elo_error.map_or_else(|| "-".to_owned(), |error| format!("{error:.0}")),
            percent(line.los, 0),
            if line.faults == 0 { "-".to_owned() } else { line.faults.to_string() },
        )?;
    }
    if lines.iter().any(|line| line.elo_kind == "tentative") {
        writeln!(f, "    ~ the games alone do not bound this Elo: all won or lost, or too few opponents")?;
    }
    Ok(())
}

fn first_move(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let first = &report.first_move;
    let advantage = match (first.elo, first.elo_error) {
        (Some(elo), Some(error)) => format!(" (Elo {} +-{error:.0})", signed(elo, 0)),
        _ => String::new(),
    };
    let causes = |causes: &super::Causes| {
        causes.iter().map(|(cause, games)| format!("{cause} {games}")).collect::<Vec<_>>().join(", ")
    };
    writeln!(
        f,
        "\nblack scores {}{advantage}; endings: {}",
        percent(first.score, 1),
        causes(&report.endings)
    )?;
    match report.uncounted.is_empty() {
        true => Ok(()),
        false => writeln!(f, "not counted: {}", causes(&report.uncounted)),
    }
}

impl StageTable {
    pub(super) fn has_tie_breaks(&self) -> bool {
        self.table.iter().any(|line| line.row.buchholz.is_some() || line.row.round.is_some())
    }
}

/// The games that were lost because a player failed; of many the last.
fn failures(f: &mut fmt::Formatter<'_>, failures: &[Failure]) -> fmt::Result {
    if failures.is_empty() {
        return Ok(());
    }
    let first = failures.len().saturating_sub(FEW);
    let many = if first > 0 { format!(", the last {FEW} of {}", failures.len()) } else { String::new() };
    writeln!(f, "\nlost by a fault{many}; `renmei log GAME` shows what was said")?;
    for failure in &failures[first..] {
        let [name, opponent] =
            [&failure.name, &failure.opponent].map(|name| notation::printable(name.as_bytes()));
        let reason =
            failure.reason.as_ref().map(|reason| format!(": {}", notation::printable(reason.as_bytes())));
        let (game, color, cause) = (failure.game, failure.color, failure.cause);
        writeln!(f, "  #{game} {name} ({color}) against {opponent}, {cause}{}", reason.unwrap_or_default())?;
    }
    Ok(())
}

fn stage_table(f: &mut fmt::Formatter<'_>, stage: &StageTable) -> fmt::Result {
    let width = name_width(stage.table.iter().map(|line| line.name.as_str()));
    let knockout = stage.table.iter().any(|line| line.row.round.is_some());
    writeln!(f, "\n{}", stage.format)?;
    match knockout {
        true => writeln!(f, " #  {:width$}  games  score  round", "engine")?,
        false => writeln!(f, " #  {:width$}  games  score  Buchholz  Sonneborn-Berger", "engine")?,
    }
    for line in &stage.table {
        let row = &line.row;
        let name = padded(&line.name, width);
        let (games, score) = (row.games.games(), row.half_points as f64 / 2.0);
        write!(f, "{:>2}  {name}  {games:>5}  {score:>5.1}", row.rank)?;
        match row.round {
            Some(round) => writeln!(f, "  {round:>5}")?,
            None => {
                let half = |half_points: Option<u64>, parts: f64| half_points.unwrap_or(0) as f64 / parts;
                writeln!(f, "  {:>8.1}  {:>16.2}", half(row.buchholz, 2.0), half(row.sonneborn_berger, 4.0))?;
            }
        }
    }
    Ok(())
}

fn pairs(f: &mut fmt::Formatter<'_>, pairs: &[Encounter]) -> fmt::Result {
    let width = name_width(pairs.iter().flat_map(|pair| [pair.name.as_str(), pair.opponent.as_str()]));
    writeln!(
        f,
        "\n{:width$}     {:width$}  games  wins  loss  draw   score     Elo    +-    LOS",
        "pair", ""
    )?;
    for pair in pairs {
        let bound = pair
            .elo_bound
            .map(|elo| format!("{}{}", if pair.elo_kind == "at_least" { ">" } else { "<" }, signed(elo, 0)));
        writeln!(
            f,
            "{} vs  {}  {:>5} {:>5} {:>5} {:>5}  {:>6}  {:>6} {:>5}  {:>5}",
            padded(&pair.name, width),
            padded(&pair.opponent, width),
            pair.games,
            pair.wins,
            pair.losses,
            pair.draws,
            percent(pair.score, 1),
            bound.unwrap_or_else(|| elo(pair.elo, pair.elo_kind)),
            pair.elo_error.map_or_else(|| "-".to_owned(), |error| format!("{error:.0}")),
            percent(Some(pair.los), 0),
        )?;
    }
    Ok(())
}

/// Points of the row's player against the column's, over the number of games; of the first [`super::MOST_DRAWN`]
/// players.
fn cross_table(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let names: Vec<&str> =
        report.standings.iter().take(super::MOST_DRAWN).map(|line| line.name.as_str()).collect();
    let width = name_width(names.iter().copied());
    write!(f, "\n #  {:width$}", "points")?;
    (1..=names.len()).try_for_each(|rank| write!(f, "  {rank:>7}"))?;
    for (at, row) in names.iter().enumerate() {
        write!(f, "\n{:>2}  {}", at + 1, padded(row, width))?;
        for column in &names {
            write!(f, "  {:>7}", cell(report, row, column))?;
        }
    }
    writeln!(f)?;
    match report.standings.len() {
        all if all > names.len() => writeln!(f, "    (the first {} of {all} players)", names.len()),
        _ => Ok(()),
    }
}

fn cell(report: &Report, row: &str, column: &str) -> String {
    let met = |pair: &&Encounter| {
        [(&*pair.name, &*pair.opponent), (&*pair.opponent, &*pair.name)].contains(&(row, column))
    };
    let Some(pair) = report.pairs.iter().find(met) else {
        return if row == column { "-".to_owned() } else { ".".to_owned() };
    };
    let wins = if pair.name == row { pair.wins } else { pair.losses };
    format!("{}/{}", wins as f64 + pair.draws as f64 / 2.0, pair.games)
}

impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        let model = match plan.model {
            plan::SprtModel::Normalized => "normalized",
            plan::SprtModel::Logistic => "logistic",
        };
        writeln!(f, "SPRT {model} [{}, {}] alpha {} beta {}", plan.elo0, plan.elo1, plan.alpha, plan.beta)?;
        let [ll, ld, level, wd, ww] = self.finished.pentanomial;
        writeln!(f, "  pairs {} (0: {ll}, 1/2: {ld}, 1: {level}, 3/2: {wd}, 2: {ww})", self.finished.pairs)?;
        writeln!(
            f,
            "  LLR {} in [{:.2}, {:.2}]; of all finished pairs {}",
            rounded(self.llr, 2),
            self.lower,
            self.upper,
            rounded(self.final_llr, 2)
        )?;
        match (&self.verdict, &self.at_stop) {
            (Some(verdict), Some(stop)) => {
                let means = if verdict == "H1" {
                    "the first engine is stronger"
                } else {
                    "it is not stronger by that much"
                };
                writeln!(
                    f,
                    "  {verdict} accepted after {} pairs at LLR {:.2}: {means}",
                    stop.pairs, stop.llr
                )?;
            }
            _ => writeln!(f, "  no verdict")?,
        }
        match &self.estimate {
            Some(e) => {
                let [elo, low, high] = [e.elo, e.low, e.high].map(|elo| signed(elo, 1));
                writeln!(f, "  Elo corrected for the stop: {elo} [{low}, {high}]")
            }
            None => Ok(()),
        }
    }
}

fn elo(value: Option<f64>, kind: &str) -> String {
    let mark = if kind == "tentative" { "~" } else { "" };
    value.map_or_else(|| "n/a".to_owned(), |elo| format!("{mark}{}", signed(elo, 0)))
}

fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.digits$}%", 100.0 * share))
}

/// Columns of a name in a terminal: kanji take two.
fn columns(name: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(name)
}

fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(columns).max().unwrap_or(0).max("engine".len())
}

fn padded(name: &str, width: usize) -> String {
    let name = notation::printable(name.as_bytes());
    let gap = width.saturating_sub(columns(&name));
    name + &" ".repeat(gap)
}
