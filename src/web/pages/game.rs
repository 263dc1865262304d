//! One game: its board, its players' clocks and thoughts, its records.

use super::{data, json, no_json, no_page, records, time};
use crate::{
    Site, archive,
    desk::NoAnswer,
    game::{Game, Note},
    layout::Page,
    visitor::{Lang, Visitor},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use journal::now;
use maud::html;
use referee::entry::GameId;
use report::html::controls;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Shown {
    now: i64,
    since: String,
    causes: BTreeMap<&'static str, &'static str>,
    game: Game,
}

async fn found(site: &Site, number: &str) -> Result<(String, Game), NoAnswer> {
    let wrong = |_| NoAnswer::Missing("a game has a number, such as /games/7".to_owned());
    let number: u32 = number.parse().map_err(wrong)?;
    let since = site.0.relay.last().to_string();
    let game = site.ask(move |desk| desk.game(GameId(number.into()))).await?;
    game.map(|game| (since, game)).ok_or_else(|| NoAnswer::Missing(format!("there is no game {number} here")))
}

/// The page, or with an ending such as `.csa` the record.
pub async fn page(State(site): State<Site>, visitor: Visitor, Path(name): Path<String>) -> Response {
    if let Some((number, ending)) = name.split_once('.') {
        return records::record(&site, number, ending).await;
    }
    let (since, game) = match found(&site, &name).await {
        Ok(found) => found,
        Err(error) => return no_page(&error, &site, &visitor),
    };
    let title = format!("{} {} – {}", game.label(), game.names[0], game.names[1]);
    let lang = visitor.lang;
    let appeal = site.places().any(|(path, ..)| path == "/arbiter") && game.end.is_some();
    let content = content(lang, &game, appeal);
    let shown = Shown { now: now(), since, causes: archive::causes(lang), game };
    let content = html! { (content) (data(&shown)) };
    let scripts = &["board.js", "viewer.js", "live.js", "game.js"];
    Page { title: &title, place: "/games", scripts, content }.show(&site, &visitor)
}

fn content(lang: Lang, game: &Game, appeal: bool) -> maud::Markup {
    let player = |at: usize| html! { a href=(format!("/players/{}", game.players[at])) { (["☗ ", "☖ "][at]) (game.names[at]) } };
    html! {
        div.head {
            h1 id="heading" { span.number { (game.label()) } " " (player(0)) " – " (player(1)) }
            p.facts { (lang.say("round", "")) " " (game.round) (lang.say("", " 回戦")) " · " @match game.started { Some(at) => (time(at)), None => (lang.say("date unknown", "日付不明")) } " " span id="link" role="status" {} }
        }
        div.watch id="viewer" {
            div.side.board-side {
                p.player id="above" {}
                div id="board" tabindex="0" role="img" aria-label=(lang.say("Board", "盤面")) {}
                p.player id="below" {}
                (controls(lang.into()))
                button id="live" type="button" hidden { (lang.say("▶ to the last move", "▶ 最終手へ")) }
            }
            div.side {
                p id="result" {}
                h2 id="title" hidden {}
                p id="thought" hidden {}
                div.thoughts { div id="black-thought" {} div id="white-thought" {} }
                div id="graph" {}
                ol id="moves" tabindex="0" aria-label=(lang.say("Moves", "指し手")) {}
            }
        }
        @if game.pruned { p.note { (lang.say("The moves of this game were dropped, as those of old games.", "古い対局のため指し手は保存されていません。")) } }
        ul id="remarks" { @for words in &game.remarks { li { (words) } } }
        (notes(lang, game))
        @if game.machine.is_none() { p.records { (lang.say("Record: ", "棋譜: "))
            @for (at, ending) in ["csa", "kif", "jkf"].into_iter().enumerate() {
                @if at > 0 { " · " }
                a href=(format!("/games/{}.{ending}", game.number)) { (ending.to_uppercase()) }
            }
        } }
        @if appeal { p.note { a href=(format!("/appeal?game={}", game.number)) rel="nofollow" { (lang.say("Appeal against the result", "結果に異議を申し立てる")) } } }
        noscript { p { (lang.say("The board is drawn by this page's script; the record needs none.", "盤面の表示にはスクリプトが必要です。")) } }
    }
}

/// The comments and variations of the record that a game was imported from.
fn notes(lang: Lang, game: &Game) -> maud::Markup {
    let last = |line: usize| match line.checked_sub(1).and_then(|at| game.variations.get(at)) {
        Some(variation) => variation.ply + u32::try_from(variation.moves.len()).unwrap_or(0),
        None => game.end.as_ref().map_or(u32::MAX, |end| end.plies + 1),
    };
    let place = |note: &Note| match note.ply {
        0 => lang.say("start", "開始局面").to_owned(),
        ply if ply >= last(note.line as usize) => lang.say("end", "終局").to_owned(),
        ply => format!("{}{ply}{}", lang.say("move ", ""), lang.say("", "手目")),
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
            h2 { (lang.say("Comments", "コメント")) }
            dl.comments { (list(0)) }
        }
        @if !game.variations.is_empty() {
            h2 { (lang.say("Variations", "変化")) }
            ol.variations { @for (at, variation) in game.variations.iter().enumerate() { li {
                (lang.say("from move ", "")) (variation.ply) (lang.say("", "手目から"))
                @if variation.parent > 0 { (lang.say(" of variation ", "、変化")) (variation.parent) }
                ": " (variation.moves.join(" "))
                @if of(at + 1).next().is_some() { dl.comments { (list(at + 1)) } }
            } } }
        }
    }
}

/// The game as JSON.
pub async fn api(State(site): State<Site>, Path(number): Path<String>) -> Response {
    match found(&site, &number).await {
        Ok((_, game)) => json(&game),
        Err(error) => no_json(&error),
    }
}
