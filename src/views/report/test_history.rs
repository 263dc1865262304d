//! The history of tests: what became of each, as text, JSON, page and picture. The queue of `renmei queue` is shown by it.

use crate::{Commits, Difference, Language, Report, html::shell, plot, plot::plain};
use contest::standings::REPEATS;
use maud::{Markup, html};
use notation::{date, printable};
use plan::{Plan, SprtPlan, time_text::control_text};
use referee::{
    number::number,
    precision::PRECISE,
    rating::{elo_words, signed},
    sprt::BY_FAULTS,
};
use serde::Serialize;
use std::fmt;
use unicode_width::UnicodeWidthStr;
use words::format_in_japanese;

/// Columns of a title in a terminal.
const TITLE: usize = 48;

/// What became of tests, in the order of their numbers.
#[derive(Clone, Debug, Serialize)]
pub struct TestHistory {
    /// Name of the queue.
    pub queue: String,
    /// The tests.
    pub tests: Vec<TestLine>,
    /// Older tests that are left out.
    pub left_out: usize,
}

/// What became of a test.
#[derive(Clone, Debug, Serialize)]
pub struct TestLine {
    /// Its number.
    pub test: u64,
    /// What people call it.
    pub title: String,
    /// What is to be known of it, in words.
    pub note: String,
    /// Name of its event in the database.
    pub event: String,
    /// `waiting`, `unapproved`, `paused`, `playing`, `failed`, `over` or `removed`.
    pub state: &'static str,
    /// The repository.
    pub repository: String,
    /// The commits: the new one and the old one.
    pub commits: Option<Commits>,
    /// What it is played by; absent where its configuration is not understood any more.
    pub terms: Option<TestTerms>,
    /// When it was added, in ms since 1970-01-01 UTC.
    pub added_at: i64,
    /// When its last game was over that counts for it, in ms since 1970-01-01 UTC.
    pub over_at: Option<i64>,
    /// What was played; absent before the first game.
    pub result: Option<TestResult>,
    /// Why it could not be played.
    pub fault: Option<String>,
}

/// What a test is played by.
#[derive(Clone, Debug, Serialize)]
pub struct TestTerms {
    /// The time controls of its players.
    pub time: String,
    /// How many games it has, and until when.
    pub format: String,
    #[serde(skip)]
    format_japanese: String,
    /// The hypotheses of a sequential test.
    pub sprt: Option<SprtPlan>,
}

impl TestTerms {
    /// The terms of the plan of a test's event.
    pub fn of(plan: &Plan) -> Self {
        let mut times: Vec<String> =
            plan.engines.iter().flat_map(|engine| engine.times()).map(control_text).collect();
        times.dedup();
        let format_japanese = format_in_japanese(&plan.stages);
        Self { time: times.join(" / "), format: plan.format_words(), format_japanese, sprt: plan.sprt }
    }
}

/// What was played of a test.
#[derive(Clone, Debug, Serialize)]
pub struct TestResult {
    /// Games that count.
    pub games: u64,
    /// `H0`, `H1`, `faults`, `precise` where Elo was known as well as asked for, or absent before that.
    pub verdict: Option<String>,
    /// Elo of the new commit against the old one; corrected for the stop of a sequential test.
    pub elo: Option<f64>,
    /// Lower end of its 95 % interval.
    pub elo_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub elo_high: Option<f64>,
    /// Games that the new commit won.
    pub wins: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Drawn games.
    pub draws: u64,
    /// Pairs of games by the points of the new commit: 0, 1/2, 1, 3/2, 2.
    pub pentanomial: [u64; 5],
    /// Log-likelihood ratio of a sequential test, and the bounds at which it accepts H0 and H1.
    pub llr: Option<[f64; 3]>,
}

impl TestResult {
    /// The result of a report; `None` before the first game.
    pub fn of(report: &Report) -> Option<Self> {
        let (met, Difference { elo, low, high, .. }) = (report.duel()?, report.difference()?);
        let known = report.precision.as_ref().and_then(|precision| precision.reached_after);
        let verdict = report.sprt.as_ref().and_then(|test| test.verdict.clone());
        let verdict = verdict.or_else(|| known.map(|_| PRECISE.to_owned()));
        let llr = report.sprt.as_ref().map(|test| [test.llr, test.lower, test.upper]);
        Some(Self {
            games: met.games,
            verdict,
            elo,
            elo_low: low,
            elo_high: high,
            wins: met.wins,
            losses: met.losses,
            draws: met.draws,
            pentanomial: met.pentanomial,
            llr,
        })
    }

    fn verdict_word(&self) -> &str {
        match self.verdict.as_deref() {
            Some(BY_FAULTS) => "faults",
            Some(verdict) => verdict,
            None => "-",
        }
    }

