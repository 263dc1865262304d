//! The arbiter's page: everything that `renmei admin` does, in the browser, for accounts of its own; and the page where
//! strangers ask to take part.

mod appeal;
mod check;
mod desk;
mod dialogs;
mod entrance;
mod forms;
mod order;
mod take_part;

pub use entrance::{Entrance, Games, settings};

use crate::{
    Site,
    accounts::Office,
    components::prose,
    layout::Page,
    parts::{FOLLOWING, fresh},
    refusals::Refusal,
    visitor::Visitor,
};
use arena::operations::{
    Operations,
    request::{Answer, Request as Order},
};
use axum::{
    Extension, Router,
    extract::State,
    http::{HeaderMap, header},
    response::{AppendHeaders, IntoResponse, Response},
    routing::{get, post},
};
use forms::{Posted, Sent, back};
use maud::{Markup, html};
use report::plot::plain;
use std::sync::Arc;
use words::{Language, Phrase};

/// Entries of the navigation that these pages add; where nobody can log in, nobody is asked to.
pub fn places(entrance: Option<&Entrance>) -> Vec<(&'static str, Phrase)> {
    let register: Option<(_, Phrase)> = entrance.map(|_| ("/register", Language::take_part as Phrase));
    register.into_iter().chain([("/arbiter", Language::arbiter as Phrase)]).collect()
}

/// The pages of an office, and of the way in to its games.
pub fn routes(office: Office, entrance: Option<Entrance>) -> Router<Site> {
    Router::new()
        .route("/arbiter", get(show))
        .route("/arbiter/login", post(log_in))
        .route("/arbiter/logout", post(log_out))
        .route("/arbiter/do", post(carry_out))
        .route("/arbiter/registration", post(take_part::decide))
        .route("/arbiter/invite", post(take_part::invite))
        .route("/register", get(take_part::form).post(take_part::register))
        .route("/register/check", get(check::show))
        .route("/appeal", get(appeal::form).post(appeal::file))
        .layer(Extension(office))
        .layer(Extension(Arc::new(entrance)))
}

async fn show(
    Extension(office): Extension<Office>,
    Extension(entrance): Extension<Arc<Option<Entrance>>>,
    State(site): State<Site>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Page, Refusal> {
    let place = match entrance.as_ref() {
        Some(entrance) if entrance.is_league() => desk::Place::League,
        Some(_) => desk::Place::Network,
        None => desk::Place::Here,
    };
    let title = visitor.language.arbiter();
    let Some(signed) = office.signed(visitor.peer, &headers).await? else {
        return Ok(Page::new(title, "/arbiter", login_form(visitor.language)));
    };
    let takes_pairings = site.now(|live| {
        let standings = live.fold.standings();
        standings.rounds_to_pair(standings.now()).is_some()
    });
    let takes_pairings = takes_pairings.unwrap_or(false);
    let stand = (takes_pairings, site.now(|live| live.closed).unwrap_or(false));
    let content = desk::content(&office, &signed, visitor.language, place, stand).await?;
    // The script that takes the page anew has no use for what was done: it is for the person who ordered it.
    let is_script = headers.get("sec-fetch-dest").is_some_and(|dest| dest == "empty");
    let told = if is_script { None } else { office.told(&signed) };
    let content = html! {
        @if let Some(told) = told { p.done role="status" { (prose(&plain(&told))) } }
        (fresh(&site, &content))
    };
    Ok(Page::new(title, "/arbiter", content).with(FOLLOWING))
}

fn login_form(words: Language) -> Markup {
    html! {
        h1 { (words.arbiter()) }
        p { (prose(words.for_those_who_run_it())) }
        form method="post" action="/arbiter/login" {
            p { label { (words.name()) " " input name="name" autocomplete="username" maxlength="32" required; } }
            p { label { (words.password()) " " input name="password" type="password" autocomplete="current-password" maxlength="128" required; } }
            p { button { (words.log_in()) } }
        }
    }
}

async fn log_in(
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Posted(fields): Posted,
) -> Result<Response, Refusal> {
    let (name, password) = (fields.text("name"), fields.as_sent("password"));
    let cookies = office.log_in(visitor.peer, &headers, name, password).await?;
    let cookies = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok((cookies, back()).into_response())
}

async fn log_out(Extension(office): Extension<Office>, visitor: Visitor, sent: Sent) -> Response {
    ([(header::SET_COOKIE, office.log_out(&sent.signed, visitor.peer))], back()).into_response()
}

async fn carry_out(
    Extension(office): Extension<Office>,
    visitor: Visitor,
    Sent { signed, fields }: Sent,
) -> Result<Response, Refusal> {
    let command = order::command(&fields)?;
    order::may(&signed, &command)?;
    let operations = office.running(Language::not_begun)?;
    let order = Order { named: None, reason: fields.optional("reason"), event: None, command };
    let answer = forms::carry_out(operations.clone(), signed.by(), order).await?;
    office.tell(&signed, done(visitor.language, &operations, &answer));
    Ok(back())
}

/// What was done, from the answer to an order.
fn done(language: Language, operations: &Operations, answer: &Answer) -> String {
    let Some(number) = answer.operation else { return answer.text.clone() };
    match (language, operations.in_force(|in_force| in_force.get(number).cloned())) {
        (Language::Japanese, Some(done)) => language.operation(&done),
        _ => format!("{} (operation {number})", answer.text),
    }
}
