//! The gate of pages that belong to one person, whose forms start programs.
//!
//! A token leads in once and becomes a cookie; without the cookie nothing is shown. What another website, another user of
//! this machine or a name that somebody leads here could send is refused before any page sees it: see `Gate::stops`.

use crate::{
    accounts::{Tokens, key_of, may_speak, random},
    assets,
    limits::Peer,
    refusals::Refusal,
    visitor::{cookies, language},
};
use axum::{
    extract::Request,
    http::{HeaderMap, Method, header},
    response::{Html, IntoResponse, Response},
};
use maud::{DOCTYPE, html};
use parking_lot::Mutex;
use std::{net::SocketAddr, time::Duration};
use words::Language;

/// The path that a token is shown at, as `?key=TOKEN`.
pub const WAY_IN: &str = "/enter";
/// How long the cookie lasts, and browsers at once.
const COOKIE: (Duration, usize) = (Duration::from_secs(90 * 24 * 3600), 32);

/// Hands out the next token, whenever one was used; false: that was not possible, and the one before leads in once more.
pub type HandOut = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// The gate.
pub struct Gate {
    /// The hash of the token that leads in next.
    next: Mutex<[u8; 32]>,
    hand_out: HandOut,
    inside: Tokens<()>,
    /// The token of the forms of event pages.
    csrf: String,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate; `hand_out` gets the first token at once, and the next one after each use.
    pub fn new(hand_out: HandOut) -> Self {
        let token = random();
        hand_out(&token);
        Self { next: Mutex::new(key_of(&token)), hand_out, inside: Tokens::default(), csrf: random() }
    }

    /// The token of forms that only a page behind the gate knows.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// An answer in the place of what a request asks for; `None`: it may pass. Refused are connections of other users of
    /// this machine, whatever was forwarded or asked for by another name, orders that a page of another site sends, and
    /// browsers without the cookie.
    pub(crate) fn stops(&self, request: &Request, peer: Peer) -> Option<Response> {
        let headers = request.headers();
        let words = language(headers);
        if let Err(refusal) = self.may_pass(request, peer) {
            return Some(shut(&refusal, words));
        }
        if request.uri().path() == WAY_IN && request.method() == Method::GET {
            return Some(self.enter(request.uri().query().unwrap_or_default(), peer, words));
        }
        if self.is_inside(headers, peer) {
            return None;
        }
        Some(shut(&Refusal::forbidden(Language::desk_is_another_browsers), words))
    }

    fn may_pass(&self, request: &Request, peer: Peer) -> Result<(), Refusal> {
        let headers = request.headers();
        may_speak(peer, headers).map_err(|_| Refusal::forbidden(Language::desk_is_of_this_machine))?;
        let is_order = !matches!(*request.method(), Method::GET | Method::HEAD);
        let is_refused = if is_order { !is_own(headers) } else { is_drawn_in(request) };
        if is_refused { Err(Refusal::forbidden(Language::out_of_date)) } else { Ok(()) }
    }

    /// Lets in whoever has the token. The page leads on by itself: a redirection would be one of the site that led here,
    /// and browsers send a strict cookie only to pages of its own site.
    fn enter(&self, query: &str, peer: Peer, words: Language) -> Response {
        let token = query.strip_prefix("key=").unwrap_or_default();
        {
            let mut next = self.next.lock();
            if *next != key_of(token) {
                return shut(&Refusal::forbidden(Language::link_was_used), words);
            }
            let token = random();
            // A token that nobody gets, as the disk is full, would keep the owner out for good.
            if (self.hand_out)(&token) {
                *next = key_of(&token);
            }
        }
        let page = html! {
            (DOCTYPE)
            html lang=(words.code()) {
                head { meta charset="utf-8"; meta http-equiv="refresh" content="0; url=/"; title { "Renmei" }
                    link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml"; }
                body { p { a href="/" { (words.to_the_desk()) } } }
            }
        };
        let (lasts, most) = COOKIE;
        let cookie = self.inside.begin((), (&cookie_name(peer), lasts, most), (peer, "/"));
        ([(header::SET_COOKIE, cookie)], [(header::CACHE_CONTROL, "no-store")], Html(page.into_string()))
            .into_response()
    }

    fn is_inside(&self, headers: &HeaderMap, peer: Peer) -> bool {
        cookies(headers, &cookie_name(peer)).any(|token| self.inside.of(&key_of(token)).is_some())
    }
}

/// What is seen before the gate: why it is shut, and the way in. Nothing of the desk itself is loaded.
fn shut(refusal: &Refusal, words: Language) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang=(words.code()) {
            head { meta charset="utf-8"; meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark"; title { "Renmei" } }
            body { main { h1 { "Renmei" } p role="alert" { (refusal.message.text(words)) } pre { "renmei desk" } } }
        }
    };
    (refusal.status, [(header::CACHE_CONTROL, "no-store")], Html(page.into_string())).into_response()
}

