//! Who met whom: a line a player with the opponent, the colour and the result of each round.

use crate::{
    Site,
    layout::Page,
    parts::{FOLLOWING, fresh},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::State;
use maud::{Markup, html};
use referee::entry::PlayerId;
use report::{
    exhibit::Cell,
    rounds::{MOST_SHOWN, RoundTable},
};
use words::Language;

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Result<Page, Refusal> {
    let (history, words) = (site.ask(|desk| desk.history()).await?, visitor.language);
    let facts = site.now(|live| live.facts.clone());
    let is_private = |name: &str| facts.as_ref().is_some_and(|facts| facts.is_private(name));
    let content = content(&history.rounds.clone().without(is_private), words);
    let content = html! { h1 { (words.round_table()) } (fresh(&site, &content)) };
    Ok(Page::new(words.round_table(), "/rounds", content).with(FOLLOWING))
}

/// The last rounds; a narrow window has the current one first.
fn content(table: &RoundTable, words: Language) -> Markup {
    let shown = table.rounds().saturating_sub(MOST_SHOWN)..table.rounds();
    let name = |player: PlayerId, name: &str| Cell {
        link: Some(format!("/players/{}", player.0)),
        ..Cell::words(name)
    };
    let [straight, turned] =
        [table.exhibit_of(shown.clone(), words, name), table.exhibit_of(shown.rev(), words, name)];
    html! {
        @if table.rounds() == 0 { p { (words.no_rounds()) } } @else {
            div.straight { (straight.page(words.round_table())) }
            div.turned { (turned.page(words.round_table())) }
            p.note { (words.about_round_table()) }
        }
    }
}
