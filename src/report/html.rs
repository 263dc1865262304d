//! An event as one self-contained page: no network, no server. All foreign text (mostly names) goes through the
//! template, which escapes it; the content security policy allows no script but the page's own.

mod japanese;
pub mod pack;
mod tables;

use super::{EventHistory, Failure, plot};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use notation::date;
use pack::Part;
use plot::{Plot, Size, plain};
use referee::number::noun_for;
use referee::rating::{rounded, signed};
use sha2::{Digest, Sha256};

/// The style sheet of pages.
pub const STYLE: &str = include_str!("html/page.css");
/// The board, and moves in words.
pub const BOARD: &str = include_str!("html/board.js");
/// The viewer of one game; it needs the board.
pub const VIEWER: &str = include_str!("html/viewer.js");
const SCRIPT: &str = concat!(
    include_str!("html/board.js"),
    include_str!("html/pack.js"),
    include_str!("html/viewer.js"),
    include_str!("html/page.js")
);

/// Language of tables and headlines. Names of engines and what the referee says are never translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

impl Language {
    /// The cause of an ending, as in the column `cause`, in words.
    #[must_use]
    pub fn cause(self, cause: &str) -> &str {
        let japanese = match cause {
            "mate" => "詰み",
            "resignation" => "投了",
            "time" => "時間切れ",
            "declaration" => "入玉宣言",
            "illegal-declaration" => "不正な宣言",
            "perpetual-check" => "連続王手の千日手",
            "default" => "不戦",
            "disconnection" => "接続切れ",
            "adjudication" => "判定",
            "ruling" => "裁定",
            "sennichite" => "千日手",
            "max-moves" => "最大手数",
            "impasse" => "持将棋",
            "draw-adjudication" => "引分判定",
            "server" => "サーバ",
            "stopped" => "中断",
            "not-started" => "不開始",
            "annulled" => "取消",
            "no-result" => "結果なし",
            other if other.starts_with("illegal-move") => "反則手",
            other => other,
        };
        match self {
            Self::English => cause,
            Self::Japanese => japanese,
        }
    }

    pub(crate) fn say<'a>(self, english: &'a str, japanese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Japanese => japanese,
        }
    }
}

/// How sections are written.
#[derive(Clone, Copy, Debug, Default)]
struct Manner {
    language: Language,
    /// Whether players and games have pages of their own.
    links: bool,
}

impl Manner {
    fn say(self, english: &'static str, japanese: &'static str) -> &'static str {
        self.language.say(english, japanese)
    }

    /// A player's name, with its page if it has one.
    fn player(self, history: &EventHistory, name: &str) -> Markup {
        let number = history.players.iter().position(|known| known == name).filter(|_| self.links);
        html! {
            @if let Some(number) = number { a href=(format!("/players/{number}")) { (plain(name)) } }
            @else { (plain(name)) }
        }
    }
}

/// A page of a report, and the file that other pages know it by.
#[derive(Debug)]
pub struct Page {
    /// Name of the file.
    pub file: String,
    /// Content of the file.
    pub html: String,
}

/// Renders the page of an event with its newest games.
///
/// # Errors
/// Never: the page's data always serializes.
pub fn page(history: &EventHistory) -> serde_json::Result<String> {
    let parts = history.games.parts();
    event_page(history, parts[0], &[])
}

/// Renders the page of an event, called `file`, and behind it pages with the older games of a large event.
///
/// # Errors
/// Never: the data of a page always serializes.
pub fn pages(history: &EventHistory, file: &str) -> serde_json::Result<Vec<Page>> {
    let stem = file.strip_suffix(".html").unwrap_or(file);
    let parts = history.games.parts();
    let older: Vec<Older<'_>> = parts[1..]
        .iter()
        .zip(1..)
        .filter_map(|(part, at)| {
            Some(Older { part: *part, ends: part.ends()?, file: format!("{stem}-games-{at}.html") })
        })
        .collect();
    let mut pages = vec![Page { file: file.to_owned(), html: event_page(history, parts[0], &older)? }];
    for older in older {
        let html = games_page(history, &older, file)?;
        pages.push(Page { file: older.file, html });
    }
    Ok(pages)
}

/// A page with games that no longer fit on the page of their event.
struct Older<'a> {
    part: Part<'a>,
    ends: (u64, u64),
    file: String,
}

impl Older<'_> {
    fn words(&self, language: Language) -> String {
        let (first, last) = self.ends;
        format!("{} {} – {}", language.say("games", "棋譜"), thousands(first), thousands(last))
    }
}

