//! Taking part: a stranger asks for an account, an arbiter approves, or has invited before.

use super::{Entrance, Fields, back, by, desk::Forms, field, refuse, say, words};
use crate::{
    Site,
    accounts::{Office, Refused, Registers, Signed, may_speak, random, same_site},
    layout::{Page, percent, sorry},
    visitor::Visitor,
};
use axum::{
    Extension, Form,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use journal::{Invitation, Registered, Registration, Role, now};
use maud::{Markup, html};
use notation::csa::wire::is_player_name;
use referee::operation::Action;
use report::plot::plain;
use sha2::{Digest, Sha256};
use std::sync::Arc;

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
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    Extension(entrance): Extension<Arc<Option<Entrance>>>,
    visitor: Visitor,
    headers: HeaderMap,
    Query(query): Query<Fields>,
) -> Response {
    let title = visitor.say("Take part", "参加");
    let Some(entrance) = entrance.as_ref() else {
        let why = visitor.say("nobody logs in to this event", "この大会にはログインできません");
        return sorry(StatusCode::NOT_FOUND, &site, &visitor, why);
    };
    let open = may_speak(visitor.peer, &headers).is_err();
    let closed = office.operations().is_some_and(|operations| operations.registration_is_closed());
    let content = html! {
        h1 { (title) }
        @match office.registers() {
            Registers::Anybody => p { (visitor.say(
                "Nobody needs an account here: log in with any name, and with a secret of your own that nobody else knows.",
                "アカウントは不要です。好きな名前と、自分だけの秘密の文字列でログインしてください。")) },
            Registers::Configured => p { (visitor.say(
                "The configuration of this event names its entrants. Ask the host for a place.",
                "参加者は大会の設定で決まっています。主催者に問い合わせてください。")) },
            Registers::Accounts if closed => p { (visitor.say("The registration is closed.", "受付は終了しました。")) },
            Registers::Accounts => (asks(&visitor, field(&query, "code"), open)),
        }
        (entrance.shown(&visitor, &headers, office.registers()))
        p { a href="/register/check" { (visitor.say("Check a program by its last game", "直前の対局でプログラムを確認する")) } }
    };
    Page { title, place: "/register", scripts: &[], content }.show(&site, &visitor)
}

fn asks(visitor: &Visitor, code: &str, open: bool) -> Markup {
    html! {
        p { (visitor.say(
            "Choose the name and the password with which your program will log in. An arbiter decides; with an invitation you can play at once.",
            "対局プログラムがログインに使う名前とパスワードを決めてください。審判の承認後に参加できます。招待があればすぐに参加できます。")) }
        @if open {
            p role="alert" { (visitor.say(
                "This page is not encrypted: choose a password that you use nowhere else.",
                "このページは暗号化されていません。他で使っていないパスワードにしてください。")) }
        }
        form method="post" action="/register" {
            input type="hidden" name="code" value=(code);
            p { label { (visitor.say("Name", "名前")) " " input name="name" maxlength="32" pattern="[A-Za-z0-9_@\\-][A-Za-z0-9_@.\\-]*" autocomplete="username" required; } }
            p { label { (visitor.say("Password (8 characters or more, no blanks: programs send it in a line of words)", "パスワード（8文字以上。通信の1行に入るため空白は使えません）")) " " input name="password" type="password" minlength=(SHORTEST) maxlength="128" autocomplete="new-password" required; } }
            p { label { (visitor.say("For the arbiter: who you are, and your program", "審判への伝言（氏名、プログラム名など）")) " " input name="note" maxlength=(NOTE); } }
            p { button { (visitor.say("Register", "登録")) } }
        }
    }
}

/// Takes in a registration.
pub async fn register(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    match take_in(&office, &visitor, &headers, &fields).await {
        Ok(Ok(words)) => {
            let title = visitor.say("Take part", "参加");
            let content = html! { h1 { (title) } p role="status" { (words) } };
            Page { title, place: "/register", scripts: &[], content }.show(&site, &visitor)
        }
        Ok(Err(why)) => say(&site, &visitor, StatusCode::CONFLICT, why),
        Err(why) => refuse(&site, &visitor, &why),
    }
}

