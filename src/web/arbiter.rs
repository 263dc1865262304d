//! The arbiter's page: everything that `renmei admin` does, in the browser, for accounts of its own; and the page where
//! strangers ask to take part.

mod appeal;
mod check;
mod desk;
mod entrance;
mod order;
mod take_part;
mod words;

pub use entrance::{Entrance, Games};

use crate::{
    Site,
    accounts::{Office, Refused, Signed},
    layout::Page,
    visitor::Visitor,
};
use arena::operations::request::Request;
use axum::{
    Extension, Form, Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{AppendHeaders, IntoResponse, Response},
    routing::{get, post},
};
use maud::{Markup, html};
use std::{collections::HashMap, sync::Arc};

/// The fields of a form.
type Fields = HashMap<String, String>;

/// Entries of the navigation that these pages add; where nobody can log in, nobody is asked to.
#[must_use]
pub fn places(entrance: Option<&Entrance>) -> Vec<(&'static str, &'static str, &'static str)> {
    let register = entrance.map(|_| ("/register", "Take part", "参加"));
    register.into_iter().chain([("/arbiter", "Arbiter", "審判")]).collect()
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

/// A field of a form; empty where it is absent.
fn field<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).map_or("", |text| text.trim())
}

/// The way back to the arbiter's page, so that loading it again repeats nothing.
fn back() -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, "/arbiter")]).into_response()
}

/// Why something was not done, as a page.
fn refuse(site: &Site, visitor: &Visitor, why: &Refused) -> Response {
    let status = match why {
        Refused::LockedOut | Refused::Busy | Refused::TooMany | Refused::TooManyAppeals => {
            StatusCode::TOO_MANY_REQUESTS
        }
        Refused::Store(_) | Refused::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        Refused::Password(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::FORBIDDEN,
    };
    say(site, visitor, status, &words::refused(visitor.lang, why))
}

fn say(site: &Site, visitor: &Visitor, status: StatusCode, words: &str) -> Response {
    let title = visitor.say("Not done", "実行されませんでした");
    let content = html! {
        h1 { (title) }
        p role="alert" { (report::plot::plain(words)) }
        p { a href="/arbiter" { (visitor.say("Back", "戻る")) } }
    };
    Page { title, place: "/arbiter", scripts: &[], content }.answer(status, site, visitor)
}

async fn show(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    Extension(entrance): Extension<Arc<Option<Entrance>>>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Response {
    let title = visitor.say("Arbiter", "審判");
    let is_league = entrance.as_ref().as_ref().is_some_and(Entrance::is_league);
    match office.signed(visitor.peer, &headers).await {
        Ok(signed) => match desk::content(&office, &signed, &visitor, is_league).await {
            Ok(content) => Page { title, place: "/arbiter", scripts: &[], content }.show(&site, &visitor),
            Err(why) => refuse(&site, &visitor, &why),
        },
        Err(Refused::Stranger) => {
            let content = login_form(&visitor);
            Page { title, place: "/arbiter", scripts: &[], content }.show(&site, &visitor)
        }
        Err(why) => refuse(&site, &visitor, &why),
    }
}

fn login_form(visitor: &Visitor) -> Markup {
    html! {
        h1 { (visitor.say("Arbiter", "審判")) }
        p { (visitor.say(
            "For those who run this event. The host makes accounts with `renmei account web add NAME`.",
            "運営者専用のページです。アカウントはホストが `renmei account web add NAME` で作成します。")) }
        form method="post" action="/arbiter/login" {
            p { label { (visitor.say("Name", "名前")) " " input name="name" autocomplete="username" maxlength="32" required; } }
            p { label { (visitor.say("Password", "パスワード")) " " input name="password" type="password" autocomplete="current-password" maxlength="128" required; } }
            p { button { (visitor.say("Log in", "ログイン")) } }
        }
    }
}

async fn log_in(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    // A password may begin and end with blanks.
    let password = fields.get("password").map_or("", String::as_str);
    let name = field(&fields, "name");
    match office.log_in(visitor.peer, &headers, name, password).await {
        Ok(cookies) => {
            let cookies = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
            (cookies, back()).into_response()
        }
        Err(why) => refuse(&site, &visitor, &why),
    }
}

async fn log_out(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    match office.sends(visitor.peer, &headers, field(&fields, "csrf")).await {
        Ok(signed) => ([(header::SET_COOKIE, office.log_out(&signed, visitor.peer))], back()).into_response(),
        Err(why) => refuse(&site, &visitor, &why),
    }
}

async fn carry_out(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    let signed = match office.sends(visitor.peer, &headers, field(&fields, "csrf")).await {
        Ok(signed) => signed,
        Err(why) => return refuse(&site, &visitor, &why),
    };
    let command = match order::command(&fields, visitor.lang) {
        Ok(command) => command,
        Err(why) => return say(&site, &visitor, StatusCode::BAD_REQUEST, &why),
    };
    if !order::may(signed.account.role, &command) {
        return say(&site, &visitor, StatusCode::FORBIDDEN, words::for_arbiters(visitor.lang));
    }
    let Some(operations) = office.operations().cloned() else {
        return say(&site, &visitor, StatusCode::CONFLICT, words::not_begun(visitor.lang));
    };
    let reason = Some(field(&fields, "reason").to_owned()).filter(|reason| !reason.is_empty());
    let (by, request) = (by(&signed), Request { named: None, reason, command });
    let lang = visitor.lang;
    let done = tokio::task::spawn_blocking(move || {
        let mut answer = operations.carry_out(&by, &request);
        answer.text = words::done(lang, &operations, &answer);
        answer
    });
    match done.await {
        Ok(answer) if answer.ok => {
            office.tell(&signed, answer.text);
            back()
        }
        Ok(answer) => say(&site, &visitor, StatusCode::CONFLICT, &answer.text),
        Err(broken) => refuse(&site, &visitor, &broken.into()),
    }
}

/// Who did it, as it goes on record: it cannot be taken for a user of the system.
fn by(signed: &Signed) -> String {
    format!("{} ({} on the page)", signed.account.name, signed.account.role)
}
