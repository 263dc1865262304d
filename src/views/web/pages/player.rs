//! A player: results against each opponent, the rating over the games, the last games.

use crate::{
    Site,
    archive::Search,
    desk::{Desk, NoAnswer},
    layout::{Page, percent},
    lists::Line,
    parts::{Json, lines},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::{Path, State};
use maud::html;
use report::{
    exhibit::{Cell, Column, Exhibit, minus},
    plot::{Size, plain, player_ratings},
};
use serde::Serialize;
use words::{Language, Message};

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
    let missing = || NoAnswer::Missing(Message::of(|language| language.no_player(number)));
    let name = history.players.get(number).ok_or_else(missing)?.clone();
    let row = history.report.standings.iter().find(|row| row.name == name).ok_or_else(missing)?.clone();
    let opponents = history.report.pairs.iter().filter_map(|pair| {
        let (opponent, [wins, losses]) = pair.seen_by(&name)?;
        let (games, draws) = (pair.games, pair.draws);
        Some(Opponent { number: history.number(opponent), name: plain(opponent), games, wins, losses, draws })
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

async fn found(site: &Site, number: &str, language: Language) -> Result<Shown, NoAnswer> {
    let number = number.parse().map_err(|_| NoAnswer::Missing(Message::of(Language::player_address)))?;
    site.ask(move |desk| shown(desk, number, language)).await
}

/// The page.
pub async fn page(
    State(site): State<Site>,
    visitor: Visitor,
    Path(number): Path<String>,
) -> Result<Page, Refusal> {
    let words = visitor.language;
    let shown = found(&site, &number, words).await?;
    let row = &shown.row;
    let content = html! {
        h1 { (shown.name) }
        p { (rating(row)) " · " (words.of_games(row.games)) ": +" (row.wins) " −" (row.losses) " =" (row.draws) }
        p.facts { "☗ +" (row.black.wins) " −" (row.black.losses) " =" (row.black.draws) " · ☖ +" (row.white.wins) " −" (row.white.losses) " =" (row.white.draws)
            @if row.faults > 0 { " · " (words.lost_by_faults()) ": " (row.faults) } }
        @if shown.ratings.len() > 1 { h2 { (words.ratings_over_games()) } figure { @for picture in &shown.picture { (maud::PreEscaped(picture)) } } }
        h2 { (words.opponents()) }
        (opponents(&shown.opponents, words).page(words.opponents()))
        h2 { (words.last_games()) }
        (lines(words, &shown.games))
        p { a href=(format!("/games?player={}", percent(&shown.name))) { (words.all_games()) } }
    };
    Ok(Page::new(shown.name, "/table", content).with(&["times.js"]))
}

/// The same as JSON.
pub async fn api(State(site): State<Site>, Path(number): Path<String>) -> Result<Json, Refusal> {
    Ok(Json::of(&found(&site, &number, Language::English).await?))
}

/// The rating in words.
fn rating(row: &report::PlayerRow) -> String {
    let error = row.elo.error().map(|error| format!(" ± {error:.0}")).unwrap_or_default();
    row.elo
        .value()
        .map_or_else(|| "Elo –".to_owned(), |elo| format!("Elo {}{error}", minus(&format!("{elo:+.0}"))))
}

/// The results against each opponent.
fn opponents(opponents: &[Opponent], words: Language) -> Exhibit {
    let name = |opponent: &Opponent| {
        let link = opponent.number.map(|number| format!("/players/{number}"));
        Cell { link, ..Cell::words(&opponent.name) }
    };
    let columns = vec![
        Column::left(words.opponent(), name),
        Column::right(words.game_column(), |opponent: &Opponent| Cell::count(opponent.games)),
        Column::right(words.pick("wins", "勝"), |opponent: &Opponent| Cell::count(opponent.wins)),
        Column::right(words.pick("loss", "敗"), |opponent: &Opponent| Cell::count(opponent.losses)),
        Column::right(words.pick("draw", "分"), |opponent: &Opponent| Cell::count(opponent.draws)),
    ];
    Exhibit::of(columns, opponents)
}

impl Desk {
    /// The last games of a player.
    fn games_of(&mut self, number: usize) -> Result<Vec<Line>, NoAnswer> {
        let search = Search { number: Some(number), ..Search::default() };
        Ok(self.search(&search)?.games)
    }
}
