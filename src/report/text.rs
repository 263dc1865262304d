//! Reports as text for a terminal: numbers right-aligned, names left-aligned.

use super::{Encounter, Failure, Late, Report, StageTable, TestReport};
use referee::number::number;
use referee::rating::{digits, rounded, signed};
use referee::sprt;
use referee::standings::{ENOUGH_REPEATS, REPEATS};
use std::fmt;

/// Greatest number of encounters listed one by one; more become a cross table.
const FEW: usize = 10;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distinct = match self.distinct_games {
            distinct if distinct < self.games => format!(", {distinct} distinct"),
            _ => String::new(),
        };
        let state = if self.complete || self.open { "" } else { ", not complete" };
        writeln!(f, "{} · {} · {}{distinct}{state}", self.event, self.format, number(self.games, "game"))?;
        // Where a table ranks the players, it is the result, and Elo comes after it.
        if self.stages.iter().any(|stage| stage.is_ranked) {
            self.stages.iter().try_for_each(|stage| stage_table(f, stage))?;
        }
        writeln!(f)?;
        for skipped in &self.skipped {
            writeln!(f, "skipped: {skipped}")?;
        }
        standings(f, self)?;
        for halted in &self.halted {
            let name = notation::printable(halted.name.as_bytes());
            writeln!(f, "halted: engine `{name}`: {}", halted.reason)?;
        }
        for warning in &self.warnings {
            writeln!(f, "{}", notation::printable(warning.as_bytes()))?;
        }
        first_move(f, self)?;
        match self.pairs.len() {
            _ if self.duel().is_some() => {}
            0..=FEW => pairs(f, &self.pairs)?,
            _ => cross_table(f, self)?,
        }
        failures(f, &self.failures)?;
        if let Some(audit) = &self.audit {
            write!(f, "\n{audit}")?;
        }
        super::machines::text(f, &self.machines)?;
        super::operations::text(f, &self.operations)?;
        if let Some(test) = &self.sprt {
            write!(f, "\n{test}")?;
        }
        if let Some(precision) = &self.precision {
            write!(f, "\n{precision}")?;
        }
        if let Some(tuning) = &self.tuning {
            write!(f, "\n{tuning}")?;
        }
        duel(f, self)?;
        if let Some(commits) = &self.commits {
            write!(f, "\n{commits}")?;
        }
        let width = name_width(self.played_by.iter().map(|player| player.name.as_str()));
        super::builds::text(f, &self.played_by, &|name| padded(name, width))?;
        match &self.head {
            Some(head) => writeln!(f, "\nhead {head}"),
            None => Ok(()),
        }
    }
}

/// The result of two players in words.
fn duel(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let (Some(met), Some(words)) = (report.duel(), report.duel_words()) else { return Ok(()) };
    let Encounter { name, opponent, wins, losses, draws, .. } = met;
    let [name, opponent] = [name, opponent].map(|name| notation::printable(name.as_bytes()));
    let half = |wins: &u64| *wins as f64 + *draws as f64 / 2.0;
    if let Some(claim) = report.sprt.as_ref().and_then(|test| test.claim(&name, &opponent)) {
        writeln!(f, "  that is: {claim}")?;
    }
    writeln!(f, "\n{name} against {opponent} {} : {}: {words}", half(wins), half(losses))?;
    if report.sprt.is_none() && report.precision.is_none() {
        writeln!(f, "{}", pairs_words(met.pentanomial))?;
    }
    let los =
        report.sprt.as_ref().and_then(|test| test.estimate.as_ref()).map_or(met.los, |stopped| stopped.los);
    writeln!(f, "LOS {}: how likely {name} is the stronger one", percent(Some(los), 1))
}

