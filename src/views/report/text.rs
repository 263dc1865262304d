//! Reports as text for a terminal: numbers right-aligned, names left-aligned.

use super::{Causes, Failure, Language, Late, PlayerRow, Report, TestReport, encounters};
use crate::exhibit::{
    Cell, Exhibit,
    usage::{UsageRow, usage as usage_table},
};
use contest::standings::{ENOUGH_REPEATS, REPEATS};
use referee::{rating::rounded, sprt};
use std::fmt;

/// Greatest number of encounters listed one by one; more become a cross table.
const FEW: usize = 10;

/// A report as text in the reader's language.
#[derive(Clone, Copy, Debug)]
pub struct ReportText<'a>(pub &'a Report, pub Language);

impl fmt::Display for ReportText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report, words) = *self;
        heading(f, report, words)?;
        for skipped in &report.skipped {
            writeln!(f, "{}", words.skipped_engine(skipped))?;
        }
        standings(f, report, words)?;
        for halted in &report.halted {
            let name = notation::printable(halted.name.as_bytes());
            let name = words.pick(format!("engine `{name}`"), format!("`{name}`"));
            writeln!(f, "{}", words.halted(&name, &halted.reason))?;
        }
        for warning in &report.warnings {
            writeln!(f, "{}", notation::printable(warning.as_bytes()))?;
        }
        first_move(f, report, words)?;
        match report.pairs.len() {
            _ if report.duel().is_some() => {}
            0..=FEW => write!(f, "\n{}", encounters::table(&report.pairs, words))?,
            _ => write!(f, "\n{}", report.cross_table(words, |_, name| Cell::words(name)))?,
        }
        failures(f, &report.failures, words)?;
        let parts = [
            report.audit.as_ref().map(|audit| audit.text(words)),
            (!report.machines.is_empty())
                .then(|| titled(words.machines(), &super::machines::table(&report.machines, words))),
            super::operations::text(&report.operations, words),
            report.sprt.as_ref().map(|sprt| test(report, sprt, words)),
            report.precision.as_ref().map(|precision| precision.text(words)),
            report.tuning.as_ref().map(|tuning| tuning.text(words)),
            duel(report, words),
            usage(report, words),
            report.commits.as_ref().map(|commits| titled(words.commits(), &commits.table(words))),
            (!report.played_by.is_empty())
                .then(|| titled(words.played_by(), &super::builds::table(&report.played_by, words))),
            report.head.as_ref().map(|head| format!("{} {head}\n", words.pick("head", "ヘッド"))),
        ];
        parts.iter().flatten().try_for_each(|part| write!(f, "\n{part}"))
    }
}

/// A table below its title.
fn titled(title: &str, table: &Exhibit) -> String {
    format!("{}\n{table}", title.to_lowercase())
}

/// The event, and the tables of its stages: where one ranks the players, it is the result, and Elo comes after it.
fn heading(f: &mut fmt::Formatter<'_>, report: &Report, words: Language) -> fmt::Result {
    let mut games = vec![words.of_games(report.games)];
    let distinct = report.distinct_games;
    games.extend((distinct < report.games).then(|| words.distinct(&distinct.to_string())));
    games.extend(report.opening_lines.map(|lines| words.opening_lines(lines)));
    games.extend((!report.complete && !report.open).then(|| words.not_complete().to_owned()));
    let format = words.pick(&report.format, &report.format_japanese);
    writeln!(f, "{} · {format} · {}", report.event, games.join(words.pick(", ", "、")))?;
    if report.stages.iter().any(|stage| stage.is_ranked) {
        for stage in report.stages.iter().filter(|stage| stage.is_ranked) {
            let table = stage.exhibit(words, |name| Cell::words(name));
            write!(f, "\n{}\n{table}", words.pick(&stage.format, &stage.format_japanese))?;
        }
    }
    writeln!(f)
}

/// The result of two players in words; a test before it says what its verdict claims.
fn duel(report: &Report, words: Language) -> Option<String> {
    let (met, said) = (report.duel()?, report.duel_words(words)?);
    let [name, opponent] = [&met.name, &met.opponent].map(|name| notation::printable(name.as_bytes()));
    let mut lines = vec![words.result_of_two(&name, &opponent, &met.points_words(words), &said)];
    lines.extend(
        (report.sprt.is_none() && report.precision.is_none()).then(|| pairs_words(met.pentanomial, words)),
    );
    lines.extend(met.pairs_lines(words));
    let los =
        report.sprt.as_ref().and_then(|test| test.estimate.as_ref()).map_or(met.los, |stopped| stopped.los);
    lines.push(words.los_of(&percent(Some(los), 1), &name));
    Some(lines.join("\n") + "\n")
}

/// Depth, nodes a second and lateness of two players.
fn usage(report: &Report, words: Language) -> Option<String> {
    let row = |row: &'_ PlayerRow| {
        let usage = report.usage.get(row.player.index())?;
        Some(UsageRow { name: Cell::words(&row.name), usage, faults: row.faults })
    };
    let rows: Vec<UsageRow<'_>> = report.standings.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| titled(words.time(), &usage_table(&rows, words)))
}

