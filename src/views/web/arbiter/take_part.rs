//! Taking part: a stranger asks for an account, an arbiter approves, or has invited before.

use super::{
    dialogs::Forms,
    entrance::Entrance,
    forms::{Fields, Posted, Sent, back},
};
use crate::{
    accounts::{Office, Registers, may_speak, random},
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::{
    Extension,
    extract::Query,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use journal::{Invitation, Registered, Registration, now};
use maud::{Markup, html};
use notation::csa::wire::is_player_name;
use platform::content::hex;
use referee::operation::Action;
use report::plot::plain;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use words::{Language, Phrase};

/// Registrations that may wait.
const WAITING: usize = 200;
/// Invitations that may be open.
const INVITATIONS: usize = 200;
/// How long an invitation holds, in ms.
const HOLDS: i64 = 14 * 24 * 3600 * 1000;
/// Most characters of a note.
const NOTE: usize = 200;
/// Fewest characters of a password.
const SHORTEST: usize = 8;

/// The page where strangers ask.
pub async fn form(
    Extension(office): Extension<Office>,
    Extension(entrance): Extension<Arc<Option<Entrance>>>,
    visitor: Visitor,
    headers: HeaderMap,
    Query(query): Query<Fields>,
) -> Result<Page, Refusal> {
    let nobody = || Refusal::new(StatusCode::NOT_FOUND, Language::nobody_logs_in);
    let entrance = entrance.as_ref().as_ref().ok_or_else(nobody)?;
    let (words, open) = (visitor.language, may_speak(visitor.peer, &headers).is_err());
    let content = html! {
        h1 { (words.take_part()) }
        @match office.registers() {
            Registers::Anybody => p { (words.anybody_may()) },
            Registers::Configured => p { (words.entrants_are_configured()) },
            Registers::Accounts if office.is_closed() => p { (words.registration_closed()) },
            Registers::Accounts => (asks(words, query.text("code"), open)),
        }
        (entrance.shown(words, &headers, office.registers()))
        p { a href="/register/check" { (words.check_by_last_game()) } }
    };
    Ok(Page::new(words.take_part(), "/register", content))
}

fn asks(words: Language, code: &str, open: bool) -> Markup {
    html! {
        p { (words.how_to_register()) }
        @if open { p role="alert" { (words.password_is_readable()) } }
        form method="post" action="/register" {
            input type="hidden" name="code" value=(code);
            p { label { (words.name()) " " input name="name" maxlength="32" pattern="[A-Za-z0-9_@\\-][A-Za-z0-9_@.\\-]*" autocomplete="username" required; } }
            p { label { (words.new_password()) " " input name="password" type="password" minlength=(SHORTEST) maxlength="128" autocomplete="new-password" required; } }
            p { label { (words.note_to_arbiter()) " " input name="note" maxlength=(NOTE); } }
            p { button { (words.register()) } }
        }
    }
}

/// Takes in a registration.
pub async fn register(
    Extension(office): Extension<Office>,
    visitor: Visitor,
    Posted(fields): Posted,
) -> Result<Page, Refusal> {
    let [name, password, note] = ["name", "password", "note"].map(|field| fields.text(field).to_owned());
    acceptable(&office, &name, &password, &note)?;
    let hash = office.hash(visitor.peer, password).await?;
    let address = visitor.peer.address.to_string();
    let asked = Registration { name, hash, note, address, asked_at: now() };
    let code = fields.optional("code").map(|code| hashed(&code));
    let words: Phrase =
        match office.with_store(move |store| store.register(&asked, code.as_deref(), WAITING)).await? {
            Registered::Waits => Language::registration_waits,
            Registered::Admitted => Language::may_log_in,
            Registered::Taken => return Err(Refusal::conflict(Language::name_taken)),
            Registered::Full => return Err(Refusal::conflict(Language::too_many_wait)),
        };
    let title = visitor.language.take_part();
    let content = html! { h1 { (title) } p role="status" { (words(visitor.language)) } };
    Ok(Page::new(title, "/register", content))
}

/// Whether a registration can be taken in.
fn acceptable(office: &Office, name: &str, password: &str, note: &str) -> Result<(), Refusal> {
    let fault = match () {
        () if office.registers() != Registers::Accounts => Language::no_registration_needed,
        () if office.is_closed() => Language::registration_is_closed,
        () if !is_player_name(name) => Language::name_form,
        () if password.chars().count() < SHORTEST => Language::password_too_short,
        () if !is_line(note, NOTE) => Language::note_too_long,
        () => return Ok(()),
    };
    Err(Refusal::conflict(fault))
}

/// True if a text is one line of at most so many characters.
fn is_line(text: &str, most: usize) -> bool {
    text.chars().count() <= most && !text.chars().any(char::is_control)
}

fn hashed(code: &str) -> String {
    hex(&Sha256::digest(code.as_bytes()))
}

/// The registrations that wait, and invitations, on the arbiter's page.
pub fn waiting(forms: &Forms<'_>, registrations: &[Registration]) -> Markup {
    let Forms { signed, words } = forms;
    let (arbiter, invite) = (signed.is_arbiter(), words.invite());
    html! {
        div.title {
            h2 { (words.registrations()) }
            @if arbiter { (forms.dialog("invite", &html! { (invite) }, invite, &html! {
                form.order method="post" action="/arbiter/invite" {
                    input type="hidden" name="csrf" value=(signed.csrf);
                    label { (words.for_whom()) input name="note" maxlength=(NOTE) required; }
                    p.buttons { button { (invite) } }
                }
            })) }
        }
        @if registrations.is_empty() { p { (words.none()) } }
        ul.cells { @for asked in registrations { li {
            @let button = html! { span.name { (plain(&asked.name)) } span.facts { (plain(&asked.note)) } };
            (forms.dialog(&format!("asked-{}", asked.name), &button, &plain(&asked.name), &html! {
                p { (plain(&asked.note)) " – " (plain(&asked.address)) }
                @if arbiter {
                    form.order method="post" action="/arbiter/registration" {
                        input type="hidden" name="csrf" value=(signed.csrf);
                        input type="hidden" name="name" value=(asked.name);
                        (forms.reason(false))
                        p.buttons {
                            button name="decision" value="approve" { (words.approve()) }
                            button name="decision" value="refuse" { (words.refuse()) }
                        }
                    }
                }
            }))
        } } }
    }
}

/// Decides on a registration.
pub async fn decide(
    Extension(office): Extension<Office>,
    visitor: Visitor,
    sent: Sent,
) -> Result<Response, Refusal> {
    let Sent { signed, fields } = sent.by_arbiter()?;
    let admit = match fields.text("decision") {
        "approve" => true,
        "refuse" => false,
        _ => return Err(Refusal::bad(Language::unknown_decision)),
    };
    let [reason, name] = ["reason", "name"].map(|field| fields.text(field).to_owned());
    if !is_line(&reason, 500) {
        return Err(Refusal::bad(Language::reason_too_long));
    }
    let operations = office.running(Language::not_begun)?;
    let asked = name.clone();
    if !office.with_store(move |store| store.decide_registration(&asked, admit)).await? {
        return Err(Refusal::conflict(Language::nobody_waits));
    }
    let action = match admit {
        true => Action::RegistrationApproved { name },
        false => Action::RegistrationRefused { name },
    };
    let (by, done) = (signed.by(), visitor.language.action(&action));
    let noted = tokio::task::spawn_blocking(move || operations.note(&by, &reason, action)).await?;
    noted.map_err(|why| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, |language| why.text(language)))?;
    office.tell(&signed, done);
    Ok(back())
}

/// Makes an invitation, and shows its address once.
pub async fn invite(
    Extension(office): Extension<Office>,
    visitor: Visitor,
    sent: Sent,
) -> Result<Response, Refusal> {
    let Sent { signed, fields } = sent.by_arbiter()?;
    let (code, note) = (random(), fields.text("note").to_owned());
    if note.is_empty() || !is_line(&note, NOTE) {
        return Err(Refusal::bad(Language::note_of_invitation));
    }
    let invitation =
        Invitation { code: hashed(&code), note: note.clone(), by: signed.by(), expires_at: now() + HOLDS };
    if !office.with_store(move |store| store.invite(&invitation, INVITATIONS)).await? {
        return Err(Refusal::conflict(Language::too_many_invitations));
    }
    let words = visitor.language.invitation_address();
    office.tell(&signed, format!("{note} – {words} /register?code={}", percent(&code)));
    Ok(back())
}
