//! Games that are over, by what is searched for.

use crate::{
    Site,
    archive::{PAGE, Search},
    layout::{Page, percent},
    lists::Found,
    parts::{Json, lines},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::{Query, State};
use maud::{Markup, html};
use words::Language;

/// The page.
pub async fn page(
    State(site): State<Site>,
    visitor: Visitor,
    Query(search): Query<Search>,
) -> Result<Page, Refusal> {
    let (asked, language) = (search.clone(), visitor.language);
    let found = site.ask(move |desk| desk.search(&asked)).await?;
    let content = html! {
        h1 { (language.games()) }
        (form(language, &search))
        p.facts { (language.of_games(found.total)) }
        (lines(language, &found.games))
        (pages(language, &search, &found))
        p.note { a href="/games/list.txt" { "list.txt" } " " (language.for_programs()) }
    };
    Ok(Page::new(language.games(), "/games", content).with(&["times.js"]))
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, Query(search): Query<Search>) -> Result<Json, Refusal> {
    Ok(Json::of(&site.ask(move |desk| desk.search(&search)).await?))
}

fn form(words: Language, search: &Search) -> Markup {
    let results = [
        ("", words.any()),
        ("black", words.black_won()),
        ("white", words.white_won()),
        ("draw", words.drawn()),
        ("none", words.not_counted()),
    ];
    let text = |name: &str, value: &str, words: &str, kind: &str| {
        html! {
            label { span { (words) } input type=(kind) name=(name) value=(value) maxlength="200" autocomplete="off"; }
        }
    };
    html! {
        form.search action="/games" method="get" {
            (text("player", &search.player, words.player(), "text"))
            (text("opponent", &search.opponent, words.opponent(), "text"))
            label { span { (words.result()) } select name="result" {
                @for (value, words) in results {
                    option value=(value) selected[value == search.result] { (words) }
                }
            } }
            label { span { (words.ending()) } select name="ending" {
                option value="" { (words.any()) }
                @for (cause, words) in words.causes() { option value=(cause) selected[cause == search.ending] { (words) } }
            } }
            (text("from", &search.from, words.from_day(), "date"))
            (text("to", &search.to, words.to_day(), "date"))
            (text("least", &search.least, words.least_plies(), "number"))
            (text("most", &search.most, words.most_plies(), "number"))
            (text("opening", &search.opening, words.first_moves(), "text"))
            button type="submit" { (words.search()) }
        }
    }
}

fn pages(language: Language, search: &Search, found: &Found) -> Markup {
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
    html! { @if last > 1 { nav.pages aria-label=(language.pages_of_games()) {
        @if found.page > 1 { (link(found.page - 1, language.newer())) }
        span { (found.page) " / " (last) }
        @if found.page < last { (link(found.page + 1, language.older())) }
    } } }
}