fn standings(f: &mut fmt::Formatter<'_>, report: &Report, words: Language) -> fmt::Result {
    let table = report.standings_table(words, |row| Cell::words(&row.name));
    write!(f, "{table}")?;
    // Two players have one difference, which stands below in words.
    if report.duel().is_some() || report.standings.iter().all(|line| line.elo.value().is_none()) {
        return Ok(());
    }
    writeln!(f, "    {}", words.elo_and_los())
}

fn first_move(f: &mut fmt::Formatter<'_>, report: &Report, words: Language) -> fmt::Result {
    let first = &report.first_move;
    let advantage = match (Cell::elo(first.elo).text(), Cell::error(first.elo).text()) {
        (_, error) if error == "-" => String::new(),
        (elo, error) => words.pick(format!(" (Elo {elo} +-{error})"), format!("（Elo {elo} +-{error}）")),
    };
    let causes = |causes: &Causes| {
        let causes = causes.iter().map(|(cause, games)| format!("{} {games}", words.cause(cause)));
        causes.collect::<Vec<_>>().join(words.pick(", ", "、"))
    };
    let score = percent(first.score, 1);
    writeln!(f, "\n{}", words.black_scores(&score, &advantage, &causes(&report.endings)))?;
    if !report.uncounted.is_empty() {
        writeln!(f, "{}", words.games_not_counted(&causes(&report.uncounted)))?;
    }
    report.late.iter().flat_map(|late| late_words(late, words)).try_for_each(|line| writeln!(f, "{line}"))
}

fn late_words(late: &Late, words: Language) -> Vec<String> {
    let Late { games, replied, latest_ms, margin_ms, starved } = *late;
    let most = (latest_ms * 10.0).ceil() / 10.0;
    let mut lines = vec![];
    lines.extend((starved > 0).then(|| words.lost_waiting(starved, games)));
    let is_most = replied > 0 && 2 * replied >= games;
    lines.extend(is_most.then(|| words.lost_by_little(replied, games, most, margin_ms)));
    lines
}

/// The games that were lost because a player failed; of many the last.
fn failures(f: &mut fmt::Formatter<'_>, failures: &[Failure], words: Language) -> fmt::Result {
    if failures.is_empty() {
        return Ok(());
    }
    let first = failures.len().saturating_sub(FEW);
    let last = words.last_of(FEW, &failures.len().to_string());
    let which =
        if first > 0 { words.pick(format!(", {last}"), format!("（{last}）")) } else { String::new() };
    writeln!(f, "\n{}", words.faults_in_log(&which))?;
    for failure in &failures[first..] {
        let [name, opponent] =
            [&failure.name, &failure.opponent].map(|name| notation::printable(name.as_bytes()));
        let reason =
            failure.reason.as_ref().map(|reason| format!(": {}", notation::printable(reason.as_bytes())));
        let color = if failure.color == "black" { words.black() } else { words.white() };
        let lost = words.failure(&name, color, &opponent, words.cause(failure.cause));
        writeln!(f, "  #{} {lost}{}", failure.game, reason.unwrap_or_default())?;
    }
    Ok(())
}

/// Pairs of distinct games by the points of the first player: the `Ptnml` of other runners.
pub(crate) fn pairs_words(pairs: [u64; 5], words: Language) -> String {
    let [ll, ld, level, wd, ww] = pairs;
    let points = format!("0: {ll}, 1/2: {ld}, 1: {level}, 3/2: {wd}, 2: {ww}");
    words.pairs_and_points(pairs.iter().sum(), &points)
}

/// The state of a sequential test, and what its verdict claims.
fn test(report: &Report, test: &TestReport, words: Language) -> String {
    let (plan, model) = (&test.plan, super::model_word(test.plan.model));
    let in_order = words.of_pairs(test.in_order.pairs);
    let verdict = match (&test.verdict, &test.at_stop) {
        (Some(verdict), Some(stop)) if verdict == sprt::BY_FAULTS => {
            words.faults_decided_after(stop.pairs, stop.llr)
        }
        (Some(verdict), Some(_)) if verdict == REPEATS => words.repeats_ended(ENOUGH_REPEATS),
        (Some(verdict), Some(stop)) => words.accepted_after(verdict, &words.of_pairs(stop.pairs), stop.llr),
        _ if test.stopped && !report.halted.is_empty() => words.halted_after(&in_order),
        _ if test.stopped => words.stopped_after(&in_order),
        _ => words.no_verdict().to_owned(),
    };
    let claim = report.duel().and_then(|met| {
        let [name, opponent] = [&met.name, &met.opponent].map(|name| notation::printable(name.as_bytes()));
        test.claim(&name, &opponent, words)
    });
    let [llr, all] = [test.llr, test.final_llr].map(|llr| rounded(llr, 2));
    let lines = [
        format!("SPRT {model} [{}, {}] alpha {} beta {}", plan.elo0, plan.elo1, plan.alpha, plan.beta),
        pairs_words(test.finished.pentanomial, words),
        words.llr_between(&llr, test.lower, test.upper, &all),
        verdict,
    ];
    let claim = claim.map(|claim| words.that_is(&claim));
    lines.into_iter().chain(claim).collect::<Vec<_>>().join("\n  ") + "\n"
}

fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.digits$}%", 100.0 * share))
}
