//! One game: its board, its players' clocks and thoughts, its records.

use crate::{
    Site,
    desk::NoAnswer,
    game::{Game, Note},
    hall::{EVENTS, Owner, STUDY_PAGE},
    layout::Page,
    pages::records,
    parts::{Json, data, time},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::{
    Extension,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use journal::now;
use maud::{Markup, html};
use referee::entry::GameId;
use report::plot::plain;
use serde::Serialize;
use std::collections::BTreeMap;
use words::{Language, Message};

#[derive(Serialize)]
struct Shown {
    now: i64,
    since: String,
    causes: BTreeMap<&'static str, &'static str>,
    game: Game,
}

async fn found(site: &Site, number: &str) -> Result<(String, Game), NoAnswer> {
    let number: u32 = number.parse().map_err(|_| NoAnswer::Missing(Message::of(Language::game_address)))?;
    let since = site.0.relay.last().to_string();
    let game = site.ask(move |desk| desk.game(GameId(number.into()))).await?;
    let missing = || NoAnswer::Missing(Message::of(|language| language.no_game(number.into())));
    Ok((since, game.ok_or_else(missing)?))
}

/// The page, or with an ending such as `.csa` the record.
pub async fn page(
    State(site): State<Site>,
    visitor: Visitor,
    owner: Option<Extension<Owner>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    if let Some((number, ending)) = name.split_once('.') {
        return records::record(&site, number, ending).await;
    }
    let (since, game) = found(&site, &name).await?;
    let title = format!("{} {} – {}", game.label(), game.names[0], game.names[1]);
    let language = visitor.language;
    let content = content(language, &game, site.has_office() && game.end.is_some());
    // Beside the pages of the event, not among them.
    let study = owner.and(site.0.base.strip_prefix(EVENTS));
    let study = study.map(|event| format!("../../..{STUDY_PAGE}?event={event}&game={}", game.number));
    let shown = Shown { now: now(), since, causes: language.causes().collect(), game };
    let content = html! {
        (content)
        @if let Some(study) = study { p { a href=(study) { (language.study_game()) } } }
        (data(&shown))
    };
    let scripts = &["board.js", "viewer.js", "live.js", "game.js"];
    Ok(Page::new(title, "/games", content).with(scripts).into_response())
}

fn content(language: Language, game: &Game, appeal: bool) -> Markup {
    let player = |at: usize| html! { a href=(format!("/players/{}", game.players[at])) { (["☗ ", "☖ "][at]) (game.names[at]) } };
    let live = html! { button id="live" type="button" hidden { (language.to_the_last_move()) } };
    let thoughts = html! {
        h2 id="title" hidden {}
        p id="thought" hidden {}
        div.thoughts { div id="black-thought" {} div id="white-thought" {} }
    };
    html! {
        div.head {
            h1 id="heading" { span.number { (game.label()) } " " (player(0)) " – " (player(1)) }
            p.facts { (language.round(game.round)) " · " @match game.started { Some(at) => (time(at)), None => (language.date_unknown()) } " " span id="link" role="status" {} }
        }
        div.watch id="viewer" {
            (sides(language, &live, &thoughts))
        }
        @if game.pruned { p.note { (language.moves_dropped_here()) } }
        ul id="remarks" { @for remark in &game.remarks { li { (plain(&language.operation(remark))) } } }
        (notes(language, game))
        @if game.machine.is_none() { p.records { (language.record())
            @for (at, ending) in ["csa", "kif", "jkf"].into_iter().enumerate() {
                @if at > 0 { " · " }
                a href=(format!("/games/{}.{ending}", game.number)) { (ending.to_uppercase()) }
            }
        } }
        @if appeal { p.note { a href=(format!("/appeal?game={}", game.number)) rel="nofollow" { (language.appeal_against_it()) } } }
        noscript { p { (language.board_needs_script()) } }
    }
}

/// The board with its players and its keys; beside it the result, what the engines said, the graph and the moves.
pub fn sides(words: Language, below: &Markup, said: &Markup) -> Markup {
    let button = |(id, sign, label): (&str, &str, &str)| html! { button type="button" id=(id) aria-label=(label) title=(label) { (sign) } };
    let keys = [
        ("first", "|◀", words.key_start()),
        ("back", "◀", words.key_back()),
        ("play", words.play(), words.key_play()),
        ("on", "▶", words.key_on()),
        ("last", "▶|", words.key_end()),
        ("flip", "⇅", words.key_turn()),
        ("pieces", "A", words.key_pieces()),
    ];
    html! {
        div.side.board-side {
            p.player id="above" {}
            div id="board" tabindex="0" role="img" aria-label=(words.board()) {}
            p.player id="below" {}
            div.keys { @for key in keys { (button(key)) } }
            (below)
        }
        div.side {
            p id="result" {}
            (said)
            div id="graph" {}
            ol id="moves" tabindex="0" aria-label=(words.moves()) {}
        }
    }
}

/// The comments and variations of the record that a game was imported from.
fn notes(language: Language, game: &Game) -> Markup {
    let last = |line: usize| match line.checked_sub(1).and_then(|at| game.variations.get(at)) {
        Some(variation) => variation.ply + u32::try_from(variation.moves.len()).unwrap_or(0),
        None => game.end.as_ref().map_or(u32::MAX, |end| end.plies + 1),
    };
    let place = |note: &Note| match note.ply {
        0 => language.at_the_start().to_owned(),
        ply if ply >= last(note.line as usize) => language.at_the_end().to_owned(),
        ply => language.at_move(ply),
    };
    let of = |line: usize| game.comments.iter().filter(move |note| note.line as usize == line);
    let list = |line: usize| {
        html! { @for note in of(line) {
            dt { (place(note)) }
            dd { @for (at, text) in note.text.iter().enumerate() { @if at > 0 { br; } (text) } }
        } }
    };
    html! {
        @if of(0).next().is_some() {
            h2 { (language.comments()) }
            dl.comments { (list(0)) }
        }
        @if !game.variations.is_empty() {
            h2 { (language.variations()) }
            ol.variations { @for (at, variation) in game.variations.iter().enumerate() { li {
                (language.from_move(variation.ply))
                @if variation.parent > 0 { (language.of_variation(variation.parent)) }
                ": " (variation.moves.join(" "))
                @if of(at + 1).next().is_some() { dl.comments { (list(at + 1)) } }
            } } }
        }
    }
}

/// The game as JSON.
pub async fn api(State(site): State<Site>, Path(number): Path<String>) -> Result<Json, Refusal> {
    Ok(Json::of(&found(&site, &number).await?.1))
}
