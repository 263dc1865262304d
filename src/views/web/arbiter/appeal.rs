//! Appeals: a player, or somebody with an account, asks the arbiter for another result of a game that is over.

use super::forms::{Fields, Posted, carry_out};
use crate::{
    Site,
    accounts::{DECOY, Office, may_speak},
    desk::NoAnswer,
    game::Game,
    layout::Page,
    refusals::Refusal,
    visitor::Visitor,
};
use arena::operations::{command::Command, request::Request as Order};
use axum::{
    Extension,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
};
use journal::{Store, StoreError};
use maud::{Markup, html};
use notation::csa::wire::is_player_name;
use plan::{password, trip::trip};
use referee::entry::GameId;
use words::Language;

/// Most characters of an appeal.
const WORDS: usize = 500;

/// A game that is over, as far as viewers may see it.
async fn over(site: &Site, fields: &Fields) -> Result<Game, Refusal> {
    let missing = || Refusal::new(StatusCode::NOT_FOUND, Language::no_such_game);
    let number: u32 = fields.text("game").parse().map_err(|_| missing())?;
    let found = site.ask(move |desk| desk.game(GameId(number.into()))).await;
    let game = found.map_err(|error| match error {
        NoAnswer::Busy => error.into(),
        _ => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Language::game_not_found_now),
    })?;
    match game {
        Some(game) if game.end.is_some() => Ok(game),
        Some(_) => Err(Refusal::conflict(|language| language.still_running(number.into()))),
        None => Err(missing()),
    }
}

/// The page where an appeal is written.
pub async fn form(
    State(site): State<Site>,
    visitor: Visitor,
    headers: HeaderMap,
    Query(query): Query<Fields>,
) -> Result<Page, Refusal> {
    let game = over(&site, &query).await?;
    let content = asks(visitor.language, &game, may_speak(visitor.peer, &headers).is_err());
    Ok(Page::new(visitor.language.appeal(), "/games", content))
}

fn asks(words: Language, game: &Game, open: bool) -> Markup {
    html! {
        h1 { (words.appeal()) }
        p { a href=(format!("/games/{}", game.number)) { "#" (game.number) " ☗ " (game.names[0]) " – ☖ " (game.names[1]) } }
        p { (words.how_to_appeal()) }
        @if open { p role="alert" { (words.secret_is_readable()) } }
        form method="post" action="/appeal" {
            input type="hidden" name="game" value=(game.number);
            p { label { (words.name_of_appellant()) " " input name="name" maxlength="32" autocomplete="username" required; } }
            p { label { (words.secret_of_appellant()) " " input name="secret" type="password" maxlength="128" autocomplete="current-password" required; } }
            p { label { (words.why()) " " input name="words" maxlength=(WORDS) required; } }
            p { button { (words.file_appeal()) } }
        }
    }
}

/// Files an appeal.
pub async fn file(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    Posted(fields): Posted,
) -> Result<Page, Refusal> {
    let name = fields.text("name").to_owned();
    let reason = written(&name, fields.text("words"))?;
    let game = over(&site, &fields).await?.number;
    let operations = office.running(Language::nobody_plays)?;
    let (asked, secret, event) = (name.clone(), fields.text("secret").to_owned(), site.event().to_owned());
    let fits = move |store: &Store| is_known(store, &event, GameId(game), (&asked, &secret));
    office.may_appeal(visitor.peer, &name, fits).await?;
    let order = Order { named: None, reason: Some(reason), event: None, command: Command::Appeal { game } };
    carry_out(operations, format!("{name} (on the page)"), order).await?;
    Ok(filed(visitor.language, game))
}

/// The words of an appeal, if they and the name can stand on record.
fn written(name: &str, words: &str) -> Result<String, Refusal> {
    let fault = match () {
        () if !is_player_name(name) => Language::not_a_login_name,
        () if words.is_empty() => Language::appeal_needs_words,
        () if words.chars().count() > WORDS || words.chars().any(char::is_control) => {
            Language::appeal_too_long
        }
        () => return Ok(words.to_owned()),
    };
    Err(Refusal::bad(fault))
}

fn filed(words: Language, game: u64) -> Page {
    let content = html! {
        h1 { (words.appeal()) }
        p role="status" { (words.appeal_filed()) }
        p { a href=(format!("/games/{game}")) { "#" (game) } }
    };
    Page::new(words.appeal(), "/games", content)
}

/// Whether somebody is who plays or has an account here: the password of an account, or the secret behind the trip with which
/// a player of the game logged in. A player without a secret cannot prove it. The same is looked up and computed for every
/// name, so that the time does not tell which names have accounts.
fn is_known(
    store: &Store,
    event: &str,
    game: GameId,
    (name, secret): (&str, &str),
) -> Result<bool, StoreError> {
    let hash = store.account_hash(name)?;
    let fits = password::fits(secret, hash.as_deref().unwrap_or(DECOY));
    let plays = plays_with(store, event, game, (name, secret))?;
    Ok(if hash.is_some() { fits } else { plays })
}

/// Whether a player of the game logged in with this name and this secret.
fn plays_with(
    store: &Store,
    event: &str,
    game: GameId,
    (name, secret): (&str, &str),
) -> Result<bool, StoreError> {
    let Some(event) = store.event_named(event)? else { return Ok(false) };
    let (Some(names), Some(key)) = (store.names(event, game)?, store.trip_key(event)?) else {
        return Ok(false);
    };
    let Some(shown) = trip(&key, name, secret) else { return Ok(false) };
    let id = format!("{name}+{shown}");
    // A substitute has not played the games of who had the place before.
    let plays = |name: &str| names.iter().take(2).any(|player| player == name);
    let trips = store.entrant_trips(event)?;
    let enters = trips.iter().any(|entrant| entrant.name == name && entrant.trip == shown);
    Ok(plays(&id) || enters && plays(name))
}
