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

pub use entrance::{Entrance, Games};

use crate::{Site, accounts::Office, layout::Page, refusals::Refusal, visitor::Visitor};
use arena::operations::{
    Operations,
    request::{Answer, Request as Order},
};
use axum::{
    Extension, Router,
    http::{HeaderMap, header},
    response::{AppendHeaders, IntoResponse, Response},
    routing::{get, post},
};
use forms::{Posted, Sent, back};
use maud::{Markup, html};
use std::sync::Arc;
use words::{Language, Phrase};

/// Operations among which the one that was just done is looked for.
const RECENT: usize = 50;

/// Entries of the navigation that these pages add; where nobody can log in, nobody is asked to.
#[must_use]
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
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Page, Refusal> {
    let is_league = entrance.as_ref().as_ref().is_some_and(Entrance::is_league);
    let content = match office.signed(visitor.peer, &headers).await? {
        Some(signed) => desk::content(&office, &signed, visitor.language, is_league).await?,
        None => login_form(visitor.language),
    };
    Ok(Page::new(visitor.language.arbiter(), "/arbiter", content))
}

fn login_form(words: Language) -> Markup {
    html! {
        h1 { (words.arbiter()) }
        p { (words.for_those_who_run_it()) }
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
    let order = Order { named: None, reason: fields.optional("reason"), command };
    let answer = forms::carry_out(operations.clone(), signed.by(), order).await?;
    office.tell(&signed, done(visitor.language, &operations, &answer));
    Ok(back())
}

/// What was done, from the answer to an order.
fn done(language: Language, operations: &Operations, answer: &Answer) -> String {
    let Some(number) = answer.operation else { return answer.text.clone() };
    let done = operations.recent(RECENT).into_iter().find(|(operation, _)| operation.number == number);
    match (language, done) {
        (Language::Japanese, Some((done, _))) => language.operation(&done),
        _ => format!("{} (operation {number})", answer.text),
    }
}
