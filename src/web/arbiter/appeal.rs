//! Appeals: a player, or somebody with an account, asks the arbiter for another result of a game that is over.

use super::{Fields, field, refuse, say};
use crate::{
    Site,
    accounts::{DECOY, Office, may_speak, same_site},
    desk::NoAnswer,
    game::Game,
    layout::{Page, sorry},
    visitor::Visitor,
};
use arena::operations::{command::Command, request::Request};
use axum::{
    Extension, Form,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use journal::{Store, StoreError};
use maud::{Markup, html};
use notation::csa::wire::is_player_name;
use plan::{password, trip::trip};
use referee::entry::GameId;

/// Most characters of an appeal.
const WORDS: usize = 500;

/// A game that is over, as far as viewers may see it.
async fn over(site: &Site, fields: &Fields) -> Result<Game, (StatusCode, String)> {
    let missing = || (StatusCode::NOT_FOUND, "there is no such game here".to_owned());
    let number: u32 = field(fields, "game").parse().map_err(|_| missing())?;
    let game = site.ask(move |desk| desk.game(GameId(number.into()))).await;
    match game {
        Ok(Some(game)) if game.end.is_some() => Ok(game),
        Ok(Some(_)) => {
            Err((StatusCode::CONFLICT, format!("game {number} is still running: appeal when it is over")))
        }
        Ok(None) => Err(missing()),
        Err(NoAnswer::Busy) => Err((StatusCode::SERVICE_UNAVAILABLE, NoAnswer::Busy.to_string())),
        Err(_) => Err((StatusCode::SERVICE_UNAVAILABLE, "the game cannot be looked up now".to_owned())),
    }
}

/// The page where an appeal is written.
pub async fn form(
    State(site): State<Site>,
    visitor: Visitor,
    headers: HeaderMap,
    Query(query): Query<Fields>,
) -> Response {
    match over(&site, &query).await {
        Ok(game) => {
            let title = visitor.say("Appeal", "異議申し立て");
            let content = asks(&visitor, &game, may_speak(visitor.peer, &headers).is_err());
            Page { title, place: "/games", scripts: &[], content }.show(&site, &visitor)
        }
        Err((status, why)) => sorry(status, &site, &visitor, &why),
    }
}

fn asks(visitor: &Visitor, game: &Game, open: bool) -> Markup {
    let say = |en, ja| visitor.say(en, ja);
    html! {
        h1 { (say("Appeal", "異議申し立て")) }
        p { a href=(format!("/games/{}", game.number)) { "#" (game.number) " ☗ " (game.names[0]) " – ☖ " (game.names[1]) } }
        p { (say(
            "Say why the result is wrong. The appeal and its answer are shown to everybody in the page of the game.",
            "結果が誤りである理由を書いてください。申し立てと回答は対局のページに公開されます。")) }
        @if open {
            p role="alert" { (say(
                "This page is not encrypted: others may read the secret on its way.",
                "このページは暗号化されていません。秘密の文字列が途中で読まれる可能性があります。")) }
        }
        form method="post" action="/appeal" {
            input type="hidden" name="game" value=(game.number);
            p { label { (say("Login name of a player of this game, or of an account here", "この対局の対局者、または登録済みのログイン名")) " " input name="name" maxlength="32" autocomplete="username" required; } }
            p { label { (say("The secret or password of that login", "そのログインの秘密の文字列またはパスワード")) " " input name="secret" type="password" maxlength="128" autocomplete="current-password" required; } }
            p { label { (say("Why", "理由")) " " input name="words" maxlength=(WORDS) required; } }
            p { button { (say("Appeal", "申し立てる")) } }
        }
    }
}

/// Files an appeal.
pub async fn file(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    if let Err(why) = same_site(&headers) {
        return refuse(&site, &visitor, &why);
    }
    let (name, words) = (field(&fields, "name").to_owned(), field(&fields, "words").to_owned());
    let fault = match () {
        () if !is_player_name(&name) => {
            Some(visitor.say("not a valid login name", "ログイン名として使えない名前です。"))
        }
        () if words.is_empty() => Some(
            visitor.say("an appeal says why the result is wrong", "結果が誤りである理由を書いてください。"),
        ),
        () if words.chars().count() > WORDS || words.chars().any(char::is_control) => Some(visitor.say(
            "an appeal has at most 500 characters, and no control characters",
            "申し立ては500文字以内で、制御文字は使えません。",
        )),
        () => None,
    };
    if let Some(why) = fault {
        return say(&site, &visitor, StatusCode::BAD_REQUEST, why);
    }
    let game = match over(&site, &fields).await {
        Ok(game) => game.number,
        Err((status, why)) => return sorry(status, &site, &visitor, &why),
    };
    let Some(operations) = office.operations().cloned() else {
        return say(
            &site,
            &visitor,
            StatusCode::CONFLICT,
            visitor.say("nobody plays this event now", "大会は現在進行していません。"),
        );
    };
    let (asked, secret, event) = (name.clone(), field(&fields, "secret").to_owned(), site.event().to_owned());
    let fits = move |store: &Store| is_known(store, &event, GameId(game), (&asked, &secret));
    if let Err(why) = office.may_appeal(visitor.peer, &name, fits).await {
        return refuse(&site, &visitor, &why);
    }
    let request = Request { named: None, reason: Some(words), command: Command::Appeal { game } };
    let by = format!("{name} (on the page)");
    match tokio::task::spawn_blocking(move || operations.carry_out(&by, &request)).await {
        Ok(answer) if answer.ok => filed(&site, &visitor, game),
        Ok(answer) => say(&site, &visitor, StatusCode::CONFLICT, &answer.text),
        Err(broken) => refuse(&site, &visitor, &broken.into()),
    }
}

fn filed(site: &Site, visitor: &Visitor, game: u64) -> Response {
    let title = visitor.say("Appeal", "異議申し立て");
    let content = html! {
        h1 { (title) }
        p role="status" { (visitor.say(
            "The appeal is on record. The answer will be shown in the page of the game.",
            "申し立てを受け付けました。回答は対局のページに表示されます。")) }
        p { a href=(format!("/games/{game}")) { "#" (game) } }
    };
    Page { title, place: "/games", scripts: &[], content }.show(site, visitor)
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
    let events = store.events()?;
    let Some(event) = events.iter().find(|known| known.name == event) else { return Ok(false) };
    let (Some(game), Some(key)) = (store.game(event.id, game)?, store.trip_key(event.id)?) else {
        return Ok(false);
    };
    let Some(shown) = trip(&key, name, secret) else { return Ok(false) };
    let id = format!("{name}+{shown}");
    let plays = |name: &str| [&game.row.black, &game.row.white].into_iter().any(|player| player == name);
    let trips = store.entrant_trips(event.id)?;
    let enters = trips.iter().any(|entrant| entrant.name == name && entrant.trip == shown);
    Ok(plays(&id) || enters && plays(name))
}