    fn interval(&self) -> String {
        let end = |value: Option<f64>| value.map_or_else(|| "..".to_owned(), |value| signed(value, 0));
        format!("{} .. {}", end(self.elo_low), end(self.elo_high))
    }
}

/// The result of a test of two players in words: verdict, Elo and games.
pub fn verdict_words(report: &Report) -> String {
    let Some(result) = TestResult::of(report) else { return "no game was played".to_owned() };
    let verdict = match result.verdict.as_deref() {
        Some(BY_FAULTS) => "no verdict on strength, as faults decided, ".to_owned(),
        Some(REPEATS) => "no verdict, as games only repeated earlier ones, ".to_owned(),
        Some(PRECISE) => "known well enough, ".to_owned(),
        Some(verdict) => format!("{verdict} accepted, "),
        None => String::new(),
    };
    let elo = elo_words(result.elo, result.elo_low, result.elo_high);
    format!("{verdict}{elo}, {}", number(result.games, "game"))
}

impl TestLine {
    /// When it ended, or was added.
    fn when(&self) -> String {
        date::text(self.over_at.unwrap_or(self.added_at))
    }

    /// The titles of the commits, where they say more than the title of the test.
    pub fn subjects(&self) -> Vec<String> {
        let players = self.commits.iter().flat_map(|commits| &commits.players);
        players.map(|player| format!("{} {}", player.short(), player.subject)).collect()
    }
}

impl fmt::Display for TestHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.tests.first() else { return writeln!(f, "no tests yet") };
        writeln!(f, "test  {:<19}  verdict     Elo   95 % interval  games  title", "over, or added (UTC)")?;
        for test in &self.tests {
            let title = short(&printable(test.title.as_bytes()));
            write!(f, "{:>4}  {:<20}", test.test, test.when())?;
            let result = test.result.as_ref();
            let elo =
                result.and_then(|result| result.elo).map_or_else(|| "-".to_owned(), |elo| signed(elo, 0));
            let interval = result.map_or_else(|| "-".to_owned(), TestResult::interval);
            let (verdict, games) = result.map_or(("-", 0), |result| (result.verdict_word(), result.games));
            writeln!(f, "  {verdict:<7}  {elo:>6}  {interval:>14}  {games:>5}  {title}{}", state(test))?;
            if !test.note.is_empty() {
                writeln!(f, "      {}", printable(test.note.as_bytes()))?;
            }
            for (what, subject) in ["new", "old"].into_iter().zip(test.subjects()) {
                writeln!(f, "        {what}  {}", printable(subject.as_bytes()))?;
            }
            if let Some(words) = test.commits.as_ref().and_then(Commits::difference_words) {
                writeln!(f, "             {}", printable(words.as_bytes()))?;
            }
        }
        match self.left_out {
            0 => Ok(()),
            older => {
                writeln!(f, "{} before {} left out; `--last N` shows more", number(older, "test"), first.test)
            }
        }
    }
}

/// The state of a test that is not simply over, behind its title.
fn state(test: &TestLine) -> String {
    match (test.state, test.fault.as_deref().and_then(|fault| fault.lines().next())) {
        ("over", _) => String::new(),
        (state, Some(fault)) => format!(" ({state}: {})", printable(fault.as_bytes())),
        (state, None) => format!(" ({state})"),
    }
}

fn short(title: &str) -> String {
    match title.width() <= TITLE {
        true => title.to_owned(),
        false => title.chars().take(TITLE - 1).collect::<String>() + "…",
    }
}

impl TestHistory {
    /// The page.
    pub fn page(&self) -> String {
        let facts = [number(self.tests.len(), "test"), number(self.games(), "game")].join(" · ");
        let title = format!("Queue {}", plain(&self.queue));
        let body = html! {
            header { h1 { (title) } p.facts { (facts) } }
            main {
                @if self.tests.iter().any(|test| test.result.is_some()) {
                    section id="elo" { h2 { "Elo over the tests" }
                        (crate::html::both(|size| plot::test_history(self, size)))
                    }
                }
                section id="tests" { h2 { "Tests" } (self.table(Language::English, &|_| None)) }
            }
            footer { "Made by Renmei. Elo is that of the new commit against the old one, with its 95 % interval; where a sequential test has stopped, corrected for the stop." }
        };
        shell(Language::English, &title, &body, "")
    }

    fn games(&self) -> u64 {
        self.tests.iter().filter_map(|test| test.result.as_ref()).map(|result| result.games).sum()
    }