fn standings(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let lines = &report.standings;
    let width = name_width(lines.iter().map(|line| line.name.as_str()));
    // Two players have one difference, which is told below: ratings of their own would be two more numbers for it.
    let rated = report.duel().is_none();
    let heading = if rated { "     Elo    +-    LOS" } else { "" };
    writeln!(f, " #  {:width$}  games  wins  loss  draw   score{heading}  faults", "engine")?;
    for line in lines {
        let ratings = || {
            let digits = line.elo_error.map_or(0, digits);
            let error = line.elo_error.map_or_else(|| "-".to_owned(), |error| format!("{error:.digits$}"));
            format!("  {:>6} {error:>5}  {:>5}", elo(line.elo, line.elo_kind, digits), percent(line.los, 0))
        };
        let replaced = line
            .replaced_by
            .as_ref()
            .map_or_else(String::new, |by| format!("  (replaced by {})", notation::printable(by.as_bytes())));
        writeln!(
            f,
            "{:>2}  {}  {:>5} {:>5} {:>5} {:>5}  {:>6}{}  {:>6}{replaced}",
            line.rank,
            padded(&line.name, width),
            line.games,
            line.wins,
            line.losses,
            line.draws,
            percent(line.score, 1),
            if rated { ratings() } else { String::new() },
            if line.faults == 0 { "-".to_owned() } else { line.faults.to_string() },
        )?;
    }
    if !rated || lines.iter().all(|line| line.elo.is_none()) {
        return Ok(());
    }
    writeln!(
        f,
        "    Elo is relative to the mean of the field; LOS: how likely one is stronger than the next"
    )?;
    if lines.iter().any(|line| line.elo_kind == "tentative") {
        writeln!(f, "    ~ the games alone do not bound this Elo: all won or lost, or too few opponents")?;
    }
    Ok(())
}