/// The data of a page for its script: some games, and the files that have others.
fn data(history: &EventHistory, part: Part<'_>, older: &[Older<'_>]) -> serde_json::Result<String> {
    let mut places = vec![0; history.players.len()];
    history.order.iter().enumerate().for_each(|(place, player)| places[player.index()] = place);
    let elsewhere = older.iter().map(|older| (older.ends.0, older.ends.1, older.file.as_str())).collect();
    history.games.json(part, &history.players, places, elsewhere)
}

fn event_page(history: &EventHistory, newest: Part<'_>, older: &[Older<'_>]) -> serde_json::Result<String> {
    let main = html! { (sections(history, Manner::default())) (further(older)) };
    let note =
        "Made by Renmei. Ratings in Elo are relative to the mean of the field; ± is half the 95 % interval.";
    let data = data(history, newest, older)?;
    Ok(whole(&plain(&history.report.event), &heading(history, Language::English), &main, note, data))
}

/// Links to the pages of the older games.
fn further(older: &[Older<'_>]) -> Markup {
    html! { @if !older.is_empty() { section id="older" {
        h2 { "Older games" }
        ul.files { @for page in older { li { a href=(file_link(&page.file)) { (page.words(Language::English)) } } } }
    } } }
}

fn games_page(history: &EventHistory, older: &Older<'_>, event_file: &str) -> serde_json::Result<String> {
    let event = plain(&history.report.event);
    let words = older.words(Language::English);
    let header = html! { header { h1 { (event) } p.facts { (words) } } };
    let main = html! {
        p { a href=(file_link(event_file)) { "standings and the newest games" } }
        section id="games" { h2 { "Games" } (games(Language::English)) }
    };
    let data = data(history, older.part, &[])?;
    Ok(whole(&format!("{event} · {words}"), &header, &main, "Made by Renmei.", data))
}

/// The address of a file beside the page; no name may be taken for one with a scheme.
fn file_link(file: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = file
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    format!("./{}", encoded.collect::<String>())
}

fn whole(title: &str, header: &Markup, main: &Markup, note: &str, data: String) -> String {
    let style = format!("{}{STYLE}", plot::rules());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &style))
            body {
                (header)
                main { (main) }
                footer { (note) }
                (viewer())
                script type="application/json" id="data" { (PreEscaped(data)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// A page without a script.
pub(crate) fn shell(title: &str, body: &Markup) -> String {
    let style = format!("{}{STYLE}", plot::rules());
    html! { (DOCTYPE) html lang="en" { (head(title, &style)) body { (body) } } }.into_string()
}

fn head(title: &str, style: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy(style));
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            style { (PreEscaped(style)) }
        }
    }
}

