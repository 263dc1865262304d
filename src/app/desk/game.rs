//! The board of the study: a game, a record or a position with its moves and variations, what an engine thinks of it, and
//! what can be begun from it.

use crate::{
    Asked, confirmed, lead, refused,
    studied::{Source, Studied},
};
use axum::{
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use notation::record::{self, Format};
use plan::LibraryEngine;
use rsshogi::types::{Color, Move};
use web::{
    STUDY_PAGE, board,
    components::{Mood, alert, menu, prose, state},
    layout::{Page, percent},
    refusals::Refusal,
};
use words::{Language, Message};

/// Seconds that an engine may think, the usual ones first.
pub(crate) const SECONDS: [u64; 5] = [10, 3, 30, 60, 300];
/// Moves of a variation that its link shows.
const SHOWN: usize = 8;
/// What the reader of a record has left out or found odd, as far as the board shows it.
const DOUBTS: usize = 10;
/// Texts that a board gives, by the ending of their files.
const TEXTS: [&str; 4] = ["sfen", "kif", "csa", "usi"];

/// The page.
pub(crate) fn page(Asked { desk, words, fields, done }: Asked) -> Result<Page, Refusal> {
    let (studied, engines) = (desk.studied(&fields)?, desk.library()?);
    let thought = desk.0.jobs.look_at(fields.text("job"), words);
    let title = title(words, &studied);
    let content = html! {
        (crumb(words, &studied))
        div.top {
            h1 { (title) } (outcome(words, &studied)) span.grow {}
            (menu(words.more(), &html! {
                a href=(address(&studied, "/study/edit", &[])) data-at { (words.edit_position()) }
                @for ending in TEXTS { a href=(address(&studied, "/study/text", &[("as", ending.to_owned())])) data-at data-copies { (words.copy_as(&ending.to_uppercase())) } }
                form method="post" action="/study/keep" { (hidden(&studied)) button { (words.keep_as_record()) } }
            }))
        }
        (confirmed(words, done.as_ref()))
        @if !studied.record.doubts.is_empty() { (alert(Mood::Wait, &html! { ul { @for doubt in studied.record.doubts.iter().take(DOUBTS) { li { (prose(&words.fault(doubt))) } } } })) }
        div.study id="viewer" data-promote={ (words.promotes()) "/" (words.promotes_not()) } data-address=(studied.query(STUDY_PAGE, &studied.fields()))
            data-legal=(studied.query("/study/legal", &studied.fields())) {
            (board_side(words, &studied, thought.as_ref().and_then(|(_, best)| best.as_deref())))
            div.beside-board {
                section.opinion { (think(words, &studied, &engines, fields.text("job"))) div id="thoughts" { @if let Some((thought, _)) = &thought { (thought) } } div id="graph" { (board::graph(&studied.shown, studied.at)) } }
                section { h2 { (words.moves()) } (moves(&studied)) (variations(words, &studied)) }
            }
        }
        div.halves.from-here { (orders(words, &studied, &engines)) }
        (board::line_of_play(&studied.shown, names(words, &studied)))
    };
    Ok(Page::new(title, "/study", content).with(&["board.js", "viewer.js", "live.js", "hand.js", "study.js"]))
}

fn names(words: Language, studied: &Studied) -> [String; 2] {
    let name = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
    [name(&studied.record.black, words.black()), name(&studied.record.white, words.white())]
}

fn title(words: Language, studied: &Studied) -> String {
    let [black, white] = names(words, studied);
    match &studied.source {
        Source::Position(_) => words.board().to_owned(),
        Source::Event(_, game) => format!("#{game} ☗ {black} – ☖ {white}"),
        Source::File(..) => format!("☗ {black} – ☖ {white}"),
    }
}

/// Where the board comes from, and the records beside it in its file.
fn crumb(words: Language, studied: &Studied) -> Markup {
    let of = match &studied.source {
        Source::Event(name, game) => Some((crate::study::address_of(name, Some(*game)), name)),
        Source::File(key, _) => Some((format!("/study/file?file={}", percent(key)), key)),
        Source::Position(_) => None,
    };
    html! { p.crumbs {
        a.crumb href="/study" { (words.study()) " ›" }
        @if let Some((address, name)) = of { " " a.crumb href=(address) { (name) " ›" } }
        @for (by, words) in [(-1, words.record_before()), (1, words.record_after())] {
            @if let Some(address) = studied.neighbour(by) { " " a.crumb href=(address) data-neighbour=(by) { (words) } }
        }
    } }
}

fn outcome(words: Language, studied: &Studied) -> Markup {
    let Some(ending) = &studied.record.ending else { return Markup::default() };
    let result = match studied.record.winner() {
        Some(Color::BLACK) => words.black_wins(),
        Some(_) => words.white_wins(),
        None if ending.is_draw() => words.drawn(),
        None => words.without_result(),
    };
    state(Mood::Rest, result)
}

/// Fields that name the position, for a form about it.
pub(crate) fn hidden(studied: &Studied) -> Markup {
    html! {
        @for (name, value) in studied.fields() { input type="hidden" name=(name) value=(value); }
        input type="hidden" name="ply" value=(studied.at);
    }
}

fn board_side(words: Language, studied: &Studied, best: Option<&str>) -> Markup {
    let (at, end) = (studied.at, studied.shown.plies.len());
    let last = at.checked_sub(1).map(|before| studied.shown.plies[before].mv);
    let [black, white] = names(words, studied);
    let turn = |color| if studied.mover() == color { "turn" } else { "" };
    let steps = [
        ("first", "|◀", words.key_start(), 0),
        ("back", "◀", words.key_back(), at.saturating_sub(1)),
        ("on", "▶", words.key_on(), (at + 1).min(end)),
        ("last", "▶|", words.key_end(), end),
    ];
    let legal = studied.legal();
    html! { div.side.board-side {
        p.player id="above" { span class=(turn(Color::WHITE)) { "☖ " (white) } }
        div id="board" tabindex="0" role="img" aria-label=(words.board_at(at, end)) { (board::drawn(&studied.position_at(at), last, best.and_then(Move::from_usi))) }
        p.player id="below" { span class=(turn(Color::BLACK)) { "☗ " (black) } }
        div.keys {
            @for (id, sign, label, to) in steps { a.button id=(id) href=(studied.address(to)) aria-label=(label) title=(label) { (sign) } }
            button type="button" id="play" aria-label=(words.key_play()) title=(words.key_play()) { (words.play()) }
            button type="button" id="flip" aria-label=(words.key_turn()) title=(words.key_turn()) { "⇅" }
            button type="button" id="pieces" aria-label=(words.key_pieces()) title=(words.key_pieces()) { "A" }
        }
        div.buttons id="choice" role="group" aria-label=(words.promotion()) hidden {}
        form.order.line id="try" method="get" action=(STUDY_PAGE) {
            (hidden(studied))
            label { span { (words.move_to_try()) } select name="try" { @for mv in &legal { option value=(mv) { (one_spelled(studied, mv)) } } } }
            button disabled[legal.is_empty()] { (words.try_move()) }
        }
        h2 id="title" hidden {} p id="result" hidden {} p id="thought" hidden {}
        p id="comment" { @let comment = at.checked_sub(1).map_or(&studied.shown.comment, |before| &studied.shown.plies[before].comment); (notation::printable_lines(comment)) }
    } }
}

/// A legal move of the position as people read it.
pub(crate) fn one_spelled(studied: &Studied, mv: &str) -> String {
    let mut record = studied.before();
    record.plies.extend(Move::from_usi(mv).map(record::Ply::from));
    record::spelled_moves(&record, studied.at).ok().and_then(|mut moves| moves.pop()).unwrap_or_default()
}

/// The form that asks an engine.
fn think(words: Language, studied: &Studied, engines: &[LibraryEngine], job: &str) -> Markup {
    html! { form.order.line id="think" method="post" action="/study/think" {
        (hidden(studied))
        input type="hidden" name="job" value=(job);
        (choice((words.engine_to_ask(), "engine"), engines, Some(words.own_engine()), 0))
        label.seconds { span { (words.thinking_time()) } select name="seconds" { @for seconds in SECONDS { option value=(seconds) { (words.seconds(seconds)) } } } }
        p.buttons {
            button.main name="do" value="search" { (words.analyze_here()) }
            button name="do" value="mate" { (words.search_mate()) }
            button.quiet name="do" value="stop" id="stop" { (words.stop_job()) }
        }
    } }
}

/// The moves, each with its evaluation. One form leads to all of them: the address of a line that is tried has all of its moves.
fn moves(studied: &Studied) -> Markup {
    let row = |at: usize, text: &str, score: Option<i32>| {
        html! { li aria-current=[(at == studied.at).then_some("true")] {
            span { @if at > 0 { (at) } } button form="at" name="ply" value=(at) { (text) } span {} span { @if let Some(score) = score { (score) } }
        } }
    };
    html! {
        form id="at" method="get" action=(STUDY_PAGE) { @for (name, value) in studied.fields() { input type="hidden" name=(name) value=(value); } }
        ol id="moves" tabindex="0" {
            (row(0, "–", None))
            @for (at, (text, ply)) in (1..).zip(studied.spelled().iter().zip(&studied.shown.plies)) { (row(at, text, ply.score)) }
        }
    }
}

fn variations(words: Language, studied: &Studied) -> Markup {
    let lines = studied.record.variations.len();
    let first = |line: usize| {
        let (at, mut own) = (studied.record.variations[line - 1].ply, studied.record.line(line));
        let more = if own.plies.len() >= at + SHOWN { " …" } else { "" };
        own.plies.truncate(at - 1 + SHOWN);
        record::spelled_moves(&own, at - 1).unwrap_or_default().join(" ") + more
    };
    html! { @if lines > 0 { h2 { (words.variations()) } ul.variations {
        li { a href=(studied.address_of(0)) aria-current=[(studied.line == 0).then_some("true")] { (words.main_line()) } }
        @for line in 1..=lines { li {
            @let is_tried = studied.tries() && line == lines;
            a href=(if is_tried { studied.address(studied.record.variations[line - 1].ply) } else { studied.address_of(line) }) aria-current=[(studied.line == line).then_some("true")] {
                (words.from_move(u32::try_from(studied.record.variations[line - 1].ply).unwrap_or(0))) ": " (first(line))
            }
        } }
    } } }
}

/// What can be begun from the position.
fn orders(words: Language, studied: &Studied, engines: &[LibraryEngine]) -> Markup {
    html! {
        (crate::play::form(words, studied, engines))
        details.tab { summary { (words.play_from_here()) } form.order method="post" action="/study/play" {
            (hidden(studied))
            @for (at, label) in [words.one_engine(), words.other_engine()].into_iter().enumerate() { (choice((label, "engine"), engines, None, at)) }
            p.buttons { button { (words.to_the_form()) } }
        } }
        details.tab { summary { (words.analyze_game()) } form.order method="post" action="/study/analyze" {
            (hidden(studied))
            (crate::searches::judge(words, engines))
            p.buttons { button { (words.analyze_game()) } }
        } }
        form method="post" action="/study/find" { (hidden(studied)) p.buttons { button { (words.find_position()) } } }
    }
}

/// A choice of an engine of the library: its place in the list is preset, and `usual` stands before all of them.
pub(crate) fn choice(
    (label, field): (&str, &str),
    engines: &[LibraryEngine],
    usual: Option<&str>,
    at: usize,
) -> Markup {
    let offered = engines.iter().filter(|engine| !engine.inactive && engine.missing.is_none());
    html! { label { span { (label) } select name=(field) {
        @if let Some(usual) = usual { option value="" { (usual) } }
        @for (place, engine) in offered.enumerate() {
            option value=(engine.plan.name) selected[usual.is_none() && place == at] { (engine.plan.name) }
        }
    } } }
}

/// The address of a page about the position.
fn address(studied: &Studied, path: &str, more: &[(&'static str, String)]) -> String {
    let fields = [&studied.fields(), &[("ply", studied.at.to_string())][..], more].concat();
    studied.query(path, &fields)
}

/// The position, or the record, as a text.
pub(crate) fn text(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let studied = desk.studied(&fields)?;
    let written = |record, format| record::write(record, format).map_err(refused);
    let bytes = match fields.one_of("as", &TEXTS)? {
        "kif" => written(&studied.record, Format::Kifu)?,
        "csa" => written(&studied.shown, Format::Csa)?,
        "usi" => studied.argument().into_bytes(),
        _ => studied.position_at(studied.at).to_sfen(None).into_bytes(),
    };
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], bytes).into_response())
}

