//! The frame of every page: navigation, language and colours, and the headers that keep a browser from loading or
//! running anything but this site's own files.

use crate::{
    Site, assets,
    components::{Icon, Mood, icon, progress, prose, state},
    refusals::{Refusal, is_read_by_programs, refusal_of},
    visitor::{Theme, Visitor},
};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use notation::{date, is_hidden};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use report::plot::plain;
use std::sync::Arc;
use words::{Language, Phrase};

/// A page. As a response it is empty and carries the page; `dress` puts it into the frame.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    /// The path of its entry in the navigation; another path marks none.
    place: &'static str,
    scripts: &'static [&'static str],
    content: Markup,
    /// Without navigation and foot, and any site may have it in a frame; true: without a background, too.
    bare: Option<bool>,
    /// Seconds after which a browser loads it anew.
    again: Option<u32>,
}

impl Page {
    /// A page with its title and the path of its entry in the navigation.
    pub fn new(title: impl Into<String>, place: &'static str, content: Markup) -> Self {
        Self { title: title.into(), place, scripts: &[], content, bare: None, again: None }
    }

    /// The page with scripts, by the names of their files such as `now.js`.
    #[must_use]
    pub fn with(self, scripts: &'static [&'static str]) -> Self {
        Self { scripts, ..self }
    }

    /// The page, which a browser loads anew after so many seconds, also without a script.
    #[must_use]
    pub fn again(self, seconds: u32) -> Self {
        Self { again: Some(seconds), ..self }
    }

    /// The page without navigation and foot, which any site may have in a frame: with nothing on it that could be ordered.
    #[must_use]
    pub fn bare(self, is_clear: bool) -> Self {
        Self { bare: Some(is_clear), ..self }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

/// Renders the page or the refusal that a handler returned: in the language of the visitor, or as JSON for programs.
pub(crate) async fn dress(
    State(site): State<Site>,
    visitor: Visitor,
    request: Request,
    next: Next,
) -> Response {
    let response = respond(request, next, &visitor, || Frame::of(&site, visitor.language)).await;
    with_base(response, &site)
}

/// Renders the page or the refusal that a handler returned, in a frame.
pub(crate) async fn respond(
    request: Request,
    next: Next,
    visitor: &Visitor,
    frame: impl FnOnce() -> Frame,
) -> Response {
    let for_programs = is_read_by_programs(request.uri().path());
    let is_order = request.method() == Method::POST || request.uri().path().starts_with("/arbiter");
    let before = page_before(request.headers());
    let around = request.extensions().get::<Around>().cloned().unwrap_or_default();
    let frame = || Frame { around, ..frame() };
    let mut response = next.run(request).await;
    if let Some(page) = response.extensions_mut().remove::<Page>() {
        return framed(&page, response.status(), &frame(), visitor);
    }
    match refusal_of(&mut response).await {
        Some(refusal) if for_programs => refusal.in_json(),
        Some(refusal) => {
            let frame = frame();
            let before = before.as_deref().and_then(|path| path.strip_prefix(frame.base.as_str()));
            let page = refused(&refusal, visitor.language, is_order.then_some(frame.orders), before);
            framed(&page, refusal.status, &frame, visitor)
        }
        None => response,
    }
}

/// Leads a redirection to where the pages are. Handlers write paths as if the event was alone at its address.
fn with_base(mut response: Response, site: &Site) -> Response {
    let path = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
    let to = path.filter(|path| path.starts_with('/')).map(|path| site.at(path));
    if let Some(Ok(to)) = to.map(HeaderValue::try_from) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

/// The content of a page with its links below a path. In what maud renders, a quotation mark stands around attributes
/// alone.
fn below(base: &str, content: &str) -> String {
    let links = [" href=\"", " action=\"", " src=\""];
    links.iter().fold(content.to_owned(), |content, link| {
        content.replace(&format!("{link}/"), &format!("{link}{base}/"))
    })
}

/// Characters of an address that are escaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// A text as a value in a query, or as a path.
pub fn percent(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// A way of the navigation of an address with many events: path, words and picture.
pub type Way = (&'static str, Phrase, Icon);

/// How an event stands: what that is like, and its words.
pub(crate) type Stage = (Mood, Phrase);

/// What is around the pages of an event at an address with many; of an event alone nothing.
#[derive(Clone, Default)]
pub(crate) struct Around {
    /// Entries of the navigation.
    pub entries: Arc<[Way]>,
    /// The one of them that leads to the list of events.
    pub events: &'static str,
    /// How the event stands.
    pub stage: Option<Stage>,
    /// What its owner can order about it, on a desk.
    pub orders: Markup,
    /// On a desk, the games that are played over all events.
    pub running: Option<usize>,
}

/// What surrounds the content of a page.
#[derive(Default)]
pub(crate) struct Frame {
    /// Name of the event, or of all.
    pub name: String,
    /// The path that the pages are below.
    pub base: String,
    /// Entries of the navigation of an event: path and words.
    pub places: Vec<(&'static str, &'static str)>,
    /// How the event stands, as its entries say.
    pub stage: Option<Stage>,
    /// What is around the pages of an event.
    pub around: Around,
    /// Lines above the content.
    pub notice: Markup,
    /// True if there is a feed of results.
    pub has_feed: bool,
    /// Where orders are given, for somebody whose order was refused.
    pub orders: &'static str,
}

impl Frame {
    fn of(site: &Site, language: Language) -> Self {
        Self {
            name: plain(site.event()),
            base: site.at(""),
            places: site.places().map(|(path, words)| (path, words(language))).collect(),
            stage: stage(site),
            around: Around::default(),
            notice: notice(site, language),
            has_feed: true,
            orders: "/arbiter",
        }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// How the event stands: whoever plays it knows of more than its entries say, but of no pause.
    fn stage(&self) -> Option<Stage> {
        let paused = self.stage.filter(|(mood, _)| *mood == Mood::Wait);
        paused.or(self.around.stage).or(self.stage)
    }
}

/// The path of the page of this site on which somebody was before.
fn page_before(headers: &HeaderMap) -> Option<String> {
    let before: Uri = headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    let is_here = before.authority()?.as_str() == headers.get(header::HOST)?.to_str().ok()?;
    let path = before.path_and_query()?.as_str();
    (is_here && path.starts_with('/') && !path.starts_with("//")).then(|| path.to_owned())
}

/// A refusal as a page: what happened, and where to go: to where the order was given.
fn refused(refusal: &Refusal, words: Language, orders: Option<&'static str>, before: Option<&str>) -> Page {
    let (title, place, way) = match orders {
        Some(orders) => (words.not_done(), before.unwrap_or(orders), words.back()),
        None => (words.not_shown(), "/", words.to_the_running_games()),
    };
    let content = html! {
        h1 { (title) }
        p role="alert" { (prose(&plain(refusal.message.text(words)))) }
        p { a href=(place) { (way) } }
    };
    Page::new(title, orders.unwrap_or_default(), content)
}

/// Only this site's own files; inline scripts and styles are refused.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// The same for a page that has nothing to click on, and that any site may show.
const POLICY_IN_FRAMES: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
    img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors *";

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

fn framed(page: &Page, status: StatusCode, frame: &Frame, visitor: &Visitor) -> Response {
    let html = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Cookie, Accept-Language"),
    ];
    let mut response = (status, html, visible(markup(page, frame, visitor).into_string())).into_response();
    if page.bare.is_some() {
        let policy = HeaderValue::from_static(POLICY_IN_FRAMES);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A page without characters that change the text around them, whoever wrote it: in a text they are shown as what they
/// are, and attributes and fields keep their value.
fn visible(html: String) -> String {
    let hidden = |c: char| !matches!(c, '\n' | '\r' | '\t') && is_hidden(c);
    if !html.contains(hidden) {
        return html;
    }
    let mut shown = String::with_capacity(html.len() + 64);
    let (mut in_tag, mut in_field) = (false, false);
    for (at, c) in html.char_indices() {
        match c {
            '<' => (in_tag, in_field) = (true, html[at..].starts_with("<textarea")),
            '>' => in_tag = false,
            _ => {}
        }
        match hidden(c) {
            false => shown.push(c),
            true if in_tag || in_field => shown += &format!("&#{};", u32::from(c)),
            true => shown.extend(c.escape_default()),
        }
    }
    shown
}

fn markup(page: &Page, frame: &Frame, visitor: &Visitor) -> Markup {
    let (event, title, language) = (&frame.name, plain(&page.title), visitor.language);
    let content = match frame.base.is_empty() {
        true => page.content.clone(),
        false => PreEscaped(below(&frame.base, &page.content.0)),
    };
    let style = assets::path(match visitor.theme {
        Theme::Auto => "style.css",
        Theme::Light => "light.css",
        Theme::Dark => "dark.css",
    });
    html! {
        (DOCTYPE)
        html lang=(language.code()) data-base=[(!frame.base.is_empty()).then_some(&frame.base)] data-again=[page.again] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content=(match visitor.theme { Theme::Auto => "light dark", other => other.word() });
                @if let Some(seconds) = page.again {
                    script src=(assets::path("again.js")) defer {}
                    noscript { meta http-equiv="refresh" content=(seconds); }
                }
                title { (title) " · " (event) }
                meta property="og:title" content=(title);
                meta property="og:site_name" content=(event);
                @if frame.has_feed {
                    link rel="alternate" type="application/atom+xml" href=(frame.at("/feed.xml")) title=(language.results());
                }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(style);
                @for script in page.scripts { script src=(assets::path(script)) defer {} }
            }
            @if let Some(is_clear) = page.bare { body class=(if is_clear { "bare clear" } else { "bare" }) { (content) } }
            @else { body.beside[!frame.around.entries.is_empty()] {
                a.skip href="#main" { (language.to_the_content()) }
                @if !frame.around.entries.is_empty() { (side(frame, language, page.place)) }
                div.page {
                    @if !frame.places.is_empty() { (head(frame, language, page.place)) }
                    (frame.notice)
                    main id="main" { (content) }
                    footer { (language.made_by_renmei()) " " (preferences(&frame.base, visitor)) }
                }
            } }
        }
    }
}

/// The navigation of an address with many events; at the foot of a narrow window it is a bar.
fn side(frame: &Frame, language: Language, place: &str) -> Markup {
    let Around { entries, events, running, .. } = &frame.around;
    let place = if frame.places.is_empty() { place } else { events };
    html! {
        nav.side aria-label=(language.pages()) {
            a.brand href="/" { img src=(assets::path("icon.svg")) width="26" height="26" alt=""; span { "Renmei" } }
            @for (path, words, picture) in entries.iter() {
                a href=(path) aria-current=[(*path == place).then_some("page")] { (icon(*picture)) span { (words(language)) } }
            }
            @if let Some(running) = running {
                @let cores = std::thread::available_parallelism().map_or(1, usize::from);
                div.meter {
                    a href="/machine" { (language.this_machine()) }
                    (progress(language.this_machine(), *running as u64, cores as u64))
                    (language.machine_meter(*running, cores))
                }
            }
        }
    }
}

/// The head of the pages of an event: where they are, how it stands, what can be ordered, and its pages.
fn head(frame: &Frame, language: Language, place: &str) -> Markup {
    html! {
        header.masthead {
            @if !frame.around.entries.is_empty() { a.crumb href=(frame.around.events) { (language.all_events()) " ›" } }
            div.top {
                a.event href=(frame.at("/")) { (frame.name) }
                @if let Some((mood, words)) = frame.stage() { (state(mood, words(language))) }
                (frame.around.orders)
            }
            nav.tabs aria-label=(frame.name) {
                @for (path, words) in &frame.places {
                    a href=(frame.at(path)) aria-current=[(*path == place).then_some("page")] { (words) }
                }
            }
        }
    }
}

/// How an event stands, as far as viewers may see it.
fn stage(site: &Site) -> Option<Stage> {
    match site.now(|live| (live.closed, live.notice.paused, live.games.is_empty()))? {
        (true, ..) => Some((Mood::Rest, Language::event_has_ended)),
        (_, true, _) => Some((Mood::Wait, Language::no_new_game_begins)),
        (.., is_idle) => (!is_idle).then_some((Mood::Good, Language::event_plays)),
    }
}

/// A pause of the event and the last announcement, while the event is played.
fn notice(site: &Site, language: Language) -> Markup {
    let now = site.now(|live| (!live.closed).then(|| live.notice.clone())).flatten().unwrap_or_default();
    html! {
        @if now.paused { p.notice { (language.is_paused()) } }
        @if let Some((at, text)) = &now.announced { p.notice { time { (date::text(*at)) } " " (plain(text)) } }
    }
}

/// Choices of language and colours for the pages below a path: links, so that they work without a script.
pub fn preferences(base: &str, visitor: &Visitor) -> Markup {
    let link = |key: &str, value: &str, words: &str| {
        let href = format!("{base}/prefs?{key}={value}&back={}", percent(&visitor.path));
        html! { a href=(href) rel="nofollow" { (words) } }
    };
    let language = visitor.language;
    let themes = [
        (Theme::Auto, language.automatic_colours()),
        (Theme::Light, language.light_colours()),
        (Theme::Dark, language.dark_colours()),
    ];
    html! {
        span.prefs {
            (link("lang", language.pick("ja", "en"), language.pick("日本語", "English")))
            " · "
            @for (at, (theme, words)) in themes.into_iter().enumerate() {
                @if at > 0 { " / " }
                @if visitor.theme == theme { b { (words) } } @else { (link("theme", theme.word(), words)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_has_a_character_that_changes_the_text_around_it() {
        let name = "e\u{1b}[2J\u{202e}\0";
        let page = html! { h1 { (name) } input value=(name); textarea { (name) "\t\r\n" } p { (name) } };
        let text = "e\\u{1b}[2J\\u{202e}\\u{0}";
        let field = "e&#27;[2J&#8238;&#0;";
        assert_eq!(
            visible(page.into_string()),
            format!(
                "<h1>{text}</h1><input value=\"{field}\"><textarea>{field}\t\r\n</textarea><p>{text}</p>"
            )
        );
    }
}