/// Content security policy: the page's own script, no loading, no sending.
pub(crate) fn policy(style: &str) -> String {
    let [style, script] = [style, SCRIPT].map(|text| STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

fn heading(history: &EventHistory, language: Language) -> Markup {
    let report = &history.report;
    let mut facts = vec![match language {
        Language::English => format!("{} {}", thousands(report.games), noun_for(&report.games, "game")),
        Language::Japanese => format!("{} 局", thousands(report.games)),
    }];
    facts.extend(
        (history.running > 0).then(|| format!("{} {}", history.running, language.say("running", "局進行中"))),
    );
    let state = match report.complete {
        true => language.say("complete", "終了"),
        false => language.say("not complete", "途中"),
    };
    facts.extend((!report.open).then(|| state.to_owned()));
    facts.extend(history.span.map(|(first, last)| span(first, last)));
    html! {
        header {
            h1 { (plain(&report.event)) }
            p { (plain(language.say(&report.format, japanese::format(history)))) }
            p.facts { (facts.join(" · ")) }
            @if let Some(words) = report.outcome_words(language) { p.outcome { (words) } }
        }
    }
}

/// A number with the sign for minus instead of a hyphen.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

/// A number with thousands separated: 12 345.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or("")).collect();
    groups.join("\u{202f}")
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

/// The heading of the event and every section but the games, for pages that have those elsewhere.
#[must_use]
pub fn live_sections(history: &EventHistory, language: Language) -> Markup {
    html! { (heading(history, language)) (sections(history, Manner { language, links: true })) }
}

fn sections(history: &EventHistory, manner: Manner) -> Markup {
    let report = &history.report;
    let played = report.games > 0;
    let mut sections = vec![];
    let mut add = |id, title, wanted: bool, content: &dyn Fn() -> Markup| {
        if wanted {
            sections.push(Section { id, title, content: content() });
        }
    };
    add("standings", manner.say("Standings", "順位表"), true, &|| tables::standings(history, manner));
    add("test", manner.say("Sequential test", "逐次検定（SPRT）"), report.sprt.is_some(), &|| {
        test(history, manner)
    });
    // A test has one Elo, which knows of its stop; ratings of its two players would be others.
    let rated = report.sprt.is_none();
    add("elo", manner.say("Elo", "Elo"), played && rated, &|| {
        html! { (duel(history, manner.language)) (both(|size| plot::elo(report, size))) }
    });
    add(
        "ratings",
        manner.say("Ratings over the games", "レートの推移"),
        report.games > 1 && rated,
        &|| both(|size| plot::ratings(history, size, manner.language)),
    );
    add("cross", manner.say("Cross table", "対戦表"), report.pairs.len() > 1, &|| {
        tables::cross(history, manner)
    });
    let ranked = report.stages.iter().any(|stage| stage.has_tie_breaks());
    let many = !report.machines.is_empty();
    add("machines", manner.say("Machines", "対局マシン"), many, &|| {
        super::machines::page(&report.machines, manner.language)
    });
    let operated = !report.operations.is_empty();
    add("operations", manner.say("Operator", "運営"), operated, &|| {
        super::operations::page(&report.operations, manner.language)
    });
    add("stages", manner.say("Stages", "ステージ"), ranked, &|| tables::stages(history, manner));
    add("endings", manner.say("Endings", "終局"), played, &|| endings(history, manner));
    let timed = history.usage.iter().any(|usage| usage.charged > 0);
    add("time", manner.say("Time", "時間"), timed, &|| time(history, manner));
    add(
        "commits",
        manner.say("Commits", "コミット"),
        report.commits.is_some(),
        &|| html! { @if let Some(commits) = &report.commits { (commits.table()) } },
    );
    let known = !report.played_by.is_empty();
    add("played-by", manner.say("Played by", "対局プログラム"), known, &|| {
        crate::builds::table(&report.played_by)
    });
    add("games", manner.say("Games", "棋譜"), history.games.games() > 0, &|| games(manner.language));
    html! {
        nav { @for section in &sections { a href=(format!("#{}", section.id)) { (section.title) } } }
        @for Section { id, title, content } in &sections {
            section id=(id) { h2 { (title) } (content) }
        }
    }
}

/// A picture for wide windows and another for narrow ones; the style sheet shows one of them.
pub(crate) fn both(draw: impl Fn(Size) -> Plot) -> Markup {
    html! { figure { (draw(Size::Wide).inline()) (draw(Size::Narrow).inline()) } }
}

fn test(history: &EventHistory, manner: Manner) -> Markup {
    let Some(test) = &history.report.sprt else { return html! {} };
    let plan = test.plan;
    let names: Vec<String> = history.players.iter().take(2).map(|name| plain(name)).collect();
    let [first, second] = [0, 1].map(|at| names.get(at).map_or("?", String::as_str));
    let verdict = match (test.verdict.as_deref(), test.claim(first, second)) {
        (Some("H1"), Some(claim)) => ("good", format!("H1 accepted: {claim}")),
        (Some(referee::sprt::BY_FAULTS), _) => ("bad", "no verdict on strength: faults decided".to_owned()),
        (Some(_), Some(claim)) => ("bad", format!("H0 accepted: {claim}")),
        _ => ("ink", "no verdict yet".to_owned()),
    };
    let [ll, ld, even, wd, ww] = test.in_order.pentanomial;
    html! {
        p.verdict.(verdict.0) { (manner.language.say(&verdict.1, &japanese::verdict(test, first, second))) }
        p {
            (names.join(" vs ")) " · " (crate::model_word(plan.model)) " [" (plan.elo0) ", " (plan.elo1) "] · α "
            (plan.alpha) " β " (plan.beta) " · LLR " (rounded(test.llr, 2)) " · "
            (test.in_order.pairs) (manner.say(" pairs: ", " 組：")) (format!("{ll} {ld} {even} {wd} {ww}"))
        }
        (duel(history, manner.language))
        (both(|size| plot::sprt(&history.report, test, &history.walk, size, manner.language)))
    }
}

/// The result of two players in words.
fn duel(history: &EventHistory, language: Language) -> Markup {
    let report = &history.report;
    let (Some(met), Some(words)) = (report.duel(), report.duel_words()) else { return html! {} };
    if language == Language::Japanese {
        return html! { @if let Some(words) = japanese::duel(report) { p { (plain(&words).replace('-', "−")) } } };
    }
    html! { p { (plain(&met.name)) " against " (plain(&met.opponent)) ": " (words.replace('-', "−")) } }
}

fn endings(history: &EventHistory, manner: Manner) -> Markup {
    let report = &history.report;
    let black = report.first_move.black;
    let games = black.games().max(1) as f64;
    let share = |n: u64| format!("{:.1} %", 100.0 * n as f64 / games);
    let advantage = match (report.first_move.elo, report.first_move.elo_error) {
        (Some(elo), Some(error)) => Some((minus(&signed(elo, 0)), format!("{error:.0}"))),
        _ => None,
    };
    let (won, lost, drawn) = (share(black.wins), share(black.losses), share(black.draws));
    let (words, worth) = match manner.language {
        Language::English => (
            format!("Black (☗) won {won}, white (☖) {lost}, {drawn} were drawn"),
            advantage.map(|(elo, error)| format!("; moving first is worth {elo} ± {error} Elo")),
        ),
        Language::Japanese => (
            format!("先手（☗）の勝ち {won}、後手（☖）の勝ち {lost}、引き分け {drawn}"),
            advantage.map(|(elo, error)| format!("。先手の利は {elo} ± {error} Elo")),
        ),
    };
    let end = manner.say(".", "。");
    html! {
        p { (words) (worth.unwrap_or_default()) (end) }
        (both(|size| plot::endings(report, size, manner.language)))
        (failures(&report.failures, manner))
    }
}

/// Games listed one by one that were lost because a player failed; of more the last.
const FAILURES: usize = 20;

fn failures(failures: &[Failure], manner: Manner) -> Markup {
    let first = failures.len().saturating_sub(FAILURES);
    let words = |failure: &Failure| {
        let reason =
            failure.reason.as_ref().map_or_else(String::new, |reason| format!(": {}", plain(reason)));
        let (name, opponent) = (plain(&failure.name), plain(&failure.opponent));
        format!("{name} ({}) against {opponent}, {}{reason}", failure.color, failure.cause)
    };
    html! {
        @if !failures.is_empty() {
            h3 { (manner.say("Lost by a fault", "反則・故障による負け")) }
            @if first > 0 { p.note { "the last " (FAILURES) " of " (thousands(failures.len() as u64)) } }
            ul.failures { @for failure in &failures[first..] {
                li { a href=(if manner.links { format!("/games/{}", failure.game) } else { format!("#game-{}", failure.game) }) { "#" (failure.game) } " " (words(failure)) }
            } }
        }
    }
}

fn time(history: &EventHistory, manner: Manner) -> Markup {
    html! {
        (tables::usage(history))
        h3 { (manner.say("Seconds a move, by ply", "一手の秒数（手数別）")) }
        (both(|size| plot::time(history, size, manner.language)))
    }
}

/// Elements that the script fills.
fn games(language: Language) -> Markup {
    let words = language.say("player, ending, number", "対局者・終局・番号");
    html! {
        form.filter {
            input id="filter" type="search" placeholder=(words) aria-label=(language.say("Filter the games", "棋譜を絞り込む")) autocomplete="off";
            select id="sort" aria-label=(language.say("Sort the games", "並べ替え")) {
                option value="new" { (language.say("newest first", "新しい順")) }
                option value="old" { (language.say("oldest first", "古い順")) }
                option value="long" { (language.say("longest first", "手数の多い順")) }
                option value="short" { (language.say("shortest first", "手数の少ない順")) }
            }
            output id="count" {}
        }
        noscript { p { (language.say("The games are shown by this page's script.", "棋譜はこのページのスクリプトが表示します。")) } }
        ul id="list" {}
        button id="more" type="button" hidden { (language.say("more", "続き")) }
    }
}

fn button(id: &str, words: &str, label: &str) -> Markup {
    html! { button type="button" id=(id) aria-label=(label) title=(label) { (words) } }
}

/// The keys below a board.
#[must_use]
pub fn controls(language: Language) -> Markup {
    html! {
        div.keys {
            (button("first", "|◀", language.say("start (Home)", "開始局面 (Home)")))
            (button("back", "◀", language.say("a ply back (←)", "一手戻る (←)")))
            (button("play", language.say("play", "再生"), language.say("play (space)", "再生・停止 (space)")))
            (button("on", "▶", language.say("a ply on (→)", "一手進む (→)")))
            (button("last", "▶|", language.say("end (End)", "最終手 (End)")))
            (button("flip", "⇅", language.say("turn the board (f)", "盤面反転 (f)")))
            (button("pieces", "A", language.say("letters or kanji (a)", "英字・漢字の切り替え (a)")))
        }
    }
}

/// The board on which games are replayed.
fn viewer() -> Markup {
    html! {
        dialog id="viewer" aria-label="Game" {
            div.bar {
                (button("previous", "‹", "game before (p)"))
                h2 id="title" {}
                (button("next", "›", "next game (n)"))
                (button("close", "×", "close (Esc)"))
            }
            div.table {
                div.side {
                    p.player id="above" {}
                    div id="board" tabindex="0" role="img" aria-label="Board" {}
                    p.player id="below" {}
                    (controls(Language::English))
                }
                div.side {
                    p id="result" {}
                    p id="thought" {}
                    div id="graph" {}
                    ol id="moves" tabindex="0" aria-label="Moves" {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