/// The legal moves of a position, for the board's script.
pub(crate) fn legal(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let moves = board::moves(&desk.studied(&fields)?.legal()).into_string();
    Ok(([(CONTENT_TYPE, "application/json")], moves).into_response())
}

/// Keeps the record, with the moves that were tried, as a file of the study.
pub(crate) fn keep(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let studied = desk.studied(&fields)?;
    let bytes = record::write(&studied.record, Format::Kifu).map_err(refused)?;
    let key = desk.0.place.keep(&studied.stem(), "kifu", &bytes)?;
    let address =
        format!("{STUDY_PAGE}?file={}&record=1&line={}&ply={}", percent(&key), studied.line, studied.at);
    Ok(desk.confirm(&address, Message::of(|words| words.record_was_kept(&key))))
}

/// Leads to the form of a match that begins from a position of a game.
pub(crate) fn play(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let studied = desk.studied(&fields)?;
    let stem = format!("{}-{}", studied.stem(), studied.at);
    let openings = desk.0.place.keep(&stem, "sfen", format!("{}\n", studied.argument()).as_bytes())?;
    let engines: String = fields.all("engine").map(|name| format!("&engine={}", percent(name))).collect();
    let (name, openings) = (percent(&stem), percent(&openings));
    Ok(lead(&format!("/new/event?kind=match&name={name}&openings={openings}{engines}")))
}
