//! The sections of an event on a page, and pages that need neither network nor server. All foreign text (mostly names) goes
//! through the template, which escapes it; the content security policy allows no script but the page's own.

mod tables;

use super::{EventHistory, Failure, plot};
pub(crate) use crate::exhibit::{minus, thousands};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use contest::standings::REPEATS;
use maud::{Markup, PreEscaped, html};
use notation::date;
use plot::{Plot, Size, plain};
use referee::{
    number::noun_for,
    rating::{rounded, signed},
};
use sha2::{Digest, Sha256};
pub use words::Language;

/// The style sheet of pages.
pub const STYLE: &str = include_str!("html/page.css");
/// How a page that needs no other file begins, so that it is known again.
pub const BEGINNING: &str = "<!DOCTYPE html><!-- Renmei -->";

/// How sections are written.
#[derive(Clone, Copy, Debug, Default)]
struct Manner {
    language: Language,
    /// True if players and games have pages of their own.
    links: bool,
}

/// A page that needs no other file and no network. It runs no script but this one.
pub fn shell(words: Language, title: &str, body: &Markup, script: &str) -> String {
    let style = format!("{}{STYLE}", plot::rules());
    let page = html! {
        (PreEscaped(BEGINNING))
        html lang=(words.code()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&style, script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                (body)
                @if !script.is_empty() { script { (PreEscaped(script)) } }
            }
        }
    };
    page.into_string()
}