async fn take_in<'a>(
    office: &Office,
    visitor: &'a Visitor,
    headers: &HeaderMap,
    fields: &Fields,
) -> Result<Result<&'a str, &'a str>, Refused> {
    same_site(headers)?;
    let say = |en, ja| visitor.say(en, ja);
    if office.registers() != Registers::Accounts {
        return Ok(Err(say("nobody needs a registration here", "登録は不要です。")));
    }
    if office.operations().is_some_and(|operations| operations.registration_is_closed()) {
        return Ok(Err(say("the registration is closed", "受付は終了しました。")));
    }
    let (name, password, note) = (field(fields, "name"), field(fields, "password"), field(fields, "note"));
    if !is_player_name(name) {
        return Ok(Err(say(
            "a name has 1 to 32 letters, digits, `_`, `-`, `@` or `.`, and does not begin with a dot",
            "名前は1〜32文字の英数字と `_` `-` `@` `.` です（先頭に `.` は使えません）。",
        )));
    }
    if password.chars().count() < SHORTEST {
        return Ok(Err(say("a password has at least 8 characters", "パスワードは8文字以上です。")));
    }
    if note.chars().count() > NOTE || note.chars().any(char::is_control) {
        return Ok(Err(say(
            "words for the arbiter have at most 200 characters, in one line",
            "審判への伝言は1行、200文字以内です。",
        )));
    }
    let hash = office.hash(visitor.peer, password.to_owned()).await?;
    let (name, note) = (name.to_owned(), note.to_owned());
    let address = visitor.peer.address.to_string();
    let asked = Registration { name, hash, note, address, asked_at: now() };
    let code = Some(field(fields, "code")).filter(|code| !code.is_empty()).map(hashed);
    let done = office.with_store(move |store| store.register(&asked, code.as_deref(), WAITING)).await?;
    Ok(match done {
        Registered::Waits => Ok(visitor.say(
            "Your registration waits for an arbiter. Until then the host refuses your login.",
            "登録を受け付けました。審判が承認するまでログインできません。",
        )),
        Registered::Admitted => Ok(visitor.say("You can log in now.", "ログインできます。")),
        Registered::Taken => Err(say(
            "somebody has this name, or has asked for it; choose another",
            "この名前は使われているか、申請中です。別の名前にしてください。",
        )),
        Registered::Full => Err(say(
            "too many registrations wait for an arbiter; try again later",
            "承認待ちの登録が多すぎます。しばらくしてからお試しください。",
        )),
    })
}

fn hashed(code: &str) -> String {
    Sha256::digest(code.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The registrations that wait, and invitations, on the arbiter's page.
pub fn waiting(forms: &Forms<'_>, registrations: &[Registration]) -> Markup {
    let Forms { signed, visitor } = forms;
    let arbiter = signed.account.role == Role::Arbiter;
    let invite = visitor.say("Invite", "招待");
    html! {
        div.title {
            h2 { (visitor.say("Registrations", "登録申請")) }
            @if arbiter { (forms.dialog("invite", &html! { (invite) }, invite, &html! {
                form.order method="post" action="/arbiter/invite" {
                    input type="hidden" name="csrf" value=(signed.csrf);
                    label { (visitor.say("For whom", "招待する相手")) input name="note" maxlength=(NOTE) required; }
                    p.buttons { button { (invite) } }
                }
            })) }
        }
        @if registrations.is_empty() { p { (visitor.say("None.", "なし。")) } }
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
                            button name="decision" value="approve" { (visitor.say("Approve", "承認")) }
                            button name="decision" value="refuse" { (visitor.say("Refuse", "却下")) }
                        }
                    }
                }
            }))
        } } }
    }
}

