//! The frame of every page: navigation, language and colours, and the headers that keep a browser from loading or
//! running anything but this site's own files.

use crate::{Site, assets, visitor::Theme, visitor::Visitor};
use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use maud::{DOCTYPE, Markup, html};
use notation::date;
use report::plot::plain;

/// A page.
#[derive(Debug)]
pub struct Page<'a> {
    /// Its title.
    pub title: &'a str,
    /// The path of its entry in the navigation; another path marks none.
    pub place: &'a str,
    /// Names of the scripts in [`assets`](crate), such as `now.js`.
    pub scripts: &'a [&'a str],
    /// Its content.
    pub content: Markup,
}

/// Only this site's own files; inline scripts and styles are refused.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Adds the headers of every answer, where a handler has not set them.
pub(crate) fn with_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

impl Page<'_> {
    /// The page as an answer, with a status.
    #[must_use]
    pub fn answer(self, status: StatusCode, site: &Site, visitor: &Visitor) -> Response {
        let html = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            (header::VARY, "Cookie, Accept-Language"),
        ];
        (status, html, self.markup(site, visitor).into_string()).into_response()
    }

    /// The page as an answer.
    #[must_use]
    pub fn show(self, site: &Site, visitor: &Visitor) -> Response {
        self.answer(StatusCode::OK, site, visitor)
    }

    fn markup(&self, site: &Site, visitor: &Visitor) -> Markup {
        let event = plain(site.event());
        let style = assets::path(match visitor.theme {
            Theme::Auto => "style.css",
            Theme::Light => "light.css",
            Theme::Dark => "dark.css",
        });
        html! {
            (DOCTYPE)
            html lang=(visitor.lang.code()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content=(match visitor.theme { Theme::Auto => "light dark", other => other.word() });
                    title { (plain(self.title)) " · " (event) }
                    meta property="og:title" content=(plain(self.title));
                    meta property="og:site_name" content=(event);
                    link rel="alternate" type="application/atom+xml" href="/feed.xml" title=(visitor.say("Results", "結果"));
                    link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                    link rel="stylesheet" href=(style);
                    @for script in self.scripts { script src=(assets::path(script)) defer {} }
                }
                body {
                    a.skip href="#main" { (visitor.say("to the content", "本文へ")) }
                    (masthead(site, visitor, &event, self.place))
                    (notice(site, visitor))
                    main id="main" { (self.content) }
                    footer { (visitor.say("Made by Renmei.", "Renmei 製")) " " (preferences(visitor)) }
                }
            }
        }
    }
}

fn masthead(site: &Site, visitor: &Visitor, event: &str, place: &str) -> Markup {
    html! {
        header.masthead {
            a.event href="/" { (event) }
            nav aria-label=(visitor.say("Pages", "ページ")) {
                @for (path, en, ja) in site.places() {
                    a href=(path) aria-current=[(path == place).then_some("page")] { (visitor.say(en, ja)) }
                }
            }
        }
    }
}

/// A pause of the event and the last announcement, while the event is played.
fn notice(site: &Site, visitor: &Visitor) -> Markup {
    let now = site.now(|live| (!live.closed).then(|| live.notice.clone())).flatten().unwrap_or_default();
    html! {
        @if now.paused {
            p.notice { (visitor.say("The event is paused: no new game begins for now.", "一時停止中です。新しい対局は始まりません。")) }
        }
        @if let Some((at, text)) = &now.announced {
            p.notice { time { (date::text(*at)) } " " (plain(text)) }
        }
    }
}

/// Choices of language and colours: links, so that they work without a script.
fn preferences(visitor: &Visitor) -> Markup {
    let link = |key: &str, value: &str, words: &str| {
        let href = format!("/prefs?{key}={value}&back={}", percent(&visitor.path));
        html! { a href=(href) rel="nofollow" { (words) } }
    };
    html! {
        span.prefs {
            (link("lang", visitor.say("ja", "en"), visitor.say("日本語", "English")))
            " · "
            @for (at, (theme, en, ja)) in [("auto", "auto", "自動"), ("light", "light", "明"), ("dark", "dark", "暗")].into_iter().enumerate() {
                @if at > 0 { " / " }
                @if visitor.theme.word() == theme { b { (visitor.say(en, ja)) } }
                @else { (link("theme", theme, visitor.say(en, ja))) }
            }
        }
    }
}

/// A text as a value in a query.
#[must_use]
pub fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            _ => {
                out.push('%');
                out.extend(
                    [byte >> 4, byte & 15].map(|nibble| char::from(b"0123456789ABCDEF"[usize::from(nibble)])),
                );
            }
        }
    }
    out
}

/// An error as a page: what happened, where, and what to do.
#[must_use]
pub fn sorry(status: StatusCode, site: &Site, visitor: &Visitor, words: &str) -> Response {
    let title = visitor.say("Not shown", "表示できません");
    let content = html! { h1 { (title) } p { (words) } p { a href="/" { (visitor.say("To the running games", "対局一覧へ")) } } };
    Page { title, place: "", scripts: &[], content }.answer(status, site, visitor)
}
