//! Games that are over, by what is searched for.

use super::{json, lines, no_json, no_page};
use crate::{
    Site,
    archive::{self, Found, PAGE, Search},
    layout::{Page, percent},
    visitor::Visitor,
};
use axum::{
    extract::{Query, State},
    response::Response,
};
use maud::{Markup, html};

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor, Query(search): Query<Search>) -> Response {
    let asked = search.clone();
    let found = match site.ask(move |desk| desk.search(&asked)).await {
        Ok(found) => found,
        Err(error) => return no_page(&error, &site, &visitor),
    };
    let title = visitor.say("Games", "棋譜");
    let content = html! {
        h1 { (title) }
        (form(&visitor, &search))
        p.facts { (found.total) " " (visitor.say(if found.total == 1 { "game" } else { "games" }, "局")) }
        (lines(visitor.lang, &found.games))
        (pages(&visitor, &search, &found))
        p.note { a href="/games/list.txt" { "list.txt" } " " (visitor.say("for ShogiHome and other programs", "（ShogiHome などから開けます）")) }
    };
    Page { title, place: "/games", scripts: &["times.js"], content }.show(&site, &visitor)
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, Query(search): Query<Search>) -> Response {
    match site.ask(move |desk| desk.search(&search)).await {
        Ok(found) => json(&found),
        Err(error) => no_json(&error),
    }
}

fn form(visitor: &Visitor, search: &Search) -> Markup {
    let say = |en, ja| visitor.say(en, ja);
    let text = |name: &str, value: &str, words: &str, kind: &str| {
        html! {
            label { span { (words) } input type=(kind) name=(name) value=(value) maxlength="200" autocomplete="off"; }
        }
    };
    html! {
        form.search action="/games" method="get" {
            (text("player", &search.player, say("player", "対局者"), "text"))
            (text("opponent", &search.opponent, say("opponent", "相手"), "text"))
            label { span { (say("result", "勝敗")) } select name="result" {
                @for (value, words) in [("", say("any", "すべて")), ("black", say("black won", "先手勝ち")), ("white", say("white won", "後手勝ち")), ("draw", say("drawn", "引き分け")), ("none", say("not counted", "無効"))] {
                    option value=(value) selected[value == search.result] { (words) }
                }
            } }
            label { span { (say("ending", "終局")) } select name="ending" {
                option value="" { (say("any", "すべて")) }
                @for (cause, words) in archive::causes(visitor.lang) { option value=(cause) selected[cause == search.ending] { (words) } }
            } }
            (text("from", &search.from, say("from", "開始日"), "date"))
            (text("to", &search.to, say("to", "終了日"), "date"))
            (text("least", &search.least, say("least plies", "最小手数"), "number"))
            (text("most", &search.most, say("most plies", "最大手数"), "number"))
            (text("opening", &search.opening, say("first moves", "初手から"), "text"))
            button type="submit" { (say("search", "検索")) }
        }
    }
}

fn pages(visitor: &Visitor, search: &Search, found: &Found) -> Markup {
    let last = found.total.div_ceil(PAGE).max(1);
    let query = [
        ("player", &search.player),
        ("opponent", &search.opponent),
        ("from", &search.from),
        ("to", &search.to),
        ("opening", &search.opening),
        ("result", &search.result),
        ("ending", &search.ending),
        ("least", &search.least),
        ("most", &search.most),
    ];
    let query: String = query
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("{key}={}&", percent(value)))
        .collect();
    let link = |page: u64, words: &str| html! { a href=(format!("/games?{query}page={page}")) { (words) } };
    html! { @if last > 1 { nav.pages aria-label=(visitor.say("Pages of games", "ページ")) {
        @if found.page > 1 { (link(found.page - 1, visitor.say("‹ newer", "‹ 新しい"))) }
        span { (found.page) " / " (last) }
        @if found.page < last { (link(found.page + 1, visitor.say("older ›", "古い ›"))) }
    } } }
}