/// Who orders this with an arbiter's account.
async fn arbiter(
    office: &Office,
    site: &Site,
    visitor: &Visitor,
    headers: &HeaderMap,
    fields: &Fields,
) -> Result<Signed, Response> {
    match office.sends(visitor.peer, headers, field(fields, "csrf")).await {
        Ok(signed) if signed.account.role == Role::Arbiter => Ok(signed),
        Ok(_) => Err(say(site, visitor, StatusCode::FORBIDDEN, words::for_arbiters(visitor.lang))),
        Err(why) => Err(refuse(site, visitor, &why)),
    }
}

/// Decides on a registration.
pub async fn decide(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    let signed = match arbiter(&office, &site, &visitor, &headers, &fields).await {
        Ok(signed) => signed,
        Err(refused) => return refused,
    };
    let admit = match field(&fields, "decision") {
        "approve" => true,
        "refuse" => false,
        _ => {
            return say(
                &site,
                &visitor,
                StatusCode::BAD_REQUEST,
                visitor.say(
                    "unknown decision; load the page again",
                    "不明な操作です。ページを読み込み直してください。",
                ),
            );
        }
    };
    let reason = field(&fields, "reason").to_owned();
    if reason.chars().count() > 500 || reason.chars().any(char::is_control) {
        let why = visitor.say(
            "a reason has at most 500 characters, and no control characters",
            "理由は500文字以内で、制御文字は使えません。",
        );
        return say(&site, &visitor, StatusCode::BAD_REQUEST, why);
    }
    let Some(operations) = office.operations().cloned() else {
        return say(&site, &visitor, StatusCode::CONFLICT, words::not_begun(visitor.lang));
    };
    let name = field(&fields, "name").to_owned();
    let asked = name.clone();
    match office.with_store(move |store| store.decide_registration(&asked, admit)).await {
        Ok(true) => {
            let action = match admit {
                true => Action::RegistrationApproved { name },
                false => Action::RegistrationRefused { name },
            };
            let (by, done) = (by(&signed), action.to_string());
            match tokio::task::spawn_blocking(move || operations.note(&by, &reason, action)).await {
                Ok(Ok(())) => {
                    office.tell(&signed, done);
                    back()
                }
                Ok(Err(why)) => say(&site, &visitor, StatusCode::INTERNAL_SERVER_ERROR, &why),
                Err(broken) => refuse(&site, &visitor, &broken.into()),
            }
        }
        Ok(false) => {
            let why = visitor.say(
                "nobody of this name waits any more, or the name has an account already",
                "この名前の申請はもうないか、すでにアカウントがあります。",
            );
            say(&site, &visitor, StatusCode::CONFLICT, why)
        }
        Err(why) => refuse(&site, &visitor, &why),
    }
}

/// Makes an invitation, and shows its address once.
pub async fn invite(
    State(site): State<Site>,
    Extension(office): Extension<Office>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    let signed = match arbiter(&office, &site, &visitor, &headers, &fields).await {
        Ok(signed) => signed,
        Err(refused) => return refused,
    };
    let (code, note) = (random(), field(&fields, "note").to_owned());
    if note.is_empty() || note.chars().count() > NOTE || note.chars().any(char::is_control) {
        let why = visitor.say(
            "a note of at most 200 characters names the invited person",
            "招待する相手を200文字以内で書いてください。",
        );
        return say(&site, &visitor, StatusCode::BAD_REQUEST, why);
    }
    let invitation =
        Invitation { code: hashed(&code), note: note.clone(), by: by(&signed), expires_at: now() + HOLDS };
    match office.with_store(move |store| store.invite(&invitation, INVITATIONS)).await {
        Ok(true) => {
            let path = format!("/register?code={}", percent(&code));
            let words = visitor.say(
                "Give this address to the invited person; it holds for 14 days, once:",
                "次のアドレスを招待する相手に渡してください（14日間有効、1回限り）：",
            );
            office.tell(&signed, format!("{note} – {words} {path}"));
            back()
        }
        Ok(false) => say(
            &site,
            &visitor,
            StatusCode::CONFLICT,
            visitor.say("too many invitations are open", "招待の数が上限に達しています。"),
        ),
        Err(why) => refuse(&site, &visitor, &why),
    }
}
