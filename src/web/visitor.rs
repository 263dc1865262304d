//! Who asks: language, theme, address.

use crate::limits::Peer;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use std::convert::Infallible;

/// Language of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

impl From<Lang> for report::html::Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::English,
            Lang::Ja => Self::Japanese,
        }
    }
}

impl Lang {
    /// The text in this language.
    #[must_use]
    pub fn say<'a>(self, en: &'a str, ja: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Ja => ja,
        }
    }

    /// Its code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.say("en", "ja")
    }

    /// The language of a code.
    #[must_use]
    pub fn of(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::En),
            "ja" => Some(Self::Ja),
            _ => None,
        }
    }

    /// The first language of `Accept-Language` that there is; the order of the list counts, as browsers send it.
    fn accepted(list: &str) -> Option<Self> {
        let codes = list.split(',').map(|item| item.split([';', '-']).next().unwrap_or("").trim());
        codes.take(20).find_map(|code| Self::of(&code.to_ascii_lowercase()))
    }
}

/// Colours of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Auto, Self::Light, Self::Dark].into_iter().find(|theme| theme.word() == word)
    }
}

/// Who asks for a page.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The language: chosen, or that of the browser.
    pub lang: Lang,
    /// The colours.
    pub theme: Theme,
    /// Path and query of the request.
    pub path: String,
    /// The other end of the connection.
    pub peer: Peer,
}

impl Visitor {
    /// The text in the visitor's language.
    #[must_use]
    pub fn say<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        self.lang.say(en, ja)
    }
}

/// The value of a cookie.
#[must_use]
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let headers = &parts.headers;
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let chosen = cookie(headers, "lang").and_then(Lang::of);
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            lang: chosen.or_else(|| accepted.and_then(Lang::accepted)).unwrap_or_default(),
            theme: cookie(headers, "theme").and_then(Theme::of).unwrap_or_default(),
            path: path.to_owned(),
            peer: parts.extensions.get::<Peer>().copied().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_language_of_the_browser_is_taken() {
        assert_eq!(Lang::accepted("ja-JP,ja;q=0.9,en;q=0.8"), Some(Lang::Ja));
        assert_eq!(Lang::accepted("de, EN-us;q=0.5, ja"), Some(Lang::En));
        assert_eq!(Lang::accepted("*"), None);
    }
}
