//! Reports as text for a terminal: numbers right-aligned, names left-aligned.

use super::{Encounter, Failure, Language, Late, Report, TestReport, encounters};
use crate::exhibit::Cell;
use contest::standings::{ENOUGH_REPEATS, REPEATS};
use referee::{number::number, rating::rounded, sprt};
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
            for stage in &self.stages {
                let table = stage.exhibit(Language::English, |name| Cell::words(name));
                write!(f, "\n{}\n{table}", stage.format)?;
            }
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
            0..=FEW => write!(f, "\n{}", encounters::table(&self.pairs, Language::English))?,
            _ => write!(f, "\n{}", self.cross_table(Language::English, |_, name| Cell::words(name)))?,
        }
        failures(f, &self.failures)?;
        if let Some(audit) = &self.audit {
            write!(f, "\n{audit}")?;
        }
        if !self.machines.is_empty() {
            write!(f, "\nmachines\n{}", super::machines::table(&self.machines, Language::English))?;
        }
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
            write!(f, "\ncommits\n{}", commits.table(Language::English))?;
        }
        if !self.played_by.is_empty() {
            write!(f, "\nplayed by\n{}", super::builds::table(&self.played_by, Language::English))?;
        }
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
    let table = report.standings_table(Language::English, |row| Cell::words(&row.name));
    write!(f, "{table}")?;
    // Two players have one difference, which stands below in words.
    if report.duel().is_some() || report.standings.iter().all(|line| line.elo.value().is_none()) {
        return Ok(());
    }
    writeln!(f, "    Elo is relative to the mean of the field; LOS: how likely one is stronger than the next")
}

fn first_move(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let first = &report.first_move;
    let advantage = match (Cell::elo(first.elo).text(), Cell::error(first.elo).text()) {
        (_, error) if error == "-" => String::new(),
        (elo, error) => format!(" (Elo {elo} +-{error})"),
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

fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.digits$}%", 100.0 * share))
}
