//! Who asks: language, theme, address.

use crate::limits::Peer;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use std::convert::Infallible;
use words::Language;

/// The first known language of `Accept-Language`; the order of the list counts, as browsers send it.
fn accepted(list: &str) -> Option<Language> {
    let codes = list.split(',').map(|item| item.split([';', '-']).next().unwrap_or("").trim());
    codes.take(20).find_map(|code| Language::of(&code.to_ascii_lowercase()))
}

/// Colours of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::VariantArray)]
pub enum Theme {
    /// As the browser's owner likes it.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of a word.
    pub fn of(word: &str) -> Option<Self> {
        <Self as strum::VariantArray>::VARIANTS.iter().copied().find(|theme| theme.word() == word)
    }
}

/// Who asks for a page.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The language: chosen, or that of the browser.
    pub language: Language,
    /// The colours.
    pub theme: Theme,
    /// Path and query of the request.
    pub path: String,
    /// The other end of the connection.
    pub peer: Peer,
}

impl Visitor {
    /// The visitor who sends a request with this head.
    pub fn of(parts: &Parts) -> Self {
        let headers = &parts.headers;
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        Self {
            language: language(headers),
            theme: cookie(headers, "theme").and_then(Theme::of).unwrap_or_default(),
            path: path.to_owned(),
            peer: parts.extensions.get::<Peer>().copied().unwrap_or_default(),
        }
    }

    /// The address of this site as the request names it, for programs that need whole addresses.
    pub fn site_address(&self, headers: &HeaderMap) -> String {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        let is_host = |b: u8| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b);
        let host = if host.len() <= 255 && host.bytes().all(is_host) { host } else { "localhost" };
        let scheme = headers.get("x-forwarded-proto").and_then(|scheme| scheme.to_str().ok());
        let scheme = if self.peer.is_secure || scheme == Some("https") { "https" } else { "http" };
        format!("{scheme}://{host}")
    }
}

/// The language of a visitor: chosen before, or the first one that the browser accepts.
pub fn language(headers: &HeaderMap) -> Language {
    let list = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let chosen = cookie(headers, "lang").and_then(Language::of);
    chosen.or_else(|| list.and_then(accepted)).unwrap_or_default()
}

/// The value of a cookie.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    cookies(headers, name).next()
}

/// The values of cookies of a name: another server of this machine may have set one, too.
pub(crate) fn cookies<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(known, _)| *known == name).map(|(_, value)| value)
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_language_of_the_browser_is_taken() {
        assert_eq!(accepted("ja-JP,ja;q=0.9,en;q=0.8"), Some(Language::Japanese));
        assert_eq!(accepted("de, EN-us;q=0.5, ja"), Some(Language::English));
        assert_eq!(accepted("*"), None);
    }
}
