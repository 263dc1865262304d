//! A player: results against each opponent, the rating over the games, the last games.

use super::{json, lines, no_json, no_page};
use crate::{
    Site,
    archive::{Line, Search},
    desk::{Desk, NoAnswer},
    layout::Page,
    visitor::{Lang, Visitor},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use maud::html;
use report::{
    html::Language,
    plot::{Size, plain, player_ratings},
};
use serde::Serialize;

/// Everything that the page shows.
#[derive(Serialize)]
struct Shown {
    number: usize,
    name: String,
    row: report::PlayerRow,
    opponents: Vec<Opponent>,
    /// Elo after so many games of the event.
    ratings: Vec<(u64, Option<f64>)>,
    games: Vec<Line>,
    #[serde(skip)]
    picture: [String; 2],
}

#[derive(Serialize)]
struct Opponent {
    number: Option<usize>,
    name: String,
    games: u64,
    wins: u64,
    losses: u64,
    draws: u64,
}

fn shown(desk: &mut Desk, number: usize, language: Language) -> Result<Shown, NoAnswer> {
    let history = desk.history()?;
    let missing = || NoAnswer::Missing(format!("there is no player {number}"));
    let name = history.players.get(number).ok_or_else(missing)?.clone();
    let row = history.report.standings.iter().find(|row| row.name == name).ok_or_else(missing)?.clone();
    let at = |name: &str| history.players.iter().position(|known| known == name);
    let opponents = history.report.pairs.iter().filter_map(|pair| match () {
        () if pair.name == name => Some(Opponent {
            number: at(&pair.opponent),
            name: plain(&pair.opponent),
            games: pair.games,
            wins: pair.wins,
            losses: pair.losses,
            draws: pair.draws,
        }),
        () if pair.opponent == name => Some(Opponent {
            number: at(&pair.name),
            name: plain(&pair.name),
            games: pair.games,
            wins: pair.losses,
            losses: pair.wins,
            draws: pair.draws,
        }),
        () => None,
    });
    let opponents = opponents.collect();
    let ratings = history
        .milestones()
        .iter()
        .map(|milestone| (milestone.games, milestone.elo.get(number).and_then(|elo| elo.value())))
        .collect();
    let picture = [Size::Wide, Size::Narrow]
        .map(|size| player_ratings(&history, number, size, language).inline().into_string());
    let games = desk.games_of(number)?;
    Ok(Shown { number, name: plain(&name), row, opponents, ratings, games, picture })
}

async fn found(site: &Site, number: &str, lang: Lang) -> Result<Shown, NoAnswer> {
    let number = number
        .parse()
        .map_err(|_| NoAnswer::Missing("a player has a number, such as /players/0".to_owned()))?;
    site.ask(move |desk| shown(desk, number, lang.into())).await
}

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor, Path(number): Path<String>) -> Response {
    let shown = match found(&site, &number, visitor.lang).await {
        Ok(shown) => shown,
        Err(error) => return no_page(&error, &site, &visitor),
    };
    let say = |en, ja| visitor.say(en, ja);
    let row = &shown.row;
    let content = html! {
        h1 { (shown.name) }
        p { (rating(row)) " · " (row.games) " " (say("games", "局")) ": +" (row.wins) " −" (row.losses) " =" (row.draws) }
        p.facts { "☗ +" (row.black.wins) " −" (row.black.losses) " =" (row.black.draws) " · ☖ +" (row.white.wins) " −" (row.white.losses) " =" (row.white.draws)
            @if row.faults > 0 { " · " (say("lost by faults", "反則等による負け")) ": " (row.faults) } }
        @if shown.ratings.len() > 1 { h2 { (say("Rating over the games", "レートの推移")) } figure { @for picture in &shown.picture { (maud::PreEscaped(picture)) } } }
        h2 { (say("Opponents", "相手別")) }
        div.scroll { table {
            thead { tr { th.name { (say("opponent", "相手")) } th { (say("games", "局数")) } th { "+" } th { "−" } th { "=" } } }
            tbody { @for opponent in &shown.opponents { tr {
                th.name scope="row" { @if let Some(at) = opponent.number { a href=(format!("/players/{at}")) { (opponent.name) } } @else { (opponent.name) } }
                td { (opponent.games) } td { (opponent.wins) } td { (opponent.losses) } td { (opponent.draws) }
            } } }
        } }
        h2 { (say("Last games", "最近の対局")) }
        (lines(visitor.lang, &shown.games))
        p { a href=(format!("/games?player={}", crate::layout::percent(&shown.name))) { (say("all games", "すべての棋譜")) } }
    };
    Page { title: &shown.name, place: "/table", scripts: &["times.js"], content }.show(&site, &visitor)
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, Path(number): Path<String>) -> Response {
    match found(&site, &number, Lang::En).await {
        Ok(shown) => json(&shown),
        Err(error) => no_json(&error),
    }
}

/// The rating in words.
fn rating(row: &report::PlayerRow) -> String {
    let error = row.elo_error.map(|error| format!(" ± {error:.0}")).unwrap_or_default();
    row.elo.map_or_else(
        || "Elo –".to_owned(),
        |elo| format!("Elo {}{error}", format!("{elo:+.0}").replace('-', "−")),
    )
}

impl Desk {
    /// The last games of a player.
    fn games_of(&mut self, number: usize) -> Result<Vec<Line>, NoAnswer> {
        let search = Search { number: Some(number), ..Search::default() };
        Ok(self.search(&search)?.games)
    }
}