    /// The tests as a table, the newest first; `link` is the address of a test's event, if it has pages.
    pub fn table(&self, words: Language, link: &dyn Fn(&str) -> Option<String>) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(words.tests()) { table {
                thead { tr {
                    th { "#" }
                    th.name { (words.tests()) }
                    th.name { (words.time_and_length()) }
                    th { (words.bounds()) }
                    th { "LLR" }
                    th { (words.elo()) }
                    th { (words.wins_losses_draws()) }
                    th.name { (words.state_or_verdict()) }
                    th.name { (words.over_or_added()) " (UTC)" }
                } }
                tbody { @for test in self.tests.iter().rev() { (row(words, test, link(&test.event))) } }
            } }
            @if self.left_out > 0 { p.note { (words.older_tests_left_out(self.left_out)) } }
        }
    }
}

/// Letters of the reason of a failure that a page shows.
const REASON: usize = 2000;

fn row(words: Language, test: &TestLine, link: Option<String>) -> Markup {
    let result = test.result.as_ref();
    let minus = |text: String| text.replace('-', "−");
    let terms = test.terms.as_ref();
    let bounds =
        terms.and_then(|terms| terms.sprt).map(|sprt| minus(format!("[{}, {}]", sprt.elo0, sprt.elo1)));
    html! { tr {
        td { (test.test) }
        th.name scope="row" {
            @if let Some(link) = link { a href=(link) { (plain(&test.title)) } } @else { (plain(&test.title)) }
            (about(words, test))
        }
        td.name {
            @if let Some(terms) = terms {
                (plain(&terms.time)) div.note { (words.pick(&terms.format, &terms.format_japanese)) }
            } @else { "–" }
        }
        td { (bounds.as_deref().unwrap_or("–")) }
        @if let Some([llr, lower, upper]) = result.and_then(|result| result.llr) {
            @let [llr, lower, upper] = [llr, lower, upper].map(|value| minus(format!("{value:.2}")));
            td title=(words.between_bounds(&lower, &upper)) { (llr) }
        } @else { td { "–" } }
        td {
            (result.and_then(|result| result.elo).map_or_else(|| "–".to_owned(), |elo| minus(signed(elo, 0))))
            @if let Some(result) = result { div.note { (minus(result.interval())) } }
        }
        td {
            @if let Some(TestResult { wins, losses, draws, pentanomial, .. }) = result {
                (wins) " – " (losses) " – " (draws)
                div.note title=(words.pairs_by_points()) { (pentanomial.map(|pairs| pairs.to_string()).join(", ")) }
            } @else { "–" }
        }
        td.name { (standing(words, test)) }
        td.name { (test.when()) }
    } }
}

/// What a test compares, and what is to be known of it.
fn about(words: Language, test: &TestLine) -> Markup {
    let commits = test.commits.as_ref();
    let players = commits.map_or(&[][..], |commits| &commits.players);
    html! {
        @if let [new, old, ..] = players {
            div.note title=(test.subjects().join("\n")) { (words.tested_commits(new.short(), old.short())) }
        }
        @for subject in test.subjects() { div.note { (plain(&subject)) } }
        @if let Some(words) = commits.and_then(Commits::difference_words) { div.note { (plain(words)) } }
        @if !test.note.is_empty() { div.note { (plain(&test.note)) } }
        @if let Some(fault) = &test.fault {
            @let (first, rest) = fault.split_once('\n').unwrap_or((fault, ""));
            div.note { (plain(first)) }
            @if !rest.is_empty() {
                details { summary { "…" } pre { (rest.chars().take(REASON).collect::<String>()) } }
            }
        }
    }
}

/// A verdict of two players who play until enough is known.
pub fn verdict_phrase(verdict: &str, words: Language) -> String {
    match verdict {
        BY_FAULTS => words.verdict_faults().to_owned(),
        PRECISE => words.verdict_precise().to_owned(),
        REPEATS => words.repeats_were_left().to_owned(),
        _ => words.verdict_accepted(verdict),
    }
}

/// The verdict of a test, or else its state.
fn standing(words: Language, test: &TestLine) -> Markup {
    let verdict = test.result.as_ref().and_then(|result| result.verdict.as_deref());
    let (class, text) = match verdict {
        Some(verdict @ PRECISE) => ("", verdict_phrase(verdict, words)),
        Some(verdict) => (if verdict == "H1" { "good" } else { "bad" }, verdict_phrase(verdict, words)),
        None => ("", String::new()),
    };
    let state = match test.state {
        "waiting" => words.test_waiting(),
        "unapproved" => words.test_unapproved(),
        "paused" => words.test_paused(),
        "playing" => words.test_playing(),
        "failed" => words.test_failed(),
        "removed" => words.test_removed(),
        _ => words.event_has_ended(),
    };
    html! {
        @if !text.is_empty() { span.verdict.(class) { (text) } } @else { (state) }
        @if !text.is_empty() && test.state != "over" { div.note { (state) } }
    }
}