/// Name of the cookie: browsers have the same cookies for every port of a machine, and there may be a desk at several.
fn cookie_name(peer: Peer) -> String {
    format!("renmei_desk_{}", peer.port)
}

/// True if a page of another site draws something of the desk into itself, or changes what is kept in cookies; a link that
/// somebody follows from there is nothing of the kind.
fn is_drawn_in(request: &Request) -> bool {
    let text = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_foreign = text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    is_foreign && (text("sec-fetch-dest") != Some("document") || request.uri().path() == "/prefs")
}

/// True if a browser says that a page of this site sends an order: what says nothing of it is none of the desk's pages.
/// A page at another port of this machine is another site here, although its cookies are the same.
fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let (fetched, origin) = (text("sec-fetch-site"), text("origin"));
    let same = origin
        .and_then(|origin| origin.strip_prefix("http://"))
        .is_some_and(|host| Some(host) == text("host"));
    same && fetched.is_none_or(|site| site == "same-origin")
}

/// True if the other end of a connection is a program of another user of this machine, as far as the system knows.
pub(crate) fn is_of_another_user(peer: SocketAddr, local: Option<SocketAddr>) -> bool {
    local.is_some_and(|local| platform::network::is_own(peer, local) == Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::Body, http::StatusCode};
    use std::sync::Arc;

    const HERE: &str = "127.0.0.1:4080";

    /// A gate, and the token that it has handed out last.
    fn gate() -> (Gate, Arc<Mutex<String>>) {
        let token = Arc::new(Mutex::new(String::new()));
        let last = token.clone();
        let hand_out = move |token: &str| {
            token.clone_into(&mut last.lock());
            true
        };
        (Gate::new(Box::new(hand_out)), token)
    }

    fn ask(gate: &Gate, method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Response> {
        let mut request = Request::builder().method(method).uri(path).header("host", HERE);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let peer = Peer { address: [127, 0, 0, 1].into(), is_secure: false, port: 4080 };
        gate.stops(&request.body(Body::empty()).unwrap(), peer)
    }

    /// Goes in by the token; returns the cookie.
    fn enter(gate: &Gate, token: &str) -> Result<String, StatusCode> {
        let answer = ask(gate, "GET", &format!("/enter?key={token}"), &[]).unwrap();
        let cookie = answer.headers().get(header::SET_COOKIE).ok_or(answer.status())?.to_str().unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        Ok(cookie.split(';').next().unwrap().to_owned())
    }

    #[test]
    fn a_token_leads_in_once_and_another_one_is_handed_out() {
        let (gate, token) = gate();
        let first = token.lock().clone();
        let cookie = enter(&gate, &first).unwrap();
        assert_eq!(enter(&gate, &first), Err(StatusCode::FORBIDDEN), "it was used");
        assert_eq!(enter(&gate, ""), Err(StatusCode::FORBIDDEN));
        let second = token.lock().clone();
        assert!(second != first && enter(&gate, &second).is_ok());
        assert!(ask(&gate, "GET", "/", &[("cookie", &cookie)]).is_none(), "the first browser stays in");
        let of_another_port = cookie.replace("4080", "4081");
        for stranger in [&[][..], &[("cookie", "renmei_desk_4080=guessed")], &[("cookie", &of_another_port)]]
        {
            for path in ["/", "/static/style.css"] {
                assert_eq!(ask(&gate, "GET", path, stranger).unwrap().status(), StatusCode::FORBIDDEN);
            }
        }
        let planted = format!("renmei_desk_4080=planted; {cookie}");
        assert!(
            ask(&gate, "GET", "/", &[("cookie", &planted)]).is_none(),
            "another server's cookie locks nobody out"
        );
        let third = token.lock().clone();
        let head = ask(&gate, "HEAD", &format!("/enter?key={third}"), &[]).unwrap();
        assert_eq!(head.status(), StatusCode::FORBIDDEN);
        assert!(enter(&gate, &third).is_ok(), "a look at the head of the link does not use it up");
    }

    #[test]
    fn a_token_leads_in_again_as_long_as_no_other_can_be_handed_out() {
        let token = Arc::new(Mutex::new((String::new(), true)));
        let last = token.clone();
        let gate = Gate::new(Box::new(move |token| {
            let mut last = last.lock();
            if last.1 {
                token.clone_into(&mut last.0);
            }
            last.1
        }));
        let first = token.lock().0.clone();
        token.lock().1 = false;
        assert!(enter(&gate, &first).is_ok() && enter(&gate, &first).is_ok(), "the disk is full");
        token.lock().1 = true;
        assert!(enter(&gate, &first).is_ok());
        assert_eq!(enter(&gate, &first), Err(StatusCode::FORBIDDEN), "another one was handed out");
        let second = token.lock().0.clone();
        assert!(enter(&gate, &second).is_ok());
    }

    #[test]
    fn an_order_of_another_site_or_by_another_name_is_refused_in_spite_of_the_cookie() {
        let (gate, token) = gate();
        let first = token.lock().clone();
        let cookie = enter(&gate, &first).unwrap();
        let own = ("origin", "http://127.0.0.1:4080");
        let may = |headers: &[(&str, &str)]| {
            let headers = [&[("cookie", cookie.as_str())], headers].concat();
            ask(&gate, "POST", "/engines/add", &headers).is_none()
        };
        assert!(may(&[own]) && may(&[own, ("sec-fetch-site", "same-origin")]));
        for forged in [
            &[][..],
            &[("origin", "null")],
            &[("origin", "http://evil.example")],
            &[("origin", "http://127.0.0.1:9999")],
            &[("origin", "https://127.0.0.1:4080")],
            &[own, ("sec-fetch-site", "same-site")],
            &[own, ("sec-fetch-site", "cross-site")],
            &[own, ("x-forwarded-for", "192.0.2.1")],
            &[own, ("via", "1.1 proxy")],
        ] {
            assert!(!may(forged), "{forged:?}");
        }
        for (site, dest, path, passes) in [
            ("same-origin", "empty", "/api/events", true),
            ("none", "document", "/", true),
            ("cross-site", "document", "/", true),
            ("cross-site", "iframe", "/e/cup/embed", false),
            ("same-site", "empty", "/api/events", false),
            ("same-site", "image", "/static/icon.svg", false),
            ("same-site", "document", "/prefs?lang=ja", false),
        ] {
            let headers = [("cookie", cookie.as_str()), ("sec-fetch-site", site), ("sec-fetch-dest", dest)];
            assert_eq!(ask(&gate, "GET", path, &headers).is_none(), passes, "{site} {dest} {path}");
        }
        let mut request = Request::builder().uri("/").header("host", "desk.evil.example:4080");
        request = request.header("cookie", &cookie);
        let peer = Peer { address: [127, 0, 0, 1].into(), is_secure: false, port: 4080 };
        assert!(
            gate.stops(&request.body(Body::empty()).unwrap(), peer).is_some(),
            "another name of this machine"
        );
    }
}