fn first_move(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let first = &report.first_move;
    let advantage = match (first.elo, first.elo_error) {
        (Some(value), Some(error)) => {
            let digits = digits(error);
            format!(" (Elo {} +-{error:.digits$})", elo(Some(value), first.elo_kind, digits))
        }
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
        true => {}
        false => writeln!(f, "not counted: {}", causes(&report.uncounted))?,
    }
    match &report.late {
        Some(late) => writeln!(f, "{late}"),
        None => Ok(()),
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { games, replied, latest_ms, margin_ms, starved } = self;
        let most = (latest_ms * 10.0).ceil() / 10.0;
        if *starved > 0 {
            write!(
                f,
                "losses on time: {starved} of {games} by an engine that had waited for a processor as long as it was late; \
                 play fewer games at once (`concurrency`), or leave other work to another machine"
            )?;
        }
        if *replied == 0 || 2 * replied < *games {
            return Ok(());
        }
        if *starved > 0 {
            writeln!(f)?;
        }
        write!(
            f,
            "losses on time: {replied} of {games} late by {most} ms at most; `margin = \"{margin_ms}ms\"` (`match \
             --margin {margin_ms}ms`) forgives that in a new event, `reserve` lets an engine stop earlier"
        )
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
    let tie_breaks = stage.table.first().map_or(&[][..], |line| &line.row.tie_breaks);
    write!(f, " #  {:width$}  games  score", "engine")?;
    tie_breaks.iter().try_for_each(|(tie_break, _)| write!(f, "  {}", tie_break.name()))?;
    writeln!(f, "{}", if knockout { "  round" } else { "" })?;
    for line in &stage.table {
        let row = &line.row;
        let name = padded(&line.name, width);
        let (games, score) = (row.games.games(), row.points.to_string());
        write!(f, "{:>2}  {name}  {games:>5}  {score:>5}", row.rank)?;
        for (tie_break, value) in &row.tie_breaks {
            write!(f, "  {:>1$}", tie_break.text(*value), tie_break.name().len())?;
        }
        write!(f, "{}", row.round.map_or_else(String::new, |round| format!("  {round:>5}")))?;
        writeln!(f, "{}", row.penalty().map_or_else(String::new, |points| format!("  (penalty {points})")))?;
    }
    Ok(())
}

fn pairs(f: &mut fmt::Formatter<'_>, pairs: &[Encounter]) -> fmt::Result {
    let width = name_width(pairs.iter().flat_map(|pair| [pair.name.as_str(), pair.opponent.as_str()]));
    writeln!(
        f,
        "\n{:width$}     {:width$}  games  wins  loss  draw   score     Elo    95 % interval    LOS",
        "pair", ""
    )?;
    for pair in pairs {
        writeln!(
            f,
            "{} vs  {}  {:>5} {:>5} {:>5} {:>5}  {:>6}  {:>6} {:>16}  {:>5}",
            padded(&pair.name, width),
            padded(&pair.opponent, width),
            pair.games,
            pair.wins,
            pair.losses,
            pair.draws,
            percent(pair.score, 1),
            pair.elo.map_or_else(|| "-".to_owned(), |elo| signed(elo, pair_digits(pair))),
            interval(pair),
            percent(Some(pair.los), 0),
        )?;
    }
    if !pairs.is_empty() {
        writeln!(f, "    Elo is that of the first of the pair against the second; so is LOS")?;
    }
    Ok(())
}

/// The digits after the point that the interval of an encounter leaves to its Elo.
fn pair_digits(pair: &Encounter) -> usize {
    pair.elo_low.zip(pair.elo_high).map_or(0, |(low, high)| digits((high - low) / 2.0))
}

fn interval(pair: &Encounter) -> String {
    match (pair.elo_low, pair.elo_high) {
        (Some(low), Some(high)) => {
            let digits = pair_digits(pair);
            format!("{} .. {}", signed(low, digits), signed(high, digits))
        }
        (Some(low), None) => format!("above {}", signed(low, 0)),
        (None, Some(high)) => format!("below {}", signed(high, 0)),
        (None, None) => "-".to_owned(),
    }
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
    let met = |pair: &Encounter| {
        let (points, _) = pair.points_against(row, column)?;
        Some(format!("{}/{}", points.shortest(), pair.games))
    };
    let none = if row == column { "-" } else { "." };
    report.pairs.iter().find_map(met).unwrap_or_else(|| none.to_owned())
}

/// Pairs of distinct games by the points of the first player: the `Ptnml` of other runners.
pub(crate) fn pairs_words(pairs: [u64; 5]) -> String {
    let [ll, ld, level, wd, ww] = pairs;
    format!("pairs {} (0: {ll}, 1/2: {ld}, 1: {level}, 3/2: {wd}, 2: {ww})", pairs.iter().sum::<u64>())
}

impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        let model = super::model_word(plan.model);
        writeln!(f, "SPRT {model} [{}, {}] alpha {} beta {}", plan.elo0, plan.elo1, plan.alpha, plan.beta)?;
        writeln!(f, "  {}", pairs_words(self.finished.pentanomial))?;
        writeln!(
            f,
            "  LLR {} in [{:.2}, {:.2}]; of all finished pairs {}",
            rounded(self.llr, 2),
            self.lower,
            self.upper,
            rounded(self.final_llr, 2)
        )?;
        match (&self.verdict, &self.at_stop) {
            (Some(verdict), Some(stop)) if verdict == sprt::BY_FAULTS => writeln!(
                f,
                "  no verdict on strength: after {} pairs faults decided at LLR {:.2}, and the pairs without faults do \
                 not bear it out",
                stop.pairs, stop.llr
            ),
            (Some(verdict), Some(stop)) if verdict == REPEATS => writeln!(
                f,
                "  no verdict: the last {ENOUGH_REPEATS} pairs repeated earlier games move for move, and repeated games are \
                 no evidence; use more opening lines, or vary the nodes (`nodes 4000 jitter 3%`)",
            ),
            (Some(verdict), Some(stop)) => {
                writeln!(
                    f,
                    "  {verdict} accepted after {} at LLR {:.2}",
                    number(stop.pairs, "pair"),
                    stop.llr
                )
            }
            _ if self.stopped => writeln!(
                f,
                "  stopped by hand after {}, without a verdict: the error rates are those of the test played to its end",
                number(self.in_order.pairs, "pair")
            ),
            _ => writeln!(f, "  no verdict"),
        }
    }
}

fn elo(value: Option<f64>, kind: &str, digits: usize) -> String {
    let mark = if kind == "tentative" { "~" } else { "" };
    value.map_or_else(|| "n/a".to_owned(), |elo| format!("{mark}{}", signed(elo, digits)))
}

fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.digits$}%", 100.0 * share))
}

/// Columns of a name in a terminal: kanji take two.
fn columns(name: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(name)
}

/// Columns of the longest name as it is shown.
pub(super) fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| columns(&notation::printable(name.as_bytes()))).max().unwrap_or(0)
}

pub(crate) fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    width(names).max("engine".len())
}

pub(crate) fn padded(name: &str, width: usize) -> String {
    let name = notation::printable(name.as_bytes());
    let gap = width.saturating_sub(columns(&name));
    name + &" ".repeat(gap)
}