/// Content security policy: the page's own script, no loading, no sending.
fn policy(style: &str, script: &str) -> String {
    let [style, script] = [style, script].map(|text| STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// The head of a page of an event, below its name: its format, how far it is and how it ended.
pub fn heading(history: &EventHistory, language: Language) -> Markup {
    let report = &history.report;
    let noun = language.pick(noun_for(&report.games, "game"), "局".to_owned());
    let mut facts = vec![format!("{} {noun}", thousands(report.games))];
    let distinct = report.distinct_games;
    facts.extend((distinct < report.games).then(|| language.distinct(&thousands(distinct))));
    facts.extend(report.opening_lines.map(|lines| language.opening_lines(lines)));
    facts.extend((history.running > 0).then(|| language.games_running(history.running)));
    let state = if report.complete { language.complete() } else { language.not_complete() };
    facts.extend((!report.open).then(|| state.to_owned()));
    facts.extend(history.span.map(|(first, last)| span(first, last)));
    html! {
        header {
            h1 { (plain(language.pick(&report.format, &report.format_japanese))) }
            p.facts { (facts.join(" · ")) }
            @if let Some(words) = report.outcome_words(language) { p.outcome { (words) } }
        }
    }
}

/// A period; the date appears once where both ends share it.
fn span(first: i64, last: i64) -> String {
    let [first, last] = [first, last].map(date::text);
    let (day, from) = first.split_once(' ').unwrap_or((&first, ""));
    match last.split_once(' ') {
        Some((same, to)) if same == day => format!("{day}, {from} – {to} UTC"),
        _ => format!("{first} – {last} UTC"),
    }
}

/// A section of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    content: Markup,
}

/// The sections of an event. Without `games`, players and games have pages of their own; otherwise these are the last section.
pub fn sections(history: &EventHistory, language: Language, games: Option<&Markup>) -> Markup {
    let manner = Manner { language, links: games.is_none() };
    let (report, words) = (&history.report, manner.language);
    let played = report.games > 0;
    let mut sections = vec![];
    let mut add = |id, title, wanted: bool, content: &dyn Fn() -> Markup| {
        if wanted {
            sections.push(Section { id, title, content: content() });
        }
    };
    // Where a table ranks the players, it is the result, and Elo comes after it.
    let ranked = report.stages.iter().any(|stage| stage.is_ranked);
    let title = if report.stages.len() == 1 { words.points_and_tie_breaks() } else { words.stages() };
    add("stages", title, ranked, &|| tables::stages(history, manner));
    add("standings", words.standings(), true, &|| tables::standings(history, manner));
    add("test", words.sequential_test(), report.sprt.is_some(), &|| test(history, manner));
    if let Some(precision) = &report.precision {
        add("precision", words.precision(), true, &|| html! { p.verdict { (precision.state_words(words)) } });
    }
    // A test has one Elo, which knows of its stop; ratings of its two players would be others.
    let rated = report.sprt.is_none();
    add("elo", words.elo(), played && rated, &|| {
        html! { (duel(history, words)) (both(|size| plot::elo(report, size))) }
    });
    add("ratings", words.ratings_over_games(), report.games > 1 && rated, &|| {
        both(|size| plot::ratings(history, size, words))
    });
    add("cross", words.cross_table(), report.pairs.len() > 1, &|| tables::cross(history, manner));
    let many = !report.machines.is_empty();
    add("machines", words.machines(), many, &|| {
        super::machines::table(&report.machines, words).page(words.machines())
    });
    let operated = !report.operations.is_empty();
    add("operations", words.operator(), operated, &|| super::operations::page(&report.operations, words));
    add("endings", words.endings(), played, &|| endings(history, manner));
    let timed = history.usage.iter().any(|usage| usage.charged > 0);
    add("time", words.time(), timed, &|| time(history, words));
    let commits = report.commits.iter();
    add("commits", words.commits(), report.commits.is_some(), &|| {
        html! { @for commits in commits.clone() { (commits.table(words).page(words.commits())) } }
    });
    let known = !report.played_by.is_empty();
    add("played-by", words.played_by(), known, &|| {
        crate::builds::table(&report.played_by, words).page(words.played_by())
    });
    let games = games.map(|games| games.0.as_str()).unwrap_or_default();
    add("games", words.games(), !games.is_empty(), &|| PreEscaped(games.to_owned()));
    html! {
        nav { @for section in &sections { a href=(format!("#{}", section.id)) { (section.title) } } }
        @for Section { id, title, content } in &sections {
            section id=(id) { h2 { (title) } (content) }
        }
    }
}

/// Most players of the cross table on the first page of an event, most lines there on who goes on, and most on faults.
const DIGEST: (usize, usize, usize) = (10, 8, 3);

/// What the first page of an event shows below its table: who goes on and why, who beat whom, how fast and deep both of a test
/// search, and the latest faults in words.
#[must_use]
pub fn digest(history: &EventHistory, words: Language) -> Markup {
    let (manner, report) = (Manner { language: words, links: true }, &history.report);
    let (most, lines, faults) = DIGEST;
    let knockout = report.stages.last().filter(|stage| !stage.advances.is_empty());
    let is_met = report.pairs.len() > 1 && report.standings.len() <= most && knockout.is_none();
    let is_timed = report.sprt.is_some() && history.usage.iter().any(|usage| usage.moves > 0);
    html! {
        @if let Some(stage) = knockout {
            h2 { (words.who_goes_on()) }
            ul.advances { @for decided in stage.advances.iter().rev().take(lines) { li { (plain(&stage.goes_on(decided, words))) } } }
        }
        @if is_met { h2 { (words.who_beat_whom()) } (tables::cross(history, manner)) }
        @if is_timed { h2 { (words.speed_and_depth()) } (tables::usage(history, words)) }
        (failures(&report.failures[report.failures.len().saturating_sub(faults)..], manner))
    }
}

/// A sentence in which what stands between grave accents is shown as code.
#[must_use]
pub fn prose(words: &str) -> Markup {
    let parts: Vec<&str> = words.split('`').collect();
    // Without its second accent the last one is a letter.
    let is_closed = parts.len() % 2 == 1;
    html! { @if is_closed { @for (at, part) in parts.iter().enumerate() { @if at % 2 == 1 { code { (part) } } @else { (part) } } } @else { (words) } }
}

/// A picture for wide windows and another for narrow ones; the style sheet shows one of them.
pub(crate) fn both(draw: impl Fn(Size) -> Plot) -> Markup {
    html! { figure { (draw(Size::Wide).inline()) (draw(Size::Narrow).inline()) } }
}

/// The names of the two players of a test.
fn tested(history: &EventHistory) -> Vec<String> {
    history.players.iter().take(2).map(|name| plain(name)).collect()
}

/// What a sequential test says by now, and the class of its paragraph; `None` for an event without one.
#[must_use]
pub fn verdict(history: &EventHistory, words: Language) -> Option<(&'static str, String)> {
    let test = history.report.sprt.as_ref()?;
    let names = tested(history);
    let [first, second] = [0, 1].map(|at| names.get(at).map_or("?", String::as_str));
    let claim = test.claim(first, second, words);
    Some(match (test.verdict.as_deref(), claim) {
        (Some("H1"), Some(claim)) => ("good", words.accepted("H1", &claim)),
        (Some(referee::sprt::BY_FAULTS), _) => ("bad", words.faults_decided().to_owned()),
        (Some(REPEATS), _) => ("bad", words.only_repeats().to_owned()),
        (Some(_), Some(claim)) => ("bad", words.accepted("H0", &claim)),
        _ if test.stopped => ("ink", words.stopped_without_verdict().to_owned()),
        _ => ("ink", words.no_verdict_yet().to_owned()),
    })
}

/// Most games that a test is said to need still, as a multiple of those that were played.
const FORESEEN: f64 = 20.0;

/// Who of a sequential test without a verdict is probably stronger, and how many more games it takes if they go on like
/// this; `None` where nothing can be told yet.
#[must_use]
pub fn prospect(history: &EventHistory, words: Language) -> Option<String> {
    let test = history.report.sprt.as_ref().filter(|test| test.verdict.is_none() && !test.stopped)?;
    let (names, stronger) = (tested(history), test.in_order.stronger()?);
    let (name, chance) =
        if stronger < 0.5 { (names.get(1)?, 1.0 - stronger) } else { (names.first()?, stronger) };
    let bound = if test.llr < 0.0 { test.lower } else { test.upper };
    let more = (bound - test.llr) / test.llr;
    let games = (more <= FORESEEN).then(|| (2.0 * more * test.in_order.pairs as f64).ceil() as u64);
    let who = words.probably_stronger(name, (chance * 100.0).floor() as u32);
    Some(games.map_or(who.clone(), |games| format!("{who} · {}", words.about_more_games(&thousands(games)))))
}

fn test(history: &EventHistory, manner: Manner) -> Markup {
    let words = manner.language;
    let (Some(test), Some((class, verdict))) = (&history.report.sprt, verdict(history, words)) else {
        return html! {};
    };
    let (plan, names) = (test.plan, tested(history));
    let [first, second] = [0, 1].map(|at| names.get(at).map_or("?", String::as_str));
    let [ll, ld, even, wd, ww] = test.in_order.pentanomial;
    html! {
        p.verdict.(class) { (verdict) }
        p {
            (names.join(words.pick(" vs ", " 対 "))) " · " (words.pick(crate::model_word(plan.model), crate::japanese::scale(plan.model))) " [" (plan.elo0) ", " (plan.elo1) "] · α "
            (plan.alpha) " β " (plan.beta) " · LLR " (rounded(test.llr, 2)) " · "
            (words.test_pairs(test.in_order.pairs)) (format!("{ll} {ld} {even} {wd} {ww}"))
        }
        p.note { (words.what_h0_and_h1_say(first, second, plan.elo0, plan.elo1)) " " (words.what_llr_says(test.lower, test.upper)) }
        (duel(history, words))
        (both(|size| plot::sprt(&history.report, test, &history.walk, size, words)))
    }
}

/// The result of two players in words, and its pairs where no test has shown them.
#[must_use]
pub fn duel(history: &EventHistory, language: Language) -> Markup {
    let report = &history.report;
    let (Some(met), Some(words)) = (report.duel(), report.duel_words(language)) else { return html! {} };
    let pairs = met.pentanomial;
    html! {
        p { (language.result_of_two(&plain(&met.name), &plain(&met.opponent), &met.points_words(language), &minus(&words))) }
        @if report.sprt.is_none() {
            p { (language.test_pairs(pairs.iter().sum())) (pairs.map(|pairs| pairs.to_string()).join(" ")) }
        }
    }
}

fn endings(history: &EventHistory, manner: Manner) -> Markup {
    let report = &history.report;
    let black = report.first_move.distinct;
    let games = black.games().max(1) as f64;
    let share = |n: u64| format!("{:.1} %", 100.0 * n as f64 / games);
    let advantage = match (report.first_move.elo.value(), report.first_move.elo.error()) {
        (Some(elo), Some(error)) => Some((minus(&signed(elo, 0)), format!("{error:.0}"))),
        _ => None,
    };
    let (won, lost, drawn) = (share(black.wins), share(black.losses), share(black.draws));
    let words = manner.language;
    let worth = advantage.map(|(elo, error)| words.first_move_worth(&elo, &error));
    html! {
        p { (words.shares_of_results(&won, &lost, &drawn)) (worth.unwrap_or_default()) (words.pick(".", "。")) }
        (both(|size| plot::endings(report, size, words)))
        (failures(&report.failures, manner))
    }
}

/// Games listed one by one that were lost because a player failed; of more the last.
const FAILURES: usize = 20;

fn failures(failures: &[Failure], manner: Manner) -> Markup {
    let first = failures.len().saturating_sub(FAILURES);
    let language = manner.language;
    let words = |failure: &Failure| {
        let reason = failure
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(": {}", language.fault(&plain(reason))));
        let (name, opponent) = (plain(&failure.name), plain(&failure.opponent));
        let color = if failure.color == "black" { language.black() } else { language.white() };
        language.failure(&name, color, &opponent, language.cause(failure.cause)) + &reason
    };
    html! {
        @if !failures.is_empty() {
            h3 { (language.lost_by_a_fault()) }
            @if first > 0 { p.note { (language.last_of(FAILURES, &thousands(failures.len() as u64))) } }
            ul.failures { @for failure in &failures[first..] {
                li { a href=(if manner.links { format!("/games/{}", failure.game) } else { format!("#game-{}", failure.game) }) { "#" (failure.game) } " " (prose(&words(failure))) }
            } }
        }
    }
}

fn time(history: &EventHistory, language: Language) -> Markup {
    html! {
        (tables::usage(history, language))
        h3 { (language.seconds_by_ply()) }
        (both(|size| plot::time(history, size, language)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_formatted_for_readers() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(thousands),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
        let day = 86_400_000;
        assert_eq!(span(0, 1000), "1970/01/01, 00:00:00 – 00:00:01 UTC");
        assert!(span(0, day).contains("1970/01/02"));
    }

    #[test]
    fn an_error_has_the_sign_for_plus_and_minus() {
        assert_eq!(minus("-104 +-215, -3"), "−104 ±215, −3");
    }
}
